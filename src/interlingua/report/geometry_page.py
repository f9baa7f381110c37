"""A geometry study as sections of a page: the answer in words, maps, clusters, cosines, curves, groups, transfer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from interlingua.report.geometry_figures import (
    cosine_maps,
    group_map,
    learnt_dots,
    purity_curves,
    spelling_scatter,
    step_curves,
    wrong_map,
)
from interlingua.report.geometry_maps import map_section, styles
from interlingua.report.geometry_tables import (
    LABELS,
    STATES,
    above_shuffled,
    all_tables,
    cluster_value,
    findings,
    last_layer,
    learnt_records,
    places_on_page,
    sets_of,
    states_of,
    wrong_cells,
    wrong_places,
)
from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.runs import Run
from interlingua.report.sections import Section, of_run
from interlingua.report.tables import Ref, Table
from interlingua.report.wording import language_name, number, p_value, percent, visible
from interlingua.stats import Association

_LABELS = {"model": "Model", "data": "Data", "languages": "Languages", "rows": "Rows", "source": "Second look after"}
_LEFT_OUT = ("kind", "settings", "names", "pieces", "trained", "steps")


def geometry_page(run: Run) -> str:
    """The page of a geometry study, which makes no request; `run.more` has `maps` and `found`."""
    below = ", ".join(language_name(code, run.about) for code in run.about["languages"])
    page = Page("geometry", str(run.about["model"]), below, geometry_sections([run]), run.records)
    return render_page(page)


def geometry_sections(runs: Sequence[Run]) -> list[Section]:
    """What there is to show of each study; purity by layer is drawn for all of them together."""
    sections = [_answer(run) for run in runs]
    sections += [section for run in runs for section in _learnt(run)]
    shown = [_of_learnt(run) for run in runs]
    sections += [section for run in shown if (section := map_section(run))]
    sections += _clusters(shown, runs)
    for run in shown:
        sections += [*_cosines(run), *_steps(run), *_groups(run), *_transfer(run)]
    tables = tuple(table for run in runs for table in _tables(run) if not table.name.startswith("clusters"))
    if tables:
        words = "A number with dots under it shows its record: point at it, or click."
        sections.append(Section("tables", "Tables", (words,), tables=tables, folded=True))
    return sections + [_made(run) for run in runs]


def _of_learnt(run: Run) -> Run:
    """The run as its figures have it: without what belongs to fine-tunings that did not learn the task.

    Its records keep their places; only tables, which say so, have all.
    """
    states = states_of(run.about, _found(run))
    held = [
        (place, record)
        for place, record in run.numbered()
        if (record.get("details") or {}).get("state", STATES[0]) in states
    ]
    learnt = {id(record) for record in learnt_records([record for _, record in held], _found(run))}
    held = [(place, record) for place, record in held if id(record) in learnt]
    maps = [each for each in run.more.get("maps") or [] if each["state"] in states]
    more = {**run.more, "maps": maps}
    return replace(run, records=[record for _, record in held], places=[place for place, _ in held], more=more)


def _learnt(run: Run) -> Iterator[Section]:
    """Whether each fine-tuning learnt the task, beside chance."""
    figure = learnt_dots(run)
    if figure is not None:
        words = (
            "The share of test sentences with a wrong tag in the language that was trained on. Chance is the lower of "
            "two shares: of the model’s own answers dealt to other sentences, and of no word tagged. A fine-tuning "
            "learnt the task where its 95 % interval lies below; the figures that follow have no other."
        )
        title = _titled("Was the task learnt?", run)
        yield Section(run.id("learnt"), title, (words,), figures=(of_run(figure, run.key, run.name),))


def _titled(title: str, run: Run) -> str:
    return f"{title}: {run.name}" if run.key else title


def _found(run: Run) -> Mapping[str, Any]:
    found: Mapping[str, Any] = run.more.get("found") or {}
    return found


def _answer(run: Run) -> Section:
    told = findings(run.records, run.about, _found(run))
    title = _titled("The answer", run)
    if not told:
        return Section(run.id("answer"), title, ("Nothing has been measured yet: run the same command again.",))
    return Section(run.id("answer"), title, (told[0][1],), tuple(geometry_tiles(run)), tuple(told[1:]))


def geometry_tiles(run: Run) -> Iterator[tuple[str, str, str, Ref]]:
    """Numbers at a glance: purity at the output, errors in other languages, and what they have to do with spelling."""
    places, last = places_on_page(run), last_layer(run.records)
    corpus, states = next(iter(sets_of(run.records)), ""), states_of(run.about, _found(run))
    for each in (_found(run).get("not_learnt") or ())[:1]:
        called = language_name(each["language"], run.about)
        remark = f"not learnt: {percent(each['chance'])} by chance"
        yield percent(each["wrong"]), f"wrong in {called}, trained on it", remark, None
    for by in LABELS:
        before = cluster_value(run.records, f"purity/{by}", STATES[0], corpus, last)
        after = cluster_value(run.records, f"purity/{by}", STATES[1], corpus, last) if len(states) > 1 else None
        shown = after or before
        if shown is not None:
            remark = f"{percent(shown['null'])} by chance{'' if above_shuffled(shown) else ', not above it'}"
            if after and before:
                remark = f"{percent(before['value'])} before, {remark}"
            yield percent(shown["value"]), f"of neighbours share the {by}", remark, places[id(shown)]
    learnt = learnt_records(run.records, _found(run))
    cells, every = wrong_cells(learnt), wrong_places(run.records, places)
    held = {places[id(each)] for each in learnt}
    behind = {pair: tuple(place for place in every[pair] if place in held) for pair in cells}
    others = {pair: value for pair, value in cells.items() if pair[0] != pair[1]}
    own = [value for pair, value in cells.items() if pair not in others]
    if others:
        remark = f"{percent(sum(own) / len(own))} in that of training" if own else ""
        records = tuple(place for pair in others for place in behind[pair])
        yield percent(sum(others.values()) / len(others)), "wrong in other languages", remark, records
    if scatter := _found(run).get("scatter"):
        rho = Association(**scatter["rho"])
        yield number(rho.value), "ρ of errors and spelling", f"{p_value(rho.p)}, {rho.n} languages", None


def _clusters(shown: Sequence[Run], runs: Sequence[Run]) -> list[Section]:
    """The curves of what was learnt, and the tables of all."""
    figures = tuple(figure for by in LABELS if (figure := purity_curves(shown, by)))
    tables = tuple(table for run in runs for table in _tables(run) if table.name.startswith("clusters"))
    if not figures and not tables:
        return []
    words = (
        "The share of an entity’s nearest neighbours that have its language, and its type, layer by layer, of the test "
        "part. Layer 0 is the embedding output."
    )
    return [Section("clusters", "By language, or by type?", (words,), figures=figures, tables=tables)]


def _cosines(run: Run) -> Iterator[Section]:
    choices, figures = cosine_maps(run)
    if figures:
        words = (
            f"The mean cosine of a name and its translation in the same sentence, at layer {last_layer(run.records)}, "
            "the output. Point at a cell for what pairs of different names read: in a crowded space that is nearly as "
            "much. Each matrix has its own scale."
        )
        made = tuple(of_run(figure, run.key, run.name) for figure in figures)
        title = _titled("Cosine of parallel names", run)
        yield Section(run.id("cosines"), title, (words,), choices=tuple(choices), figures=made)


def _steps(run: Run) -> Iterator[Section]:
    choices, figures = step_curves(run, styles(run.more.get("maps") or [], run.about)["language"])
    if figures:
        words = (
            "What happens to each language’s space while the model is trained in one of them (the thick line), on a "
            "fixed sample of test sentences."
        )
        made = tuple(of_run(figure, run.key, run.name) for figure in figures)
        title = _titled("While fine-tuning", run)
        yield Section(run.id("steps"), title, (words,), choices=tuple(choices), figures=made)


def _groups(run: Run) -> Iterator[Section]:
    figure = group_map(run)
    if figure is not None:
        words = (
            "Correlations of the changes above, all fine-tunings that learnt the task taken together; languages in the "
            "order of a hierarchical clustering, which orders any matrix. Short fine-tunings give high ones by chance: "
            "point at a cell for how high."
        )
        title = _titled("Languages that move together", run)
        yield Section(run.id("groups"), title, (words,), figures=(of_run(figure, run.key, run.name),))


def _transfer(run: Run) -> Iterator[Section]:
    marks = styles(run.more.get("maps") or [], run.about)["language"]
    figures = tuple(
        of_run(figure, run.key, run.name) for figure in (wrong_map(run), spelling_scatter(run, marks)) if figure
    )
    if figures:
        words = (
            "Fine-tuned on one language, tested on another: the share of sentences with a wrong tag; and the same "
            "against how differently the two languages spell names."
        )
        title = _titled("From each language to all others", run)
        yield Section(run.id("transfer"), title, (words,), figures=figures)


def _tables(run: Run) -> Iterator[Table]:
    for table in all_tables(run.records, run.about, _found(run), first=run.first):
        title = f"{table.title}: {visible(run.name)}" if run.key else table.title
        yield replace(table, name=run.id(table.name), title=title)


def _made(run: Run) -> Section:
    every = {**run.about, **(run.about.get("settings") or {})}
    about = {key: value for key, value in every.items() if value is not None}  # What was left to the task or device.
    trained = [_trained(each, run.about) for each in run.about.get("trained") or []]
    more = (
        *((("Fine-tunings", trained),) if trained else ()),
        ("Records", f"{len(run.records)}, in records.jsonl in the run’s folder"),
    )
    name, title = run.id("made"), _titled("How it was made", run)
    return settings_section(about, labels=_LABELS, without=_LEFT_OUT, more=more, name=name, title=title)


def _trained(each: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """What a fine-tuning cost, and its monitors, in words."""
    watched = each.get("monitors")
    share = (
        f"; watched every {watched['every']} steps on {watched['rows']} rows a language, "
        f"{100 * watched['share']['seconds']:.1f} % of the time"
        if watched
        else ""
    )
    name = language_name(each["language"], about)
    return f"{name}, seed {each['seed']}: {each['steps']} steps in {each['seconds']:.0f} s{share}"
