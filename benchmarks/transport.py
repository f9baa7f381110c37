"""Earth mover's similarities a second: ours against PuLP with CBC (what papers/002 used), scipy and POT in a loop.

    python -m benchmarks.transport [--json]
    python -m benchmarks.transport --device cuda          # the entropic way on a GPU, too

Problems are like those of papers/002: sentences of 8 to 60 tokens, cosines of vectors that share a direction, weights
from absolute normals. PuLP solves Eq. 2 as it stands (a maximum under inequalities); POT is called as `ot.emd` on each
problem, as its manual shows. Processor seconds on the CPU (threads add up), wall seconds on a GPU. Peers that are not
installed are left out, and the output says so.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.sides import Side, version
from interlingua.transport import TransportProblem, entropic, exact


def problems_of(count: int) -> list[TransportProblem]:
    draw = np.random.default_rng(0)
    shared = draw.normal(size=64)
    found = []
    for _ in range(count):
        sides = [draw.normal(size=(int(size), 64)) + shared for size in draw.integers(8, 61, size=2)]
        sides = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
        found.append(
            TransportProblem.of(sides[0] @ sides[1].T, *(np.abs(draw.normal(size=len(side))) for side in sides))
        )
    return found


def by_pulp(problems: Sequence[TransportProblem]) -> list[float]:
    import pulp

    found = []
    for problem in problems:
        model = pulp.LpProblem("emd", pulp.LpMaximize)
        rows, columns = problem.similarities.shape
        flow = [[pulp.LpVariable(f"f_{i}_{j}", 0) for j in range(columns)] for i in range(rows)]
        model += pulp.lpSum(problem.similarities[i, j] * flow[i][j] for i in range(rows) for j in range(columns))
        for i in range(rows):
            model += pulp.lpSum(flow[i]) <= problem.source[i]
        for j in range(columns):
            model += pulp.lpSum(flow[i][j] for i in range(rows)) <= problem.target[j]
        model.solve(pulp.PULP_CBC_CMD(msg=False))
        found.append(float(pulp.value(model.objective)))
    return found


def by_scipy(problems: Sequence[TransportProblem]) -> list[float]:
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    found = []
    for problem in problems:
        rows, columns = problem.similarities.shape
        sums = vstack([kron(eye_array(rows), np.ones((1, columns))), kron(np.ones((1, rows)), eye_array(columns))])
        shares = np.concatenate([problem.source, problem.target])
        found.append(-linprog(-problem.similarities.ravel(), A_ub=sums, b_ub=shares, method="highs").fun)
    return found


def by_pot(problems: Sequence[TransportProblem]) -> list[float]:
    import ot

    found = []
    for problem in problems:
        costs = 1.0 - np.maximum(problem.similarities, 0.0)
        found.append(1.0 - float((ot.emd(problem.source, problem.target, costs) * costs).sum()))
    return found


def timed(work: Callable[[], list[float]], clock: Callable[[], float]) -> tuple[float, list[float]]:
    begin = clock()
    found = work()
    return clock() - begin, found


def children() -> float:
    """Processor seconds of this process and those it waited for: CBC is another program."""
    import os

    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def run(args: argparse.Namespace) -> dict[str, Any]:
    problems = problems_of(args.problems)
    few = problems[: args.peer_problems]
    exact(problems[:64])  # POT is imported by the first.
    wanted = [flow.score for flow in exact(problems)]
    ways: list[tuple[str, int, Callable[[], list[float]], Callable[[], float]]] = [
        ("ours, exact", len(problems), lambda: [flow.score for flow in exact(problems, threads=1)], children),
        ("POT's ot.emd in a loop", len(problems), lambda: by_pot(problems), children),
        ("scipy's linprog (HiGHS)", len(few), lambda: by_scipy(few), children),
        ("PuLP with CBC", len(few), lambda: by_pulp(few), children),
        ("ours, entropic on the CPU", len(problems), lambda: [f.score for f in entropic(problems)], children),
    ]
    if args.device != "cpu":
        ways.append(
            (
                f"ours, entropic on {args.device}",
                len(problems),
                lambda: [flow.score for flow in entropic(problems, device=args.device)],
                time.perf_counter,
            )
        )
    results, absent = [], []
    for name, count, work, clock in ways:
        try:
            seconds, found = min((timed(work, clock) for _ in range(args.times)), key=lambda pair: pair[0])
        except ImportError as error:
            absent.append(f"{name}: {error}")
            continue
        off = float(np.abs(np.array(found) - wanted[:count]).max())
        results.append({"way": name, "milliseconds": 1e3 * seconds / count, "problems": count, "largest_error": off})
    for entry in results:
        entry["times ours"] = entry["milliseconds"] / results[0]["milliseconds"]
    return {"results": results, "absent": absent}


def sides(found: dict[str, Any]) -> list[Side]:
    packages = {"POT": "POT", "scipy": "scipy", "PuLP": "PuLP", "ours": "torch"}
    first, *rest = found["results"]
    return [
        Side(
            "earth mover's similarity",
            "ms a problem",
            first["milliseconds"],
            peer["way"],
            peer["milliseconds"],
            next(version(package) for name, package in packages.items() if peer["way"].startswith(name)),
            better="less",
        )
        for peer in rest
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--peer-problems", type=int, default=50, help="How many of them the slow peers are given.")
    parser.add_argument("--times", type=int, default=3, help="How often each is timed; the quickest counts.")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = run(args)
    if args.json:
        print(json.dumps(found))
        return
    for entry in found["results"]:
        print(
            f"{entry['way']:<28} {entry['milliseconds']:9.3f} ms a problem  {entry['times ours']:8.2f} × ours"
            f"  off by at most {entry['largest_error']:.1e}"
        )
    for line in found["absent"]:
        print(f"not here: {line}")


if __name__ == "__main__":
    main()
