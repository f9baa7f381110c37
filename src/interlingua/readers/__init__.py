"""Readers: bytes to a `ParallelCorpus`, one format per file; every error names file and line.

`read_corpus` detects formats from their content (the first decompressed bytes and the files
beside them), never by the suffix alone. What every reader promises:

- **Encoding.** UTF-8; a byte order mark of UTF-8, 16 or 32 is honoured before anything else;
  other encodings by `encoding=`. An undecodable byte is an error with its file, line and value.
- **Lines** end in LF, CRLF or CR. U+2028, form feeds and the like end nothing.
- **Cells** are put in NFC and trimmed (`corpus.clean`). An empty cell, a short row's missing cell
  and an absent key are gaps and are counted; a row with too many cells is an error. Rows with
  fewer than two languages and repeated rows are dropped and counted.
- **Gaps by design**, where bitexts are merged into one corpus, are not counted.
- **Order.** Languages stand in the order asked for; else in the file's own; else, in a folder,
  English first and the others by code.

A reader says what it `needs`:

| needs    | called as                                      | which is                                 |
|----------|------------------------------------------------|------------------------------------------|
| `file`   | `f(document, languages=…)`                     | one open `Document`                      |
| `folder` | `f(files, languages=…, encoding=…)`            | a `FileSet`: files that belong together  |
| `name`   | `f(name, languages=…)`                         | something that is no path                |
| `words`  | `f(path, encoding=…)`                          | a dictionary; no corpus                  |

New format: one file here with `@readers.register("name", needs="file")` and
`@sniffers.register("name")`, a function of (document, languages) that says whether it is its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

from interlingua import languages as codes
from interlingua.argument_types import check_argument_types
from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.registry import Registry

readers = Registry("reader", "interlingua.readers")
sniffers = Registry("sniffer", "interlingua.readers")


@check_argument_types
def read_corpus(
    path: object,
    *,
    languages: Sequence[str] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    column: int | str | None = None,
    stdin: BinaryIO | None = None,
) -> ParallelCorpus:
    """The corpus at a path, or in memory, in the languages asked for, with all that was skipped in `skipped`.

    `path` is a file, a folder, a set of files (`data/train` or `data/train.*` for `train.en` and
    `train.ru`; `data/*.devtest`), a comma list of files with one language each (`a.en,a.ru`), `-`
    for standard input, `sampler` for the embedded corpus, or `hf:NAME[:CONFIG[:SPLIT]]` for a
    Hugging Face dataset. Several bitexts in a comma list (`x.en-ru.tsv,x.en-hi.tsv`) are merged.
    `format` names a reader where the content leaves a doubt. `column` is the column of the sentences
    where each language's file is a table: its number from 1, or its name in the first line. Only the
    files of the languages asked for are opened.

    In memory: a `ParallelCorpus`, a DataFrame or a mapping whose columns are languages, a list of such
    rows, or a list of pairs of texts (then `languages` names both).

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "tea.tsv").write_text("eng\\tspa\\nTea.\\tTé.\\n", encoding="utf-8")
    ...     read_corpus(Path(folder, "tea.tsv")).pair("en", "es").target_texts
    ('Té.',)
    >>> read_corpus({"English": ["Tea.", "Milk."], "Spanish": ["Té.", "Leche."]}).languages
    ('en', 'es')
    """
    from interlingua.readers import format_detection, inmemory, scripts

    asked = None if languages is None else codes.several(languages)
    if asked == ():
        raise InputError("no language is asked for", remedy="Give at least two, or none to read all.")
    if isinstance(path, ParallelCorpus):
        return path if asked is None else path.select(asked)
    if isinstance(path, str | os.PathLike):
        request = format_detection.Request(asked, format, encoding, column)
        return scripts.checked(format_detection.read(os.fspath(path), request, stdin=stdin), file=os.fspath(path))
    if column is not None:
        raise InputError("a column is named of a corpus in memory", value=column, remedy="Give that column alone.")
    return scripts.checked(inmemory.in_memory(path, languages=asked))
