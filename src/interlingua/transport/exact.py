"""Exact earth mover's similarities of ragged problems, on all cores: POT's network simplex, or scipy's LP."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InterlinguaError
from interlingua.transport.flow import Flow, TransportProblem

Floats = NDArray[np.float64]
Solver = Callable[[Floats, Floats, Floats], Floats]
_PIVOTS = 1_000_000
_SHARE = 64  # problems a thread takes at once: fewer, and handing them out costs more than solving them


def exact(problems: Sequence[TransportProblem], *, threads: int | None = None) -> list[Flow]:
    """The optimum of each problem to rounding, in [0, 1], with its plan; exactly 1 for two equal sides.

    The network simplex (Bonneel et al. 2011, LEMON, in POT) leaves the interpreter's lock, so that threads share the
    work. The score is 1 - sum f c rather than sum f sim: rounding in f then can't move a perfect score.

    >>> same = TransportProblem.of([[1.0, 0.2], [0.2, 1.0]], [0.3, 0.7], [0.3, 0.7])
    >>> exact([same])[0].score
    1.0
    >>> exact([TransportProblem.of([[-0.5]], [1.0], [1.0])])[0].score  # nothing has to flow
    0.0
    """
    solve = _solver()
    workers = min(threads or _cores(), -(-len(problems) // _SHARE))
    if workers < 2:
        return _solved(problems, solve)
    shares = [problems[begin : begin + _SHARE] for begin in range(0, len(problems), _SHARE)]
    with ThreadPoolExecutor(workers) as pool:
        return [flow for flows in pool.map(lambda share: _solved(share, solve), shares) for flow in flows]


def _cores() -> int:
    """As many threads as the environment allows other libraries (a step of a study has its share), else all cores."""
    said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # OpenMP has a list for nested threads
    if said.isdecimal() and int(said):
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _solved(problems: Sequence[TransportProblem], solve: Solver) -> list[Flow]:
    return [problem.flow(solve(problem.source, problem.target, problem.costs)) for problem in problems]


def has_network_simplex() -> bool:
    """Whether POT is here: without it an exact solution takes 50 to 100 times as long."""
    return _solver() is not _by_linear_program


@cache
def _solver() -> Solver:
    """POT's solver where POT is; scipy's elsewhere (a machine where nothing can be installed): as exact, and slower."""
    try:
        from ot.lp.emd_wrap import emd_c
    except ImportError:
        return _by_linear_program
    return lambda source, target, costs: _by_network_simplex(emd_c, source, target, costs)


def _by_network_simplex(emd_c: Any, source: Floats, target: Floats, costs: Floats) -> Floats:
    # The wrapper checks and copies of `ot.emd` cost more than the solution of a small problem.
    plan, _, _, _, status = emd_c(source, target * (source.sum() / target.sum()), costs, _PIVOTS, 1)
    if status != 1:
        raise InterlinguaError(f"the network simplex ended with status {status} on {costs.shape} costs")
    found: Floats = plan
    return found


def _by_linear_program(source: Floats, target: Floats, costs: Floats) -> Floats:
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    # What weighs nothing is no unknown of the program, whose time is that of its unknowns.
    kept = np.ix_(source > 0, target > 0)
    left, right = source[source > 0], target[target > 0]
    rows, columns = len(left), len(right)
    cells = np.arange(rows * columns)
    # One equation follows from the others, and would fail by rounding: that of the last column is left out.
    places = np.concatenate([cells, cells.reshape(rows, columns).T[:-1].ravel()])
    ends = np.concatenate([np.arange(rows) * columns, rows * columns + np.arange(columns) * rows])
    sums = csr_array((np.ones(len(places)), places, ends), shape=(rows + columns - 1, rows * columns))
    shares = np.concatenate([left, right[:-1] * (left.sum() / right.sum())])
    # Presolving finds nothing to take away in such a program.
    found = linprog(
        costs[kept].ravel(), A_eq=sums, b_eq=shares, bounds=(0, None), method="highs", options={"presolve": False}
    )
    if found.status != 0:
        raise InterlinguaError(f"scipy's linear program: {found.message}")
    plan: Floats = np.zeros_like(costs)
    plan[kept] = np.maximum(found.x, 0.0).reshape(rows, columns)
    return plan
