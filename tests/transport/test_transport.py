from __future__ import annotations

import functools
import importlib
import itertools
import os
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from interlingua.errors import InputError, InterlinguaError
from interlingua.transport import Flow, TransportProblem, entropic, exact, weights_of
from interlingua.transport import exact as package_exact
from interlingua.transport.entropic import _dual
from interlingua.transport.exact import _by_linear_program, _by_network_simplex, _cores, _solver, has_network_simplex


def random_problems(count: int, *, seed: int, most: int = 24) -> list[TransportProblem]:
    draw = np.random.default_rng(seed)
    problems = []
    for _ in range(count):
        rows, columns = draw.integers(1, most, size=2)
        source, target = draw.exponential(size=rows), draw.exponential(size=columns)
        source[draw.random(rows) < 0.2] = 0.0
        target[draw.random(columns) < 0.2] = 0.0
        source[draw.integers(rows)], target[draw.integers(columns)] = 1.0, 1.0
        problems.append(TransportProblem.of(draw.uniform(-1, 1, size=(rows, columns)), source, target))
    return problems


def optimum_of_the_papers_equation(problem: TransportProblem) -> float:
    rows, columns = problem.similarities.shape
    sums = np.concatenate([np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))])
    found = linprog(
        -problem.similarities.ravel(),
        A_ub=sums,
        b_ub=np.concatenate([problem.source, problem.target]),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return float(-found.fun)


@pytest.fixture(scope="module")
def problems() -> list[TransportProblem]:
    return random_problems(1000, seed=0)


def test_a_thousand_ragged_problems_score_as_scipys_linear_program_of_equation_2(
    problems: list[TransportProblem],
) -> None:
    for problem, flow in zip(problems, exact(problems), strict=True):
        assert flow.score == pytest.approx(optimum_of_the_papers_equation(problem), abs=1e-9)


def test_plans_keep_the_constraints_of_equation_2_and_give_the_score(problems: list[TransportProblem]) -> None:
    for problem, flow in zip(problems, exact(problems), strict=True):
        assert flow.plan.min() >= 0
        assert (flow.plan.sum(axis=1) <= problem.source + 1e-12).all()
        assert (flow.plan.sum(axis=0) <= problem.target + 1e-12).all()
        assert (flow.plan * problem.similarities).sum() == pytest.approx(flow.score, abs=1e-12)
        assert flow.error == 0.0


def test_threads_change_nothing(problems: list[TransportProblem]) -> None:
    alone, shared = exact(problems, threads=1), exact(problems, threads=3)
    assert [flow.score for flow in alone] == [flow.score for flow in shared]


def test_without_pot_scipy_solves_the_same(monkeypatch: pytest.MonkeyPatch, problems: list[TransportProblem]) -> None:
    wanted = [flow.score for flow in exact(problems[:50])]
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)
    _solver.cache_clear()
    found = [flow.score for flow in package_exact(problems[:50])]
    _solver.cache_clear()
    assert found == pytest.approx(wanted, abs=1e-9)


def test_without_pot_nothing_flows_from_or_to_what_weighs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    problems = []
    for _ in range(20):
        weights = [draw.random(9) * (np.arange(9) % 3 == draw.integers(3)) for _ in range(2)]
        problems.append(TransportProblem.of(draw.uniform(-1, 1, (9, 9)), *weights))
    wanted = [flow.score for flow in exact(problems)]
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)
    _solver.cache_clear()
    slow, found = not has_network_simplex(), package_exact(problems)
    _solver.cache_clear()
    assert slow
    assert [flow.score for flow in found] == pytest.approx(wanted, abs=1e-9)
    for problem, flow in zip(problems, found, strict=True):
        assert not flow.plan[problem.source == 0].any()
        assert not flow.plan[:, problem.target == 0].any()


def test_a_problem_whose_equal_tokens_are_merged_has_the_same_optimum_and_so_under_other_weights() -> None:
    draw = np.random.default_rng(4)
    for _ in range(50):
        table = draw.uniform(-1, 1, draw.integers(1, 9, 2))
        sides = []
        for size in table.shape:
            kind = np.concatenate([np.arange(size), draw.integers(0, size, 6)])
            sides.append((np.array([int(np.flatnonzero(kind == k)[0]) for k in range(size)]), kind))
        weights = [[draw.random(len(kind)) for _, kind in sides] for _ in range(2)]
        whole = TransportProblem.of(table[np.ix_(sides[0][1], sides[1][1])], *weights[0])
        other = whole.weighed(*weights[1])
        for problem in (whole, other):
            small = problem.merged(*sides)
            assert small.costs.shape == table.shape
            assert small.source.sum() == pytest.approx(1.0)
            assert exact([small])[0].score == pytest.approx(exact([problem])[0].score, abs=1e-12)
        again = TransportProblem.of(whole.similarities, *weights[1])
        assert exact([other])[0].score == exact([again])[0].score


@pytest.mark.parametrize("size", [1, 2, 7, 40])
@pytest.mark.parametrize("seed", range(5))
def test_a_text_beside_itself_scores_exactly_1(size: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(size, 33)).astype(np.float32).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weights = draw.exponential(size=size)
    assert exact([TransportProblem.of(vectors @ vectors.T, weights, weights)])[0].score == 1.0


def test_scores_do_not_depend_on_the_order_of_tokens_nor_on_which_side_is_the_source() -> None:
    draw = np.random.default_rng(3)
    for problem in random_problems(30, seed=2):
        rows, columns = (draw.permutation(size) for size in problem.similarities.shape)
        moved = TransportProblem.of(
            problem.similarities[rows][:, columns], problem.source[rows], problem.target[columns]
        )
        turned = TransportProblem.of(problem.similarities.T, problem.target, problem.source)
        scores = [flow.score for flow in exact([problem, moved, turned])]
        assert scores == pytest.approx([scores[0]] * 3, abs=1e-12)


def test_the_entropic_error_bound_holds_and_is_within_the_tolerance(problems: list[TransportProblem]) -> None:
    for approximate, true in zip(entropic(problems[:200]), exact(problems[:200]), strict=True):
        assert approximate.error <= 5e-3
        assert approximate.score - 1e-9 <= true.score <= approximate.score + approximate.error + 1e-9


@pytest.mark.parametrize("tolerance", [5e-2, 1e-4])
def test_the_entropic_bound_holds_where_nothing_is_missing_and_where_everything_is_alike(tolerance: float) -> None:
    draw = np.random.default_rng(5)
    shared = draw.normal(size=64)
    chosen = []
    for _ in range(40):
        sides = [draw.normal(size=(int(size), 64)) + shared for size in draw.integers(1, 40, size=2)]
        sides = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
        chosen.append(
            TransportProblem.of(sides[0] @ sides[1].T, *(np.abs(draw.normal(size=len(side))) for side in sides))
        )
        chosen.append(TransportProblem.of(sides[0] @ sides[0].T, *2 * [np.full(len(sides[0]), 1.0)]))
    for approximate, true in zip(entropic(chosen, tolerance=tolerance), exact(chosen), strict=True):
        assert approximate.score - 1e-9 <= true.score <= approximate.score + approximate.error + 1e-9
        assert approximate.plan.sum() <= 1 + 1e-9


def test_entropic_plans_keep_the_constraints_whatever_they_are_padded_with(problems: list[TransportProblem]) -> None:
    chosen = problems[:60]
    for problem, together, alone in zip(chosen, entropic(chosen), (entropic([one])[0] for one in chosen), strict=True):
        assert together.plan.shape == problem.similarities.shape
        assert (together.plan.sum(axis=1) <= problem.source + 1e-9).all()
        assert (together.plan.sum(axis=0) <= problem.target + 1e-9).all()
        assert together.score == pytest.approx(alone.score, abs=1e-2)


def test_more_iterations_never_loosen_the_bound_and_are_made_twenty_at_a_time(problems: list[TransportProblem]) -> None:
    chosen = problems[:30]
    found = {count: entropic(chosen, tolerance=0.0, iterations=count) for count in (20, 21, 40, 60, 80, 120, 160, 240)}
    for before, after in itertools.pairwise(found.values()):
        assert all(later.error <= sooner.error for sooner, later in zip(before, after, strict=True))
    assert [flow.error for flow in found[21]] == [flow.error for flow in found[40]]
    assert sum(flow.error for flow in found[40]) > sum(flow.error for flow in found[60])


def test_rows_without_weight_do_not_loosen_the_bound_whatever_their_potentials() -> None:
    draw = torch.Generator().manual_seed(0)
    costs, left = torch.rand(50, 6, 5, generator=draw), 2 * torch.rand(50, 6, generator=draw) - 1
    target, source = torch.rand(50, 5, generator=draw), torch.rand(50, 6, generator=draw)
    source[:, 4:] = 0
    assert _dual(left, costs, source, target).tolist() == pytest.approx(
        _dual(left[:, :4], costs[:, :4], source[:, :4], target).tolist(), abs=1e-6
    )


@pytest.mark.gpu
def test_the_gpu_says_what_the_cpu_says(problems: list[TransportProblem]) -> None:
    here, there = (entropic(problems[:200], device=device) for device in ("cpu", "cuda"))
    assert torch.cuda.is_available()
    assert [flow.score for flow in there] == pytest.approx([flow.score for flow in here], abs=1e-2)


@pytest.mark.parametrize(
    ("attributions", "how", "wanted"),
    [
        ([2.0, -2.0, 0.0], "absolute", [0.5, 0.5, 0.0]),
        ([2.0, -2.0, 0.0], "positive", [1.0, 0.0, 0.0]),
        ([0.0, float(np.log(3))], "softmax", [0.25, 0.75]),
        ([1e-300, 3e-300], "absolute", [0.25, 0.75]),
        ([1e308, 1e308], "absolute", [0.5, 0.5]),
        ([1000.0, 1000.0 + float(np.log(3))], "softmax", [0.25, 0.75]),
        ([-1000.0, -1000.0 + float(np.log(3))], "softmax", [0.25, 0.75]),
    ],
)
def test_weights_are_the_shares_their_names_say(attributions: list[float], how: str, wanted: list[float]) -> None:
    assert weights_of(attributions, how) == pytest.approx(np.array(wanted))


@pytest.mark.parametrize("attributions", [[], [0.0, 0.0], [np.nan, 1.0], [np.inf], [-np.inf, 1.0]])
@pytest.mark.parametrize("how", ["absolute", "positive", "softmax"])
def test_attributions_that_weigh_nothing_have_no_weights_and_never_nan(attributions: list[float], how: str) -> None:
    assert weights_of(attributions, how) is None


def test_attributions_that_all_speak_against_the_target_have_no_positive_weights() -> None:
    assert weights_of([-1.0, -2.0], "positive") is None


def test_single_precision_attributions_are_weighed_in_double_precision() -> None:
    attributions = np.float32([0.1, 0.7, 0.25])
    np.testing.assert_array_equal(
        weights_of(attributions, "absolute"), weights_of(attributions.astype(np.float64), "absolute")
    )


def test_an_unknown_weighting_is_named_with_its_neighbours() -> None:
    with pytest.raises(InputError, match=r"way from attributions to weights.*Did you mean 'absolute'"):
        weights_of([1.0], "absolut")


@pytest.mark.parametrize(
    ("table", "source", "target", "problem"),
    [
        ([[1.0]], [0.0], [1.0], "all weights are 0.*no earth mover's similarity"),
        (np.ones((0, 1)), [], [1.0], "all weights are 0"),
        ([[1.0]], [-1.0], [1.0], "a weight is negative.*Give finite weights of at least 0"),
        ([[1.0], [1.0]], [-1.0, 3.0], [1.0], "negative"),
        ([[1.0, 1.0]], [1.0], [-1.0, 1.0], "negative"),
        ([[1.0]], [np.inf], [1.0], "negative or undefined"),
        ([[1.0]], [1.0], [0.0], "all weights are 0"),
        ([[1.0]], [np.nan], [1.0], "negative or undefined"),
        ([[np.nan]], [1.0], [1.0], "undefined"),
        ([[7.0]], [1.0], [1.0], "outside"),
        ([[1.001]], [1.0], [1.0], "outside"),
        ([[-1.001]], [1.0], [1.0], "outside"),
    ],
)
def test_bad_problems_are_refused(table: object, source: object, target: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        TransportProblem.of(table, source, target)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (6,), (2, 3, 1)])
def test_similarities_of_another_shape_than_the_weights_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="2 and 3 weights"):
        TransportProblem.of(np.zeros(shape), np.ones(2), np.ones(3))


def test_weights_are_shares_and_similarities_beyond_1_by_rounding_are_1() -> None:
    problem = TransportProblem.of([[1 + 1e-7, -1 - 1e-7], [1 - 1e-13, 1 - 1e-9]], [1.0, 3.0], [6.0, 2.0])
    np.testing.assert_array_equal(problem.source, [0.25, 0.75])
    np.testing.assert_array_equal(problem.target, [0.75, 0.25])
    np.testing.assert_array_equal(problem.similarities[0], [1.0, -1.0])
    assert problem.costs[0].tolist() == [0.0, 1.0]
    assert problem.costs[1, 0] == 0.0
    assert problem.costs[1, 1] == pytest.approx(1e-9)


def test_the_strongest_flows_come_in_order_and_nothing_that_does_not_flow() -> None:
    flow = Flow(1.0, np.array([[0.1, 0.0, 0.3], [0.3, 0.2, 0.0]]), 0.0)
    everything = [(0, 2, 0.3), (1, 0, 0.3), (1, 1, 0.2), (0, 0, 0.1)]
    for count in range(8):
        assert flow.strongest(count) == everything[:count]
    alike = Flow(1.0, np.tile([0.5, 0.0, 0.25], (20, 7)), 0.0)
    found = alike.strongest(20 * 14)
    assert found == sorted(found, key=lambda each: (-each[2], each[0], each[1]))


def test_a_simplex_that_does_not_end_at_the_optimum_is_an_error() -> None:
    def unfinished(source: object, target: object, costs: np.ndarray, pivots: int, threads: int) -> tuple[object, ...]:
        return np.zeros_like(costs), 0.0, None, None, 3

    with pytest.raises(InterlinguaError, match="status 3"):
        _by_network_simplex(unfinished, np.ones(1), np.ones(1), np.ones((1, 1)))


def test_a_linear_program_that_does_not_end_at_the_optimum_is_an_error_that_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = {"status": 4, "message": "numerical difficulties", "x": np.zeros(1)}
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: types.SimpleNamespace(**ended))
    with pytest.raises(InterlinguaError, match="numerical difficulties"):
        _by_linear_program(np.ones(1), np.ones(1), np.ones((1, 1)))


def test_either_solver_gives_the_targets_as_much_as_the_sources_have(problems: list[TransportProblem]) -> None:
    emd_c = pytest.importorskip("ot.lp.emd_wrap").emd_c
    for problem in problems[:20]:
        for solve in (_by_linear_program, functools.partial(_by_network_simplex, emd_c)):
            plan = solve(problem.source, problem.target * 1.5, problem.costs)
            assert plan.sum(axis=1) == pytest.approx(problem.source, abs=1e-9)
            assert plan.sum(axis=0) == pytest.approx(problem.target, abs=1e-9)


def test_batches_of_the_entropic_solver_are_as_large_as_allowed_and_in_the_end_in_order(
    monkeypatch: pytest.MonkeyPatch, problems: list[TransportProblem]
) -> None:
    module, cells, chosen = importlib.import_module("interlingua.transport.entropic"), 400, problems[:40]
    assert max(problem.similarities.size for problem in chosen) > cells
    batches, padded = [], module._padded

    def spy(batch: list[TransportProblem], device: torch.device) -> object:
        batches.append([problem.similarities.shape for problem in batch])
        return padded(batch, device)

    def held(shapes: list[tuple[int, int]]) -> int:
        return len(shapes) * max(rows for rows, _ in shapes) * max(columns for _, columns in shapes)

    monkeypatch.setattr(module, "_padded", spy)
    monkeypatch.setattr(module, "_CELLS", {"cpu": cells})
    found = entropic(chosen, tolerance=0.05)
    assert all(held(batch) <= cells or len(batch) == 1 for batch in batches)
    assert all(held([*batch, following[0]]) > cells for batch, following in itertools.pairwise(batches))
    assert list(itertools.chain(*batches)) == sorted(problem.similarities.shape for problem in chosen)
    for flow, problem, true in zip(found, chosen, exact(chosen), strict=True):
        assert flow.plan.shape == problem.similarities.shape
        assert flow.score - 1e-9 <= true.score <= flow.score + flow.error + 1e-9
    assert entropic([]) == []
    batches.clear()
    entropic([TransportProblem.of(np.eye(10), np.ones(10), np.ones(10))] * 9)
    assert [len(batch) for batch in batches] == [4, 4, 1]  # Four times 100 are 400.


def test_shares_of_any_size_give_every_problem_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch, problems: list[TransportProblem]
) -> None:
    wanted = [exact([problem])[0].score for problem in problems[:30]]
    monkeypatch.setattr(importlib.import_module("interlingua.transport.exact"), "_SHARE", 7)
    for threads in (None, 1, 2, 3):
        assert [flow.score for flow in exact(problems[:30], threads=threads)] == wanted
    assert exact([]) == []


@pytest.mark.parametrize(
    ("count", "threads", "workers"),
    [(30, 3, [3]), (30, 8, [5]), (29, 8, [5]), (28, 8, [4]), (14, 8, [2]), (7, 8, []), (30, 1, [])],
)
def test_there_are_as_many_threads_as_may_be_and_no_more_than_shares(
    monkeypatch: pytest.MonkeyPatch, problems: list[TransportProblem], count: int, threads: int, workers: list[int]
) -> None:
    module, made = importlib.import_module("interlingua.transport.exact"), []

    def spy(size: int) -> ThreadPoolExecutor:
        made.append(size)
        return ThreadPoolExecutor(size)

    monkeypatch.setattr(module, "ThreadPoolExecutor", spy)
    monkeypatch.setattr(module, "_SHARE", 7)
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    for said in (threads, None):
        made.clear()
        assert len(exact(problems[:count], threads=said)) == count
        assert made == workers


@pytest.mark.parametrize("said", [None, "", "0", "all", "-2"])
def test_without_a_number_of_threads_there_is_one_for_each_core_of_the_process(
    monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0: {4, 7, 9}}[process], raising=False)
    assert _cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS
    assert _cores() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert _cores() == 1


@pytest.mark.parametrize("said", ["5", " 5 ", "5,2,1"])
def test_the_number_of_threads_is_the_first_one_that_openmp_is_told(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert _cores() == 5


def test_single_precision_problems_are_solved_in_double_precision() -> None:
    table, weights = np.float32([[0.9, 0.1], [0.3, 0.8]]), np.float32([0.4, 0.6])
    single = TransportProblem.of(table, weights, weights)
    double = TransportProblem.of(table.astype(np.float64), weights.astype(np.float64), weights.astype(np.float64))
    for ours, theirs in zip(
        (single.similarities, single.source, single.target),
        (double.similarities, double.source, double.target),
        strict=True,
    ):
        assert ours.dtype == np.float64
        np.testing.assert_array_equal(ours, theirs)
    assert single.flow(np.eye(2, dtype=np.float32) / 2).plan.dtype == np.float64


def test_nothing_flows_along_a_similarity_of_0() -> None:
    flow = exact([TransportProblem.of([[0.0]], [1.0], [1.0])])[0]
    assert (flow.score, flow.plan.tolist()) == (0.0, [[0.0]])
