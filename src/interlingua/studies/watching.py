"""What is watched of a fine-tuning: languages' average cosines and their alignment, step by step, as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.studies.record import Record
from interlingua.studies.store import Made
from interlingua.training.journal import Monitor
from interlingua.training.monitors import (
    CKA_WORDS,
    COARSE,
    COSINE,
    SHARE,
    Budget,
    Cadence,
    Sample,
    Similarities,
    cadence,
    curve,
)

CANDIDATES = 64
"""Rows that a sample is taken from: how many of them are read is what the share allows."""


@dataclass(frozen=True)
class Watch:
    """What is watched while a model is fine-tuned, and for how much.

    `span` is over how many steps changes are taken (papers/003: 50); a run of fewer than twice as many takes half its
    steps. Cadence and rows are such that all costs at most `share` of the training, counted in tokens; `every` and
    `rows` fix them (the paper's: `every=1`), whatever the share is then. `layer` -1 is the last.
    """

    on: bool = True
    span: int = 50
    share: float = SHARE
    every: int | None = None
    rows: int | None = None
    layer: int = -1

    def __post_init__(self) -> None:
        for name in ("span", "share", "every", "rows"):
            value = getattr(self, name)
            if value is not None and not value > 0:  # NaN, too.
                raise InputError(f"{name} must be above 0", value=value, remedy="Give more.")
        if self.every is not None and self.span % self.every:
            raise InputError(
                f"changes over {self.span} steps can't be taken at every so many steps",
                value=self.every,
                remedy="Give a divisor.",
            )

    def span_of(self, steps: int) -> int:
        """The span for a run of so many steps: a number with divisors, so that there are cadences to choose from.

        >>> Watch().span_of(300), Watch().span_of(62), Watch(every=5).span_of(62)
        (50, 30, 30)
        """
        if steps >= 2 * self.span:
            return self.span
        half = max(steps // 2, 1)
        base = self.every or next(base for base in (10, 4, 1) if half >= base)
        return max(half - half % base, base)


@dataclass(frozen=True)
class Watched:
    """A sample that is watched in runs of one length; the same for every language of training."""

    watch: Watch
    similarities: Similarities
    cadence: Cadence
    span: int

    @classmethod
    def of(
        cls,
        watch: Watch,
        texts: Mapping[str, Sequence[str]],
        encoder: Encoder,
        model: torch.nn.Module,
        *,
        steps: int,
        tokens_a_step: float,
        precision: str,
    ) -> Watched:
        """What is watched of a model that is not trained yet, on the first rows of `texts`."""
        most = max(CANDIDATES, watch.rows or 0)
        whole = Sample.of(encoder, {code: column[:most] for code, column in texts.items()})
        span = watch.span_of(steps)
        budget = Budget(steps, tokens_a_step, watch.share, recorded=encoder.device.type == "cuda")
        chosen = cadence(whole, budget, span=span, every=watch.every, rows=watch.rows)
        sample = whole.first(chosen.rows)
        return cls(watch, Similarities.of(sample, model, layer=watch.layer, precision=precision), chosen, span)

    def monitors(self, source: str) -> tuple[Monitor, Monitor]:
        """The monitors of a run on one language."""
        return self.similarities.monitors(self.cadence, pivot=source)

    def records(self, metrics: Sequence[Mapping[str, Any]], shared: Record) -> Made:
        """The curves of a run as records like `shared`: the value is the last one, the curve is in `details`."""
        sample, start = self.similarities.sample, self.similarities.alignment(pivot=shared.source)
        nulls = {
            COSINE: 0.0,
            "retrieval": float((1 / np.arange(1, len(sample) + 1)).mean()),
            "cka": 0.0,
            "separation": 0.5,
        }
        made: Made = []
        for variant in (COSINE, *COARSE):
            for code, words in zip(sample.languages, sample.word_counts.tolist(), strict=True):
                name = f"{variant} {code}"
                if variant in ("retrieval", "separation") and code == shared.source:
                    continue  # A language is no translation of itself.
                begun = self.similarities.begun[name] if variant == COSINE else start[name]
                steps, values = curve(metrics, name, begun)
                counts = {COSINE: words, "cka": min(words, CKA_WORDS)}
                about = {
                    "steps": steps,
                    "values": values,
                    "span": self.span,
                    "every": self.cadence.every if variant == COSINE else self.cadence.coarse,
                    "rows": len(sample),
                    "share": round(self.cadence.share, 6),
                }
                own = replace(
                    shared,
                    variant=variant,
                    value=values[-1],
                    n=counts.get(variant, len(sample)),
                    target=code,
                    unit="word" if variant in counts else "sentence",
                    pooling="mean",
                    layer=self.similarities.forward.layers[0],
                    null=nulls[variant],
                    details={**shared.details, **about},
                )
                made.append((own, None))
        return made
