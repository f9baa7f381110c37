"""Geometry: names in the model's space before and after fine-tuning on NER, and the errors of each fine-tuning."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from statistics import fmean, variance
from typing import Any

import numpy as np
from scipy import special

from interlingua.languages import is_language, script
from interlingua.record import Estimate, Record, RecordTable, mean_estimate
from interlingua.report.kit.chart import (
    GREY,
    Axis,
    Chart,
    ChartMenu,
    Dot,
    HeatMap,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    ReferenceLine,
    ScatterChart,
)
from interlingua.report.kit.evidence import association_sentence, fit_trend_of_pairs, is_above_null, judge_sign
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import ComparedNumber, Headline, KeyFigure, Run, Section, Subject, section_of_parts
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    Display,
    capitalize_first,
    escape_control_characters,
    format_estimate,
    format_number,
    format_share,
    join_with_and,
    language_name,
    model_name,
    pluralize,
)
from interlingua.report.subjects.entity_maps import highlights, map_menus
from interlingua.stats import Z95, Association, mean_interval

PAPER = "Anonymous ACL submission"
BEFORE, AFTER = "before", "after"
LABELS = ("language", "type")
MIN_HEAT_MAP_LANGUAGES = 5
"""A matrix of fewer languages is read from a table: of six cells a picture shows less than their numbers."""
MAX_NAMED_PAIRS = 3
ALL_TYPES = "all"
"""What records of spelling call the names of all types together."""
MIN_GROUP_CORRELATION = 0.5
"""Where even the lowest correlation is above this, all languages change together, and a clustering still cuts them."""
TRAIN_LONGER = "Train longer (--epochs) or with a higher learning rate (--learning-rate)"
CENTERINGS = {"raw": "as is", "centred": "language means removed"}
CURVES = {
    "change": ("Change of the mean cosine", "change", "Mean cosine of words within each language"),
    "cosine": ("Mean cosine", "cosine", "Mean cosine of words within each language"),
    "retrieval": ("Retrieval", "mean reciprocal rank", "Retrieval of translations from the language of training"),
    "cka": ("CKA with the start", "CKA", "How much of each language’s space is as it was before training"),
    "separation": (
        "Word separation",
        "AUC",
        "How often a word is closer to its translation than to another word; 0.5 is chance",
    ),
}
"""What was measured while fine-tuning (by metric of the measure `similarity`): title, axis, and what it is."""


@dataclass(frozen=True, kw_only=True)
class FailedTraining:
    """A fine-tuning that did not learn the task: its share of wrong sentences is not below the chance level."""

    language: str
    seed: int | None
    wrong: float
    chance: float
    n: int


@dataclass(frozen=True, kw_only=True)
class CurveCorrelations:
    """How the changes of languages' curves correlate, and a clustering of them."""

    languages: tuple[str, ...]
    matrix: Sequence[Sequence[float]]
    null: Sequence[Sequence[float]]
    order: Sequence[int]
    groups: Sequence[int]
    span: int
    p: Sequence[Sequence[float]] | None = None

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(len(self.languages)) for j in range(i + 1, len(self.languages))]


@dataclass(frozen=True, kw_only=True)
class SpellingRelation:
    """Errors of pairs of languages against the spelling distance of names, with Mantel's correlations."""

    points: Sequence[Mapping[str, Any]]
    rho: Association
    within: Association | None
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EntityGeometry:
    """What one geometry table found: its settings, its records, and what was computed of several records together.

    `title` distinguishes it from other geometry tables of a study, and is empty where it is alone.
    """

    about: Mapping[str, Any]
    records: RecordTable
    title: str = ""
    failed: tuple[FailedTraining, ...] = ()
    changes: Mapping[str, Any] = field(default_factory=dict)
    groups: CurveCorrelations | None = None
    spelling: SpellingRelation | None = None
    maps: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any], records: RecordTable, *, title: str = "") -> EntityGeometry:
        """The geometry that an attachment and its records describe (`analyses.transfer_matrix.conclusions`)."""
        found: Mapping[str, Any] = entry.get("found") or {}
        names = ("language", "seed", "wrong", "chance", "n")
        groups, relation = found.get("groups"), found.get("scatter")
        return cls(
            about=entry["about"],
            records=records,
            title=title,
            failed=tuple(FailedTraining(**{name: e[name] for name in names}) for e in found.get("not_learnt") or ()),
            changes=found.get("changes") or {},
            groups=None if not groups else CurveCorrelations(
                languages=tuple(groups["languages"]),
                **{name: groups[name] for name in ("matrix", "null", "order", "groups", "span")},
                p=groups.get("p"),
            ),
            spelling=None if not relation else SpellingRelation(
                points=relation["points"],
                rho=Association(**relation["rho"]),
                within=Association(**relation["within"]) if relation.get("within") else None,
                left_out=tuple(relation.get("left_out") or ()),
            ),
            maps=entry.get("maps") or (),
        )  # fmt: skip

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.about.get("languages") or ())

    @property
    def source(self) -> str:
        """The language of the fine-tuning whose model was looked into."""
        return str(self.about.get("source"))

    @property
    def names(self) -> Mapping[str, str]:
        """Names of languages that the run recorded, for findings to word."""
        return self.about.get("names") or {}

    def name(self, language: str) -> str:
        return language_name(language, self.about)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that say something: the one after fine-tuning does not where the task was not learnt."""
        # The model that is looked into is that of the first seed.
        seed = self.about.get("seed") or 0
        lost = any(each.language == self.source and each.seed in (seed, None) for each in self.failed)
        return (BEFORE,) if lost else (BEFORE, AFTER)

    def state_title(self, state: str) -> str:
        return "before fine-tuning" if state == BEFORE else f"after fine-tuning on {self.name(self.source)}"

    @cached_property
    def sets(self) -> list[str]:
        """The sets of entities that were looked at: the test part, then sentences about one name."""
        return list(dict.fromkeys(record.corpus for record in self.records if record.measure == "clusters"))

    @cached_property
    def layers(self) -> list[int]:
        records = self.records.of("parallel-cosine", "parallel-cosine")
        return sorted({record.layer for record in records if record.layer is not None})

    @property
    def output(self) -> int | None:
        """The last layer that was looked at; None before the first look."""
        return self.layers[-1] if self.layers else None

    def clusters(self, metric: str, label: str, state: str, corpus: str) -> dict[int | None, Estimate]:
        """Silhouette or purity by layer."""
        found = self.records.of("clusters", metric, label=label, state=state, corpus=corpus)
        return {layer: own.estimate() for (layer,), own in sorted(found.by("layer").items())}

    def purities(self, label: str) -> dict[str, Estimate]:
        """The purity of the test part at the output, by state."""
        found = {state: self.clusters("purity", label, state, self.sets[0]) for state in self.states if self.sets}
        return {state: layers[self.output] for state, layers in found.items() if self.output in layers}

    def cosines(self, state: str, corpus: str, centering: str = "raw") -> dict[int, dict[tuple[str, str], Estimate]]:
        """The cosine of parallel entities by layer and pair of languages, each pair once."""
        found = self.records.of("parallel-cosine", "parallel-cosine", state=state, corpus=corpus, centering=centering)
        return {
            layer: {(str(a), str(b)): own.estimate() for (a, b), own in its.by("source", "target").items()}
            for (layer,), its in sorted(found.by("layer").items())
        }

    @cached_property
    def errors(self) -> dict[tuple[str, str], Estimate]:
        """Shares of wrong sentences by language of training and of test, over the seeds that learnt the task."""
        lost = {(each.language, each.seed) for each in self.failed}
        records = self.records.of("pairwise", "wrong")
        return error_cells(RecordTable(r for r in records if (r.source, r.seed) not in lost))

    @cached_property
    def all_errors(self) -> dict[tuple[str, str], Estimate]:
        """The same over all seeds."""
        return error_cells(self.records.of("pairwise", "wrong"))

    @property
    def trained_languages(self) -> list[str]:
        trained = {source for source, _ in self.all_errors}
        return [code for code in self.languages if code in trained]

    def spelling_distances(self) -> dict[tuple[str, str], Estimate]:
        """TNLD of the test part's names, each pair once."""
        types = [record.aspect for record in self.records.of("spelling", "tnld")]
        wanted = ALL_TYPES if ALL_TYPES in types else next(iter(types), None)
        found = self.records.of("spelling", "tnld", aspect=wanted).by("source", "target")
        return {(str(one), str(other)): own.estimate() for (one, other), own in found.items()}

    def titled(self, title: str) -> str:
        return f"{title}: {self.title}" if self.title else title


def error_cells(records: RecordTable) -> dict[tuple[str, str], Estimate]:
    """Each cell's mean over seeds, with the mean of its chance levels as null value.

    The chance level is that of answers dealt to other sentences or of no tag, whichever is lower.
    """
    cells = {}
    for (one, other), own in records.by("source", "target").items():
        levels = [(record.null_value, record.details.get("untagged")) for record in own]
        chance = fmean(min((level for level in both if level is not None), default=1.0) for both in levels)
        cells[str(one), str(other)] = replace(own.estimate(), null_value=chance)
    return cells


def mean_error(
    cells: Mapping[tuple[str, str], Estimate], *, same: bool, language: str | None = None
) -> Estimate | None:
    """The mean error in the language of training (`same`) or in others; of one language of training where given."""
    found = [e for (one, other), e in cells.items() if (one == other) == same and language in (None, one)]
    return mean_estimate(found) if found else None


def read_geometries(run: Run) -> list[EntityGeometry]:
    """One per geometry table and encoder of a study that has records; of a run of `interlingua geometry`, the one.

    Attachment `geometries`: `about`, `found` and `maps` of each, in a study also its `name` and `encoder`.
    """
    entries = run.attachments.get("geometries") or ()
    if run.kind == "geometry":
        return [EntityGeometry.of({"about": run.about, **(entries[0] if entries else {})}, run.records)]
    geometries = []
    for entry in entries:
        name, encoder, data = entry["name"], entry["encoder"], entry["about"].get("data")
        own = RecordTable(
            r for r in run.records
            if (r.block, r.model) == (name, encoder) or (r.measure, r.block) == ("spelling", data)
        )  # fmt: skip
        if any(record.model == encoder for record in own):
            title = f"{escape_control_characters(name)}, {escape_control_characters(encoder)}"
            geometries.append(EntityGeometry.of(entry, own, title=title))
    return geometries


# Findings ---------------------------------------------------------------------------------------------------------


def find_failed_trainings(geometry: EntityGeometry) -> Finding | None:
    """Which fine-tunings did not learn the task; None where all did."""
    if not geometry.failed:
        return None
    return Finding(
        kind="task_not_learnt",
        verdict=Verdict.AT_CHANCE,
        about={
            "source": geometry.source,
            "of_source": geometry.states == (BEFORE,),
            "trainings": [vars(each) for each in geometry.failed],
            "names": geometry.names,
        },
    )


@sentence_of("task_not_learnt", topic="Task not learnt")
def _(finding: Finding) -> str:
    about, trainings = finding.about, finding.about["trainings"]
    source = about["source"] if about["of_source"] else trainings[0]["language"]
    first = next(each for each in trainings if each["language"] == source)
    names = dict.fromkeys(language_name(each["language"], about) for each in trainings if each is not first)
    name, others = language_name(source, about), join_with_and(list(names))
    numbers = (
        f"{format_share(first['wrong'])} of {first['n']:,} test sentences in {name} have a wrong tag, chance level "
        f"{format_share(first['chance'])}{f'; also not learnt: {others}' if others else ''}"
    )
    if about["of_source"]:
        return (
            f"The task was not learnt: nothing can be said of fine-tuning on {name} ({numbers}). All numbers below "
            f"describe the model before fine-tuning. {TRAIN_LONGER}."
        )
    return (
        f"Fine-tuning on {name} did not learn the task and is left out of everything below ({numbers}). {TRAIN_LONGER}."
    )


def find_purity(geometry: EntityGeometry, label: str) -> Finding | None:
    """The share of an entity's neighbours with the same label, before and after; chance first."""
    purities = geometry.purities(label)
    before, after = purities.get(BEFORE), purities.get(AFTER)
    if before is None:
        return None
    if not any(map(is_above_null, purities.values())):
        verdict = Verdict.AT_CHANCE
    else:
        verdict = Verdict.FOUND if after is None else compare_intervals(before, after)
    return Finding(
        kind="entity_purity",
        verdict=verdict,
        about={"label": label, "source": geometry.source, "layer": geometry.output, "names": geometry.names},
        estimate=after or before,
        compared_with=None if after is None else before,
        basis=Basis(test="" if after is None else "intervals that do not overlap"),
    )


def compare_intervals(before: Estimate, after: Estimate) -> Verdict:
    """Whether the second is higher or lower; unclear where the intervals overlap or are not known."""
    bounds = (before.ci_low, before.ci_high, after.ci_low, after.ci_high)
    if any(bound is None for bound in bounds):
        return Verdict.NOT_TESTED
    if after.ci_low > before.ci_high:  # type: ignore[operator]
        return Verdict.HIGHER
    return Verdict.LOWER if after.ci_high < before.ci_low else Verdict.UNCLEAR  # type: ignore[operator]


@sentence_of("entity_purity", topic="Neighbours")
@sentence_of("fine_tuning_effect", topic="Fine-tuning")
def _(finding: Finding) -> str:
    about, after, before = finding.about, finding.estimate, finding.compared_with
    assert after is not None
    label, source = about["label"], language_name(about["source"], about)
    chance = f"chance level {format_share(after.null_value)}"
    if before is None:
        level = f"no more than the {chance}" if finding.verdict is Verdict.AT_CHANCE else chance
        share = format_estimate(after, "percent")
        sentence = f"Before fine-tuning, {share} of an entity’s 10 nearest neighbours have the same {label} ({level})."
    else:
        of = f"the share of neighbours with the same {label}"
        lead = {
            Verdict.AT_CHANCE: f"{capitalize_first(of)} is not above chance, before or after fine-tuning on {source}",
            Verdict.HIGHER: f"Fine-tuning on {source} raised {of}",
            Verdict.LOWER: f"Fine-tuning on {source} lowered {of}",
        }.get(finding.verdict, f"No clear change of {of} by fine-tuning on {source}")
        both = f"{format_estimate(before, 'percent')} before and {format_estimate(after, 'percent')} after"
        sentence = f"{lead} ({both}, {chance})."
    if finding.kind == "entity_purity":
        return sentence
    if (within := about["errors_within"]) is not None:
        sentence += f" {format_share(within)} of test sentences have a wrong tag in the language of training"
        elsewhere = about["errors_elsewhere"]
        sentence += "." if elsewhere is None else f", {format_share(elsewhere)} in other languages."
    if before is not None:
        sentence += " Neighbours are of one fine-tuned model; those of other seeds were not measured."
    return sentence


def find_effect(geometry: EntityGeometry) -> Finding:
    """What answers the command's question: neighbours of the same language, and errors by language of training."""
    failed = find_failed_trainings(geometry)
    if failed is not None and failed.about["of_source"]:
        return failed
    purity = find_purity(geometry, "language") or find_purity(geometry, "type")
    if purity is None:
        return (
            find_errors(geometry)
            or find_cosines(geometry)
            or Finding(kind="geometry_not_measured", verdict=Verdict.UNFINISHED)
        )
    about = dict(purity.about)
    for name, same in (("errors_within", True), ("errors_elsewhere", False)):
        mean = mean_error(geometry.errors, same=same)
        about[name] = None if mean is None else mean.value
    return replace(purity, kind="fine_tuning_effect", about=about)


@sentence_of("geometry_not_measured", topic="Not measured")
def _(_finding: Finding) -> str:
    return "Nothing has been measured yet: run the same command again."


def find_cosines(geometry: EntityGeometry) -> Finding | None:
    """Between which languages parallel entities stand out from pairs of different entities, at the output."""
    if not geometry.sets or geometry.output is None:
        return None
    at_output = {state: geometry.cosines(state, geometry.sets[0]).get(geometry.output) for state in geometry.states}
    state, cells = next(((state, cells) for state, cells in reversed(at_output.items()) if cells), ("", None))
    if not cells:
        return None
    gaps = {pair: (cell.value - (cell.null_value or 0.0), standard_error(cell)) for pair, cell in cells.items()}
    best, worst = (pick(gaps, key=lambda pair: gaps[pair][0]) for pick in (max, min))
    if not any(map(is_above_null, cells.values())):
        verdict = Verdict.AT_CHANCE
    elif len(cells) == 1:
        verdict = Verdict.FOUND
    else:
        verdict = Verdict.HIGHER if are_apart(gaps[best], gaps[worst], compared=len(cells)) else Verdict.UNCLEAR
    return Finding(
        kind="parallel_cosine",
        verdict=verdict,
        about={"best": best, "worst": worst, "pairs": len(cells), "when": geometry.state_title(state),
               "names": geometry.names},
        estimate=cells[best],
        compared_with=cells[worst],
        basis=extremes_basis(len(cells)),
    )  # fmt: skip


def extremes_basis(count: int) -> Basis:
    """How the best and the worst of several numbers are compared."""
    return Basis(over="items", test="z test of the two extremes", correction="Bonferroni", compared=count * (count - 1))


@sentence_of("parallel_cosine", topic="Cosine of translations")
def _(finding: Finding) -> str:
    about, when = finding.about, finding.about["when"]
    best, worst = (
        f"{language_name(one, about)}–{language_name(other, about)} ({format_number(each.value, 3)}; different "
        f"entities {format_number(each.null_value, 3)})"
        for (one, other), each in ((about["best"], finding.estimate), (about["worst"], finding.compared_with))
        if each is not None
    )
    match finding.verdict:
        case Verdict.AT_CHANCE:
            where = f": {best}" if about["pairs"] == 1 else f", in any pair of languages: from {best} to {worst}"
            return f"Parallel entities are not closer than different entities {when}{where}."
        case Verdict.FOUND:
            return f"Parallel entities are closer than different entities {when}: {best}."
        case Verdict.UNCLEAR:
            return (
                f"No pair of languages stands out by the cosine of parallel entities {when}: {best} and {worst} are "
                "no further apart than the extremes of equal pairs."
            )
        case _:
            return f"Parallel entities stand out from different entities most in {best} and least in {worst}, {when}."


def standard_error(estimate: Estimate) -> float | None:
    """The standard error of a mean over seeds: that of the sentences, which all seeds share, and that of the seeds."""
    records = estimate.records
    bounds = [(record.ci_low, record.ci_high) for record in records]
    if not bounds or any(end is None for both in bounds for end in both):
        return None
    width = fmean(high - low for low, high in bounds if low is not None and high is not None)
    of_seeds = variance([record.value for record in records]) / len(records) if len(records) > 1 else 0.0
    return math.sqrt((width / 2 / Z95) ** 2 + of_seeds)


def are_apart(one: tuple[float, float | None], other: tuple[float, float | None], *, compared: int) -> bool:
    """Whether the extremes of several numbers, each with its error, differ: by Bonferroni over all pairs of them.

    The extremes of many equal numbers lie apart: of 110 with one error, further than two 95 % intervals reach.
    """
    if one[1] is None or other[1] is None:
        return False
    limit = -float(special.ndtri(0.05 / (compared * (compared - 1))))
    return abs(one[0] - other[0]) > limit * math.hypot(one[1], other[1])


def find_errors(geometry: EntityGeometry) -> Finding | None:
    """Errors in other languages than that of training; of pairs at chance no best and no worst is named."""
    others = {pair: estimate for pair, estimate in geometry.errors.items() if pair[0] != pair[1]}
    if not others:
        return None
    lost = [pair for pair, each in others.items() if each.ci_high is None or each.ci_high >= (each.null_value or 0.0)]
    rest = {pair: estimate for pair, estimate in others.items() if pair not in lost}
    within = mean_error(geometry.errors, same=True)
    about: dict[str, Any] = {
        "pairs": len(others),
        "at_chance": [(pair, others[pair].value, others[pair].null_value) for pair in lost],
        "within": None if within is None else within.value,
        "listed": [(pair, others[pair].value) for pair in rest] if len(others) < 3 else [],
        "names": geometry.names,
    }
    if len(others) < 3 or not rest:  # Of two there is no best: they differ by chance at least.
        verdict = Verdict.NOT_TESTED if rest else Verdict.AT_CHANCE
        return Finding(kind="cross_lingual_errors", verdict=verdict, about=about)
    best, worst = (pick(rest, key=lambda pair: rest[pair].value) for pick in (min, max))
    errors = {pair: (rest[pair].value, standard_error(rest[pair])) for pair in rest}
    clear = len(rest) > 1 and are_apart(errors[best], errors[worst], compared=len(rest))
    # Others may be as good: the lowest of many is not alone.
    tied = [pair for pair in rest if pair != best and not are_apart(errors[best], errors[pair], compared=len(rest))]
    return Finding(
        kind="cross_lingual_errors",
        verdict=Verdict.LOWER if clear else Verdict.UNCLEAR,
        about={**about, "best": best, "worst": worst, "tied": len(tied) if clear else 0},
        estimate=rest[best],
        compared_with=rest[worst],
        basis=extremes_basis(len(rest)) if len(rest) > 1 else Basis(),
    )


@sentence_of("cross_lingual_errors", topic="Errors in other languages")
def _(finding: Finding) -> str:
    about, at_chance = finding.about, finding.about["at_chance"]

    def worded(pair: Sequence[str], value: float, chance: float | None = None) -> str:
        level = "" if chance is None else f", chance level {format_share(chance)}"
        source, target = (language_name(code, about) for code in pair)
        return f"{source} to {target} ({format_share(value)} wrong{level})"

    within = "" if about["within"] is None else (
        f" In the language of training {format_share(about['within'])} are wrong."
    )  # fmt: skip
    lost = "; ".join(worded(*each) for each in at_chance[:MAX_NAMED_PAIRS])
    lost += " and others" if len(at_chance) > MAX_NAMED_PAIRS else ""
    if finding.verdict is Verdict.AT_CHANCE:
        pairs = f"all {len(at_chance)} pairs of languages are" if len(at_chance) > 1 else "the only pair is"
        return f"Nothing is transferred to another language: {pairs} no better than chance: {lost}.{within}"
    if finding.verdict is Verdict.NOT_TESTED:
        return f"From {'; from '.join(worded(*each) for each in (*about['listed'], *at_chance))}.{within}"
    also = f" No better than chance: {len(at_chance)} of {about['pairs']} pairs ({lost})." if at_chance else ""
    assert finding.estimate is not None
    assert finding.compared_with is not None
    best = worded(about["best"], finding.estimate.value)
    worst = worded(about["worst"], finding.compared_with.value)
    if finding.verdict is Verdict.UNCLEAR:
        if about["best"] == about["worst"]:
            return f"Better than chance only from {best}.{within}{also}"
        return f"No pair of languages is clearly better than another: from {best} to {worst}.{within}{also}"
    equal = f", {pluralize(about['tied'], 'other pair')} not clearly worse" if about["tied"] else ""
    least = "highest above chance" if at_chance else "highest"
    return f"Errors are lowest from {best}{equal} and {least} from {worst}.{within}{also}"


def find_spelling(geometry: EntityGeometry) -> Finding | None:
    """Whether errors go with the spelling distance of names, over pairs of languages (Mantel)."""
    relation = geometry.spelling
    if relation is None:
        return None
    return Finding(
        kind="errors_and_spelling",
        verdict=judge_sign(relation.rho.sign),
        about={
            "rho": vars(relation.rho),
            "within": None if relation.within is None else vars(relation.within),
            "left_out": list(relation.left_out),
            "names": geometry.names,
        },
        estimate=Estimate(value=relation.rho.value, ci_low=relation.rho.low, ci_high=relation.rho.high),
        basis=Basis(over="languages", test="Mantel"),
    )


@sentence_of("errors_and_spelling", topic="Errors and spelling")
def _(finding: Finding) -> str:
    about = finding.about
    start = {
        Verdict.HIGHER: "Errors are more frequent between languages that spell names differently",
        Verdict.LOWER: "Errors are less frequent between languages that spell names differently",
    }.get(finding.verdict, "No relation of errors and the spelling distance of names is shown")
    sentence = f"{start}: {association_sentence(Association(**about['rho']))}"
    if about["within"]:
        sentence += f" With the script held constant: {association_sentence(Association(**about['within']))}"
    if about["left_out"]:
        names = join_with_and([language_name(code, about) for code in about["left_out"]])
        sentence += f" Without {names}, where the task was not learnt."
    return sentence


def find_groups(geometry: EntityGeometry) -> Finding | None:
    """Whether languages form groups that change together in fine-tuning: a clustering cuts any matrix in two.

    Where all correlations are high, even across the cut, no group can be claimed: all languages change together.
    """
    groups = geometry.groups
    if groups is None:
        return None
    matrix, pairs, member = groups.matrix, groups.pairs, groups.groups

    def ends(values: Iterable[float]) -> list[float] | None:
        known = list(values)
        return [min(known), max(known)] if known else None

    values = ends(matrix[i][j] for i, j in pairs)
    about: dict[str, Any] = {
        "range": values,
        "null_range": ends(groups.null[i][j] for i, j in pairs),
        "across": ends(matrix[i][j] for i, j in pairs if member[i] != member[j]),
        "within": ends(matrix[i][j] for i, j in pairs if member[i] == member[j]),
        "pairs": len(pairs),
        "groups": [[groups.languages[at] for at in range(len(member)) if member[at] == group]
                   for group in sorted(set(member))],
        "above_null": None if groups.p is None else sum(groups.p[i][j] < 0.05 for i, j in pairs),
        "names": geometry.names,
    }  # fmt: skip
    distinct = len(groups.languages) > 2 and values is not None and values[0] <= MIN_GROUP_CORRELATION
    # No test of the cut was made, so groups are reported and never claimed.
    return Finding(kind="curve_groups", verdict=Verdict.NOT_TESTED if distinct else Verdict.UNCLEAR, about=about)


@sentence_of("curve_groups", topic="Languages that change together")
def _(finding: Finding) -> str:
    about = finding.about

    def ends(name: str) -> str:
        low, high = (format_number(value) for value in about[name])
        return low if low == high else f"{low} to {high}"

    names = [[language_name(code, about) for code in group] for group in about["groups"]]
    if about["pairs"] == 1:  # Two are cut into two groups whatever they do.
        both = join_with_and([name for group in names for name in group])
        return (
            f"The spaces of {both} change with r = {ends('range')} during fine-tuning; curves shifted in time give "
            f"{ends('null_range')}."
        )
    numbers = f"r = {ends('range')}, curves shifted in time {ends('null_range')}"
    if about["above_null"] is not None:
        numbers += (
            f"; {about['above_null']} of {about['pairs']} pairs are above 95 % of the shifts, by chance about "
            f"{format_number(0.05 * about['pairs'], 1)}"
        )
    if finding.verdict is Verdict.UNCLEAR:
        start = "Groups cannot be distinguished: the spaces of all languages change together during fine-tuning"
        return f"{start} ({numbers})."
    cut = " | ".join(", ".join(group) for group in names)
    sides = f"; r = {ends('across')} across" if about["across"] else ""
    sides += f", {ends('within')} within" if about["within"] else ""
    return (
        f"A clustering of the changes during fine-tuning divides {cut}{sides}. A clustering divides any matrix; the "
        f"division was not tested ({numbers})."
    )


def findings(geometry: EntityGeometry) -> list[Finding]:
    """All findings, in the order in which they are read; what failed comes first."""
    errors = find_errors(geometry)
    found = [find_failed_trainings(geometry)]
    if errors is not None and errors.verdict is Verdict.AT_CHANCE:
        found.append(errors)
    found += [find_purity(geometry, label) for label in LABELS]
    found.append(find_cosines(geometry))
    if errors is not None and errors.verdict is not Verdict.AT_CHANCE:
        found.append(errors)
    found += [find_spelling(geometry), find_groups(geometry)]
    return [finding for finding in found if finding is not None]


# First screen -----------------------------------------------------------------------------------------------------


def headline(run: Run) -> Headline | None:
    """The first screen: what fine-tuning did to neighbours of the same language, and errors by language of training."""
    geometries = read_geometries(run)
    if not geometries:
        return None
    geometry = geometries[0]
    answer = find_effect(geometry)
    about = geometry.about
    rows = about.get("rows") or {}
    size = (
        f"{pluralize(rows['test'], 'test sentence')} and {rows['train']:,} training sentences per language, in "
        if rows.get("test") is not None and rows.get("train") is not None
        else ""
    )
    output = "" if geometry.output is None else f"; layer {geometry.output} is the output, layer 0 the embedding output"
    advice = ""
    if answer.kind == "task_not_learnt":
        advice = f"{TRAIN_LONGER}, in another folder."
    elif len((about.get("settings") or {}).get("seeds") or ()) == 1:
        advice = "Run again with --seeds 3 to see how much errors differ between fine-tunings."
    # The answer is not repeated below itself.
    label = answer.about.get("label", "")
    listed = [finding for finding in findings(geometry)
              if finding.kind != answer.kind and finding.about.get("label") != label]  # fmt: skip
    return Headline(
        title=f"What fine-tuning on NER does to {model_name(about.get('model', ''))}’s space",
        answer=answer,
        figures=tuple(key_figures(geometry)),
        measured=f"{size}{pluralize(len(geometry.languages), 'language')}{output}.",
        next_step=advice,
        findings=(*listed, *(finding for other in geometries[1:] for finding in findings(other))),
    )


def key_figures(geometry: EntityGeometry) -> Iterator[KeyFigure]:
    """Purity by language and by type, errors in the language of training, errors elsewhere."""
    for label in LABELS:
        purities = geometry.purities(label)
        if shown := purities.get(AFTER) or purities.get(BEFORE):
            before = f"{format_share(purities[BEFORE].value)} before, " if len(purities) > 1 else ""
            beyond = "" if is_above_null(shown) else ", not above it"
            remark = f"{before}chance level {format_share(shown.null_value)}{beyond}"
            yield KeyFigure(label=f"neighbours with the same {label}", estimate=shown, remark=remark)
    if geometry.states == (BEFORE,):
        lost = next(each for each in geometry.failed if each.language == geometry.source)
        own = geometry.all_errors.get((geometry.source, geometry.source))
        remark = f"not learnt: chance level {format_share(lost.chance)}"
        yield KeyFigure(label=f"wrong sentences in {geometry.name(geometry.source)}", estimate=own, remark=remark)
    elif (within := mean_error(geometry.errors, same=True)) is not None:
        yield KeyFigure(label="wrong sentences in the language of training", estimate=within)
    if (elsewhere := mean_error(geometry.errors, same=False)) is not None:
        yield KeyFigure(label="wrong sentences in other languages", estimate=elsewhere)


# Sections ---------------------------------------------------------------------------------------------------------


def sections(run: Run) -> list[Section]:
    """The sections of every geometry table: errors, maps, clusters, cosines, training, groups, spelling."""
    makers = (errors_section, maps_section, clusters_section, cosine_section, training_section, groups_section,
              spelling_section, tokens_section)  # fmt: skip
    found = (maker(geometry) for geometry in read_geometries(run) for maker in makers)
    return [section for section in found if section is not None]


def errors_section(geometry: EntityGeometry) -> Section | None:
    """Whether the task was learnt, and errors by language of training and of test."""
    if not geometry.all_errors:
        return None
    trained = [code for code in geometry.trained_languages if any(one == code for one, _ in geometry.errors)]
    matrix = HeatMap(
        name="error-matrix",
        title="Errors by language of training and of test",
        note="Rows: trained on. Columns: tested on. Lower is better.",
        rows=tuple(map(geometry.name, trained)),
        columns=tuple(map(geometry.name, geometry.languages)),
        cells=tuple(tuple(geometry.errors.get((one, other)) for other in geometry.languages) for one in trained),
        scale="wrong sentences",
    )
    has_matrix = len(geometry.languages) >= MIN_HEAT_MAP_LANGUAGES and len(trained) > 1
    return section_of_parts(
        (find_failed_trainings(geometry), find_errors(geometry), error_intervals(geometry),
         matrix if has_matrix else None, error_table(geometry)),
        name="errors",
        title=geometry.titled("Errors by language of training"),
        text=(
            "An error is a test sentence with at least one wrong tag. The chance level is the lower of two shares: of "
            "the model’s own answers assigned to other sentences, and of no word tagged. A fine-tuning learnt the task "
            "if its 95 % interval lies below the chance level in the language of training.",
        ),
        terminal=True,
    )  # fmt: skip


def error_intervals(geometry: EntityGeometry) -> IntervalChart:
    """Each fine-tuning's errors in its language of training with the chance level, and in other languages."""
    rows = []
    for code in geometry.trained_languages:
        own = geometry.all_errors.get((code, code))
        seeds = () if own is None else tuple((record.value, (record,)) for record in own.records)
        others = tuple((e.value, e.records) for (a, b), e in geometry.errors.items() if a == code != b)
        elsewhere = mean_error(geometry.errors, same=False, language=code)
        for group, mean, dots in (("language of training", own, seeds if len(seeds) > 1 else ()),
                                  ("other languages", elsewhere, others)):  # fmt: skip
            if mean is not None or group == "language of training":
                rows.append(IntervalRow(label=geometry.name(code), group=group, estimate=mean, dots=dots,
                                        reference=None if mean is None else mean.null_value))  # fmt: skip
    return IntervalChart(
        name="error-intervals",
        title="Errors in the language of training and in others",
        note="Rows: language of training. Means with 95 % intervals, lower is better; crosses are chance levels; "
        "faint dots are seeds, or the other languages.",
        x=Axis(title="wrong sentences", display="percent", zero=True),
        rows=tuple(rows),
    )


def error_table(geometry: EntityGeometry) -> Table:
    """Errors of all fine-tunings, also of those that did not learn the task, which are marked."""
    failed = {each.language for each in geometry.failed}
    rows: dict[str, tuple[Cell, ...]] = {}
    for code in geometry.trained_languages:
        cells = [geometry.all_errors.get((code, other)) for other in geometry.languages]
        own = geometry.all_errors.get((code, code))
        others = mean_error(geometry.all_errors, same=False, language=code)
        name = f"{geometry.name(code)} (not learnt)" if code in failed else geometry.name(code)
        rows[name] = (*cells, others, None if own is None else own.null_value)
    return matrix_table(
        [*map(geometry.name, geometry.languages), "others", "chance"],
        rows,
        "percent",
        name="errors-by-language",
        title="Wrong sentences by language of training (rows) and of test",
        note=f"Share of test sentences with a wrong tag ({PAPER}, §4.2, counts them). “Others” leaves out the language "
        "of training. No name or context of the test sentences was in training.",
        terminal=True,
    )


def matrix_table(columns: Iterable[str], rows: Mapping[str, Sequence[Cell]], display: Display, **fields: Any) -> Table:
    """A table with a row per language, whose name is its first cell."""
    heads = (Column(title=title, display=display, interval=True) for title in columns)
    cells = tuple((row, *own) for row, own in rows.items())
    return Table(columns=(Column(title="language"), *heads), rows=cells, **fields)


def symmetric_cells(
    languages: Sequence[str], cells: Mapping[tuple[str, str], Estimate]
) -> tuple[tuple[Estimate | None, ...], ...]:
    """Cells of pairs that are stored once, both ways round."""
    return tuple(tuple(cells.get((a, b)) or cells.get((b, a)) for b in languages) for a in languages)


def pair_matrix(
    geometry: EntityGeometry,
    codes: Sequence[str],
    pairs: Mapping[tuple[str, str], Estimate],
    *,
    name: str,
    title: str,
    note: str,
    scale: str,
    ends: tuple[float, float] | None = None,
) -> HeatMap | Table:
    """Pairs of languages that are stored once: a heat map, of fewer than five languages a table."""
    names, cells = tuple(map(geometry.name, codes)), symmetric_cells(codes, pairs)
    if len(codes) < MIN_HEAT_MAP_LANGUAGES:
        rows = dict(zip(names, cells, strict=True))
        return matrix_table(names, rows, "decimal3", name=name, title=title, note=note)
    low, high = ends or (None, None)
    return HeatMap(name=name, title=title, note=note, rows=names, columns=names, cells=cells, scale=scale,
                   display="number", low=low, high=high, diverging=low is not None and low < 0)  # fmt: skip


def maps_section(geometry: EntityGeometry) -> Section | None:
    """Maps of the entities, before and after, with two or three languages highlighted at a time."""
    return section_of_parts(
        map_menus(geometry, [each for each in geometry.maps if each["state"] in geometry.states]),
        name="maps",
        title=geometry.titled("Maps of entities"),
        text=(
            "Every mark is a name in its sentence: the mean vector of its sub-tokens. All maps show the same entities. "
            "A projection to two dimensions can show clusters that do not exist and hide some that do; the numbers "
            "below each map are computed on the vectors.",
        ),
    )


def clusters_section(geometry: EntityGeometry) -> Section | None:
    """Neighbours by language and by type, layer by layer, before and after."""
    makers = (find_purity, purity_chart)
    return section_of_parts(
        [*(maker(geometry, label) for maker in makers for label in LABELS), cluster_table(geometry)],
        name="clusters",
        title=geometry.titled("By language or by type?"),
        text=(
            "Purity is the share of an entity’s 10 nearest neighbours by cosine that have the same label, of the test "
            "sentences. Layer 0 is the embedding output.",
        ),
        terminal=True,
    )


def state_chart(
    geometry: EntityGeometry, layers: Mapping[str, Mapping[Any, Estimate]], null: str, **fields: Any
) -> LineChart | None:
    """Lines over layers of the states that were measured, with their null values (one line where they are equal)."""
    shown = {state: own for state, own in layers.items() if own}
    references = {
        tuple(each.null_value for each in own.values()): null.format(state=state) for state, own in shown.items()
    }
    return LineChart(
        x=Axis(title="layer", display="count"),
        lines=tuple(
            Line(name=geometry.state_title(state), x=tuple(own), y=tuple(own.values()),
                 color=(BEFORE, AFTER).index(state), dashed=state == AFTER)
            for state, own in shown.items()
        ),
        references=tuple(ReferenceLine(label=label, values=values) for values, label in references.items()),
        **fields,
    ) if shown else None  # fmt: skip


def purity_chart(geometry: EntityGeometry, label: str) -> LineChart | None:
    """Purity by layer, a line per state."""
    return state_chart(
        geometry,
        {
            state: geometry.clusters("purity", label, state, geometry.sets[0])
            for state in geometry.states
            if geometry.sets
        },
        "chance level",
        name=f"purity-{label}",
        title=f"Neighbours with the same {label}",
        note="Bands are 95 % intervals; dotted lines are chance levels.",
        y=Axis(title="share of the 10 nearest neighbours", display="percent", zero=True),
    )


def cluster_table(geometry: EntityGeometry) -> Table | None:
    """Silhouette and purity at the embedding output and at the output, before and after."""
    rows: list[tuple[Cell, ...]] = []
    for corpus, label, metric in product(geometry.sets, LABELS, ("purity", "silhouette")):
        sides = [geometry.clusters(metric, label, state, corpus) for state in (BEFORE, AFTER)]
        for layer in dict.fromkeys((0, geometry.output)):
            cells = [side.get(layer) for side in sides]
            if known := [cell for cell in cells if cell is not None]:
                null = None if cells[0] is None else cells[0].null_value
                rows.append((entity_set_title(corpus), f"{metric} by {label}", layer, *cells, null, known[0].n))
    numbers = ("before", "after (not learnt)" if geometry.states == (BEFORE,) else "after")
    return Table(
        name="cluster-numbers",
        title="How entities cluster",
        note="Computed on the vectors, not on the maps. Chance: labels assigned at random, before fine-tuning.",
        columns=(Column(title="entities"), Column(title="measure"), Column(title="layer", display="count"),
                 *(Column(title=title, interval=True, display="number") for title in numbers),
                 Column(title="chance", display="number"), Column(title="n", display="count")),
        rows=tuple(rows),
    ) if rows else None  # fmt: skip


def entity_set_title(corpus: str) -> str:
    """What a set of entities is called."""
    return "test sentences" if corpus == "test" else f"sentences {escape_control_characters(corpus)}"


def cosine_section(geometry: EntityGeometry) -> Section | None:
    """The cosine of parallel entities: by layer, and of every pair of languages at the output."""
    tables = tuple(cosine_tables(geometry))
    lines = (cosine_lines(geometry, centering) for centering in CENTERINGS)
    return section_of_parts(
        (find_cosines(geometry), *lines, cosine_heat_maps(geometry), *tables),
        name="cosines",
        title=geometry.titled("Cosine of translations"),
        text=(
            "The mean cosine of an entity and its translation in the same sentence. In an anisotropic space, different "
            "entities have nearly the same cosine: only the part above it means anything.",
        ),
    )


def cosine_lines(geometry: EntityGeometry, centering: str) -> LineChart | None:
    """The mean over pairs of languages by layer, with that of different entities (the anisotropy of the space)."""
    cells = {state: geometry.cosines(state, geometry.sets[0], centering) for state in geometry.states if geometry.sets}
    return state_chart(
        geometry,
        {
            state: {layer: mean_estimate(own.values()) for layer, own in layers.items()}
            for state, layers in cells.items()
        },
        "different entities, {state}",
        name=f"cosine-layers-{centering}",
        title=f"Cosine of translations, {CENTERINGS[centering]}",
        note="Means over all pairs of languages. Dotted lines: pairs of different entities, which show how "
        "anisotropic the space is.",
        y=Axis(title="mean cosine", display="number"),
    )


def cosine_heat_maps(geometry: EntityGeometry) -> ChartMenu | None:
    """The pairs of languages at the output, chosen by state, set and centring; from five languages on."""
    if len(geometry.languages) < MIN_HEAT_MAP_LANGUAGES or geometry.output is None:
        return None
    charts: dict[tuple[str, ...], Chart] = {}
    for state, corpus, (centering, title) in product(geometry.states, geometry.sets, CENTERINGS.items()):
        chart = pair_matrix(
            geometry,
            geometry.languages,
            geometry.cosines(state, corpus, centering).get(geometry.output, {}),
            name="cosine-matrix",
            title=f"Cosine of translations {geometry.state_title(state)}, {title}",
            note=f"Layer {geometry.output}, the output; {entity_set_title(corpus)}.",
            scale="mean cosine",
        )
        if isinstance(chart, HeatMap) and any(map(any, chart.cells)):
            charts[geometry.state_title(state), entity_set_title(corpus), title] = chart
    return ChartMenu.of("cosine-menu", ("Model", "Entities", "Vectors"), charts) if charts else None


def cosine_tables(geometry: EntityGeometry) -> Iterator[Table]:
    """Every pair of languages at the output, a table per set and state, with the cosine of different entities."""
    for corpus, state in product(geometry.sets, (BEFORE, AFTER)):
        cells = geometry.cosines(state, corpus).get(geometry.output or 0)
        if not cells:
            continue
        rows: dict[str, tuple[Cell, ...]] = {}
        for code, row in zip(geometry.languages, symmetric_cells(geometry.languages, cells), strict=True):
            nulls = [cell.null_value for cell in row if cell is not None and cell.null_value is not None]
            rows[geometry.name(code)] = (*row, max(nulls, default=None))
        lost = "" if state in geometry.states else " (task not learnt)"
        yield matrix_table(
            [*map(geometry.name, geometry.languages), "different entities"],
            rows,
            "decimal3",
            name=f"cosine-{'test' if corpus == 'test' else 'about'}-{state}",
            title=f"Cosine of translations {geometry.state_title(state)}{lost}, {entity_set_title(corpus)}",
            note=f"Layer {geometry.output}, the output ({PAPER}, Table 2). Different entities: the largest mean cosine "
            "of pairs of different entities of the row’s language.",
        )


def training_section(geometry: EntityGeometry) -> Section | None:
    """What was measured while the model was fine-tuned, a line per language."""
    lost = {(each.language, each.seed) for each in geometry.failed}
    curves: dict[tuple[str, str, str], tuple[Sequence[int], Sequence[float], Record]] = {}
    for record in geometry.records:
        if record.measure == "similarity" and (record.source, record.seed) not in lost:
            key = (record.metric, str(record.source), str(record.target))
            curves.setdefault(key, (record.details["steps"], record.details["values"], record))  # The first seed's.
    for source, change in geometry.changes.items():
        for code, values in change["lines"].items():
            if ("cosine", source, code) in curves:
                curves["change", source, code] = (change["steps"], values, curves["cosine", source, code][2])
    trained = [code for code in geometry.languages if any(source == code for _, source, _ in curves)]
    trained.sort(key=lambda code: code != geometry.source)
    choices = highlights(geometry.languages, geometry.source, geometry.name)
    charts: dict[tuple[str, ...], Chart] = {}
    for source, (metric, (title, axis, note)) in product(trained, CURVES.items()):
        own = {code: curve for (kind, one, code), curve in curves.items() if (kind, one) == (metric, source)}
        over = f", over {geometry.groups.span} steps" if metric == "change" and geometry.groups else ""
        for choice, chosen in choices.items() if own else ():
            charts[f"trained on {geometry.name(source)}", title, choice] = LineChart(
                name="training",
                title=f"{title} while training on {geometry.name(source)}",
                note=f"{note}{over}.",
                x=Axis(title="step", display="count"),
                y=Axis(title=axis, display="decimal3"),
                lines=tuple(training_lines(geometry, own, chosen)),
            )
    return section_of_parts(
        [ChartMenu.of("training-menu", ("Model", "Measure", "Highlight"), charts) if charts else None],
        name="training",
        title=geometry.titled("During fine-tuning"),
        text=(
            "Each language’s space while the model is trained on one of them, on a fixed sample of test sentences. Of "
            "several seeds the first is drawn.",
        ),
    )


def training_lines(geometry: EntityGeometry, curves: Mapping[str, Any], chosen: Sequence[str]) -> Iterator[Line]:
    """A line per language; those that are not highlighted are grey and come first."""
    for code in sorted(curves, key=lambda code: (code in chosen, chosen.index(code) if code in chosen else 0)):
        steps, values, record = curves[code]
        color = chosen.index(code) if code in chosen else GREY
        estimates = tuple(Estimate(value=value, records=(record,)) for value in values)
        yield Line(name=geometry.name(code), x=tuple(steps), y=estimates, color=color)


def groups_section(geometry: EntityGeometry) -> Section | None:
    """How the changes of languages correlate."""
    groups = geometry.groups
    if groups is None:
        return None
    codes, lowest = groups.languages, min(groups.matrix[i][j] for i, j in groups.pairs)
    near = lowest > MIN_GROUP_CORRELATION  # From -1 to 1 all cells would have one colour.
    matrix = pair_matrix(
        geometry,
        [codes[at] for at in groups.order],
        {
            (codes[i], codes[j]): Estimate(value=groups.matrix[i][j], null_value=groups.null[i][j])
            for i, j in groups.pairs
        },
        name="correlation-matrix",
        title="Correlations of the changes during fine-tuning",
        note=f"Pearson’s r of the changes over {groups.span} steps, all fine-tunings concatenated ({PAPER}, Fig. 4); "
        f"languages in the order of the clustering.{' All are high: the scale begins at the lowest.' if near else ''}",
        scale="Pearson’s r",
        ends=(lowest if near else -1.0, 1.0),
    )
    return section_of_parts(
        (find_groups(geometry), matrix),
        name="groups",
        title=geometry.titled("Languages that change together"),
        text=("Short fine-tunings give high correlations by chance, and a clustering divides any matrix.",),
    )


def spelling_section(geometry: EntityGeometry) -> Section | None:
    """Errors against the spelling distance of names."""
    relation, distances = geometry.spelling, geometry.spelling_distances()
    matrix = pair_matrix(
        geometry,
        [code for code in geometry.languages if any(code in pair for pair in distances)],
        distances,
        name="spelling-matrix",
        title="Spelling distance of names (TNLD)",
        note="TNLD: edit distance after transliteration into Latin letters, over the longer length; 0 is equal. Means "
        "over the names of the test sentences.",
        scale="TNLD",
    )
    scatter = None if relation is None else spelling_scatter(geometry, relation)
    return section_of_parts(
        (find_spelling(geometry), scatter, matrix if distances else None),
        name="spelling",
        title=geometry.titled("Errors and spelling"),
    )


def spelling_scatter(geometry: EntityGeometry, relation: SpellingRelation) -> ScatterChart:
    """A dot per ordered pair of languages, by whether they share a script."""
    across, up = ([float(point[key]) for point in relation.points] for key in ("tnld", "wrong"))
    trend = fit_trend_of_pairs(across, up, relation.rho)
    dots = []
    for point in relation.points:
        one, other = str(point["source"]), str(point["target"])
        estimate = geometry.errors.get((one, other))
        same = script(one) == script(other) if is_language(one) and is_language(other) else True
        dots.append(Dot(label=f"{one}→{other}", x=point["tnld"], y=point["wrong"], color=0 if same else 1,
                        records=() if estimate is None else estimate.records,
                        detail=f"trained on {geometry.name(one)}, tested on {geometry.name(other)}"))  # fmt: skip
    return ScatterChart(
        name="errors-spelling",
        title="Errors against the spelling distance of names",
        note=f"A dot per pair of languages ({PAPER}, Fig. 5). Pairs share languages: p is Mantel’s, from permuted "
        f"languages, and the interval a jackknife over languages. {trend.text}",
        x=Axis(title="spelling distance of names (TNLD)", display="number"),
        y=Axis(title="wrong sentences", display="percent", zero=True),
        dots=tuple(dots),
        groups=("same script", "different scripts"),
        labels=len(dots) <= 30,
        trend=trend.line,
    )


def tokens_section(geometry: EntityGeometry) -> Section | None:
    """How the tokenizer splits the name that is followed, in every language."""
    rows = tuple(
        (geometry.name(code), len(parts), " ".join(map(escape_control_characters, parts)))
        for code, parts in (geometry.about.get("pieces") or {}).items()
    )
    title = f"How the tokenizer splits {escape_control_characters(str(geometry.about.get('about')))}"
    columns = (Column(title="language"), Column(title="pieces", display="count"), Column(title="split"))
    table = Table(name="pieces", title=title, note=f"Sub-tokens ({PAPER}, §3.2).", columns=columns, rows=rows)
    return section_of_parts([table if rows else None], name="tokens", title=geometry.titled(title), folded=True)


# Comparison -------------------------------------------------------------------------------------------------------


def numbers(run: Run) -> dict[str, ComparedNumber]:
    """Neighbours, silhouette and cosines at the output before and after, and errors by language of training.

    Errors in other languages are a mean over them, as the cosine is over pairs. What was fine-tuned has its number of
    seeds, and there are no numbers of the model after a fine-tuning that did not learn the task.
    """
    return {
        f"{geometry.title}: {name}" if geometry.title else name: number
        for geometry in read_geometries(run)
        for name, number in (*space_numbers(geometry), *error_numbers(geometry))
    }


def space_numbers(geometry: EntityGeometry) -> Iterator[tuple[str, ComparedNumber]]:
    """What was measured on the entities of the test part at the output."""
    if not geometry.sets or geometry.output is None:
        return
    measures: tuple[tuple[str, str, Display], ...] = (
        ("purity", "neighbours with the same", "percent"),
        ("silhouette", "silhouette by", "number"),
    )
    for state in geometry.states:
        seeds = 1 if state == AFTER else None
        for (metric, title, display), label in product(measures, LABELS):
            estimate = geometry.clusters(metric, label, state, geometry.sets[0]).get(geometry.output)
            if estimate is not None:
                number = ComparedNumber.of(estimate, display=display, trained_seeds=seeds)
                yield f"{title} {label}, {state}", number
        if cells := geometry.cosines(state, geometry.sets[0]).get(geometry.output):
            mean = mean_estimate(cells.values())
            yield f"cosine of translations, {state}", ComparedNumber.of(mean, display="decimal3", trained_seeds=seeds)


def error_numbers(geometry: EntityGeometry) -> Iterator[tuple[str, ComparedNumber]]:
    """Errors by language of training; a mean that holds a model that did not learn is at chance."""
    failed = {each.language for each in geometry.failed}
    places = (("in that language", True), ("in other languages", False))
    for code, (where, same) in product(geometry.trained_languages, places):
        if (mean := mean_error(geometry.all_errors, same=same, language=code)) is not None:
            name = f"wrong sentences, trained on {geometry.name(code)}, {where}"
            yield name, count_seeds(mean, at_chance=code in failed)


def count_seeds(estimate: Estimate, *, at_chance: bool) -> ComparedNumber:
    """The number of models behind an estimate; of several its interval is at least that over seeds."""
    by_seed: dict[int | None, list[float]] = {}
    for record in estimate.records:
        by_seed.setdefault(record.seed, []).append(record.value)
    low, high = estimate.ci_low, estimate.ci_high
    if len(by_seed) > 1 and low is not None and high is not None:
        ends = mean_interval(np.array([np.mean(values) for values in by_seed.values()]))
        low, high = min(low, ends[0]), max(high, ends[1])
    widened = replace(estimate, ci_low=low, ci_high=high)
    return ComparedNumber.of(widened, display="percent", trained_seeds=len(by_seed), at_chance=at_chance)


SUBJECT = Subject(
    name="geometry",
    applies=lambda run: run.kind == "geometry" or bool(read_geometries(run)),
    sections=sections,
    headline=headline,
    numbers=numbers,
)
