"""Baselines: what an input is when nothing is said. Separators stay; every other token becomes one vector, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution.through import Through
from interlingua.errors import InputError
from interlingua.registry import unknown

_CHUNK = 8192


@dataclass(frozen=True)
class Baseline:
    """A vector (dim,) that stands in for tokens, and the ids of those that stay as they are."""

    name: str
    vector: torch.Tensor
    kept: tuple[int, ...]

    @classmethod
    def of(cls, name: str, through: Through, tokenizer: Any, *, kept: tuple[int, ...]) -> Baseline:
        """The baseline called so: padding (papers/002 §2.1), mask, zero or mean.

        `kept` are the ids of separators: what the tokenizer puts round texts.
        """
        if name not in BASELINES:
            raise unknown("baseline", name, list(BASELINES))
        return cls(name, BASELINES[name](through, tokenizer), tuple(sorted(set(kept))))

    def changed(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether a token differs from its baseline: all but separators."""
        return ~np.isin(ids, np.array(self.kept, np.int64))


def _padding(through: Through, tokenizer: Any) -> torch.Tensor:
    # A tokenizer without padding (a decoder's) is padded with its end of text everywhere else in the house.
    return _of_token(through, tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id)


def _mask(through: Through, tokenizer: Any) -> torch.Tensor:
    if tokenizer.mask_token_id is None:
        raise InputError("the tokenizer has no mask token", value="mask", remedy="Use the baseline padding or mean.")
    return _of_token(through, tokenizer.mask_token_id)


def _zero(through: Through, tokenizer: Any) -> torch.Tensor:
    return torch.zeros_like(_of_token(through, 0))


def _mean(through: Through, tokenizer: Any) -> torch.Tensor:
    table: Any = through.table
    count = int(table.weight.shape[0])
    total = torch.zeros_like(_of_token(through, 0), dtype=torch.float64)
    for begin in range(0, count, _CHUNK):
        ids = torch.arange(begin, min(begin + _CHUNK, count), device=through.device)
        total += through.embed(ids).sum(dim=0, dtype=torch.float64)
    return (total / count).float()


def _of_token(through: Through, token: int | None) -> torch.Tensor:
    return through.embed(torch.tensor(token or 0, device=through.device))


BASELINES: dict[str, Callable[[Through, Any], torch.Tensor]] = {
    "padding": _padding,
    "mask": _mask,
    "zero": _zero,
    "mean": _mean,
}
