"""What several fine-tunings say together: those that learnt nothing are named and say nothing of languages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.analyses.synthesis import spellings
from interlingua.analyses.transfer_matrix import WRONG_METRICS, not_learnt, summarize_geometry
from interlingua.record import Record, RecordTable
from interlingua.report.kit.evidence import association_sentence
from interlingua.report.kit.finding import Verdict
from interlingua.report.subjects.geometry import EntityGeometry, findings
from interlingua.score import Score
from interlingua.stats import Association, association_of_pairs, correlate, wilson_interval
from interlingua.synthetic.tables import SlotKind, SlotName, TemplateTable

CODES = ("be", "en", "es", "pl", "ru", "tr")
RUN = {"languages": list(CODES), "source": "en", "seed": 0, "model": "m"}
N = 100


def wrong_record(source, target, wrong, seed=0, null=0.98, untagged=1.0):
    low, high = wilson_interval(wrong, N)
    about = {"untagged": untagged}
    shared = Record(measure="pairwise", model="m", source=source, target=target, seed=seed, details=about)
    return shared.scored(WRONG_METRICS, "wrong/sentence", Score(wrong / N, N, null, low, high))


def watched(source, seed=0):
    draw = np.random.default_rng([len(source), CODES.index(source), seed])
    return [
        Record(measure="similarity", metric="cosine", model="m", source=source, value=0.5, n=9, target=code, seed=seed,
               details={"steps": list(range(12)), "values": draw.random(12).tolist(), "span": 2})
        for code in CODES
    ]  # fmt: skip


def study(failed=(), seeds=(0,)):
    draw = np.random.default_rng(4)
    made = []
    for seed in seeds:
        for source in CODES:
            lost = (source, seed) in failed
            made += [wrong_record(source, code, 99 if lost else int(draw.integers(10, 60)), seed) for code in CODES]
            made += watched(source, seed)
    return made


def reported(records, found):
    return findings(EntityGeometry.of({"about": RUN, "found": found}, RecordTable(records)))


def names():
    draw = np.random.default_rng(2)
    cells = {code: tuple(SlotName("".join(draw.choice(list("abcdefgh"), 6))) for _ in range(5)) for code in CODES}
    return spellings([TemplateTable(SlotKind("LOC"), cells, (2,) * 5, "places")], CODES)


@pytest.mark.parametrize(
    ("wrong", "null", "untagged", "learnt"),
    [
        (99, 0.98, 1.0, False),
        (60, 0.98, 1.0, True),
        (97, 0.98, 1.0, False),
        (60, 0.98, 0.6, False),
        (10, 0.98, 0.6, True),
    ],
)
def test_a_fine_tuning_has_learnt_where_its_interval_is_below_both_levels_of_chance(wrong, null, untagged, learnt):
    found = not_learnt([wrong_record("en", "en", wrong, null=null, untagged=untagged), wrong_record("en", "ru", 100)])
    assert [each["language"] for each in found] == ([] if learnt else ["en"])
    assert all(each["chance"] == min(null, untagged) for each in found)


@pytest.mark.reliability("a model that learnt nothing is said so first")
def test_what_learnt_nothing_is_named_first_and_left_out_of_every_correlation():
    records, spelled = study(failed={("tr", 0)}), names()
    found, notes = summarize_geometry(records, spelled)
    assert [(each["language"], each["seed"]) for each in found["not_learnt"]] == [("tr", 0)]
    assert any("fine-tuning on tr, seed 0, did not learn the task" in note for note in notes)
    assert found["scatter"]["left_out"] == ["tr"]
    assert {point[side] for point in found["scatter"]["points"] for side in ("source", "target")} == set(CODES) - {"tr"}
    kept = [r for r in records if r.source != "tr"]
    wrong = {(r.source, r.target): r.value for r in kept if r.measure == "pairwise"}
    points = [
        (spelled.value("LOC", "tnld", a, b), wrong[a, b]) for a in CODES for b in CODES if a != b and "tr" not in (a, b)
    ]
    rho = scipy_stats.spearmanr(*zip(*points, strict=True)).statistic
    assert found["scatter"]["rho"]["value"] == pytest.approx(rho)
    assert found["groups"]["runs"] == len(CODES) - 1
    first, *others = reported(records, found)
    assert (first.kind, first.verdict, first.about["of_source"]) == ("task_not_learnt", Verdict.AT_CHANCE, False)
    assert [(each["language"], each["wrong"], each["chance"]) for each in first.about["trainings"]] == [
        ("tr", 0.99, 0.98)
    ]
    by_kind = {finding.kind: finding for finding in others}
    assert "tr" not in (
        by_kind["cross_lingual_errors"].about["best"][0],
        by_kind["cross_lingual_errors"].about["worst"][0],
    )
    assert by_kind["errors_and_spelling"].about["left_out"] == ["tr"]
    assert by_kind["errors_and_spelling"].sentence.endswith("Without Turkish, where the task was not learnt.")


def test_a_seed_that_learnt_nothing_is_left_out_and_its_language_stays():
    records = study(failed={("tr", 1)}, seeds=(0, 1))
    found, _ = summarize_geometry(records, names())
    assert found["scatter"]["left_out"] == []
    wrong = {(r.source, r.target): r.value for r in records if r.measure == "pairwise" and r.seed == 0}
    own = {(p["source"], p["target"]): p["wrong"] for p in found["scatter"]["points"]}
    assert own["tr", "be"] == pytest.approx(wrong["tr", "be"])


@pytest.mark.reliability("a model that learnt nothing is said so first")
def test_where_nothing_learnt_nothing_is_concluded():
    records = study(failed={(code, 0) for code in CODES})
    found, notes = summarize_geometry(records, names())
    assert set(found) == {"not_learnt"}
    assert any(note.startswith("no correlation with spelling") for note in notes)
    (only,) = reported(records, found)
    assert (only.kind, only.about["of_source"]) == ("task_not_learnt", True)
    assert "nothing can be said" in only.sentence


def test_a_correlation_with_a_constant_is_not_printed():
    records = [r for r in study() if r.measure == "pairwise"]
    same = [wrong_record(r.source, r.target, 5 if r.source == r.target else 30) for r in records]
    found, notes = summarize_geometry(same, names())
    assert "scatter" not in found
    assert any("every pair has the same share of wrong sentences" in note for note in notes)


def test_errors_and_spelling_have_the_coefficient_of_every_other_page_on_the_geometry_page_too():
    found, _ = summarize_geometry(study(), names())
    points = found["scatter"]["points"]
    pairs = [(point["source"], point["target"]) for point in points]
    sides = ([point[side] for point in points] for side in ("tnld", "wrong"))
    printed = correlate(*sides, languages=pairs)
    assert Association(**found["scatter"]["rho"]) == printed
    (relation,) = (each for each in reported(study(), found) if each.kind == "errors_and_spelling")
    assert association_sentence(printed) in relation.sentence
    assert "r = " not in relation.sentence


def test_no_evidence_over_pairs_is_neither_there_nor_absent():
    details = {"p": 0.21, "languages": 11, "exact": False}
    told = association_sentence(association_of_pairs(Score(0.18, 110, 0.0, -0.1, 0.43, details=details)))
    assert "11 languages show a |ρ| of 0.80 or more" in told
    assert "a weaker relation may exist" in told
    few = association_of_pairs(Score(0.9, 6, 0.0, details={"p": 1 / 6, "languages": 3, "exact": True}))
    assert few.sign == 0
    assert "3 languages are too few to show any relation: p cannot fall below 0.17" in association_sentence(few)
