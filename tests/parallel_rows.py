"""A few parallel rows of English and Russian, as a corpus."""

from __future__ import annotations

from pathlib import Path

from interlingua.corpus import ParallelCorpus
from interlingua.readers import read_corpus

ROWS = [
    *("The tap is leaking again.\tКран снова течёт.", "Empires rise slowly.\tКран снова, и снова!", "the tap\tкран"),
    *("Don't feed the monkeys, please!\tВ 1960 году здесь течёт кран.", "In 1960\tВ 1960", "fields and orchards\tсады"),
    *("nothing but fields\tодин кран", "The district\tКухонный кран", "collapse quickly\tснова", "rise\tтечёт снова"),
    *("kitchen monkeys again\tкухонный", "please feed the tap\tкран, кран"),
]


def corpus_of(rows: list[str], folder: Path) -> ParallelCorpus:
    (folder / "rows.tsv").write_text("\n".join(["en\tru", *rows]) + "\n", "utf-8")
    return read_corpus(folder / "rows.tsv")
