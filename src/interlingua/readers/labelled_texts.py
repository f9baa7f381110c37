"""Texts with a label: TSV with or without a header, CSV with one, and JSON Lines; one text a row, or two.

Columns and keys are found by their usual names, in any case:

| holds            | names                                                                                     |
|------------------|-------------------------------------------------------------------------------------------|
| the text         | text, sentence, document, content, review, tweet, utterance, comment                      |
| or two texts     | sentence1, text1, premise, question1; sentence2, text2, hypothesis, question2             |
| the label        | label, gold_label, class, category, topic, intent, sentiment                              |
| the row's language | language                                                                                |

or named by the caller. Two columns for one part are an error: nobody can know which is meant. Without a header a line
of a TSV file is text, label; or first text, second text, label. Labels are texts or whole numbers. Blank lines, rows
without a label, rows with an empty text and rows in other languages are left out and counted; any other oddity is an
error with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlingua import languages as codes
from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.readers.corpus_builder import looks_like_identifiers
from interlingua.readers.documents import Document, open_document
from interlingua.readers.examples import Examples, LabelledText, Skips, collect_examples
from interlingua.readers.jsonl import json_on_line
from interlingua.readers.table import header_cells, quoted_rows

_NAMES = {
    "text": ("text", "sentence", "document", "content", "review", "tweet", "utterance", "comment"),
    "first text": ("sentence1", "text1", "premise", "question1"),
    "second text": ("sentence2", "text2", "hypothesis", "question2"),
    "label": ("label", "gold_label", "class", "category", "topic", "intent", "sentiment"),
    "language": ("language",),
}
_PARTS = {name: part for part, names in _NAMES.items() for name in names}
_HEADER_WORDS = ("text", "sentence", "label", "gold_label")
"""Cells that are hardly ever a row's own: a first row with one is a header."""
_MIN_ROWS = 10
"""Rows from which on a column of identifiers, or of labels that differ in every row, is no chance."""
_Row = tuple[int, Mapping[str, str | None]]


@dataclass(frozen=True)
class _Columns:
    """Which columns hold the texts, the label and the language, by their names in the file."""

    texts: tuple[str, ...]
    label: str
    language: str | None = None

    @classmethod
    def of(cls, names: Sequence[str], given: Sequence[str] | None, *, file: str, line: int) -> _Columns:
        """Of a header or the keys of an object: those the caller named, or those with the usual names."""
        spelled: dict[str, str] = {}
        for name in names:
            key = name.strip().lower()
            if key and key in spelled:
                raise InputError(
                    "two columns of one name", file=file, line=line, value=name.strip(), remedy="Rename one of the two."
                )
            spelled[key] = name
        language = spelled.get("language")
        if given is not None:
            if absent := [name for name in given if name.strip().lower() not in spelled]:
                raise InputError(
                    "no such column", file=file, line=line, value=absent[0], remedy=f"It has: {', '.join(names)}."
                )
            found = [spelled[name.strip().lower()] for name in given]
            return cls(tuple(found[:-1]), found[-1], None if language in found else language)
        parts: dict[str, list[str]] = {part: [] for part in _NAMES}
        for key, name in spelled.items():
            if key in _PARTS:
                parts[_PARTS[key]].append(name)
        one, two = parts["text"], parts["first text"] + parts["second text"]
        wanted = ["label", *(["text"] if one else ["first text", "second text"])]
        for part in wanted:
            if len(parts[part]) > 1 or (part == "text" and two):
                both = parts[part] if len(parts[part]) > 1 else [one[0], two[0]]
                raise InputError(
                    f"two columns that may hold the {part}",
                    file=file,
                    line=line,
                    value=f"{both[0]} and {both[1]}",
                    remedy="Rename the one that is not meant, or name the columns (Classification(columns=…)).",
                )
            if not parts[part]:
                known = " and a ".join(_NAMES[part][0] for part in (["text", "label"] if not two else wanted[1:]))
                raise InputError(
                    f"no column for the {'text' if not one and not two else part}",
                    file=file,
                    line=line,
                    value=", ".join(names)[:80],
                    remedy=f"Name a column {known}: a header such as text, label.",
                )
        return cls(tuple(parts[part][0] for part in wanted[1:]), parts["label"][0], language)


def read_texts(path: str | Path, *, language: str, columns: Sequence[str] | None = None) -> Examples[LabelledText]:
    """The labelled texts of a file; `columns` names those of the text (or both texts) and the label, in that order.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "dev.csv").write_text('text,label\\n"Rain, again.",weather\\n', encoding="utf-8")
    ...     read_texts(Path(folder, "dev.csv"), language="en")[0]
    LabelledText(texts=('Rain, again.',), label='weather', line=2)
    """
    code = codes.canonical(language)
    items: list[LabelledText] = []
    with open_document(Path(path)) as document:
        skips = Skips(document.short)
        for line, cells in _rows(document, columns, skips):
            if (spoken := cells.get("language")) is not None and codes.canonical(spoken) != code:
                skips.add("rows in other languages", line)
                continue
            label = clean(cells["label"])
            texts = [clean(cells[name]) for name in ("text", "first text", "second text") if name in cells]
            if label is None:
                skips.add("rows without a label", line)
            elif None in texts:
                skips.add("rows with an empty text", line)
            else:
                items.append(LabelledText(tuple(text for text in texts if text is not None), label, line))
        _check_columns(items, document)
        return collect_examples(items, language=code, name=document.short, file=document.name, skips=skips)


def _check_columns(items: Sequence[LabelledText], document: Document) -> None:
    """Refuse texts that are numbers of rows, and labels that are texts: columns in another order."""
    if len(items) < _MIN_ROWS:
        return
    for place in range(len(items[0].texts)):
        texts = [item.texts[place] for item in items]
        if looks_like_identifiers(texts):
            raise InputError(
                "the texts are numbers or identifiers of rows",
                file=document.name,
                line=items[0].line,
                value=texts[0],
                remedy="Give text, label, or a header that names them.",
            )
    labels, distinct = {item.label for item in items}, {item.texts for item in items}
    if len(labels) > max(len(items) // 2, len(distinct)):
        raise InputError(
            f"{len(labels)} labels and {len(distinct)} texts in {len(items)} rows",
            file=document.name,
            line=items[0].line,
            value=items[0].label,
            remedy="The label comes after the text: change the order, or give a header that names them.",
        )


def _rows(document: Document, given: Sequence[str] | None, skips: Skips) -> Iterator[_Row]:
    """Each row with its line: the cell of the text or of both texts, of the label, and of the language."""
    first = document.first_line
    if first.lstrip().startswith("["):
        raise InputError(
            "a JSON list, not an object a line",
            file=document.name,
            remedy='Write JSON Lines: {"text": …, "label": …} on each line.',
        )
    if first.lstrip().startswith("{"):
        yield from _objects(document, given, skips)
        return
    header = header_cells(first)
    if _is_header(header, given):
        yield from _table(document, header, given, skips)
    elif "\t" in first and given is None:
        yield from _bare(document, skips)
    else:
        raise InputError(
            "no header that names a text and a label" if given is None else "no header with the columns that are named",
            file=document.name,
            line=1,
            value=first,
            remedy="Begin the file with the line text,label; or put a tab between text and label.",
        )


def _is_header(cells: Sequence[str], given: Sequence[str] | None) -> bool:
    names = {cell.strip().lower() for cell in cells}
    if given is not None:
        return bool(names & {name.strip().lower() for name in given})
    parts = {_PARTS[name] for name in names if name in _PARTS}
    return bool(names & set(_HEADER_WORDS)) or {"label", "text"} <= parts or {"label", "first text"} <= parts


def _chosen(columns: _Columns, cells: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """The cells by what they hold."""
    parts = ("text",) if len(columns.texts) == 1 else ("first text", "second text")
    found = {part: cells.get(name) for part, name in zip(parts, columns.texts, strict=True)}
    spoken = {} if columns.language is None else {"language": cells.get(columns.language)}
    return found | {"label": cells.get(columns.label)} | spoken


def _table(document: Document, header: list[str], given: Sequence[str] | None, skips: Skips) -> Iterator[_Row]:
    tabs = "\t" in document.first_line
    rows: Iterator[tuple[int, list[str]]]
    if tabs and not document.first_line.lstrip().startswith('"'):
        # Without quoting, as such files are published: a quotation mark is a quotation mark.
        rows = ((line, text.split("\t")) for line, text in document.lines())
    else:
        rows = quoted_rows(document, "\t" if tabs else max(",;", key=document.first_line.count))
    columns: _Columns | None = None
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            skips.add("blank lines", line)
        elif columns is None:
            columns = _Columns.of(header, given, file=document.name, line=line)
        elif len(cells) != len(header):
            raise InputError(
                f"{len(cells)} columns where the header has {len(header)}",
                file=document.name,
                line=line,
                value=" | ".join(cells)[:80],
                remedy="Give as many as the header has; in CSV put quotation marks around a text with commas.",
            )
        else:
            yield line, _chosen(columns, dict(zip(header, cells, strict=True)))


def _bare(document: Document, skips: Skips) -> Iterator[_Row]:
    """TSV without a header: text, label; or first text, second text, label."""
    names: tuple[str, ...] = ()
    for line, text in document.lines():
        cells = text.split("\t")
        if not text.strip():
            skips.add("blank lines", line)
            continue
        names = names or {2: ("text", "label"), 3: ("first text", "second text", "label")}.get(len(cells), ())
        if len(cells) != len(names):
            wanted = f"{len(names)} were expected" if names else "2 or 3 were expected"
            raise InputError(
                f"{len(cells)} columns where {wanted}",
                file=document.name,
                line=line,
                value=text,
                remedy="Give text, label with a tab between them, or a header that names the columns.",
            )
        yield line, dict(zip(names, cells, strict=True))


def _objects(document: Document, given: Sequence[str] | None, skips: Skips) -> Iterator[_Row]:
    for line, text in document.lines():
        if not text.strip():
            skips.add("blank lines", line)
            continue
        item = json_on_line(document, line, text)
        if not isinstance(item, dict):
            raise InputError(
                "not an object", file=document.name, line=line, value=text, remedy='Give {"text": …, "label": …}.'
            )
        columns = _Columns.of(list(item), given, file=document.name, line=line)
        cells: dict[str, str | None] = {}
        for name in (*columns.texts, columns.label, *(() if columns.language is None else (columns.language,))):
            value = item[name]
            whole = name == columns.label and isinstance(value, int) and not isinstance(value, bool)
            if value is not None and not whole and not isinstance(value, str):
                kind = "text or whole number" if name == columns.label else "text"
                raise InputError(
                    f"{name} is no {kind}", file=document.name, line=line, value=value, remedy="Give a string."
                )
            cells[name] = None if value is None else str(value)
        yield line, _chosen(columns, cells)
