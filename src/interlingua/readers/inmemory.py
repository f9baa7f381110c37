"""Corpora in memory: DataFrames, mappings of columns, rows as mappings, pairs of texts; no library is imported.

A DataFrame is anything with `columns` that can be indexed by each of them (pandas, polars), or with `to_pydict`
(pyarrow). Columns are languages as in a table: others are left out and counted; None, NaN and NA are empty cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers.corpus_builder import CorpusBuilder
from interlingua.readers.json_values import text_of
from interlingua.readers.jsonl import gather_objects

_NAME = "corpus in memory"
_REMEDY = (
    "Give a path, a ParallelCorpus, a DataFrame or a mapping with a column per language, a list of rows such as "
    "{'en': …, 'ru': …}, or a list of pairs with languages=['en', 'ru']."
)
_PAIRS = "Give a list of pairs (source, target), or a table of two columns."


def in_memory(given: object, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """The corpus that a DataFrame, a mapping of columns, a list of rows or a list of pairs holds.

    >>> in_memory([("Tea.", "Té."), ("Milk.", None)], languages=["en", "es"]).texts
    {'en': ('Tea.',), 'es': ('Té.',)}
    """
    columns = _columns(given)
    rows = _by_row(columns) if columns is not None else _rows(given, languages)
    gathering = CorpusBuilder(_NAME, file=_NAME)
    return gather_objects(enumerate(rows, start=1), gathering, languages=languages)


def text_pairs(given: object) -> Iterator[tuple[str, str]]:
    """The pairs of texts in a table of two columns or a list of pairs; a missing text is empty.

    >>> list(text_pairs({"en": ["Tea."], "es": ["Té."]})), list(text_pairs([("Tea.", None)]))
    ([('Tea.', 'Té.')], [('Tea.', '')])
    """
    columns = _columns(given)
    if columns is not None and len(columns) != 2:
        raise InputError(
            "a bitext has two columns", file=_NAME, value=", ".join(columns), remedy="Give those two alone."
        )
    if columns is None and not _is_in_order(given):
        raise InputError("not pairs of texts", value=type(given).__name__, remedy=_PAIRS)
    rows = given if columns is None else zip(*columns.values(), strict=True)
    assert isinstance(rows, Iterable)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str | bytes | Mapping) or not isinstance(row, Sequence) or len(row) != 2:
            raise InputError("not a pair of texts", file=_NAME, line=number, value=repr(row)[:80], remedy=_PAIRS)
        ours, theirs = ("" if _present(text) is None else text for text in row)
        yield (
            text_of(ours, "the source", file=_NAME, line=number),
            text_of(theirs, "the target", file=_NAME, line=number),
        )


def _columns(given: object) -> dict[str, list[Any]] | None:
    """The columns under their names, or None where what is given is no table."""
    if isinstance(given, Mapping):
        found = dict(given)
    elif callable(getattr(given, "to_pydict", None)):
        found = given.to_pydict()  # type: ignore[attr-defined]
    elif hasattr(given, "columns") and hasattr(given, "__getitem__"):
        names = list(given.columns)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError("two columns of one name", file=_NAME, value=str(twice), remedy="Keep one of the two.")
        found = {name: given[name] for name in names}
    else:
        return None
    columns = {}
    for name, column in found.items():
        if not isinstance(name, str) or not _is_in_order(column):
            raise InputError("not columns of texts", file=_NAME, value=str(name), remedy=_REMEDY)
        columns[name] = list(column)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError("columns of unequal length", file=_NAME, value=shown, remedy="Give every row in every column.")
    return columns


def _is_in_order(given: object) -> TypeGuard[Iterable[Any]]:
    """Whether something holds texts one after another; a set has no order, and of a mapping only keys would be read."""
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | set | frozenset)


def _by_row(columns: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for cells in zip(*columns.values(), strict=True):
        yield {name: _present(cell) for name, cell in zip(columns, cells, strict=True)}


def _rows(given: object, languages: Sequence[str] | None) -> Iterator[Mapping[str, Any]]:
    if not _is_in_order(given):
        raise InputError("not a corpus", value=type(given).__name__, remedy=_REMEDY)
    for number, row in enumerate(given, start=1):
        if isinstance(row, Mapping):
            if not all(isinstance(name, str) for name in row):
                raise InputError("not a row of texts by language", file=_NAME, line=number, remedy=_REMEDY)
            yield {name: cell if isinstance(cell, Mapping) else _present(cell) for name, cell in row.items()}
        elif isinstance(row, Sequence) and not isinstance(row, str | bytes):
            if languages is None:
                raise InputError(
                    "texts without their languages", file=_NAME, line=number, remedy="Give languages=['en', 'ru']."
                )
            if len(row) != len(languages):
                raise InputError(
                    f"{len(row)} texts for {len(languages)} languages", file=_NAME, line=number, remedy=_REMEDY
                )
            yield dict(zip(languages, map(_present, row), strict=True))
        else:
            raise InputError("not a row of texts", file=_NAME, line=number, value=type(row).__name__, remedy=_REMEDY)


def _present(cell: Any) -> Any:
    """The cell; None for what libraries have for a missing one: NaN, which is unlike itself, and NA."""
    if type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return cell
