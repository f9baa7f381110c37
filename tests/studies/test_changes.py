"""Before and after on the same sentences: changes are those of a paired test, and the headline tells both layers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interlingua.report.adjustment_page import adjustment_answer, adjustment_records
from interlingua.report.runs import Run
from interlingua.studies.changes import with_changes, without_items

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


def test_a_headline_does_not_hide_that_another_layer_was_as_good_before():
    told = adjustment_answer(
        Run(about := summary(state([0.6, 0.2], 0), state([0.2, 0.6], 1)), adjustment_records(about))
    )
    _, adjusted, best = told.words[:3]
    assert ", better (" in adjusted
    assert "before (layer 0)" in best
    assert "after (layer 1), no clear change (" in best


def test_states_of_older_versions_which_kept_no_sentences_are_told_without_a_change():
    about = summary(without_items(state([0.3, 0.4], 0)), state([0.3, 0.6], 1))
    assert "changes" not in about["after"]["ru"]
    assert "Russian" in adjustment_answer(Run(about, adjustment_records(about))).words[1]


@pytest.mark.reliability("a verdict on one kind of text")
@pytest.mark.parametrize(
    ("own", "other", "verdict", "text"),
    [
        ((0.3, 0.6), (0.4, 0.2), "worse", "sampler"),
        ((0.3, 0.6), (0.4, 0.4), "unclear", "sampler"),
        ((0.3, 0.5), (0.2, 0.9), "better", "held-out"),
        ((0.6, 0.3), (0.3, 0.6), "worse", "held-out"),
    ],
)
def test_the_verdict_goes_by_the_weaker_text(own, other, verdict, text):
    both = []
    for place in (0, 1):
        made = state([0.1, own[place]], place)
        seed = 2 if other[0] == other[1] else 2 + place
        elsewhere = state([0.1, other[place]], seed)["ru"]["retrieval"]
        made["ru"]["sampler"] = {"languages": ["en", "ru"], "rows": N, "retrieval": elsewhere}
        both.append(made)
    about = summary(*both)
    found = about["after"]["ru"]["verdict"]
    assert (found["change"], found["text"], found["of"]) == (verdict, text, 8)
    answer = adjustment_answer(Run(about, adjustment_records(about)))
    assert answer.words[0].startswith(f"Russian: {'no clear change' if verdict == 'unclear' else verdict}, by the")
    assert "embedded sampler" in " ".join(answer.words[1:])
    assert "items" not in about["after"]["ru"]["sampler"]["retrieval"]["1"]["p@1/cosine/raw"]
