"""TMX, translation memories: each `tu` a row, each `tuv` a language.

The language is `xml:lang` (or `lang`, as in TMX 1.1). The text inside `seg` is kept, that of `hi` and other
marks too; what stands in the elements of native codes (`bpt`, `ept`, `ph`, `it`, `ut`) is left out.
The header's `srclang` comes first among the languages. A second variant in the same language
and a variant in an unknown one are skipped and counted.

A DOCTYPE is tolerated, since most TMX files have one, but never fetched; a declared entity, which
could grow without bound or read a file, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.parsers import expat

from interlingua import languages as codes
from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers, sniffers
from interlingua.readers.corpus_builder import CorpusBuilder
from interlingua.readers.documents import Document

_NATIVE_CODES = frozenset(("bpt", "ept", "bx", "ex", "ph", "it", "ut", "x"))
"""Inline elements whose content is a format's code, not text (TMX 1.4b, Content Markup; `bx`, `ex`, `x` of XLIFF)."""


@sniffers.register("tmx")
def is_tmx(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the document is XML with a `tmx` element."""
    return document.head.lstrip().startswith("<") and bool(re.search(r"<tmx[\s>]", document.head))


@readers.register("tmx", needs="file")
def tmx(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """TMX, a translation memory; each unit a row."""
    declared = re.match(r"""\s*<\?xml[^>]*encoding=["']([\w.-]+)["']""", document.head)
    if declared and not document.told:  # A byte order mark and the user's word outrank the declaration.
        document.recode(declared.group(1))
    memory = _Memory(document, languages)
    for _, text in document.lines():
        memory.feed(f"{text}\n")
    memory.feed("", last=True)
    return memory.corpus()


class _Memory:
    """The units of a TMX file, gathered as its elements begin and end."""

    def __init__(self, document: Document, asked: Sequence[str] | None) -> None:
        self.gathering = CorpusBuilder(document.short, file=document.name)
        self._document, self._asked = document, asked
        self._source: str | None = None
        self._row: dict[str, str] = {}
        self._line = 0
        self._language: str | None = None
        self._text: list[str] | None = None
        self._codes = self._segments = 0
        self._within: list[str] = []
        self._seen: dict[str, str | None] = {}
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        parser.SkippedEntityHandler = self._refuse

    def feed(self, text: str, *, last: bool = False) -> None:
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError as error:
            raise InputError(
                f"broken XML ({expat.ErrorString(error.code)})",
                file=self._document.name,
                line=error.lineno,
                remedy="Give a whole, well-formed TMX file.",
            ) from error

    def corpus(self) -> ParallelCorpus:
        columns = self.gathering.columns
        if self._source in columns:
            self.gathering.columns = {self._source: columns[self._source], **columns}
        return self.gathering.corpus(self._asked, seen=self._seen)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        tag = _local(tag)
        if self._codes or (self._text is not None and tag in _NATIVE_CODES):
            self._codes += 1
        elif tag == "header":
            given = attributes.get("srclang", "")
            self._source = codes.canonical(given) if codes.is_language(given) else None
        elif tag in ("tu", "tuv", "seg") and tag in self._within:
            raise self._misplaced(f"a {tag} within a {tag}")
        elif tag == "tu":
            self._row, self._line = {}, self._parser.CurrentLineNumber
        elif tag == "tuv":
            self._segments = 0
            self._language = self._variant(attributes.get("xml:lang") or attributes.get("lang"))
        elif tag == "seg":
            self._segments += 1
            if self._segments > 1:
                raise self._misplaced("a second seg in a tuv")
            self._text = None if self._language is None else []
        if tag in ("tu", "tuv", "seg") and not self._codes:
            self._within.append(tag)

    def _misplaced(self, problem: str) -> InputError:
        return InputError(
            problem,
            file=self._document.name,
            line=self._parser.CurrentLineNumber,
            remedy="Give each tu its variants (tuv), and each of them one seg.",
        )

    def _variant(self, given: str | None) -> str | None:
        """The language of a variant that is to be kept."""
        line = self._parser.CurrentLineNumber
        if not given:
            raise InputError(
                "a tuv without xml:lang", file=self._document.name, line=line, remedy="Give each variant its language."
            )
        if given not in self._seen:
            self._seen[given] = codes.canonical(given) if codes.is_language(given) else None
        code, where = self._seen[given], f"{self._document.short}:{line}"
        if code is None:
            self.gathering.skip("segments in an unknown language", f"{where} {given}")
        elif code in self._row:
            self.gathering.skip("second segments in a language", f"{where} {code}")
        elif self._asked is None or code in self._asked:
            return code
        return None

    def _characters(self, data: str) -> None:
        if self._text is not None and not self._codes:
            self._text.append(data)

    def _end(self, tag: str) -> None:
        if self._codes:
            self._codes -= 1
            return
        tag = _local(tag)
        if self._within and tag == self._within[-1]:
            self._within.pop()
        if tag == "seg" and self._text is not None and self._language is not None:
            self._row[self._language], self._text = "".join(self._text), None
        elif tag == "tuv":
            self._language = None
        elif tag == "tu":
            self.gathering.add(self._row, line=self._line)

    def _refuse(self, name: str | None, *_: object) -> int:
        raise InputError(
            "an entity that is declared or external is refused",
            file=self._document.name,
            line=self._parser.CurrentLineNumber,
            value=name,
            remedy="Write the text itself in place of the entity.",
        )


def _local(tag: str) -> str:
    """The name of an element without its prefix, in small letters, as other programs take it, too.

    >>> _local("tmx:ph"), _local("PH")
    ('ph', 'ph')
    """
    return tag.rpartition(":")[2].lower()
