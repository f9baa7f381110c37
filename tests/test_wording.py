"""Plain English where people read: the phrases of our former private language must not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "interlingua"
PHRASES = re.compile(
    r"""\b(
      told | tells? | in\ words | by\ name | so\ many | gone\ on\ with | goes\ on\ from | hangs?\ on | mend(s|ed)?
    | (file|line|pieces|dot|row|curve)s?\ a\ (language|pair|word|line|seed|layer|model|test|file|step|side|kind)
    | what\ is\ there | bears?\ out | says?\ nothing\ of | of\ one's\ own | times\ fewer | how\ sure
    | the\ answer\ in | nothing\ is\ said | is\ said\ of | lay\ before\ us
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Phrases of our word list and of the same kind."""
PACKAGES = sorted(path.name for path in SOURCE.iterdir() if path.name not in ("assets", "__pycache__", "py.typed"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that people read: docstrings, and every text with a blank in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def hits(texts: Iterable[tuple[int, str]], where: str) -> list[str]:
    return [
        f"{where}:{line}: {found[0]!r}" for line, text in texts for found in PHRASES.finditer(" ".join(text.split()))
    ]


def test_a_phrase_would_be_found() -> None:
    assert hits([(3, "What was found, in\n  words.")], "x.py") == ["x.py:3: 'in words'"]


@pytest.mark.parametrize("package", PACKAGES)
def test_texts_of_the_source_have_none_of_the_phrases(package: str) -> None:
    place = SOURCE / package
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    found = [hit for path in files for hit in hits(strings(path), str(path.relative_to(SOURCE)))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_of_the_documentation_have_none_of_the_phrases(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    found = hits(enumerate(prose.splitlines(), 1), page.name)
    assert not found, "\n".join(found)
