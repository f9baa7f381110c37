"""A corpus that was in memory, as lines of JSON: its name, languages and what was left out, then a list of cells a row.

Read only where it is named: a row's gap stays a gap, which is no empty cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.errors import InputError
from interlingua.paths import json_value
from interlingua.readers import readers
from interlingua.readers.documents import Document


def saved_lines(corpus: ParallelCorpus) -> Iterator[str]:
    """A corpus as lines, which the reader `read_saved_corpus` reads back as an equal one."""
    skipped = [[skip.reason, skip.count, list(skip.where)] for skip in corpus.skipped]
    for row in ([corpus.name, list(corpus.languages), skipped], *zip(*corpus.texts.values(), strict=True)):
        yield json.dumps(row, ensure_ascii=False) + "\n"


@readers.register("saved", needs="file")
def read_saved_corpus(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """What interlingua itself writes of a corpus that was given in memory."""
    try:
        lines: Iterator[Any] = (json_value(line) for _, line in document.lines())
        name, codes, skipped = next(lines)
        columns = list(zip(*lines, strict=True))
        texts = {code: tuple(column) for code, column in zip(codes, columns, strict=True)}
        corpus = ParallelCorpus(texts, name, tuple(Skip(why, count, tuple(where)) for why, count, where in skipped))
    except (ValueError, TypeError, StopIteration) as error:
        raise InputError(
            "not a corpus that interlingua saved", file=document.name, remedy="Give the corpus itself."
        ) from error
    return corpus if languages is None or tuple(languages) == corpus.languages else corpus.select(languages)
