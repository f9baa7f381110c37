"""Before and after an adjustment: whether it helped, paired differences, layers, word distances, training curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from interlingua.analyses.state_comparison import (
    ADJUSTED,
    CENTERINGS,
    HELD_OUT,
    ORIGINAL,
    SAMPLER,
    STATES,
    AdjustmentEffect,
    ItemsOf,
    StateComparison,
    adjustment_effects,
    is_effect,
    weakest,
)
from interlingua.record import Difference, Estimate, RecordTable, mean_estimate
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    Histogram,
    HistogramChart,
    HistogramRow,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    ReferenceLine,
    charts_under_menus,
)
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import ComparedNumber, Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_interval,
    format_number,
    format_p_value,
    format_points,
    format_share,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.training import MIN_CURVE_POINTS, curve_chart, training_summary
from interlingua.stats import over_seeds

Group = tuple[AdjustmentEffect, ...]
"""The effects of one model and language, one per seed."""
TEXT_TITLES = {HELD_OUT: "held-out sentences", SAMPLER: "embedded sampler"}
CENTERING_TITLES = {"centred": "centred", "raw": "as is"}
STATE_TITLES = {
    ORIGINAL: "before adjustment",
    ADJUSTED: "after adjustment",
    "untouched": "original model",
    "adjustment": "adjusted model",
}
"""What the states of a model are called on pages; after a task a state is called as its regime is."""
_METHOD = (
    "Retrieval accuracy (P@1) is the share of sentences whose nearest neighbour in the other language is their "
    "translation, as is or centred (the mean of each language removed). Both states are measured on the same "
    "sentences: those held out of the bitext, and the embedded sampler, everyday sentences that were not trained on.",
    "A difference is higher or lower where a paired t-test over sentences has p < 0.05 after Holm’s correction for all "
    "comparisons of the language: both texts, both directions, as is and centred, each state at its own "
    "best layer and both at the adjusted layer. The weakest comparison decides the verdict.",
)
_BINS = 60
MAX_FULL_MENUS = 6
"""Curves of more models and languages are drawn for held-out sentences, centred, alone: a page stays small."""
_NO_DIFFERENCE = (ReferenceLine(label="no difference", values=(0.0,)),)


@lru_cache(maxsize=2)
def _effects(records: RecordTable, items: ItemsOf) -> tuple[AdjustmentEffect, ...]:
    return tuple(adjustment_effects(records, items))


def _groups(run: Run) -> list[Group]:
    groups: dict[tuple[str, str, str], list[AdjustmentEffect]] = {}
    for effect in _effects(run.records, run.items):
        groups.setdefault((effect.model, effect.source, effect.language), []).append(effect)
    return [tuple(effects) for effects in groups.values()]


def _names(run: Run, groups: Sequence[Group]) -> list[str]:
    """What each group is called: its language, after its model where there are several."""
    names = [language_name(group[0].language, run.about) for group in groups]
    if len({group[0].model for group in groups}) == 1:
        return names
    return [f"{escape_control_characters(group[0].model)}: {name}" for group, name in zip(groups, names, strict=True)]


def _direction(run: Run, source: str, target: str) -> str:
    return f"{language_name(source, run.about)} → {language_name(target, run.about)}"


# What was found


def _verdict(group: Group) -> Verdict:
    """The verdict of the weakest seed; nothing is concluded where translations are never found above chance."""
    if any(effect.states != STATES for effect in group):
        return Verdict.UNFINISHED
    if all(effect.is_at_chance for effect in group):
        return Verdict.AT_CHANCE
    verdicts = {effect.verdict for effect in group}
    worst = next(verdict for verdict in ("lower", "unclear", "untested", "higher") if verdict in verdicts)
    return Verdict.NOT_TESTED if worst == "untested" else Verdict(worst)


def _finding(run: Run, group: Group, name: str) -> Finding:
    """Whether the adjustment helped a language: the change at the best layers, and the verdict of all comparisons."""
    first, verdict = group[0], _verdict(group)
    about = {"language": first.language, "name": name, "model": first.model, "source": first.source,
             "seeds": len(group)}  # fmt: skip
    if verdict is Verdict.UNFINISHED:
        return Finding(kind="adjustment", verdict=verdict, about=about)
    comparisons = [comparison for effect in group for comparison in effect.comparisons]
    counts = Counter(comparison.change for comparison in comparisons)
    before, after, difference = _best_change(group)
    highest, chance = max(
        (max(level.highest.values()), level.chance) for effect in group for level in effect.chance_levels.values()
    )
    about |= {
        "compared": len(comparisons),
        **{change: counts[change] for change in ("higher", "lower", "unclear")},
        "weakest": _weakest_finding(run, comparisons).about if comparisons else None,
        "after": after.value,
        "on_other_text": all(SAMPLER in effect.texts for effect in group),
        "highest": highest,
        "chance": chance,
    }
    basis = Basis(over="items", test="paired t-test", correction="Holm", compared=len(comparisons))
    return Finding(
        kind="adjustment", verdict=verdict, about=about, estimate=difference, compared_with=before, basis=basis
    )


def _best_change(group: Group) -> tuple[Estimate, Estimate, Difference]:
    """P@1 before and after, each state at its best layer, and the difference; over seeds the means, without a test."""
    changes = [effect.best_change() for effect in group]
    before, after = (
        mean_estimate(sides) for sides in zip(*((change.before, change.after) for change in changes), strict=True)
    )
    tested = changes[0].difference if len(changes) == 1 else None
    return before, after, tested or _untested(before, after)


def _untested(before: Estimate, after: Estimate) -> Difference:
    return Difference(value=after.value - before.value, n=before.n, records=(*before.records, *after.records))


def _change(finding: Finding) -> str:
    """`from 23.4 % to 33.3 %, +9.9 points (95 % interval 5.1 to 14.7)`, as the shown shares differ."""
    before, after, difference = finding.compared_with, finding.about["after"], finding.estimate
    assert before is not None
    assert difference is not None
    low, high = difference.ci_low, difference.ci_high
    interval = ""
    if low == high == 0:  # Differences that are all 0 have an interval of no width, which proves nothing.
        interval = " (every sentence as before)"
    elif low is not None and high is not None:
        ends = f"{format_number(100 * low, 1)} to {format_number(100 * high, 1)}"
        interval = f" (95\N{NO-BREAK SPACE}% interval {ends})"
    points = f"{format_points(after, before.value)} points{interval}"
    return f"from {format_share(before.value)} to {format_share(after)}, {points}"


@sentence_of("adjustment", topic="Verdict")
def _adjustment_sentence(finding: Finding) -> str:
    about, name = finding.about, finding.about["name"]
    if finding.verdict is Verdict.UNFINISHED:
        return f"The run is not finished, so nothing is known of {name} after the adjustment."
    if finding.verdict is Verdict.AT_CHANCE:
        return (
            f"Nothing can be concluded for {name}: translations are not found above chance at any layer, before or "
            f"after the adjustment (at most {format_share(about['highest'])}, chance level "
            f"{format_share(about['chance'])})."
        )
    change = f"on held-out sentences, retrieval accuracy went {_change(finding)}"
    if not about["compared"]:
        return f"The change for {name} was not tested, because the values per sentence are missing: {change}."
    seeds = f" over {about['seeds']} seeds" if about["seeds"] > 1 else ""
    of = f"of {about['compared']} comparisons{seeds}"
    return {
        Verdict.HIGHER: f"Adjustment helped {name}: {change}, best layer against best layer.",
        Verdict.NOT_TESTED: f"Adjustment helped {name} on text like the bitext: {change}. Other text was not tested.",
        Verdict.LOWER: f"Adjustment made {about['lower']} {of} worse for {name}; {change}.",
        Verdict.UNCLEAR: f"It is not clear that adjustment helped {name}: {about['unclear']} {of} are not significant; "
        f"{change}.",
    }[finding.verdict]


def _weakest_finding(run: Run, comparisons: Sequence[StateComparison]) -> Finding:
    comparison = weakest(comparisons)
    return Finding(
        kind="adjustment_weakest",
        verdict=Verdict(comparison.change),
        about={
            "text": comparison.text,
            "direction": _direction(run, comparison.source, comparison.target),
            "centering": comparison.centering,
            "best_layer": comparison.best_layer,
            "layers": list(comparison.layers),
            "after": comparison.after.value,
            "p_adjusted": comparison.difference.p_adjusted,
            "compared": len(comparisons),
        },
        estimate=comparison.difference,
        compared_with=comparison.before,
        basis=Basis(test="paired t-test", correction="Holm", compared=len(comparisons)),
    )


@sentence_of("adjustment_weakest", topic="Weakest comparison")
def _weakest_sentence(finding: Finding) -> str:
    about = finding.about
    layers = "each state at its best layer" if about["best_layer"] else f"at layer {about['layers'][1]}"
    return (
        f"Of {about['compared']} comparisons the weakest decides: {about['direction']}, {TEXT_TITLES[about['text']]}, "
        f"{CENTERING_TITLES[about['centering']]}, {layers}, {_change(finding)}, {format_p_value(about['p_adjusted'])}."
    )


@sentence_of("adjustment_other_text", topic="Other text")
def _other_text_sentence(finding: Finding) -> str:
    return (
        f"{finding.about['name']} was measured on held-out sentences of the bitext alone: the embedded sampler, the "
        "other text that an adjustment is judged on, lacks a language of the pair, or its sentences are in the bitext."
    )


_STARTS = {
    Verdict.UNFINISHED: "the run is not finished for",
    Verdict.LOWER: "adjustment made some comparisons worse for",
    Verdict.UNCLEAR: "it is not clear that adjustment helped",
    Verdict.AT_CHANCE: "nothing can be concluded for",
    Verdict.NOT_TESTED: "adjustment helped, on text like the bitext alone,",
    Verdict.HIGHER: "adjustment helped",
}
"""The verdicts on a language from the worst to the best."""


def _answer(findings: Sequence[Finding]) -> Finding:
    """One finding that speaks for all languages; of one language it is that of the language."""
    if len(findings) == 1:
        return findings[0]
    languages = [(finding.about["name"], str(finding.verdict)) for finding in findings]
    worst = min((finding.verdict for finding in findings), key=list(_STARTS).index)
    basis = Basis(test="paired t-test", correction="Holm within each language",
                  compared=sum(finding.about.get("compared", 0) for finding in findings))  # fmt: skip
    return Finding(kind="adjustments", verdict=worst, about={"languages": languages}, basis=basis)


@sentence_of("adjustments", topic="Verdict")
def _adjustments_sentence(finding: Finding) -> str:
    parts = []
    for verdict, start in reversed(_STARTS.items()):
        names = [name for name, of_name in finding.about["languages"] if of_name == verdict]
        parts += [f"{start} {join_with_and(names)}"] if names else []
    return _as_sentence(parts)


def _as_sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _caveats(run: Run, effect: AdjustmentEffect, name: str) -> Iterator[Finding]:
    """What decided, a text that was not measured, and texts in which a state finds no translations above chance."""
    if effect.comparisons:
        yield _weakest_finding(run, effect.comparisons)
    about: dict[str, Any] = {"language": effect.language, "name": name}
    if SAMPLER not in effect.texts:
        yield Finding(kind="adjustment_other_text", verdict=Verdict.NOT_TESTED, about=about)
    for text, level in effect.chance_levels.items():
        if level.states_at_chance and not effect.is_at_chance:
            highest = max(level.highest[state] for state in level.states_at_chance)
            about |= {"text": text, "states": list(level.states_at_chance), "highest": highest, "chance": level.chance}
            basis = Basis(test="binomial test", correction="Bonferroni over layers")
            yield Finding(kind="adjustment_at_chance", verdict=Verdict.AT_CHANCE, about=dict(about), basis=basis)


@sentence_of("adjustment_at_chance", topic="Chance level")
def _at_chance_sentence(finding: Finding) -> str:
    about = finding.about
    when = " and ".join("before" if state == ORIGINAL else "after" for state in about["states"])
    return (
        f"{about['name']}, {TEXT_TITLES[about['text']]}: {when} the adjustment, translations are not found above "
        f"chance at any layer (at most {format_share(about['highest'])}, chance level {format_share(about['chance'])})."
    )


def _layer_finding(effect: AdjustmentEffect, name: str) -> Finding:
    """The change at the adjusted layer, beside the best layers and those that are as good."""
    change = effect.change_at(HELD_OUT, (effect.layer, effect.layer))
    about = {
        "language": effect.language,
        "name": name,
        "layer": effect.layer,
        "best_layers": list(effect.best_change().layers),
        "tied_layers": [effect.tied_layers(state, HELD_OUT) for state in STATES],
        "after": change.after.value,
    }
    difference = change.difference or _untested(change.before, change.after)
    return Finding(kind="adjustment_layers", verdict=Verdict.FOUND, about=about, estimate=difference,
                   compared_with=change.before)  # fmt: skip


@sentence_of("adjustment_layers", topic="Layers")
def _layers_sentence(finding: Finding) -> str:
    about = finding.about
    best = [
        f"{layer}" + (f" ({join_with_and([str(at) for at in tied])} not significantly worse)" if tied else "")
        for layer, tied in zip(about["best_layers"], about["tied_layers"], strict=True)
    ]
    return (
        f"{about['name']}: the best layer was {best[0]} before and is {best[1]} after (chosen on the sentences that "
        f"are measured). At the adjusted layer {about['layer']}, retrieval accuracy went {_change(finding)}."
    )


def _word_finding(effect: AdjustmentEffect, name: str) -> Finding | None:
    """Whether words are nearer to their translations than before: higher or lower where two intervals lie apart."""
    before, after = effect.words(ORIGINAL, "auc"), effect.words(ADJUSTED, "auc")
    if before is None or after is None:
        return None
    return Finding(
        kind="adjustment_words",
        verdict=_compare_intervals(before, after),
        about={"language": effect.language, "name": name},
        estimate=after,
        compared_with=before,
        basis=Basis(over="sentences", test="two 95 % intervals that do not overlap"),
    )


@sentence_of("adjustment_words", topic="Words")
def _words_sentence(finding: Finding) -> str:
    before, after = finding.compared_with, finding.estimate
    assert before is not None
    assert after is not None
    change = "not clearly different" if finding.verdict is Verdict.UNCLEAR else str(finding.verdict)
    return (
        f"{finding.about['name']}: a word is nearer to its translation than to an unrelated word in "
        f"{format_share(before.value)} of cases before and {format_share(after.value)} after (AUC, chance level 50 %): "
        f"{change}."
    )


def _compare_intervals(before: Estimate, after: Estimate) -> Verdict:
    """Whether a score is higher or lower by two 95 % intervals that lie apart; intervals that touch may hide a change.

    >>> low, high = (Estimate(value=x, ci_low=x - 0.1, ci_high=x + 0.1) for x in (0.6, 0.9))
    >>> str(_compare_intervals(low, high)), str(_compare_intervals(low, Estimate(value=0.8)))
    ('higher', 'unclear')
    """
    if before.ci_low is None or before.ci_high is None or after.ci_low is None or after.ci_high is None:
        return Verdict.UNCLEAR
    if after.ci_low > before.ci_high:
        return Verdict.HIGHER
    return Verdict.LOWER if after.ci_high < before.ci_low else Verdict.UNCLEAR


# The first screen


def _headline(run: Run) -> Headline | None:
    """The first screen of an adjustment, or of a study that did nothing else."""
    groups = _groups(run)
    if not groups or (run.kind != "adjust" and not all(is_effect(record) for record in run.records)):
        return None
    findings = [_finding(run, group, name) for group, name in zip(groups, _names(run, groups), strict=True)]
    answer = _answer(findings)
    languages = join_with_and([language_name(code, run.about) for code in dict.fromkeys(g[0].language for g in groups)])
    models = join_with_and([escape_control_characters(name) for name in dict.fromkeys(g[0].model for g in groups)])
    rows, words = (sum(int(text.get(key, 0)) for text in _languages(run).values()) for key in ("rows", "pairs"))
    pairs = pluralize(rows, "sentence pair")
    effect = groups[0][0]
    sizes = {text: effect.estimate(ORIGINAL, text, "raw", effect.layers(ORIGINAL, text)[0]).n for text in effect.texts}
    nouns = {**TEXT_TITLES, SAMPLER: "sentences of the embedded sampler"}
    measured = join_with_and([f"{size:,} {nouns[text]}" for text, size in sizes.items()])
    per_language = " per language" if len(groups) > 1 else ""
    return Headline(
        title=f"Did adjusting {models}{f' on {pairs}' if rows else ''} help {languages}?",
        answer=answer,
        figures=tuple(_figures(run, groups, findings)),
        measured=_as_sentence(
            [
                *([f"trained on {pairs} with {pluralize(words, 'word pair')}"] if rows else []),
                f"measured on {measured}{per_language}",
                f"layer {effect.layer} was adjusted (0 is the embedding output)",
                "intervals cover sentences, not other training seeds",
            ]
        ),
        next_step=_next_step(run, groups, answer.verdict),
        findings=tuple(findings if len(findings) > 1 else ()),
    )


def _figures(run: Run, groups: Sequence[Group], findings: Sequence[Finding]) -> Iterator[KeyFigure]:
    """Of one language four numbers; of several the retrieval accuracy of each."""
    for group, finding in zip(groups[:4], findings, strict=False):
        if finding.verdict is Verdict.UNFINISHED:
            continue
        before, after, _ = _best_change(group)
        several = f", {finding.about['name']}" if len(groups) > 1 else ""
        chance = "" if after.null_value is None else f"; chance level {format_share(after.null_value)}"
        interval = format_interval(before.ci_low, before.ci_high, "percent")
        remark = f"{f'{format_share(before.value)} before {interval}'.rstrip()}{chance}"
        yield KeyFigure(label=f"Retrieval accuracy (P@1) after adjustment{several}", estimate=after, remark=remark)
    if len(groups) > 1 or findings[0].verdict is Verdict.UNFINISHED:
        return
    effect = groups[0][0]
    if (words := _word_finding(effect, "")) is not None and words.compared_with is not None:
        yield KeyFigure(
            label="Translation nearer than an unrelated word (AUC)",
            estimate=words.estimate,
            remark=f"{format_share(words.compared_with.value)} before; chance level 50\N{NO-BREAK SPACE}%",
        )
    if (moved := _source_shift(run)) is not None:
        yield KeyFigure(
            label=f"Shift of {language_name(effect.source, run.about)} words",
            text=format_share(moved),
            remark="of the distance between translations before, on training sentences",
        )
    if effect.comparisons:
        weak = _weakest_finding(run, effect.comparisons)
        where = (weak.about["direction"], TEXT_TITLES[weak.about["text"]], CENTERING_TITLES[weak.about["centering"]])
        yield KeyFigure(
            label="Weakest comparison (points)",
            estimate=weak.estimate,
            display="points",
            remark=f"{', '.join(where)}; {format_p_value(weak.about['p_adjusted'])}",
        )


def _languages(run: Run) -> Mapping[str, Mapping[str, Any]]:
    return _training(run).get("languages") or {}


def _training(run: Run) -> Mapping[str, Any]:
    """How an adjustment's own run was trained; empty of any other run."""
    return training_summary(run) if run.kind == "adjust" else {}


def _next_step(run: Run, groups: Sequence[Group], verdict: Verdict) -> str:
    """Advice that follows from the verdict."""
    if run.unfinished:
        return run.unfinished
    if verdict in (Verdict.HIGHER, Verdict.NOT_TESTED):
        folder = escape_control_characters(str(run.about.get("out") or "the adjusted model"))
        codes = ",".join(dict.fromkeys((groups[0][0].source, *(group[0].language for group in groups))))
        layers = list(dict.fromkeys(group[0].best_layer(ADJUSTED, HELD_OUT) for group in groups))
        named = f"{'layer' if len(layers) == 1 else 'layers'} {join_with_and([str(layer) for layer in layers])}"
        return (
            f"Use {named} of {folder}. Compare all layers with `interlingua audit {folder} --languages {codes}`; test "
            "whether a task improves with `interlingua transfer`."
        )
    if verdict is Verdict.LOWER:
        return "Keep the original model, or adjust with a lower --learning-rate or a larger --anchor."
    if verdict is Verdict.AT_CHANCE:
        return "Use a model that was trained on these languages, or adjust on more sentence pairs."
    return "Adjust on more sentence pairs, or measure on more sentences (--held-out) to detect a smaller difference."


# Sections


def _sections(run: Run) -> list[Section]:
    groups = _groups(run)
    done = [group for group in groups if all(effect.states == STATES for effect in group)]
    sections: list[Section | None] = [*_effect_sections(run, done), _layer_section(run, done)] if done else []
    if groups:
        sections.append(separation_section(RecordTable(filter(is_effect, run.records)), run.about))
    return [section for section in (*sections, _curve_section(run), _data_section(run)) if section is not None]


def _effect_sections(run: Run, groups: Sequence[Group]) -> Iterator[Section]:
    """The table of the verdict first, then every difference as a picture and at the adjusted layer."""
    alone = [(group[0], name) for group, name in zip(groups, _names(run, groups), strict=True) if len(group) == 1]
    findings = [finding for effect, name in alone for finding in _caveats(run, effect, name)]
    findings += [finding for effect, name in alone if (finding := _word_finding(effect, name)) is not None]
    best, adjusted = (_compared_states(run, groups, best_layer=best_layer) for best_layer in (True, False))
    layers = join_with_and([str(layer) for layer in dict.fromkeys(group[0].layer for group in groups)])
    yield Section(
        name="before-and-after",
        title="Before and after adjustment",
        findings=tuple(findings),
        tables=(_comparison_table("adjustment", "Each state at its best layer", best, terminal=True),),
        terminal=True,
    )
    yield Section(
        name="differences",
        title="Differences with their intervals",
        text=_METHOD,
        charts=(_difference_chart(best),),
        tables=(_comparison_table("adjustment-adjusted-layer", f"At the adjusted layer {layers}", adjusted),),
    )


class _ComparedStates(NamedTuple):
    """Both states in one direction, text and centering: over seeds the means, and the difference of each seed."""

    label: str
    text: str
    difference: Difference
    of_seeds: tuple[Difference, ...]
    cells: tuple[Cell, ...]
    """Those of a row of the table, the model first and the layers last."""


def _compared_states(run: Run, groups: Sequence[Group], *, best_layer: bool) -> list[_ComparedStates]:
    several = len({group[0].model for group in groups}) > 1
    rows = []
    for group in groups:
        texts = [text for text in group[0].texts if all(text in effect.texts for effect in group)]
        for text, centering, (source, target) in product(texts, CENTERINGS, group[0].directions):
            key = (text, centering, source, best_layer)
            tested = [comparison for effect in group for comparison in effect.comparisons if comparison.key == key]
            layer_of = [
                (effect.best_layer(state, text, centering) if best_layer else effect.layer)
                for effect, state in product(group, STATES)
            ]
            before, after = (
                mean_estimate(
                    effect.estimate(state, text, centering, layer, source)
                    for effect, layer in zip(group, layer_of[place::2], strict=True)
                )
                for place, state in enumerate(STATES)
            )
            counts = Counter(comparison.change for comparison in tested)
            counted = join_with_and([f"{change} in {count}" for change, count in counts.items()])
            difference, verdict = _untested(before, after), f"{counted} of {len(group)} seeds"
            if len(group) == 1 and tested:
                difference, verdict = tested[0].difference, tested[0].change
            model = escape_control_characters(group[0].model) if several else ""
            direction, vectors = _direction(run, source, target), CENTERING_TITLES[centering]
            row = _ComparedStates(
                label=f"{f'{model}: ' if model else ''}{direction}, {vectors}",
                text=TEXT_TITLES[text],
                difference=difference,
                of_seeds=tuple(comparison.difference for comparison in tested) if len(group) > 1 else (),
                cells=(
                    *(model, direction, TEXT_TITLES[text], vectors, before, after, difference),
                    *(verdict if tested else "not tested", difference.p_adjusted),
                    " → ".join(map(str, layer_of)) if len(group) == 1 else None,  # Best layers of seeds may differ.
                ),
            )
            rows.append(row)
    return rows


def _comparison_table(name: str, title: str, rows: Sequence[_ComparedStates], *, terminal: bool = False) -> Table:
    """One row per language, direction, text and centering: before, after, the difference, its p-value and verdict."""
    start, end = 0 if rows[0].cells[0] else 1, 10 if terminal else 9  # The layers differ where each state has its best.
    columns = (
        Column(title="model"),
        Column(title="direction"),
        Column(title="text"),
        Column(title="vectors"),
        Column(title="before", display="percent"),
        Column(title="after", display="percent"),
        Column(title="difference", display="points", interval=True),
        Column(title="verdict"),
        Column(title="p", display="p_value"),
        Column(title="layers"),
    )
    note = (
        "Retrieval accuracy (P@1). Difference in points with its 95 % interval over sentences; p after Holm’s "
        "correction for all comparisons of the language; unclear: p is not below 0.05."
    )
    if any(row.of_seeds for row in rows):
        note += " Means over seeds; each seed is tested by itself."
    cells = tuple(row.cells[start:end] for row in rows)
    return Table(name=name, title=title, columns=columns[start:end], rows=cells, note=note, terminal=terminal)


def _difference_chart(rows: Sequence[_ComparedStates]) -> IntervalChart:
    """Paired differences at the best layers with their intervals; of several seeds the seeds as dots."""
    drawn = (
        IntervalRow(
            label=row.label,
            group=row.text,
            estimate=row.difference,
            dots=tuple((difference.value, difference.records) for difference in row.of_seeds),
        )
        for row in rows
    )
    return IntervalChart(
        name="adjustment-differences",
        title="Change of retrieval accuracy, each state at its best layer",
        note="Points of percent with 95 % intervals over sentences. An interval left or right of the line is a change "
        "before the correction for several comparisons; the table has the corrected verdicts.",
        x=Axis(title="difference after adjustment (points)", display="points"),
        rows=tuple(drawn),
        references=_NO_DIFFERENCE,
    )


def _layer_section(run: Run, groups: Sequence[Group]) -> Section:
    """Curves over layers in both states, and the paired difference at each layer, of the first seed."""
    curves: dict[tuple[str, ...], Chart] = {}
    differences: dict[tuple[str, ...], Chart] = {}
    names = _names(run, groups)
    few = len(groups) <= MAX_FULL_MENUS
    texts, centerings = (tuple(TEXT_TITLES), CENTERINGS) if few else ((HELD_OUT,), CENTERINGS[:1])
    for name, (effect, *_) in zip(names, groups, strict=True):
        for text, centering in product([text for text in texts if text in effect.texts], centerings):
            key = (name, TEXT_TITLES[text], CENTERING_TITLES[centering])
            curves[key], *tested = _layer_charts(effect, text, centering, ", ".join(key))
            if tested:
                differences[key] = tested[0]
    menus = ("Language", "Text", "Vectors")
    findings = [_layer_finding(group[0], name) for group, name in zip(groups, names, strict=True) if len(group) == 1]
    return Section(
        name="adjustment-by-layer",
        title="Layer by layer",
        findings=tuple(findings),
        text=("The curves show the first seed.",) if any(len(group) > 1 for group in groups) else (),
        charts=(
            *charts_under_menus("adjustment-layers", menus, curves),
            *charts_under_menus("adjustment-layer-differences", menus, differences),
        ),
    )


def _layer_charts(effect: AdjustmentEffect, text: str, centering: str, name: str) -> Iterator[LineChart]:
    """The curve of each state over layers, and where it was tested the paired difference at each layer."""
    lines = []
    for number, state in enumerate(STATES):
        layers = effect.layers(state, text)
        best = layers.index(effect.best_layer(state, text, centering))
        stands_out = len(effect.tied_layers(state, text, centering)) < len(layers) - 1
        line = Line(
            name=STATE_TITLES[state],
            x=tuple(float(layer) for layer in layers),
            y=tuple(effect.estimate(state, text, centering, layer) for layer in layers),
            color=1 - number,
            dashed=state == ORIGINAL,
            best=best if stands_out else None,
        )
        lines.append(line)
    chance = next((estimate.null_value for estimate in lines[0].y if estimate is not None), None)
    layer_axis = Axis(title="layer (0 is the embedding output)", display="count")
    yield LineChart(
        name=f"adjustment-layers-{effect.language}-{text}-{centering}",
        title=f"Retrieval accuracy per layer: {name}",
        note="Mean of both directions with 95 % intervals. Both states are measured on the same sentences, so bands "
        "that overlap may still differ: the difference has an interval of its own.",
        x=layer_axis,
        y=Axis(title="retrieval accuracy (P@1)", display="percent", zero=True),
        lines=tuple(lines),
        references=() if chance is None else (ReferenceLine(label="chance level", values=(chance,)),),
    )
    both = [layer for layer in effect.layers(ORIGINAL, text) if layer in effect.layers(ADJUSTED, text)]
    changes = tuple(effect.change_at(text, (layer, layer), centering).difference for layer in both)
    if any(changes):
        yield LineChart(
            name=f"adjustment-layer-differences-{effect.language}-{text}-{centering}",
            title=f"Change per layer: {name}",
            note="Paired difference of the mean of both directions, with its 95 % interval over sentences.",
            x=layer_axis,
            y=Axis(title="difference (points)", display="points"),
            lines=(Line(name="after minus before", x=tuple(float(layer) for layer in both), y=changes),),
            references=_NO_DIFFERENCE,
        )


# Distances of related and unrelated words: adjustments, transfers and studies show them


def separation_section(
    records: RecordTable, about: Mapping[str, Any], *, name: str = "words", names: Mapping[str, str] | None = None
) -> Section | None:
    """Histograms and table of word distances by state (Efimov et al. 2023, Fig. 1); None where there are none.

    `records` are those of a run or a part of it: `separation` of adjustments, `distances` of transfers. `names` has the
    title of a state where it is not in `STATE_TITLES`; a regime is called as it is. Distances are divided by the mean
    unrelated distance of their state, because an adjustment shrinks the whole space and L2 distances fall with it.
    """
    table = RecordTable(
        record
        for record in records
        if record.measure in ("separation", "distances")
        and record.state is not None
        and record.unit == "word"
        and record.options.get("distance") == "l2"
    )
    if not table:
        return None
    titles = {**STATE_TITLES, **(names or {})}
    charts: dict[tuple[str, ...], Chart] = {}
    parts = _part_names(table)
    for (*part, code), of_language in table.by(*_PART, "target").items():
        language = language_name(str(code), about)
        if (chart := _separation_chart(of_language, titles, language, name)) is not None:
            charts[parts[tuple(part)], language] = chart
    return Section(
        name=name,
        title="Distances of related and unrelated words",
        text=(
            "Related words are translations of each other; unrelated words are of different sentences. The less the "
            "two histograms overlap, the better distance alone separates translations from other words: the AUC is the "
            "share of cases in which the translation is nearer, 50 % by chance. Sentences were not trained on.",
        ),
        charts=charts_under_menus(f"{name}-by-state", ("Model", "Language"), charts),
        tables=(_separation_table(table, about, titles, f"{name}-distances"),),
    )


_PART = ("model", "task", "source")


def _part_names(table: RecordTable) -> dict[tuple[Any, ...], str]:
    """What each part of the records is called: its model, with task and language of training where there are more."""
    parts = list(table.by(*_PART))
    models = [model for model, *_ in parts]
    names = {}
    for model, task, source in parts:
        more = f", {task or 'before any task'}, {source}" if models.count(model) > 1 else ""
        names[model, task, source] = f"{escape_control_characters(model)}{more}"
    return names


def _separation_chart(
    records: RecordTable, titles: Mapping[str, str], language: str, name: str
) -> HistogramChart | None:
    """One row per state: distances over the state's mean unrelated distance, of the first seed, with the AUC."""
    states = [
        (state, auc, unrelated)
        for (state,), of_state in records.by("state").items()
        if (auc := of_state.of(of_state[0].measure, "auc")) and len(auc[0].details.get("edges") or ()) > 1
        if (unrelated := of_state.of(of_state[0].measure, "distance", pairs="unrelated"))
    ]
    if not states:
        return None
    edges = []
    for _, auc, unrelated in states:
        of_seed = next((record for record in unrelated if record.seed == auc[0].seed), unrelated[0])
        edges.append(np.asarray(auc[0].details["edges"], np.float64) / max(of_seed.value, 1e-12))
    end = float(max(scaled[-1] for scaled in edges))
    ends = np.linspace(0.0, end, _BINS + 1)
    rows = tuple(
        HistogramRow(
            label=titles.get(str(state), escape_control_characters(str(state))),
            histograms=tuple(
                Histogram(name=kind, counts=_rebinned(scaled, auc[0].details[kind], ends), color=color)
                for color, kind in enumerate(("related", "unrelated"))
            ),
            side=_over_seeds(auc),
        )
        for (state, auc, _), scaled in zip(states, edges, strict=True)
    )
    several = any(len(auc) > 1 for _, auc, _ in states)
    drawn = " The first seed is drawn; the AUC is the mean over seeds." if several else ""
    return HistogramChart(
        name=f"{name}-{records[0].target}",
        title=f"Distances of words: {language}",
        note="Each state is divided by its own mean distance of unrelated words, so 1 is an unrelated pair of that "
        f"state. The two histograms of a row have equal areas.{drawn}",
        x=Axis(title="L2 distance / mean distance of unrelated words", low=0.0, high=end),
        rows=rows,
        side_title="AUC",
    )


def _rebinned(edges: np.ndarray[Any, Any], counts: Sequence[float], ends: np.ndarray[Any, Any]) -> tuple[float, ...]:
    """The shares of a histogram on other bins, each old bin spread evenly over what it covers; they sum to 1.

    >>> _rebinned(np.array([0.0, 1.0, 2.0]), [1, 3], np.array([0.0, 0.5, 1.0, 4.0]))
    (0.125, 0.125, 0.75)
    """
    summed = np.concatenate([[0.0], np.cumsum(np.asarray(counts, np.float64))])
    return tuple(float(share) for share in np.diff(np.interp(ends, edges, summed / max(float(summed[-1]), 1e-12))))


def _over_seeds(records: RecordTable) -> Estimate:
    """The mean over seeds with Student's interval; of one seed, which has no spread, that over its words."""
    mean = records.estimate()
    if len(records) == 1:
        return mean
    spread = over_seeds([record.value for record in records])
    return Estimate(value=mean.value, ci_low=spread.low, ci_high=spread.high, null_value=mean.null_value, n=mean.n,
                    records=mean.records)  # fmt: skip


def _separation_table(table: RecordTable, about: Mapping[str, Any], titles: Mapping[str, str], name: str) -> Table:
    """Distances of related and unrelated words, their ratio and the AUC, one row per state."""
    parts = _part_names(table)
    rows: list[tuple[Cell, ...]] = []
    seeds = 1
    for (*part, code, state), of_state in table.by(*_PART, "target", "state").items():
        related, unrelated, auc = (
            of_state.of(of_state[0].measure, metric, **options)
            for metric, options in (
                ("distance", {"pairs": "related"}),
                ("distance", {"pairs": "unrelated"}),
                ("auc", {}),
            )
        )
        seeds = max(seeds, len(related), len(unrelated), len(auc))
        means = [_over_seeds(chosen) if chosen else None for chosen in (related, unrelated, auc)]
        ratio = unrelated.mean() / max(related.mean(), 1e-12) if related and unrelated else None
        title = titles.get(str(state), str(state))
        rows.append((parts[tuple(part)], language_name(str(code), about), title, *means[:2], ratio, means[2]))
    columns = (
        Column(title="model"),
        Column(title="language"),
        Column(title="state"),
        Column(title="related", display="decimal3", interval=True),
        Column(title="unrelated", display="decimal3", interval=True),
        Column(title="unrelated / related", display="number"),
        Column(title="AUC", display="percent", interval=True),
    )
    start = 0 if len(parts) > 1 else 1
    note = (
        "L2 distances, which fall or grow with the whole space and so decide nothing: the AUC does. 95 % intervals "
        f"over {'seeds (Student)' if seeds > 1 else 'words'}."
    )
    cells = tuple(row[start:] for row in rows)
    return Table(name=name, title="Distances of words", columns=columns[start:], rows=cells, note=note)


# Training


def _steps(run: Run) -> list[Mapping[str, float]]:
    """The losses of every step, as `steps.jsonl` has them; none where the run kept no such file."""
    return [line for line in run.attachments.get("curves") or () if isinstance(line, Mapping) and "step" in line]


def _source_shift(run: Run) -> float | None:
    """How far words of the source language moved, over the distance of translations before; None where not trained on.

    Both losses are mean squared distances (reduction `mean`): √(anchor at the end / adjustment at the first step).
    """
    steps = _steps(run)
    settings = run.about.get("settings") or {}
    if len(steps) < MIN_CURVE_POINTS or settings.get("reduction") != "mean":
        return None
    if "anchor" not in steps[-1] or not steps[0].get("adjustment"):
        return None
    last = steps[-max(len(steps) // 10, 1) :]
    moved = float(np.mean([line["anchor"] for line in last]))
    return float(np.sqrt(moved / steps[0]["adjustment"]))


def _curve_section(run: Run) -> Section | None:
    """The loss of each term over steps, and word distances over training where they were monitored."""
    charts = (
        curve_chart(
            _steps(run),
            {
                "adjustment": "adjustment (linked words)",
                "anchor": "anchor (source words)",
                "contrastive": "contrastive",
                "drift": "drift (weights)",
            },
            name="adjustment-losses",
            title="Loss of each term",
            note="Values before their weights. A loss that jumps means that the learning rate is too high.",
            y=Axis(title="loss", zero=True),
        ),
        curve_chart(
            _training(run).get("metrics") or (),
            {"auc": "AUC"},
            name="adjustment-auc",
            title="AUC of words during training",
            note="How often a word is nearer to its translation than to an unrelated word, on held-out sentences.",
            y=Axis(title="AUC", display="percent"),
            references=(ReferenceLine(label="chance level", values=(0.5,)),),
        ),
    )
    shown = tuple(chart for chart in charts if chart is not None)
    return Section(name="adjustment-training", title="Training", charts=shown) if shown else None


def _data_section(run: Run) -> Section | None:
    """What was trained on per language, and all that was left out."""
    trained = _languages(run)
    if not trained:
        return None
    facts = []
    for code, about in trained.items():
        lines = (
            f"{pluralize(int(about['rows']), 'sentence pair')} with {pluralize(int(about['pairs']), 'word pair')} "
            f"trained on; {int(about['held_out']):,} sentence pairs held out",
            *exclusions({code: about}),
        )
        facts.append((_direction(run, str(about["staying"]), code), lines))
    return Section(name="adjustment-data", title="Training data", facts=tuple(facts), folded=True)


def exclusions(languages: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What was not used, one line each: notes, rows left out and word links dropped, by reason."""
    lines = []
    for code, about in languages.items():
        lines += [f"{code}: {note}" for note in about["notes"]]
        lines += [f"{code}: {count:,} {reason} left out" for reason, count in about["left_out"].items() if count]
        lines += [f"{code}: {count:,} links dropped: {name}" for name, count in about["links_dropped"].items() if count]
    return [escape_control_characters(line) for line in lines]


def _numbers(run: Run) -> dict[str, Estimate]:
    """Retrieval accuracy after and before per language: at the adjusted layer, centred, both directions.

    The number after is of as many trainings as there are seeds: of one, nothing is known of other seeds.
    """
    numbers: dict[str, Estimate] = {}
    groups = _groups(run)
    for name, group in zip(_names(run, groups), groups, strict=True):
        for state in reversed(group[0].states):
            mean = mean_estimate(effect.estimate(state, HELD_OUT, "centred", effect.layer) for effect in group)
            trained = len(group) if state == ADJUSTED else None
            number = ComparedNumber.of(mean, trained_seeds=trained)
            numbers[f"Retrieval accuracy {STATE_TITLES[state]}, {name}"] = number
    return numbers


SUBJECT = Subject(
    name="adjustment",
    applies=lambda run: any(is_effect(record) for record in run.records),
    sections=_sections,
    headline=_headline,
    numbers=_numbers,
)
