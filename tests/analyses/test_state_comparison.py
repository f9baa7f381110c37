"""Before and after on the same sentences: changes are those of a paired test, and the weakest of all decides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from adjustments import run_of
from interlingua.analyses.state_comparison import (
    ADJUSTED,
    CENTERINGS,
    HELD_OUT,
    ORIGINAL,
    SAMPLER,
    adjustment_effects,
    weakest,
)
from interlingua.stats.chance import LEVEL


def effect_of(before, after, **options):
    run = run_of(before, after, **options)
    [effect] = adjustment_effects(run.records, run.items)
    return effect


def hits(effect, state, text, centering, layer, source=None):
    """Each sentence's hits, the mean of both directions or from one language."""
    found = [
        effect.items(record)
        for record in effect.records.of("retrieval", "p@1", state=state, centering=centering, layer=layer)
        if (record.corpus == SAMPLER) == (text == SAMPLER) and source in (None, record.source)
    ]
    return np.mean(found, axis=0)


def test_a_change_is_that_of_a_paired_test():
    effect = effect_of({HELD_OUT: [0.3, 0.4]}, {HELD_OUT: [0.3, 0.6]})
    for source in (None, "en", "ru"):
        sides = [hits(effect, state, HELD_OUT, "centred", 1, source) for state in (ADJUSTED, ORIGINAL)]
        expected = scipy_stats.ttest_rel(*sides)
        low, high = expected.confidence_interval(0.95)
        if source is None:
            change = effect.change_at(HELD_OUT, (1, 1)).difference
        else:
            [change] = [
                each.difference
                for each in effect.comparisons
                if (each.source, each.centering, each.best_layer) == (source, "centred", False)
            ]
        assert (change.value, change.ci_low, change.ci_high) == pytest.approx((np.mean(sides[0] - sides[1]), low, high))
        assert change.p == pytest.approx(expected.pvalue)
        assert {record.state for record in change.records} == {ORIGINAL, ADJUSTED}


def test_each_state_is_compared_at_its_own_best_layer_too_and_layers_that_tie_are_known():
    effect = effect_of({HELD_OUT: [0.6, 0.2]}, {HELD_OUT: [0.2, 0.6]})
    assert effect.best_change().layers == (0, 1)
    assert abs(effect.best_change().difference.value) < 0.1 < effect.change_at(HELD_OUT, (1, 1)).difference.value
    assert effect.verdict == "unclear"
    assert weakest(effect.comparisons).best_layer
    assert effect.tied_layers(ORIGINAL, HELD_OUT) == effect.tied_layers(ADJUSTED, HELD_OUT) == []
    close = effect_of({HELD_OUT: [0.5, 0.52]}, {HELD_OUT: [0.2, 0.6]})
    best = close.best_layer(ORIGINAL, HELD_OUT)
    sides = [hits(close, ORIGINAL, HELD_OUT, "centred", layer) for layer in (best, 1 - best)]
    assert scipy_stats.ttest_rel(*sides).pvalue >= LEVEL
    assert close.tied_layers(ORIGINAL, HELD_OUT) == [1 - best]
    assert close.tied_layers(ADJUSTED, HELD_OUT) == []


@pytest.mark.reliability("a verdict on one kind of text")
@pytest.mark.parametrize(
    ("own", "other", "verdict", "text"),
    [
        ((0.3, 0.6), (0.4, 0.2), "lower", SAMPLER),
        ((0.3, 0.6), (0.4, 0.4), "unclear", SAMPLER),
        ((0.3, 0.6), (0.2, 0.9), "higher", HELD_OUT),
        ((0.6, 0.3), (0.3, 0.6), "lower", HELD_OUT),
        ((0.2, 0.9), None, "untested", HELD_OUT),
        ((0.4, 0.4), None, "unclear", HELD_OUT),
        ((0.6, 0.2), None, "lower", HELD_OUT),
    ],
)
def test_the_verdict_goes_by_the_weaker_text_and_no_gain_is_judged_on_one_text_alone(own, other, verdict, text):
    sides = [{HELD_OUT: [0.1, own[place]]} | ({} if other is None else {SAMPLER: [0.1, other[place]]})
             for place in (0, 1)]  # fmt: skip
    effect = effect_of(*sides)
    assert len(effect.comparisons) == (16 if other else 8)
    assert (effect.verdict, weakest(effect.comparisons).text) == (verdict, text)


def test_what_is_at_chance_is_known_by_text_and_state():
    low, high = {HELD_OUT: [0.004, 0.004]}, {HELD_OUT: [0.004, 0.4]}
    assert effect_of(low, low).is_at_chance
    learnt = effect_of(low, high)
    assert not learnt.is_at_chance
    assert learnt.chance_levels[HELD_OUT].states_at_chance == (ORIGINAL,)
    assert learnt.chance_levels[HELD_OUT].chance == pytest.approx(1 / 200)


def test_without_the_values_of_sentences_or_the_state_after_nothing_is_tested():
    before, after = {HELD_OUT: [0.3, 0.4]}, {HELD_OUT: [0.3, 0.9]}
    for effect in (effect_of(before, after, items=False), effect_of(before, None)):
        assert effect.comparisons == ()
        assert effect.verdict == "untested"
    assert effect_of(before, after, items=False).best_change().difference is None
    assert effect_of(before, None).states == (ORIGINAL,)


def test_every_language_and_seed_is_an_effect_of_its_own():
    run = run_of({HELD_OUT: [0.1, 0.2]}, {HELD_OUT: [0.1, 0.6]}, languages=("ru", "hi"), seeds=(0, 1))
    found = adjustment_effects(run.records, run.items)
    assert [(each.source, each.language, each.seed, each.layer) for each in found] == [
        ("en", "ru", 0, 1), ("en", "ru", 1, 1), ("en", "hi", 0, 1), ("en", "hi", 1, 1)]  # fmt: skip


@pytest.mark.reliability("words and table agree")
def test_verdicts_hold_over_random_adjustments_by_tests_of_their_definition(record_property):
    draw, seen = np.random.default_rng(5), set()
    for number in range(60):
        shares = draw.random((2, 2, 2)).round(2) if number % 3 else np.repeat(draw.random((2, 2, 1)).round(2), 2, 2)
        sides = [{HELD_OUT: [0.1, shares[0, 0, state]]} | ({SAMPLER: [0.1, shares[1, 1, state]]} if number % 4 else {})
                 for state in (0, 1)]  # fmt: skip
        effect = effect_of(*sides, seeds=(number,))
        seen.add(effect.verdict)
        corrected = scipy_holm([each.difference.p for each in effect.comparisons])
        for each, p in zip(effect.comparisons, corrected, strict=True):
            assert each.difference.p_adjusted == pytest.approx(p)
            assert each.difference.value == pytest.approx(each.after.value - each.before.value)
            expected = "unclear" if p >= LEVEL else "higher" if each.after.value > each.before.value else "lower"
            assert each.change == expected
            for state, layer in zip((ORIGINAL, ADJUSTED), each.layers, strict=True):
                means = [effect.estimate(state, each.text, each.centering, at).value for at in (0, 1)]
                assert means[layer] == max(means) if each.best_layer else layer == 1
        kinds = {each.change for each in effect.comparisons}
        assert (effect.verdict == "lower") == ("lower" in kinds)
        if effect.verdict == "higher":
            assert kinds == {"higher"}
            assert {(each.text, each.centering, each.best_layer) for each in effect.comparisons} == {
                (text, centering, best)
                for text in (HELD_OUT, SAMPLER)
                for centering in CENTERINGS
                for best in (True, False)
            }
    assert seen == {"higher", "lower", "unclear", "untested"}
    record_property("tried", 60)
    record_property("held", 60)


def scipy_holm(p):
    """Holm (1979) from its definition: the smallest alpha at which the step-down procedure rejects each."""
    order, found = np.argsort(p), np.empty(len(p))
    for place, at in enumerate(order):
        found[at] = min(1.0, max(p[order[j]] * (len(p) - j) for j in range(place + 1)))
    return found.tolist()
