"""Lists of words: bilingual dictionaries (MUSE) and word vectors (fastText)."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from interlingua import languages as codes
from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.documents import open_document

_SPLITS = {"0-5000": "train", "5000-6500": "test", None: "full"}
_NAME = re.compile(r"([A-Za-z_]+)-([A-Za-z_]+)(?:\.(0-5000|5000-6500))?\.txt(?:\.(?:gz|bz2|xz|zst))?")


@readers.register("muse", needs="words")
def read_dictionary(path: str | Path, *, encoding: str | None = None) -> list[tuple[str, str]]:
    """A MUSE dictionary: pairs of a word and its translation, in file order.

    With a tab, each side may hold several words; without, a line is two words. Repeated pairs are
    kept once, blank lines are passed over, and any other line is an error with its number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "en-ru.txt").write_text("tea чай\\nnew york\\tнью-йорк\\n", encoding="utf-8")
    ...     read_dictionary(Path(folder, "en-ru.txt"))
    [('tea', 'чай'), ('new york', 'нью-йорк')]
    """
    from interlingua.readers.format_detection import missing_file

    path = Path(path)
    if not path.exists():
        raise missing_file(path)
    pairs: dict[tuple[str, str], None] = {}
    with open_document(path, encoding=encoding) as document:
        for line, text in document.lines():
            if not text.strip():
                continue
            words = [clean(word) for word in (text.strip().split("\t") if "\t" in text.strip() else text.split())]
            if len(words) != 2 or words[0] is None or words[1] is None:
                raise InputError(
                    "not a word and its translation",
                    file=path,
                    line=line,
                    value=text,
                    remedy="Give two words a line; put a tab between them where one has a space.",
                )
            pairs[words[0], words[1]] = None
    if not pairs:
        raise InputError("the dictionary is empty", file=path, remedy="Give a word and its translation a line.")
    return list(pairs)


def find_dictionaries(folder: str | Path) -> dict[tuple[str, str], dict[str, Path]]:
    """The dictionaries of a folder: by language pair, then `train`, `test` or `full`."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder", value=str(folder), remedy="Give a folder of files such as en-ru.0-5000.txt.")
    found: dict[tuple[str, str], dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match and codes.is_language(match[1]) and codes.is_language(match[2]):
            pair = codes.canonical(match[1]), codes.canonical(match[2])
            found.setdefault(pair, {})[_SPLITS[match[3]]] = path
    if not found:
        raise InputError(
            "no dictionary in the folder", file=folder, remedy="Give files such as en-ru.txt or en-ru.0-5000.txt."
        )
    return found


@dataclass(frozen=True)
class WordVectors:
    """Rows of a (word, dim) float32 table by word; `name` is the file's."""

    rows: dict[str, int] = field(repr=False)
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
    with open_document(path) as document:
        for line, text in document.lines():
            cells = text.rstrip().split(" ")
            if line == 1 and len(cells) == 2 and all(re.fullmatch("[0-9]{1,18}", cell) for cell in cells):
                stated, width = int(cells[0]), int(cells[1])
                continue
            if line == 1 and len(cells) == 2 and all(map(_is_number, cells)):
                raise _bad(path, line, text, "the first line states no number of words and of dimensions")
            if not text.strip():
                continue
            if not width:
                width = len(cells) - 1
            # A word may have a space of its own (in MUSE's files a no-break one, in others a plain one).
            word, numbers = " ".join(cells[: len(cells) - width]), cells[len(cells) - width :]
            # A number more than in the lines before is no second part of the word.
            long = len(cells) > width + 1 and _is_number(cells[-width - 1])
            if width < 1 or not word.strip(" ") or len(cells) <= width or long:
                raise _bad(path, line, text, f"not a word and {max(width, 1)} numbers")
            count += 1
            if word in rows or (wanted is not None and word not in wanted):
                continue
            try:
                vector = np.array(numbers, np.float32)
            except ValueError:
                vector = None
            if vector is None or not _PLAIN_NUMBERS.fullmatch(" ".join(numbers)):
                raise _bad(path, line, text, "not a number among a word's")
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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


_PLAIN_NUMBERS = re.compile("[-+.0-9A-Za-z ]*")
"""Python, and numpy with it, also takes 1_0 and the digits of other scripts for numbers."""


def _bad(path: Path, line: int, text: str, problem: str) -> InputError:
    return InputError(
        problem, file=path, line=line, value=text[:40], remedy="Give word2vec's or fastText's text format."
    )
