"""Other attributions: gradient × input, saliency, occlusion, attention rollout, and a random control."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution import attributions
from interlingua.attribution.inputs import AttributionInput, Attributions
from interlingua.attribution.integrated_gradients import attributions_without_path, ends, gradients_at, scores_at
from interlingua.encoder.tokens import batches
from interlingua.errors import InputError


@attributions.register("gradient-input", needs="gradients")
@dataclass(frozen=True)
class GradientInput:
    """Gradient × input: a_i = sum_k x_ik dF(x)/dx_ik, one step at the input itself (Shrikumar et al. 2016)."""

    def __call__(self, case: AttributionInput) -> Attributions:
        """The attributions of every target of a case."""
        count = len(case.targets)
        values = gradients_at(
            case, np.arange(count), lambda points, _: np.ones((len(points), 1), np.float32), np.ones(count), _times
        )
        return attributions_without_path(case, values, steps=1)


def _times(gradient: torch.Tensor, there: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    return (gradient * there).sum(dim=-1)


@attributions.register("saliency", needs="gradients")
@dataclass(frozen=True)
class Saliency:
    """Saliency: a_i = ||dF(x)/dx_i||, at least 0: the steepest slope at a token (Simonyan et al. 2014)."""

    def __call__(self, case: AttributionInput) -> Attributions:
        """The attributions of every target of a case."""
        count = len(case.targets)
        values = gradients_at(
            case, np.arange(count), lambda points, _: np.ones((len(points), 1), np.float32), np.ones(count), _length
        )
        return attributions_without_path(case, values, steps=1)


def _length(gradient: torch.Tensor, there: torch.Tensor, difference: torch.Tensor) -> torch.Tensor:
    lengths: torch.Tensor = gradient.norm(dim=-1)
    return lengths


Ints = NDArray[np.int64]


@attributions.register("occlusion", needs="scores")
@dataclass(frozen=True)
class Occlusion:
    """Occlusion: a_i = F(x) - F(x with token i as in the baseline); 0 for separators (Zeiler & Fergus 2014)."""

    def __call__(self, case: AttributionInput) -> Attributions:
        """The attributions of every target of a case."""
        score, nothing = ends(case)
        tokens = np.flatnonzero(case.changed)
        owner = np.searchsorted(case.starts, tokens, side="right") - 1
        hidden = tokens - case.starts[owner]

        def mix(points: Ints, width: int) -> NDArray[np.float32]:
            shown: NDArray[np.float32] = (np.arange(width) != hidden[points][:, None]).astype(np.float32)
            return shown

        values = np.zeros(case.starts[-1])
        values[tokens] = score[owner] - scores_at(case, owner, mix, exact=True)
        return Attributions(values, case.starts, score, nothing, np.zeros(len(case.targets), np.int64))


_READ = ("input_ids", "attention_mask", "token_type_ids")


@attributions.register("rollout", needs="attention")
@dataclass(frozen=True)
class Rollout:
    """Attention rollout: shares of at least 0 that add up to 1, the same for every label (Abnar & Zuidema 2020).

    R = A_L ··· A_1 with A_l half the mean of the heads' attention and half the identity, which stands for the residual
    stream; a token's attribution is its share in the row of the position that the head reads.
    """

    def __call__(self, case: AttributionInput) -> Attributions:
        """The attributions of every target of a case."""
        body = case.through.body
        before = getattr(getattr(body, "config", None), "_attn_implementation", None)
        if before is None or not hasattr(body, "set_attn_implementation"):
            raise _none(body)
        values = np.zeros(case.starts[-1])
        body.set_attn_implementation("eager")  # The others never have the weights in memory.
        try:
            with case.through.frozen(), torch.no_grad():
                self._roll(case, values)
        finally:
            body.set_attn_implementation(before)
        return attributions_without_path(case, values)

    def _roll(self, case: AttributionInput, values: NDArray[np.float64]) -> None:
        body, inputs, targets = case.through.body, case.inputs, case.targets
        position = np.where(targets.position >= 0, targets.position, inputs.summary[targets.row])
        lengths = inputs.lengths[targets.row]
        mean = getattr(getattr(case.through.model, "head", None), "pooling", None) == "mean"
        known = inspect.signature(body.forward).parameters
        kinds = int(getattr(body.config, "type_vocab_size", 0) or 0)
        for numbers in batches(lengths, case.through.budget):
            batch = inputs.batch(targets.row[numbers], case.through.device)
            given: dict[str, Any] = {name: batch[name] for name in _READ if name in batch and name in known}
            if kinds < 2:
                given.pop("token_type_ids", None)
            weights = getattr(body(**given, output_attentions=True), "attentions", None)
            if not weights or weights[0] is None:
                raise _none(body)
            rows = torch.arange(len(numbers), device=case.through.device)
            share = torch.zeros_like(weights[0][:, 0, 0], dtype=torch.float64)
            if mean:  # The head reads all tokens alike: what is asked is the mean of their rows.
                inside = np.arange(share.shape[1]) < lengths[numbers][:, None]
                share += torch.as_tensor(inside / lengths[numbers][:, None], device=share.device)
            else:
                share[rows, torch.as_tensor(position[numbers], device=share.device)] = 1.0
            for layer in reversed(weights):  # A row times matrices: no product of two matrices is needed.
                mixed = torch.bmm(share[:, None, :], layer.mean(dim=1).double())[:, 0]
                share = (mixed + share) / 2
            found = share.cpu().numpy()
            for line, number in enumerate(numbers.tolist()):
                values[case.starts[number] : case.starts[number + 1]] = found[line, : lengths[number]]


def _none(body: Any) -> InputError:
    return InputError(
        "the model gives no attention weights", value=type(body).__name__, remedy="Use the attribution integrated."
    )


@attributions.register("random", needs="scores")
@dataclass(frozen=True)
class Random:
    """Random attributions: standard normal for every token but separators, drawn by `seed`; the control."""

    seed: int = 0

    def __call__(self, case: AttributionInput) -> Attributions:
        """The attributions of every target of a case."""
        drawn = np.random.default_rng(self.seed).normal(size=int(case.starts[-1]))
        return attributions_without_path(case, np.where(case.changed, drawn, 0.0))
