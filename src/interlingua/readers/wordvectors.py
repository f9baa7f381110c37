"""Word vectors as text (word2vec, fastText, MUSE): a word and its numbers a line; a first line of sizes or none."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.readers.documents import opened


@dataclass(frozen=True)
class WordVectors:
    """Rows of a (word, dim) float32 table by word; `name` is the file's."""

    rows: dict[str, int]
    table: NDArray[np.float32]
    name: str

    def find(self, word: str) -> int | None:
        """The row of a word as it is written or, failing that, in lower case; None where there is none."""
        row = self.rows.get(word)
        return self.rows.get(word.lower()) if row is None else row


def read_vectors(path: str | Path, *, words: Set[str] | None = None) -> WordVectors:
    """The vectors of a file; with `words` only of those, as written and in lower case: published files are large.

    Of a word that is there twice the first counts, as in gensim. Anything that is no word and as many numbers as the
    lines before is an error with its line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "wiki.en.vec").write_text("2 3\\ntea 1 0 0\\ncup 0 1 0\\n", encoding="utf-8")
    ...     found = read_vectors(Path(folder, "wiki.en.vec"), words={"Tea"})
    >>> found.find("Tea"), found.table
    (0, array([[1., 0., 0.]], dtype=float32))
    """
    path = Path(path)
    wanted = None if words is None else {*words, *(word.lower() for word in words)}
    rows: dict[str, int] = {}
    vectors: list[NDArray[np.float32]] = []
    width, stated, count = 0, None, 0
    with opened(path) as document:
        for line, text in document.lines():
            cells = text.rstrip().split(" ")
            if line == 1 and len(cells) == 2 and all(re.fullmatch("[0-9]{1,18}", cell) for cell in cells):
                stated, width = int(cells[0]), int(cells[1])
                continue
            if not text.strip():
                continue
            if not width:
                width = len(cells) - 1
            # A word may have a space of its own (in MUSE's files a no-break one, in others a plain one).
            word, numbers = " ".join(cells[: len(cells) - width]), cells[len(cells) - width :]
            if width < 1 or not word or len(cells) <= width:
                raise _bad(path, line, text, f"not a word and {max(width, 1)} numbers")
            count += 1
            if word in rows or (wanted is not None and word not in wanted):
                continue
            try:
                vector = np.array(numbers, np.float32)
            except ValueError:
                raise _bad(path, line, text, "not a number among a word's") from None
            if not np.isfinite(vector).all():
                raise _bad(path, line, text, "an infinite or undefined number")
            rows[word] = len(vectors)
            vectors.append(vector)
    if stated is not None and count != stated:
        raise InputError(
            f"the first line states {stated:,} words, and the file has {count:,}",
            file=path,
            line=1,
            remedy="Fetch the whole file again, or correct its first line.",
        )
    if not vectors:
        problem = "no vector in the file" if wanted is None else "none of the words is in the file"
        raise InputError(problem, file=path, remedy="Give vectors of this language, one word a line.")
    return WordVectors(rows, np.stack(vectors), path.name)


def _bad(path: Path, line: int, text: str, problem: str) -> InputError:
    return InputError(
        problem, file=path, line=line, value=text[:40], remedy="Give word2vec's or fastText's text format."
    )
