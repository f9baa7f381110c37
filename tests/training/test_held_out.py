from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import stats as scipy_stats

from interlingua.analyses.pretraining import PretrainSettings, held_out_loss, unigram_losses
from interlingua.commands.pretrain import pretrain
from interlingua.encoder.model_init import init_masked_lm
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.training.loop import LoopSettings
from interlingua.training.text import TokenStream, token_stream
from interlingua.training.tokenizer import SPECIAL, train_wordpiece

LENGTH = 16
CPU = torch.device("cpu")


def everywhere(sizes: tuple[int, ...]) -> TokenStream:
    """A stream in which a sequence may begin at every token that leaves room for it."""
    edges = np.cumsum([0, *sizes])
    starts = [np.arange(low, high - (LENGTH - 1) + 1) for low, high in pairwise(edges)]
    begin = np.cumsum([0, *map(len, starts)])
    return TokenStream(np.arange(sum(sizes)), np.concatenate(starts), begin, edges, tuple("abcd"[: len(sizes)]))


def seen(part: TokenStream, number: int) -> set[int]:
    starts = part.starts[part.begin[number] : part.begin[number + 1]]
    return {place for start in starts for place in range(start, start + LENGTH - 1)}


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("sizes", [(400,), (400, 1000, 173)])
def test_parts_are_the_beginning_and_the_end_of_each_language(sizes, share):
    stream = everywhere(sizes)
    rest, held = stream.parted(share, length=LENGTH)
    for number, size in enumerate(sizes):
        low, away = stream.edges[number], round(share * size)
        # Every start is used, so each part is covered to its last token, and no further.
        assert seen(rest, number) == set(range(low, low + size - away))
        assert seen(held, number) == set(range(low + size - away, low + size))
        # n tokens have n - (LENGTH - 1) + 1 places for LENGTH - 1 of them.
        assert rest.begin[number + 1] - rest.begin[number] == size - away - (LENGTH - 1) + 1
        assert held.begin[number + 1] - held.begin[number] == away - (LENGTH - 1) + 1
    for part in (rest, held):
        assert np.array_equal(part.edges, stream.edges)
        assert (part.begin[0], part.begin[-1]) == (0, len(part.starts))


def test_parts_of_real_text_share_no_token_and_stay_in_their_language(texts, tmp_path):
    files = {code: texts / "text" / f"{code}.txt" for code in ("en", "ru")}
    tokenizer = train_wordpiece(files, vocabulary=500)
    stream = token_stream(tokenizer, files, length=LENGTH, folder=tmp_path)
    rest, held = stream.parted(0.2, length=LENGTH)
    for number in range(2):
        ours, theirs = seen(rest, number), seen(held, number)
        assert ours
        assert theirs
        assert not ours & theirs
        assert min(ours) >= stream.edges[number]
        assert max(theirs) < stream.edges[number + 1]
        assert max(ours) < min(theirs)
    assert set(rest.starts) | set(held.starts) <= set(stream.starts)


def test_nothing_held_out_is_all_the_text():
    stream = everywhere((100, 50))
    rest, held = stream.parted(0.0, length=LENGTH)
    assert np.array_equal(rest.starts, stream.starts)
    assert len(held.starts) == 0


def test_the_held_out_loss_is_that_of_plain_transformers_on_the_same_batches(texts, tmp_path):
    files = {code: texts / "text" / f"{code}.txt" for code in ("en", "ru")}
    tokenizer = train_wordpiece(files, vocabulary=500)
    trained, held = token_stream(tokenizer, files, length=LENGTH, folder=tmp_path).parted(0.2, length=LENGTH)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    model = init_masked_lm("bert", sizes, tokenizer, length=LENGTH, seed=0).eval()
    plain = copy.deepcopy(model)
    config = PretrainSettings(files, LoopSettings(1, 1e-3, seed=5), batch_size=8, max_length=LENGTH, mask=0.3)
    found = held_out_loss(model, tokenizer, config, held)
    special = SpecialTokens(2, 4, tokenizer.get_vocab_size(), len(SPECIAL))
    mlm = MaskedLanguageModelling(held, special, batch_size=128, length=LENGTH, share=0.3, seed=6)
    losses = []
    for number in range(16):
        batch = mlm.batch(number, rank=0, world=1, device=CPU)
        labels = torch.full_like(batch["input_ids"], -100).scatter(1, batch["positions"], batch["labels"])
        with torch.no_grad():
            losses.append(plain(input_ids=batch["input_ids"], labels=labels).loss.item())
    assert found == {"held_out_loss": pytest.approx(np.mean(losses), abs=1e-6)}
    assert held_out_loss(model, tokenizer, config, held) == found  # The same batches again.
    # Where the share changes, that of the last step, at whatever step it is measured.
    annealed = replace(config, loop=replace(config.loop, steps=7), mask=(0.5, 0.3))
    assert held_out_loss(model, tokenizer, annealed, held) == found
    # Word frequencies alone, counted token by token.
    plain_losses, size = [], tokenizer.get_vocab_size()
    share = np.zeros(size)
    weights = np.array([trained.edges[1] - trained.edges[0], trained.edges[2] - trained.edges[1]], float) ** 0.7
    for number in range(2):
        counts = Counter(int(trained.ids[at]) for at in seen(trained, number))
        every = np.array([counts[token] + 1.0 if token >= len(SPECIAL) else 0.0 for token in range(size)])
        share += weights[number] / weights.sum() * every / every.sum()
    for number in range(16):
        stood = [
            int(token) for token in mlm.batch(number, rank=0, world=1, device=CPU)["labels"].flatten() if token >= 0
        ]
        plain_losses.append(-np.mean([np.log(share[token]) for token in stood]))
    unigram = unigram_losses(tokenizer, config, trained, held)
    np.testing.assert_allclose(unigram, plain_losses, rtol=1e-9)
    beside = held_out_loss(model, tokenizer, config, held, unigram)
    assert beside["unigram_loss"] == pytest.approx(np.mean(plain_losses))
    assert beside["unigram_p"] == pytest.approx(scipy_stats.ttest_rel(losses, plain_losses).pvalue, rel=1e-3)
    assert held_out_loss(model, tokenizer, config, None) == {}
    logits = model(input_ids=batch["input_ids"]).logits
    assert torch.equal(logits, plain(input_ids=batch["input_ids"]).logits)  # The hook is gone.


def test_text_that_is_held_out_does_not_reach_the_weights(write_config, texts, tmp_path):
    (tmp_path / "own").mkdir()
    found = []
    for name in ("first", "second"):
        for path in (texts / "text").iterdir():
            lines = path.read_text("utf-8").splitlines()
            # The last lines in another order are the same words, so the tokenizer is the same.
            end = lines[95:] if name == "first" else lines[:94:-1]
            (tmp_path / "own" / path.name).write_text("\n".join([*lines[:95], *end]) + "\n", "utf-8")
        config = write_config(f"{name}.toml", data={"folder": "own", "held_out": 0.2}, training={"steps": 4})
        found.append(pretrain(config, out=tmp_path / name, device="cpu").training["metrics"][-1])
    assert found[0]["held_out_loss"] != found[1]["held_out_loss"]
    assert (tmp_path / "first" / "model.safetensors").read_bytes() == (
        tmp_path / "second" / "model.safetensors"
    ).read_bytes()
