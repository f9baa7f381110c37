"""Statistics on per-item values: intervals, tests of two systems, effect sizes, correlations, power."""

from __future__ import annotations

from interlingua.stats.bootstrap import (
    Bootstrapped,
    bootstrap,
    bootstrap_f1_difference,
    bootstrap_mean,
    bootstrap_ratio,
)
from interlingua.stats.correlation import Association, correlate, detectable_rho, mantel, pearson, spearman
from interlingua.stats.draws import above_draws
from interlingua.stats.effects import cliffs_delta, hedges_correction, paired_effect
from interlingua.stats.intervals import (
    Z95,
    Spread,
    clustered_share,
    group_sums,
    half_sample_interval,
    half_samples,
    half_width,
    interval_of_half_samples,
    mean_interval,
    over_seeds,
    paired_difference,
    wilson_interval,
)
from interlingua.stats.power import (
    ITEM_DEVIATION,
    SEED_DEVIATIONS,
    USUAL_DEVIATION,
    detectable_error,
    detectable_mean,
    detectable_over_seeds,
    detectable_share,
    items_needed,
    seeds_needed,
)
from interlingua.stats.seed_difference import SeedDifference, f1_influence, seed_difference
from interlingua.stats.significance import holm, paired_t, permuted_f1, permuted_mean
from interlingua.stats.stuck import stuck

__all__ = [
    "ITEM_DEVIATION",
    "SEED_DEVIATIONS",
    "USUAL_DEVIATION",
    "Z95",
    "Association",
    "Bootstrapped",
    "SeedDifference",
    "Spread",
    "above_draws",
    "bootstrap",
    "bootstrap_f1_difference",
    "bootstrap_mean",
    "bootstrap_ratio",
    "cliffs_delta",
    "clustered_share",
    "correlate",
    "detectable_error",
    "detectable_mean",
    "detectable_over_seeds",
    "detectable_rho",
    "detectable_share",
    "f1_influence",
    "group_sums",
    "half_sample_interval",
    "half_samples",
    "half_width",
    "hedges_correction",
    "holm",
    "interval_of_half_samples",
    "items_needed",
    "mantel",
    "mean_interval",
    "over_seeds",
    "paired_difference",
    "paired_effect",
    "paired_t",
    "pearson",
    "permuted_f1",
    "permuted_mean",
    "seed_difference",
    "seeds_needed",
    "spearman",
    "stuck",
    "wilson_interval",
]
