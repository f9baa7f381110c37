"""What a study found of the consistency of attributions: what it says, beside its controls, and against performance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from interlingua.report.audit import named_table
from interlingua.report.explain import correlation_said, verdict
from interlingua.report.explain_picture import LEAST
from interlingua.report.papers import in_names
from interlingua.report.readings import Record
from interlingua.report.runs import Run, colour
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Figure, Section, Trace, label, of_run, short
from interlingua.report.study import consistency_tables
from interlingua.report.study_parts import (
    Controlled,
    consistency_controls,
    consistency_points,
    explained_at_chance,
    slug,
)
from interlingua.report.tables import Table
from interlingua.report.wording import visible
from interlingua.stats import correlate

_WORDS = in_names(
    "How similar the words are that attributions of two languages lie on (papers/002): flow times cosine, summed. "
    "Texts that share words score high whatever the model does, so each number is to be read beside those of random "
    "attributions on the same texts and of untrained heads on the same body. Means over seeds; the language of "
    "training agrees with itself by construction. Figures and correlations leave out models and languages at chance."
)


def titled(title: str, run: Run) -> str:
    """The title, with the study's name where a page shows several."""
    return f"{title}: {visible(run.name)}" if run.key else title


def slugged(table: Table) -> Table:
    """The table by a name that a page and a file can have."""
    return replace(table, name=slug(table.name))


def explained(run: Run) -> list[str]:
    """Of each model first whether it is above chance, then its attributions beside those of untrained heads.

    Over the languages but the source's; then how that goes with performance.
    """
    cells: dict[tuple[str, ...], dict[str, list[Record]]] = {}
    scores: dict[tuple[str, ...], dict[str, list[Record]]] = {}
    for record in run.records:
        details = record.get("details") or {}
        if {"called", "regime"} <= details.keys():
            key = (record["model"], details["task"], details["regime"], record["source"])
            if record["measure"] == "consistency" and "random" in details:
                cells.setdefault((*key, record["variant"]), {}).setdefault(record["target"], []).append(record)
            elif record["measure"] == "task" and "chance" in details:
                scores.setdefault(key, {}).setdefault(record["target"], []).append(record)
    said, points = [], consistency_points(run)
    for group, languages in cells.items():
        if set(languages) == {group[3]}:
            continue
        model, task, regime, source, aspect = map(visible, group)
        settings = next(iter(languages.values()))[0]["details"].get("settings") or {}
        about = {**run.about, "settings": settings}
        found = verdict(f"{model} ({regime})", source, aspect, languages, scores.get(group[:4], {}), about)
        others = [point for point in points.get(group, []) if point[0] != source]
        goes = correlate([x for _, x, *_ in others], [y for *_, y, _ in others]) if len(others) >= LEAST else None
        with_scores = f" With performance: {correlation_said(asdict(goes))}." if goes and found.kind != "chance" else ""
        said.append(f"{task}, {aspect}. {found.sentence}{with_scores}")
    return said


def consistency_sections(run: Run) -> list[Section]:
    """Consistency less that of random attributions, then against performance, then the tables."""
    tables = tuple(slugged(named_table(table, run)) for table in consistency_tables(run) if table.rows)
    if not tables:
        return []
    figures = tuple(of_run(figure, run.key, run.name) for figure in [*_above_random(run), *_performance(run)])
    title = titled("Consistency of attributions", run)
    return [Section(run.id("consistency"), title, (_WORDS,), figures=figures, tables=tables)]


def _above_random(run: Run) -> list[Figure]:
    """What attributions have over random ones in each language above chance, a figure per task and aspect."""
    weak = explained_at_chance(run)
    drawn: dict[tuple[str, str], dict[str, list[tuple[str, Controlled]]]] = {}
    for (model, task, regime, source, aspect), cells in consistency_controls(run).items():
        shared = (model, task, regime, source)
        others = [(code, each) for code, each in cells.items() if code != source and (*shared, code) not in weak]
        if others and (*shared, source) not in weak:
            drawn.setdefault((task, aspect), {})[f"{model}, {regime}, {source}"] = others
    return [_excess(task, aspect, series) for (task, aspect), series in drawn.items()]


def _excess(task: str, aspect: str, series: Mapping[str, list[tuple[str, Controlled]]]) -> Figure:
    traces: list[Trace] = []
    rows, records = [], []
    for at, (who, cells) in enumerate(series.items()):
        over, up, down = [], [], []
        for code, each in cells:
            above = each.above
            over.append(short(above.value))
            up.append(short(0.0 if above.high is None else above.high - above.value))
            down.append(short(0.0 if above.low is None else above.value - above.low))
            trained = each.heads
            rest = (None,) * 4 if trained is None else (trained.control, trained.value, trained.low, trained.high)
            numbers = (each.value, each.random, above.value, above.low, above.high, *rest, each.null)
            rows.append((visible(who), visible(code), *numbers))
            records.append((None, None, each.behind, *(None for _ in numbers[1:])))
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [label(code) for code, _ in cells],
                "y": over,
                "name": label(who, most=60),
                "marker": {"color": colour(at), "size": 9},
                "error_y": {"type": "data", "symmetric": False, "color": colour(at), "array": up, "arrayminus": down},
                "records": [each.behind for _, each in cells],
                "hover": f"{label(who)}<br>%{{x}}: %{{y:.3f}} above random",
            }
        )
    heads = ("of", "language", "consistency", "random attributions", "above random", "low", "high",
             "above random, random heads", "above heads", "heads low", "heads high", "other examples")  # fmt: skip
    name = slug(f"above-random-{task}-{aspect}")
    title = f"Consistency less that of random attributions: {visible(task)}, {visible(aspect)}"
    caption = (
        "On the line, random weights on the same words do as well; untrained heads on the same body may lie above it, "
        "too. Bars are 95 % intervals of the differences."
    )
    layout = {
        "showlegend": len(series) > 1,
        "scattermode": "group",
        "xaxis": {"type": "category", "showgrid": False, "title": {"text": "language"}},
        "yaxis": {
            "title": {"text": "above random", "standoff": 8},
            "zeroline": True,
            "zerolinecolor": "@soft",
            "zerolinewidth": 2,
        },
    }
    table = Table(name, title, "", heads, tuple(rows), tuple(records))
    return Figure(name, title, caption, tuple(traces), layout, table, "wide")


def _performance(run: Run) -> list[Figure]:
    """Consistency against performance, a figure a task and aspect, a colour a model and regime."""
    drawn: dict[tuple[str, str], dict[str, list[Dot]]] = {}
    for (model, task, regime, source, aspect), points in consistency_points(run).items():
        # The source's consistency is 1 by construction.
        others = [point for point in points if point[0] != source]
        if len(others) > 1:
            drawn.setdefault((task, aspect), {})[f"{model}, {regime}, {source}"] = others
    caption = "A dot per language above chance but the source’s. Correlation does not imply causation."
    return [
        dot_plot(
            slug(f"consistency-{task}-{aspect}"),
            f"Consistency and performance: {visible(task)}, {visible(aspect)}",
            caption,
            series,
            (f"consistency of {aspect}", f"score of {task}"),
        )
        for (task, aspect), series in drawn.items()
    ]
