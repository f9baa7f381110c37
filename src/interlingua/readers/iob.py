"""Tagged words: IOB2 files as CoNLL, PAN-X (WikiAnn) and WikiNEuRal have them, one word per line.

Sentences are separated by blank lines, columns by tabs, or by white space where the file has no tab. Which column holds
the words and which the tags is detected from their content (`_detect_columns`) or given by `columns`; a file whose
columns cannot be told apart is refused. PAN-X's own files say `en:word`: the language is cut off where every word of
the file has it. An I- tag that follows no tag of its type is accepted, as seqeval accepts it, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.readers.documents import Document, opened
from interlingua.readers.examples import Examples, Skips, TaggedWords, gathered
from interlingua.readers.gathering import looks_like_identifiers

_TAG = re.compile(r"O|[BI]-\S+")
_PREFIX = re.compile(r"([A-Za-z]{2,3}(?:-[A-Za-z-]+)?):")
_CHUNK = re.compile("[BI]-(ADJP|ADVP|CONJP|INTJ|LST|NP|PNP|PP|PRT|SBAR|UCP|VP|NAC|NX|QP|WHNP|WHPP|AP|NC|VC|PC)")
"""Types of phrases in CoNLL-2000 and CoNLL-2003, whose chunk tags are IOB tags, too."""
_PART_OF_SPEECH = re.compile(
    "ADJ|ADP|ADV|AUX|CCONJ|CONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|CC|CD|DT|EX|FW|IN|JJ[RS]?|LS|"
    r"MD|NNP?S?|PDT|POS|PRP\$?|RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|WP\$?|WRB|-[LR]RB-|HYPH|NFP|ADD|AFX|``|''|[].,:;()$#\"_-]"
)
"""Universal and Penn Treebank tags."""
_REMEDY = (
    "Keep two columns, the word and its tag (cut -f2,3), or name the columns in Python: columns=('index', 'word', "
    "'tag')."
)
_Row = tuple[int, list[str]]


def read_tagged(path: str | Path, *, language: str, columns: Sequence[str] | None = None) -> Examples[TaggedWords]:
    """The tagged sentences of an IOB2 file.

    `columns` names every column of the file in order, among them `word` and `tag`; other names are ignored.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "dev.tsv").write_text("0\\tAda\\tB-PER\\n1\\twrote\\tO\\n\\n", encoding="utf-8")
    ...     read_tagged(Path(folder, "dev.tsv"), language="en")[0].words
    ('Ada', 'wrote')
    """
    code = codes.canonical(language)
    with opened(Path(path)) as document:
        skips = Skips(document.short)
        sentences = _sentences(document, skips)
        word, tag = _places(sentences, columns, document.name)
        first = [cells[word] for rows in sentences for _, cells in rows]
        prefix = _prefix(first, code)
        items = []
        for rows in sentences:
            before = "O"
            for line, cells in rows:
                given = cells[tag]
                if not _TAG.fullmatch(given):
                    remedy = "Give IOB2 tags: O, B-TYPE or I-TYPE."
                    raise InputError("unknown tag", file=document.name, line=line, value=given, remedy=remedy)
                if not cells[word]:
                    raise InputError(
                        "a tag without a word", file=document.name, line=line, value=given, remedy="Write the word."
                    )
                if given.startswith("I-") and before[2:] != given[2:]:
                    skips.add("I- tags that continue no entity, read as its beginning", line)
                before = given
            words = tuple(cells[word][len(prefix) :] for _, cells in rows)
            items.append(TaggedWords(words, tuple(cells[tag] for _, cells in rows), rows[0][0]))
        return gathered(items, language=code, name=document.short, file=document.name, skips=skips)


def _sentences(document: Document, skips: Skips) -> list[list[_Row]]:
    """The rows of each sentence, all with as many cells as the first; comments and document marks are counted."""
    tabs: bool | None = None
    sentences: list[list[_Row]] = [[]]
    width = 0
    for line, text in document.lines():
        if not text.strip():
            if sentences[-1]:
                sentences.append([])
            continue
        if text.startswith("#") and "\t" not in text and not _TAG.fullmatch(text.split()[-1]):
            skips.add("comments", line)
            continue
        tabs = "\t" in text if tabs is None else tabs
        cells = [cell.strip() for cell in text.split("\t")] if tabs else text.split()
        if "-DOCSTART-" in cells[:2]:
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
        sentences[-1].append((line, cells))
    return [sentence for sentence in sentences if sentence]


def _places(sentences: list[list[_Row]], columns: Sequence[str] | None, file: str) -> tuple[int, int]:
    """Where the word and the tag stand in a row, as `columns` says or as the content shows."""
    if columns is not None:
        names = [columns] if isinstance(columns, str) else list(columns)
        if names.count("word") != 1 or names.count("tag") != 1:
            raise InputError(
                "columns must name one word and one tag",
                value=", ".join(map(str, names)),
                remedy="Name every column in order, such as columns=('index', 'word', 'tag').",
            )
        width = len(sentences[0][0][1]) if sentences else len(names)
        if width != len(names):
            raise InputError(
                f"{width} columns where {len(names)} are named", file=file, remedy="Name every column of the file."
            )
        return names.index("word"), names.index("tag")
    return _detect_columns(sentences, file) if sentences else (0, 1)


def _detect_columns(sentences: list[list[_Row]], file: str) -> tuple[int, int]:
    """Where the word and the tag stand, by what the columns hold.

    The tag is the one column of IOB2 tags that are not those of phrases. The word is the first other column that holds
    neither tags, numbers, identifiers, parts of speech nor one value per sentence: CoNLL's files, and CoNLL-U's, have
    lemmas and all else after the word. Where the tag is not last, no such order is known, and two candidates are one
    too many.
    """
    table = list(zip(*(cells for rows in sentences for _, cells in rows), strict=True))
    shares = [sum(_TAG.fullmatch(cell) is not None for cell in column) / len(column) for column in table]
    # A column with a misspelt tag is still one of tags: the tag is reported, and not another column read in its place.
    tags = [place for place, share in enumerate(shares) if share >= 0.5] or [len(table) - 1]
    entities = [place for place in tags if not any(map(_CHUNK.fullmatch, table[place]))] or tags
    if len(entities) > 1:
        raise _undecided("hold tags", entities, file, sentences)
    tag = entities[0]
    others = [place for place in range(len(table)) if place not in tags]
    words = [place for place in others if not _beside_words(table[place], place, sentences)]
    if not words and len(others) == 1 and not _counts_up(others[0], sentences):
        words = others
    if not words or (len(words) > 1 and tag != len(table) - 1):
        raise _undecided("may hold the words", words or others, file, sentences)
    return words[0], tag


def _beside_words(column: Sequence[str], place: int, sentences: list[list[_Row]]) -> bool:
    """Whether a column can be something else than words: numbers, identifiers, parts of speech, a sentence's value."""
    if all(_is_number(cell) for cell in column) or all(map(_PART_OF_SPEECH.fullmatch, column)):
        return True
    if len(column) > 1 and looks_like_identifiers(column):
        return True
    return any(len(rows) > 1 for rows in sentences) and all(
        len({cells[place] for _, cells in rows}) == 1 for rows in sentences
    )


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(?:[.,:-]\d+)*", cell) is not None


def _counts_up(place: int, sentences: list[list[_Row]]) -> bool:
    """Whether a column numbers the rows, in each sentence or through the file."""
    column = [cells[place] for rows in sentences for _, cells in rows]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < 19 for cell in column) or len(column) < 2:
        return False
    steps = [int(cell) - int(before) for before, cell in pairwise(column)]
    starts = set(accumulate(map(len, sentences), initial=-1))
    return all(step == 1 or number in starts for number, step in enumerate(steps))


def _undecided(what: str, places: Iterable[int], file: str, sentences: list[list[_Row]]) -> InputError:
    line, cells = sentences[0][0]
    shown = " and ".join(str(place + 1) for place in places)
    return InputError(
        f"columns {shown} {what}, and the content does not tell which"
        if " and " in shown
        else f"column {shown} does not hold words, as far as its content tells",
        file=file,
        line=line,
        value="\t".join(cells),
        remedy=_REMEDY,
    )


def _prefix(words: Sequence[str], language: str) -> str:
    """`xx:` where every word begins with it and it names the language asked for; else nothing."""
    found = _PREFIX.match(words[0]) if words else None
    if found is None or not codes.is_language(found[1]) or codes.canonical(found[1]) != language:
        return ""
    return found[0] if all(word.startswith(found[0]) for word in words) else ""
