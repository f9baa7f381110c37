"""Packed texts are a list of texts, wherever their bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.wordalign import spill
from interlingua.wordalign.spill import PackedTexts

TEXT = st.text(st.characters(), max_size=12)  # lone surrogates too


@given(st.lists(TEXT, max_size=30), st.sampled_from([0, 20, 10**6]), st.sampled_from([1, 9, 10**6]))
def test_texts_come_back_as_they_were_however_much_stays_in_memory(texts: list[str], room: int, written: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "IN_MEMORY", room)
        patch.setattr(spill, "_WRITTEN_AT_ONCE", written)
        patch.setattr(spill, "_ROWS_AT_ONCE", 4)
        found = PackedTexts(texts)
        assert list(found) == texts
        assert [found[row] for row in range(-len(texts), len(texts))] == texts * 2
        assert found[1:7:2] == texts[1:7:2]
        found.append("one more")
        assert list(found) == [*texts, "one more"]
    assert len(found) == len(texts) + 1


def test_a_text_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        PackedTexts(["a"])[1]
