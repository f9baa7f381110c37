"""Compression, encodings and line ends: the same text, however its bytes are dressed."""

import bz2
import codecs
import gzip
import io
import lzma
import sys

import pytest

from interlingua.errors import InputError, MissingExtra
from interlingua.readers import read_corpus
from interlingua.readers.documents import Document

TEXT = "en\tru\nTea.\tЧай.\nBread and salt.\tХлеб да соль.\n"
BOTH = {"en": ("Tea.", "Bread and salt."), "ru": ("Чай.", "Хлеб да соль.")}


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


SQUEEZE = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


class Drip(io.BytesIO):
    """A pipe that gives one byte at a time."""

    def read(self, size=-1):
        return super().read(min(size, 1) if size else size)


@pytest.mark.parametrize("kind", SQUEEZE)
def test_compression_is_known_by_its_bytes_and_not_by_the_suffix(tmp_path, kind):
    lying = tmp_path / ("talk.tsv.gz" if kind == "xz" else "talk.txt")
    lying.write_bytes(SQUEEZE[kind](TEXT.encode()))
    assert dict(read_corpus(lying).texts) == BOTH


@pytest.mark.parametrize("kind", SQUEEZE)
def test_concatenated_archives_are_one_text(kind):
    data = TEXT.encode()
    halves = SQUEEZE[kind](data[:11]) + SQUEEZE[kind](data[11:])
    assert dict(read_corpus("-", stdin=io.BytesIO(halves)).texts) == BOTH


@pytest.mark.parametrize("kind", SQUEEZE)
@pytest.mark.parametrize("long", [False, True])
def test_a_cut_archive_is_an_error_that_names_the_file(tmp_path, kind, long):
    rows = "".join(f"{n * n}\t{n * n * n}\n" for n in range(20_000 if long else 5))
    path = tmp_path / "talk.tsv"
    whole = SQUEEZE[kind](("en\tru\n" + rows).encode())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    with pytest.raises(InputError, match=r"talk\.tsv: cannot be read: damaged or cut short"):
        read_corpus(path)


@pytest.mark.parametrize("kind", SQUEEZE)
@pytest.mark.parametrize("tail", ["damaged", "garbage"])
def test_a_damaged_archive_after_a_whole_one_is_an_error(kind, tail):
    whole = SQUEEZE[kind]("".join(f"{n}\t{n * n}\n" for n in range(50)).encode())
    second = bytearray(whole if tail == "damaged" else b"something that is no archive at all")
    second[3] ^= 0xFF
    with pytest.raises(InputError, match="cannot be read: damaged or cut short"):
        read_corpus("-", languages=["en", "ru"], stdin=io.BytesIO(whole + bytes(second)))


def test_xz_may_end_in_padding():
    padded = SQUEEZE["xz"](TEXT.encode()) + bytes(8)
    assert dict(read_corpus("-", stdin=io.BytesIO(padded)).texts) == BOTH


def test_a_text_that_begins_like_bzip2_is_a_text():
    assert Document(io.BytesIO(b"BZhere"), name="t").first_line == "BZhere"


def test_missing_zstandard_names_the_extra(monkeypatch):
    data = zstd(TEXT.encode())
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"pip install 'interlingua\[zstd\]'"):
        read_corpus("-", stdin=io.BytesIO(data))


@pytest.mark.parametrize(
    ("mark", "codec"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_byte_order_marks_outrank_the_encoding_given(mark, codec):
    data = mark + TEXT.encode(codec)
    assert dict(read_corpus("-", stdin=io.BytesIO(data)).texts) == BOTH
    assert dict(read_corpus("-", stdin=io.BytesIO(data), encoding="cp1251").texts) == BOTH


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "utf-16-le", "gb18030", "shift_jis"])
def test_other_encodings_are_read_when_named(encoding):
    data = TEXT.encode(encoding)
    assert dict(read_corpus("-", stdin=io.BytesIO(data), encoding=encoding).texts) == BOTH


def test_a_pipe_that_drips_is_read_like_a_file():
    assert dict(read_corpus("-", stdin=Drip(gzip.compress(TEXT.encode()))).texts) == BOTH


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", [0, 3, 70_000, (1 << 16) + (1 << 20)])
def test_an_undecodable_byte_is_named_with_its_line(tmp_path, end, before):
    # The last two prefixes put the byte behind the head and behind a chunk, CRLF across the seam included.
    good = ("en\tru" + end + ("a\tb" + end) * (before // 5)).encode()
    path = tmp_path / "talk.tsv"
    path.write_bytes(good + b"x\t\xff\n")
    line = good.decode().replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    with pytest.raises(InputError, match=rf"talk\.tsv:{line}: a byte that is not utf-8: '0xff'.*--encoding") as caught:
        read_corpus(path)
    assert caught.value.line == line


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("shift", range(4))
def test_line_ends_are_one_across_every_seam_of_the_chunks(end, shift):
    wanted = ["x" * shift, *(["ab", ""] * 30_000), "last"]
    data = end.join(wanted).encode()
    found = list(Document(io.BytesIO(data), name="t").lines())
    assert [text for _, text in found] == wanted
    assert [line for line, _ in found] == list(range(1, len(wanted) + 1))


def test_only_lf_crlf_and_cr_end_a_line():
    odd = "a\u2028b\u2029c\x0cd\x0be\x85f\x1cg"
    assert [text for _, text in Document(io.BytesIO(f"{odd}\nz".encode()), name="t").lines()] == [odd, "z"]


@pytest.mark.parametrize(
    ("data", "encoding", "problem"),
    [
        (b"", None, "the file is empty"),
        (gzip.compress(b"", mtime=0), None, "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None, "binary, not text"),
        (TEXT.encode("utf-16-le"), None, "utf-16-le"),
        (b"PK\x03\x04 and so on", None, "zip archive"),
        (TEXT.encode("cp1251"), None, "stdin:2: a byte that is not utf-8: '0xd7'"),
        ("рус,анг\n".encode("cp1251"), None, "stdin:1: a byte that is not utf-8"),
        (TEXT.encode(), "utf-9", "unknown encoding: 'utf-9'"),
        (TEXT.encode(), "rot13", "unknown encoding: 'rot13'"),
    ],
)
def test_bytes_that_are_no_text_say_what_they_are(data, encoding, problem):
    with pytest.raises(InputError, match=problem):
        read_corpus("-", stdin=io.BytesIO(data), encoding=encoding)
