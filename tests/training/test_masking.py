from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from interlingua.analyses.pretraining import PretrainSettings, _objective
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.training.loop import LoopSettings
from interlingua.training.text import TokenStream
from interlingua.training.tokenizer import SPECIAL as NAMES
from interlingua.training.tokenizer import add_special_tokens, empty_wordpiece

CPU = torch.device("cpu")
SPECIAL = SpecialTokens(cls=2, mask=4, vocabulary=500, first_ordinary=5)
SEPARATOR = 3


def stream(sizes: tuple[int, ...] = (4000, 1000), *, separators: float = 0.1, seed: int = 0) -> TokenStream:
    draw = np.random.default_rng(seed)
    total = sum(sizes)
    ids = draw.integers(SPECIAL.first_ordinary, SPECIAL.vocabulary, total).astype(np.uint16)
    ids[draw.random(total) < separators] = SEPARATOR
    edges = np.cumsum([0, *sizes])
    starts = [np.arange(low, high - 63) for low, high in pairwise(edges)]
    begin = np.cumsum([0, *map(len, starts)])
    return TokenStream(ids, np.concatenate(starts), begin, edges, tuple("abcdefgh"[: len(sizes)]))


def objective(**changes: object) -> MaskedLanguageModelling:
    given = {"stream": stream(), "special": SPECIAL, "batch_size": 64, "length": 64, "seed": 7}
    return MaskedLanguageModelling(**{**given, **changes})


def original(batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The text as it was: labels put back where something was masked."""
    labels = torch.where(batch["labels"] < 0, batch["input_ids"].gather(1, batch["positions"]), batch["labels"])
    return batch["input_ids"].scatter(1, batch["positions"], labels)


def one(mlm: MaskedLanguageModelling, step: int = 0, rank: int = 0, world: int = 1) -> dict[str, torch.Tensor]:
    return mlm.batch(step, rank=rank, world=world, device=CPU)


@pytest.mark.parametrize("share", [0.01, 0.15, 0.4])
def test_the_same_number_of_positions_is_masked_in_every_sequence(share):
    batch = one(objective(share=share))
    assert batch["positions"].shape == (64, max(round(share * 64), 1))
    assert (batch["positions"].diff(dim=1) > 0).all()  # Distinct.


def test_nothing_but_masked_positions_is_changed_and_labels_are_what_stood_there():
    mlm = objective()
    text = torch.from_numpy(mlm.stream.ids.astype(np.int64))
    windows = {tuple(text[s : s + 63].tolist()) for s in mlm.stream.starts}
    batch = one(mlm)
    assert {tuple(row.tolist()) for row in original(batch)[:, 1:]} <= windows
    assert (batch["input_ids"][:, 0] == SPECIAL.cls).all()


def test_masked_tokens_are_hidden_swapped_and_kept_as_80_10_10():
    mlm = objective(batch_size=2000)
    batch = one(mlm)
    shown = batch["input_ids"].gather(1, batch["positions"])
    n = shown.numel()
    ordinary = SPECIAL.vocabulary - SPECIAL.first_ordinary
    # A drawn token is the one that stood there once in `ordinary` times.
    expected = {"hidden": 0.8, "kept": 0.1 + 0.1 / ordinary, "swapped": 0.1 * (1 - 1 / ordinary)}
    found = {
        "hidden": (shown == SPECIAL.mask).sum().item(),
        "kept": (shown == batch["labels"]).sum().item(),
        "swapped": ((shown != SPECIAL.mask) & (shown != batch["labels"])).sum().item(),
    }
    for name, p in expected.items():
        assert abs(found[name] - n * p) < 5 * math.sqrt(n * p * (1 - p)), name


def test_every_ordinary_token_and_no_special_one_is_drawn():
    mlm = objective(batch_size=4000)
    batch = one(mlm)
    shown = batch["input_ids"].gather(1, batch["positions"])
    swapped = shown[(shown != SPECIAL.mask) & (shown != batch["labels"])]
    assert set(swapped.tolist()) == set(range(SPECIAL.first_ordinary, SPECIAL.vocabulary))


def test_special_tokens_are_never_masked_even_where_ordinary_ones_are_too_few():
    mlm = objective(stream=stream(separators=0.95))
    batch = one(mlm)
    before = original(batch)
    special = before.gather(1, batch["positions"]) < SPECIAL.first_ordinary
    assert special.any()  # Else this test says nothing.
    assert not special.all()
    assert (batch["labels"][special] == -100).all()
    assert (batch["labels"][~special] >= SPECIAL.first_ordinary).all()
    assert torch.equal(batch["input_ids"] < SPECIAL.first_ordinary, (before < 5) | (batch["input_ids"] == SPECIAL.mask))
    assert torch.equal(
        batch["input_ids"].gather(1, batch["positions"])[special], before.gather(1, batch["positions"])[special]
    )


def test_every_ordinary_position_is_masked_alike_often():
    mlm = objective(stream=stream(separators=0.0), batch_size=4000)
    counts = torch.bincount(one(mlm)["positions"].flatten(), minlength=64)
    assert counts[0] == 0  # [CLS]
    p = 10 / 63
    assert (counts[1:] - 4000 * p).abs().max() < 5 * math.sqrt(4000 * p * (1 - p))


def test_a_batch_is_a_function_of_seed_and_step_alone():
    first, again = objective(), objective()
    one(again, 3)  # What was drawn before leaves no trace.
    for key, value in one(first, 5).items():
        assert torch.equal(value, one(again, 5)[key])
        assert not torch.equal(value, one(first, 6)[key])
        assert not torch.equal(value, one(objective(seed=8), 5)[key])


@pytest.mark.parametrize("world", [2, 4])
def test_shares_of_several_processes_join_to_the_batch_of_one(world):
    whole = one(objective(), 5)
    for rank in range(world):
        for key, value in one(objective(), 5, rank, world).items():
            assert torch.equal(value, whole[key][rank::world])


@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0])
def test_languages_are_drawn_by_their_smoothed_size(smoothing):
    sizes = (8000, 2000, 500)
    mlm = objective(stream=stream(sizes), smoothing=smoothing, batch_size=5000)
    powers = [size**smoothing for size in sizes]
    expected = np.array(powers) / sum(powers)
    np.testing.assert_allclose(mlm.weights(), expected, rtol=1e-12)
    places = mlm._places(np.random.default_rng(1))
    counts = np.histogram(places, mlm.stream.edges)[0]
    assert (np.abs(counts - 5000 * expected) < 5 * np.sqrt(5000 * expected * (1 - expected))).all()


def test_an_annealed_share_masks_less_and_less_and_gives_the_head_as_many_positions_at_every_step():
    mlm = objective(stream=stream(separators=0.0), share=(0.5, 0.125), batches=4)
    for step, masked in ((0, 32), (1, 24), (2, 16), (3, 8), (9, 8)):
        batch = one(mlm, step)
        assert batch["positions"].shape == (64, 32)
        assert (batch["positions"].diff(dim=1) > 0).all()
        assert ((batch["labels"] >= 0).sum(dim=1) == masked).all()


def test_a_share_may_grow_as_well():
    mlm = objective(stream=stream(separators=0.0), share=(0.125, 0.5), batches=2)
    assert [one(mlm, step)["labels"].ge(0).sum(dim=1).unique().tolist() for step in (0, 1)] == [[8], [32]]


def test_positions_left_over_by_a_smaller_share_are_not_touched_and_no_place_is_favoured():
    mlm = objective(stream=stream(separators=0.0), share=(0.5, 0.125), batches=2, batch_size=4000)
    batch = one(mlm, 1)
    shown, masked = batch["input_ids"].gather(1, batch["positions"]), batch["labels"] >= 0
    assert not (shown[~masked] == SPECIAL.mask).any()
    # 10 % of what is masked stays as it is; of what is not, all.
    text = torch.from_numpy(mlm.stream.ids.astype(np.int64))
    windows = {tuple(text[s : s + 63].tolist()) for s in mlm.stream.starts}
    assert {tuple(row.tolist()) for row in original(batch)[:, 1:]} <= windows
    counts = torch.bincount(batch["positions"][masked], minlength=64)
    p = 8 / 63
    assert (counts[1:] - 4000 * p).abs().max() < 5 * math.sqrt(4000 * p * (1 - p))


def test_a_pair_of_equal_shares_is_that_share():
    for key, value in one(objective(share=0.3), 2).items():
        assert torch.equal(value, one(objective(share=(0.3, 0.3), batches=5), 2)[key])


def test_the_share_of_a_recipe_ends_with_the_last_part_of_its_last_step():
    recipe = PretrainSettings({}, LoopSettings(3, 1e-3, accumulate=2), batch_size=8, max_length=64, mask=(0.6, 0.1))
    tokenizer = add_special_tokens(empty_wordpiece({name: number for number, name in enumerate([*NAMES, "a"])}))
    mlm = _objective(recipe, stream(), tokenizer)
    assert [mlm.share_at(part) for part in range(6)] == pytest.approx([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


@pytest.mark.parametrize("world", [1, 2])
def test_every_so_many_batches_have_long_sequences_with_as_many_tokens(world):
    mlm = objective(length=16, long_length=64, long_every=3)
    shapes = [tuple(one(mlm, step, 0, world)["input_ids"].shape) for step in range(6)]
    assert shapes == [(64 // world, 16), (64 // world, 16), (16 // world, 64)] * 2
    assert all(mlm.batch(2, rank=0, world=1, device=CPU)["input_ids"].ne(one(mlm, 5)["input_ids"]).any(1))


def test_long_sequences_stay_in_the_text_of_their_language():
    # Starts that leave room for short sequences alone; every token says which language it is of.
    edges = np.array([0, 300, 500])
    ids = np.concatenate([np.full(300, 10), np.full(200, 20)]).astype(np.uint16)
    starts = [np.arange(low, high - 7) for low, high in pairwise(edges)]
    text = TokenStream(ids, np.concatenate(starts), np.cumsum([0, *map(len, starts)]), edges, ("a", "b"))
    mlm = objective(stream=text, length=8, long_length=128, long_every=1, smoothing=0.0)
    for step in range(20):
        words = original(one(mlm, step))[:, 1:]
        assert words.shape[1] == 127
        assert (words == words[:, :1]).all()
