"""What a study found of the consistency of attributions: what it says, beside its controls, and against performance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from interlingua.report.audit import named_table
from interlingua.report.explain import UNPAIRED
from interlingua.report.papers import in_names
from interlingua.report.runs import Run, colour
from interlingua.report.scatter import Dot, dot_plot
from interlingua.report.sections import Figure, Section, Trace, label, of_run, short
from interlingua.report.study import consistency_tables
from interlingua.report.study_parts import Controlled, consistency_controls, consistency_points, slug
from interlingua.report.tables import Table
from interlingua.report.wording import language_name, listing, number, visible
from interlingua.stats import spearman

_WORDS = in_names(
    "Whether the model looks at the same words in two languages (papers/002). Texts that share words score high "
    "whatever the model does, so each number is to be read beside that of random attributions on the same texts. "
    "Means over seeds; the language of training agrees with itself by construction."
)


def titled(title: str, run: Run) -> str:
    """The title, with the study's name where a page shows several."""
    return f"{title}: {visible(run.name)}" if run.key else title


def slugged(table: Table) -> Table:
    """The table by a name that a page and a file can have."""
    return replace(table, name=slug(table.name))


def explained(run: Run) -> list[str]:
    """How consistent attributions are, whether more than random ones, and how that goes with performance.

    Over the languages but the source's.
    """
    said = []
    controls = consistency_controls(run)
    for key, points in consistency_points(run).items():
        others = [point for point in points if point[0] != key[3]]
        if not others:
            continue
        x, y = np.array([[point[1], point[2]] for point in others]).T
        goes = ""
        if len(others) > 2:
            rho, low, high = spearman(x, y)
            within = "" if low is None else f" ({number(low)} to {number(high)})"
            goes = f" With performance: ρ = {number(rho)}{within} over {len(others)} languages."
        model, task, regime, source, aspect = map(visible, key)
        of = ", ".join((model, task, regime, aspect))
        spoken = listing([language_name(point[0], run.about) for point in others])
        between = f"of {language_name(source, run.about)} with {spoken}"
        above = _above(controls.get(key, {}), key[3])
        said.append(f"{of}: consistency {between} {number(float(x.mean()))} on average{above}.{goes}")
    return said


def _above(cells: Mapping[str, Controlled], source: str) -> str:
    """What random attributions reach, and in which languages the interval of what is above them leaves out 0."""
    known = {code: each for code, each in cells.items() if code != source}
    if not known:
        return ""
    random = float(np.mean([each.random for each in known.values()]))
    more = [code for code, each in known.items() if each.above.sure]
    where = f"more in {listing([language_name(code, {}) for code in more])}" if more else "more in none"
    if len(more) == len(known):
        where = "more in all"
    told = "" if all(each.above.paired for each in known.values()) else f"; {UNPAIRED[0].lower()}{UNPAIRED[1:-1]}"
    return f", where random attributions reach {number(random)} ({where}{told})"


def consistency_sections(run: Run) -> list[Section]:
    """Consistency less that of random attributions, then against performance, then the tables."""
    tables = tuple(slugged(named_table(table, run)) for table in consistency_tables(run) if table.rows)
    if not tables:
        return []
    figures = tuple(of_run(figure, run.key, run.name) for figure in [*_above_random(run), *_performance(run)])
    title = titled("Consistency of attributions", run)
    return [Section(run.id("consistency"), title, (_WORDS,), figures=figures, tables=tables)]


def _above_random(run: Run) -> list[Figure]:
    """What attributions have over random ones in every language, a figure a task and aspect."""
    drawn: dict[tuple[str, str], dict[str, list[tuple[str, Controlled]]]] = {}
    for (model, task, regime, source, aspect), cells in consistency_controls(run).items():
        others = [(code, each) for code, each in cells.items() if code != source]
        if others:
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
            numbers = (each.value, each.random, above.value, above.low, above.high, each.null)
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
    heads = ("of", "language", "consistency", "random attributions", "above random", "low", "high", "other examples")
    name = slug(f"above-random-{task}-{aspect}")
    title = f"Consistency less that of random attributions: {visible(task)}, {visible(aspect)}"
    caption = "On the line, random weights on the same words do as well. Bars are 95 % intervals of the differences."
    if not all(each.above.paired for cells in series.values() for _, each in cells):
        caption = f"{caption[: caption.index(' Bars')]} {UNPAIRED}"
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
    caption = "A dot a language but the source’s. A correlation is no cause."
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
