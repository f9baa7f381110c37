"""Real corpora in ../shared/data: counts that their own documentation states, lines that the files hold."""

import json
import lzma
from pathlib import Path

import pytest

from interlingua.readers import read_corpus
from interlingua.readers.word_lists import find_dictionaries, read_dictionary

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data here")]


def test_tatoeba_pairs_equal_the_lines_of_their_files():
    corpus = read_corpus(DATA / "tatoeba", languages=["en", "ru", "es", "hi", "vi"])
    assert corpus.languages == ("en", "ru", "es", "hi", "vi")
    for code, short in (("rus", "ru"), ("spa", "es"), ("hin", "hi"), ("vie", "vi")):
        lines = (DATA / f"tatoeba/tatoeba.{code}-eng.{code}").read_text(encoding="utf-8").split("\n")
        pair = corpus.pair("en", short)
        assert len(pair.rows) == 1000
        assert pair.target_texts[::333] == tuple(line.strip() for line in lines[:1000:333])
    assert len(corpus.pair("ru", "es").rows) == 0


def test_xquad_has_its_questions_in_twelve_languages():
    corpus = read_corpus(DATA / "xquad")
    raw = json.loads((DATA / "xquad/xquad.vi.json").read_text(encoding="utf-8"))
    asked = [item["question"] for article in raw["data"] for part in article["paragraphs"] for item in part["qas"]]
    assert len(corpus.languages) == 12
    assert len(corpus) + sum(skip.count for skip in corpus.skipped) == len(asked) == 1190
    assert corpus.column("vi")[0] == asked[0].strip()
    assert len(read_corpus(DATA / "xquad", format="xquad-contexts", languages=["en", "de"])) == 240


def test_a_compressed_bitext_keeps_every_row():
    path = DATA / "parallel/software.en-ru.tsv.xz"
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        rows = stream.read().split("\n")
    corpus = read_corpus(path)
    assert len(corpus) + sum(skip.count for skip in corpus.skipped) == sum(bool(row) for row in rows)
    assert corpus.pair("en", "ru").source_texts[0] == rows[0].split("\t")[0]


def test_every_muse_dictionary_is_read_whole():
    found = find_dictionaries(DATA / "muse")
    path = found["en", "ru"]["train"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert read_dictionary(path) == list(dict.fromkeys(tuple(line.split()) for line in lines))
    assert all(set(splits) == {"train", "test"} for splits in found.values())


def test_entity_tables_ignore_their_key_column():
    corpus = read_corpus(DATA / "entities/cldr_territories.tsv")
    assert len(corpus.languages) == 24
    assert [skip.where for skip in corpus.skipped if skip.reason == "columns that are no language"] == [
        ("cldr_territories.tsv:1 code",)
    ]
