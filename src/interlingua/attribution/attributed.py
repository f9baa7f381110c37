"""What is asked of an attribution, and what it gives: values for tokens, and how complete they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from interlingua.attribution.baselines import Baseline
from interlingua.attribution.targets import Targets
from interlingua.attribution.through import Through
from interlingua.encoder.inputs import Inputs, spread

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Case:
    """A model as a function of word embeddings, what it reads, the numbers to explain, and what nothing looks like."""

    through: Through
    inputs: Inputs
    targets: Targets
    baseline: Baseline
    progress: Progress | None = None

    @cached_property
    def starts(self) -> Ints:
        """Where the tokens of each target begin in a flat array of them, and its end."""
        starts = np.zeros(len(self.targets) + 1, np.int64)
        np.cumsum(self.inputs.lengths[self.targets.row], out=starts[1:])
        return starts

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Whether each token of the targets, flat, differs from its baseline."""
        row = self.targets.row
        return self.baseline.changed(self.inputs.ids[spread(self.inputs.starts[row], self.inputs.lengths[row])])


@dataclass(frozen=True)
class Attributions:
    """The attribution of each token of each target: target i has `values[starts[i]:starts[i + 1]]`.

    `score` is the target's value for the input, `nothing` that for its baseline; `steps` how many points of the path
    each was integrated over (0: none).
    """

    values: Floats
    starts: Ints
    score: Floats
    nothing: Floats
    steps: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> Floats:
        return self.values[self.starts[number] : self.starts[number + 1]]

    @property
    def delta(self) -> Floats:
        """What attributions add up to beyond what they have to: sum - (score - nothing), 0 for a complete one."""
        sums = np.add.reduceat(self.values, self.starts[:-1]) if len(self.values) else np.zeros(len(self))
        delta: Floats = sums - (self.score - self.nothing)
        return delta

    @property
    def gap(self) -> Floats:
        """The completeness gap of each target, >= 0: |delta| as a share of all that was attributed.

        |delta| / max(|score - nothing|, sum of |attributions|); 0 where all of it is 0. Integrated gradients are
        complete (Sundararajan et al. 2017, §3), so this is the error of the integral; others are not.
        """
        sizes = np.add.reduceat(np.abs(self.values), self.starts[:-1]) if len(self.values) else np.zeros(len(self))
        scale = np.maximum(sizes, np.abs(self.score - self.nothing))
        gap: Floats = np.abs(self.delta) / np.where(scale > 0, scale, 1.0)
        return gap
