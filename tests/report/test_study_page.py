from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.errors import InputError
from interlingua.report.papers import in_names
from interlingua.report.runs import Run
from interlingua.report.study_answer import comparisons
from interlingua.report.study_files import StudyReport, study_files, study_report
from interlingua.report.transfer import picture
from interlingua.report.transfer_answer import main_entries, told
from interlingua.report.transfer_page import pairwise_figures, seed_figures
from pages import page_data

ENCODERS, TASKS, TESTS, SEEDS = ("small", "large"), ("ner", "nli"), ("ru", "ar", "sw"), (0, 1, 2)
METRICS = {"ner": "f1/token", "nli": "accuracy"}
REGIMES = ("original", "adjusted")
ABOUT = {
    "kind": "study", "name": "grid", "about": "Does it help?", "paper": "papers/001", "size": "tiny", "source": "en",
    "seeds": list(SEEDS), "regimes": list(REGIMES), "encoders": list(ENCODERS), "steps": {"done": 9, "failed": 0},
    "notes": [],
}  # fmt: skip


def record(measure: str, variant: str, value: float, **more: Any) -> dict[str, Any]:
    return {
        "measure": measure, "variant": variant, "model": "small", "target_model": None, "source": "en", "target": "ru",
        "layer": None, "n": 50, "value": value, "null": 0.02, "low": value - 0.05, "high": value + 0.05, "seed": 0,
        "unit": "sentence", "digests": {}, "versions": {}, "details": {}, "schema": 1, "step": "s", **more,
    }  # fmt: skip


def scored() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    draw = np.random.default_rng(3)
    scores, records = [], []
    for encoder, task, regime, test in product(ENCODERS, TASKS, REGIMES, TESTS):
        values = draw.uniform(0.3, 0.9, len(SEEDS)).tolist()
        for seed, value in zip(SEEDS, values, strict=True):
            details = {"regime": regime, "test": test, "task": task}
            records.append(record(task, METRICS[task], value, model=encoder, target=test, seed=seed, details=details))
        tested = regime != "original"
        p = float(draw.choice([0.001, 0.5]))
        first = [
            s for s in scores if (s["encoder"], s["task"], s["test"], s["regime"]) == (encoder, task, test, "original")
        ]
        apart = float(np.mean(values)) - first[0]["mean"] if tested else 0.0
        against = {"difference": apart, "low": 0.0, "high": 0.2, "detectable": 0.05, "effect": None, "over": ""}
        scores.append(
            {"encoder": encoder, "task": task, "source": "en", "test": test, "metric": METRICS[task], "regime": regime,
             "seeds": list(SEEDS), "values": values, "mean": float(np.mean(values)), "deviation": 0.1, "null": 0.0,
             "n": 50, "layer": None, "p": {"original": p} if tested else {},
             "p_holm": {"original": min(12 * p, 1.0)} if tested else {},
             "against": {"original": against} if tested else {}}
        )  # fmt: skip
    return scores, records


def measured() -> list[dict[str, Any]]:
    """Two models within, with seeds, and one pair of models, of one block."""
    draw = np.random.default_rng(5)
    models = [("small", None), ("small ner/original en seed 0", None), ("small ner/original en seed 1", None),
              ("small", "large")]  # fmt: skip
    return [
        record("cka", "debiased", float(draw.uniform(0.2, 0.8)), model=model, target_model=other, target=target,
               layer=layer, details={"called": "space"})
        for model, other in models for layer in range(3) for target in ("ru", "ar")
    ]  # fmt: skip


def explained() -> list[dict[str, Any]]:
    draw = np.random.default_rng(7)
    details = {"called": "ig", "task": "nli", "regime": "original"}
    return [
        record(measure, variant, 1.0 if code == "en" else float(draw.uniform(0.2, 0.8)), target=code, details=details)
        for code in ("en", "ru", "ar", "sw", "hi")
        for measure, variant in (("consistency", "label"), ("task", "accuracy"))
    ]


def controlled(*, chance: tuple[str, ...] = (), heads: tuple[float, ...] = (0.0, 0.01, 0.02)) -> list[dict[str, Any]]:
    """Languages above random attributions by known differences, beside untrained heads; some of them at `chance`."""
    found = explained()
    for each in found:
        if each["measure"] == "consistency":
            below = {"ru": 0.1, "ar": 0.05, "sw": 0.02, "hi": 0.02}.get(each["target"], 0.0)
            each["low"], each["high"], each["null"] = each["value"] - 0.04, each["value"] + 0.04, 0.1
            each["details"] = {**each["details"], "random": each["value"] - below}
            half = 0.03 if each["target"] == "hi" else 0.01
            each["details"]["above_random"] = [below, below - half, below + half]
            drawn = {"consistency": [0.3 for _ in heads], "above_random": list(heads), "error": 0.001}
            each["details"]["heads"] = drawn
        if each["measure"] == "task":
            told = {"level": 0.4, "by": "always 'neutral'", "always": None, "above": each["target"] not in chance}
            each["details"] = {**each["details"], "chance": told}
    return found


def stood() -> list[dict[str, Any]]:
    hills = {"edges": [0.0, 0.5, 1.0], "related": [3, 1], "unrelated": [1, 3]}
    return [
        record("distances", "auc/l2", 0.8, details={"state": state, "task": task, **hills})
        for state, task in (("original", "ner"), ("untouched", ""), ("adjusted", "ner"), ("adjustment", ""))
    ]


@pytest.fixture(scope="module")
def report() -> StudyReport:
    scores, records = scored()
    beside = [
        {"cite": f"papers/001 Table 3, {each['regime']}, {each['test']}", "paper": 0.5 + 0.1 * place, "paper_mark": "",
         "paper_encoder": "mbert", "ours": each["mean"], "p": each["p"],
         **{key: each[key] for key in ("encoder", "task", "source", "test", "metric", "regime")}}
        for place, each in enumerate(scores[:6])
    ]  # fmt: skip
    every = [*measured(), *records, *controlled(), *stood()]
    return study_report(dict(ABOUT), scores, [], beside, every)


@pytest.fixture(scope="module")
def data(report: StudyReport) -> dict[str, Any]:
    return page_data(report.page())


def figures(data: dict[str, Any], begin: str) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in data["figures"] if figure["name"].startswith(begin)}


def behind(data: dict[str, Any], places: int | list[int]) -> list[dict[str, Any]]:
    rows = [dict(zip(data["records"]["keys"], row, strict=True)) for row in data["records"]["rows"]]
    return [rows[place] for place in ([places] if isinstance(places, int) else places)]


def test_every_seed_is_a_dot_that_names_its_own_record(data: dict[str, Any]) -> None:
    found = figures(data, "seeds-")
    assert set(found) == {f"seeds-{task}-{encoder}-en" for task, encoder in product(TASKS, ENCODERS)}
    for (task, encoder), name in ((each, f"seeds-{each[0]}-{each[1]}-en") for each in product(TASKS, ENCODERS)):
        for trace in found[name]["traces"][1::2]:
            assert len(trace["x"]) == len(SEEDS) * len(TESTS)
            for value, place in zip(trace["x"], trace["records"], strict=True):
                [own] = behind(data, place)
                assert (own["measure"], own["model"]) == (task, encoder)
                assert own["value"] == pytest.approx(value, abs=1e-4)


def test_a_score_in_a_table_is_the_mean_of_the_records_it_names(report: StudyReport) -> None:
    tables = [table for table in report.tables if re.search(r"-en-(f1-token|accuracy)$", table.name)]
    assert len(tables) == len(ENCODERS) * len(TASKS)
    for table in tables:
        for row, refs in zip(table.rows, table.records, strict=True):
            for cell, places in zip(row[1:], refs[1:], strict=True):
                mean = 100 * np.mean([report.read[place]["value"] for place in places])  # type: ignore[union-attr]
                assert float(str(cell).split(" ")[0]) == pytest.approx(mean, abs=0.006)


def test_a_line_is_the_mean_over_pairs_and_seeds_of_one_model(report: StudyReport, data: dict[str, Any]) -> None:
    [within], [between] = (
        [figure for name, figure in figures(data, "curve-cka").items() if name.endswith(ending)]
        for ending in ("-space", "-space-between")
    )
    lines = [
        [
            trace
            for trace in figure["traces"]
            if trace.get("mode") == "lines+markers" and trace["when"]["line"] == "mean"
        ]
        for figure in (within, between)
    ]
    assert [len(each) for each in lines] == [2, 1]
    wanted = [
        lambda each: each["model"] == "small" and not each["target_model"],
        lambda each: "seed" in each["model"],
        lambda each: each["target_model"] == "large",
    ]
    for trace, keep in zip([*lines[0], *lines[1]], wanted, strict=True):
        for layer, value, places in zip(trace["x"], trace["y"], trace["records"], strict=True):
            own = [each for each in report.read if each["measure"] == "cka" and each["layer"] == layer and keep(each)]
            assert value == pytest.approx(np.mean([each["value"] for each in own]), abs=1e-4)
            assert sorted(each["value"] for each in behind(data, places)) == sorted(each["value"] for each in own)


def at_chance(e: dict[str, Any]) -> bool:
    values = np.array(e["values"])
    width = scipy_stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return e["null"] is not None and max(e["mean"] - width, 0.0) <= e["null"]


def test_the_answer_counts_what_helped_and_what_hurt(report: StudyReport) -> None:
    base = {(e["encoder"], e["task"], e["test"]): e for e in report.scores if e["regime"] == "original"}
    tested = [entry for entry in report.scores if entry["p"]]
    own = [(e, base[e["encoder"], e["task"], e["test"]]) for e in tested]
    chance = sum(at_chance(e) and at_chance(first) for e, first in own)
    p = [e["p"]["original"] for e, _ in own]
    # Holm (1979): the k-th smallest of m is held against 0.05 / (m - k + 1), as long as those before it passed.
    passed = [sorted(p)[k] * (len(p) - k) < 0.05 for k in range(len(p))]
    largest = sorted(p)[passed.index(False) - 1]
    gains = [
        (e["mean"] - first["mean"], e["p"]["original"]) for e, first in own if not (at_chance(e) and at_chance(first))
    ]
    higher, lower = (sum(p <= largest and sign * gain > 0 for gain, p in gains) for sign in (1, -1))
    said = re.search(
        r"Of (\d+) comparisons with the original (.*?) \(p &lt; 0.05 after Holm’s correction\)", report.page()
    )
    assert said is not None
    assert int(said[1]) == len(tested)
    counts = {name: int(count) for count, name in re.findall(r"(\d+) came out (higher|lower|not clear)", said[2])}
    expected = {"higher": higher, "lower": lower, "not clear": len(tested) - higher - lower - chance}
    told = re.search(r"; (\d+) are of models at chance and say nothing", report.page())
    assert (0 if told is None else int(told[1])) == chance
    assert chance
    assert counts == {name: count for name, count in expected.items() if count}
    assert higher
    assert lower


def test_a_lone_comparison_names_both_regimes_and_the_gain() -> None:
    where = {"encoder": "small", "task": "nli", "source": "en", "test": "ru", "metric": "accuracy", "null": 1 / 3}
    more = {"n": 50, "seeds": [0, 1], "deviation": 0.01, "above": 2, "layer": None}
    against = {
        "gentle": {"detectable": 0.0512, "difference": 0.1, "low": 0.05, "high": 0.15, "effect": 1.0, "over": ""}
    }
    p = {"gentle": 0.001}
    scores = [{**where, **more, "regime": "gentle", "values": [0.5, 0.5], "mean": 0.5, "p": {}, "p_holm": {}},
              {**where, **more, "regime": "hard", "values": [0.6, 0.6], "mean": 0.6, "p": p, "p_holm": p,
               "against": against}]  # fmt: skip
    about = {**ABOUT, "encoders": ["small"], "regimes": ["gentle", "hard"], "seeds": [0, 1]}
    page = study_report(about, scores, [], [], []).page()
    assert re.search(
        r"Trained in English \(gentle\), in percent, Accuracy \(chance[^)]*\): Russian 50[^<]* hard. Helped: Russian",
        page,
    )
    assert "Of 1 comparisons" not in page
    assert "5.1 points or more" in page
    assert "Holm" not in page.split("Trained in English")[1].split("<")[0]  # There is nothing to correct.


def test_papers_numbers_and_differences_are_dots_that_cite_their_cell(
    report: StudyReport, data: dict[str, Any]
) -> None:
    dots = [trace for trace in figures(data, "paper")["paper"]["traces"] if trace["mode"] == "markers"]
    drawn = {
        text: (x, y) for trace in dots for text, x, y in zip(trace["hovertext"], trace["x"], trace["y"], strict=True)
    }
    assert len(drawn) == len(report.beside)
    for each in report.beside:
        [place] = [where for text, where in drawn.items() if in_names(each["cite"]) in text]
        assert place == pytest.approx((100 * each["paper"], 100 * each["ours"]), abs=1e-3)
    [trace] = [each for each in figures(data, "paper-gains")["paper-gains"]["traces"] if each["mode"] == "markers"]
    original = {each["test"]: each for each in report.beside if each["regime"] == "original"}
    low = {(e["regime"], e["test"]) for e in report.scores[:6] if at_chance(e)}
    telling = [e for e in report.beside if e["regime"] != "original"]
    telling = [e for e in telling if not {(e["regime"], e["test"]), ("original", e["test"])} <= low]
    for each, x, y in zip(telling, trace["x"], trace["y"], strict=True):
        first = original[each["test"]]
        points = [100 * (each[whose] - first[whose]) for whose in ("paper", "ours")]
        assert (x, y) == pytest.approx(tuple(points), abs=1e-3)


def test_a_comparison_with_a_stuck_seed_has_no_mark_beside_the_paper_and_is_not_counted() -> None:
    values = {"original": {"ru": [0.5, 1 / 3, 0.48], "ar": [0.5, 0.51, 0.5]},
              "adjusted": {"ru": [0.6, 0.61, 0.6], "ar": [0.6, 0.6, 0.61]}}  # fmt: skip
    scores, beside = [], []
    for regime, tests in values.items():
        p = {} if regime == "original" else {"original": 0.001}
        for test, own in tests.items():
            where = {"encoder": "small", "task": "nli", "source": "en", "test": test, "metric": "accuracy"}
            mean = float(np.mean(own))
            scores.append({**where, "regime": regime, "seeds": list(SEEDS), "values": own, "mean": mean, "null": 1 / 3,
                           "n": 50, "deviation": 0.1, "above": 3, "layer": None, "p": p, "p_holm": p})  # fmt: skip
            beside.append({**where, "cite": f"papers/001 Table 2, {regime}, {test}", "regime": regime,
                           "paper": 0.7 if regime == "original" else 0.75, "paper_mark": "",
                           "paper_encoder": "mbert", "ours": mean, "p": p})  # fmt: skip
    report = study_report({**ABOUT, "encoders": ["small"]}, scores, [], beside, [])
    [table] = [table for table in report.tables if table.name == "beside-the-paper"]
    ours = {(row[3], row[4]): str(row[8]) for row in table.rows}
    assert ours["ar", "adjusted"].endswith("*")
    assert not ours["ru", "adjusted"].endswith("*")
    page = report.page()
    assert "have the paper’s sign in 1 of 1. 1 of ours tell nothing" in page
    [trace] = [t for t in figures(page_data(page), "paper-gains")["paper-gains"]["traces"] if t["mode"] == "markers"]
    assert len(trace["x"]) == 1


def test_consistency_is_drawn_against_performance_without_the_source(report: StudyReport, data: dict[str, Any]) -> None:
    trace = figures(data, "consistency-")["consistency-nli-label"]["traces"][0]
    assert sorted(text.strip("\u2068\u2069") for text in trace["text"]) == ["ar", "hi", "ru", "sw"]
    expected = scipy_stats.spearmanr(trace["x"], trace["y"]).statistic
    said = re.search(r"With performance: (?:[^:]*: )?Spearman’s ρ = (−?[\d.]+)", report.page())
    assert said is not None
    assert float(said[1].replace("−", "-")) == pytest.approx(expected, abs=0.006)


def test_consistency_is_told_and_drawn_beside_random_attributions() -> None:
    records = controlled()
    report = study_report(dict(ABOUT), [], [], [], records)
    by_code = {each["target"]: each for each in records if each["measure"] == "consistency"}
    random = np.mean([by_code[code]["details"]["random"] for code in ("ru", "ar", "sw", "hi")])
    assert f"random attributions {random:.3f}" in report.page()
    assert "untrained heads on the same body 0.010" in report.page()
    [trace] = figures(page_data(report.page()), "above-random-")["above-random-nli-label"]["traces"]
    drawn = dict(zip((text.strip("\u2068\u2069") for text in trace["x"]), trace["y"], strict=True))
    assert drawn == pytest.approx({"ru": 0.1, "ar": 0.05, "sw": 0.02, "hi": 0.02}, abs=1e-4)
    assert trace["error_y"]["array"] == pytest.approx([0.01, 0.01, 0.01, 0.03], abs=1e-4)
    assert trace["error_y"]["arrayminus"] == pytest.approx([0.01, 0.01, 0.01, 0.03], abs=1e-4)
    tables = {table.name: table for table in report.tables}
    assert tables["ig-consistency-shuffled"].rows[0][5:] == pytest.approx([0.1] * 6)
    assert tables["ig-consistency-random"].rows[0][6] == pytest.approx(by_code["ru"]["details"]["random"])


def test_a_study_concludes_nothing_of_a_model_at_chance_nor_without_untrained_heads() -> None:
    def said(**given: Any) -> str:
        page = study_report(dict(ABOUT), [], [], [], controlled(**given)).page()
        (found,) = set(re.findall(r"nli, label\. [^<]*", page.split("<script", 1)[0]))
        return str(found)

    assert "Yes: attributions of" in said(heads=(0.0, 0.005, 0.01, 0.0))
    assert "No: it can" in said(heads=(-0.1, 0.0, 0.1))
    weak = said(chance=("en", "ru"))
    assert "not shown to be above chance in English" in weak
    assert not re.search("similar|untrained|With performance", weak)
    assert "was not compared with random heads" in said(heads=())
    bare = study_report(dict(ABOUT), [], [], [], controlled(heads=()))
    whole = study_report(dict(ABOUT), [], [], [], controlled())
    without, beside = ({table.name for table in made.tables if "-heads" in table.name} for made in (bare, whole))
    assert not without
    assert beside


@pytest.mark.parametrize("chance", [(), ("hi",), ("en",), ("ru", "ar", "sw", "hi")])
def test_a_study_draws_and_correlates_no_attributions_at_chance(chance: tuple[str, ...]) -> None:
    report = study_report(dict(ABOUT), [], [], [], controlled(chance=chance))
    made = figures(page_data(report.page()), "")
    shown = {
        text.strip("\u2068\u2069")
        for name, figure in made.items() if name.startswith("above-random-")
        for trace in figure["traces"] for text in trace["x"]
    }  # fmt: skip
    learnt = set() if "en" in chance else {"ru", "ar", "sw", "hi"} - set(chance)
    assert shown == learnt
    (rows,) = [table.rows for table in report.tables if table.name == "consistency-and-performance"] or [()]
    assert {row[6] for row in rows if row[5] == "others"} == ({len(learnt)} if len(learnt) > 3 else set())
    assert any(name.startswith("consistency-") for name in made) == (len(learnt) > 1)


def test_states_before_the_task_stand_above_those_after(data: dict[str, Any]) -> None:
    [figure] = figures(data, "states-").values()
    shown = [each["text"].strip("\u2068\u2069") for each in figure["layout"]["annotations"]]
    assert shown == ["untouched", "adjustment", "original", "adjusted"]


def test_a_notebook_shows_the_page_and_its_figures(report: StudyReport) -> None:
    assert report._repr_html_().startswith("<iframe")
    figure = report.figure("seeds-ner-small-en")
    assert set(figure) == {"data", "layout"}
    assert "@" not in json.dumps(figure)
    with pytest.raises(InputError, match="seeds-ner-small-en"):
        report.figure("seeds")


def test_a_study_without_a_number_has_a_page_that_says_so() -> None:
    assert "Nothing has been measured yet" in study_report(dict(ABOUT), [], [], [], []).page()


def test_many_tasks_share_a_figure_whose_menu_shows_each_with_its_own_records() -> None:
    scores, records = scored()
    sources = ("en", "de", "fr")
    many = [{**each, "source": source} for source in sources for each in scores]
    every = [{**each, "source": source} for source in sources for each in records]
    text = study_report(dict(ABOUT), many, [], [], every).page()
    data = page_data(text)
    figure = figures(data, "seeds")["seeds"]
    options = re.findall(r'<option value="([^"]+)"', text)
    assert set(options) == {f"{task}-{encoder}-{source}" for task, encoder, source in product(TASKS, ENCODERS, sources)}
    seeds = [trace for trace in figure["traces"] if trace.get("showlegend") is False]
    assert len(seeds) == len(set(options)) * len(REGIMES)
    for trace in seeds:
        for value, place in zip(trace["x"], trace["records"], strict=True):
            [own] = behind(data, place)
            assert trace["when"]["task"] == f"{own['measure']}-{own['model']}-{own['source']}"
            assert own["value"] == pytest.approx(value, abs=1e-4)


def test_a_long_table_of_measures_is_cut_on_the_page_which_says_where_the_rest_is() -> None:
    codes = [f"x{place}" for place in range(400)]
    records = [record("cka", "debiased", 0.5, target=code, layer=1, details={"called": "space"}) for code in codes]
    report = study_report(dict(ABOUT), [], [], [], records)
    [whole] = report.tables
    text = report.page()
    shown = page_data(text)["tables"]["space-cka"]["csv"].splitlines()
    assert len(whole.rows) == len(codes)
    assert len(shown) - 1 < len(codes)
    assert f"The first {len(shown) - 1} of {len(codes)} rows; all are in tables/space-cka.csv." in text


def test_names_that_are_one_once_they_are_joined_lose_nothing() -> None:
    blocks = ("a b", "a-b", "a/b")
    records = [
        record("cka", "debiased", 0.1 * place + 0.1 * layer, model=model, layer=layer, details={"called": called})
        for place, called in enumerate(blocks)
        for model in ("m/x", "m-x")
        for layer in range(2)
    ]
    report = study_report(dict(ABOUT), [], [], [], records)
    data = page_data(report.page())
    drawn = figures(data, "curve-cka")
    assert len(drawn) == len(data["tables"]) == len(blocks)
    for figure in drawn.values():
        lines = [trace for trace in figure["traces"] if trace.get("mode") == "lines+markers"]
        assert sum(trace["when"]["line"] == "mean" for trace in lines) == 2
    assert len({name for name in study_files(report) if name.endswith(".csv")}) == len(blocks)


def with_retrieval() -> list[dict[str, Any]]:
    """The scores of one task, and of each test retrieval, which has metrics of its own; XSR gains clearly."""
    scores = [entry for entry in scored()[0] if (entry["encoder"], entry["task"]) == ("small", "ner")]
    beside = []
    for entry in scores:
        for metric in ("mrr", "p@1"):
            values = [0.71, 0.72, 0.73] if entry["regime"] == "adjusted" else [0.41, 0.42, 0.43]
            more = {"difference": 0.3, "low": 0.25, "high": 0.35, "detectable": 0.05, "effect": None, "over": ""}
            tested = entry["regime"] == "adjusted"
            p = {"original": 1e-9} if tested else {}
            beside.append(
                {**entry, "test": f"{entry['test']}:xsr", "metric": metric, "values": values, "mean": values[1],
                 "layer": 3, "p": p, "p_holm": p, "against": {"original": more} if tested else {}}
            )  # fmt: skip
    return [*scores, *beside]


@pytest.mark.reliability("every test's own metric is in a study's headline")
def test_tests_of_another_metric_are_in_the_headline() -> None:
    scores = with_retrieval()
    run = Run({**ABOUT, "tests": [*TESTS, *(f"{test}:xsr" for test in TESTS)], "model": "small", "task": "ner"},
              [], more={"scores": scores, "distances": []})  # fmt: skip
    assert {(entry["test"], entry["metric"]) for entry in main_entries(run)} == {
        *((test, "f1/token") for test in TESTS), *((f"{test}:xsr", "mrr") for test in TESTS)
    }  # fmt: skip
    lead, facts = told(run)
    assert lead.count("Russian:xsr 42.00") == 1
    assert "mean reciprocal rank" in lead
    assert "Russian:xsr (+30.00)" in dict(facts or [])["adjusted"]
    assert len(comparisons([run])) == 2 * len(TESTS)
    drawn = {figure.name: figure for figure in (*seed_figures(run), *pairwise_figures(run))}
    assert {*drawn} == {"seeds", "seeds-mrr", "pairwise", "pairwise-mrr"}
    assert {row[0] for row in drawn["seeds-mrr"].table.rows} == {f"{test}:xsr" for test in TESTS}
    assert all(f">{test}:xsr<" in picture(scores, run.about) for test in TESTS)
