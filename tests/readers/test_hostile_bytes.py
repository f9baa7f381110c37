"""Whatever the bytes, a user meets a corpus or an `InputError`, never a traceback."""

import contextlib
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.readers.word_lists import read_dictionary

SEEDS = [
    b'en\tru\tid\na\tb\t1\n"c\td\n',
    b'en,"ru"\n"a,b","c""d"\n',
    b'{"en": "a", "ru": "b"}\n{"translation": {"en": "a", "es": null}}\n',
    b"<?xml version='1.0' encoding='utf-8'?><tmx><header srclang='en'/><body><tu><tuv xml:lang='en'><seg>a</seg></tuv>"
    b"<tuv xml:lang='ru'><seg>b &amp; c</seg></tuv></tu></body></tmx>",
    gzip.compress(b"en\tru\na\tb\n", mtime=0),
    "\ufeffen\tru\na\tb\n".encode("utf-16"),
]
quick = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def damaged(draw):
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data)))
        data[place : place + draw(st.integers(0, 5))] = draw(st.binary(max_size=5))
    return bytes(data)


@quick
@given(
    st.one_of(damaged(), st.binary(max_size=60)),
    st.sampled_from([None, ("en", "ru"), ("ru",)]),
    st.sampled_from([None, "tsv", "csv", "bitext", "jsonl", "tmx"]),
)
def test_any_bytes_are_a_corpus_or_an_input_error(data, languages, format):
    with contextlib.suppress(InputError):
        corpus = read_corpus("-", stdin=io.BytesIO(data), languages=languages, format=format)
        assert isinstance(corpus, ParallelCorpus)
        assert len(corpus.digest) == 32


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.binary(min_size=1, max_size=40))
def test_any_bytes_are_a_dictionary_or_an_input_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "en-ru.txt"
    path.write_bytes(data)
    with contextlib.suppress(InputError):
        assert all(source and target for source, target in read_dictionary(path))


@pytest.mark.parametrize("format", ["files", "moses", "bitexts", "xquad", "xquad-contexts"])
@pytest.mark.parametrize(
    "names", [("t.en", "t.ru"), ("t.en-ru.en", "t.en-ru.ru"), ("t.en-ru.tsv", "t.en-es.tsv"), ("a.bin", "b.bin")]
)
def test_any_format_on_any_set_of_files_is_a_corpus_or_an_input_error(tmp_path, format, names):
    for name in names:
        (tmp_path / name).write_text("a\tb\n")
    for path in (tmp_path, tmp_path / names[0], f"{tmp_path / names[0]},{tmp_path / names[1]}"):
        with contextlib.suppress(InputError):
            assert len(read_corpus(path, format=format)) > 0
