"""Runs of audits for tests of what a report makes of them: random numbers with the structure of real ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from interlingua.record import Record, RecordTable
from interlingua.report.kit.section import Run

SKILL = dict(
    zip(
        ("en", "es", "ru", "vi", "hi", "de", "fr", "tr", "be", "uk", "pl", "zh", "ar", "pt", "ja", "sw", "bn"),
        (1, 0.95, 0.85, 0.7, 0.55, 0.95, 0.97, 0.7, 0.6, 0.75, 0.8, 0.75, 0.65, 0.93, 0.7, 0.3, 0.4),
        strict=True,
    )
)
"""How well a language is aligned, from 0 to 1."""
RAW = {"similarity": "cosine", "centering": "raw"}
CENTRED = {"similarity": "cosine", "centering": "centred"}


def make_record(measure: str, metric: str, value: float, **fields: Any) -> Record:
    """A record of English and Russian at layer 1 with an interval of ± 0.03, or as `fields` say."""
    usual: dict[str, Any] = {
        "model": "lab/multilingual-small", "source": "en", "target": "ru", "layer": 1, "n": 600, "seed": 0,
        "ci_low": value - 0.03, "ci_high": value + 0.03, "digests": {"corpus": "cd34"},
    }  # fmt: skip
    return Record(**{**usual, "measure": measure, "metric": metric, "value": value, **fields})


def make_records(codes: Sequence[str], layers: Sequence[int], *, n: int = 600, seed: int = 0) -> list[Record]:
    """All measures of a plain audit, best at layer 4."""
    draw = random.Random(seed)
    found: list[Record] = []

    def add(
        measure: str, metric: str, value: float, pair: tuple[str, str | None], layer: int | None, **more: Any
    ) -> None:
        found.append(
            make_record(measure, metric, value, source=pair[0], target=pair[1], layer=layer, **{"n": n, **more})
        )

    for pair in itertools.combinations(codes, 2):
        skill = SKILL[pair[0]] * SKILL[pair[1]]
        for layer in layers:
            value = min(max(skill * (1 - abs(layer - 4) / 7) + draw.uniform(-0.02, 0.02), 0), 1)
            for options, share in ((RAW, 0.75), (CENTRED, 1.0)):
                for way, less in ((1, 0.0), (-1, 0.02)):
                    p = max(share * value - less, 0)
                    add("retrieval", "p@1", p, pair[::way], layer, options=options, null_value=1 / n)
                    add("retrieval", "mrr", min(p + 0.1, 1), pair[::way], layer, options=options, null_value=0.01)
            add("cka", "cka", 0.9 * value, pair, layer, options={"form": "debiased"}, null_value=0.001)
            add("cka", "cka", 0.5 + 0.4 * value, pair, layer, options={"form": "plain"}, null_value=0.43)
            for name, gain in (("mapped", 0.05), ("identity", 0.0)):
                p = min(0.8 * value + gain, 1)
                add("procrustes", "p@1", p, pair, layer, options={"map": name}, null_value=0.01, n=120)
            counts = [round(400 * 2.718 ** (-((b - 10 - 8 * (1 - value)) ** 2) / 40)) for b in range(40)]
            details = {"edges": [b / 40 for b in range(41)], "related": counts, "unrelated": counts[::-1]}
            add("separation", "auc", 0.5 + value / 2, pair, layer, options={"distance": "cosine"}, null_value=0.5,
                details=details, unit="word")  # fmt: skip
        for side, code in zip(("source", "target"), pair, strict=True):
            for metric, value in (("fertility", 2.9 - 1.6 * SKILL[code]), ("continued", 0.3), ("unknown", 0.001)):
                add("tokenization", metric, value, pair, None, options={"side": side}, unit="token")
        add("tokenization", "overlap", skill / 2, pair, None, ci_low=None, ci_high=None, unit="token")
        add("tokenization", "agreement", 0.6 + skill / 3, pair, None, null_value=0.5, unit="token")
        add("spelling", "tnld", max(0.8 - 0.7 * skill, 0), pair, None, null_value=0.85, unit="name")
    for code, layer in itertools.product(codes, layers):
        add("isotropy", "average-cosine", 0.2 + 0.08 * layer, (code, None), layer, unit="word", null_value=0.0)
    return found


def make_run(records: Iterable[Record], **about: Any) -> Run:
    """An audit with these records."""
    table = RecordTable(records)
    codes = list(dict.fromkeys(code for r in table for code in (r.source, r.target) if code))
    usual = {"kind": "audit", "model": "lab/multilingual-small", "corpus": "sampler", "languages": codes,
             "digests": {"corpus": "cd34"}}  # fmt: skip
    points = about.pop("points", None)
    return Run(kind="audit", about={**usual, **about}, records=table,
               attachments={} if points is None else {"points": points})  # fmt: skip


def changed(records: Iterable[Record], how: Callable[[Record], dict[str, Any] | None]) -> list[Record]:
    """The records with those fields changed that `how` gives of each; None leaves one as it is."""
    return [record if (fields := how(record)) is None else replace(record, **fields) for record in records]
