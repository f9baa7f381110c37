import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.analyses.seed_statistics import (
    _fixed_seed_p,
    _Side,
    summarize_distances,
    summarize_over_seeds,
    summarize_tasks,
)
from interlingua.measures.separation import METRICS as DISTANCES
from interlingua.record import Record
from interlingua.score import Score
from interlingua.stats import detectable_error
from record_store import RecordStore

REGIMES, TESTS = ("original", "adjusted", "continual"), ("es", "ru")


def record(test, regime, seed, metric, value, n):
    return Record(measure="nli", metric=metric, model="m", source="en", value=value, n=n, target=test, seed=seed,
                  test=test, regime=regime)  # fmt: skip


@pytest.fixture(scope="module")
def hits():
    draw = np.random.default_rng(0)
    easy = draw.random((len(TESTS), 400))
    return {
        (test, regime, seed): (draw.random(400) < 0.4 + 0.3 * easy[place] + 0.15 * step).astype(np.uint8)
        for place, test in enumerate(TESTS)
        for step, regime in enumerate(REGIMES)
        for seed in range(3)
    }


@pytest.fixture(scope="module")
def store(hits, tmp_path_factory):
    store = RecordStore(tmp_path_factory.mktemp("store"))
    for (test, regime, seed), values in hits.items():
        made = record(test, regime, seed, "accuracy", float(values.mean()), 400)
        store.append(f"{test}{regime}{seed}", [(made, values)])
    return store


@pytest.fixture(scope="module")
def found(store):
    return summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES, tests=TESTS, permutations=200)


def one(found, test, regime):
    return next(score for score in found if (score.test, score.regime) == (test, regime))


def by_hand(ours, theirs):
    """p and interval over seeds and examples of two lists of hits, by scipy's Welch test and the examples' variance."""
    welch = scipy_stats.ttest_ind(*([values.mean() for values in side] for side in (ours, theirs)), equal_var=False)
    apart = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    error = np.sqrt((apart.mean() / welch.statistic) ** 2 + apart.var(ddof=1) / apart.size)
    low, high = scipy_stats.t.interval(0.95, welch.df, apart.mean(), error)
    return 2 * scipy_stats.t.sf(abs(apart.mean()) / error, welch.df), (low, high)


def test_differences_effects_and_intervals_are_those_of_scipy(found, hits):
    for test in TESTS:
        for regime, base in (("adjusted", "original"), ("continual", "original"), ("continual", "adjusted")):
            entry = one(found, test, regime)
            sides = [[hits[test, name, seed] for seed in range(3)] for name in (regime, base)]
            fixed = scipy_stats.ttest_rel(*(np.mean(side, axis=0) for side in sides))
            each = entry.against[base]
            p, interval_by_hand = by_hand(*sides)
            assert entry.against[base].p == pytest.approx(p)
            assert (each.ci_low, each.ci_high) == pytest.approx(interval_by_hand)
            assert each.over == "seeds and examples"
            assert entry.against[base].fixed_seed_p["examples"] == pytest.approx(fixed.pvalue)
            assert each.value == pytest.approx(entry.value - one(found, test, base).value)
            assert each.effect == pytest.approx(fixed.statistic / 20, rel=3e-3)  # Hedges' correction is 0.998 here


@pytest.mark.parametrize("order", list(permutations(REGIMES)))
def test_the_order_of_the_regimes_changes_no_comparison(found, store, order):
    turned = summarize_over_seeds(list(store.read()), store.items, regimes=order, tests=TESTS, permutations=200)
    assert [entry.regime for entry in turned if entry.test == "es"] == list(order)
    for entry in turned:
        assert entry == one(found, entry.test, entry.regime)


def test_regimes_of_a_task_alone_are_in_their_usual_order_and_compared(store):
    of_task = [replace(r, task="nli") for r in store.read() if r.target == "es"]
    scores = summarize_tasks(of_task, store.items, regimes=[], permutations=200)
    assert {score.regime: list(score.against) for score in scores} == {
        "original": [], "adjusted": ["original"], "continual": ["original", "adjusted"],
    }  # fmt: skip
    assert [score.regime for score in scores] == list(REGIMES)


def test_the_difference_is_that_of_the_means_whichever_seeds_either_side_has(hits, tmp_path):
    store = RecordStore(tmp_path)
    for (test, regime, seed), values in hits.items():
        if test == "es" and regime != "continual" and (regime, seed) != ("adjusted", 2):
            own = np.zeros_like(values) if seed == 2 else values  # The original's third seed is poor.
            store.append(f"{regime}{seed}", [(record(test, regime, seed, "accuracy", float(own.mean()), 400), own)])
    scores = summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES, tests=TESTS, permutations=200)
    entry, first = one(scores, "es", "adjusted"), one(scores, "es", "original")
    each = entry.against["original"]
    assert each.value == pytest.approx(entry.value - first.value)
    assert (each.seeds, each.base_seeds) == ((0, 1), (0, 1, 2))


@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_where_regimes_are_alike_an_f1_differs_in_a_twentieth_of_studies(spread):
    # Each regime finds some sentences easier than others (`spread`), and so does every seed of it: seeds of a sentence
    # go together. With each seed swapped on its own the test is wrong three times as often.
    draw = np.random.default_rng(0)
    found, apart = [], []
    for _ in range(200):
        gold = np.full(150, 2)
        sides = []
        for _ in range(2):
            ease = np.clip(0.5 + spread * (draw.random(150) - 0.5), 0, 1)
            sides.append([np.stack([draw.binomial(gold, ease), gold, gold]) for _ in range(5)])
        ours, theirs = (_Side([*range(5)], [0.0] * 5, side) for side in sides)
        p_values = _fixed_seed_p(ours, theirs, 199)
        found.append(p_values["permutation"])
        apart.append(p_values["permutation_apart"])
    assert np.mean(np.array(found) < 0.05) < 0.09
    assert (np.mean(np.array(apart) < 0.05) > 0.1) == (spread > 0)


def test_seeds_have_students_interval(found):
    entry = one(found, "ru", "continual")
    expected = scipy_stats.t.interval(0.95, 2, entry.value, scipy_stats.sem(entry.values))
    assert (entry.ci_low, entry.ci_high) == pytest.approx(expected)


def test_a_metrics_p_values_are_corrected_together(found):
    raw = [each.p for score in found for each in score.against.values()]
    corrected = [each.p_adjusted for score in found for each in score.against.values()]
    assert len(raw) == 6
    assert min(corrected) == pytest.approx(min(1.0, 6 * min(raw)))
    assert max(corrected) >= max(raw)
    assert all(p >= q for p, q in zip(corrected, raw, strict=True))
    assert one(found, "es", "original").against == {}


def test_a_true_difference_of_the_detectable_size_is_found_in_four_of_five_studies(tmp_path):
    draw, found, sizes = np.random.default_rng(1), [], []
    for trial in range(150):
        easy = draw.random(300)
        sides = {"original": draw.random(300) < 0.3 + 0.4 * easy, "adjusted": draw.random(300) < 0.4 + 0.4 * easy}
        store = RecordStore(tmp_path / str(trial))
        for name, values in sides.items():
            made = record("ru", name, 0, "accuracy", float(values.mean()), 300)
            store.append(name, [(made, values.astype(np.uint8))])
        entry = one(
            summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES, tests=["ru"], permutations=1),
            "ru",
            "adjusted",
        )
        found.append(entry.against["original"].fixed_seed_p["examples"] < 0.05)
        sizes.append(entry.against["original"].detectable)
    # The true difference is 0.1: power from the detectable one by the normal approximation.
    power = scipy_stats.norm.cdf(0.1 / np.mean(sizes) * (1.96 + 0.8416) - 1.96)
    assert np.mean(found) == pytest.approx(power, abs=4 * np.sqrt(power * (1 - power) / 150))


def test_an_f1_of_counts_has_an_interval_over_sentences_whose_seeds_stay_together(tmp_path):
    draw, store = np.random.default_rng(2), RecordStore(tmp_path)
    gold = draw.integers(1, 4, 300)
    counts = {}
    for name, right in (("original", 0.5), ("adjusted", 0.6)):
        same = np.stack([draw.binomial(gold, right), gold, gold]).astype(float)
        counts[name] = same
        for seed in range(3):  # three seeds that say the same are one: no interval may shrink by them
            f1 = 2 * same[0].sum() / (same[1] + same[2]).sum()
            store.append(f"{name}{seed}", [(record("ru", name, seed, "f1/token", float(f1), 300), same)])
    scores = summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES, tests=["ru"], permutations=99)
    entry = one(scores, "ru", "adjusted")
    each = entry.against["original"]
    apart = (counts["adjusted"][0] - counts["original"][0]) / gold.mean()  # predicted = gold: F1 is a ratio of means
    assert each.value == pytest.approx(apart.mean())
    error = (apart - apart.mean() * gold / gold.mean()).std(ddof=1) / 300**0.5
    assert (each.ci_high - each.ci_low) / 2 == pytest.approx(scipy_stats.t.ppf(0.975, 4) * error, rel=0.01)
    assert each.detectable == pytest.approx(detectable_error(error, df=4), rel=0.01)
    assert each.effect is None


def test_records_without_a_regime_are_no_scores(tmp_path):
    store = RecordStore(tmp_path)
    plain = replace(record("ru", "original", 0, "accuracy", 0.5, 2), regime=None, test=None, state="untouched")
    store.append("a", [(plain, np.ones(2))])
    assert summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES, tests=TESTS, permutations=9) == []


@pytest.mark.parametrize("counts", [False, True])
def test_the_papers_tests_are_over_the_seeds_that_both_have(tmp_path, counts):
    draw, store = np.random.default_rng(1), RecordStore(tmp_path / "all")
    kept = {}
    for regime, seeds in {"original": (0, 1, 2), "adjusted": (1,), "continual": (3,)}.items():
        for seed in seeds:
            values = draw.integers(0, 2, (3, 80) if counts else 80).astype(np.uint8)
            made = record("es", regime, seed, "f1" if counts else "accuracy", float(values.mean()), 80)
            store.append(f"{regime}{seed}", [(made, values)])
            kept[regime, seed] = (made, values)
    alone = RecordStore(tmp_path / "alone")
    for regime in ("original", "adjusted"):
        alone.append(regime, [kept[regime, 1]])
    both, few = (summarize_over_seeds(list(each.read()), each.items, regimes=REGIMES, tests=["es"], permutations=99)
                 for each in (store, alone))  # fmt: skip
    key = "permutation" if counts else "examples"
    adjusted, alone_adjusted = (one(each, "es", "adjusted").against["original"] for each in (both, few))
    continual = one(both, "es", "continual").against["original"]
    assert adjusted.fixed_seed_p[key] == alone_adjusted.fixed_seed_p[key]
    assert adjusted.p is continual.p is None
    assert not continual.fixed_seed_p


def test_a_collapsed_seed_is_left_out_of_a_second_comparison(hits, tmp_path):
    store, items = RecordStore(tmp_path), {}
    for (test, regime, seed), values in hits.items():
        if regime != "continual":
            lost = (test, regime, seed) == ("ru", "original", 1)
            own = (np.arange(400) % 3 == 0).astype(np.uint8) if lost else values
            items[test, regime, seed] = own
            made = replace(record(test, regime, seed, "accuracy", float(own.mean()), 400), null_value=1 / 3)
            store.append(f"{test}{regime}{seed}", [(made, own)])
    scores = summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES[:2], tests=TESTS, permutations=200)
    assert one(scores, "ru", "original").collapsed_seeds == (1,)
    assert not one(scores, "es", "adjusted").without_collapsed
    rest = one(scores, "ru", "adjusted").without_collapsed["original"]
    sides = [[items["ru", regime, seed] for seed in (0, 2)] for regime in ("adjusted", "original")]
    p, interval_by_hand = by_hand(*sides)
    assert rest.seeds == rest.base_seeds == (0, 2)
    assert rest.p == rest.p_adjusted == pytest.approx(p)
    assert (rest.ci_low, rest.ci_high) == pytest.approx(interval_by_hand)
    assert rest.value == pytest.approx(np.mean(sides[0]) - np.mean(sides[1]))


def test_one_seed_has_the_interval_over_its_examples_and_no_test(hits, tmp_path):
    store = RecordStore(tmp_path)
    for (test, regime, seed), values in hits.items():
        if seed == 0:
            low, high = scipy_stats.binomtest(int(values.sum()), 400).proportion_ci(method="wilson")
            made = record(test, regime, seed, "accuracy", float(values.mean()), 400)
            store.append(f"{test}{regime}", [(replace(made, ci_low=low, ci_high=high), values)])
    scores = summarize_over_seeds(list(store.read()), store.items, regimes=REGIMES, tests=TESTS, permutations=200)
    for score, line in zip(scores, store.read(), strict=True):
        assert (score.ci_low, score.ci_high, score.deviation) == (line.ci_low, line.ci_high, None)
    differences = [each for score in scores for each in score.against.values()]
    assert {each.over for each in differences} == {"examples"}
    assert {each.p for each in differences} == {each.p_adjusted for each in differences} == {None}


def test_distances_have_the_interval_over_seeds_and_of_one_seed_that_over_words():
    def lines(seeds):
        names = {"distance/related/l2": 1.0, "distance/unrelated/l2": 2.0, "auc/l2": 0.8}
        shared = Record(measure="distances", model="m", source="en", target="ru", state="untouched", unit="word")
        return [
            replace(shared, seed=seed).scored(
                DISTANCES, name, Score(value + seed / 100, 9, low=value - 0.1, high=value + 0.1)
            )
            for name, value in names.items()
            for seed in range(seeds)
        ]

    [alone] = summarize_distances(lines(1))
    assert (alone.auc.ci_low, alone.auc.ci_high) == pytest.approx((0.7, 0.9))
    [three] = summarize_distances(lines(3), states=["untouched"])
    expected = scipy_stats.t.interval(0.95, 2, 0.81, scipy_stats.sem([0.8, 0.81, 0.82]))
    assert (three.auc.ci_low, three.auc.ci_high) == pytest.approx(expected)
    assert three.to_plain()["intervals"]["auc"] == pytest.approx(list(expected))
    assert (three.state, three.language, three.seeds) == ("untouched", "ru", 3)


def test_what_is_exported_is_plain_data_with_the_same_numbers(found):
    for score in found:
        plain = json.loads(json.dumps(score.to_plain()))
        assert (plain["mean"], plain["values"], plain["seeds"]) == (score.value, list(score.values), list(score.seeds))
        assert plain["p"] == {base: each.p for base, each in score.against.items()}
        assert plain["p_holm"] == {base: each.p_adjusted for base, each in score.against.items()}
        assert {base: each["difference"] for base, each in plain["against"].items()} == {
            base: each.value for base, each in score.against.items()
        }
        assert json.loads(json.dumps(score.to_dict()))["value"] == score.value
