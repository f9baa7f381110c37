"""Consistency of attributions as tables in the manner of papers/002, its correlation with performance as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from interlingua.report.evidence import association_said
from interlingua.report.explain_picture import LEAST, aspects, selected, short_names
from interlingua.report.tables import Table
from interlingua.report.wording import language_name, listing, number, visible
from interlingua.stats import Association, above_draws, correlate

Found = Mapping[str, Any]


def consistency_tables(records: Sequence[Found], run: Found) -> list[Table]:
    """One row a model and source language, a column a language, as papers/002's Tables 1 to 3 and 5; and both controls.

    `overall` is the mean over all languages, the source included, as the paper has it; `others` is without it.
    """
    tables = []
    for aspect in aspects(records):
        cells = selected(records, "consistency", aspect)
        for name, pick, what in (
            ("", lambda each: each["value"], "Consistency of attributions"),
            ("-null", lambda each: each["null"], "Shuffled pairs: consistency with other examples' texts"),
            ("-random", lambda each: each["details"]["random"], "Random attributions on the same texts"),
        ):
            title = f"{what}, {visible(aspect)}"
            caption = (
                "Earth mover's similarity, 0 to 1: flow times cosine, summed; a text beside itself is 1. 'overall' is "
                "over all languages, 'others' without the source."
            )
            tables.append(_matrix(f"consistency-{aspect}{name}", title, caption, cells, run, pick))
    return tables


def performance_table(records: Sequence[Found], run: Found) -> Table:
    """The task's own metric for every model and language, as papers/002's Table 4."""
    cells = selected(records, "task", run["metric"])
    title = f"Performance: {visible(run['metric'])}"
    return _matrix(
        "performance", title, "In each language, by the model named.", cells, run, lambda each: each["value"]
    )


def _matrix(
    name: str, title: str, caption: str, cells: Mapping[tuple[str, str, str], Found], run: Found, pick: Any
) -> Table:
    languages, names = run["languages"], short_names(run)
    rows = []
    for model, source in run["models"]:
        line = [cells.get((model, source, language)) for language in languages]
        values = [None if each is None else pick(each) for each in line]
        known = [value for value in values if value is not None]
        others = [value for value, code in zip(values, languages, strict=True) if value is not None and code != source]
        rows.append((names[model], source, *values, mean_of(known), mean_of(others)))
    heads = ("model", "source", *(visible(code) for code in languages), "overall", "others")
    return Table(name, title, caption, heads, tuple(rows))


@dataclass(frozen=True)
class Above:
    """How far consistency lies above a control, with its 95 % interval (None where it has none).

    `own` and `control` are the two numbers in thousandths as they are printed, and `value` is their difference.
    """

    own: float
    control: float
    low: float | None
    high: float | None

    @property
    def value(self) -> float:
        """The difference of the two numbers as they are printed."""
        return round(self.own - self.control, 3)

    @property
    def sure(self) -> bool:
        """Whether the interval lies above 0."""
        return self.low is not None and self.low > 0 and self.value > 0


def above_random(records: Sequence[Found]) -> Above:
    """The consistency of records above that of random attributions; values and bounds are averaged."""
    own = float(np.mean([each["value"] for each in records]))
    control = float(np.mean([each["details"]["random"] for each in records]))
    ends = [_ends(each) for each in records]
    low, high = (
        None if any(end[place] is None for end in ends) else mean_of([end[place] or 0.0 for end in ends])
        for place in (1, 2)
    )
    return Above(round(own, 3), round(control, 3), low, high)


def _ends(record: Found) -> Sequence[float | None]:
    """What a record has above random attributions, with its interval; older ones have no interval of it."""
    ends: Sequence[float | None] = record["details"].get("above_random") or (None, None, None)
    return ends


def above_heads(records: Sequence[Found]) -> Above | None:
    """What records of one model have above random attributions, less what random heads on its body have above theirs.

    Attributions that are more even find more of each other whatever they lie on, so each head is compared with its own
    attributions dealt at random first. Head by head means over the records (languages, seeds) are the control's draws;
    their spread counts (`stats.above_draws`). None where a record was made without random heads.
    """
    heads = [each["details"].get("heads") for each in records]
    counts = {len(each["above_random"]) if each else 0 for each in heads}
    if len(counts) != 1 or counts == {0}:
        return None
    own = float(np.mean([_ends(each)[0] for each in records]))
    draws = np.mean([each["above_random"] for each in heads], axis=0)
    error = float(np.mean([each["error"] for each in heads]))
    _, low, high = above_draws(own, draws.tolist(), error=error)
    return Above(above_random(records).value, round(float(draws.mean()), 3), low, high)


@dataclass(frozen=True)
class Standing:
    """A model's score in a language beside chance: whether it has learnt the task there, and what to say if not."""

    code: str
    metric: str
    value: float
    low: float | None
    high: float | None
    level: float | None
    by: str
    always: str | None
    learnt: bool

    @classmethod
    def of(cls, records: Sequence[Found]) -> Standing:
        """That of the seeds of one language: it has learnt where every seed has; shown is the lowest."""
        told = [{**each, "chance": (each.get("details") or {}).get("chance") or {}} for each in records]
        worst = min(told, key=lambda each: (bool(each["chance"].get("above")), each["value"]))
        chance = worst["chance"]
        return cls(
            worst["target"], worst["variant"], worst["value"], worst["low"], worst["high"],
            chance.get("level"), chance.get("by", ""), chance.get("always"), bool(chance.get("above")),
        )  # fmt: skip

    def said(self, run: Found, *, short: bool = False) -> str:
        """The language with score, chance level, and the one answer where all are one; `short`: the two numbers."""
        if short:
            level = "" if self.level is None else f"; chance {number(self.level, 3)}"
            always = "" if self.always is None else f"; always {visible(self.always) or 'nothing'!r}"
            return f"{language_name(self.code, run)} ({number(self.value, 3)}{level}{always})"
        within = "" if self.low is None else f", 95\N{NO-BREAK SPACE}% {number(self.low, 3)} to {number(self.high, 3)}"
        level = "not known" if self.level is None else f"{number(self.level, 3)}, {visible(self.by)}"
        always = "" if self.always is None else f"; the model always says {visible(self.always) or 'nothing'!r}"
        name = language_name(self.code, run)
        return f"{name} ({visible(self.metric)} {number(self.value, 3)}{within}; chance {level}{always})"


@dataclass(frozen=True)
class Verdict:
    """What may be said of a model and aspect: `chance`, `unmeasured`, `above` or `not above`, and the sentence."""

    model: str
    source: str
    aspect: str
    kind: str
    sentence: str
    above: Above | None = None
    languages: tuple[str, ...] = ()
    weakest: str = ""
    """The language of training, else the first that is at chance, with its score and the chance level; or nothing."""


def verdict(
    name: str,
    source: str,
    aspect: str,
    cells: Mapping[str, Sequence[Found]],
    scores: Mapping[str, Sequence[Found]],
    run: Found,
) -> Verdict:
    """The one sentence on where a model's attributions lie; none of that where it is at chance.

    `cells` are records of consistency by language (one for each seed), `scores` those of the task's own metric. A
    language in which the model is not shown to be above chance is left out, and all are where that of training is.
    """
    standings = {code: Standing.of(its) for code, its in scores.items()}
    weak = sorted((each for each in standings.values() if not each.learnt), key=lambda each: each.code != source)
    others = tuple(code for code in cells if code != source and code in standings and standings[code].learnt)
    told = [each.said(run, short=at > 0) for at, each in enumerate(weak)]
    chance = f"{name} is not shown to be above chance in {listing(told)}." if weak else ""

    def made(kind: str, text: str, above: Above | None = None) -> Verdict:
        weakest = weak[0].said(run, short=True) if weak else ""
        return Verdict(
            name, source, aspect, kind, " ".join([chance, text]).strip(), above, others if above else (), weakest
        )

    if source not in standings:
        text = f"Whether {name} is above chance in {language_name(source, run)} is not in these records: run it again."
        return made("chance", text)
    if not standings[source].learnt or not others:
        rest = "Nothing is concluded from its attributions." if weak else f"{name} has no other language to compare."
        return made("chance" if weak else "unmeasured", rest)
    records = [each for code in others for each in cells[code]]
    levels, above = _levels_of(records), above_heads(records)
    if above is None:
        text = f"{name} was not compared with random heads, without which consistency ({levels}) proves nothing."
        return made("unmeasured", text)
    heads = len(records[0]["details"]["heads"]["above_random"])
    between = f"{language_name(source, run)} and {listing([language_name(code, run) for code in others])}"
    units = units_of_run(run)
    said = (
        f"Yes: attributions of {name} lie on similar {units} in {between} more than those of {heads} untrained heads"
        if above.sure
        else f"No: it can’t be shown that {name} looks at similar {units} in {between} more than untrained heads do"
    )
    within = "" if above.low is None else f" (95\N{NO-BREAK SPACE}% {number(above.low, 3)} to {number(above.high, 3)})"
    figures = (
        f"above random attributions it scores {number(above.own, 3)}, {heads} untrained heads on the same body "
        f"{number(above.control, 3)}; the difference is {number(above.value, 3)}{within}"
    )
    return made("above" if above.sure else "not above", f"{said}: {figures}. Consistency: {levels}.", above)


def _levels_of(records: Sequence[Found]) -> str:
    """The score and its first two controls, means over records."""
    null = mean_of([each["null"] for each in records if each["null"] is not None])
    told = [number(mean_of([each["value"] for each in records]), 3)]
    told.append(f"random attributions {number(mean_of([each['details']['random'] for each in records]), 3)}")
    told += [] if null is None else [f"other examples’ texts {number(null, 3)}"]
    return ", ".join(told)


def units_of_run(run: Found) -> str:
    """What bears attributions: the pieces that the tokenizer cuts words into, where the run has no whole words."""
    return "word pieces" if (run.get("settings") or {}).get("unit") == "token" else "words"


def named(run: Found, model: str, source: str) -> str:
    """What a model is called in a sentence: with its language of training where there are several."""
    return short_names(run)[model] + (f" (trained in {visible(source)})" if len(run["models"]) > 1 else "")


def verdicts(records: Sequence[Found], run: Found) -> list[Verdict]:
    """One for each aspect and model of an explanation."""
    scores, found = selected(records, "task", run["metric"]), []
    for aspect in aspects(records):
        cells = selected(records, "consistency", aspect)
        for model, source in run["models"]:
            own, right = (
                {code: [each[model, source, code]] for code in run["languages"] if (model, source, code) in each}
                for each in (cells, scores)
            )
            found.append(verdict(named(run, model, source), source, aspect, own, right, run))
    return found


def learnt_languages(records: Sequence[Found], run: Found, model: str, source: str) -> list[str]:
    """The languages in which a model is above chance, in order; none where it is not in the language of training.

    Attributions of the others say nothing of the model, so that no figure and no correlation has them.
    """
    scores = selected(records, "task", run["metric"])
    learnt = {
        code
        for code in run["languages"]
        if (key := (model, source, code)) in scores and Standing.of([scores[key]]).learnt
    }
    return [code for code in run["languages"] if code in learnt] if source in learnt else []


def lead(found: Sequence[Verdict]) -> str:
    """The first sentence: that of the only model, or how many models are at chance and how many above the control."""
    first = [each for each in found if each.aspect == found[0].aspect] if found else []
    if not first:
        return "Nothing has been compared yet: run the same command again."
    if len(first) == 1:
        return first[0].sentence
    kinds = {
        "chance": "not shown to be above chance, and nothing is said of their attributions",
        "unmeasured": "not compared with random heads, and nothing is said of their attributions",
        "not above": "not shown to have attributions on similar words more than untrained heads do",
        "above": "with attributions on similar words more than those of untrained heads",
    }
    counts = {
        kind: [
            f"{each.model}, {each.weakest}" if kind == "chance" and each.weakest else each.model
            for each in first
            if each.kind == kind
        ]
        for kind in kinds
    }
    told = [f"{len(names)} {kinds[kind]} ({listing(names)})" for kind, names in counts.items() if names]
    return f"Of {len(first)} models {'; '.join(told)}."


def heads_table(records: Sequence[Found], run: Found) -> Table | None:
    """What is above random attributions, beside the same of random heads, with the interval of the difference."""
    rows = []
    for aspect in aspects(records):
        for (model, source, code), each in selected(records, "consistency", aspect).items():
            above = above_heads([each])
            if above is not None and code != source:
                name = short_names(run)[model]
                numbers = (above.own, above.control, above.value, above.low, above.high)
                rows.append((name, visible(source), visible(code), visible(aspect), *numbers))
    heads = ("model", "source", "language", "what", "above random", "random heads", "difference", "low", "high")
    caption = (
        "Consistency less that of the same attributions dealt to words at random: of the model, and of the same body "
        "under untrained heads. The interval of the difference counts heads and examples."
    )
    return Table("random-heads", "Above untrained heads", caption, heads, tuple(rows)) if rows else None


def chance_table(records: Sequence[Found], run: Found) -> Table | None:
    """Every model's score in every language beside the chance level."""
    rows = []
    for (model, _, code), each in selected(records, "task", run["metric"]).items():
        own = Standing.of([each])
        answer = "" if own.always is None else visible(own.always)
        told = (own.value, own.low, own.high, own.level, visible(own.by), answer, "yes" if own.learnt else "no")
        rows.append((short_names(run)[model], visible(code), *told))
    heads = ("model", "language", visible(run["metric"]), "low", "high", "chance", "reached by", "always says", "above")
    caption = "A score is above chance where its 95 % interval is. Nothing is said of what a model at chance looks at."
    return Table("chance", "Performance beside chance", caption, heads, tuple(rows)) if rows else None


def mean_of(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return float(np.mean(values)) if values else None


def faithfulness_table(records: Sequence[Found], run: Found) -> Table | None:
    """Comprehensiveness and sufficiency of every language beside those of random attributions."""
    rows = [
        (
            short_names(run)[each["model"]],
            each["target"],
            visible(each["variant"]),
            each["value"],
            each["low"],
            each["high"],
            each["null"],
        )
        for each in records
        if each["measure"] == "faithfulness"
    ]
    caption = (
        "Probability lost without the first 1 to 50 % of tokens (comprehensiveness, high is good) and with them alone "
        "(sufficiency, low is good; DeYoung et al. 2020)."
    )
    heads = ("model", "language", "what", "value", "low", "high", "random attributions")
    return Table("faithfulness", "Faithfulness of attributions", caption, heads, tuple(rows)) if rows else None


def choices_table(records: Sequence[Found], run: Found) -> Table | None:
    """The score under each unit and weighting: how much hangs on what papers/002 leaves open."""
    found = [each for each in records if each["measure"] == "consistency-choices" and each["source"] != each["target"]]
    groups: dict[tuple[str, str], list[Found]] = {}
    for each in found:
        groups.setdefault((each["model"], each["variant"]), []).append(each)
    rows = tuple(
        (
            short_names(run)[model],
            *variant.split("/"),
            mean_of([each["value"] for each in group]),
            mean_of([each["null"] for each in group if each["null"] is not None]),
            mean_of([each["details"]["random"] for each in group]),
        )
        for (model, variant), group in groups.items()
    )
    caption = "Means over languages other than the source, on the first 500 examples of each."
    heads = ("model", "what", "unit", "weights", "consistency", "shuffled pairs", "random attributions")
    return Table("choices", "What hangs on choices the paper leaves open", caption, heads, rows) if rows else None


def correlations(records: Sequence[Found], run: Found) -> list[dict[str, Any]]:
    """Spearman's rho of consistency and performance over languages, per model and aspect (papers/002 §3.4, Fig. 2).

    `without_source` leaves out the language of training, whose consistency is 1 by construction: one such point makes
    any correlation high. The paper does not say which it has. Languages in which the model is at chance are left out.
    Fewer than four languages, or one number for all of them, have no correlation, and there is none here.
    """
    told = []
    performance = selected(records, "task", run["metric"])
    for aspect in aspects(records):
        cells = selected(records, "consistency", aspect)
        for model, source in run["models"]:
            learnt = learnt_languages(records, run, model, source)
            for without in (True, False):
                keys = [
                    (model, source, code)
                    for code in learnt
                    if (model, source, code) in cells and (model, source, code) in performance
                ]
                keys = [key for key in keys if not (without and key[2] == source)]
                sides = [[each[key]["value"] for key in keys] for each in (cells, performance)]
                found = correlate(*sides) if len(keys) >= LEAST else None
                if found is not None:
                    about = {"model": model, "source": source, "aspect": aspect, "without_source": without}
                    told.append({**about, "languages": len(keys), **asdict(found)})
    return told


def correlation_said(each: Found) -> str:
    """A correlation in words: rho, its interval, p, of how many languages, and what so few could show."""
    found = Association(**{field.name: each[field.name] for field in fields(Association)})
    clear = "" if found.sign else "not shown to differ from 0: "
    return f"{clear}{association_said(found)}".removesuffix(".")


def correlation_table(found: Sequence[Found], run: Found) -> Table | None:
    """Correlations with their intervals."""
    rows = tuple(
        (
            short_names(run)[each["model"]],
            each["source"],
            visible(each["aspect"]),
            "without the source" if each["without_source"] else "all",
            each["languages"],
            each["value"],
            each["low"],
            each["high"],
            each["p"],
            each["detectable"],
            each["least_p"],
        )
        for each in found
    )
    heads = ("model", "source", "what", "languages", "n", "rho", "low", "high", "p", "detectable", "least p")
    caption = (
        "Spearman's rho over languages, 95 % interval, p by permutations. Detectable: the smallest |rho| that so few "
        "show with 80 % power; least p: the smallest that they allow (permutations). The source's own consistency is 1 "
        "by construction. Languages in which the model is not above chance are left out."
    )
    return Table("correlation", "Consistency and performance", caption, heads, rows) if rows else None


def all_tables(records: Sequence[Found], run: Found) -> list[Table]:
    """Every table there is something for."""
    found: list[Table | None] = [*consistency_tables(records, run), performance_table(records, run)]
    found += [heads_table(records, run), chance_table(records, run)]
    found += [correlation_table(correlations(records, run), run)]
    found += [choices_table(records, run), faithfulness_table(records, run)]
    return [table for table in found if table is not None]


def is_wrong(example: Found) -> bool:
    """Whether the model is wrong on one of the two sides, where that is known."""
    return any(example[name].get("gold") != example[name].get("predicted") for name in ("source", "target"))


def _said(told: Found) -> str:
    """What a side is, and what the model says where it is wrong."""
    if "gold" not in told:
        return ""
    wrong = told["gold"] != told["predicted"]
    return visible(f": {told['gold']}" + (f", but the model says {told['predicted']}" if wrong else ""))


def shaded(example: Found) -> dict[str, Any]:
    """An example to be shown: units with how strongly, and which way, each is shaded; and the strongest flows.

    It has two sides, or one where nothing of another language belongs to it.
    """
    sides = []
    for name in (name for name in ("source", "target") if name in example):
        told = example[name]
        most = max((abs(value) for value in told["attributions"]), default=0.0) or 1.0
        units = [
            {
                "text": visible(text),
                "strength": round(abs(value) / most, 2),
                "sign": "plus" if value >= 0 else "minus",
                "value": number(value, 3),
                "opens": at > 0 and told["side"][at] != told["side"][at - 1],
            }
            for at, (text, value) in enumerate(zip(told["units"], told["attributions"], strict=True))
        ]
        sides.append({"language": f"{example['languages'][name]}{_said(told)}", "units": units})
    flows = [
        {
            "from": visible(example["source"]["units"][i]),
            "to": visible(example["target"]["units"][j]),
            "share": number(f),
        }
        for i, j, f in example["flows"][:6]
    ]
    return {"sides": sides, "flows": flows, "score": number(example["score"], 3), "key": visible(str(example["key"]))}
