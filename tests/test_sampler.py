"""The embedded corpus: what must hold of every line of every language."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from statistics import median

import pytest
import regex

import interlingua
from interlingua.readers import read_corpus

FOLDER = Path(interlingua.__file__).parent / "assets" / "sampler"
SCRIPTS = {
    "en": "Latin", "es": "Latin", "vi": "Latin", "de": "Latin", "fr": "Latin", "tr": "Latin", "pl": "Latin",
    "cs": "Latin", "sl": "Latin", "ca": "Latin", "ru": "Cyrillic", "be": "Cyrillic", "uk": "Cyrillic",
    "bg": "Cyrillic", "hi": "Devanagari", "zh": "Han", "ar": "Arabic",
}  # fmt: skip
OWN_LETTERS = {"ru": "ыэ", "be": "ўі", "uk": "їє", "bg": "ъ", "pl": "łż", "cs": "řě", "tr": "ığ", "vi": "đơ", "es": "ñ"}
"""Letters that a language writes and most others do not: a file in the wrong place has none."""
QUESTIONS = "?؟？"
CLOSING = "\"'”’»«“」』) \u00a0\u202f"
"""What may follow the last sign: quotation marks of any habit, in French after a space."""
DIGITS = {ord(sign): str(unicodedata.digit(sign)) for sign in "०१२३४५६७८९٠١٢٣٤٥٦٧٨٩"}


@cache
def lines(code: str) -> list[str]:
    return (FOLDER / f"sampler.{code}").read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def test_seventeen_languages_of_six_hundred_rows_are_read() -> None:
    corpus = read_corpus("sampler")
    assert set(corpus.languages) == set(SCRIPTS) == {path.suffix[1:] for path in FOLDER.glob("sampler.*")}
    assert corpus.languages[0] == "en"
    assert len(corpus) == 600
    assert corpus.skipped == ()
    # French writes narrow spaces before its signs; a corpus has plain ones.
    assert all(list(corpus.column(code)) == [" ".join(line.split()) for line in lines(code)] for code in SCRIPTS)


@pytest.mark.parametrize("code", SCRIPTS)
def test_lines_are_six_hundred_unique_and_clean(code: str) -> None:
    found = lines(code)
    assert len(found) == len(set(found)) == 600
    for number, line in enumerate(found, 1):
        assert line == unicodedata.normalize("NFC", line) == line.strip(), number
        assert not regex.search(r"\t|  |\p{Cf}|\p{Cc}|\u00a0\u00a0", line), number


@pytest.mark.parametrize("code", SCRIPTS)
def test_letters_are_of_the_languages_script(code: str) -> None:
    text = "".join(lines(code))
    letters = len(regex.findall(r"\p{L}", text))
    own = len(regex.findall(rf"[\p{{L}}&&\p{{Script={SCRIPTS[code]}}}]", text, flags=regex.VERSION1))
    assert own / letters > 0.97
    assert all(letter in text.lower() for letter in OWN_LETTERS.get(code, ""))


def test_no_cyrillic_language_has_letters_of_another() -> None:
    foreign = {"ru": "ўіїєґ", "be": "иїєґщъ", "uk": "ўыэъё", "bg": "ўіїєґыэё"}
    for code, letters in foreign.items():
        assert not [n for n, line in enumerate(lines(code), 1) if set(letters) & set(line.lower())], code


@pytest.mark.parametrize("code", [code for code in SCRIPTS if code != "en"])
def test_no_line_is_far_longer_or_shorter_than_its_language_makes_it(code: str) -> None:
    ratios = [len(line) / len(english) for line, english in zip(lines(code), lines("en"), strict=True)]
    usual = median(ratios)
    # One longer word more than doubles a line of four words ("Turnout fell to 48%."): short ones have more room.
    bounds = [2.5 if len(english) >= 25 else 3.0 for english in lines("en")]
    off = {
        number: round(ratio / usual, 2)
        for number, (ratio, bound) in enumerate(zip(ratios, bounds, strict=True), 1)
        if not 1 / bound < ratio / usual < bound
    }
    assert not off


@pytest.mark.parametrize("code", [code for code in SCRIPTS if code != "en"])
def test_numbers_are_kept_row_by_row(code: str) -> None:
    def numbers(line: str) -> list[str]:
        plain = line.translate(DIGITS)
        # A thousand is 1,000 or 1.000 or 1 000: separators between digits are spelling.
        return sorted(re.findall(r"\d+", re.sub(r"(?<=\d)[.,   ’'](?=\d{3}(?!\d))", "", plain)))

    pairs = zip(lines(code), lines("en"), strict=True)
    differ = {n: (numbers(line), numbers(english)) for n, (line, english) in enumerate(pairs, 1)}
    assert not {n: found for n, found in differ.items() if found[0] != found[1]}


@pytest.mark.parametrize("code", [code for code in SCRIPTS if code != "en"])
def test_a_question_is_a_question_in_every_language(code: str) -> None:
    def asks(line: str) -> bool:
        return line.rstrip(CLOSING).endswith(tuple(QUESTIONS))

    pairs = zip(lines(code), lines("en"), strict=True)
    assert not [n for n, (line, english) in enumerate(pairs, 1) if asks(line) != asks(english)]


@pytest.mark.parametrize("code", SCRIPTS)
def test_every_line_ends_as_a_sentence_does(code: str) -> None:
    assert not [n for n, line in enumerate(lines(code), 1) if not line.rstrip(CLOSING).endswith(tuple(".!?…。！？।؟"))]


def test_english_has_four_to_thirty_words_of_every_length() -> None:
    counts = [len(line.split()) for line in lines("en")]
    assert min(counts) >= 4
    assert max(counts) <= 30
    assert min(counts) <= 5
    assert max(counts) >= 25
    assert sum(bool(re.search(r"\d", line)) for line in lines("en")) >= 30
    assert sum(bool(re.search(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+", line)) for line in lines("en")) >= 60
