"""The embedded corpus, and names of places in every language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.file_names import find_file_sets
from interlingua.readers.parallel_files import files

_FOLDER = Path(__file__).parent.parent / "assets" / "sampler"
_ORDER = ("en", "es", "ru", "vi", "hi", "de", "fr", "tr", "be", "uk", "bg", "pl", "cs", "sl", "ca", "zh", "ar")


@readers.register("sampler", needs="name")
def sampler(name: str, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """The embedded corpus of this package, by the name `sampler`."""
    listed = [path.name for path in _FOLDER.glob("sampler.*")] if _FOLDER.is_dir() else []
    found = next((each for each in find_file_sets(_FOLDER, listed) if each.label == "sampler.*"), None)
    if found is None:
        raise InputError("the embedded corpus is missing", file=_FOLDER, remedy="Install interlingua again.")
    ordered = sorted(found.languages, key=lambda code: (_ORDER.index(code) if code in _ORDER else len(_ORDER), code))
    corpus: ParallelCorpus = files(found, languages=languages or ordered, encoding=None)
    return ParallelCorpus(corpus.texts, name, corpus.skipped)


def place_names(languages: Sequence[str]) -> ParallelCorpus | None:
    """CLDR's names of the world's territories, a row a territory; languages that CLDR does not name are left out.

    None where it names fewer than two of them.

    >>> corpus = place_names(["en", "be"])
    >>> dict(zip(corpus.column("en"), corpus.column("be")))["Poland"]
    'Польшча'
    """
    from babel import Locale, UnknownLocaleError

    columns: dict[str, list[str | None]] = {}
    codes = sorted(code for code in Locale("en").territories if len(code) == 2 and code.isalpha())
    for language in languages:
        try:
            territories = Locale.parse(language, sep="-").territories
        except (UnknownLocaleError, ValueError):
            continue
        columns[language] = [territories.get(code) for code in codes]
    return ParallelCorpus.of(columns, name="CLDR territories") if len(columns) > 1 else None
