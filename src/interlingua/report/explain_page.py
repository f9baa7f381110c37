"""Explanations as sections of a page: consistency beside its controls, correlation, pairs of texts with their flows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlingua.report.explain import UNPAIRED, above_random, all_tables, correlations, is_wrong, shaded
from interlingua.report.explain_picture import aspects, scatter, selected, short_names
from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.readings import Record
from interlingua.report.runs import Run, colour
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Choice, Figure, Section, Trace, label, of_run, short
from interlingua.report.tables import Ref, Table, to_csv, to_latex, to_markdown
from interlingua.report.wording import language_name, number, visible

FURTHER = ("choices", "faithfulness")
SHADED, FLOWS = 24, 80
_LINE = 14 / 576  # a line of text as a part of a tall figure's height
"""How many pairs of texts are printed with their words shaded, and how many flows of a pair are drawn."""
_WORDS = (
    "Consistency is the share of attribution that finds a similar word (or word piece, where these are what was "
    "weighed) with as much of it in the translation. Read it "
    "beside its two controls: what texts of other examples reach, and what random attributions reach on the same texts."
)


def explain_files(records: Sequence[Record], run: Mapping[str, Any], examples: Sequence[Record]) -> dict[str, str]:
    """File names and texts: `explain.json`, `explain.html`, `correlation.svg`, tables as CSV, Markdown and LaTeX."""
    out = {"explain.json": json.dumps({"correlations": correlations(records, run)}, ensure_ascii=False, indent=1)}
    picture = scatter(records, run)
    if picture:
        out["correlation.svg"] = f'<?xml version="1.0" encoding="UTF-8"?>\n{picture}\n'
    for table in all_tables(records, run):
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{table.name}.{ending}"] = write(table)
    out["explain.html"] = explain_page(Run(run, records, more={"examples": examples}))
    return out


def explain_page(run: Run) -> str:
    """The page of an explanation, which makes no request; `run.more` has `examples`."""
    heading = ", ".join(short_names(run.about).values())
    below = f"{run.about['task']}, {', '.join(run.about['languages'])}"
    return render_page(Page("explain", heading, below, explain_sections([run]), run.records))


def explain_sections(runs: Sequence[Run]) -> list[Section]:
    """What there is to show of each explanation."""
    sections = [explain_answer(run) for run in runs]
    figures = tuple(of_run(figure, run.key, run.name) for run in runs for figure in _levels(run))
    if figures:
        sections.append(Section("levels", "Consistency beside its controls", (_WORDS,), figures=figures))
    dots = tuple(of_run(figure, run.key, run.name) for run in runs for figure in _performance(run))
    if dots:
        words = "A dot a language; the language of training is left out, since its consistency is 1 by construction."
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
    """The section on top: do the languages look at the same words, more than random weights would?"""
    facts = []
    units = _units(run)
    lead = "Nothing has been compared yet: run the same command again."
    for place, aspect in enumerate(aspects(run.records)):
        cells = selected(run.records, "consistency", aspect)
        others = [each for (_, source, code), each in cells.items() if code != source]
        if not others:
            continue
        value, null, random = (
            sum(values) / len(values)
            for values in (
                [each["value"] for each in others],
                [each["null"] for each in others if each["null"] is not None] or [0.0],
                [each["details"]["random"] for each in others],
            )
        )
        above = above_random(others)
        within = "" if above.low is None else f" ({number(above.low, 3)} to {number(above.high, 3)})"
        verdict = (
            f"the model looks at the same {units} more than random weights would, by {number(above.value, 3)}{within}."
            if above.sure
            else f"no proof that the model looks at the same {units}: {number(above.value, 3)} above random{within}."
        )
        verdict += "" if above.paired else f" {UNPAIRED}"
        text = (
            f"{number(value)} of the attribution ({visible(aspect)}) finds as much of it on similar {units} of the "
            f"other language; random attributions reach {number(random)}, other examples’ texts {number(null)}: "
            f"{verdict}"
        )
        lead = text if place == 0 else lead
        rest = _ends(others, run)
        facts.append((visible(aspect), rest if place == 0 else f"{text} {rest}"))
    for each in correlations(run.records, run.about):
        if each["without_source"]:
            low, high = (number(each[key]) for key in ("low", "high"))
            sure = f"r = {number(each['r'])} (95 % {low} to {high})"
            said = "no correlation can be told" if "–" in (low, high) else sure
            facts.append(
                ("With performance", f"{visible(each['aspect'])}: {said} over {each['languages']} languages, "
                 f"{short_names(run.about)[each['model']]}.")
            )  # fmt: skip
    title = f"The answer: {run.name}" if run.key else "The answer"
    return Section(run.id("answer"), title, (lead,), facts=tuple(facts))


def _units(run: Run) -> str:
    """What bears attributions: the pieces that the tokenizer cuts words into, where the run has no whole words."""
    return "word pieces" if (run.about.get("settings") or {}).get("unit") == "token" else "words"


def _ends(others: Sequence[Mapping[str, Any]], run: Run) -> str:
    """Which language agrees most with that of training, and which least; of one alone there is nothing to say."""
    best, worst = (pick(others, key=lambda each: each["value"]) for pick in (max, min))
    told = [f"{language_name(each['target'], run.about)} ({number(each['value'])})" for each in (best, worst)]
    if len({each["target"] for each in others}) < 2:
        return f"{told[0]} is the one language beside that of training: with two or more they can be compared."
    return f"Most alike: {told[0]}; least: {told[1]}."


def _places(run: Run) -> dict[int, int]:
    return {id(record): place for place, record in enumerate(run.records, run.first)}


def _levels(run: Run) -> Iterator[Figure]:
    """An aspect's consistency of every language with its interval, and the two controls."""
    places, names = _places(run), short_names(run.about)
    for aspect in aspects(run.records):
        cells = selected(run.records, "consistency", aspect)
        traces: list[Trace] = []
        rows, records = [], []
        for at, (model, source) in enumerate(run.about["models"]):
            mine = [
                (code, cells[model, source, code]) for code in run.about["languages"] if (model, source, code) in cells
            ]
            mine = [(code, each) for code, each in mine if code != source]
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
        table = Table(f"levels-{aspect}", visible(aspect), "", heads, tuple(rows), tuple(records))
        layout = {
            "showlegend": True,
            "xaxis": {"type": "category", "showgrid": False, "title": {"text": "language"}},
            "yaxis": {"rangemode": "tozero", "title": {"text": "consistency", "standoff": 8}},
        }
        title = f"Consistency: {visible(aspect)}"
        caption = "Dots with 95 % intervals of their own; crosses and strokes are the controls."
        yield Figure(f"levels-{aspect}", title, caption, tuple(traces), layout, table, "wide")


def _performance(run: Run) -> Iterator[Figure]:
    places, performance = _places(run), selected(run.records, "task", run.about["metric"])
    names = short_names(run.about)
    for aspect in aspects(run.records):
        cells = selected(run.records, "consistency", aspect)
        series: dict[str, list[Dot]] = {}
        for model, source in run.about["models"]:
            keys = [(model, source, code) for code in run.about["languages"] if code != source]
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
            yield dot_plot(f"correlation-{aspect}", visible(aspect), "A dot a language.", series, axes)


def _examples(run: Run) -> list[Section]:
    examples = sorted(run.more.get("examples") or [], key=lambda each: not is_wrong(each))
    if not examples:
        return []
    title = "Examples" + (f": {run.name}" if run.key else "")
    units = _units(run)
    words = (
        f"The stronger the shade of {units}, the more they matter; blue speaks for what is explained, orange against "
        f"it. The ribbons of the pair that is chosen are what flows from {units} of the one text to {units} of the "
        "other. Pairs on which the model is wrong come first."
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
    if table.columns[:2] != ("model", "source") or table.name in ("choices", "correlation"):
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
