"""Explanations as sections of a page: consistency beside its controls, correlation, pairs of texts with their flows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from interlingua.report.explain import (
    Standing,
    above_heads,
    all_tables,
    correlation_said,
    correlations,
    is_wrong,
    lead,
    learnt_languages,
    named,
    shaded,
    units_of_run,
    verdicts,
)
from interlingua.report.explain_picture import aspects, scatter, selected, short_names
from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.readings import Record
from interlingua.report.runs import Run, colour
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Choice, Figure, Section, Trace, label, of_run, short
from interlingua.report.tables import Ref, Table, to_csv, to_latex, to_markdown
from interlingua.report.wording import visible

FURTHER = ("choices", "faithfulness", "random-heads", "chance")
SHADED, FLOWS = 24, 80
_LINE = 14 / 576  # a line of text as a part of a tall figure's height
"""How many pairs of texts are printed with their words shaded, and how many flows of a pair are drawn."""
_WORDS = (
    "Consistency is a sum over pairs of words (or word pieces, where these are what was weighed) of flow times cosine: "
    "how much attribution can be carried from one text to its translation, weighed by how alike the words are. It is a "
    "score, not a share. Texts that share words score high whatever the model does, so read it beside its controls: "
    "texts of other examples, random attributions on the same texts, and the same body under untrained heads."
)


def explain_files(records: Sequence[Record], run: Mapping[str, Any], examples: Sequence[Record]) -> dict[str, str]:
    """File names and texts: `explain.json`, `explain.html`, `correlation.svg`, tables as CSV, Markdown and LaTeX."""
    out = {"explain.json": json.dumps(explain_summary(records, run), ensure_ascii=False, indent=1)}
    learnt = {(model, source): learnt_languages(records, run, model, source) for model, source in run["models"]}
    told = [each for each in records if each["target"] in learnt.get((each["model"], each["source"]), ())]
    picture = scatter(told, run)
    if picture:
        out["correlation.svg"] = f'<?xml version="1.0" encoding="UTF-8"?>\n{picture}\n'
    for table in all_tables(records, run):
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{table.name}.{ending}"] = write(table)
    out["explain.html"] = explain_page(Run(run, records, more={"examples": examples}))
    return out


def explain_summary(records: Sequence[Record], run: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says first, for machines: the sentence on top, each verdict with its numbers, and correlations."""
    found = verdicts(records, run)
    return {
        "summary": lead(found),
        "verdicts": [asdict(each) | ({"difference": each.above.value} if each.above else {}) for each in found],
        "correlations": correlations(records, run),
    }


def explain_page(run: Run) -> str:
    """The page of an explanation, which makes no request; `run.more` has `examples`."""
    heading = ", ".join(short_names(run.about).values())
    below = f"{run.about['task']}, {', '.join(run.about['languages'])}"
    return render_page(Page("explain", heading, below, explain_sections([run]), run.records))


def explain_sections(runs: Sequence[Run]) -> list[Section]:
    """What there is to show of each explanation."""
    sections = [explain_answer(run) for run in runs]
    scores = tuple(of_run(figure, run.key, run.name) for run in runs for figure in _scores(run))
    if scores:
        words = (
            "A score is above chance where its 95 % interval is. Attributions of a model at chance say nothing of the "
            "task, so the figures below have only models and languages above chance."
        )
        sections.append(Section("scores", "Performance beside chance", (words,), figures=scores))
    figures = tuple(of_run(figure, run.key, run.name) for run in runs for figure in (*_heads(run), *_levels(run)))
    if figures:
        sections.append(Section("levels", "Consistency beside its controls", (_WORDS,), figures=figures))
    dots = tuple(of_run(figure, run.key, run.name) for run in runs for figure in _performance(run))
    if dots:
        words = (
            "A dot per language above chance; the language of training is left out, since its consistency is 1 by "
            "construction."
        )
        sections.append(Section("correlation", "Consistency and performance", (words,), figures=dots))
    sections += [section for run in runs for section in _examples(run)]
    for name, title, wanted in (("tables", "Tables", False), ("further", "How far to trust it", True)):
        tables = tuple(
            table for run in runs for table in _tables(run) if (table.name.split("~")[0] in FURTHER) is wanted
        )
        if tables:
            own = tuple(_renamed(table) for table in tables)
            sections.append(
                Section(name, title, ("A number with dots under it shows its record.",), tables=own, folded=True)
            )
    return sections + [_made(run) for run in runs]


def explain_answer(run: Run) -> Section:
    """The section on top: whether the model is above chance, and if so, whether it is above untrained heads."""
    found = verdicts(run.records, run.about)
    first = lead(found)
    facts = [(visible(each.aspect), each.sentence) for each in found if each.sentence != first]
    silent = {(each.model, each.source, each.aspect) for each in found if each.kind == "chance"}
    for each in correlations(run.records, run.about):
        model = named(run.about, each["model"], each["source"])
        if each["without_source"] and (model, each["source"], each["aspect"]) not in silent:
            facts.append(("With performance", f"{visible(each['aspect'])}, {model}: {correlation_said(each)}."))
    title = f"The answer: {run.name}" if run.key else "The answer"
    return Section(run.id("answer"), title, (first,), facts=tuple(facts))


def _places(run: Run) -> dict[int, int]:
    return {id(record): place for place, record in enumerate(run.records, run.first)}


def _scores(run: Run) -> Iterator[Figure]:
    """The task's own metric of every model and language with its interval, and the level of chance."""
    places, names = _places(run), short_names(run.about)
    scores = selected(run.records, "task", run.about["metric"])
    traces: list[Trace] = []
    rows, records = [], []
    for at, (model, source) in enumerate(run.about["models"]):
        mine = [(code, scores[key]) for code in run.about["languages"] if (key := (model, source, code)) in scores]
        if not mine:
            continue
        who, behind = f"{names[model]} ({visible(source)})", [places[id(each)] for _, each in mine]
        standings = [Standing.of([each]) for _, each in mine]
        ends = [(each["low"], each["value"], each["high"]) for _, each in mine]
        error = {"type": "data", "symmetric": False, "color": colour(at),
                 "array": [short(0.0 if high is None else high - value) for _, value, high in ends],
                 "arrayminus": [short(0.0 if low is None else value - low) for low, value, _ in ends]}  # fmt: skip
        for name, values, symbol, more in (
            (who, [each["value"] for _, each in mine], "circle", {"error_y": error}),
            (f"{who}: chance", [each.level for each in standings], "line-ew-open", {}),
        ):
            traces.append(
                {"type": "scatter", "mode": "markers", "x": [label(code) for code, _ in mine],
                 "y": [short(value) for value in values], "name": label(name, most=90),
                 "marker": {"color": colour(at), "size": 10 if more else 18, "symbol": symbol,
                            "line": {"width": 2, "color": colour(at)}},
                 "records": behind, "hover": f"{label(name)}, %{{x}}: %{{y:.3f}}", **more}
            )  # fmt: skip
        for (code, _), (low, value, high), own, place in zip(mine, ends, standings, behind, strict=True):
            rows.append((who, visible(code), value, low, high, own.level, "yes" if own.learnt else "no"))
            records.append((None, None, place, None, None, None, None))
    if rows:
        metric = visible(run.about["metric"])
        heads = ("model", "language", metric, "low", "high", "chance", "above")
        layout = {
            "showlegend": True,
            "xaxis": {"type": "category", "showgrid": False, "title": {"text": "language"}},
            "yaxis": {"rangemode": "tozero", "title": {"text": label(metric), "standoff": 8}},
        }
        caption = "Dots with 95 % intervals; strokes are the chance level."
        table = Table("scores", metric, "", heads, tuple(rows), tuple(records))
        yield Figure("scores", f"Performance: {metric}", caption, tuple(traces), layout, table, "wide")


def _levels(run: Run) -> Iterator[Figure]:
    """An aspect's consistency of every language above chance with its interval, and the two controls."""
    places, names = _places(run), short_names(run.about)
    for aspect in aspects(run.records):
        cells = selected(run.records, "consistency", aspect)
        traces: list[Trace] = []
        rows, records = [], []
        for at, (model, source) in enumerate(run.about["models"]):
            learnt = learnt_languages(run.records, run.about, model, source)
            mine = [(code, cells[key]) for code in learnt if (key := (model, source, code)) in cells and code != source]
            if not mine:
                continue
            behind = [places[id(each)] for _, each in mine]
            who = f"{names[model]} ({visible(source)})"
            for name, values, symbol in (
                ("consistency", [each["value"] for _, each in mine], "circle"),
                ("random attributions", [each["details"]["random"] for _, each in mine], "x-thin-open"),
                ("other examples", [each["null"] for _, each in mine], "line-ew-open"),
            ):
                error = {"type": "data", "symmetric": False, "color": colour(at),
                         "array": [short((e["high"] or e["value"]) - e["value"]) for _, e in mine],
                         "arrayminus": [short(e["value"] - (e["low"] or e["value"])) for _, e in mine]}  # fmt: skip
                traces.append(
                    {"type": "scatter", "mode": "markers", "x": [label(code) for code, _ in mine],
                     "y": [short(value) for value in values], "name": label(f"{who}: {name}", most=90),
                     "marker": {"color": colour(at), "size": 10, "symbol": symbol,
                                "line": {"width": 2, "color": colour(at)}}, "records": behind,
                     "hover": f"{label(who)}<br>{name}, %{{x}}: %{{y:.3f}}",
                     **({"error_y": error} if name == "consistency" else {})}
                )  # fmt: skip
            for (code, each), place in zip(mine, behind, strict=True):
                numbers = (each["value"], each["low"], each["high"], each["details"]["random"], each["null"])
                rows.append((who, visible(code), *numbers))
                records.append((None, None, place, None, None, None, None))
        heads = ("model", "language", "consistency", "low", "high", "random attributions", "other examples")
        if not rows:
            continue
        table = Table(f"levels-{aspect}", visible(aspect), "", heads, tuple(rows), tuple(records))
        layout = {
            "showlegend": True,
            "xaxis": {"type": "category", "showgrid": False, "title": {"text": "language"}},
            "yaxis": {"rangemode": "tozero", "title": {"text": "consistency", "standoff": 8}},
        }
        title = f"Consistency: {visible(aspect)}"
        caption = "Dots with 95 % intervals of their own; crosses and strokes are the controls."
        yield Figure(f"levels-{aspect}", title, caption, tuple(traces), layout, table, "wide")


def _heads(run: Run) -> Iterator[Figure]:
    """What is above random attributions in each language above chance, of the model and of each random head."""
    places, names = _places(run), short_names(run.about)
    for aspect in aspects(run.records):
        cells = selected(run.records, "consistency", aspect)
        traces: list[Trace] = []
        rows, records = [], []
        for at, (model, source) in enumerate(run.about["models"]):
            learnt = learnt_languages(run.records, run.about, model, source)
            keys = [(model, source, code) for code in learnt if code != source]
            mine = [
                (key[2], cells[key], above) for key in keys if key in cells and (above := above_heads([cells[key]]))
            ]
            if not mine:
                continue
            who = f"{names[model]} ({visible(source)})"
            drawn = [
                (code, each, value) for code, each, _ in mine for value in each["details"]["heads"]["above_random"]
            ]
            # The interval of the difference, drawn round the heads' mean: where one more untrained head would lie.
            half = [((above.high or 0.0) - (above.low or 0.0)) / 2 for *_, above in mine]
            error = {"type": "data", "color": colour(at), "thickness": 1.5, "array": [short(each) for each in half]}
            for name, marked, values, symbol, more in (
                ("model", mine, [above.own for *_, above in mine], "circle", {}),
                ("untrained heads, mean", mine, [above.control for *_, above in mine], "line-ew-open",
                 {"error_y": error}),
                ("untrained heads, each", drawn, [value for *_, value in drawn], "circle-open", {}),
            ):  # fmt: skip
                traces.append(
                    {"type": "scatter", "mode": "markers", "x": [label(code) for code, *_ in marked],
                     "y": [short(value) for value in values], "name": label(f"{who}: {name}", most=90),
                     "marker": {"color": colour(at), "size": 7 if marked is drawn else 11, "symbol": symbol,
                                "line": {"width": 1.5, "color": colour(at)}},
                     "records": [places[id(each)] for _, each, _ in marked],
                     "hover": f"{label(who)}<br>{name}, %{{x}}: %{{y:.3f}}", **more}
                )  # fmt: skip
            for code, each, above in mine:
                rows.append((who, visible(code), above.own, above.control, above.value, above.low, above.high))
                records.append((None, None, places[id(each)], None, None, None, None))
        if rows:
            heads = ("model", "language", "above random", "random heads", "difference", "low", "high")
            table = Table(f"heads-{aspect}", visible(aspect), "", heads, tuple(rows), tuple(records))
            layout = {
                "showlegend": True,
                "xaxis": {"type": "category", "showgrid": False, "title": {"text": "language"}},
                "yaxis": {"zeroline": True, "title": {"text": "above random attributions", "standoff": 8}},
            }
            caption = (
                "Consistency less that of the same attributions dealt to words at random. Bars show "
                "where one more untrained head would lie (95 %); a model is credited where it lies above them."
            )
            title = f"Model and untrained heads: {visible(aspect)}"
            yield Figure(f"heads-{aspect}", title, caption, tuple(traces), layout, table, "wide")


def _performance(run: Run) -> Iterator[Figure]:
    places, performance = _places(run), selected(run.records, "task", run.about["metric"])
    names = short_names(run.about)
    for aspect in aspects(run.records):
        cells = selected(run.records, "consistency", aspect)
        series: dict[str, list[Dot]] = {}
        for model, source in run.about["models"]:
            learnt = learnt_languages(run.records, run.about, model, source)
            keys = [(model, source, code) for code in learnt if code != source]
            series[f"{names[model]}, trained in {source}"] = [
                (
                    key[2],
                    cells[key]["value"],
                    performance[key]["value"],
                    (places[id(cells[key])], places[id(performance[key])]),
                )
                for key in keys
                if key in cells and key in performance
            ]
        series = {name: dots for name, dots in series.items() if len(dots) > 1}
        if series:
            axes = (f"consistency of attributions ({aspect})", str(run.about["metric"]))
            yield dot_plot(f"correlation-{aspect}", visible(aspect), "A dot per language.", series, axes)


def _examples(run: Run) -> list[Section]:
    examples = sorted(run.more.get("examples") or [], key=lambda each: not is_wrong(each))
    if not examples:
        return []
    title = "Examples" + (f": {run.name}" if run.key else "")
    units = units_of_run(run.about)
    words = (
        f"The stronger the shade of {units}, the larger their attributions; blue is for what is explained, orange "
        f"against it. The ribbons of the pair that is chosen are what flows from {units} of the one text to {units} of "
        "the other. Pairs on which the model is wrong come first."
    )
    if run.records and any(each.kind == "chance" for each in verdicts(run.records, run.about)):
        words = (
            "A model at chance has learnt nothing that its attributions could show: these pictures say how they are "
            f"computed, and nothing about the task. {words}"
        )
    shown = [
        (str(place), f"{place + 1}. {'wrong, ' if is_wrong(each) else ''}{_pair(each)}: {_begin(each)}")
        for place, each in enumerate(examples)
    ]
    traces = tuple({**_ribbons(each), "when": {"example": str(place)}} for place, each in enumerate(examples))
    rows = tuple(
        (_pair(each), visible(each["source"]["units"][i]), visible(each["target"]["units"][j]), share)
        for each in examples
        for i, j, share in each["flows"][:FLOWS]
    )
    table = Table("flows", "Flows", "", ("languages", "from", "to", "share"), rows)
    figure = Figure("flows", "Flows between two texts", "Width is the share of attribution that flows.", traces,
                    {"margin": {"l": 8, "r": 8, "t": 12, "b": 12}}, table, "tall")  # fmt: skip
    menu = Choice("example", "Pair", tuple(shown), "0")
    texts = tuple(shaded(each) for each in of_every_pair(examples, SHADED))
    return [Section(run.id("examples"), title, (words,), choices=(menu,), figures=(of_run(figure, run.key, run.name),),
                    texts=texts)]  # fmt: skip


def of_every_pair(examples: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """So many examples at most, as many of each pair of languages as of the others, in their order."""
    seen: dict[str, int] = {}
    ranked = []
    for place, each in enumerate(examples):
        rank = seen[_pair(each)] = seen.get(_pair(each), -1) + 1
        ranked.append((rank, place))
    return [examples[place] for place in sorted(place for _, place in sorted(ranked)[:most])]


def texts_sections(example: Mapping[str, Any]) -> list[Section]:
    """Two texts, their words shaded, and what flows between them."""
    return _examples(Run({}, more={"examples": [example]}))


def _pair(example: Mapping[str, Any]) -> str:
    return visible(f"{example['languages']['source']}–{example['languages']['target']}")


def _begin(example: Mapping[str, Any]) -> str:
    text = visible(" ".join(example["source"]["units"][:12]))
    return text if len(text) < 50 else f"{text[:48]}…"


def _ribbons(example: Mapping[str, Any]) -> dict[str, Any]:
    """What flows from unit to unit as a Sankey diagram: the one text on the left, top to bottom, the other right."""
    flows = [(i, j, f) for i, j, f in example["flows"][:FLOWS] if f > 0]
    nodes = [("source", i) for i in sorted({i for i, *_ in flows})] + [
        ("target", j) for j in sorted({j for _, j, _ in flows})
    ]
    place = {node: at for at, node in enumerate(nodes)}
    weight = {node: sum(f for i, j, f in flows if (("source", i) if node[0] == "source" else ("target", j)) == node)
              for node in nodes}  # fmt: skip
    up: dict[tuple[str, int], float] = {}
    for side in ("source", "target"):
        own = [node for node in nodes if node[0] == side]
        total, done = sum(weight[node] for node in own) or 1.0, 0.0
        for at, node in enumerate(own):
            # Between where its weight puts a node and even steps: thin nodes would lie on each other.
            up[node] = 0.5 * (done + weight[node] / 2) / total + 0.5 * (at + 0.5) / len(own)
            done += weight[node]
    named = _with_room(nodes, weight, up)
    plus = {node: example[node[0]]["attributions"][node[1]] >= 0 for node in nodes}
    return {
        "type": "sankey",
        "arrangement": "fixed",
        "node": {
            "label": [label(example[side]["units"][at], most=24) if (side, at) in named else "" for side, at in nodes],
            "customdata": [label(example[side]["units"][at], most=24) for side, at in nodes],
            "x": [0.001 if side == "source" else 0.999 for side, _ in nodes],
            "y": [min(max(up[node], 0.001), 0.999) for node in nodes],
            "color": ["@one" if plus[node] else "@two" for node in nodes],
            "pad": 4,
            "thickness": 12,
            "line": {"width": 0},
            "hovertemplate": "%{customdata}<extra></extra>",
        },
        "link": {
            "source": [place["source", i] for i, *_ in flows],
            "target": [place["target", j] for _, j, _ in flows],
            "value": [short(f) for *_, f in flows],
            "color": ["@one/0.28" if plus["source", i] else "@two/0.28" for i, *_ in flows],
            "hovertemplate": "%{source.customdata} → %{target.customdata}: %{value:.3f}<extra></extra>",
        },
        "textfont": {"color": "@ink", "size": 12},
    }


def _with_room(
    nodes: Sequence[tuple[str, int]], weight: Mapping[tuple[str, int], float], up: Mapping[tuple[str, int], float]
) -> set[tuple[str, int]]:
    """The nodes that are named beside: the heaviest first, none where a name above or below would be covered."""
    named: set[tuple[str, int]] = set()
    for node in sorted(nodes, key=lambda each: -weight[each]):
        if all(node[0] != other[0] or abs(up[node] - up[other]) > _LINE for other in named):
            named.add(node)
    return named


def _tables(run: Run) -> Iterator[Table]:
    for table in all_tables(run.records, run.about):
        name, title = (
            (f"{table.name}~{run.key}", f"{table.title}: {visible(run.name)}") if run.key else (table.name, table.title)
        )
        yield Table(name, title, table.caption, table.columns, table.rows, _behind(run, table))


def _renamed(table: Table) -> Table:
    return Table(table.name.replace("~", "-"), table.title, table.caption, table.columns, table.rows, table.records)


def _behind(run: Run, table: Table) -> tuple[tuple[Ref, ...], ...]:
    """The records behind the matrices of consistency and performance, a cell a language; other tables have none."""
    aspect = table.name.removeprefix("consistency-").removesuffix("-null").removesuffix("-random")
    measure, variant = ("task", run.about["metric"]) if table.name == "performance" else ("consistency", aspect)
    if table.columns[:2] != ("model", "source") or table.name in ("choices", "correlation", "random-heads"):
        return ()
    cells, places = selected(run.records, measure, variant), _places(run)
    lines = []
    for model, source in run.about["models"]:
        own = [cells.get((model, source, code)) for code in run.about["languages"]]
        lines.append((None, None, *(None if each is None else places[id(each)] for each in own), None, None))
    return tuple(lines)


def _made(run: Run) -> Section:
    title = f"How it was made: {run.name}" if run.key else "How it was made"
    about = {**run.about, **(run.about.get("settings") or {})}
    return settings_section(about, labels={"models": "Models", "task": "Task"}, without=("settings", "kind", "steps"),
                            name=run.id("made"), title=title)  # fmt: skip
