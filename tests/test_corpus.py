"""`ParallelCorpus`: what holds for every corpus."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.corpus import ParallelCorpus, Skip, clean
from interlingua.errors import InputError

CODES = ("en", "ru", "es")
cell = st.one_of(st.none(), st.text(st.sampled_from("ab é\u0301\u00a0\t\ufeffй"), max_size=5))
quick = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def tables(draw):
    rows = draw(st.lists(st.tuples(cell, cell, cell), max_size=12))
    return [("first", "первый", "primero"), *rows]


def build(rows):
    return ParallelCorpus.of(dict(zip(CODES, zip(*rows, strict=True), strict=True)))


def rows_of(corpus):
    return list(zip(*corpus.texts.values(), strict=True))


@quick
@given(tables())
def test_every_row_is_clean_unique_and_in_two_languages(rows):
    kept = rows_of(build(rows))
    assert len(set(kept)) == len(kept)
    for row in kept:
        assert sum(text is not None for text in row) >= 2
        assert all(text is None or (text == clean(text) and unicodedata.is_normalized("NFC", text)) for text in row)


@quick
@given(tables())
def test_kept_and_dropped_rows_make_up_the_whole(rows):
    corpus = build(rows)
    counts = {skip.reason: skip.count for skip in corpus.skipped}
    dropped = counts.get("rows with fewer than two languages", 0) + counts.get("duplicate rows", 0)
    assert len(corpus) + dropped == len(rows)
    empty = sum(text is not None and clean(text) is None for row in rows for text in row)
    assert counts.get("empty cells", 0) == empty


@quick
@given(tables())
def test_building_again_changes_nothing(rows):
    corpus = build(rows)
    again = ParallelCorpus.of(corpus.texts)
    assert again == corpus
    assert again.digest == corpus.digest
    assert again.skipped == ()


@quick
@given(tables(), st.integers(0, 12), st.integers(0, 2**32))
def test_samples_are_seeded_ordered_and_without_replacement(rows, count, seed):
    corpus = build(rows)
    drawn = rows_of(corpus.sample(count, seed=seed))
    everything = rows_of(corpus)
    assert drawn == rows_of(corpus.sample(count, seed=seed))
    shared = {pair: len(corpus.pair(*pair).rows) for pair in corpus.pairs()}
    for pair, there in shared.items():
        assert len(corpus.sample(count, seed=seed).pair(*pair).rows) >= min(count, there)
    if all(there == len(corpus) for there in shared.values()):
        assert len(drawn) == min(count, len(corpus))
    places = [everything.index(row) for row in drawn]
    assert places == sorted(set(places))


@pytest.mark.reliability("languages ranked over unequal candidates")
@quick
@given(st.lists(st.integers(1, 60), min_size=2, max_size=5), st.integers(1, 70), st.integers(0, 2**32))
def test_every_bitext_gives_as_many_rows_as_are_asked_for_whatever_its_size(sizes, count, seed):
    codes = ("ru", "hi", "tr", "sw", "vi")[: len(sizes)]
    rows = [(code, number) for code, size in zip(codes, sizes, strict=True) for number in range(size)]
    texts = {code: [f"{code} {number}" if own == code else None for own, number in rows] for code in codes}
    corpus = ParallelCorpus.of({"en": [f"{own} in English {number}" for own, number in rows], **texts})
    drawn = corpus.sample(count, seed=seed)
    assert [len(drawn.pair("en", code).rows) for code in codes] == [min(size, count) for size in sizes]


def test_another_seed_draws_another_sample_and_no_row_is_favoured():
    corpus = ParallelCorpus.of({"en": [f"a{n}" for n in range(50)], "ru": [f"b{n}" for n in range(50)]})
    drawn = [corpus.sample(25, seed=seed).column("en") for seed in range(400)]
    assert len(set(drawn)) == 400
    times = np.array([sum(f"a{n}" in sample for sample in drawn) for n in range(50)])
    # Each row is drawn with probability 1/2: 400 draws have a standard deviation of 10.
    assert np.abs(times - 200).max() < 50


@quick
@given(tables())
def test_pairs_hold_exactly_the_rows_both_languages_have(rows):
    corpus = build(rows)
    for source, target in (("en", "ru"), ("es", "en")):
        pair = corpus.pair(source, target)
        wanted = [(a, b) for a, b in zip(corpus.texts[source], corpus.texts[target], strict=True) if a and b]
        assert list(zip(pair.source_texts, pair.target_texts, strict=True)) == wanted
        assert [corpus.texts[source][row] for row in pair.rows] == list(pair.source_texts)
        mirrored = corpus.pair(target, source)
        assert (mirrored.source_texts, mirrored.rows.tolist()) == (pair.target_texts, pair.rows.tolist())


@quick
@given(tables())
def test_columns_stand_at_their_rows(rows):
    corpus = build(rows)
    for code in corpus.languages:
        assert [corpus.texts[code][row] for row in corpus.rows_of(code)] == list(corpus.column(code))


@quick
@given(tables())
def test_selection_keeps_every_shared_pair(rows):
    corpus = build(rows)
    chosen = corpus.select(["spa", "eng", "es"])
    assert chosen.languages == ("es", "en")
    before, after = corpus.pair("es", "en"), chosen.pair("es", "en")
    assert (after.source_texts, after.target_texts) == (before.source_texts, before.target_texts)
    assert len(chosen) == len(after.rows)


@quick
@given(tables(), st.data())
def test_the_digest_changes_when_any_text_does(rows, data):
    corpus = build(rows)
    code, row = data.draw(st.sampled_from(CODES)), data.draw(st.integers(0, len(corpus) - 1))
    column = list(corpus.texts[code])
    column[row] = f"{column[row] or ''}z"
    assert ParallelCorpus({**corpus.texts, code: tuple(column)}).digest != corpus.digest


def test_the_digest_tells_order_languages_gaps_and_boundaries_apart():
    variants = [
        {"en": ("a", "b"), "ru": ("c", "d")},
        {"en": ("b", "a"), "ru": ("d", "c")},
        {"ru": ("c", "d"), "en": ("a", "b")},
        {"en": ("a", "b"), "es": ("c", "d")},
        {"en": ("ab", None), "ru": ("c", "d")},
        {"en": ("a", None), "ru": ("c", "d")},
    ]
    assert len({ParallelCorpus(texts).digest for texts in variants}) == len(variants)


def test_composed_and_decomposed_spellings_are_one_corpus():
    composed, decomposed = "été", unicodedata.normalize("NFD", "été")
    assert (
        ParallelCorpus.of({"fr": [composed], "en": ["x"]}).digest
        == ParallelCorpus.of({"fra": [decomposed], "eng": [" x "]}).digest
    )


def test_pairs_without_a_shared_row_are_not_listed():
    corpus = ParallelCorpus.of({"en": ["a", "b"], "ru": ["c", None], "es": [None, "d"]})
    assert corpus.pairs() == [("en", "ru"), ("en", "es")]
    assert len(corpus.pair("ru", "es").rows) == 0


def test_places_name_what_was_skipped_and_only_the_first_three():
    texts = {"en": ["a"] * 6, "ru": ["b"] * 6}
    corpus = ParallelCorpus.of(texts, places=[f"f:{n}" for n in range(6)], skipped=[Skip("blank lines", 1)])
    assert [str(skip) for skip in corpus.skipped] == ["1 blank line", "5 duplicate rows (f:1, f:2, f:3, …)"]


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ({}, "the corpus has no language"),
        ({"en": [], "ru": []}, "the corpus is empty"),
        ({"en": ["", "a"], "ru": ["b", ""]}, "the corpus is empty"),
        ({"en": ["a"], "ru": ["b", "c"]}, "unequal numbers of rows: 'en 1, ru 2'"),
        ({"en": ["a"], "eng": ["b"]}, "'en' and 'eng' are the same language"),
        ({"en": ["a"], "qq-x": ["b"]}, "language"),
    ],
)
def test_what_is_no_corpus_is_refused(texts, problem):
    with pytest.raises(InputError, match=problem):
        ParallelCorpus.of(texts)


def test_languages_that_are_absent_are_refused_with_those_there_are():
    corpus = ParallelCorpus.of({"en": ["a"], "ru": ["b"]})
    for ask in (lambda: corpus.select(["en", "vi"]), lambda: corpus.pair("en", "vi"), lambda: corpus.column("vi")):
        with pytest.raises(InputError, match="It has: en, ru"):
            ask()


def test_selecting_languages_that_share_no_row_is_refused():
    corpus = ParallelCorpus.of({"en": ["a", "b"], "ru": ["c", None], "es": [None, "d"]})
    with pytest.raises(InputError, match="no row of corpus is in two of: 'ru, es'"):
        corpus.select(["ru", "es"])
