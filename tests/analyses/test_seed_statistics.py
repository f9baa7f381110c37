import re
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.analyses.seed_statistics import _of_the_paper, _Side, distance_table, study_scores, summarise
from interlingua.measures.separation import METRICS as DISTANCES
from interlingua.record import Record
from interlingua.report.runs import Run
from interlingua.report.study_answer import lead
from interlingua.report.study_parts import task_runs
from interlingua.report.transfer import cell, difference_table, distance_lines, interval, score_table, stuck_seeds
from interlingua.report.transfer_answer import base_name, told, unlucky
from interlingua.report.transfer_page import pairwise_figures, transfer_answer, transfer_files, transfer_page
from interlingua.score import Score
from interlingua.stats import detectable_error
from record_store import RecordStore

REGIMES, TESTS = ("original", "adjusted", "continual"), ("es", "ru")
RUN = {"tests": TESTS, "regimes": REGIMES, "seeds": [0, 1, 2], "source": "en", "model": "m", "task": "nli"}


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
    return summarise(list(store.read()), store, regimes=REGIMES, tests=TESTS, permutations=200)


def one(found, test, regime):
    return next(entry for entry in found if (entry["test"], entry["regime"]) == (test, regime))


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
            each = entry["against"][base]
            p, interval_by_hand = by_hand(*sides)
            assert entry["p"][base] == pytest.approx(p)
            assert (each["low"], each["high"]) == pytest.approx(interval_by_hand)
            assert each["over"] == "seeds and examples"
            assert entry["p_examples"][base] == pytest.approx(fixed.pvalue)
            assert each["difference"] == pytest.approx(entry["mean"] - one(found, test, base)["mean"])
            assert each["effect"] == pytest.approx(fixed.statistic / 20, rel=3e-3)  # Hedges' correction is 0.998 here


@pytest.mark.parametrize("order", list(permutations(REGIMES)))
def test_the_order_of_the_regimes_changes_no_comparison(found, store, order):
    turned = summarise(list(store.read()), store, regimes=order, tests=TESTS, permutations=200)
    assert [entry["regime"] for entry in turned if entry["test"] == "es"] == list(order)
    for entry in turned:
        assert entry == one(found, entry["test"], entry["regime"])


def test_regimes_of_a_task_alone_are_told_in_their_usual_order_and_compared(store):
    of_task = [replace(r, task="nli") for r in store.read() if r.target == "es"]
    scores = study_scores(of_task, store, regimes=[], permutations=200)
    assert {entry["regime"]: list(entry["p"]) for entry in scores} == {
        "original": [], "adjusted": ["original"], "continual": ["original", "adjusted"],
    }  # fmt: skip
    assert [entry["regime"] for entry in scores] == list(REGIMES)


def test_the_words_are_of_the_regime_that_was_tested_against_wherever_it_stands(hits, tmp_path):
    store = RecordStore(tmp_path)
    for (test, regime, seed), values in hits.items():
        made = record(test, regime, seed, "accuracy", float(values.mean()), 400)
        store.append(f"{test}{regime}{seed}", [(replace(made, null_value=0.1), values)])

    def said(*regimes):
        scores = summarise(list(store.read()), store, regimes=regimes, tests=TESTS, permutations=200)
        run = Run({**RUN, "regimes": regimes}, more={"scores": scores})
        assert next(pairwise_figures(run)).title == f"Regimes against {base_name(run)}"
        return dict(told(run)[1])

    usual = said("original", "adjusted", "continual")
    assert usual["adjusted"].startswith("Helped: Spanish (+")
    assert said("continual", "original")["continual"] == usual["continual"]
    assert said("adjusted", "continual")["continual"].startswith("Helped: Spanish (+")
    assert said("continual", "adjusted") == said("adjusted", "continual")


def test_regimes_of_ones_own_are_compared_with_the_first_two_that_a_test_has(hits, tmp_path):
    own = {"original": "plain", "adjusted": "mapped", "continual": "shuffled"}
    store = RecordStore(tmp_path)
    for (test, regime, seed), values in hits.items():
        if (test, regime) != ("ru", "original"):  # As a head that a map alone carries to Russian.
            made = replace(record(test, own[regime], seed, "accuracy", float(values.mean()), 400), null_value=0.1)
            store.append(f"{test}{regime}{seed}", [(made, values)])
    names = [*own.values()]
    scores = summarise(list(store.read()), store, regimes=names, tests=TESTS, permutations=200)
    assert [(e["test"], e["regime"], e["bases"], [*e["p"]]) for e in scores] == [
        ("es", "plain", ["plain", "mapped"], []),
        ("es", "mapped", ["plain", "mapped"], ["plain"]),
        ("es", "shuffled", ["plain", "mapped"], ["plain", "mapped"]),
        ("ru", "mapped", ["mapped", "shuffled"], []),
        ("ru", "shuffled", ["mapped", "shuffled"], ["mapped"]),
    ]
    run = Run({**RUN, "regimes": names}, more={"scores": scores})
    table = score_table(scores, run.about, "accuracy")
    assert ": * from plain or mapped, ** from mapped." in table.caption
    lead, facts = told(run)
    first = r"Trained in English, in percent, Accuracy \(chance level 10.0\): plain, Spanish [\d.]+ ±[\d.]+; mapped, "
    assert re.match(f"{first}Russian ", lead)
    assert dict(facts)["mapped"].startswith("Helped: Spanish (+")
    assert "Russian (+" in dict(facts)["shuffled"]
    assert next(pairwise_figures(run)).title == "Regimes against the first"


def test_a_difference_of_models_at_chance_neither_helps_nor_hurts(found):
    low = [{**entry, "null": 0.9, "above": 0} for entry in found]
    facts = dict(told(Run(RUN, more={"scores": low}))[1])
    assert facts["adjusted"].startswith("Both at chance: Spanish (+")
    assert "Helped" not in facts["adjusted"]
    level = f"Spanish, original {100 * low[0]['mean']:.2f} (chance level 90.00)"
    assert told(Run(RUN, more={"scores": low}))[0].startswith(f"Not above chance in any seed: {level}, ")


def test_two_seeds_far_above_chance_are_above_it_however_wide_the_interval_of_their_mean(found):
    # 0.66 and 0.60 of three labels: Student's interval of two seeds reaches below a third.
    values = {"original": [0.66, 0.60], "adjusted": [0.71, 0.64]}
    seeds = [
        {**one(found, "es", regime), "values": own, "seeds": [0, 1], "mean": sum(own) / 2, "null": 1 / 3, "above": 2}
        for regime, own in values.items()
    ]
    assert interval(seeds[0])[0] < 1 / 3
    facts = dict(told(Run({**RUN, "seeds": [0, 1], "regimes": REGIMES[:2]}, more={"scores": seeds}))[1])
    assert facts.keys() == {"adjusted"}
    assert facts["adjusted"].startswith("Helped: Spanish (+")


def test_the_difference_is_that_of_the_means_whichever_seeds_either_side_has(hits, tmp_path):
    store = RecordStore(tmp_path)
    for (test, regime, seed), values in hits.items():
        if test == "es" and regime != "continual" and (regime, seed) != ("adjusted", 2):
            own = np.zeros_like(values) if seed == 2 else values  # The original's third seed is poor.
            store.append(f"{regime}{seed}", [(record(test, regime, seed, "accuracy", float(own.mean()), 400), own)])
    scores = summarise(list(store.read()), store, regimes=REGIMES, tests=TESTS, permutations=200)
    entry, first = one(scores, "es", "adjusted"), one(scores, "es", "original")
    each = entry["against"]["original"]
    assert each["difference"] == pytest.approx(entry["mean"] - first["mean"])
    assert (each["seeds"], each["base_seeds"]) == ([0, 1], [0, 1, 2])
    assert difference_table(scores, RUN, "accuracy").rows[0][3] == "2 and 3"
    shown = round(100 * entry["mean"], 2) - round(100 * first["mean"], 2)
    assert f"Spanish (+{shown:.2f})" in dict(told(Run(RUN, more={"scores": scores}))[1])["adjusted"]


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
        told_p = _of_the_paper(ours, {"original": theirs}, 199)
        found.append(told_p["p_permutation"]["original"])
        apart.append(told_p["p_permutation_apart"]["original"])
    assert np.mean(np.array(found) < 0.05) < 0.09
    assert (np.mean(np.array(apart) < 0.05) > 0.1) == (spread > 0)


def test_one_seed_is_shown_with_its_interval_over_examples_and_judged_by_it(hits, tmp_path):
    store = RecordStore(tmp_path)
    for (test, regime, seed), values in hits.items():
        if seed == 0:
            low, high = scipy_stats.binomtest(int(values.sum()), 400).proportion_ci(method="wilson")
            made = record(test, regime, seed, "accuracy", float(values.mean()), 400)
            store.append(f"{test}{regime}", [(replace(made, ci_low=low, ci_high=high, null_value=low + 0.001), values)])
    scores = summarise(list(store.read()), store, regimes=REGIMES, tests=TESTS, permutations=200)
    for entry, line in zip(scores, store.read(), strict=True):
        assert (entry["low"], entry["high"]) == (line.ci_low, line.ci_high) == interval(entry)
        assert cell(entry).startswith(f"{100 * line.value:.2f} [{100 * line.ci_low:.1f}, {100 * line.ci_high:.1f}]")
    about = {**RUN, "seeds": [0]}
    assert (
        "in brackets the 95 % interval of one seed over its examples" in score_table(scores, about, "accuracy").caption
    )
    facts = dict(told(Run(about, more={"scores": scores}))[1])
    assert "Chance" not in facts
    assert told(Run(about, more={"scores": scores}))[0].startswith("Not above chance: Spanish, original ")
    # One seed says nothing of others: no p-value, no mark, and no word that would need one.
    assert all(entry["p"] == entry["p_holm"] == {} for entry in scores)
    assert all(each["over"] == "examples" for entry in scores for each in entry["against"].values())
    table = score_table(scores, about, "accuracy")
    assert "One seed: differences are not tested, and none is marked." in table.caption
    assert "*" not in "".join(str(text) for row in table.rows for text in row)
    high = [{**entry, "above": 1} for entry in scores]
    facts = dict(told(Run(about, more={"scores": high}))[1])
    assert facts["adjusted"].startswith("Not tested over seeds: Spanish (+")
    assert "not tested" in dict(transfer_answer(Run(about, more={"scores": high})).facts)["How sure"]


def test_distances_have_the_interval_over_seeds_and_of_one_seed_that_over_words():
    def lines(seeds):
        names = {"distance/related/l2": 1.0, "distance/unrelated/l2": 2.0, "auc/l2": 0.8}
        shared = Record(measure="distances", model="m", source="en", target="ru", state="untouched")
        return [
            replace(shared, seed=seed).scored(
                DISTANCES, name, Score(value + seed / 100, 9, low=value - 0.1, high=value + 0.1)
            )
            for name, value in names.items()
            for seed in range(seeds)
        ]

    (one,) = distance_table(lines(1), states=["untouched"])
    assert one["intervals"]["auc"] == pytest.approx([0.7, 0.9])
    table = distance_lines([one])
    assert table.rows[0][-1] == "0.800 [0.700, 0.900]"
    assert table.caption.endswith("over the words of one seed.")
    (three,) = distance_table(lines(3), states=["untouched"])
    expected = scipy_stats.t.interval(0.95, 2, 0.81, scipy_stats.sem([0.8, 0.81, 0.82]))
    assert three["intervals"]["auc"] == pytest.approx(list(expected))
    assert distance_lines([three]).caption.endswith("over seeds (Student).")


def test_seeds_have_students_interval(found):
    entry = one(found, "ru", "continual")
    expected = scipy_stats.t.interval(0.95, 2, entry["mean"], scipy_stats.sem(entry["values"]))
    assert (entry["low"], entry["high"]) == pytest.approx(expected)


def test_a_metrics_p_values_are_corrected_together(found):
    raw = [p for entry in found for p in entry["p"].values()]
    corrected = [p for entry in found for p in entry["p_holm"].values()]
    assert len(raw) == 6
    assert min(corrected) == pytest.approx(min(1.0, 6 * min(raw)))
    assert max(corrected) >= max(raw)
    assert all(p >= q for p, q in zip(corrected, raw, strict=True))
    assert one(found, "es", "original")["p_holm"] == {}


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
            summarise(list(store.read()), store, regimes=REGIMES, tests=["ru"], permutations=1), "ru", "adjusted"
        )
        found.append(entry["p_examples"]["original"] < 0.05)
        sizes.append(entry["against"]["original"]["detectable"])
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
    scores = summarise(list(store.read()), store, regimes=REGIMES, tests=["ru"], permutations=99)
    entry = one(scores, "ru", "adjusted")
    each = entry["against"]["original"]
    apart = (counts["adjusted"][0] - counts["original"][0]) / gold.mean()  # predicted = gold: F1 is a ratio of means
    assert each["difference"] == pytest.approx(apart.mean())
    error = (apart - apart.mean() * gold / gold.mean()).std(ddof=1) / 300**0.5
    assert (each["high"] - each["low"]) / 2 == pytest.approx(scipy_stats.t.ppf(0.975, 4) * error, rel=0.01)
    assert each["detectable"] == pytest.approx(detectable_error(error, df=4), rel=0.01)
    assert each["effect"] is None


def test_the_report_lays_correction_size_and_power_beside_the_marks(found):
    table = score_table(found, RUN, "accuracy")
    held = sum(p < 0.05 for entry in found for p in entry["p_holm"].values())
    assert f"{held} of 6 comparisons differ" in table.caption
    assert "over 6 comparisons" in dict(transfer_answer(Run(RUN, more={"scores": found})).facts)["How sure"]
    rows = difference_table(found, RUN, "accuracy").rows
    assert [row[:3] for row in rows][:3] == [
        ("es", "adjusted", "original"), ("es", "continual", "original"), ("es", "continual", "adjusted"),
    ]  # fmt: skip
    each = one(found, "es", "adjusted")
    assert rows[0][3] == 3
    assert rows[0][4].parts[""] == pytest.approx(100 * each["against"]["original"]["difference"])
    assert rows[0][-3:] == tuple(each[key]["original"] for key in ("p", "p_holm", "p_examples"))
    files = transfer_files(found, [], RUN)
    assert "tables/transfer-accuracy-differences.tex" in files


def test_records_without_a_regime_are_no_scores(tmp_path):
    store = RecordStore(tmp_path)
    plain = replace(record("ru", "original", 0, "accuracy", 0.5, 2), regime=None, test=None, state="untouched")
    store.append("a", [(plain, np.ones(2))])
    assert summarise(list(store.read()), store, regimes=REGIMES, tests=TESTS, permutations=9) == []


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
    both, few = (summarise(list(each.read()), each, regimes=REGIMES, tests=["es"], permutations=99)
                 for each in (store, alone))  # fmt: skip
    key = "p_permutation" if counts else "p_examples"
    assert one(both, "es", "adjusted")[key] == one(few, "es", "adjusted")[key]
    assert one(both, "es", "adjusted")["p"] == one(both, "es", "continual")["p"] == {}
    assert key not in one(both, "es", "continual")


def test_a_seed_that_never_left_chance_is_named_where_others_did():
    def entry(test, regime, values, null=0.333):
        return {"test": test, "regime": regime, "values": values, "seeds": list(range(len(values))), "null": null}

    own = [entry("ru", "original", [0.47, 0.334, 0.46]), entry("es", "original", [0.48, 0.333, 0.47]),
           entry("ru", "adjusted", [0.48, 0.45, 0.333]), entry("hi", "original", [0.333, 0.334, 0.335]),
           entry("hi", "adjusted", [0.45, 0.46, 0.45])]  # fmt: skip
    assert stuck_seeds(own) == {("original", 1): ["ru", "es"], ("adjusted", 2): ["ru"]}
    assert stuck_seeds([entry("ru", "original", [0.333])]) == {}
    assert stuck_seeds([entry("ru", "original", [0.47, 0.2], null=None)]) == {}


def nli(test, regime, values, p=0.001):
    return {"test": test, "regime": regime, "values": values, "seeds": list(range(len(values))), "null": 1 / 3,
            "metric": "accuracy", "mean": sum(values) / len(values), "deviation": 0.01, "layer": None,
            "p": {} if regime == "original" else {"original": p}}  # fmt: skip


def test_a_stuck_seed_makes_no_regime_better_and_the_others_are_tested_without_it(hits, tmp_path):
    store, items = RecordStore(tmp_path), {}
    for (test, regime, seed), values in hits.items():
        if regime != "continual":
            stuck = (test, regime, seed) == ("ru", "original", 1)
            own = (np.arange(400) % 3 == 0).astype(np.uint8) if stuck else values
            items[test, regime, seed] = own
            made = replace(record(test, regime, seed, "accuracy", float(own.mean()), 400), null_value=1 / 3)
            store.append(f"{test}{regime}{seed}", [(made, own)])
    scores = summarise(list(store.read()), store, regimes=REGIMES[:2], tests=TESTS, permutations=200)
    run = Run({**RUN, "regimes": ["original", "adjusted"]}, more={"scores": scores})
    assert unlucky(run) == {("adjusted", "ru")}
    assert not one(scores, "es", "adjusted")["without_stuck"]
    kept = one(scores, "ru", "adjusted")["without_stuck"]["original"]
    sides = [[items["ru", regime, seed] for seed in (0, 2)] for regime in ("adjusted", "original")]
    p, interval_by_hand = by_hand(*sides)
    apart = np.mean(sides[0]) - np.mean(sides[1])
    assert kept["seeds"] == kept["base_seeds"] == [0, 2]
    assert kept["p"] == kept["p_holm"] == pytest.approx(p)
    assert (kept["low"], kept["high"]) == pytest.approx(interval_by_hand)
    first, facts = told(run)
    assert first.startswith(
        "Never left chance (chance level 33.3), where other seeds did: seed 1 of original (Russian)."
    )
    facts = dict(facts)
    more = f"{100 * apart:+.2f}".replace("-", "−")
    said = "helped" if p < 0.05 else "no clear difference"
    assert re.match(r"(Helped|No clear difference): Spanish \(\+", facts["adjusted"])
    assert "A seed is stuck: Russian (+" in facts["adjusted"]
    assert facts["adjusted"].endswith(f"Over the seeds in which both learnt (2 per test): {said}: Russian ({more}).")
    assert "original 1 (regime and seed)" in score_table(scores, run.about, "accuracy").caption
    table = difference_table(scores, run.about, "accuracy")
    assert [row[:4] for row in table.rows] == [
        ("es", "adjusted", "original", 3), ("ru", "adjusted", "original", 3), ("ru", "adjusted", "original", 2),
    ]  # fmt: skip
    assert table.rows[2][4].parts[""] == pytest.approx(100 * apart)
    assert "has a second row" in table.caption
    study = Run(run.about, more={"scores": [{"encoder": "m", "task": "nli", "source": "en", **e} for e in scores]})
    name = "higher" if said == "helped" else "not clear"
    assert lead(task_runs(study), {}, []).endswith(
        f" Of these, over the seeds in which both learnt, 1 came out {name}."
    )


def test_what_no_seed_of_the_original_learnt_is_help_and_no_luck():
    scores = [nli("hi", "original", [0.333, 0.334, 0.333]), nli("hi", "adjusted", [0.45, 0.46, 0.44])]
    run = Run(
        {**RUN, "tests": ["hi"], "regimes": ["original", "adjusted"], "seeds": [0, 1, 2]}, more={"scores": scores}
    )
    assert unlucky(run) == set()
    facts = dict(told(run)[1])
    assert facts["adjusted"] == "Helped: Hindi (+11.67)."
    assert "Stuck" not in facts


def test_a_comparison_with_a_stuck_seed_or_of_models_at_chance_has_no_mark():
    tests = {
        "ru": [[0.5, 1 / 3], [0.5, 0.48]],
        "es": [[0.5, 0.51], [0.6, 0.61]],
        "hi": [[1 / 3, 1 / 3], [0.334, 0.334]],
    }
    scores = [
        {
            **nli(test, regime, values),
            "above": 0 if test == "hi" else 2,
            "p_holm": {} if regime == "original" else {"original": 0.01},
        }
        for test, both in tests.items()
        for regime, values in zip(("original", "adjusted"), both, strict=True)
    ]
    run = {**RUN, "tests": [*tests], "regimes": ["original", "adjusted"], "seeds": [0, 1]}
    table = score_table(scores, run, "accuracy")
    assert [str(text)[-1] == "*" for text in table.rows[1][1:]] == [False, True, False]
    assert "1 of 3 comparisons differ." in table.caption
    assert "compared by no mark: original 1 (regime and seed)" in table.caption


def test_stuck_seeds_on_both_sides_are_stuck_and_not_at_chance():
    scores = [nli("ru", "original", [1 / 3, 0.5]), {**nli("ru", "adjusted", [0.5, 1 / 3]), "without_stuck": {}}]
    run = Run({**RUN, "tests": ["ru"], "regimes": ["original", "adjusted"], "seeds": [0, 1]}, more={"scores": scores})
    facts = dict(told(run)[1])
    assert facts["adjusted"].startswith("A seed is stuck: Russian")
    assert facts["adjusted"].endswith("No seed is left in which both learnt.")


def test_of_one_regime_alone_its_stuck_seed_is_named_first_and_no_correction_is_told():
    run = Run({**RUN, "tests": ["ru"], "regimes": ["original"], "seeds": [0, 1, 2]},
              more={"scores": [nli("ru", "original", [0.5, 1 / 3, 0.48])]})  # fmt: skip
    first, facts = told(run)
    assert first.startswith(
        "Never left chance (chance level 33.3), where other seeds did: seed 1 of original (Russian)."
    )
    assert facts == []
    assert dict(transfer_answer(run).facts) == {"How sure": "3 seeds; ± is their standard deviation."}


def test_many_tests_stand_below_each_other_and_in_words_only_the_ends_are_named():
    tests = [f"t{number}" for number in range(9)]
    scores = [nli(test, regime, [0.5 + place / 100 + gain] * 2) for place, test in enumerate(tests)
              for regime, gain in (("original", 0.0), ("adjusted", place / 100))]  # fmt: skip
    about = {**RUN, "tests": tests, "regimes": ["original", "adjusted"], "seeds": [0, 1]}
    table = score_table(scores, about, "accuracy")
    assert table.columns == ("test", "original", "adjusted")
    assert [row[0] for row in table.rows] == tests
    lead, facts = told(Run(about, more={"scores": scores}))
    assert "t0 50.00 ±1.00 to t8 58.00 ±1.00, 9 tests" in lead
    assert dict(facts)["adjusted"] == (
        "Helped in 8 of 9 tests, most in t8 (+8.00), t7 (+7.00) and t6 (+6.00). No clear difference: t0 (+0.00)."
    )


def test_a_run_of_before_seeds_were_counted_has_no_mark_and_no_verdict(found):
    # What such a run called p held the seeds fixed; its comparisons do not say what they are over.
    old = [
        {**entry, "p": entry.get("p_examples", {}), "null": 0.1, "above": 3,
         "against": {base: {key: value for key, value in each.items() if key != "over"}
                     for base, each in entry["against"].items()}}
        for entry in found
    ]  # fmt: skip
    run = Run(RUN, more={"scores": old})
    facts = dict(transfer_answer(run).facts)
    assert facts["adjusted"].startswith("Not tested over seeds: Spanish (+")
    assert facts["How sure"].startswith("This run was made before tests counted seeds")
    page = transfer_page(run)
    assert "This run was made before tests counted seeds" in page
    assert not re.search(r"Helped:|Hurt:|±[\d.]+\*", page)
