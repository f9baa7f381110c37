"""Runs of `interlingua adjust` made of drawn hits, as a report reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interlingua.measures.retrieval import METRICS as RETRIEVAL
from interlingua.record import Record, RecordTable
from interlingua.report.kit.section import Run
from interlingua.score import Score

N = 200
WAYS = ("", "/backward")
Shares = Mapping[str, Sequence[float]]
"""By text (`held-out`, `sampler`) the share of sentences found at each layer."""


def run_of(
    before: Shares,
    after: Shares | None,
    *,
    languages: Sequence[str] = ("ru",),
    n: int = N,
    items: bool = True,
    seeds: Sequence[int] = (0,),
    kind: str = "adjust",
    **about: Any,
) -> Run:
    """A run whose layer 1 was adjusted; the sampler's hits are the same in both states where its shares are."""
    records: list[Record] = []
    values: dict[str, np.ndarray[Any, Any]] = {}
    for code in languages:
        for seed in seeds:
            for number, (state, shares) in enumerate((("original", before), ("adjusted", after))):
                if shares is None:
                    continue
                shared = Record(
                    measure="retrieval", model="m", source="en", target=code, state=state, seed=seed, corpus="x.tsv"
                )
                for text, of_layer in shares.items():
                    same = after is not None and before[text] == after.get(text)
                    draw = np.random.default_rng(
                        [len(text), seed, 0 if text == "sampler" and same else number, *code.encode()]
                    )
                    for layer, share in enumerate(of_layer):
                        for centering in ("raw", "centred"):
                            for way in WAYS:
                                hits = (draw.random(n) < share).astype(float)
                                place = f"items#{len(values)}"
                                values[place] = hits
                                score = Score(value=float(hits.mean()), n=n, null=1 / n,
                                              low=hits.mean() - 0.07, high=hits.mean() + 0.07)  # fmt: skip
                                fields: dict[str, Any] = {"layer": layer, "items": place if items else None}
                                if text == "sampler":
                                    fields["corpus"] = "sampler"
                                key = f"p@1/cosine/{centering}{way}"
                                records.append(shared.scored(RETRIEVAL, key, score, **fields))
                records += word_distances(shared, 0.8 + 0.1 * number)
    trained = {code: {"staying": "en", "rows": 9, "pairs": 30, "held_out": n, "notes": [], "left_out": {},
                      "links_dropped": {}} for code in languages}  # fmt: skip
    given = {
        "model": "m", "layer": 1, "languages": ["en", *languages], "out": "out",
        "training": {"steps": 5, "of_steps": 5, "finished": True, "metrics": [], "languages": trained}, **about,
    }  # fmt: skip
    return Run(kind=kind, about=given, records=RecordTable(records),
               items=lambda record: None if record.items is None else values[record.items])  # fmt: skip


def word_distances(shared: Record, auc: float, *, measure: str = "separation") -> list[Record]:
    """Records of the distances of words at layer 1: related ones are nearer."""
    place = {**vars(shared), "measure": measure, "layer": 1, "unit": "word", "n": 9}
    details = {"edges": [0.0, 1.0, 2.0, 3.0], "related": [6, 3, 0], "unrelated": [0, 3, 6]}
    return [
        Record(**{**place, "metric": "auc", "options": {"distance": "l2"}, "value": auc, "null_value": 0.5,
                  "ci_low": auc - 0.04, "ci_high": auc + 0.04, "details": details}),
        *(Record(**{**place, "metric": "distance", "options": {"pairs": pairs, "distance": "l2"}, "value": value})
          for pairs, value in (("related", 0.8), ("unrelated", 2.0))),
    ]  # fmt: skip
