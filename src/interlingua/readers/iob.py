"""Tagged words: IOB2 files as CoNLL and PAN-X (WikiAnn) have them, a word a line and a blank line between sentences.

The word is the first column and the tag the last; columns are separated by tabs, or by white space where the file has
no tab. PAN-X's own files say `en:word`: the language goes where every word of the file has it. An I- tag that follows
no tag of its type is accepted, as seqeval accepts it, and counted.
"""

from __future__ import annotations

import re
from pathlib import Path

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.readers.documents import Document, opened
from interlingua.readers.examples import Examples, Skips, TaggedWords, gathered

_TAG = re.compile(r"O|[BI]-\S+")
_PREFIX = re.compile(r"([A-Za-z]{2,3}(?:-[A-Za-z-]+)?):")
_Sentence = list[tuple[int, str, str]]


def read_tagged(path: str | Path, *, language: str) -> Examples[TaggedWords]:
    """The tagged sentences of an IOB2 file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "dev.tsv").write_text("en:Ada\\tB-PER\\nen:wrote\\tO\\n\\n", encoding="utf-8")
    ...     read_tagged(Path(folder, "dev.tsv"), language="en")[0].words
    ('Ada', 'wrote')
    """
    code = codes.canonical(language)
    with opened(Path(path)) as document:
        skips = Skips(document.short)
        sentences = _sentences(document, skips)
        cut = _prefix(sentences, code)
        items = []
        for sentence in sentences:
            before = "O"
            for line, _, tag in sentence:
                if tag.startswith("I-") and before[2:] != tag[2:]:
                    skips.add("I- tags that continue no entity, read as its beginning", line)
                before = tag
            words = tuple(word[len(cut) :] for _, word, _ in sentence)
            items.append(TaggedWords(words, tuple(tag for _, _, tag in sentence), sentence[0][0]))
        return gathered(items, language=code, name=document.short, file=document.name, skips=skips)


def _sentences(document: Document, skips: Skips) -> list[_Sentence]:
    tabs = "\t" in document.first_line
    sentences: list[_Sentence] = [[]]
    width = 0
    for line, text in document.lines():
        cells = text.split("\t") if tabs else text.split()
        if not text.strip():
            if sentences[-1]:
                sentences.append([])
            continue
        if cells[0] == "-DOCSTART-":
            skips.add("document marks", line)
            continue
        width = width or len(cells)
        if len(cells) != width or width < 2:
            raise InputError(
                f"{len(cells)} columns where {max(width, 2)} were expected",
                file=document.name,
                line=line,
                value=text,
                remedy="Give a word, a tab and its tag; a blank line between sentences.",
            )
        tag = cells[-1].strip()
        if not _TAG.fullmatch(tag):
            raise InputError(
                "unknown tag",
                file=document.name,
                line=line,
                value=tag,
                remedy="Give IOB2 tags: O, B-TYPE or I-TYPE.",
            )
        sentences[-1].append((line, cells[0].strip(), tag))
    return [sentence for sentence in sentences if sentence]


def _prefix(sentences: list[_Sentence], language: str) -> str:
    """`xx:` where every word begins with it and it names the language asked for; else nothing."""
    found = _PREFIX.match(sentences[0][0][1]) if sentences else None
    if found is None or not codes.is_language(found[1]) or codes.canonical(found[1]) != language:
        return ""
    return found[0] if all(word.startswith(found[0]) for part in sentences for _, word, _ in part) else ""
