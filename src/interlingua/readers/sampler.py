"""The embedded corpus: strictly parallel sentences, ours, English first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.files import files
from interlingua.readers.naming import sets_in

_FOLDER = Path(__file__).parent.parent / "assets" / "sampler"
_ORDER = ("en", "es", "ru", "vi", "hi", "de", "fr", "tr", "be", "uk", "bg", "pl", "cs", "sl", "ca", "zh", "ar")


@readers.register("sampler", needs="name")
def sampler(name: str, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """The embedded corpus of this package, by the name `sampler`."""
    listed = [path.name for path in _FOLDER.glob("sampler.*")] if _FOLDER.is_dir() else []
    found = next((each for each in sets_in(_FOLDER, listed) if each.label == "sampler.*"), None)
    if found is None:
        raise InputError("the embedded corpus is missing", file=_FOLDER, remedy="Install interlingua again.")
    ordered = sorted(found.languages, key=lambda code: (_ORDER.index(code) if code in _ORDER else len(_ORDER), code))
    corpus: ParallelCorpus = files(found, languages=languages or ordered, encoding=None)
    return ParallelCorpus(corpus.texts, name, corpus.skipped)
