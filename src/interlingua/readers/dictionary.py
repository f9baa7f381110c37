"""MUSE dictionaries: a word and its translation a line, by tab or white space.

Files are called `en-ru.0-5000.txt` (train), `en-ru.5000-6500.txt` (test) and `en-ru.txt` (all of it).
"""

from __future__ import annotations

import re
from pathlib import Path

from interlingua import languages as codes
from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.documents import opened

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
    from interlingua.readers.locating import missing

    path = Path(path)
    if not path.exists():
        raise missing(path)
    pairs: dict[tuple[str, str], None] = {}
    with opened(path, encoding=encoding) as document:
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
