"""Pairs of texts with a label: XNLI, MultiNLI and PAWS-X as TSV, with or without a header, and as JSON Lines.

A header or JSON keys may be any of the published ones (`sentence1`, `premise`, `gold_label` …); a column `language`
chooses the rows. Without a header a line is first text, second text, label. Blank lines, pairs without a gold label
(`-`) and pairs with an empty side are left out and counted; any other oddity is an error with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from interlingua import languages as codes
from interlingua.corpus import clean
from interlingua.errors import InputError
from interlingua.readers.corpus_builder import looks_like_identifiers
from interlingua.readers.documents import Document, open_document
from interlingua.readers.examples import Examples, Skips, TextPair, collect_examples
from interlingua.readers.jsonl import json_on_line

_FIELDS = {
    "sentence1": "first", "premise": "first",
    "sentence2": "second", "hypothesis": "second", "hypo": "second",
    "label": "label", "gold_label": "label",
    "language": "language",
}  # fmt: skip
_NEEDED = ("first", "second", "label")
_Cells = Mapping[str, str]
MIN_ROWS = 10
"""Rows from which on a column of identifiers is no chance."""


def read_pairs(path: str | Path, *, language: str, labels: Mapping[str, str]) -> Examples[TextPair]:
    """The labelled pairs of a file; `labels` maps every accepted spelling of a label to its name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "dev.tsv").write_text("It rains.\\tIt is wet.\\t0\\n", encoding="utf-8")
    ...     read_pairs(Path(folder, "dev.tsv"), language="en", labels={"0": "entailment"})[0].label
    'entailment'
    """
    code = codes.canonical(language)
    items: list[TextPair] = []
    with open_document(Path(path)) as document:
        skips = Skips(document.short)
        for line, cells in _rows(document, skips):
            if "language" in cells and codes.canonical(cells["language"]) != code:
                skips.add("pairs in other languages", line)
                continue
            given = cells["label"].strip()
            if given == "-":
                skips.add("pairs without a gold label", line)
                continue
            if given not in labels:
                known = ", ".join(dict.fromkeys([*labels.values(), *labels]))
                raise InputError("unknown label", file=document.name, line=line, value=given, remedy=f"Known: {known}.")
            first, second = clean(cells["first"]), clean(cells["second"])
            if first is None or second is None:
                skips.add("pairs with an empty side", line)
                continue
            items.append(TextPair(first, second, labels[given], line))
        for what, texts in (("first", [item.first for item in items]), ("second", [item.second for item in items])):
            if len(items) >= MIN_ROWS and looks_like_identifiers(texts):
                raise InputError(
                    f"the {what} texts are numbers or identifiers of rows",
                    file=document.name,
                    line=items[0].line,
                    value=texts[0],
                    remedy="Give first text, second text, label, or name the columns: sentence1, sentence2, label.",
                )
        return collect_examples(items, language=code, name=document.short, file=document.name, skips=skips)


def _rows(document: Document, skips: Skips) -> Iterator[tuple[int, _Cells]]:
    if document.first_line.lstrip().startswith("{"):
        return _objects(document, skips)
    return _lines(document, skips)


def _lines(document: Document, skips: Skips) -> Iterator[tuple[int, _Cells]]:
    """TSV without quoting, as these files are published: a quotation mark is a quotation mark."""
    columns: list[str] | None = None
    width = 3
    for line, text in document.lines():
        cells = text.split("\t")
        if not text.strip():
            skips.add("blank lines", line)
        elif columns is None and _header(cells):
            columns, width = [_FIELDS.get(cell.strip().lower(), "") for cell in cells], len(cells)
        elif len(cells) != width:
            wanted = "first text, second text, label" if width == 3 else "as many as the header has"
            raise InputError(
                f"{len(cells)} columns where {width} were expected",
                file=document.name,
                line=line,
                value=text,
                remedy=f"Give {wanted}, with a tab between them.",
            )
        else:
            columns = columns or list(_NEEDED)
            yield line, _one_each(zip(columns, cells, strict=True), document, line)


def _header(cells: list[str]) -> bool:
    found = {_FIELDS.get(cell.strip().lower()) for cell in cells}
    return found.issuperset(_NEEDED)


def _one_each(cells: Iterable[tuple[str, str]], document: Document, line: int) -> _Cells:
    """The cell of each field; two columns or keys for one field must agree."""
    found: dict[str, str] = {}
    for name, cell in cells:
        if name and found.setdefault(name, cell) != cell:
            raise InputError(
                f"two columns or keys for the {name}, with different values",
                file=document.name,
                line=line,
                value=f"{found[name][:50]} / {cell[:50]}",
                remedy="Keep one of the two.",
            )
    return found


def _objects(document: Document, skips: Skips) -> Iterator[tuple[int, _Cells]]:
    for line, text in document.lines():
        if not text.strip():
            skips.add("blank lines", line)
            continue
        item = json_on_line(document, line, text)
        found = item if isinstance(item, dict) else {}
        cells = [
            (_FIELDS[key.strip().lower()], value) for key, value in found.items() if key.strip().lower() in _FIELDS
        ]
        if not {name for name, _ in cells}.issuperset(_NEEDED):
            raise InputError(
                "not a labelled pair",
                file=document.name,
                line=line,
                value=text,
                remedy='Give {"sentence1": …, "sentence2": …, "gold_label": …} or premise, hypothesis and label.',
            )
        for name, value in cells:
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise InputError(
                    f"the {name} is no text", file=document.name, line=line, value=value, remedy="Give a string."
                )
        yield line, _one_each([(name, str(value)) for name, value in cells], document, line)
