"""Words to tokens: ragged arrays against loops, batches against texts built alone, vectors against the encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import models
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.training.word_pairs import HOWS, AlignedTokens, WordTokens, align_tokens, pool_words, word_tokens
from interlingua.wordalign.links import Links
from interlingua.words import Sentence, token_spans, word_spans

TEXTS = [line for line in models.LINES if not any("\u4e00" <= sign <= "\u9fff" for sign in line)]


@pytest.fixture(scope="module", params=["bert", "modernbert", "qwen2", "t5"])
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder.load(str(models.ARCHITECTURES[request.param](tmp_path_factory.mktemp("words") / "model")))


@pytest.fixture(scope="module")
def bert(bert_folder: Path) -> Encoder:
    return Encoder.load(str(bert_folder), device="cpu")


def sentences(texts: list[str] = TEXTS) -> list[Sentence]:
    return [Sentence(text, token_spans(text)) for text in texts]


def by_item(words: WordTokens) -> list[tuple[int, int, list[int]]]:
    return [
        (int(words.row[i]), int(words.word[i]), words.position[words.start[i] : words.start[i + 1]].tolist())
        for i in range(len(words))
    ]


def hidden(encoder: Encoder, texts: list[str]) -> torch.Tensor:
    """The last layer of texts read one by one, padded with NaN, so that padding can't be used unseen."""
    model = encoder._loaded.model
    rows = []
    for text in texts:
        ids = encoder.tokeniser([text], spans=False, words=False).ids.tolist()
        ids = [*encoder.tokeniser.prefix, *ids, *encoder.tokeniser.suffix]
        with torch.no_grad():
            rows.append(model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states[-1][0])
    out = torch.full((len(texts), max(map(len, rows)), rows[0].shape[1]), torch.nan)
    for number, row in enumerate(rows):
        out[number, : len(row)] = row
    return out


@pytest.mark.parametrize("how", ["mean", "first", "last"])
def test_vectors_of_words_equal_the_encoders_own(encoder: Encoder, how: str) -> None:
    words = [Sentence(text, word_spans(text)) for text in TEXTS]
    found = word_tokens(encoder.tokeniser, words, how=how, room=encoder.room)
    own = encoder.encode(TEXTS, unit="word", pooling=how, layers=[-1])
    assert found.row.tolist() == own.row.tolist()
    vectors = pool_words(hidden(encoder, TEXTS), found)
    assert torch.allclose(vectors, torch.from_numpy(np.array(own.vectors[0])), atol=1e-5)


def test_items_are_the_tokens_whose_characters_a_word_has(bert: Encoder) -> None:
    found = by_item(word_tokens(bert.tokeniser, sentences(), specials=True, room=bert.room))
    expected = []
    for row, sentence in enumerate(sentences()):
        tokens = bert.tokeniser([sentence.text], spans=True, words=False)
        items = [(row, -2, [1 + len(tokens.ids)]), (row, -1, [0])]
        for word, (start, end) in enumerate(sentence.spans):
            inside = [1 + k for k, (a, b) in enumerate(tokens.spans.tolist()) if a < end and b > start]
            items += [(row, word, inside)] if inside else []
        expected += items
    assert found == expected


def test_one_token_stands_for_a_word_or_each_for_itself(bert: Encoder) -> None:
    whole, first, last, token = (by_item(word_tokens(bert.tokeniser, sentences(), how=how, room=99)) for how in HOWS)
    assert first == [(row, word, places[:1]) for row, word, places in whole]
    assert last == [(row, word, places[-1:]) for row, word, places in whole]
    assert token == [(row, word, [place]) for row, word, places in whole for place in places]
    assert max(len(places) for _, _, places in whole) > 2


def test_texts_too_long_have_no_items_and_are_named(bert: Encoder) -> None:
    words = sentences(["The tap.", "kitchen " * 300, "Empires rise."])
    found = word_tokens(bert.tokeniser, words, specials=True, room=bert.room)
    assert found.unfit.tolist() == [1]
    assert set(found.row.tolist()) == {0, 2}


def test_words_that_become_nothing_are_counted_and_the_others_keep_their_numbers(bert: Encoder) -> None:
    # BERT's normaliser drops control characters: the middle word has no token.
    found = word_tokens(bert.tokeniser, [Sentence.of(["kitchen", "\u200b\u0007", "tap"])], room=99)
    assert found.lost == 1
    assert found.word.tolist() == [0, 2]


def test_an_unknown_way_is_refused(bert: Encoder) -> None:
    with pytest.raises(InputError, match="Known: mean, first, last, token"):
        word_tokens(bert.tokeniser, sentences(), how="max", room=99)


def aligned(encoder: Encoder, rows: list[int], how: str, *, specials: bool = True) -> tuple[AlignedTokens, Links]:
    """Sentences against themselves in another order, with random links."""
    draw = np.random.default_rng(7)
    everything = sentences()
    source, target = everything, everything[1:] + everything[:1]
    cells = []
    for row in range(len(source)):
        n, m = len(source[row].spans), len(target[row].spans)
        cells += [(row, int(s), int(t)) for s, t in zip(draw.integers(0, n, 6), draw.integers(0, m, 6), strict=True)]
    cells = [(number, s, t) for number, row in enumerate(rows) for r, s, t in cells if r == row]
    links = Links.of(*np.array(cells, np.int64).reshape(-1, 3).T)
    sides = [
        word_tokens(encoder.tokeniser, [side[row] for row in rows], how=how, specials=specials, room=encoder.room)
        for side in (source, target)
    ]
    return align_tokens(links, *sides), links


@pytest.mark.parametrize("how", HOWS)
def test_pairs_are_linked_words_and_special_tokens(bert: Encoder, how: str) -> None:
    found, links = aligned(bert, list(range(len(TEXTS))), how)
    table = [
        {(row, word): [i for i in range(len(side)) if (side.row[i], side.word[i]) == (row, word)]
         for row, word in set(zip(side.row.tolist(), side.word.tolist(), strict=True))}
        for side in (found.source, found.target)
    ]  # fmt: skip
    cells = list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))
    cells += [(row, special, special) for row in range(len(TEXTS)) for special in (-1, -2)]
    expected = [
        (r, a, b) for r, s, t in cells for a, b in zip(table[0].get((r, s), []), table[1].get((r, t), []), strict=False)
    ]
    pairs = list(zip(found.row.tolist(), found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == sorted(expected)


def test_links_of_words_without_tokens_are_counted(bert: Encoder) -> None:
    source = word_tokens(bert.tokeniser, [Sentence.of(["kitchen", "\u0007"])], room=99)
    target = word_tokens(bert.tokeniser, [Sentence.of(["tap"])], room=99)
    found = align_tokens(Links.of([0, 0], [0, 1], [0, 0]), source, target)
    assert (len(found), found.lost) == (1, 1)


@pytest.mark.parametrize("how", HOWS)
def test_a_batch_is_what_its_texts_alone_would_give(bert: Encoder, how: str) -> None:
    whole, _ = aligned(bert, list(range(len(TEXTS))), how)
    rows = [5, 0, 5, 3]
    batch, (alone, _) = whole.take(np.array(rows)), aligned(bert, rows, how)
    for ours, theirs in ((batch.source, alone.source), (batch.target, alone.target)):
        assert by_item(ours) == by_item(theirs)
    for name in ("row", "left", "right"):
        assert getattr(batch, name).tolist() == getattr(alone, name).tolist()


def test_links_between_tokens_are_the_token_level_of_the_paper(bert: Encoder) -> None:
    # Where the words that were aligned are the tokens themselves, every way of pooling is the same.
    text = TEXTS[1]
    spans = bert.tokeniser([text], spans=True, words=False).spans.tolist()
    sides = [word_tokens(bert.tokeniser, [Sentence(text, [tuple(span) for span in spans])], how=how, room=99)
             for how in HOWS]  # fmt: skip
    assert all(by_item(side) == by_item(sides[0]) for side in sides)
    assert len(sides[0]) == len(spans)


def test_gradients_of_pooled_words_equal_those_of_a_loop(bert: Encoder) -> None:
    found, _ = aligned(bert, [0, 1, 2], "mean")
    draw = torch.Generator().manual_seed(0)
    width = 3 + int(found.source.position.max())
    states = torch.randn(3, width, 4, generator=draw, requires_grad=True)
    weights = torch.randn(len(found.source), 4, generator=draw)
    loop = torch.stack([states[row, places].mean(dim=0) for row, _, places in by_item(found.source)])
    expected = torch.autograd.grad((loop * weights).sum(), states)[0]
    got = torch.autograd.grad((pool_words(states, found.source) * weights).sum(), states)[0]
    assert torch.allclose(got, expected, atol=1e-6)
