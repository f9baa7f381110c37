"""Rows of vectors made ready for a measure: checked, of unit length, centred, in blocks; what is kept of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch import Tensor

from interlingua.errors import InputError

BLOCK_CELLS = 2**21
"""The most cells of a similarity matrix held at once: 8 MiB of float32, which a processor's cache holds.

An accelerator gets 64 times as many cells, to be kept busy.
"""

T = TypeVar("T", bound="Tensor | tuple[Tensor, ...]")
F = TypeVar("F", bound=Callable[..., Any])


class MemoryBudget:
    """Bytes that may be kept in memory; threads may share one."""

    def __init__(self, size: int) -> None:
        self._left, self._lock = size, threading.Lock()

    def take(self, size: int) -> bool:
        """Whether that many bytes were left; if so they are taken."""
        with self._lock:
            fits = size <= self._left
            self._left -= size if fits else 0
        return fits


Kept = dict[tuple[Any, ...], Any]
"""What was made of a side, by what made it."""
_DEAR: set[Callable[..., Any]] = set()


def dear(make: F) -> F:
    """Mark what takes so long to make of a side that it is worth its memory until the last pair is measured.

    Rows of length 1 are not: to make them again takes a millisecond, a Gram matrix of 600 rows thirteen.
    """
    _DEAR.add(make)
    return make


class PreparedVectors:
    """One side of a pair and what it alone decides, computed once and kept for the other pairs it is in.

    Measures make the same Gram matrices of a language for each of its pairs. Who gives what was `kept` of vectors to
    another `PreparedVectors` promises that they are the same. Where `room` has no bytes left a result is computed anew
    each time: what is kept decides the time, never a number.

    >>> @dear
    ... def doubled(vectors):
    ...     return 2 * vectors
    >>> side = PreparedVectors(torch.tensor([[3.0, 4.0]]), MemoryBudget(1000))
    >>> side.of(doubled) is side.of(doubled), side.of(unit) is side.of(unit)
    (True, False)
    """

    def __init__(self, vectors: Tensor, room: MemoryBudget | None = None, kept: Kept | None = None) -> None:
        self.vectors, self._room = vectors, room
        self._kept = {} if kept is None else kept

    def of(self, make: Callable[..., T], *given: Any) -> T:
        """What `make(vectors, *given)` returns; it must depend on nothing else."""
        key = (make, *given)
        if key in self._kept:
            found: T = self._kept[key]
            return found
        made = make(self.vectors, *given)
        parts = made if isinstance(made, tuple) else (made,)
        if make in _DEAR and self._room is not None and self._room.take(sum(part.nbytes for part in parts)):
            self._kept[key] = made
        return made


Sides = tuple[PreparedVectors, PreparedVectors]


def checked(vectors: Tensor, *, least: int, side: str = "input") -> Tensor:
    """The same tensor, once it is known to be a finite (n, d) matrix of floats with n >= `least`."""
    if vectors.ndim != 2 or not vectors.is_floating_point():
        shown = f"shape {tuple(vectors.shape)}, {vectors.dtype}"
        raise InputError(
            f"the {side} is no matrix of vectors", value=shown, remedy="Give floats of shape (rows, width)."
        )
    if vectors.shape[0] < least or vectors.shape[1] < 1:
        raise InputError(
            f"too few rows in the {side}", value=vectors.shape[0], remedy=f"Give at least {least} parallel rows."
        )
    # A finite sum has finite terms, and is far cheaper to look at; a sum of finite terms may still overflow.
    if not bool(torch.isfinite(vectors.sum())) and not bool(torch.isfinite(vectors).all()):
        raise InputError(
            f"the {side} holds infinite or undefined values", remedy="Encode in fp32 or bf16: fp16 overflows at 65504."
        )
    return vectors


def checked_pair(source: Tensor, target: Tensor, *, least: int, same_width: bool = True) -> tuple[Tensor, Tensor]:
    """Both sides, once they are known to have equally many rows (and, if asked, the same width)."""
    checked(source, least=least, side="source")
    checked(target, least=least, side="target")
    if source.shape[0] != target.shape[0]:
        shown = f"{source.shape[0]} and {target.shape[0]}"
        raise InputError("source and target have unequal numbers of rows", value=shown, remedy="Give parallel rows.")
    if same_width and source.shape[1] != target.shape[1]:
        raise InputError(
            "source and target differ in width",
            value=f"{source.shape[1]} and {target.shape[1]}",
            remedy="Use procrustes or cka, which compare spaces of different widths.",
        )
    return source, target


def unit(vectors: Tensor) -> Tensor:
    """Rows of length 1 in float32; a zero row stays zero, so that its cosine with anything is 0.

    Each row is scaled by its largest entry first: squares of very small or large entries would
    otherwise leave the range of float32.

    >>> unit(torch.tensor([[3e30, 4e30], [0.0, 0.0]], dtype=torch.float64)).round(decimals=4).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    wide = _wide(vectors)
    peak = wide.abs().amax(dim=1, keepdim=True)
    scaled = (wide / torch.where(peak > 0, peak, 1.0)).float()
    length = torch.linalg.vector_norm(scaled, dim=1, keepdim=True)
    return scaled / torch.where(length > 0, length, 1.0)


def center_rows(vectors: Tensor) -> Tensor:
    """Rows minus their mean (language-centred, Libovický et al. 2019); rounding residue becomes zero.

    A row equal to the mean leaves residue of 1e-7 of its length; scaled to unit length
    that would be a random direction, so anything below 1e-6 is taken for zero.

    >>> center_rows(torch.tensor([[0.1, 0.3], [0.1, 0.3], [0.1, 0.3]])).tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """
    wide = _wide(vectors)
    moved = wide - wide.mean(dim=0, dtype=torch.float64).to(wide.dtype)
    before = torch.linalg.vector_norm(wide, dim=1, keepdim=True)
    after = torch.linalg.vector_norm(moved, dim=1, keepdim=True)
    return torch.where(after > 1e-6 * before, moved, 0.0)


def subtract_mean(rows: Tensor, mean: Tensor) -> Tensor:
    """Rows minus a mean, in float64; what rounding leaves of rows that are all alike becomes zero.

    >>> subtract_mean(torch.tensor([[1.0, 2.0]]), torch.tensor([0.5, 2.0], dtype=torch.float64)).tolist()
    [[0.5, 0.0]]
    """
    wide = rows.double()
    moved = wide - mean
    return torch.where(moved.abs() > 1e-14 * wide.abs(), moved, 0.0)


def blocks(rows: int, width: int, device: torch.device) -> Iterator[slice]:
    """Slices that cover `rows`, each small enough that its part of a (rows, width) matrix fits `BLOCK_CELLS`."""
    cells = BLOCK_CELLS if device.type == "cpu" else 64 * BLOCK_CELLS
    step = max(1, cells // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _wide(vectors: Tensor) -> Tensor:
    """At least float32: half precision overflows in squares and sums."""
    return vectors if vectors.dtype == torch.float64 else vectors.float()
