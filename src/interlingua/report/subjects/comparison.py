"""Several runs side by side: what differs between them, tested item by item where they measured the same items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from interlingua.analyses.seed_statistics import RegimeScore
from interlingua.record import Difference, Estimate, Record, RecordTable
from interlingua.report.kit.chart import (
    Axis,
    Dot,
    HeatMap,
    IntervalChart,
    IntervalRow,
    LineChart,
    ReferenceLine,
    ScatterChart,
)
from interlingua.report.kit.evidence import fit_trend, is_above_null
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import ComparedNumber, Headline, KeyFigure, Run, Section, escape_texts
from interlingua.report.kit.table import Cell, Column, Table, columns_of, group_by
from interlingua.report.kit.wording import (
    Display,
    difference_display,
    format_chance,
    format_value,
    join_with_and,
    language_name,
    model_name,
    pluralize,
)
from interlingua.report.report import (
    Report,
    describe_setting,
    provenance_section,
    run_numbers,
    run_sections,
    with_unique_names,
)
from interlingua.report.subjects.layers import declared_metric, layer_lines
from interlingua.report.subjects.seeds import metric_of
from interlingua.stats import paired_difference

MIN_HEAT_MAP_LANGUAGES = 5
MIN_COMMON_LANGUAGES = 3
"""Fewer languages than these do not show how alignment goes with transfer."""
MAX_NAMED_NUMBERS = 6
MAX_LABEL_SETTINGS = 2
MAX_LABEL = 12
"""Letters of a setting that may stand in a run's name: a list of languages or measures says less than the folder."""
NOT_SETTINGS = frozenset(
    ("names", "skipped", "left_out", "trained", "training", "seconds", "created", "metrics", "before", "after", "steps",
     "pieces", "notes", "unfinished", "digests", "versions", "device", "kind", "failed", "schema", "seen")
)  # fmt: skip
"""What a run found out or was made by, which is no setting that a person chose."""
ITEM_MEASURES = ("retrieval", "procrustes")
"""Measures whose value is a mean over sentences that the corpus and the seed alone decide."""
FINE_TUNED_MEASURES = ("pairwise", "similarity", "distances")
TRAINED_STATES = ("adjusted", "fine-tuned", "after")
UNITS = ("sentence", "example", "word", "entity", "name")
CELLS = {
    Verdict.UNCLEAR: "no difference shown", Verdict.NOT_TESTED: "not tested (one seed)",
    Verdict.AT_CHANCE: "at chance in both runs",
}  # fmt: skip
"""A verdict in a cell or a list, where it is not called by its name."""


@dataclass(frozen=True, kw_only=True)
class ComparedRun:
    """A run of a comparison: what it is called there, and the numbers by which it is compared."""

    run: Run
    label: str

    @cached_property
    def numbers(self) -> Mapping[str, ComparedNumber]:
        return {name: normalize_number(number) for name, number in run_numbers(self.run).items()}

    @cached_property
    def settings(self) -> dict[str, str]:
        return flatten_settings(self.run.about)

    def texts(self, number: Estimate) -> set[str]:
        """The digests of what was measured on: of the corpus, of tasks of the test; empty where none is known."""
        digests = {str(r.digests.get("corpus") or r.digests.get("test")) for r in number.records} - {"None"}
        return digests or {str((self.run.about.get("digests") or {}).get("corpus"))} - {"None"}


Measured: TypeAlias = "tuple[ComparedRun, ComparedNumber]"
"""A number with the run that it is of."""


# What is compared --------------------------------------------------------------------------------------------------


def label_runs(runs: Sequence[Run]) -> list[str]:
    """What runs are called: by model, by what differs between runs of one model, and last by folder.

    >>> runs = [Run(kind="audit", about={"model": "m", "rows": rows}, records=RecordTable([])) for rows in (600, 200)]
    >>> label_runs(runs)
    ['m (rows 600)', 'm (rows 200)']
    """
    kinds = len({run.kind for run in runs}) > 1
    labels = []
    subjects = [(run.kind, model_name(_subject_of(run)), flatten_settings(run.about)) for run in runs]
    for kind, model, settings in subjects:
        alike = [other for other_kind, other_model, other in subjects if (other_kind, other_model) == (kind, model)]
        values = {name: {other.get(name, "–") for other in alike} for other in alike for name in other}
        differing = [name for name, texts in values.items() if len(texts) > 1 and len(max(texts, key=len)) <= MAX_LABEL]
        named = [f"{_setting_title(name)} {settings.get(name, '–')}" for name in differing[:MAX_LABEL_SETTINGS]]
        labels.append((model, *[kind] * kinds, *named))
    counts = Counter(labels)
    unique = [
        (*label, run.name or str(at)) if counts[label] > 1 else label
        for at, (run, label) in enumerate(zip(runs, labels, strict=True), 1)
    ]
    return [f"{model} ({', '.join(parts)})" if parts else model for model, *parts in unique]


def _subject_of(run: Run) -> str:
    first = next(iter(run.about.get("models") or ()), "")
    return str(run.about.get("model") or run.about.get("name") or (first if isinstance(first, str) else first[0]))


def flatten_settings(about: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Settings as text, by their keys, without what a run found out; those inside of others with a point between.

    >>> flatten_settings({"seed": 1, "settings": {"learning_rate": 0.1}, "digests": {"corpus": "ab12"}})
    {'seed': '1', 'learning_rate': '0.1'}
    """
    found: dict[str, str] = {}
    for key, value in about.items():
        if key in NOT_SETTINGS or (key == "model" and not before):
            continue
        if isinstance(value, Mapping):
            found |= flatten_settings(value, before if key == "settings" else f"{before}{key}.")
        else:
            found[before + key] = describe_setting(value) or "–"
    return found


def _setting_title(key: str) -> str:
    return key.replace("_", " ").replace(".", ", ")


def normalize_number(number: Estimate) -> ComparedNumber:
    """A number of a subject with how it is shown, which end is better, its trained seeds, and whether it is at chance.

    What the subject does not say is read from the records. At chance is what is no better than its null value,
    whichever end is better; a number of a model as it came has no trained seeds.
    """
    records = number.records
    if isinstance(number, ComparedNumber):
        known = number
    elif isinstance(number, RegimeScore):
        known = ComparedNumber.of(number, display=metric_of(number).display, at_chance=not number.has_learned)
    elif not records or records[0].measure == "task":
        known = ComparedNumber.of(number)
    else:
        known = ComparedNumber.of(number, display=declared_metric(records[0]).display)
    better, at_chance, seeds = known.higher_is_better, known.at_chance, known.trained_seeds
    if better is None:
        better = ComparedNumber.of(number).higher_is_better
    if at_chance is None and better is not None and known.null_value is not None:
        high = known.value if known.ci_high is None else known.ci_high
        at_chance = not is_above_null(known) if better else _has_chance_level(records) and high >= known.null_value
    if seeds is None:
        trained = {record.seed for record in records if _is_trained(record)}
        seeds = len(trained) or (1 if any(record.task is not None for record in records) else None)
    return replace(known, higher_is_better=better, at_chance=bool(at_chance), trained_seeds=seeds)


def _has_chance_level(records: Sequence[Record]) -> bool:
    """Whether the null value is a chance level: an isotropic space or random neighbours are none."""
    null = declared_metric(records[0]).null if records else ""
    return "shuffled" in null or "chance" in null


def _is_trained(record: Record) -> bool:
    """Whether the model of a record was trained by the run, once per seed."""
    return bool(record.regime) or record.state in TRAINED_STATES or record.measure in FINE_TUNED_MEASURES


def _given_models(number: Estimate) -> set[str]:
    """The weights of models that were given, so that one model that is asked in two ways is compared with itself."""
    return {record.digests.get("model", "") for record in number.records if not _is_trained(record)} - {""}


def is_comparable(first: Measured, other: Measured) -> bool:
    """Whether a difference says something of the models: the same text, rows, candidates and pairs.

    The text is the same where the records have one digest of a corpus or, of tasks, of the test. Rows are the same
    where the same pairs have as many, and a measure of a corpus drew or split them by the same seed. What was measured
    on an unknown text is compared with nothing.
    """
    texts = first[0].texts(first[1])
    return bool(texts) and texts == other[0].texts(other[1]) and _rows(first[1]) == _rows(other[1])


def _rows(number: Estimate) -> set[tuple[object, ...]]:
    """The pairs behind a number, each with its rows, and the seed where it decides which rows these are."""
    return {
        (r.source, r.target, r.n, None if r.task or r.measure in FINE_TUNED_MEASURES else r.seed)
        for r in number.records
    } or {(number.n,)}  # fmt: skip


def is_layer_or_count(number: Estimate) -> bool:
    """Whether a number is a layer or a count of candidates, which have no difference."""
    return not number.records and number.ci_low is None and float(number.value).is_integer()


def compare_numbers(name: str, first: Measured, other: Measured) -> Finding:
    """The difference of a number of two runs with its verdict; the paired interval decides where there is one."""
    basis, difference, reason = Basis(), Difference(value=other[1].value - first[1].value), ""
    if not is_comparable(first, other):
        verdict, reason = Verdict.NOT_COMPARABLE, _unlike(first, other)
    elif first[1].at_chance and other[1].at_chance:
        verdict = Verdict.AT_CHANCE
    elif _is_one_seed(first[1], other[1]):
        verdict = Verdict.NOT_TESTED
    elif (paired := paired_numbers(first, other)) is not None:
        difference, basis = paired, Basis(over="items", test="paired difference")
        verdict = _side_of_zero(paired.ci_low, paired.ci_high)
    else:
        basis = Basis(over="items", test="intervals that do not overlap")
        (low, high), (other_low, other_high) = ((each.ci_low, each.ci_high) for each in (first[1], other[1]))
        if low is None or high is None or other_low is None or other_high is None:
            verdict = Verdict.UNCLEAR
        else:
            verdict = _side_of_zero(other_low - high, other_high - low)
    return Finding(
        kind="run_difference",
        verdict=verdict,
        about={
            "number": sentence_form(name),
            "values": [first[1].value, other[1].value],
            "first": first[0].label,
            "other": other[0].label,
            "reason": reason,
            "display": other[1].display,
            "null_value": other[1].null_value,
        },
        estimate=None if verdict is Verdict.NOT_COMPARABLE else difference,
        compared_with=first[1],
        basis=basis,
    )


def _side_of_zero(low: float | None, high: float | None) -> Verdict:
    return Verdict.HIGHER if (low or 0.0) > 0 else Verdict.LOWER if (high or 0.0) < 0 else Verdict.UNCLEAR


def _is_one_seed(first: ComparedNumber, other: ComparedNumber) -> bool:
    models = _given_models(first), _given_models(other)
    is_one_model = models[0] == models[1] and len(models[0]) == 1
    return 1 in (first.trained_seeds, other.trained_seeds) and not is_one_model


def _unlike(first: Measured, other: Measured) -> str:
    """Why two numbers are not compared: `A was measured on 600 sentences, B on 200`."""
    texts = first[0].texts(first[1]), other[0].texts(other[1])
    names = first[0].label, other[0].label
    if not texts[0] or not texts[1]:
        return f"{names[bool(texts[0])]} does not record what it was measured on"
    counts = [number.n or int(run.run.about.get("rows") or 0) for run, number in (first, other)]
    units = {record.unit for record in (*first[1].records, *other[1].records)}
    unit = next(iter(units)) if len(units) == 1 else ""
    unit = unit if unit in UNITS else "item"
    units_text = "entities" if unit == "entity" else f"{unit}s"
    if counts[0] != counts[1]:
        return f"{names[0]} was measured on {pluralize(counts[0], unit, units_text)}, {names[1]} on {counts[1]:,}"
    if texts[0] != texts[1]:
        return f"{names[0]} and {names[1]} were measured on different {units_text}"
    return f"{names[0]} and {names[1]} were not measured on the same rows and pairs of languages"


def paired_numbers(first: Measured, other: Measured) -> Difference | None:
    """The mean difference over the same sentences with its 95 % interval; None where they are not the same.

    They are where each record has a partner in the other run (at whatever layer) with the corpus's digest, the seed and
    the number of rows in common, and both have their items. Bounds are averaged over records, as everywhere.
    """
    ours, theirs = ({_item_key(r): r for r in number.records} for _, number in (first, other))
    sizes = {len(ours), len(first[1].records), len(other[1].records)}
    if not ours or ours.keys() != theirs.keys() or len(sizes) > 1:
        return None
    tests = []
    for key, record in ours.items():
        partner = theirs[key]
        corpora = record.digests.get("corpus"), partner.digests.get("corpus")
        if record.measure not in ITEM_MEASURES or corpora[0] is None or corpora[0] != corpora[1]:
            return None
        before, after = first[0].run.items(record), other[0].run.items(partner)
        if before is None or after is None or before.shape != after.shape or len(before) < 2:
            return None
        hubs = [each.details["hubs"] for each in (record, partner) if each.details.get("hubs")]
        tests.append(paired_difference(after.astype(np.float64) - before, hubs))
    value, low, high, _ = (float(end) for end in np.mean(tests, axis=0))
    # The mean of several tests' p is no p of their mean, so only one pair has one.
    p = float(tests[0][3]) if len(tests) == 1 else None
    return Difference(
        value=value, ci_low=low, ci_high=high, p=p, n=min(first[1].n, other[1].n), records=other[1].records
    )


def _item_key(record: Record) -> tuple[object, ...]:
    options = tuple(sorted(record.options.items()))
    return (record.measure, record.metric, options, record.source, record.target, record.seed, record.n)


def sentence_form(name: str) -> str:
    """What a number is called inside a sentence: without a first capital, unless the word has others.

    >>> sentence_form("Retrieval accuracy (P@1), as is"), sentence_form("CKA, debiased")
    ('retrieval accuracy (P@1), as is', 'CKA, debiased')
    """
    first = name.partition(" ")[0]
    return name[:1].lower() + name[1:] if first[1:].islower() and not first.endswith("’s") else name


def difference_text(finding: Finding) -> str:
    """The size of a difference without its sign, with its interval where it was tested: `3.1 points (1.2 to 5.0)`."""
    difference = finding.estimate
    display = difference_display(finding.about["display"])
    assert difference is not None
    sign = -1 if difference.value < 0 else 1

    def show(value: float) -> str:
        return format_value(sign * value, display).removeprefix("+")

    text = show(difference.value) + (" points" if display == "points" else "")
    if difference.ci_low is None or difference.ci_high is None:
        return text
    return f"{text} ({' to '.join(map(show, sorted((difference.ci_low, difference.ci_high))[::sign]))})"


def chance_text(about: Mapping[str, Any]) -> str:
    """The chance level in brackets; empty where there is none."""
    return f" ({level})" if (level := format_chance(about["null_value"], about["display"])) else ""


@sentence_of("run_difference", topic="Difference")
def _(finding: Finding) -> str:
    about, number = finding.about, finding.about["number"]
    unknown = f"between {about['first']} and {about['other']}"
    match finding.verdict:
        case Verdict.NOT_COMPARABLE:
            return f"Not comparable: {about['reason']} ({number})."
        case Verdict.AT_CHANCE:
            level = chance_text(about)
            return f"No difference can be shown {unknown}: neither is better than chance in {number}{level}."
        case Verdict.NOT_TESTED:
            reason = f"{number} is of one seed, and how much other seeds differ from it is not known"
            return f"No difference was tested {unknown}: {reason} ({difference_text(finding)})."
        case Verdict.UNCLEAR:
            return f"No difference can be shown {unknown}: {number} differs by {difference_text(finding)}."
        case way:
            values = " against ".join(format_value(value, about["display"]) for value in reversed(about["values"]))
            difference = f"{difference_text(finding)} {way} than {about['first']}"
            return f"{about['other']} is {difference} in {number}: {values}."


# One kind of runs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Runs of one kind: the first is what the others are compared with."""

    kind: str
    runs: tuple[ComparedRun, ...]

    @cached_property
    def names(self) -> list[str]:
        """What was measured, in the order of the first run."""
        return list(dict.fromkeys(name for run in self.runs for name in run.numbers))

    @cached_property
    def ranked_by(self) -> str | None:
        """The first number that most runs have and that is no layer or count."""
        names = [name for name in self.names if not any(is_layer_or_count(r.numbers[name]) for r in self._with(name))]
        return max(names, key=lambda name: len(self._with(name)), default=None)

    def _with(self, name: str) -> list[ComparedRun]:
        return [run for run in self.runs if name in run.numbers]

    @cached_property
    def differences(self) -> dict[tuple[str, str], Finding]:
        """Each number of each other run against the first, by number and label."""
        first = self.runs[0]
        return {
            (name, run.label): compare_numbers(name, (first, first.numbers[name]), (run, run.numbers[name]))
            for name, run in product(self.names, self.runs[1:])
            if name in first.numbers and name in run.numbers and not is_layer_or_count(run.numbers[name])
        }

    @cached_property
    def like_with_like(self) -> list[ComparedRun]:
        """The largest group of runs that the ranking number can compare; of equal groups, that with the first run."""
        name = self.ranked_by
        groups: list[list[ComparedRun]] = []
        if name is None:
            return []
        for run in self._with(name):
            home = next(
                (g for g in groups if is_comparable((g[0], g[0].numbers[name]), (run, run.numbers[name]))), None
            )
            groups.append([run]) if home is None else home.append(run)
        return max(groups, key=len, default=[])

    @cached_property
    def ranking(self) -> list[tuple[ComparedRun, int | None, Finding | None]]:
        """Runs from best to worst with rank, and the difference to the best; those that cannot be ranked are last.

        A run shares the first rank unless it is clearly worse than the best.
        """
        name = self.ranked_by
        if name is None:
            return [(run, None, None) for run in self.runs]
        sign = -1.0 if self.like_with_like[0].numbers[name].higher_is_better is False else 1.0
        ordered = sorted(self.like_with_like, key=lambda run: -sign * run.numbers[name].value)
        best = (ordered[0], ordered[0].numbers[name])
        found = [None, *(compare_numbers(name, best, (run, run.numbers[name])) for run in ordered[1:])]
        untested = len(ordered) < 2 or any(each is not None and each.verdict is Verdict.NOT_TESTED for each in found)
        worse = Verdict.LOWER if sign > 0 else Verdict.HIGHER
        ranked: list[tuple[ComparedRun, int | None, Finding | None]] = []
        for place, (run, finding) in enumerate(zip(ordered, found, strict=True), 1):
            tied = finding is None or finding.verdict is not worse
            ranked.append((run, None if untested else 1 if tied else place, finding))
        return ranked + [(run, None, None) for run in self.runs if run not in ordered]

    def find_answer(self) -> Finding:
        """Two runs: their difference. More: which are first, if they can be ranked at all."""
        name = self.ranked_by
        if name is None or not self.differences:
            labels = [run.label for run in self.runs]
            return Finding(kind="runs_not_comparable", verdict=Verdict.NOT_COMPARABLE, about={"runs": labels})
        if len(self.runs) == 2 and (found := self.differences.get((name, self.runs[1].label))) is not None:
            return found
        best = self.ranking[0][0].numbers[name]
        others = [run.label for run, rank, _ in self.ranking if rank not in (None, 1)]
        if len(self.like_with_like) < 2:
            verdict = Verdict.NOT_COMPARABLE
        elif all(run.numbers[name].at_chance for run in self.like_with_like):
            verdict = Verdict.AT_CHANCE
        elif all(rank is None for _, rank, _ in self.ranking):
            verdict = Verdict.NOT_TESTED
        else:
            verdict = Verdict.HIGHER if others else Verdict.UNCLEAR
        return Finding(
            kind="run_ranking",
            verdict=verdict,
            about={
                "number": sentence_form(name),
                "first": [run.label for run, rank, _ in self.ranking if rank == 1],
                "others": others,
                "not_comparable": [run.label for run in self.runs if run not in self.like_with_like],
                "display": best.display,
                "null_value": best.null_value,
            },
            estimate=None if verdict is Verdict.NOT_COMPARABLE else best,
        )

    def find_at_chance(self) -> list[Finding]:
        """Which runs have numbers at chance, but for those of which a difference says it of both."""
        said = {name for (name, _), finding in self.differences.items() if finding.verdict is Verdict.AT_CHANCE}
        found = []
        for run in self.runs:
            low = {name: number for name, number in run.numbers.items() if name not in said and number.at_chance}
            if low:
                first = next(iter(low.values()))
                about = {"run": run.label, "numbers": list(low), "all": len(run.numbers), "display": first.display,
                         "null_value": first.null_value}  # fmt: skip
                found.append(Finding(kind="run_at_chance", verdict=Verdict.AT_CHANCE, about=about, estimate=first))
        return found

    def find_changes(self) -> list[Finding]:
        """Per other run, which numbers are clearly higher, lower, unclear, or not tested."""
        found = []
        for label, differences in group_by(self.differences.items(), lambda item: item[0][1]).items():
            by_verdict = group_by([finding for _, finding in differences], lambda finding: finding.verdict)
            numbers = {verdict: [each.about["number"] for each in own] for verdict, own in by_verdict.items()}
            about = {"first": self.runs[0].label, "other": label, "numbers": numbers, "all": len(differences)}
            clear = Verdict.HIGHER in numbers or Verdict.LOWER in numbers
            found.append(Finding(kind="run_changes", verdict=Verdict.FOUND if clear else Verdict.UNCLEAR, about=about))
        return found

    @cached_property
    def setting_changes(self) -> dict[str, list[str]]:
        """The settings that are not the same in all runs, with the value of each run."""
        keys = dict.fromkeys(key for run in self.runs for key in run.settings)
        values = {_setting_title(key): [run.settings.get(key, "–") for run in self.runs] for key in keys}
        return {title: own for title, own in values.items() if len(set(own)) > 1}


@sentence_of("runs_not_comparable", topic="Not comparable")
def _(finding: Finding) -> str:
    return f"Not comparable: {join_with_and(finding.about['runs'])} have no number in common."


@sentence_of("run_ranking", topic="Ranking")
def _(finding: Finding) -> str:
    about = finding.about
    first, number = join_with_and(about["first"]), about["number"]
    apart = about["not_comparable"]
    aside = f" Not comparable with these: {join_with_and(apart)}." if apart else ""
    match finding.verdict:
        case Verdict.NOT_COMPARABLE:
            return f"The runs are not comparable: no two were measured on the same text and rows ({number})."
        case Verdict.AT_CHANCE:
            level = chance_text(about)
            return f"No difference can be shown: no run is better than chance in {number}{level}.{aside}"
        case Verdict.NOT_TESTED:
            return f"The runs are not ranked: {number} is of one seed; how much other seeds differ is not known.{aside}"
        case Verdict.UNCLEAR:
            return f"No difference can be shown between {first} in {number}.{aside}"
        case _:
            value = format_value(finding.estimate.value if finding.estimate else None, about["display"])
            tied = f"{first} are tied for first" if len(about["first"]) > 1 else f"{first} is first"
            return f"{tied} in {number} ({value}), clearly before {join_with_and(about['others'])}.{aside}"


@sentence_of("run_at_chance", topic="At chance")
def _(finding: Finding) -> str:
    about = finding.about
    low = f"{len(about['numbers'])} of {about['all']} numbers are no better than chance"
    return f"{about['run']}: {low}{chance_text(about)}."


@sentence_of("run_changes", topic="All numbers")
def _(finding: Finding) -> str:
    about = finding.about
    parts = []
    for verdict in filter(about["numbers"].get, Verdict):
        names = about["numbers"][verdict]
        is_named = verdict in (Verdict.HIGHER, Verdict.LOWER) and len(names) <= MAX_NAMED_NUMBERS
        numbers = ", ".join(names) if is_named else f"{len(names)} of {about['all']}"
        parts.append(f"{CELLS.get(verdict, verdict)}: {numbers}")
    return f"{about['other']} against {about['first']}: {'; '.join(parts)}."


@sentence_of("settings_differ", topic="Settings")
def _(finding: Finding) -> str:
    settings = finding.about["settings"]
    if not settings:
        return "The settings are the same."
    parts = [f"{name} {(' → ' if len(values) == 2 else ', ').join(values)}" for name, values in settings.items()]
    return f"Different settings: {'; '.join(parts)}."


# Tables and charts ----------------------------------------------------------------------------------------------------


def ranking_table(comparison: RunComparison) -> Table | None:
    """Runs from best to worst; a rank only among runs that were measured on the same items."""
    name = comparison.ranked_by
    if name is None:
        return None
    display = comparison.like_with_like[0].numbers[name].display
    rows: list[tuple[Cell, ...]] = []
    for run, rank, finding in comparison.ranking:
        number = run.numbers.get(name)
        note = "" if finding is None else verdict_text(finding)
        if finding is not None and finding.verdict is Verdict.UNCLEAR:
            note = "tied with the best"
        is_ranked = run in comparison.like_with_like
        chance = None if number is None else number.null_value
        rows.append((None if rank is None else str(rank), run.label, number, chance, _difference_of(finding),
                     note if is_ranked else "not comparable"))  # fmt: skip
    return Table(
        name="ranking",
        title=f"Ranking by {name}",
        note="Runs share the first rank unless they are clearly worse than the best. Ranks are given only to runs "
        "measured on the same items.",
        columns=columns_of(
            "rank",
            "run",
            Column(title=name, display=display, interval=True),
            Column(title="chance", display=display),
            Column(title="difference to the best", display=difference_display(display), interval=True),
            "verdict",
        ),
        rows=escape_texts(tuple(rows)),
        terminal=len(comparison.runs) > 2,
    )


def verdict_text(finding: Finding | None) -> str:
    """A verdict in a cell."""
    return "–" if finding is None else CELLS.get(finding.verdict, finding.verdict)


def _difference_of(finding: Finding | None) -> Estimate | None:
    return None if finding is None else finding.estimate


NumberRow: TypeAlias = "Sequence[tuple[str, ComparedNumber | None, Finding | None]]"
"""The runs of a number: label, number, and difference to the first."""


def difference_table(name: str, title: str, heading: str, rows: Mapping[str, NumberRow]) -> Table:
    """Numbers of runs with their differences to the first: of two runs in one row, of more in a row per run."""
    display = next(number.display for runs in rows.values() for _, number, _ in runs if number is not None)
    labels = [label for label, _, _ in next(iter(rows.values()))]
    cells: list[tuple[Cell, ...]] = []
    for row, runs in rows.items():
        if len(labels) == 2:
            (_, first, _), (_, other, finding) = runs
            cells.append((row, first, other, _difference_of(finding), verdict_text(finding)))
            continue
        for at, (label, number, finding) in enumerate(runs):
            verdict = verdict_text(finding) if at else ""
            cells.append(("" if at else row, label, number, _difference_of(finding), verdict))
    values = [Column(title=label, display=display, interval=True) for label in labels] if len(labels) == 2 else [
        Column(title="run"), Column(title="value", display=display, interval=True)
    ]  # fmt: skip
    return Table(
        name=name,
        title=title,
        note=f"Differences are to {labels[0]}: tested sentence by sentence where both runs kept the values of each "
        "sentence, else by intervals that do not overlap.",
        columns=columns_of(
            heading,
            *values,
            Column(title="difference", display=difference_display(display), interval=True),
            "verdict",
        ),
        rows=escape_texts(tuple(cells)),
        terminal=name.startswith("numbers") and len(labels) == 2,
    )


def number_tables(comparison: RunComparison) -> Iterator[Table]:
    """A table of all numbers, one per way of showing them, and one of layers and counts, which have no difference."""
    groups: dict[Display, dict[str, NumberRow]] = {}
    layers: list[tuple[Cell, ...]] = []
    for name in comparison.names:
        numbers = [run.numbers.get(name) for run in comparison.runs]
        known = next(number for number in numbers if number is not None)
        if is_layer_or_count(known):
            layers.append((name, *map(layer_text, numbers)))
        else:
            rows = groups.setdefault(known.display, {})
            rows[name] = [
                (run.label, number, comparison.differences.get((name, run.label)))
                for run, number in zip(comparison.runs, numbers, strict=True)
            ]
    for at, rows in enumerate(groups.values()):
        title = "Key numbers" if at == 0 else "More key numbers"
        yield difference_table("numbers" if at == 0 else f"numbers-{at + 1}", title, "number", rows)
    if layers:
        columns = columns_of("number", *(run.label for run in comparison.runs))
        yield Table(name="layers", title="Layers and candidates", columns=columns, rows=escape_texts(tuple(layers)))


def layer_text(number: ComparedNumber | None) -> str:
    """A layer or a count, with the layers that are tied with it."""
    if number is None:
        return "–"
    tied = f" (tied with {join_with_and([str(layer) for layer in number.tied])})" if number.tied else ""
    return f"{number.value:,.0f}{tied}"


def language_parts(comparison: RunComparison) -> tuple[tuple[HeatMap | IntervalChart, ...], tuple[Table, ...]]:
    """The ranking number language by language: each run's difference to the first.

    A language's number is the mean over the pairs that it is part of; of a task, over the records of its test.
    """
    name, runs = comparison.ranked_by, comparison.like_with_like
    if name is None or len(runs) < 2:
        return (), ()
    display = runs[0].numbers[name].display
    numbers = [by_language(run.numbers[name]) for run in runs]
    codes = [code for code in numbers[0] if all(code in other for other in numbers)]
    if len(codes) < 2:
        return (), ()
    rows: dict[str, NumberRow] = {}
    for code in codes:
        first, *others = [(run, number[code]) for run, number in zip(runs, numbers, strict=True)]
        rows[language_name(code, runs[0].run.about)] = [
            (first[0].label, first[1], None),
            *((other[0].label, other[1], compare_numbers(name, first, other)) for other in others),
        ]
    title = f"{name[:1].upper()}{name[1:]}"
    table = difference_table("languages", f"{title} by language", "language", rows)
    if len(codes) < MIN_HEAT_MAP_LANGUAGES:
        return (), (table,)
    cells = [tuple(finding.estimate for _, _, finding in row if finding is not None) for row in rows.values()]
    labels = [run.label for run in runs]
    chart: HeatMap | IntervalChart
    if len(runs) == 2:
        chart = IntervalChart(
            name="language-differences",
            title=f"{labels[1]} − {labels[0]}: {name} by language",
            note="Differences with 95 % intervals where they were tested sentence by sentence.",
            x=Axis(title="difference", display=difference_display(display)),
            rows=tuple(
                IntervalRow(label=language, group=labels[1], estimate=estimate)
                for language, (estimate,) in zip(rows, cells, strict=True)
            ),
            references=(ReferenceLine(label="no difference", values=(0.0,)),),
        )
    else:
        chart = HeatMap(
            name="language-differences",
            title=f"{title}: difference to {labels[0]}",
            note="One row per language, one column per run; blue is above 0.",
            rows=tuple(rows),
            columns=tuple(labels[1:]),
            cells=tuple(cells),
            scale="points of percent" if display == "percent" else "difference",
            display=difference_display(display),
            diverging=True,
        )
    return (chart,), (table,)


def by_language(number: ComparedNumber) -> dict[str, ComparedNumber]:
    """A number language by language: a mean over the records of which the language is a part, or is the test."""
    tested = any(record.task is not None or record.measure in FINE_TUNED_MEASURES for record in number.records)
    sides = [
        (code, record)
        for record in number.records
        for code in dict.fromkeys((record.target,) if tested else (record.source, record.target))
        if code is not None
    ]
    means = _estimates(sides)
    return {code: normalize_number(ComparedNumber.of(mean, display=number.display)) for code, mean in means.items()}


def _estimates(records: Iterable[tuple[str, Record]]) -> dict[str, Estimate]:
    """The mean of the records of each language."""
    groups = group_by(records, lambda item: item[0])
    return {code: RecordTable(record for _, record in items).estimate() for code, items in groups.items()}


def layer_curves(comparison: RunComparison) -> list[LineChart]:
    """The layer curves of all runs over each other."""
    return layer_lines([replace(each.run, name=each.label) for each in comparison.runs])


def sections_of(comparison: RunComparison) -> Iterator[Section]:
    """The comparison of runs of one kind; the settings that differ are last."""
    charts, language_tables = language_parts(comparison)
    ranking = ranking_table(comparison)
    yield Section(
        name="comparison",
        title=f"{len(comparison.runs)} runs of interlingua {comparison.kind}",
        findings=tuple(comparison.find_changes()),
        charts=charts,
        tables=tuple(table for table in (ranking, *language_tables, *number_tables(comparison)) if table is not None),
        terminal=True,
    )
    if curves := layer_curves(comparison):
        yield Section(name="layers", title="Layer by layer", charts=tuple(curves))
    settings = comparison.setting_changes
    columns = columns_of("setting", *(run.label for run in comparison.runs))
    rows = tuple((title, *values) for title, values in settings.items())
    yield Section(
        name="settings",
        title="Different settings",
        findings=(Finding(kind="settings_differ", verdict=Verdict.FOUND, about={"settings": settings}),),
        tables=(Table(name="settings", title="Different settings", columns=columns, rows=escape_texts(rows)),)
        if rows
        else (),
        terminal=True,
    )


# Alignment and transfer ----------------------------------------------------------------------------------------------


def alignment_and_transfer(audits: Sequence[ComparedRun], transfers: Sequence[ComparedRun]) -> Section | None:
    """How a language's alignment with the language of training goes with what transfers to it.

    None for under three languages in common, at chance, or where pairs have other numbers of candidates.
    """
    charts = []
    for audit, transfer in product(audits, transfers):
        source, dots = str(transfer.run.about.get("source")), []
        aligned, scores = alignment_with(audit, source), transfer_scores(transfer)
        for code in aligned.keys() & scores.keys() - {source}:
            title = language_name(code, audit.run.about)
            records = (*aligned[code].records, *scores[code].records)
            dots.append(Dot(label=title, x=aligned[code].value, y=scores[code].value, records=records))
        if len(dots) >= MIN_COMMON_LANGUAGES:
            dots.sort(key=lambda dot: dot.label)
            trend = fit_trend([dot.x for dot in dots], [dot.y for dot in dots])
            charts.append(
                ScatterChart(
                    name="alignment-transfer",
                    title=f"{audit.label} against {transfer.label}",
                    note=f"One dot per language. {trend.text} Correlation does not imply causation.",
                    x=Axis(title="alignment with the language of training, at the best layer", display="percent"),
                    y=Axis(title="score of the task", display="percent"),
                    dots=tuple(dots),
                    trend=trend.line,
                )
            )
    return Section(name="alignment-transfer", title="Alignment and transfer", charts=tuple(charts)) if charts else None


def alignment_with(audit: ComparedRun, source: str) -> dict[str, Estimate]:
    """Each language's alignment with another one: the first number of the audit, both directions together."""
    number = next((each for each in audit.numbers.values() if not is_layer_or_count(each)), None)
    if number is None or number.at_chance or len({record.n for record in number.records}) != 1:
        return {}
    return _estimates(
        (str(record.target if record.source == source else record.source), record)
        for record in number.records
        if source in (record.source, record.target) and record.source != record.target
    )


def transfer_scores(transfer: ComparedRun) -> dict[str, Estimate]:
    """The task's main metric by language of the test, of the first regime, over seeds."""
    about = transfer.run.about
    regime = next(iter(about.get("regimes") or ()), None)
    records = [r for r in transfer.run.records if r.metric == about.get("metric") and r.regime == regime]
    # A second test of a language is not the language's score.
    own = [record for record in records if record.test in (None, record.target)]
    groups = RecordTable(own).by("target", "measure", "task")
    return {str(code): table.estimate() for (code, *_), table in groups.items() if len({r.key for r in table}) == 1}


# The report -----------------------------------------------------------------------------------------------------------


def build(runs: Sequence[Run], title: str = "") -> Report:
    """The comparison of several runs: of each kind those that there are several of, then every run's own sections."""
    compared = [ComparedRun(run=run, label=label) for run, label in zip(runs, label_runs(runs), strict=True)]
    by_kind = group_by(compared, lambda each: each.run.kind)
    comparisons = [RunComparison(kind=kind, runs=tuple(own)) for kind, own in by_kind.items() if len(own) > 1]
    sections = [section for comparison in comparisons for section in sections_of(comparison)]
    both = alignment_and_transfer(by_kind.get("audit", ()), by_kind.get("transfer", ()))
    sections += [] if both is None else [both]
    for each in compared:
        own = [*run_sections(each.run), provenance_section(each.run)]
        sections += [
            replace(s, title=f"{each.label}: {s.title}", folded=True, terminal=False,
                    tables=tuple(replace(table, terminal=False) for table in s.tables))
            for s in own
        ]  # fmt: skip
    return Report(
        command="report",
        headline=headline_of(compared, comparisons, title),
        sections=with_unique_names(sections),
        runs=tuple(runs),
    )


def headline_of(compared: Sequence[ComparedRun], comparisons: Sequence[RunComparison], title: str) -> Headline:
    """The first screen: the verdict of the first comparison, its numbers, and what else differs."""
    labels = [each.label for each in compared]
    unfinished = [f"{each.label}: {each.run.unfinished}" for each in compared if each.run.unfinished]
    listed = [Finding(kind="unfinished", verdict=Verdict.UNFINISHED, about={"progress": text}) for text in unfinished]
    if not comparisons:
        kinds = {each.label: each.run.kind for each in compared}
        answer = Finding(kind="runs_of_different_kinds", verdict=Verdict.NOT_COMPARABLE, about={"runs": kinds})
        return Headline(title=title or join_with_and(labels), answer=answer, findings=tuple(listed))
    first, *others = comparisons
    listed += [comparison.find_answer() for comparison in others]
    listed += [finding for comparison in comparisons for finding in comparison.find_at_chance()]
    name, answer = first.ranked_by, first.find_answer()
    runs = [run for run, _, _ in first.ranking[:4] if name in run.numbers]
    figures = [
        KeyFigure(label=run.label, estimate=run.numbers[name], display=run.numbers[name].display,
                  remark="" if run in first.like_with_like else "not comparable")
        for run in runs if name is not None
    ]  # fmt: skip
    if answer.kind == "run_difference" and answer.estimate is not None:
        shown = difference_display(answer.about["display"])
        remark = verdict_text(answer)
        figures.append(KeyFigure(label="difference", estimate=answer.estimate, display=shown, remark=remark))
    about = f"{pluralize(len(first.runs), 'run')} of interlingua {first.kind}"
    return Headline(
        title=title or f"Comparison of {join_with_and(labels)}",
        answer=answer,
        figures=tuple(figures),
        measured=f"{about}; the figures are {sentence_form(name)}." if name else f"{about}.",
        findings=tuple(listed),
    )


@sentence_of("runs_of_different_kinds", topic="Different kinds")
def _(finding: Finding) -> str:
    parts = [f"{label} is a run of interlingua {kind}" for label, kind in finding.about["runs"].items()]
    return f"Nothing is compared, because the runs are of different commands: {'; '.join(parts)}."
