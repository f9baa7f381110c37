"""An adjustment as sections of a page: what helped and what did not, curves and distances before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlingua.counting import counted
from interlingua.metric import BACKWARD
from interlingua.report.adjustment import (
    CAPTION,
    SAMPLER,
    adjustment_lines,
    best_layer,
    distance_picture,
    left_out,
    mean_of_both,
    overall,
)
from interlingua.report.evidence import Change
from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.readings import Reading, mean
from interlingua.report.runs import Run, colour
from interlingua.report.sections import Choice, Figure, Section, Trace, band, label, of_run, short
from interlingua.report.states import STATES_WORDS, state_hills
from interlingua.report.tables import Cell, Ref, Table, refs
from interlingua.report.wording import language_name, listing, number, percent, visible

Found = Mapping[str, Any]
Readings = Mapping[tuple[str, str, str, str, int], Reading]
"""By state, language, measure, variant and layer."""
_WHEN = {"original": "before", "adjusted": "after"}
WHENS = tuple(_WHEN.values())
_VARIANTS = (("centred", "language means removed"), ("raw", "as is"))


def _readings(run: Run, text: str = "") -> Readings:
    """Every record of a text as a reading; with no name, of the bitext's held-out sentences."""
    staying = {code: about.get("staying", "en") for code, about in run.about["languages"].items()}
    found: dict[tuple[str, str, str, str, int], Reading] = {}
    for place, record in run.numbered():
        if (record["corpus"] == SAMPLER) != (text == SAMPLER):
            continue
        forward = staying.get(str(record["target"])) == record["source"]
        code, way = (record["target"], "") if forward else (record["source"], BACKWARD)
        when = _WHEN[record["details"]["state"]]
        found[when, str(code), record["measure"], record["variant"] + way, record["layer"]] = Reading(
            record["value"], record.get("null"), record.get("low"), record.get("high"), record.get("n") or 0,
            record["details"], (place,),
        )  # fmt: skip
    return found


def adjustment_page(run: Run) -> str:
    """The page of an adjustment, which makes no request."""
    about = run.about
    below = f"{counted(about['steps'], 'steps')}, vectors of layer {about['layer']} (0 is the embedding output)"
    return render_page(Page("adjust", visible(str(about["model"])), below, adjustment_sections([run]), run.records))


def adjustment_files(run: Run) -> dict[str, str]:
    """File names and texts: `adjustment.html`, a page that makes no request, and the picture `distances.svg`."""
    picture = distance_picture(run.about)
    return {
        "adjustment.html": adjustment_page(run),
        "distances.svg": f'<?xml version="1.0" encoding="UTF-8"?>\n{picture}\n',
    }


def adjustment_sections(runs: Sequence[Run]) -> list[Section]:
    """What there is to show of one adjustment, or of several: curves in one figure a language, all else by run."""
    sections = [adjustment_answer(run) for run in runs]
    figures = tuple(_curves(runs))
    if figures:
        words = (
            "Share of sentences that find their translation, both directions, at every layer before and after. Bands "
            "are 95 % intervals; the dotted line is chance. Layer 0 is the embedding output."
        )
        means = Choice("variant", "Vectors", _VARIANTS, "centred")
        sections.append(Section("layers", "Layer by layer", (words,), choices=(means,), figures=figures))
    for run in runs:
        found = _readings(run)
        layer = run.about["layer"]
        states = {
            when: {code: found[when, code, "separation", "auc/l2", layer] for code in run.about[when]}
            for when in WHENS
            if when in run.about
        }
        made = state_hills(states, run.about)
        if made is not None:
            title = "Related and unrelated words" + (f": {run.name}" if run.key else "")
            figure = of_run(made[1], run.key, run.name)
            section = Section(run.id("distances"), title, (STATES_WORDS,), choices=tuple(made[0]), figures=(figure,))
            sections.append(section)
    tables = tuple(_table(run, code) for run in runs for code in run.about["languages"])
    words = "Measured on sentences that were not trained on. A number with dots under it shows its record."
    sections.append(Section("tables", "Before and after", (words,), tables=tables))
    return sections + [_made(run) for run in runs]


def adjustment_answer(run: Run) -> Section:
    """The section on top: do translations find each other more often, and are they told from unrelated words?"""
    layer, whens = run.about["layer"], [when for when in WHENS if when in run.about]
    facts, best, adjusted, apart = [], [], [], []
    for code, about in run.about["languages"].items():
        called, lines = language_name(code, run.about), adjustment_lines(run.about, code)
        trained = f"{counted(about['rows'], 'sentences')} with {counted(about['pairs'], 'word pairs')} trained on"
        facts.append((called, f"{trained}, {about['held_out']:,} held out."))
        for text, called_so in (("", "held-out sentences"), (SAMPLER, "embedded sampler")):
            states = [run.about[when][code].get(text) if text else run.about[when][code] for when in whens]
            if any(state is None for state in states):
                continue
            named = f"{called}, {called_so}" if len(run.about["languages"]) > 1 else called_so
            tops = [best_layer(state["retrieval"]) for state in states]
            tied = (states[-1].get("changes") or {}).get("best", {}).get("tied") or [[] for _ in tops]
            shown = " to ".join(
                f"{percent(value)} (layer {at}{as_good(others)})"
                for (at, value), others in zip(tops, tied, strict=True)
            )
            best.append(f"{named} {shown}{_interval(states[-1], 'best')}")
            at_layer = [mean_of_both(state["retrieval"][str(layer)]) for state in states]
            shown = " to ".join(percent(value) for value in at_layer)
            adjusted.append(f"{named} {shown}{_interval(states[-1], 'adjusted')}")
        change = f" ({lines[-1].change})" if lines[-1].change else ""
        apart.append(f"{called} {' to '.join((lines[-1].before, lines[-1].after)[: len(whens)])}{change}")
    verdicts = [said for code in run.about["languages"] if (said := overall(run.about, code))]
    ways = "both directions, language means removed"
    words = (
        *verdicts,
        f"Sentences that find their translation, before and after, each at its own best layer ({ways}; the layer is "
        f"chosen on these sentences): {'; '.join(best)}.",
        f"At the adjusted layer {layer}: {'; '.join(adjusted)}.",
        f"A word lies nearer to its translation than to an unrelated word (AUC, 0.5 is chance): {'; '.join(apart)}.",
    )
    title = f"The answer: {run.name}" if run.key else "The answer"
    return Section(run.id("answer"), title, words, tuple(_tiles(run)), tuple(facts))


def as_good(layers: Sequence[int]) -> str:
    """The layers that tie with the best one, in words.

    >>> as_good([]), as_good([5, 7])
    ('', '; 5 and 7 not clearly worse')
    """
    return f"; {listing([str(layer) for layer in layers])} not clearly worse" if layers else ""


def _interval(after: Found, where: str) -> str:
    """The interval of a change; nothing where sentences were not compared."""
    return f" ({Change(*after['changes'][where]['change']).told})" if "changes" in after else ""


def _tiles(run: Run) -> Iterator[tuple[str, str, str, Ref]]:
    """Numbers at a glance, of one language: retrieval at the best layers, of both texts, and the AUC."""
    if len(run.about["languages"]) > 1 or "after" not in run.about:
        return
    (code,) = run.about["languages"]
    for text, words in (("", "held out"), (SAMPLER, "embedded sampler")):
        states = [run.about[when][code].get(text) if text else run.about[when][code] for when in WHENS]
        if all(states):
            (_, before), (at, after) = (best_layer(state["retrieval"]) for state in states)
            reading = _both(_readings(run, text), "after", code, int(at), "centred")
            remark = f"{percent(before)} before, {percent(reading.null)} by chance"
            yield percent(after), f"find their translation, {words}, best layer", remark, refs(reading)
    sides = [_readings(run)[when, code, "separation", "auc/l2", run.about["layer"]] for when in WHENS]
    remark = f"{number(sides[0].value, 3)} before, 0.5 by chance"
    yield number(sides[1].value, 3), "AUC of words", remark, refs(sides[1])


def _both(
    found: Mapping[tuple[str, str, str, str, int], Reading], when: str, code: str, layer: int, kind: str
) -> Reading:
    return mean(found[when, code, "retrieval", f"p@1/cosine/{kind}{way}", layer] for way in ("", "/backward"))


def both_directions(run: Run, when: str, code: str) -> Reading:
    """Retrieval at the adjusted layer before or after, language means removed: the mean of both directions."""
    return _both(_readings(run), when, code, run.about["layer"], "centred")


def _curves(runs: Sequence[Run]) -> Iterator[Figure]:
    codes = list(dict.fromkeys(code for run in runs for code in run.about["languages"]))
    for code in codes:
        own = [run for run in runs if code in run.about["languages"]]
        yield _curve(own, code, "")
        sampled = [run for run in own if any(SAMPLER in run.about[when][code] for when in WHENS if when in run.about)]
        if sampled:
            yield _curve(sampled, code, SAMPLER)


def _curve(runs: Sequence[Run], code: str, text: str) -> Figure:
    """Retrieval by layer of one text of a language, before and after, with the chance level."""
    called = next(language_name(code, run.about) for run in runs)
    traces: list[Trace] = []
    rows: list[tuple[Cell, ...]] = []
    records: list[tuple[Ref, ...]] = []
    for place, run in enumerate(runs):
        found = _readings(run, text)
        layers = sorted({key[4] for key in found if key[1:3] == (code, "retrieval")})
        for when in (when for when in WHENS if when in run.about):
            ink = colour(place) if when == "after" else colour(place if len(runs) > 1 else 1)
            for kind, words in _VARIANTS:
                line = [_both(found, when, code, layer, kind) for layer in layers]
                says = label(f"{run.prefix}{when}", most=90)
                edges = band(layers, [short(e.low) for e in line], [short(e.high) for e in line], ink)
                main: Trace = {
                    "type": "scatter", "mode": "lines+markers", "x": layers, "y": [short(e.value) for e in line],
                    "name": says, "records": [refs(e) for e in line], "hover": f"{says}, layer %{{x}}",
                    "line": {"color": ink, "width": 2.5, "dash": "solid" if when == "after" else "dash"},
                    "marker": {"color": ink, "size": 6, "symbol": "circle" if when == "after" else "diamond"},
                }  # fmt: skip
                traces += [{**trace, "when": {"variant": kind}} for trace in (*edges, main)]
                for layer, each in zip(layers, line, strict=True):
                    rows.append((visible(run.name), when, words, layer, each.value, each.low, each.high, each.null))
                    records.append((None, None, None, None, refs(each), None, None, None))
        null = [short(_both(found, WHENS[0], code, layer, "raw").null) for layer in layers]
        chance: Trace = {"type": "scatter", "mode": "lines", "x": layers, "y": null, "showlegend": False,
                         "name": "chance", "line": {"color": "@soft", "width": 1.5, "dash": "dot"},
                         "hover": "chance: %{y:.3f}"}  # fmt: skip
        traces.append(chance)
    heads = ("run", "state", "vectors", "layer", "value", "low", "high", "null")
    name = f"layers-{code}" + (f"-{text}" if text else "")
    table = Table(name, "Retrieval by layer", "", heads, tuple(rows), tuple(records))
    layout = {"showlegend": True, "xaxis": {"title": {"text": "layer"}, "dtick": 1, "showgrid": False},
              "yaxis": {"nticks": 5, "tickformat": ".0%", "rangemode": "tozero",
                        "title": {"text": "share found", "standoff": 8}}}  # fmt: skip
    title = f"{called}, {'embedded sampler' if text else 'held-out sentences'}"
    caption = "Translation retrieval, mean of both directions. Dotted: chance."
    return Figure(name, title, caption, tuple(traces), layout, table)


def _table(run: Run, code: str) -> Table:
    lines = adjustment_lines(run.about, code)
    rows = tuple((line.name, line.before, line.after, line.change) for line in lines)
    called = language_name(code, run.about)
    title = f"{called}: {visible(run.name)}" if run.key else called
    found, layer = {text: _readings(run, text) for text in ("", SAMPLER)}, run.about["layer"]
    records = tuple(
        (None, *(None if line.behind is None else
                 refs(found[line.behind[0]].get((when, code, *line.behind[1:], layer))) for when in WHENS), None)
        for line in lines
    )  # fmt: skip
    return Table(run.id(f"before-and-after-{code}"), title, CAPTION, ("", "before", "after", "change"), rows, records)


def _made(run: Run) -> Section:
    title = f"How it was made: {run.name}" if run.key else "How it was made"
    about = {**(run.about.get("settings") or {}), "model": run.about["model"], "skipped": left_out(run.about)}
    return settings_section(about, labels={"model": "Model"}, name=run.id("made"), title=title)
