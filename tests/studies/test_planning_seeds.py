"""What a study plan says of seeds: by our own grids before a run, by the study's own deviations afterwards."""

import pytest

from interlingua.cli.study import _seed_words
from interlingua.stats import ITEM_DEVIATION, SEED_DEVIATIONS, USUAL_DEVIATION, detectable_over_seeds
from interlingua.stats.power import seed_plan


@pytest.mark.parametrize(("kind", "usual"), [("ner", SEED_DEVIATIONS["f1"]), ("nli", USUAL_DEVIATION)])
def test_a_plan_is_by_our_grids_and_then_by_the_studys_own_deviations(kind, usual):
    before = seed_plan("mine", kind, 5)
    assert (before.deviation, before.measured) == (usual, False)
    scores = [{"task": "mine", "deviation": each} for each in (0.01, 0.04, 0.09, None)]
    after = seed_plan("mine", kind, 5, [*scores, {"task": "other", "deviation": 0.5}, {"task": "mine"}])
    assert (after.deviation, after.measured) == (0.04, True)
    for n, size in after.detectable.items():
        assert size == detectable_over_seeds(5, deviation=0.04, item_deviation=ITEM_DEVIATION, n=n)
        assert f"{100 * size:.1f} points with {n:,} examples" in _seed_words(after)


def test_one_seed_detects_no_difference_and_says_so():
    words = _seed_words(seed_plan("mine", "nli", 1))
    assert "1 seed per regime tests no difference" in words
    assert "2 points 30 seeds" in words
