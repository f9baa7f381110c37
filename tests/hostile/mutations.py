"""Seeded mutations of well-formed files: bytes, JSON leaves, TOML keys, codecs, header cells."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 0.9, -0.0, 2**31, 2**63, 2**64, -(2**63), 10**400,
    float("inf"), float("-inf"), float("nan"),
    "", " ", "\t", "\n", "\x00", "\ud800", "\u202e", "\ufeff", "²", "١", "\x1b[31m",
    "../../etc/passwd", "/dev/zero", "a" * 70_000,
    "=1+1", "%s", "{}", "[???]", "<b>", "abc", "1e999", "nan",
    [], {}, [[]], [None], {"": ""}, {"a": {"a": {"a": []}}}, ["en", "en"], [0.5],
)  # fmt: skip
CODECS = (
    "utf-7", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1251", "cp1252", "latin-1", "koi8-r",
    "shift_jis", "gb18030", "big5", "iso2022_jp", "cp037", "punycode", "unicode_escape", "raw_unicode_escape", "idna",
)  # fmt: skip


def damaged_bytes(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """`count` copies of `data` with 1 to 6 spans replaced, doubled, cut out or cut off."""
    draw = random.Random(seed)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(draw.randint(1, 6)):
            place = draw.randrange(len(changed) + 1)
            length = draw.choice((0, 1, 1, 2, 4, 16, 64))
            kind = draw.randrange(5)
            if kind == 0:
                changed[place : place + length] = draw.randbytes(draw.choice((1, 1, 2, 8)))
            elif kind == 1:
                changed[place:place] = changed[place : place + length] * draw.choice((1, 2, 50))
            elif kind == 2:
                del changed[place : place + length]
            elif kind == 3:
                changed[place:place] = draw.choice(
                    (b"\x00", b"\xff", b"\t", b"\n", b'"', b"\\", b"{", b"[", b"\r", b"\xed\xa0\x80")
                )
            elif draw.random() < 0.2:
                del changed[place:]
        yield bytes(changed)


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every node of a JSON or TOML document, the root's () first."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places(value, (*path, index))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the document with another value at a path."""
    if not path:
        return value
    changed = copy.deepcopy(document)
    node = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return changed


def removed(document: Any, path: tuple[Any, ...]) -> Any:
    """A copy of the document without what stands at a path."""
    changed = copy.deepcopy(document)
    node = changed
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return changed


def damaged_documents(document: Any) -> Iterator[tuple[str, Any]]:
    """Every node × every nasty value, and every node left out, each with a label."""
    for path in places(document):
        where = "/".join(map(str, path)) or "(whole)"
        for value in NASTY:
            yield f"{where} = {str(value)[:30]!r}", replaced(document, path, value)
        if path:
            yield f"{where} left out", removed(document, path)


def json_bytes(document: Any) -> bytes:
    """JSON as a hostile writer has it: lone surrogates escaped, NaN and Infinity bare."""
    return json.dumps(document).encode("ascii")
