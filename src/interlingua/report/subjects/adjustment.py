"""Before and after an adjustment: whether it helped, paired differences, layers, word distances, training curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

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
from interlingua.record import Difference, Estimate, Record, RecordTable, mean_estimate
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    ChartMenu,
    Histogram,
    HistogramChart,
    HistogramRow,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    ReferenceLine,
)
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import ComparedNumber, Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_number,
    format_p_value,
    format_points,
    format_share,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.training import MIN_CURVE_POINTS, curve_chart
from interlingua.stats import over_seeds

Group = tuple[AdjustmentEffect, ...]
"""The effects of one model and language, one per seed."""
TEXT_TITLES = {HELD_OUT: "held-out sentences", SAMPLER: "embedded sampler"}
_SHORT_TEXTS = {HELD_OUT: "held out", SAMPLER: "sampler"}
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


@lru_cache(maxsize=2)
def _effects(records: RecordTable, items: ItemsOf) -> tuple[AdjustmentEffect, ...]:
    return tuple(adjustment_effects(records, items))


def _groups(run: Run) -> list[Group]:
    groups: dict[tuple[str, str, str], list[AdjustmentEffect]] = {}
    for effect in _effects(run.records, run.items):
        groups.setdefault((effect.model, effect.source, effect.language), []).append(effect)
    return [tuple(effects) for effects in groups.values()]


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


def _finding(run: Run, group: Group) -> Finding:
    """Whether the adjustment helped a language: the change at the best layers, and the verdict of all comparisons."""
    first, verdict = group[0], _verdict(group)
    about = {**_language(run, first), "model": first.model, "source": first.source, "seeds": len(group)}
    if verdict is Verdict.UNFINISHED:
        return Finding(kind="adjustment", verdict=verdict, about=about)
    comparisons = [comparison for effect in group for comparison in effect.comparisons]
    counts = Counter(comparison.change for comparison in comparisons)
    before, after, difference = _best_change(group)
    level = max((level for effect in group for level in effect.chance_levels.values()),
                key=lambda level: max(level.highest.values()))  # fmt: skip
    about |= {
        "compared": sum(counts.values()),
        **{change: counts[change] for change in ("higher", "lower", "unclear")},
        "weakest": _describe(run, weakest(comparisons)) if comparisons else None,
        "after": after.value,
        "on_other_text": all(SAMPLER in effect.texts for effect in group),
        "highest": max(level.highest.values()),
        "chance": level.chance,
    }
    basis = Basis(over="items", test="paired t-test", correction="Holm", compared=sum(counts.values()))
    return Finding(
        kind="adjustment", verdict=verdict, about=about, estimate=difference, compared_with=before, basis=basis
    )


def _language(run: Run, effect: AdjustmentEffect) -> dict[str, Any]:
    return {"language": effect.language, "language_name": language_name(effect.language, run.about)}


def _best_change(group: Group, text: str = HELD_OUT) -> tuple[Estimate, Estimate, Difference]:
    """P@1 before and after, each state at its best layer, and the difference; over seeds the means, without a test."""
    changes = [effect.best_change(text) for effect in group]
    before, after = (
        mean_estimate(sides) for sides in zip(*((change.before, change.after) for change in changes), strict=True)
    )
    if len(changes) == 1 and changes[0].difference is not None:
        return before, after, changes[0].difference
    records = (*before.records, *after.records)
    return before, after, Difference(value=after.value - before.value, n=before.n, records=records)


def _describe(run: Run, comparison: StateComparison) -> dict[str, Any]:
    """A comparison as plain data that a sentence can name."""
    difference = comparison.difference
    return {
        "text": comparison.text,
        "source": comparison.source,
        "target": comparison.target,
        "direction": _direction(run, comparison.source, comparison.target),
        "centering": comparison.centering,
        "best_layer": comparison.best_layer,
        "layers": list(comparison.layers),
        "before": comparison.before.value,
        "after": comparison.after.value,
        "ci_low": difference.ci_low,
        "ci_high": difference.ci_high,
        "p_adjusted": difference.p_adjusted,
        "change": comparison.change,
    }


def _direction(run: Run, source: str, target: str) -> str:
    return f"{language_name(source, run.about)} → {language_name(target, run.about)}"


def _interval(low: float | None, high: float | None) -> str:
    r"""An interval of a difference in points; empty without one.

    >>> _interval(0.014, 0.046), _interval(0.0, 0.0), _interval(None, None)
    ('95\xa0% interval 1.4 to 4.6', 'every sentence as before', '')
    """
    if low is None or high is None:
        return ""
    if low == high == 0:  # Differences that are all 0 have an interval of no width, which proves nothing.
        return "every sentence as before"
    return f"95\N{NO-BREAK SPACE}% interval {format_number(100 * low, 1)} to {format_number(100 * high, 1)}"


def _change_in_points(finding: Finding) -> str:
    """`+9.9 points (95 % interval 5.1 to 14.7)`, as the shown shares differ."""
    before, difference = finding.compared_with, finding.estimate
    assert before is not None
    assert difference is not None
    after = before.value + difference.value
    interval = _interval(difference.ci_low, difference.ci_high)
    return f"{format_points(after, before.value)} points" + (f" ({interval})" if interval else "")


@sentence_of("adjustment", topic="Verdict")
def _adjustment_sentence(finding: Finding) -> str:
    about, name, before = finding.about, finding.about["language_name"], finding.compared_with
    if before is None:
        return f"The run is not finished, so nothing is known of {name} after the adjustment."
    if finding.verdict is Verdict.AT_CHANCE:
        return (
            f"Nothing can be concluded for {name}: translations are not found above chance at any layer, before or "
            f"after the adjustment (at most {format_share(about['highest'])}, chance level "
            f"{format_share(about['chance'])})."
        )
    change = (
        f"retrieval accuracy went from {format_share(before.value)} to {format_share(about['after'])} on held-out "
        f"sentences, {_change_in_points(finding)}"
    )
    seeds = f" over {about['seeds']} seeds" if about["seeds"] > 1 else ""
    of = f"of {about['compared']} comparisons{seeds}"
    if not about["compared"]:
        return f"The change for {name} was not tested, because the values per sentence are missing: {change}."
    return {
        Verdict.HIGHER: f"Adjustment helped {name}: {change}, best layer against best layer.",
        Verdict.NOT_TESTED: f"Adjustment helped {name} on text like the bitext: {change}. Other text was not tested.",
        Verdict.LOWER: f"Adjustment made {about['lower']} {of} worse for {name}; {change}.",
        Verdict.UNCLEAR: f"It is not clear that adjustment helped {name}: {about['unclear']} {of} are not significant; "
        f"{change}.",
    }[finding.verdict]


@sentence_of("adjustment_weakest", topic="Weakest comparison")
def _weakest_sentence(finding: Finding) -> str:
    weak = finding.about
    layers = "each state at its best layer" if weak["best_layer"] else f"at layer {weak['layers'][1]}"
    interval = _interval(weak["ci_low"], weak["ci_high"])
    return (
        f"Of {weak['compared']} comparisons the weakest decides: {weak['direction']}, {TEXT_TITLES[weak['text']]}, "
        f"{CENTERING_TITLES[weak['centering']]}, {layers}, from {format_share(weak['before'])} to "
        f"{format_share(weak['after'])}, {format_points(weak['after'], weak['before'])} points ({interval}, "
        f"{format_p_value(weak['p_adjusted'])})."
    )


def _weakest_finding(run: Run, effect: AdjustmentEffect) -> Finding:
    comparison = weakest(effect.comparisons)
    return Finding(
        kind="adjustment_weakest",
        verdict=Verdict(comparison.change),
        about={**_describe(run, comparison), "compared": len(effect.comparisons)},
        estimate=comparison.difference,
        compared_with=comparison.before,
        basis=Basis(test="paired t-test", correction="Holm", compared=len(effect.comparisons)),
    )


@sentence_of("adjustment_other_text", topic="Other text")
def _other_text_sentence(finding: Finding) -> str:
    return (
        f"{finding.about['language_name']} was measured on held-out sentences of the bitext alone: the embedded "
        "sampler, the other text that an adjustment is judged on, lacks a language of the pair, or its sentences are "
        "in the bitext."
    )


@sentence_of("adjustments", topic="Verdict")
def _adjustments_sentence(finding: Finding) -> str:
    starts = {
        "higher": "adjustment helped",
        "not tested": "adjustment helped, on text like the bitext alone,",
        "lower": "adjustment made some comparisons worse for",
        "unclear": "it is not clear that adjustment helped",
        "at chance": "nothing can be concluded for",
        "unfinished": "the run is not finished for",
    }
    parts = []
    for verdict, start in starts.items():
        languages = [f"{name}{change}" for name, other, change in finding.about["languages"] if other == verdict]
        parts += [f"{start} {join_with_and(languages)}"] if languages else []
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _answer(findings: Sequence[Finding]) -> Finding:
    """One finding that speaks for all languages; of one language it is that of the language."""
    if len(findings) == 1:
        return findings[0]
    order = (Verdict.UNFINISHED, Verdict.LOWER, Verdict.UNCLEAR, Verdict.AT_CHANCE, Verdict.NOT_TESTED, Verdict.HIGHER)
    several_models = len({finding.about["model"] for finding in findings}) > 1
    languages = []
    for finding in findings:
        name = finding.about["language_name"]
        name = f"{name} in {escape_control_characters(finding.about['model'])}" if several_models else name
        languages.append((name, str(finding.verdict), _short_change(finding)))
    worst = min((finding.verdict for finding in findings), key=order.index)
    basis = Basis(test="paired t-test", correction="Holm within each language",
                  compared=sum(finding.about.get("compared", 0) for finding in findings))  # fmt: skip
    return Finding(kind="adjustments", verdict=worst, about={"languages": languages}, basis=basis)


def _short_change(finding: Finding) -> str:
    """The change of a clear gain in brackets; of any other verdict that of the comparison that decides it."""
    if finding.verdict in (Verdict.UNFINISHED, Verdict.AT_CHANCE):
        return ""
    weak = finding.about["weakest"]
    if finding.verdict in (Verdict.LOWER, Verdict.UNCLEAR) and weak is not None:
        interval = _interval(weak["ci_low"], weak["ci_high"])
        return f" (weakest comparison {format_points(weak['after'], weak['before'])} points, {interval})"
    return f" ({_change_in_points(finding).replace(' (', ', ').removesuffix(')')})"


def _caveats(run: Run, effect: AdjustmentEffect) -> Iterator[Finding]:
    """What decided, a text that was not measured, and texts in which a state finds no translations above chance."""
    if effect.comparisons:
        yield _weakest_finding(run, effect)
    if SAMPLER not in effect.texts:
        yield Finding(kind="adjustment_other_text", verdict=Verdict.NOT_TESTED, about=_language(run, effect))
    for text, level in effect.chance_levels.items():
        if level.states_at_chance and not effect.is_at_chance:
            yield Finding(
                kind="adjustment_at_chance",
                verdict=Verdict.AT_CHANCE,
                about={
                    **_language(run, effect),
                    "text": text,
                    "states": list(level.states_at_chance),
                    "highest": max(level.highest[state] for state in level.states_at_chance),
                    "chance": level.chance,
                },
                basis=Basis(test="binomial test", correction="Bonferroni over layers"),
            )


@sentence_of("adjustment_at_chance", topic="Chance level")
def _at_chance_sentence(finding: Finding) -> str:
    about = finding.about
    when = " and ".join("before" if state == ORIGINAL else "after" for state in about["states"])
    return (
        f"{about['language_name']}, {TEXT_TITLES[about['text']]}: {when} the adjustment, translations are not found "
        f"above chance at any layer (at most {format_share(about['highest'])}, chance level "
        f"{format_share(about['chance'])})."
    )


def _layer_finding(run: Run, effect: AdjustmentEffect) -> Finding:
    """The change at the adjusted layer, beside the best layers and those that are as good."""
    change = effect.change_at(HELD_OUT, (effect.layer, effect.layer))
    best = effect.best_change()
    return Finding(
        kind="adjustment_layers",
        verdict=Verdict.FOUND,
        about={
            **_language(run, effect),
            "layer": effect.layer,
            "best_layers": list(best.layers),
            "tied_layers": [effect.tied_layers(state, HELD_OUT) for state in STATES],
            "after": change.after.value,
        },
        estimate=change.difference or Difference(value=change.after.value - change.before.value),
        compared_with=change.before,
    )


@sentence_of("adjustment_layers", topic="Layers")
def _layers_sentence(finding: Finding) -> str:
    about, before = finding.about, finding.compared_with
    assert before is not None
    best = [
        f"{layer}" + (f" ({join_with_and([str(at) for at in tied])} not significantly worse)" if tied else "")
        for layer, tied in zip(about["best_layers"], about["tied_layers"], strict=True)
    ]
    return (
        f"{about['language_name']}: the best layer was {best[0]} before and is {best[1]} after (chosen on the "
        f"sentences that are measured). At the adjusted layer {about['layer']}, retrieval accuracy went from "
        f"{format_share(before.value)} to {format_share(about['after'])}, {_change_in_points(finding)}."
    )


def _word_findings(run: Run, effect: AdjustmentEffect) -> Iterator[Finding]:
    """Whether words are nearer to their translations than before: higher or lower where two intervals lie apart."""
    before, after = effect.words(ORIGINAL, "auc"), effect.words(ADJUSTED, "auc")
    if before is None or after is None:
        return
    yield Finding(
        kind="adjustment_words",
        verdict=compare_intervals(before, after),
        about=_language(run, effect),
        estimate=after,
        compared_with=before,
        basis=Basis(over="sentences", test="two 95 % intervals that do not overlap"),
    )


@sentence_of("adjustment_words", topic="Words")
def _words_sentence(finding: Finding) -> str:
    before, after = finding.compared_with, finding.estimate
    assert before is not None
    assert after is not None
    change = {Verdict.HIGHER: "higher", Verdict.LOWER: "lower"}.get(finding.verdict, "not clearly different")
    return (
        f"{finding.about['language_name']}: a word is nearer to its translation than to an unrelated word in "
        f"{format_share(before.value)} of cases before and {format_share(after.value)} after (AUC, chance level 50 %): "
        f"{change}."
    )


def compare_intervals(before: Estimate, after: Estimate) -> Verdict:
    """Whether a score is higher or lower by two 95 % intervals that lie apart; intervals that touch may hide a change.

    >>> low, high = (Estimate(value=x, ci_low=x - 0.1, ci_high=x + 0.1) for x in (0.6, 0.9))
    >>> str(compare_intervals(low, high)), str(compare_intervals(low, Estimate(value=0.8)))
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
    findings = [_finding(run, group) for group in groups]
    names = join_with_and(list(dict.fromkeys(finding.about["language_name"] for finding in findings)))
    models = join_with_and(
        [escape_control_characters(name) for name in dict.fromkeys(group[0].model for group in groups)]
    )
    count = sum(int(text.get("rows", 0)) for text in _trained_on(run).values())
    on = f" on {pluralize(count, 'sentence pair')}" if count else ""
    return Headline(
        title=f"Did adjusting {models}{on} help {names}?",
        answer=_answer(findings),
        figures=tuple(_figures(run, groups, findings)),
        measured=_measured(run, groups),
        next_step=_next_step(run, groups, _answer(findings).verdict),
        findings=tuple(findings if len(findings) > 1 else ()),
    )


def _figures(run: Run, groups: Sequence[Group], findings: Sequence[Finding]) -> Iterator[KeyFigure]:
    """Of one language four numbers; of several the retrieval accuracy of each."""
    for group, finding in zip(groups[:4], findings, strict=False):
        if finding.verdict is Verdict.UNFINISHED:
            continue
        before, after, _ = _best_change(group)
        several = f", {finding.about['language_name']}" if len(groups) > 1 else ""
        chance = "" if after.null_value is None else f"; chance level {format_share(after.null_value)}"
        remark = f"{format_share(before.value)} before{_bounds_in_percent(before)}{chance}"
        yield KeyFigure(label=f"Retrieval accuracy (P@1) after adjustment{several}", estimate=after, remark=remark)
    if len(groups) > 1 or findings[0].verdict is Verdict.UNFINISHED:
        return
    effect = groups[0][0]
    before_words, after_words = effect.words(ORIGINAL, "auc"), effect.words(ADJUSTED, "auc")
    if before_words is not None and after_words is not None:
        yield KeyFigure(
            label="Translation nearer than an unrelated word (AUC)",
            estimate=after_words,
            remark=f"{format_share(before_words.value)} before; chance level 50\N{NO-BREAK SPACE}%",
        )
    if (moved := _source_shift(run)) is not None:
        yield KeyFigure(
            label=f"Shift of {language_name(effect.source, run.about)} words",
            text=format_share(moved),
            remark="of the distance between translations before, on training sentences",
        )
    if (weak := findings[0].about["weakest"]) is not None:
        comparison = weakest(effect.comparisons)
        remark = f"{weak['direction']}, {_SHORT_TEXTS[weak['text']]}, {CENTERING_TITLES[weak['centering']]}"
        yield KeyFigure(
            label="Weakest comparison (points)",
            estimate=comparison.difference,
            display="points",
            remark=f"{remark}; {format_p_value(weak['p_adjusted'])}",
        )


def _bounds_in_percent(estimate: Estimate) -> str:
    if estimate.ci_low is None or estimate.ci_high is None:
        return ""
    return f" [{format_number(100 * estimate.ci_low, 1)}, {format_number(100 * estimate.ci_high, 1)}]"


def _training(run: Run) -> Mapping[str, Any]:
    """How an adjustment's own run was trained; empty of any other run."""
    training = run.about.get("training") if run.kind == "adjust" else None
    return training if isinstance(training, Mapping) else {}


def _trained_on(run: Run) -> Mapping[str, Mapping[str, Any]]:
    """What was trained on, by language."""
    languages = _training(run).get("languages")
    return languages if isinstance(languages, Mapping) else {}


def _measured(run: Run, groups: Sequence[Group]) -> str:
    parts = []
    if trained := _trained_on(run):
        rows, words = (sum(int(text.get(name, 0)) for text in trained.values()) for name in ("rows", "pairs"))
        parts.append(f"Trained on {pluralize(rows, 'sentence pair')} with {pluralize(words, 'word pair')}")
    effect = groups[0][0]
    sizes = {text: effect.estimate(ORIGINAL, text, "raw", effect.layers(ORIGINAL, text)[0]).n for text in effect.texts}
    measured = join_with_and([f"{size:,} {_TEXT_NOUNS[text]}" for text, size in sizes.items()])
    per_language = " per language" if len(groups) > 1 else ""
    parts.append(f"measured on {measured}{per_language}; layer {effect.layer} was adjusted (0 is the embedding output)")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


_TEXT_NOUNS = {HELD_OUT: "held-out sentences", SAMPLER: "sentences of the embedded sampler"}


def _next_step(run: Run, groups: Sequence[Group], verdict: Verdict) -> str:
    """Advice that follows from the verdict."""
    if run.unfinished:
        return run.unfinished
    folder = escape_control_characters(str(run.about.get("out") or "the adjusted model"))
    effect = groups[0][0]
    codes = ",".join(dict.fromkeys((effect.source, *(group[0].language for group in groups))))
    if verdict in (Verdict.HIGHER, Verdict.NOT_TESTED):
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
    sections: list[Section] = []
    if done:
        sections += _effect_sections(run, done)
        sections.append(_layer_section(run, done))
    if groups and (words := separation_section(RecordTable(filter(is_effect, run.records)), run.about)) is not None:
        sections.append(words)
    if (curves := _curve_section(run)) is not None:
        sections.append(curves)
    if (data := _data_section(run)) is not None:
        sections.append(data)
    return sections


def _effect_sections(run: Run, groups: Sequence[Group]) -> Iterator[Section]:
    """The table of the verdict first, then every difference as a picture and at the adjusted layer."""
    effects = [group[0] for group in groups if len(group) == 1]
    findings = [finding for effect in effects for finding in _caveats(run, effect)]
    findings += [finding for effect in effects for finding in _word_findings(run, effect)]
    yield Section(
        name="before-and-after",
        title="Before and after adjustment",
        findings=tuple(findings),
        tables=(_comparison_table(run, groups, best_layer=True),),
        terminal=True,
    )
    yield Section(
        name="differences",
        title="Differences with their intervals",
        text=_METHOD,
        charts=(_difference_chart(run, groups),),
        tables=(_comparison_table(run, groups, best_layer=False),),
    )


def _comparison_rows(
    group: Group, best: bool
) -> Iterator[tuple[str, str, str, str, list[Estimate], list[StateComparison]]]:
    """Text, centering, source, target, both states' means over seeds, and the comparisons of the seeds."""
    texts = [text for text in group[0].texts if all(text in effect.texts for effect in group)]
    for text, centering, (source, target) in product(texts, CENTERINGS, group[0].directions):
        key = (text, centering, source, best)
        tested = [comparison for effect in group for comparison in effect.comparisons if comparison.key == key]
        sides = [
            mean_estimate(
                effect.estimate(
                    state, text, centering, effect.best_layer(state, text, centering) if best else effect.layer, source
                )
                for effect in group
            )
            for state in STATES
        ]
        yield text, centering, source, target, sides, tested


def _comparison_table(run: Run, groups: Sequence[Group], *, best_layer: bool) -> Table:
    """One row per language, direction, text and centering: before, after, the difference, its p-value and verdict."""
    several = len({group[0].model for group in groups}) > 1
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        for text, centering, source, target, (before, after), tested in _comparison_rows(group, best_layer):
            start = (escape_control_characters(group[0].model),) if several else ()
            layers = " → ".join(str(side.records[0].layer) for side in (before, after)) if len(group) == 1 else None
            row = (
                *start,
                _direction(run, source, target),
                _SHORT_TEXTS[text],
                CENTERING_TITLES[centering],
                before,
                after,
                *_tested_cells(before, after, tested, len(group)),
            )
            rows.append((*row, layers) if best_layer else row)
    adjusted = join_with_and([str(layer) for layer in dict.fromkeys(group[0].layer for group in groups)])
    return Table(
        name="adjustment" if best_layer else "adjustment-adjusted-layer",
        title="Each state at its best layer" if best_layer else f"At the adjusted layer {adjusted}",
        columns=(
            *((Column(title="model"),) if several else ()),
            Column(title="direction"),
            Column(title="text"),
            Column(title="vectors"),
            Column(title="before", display="percent"),
            Column(title="after", display="percent"),
            Column(title="difference", display="points", interval=True),
            Column(title="verdict"),
            Column(title="p", display="p_value"),
            *((Column(title="layers"),) if best_layer else ()),
        ),
        rows=tuple(rows),
        note=(
            "Retrieval accuracy (P@1). Difference in points with its 95 % interval over sentences; p after Holm’s "
            "correction for all comparisons of the language; unclear: p is not below 0.05."
            + (" Means over seeds; each seed is tested by itself." if any(len(group) > 1 for group in groups) else "")
        ),
        terminal=best_layer,
    )


def _tested_cells(before: Estimate, after: Estimate, tested: Sequence[StateComparison], seeds: int) -> tuple[Cell, ...]:
    """Difference, verdict and p-value; over seeds the mean difference and how many seeds are higher, lower, unclear."""
    if seeds == 1 and tested:
        return tested[0].difference, tested[0].change, tested[0].difference.p_adjusted
    difference = Difference(value=after.value - before.value, n=before.n, records=(*before.records, *after.records))
    counts = Counter(comparison.change for comparison in tested)
    counted = join_with_and([f"{change} in {count}" for change, count in counts.items()])
    return difference, f"{counted} of {seeds} seeds" if tested else "not tested", None


def _difference_chart(run: Run, groups: Sequence[Group]) -> IntervalChart:
    """Paired differences at the best layers with their intervals; of several seeds the seeds as dots."""
    several = len({group[0].model for group in groups}) > 1
    rows = []
    for group in groups:
        for text, centering, source, target, (before, after), tested in _comparison_rows(group, best=True):
            label = f"{_direction(run, source, target)}, {CENTERING_TITLES[centering]}"
            label = f"{escape_control_characters(group[0].model)}: {label}" if several else label
            dots = tuple((comparison.difference.value, comparison.difference.records) for comparison in tested)
            estimate, *_ = _tested_cells(before, after, tested, len(group))
            assert isinstance(estimate, Estimate)
            rows.append(
                IntervalRow(
                    label=label, group=TEXT_TITLES[text], estimate=estimate, dots=dots if len(group) > 1 else ()
                )
            )
    return IntervalChart(
        name="adjustment-differences",
        title="Change of retrieval accuracy, each state at its best layer",
        note="Points of percent with 95 % intervals over sentences. An interval left or right of the line is a change "
        "before the correction for several comparisons; the table has the corrected verdicts.",
        x=Axis(title="difference after adjustment (points)", display="points"),
        rows=tuple(rows),
        references=(ReferenceLine(label="no difference", values=(0.0,)),),
    )


def _layer_section(run: Run, groups: Sequence[Group]) -> Section:
    """Curves over layers in both states, and the paired difference at each layer, of the first seed."""
    curves: dict[tuple[str, ...], Chart] = {}
    differences: dict[tuple[str, ...], Chart] = {}
    names = _menu_names(run, groups)
    few = len(groups) <= MAX_FULL_MENUS
    texts = [text for text in TEXT_TITLES if any(text in group[0].texts for group in groups)] if few else [HELD_OUT]
    centerings = CENTERINGS if few else CENTERINGS[:1]
    for name, group in zip(names, groups, strict=True):
        effect = group[0]
        for text, centering in product([text for text in texts if text in effect.texts], centerings):
            key = (name, TEXT_TITLES[text], CENTERING_TITLES[centering])
            curves[key] = _curve_chart(effect, text, centering, name)
            if (chart := _layer_difference_chart(effect, text, centering, name)) is not None:
                differences[key] = chart
    menus = (
        ("Language", tuple(names)),
        ("Text", tuple(TEXT_TITLES[text] for text in texts)),
        ("Vectors", tuple(CENTERING_TITLES[centering] for centering in centerings)),
    )
    charts = [_with_menus("adjustment-layers", menus, curves)]
    if differences:
        charts.append(_with_menus("adjustment-layer-differences", menus, differences))
    findings = [_layer_finding(run, group[0]) for group in groups if len(group) == 1]
    notes = ("The curves show the first seed.",) if any(len(group) > 1 for group in groups) else ()
    return Section(name="adjustment-by-layer", title="Layer by layer", findings=tuple(findings), text=notes,
                   charts=tuple(charts))  # fmt: skip


def _menu_names(run: Run, groups: Sequence[Group]) -> list[str]:
    several = len({group[0].model for group in groups}) > 1
    names = [language_name(group[0].language, run.about) for group in groups]
    if not several:
        return names
    return [f"{escape_control_characters(group[0].model)}: {name}" for group, name in zip(groups, names, strict=True)]


def _with_menus(
    name: str, menus: Sequence[tuple[str, tuple[str, ...]]], charts: Mapping[tuple[str, ...], Chart]
) -> Chart | ChartMenu:
    """Charts under the menus that offer a choice; a chart without any choice stands alone."""
    wanted = [place for place, (_, options) in enumerate(menus) if len(options) > 1]
    if not wanted:
        return next(iter(charts.values()))
    return ChartMenu(
        name=name,
        menus=tuple(menus[place] for place in wanted),
        charts={tuple(key[place] for place in wanted): chart for key, chart in charts.items()},
    )


def _curve_chart(effect: AdjustmentEffect, text: str, centering: str, name: str) -> LineChart:
    lines = []
    for number, state in enumerate(STATES):
        layers = effect.layers(state, text)
        best = layers.index(effect.best_layer(state, text, centering))
        stands_out = len(effect.tied_layers(state, text, centering)) < len(layers) - 1
        lines.append(
            Line(
                name=STATE_TITLES[state],
                x=tuple(float(layer) for layer in layers),
                y=tuple(effect.estimate(state, text, centering, layer) for layer in layers),
                color=1 - number,
                dashed=state == ORIGINAL,
                best=best if stands_out else None,
            )
        )
    chance = next((estimate.null_value for estimate in lines[0].y if estimate is not None), None)
    return LineChart(
        name=f"adjustment-layers-{effect.language}-{text}-{centering}",
        title=f"Retrieval accuracy per layer: {name}, {TEXT_TITLES[text]}, {CENTERING_TITLES[centering]}",
        note="Mean of both directions with 95 % intervals. Both states are measured on the same sentences, so bands "
        "that overlap may still differ: the difference has an interval of its own.",
        x=_LAYER_AXIS,
        y=Axis(title="retrieval accuracy (P@1)", display="percent", zero=True),
        lines=tuple(lines),
        references=() if chance is None else (ReferenceLine(label="chance level", values=(chance,)),),
    )


_LAYER_AXIS = Axis(title="layer (0 is the embedding output)", display="count")


def _layer_difference_chart(effect: AdjustmentEffect, text: str, centering: str, name: str) -> LineChart | None:
    layers = [at for at in effect.layers(ORIGINAL, text) if at in effect.layers(ADJUSTED, text)]
    changes = [effect.change_at(text, (layer, layer), centering).difference for layer in layers]
    if not any(changes):
        return None
    line = Line(name="after minus before", x=tuple(float(layer) for layer in layers), y=tuple(changes))
    return LineChart(
        name=f"adjustment-layer-differences-{effect.language}-{text}-{centering}",
        title=f"Change per layer: {name}, {TEXT_TITLES[text]}, {CENTERING_TITLES[centering]}",
        note="Paired difference of the mean of both directions, with its 95 % interval over sentences.",
        x=_LAYER_AXIS,
        y=Axis(title="difference (points)", display="points"),
        lines=(line,),
        references=(ReferenceLine(label="no difference", values=(0.0,)),),
    )


# Distances of related and unrelated words: adjustments, transfers and studies show them


def separation_section(
    records: RecordTable,
    about: Mapping[str, Any],
    *,
    name: str = "words",
    names: Mapping[str, str] | None = None,
) -> Section | None:
    """Histograms and table of word distances by state (Efimov et al. 2023, Fig. 1); None where there are none.

    `records` are those of a run or a part of it: `separation` of adjustments, `distances` of transfers. `names` has the
    title of a state where it is not in `STATE_TITLES`; a regime is called as it is. Distances are divided by the mean
    unrelated distance of their state, because an adjustment shrinks the whole space and L2 distances fall with it.
    """
    stated = [record for record in records if _is_distance(record)]
    if not stated:
        return None
    titles = {**STATE_TITLES, **(names or {})}
    table = RecordTable(stated)
    charts: dict[tuple[str, ...], Chart] = {}
    parts = list(table.by("model", "task", "source"))
    languages = list(dict.fromkeys(str(record.target) for record in table))
    for model, task, source in parts:
        of_part = table.where(model=model, task=task, source=source)
        for (code,), of_language in of_part.by("target").items():
            if (chart := _separation_chart(of_language, titles, language_name(str(code), about), name)) is not None:
                charts[_part_name(model, task, source, parts), language_name(str(code), about)] = chart
    menus = (
        ("Model", tuple(_part_name(model, task, source, parts) for model, task, source in parts)),
        ("Language", tuple(language_name(code, about) for code in languages)),
    )
    return Section(
        name=name,
        title="Distances of related and unrelated words",
        text=(
            "Related words are translations of each other; unrelated words are of different sentences. The less the "
            "two histograms overlap, the better distance alone separates translations from other words: the AUC is the "
            "share of cases in which the translation is nearer, 50 % by chance. Sentences were not trained on.",
        ),
        charts=(_with_menus(f"{name}-by-state", menus, charts),) if charts else (),
        tables=(_separation_table(table, about, titles, f"{name}-distances"),),
    )


def _is_distance(record: Record) -> bool:
    return (
        record.measure in ("separation", "distances")
        and record.state is not None
        and record.unit == "word"
        and record.options.get("distance") == "l2"
    )


def _part_name(model: str, task: str | None, source: str | None, parts: Sequence[tuple[Any, ...]]) -> str:
    """A model, with its task and language of training where the model alone does not identify a part."""
    several = sum(1 for other in parts if other[0] == model) > 1
    title = escape_control_characters(model)
    return f"{title}, {task or 'before any task'}, {source}" if several else title


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
    edges = [
        np.asarray(auc[0].details["edges"], np.float64) / max(_first_seed(unrelated, auc[0]).value, 1e-12)
        for _, auc, unrelated in states
    ]
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


def _first_seed(records: RecordTable, like: Record) -> Record:
    return next((record for record in records if record.seed == like.seed), records[0])


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
    parts = list(table.by("model", "task", "source"))
    rows: list[tuple[Cell, ...]] = []
    for (model, task, source, code, state), of_state in table.by("model", "task", "source", "target", "state").items():
        measure = of_state[0].measure
        means = [
            _over_seeds(chosen) if (chosen := of_state.of(measure, metric, **options)) else None
            for metric, options in _DISTANCE_COLUMNS
        ]
        ratio = None if means[0] is None or means[1] is None else means[1].value / max(means[0].value, 1e-12)
        start: tuple[Cell, ...] = (_part_name(model, task, source, parts),) if len(parts) > 1 else ()
        rows.append(
            (*start, language_name(str(code), about), titles.get(str(state), str(state)), *means[:2], ratio, means[2])
        )
    seeds = max(
        len(of_state) for of_state in table.by("model", "task", "source", "target", "state", "metric", "pairs").values()
    )
    over = "seeds (Student)" if seeds > 1 else "words"
    return Table(
        name=name,
        title="Distances of words",
        columns=(
            *((Column(title="model"),) if len(parts) > 1 else ()),
            Column(title="language"),
            Column(title="state"),
            Column(title="related", display="decimal3", interval=True),
            Column(title="unrelated", display="decimal3", interval=True),
            Column(title="unrelated / related", display="number"),
            Column(title="AUC", display="percent", interval=True),
        ),
        rows=tuple(rows),
        note=f"L2 distances, which fall or grow with the whole space and so decide nothing: the AUC does. 95 % "
        f"intervals over {over}.",
    )


_DISTANCE_COLUMNS: tuple[tuple[str, dict[str, str]], ...] = (
    ("distance", {"pairs": "related"}),
    ("distance", {"pairs": "unrelated"}),
    ("auc", {}),
)


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


_TERMS = {
    "adjustment": "adjustment (linked words)",
    "anchor": "anchor (source words)",
    "contrastive": "contrastive",
    "drift": "drift (weights)",
}


def _curve_section(run: Run) -> Section | None:
    """The loss of each term over steps, and word distances over training where they were monitored."""
    losses = curve_chart(
        _steps(run),
        _TERMS,
        name="adjustment-losses",
        title="Loss of each term",
        note="Values before their weights. A loss that jumps means that the learning rate is too high.",
        y=Axis(title="loss", zero=True),
    )
    words = curve_chart(
        _training(run).get("metrics") or (),
        {"auc": "AUC"},
        name="adjustment-auc",
        title="AUC of words during training",
        note="How often a word is nearer to its translation than to an unrelated word, on held-out sentences.",
        y=Axis(title="AUC", display="percent"),
        references=(ReferenceLine(label="chance level", values=(0.5,)),),
    )
    charts = tuple(chart for chart in (losses, words) if chart is not None)
    return Section(name="adjustment-training", title="Training", charts=charts) if charts else None


def _data_section(run: Run) -> Section | None:
    """What was trained on per language, and all that was left out."""
    trained = _trained_on(run)
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
    for name, group in zip(_menu_names(run, groups), groups, strict=True):
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
