"""Before and after on the same sentences: changes are those of a paired test, and the headline tells both layers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from adjustments import run_of
from interlingua.analyses.adjustment_effect import with_changes, without_items
from interlingua.report.adjustment import UNCLEAR, adjustment_lines, score_name
from interlingua.report.adjustment_page import adjustment_answer, adjustment_page
from interlingua.report.wording import percent

WAYS = ("", "/backward")
N = 200


def score(items):
    value = float(np.mean(items))
    return {"value": value, "n": len(items), "null": 1 / N, "low": value - 0.07, "high": value + 0.07, "items": items}


def state(shares, seed):
    """Two layers whose sentences are found so often."""
    draw = np.random.default_rng(seed)
    by_layer = {
        str(layer): {
            f"p@1/cosine/{kind}{way}": score((draw.random(N) < share).astype(float).tolist())
            for kind in ("raw", "centred")
            for way in WAYS
        }
        for layer, share in enumerate(shares)
    }
    apart = {
        "value": 0.8,
        "low": 0.7,
        "high": 0.9,
        "n": 9,
        "details": {"edges": [0, 1], "related": [1], "unrelated": [1]},
    }
    distances = {name: dict(apart) for name in ("distance/related/l2", "distance/unrelated/l2", "auc/l2")}
    return {"ru": {"retrieval": by_layer, "distances": distances}}


def summary(before, after):
    about = {"rows": 9, "pairs": 9, "held_out": N, "notes": [], "left_out": {}, "links_dropped": {}}
    told = {"before": without_items(before), "after": without_items(with_changes(before, after, 1))}
    return {"model": "m", "layer": 1, "steps": 5, "languages": {"ru": about}, "names": {"ru": "Russian"}, **told}


def test_a_change_is_that_of_a_paired_test():
    before, after = state([0.3, 0.4], 0), state([0.3, 0.6], 1)
    found = with_changes(before, after, 1)["ru"]
    name = "p@1/cosine/centred"
    sides = [np.array(each["ru"]["retrieval"]["1"][name]["items"]) for each in (after, before)]
    expected = scipy_stats.ttest_rel(*sides)
    assert found["retrieval"]["1"][name]["change"] == pytest.approx(
        [np.mean(sides[0] - sides[1]), *expected.confidence_interval(0.95)]
    )
    assert found["changes"]["best"]["layers"] == [1, 1]


def test_layers_that_tie_with_the_best_are_named():
    before, after = state([0.5, 0.52], 0), state([0.2, 0.6], 1)
    about = summary(before, after)
    best = about["after"]["ru"]["changes"]["best"]
    top, other = ("1", "0") if best["layers"][0] == 1 else ("0", "1")
    sides = [
        np.mean([before["ru"]["retrieval"][at][f"p@1/cosine/centred{way}"]["items"] for way in WAYS], axis=0)
        for at in (top, other)
    ]
    assert scipy_stats.ttest_rel(*sides).pvalue >= 0.05
    assert best["tied"] == [[int(other)], []]
    words = adjustment_answer(run_of(about)).words[1]
    assert f"(layer {top}; {other} not clearly worse)" in words
    assert "(layer 1)" in words


def test_a_headline_does_not_hide_that_another_layer_was_as_good_before():
    about = summary(state([0.6, 0.2], 0), state([0.2, 0.6], 1))
    told = adjustment_answer(run_of(about))
    verdict, best, adjusted = told.words[:3]
    assert verdict.startswith("English–Russian: no clear change, by the weakest of 8 comparisons")
    assert "best layer" in verdict
    assert "(layer 0)" in best
    assert "(layer 1)" in best
    assert adjusted.startswith("At the adjusted layer 1: ")


def test_states_of_older_versions_which_kept_no_sentences_are_told_without_a_change():
    about = summary(without_items(state([0.3, 0.4], 0)), state([0.3, 0.6], 1))
    assert "changes" not in about["after"]["ru"]
    told = adjustment_answer(run_of(about)).words
    assert "interval of the change" not in " ".join(told)
    assert {line.change for line in adjustment_lines(about, "ru")} <= {"", UNCLEAR}


def both_texts(own, other, n=N):
    both = []
    for place in (0, 1):
        made = state([0.1, own[place]], place)
        if other is not None:
            seed = 2 if other[0] == other[1] else 2 + place
            elsewhere = state([0.1, other[place]], seed)["ru"]["retrieval"]
            made["ru"]["sampler"] = {"languages": ["en", "ru"], "rows": N, "retrieval": elsewhere}
        both.append(made)
    return summary(*both)


@pytest.mark.reliability("a verdict on one kind of text")
@pytest.mark.parametrize(
    ("own", "other", "verdict", "text"),
    [
        ((0.3, 0.6), (0.4, 0.2), "worse", "sampler"),
        ((0.3, 0.6), (0.4, 0.4), "unclear", "sampler"),
        ((0.3, 0.6), (0.2, 0.9), "better", "held-out"),
        ((0.6, 0.3), (0.3, 0.6), "worse", "held-out"),
    ],
)
def test_the_verdict_goes_by_the_weaker_text(own, other, verdict, text):
    about = both_texts(own, other)
    found = about["after"]["ru"]["verdict"]
    assert (found["change"], found["text"], found["of"]) == (verdict, text, 16)
    answer = adjustment_answer(run_of(about))
    said = "no clear change" if verdict == "unclear" else verdict
    assert answer.words[0].startswith(f"English–Russian: {said}, by the weakest of 16 comparisons")
    assert "embedded sampler" in " ".join(answer.words[1:])
    assert "items" not in about["after"]["ru"]["sampler"]["retrieval"]["1"]["p@1/cosine/raw"]


@pytest.mark.reliability("a verdict on one kind of text")
@pytest.mark.parametrize(("own", "verdict"), [((0.2, 0.9), "untested"), ((0.4, 0.4), "unclear"), ((0.6, 0.2), "worse")])
def test_without_another_text_nothing_is_called_better(own, verdict):
    about = both_texts(own, None)
    assert about["after"]["ru"]["verdict"]["change"] == verdict
    page = adjustment_page(run_of(about)).split('<script id="data"')[0]
    answer = " ".join(adjustment_answer(run_of(about)).words)
    assert "better" not in answer.lower()
    assert "lacks a language of the pair" in answer
    assert "translation →" not in page


def test_what_chance_finds_is_said_first():
    low = [state([0.004, 0.004], seed) for seed in (7, 8)]
    about = summary(*low)
    found = about["after"]["ru"]["verdict"]
    assert found["at_chance"] == ["before", "after"]
    first = adjustment_answer(run_of(about)).words[0]
    assert first.startswith("English–Russian: translations are found no clearer than chance finds it, before and after")
    learnt = summary(low[0], state([0.004, 0.4], 9))["after"]["ru"]["verdict"]
    assert learnt["at_chance"] == ["before"]


@pytest.mark.reliability("words and table agree")
def test_words_table_and_records_agree_over_random_adjustments(record_property):
    draw = np.random.default_rng(5)
    seen = set()
    for number in range(60):
        shares = draw.random((2, 2, 2)).round(2) if number % 3 else np.repeat(draw.random((2, 2, 1)).round(2), 2, 2)
        about = both_texts(tuple(shares[0, :, 0]), tuple(shares[1, :, 1]) if number % 4 else None)
        after, before = about["after"]["ru"], about["before"]["ru"]
        verdict = after["verdict"]
        seen.add(verdict["change"])
        lines = {line.name: line for line in adjustment_lines(about, "ru")}
        p = [each["p"] for each in verdict["comparisons"]]
        adjusted = scipy_holm(p)
        for each, corrected in zip(verdict["comparisons"], adjusted, strict=True):
            assert each["holm"] == pytest.approx(corrected)
            assert each["change"][0] == pytest.approx(each["after"] - each["before"])
            expected = "unclear" if corrected >= 0.05 else "higher" if each["after"] > each["before"] else "lower"
            assert each["is"] == expected
            start = "sampler: " if each["text"] == "sampler" else ""
            line = lines[start + score_name(each["score"], about, "ru")]
            assert line.change == {"unclear": UNCLEAR}.get(each["is"], each["is"])
            assert line.before.startswith(percent(each["before"]))
            assert line.after.startswith(percent(each["after"]))
            sides = [(its["sampler"] if start else its)["retrieval"] for its in (before, after)]
            name = each["score"].replace("best layer", "p@1/cosine")
            values = [side[str(at)][name]["value"] for side, at in zip(sides, each["layers"], strict=True)]
            assert values == [each["before"], each["after"]]
            if name != each["score"]:
                one = name.removesuffix("/backward")
                for side, at in zip(sides, each["layers"], strict=True):
                    means = {k: v[one]["value"] + v[f"{one}/backward"]["value"] for k, v in side.items()}
                    assert means[str(at)] == max(means.values())
        kinds = {each["is"] for each in verdict["comparisons"]}
        if verdict["change"] == "better":
            assert kinds == {"higher"}
            assert {each["text"] for each in verdict["comparisons"]} == {"held-out", "sampler"}
        assert (verdict["change"] == "worse") == ("lower" in kinds)
        said = adjustment_answer(run_of(about)).words[0]
        weak = min((each for each in verdict["comparisons"]), key=lambda each: each["change"][0])
        if verdict["change"] == "worse":
            assert f"from {percent(weak['before'])} to {percent(weak['after'])}" in said
    assert seen == {"better", "worse", "unclear", "untested"}
    record_property("tried", 60)
    record_property("held", 60)


def scipy_holm(p):
    """Holm (1979) from its definition: the smallest alpha at which the step-down procedure rejects each."""
    order, found = np.argsort(p), np.empty(len(p))
    for place, at in enumerate(order):
        found[at] = min(1.0, max(p[order[j]] * (len(p) - j) for j in range(place + 1)))
    return found.tolist()
