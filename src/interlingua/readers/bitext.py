"""Headerless two-column TSV: a bitext whose languages are in its name (`x.en-ru.tsv`) or are asked for.

A row with one cell has a missing one; a row with three is an error. A folder of such files is
merged into one corpus with gaps, as pairs of Moses files are.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers, sniffers
from interlingua.readers.documents import Document, opened
from interlingua.readers.gathering import Gathering
from interlingua.readers.moses import bitexts_of
from interlingua.readers.naming import FileSet, parse
from interlingua.readers.table import header_languages


@sniffers.register("bitext")
def is_bitext(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the first line has two cells, no header, and the name or the user gives two languages."""
    two = document.first_line.count("\t") == 1 and pair_of(document, languages) is not None
    return two and not header_languages(document, languages)


@readers.register("bitext", needs="file")
def bitext(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """Two-column TSV without a header, its languages in the name (x.en-ru.tsv) or asked for."""
    pair = pair_of(document, languages)
    if pair is None:
        raise InputError(
            "its name tells no pair of languages",
            file=document.name,
            remedy="Name it x.en-ru.tsv, or give both languages.",
        )
    gathering = Gathering(document.short, file=document.name)
    _gather(document, pair, gathering)
    return gathering.corpus(languages or pair)


@readers.register("bitexts", needs="folder")
def bitexts(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """A folder of two-column TSV bitexts (x.en-ru.tsv, x.en-es.tsv), merged into one corpus."""
    gathering = Gathering(found.label, file=found.file, gap=None)
    for pair, paths in bitexts_of(found, languages, kind="bitexts").items():
        for path in paths:
            with opened(path, encoding=encoding) as document:
                _gather(document, pair, gathering)
    return gathering.corpus(languages or found.languages)


def pair_of(document: Document, languages: Sequence[str] | None) -> tuple[str, ...] | None:
    """The two languages of a bitext: its name's, else the two asked for."""
    name = parse(document.path.name if document.path else "")
    if name.one_language:
        return None
    return name.pair or (tuple(languages) if languages is not None and len(languages) == 2 else None)


def _gather(document: Document, pair: Sequence[str], gathering: Gathering) -> None:
    for line, text in document.lines():
        if not text.strip():
            gathering.skip("blank lines", f"{document.short}:{line}")
            continue
        cells = text.split("\t")
        if len(cells) > 2:
            raise InputError(
                f"{len(cells)} cells in a bitext of two columns",
                file=document.name,
                line=line,
                remedy="Remove the extra tabs, or give a header of languages.",
            )
        cells += [""] * (2 - len(cells))
        gathering.add(dict(zip(pair, cells, strict=True)), file=document.short, line=line)
