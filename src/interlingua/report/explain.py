"""Consistency of attributions as tables in the manner of papers/002, its correlation with performance as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interlingua.report.explain_picture import aspects, selected, short_names
from interlingua.report.tables import Table
from interlingua.report.wording import number, visible
from interlingua.stats import pearson

Found = Mapping[str, Any]

UNPAIRED = "Older records have no interval of the difference: it is that of consistency alone."


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
                "Earth mover's similarity, 0 to 1; a text beside itself is 1. 'overall' is over all languages, "
                "'others' without the source."
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
    """What consistency has over that of random attributions, and its interval: a mean over records.

    `paired` says whether the interval is of the differences, example by example. Records of older versions have no such
    interval: there it is that of consistency alone, moved.
    """

    value: float
    low: float | None
    high: float | None
    paired: bool

    @property
    def sure(self) -> bool:
        """Whether the interval lies above 0."""
        return self.low is not None and self.low > 0


def above_random(records: Sequence[Found]) -> Above:
    """What records of consistency have over random attributions; values and bounds are averaged."""
    paired = all("above_random" in each["details"] for each in records)
    rows: list[list[Any]] = [each["details"]["above_random"] if paired else _over_random(each) for each in records]
    values, lows, highs = ([row[place] for row in rows] for place in range(3))
    low, high = (None if None in ends else float(np.mean(ends)) for ends in (lows, highs))
    return Above(float(np.mean(values)), low, high, paired)


def _over_random(record: Found) -> list[float | None]:
    """Consistency and its bounds, less what random attributions reach."""
    ends = (record[name] for name in ("value", "low", "high"))
    return [None if end is None else end - record["details"]["random"] for end in ends]


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
    """Pearson's r of consistency and performance over languages, for every model and aspect (papers/002 §3.4, Fig. 2).

    `without_source` leaves out the language of training, whose consistency is 1 by construction: one such point makes
    any correlation high. The paper does not say which it has.
    """
    told = []
    performance = selected(records, "task", run["metric"])
    for aspect in aspects(records):
        cells = selected(records, "consistency", aspect)
        for model, source in run["models"]:
            for without in (True, False):
                keys = [
                    (model, source, code)
                    for code in run["languages"]
                    if (model, source, code) in cells and (model, source, code) in performance
                ]
                keys = [key for key in keys if not (without and key[2] == source)]
                if len(keys) < 3:
                    continue
                sides = [np.array([each[key]["value"] for key in keys]) for each in (cells, performance)]
                value, low, high = pearson(*sides)
                told.append(
                    {
                        "model": model,
                        "source": source,
                        "aspect": aspect,
                        "without_source": without,
                        "languages": len(keys),
                        "r": value,
                        "low": low,
                        "high": high,
                    }
                )
    return told


def correlation_table(found: Sequence[Found], run: Found) -> Table | None:
    """Correlations with their intervals."""
    rows = tuple(
        (
            short_names(run)[each["model"]],
            each["source"],
            visible(each["aspect"]),
            "without the source" if each["without_source"] else "all",
            each["languages"],
            each["r"],
            each["low"],
            each["high"],
        )
        for each in found
    )
    heads = ("model", "source", "what", "languages", "n", "r", "low", "high")
    caption = "Pearson's r over languages, 95 % interval (Fisher). The source's own consistency is 1 by construction."
    return Table("correlation", "Consistency and performance", caption, heads, rows) if rows else None


def all_tables(records: Sequence[Found], run: Found) -> list[Table]:
    """Every table there is something for."""
    found: list[Table | None] = [*consistency_tables(records, run), performance_table(records, run)]
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
