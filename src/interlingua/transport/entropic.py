"""Earth mover's similarities by entropic regularisation: padded batches on any device, a bound on the error of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.transport.flow import Flow, TransportProblem

_CELLS = {"cpu": 1 << 18, "cuda": 1 << 24}  # similarities that are worked on at once
_EACH = 20  # iterations between two looks at the error: a look costs about two of them
_COARSE = 0.25
_TINY = 1e-30


def entropic(
    problems: Sequence[TransportProblem],
    *,
    tolerance: float = 5e-3,
    finest: float = 2e-3,
    iterations: int = 2000,
    device: torch.device | str = "cpu",
) -> list[Flow]:
    """Scores in [0, 1] at most `error` below the optimum, with feasible plans; the error is stated for each.

    Sinkhorn's iterations on dual potentials u, v in the log domain (Cuturi 2013; Peyré & Cuturi 2019, §4.4), the
    regularisation halved from 0.25 until every problem of a batch is within `tolerance` of its optimum, it is at
    `finest`, or `iterations` have been made. What they give is rounded to a plan with the right sums (Altschuler et
    al. 2017, Algorithm 2), whose score is a lower bound; u with v_j = min_i c_ij - u_i is a feasible point of the
    dual, whose value is an upper bound; `error` is the distance of the two. Problems are sorted by size, so that
    little is padded; memory is bounded.

    >>> problem = TransportProblem.of([[0.9, 0.1], [0.3, 0.8]], [0.4, 0.6], [0.5, 0.5])
    >>> found = entropic([problem])[0]
    >>> found.score <= 0.79 <= found.score + found.error < found.score + 5e-3
    True
    """
    place = torch.device(device)
    sizes = np.array([problem.similarities.shape for problem in problems], np.int64).reshape(-1, 2)
    order = np.lexsort((sizes[:, 1], sizes[:, 0]))
    flows: dict[int, Flow] = {}
    begin = 0
    while begin < len(order):
        rows, columns, end = 0, 0, begin
        while end < len(order):
            rows, columns = max(rows, sizes[order[end], 0]), max(columns, sizes[order[end], 1])
            if end > begin and (end + 1 - begin) * rows * columns > _CELLS.get(place.type, _CELLS["cpu"]):
                break
            end += 1
        chosen = order[begin:end]
        costs, source, target = _padded([problems[number] for number in chosen], place)
        plans, errors = _sinkhorn(costs, source, target, tolerance=tolerance, finest=finest, iterations=iterations)
        for at, number in enumerate(chosen.tolist()):
            plan = plans[at, : sizes[number, 0], : sizes[number, 1]]
            flows[number] = problems[number].flow(plan, error=float(errors[at]))
        begin = end
    return [flows[number] for number in range(len(problems))]


def _padded(
    problems: Sequence[TransportProblem], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Costs (problem, row, column) and both sides' weights; padding has weight 0, and costs 1 to reach."""
    rows, columns = (max(problem.similarities.shape[axis] for problem in problems) for axis in (0, 1))
    costs = np.ones((len(problems), rows, columns))
    source, target = np.zeros((len(problems), rows)), np.zeros((len(problems), columns))
    for number, problem in enumerate(problems):
        high, wide = problem.similarities.shape
        costs[number, :high, :wide] = problem.costs
        source[number, :high], target[number, :wide] = problem.source, problem.target
    made = [torch.from_numpy(array).to(device) for array in (costs, source, target)]
    return made[0], made[1], made[2]


@torch.no_grad()
def _sinkhorn(
    costs: torch.Tensor,
    source: torch.Tensor,
    target: torch.Tensor,
    *,
    tolerance: float,
    finest: float,
    iterations: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The best plan of each problem and how far its cost may be above the optimum; what is solved leaves the batch."""
    device = costs.device
    best, errors = torch.zeros_like(costs), torch.full_like(source[:, 0], torch.inf)
    left, right = torch.zeros_like(source), torch.zeros_like(target)
    open_ = torch.arange(len(costs), device=device)
    coarse, made = _COARSE, 0
    while True:
        log_source, log_target = source.log()[:, :, None], target.log()[:, None, :]  # -inf: nothing flows there
        for _ in range(_EACH):
            left = -coarse * torch.logsumexp((right[:, None, :] - costs) / coarse + log_target, dim=2)
            right = -coarse * torch.logsumexp((left[:, :, None] - costs) / coarse + log_source, dim=1)
        made += _EACH
        plan = (((left[:, :, None] + right[:, None, :] - costs) / coarse) + log_source + log_target).exp()
        plan = _rounded(plan, source, target)
        error = (plan * costs).sum(dim=(1, 2)) - _dual(left, costs, source, target)
        better = error < errors[open_]
        best[open_[better]], errors[open_[better]] = plan[better], error[better]
        unsolved = errors[open_] > tolerance
        if made >= iterations or not bool(unsolved.any()):
            return best.cpu().numpy(), errors.clamp(min=0).cpu().numpy()
        open_, costs, source, target = open_[unsolved], costs[unsolved], source[unsolved], target[unsolved]
        left, right = left[unsolved], right[unsolved]
        coarse = max(coarse / 2, finest)


def _rounded(plan: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The plan with its sums made right: what is too much is scaled away, what is missing is spread by products."""
    plan = plan * (source / plan.sum(dim=2).clamp(min=_TINY)).clamp(max=1)[:, :, None]
    plan = plan * (target / plan.sum(dim=1).clamp(min=_TINY)).clamp(max=1)[:, None, :]
    above, beside = (source - plan.sum(dim=2)).clamp(min=0), (target - plan.sum(dim=1)).clamp(min=0)
    # Both miss as much, but for rounding, which must not be blown up where nothing is missing.
    missing = torch.maximum(above.sum(dim=1), beside.sum(dim=1))
    return plan + above[:, :, None] * beside[:, None, :] / missing.clamp(min=_TINY)[:, None, None]


def _dual(left: torch.Tensor, costs: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """A lower bound of the cost: the dual's value at these potentials of the rows and the best of the columns."""
    # Rows without weight are no constraint: their potentials may be as low as one likes.
    right = (costs - left[:, :, None] + (source == 0)[:, :, None] * 4.0).amin(dim=1)
    return (source * left).sum(dim=1) + (target * right).sum(dim=1)
