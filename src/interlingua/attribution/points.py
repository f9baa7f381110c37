"""Points between baselines and inputs through a model, of all examples together, in batches of a token budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.attribution.attributed import Attributions, Case
from interlingua.encoder.pooling import send
from interlingua.encoder.tokens import batches

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mix = Callable[[Ints, int], NDArray[np.float32]]
"""The share of the input at each position of points (the rest is baseline): (points, width), or (points, 1)."""
Reduce = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""From the gradients at points, the points, and inputs less baselines, (point, position, dim), to (point, position)."""


def scores_at(case: Case, owner: Ints, mix: Mix, *, exact: bool) -> Floats:
    """The value of target `owner[p]` at each point p: baseline + mix · (input - baseline)."""
    found = torch.zeros(len(owner), dtype=torch.float64, device=case.through.device)

    def take(points: Ints, values: torch.Tensor, _: torch.Tensor | None) -> None:
        found[send(points, found.device)] = values.detach().double()

    _walk(case, owner, mix, take, reduce=None, exact=exact)
    result: Floats = found.cpu().numpy()
    return result


def gradients_at(case: Case, owner: Ints, mix: Mix, weight: Floats, reduce: Reduce, *, exact: bool = False) -> Floats:
    """What `reduce` makes of gradients at each point, times the point's weight, added up by target: flat, by token."""
    total = int(case.starts[-1])
    # One place more, where what is said of padding goes: no count has to come back to the host.
    sums = torch.zeros(total + 1, dtype=torch.float64, device=case.through.device)

    def take(points: Ints, _: torch.Tensor, reduced: torch.Tensor | None) -> None:
        assert reduced is not None
        offsets = np.arange(reduced.shape[1])
        own = owner[points]
        inside = offsets < np.diff(case.starts)[own][:, None]
        places = np.where(inside, case.starts[own][:, None] + offsets, total)
        shares = send(weight[points], sums.device)[:, None]
        sums.index_add_(0, send(places.ravel(), sums.device), (shares * reduced).ravel())

    _walk(case, owner, mix, take, reduce=reduce, exact=exact)
    result: Floats = sums[:total].cpu().numpy()
    return result


def ends(case: Case) -> tuple[Floats, Floats]:
    """The value of each target for its input and for its baseline, by the model in its own precision."""
    count = len(case.targets)
    owner = np.concatenate([np.arange(count), np.arange(count)])

    def mix(points: Ints, _: int) -> NDArray[np.float32]:
        return (points < count).astype(np.float32)[:, None]

    values = scores_at(case, owner, mix, exact=True)
    return values[:count], values[count:]


def attributed(case: Case, values: Floats, *, steps: int = 0) -> Attributions:
    """Values with both ends, for ways that follow no path."""
    score, nothing = ends(case)
    return Attributions(values, case.starts, score, nothing, np.full(len(case.targets), steps))


def _walk(
    case: Case,
    owner: Ints,
    mix: Mix,
    take: Callable[[Ints, torch.Tensor, torch.Tensor | None], None],
    *,
    reduce: Reduce | None,
    exact: bool,
) -> None:
    through, inputs, targets = case.through, case.inputs, case.targets
    rows = targets.row[owner]
    # Without a way back nothing is kept, and more goes through at once in the same memory.
    budget = through.budget if reduce is not None else through.budget * 8
    budget = max(budget // 2, 1) if exact and through.precision == "bf16" else budget
    done = 0
    with through.frozen(), torch.set_grad_enabled(reduce is not None):
        for points in batches(inputs.lengths[rows], budget):
            # Points of one input share its embeddings: they are looked up once.
            distinct, which = np.unique(rows[points], return_inverse=True)
            batch = inputs.batch(rows[points], through.device)
            width = batch["input_ids"].shape[1]
            nothing, difference = _sides(case, inputs.batch(distinct, through.device)["input_ids"][:, :width])
            nothing, difference = (side[send(which, through.device)] for side in (nothing, difference))
            share = send(mix(points, width), through.device)[:, :, None]
            there = (nothing + share * difference).requires_grad_(reduce is not None)
            values = targets.values(through.scores(there, batch, exact=exact), batch, owner[points])
            reduced = None
            if reduce is not None:
                (gradient,) = torch.autograd.grad(values.sum(), there)
                with torch.no_grad():
                    reduced = reduce(gradient.float(), there.detach(), difference)
            take(points, values, reduced)
            done += len(points)
            if case.progress:
                case.progress(done, len(owner))


def _sides(case: Case, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The baseline's embeddings of ids and the input's less those, (input, position, dim)."""
    vectors = case.through.embed(ids)
    kept = torch.isin(ids, torch.tensor(case.baseline.kept, device=ids.device))[..., None]
    nothing = torch.where(kept, vectors, case.baseline.vector)
    return nothing, vectors - nothing
