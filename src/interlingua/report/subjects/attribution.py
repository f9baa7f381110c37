"""Attributions: does a model look at the same words in two languages, beside every control; are they faithful.

Guards, each for its reason. A model that is not above chance in its language of training has learnt nothing that
attributions could show, so nothing is concluded from it; a language in which it is at chance is left out. Texts that
share words are consistent whatever the model does, and so are attributions under a head that has learnt nothing: a
model is credited with its lead over random attributions less that of untrained heads, and the interval of that
difference is what is drawn and judged. Single languages are called clear after Holm's correction over all of them.
Fewer than five languages, or one number for all of them, have no correlation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from interlingua.record import Difference, Estimate, Record, RecordTable, mean_estimate
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    ChartMenu,
    Dot,
    IntervalChart,
    IntervalRow,
    ReferenceLine,
    ScatterChart,
    charts_under_menus,
)
from interlingua.report.kit.evidence import MIN_CORRELATION_ITEMS, association_sentence, fit_trend
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    Display,
    escape_control_characters,
    format_number,
    format_share,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.report.subjects.examples import example_collection, first_wrong, wrong_predictions_figure
from interlingua.stats import Association, above_draws, above_draws_p, correlate, holm

ALPHA = 0.05
_KEY = ("block", "model", "task", "regime", "source")
_METHOD = (
    "Consistency is a sum over pairs of words, or of word pieces where these have the attributions: flow times cosine, "
    "or how much attribution can be carried from one text to its translation, weighted by how similar the words are "
    "(Wang et al. 2021). It lies between 0 and 1; a text compared with itself has 1.",
    "Texts that share words are consistent whatever the model does. Each number therefore stands beside three "
    "controls: the same attributions dealt to the words at random, the texts of other examples, and untrained heads on "
    "the same model. A model is credited only with its lead over random attributions less that of untrained heads.",
)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A model's score in a language beside chance: `lowest` and `mean` of its seeds, and whether all are above chance.

    `null_value` of both estimates is the chance level, `always` the one answer that is given to every example.
    """

    language: str
    metric: str
    lowest: Estimate
    mean: Estimate
    reached_by: str
    always: str | None
    is_learnt: bool

    @classmethod
    def of(cls, language: str, records: RecordTable) -> Standing:
        """The standing of the seeds of one language, from records of the task's own metric."""
        chances = [record.details["chance"] for record in records]
        order = sorted(range(len(records)), key=lambda at: (bool(chances[at].get("above")), records[at].value))
        worst, chance = records[order[0]], chances[order[0]]
        level = chance.get("level")
        return cls(
            language=language,
            metric=escape_control_characters(worst.key),
            lowest=replace(RecordTable([worst]).estimate(), null_value=level),
            mean=replace(records.estimate(), null_value=level),
            reached_by=escape_control_characters(str(chance.get("by") or "")),
            always=chance.get("always"),
            is_learnt=all(bool(chance.get("above")) for chance in chances),
        )

    def describe(self) -> str:
        """The score, the chance level, and the one answer that is always given."""
        value, n, level = self.lowest.value, self.lowest.n, self.lowest.null_value
        is_count = self.metric == "accuracy" and n > 0
        score = f"{round(value * n)} of {n} right" if is_count else f"{self.metric} {format_share(value)}"
        chance = "chance level unknown" if level is None else f"chance {format_share(level)}"
        answer = "" if self.always is None else f"; always {escape_control_characters(self.always) or 'nothing'!r}"
        return f"{score}, {chance}{answer}"


@dataclass(frozen=True, kw_only=True)
class Lead:
    """How far a number lies above a control. All three are in thousandths, so that they add up as they are printed."""

    value: float
    control: float
    difference: Difference

    @classmethod
    def of(cls, value: float, control: float, difference: Difference) -> Lead:
        """The lead of a value over a control; `difference` brings the interval and the test."""
        high, low = round(value, 3), round(control, 3)
        return cls(value=high, control=low, difference=replace(difference, value=round(high - low, 3)))


def lead_over_random(records: RecordTable) -> Lead:
    """The consistency of records above that of random attributions on the same texts; bounds are averaged."""
    bounds = [(record.details.get("above_random") or (None, None, None))[1:] for record in records]
    known = all(bound is not None for pair in bounds for bound in pair)
    low, high = (float(np.mean([pair[end] for pair in bounds])) if known else None for end in (0, 1))
    difference = Difference(value=0.0, ci_low=low, ci_high=high, n=_fewest(records), records=tuple(records))
    return Lead.of(records.mean(), _mean_random(records), difference)


def lead_over_heads(records: RecordTable) -> Lead | None:
    """The lead of records over random attributions, less that of untrained heads on the same model over theirs.

    Attributions that are more even find more of each other whatever they lie on, so each head is compared with its own
    attributions dealt at random first. Head by head means over the records (languages, seeds) are the control's draws;
    their spread counts (`stats.above_draws`). None where a record was made without untrained heads.
    """
    heads = [record.details.get("heads") or {"above_random": ()} for record in records]
    counts = {len(head["above_random"]) for head in heads}
    if len(counts) != 1 or counts == {0}:
        return None
    lead = float(np.mean([record.details["above_random"][0] for record in records]))
    draws = np.mean([head["above_random"] for head in heads], axis=0).tolist()
    error = float(np.mean([head["error"] for head in heads]))
    _, low, high = above_draws(lead, draws, error=error)
    p = above_draws_p(lead, draws, error=error)
    difference = Difference(value=0.0, ci_low=low, ci_high=high, p=p, n=_fewest(records), records=tuple(records))
    return Lead.of(lead_over_random(records).difference.value, float(np.mean(draws)), difference)


def _fewest(records: RecordTable) -> int:
    return min((record.n for record in records), default=0)


def _control(records: RecordTable, name: str) -> Estimate | None:
    """The mean of a control on the same texts: `random`, `shuffled` or `heads`; None where it was not measured."""
    if name == "shuffled":
        mean = records.estimate().null_value
    elif name == "heads":
        means = [float(np.mean(heads["consistency"])) for record in records if (heads := record.details.get("heads"))]
        mean = float(np.mean(means)) if means else None
    else:
        mean = _mean_random(records)
    return None if mean is None else Estimate(value=mean, n=_fewest(records), records=tuple(records))


def _mean_random(records: RecordTable) -> float:
    return float(np.mean([record.details["random"] for record in records]))


def is_above_other_controls(records: RecordTable) -> bool:
    """Whether records are above random attributions (by the interval, where known) and above texts of other rows."""
    random, shuffled = lead_over_random(records).difference, _control(records, "shuffled")
    above_random = random.value > 0 and (random.ci_low is None or random.ci_low > 0)
    return above_random and (shuffled is None or records.mean() > shuffled.value)


@dataclass(frozen=True, kw_only=True)
class ExplainedModel:
    """One aspect of a model (label, start, entities) in its language of training and in others, seeds together.

    `cells` are records of consistency by language, `standings` the scores beside chance. `name` identifies it among
    others of the run, and is empty where it is alone; `names` are the run's own names of languages.
    """

    block: str | None
    model: str
    task: str | None
    regime: str | None
    source: str
    aspect: str
    unit: str
    cells: Mapping[str, RecordTable]
    standings: Mapping[str, Standing]
    name: str
    names: Mapping[str, str]

    def language(self, code: str) -> str:
        """The name of a language."""
        return language_name(code, {"names": self.names})

    def list_languages(self, codes: Iterable[str]) -> str:
        """Names of languages with commas and a last *and*."""
        return join_with_and([self.language(code) for code in codes])

    @property
    def metric(self) -> str:
        """The metric of its scores."""
        return next((standing.metric for standing in self.standings.values()), "score")

    @property
    def others(self) -> tuple[str, ...]:
        """The languages that are compared with that of training."""
        return tuple(code for code in self.cells if code != self.source)

    @cached_property
    def weak(self) -> tuple[Standing, ...]:
        """The languages in which it is not shown to be above chance, that of training first."""
        weak = (standing for standing in self.standings.values() if not standing.is_learnt)
        return tuple(sorted(weak, key=lambda standing: standing.language != self.source))

    @property
    def has_learnt(self) -> bool:
        """Whether it is above chance in its language of training; without that no attribution of it is judged."""
        return self.source in self.standings and self.standings[self.source].is_learnt

    @property
    def learnt(self) -> tuple[str, ...]:
        """The other languages in which it is above chance; none where it is not in the language of training."""
        standings = self.standings if self.has_learnt else {}
        return tuple(code for code in self.others if code in standings and standings[code].is_learnt)

    @cached_property
    def leads(self) -> Mapping[str, Lead]:
        """The lead over untrained heads in each language above chance, p-values corrected over these languages."""
        leads = {code: lead for code in self.learnt if (lead := lead_over_heads(self.cells[code])) is not None}
        adjusted = holm([1.0 if lead.difference.p is None else lead.difference.p for lead in leads.values()])
        return {
            code: replace(lead, difference=replace(lead.difference, p_adjusted=p))
            for (code, lead), p in zip(leads.items(), adjusted, strict=True)
        }

    @cached_property
    def clear(self) -> tuple[str, ...]:
        """The languages that alone are above every control, after the correction over languages."""
        found = {code: lead.difference for code, lead in self.leads.items() if lead.difference.value > 0}
        significant = [code for code, lead in found.items() if lead.p_adjusted is not None and lead.p_adjusted < ALPHA]
        return tuple(code for code in significant if is_above_other_controls(self.cells[code]))

    def points(self, *, with_source: bool = False) -> list[tuple[str, Estimate, Estimate]]:
        """Consistency and score of each language above chance, means over seeds."""
        codes = (self.source, *self.learnt) if with_source and self.learnt else self.learnt
        return [(code, self.cells[code].estimate(), self.standings[code].mean) for code in codes if code in self.cells]

    def correlate(self, *, with_source: bool = False) -> Association | None:
        """Spearman's rho of consistency and score over languages; None with fewer than five, or one number for all.

        The source's consistency is 1 by construction: one such point makes any correlation high.
        """
        points = self.points(with_source=with_source)
        if len(points) < MIN_CORRELATION_ITEMS:
            return None
        return correlate([x.value for _, x, _ in points], [y.value for *_, y in points])


def explained_models(run: Run) -> list[ExplainedModel]:
    """Every model, task, regime, language of training and aspect of the run, in the order of its records.

    The scores are those of the task's own metric: that of the run, else the first that has a chance level.
    """
    order = [str(code) for code in run.about.get("languages") or ()]
    scores = RecordTable(r for r in run.records if r.measure == "task" and "chance" in r.details).by(*_KEY)
    groups = run.records.of("consistency", "consistency").by(*_KEY, "aspect")
    names, models = _names_of_models(list(groups)), []
    for key, records in groups.items():
        by_language = {str(code): group for (code,), group in records.by("target").items()}
        of_model = scores.get(key[:-1], RecordTable(()))
        keys = [record.key for record in of_model]
        metric = run.about.get("metric") if run.about.get("metric") in keys else next(iter(keys), None)
        standings = RecordTable(record for record in of_model if record.key == metric).by("target")
        model = ExplainedModel(
            **dict(zip(_KEY, key, strict=False)),
            aspect=str(key[-1]),
            unit="word pieces" if records[0].unit == "token" else "words",
            cells={code: by_language[code] for code in dict.fromkeys([*order, *by_language]) if code in by_language},
            standings={str(code): Standing.of(str(code), group) for (code,), group in standings.items()},
            name=names[key],
            names=run.about.get("names") or {},
        )
        models.append(model)
    return models


def _names_of_models(keys: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """What each explained model is called among others: its model, and what else distinguishes it."""
    if len(keys) < 2:
        return dict.fromkeys(keys, "")
    shown = short_names([str(key[1]) for key in keys])
    varies = [len(set(values)) > 1 for values in zip(*keys, strict=True)]
    names = {}
    for key in keys:
        parts = [shown[str(key[1])]]
        parts += [f"trained in {language_name(str(key[4]), {})}"] if varies[4] else []
        parts += [str(key[at]) for at in (2, 3, 5, 0) if varies[at] and key[at] is not None]
        names[key] = escape_control_characters(", ".join(parts))
    return names


def short_names(models: Sequence[str]) -> dict[str, str]:
    """What each model is called: the last part of its path, the whole of it where two end alike.

    >>> short_names(["runs/nli", "old/nli", "runs/qa/"])
    {'runs/nli': 'runs/nli', 'old/nli': 'old/nli', 'runs/qa/': 'qa'}
    """
    last = {model: model.rstrip("/").rsplit("/", maxsplit=1)[-1] for model in models}
    same = list(last.values())
    return {model: escape_control_characters(name if same.count(name) == 1 else model) for model, name in last.items()}


def judge_model(model: ExplainedModel) -> Finding:
    """Whether the model looks at the same words in its languages; AT_CHANCE where its attributions explain nothing."""
    about: dict[str, Any] = {
        "model": model.model, "name": model.name, "task": model.task, "regime": model.regime, "aspect": model.aspect,
        "unit": model.unit, "source": model.source, "languages": list(model.learnt),
    }  # fmt: skip
    if model.source not in model.standings:
        return _untested(about, "it is not known whether the model has learnt the task. Run the command again")
    if not model.has_learnt or (model.weak and not model.learnt):
        weak = model.weak if model.has_learnt else model.weak[:1]
        about |= {"weak": [w.language for w in weak], "where": model.list_languages(w.language for w in weak)}
        basis = Basis(over="examples", test="interval above the chance level")
        about["score"] = weak[0].describe()
        lowest = weak[0].lowest
        return Finding(kind="model_at_chance", verdict=Verdict.AT_CHANCE, about=about, estimate=lowest, basis=basis)
    if not model.learnt:
        return _untested(about, "there is no other language to compare")
    records = RecordTable(record for code in model.learnt for record in model.cells[code])
    consistency, lead = mean_estimate(model.cells[code].estimate() for code in model.learnt), lead_over_heads(records)
    about |= {"consistency": records.mean(), "random": _mean_random(records)}
    if lead is None:
        why = f"without untrained heads consistency proves nothing ({_levels_of(about)})"
        return replace(_untested(about, why), estimate=consistency)
    untrained, clear, total = _control(records, "heads"), len(model.clear), len(model.learnt)
    where = f"in all {total} languages" if clear == total else f"in {clear} of {total} languages"
    if total == 1:
        where = f"in {model.list_languages(model.learnt)}"
    elif not clear:
        where = f"on average over {total} languages, though in none of them alone"
    about |= {
        "untrained": None if untrained is None else untrained.value, "lead": lead.value, "lead_of_heads": lead.control,
        "heads": len(records[0].details["heads"]["above_random"]),
        "clear": list(model.clear), "alone": model.list_languages(model.clear), "where": where,
    }  # fmt: skip
    is_clear = lead.difference.value > 0 and lead.difference.ci_low is not None and lead.difference.ci_low > 0
    return Finding(
        kind="same_words",
        verdict=Verdict.HIGHER if is_clear and is_above_other_controls(records) else Verdict.UNCLEAR,
        about=about,
        estimate=lead.difference,
        compared_with=consistency,
        basis=Basis(
            over="untrained heads and examples", test="Student’s prediction interval over untrained heads",
            correction="single languages: Holm over languages", compared=len(model.learnt),
        ),
    )  # fmt: skip


def _untested(about: Mapping[str, Any], why: str) -> Finding:
    return Finding(kind="same_words", verdict=Verdict.NOT_TESTED, about={**about, "why": why})


def _levels_of(about: Mapping[str, Any]) -> str:
    """Consistency and its controls on the same texts, means over languages.

    >>> _levels_of({"consistency": 0.13, "random": 0.1})
    'consistency 0.130, random attributions 0.100'
    """
    terms = {"consistency": "consistency", "random": "random attributions", "untrained": "untrained heads"}
    return ", ".join(f"{term} {format_number(about[key], 3)}" for key, term in terms.items() if key in about)


def _named(finding: Finding, sentence: str) -> str:
    """The sentence after the name of its model, where there are several."""
    return f"{finding.about['name']}: {sentence}" if finding.about["name"] else sentence


@sentence_of("same_words", topic="Same words")
def _same_words_sentence(finding: Finding) -> str:
    about = finding.about
    if finding.verdict is Verdict.NOT_TESTED:
        return _named(finding, f"Not tested: {about['why']}.")
    if finding.verdict is Verdict.HIGHER:
        return _named(finding, f"Yes {about['where']}, above every control: {_levels_of(about)}.")
    verb = "is" if len(about["clear"]) == 1 else "are"
    alone = f" Alone, {about['alone']} {verb} above every control." if about["clear"] else ""
    return _named(finding, f"No proof: {_levels_of(about)}.{alone}")


@sentence_of("lead_over_heads", topic="Untrained heads")
def _lead_over_heads_sentence(finding: Finding) -> str:
    about, difference = finding.about, finding.estimate
    assert difference is not None
    low, high = difference.ci_low, difference.ci_high
    within = "" if low is None else f" (95\N{NO-BREAK SPACE}% {format_number(low, 3)} to {format_number(high, 3)})"
    return _named(
        finding,
        f"On similar {about['unit']} the lead over random attributions is {format_number(about['lead'], 3)}, that of "
        f"{pluralize(about['heads'], 'untrained head')} {format_number(about['lead_of_heads'], 3)}: a difference of "
        f"{format_number(difference.value, 3)}{within}.",
    )


@sentence_of("model_at_chance", topic="At chance")
def _model_at_chance_sentence(finding: Finding) -> str:
    about = finding.about
    rest = "its attributions explain nothing"
    if about["source"] not in about["weak"]:
        rest = "there is no other language whose attributions explain anything"
    return _named(finding, f"The model is at chance in {about['where']} ({about['score']}): {rest}.")


def find_weak_languages(model: ExplainedModel) -> Finding | None:
    """The languages that are left out because the model is at chance there; None where there are none."""
    if not model.weak or not model.learnt:
        return None
    scores = join_with_and([f"{model.language(weak.language)} ({weak.describe()})" for weak in model.weak])
    about = {"name": model.name, "languages": [weak.language for weak in model.weak], "scores": scores}
    return Finding(kind="explained_languages_at_chance", verdict=Verdict.AT_CHANCE, about=about)


@sentence_of("explained_languages_at_chance", topic="Left out")
def _languages_at_chance_sentence(finding: Finding) -> str:
    scores = finding.about["scores"]
    return _named(finding, f"Nothing is concluded in {scores}, where the model is not above chance.")


def compare_models(findings: Sequence[Finding]) -> Finding:
    """How many of several explained models look at the same words, and how many are at chance or without a test."""
    groups: dict[Verdict, list[str]] = {}
    for finding in findings:
        score = f": {finding.about['score']}" if finding.verdict is Verdict.AT_CHANCE else ""
        groups.setdefault(finding.verdict, []).append(f"{finding.about['name']}{score}")
    verdict = next(iter(groups)) if len(groups) == 1 else Verdict.FOUND
    about = {"models": len(findings), "groups": {str(verdict): names for verdict, names in groups.items()}}
    return Finding(kind="same_words_of_models", verdict=verdict, about=about)


@sentence_of("same_words_of_models", topic="Same words")
def _same_words_of_models_sentence(finding: Finding) -> str:
    texts = {
        Verdict.HIGHER: "with attributions on the same words, above every control",
        Verdict.UNCLEAR: "without proof",
        Verdict.AT_CHANCE: "at chance, whose attributions explain nothing",
        Verdict.NOT_TESTED: "not tested",
    }
    groups = finding.about["groups"]
    parts = [f"{len(names)} {texts[v]} ({'; '.join(names)})" for v in texts if (names := groups.get(str(v)))]
    return f"Of {finding.about['models']} explained models: {join_with_and(parts)}."


def _faithfulness(run: Run, model: ExplainedModel, code: str, metric: str) -> Estimate | None:
    """The faithfulness of a model's attributions in a language: what the steps that explained it also measured."""
    steps = {record.step for record in model.cells.get(code, ())}
    key = {name: getattr(model, name) for name in ("block", "model", "task", "regime", "aspect")}
    records = run.records.of("faithfulness", metric, target=code, step=steps, **key)
    return records.estimate() if records else None


def judge_faithfulness(model: ExplainedModel, run: Run) -> Finding | None:
    """Whether attributions name what the model relies on: above random ones in every language where it has learnt.

    All intervals must be above, so the number of languages needs no correction (an intersection-union test). None
    where nothing was deleted or the model has not learnt the task.
    """
    codes = [code for code in (model.source, *model.learnt) if model.has_learnt]
    estimates = {c: e for c in codes if (e := _faithfulness(run, model, c, "comprehensiveness")) is not None}
    if not estimates:
        return None
    ends = {code: (estimate.ci_low, estimate.null_value) for code, estimate in estimates.items()}
    above = [code for code, (low, random) in ends.items() if low is not None and random is not None and low > random]
    return Finding(
        kind="faithfulness",
        verdict=Verdict.HIGHER if len(above) == len(estimates) else Verdict.UNCLEAR,
        about={"name": model.name, "languages": list(estimates), "above": above},
        estimate=mean_estimate(estimates.values()),
        basis=Basis(
            over="examples", test="interval above random attributions in every language", compared=len(estimates)
        ),
    )


@sentence_of("faithfulness", topic="Faithfulness")
def _faithfulness_sentence(finding: Finding) -> str:
    above, total, estimate = len(finding.about["above"]), len(finding.about["languages"]), finding.estimate
    assert estimate is not None
    lost, random = format_number(estimate.value, 3), format_number(estimate.null_value, 3)
    verdict = "The attributions are faithful" if finding.verdict is Verdict.HIGHER else "Faithfulness is not shown"
    where = f"in {above} of {pluralize(total, 'language')}"
    return _named(
        finding,
        f"{verdict}: {where}, deleting the words with the largest attributions clearly costs the model more than "
        f"deleting random words (probability lost {lost}, random {random}).",
    )


def find_correlation(model: ExplainedModel) -> Finding | None:
    """Whether languages with higher consistency have higher scores; None where no correlation may be reported."""
    association = model.correlate()
    if association is None:
        return None
    return Finding(
        kind="consistency_and_performance",
        verdict={1: Verdict.HIGHER, -1: Verdict.LOWER, 0: Verdict.UNCLEAR}[association.sign],
        about={"name": model.name, "association": asdict(association)},
        estimate=_estimate_of(association),
        basis=Basis(over="languages", test="permutations", compared=association.n),
    )


def _estimate_of(association: Association, records: tuple[Record, ...] = ()) -> Estimate:
    low, high = association.low, association.high
    return Estimate(value=association.value, ci_low=low, ci_high=high, n=association.n, records=records)


@sentence_of("consistency_and_performance", topic="Consistency and performance")
def _correlation_sentence(finding: Finding) -> str:
    word = {Verdict.HIGHER: "higher", Verdict.LOWER: "lower"}.get(finding.verdict)
    claim = f"Languages with higher consistency have {word} scores." if word else "No clear relation."
    return _named(finding, f"{claim} {association_sentence(Association(**finding.about['association']))}")


def _sections(run: Run) -> list[Section]:
    models = explained_models(run)
    sections = (
        _consistency_section(models, run),
        _performance_section(models),
        _relation_section(models),
        _matrices_section(models),
        _trust_section(models, run),
    )
    return [section for section in sections if section is not None]


def _consistency_section(models: Sequence[ExplainedModel], run: Run) -> Section:
    """The differences to both controls that are drawn and judged, and every number behind them per language."""
    # The first screen has the verdict on a lone model.
    verdicts = [judge_model(model) for model in models]
    findings = verdicts if len(models) > 1 or run.kind != "explain" else []
    findings = [
        *findings,
        *(replace(f, kind="lead_over_heads") for f in verdicts if f.verdict in (Verdict.HIGHER, Verdict.UNCLEAR)),
        *(finding for model in models if (finding := find_weak_languages(model)) is not None),
    ]
    is_judged = any(model.learnt for model in models)
    rows: list[tuple[Cell, ...]] = []
    for model in models:
        for code in model.others:
            cell, lead = model.cells[code], model.leads.get(code)
            controls = (_control(cell, "shuffled"), _control(cell, "random"), lead_over_random(cell).difference.value)
            judged = (None, None, None) if lead is None else (lead.control, lead.difference, lead.difference.p_adjusted)
            rows.append((model.name, model.language(code), cell.estimate(), *controls, *judged))
    columns: dict[str, Display] = {
        "Model": "text", "Language": "text", "Consistency": "decimal3", "Shuffled": "decimal3", "Random": "decimal3",
        "Lead": "decimal3", "Heads’ lead": "decimal3", "Difference": "decimal3", "p": "p_value",
    }  # fmt: skip
    note = (
        "Shuffled: texts of other examples. Random: the same attributions dealt to the words at random. Lead: "
        "consistency less random; Heads’ lead: the same of untrained heads on the same model. Difference: lead less "
        "heads’ lead, with its 95 % interval; p after Holm’s correction over languages. Empty where the model is at "
        "chance or was not compared with untrained heads."
    )
    table = _table("consistency-languages", "Consistency per language", columns, rows, note, terminal=is_judged)
    return Section(
        name="same-words", title="Consistency beside its controls", findings=tuple(findings), text=_METHOD,
        charts=_charts(_difference_chart, [model for model in models if model.learnt]),
        tables=(table,), terminal=True,
    )  # fmt: skip


def _table(
    name: str, title: str, columns: Mapping[str, Display], rows: Sequence[tuple[Cell, ...]], note: str,
    *, terminal: bool = False,
) -> Table:  # fmt: skip
    """A table; the column of model names is left out where a run has one model. Judged numbers have their interval."""
    skipped = 0 if any(row[0] for row in rows) else 1
    shown = tuple(
        Column(title=escape_control_characters(head), display=display, interval=head in _WITH_INTERVAL)
        for head, display in list(columns.items())[skipped:]
    )
    cells = tuple(row[skipped:] for row in rows)
    return Table(name=name, title=title, columns=shown, rows=cells, note=note, terminal=terminal)


_WITH_INTERVAL = {"Difference", "Score", "ρ", "Probability lost"}


def _charts(draw: Callable[[ExplainedModel], Chart], models: Sequence[ExplainedModel]) -> tuple[Chart | ChartMenu, ...]:
    """A chart of each model, under a menu where there are several."""
    charts: dict[tuple[str, ...], Chart] = {(model.name,): draw(model) for model in models}
    return charts_under_menus(next((chart.name for chart in charts.values()), ""), ("Model",), charts)


def _difference_chart(model: ExplainedModel) -> IntervalChart:
    rows = []
    for code in model.learnt:
        leads = {"random attributions": lead_over_random(model.cells[code]), "untrained heads": model.leads.get(code)}
        for group, lead in leads.items():
            if lead is not None:
                rows.append(IntervalRow(label=model.language(code), group=group, estimate=lead.difference))
    note = (
        "Intervals (95 %) are those of the differences: to random attributions, and of that lead to the one of "
        "untrained heads. A model is credited where the second lies above 0. Languages at chance are left out."
    )
    return IntervalChart(
        name="consistency-above-controls", title="Consistency above its controls", note=note, rows=tuple(rows),
        x=Axis(title="difference in consistency", display="decimal3"),
        references=(ReferenceLine(label="no difference", values=(0.0,)),),
    )  # fmt: skip


def _trained(models: Sequence[ExplainedModel]) -> list[ExplainedModel]:
    """Each model once, whatever aspects of it were explained: all have its scores."""
    seen: dict[tuple[Any, ...], ExplainedModel] = {}
    for model in models:
        seen.setdefault(tuple(getattr(model, name) for name in _KEY), model)
    return [model for model in seen.values() if model.standings]


def _performance_section(models: Sequence[ExplainedModel]) -> Section | None:
    """Whether each model has learnt the task, in every language."""
    trained = _trained(models)
    if not trained:
        return None
    rows: list[tuple[Cell, ...]] = []
    for model in trained:
        for code, standing in model.standings.items():
            always = "" if standing.always is None else escape_control_characters(standing.always) or "nothing"
            level = (standing.lowest, standing.lowest.null_value, standing.reached_by)
            verdict = "yes" if standing.is_learnt else "no"
            rows.append((model.name, model.language(code), standing.metric, *level, always, verdict))
    columns: dict[str, Display] = {
        "Model": "text", "Language": "text", "Metric": "text", "Score": "percent", "Chance": "percent",
        "Reached by": "text", "Always answers": "text", "Above chance": "text",
    }  # fmt: skip
    note = "A score is above chance where its 95 % interval is, and the answers are not all the same."
    return Section(
        name="beside-chance", title="Performance beside chance", terminal=True,
        text=("Attributions of a model at chance do not describe the task: other charts leave them out.",),
        charts=_charts(_performance_chart, trained),
        tables=(_table("performance-beside-chance", "Performance beside chance", columns, rows, note, terminal=True),),
    )  # fmt: skip


def _performance_chart(model: ExplainedModel) -> IntervalChart:
    rows = (
        IntervalRow(label=model.language(s.language), group="score", estimate=s.lowest, reference=s.lowest.null_value)
        for s in model.standings.values()
    )
    return IntervalChart(
        name="scores-beside-chance", title="Performance beside chance", rows=tuple(rows),
        note="Dots with 95 % intervals; crosses are the chance level of each language.",
        x=Axis(title=model.metric, display="percent", zero=True),
    )  # fmt: skip


def _relation_section(models: Sequence[ExplainedModel]) -> Section | None:
    """Consistency against performance (Wang et al. 2021, Fig. 2), from five languages on."""
    related = [model for model in models if model.correlate() is not None]
    if not related:
        return None
    rows: list[tuple[Cell, ...]] = []
    for model in related:
        for languages, with_source in (("without the source", False), ("all", True)):
            association = model.correlate(with_source=with_source)
            if association is not None:
                numbers = (association.p, association.least_p, association.detectable)
                behind = [side.records for _, x, y in model.points(with_source=with_source) for side in (x, y)]
                rho = _estimate_of(association, tuple(record for records in behind for record in records))
                rows.append((model.name, languages, association.n, rho, *numbers))
    columns: dict[str, Display] = {
        "Model": "text", "Languages": "text", "Number": "count", "ρ": "number", "p": "p_value", "Least p": "p_value",
        "Detectable": "number",
    }  # fmt: skip
    note = (
        "Spearman’s ρ with its 95 % interval; p by permutations. Least p: the smallest that this number of languages "
        "allows. Detectable: the smallest |ρ| that they show with 80 % power."
    )
    text = "One dot per language above chance but that of training, whose consistency is 1 by construction."
    return Section(
        name="relation", title="Consistency and performance", text=(text,), terminal=True,
        findings=tuple(finding for model in related if (finding := find_correlation(model)) is not None),
        charts=_charts(_relation_chart, related),
        tables=(_table("correlation", "Correlation of consistency and performance", columns, rows, note),),
    )  # fmt: skip


def _relation_chart(model: ExplainedModel) -> ScatterChart:
    points = model.points()
    trend = fit_trend([x.value for _, x, _ in points], [y.value for *_, y in points])
    dots = (
        Dot(label=model.language(code), x=x.value, y=y.value, records=(*x.records, *y.records)) for code, x, y in points
    )
    return ScatterChart(
        name="consistency-and-performance", title="Consistency and performance", dots=tuple(dots), trend=trend.line,
        note=f"{trend.text} Correlation does not imply causation.", y=Axis(title=model.metric, display="percent"),
        x=Axis(title="consistency of attributions", display="number"),
    )  # fmt: skip


def _matrices_section(models: Sequence[ExplainedModel]) -> Section:
    """Source by target, as the tables of Wang et al. 2021, each control beside the consistency."""
    codes = list(dict.fromkeys(code for model in models for code in model.cells))
    rows: list[tuple[Cell, ...]] = []
    scores: list[tuple[Cell, ...]] = []
    for model in models:
        for title, control in (
            ("consistency", ""), ("random attributions", "random"), ("shuffled texts", "shuffled"),
            ("untrained heads", "heads"),
        ):  # fmt: skip
            cells = {
                code: mean
                for code, records in model.cells.items()
                if (mean := _control(records, control) if control else records.estimate()) is not None
            }
            if cells:
                rows.append((model.name, model.language(model.source), title, *_across(cells, codes, model.source)))
    for model in _trained(models):
        means = {code: standing.mean for code, standing in model.standings.items() if code in codes}
        if means:
            name = (model.name, model.language(model.source), model.metric)
            scores.append((*name, *_across(means, codes, model.source)))
    note = (
        "Means over seeds. Overall: over all languages, the source included, whose consistency is 1 by construction. "
        "Others: without the source."
    )

    def matrix(name: str, title: str, kind: str, lines: Sequence[tuple[Cell, ...]], display: Display) -> Table:
        columns: dict[str, Display] = {"Model": "text", "Source": "text", kind: "text"}
        return _table(name, title, columns | dict.fromkeys([*codes, "Overall", "Others"], display), lines, note)

    tables = (
        matrix("consistency", "Consistency of attributions and its controls", "Attributions", rows, "decimal3"),
        matrix("performance", "Performance on what is explained", "Metric", scores, "percent"),
    )
    shown = tuple(table for table in tables if table.rows)
    return Section(name="consistency-tables", title="Tables as in Wang et al. 2021", tables=shown, folded=True)


def _across(cells: Mapping[str, Estimate], codes: Sequence[str], source: str) -> tuple[Cell, ...]:
    """A cell per language, then the mean over all languages and over those but the source."""
    others = [estimate for code, estimate in cells.items() if code != source]
    last = mean_estimate(others) if others else None
    return (*(cells.get(code) for code in codes), mean_estimate(cells.values()), last)


def _trust_section(models: Sequence[ExplainedModel], run: Run) -> Section | None:
    """Whether attributions are about the model at all, and how much depends on what the paper leaves open."""
    tables = tuple(table for table in (_faithfulness_table(models, run), _choices_table(models, run)) if table.rows)
    if not tables:
        return None
    findings = tuple(finding for model in models if (finding := judge_faithfulness(model, run)) is not None)
    title = "How far to trust it"
    return Section(name="trust", title=title, findings=findings, tables=tables, folded=True, terminal=bool(findings))


def _faithfulness_table(models: Sequence[ExplainedModel], run: Run) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (model.name, model.language(code), metric, estimate, estimate.null_value)
        for model in models
        for code in model.cells
        for metric in ("comprehensiveness", "sufficiency")
        if (estimate := _faithfulness(run, model, code, metric)) is not None
    ]
    columns: dict[str, Display] = {
        "Model": "text", "Language": "text", "Metric": "text", "Probability lost": "decimal3", "Random": "decimal3",
    }  # fmt: skip
    note = (
        "Probability lost without the first 1 to 50 % of the tokens (comprehensiveness: high is good) and with these "
        "alone (sufficiency: low is good; DeYoung et al. 2020). Random: the same for random attributions."
    )
    return _table("faithfulness", "Faithfulness of attributions", columns, rows, note)


def _choices_table(models: Sequence[ExplainedModel], run: Run) -> Table:
    """The consistency under each unit and weighting: how much depends on what Wang et al. 2021 leave open."""
    rows: list[tuple[Cell, ...]] = []
    for model in models:
        key = {name: getattr(model, name) for name in (*_KEY, "aspect")}
        records = run.records.of("consistency-choices", "consistency", target=model.others, **key)
        # `by("unit")` would be the field, which says what the run itself compared.
        groups: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            groups.setdefault((record.options["unit"], record.options["weighting"]), []).append(record)
        for choice, group in groups.items():
            table = RecordTable(group)
            rows.append((model.name, *choice, table.estimate(), _control(table, "shuffled"), _control(table, "random")))
    columns: dict[str, Display] = {
        "Model": "text", "Unit": "text", "Weighting": "text", "Consistency": "decimal3", "Shuffled": "decimal3",
        "Random": "decimal3",
    }  # fmt: skip
    note = "Means over languages other than the source, on the first 500 examples of each."
    return _table("choices", "Choices that Wang et al. 2021 leave open", columns, rows, note)


def _headline(run: Run) -> Headline | None:
    models = explained_models(run)
    if not models:
        return None
    verdicts = [judge_model(model) for model in models]
    # The answer on several models counts their verdicts itself.
    figures = tuple(_figures(models[0], verdicts[0], run)) if len(models) == 1 else ()
    wrong = wrong_predictions_figure(run)
    shown = list(short_names([model.model for model in models]).values())
    subject = f"Does {shown[0]}" if len(shown) == 1 else f"Do {len(shown)} models"
    codes = dict.fromkeys(code for model in models for code in (model.source, *model.cells))
    names = [models[0].language(code) for code in codes]
    where = join_with_and(names if len(names) < 4 else [names[0], f"{len(names) - 1} other languages"])
    counts = [_fewest(model.cells[code]) for model in models for code in model.others] or [0]
    number = f"{'' if len(set(counts)) == 1 else f'{min(counts):,} to '}{pluralize(max(counts), 'example')}"
    languages = pluralize(len({code for model in models for code in model.others}), "language")
    tasks = join_with_and(sorted({escape_control_characters(model.task) for model in models if model.task}))
    units = join_with_and(sorted({model.unit for model in models}))
    return Headline(
        title=f"{subject} look at the same words in {where}?",
        answer=verdicts[0] if len(verdicts) == 1 else compare_models(verdicts),
        figures=(*figures, *([] if wrong is None else [wrong])),
        measured=f"{number} in {languages}, compared with the language of training; task {tasks}; attributions of "
        f"{units}.",
        next_step=_next_step(models[0], run),
    )


def _figures(model: ExplainedModel, verdict: Finding, run: Run) -> Iterator[KeyFigure]:
    """Consistency beside its controls where it may be judged, else the score beside chance."""
    if verdict.verdict is Verdict.AT_CHANCE:
        weak = model.weak[0]
        label = f"{weak.metric}, {model.language(weak.language)}"
        yield KeyFigure(label=label[:1].upper() + label[1:], estimate=weak.lowest)
    elif model.learnt:
        consistency = mean_estimate(model.cells[code].estimate() for code in model.learnt)
        remark = f"random attributions {format_number(verdict.about['random'], 3)}"
        yield KeyFigure(label="Consistency", estimate=consistency, display="decimal3", remark=remark)
        if isinstance(verdict.estimate, Difference):
            remark = "lead over random attributions, less theirs"
            yield KeyFigure(label="Above untrained heads", estimate=verdict.estimate, display="decimal3", remark=remark)
        faithful = judge_faithfulness(model, run)
        if faithful is not None:
            text = "yes" if faithful.verdict is Verdict.HIGHER else "not shown"
            remark = f"in {len(faithful.about['above'])} of {pluralize(len(faithful.about['languages']), 'language')}"
            yield KeyFigure(label="Faithful", text=text, remark=remark, link="trust")


def _next_step(model: ExplainedModel, run: Run) -> str:
    """The command that explains the first wrong prediction; of a model that has learnt nothing, to train it."""
    if model.source in model.standings and not model.has_learnt:
        return "Train the model longer, or on more examples, and explain it again."
    first, files = first_wrong(example_collection(run).predictions), run.about.get("data") or {}
    if first is None:
        return ""
    tests = [f"--test {code}={files.get(code, 'FILE')}" for code in dict.fromkeys((model.source, first.language))]
    command = f"interlingua explain {model.model} {' '.join(tests)} --row {first.first}"
    return f"Look at the first wrong prediction: `{escape_control_characters(command)}`."


def _numbers(run: Run) -> dict[str, Estimate]:
    """Consistency and performance of every language but the source; no consistency of a model at chance."""
    numbers: dict[str, Estimate] = {}
    models = explained_models(run)

    def named(model: ExplainedModel, number: str, code: str) -> str:
        return f"{f'{model.name}: ' if model.name else ''}{number}, {model.language(code)}"

    for model in models:
        consistency = f"consistency, {escape_control_characters(model.aspect)}"
        numbers |= {named(model, consistency, code): model.cells[code].estimate() for code in model.learnt}
    for model in _trained(models):
        others = {code: standing for code, standing in model.standings.items() if code != model.source}
        numbers |= {named(model, standing.metric, code): standing.mean for code, standing in others.items()}
    return numbers


SUBJECT = Subject(
    name="attribution",
    applies=lambda run: bool(run.records.of("consistency", "consistency")),
    sections=_sections,
    headline=_headline,
    numbers=_numbers,
)
