from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cases import case_of, linear_case, loaded
from interlingua.attribution.faithfulness import faithfulness
from interlingua.attribution.integrated_gradients import IntegratedGradients, ends
from interlingua.attribution.methods import Random


def test_curves_run_from_the_whole_input_to_the_baseline_and_back() -> None:
    case = linear_case()
    found = faithfulness(case, IntegratedGradients()(case), fractions=(0.0, 0.5, 1.0))
    whole, nothing = ends(replace(case, targets=replace(case.targets, scale="probability")))
    assert found.whole == pytest.approx(whole)
    assert found.deleted[:, 0] == pytest.approx(whole)
    assert found.deleted[:, -1] == pytest.approx(nothing)
    assert found.kept[:, 0] == pytest.approx(nothing)
    assert found.kept[:, -1] == pytest.approx(whole)


def test_deleting_the_best_tokens_of_a_linear_model_takes_away_most_that_any_deletion_can() -> None:
    # In a linear model of two labels the log-odds are a sum over tokens: the exact attribution orders deletions best.
    case = linear_case()
    case = replace(case, targets=replace(case.targets, label=case.targets.label % 2))
    case.through.model.weight.data = case.through.model.weight.data[:, :, :2].clone()  # type: ignore[union-attr,operator]
    case.through.model.weight.data[:, :, 1] = -case.through.model.weight.data[:, :, 0]  # type: ignore[union-attr,operator]
    exact = faithfulness(case, IntegratedGradients()(case))
    for seed in range(10):
        other = faithfulness(case, Random(seed)(case))
        assert (exact.deleted <= other.deleted + 1e-6).all()
        assert (exact.kept >= other.kept - 1e-6).all()
        assert (exact.comprehensiveness >= other.comprehensiveness - 1e-6).all()
        assert (exact.sufficiency <= other.sufficiency + 1e-6).all()


def test_one_token_deleted_is_what_occlusion_takes_away(tmp_path_factory: pytest.TempPathFactory) -> None:
    from interlingua.attribution.methods import Occlusion

    case = case_of(loaded(tmp_path_factory.mktemp("models") / "bert", "bert"), "nli", scale="probability")
    found = Occlusion()(case)
    first = faithfulness(case, found, fractions=(0.001,))
    # Of the tokens that can be deleted: a separator's share is 0, and every word may have counted against the target.
    best = np.maximum.reduceat(np.where(case.changed, found.values, -np.inf), found.starts[:-1])
    assert (first.whole - first.deleted[:, 0]) == pytest.approx(best, abs=1e-6)
