from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.explorer.encoded_text import owners, read

TEXTS = [
    "The kitchen tap is leaking again.",
    "El grifo vuelve a gotear…",
    "صنبور المطبخ يسرب الماء",
    "厨房的水龙头又漏水了。",
]


def test_words_and_the_rest_add_up_to_the_mean_over_tokens_at_every_layer(encoder: Encoder) -> None:
    means = encoder.encode(TEXTS, pooling="mean")
    for number, found in enumerate(read(encoder, TEXTS)):
        for layer in encoder.layers:
            made = found.shares @ found.vectors[layer] + found.rest[layer]
            np.testing.assert_allclose(made, means[layer][number], atol=1e-5)


def test_pieces_of_a_word_are_its_characters(encoder: Encoder) -> None:
    for found in read(encoder, TEXTS):
        assert ["".join(piece.text for piece in pieces) for pieces in found.pieces] == found.written


def test_a_word_the_tokenizer_does_not_know_is_marked(encoder: Encoder) -> None:
    (found,) = read(encoder, ["a 𓀀 b"])
    assert [[piece.known for piece in pieces] for pieces in found.pieces] == [[True], [False], [True]]


@pytest.mark.parametrize("text", ["", "  \u200b ", "word " * 600])
def test_what_has_no_word_or_does_not_fit_is_refused(encoder: Encoder, text: str) -> None:
    with pytest.raises(InputError):
        read(encoder, ["fine", text])


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.lists(st.integers(0, 4), max_size=8))
def test_a_token_belongs_to_the_first_word_it_shares_a_character_with(sizes: list[int], lengths: list[int]) -> None:
    ends = np.cumsum(sizes)
    words = [(int(end - size), int(end)) for size, end in zip(sizes, ends, strict=True)]
    last = np.cumsum([0, *lengths])
    tokens = np.stack([last[:-1], last[1:]], axis=1)
    for (start, end), owner in zip(tokens, owners(words, tokens), strict=True):
        sharing = [n for n, word in enumerate(words) if set(range(*word)) & set(range(start, end))]
        assert owner == (sharing[0] if sharing else -1)
