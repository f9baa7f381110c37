"""One table of properties for every measure; an entry or a variant without a row fails."""

import re
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from interlingua.measures import NEEDS, measures
from interlingua.measures.tokenization import Splits

INFINITY = float("inf")


@dataclass(frozen=True)
class Traits:
    """What holds for the variants that match `variants` (a regular expression for the whole name).

    `keeps` and `breaks` name the transformations below; `order` says whether values stay when both sides' rows are
    permuted alike; `mirror` says which variant has the value once the sides are swapped:
    itself, that of the other side, or that of the other direction.
    """

    variants: str
    low: float
    high: float
    best: float | None = None
    keeps: frozenset[str] = frozenset()
    breaks: frozenset[str] = frozenset()
    order: bool = True
    mirror: str | None = None
    noise: float | None = 0.06


def traits(variants, low, high, *, keeps="", breaks="", **rest):
    return Traits(variants, low, high, keeps=frozenset(keeps.split()), breaks=frozenset(breaks.split()), **rest)


# The rows of a random split or of random partners depend on the order of rows: `order=False` states it.
ROTATION = "rotate-one scale-one"
PROCRUSTES = [
    traits("(p@1|mrr)/mapped", 0, 1, best=1.0, keeps=ROTATION, breaks="stretch-one", order=False),
    traits("(p@1|mrr)/identity", 0, 1, best=1.0, keeps="rotate-both scale-one", breaks="rotate-one", order=False),
    traits("(p@1|mrr)/random", 0, 1, keeps="scale-one", order=False),
    traits("error/mapped", 0, INFINITY, best=0.0, keeps=ROTATION, breaks="translate-one", order=False),
]
TABLE = {
    "retrieval": [
        traits(
            r"(p@\d|mrr)/.*/raw(/backward)?",
            0,
            1,
            best=1.0,
            keeps="rotate-both scale-one",
            breaks="rotate-one translate-one",
            mirror="direction",
        ),
        traits(
            r"(p@\d|mrr)/.*/centred(/backward)?",
            0,
            1,
            best=1.0,
            keeps="rotate-both scale-one translate-one",
            breaks="rotate-one",
            mirror="direction",
        ),
        # Unrelated vectors have hubs of their own (Radovanović et al. 2010): the null is that of random neighbours.
        traits(r"hubness/.*", -INFINITY, INFINITY, mirror="direction", noise=3.0),
    ],
    "procrustes": PROCRUSTES,
    "procrustes-words": PROCRUSTES,
    "cka": [
        traits("debiased", -1, 1, best=1.0, keeps=f"{ROTATION} translate-one", breaks="stretch-one", mirror="itself"),
        traits("plain", 0, 1, best=1.0, keeps=f"{ROTATION} translate-one", breaks="stretch-one", mirror="itself"),
    ],
    "separation": [
        traits(
            "auc/l2",
            0,
            1,
            best=1.0,
            keeps="rotate-both scale-both translate-both",
            breaks="rotate-one scale-one",
            order=False,
        ),
        traits(
            "overlap/l2",
            0,
            1,
            best=0.0,
            keeps="rotate-both scale-both translate-both",
            breaks="rotate-one",
            order=False,
            noise=0.15,
        ),
        traits("auc/cosine", 0, 1, best=1.0, keeps="rotate-both scale-one", breaks="rotate-one", order=False),
        traits(
            "overlap/cosine",
            0,
            1,
            best=0.0,
            keeps="rotate-both scale-one",
            breaks="rotate-one",
            order=False,
            noise=0.15,
        ),
        traits("distance/related/l2", 0, INFINITY, best=0.0, keeps="rotate-both translate-both", breaks="scale-both"),
        traits("distance/related/cosine", 0, 2, best=0.0, keeps="rotate-both scale-one", breaks="translate-one"),
        traits("distance/unrelated/l2", 0, INFINITY, keeps="rotate-both", breaks="scale-both", order=False),
        traits("distance/unrelated/cosine", 0, 2, keeps="scale-one", breaks="translate-both", order=False),
    ],
    "isotropy": [
        traits("average-cosine", -1, 1, keeps=ROTATION, breaks="translate-one stretch-one"),
        traits("isoscore|top-1|top-10", 0, 1, keeps=f"{ROTATION} translate-one", breaks="stretch-one"),
    ],
    "tokenization": [
        traits("fertility/(source|target)", 0, INFINITY, mirror="side"),
        traits("(continued|unknown)/(source|target)", 0, 1, mirror="side"),
        traits("overlap|agreement", 0, 1, best=1.0, mirror="itself"),
    ],
    "parallel-cosine": [
        traits(
            "raw", -1, 1, best=1.0, keeps="rotate-both scale-one", breaks="rotate-one translate-one", mirror="itself"
        ),
        traits(
            "centred",
            -1,
            1,
            best=1.0,
            keeps="rotate-both scale-one translate-one",
            breaks="rotate-one",
            mirror="itself",
        ),
    ],
    "clusters": [
        traits("silhouette", -1, 1, keeps="rotate-both scale-one", breaks="translate-one", mirror="itself"),
        traits("purity", 0, 1, keeps="rotate-both scale-one", breaks="translate-one", mirror="itself"),
    ],
    "spelling": [traits("tnld|nld", 0, 1, best=0.0, mirror="itself")],
}
ENTRIES = {entry.name: entry for entry in measures}
VECTORS = [name for name, entry in ENTRIES.items() if entry.needs in ("sentences", "words", "space")]


@dataclass(frozen=True)
class Case:
    """Input for a measure: its one or two sides."""

    sides: tuple = field(default_factory=tuple)

    def scores(self, entry, seed=0):
        seeded = {} if entry.needs in ("splits", "names") else {"seed": seed}
        return entry.call(*self.sides, **seeded)


def rows_of(name, variant):
    return [row for row in TABLE.get(name, []) if re.fullmatch(row.variants, variant)]


def vectors(n=160, d=12, seed=0, noise=0.9):
    draw = torch.Generator().manual_seed(seed)
    source = torch.randn(n, d, generator=draw) * torch.linspace(0.5, 1.5, d) + 0.5
    target = source + noise * torch.randn(n, d, generator=draw) + 0.5 * torch.randn(d, generator=draw)
    return source, target


def splits(rows, seed):
    draw = np.random.default_rng(seed)
    word_row = np.repeat(np.arange(rows), 4)
    pieces = draw.integers(1, 5, size=len(word_row))
    token_row = np.repeat(word_row, pieces)
    tokens = draw.integers(0, 50, size=len(token_row))
    return Splits(rows, pieces, word_row, tokens, token_row, tokens == 0)


def names(count, seed):
    draw = np.random.default_rng(seed)
    return ["".join(draw.choice(list("abcdeгдежз"), size=draw.integers(3, 9))) for _ in range(count)]


def usual(entry):
    if entry.needs == "splits":
        return Case((splits(40, 0), splits(40, 1)))
    if entry.needs == "names":
        return Case((names(40, 0), names(40, 1)))
    return Case(vectors()[: 1 if entry.needs == "space" else 2])


def unrelated(entry):
    if entry.needs in ("splits", "names"):
        make = splits if entry.needs == "splits" else names
        return Case((make(400, 2), make(400, 3)))
    draw = torch.Generator().manual_seed(1)
    sides = [torch.randn(600, 12, generator=draw) for _ in range(1 if entry.needs == "space" else 2)]
    return Case(tuple(sides))


def reordered(side, order):
    if isinstance(side, torch.Tensor):
        return side[torch.from_numpy(order)]
    if isinstance(side, list):
        return [side[place] for place in order]
    place = np.argsort(order)
    return Splits(side.rows, side.pieces, place[side.word_row], side.tokens, place[side.token_row], side.unknown)


def rotation(d):
    return torch.linalg.qr(torch.randn(d, d, generator=torch.Generator().manual_seed(9)))[0]


TWINS = {
    "itself": lambda variant: variant,
    "side": lambda variant: re.sub(
        "source|target", lambda side: "target" if side[0] == "source" else "source", variant
    ),
    "direction": lambda variant: variant.removesuffix("/backward") + "/backward" * (not variant.endswith("/backward")),
}
STEPS = {
    "rotate": lambda side: side @ rotation(side.shape[1]),
    "scale": lambda side: 3.7 * side,
    "translate": lambda side: side + torch.linspace(-2, 3, side.shape[1]),
    "stretch": lambda side: side * torch.linspace(0.05, 4, side.shape[1]),
}


def transformed(case, change):
    step, which = change.split("-")
    first = STEPS[step](case.sides[0])
    return Case((first, *(STEPS[step](side) if which == "both" else side for side in case.sides[1:])))


@pytest.mark.parametrize("name", ENTRIES)
def test_every_variant_of_every_measure_has_one_row_in_the_table(name):
    assert ENTRIES[name].needs in NEEDS
    for variant in usual(ENTRIES[name]).scores(ENTRIES[name]):
        assert len(rows_of(name, variant)) == 1, f"{name} {variant}: classify it in TABLE"


@pytest.mark.parametrize("name", ENTRIES)
def test_the_metrics_that_are_declared_are_those_that_are_measured(name):
    assert set(ENTRIES[name].metrics.keys) == set(usual(ENTRIES[name]).scores(ENTRIES[name]))


@pytest.mark.parametrize("name", ENTRIES)
def test_a_metric_is_declared_with_its_range_and_one_is_the_headline(name):
    entry = ENTRIES[name]
    assert [metric.headline for metric in entry.metrics].count(True) == 1
    for key in entry.metrics.keys:
        (row,) = rows_of(name, key)
        low, high = entry.metrics.named(key, of=name).metric.range
        assert low is None or low <= row.low
        assert high is None or high >= row.high


def test_the_table_has_no_row_without_a_measure():
    assert set(TABLE) <= set(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_docstring_has_a_doctest_and_a_source(name):
    text = ENTRIES[name].call.__doc__
    assert ">>>" in text
    assert re.search(r"papers/\d{3}|\b(19|20)\d\d\b", text)
    assert len(ENTRIES[name].summary) <= 120


@pytest.mark.parametrize("name", ENTRIES)
def test_the_same_seed_gives_the_same_scores(name):
    one, other = (usual(ENTRIES[name]).scores(ENTRIES[name], seed=4) for _ in range(2))
    for variant, score in one.items():
        twin = other[variant]
        assert (score.value, score.null, score.low, score.high) == (twin.value, twin.null, twin.low, twin.high)
        np.testing.assert_array_equal(score.items, twin.items)


@pytest.mark.parametrize("name", ENTRIES)
def test_scores_are_finite_in_range_inside_their_interval_and_the_mean_of_their_items(name):
    for variant, score in usual(ENTRIES[name]).scores(ENTRIES[name]).items():
        (row,) = rows_of(name, variant)
        for number in (score.value, score.null, score.low, score.high):
            assert number is None or (isinstance(number, float) and np.isfinite(number))
        assert row.low <= score.value <= row.high
        assert score.n > 0
        if score.low is not None:
            assert score.low <= score.value <= score.high
        if score.items is not None:
            assert score.items.mean() == pytest.approx(score.value, abs=1e-9)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_same_order_of_rows_on_both_sides_is_no_matter(name):
    case = usual(ENTRIES[name])
    size = case.sides[0].rows if isinstance(case.sides[0], Splits) else len(case.sides[0])
    order = np.random.default_rng(0).permutation(size)
    moved = Case(tuple(reordered(side, order) for side in case.sides)).scores(ENTRIES[name])
    for variant, score in case.scores(ENTRIES[name]).items():
        (row,) = rows_of(name, variant)
        if row.order:
            assert moved[variant].value == pytest.approx(score.value, abs=1e-6), variant


@pytest.mark.parametrize("name", VECTORS)
def test_declared_invariances_hold_and_declared_sensitivities_show(name):
    entry = ENTRIES[name]
    case = usual(entry)
    before = case.scores(entry)
    changes = {change for row in TABLE[name] for change in row.keeps | row.breaks}
    for change in changes:
        after = transformed(case, change).scores(entry)
        for variant, score in before.items():
            (row,) = rows_of(name, variant)
            if change in row.keeps:
                assert after[variant].value == pytest.approx(score.value, rel=1e-4, abs=1e-5), (variant, change)
            if change in row.breaks:
                assert abs(after[variant].value - score.value) > 5e-3, (variant, change)


@pytest.mark.parametrize("name", ENTRIES)
def test_swapping_the_sides_gives_the_twin(name):
    entry = ENTRIES[name]
    case = usual(entry)
    mirrored = Case(case.sides[::-1]).scores(entry)
    for variant, score in case.scores(entry).items():
        (row,) = rows_of(name, variant)
        if row.mirror is None:
            continue
        twin = TWINS[row.mirror](variant)
        assert mirrored[twin].value == pytest.approx(score.value, abs=1e-9), variant


@pytest.mark.parametrize("name", ENTRIES)
def test_identical_sides_read_the_best_value(name):
    entry = ENTRIES[name]
    if entry.needs == "space":
        return
    side = usual(entry).sides[0]
    for variant, score in Case((side, side)).scores(entry).items():
        (row,) = rows_of(name, variant)
        if row.best is not None:
            assert score.value == pytest.approx(row.best, abs=1e-5), variant
            assert entry.metrics.named(variant, of=name).metric.higher_is_better == bool(row.best), variant


@pytest.mark.parametrize("name", ENTRIES)
def test_unrelated_noise_reads_the_null(name):
    for variant, score in unrelated(ENTRIES[name]).scores(ENTRIES[name]).items():
        (row,) = rows_of(name, variant)
        if score.null is not None:
            assert score.value == pytest.approx(score.null, abs=row.noise, rel=0.05), variant


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("name", VECTORS)
def test_any_float_dtype_reads_as_its_float32_copy(name, dtype):
    entry = ENTRIES[name]
    rounded = Case(tuple(side.to(dtype) for side in usual(entry).sides))
    single = Case(tuple(side.float() for side in rounded.sides)).scores(entry)
    for variant, score in rounded.scores(entry).items():
        assert score.value == pytest.approx(single[variant].value, abs=1e-5), variant


@pytest.mark.gpu
@pytest.mark.parametrize("name", VECTORS)
def test_the_accelerator_reads_what_the_processor_reads(name):
    entry = ENTRIES[name]
    case = usual(entry)
    there = Case(tuple(side.cuda() for side in case.sides)).scores(entry)
    for variant, score in case.scores(entry).items():
        assert there[variant].value == pytest.approx(score.value, abs=1e-5), variant
