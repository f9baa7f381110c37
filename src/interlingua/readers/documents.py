"""Files as text: decompressed by their first bytes, decoded, cut into numbered lines.

A suffix that lies is no problem. Nothing is read twice: the head that shows the format is
put back before the rest is read, so that standard input is treated like any file.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from interlingua.errors import InputError, MissingExtra
from interlingua.paths import check_name, regular

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

UNDECODABLE = "\udfff"
"""What stands for bytes that are no text where lines are read by `marked`: no text decodes to it."""
LONGEST_LINE, LONGEST_TEXT = 1 << 24, 1 << 28
"""Characters of a line, and of a text that is one value: JSON files of one line are large, sentences are not."""
SWELLING, HARMLESS = 200, 1 << 25
"""How many times its size a file may become when it is decompressed (text: 3 to 20), and a size that is never much."""
_HEAD = 1 << 16
_CHUNK = 1 << 20
_MARKING = "interlingua-undecodable"
codecs.register_error(_MARKING, lambda error: (UNDECODABLE, cast(UnicodeDecodeError, error).end))

_NO_CHARACTER_SETS = frozenset(("utf_7", "punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined"))
"""Python's names of escapes for names and source code, and of UTF-7: they may yield halves of surrogate pairs."""

# UTF-32 before UTF-16: the little-endian mark of the one begins with that of the other.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Document:
    """One open text: its name for errors, its path (None for standard input), its head, and its lines."""

    def __init__(self, raw: BinaryIO, *, name: str, path: Path | None = None, encoding: str | None = None) -> None:
        self.name, self.path = name, path
        self._stream = _decompressed(raw, name)
        self._first = self._stream.read(_HEAD)
        if not self._first:
            raise InputError("the file is empty", file=name, remedy="Give a file with text in it.")
        marked = [codec for mark, codec in _MARKS if self._first.startswith(mark)]
        self.recode(marked[0] if marked else encoding or "utf-8")
        self.told = bool(marked) or encoding is not None
        if "\0" in self.head:
            raise InputError(
                "the file is binary, not text",
                file=name,
                remedy="Give a text file; for UTF-16 without a byte order mark, give --encoding utf-16-le.",
            )

    @property
    def short(self) -> str:
        """The name without its folder, for the places of what was skipped."""
        return self.name if self.path is None else self.path.name

    @property
    def head(self) -> str:
        """The first 64 KiB as text, without bytes that can't be decoded: enough to detect a format."""
        return codecs.getincrementaldecoder(self.encoding)("ignore").decode(self._first).lstrip("\ufeff")

    @property
    def first_line(self) -> str:
        """The first line that has text, or nothing where the head has none."""
        lines = _unified(self.head).split("\n")
        return next((line for line in lines if line.strip()), "")

    def lines(self, *, marked: bool = False, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
        """Each line with its number, from 1; can be walked once. One of more than `longest` characters is an error.

        A byte that can't be decoded is an error, or with `marked` the sign `UNDECODABLE` in its line, so that the
        caller can leave out that line alone.
        """
        decoder = codecs.getincrementaldecoder(self.encoding)(_MARKING if marked else "strict")
        number, held, data = 0, "", self._first
        pending: list[str] = []  # The begin of a line, in pieces: joined once, or a long line would take forever.
        length, first = 0, True
        while True:
            try:
                text = held + decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise self._undecodable(error, number) from None
            if "\0" in text:
                raise InputError(
                    "a zero byte in a text",
                    file=self.name,
                    line=number + _unified(text[: text.index("\0")]).count("\n") + 1,
                    remedy="Give a text file, or one without damage.",
                )
            text, first = text.removeprefix("\ufeff") if first else text, False
            # A carriage return at the end of a chunk may be the first half of CRLF.
            held = "\r" if data and text.endswith("\r") else ""
            begun, *pieces = _unified(text[: len(text) - len(held)]).split("\n")
            pending.append(begun)
            length += len(begun)
            if length > longest:
                raise InputError(
                    f"a line of more than {longest:,} characters",
                    file=self.name,
                    line=number + 1,
                    remedy="Break it: no sentence is so long.",
                )
            for piece in pieces:
                number += 1
                yield number, "".join(pending)
                pending, length = [piece], len(piece)
            if not data:
                break
            data = self._stream.read(_CHUNK)
        if rest := "".join(pending):
            yield number + 1, rest

    def text(self) -> str:
        """All of it, with line feeds between lines: what is written down as one value, such as JSON."""
        return "\n".join(line for _, line in self.lines(longest=LONGEST_TEXT))

    def recode(self, encoding: str) -> None:
        """Take an encoding, such as one the text itself declares; only before the first line is read."""
        self.encoding = _known(encoding, self.name)
        try:
            _ = self.head
        except UnicodeError as error:  # UTF-16 and UTF-32 without a mark that says which half of them it is.
            raise InputError(
                f"not {encoding} ({error})",
                file=self.name,
                remedy="Give the file's encoding (--encoding utf-8, or utf-16-le).",
            ) from error

    def check_head(self) -> None:
        """Raise where the head can't be decoded: a wrong encoding explains an unknown format."""
        try:
            codecs.getincrementaldecoder(self.encoding)("strict").decode(self._first)
        except UnicodeDecodeError as error:
            raise self._undecodable(error, 0) from None

    def _undecodable(self, error: UnicodeDecodeError, number: int) -> InputError:
        before = error.object[: error.start].decode(self.encoding, "ignore")
        return InputError(
            f"a byte that is not {self.encoding}",
            file=self.name,
            line=number + _unified(before).count("\n") + 1,
            value=f"0x{error.object[error.start]:02x}",
            remedy="Give the file's encoding (--encoding cp1251), or convert it to UTF-8.",
        )


@contextmanager
def open_document(path: Path, *, encoding: str | None = None) -> Iterator[Document]:
    """The document at a path, closed afterwards."""
    check_name(path.name)
    if path.is_dir():
        raise InputError("a folder where a file was expected", file=path, remedy="Give a file in it.")
    try:
        raw = regular(path).open("rb")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot be opened ({reason})", file=path, remedy="Check the path and its permissions."
        ) from error
    with raw:
        yield Document(raw, name=str(path), path=path, encoding=encoding)


class _Source(io.RawIOBase):
    """Bytes from a function, the first ones put back; what fails names the file."""

    def __init__(self, first: bytes, read: Callable[[int], bytes], name: str) -> None:
        super().__init__()
        self._first, self._read, self._name = first, read, name
        self.count = len(first)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        if self._first:
            data, self._first = self._first[: len(view)], self._first[len(view) :]
        else:
            try:
                data = self._read(len(view))
            except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
                raise InputError(
                    f"cannot be read: damaged or cut short ({error})",
                    file=self._name,
                    remedy="Fetch the file again, or compress it again.",
                ) from error
        view[: len(data)] = data
        self.count += len(data)
        self.check()
        return len(data)

    def check(self) -> None:
        """Raise where there is too much already."""


class _Decompressed(_Source):
    """What a compressed source becomes; much more than its size is an error."""

    def __init__(self, packed: _Source, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(b"", read, name)
        self._packed = packed

    def check(self) -> None:
        if self.count > HARMLESS and self.count > SWELLING * self._packed.count:
            raise InputError(
                f"decompressed, it is more than {SWELLING} times as large",
                file=self._name,
                remedy="No text is so repetitive: check the file, or decompress it first.",
            )


class _Pieces:
    """A `read` over pieces of any size."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def read(self, size: int) -> bytes:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def _decompressed(raw: BinaryIO, name: str) -> BinaryIO:
    """The stream behind a compressed one, by magic bytes; any other stream as it is."""
    magic = b""
    while len(magic) < 10 and (more := raw.read(10 - len(magic))):
        magic += more
    source = _Source(magic, raw.read, name)
    whole = cast(BinaryIO, io.BufferedReader(source))
    if magic.startswith(b"PK\x03\x04"):
        raise InputError("a zip archive, not a text", file=name, remedy="Unpack it and give the file or folder.")
    if magic.startswith(b"\x1f\x8b"):
        inner: Callable[[int], bytes] = gzip.GzipFile(fileobj=whole).read
    elif (
        magic.startswith(b"BZh")
        and any(  # A text may begin with BZh, and a cut file end there.
            len(magic) > 4 and begin.startswith(magic[4:]) for begin in (b"1AY&SY", b"\x17rE8P\x90")
        )
    ):
        inner = _Pieces(_members(whole, bz2.BZ2Decompressor)).read
    elif magic.startswith(b"\xfd7zXZ\x00"):
        inner = _Pieces(_members(whole, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), padding=b"\0")).read
    elif magic.startswith(b"\x28\xb5\x2f\xfd"):
        inner = _Pieces(_zstandard(whole)).read
    else:
        return whole
    return cast(BinaryIO, io.BufferedReader(_Decompressed(source, inner, name)))


def _members(raw: BinaryIO, new: Callable[[], Any], *, padding: bytes = b"") -> Iterator[bytes]:
    """The members of a .bz2 or .xz file; Python's own readers take a damaged one after a whole one for its end."""
    member, data = new(), b""
    while data := data or raw.read(_CHUNK):
        if member.eof:
            data = data.lstrip(padding) if padding else data
            if not data:
                continue
            member = new()
        yield member.decompress(data, _CHUNK)
        while not member.eof and not member.needs_input:  # A few bytes may become a gigabyte.
            yield member.decompress(b"", _CHUNK)
        data = member.unused_data if member.eof else b""
    if not member.eof:
        raise EOFError("the last member has no end")


def _zstandard(raw: BinaryIO) -> Iterator[bytes]:
    """The frames of a .zst file; zstandard's own reader ends a cut one without a word."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstd", "reading .zst files") from None
    frame = None
    while data := raw.read(_CHUNK):
        while data:
            frame = frame or zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
            try:
                yield frame.decompress(data)
            except zstandard.ZstdError as error:
                raise OSError(str(error)) from error
            data = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError("the last frame has no end")


def _known(encoding: str, file: str) -> str:
    try:
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)("ignore").decode(b"a")
        # By its own name: which of - and _ stands in it depends on the version of Python.
        if codecs.lookup(encoding).name.replace("-", "_") in _NO_CHARACTER_SETS:
            raise LookupError(encoding)
    except (LookupError, TypeError, ValueError):
        remedy = "Use a name Python knows, such as 'utf-8' or 'cp1251'; --encoding outranks what a file declares."
        raise InputError("unknown encoding", file=file, value=encoding, remedy=remedy) from None
    return encoding


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
