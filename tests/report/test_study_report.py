"""A study's report from plain data: tables that say what they are made of, and texts that are never markup."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.report.readings import gather
from interlingua.report.study_answer import peaks
from interlingua.report.study_files import as_json, study_files, study_report
from interlingua.report.tables import to_csv
from interlingua.report.transfer import score_table

ABOUT = {
    "name": "mine <b>", "about": "", "paper": "papers/002", "seeds": [0, 1], "regimes": ["original"],
    "steps": {"done": 3, "failed": 0}, "notes": ["left out & counted", "<script>alert(1)</script>"],
}  # fmt: skip
LANGUAGES = ["en", "de", "es", "fr", "zh"]


def record(measure, variant, target, value, **more):
    details = {"called": "ig", "task": "nli", "regime": "original", **more.pop("details", {})}
    plain = {"measure": measure, "variant": variant, "model": "m", "source": "en", "target": target, "value": value}
    return {**plain, "target_model": None, "layer": None, "null": 0.1, "n": 9, "details": details, **more}


@pytest.fixture(scope="module")
def explained():
    draw = np.random.default_rng(0)
    found = []
    for code in LANGUAGES:
        for _ in range(2):  # seeds
            found.append(record("consistency", "label", code, 1.0 if code == "en" else draw.uniform(0.2, 0.5)))
            found.append(record("task", "accuracy", code, draw.uniform(0.5, 0.8)))
    return found


def means(records, measure):
    return {
        c: np.mean([r["value"] for r in records if r["measure"] == measure and r["target"] == c]) for c in LANGUAGES
    }


def test_consistency_is_averaged_over_seeds_and_over_languages_with_the_source(explained):
    report = study_report(ABOUT, [], [], [], explained)
    table = next(table for table in report.tables if table.name == "ig-consistency")
    expected = means(explained, "consistency")
    assert table.rows[0][5:] == pytest.approx((*expected.values(), np.mean(list(expected.values()))))


def test_correlations_are_those_of_scipy_with_the_source_and_without(explained):
    table = next(
        t for t in study_report(ABOUT, [], [], [], explained).tables if t.name == "consistency-and-performance"
    )
    for row, codes in zip(table.rows, (LANGUAGES, LANGUAGES[1:]), strict=True):
        sides = [[means(explained, measure)[code] for code in codes] for measure in ("consistency", "task")]
        assert row[6] == len(codes)
        assert row[7] == pytest.approx(scipy_stats.spearmanr(*sides).statistic)
        exact = scipy_stats.permutation_test(
            sides[:1], lambda x, y=sides[1]: abs(scipy_stats.spearmanr(x, y).statistic), permutation_type="pairings",
            alternative="greater",
        )  # fmt: skip
        assert row[10] == pytest.approx(exact.pvalue)


@pytest.mark.parametrize(
    ("measure", "variant", "told", "best"),
    [
        ("retrieval", "p@1", "high", (0.7, 1, 0.5)),
        ("mine", "gap", "low", (0.2, 0, 0.5)),
        ("mine", "error", "high", (0.7, 1, 0.5)),
        # Older records do not tell.
        ("mine", "gap", None, (0.7, 1, 0.5)),
        ("procrustes", "error/mapped", None, (0.2, 0, 0.5)),
        ("separation", "overlap/l2", None, (0.2, 0, 0.5)),
    ],
)
def test_a_measure_is_shown_at_its_best_layer_and_at_the_last(measure, variant, told, best):
    def at(layer, value):
        given = record(measure, variant, "ru", value, layer=layer, low=value - 0.05, high=value + 0.05)
        return {**given, "details": {"called": "space"}, **({} if told is None else {"best": told})}

    table = study_report(ABOUT, [], [], [], [at(0, 0.2), at(1, 0.7), at(2, 0.5)]).tables[0]
    shown = dict(zip(table.columns, table.rows[0], strict=True))
    assert (shown["best"], shown["layer"], shown["at last"]) == best
    assert (shown["low"], shown["high"]) == (best[0] - 0.05, best[0] + 0.05)


def test_the_words_of_a_study_tell_the_lowest_of_a_measure_that_says_so():
    given = [
        record("mine", "gap", "ru", value, layer=layer, details={}, best="low")
        for layer, value in enumerate([0.2, 0.7])
    ]
    ((_, _, layer, reading),) = peaks(gather(given))
    assert (layer, reading.value) == (0, 0.2)


def test_the_papers_numbers_stand_beside_ours_with_both_marks():
    beside = [{"cite": "papers/002 Table 2, x", "task": "nli", "source": "en", "test": "ru", "metric": "accuracy",
               "regime": "adjusted", "paper": 0.7, "paper_mark": "*", "paper_encoder": "mbert", "encoder": "m",
               "ours": 0.5, "p": {"original": 0.2}}]  # fmt: skip
    table = study_report(ABOUT, [], [], beside, []).tables[0]
    assert table.name == "beside-the-paper"
    assert table.rows[0][0] == "Wang et al. 2021 Table 2, x"
    assert str(table.rows[0][6]).endswith("*")
    assert not str(table.rows[0][8]).endswith("*")
    [row] = csv.DictReader(io.StringIO(to_csv(table), newline=""))
    assert (float(row["paper"]), row["paper marks"], float(row["ours"])) == (
        70.0,
        "*",
        50.0,
    )  # Percent, as all scores of the page.


def test_files_are_whole_and_names_are_no_markup(explained):
    report = study_report(ABOUT, [], [], [], explained)
    files = study_files(report)
    assert json.loads(files["study.json"]) == json.loads(json.dumps(as_json(report)))
    text = report.page()
    assert "mine <b>" not in text
    assert "mine &lt;b&gt;" in text
    assert "left out &amp; counted" in text
    assert "<script>alert" not in text
    assert {name.rpartition(".")[2] for name in files if name.startswith("tables/")} == {"csv", "md", "tex"}


def test_a_table_of_a_study_under_way_says_how_many_seeds_its_cells_have():
    def entry(regime, seeds):
        return {"metric": "f1", "test": "ru", "regime": regime, "mean": 0.5, "deviation": 0.1, "p": {}, "layer": None,
                "null": None, "values": [0.5] * seeds, "seeds": list(range(seeds))}  # fmt: skip

    about = {"tests": ["ru"], "regimes": ["original", "adjusted"], "seeds": [0, 1, 2, 3], "source": "en", "model": "m"}
    uneven = score_table([entry("original", 4), entry("adjusted", 2)], about, "f1").caption
    assert "over 2 to 4 seeds" in uneven
    assert "over 4 seeds" in score_table([entry("original", 4), entry("adjusted", 4)], about, "f1").caption
    assert "seeds" not in score_table([entry("original", 1)], {**about, "seeds": [0]}, "f1").caption
