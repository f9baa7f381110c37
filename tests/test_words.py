"""Words in many scripts: what a reader of each language would call its words."""

from __future__ import annotations

import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua import words
from interlingua.errors import InputError, MissingExtra
from interlingua.words import Sentence, by_character, field_spans, has_tokens, token_spans, word_spans


def cut(text: str) -> list[str]:
    return [text[a:b] for a, b in word_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know; it's Ann's.", ["I", "don't", "know", "it's", "Ann's"]),
        ("We’ll see the well-known film", ["We’ll", "see", "the", "well-known", "film"]),
        ("L'homme qu’il a vu aujourd'hui.", ["L'homme", "qu’il", "a", "vu", "aujourd'hui"]),
        ("Col·laborar és fàcil!", ["Col·laborar", "és", "fàcil"]),
        ("हिन्दी में किताबें पढ़ीं।", ["हिन्दी", "में", "किताबें", "पढ़ीं"]),
        ("هل تتكلّم العربية؟", ["هل", "تتكلّم", "العربية"]),
        ("Tôi không biết, bạn ạ.", ["Tôi", "không", "biết", "bạn", "ạ"]),
        ("Кто-то пришёл: «Здравствуйте!»", ["Кто-то", "пришёл", "Здравствуйте"]),
        ("Сям’я з’ехала ў горад", ["Сям’я", "з’ехала", "ў", "горад"]),
        ("¿Dónde está, señor?", ["Dónde", "está", "señor"]),
        ("안녕하세요, 세계!", ["안녕하세요", "세계"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("Straße für Öl", ["Straße", "für", "Öl"]),
        ("It cost 1,500.75 at 10:30 in 1960.", ["It", "cost", "1,500.75", "at", "10:30", "in", "1960"]),
        ("१२३ किताबें", ["१२३", "किताबें"]),
        ("…—!?", []),
        ("", []),
        ("🙂 yes 🙂", ["yes"]),
    ],
)
def test_words_are_those_a_reader_would_name(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_a_url_gives_its_words_and_no_punctuation() -> None:
    found = cut("See https://example.org/a?b=1 now")
    assert found[:3] == ["See", "https", "example"]
    assert found[-1] == "now"
    assert all(character.isalnum() for word in found for character in word)


def test_decomposed_letters_stay_in_their_word() -> None:
    assert cut(unicodedata.normalize("NFD", "Đặng nhé")) == [
        unicodedata.normalize("NFD", word) for word in ("Đặng", "nhé")
    ]


def test_chinese_is_cut_by_a_segmenter() -> None:
    pytest.importorskip("jieba")
    assert cut("我们在北京大学学习。") == ["我们", "在", "北京大学", "学习"]


def test_thai_is_cut_by_a_segmenter() -> None:
    pytest.importorskip("pythainlp")
    assert cut("ฉันรักภาษาไทย") == ["ฉัน", "รัก", "ภาษาไทย"]


def test_latin_and_han_in_one_run_are_parted() -> None:
    pytest.importorskip("jieba")
    assert cut("用Python编程") == ["用", "Python", "编程"]


def test_japanese_says_that_it_has_no_segmenter() -> None:
    with pytest.raises(InputError, match=r"no word segmenter for this script \(Japanese.*Use sentence or token units"):
        word_spans("これはペンです")


def test_a_missing_segmenter_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    words._segmenter.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"pip install 'interlingua\[segment\]'"):
            word_spans("你好")
    finally:
        words._segmenter.cache_clear()


@given(st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x0DFF), max_size=60))
def test_spans_are_ordered_disjoint_and_hold_every_letter(text: str) -> None:
    spans = word_spans(text)
    assert all(a < b for a, b in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    inside = {place for a, b in spans for place in range(a, b)}
    for place, character in enumerate(text):
        if unicodedata.category(character)[0] == "L":
            assert place in inside
        if character.isspace():
            assert place not in inside


def tokens(text: str) -> list[str]:
    return [text[a:b] for a, b in token_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know; it's Ann's.", ["I", "don't", "know", ";", "it's", "Ann's", "."]),
        ("Wait... what?! -- «Ну»", ["Wait", "...", "what", "?", "!", "--", "«", "Ну", "»"]),
        ("It cost €1,500 (5%).", ["It", "cost", "€", "1,500", "(", "5", "%", ")", "."]),
        ("हिन्दी में।", ["हिन्दी", "में", "।"]),
        ("❤\ufe0f yes", ["❤\ufe0f", "yes"]),
        ("a\u200bb\ufeff", ["a", "b"]),
        ("ペンです。", ["ペ", "ン", "で", "す", "。"]),
        ("ປີ້", ["ປີ້"]),
        (" \u200b ", []),
    ],
)
def test_tokens_are_words_and_marks(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_tokens_of_chinese_and_thai_are_cut_by_segmenters_and_keep_their_marks() -> None:
    pytest.importorskip("jieba")
    pytest.importorskip("pythainlp")
    assert tokens("我们在北京大学学习。") == ["我们", "在", "北京大学", "学习", "。"]
    assert tokens("ฉันรักภาษาไทย!") == ["ฉัน", "รัก", "ภาษาไทย", "!"]


def test_only_scripts_without_a_segmenter_are_cut_by_character() -> None:
    assert [by_character(text) for text in ("ペン", "ປີ", "pen", "北京", "ไทย")] == [True, True, False, False, False]


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x0DFF), max_size=60)


@given(ANY_TEXT)
def test_every_visible_character_is_in_exactly_one_token_and_no_token_has_white_space(text: str) -> None:
    spans = token_spans(text)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    inside = {place for a, b in spans for place in range(a, b)}
    for place, character in enumerate(text):
        visible = not character.isspace() and unicodedata.category(character) not in ("Cc", "Cf")
        assert (place in inside) == visible
    # So the tokens written with spaces between them are read back as they were.
    assert " ".join(tokens(text)).split() == tokens(text)
    assert has_tokens(text) == bool(spans)


@given(st.text(st.characters(exclude_categories=["Cs", "Cn", "M"], max_codepoint=0x0DFF), max_size=60))
def test_words_are_tokens_too(text: str) -> None:
    assert set(word_spans(text)) <= set(token_spans(text))


@given(st.text(max_size=40))
def test_fields_are_those_of_split(text: str) -> None:
    assert [text[a:b] for a, b in field_spans(text)] == text.split()


@given(st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)))
def test_a_sentence_of_words_has_those_words(given_words: list[str]) -> None:
    assert Sentence.of(given_words).words == given_words
