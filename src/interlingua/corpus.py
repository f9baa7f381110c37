"""`ParallelCorpus`: rows that mean the same in every language, and its invariants.

A cell may be missing (a set of bitexts such as Tatoeba has a different English side for
each language); a pair of languages is measured on the rows that both have.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.plural_counts import count_noun

Cell = str | None


@dataclass(frozen=True)
class Skip:
    """Something left out, counted: the reason, how often, and where the first few were."""

    reason: str
    count: int
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        places = f" ({', '.join(self.where)}{', …' if self.count > len(self.where) else ''})" if self.where else ""
        return f"{count_noun(self.count, self.reason)}{places}"


@dataclass(frozen=True, repr=False)
class Pair:
    """The rows that two languages share: their texts, and the corpus rows they stand in."""

    source: str
    target: str
    source_texts: tuple[str, ...]
    target_texts: tuple[str, ...]
    rows: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Pair({self.source} → {self.target}, {count_noun(len(self.rows), 'rows')})"


@dataclass(frozen=True, repr=False)
class ParallelCorpus:
    """Texts by language, row i of each a translation of row i of the others.

    Build one with `ParallelCorpus.of`, which normalises and checks; the constructor trusts.

    >>> corpus = ParallelCorpus.of({"eng": ["Hello.", "Bye."], "spa": ["Hola.", ""]})
    >>> corpus.languages, len(corpus), [str(skip) for skip in corpus.skipped]
    (('en', 'es'), 1, ['1 empty cell (es row 2)', '1 row with fewer than two languages (row 2)'])
    >>> corpus.pair("en", "es").target_texts
    ('Hola.',)
    """

    texts: Mapping[str, tuple[Cell, ...]]
    name: str = "corpus"
    skipped: tuple[Skip, ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        texts: Mapping[str, Sequence[Cell]],
        *,
        name: str = "corpus",
        skipped: Sequence[Skip] = (),
        places: Sequence[str] | None = None,
    ) -> ParallelCorpus:
        """A checked corpus: standard codes, NFC, trimmed, full-row duplicates dropped and counted.

        `places` names each row for the user (`file:line`); by default `LANG row N`. A cell that is
        given empty is counted; one that is given as None is a gap by design and is not.
        """
        columns = _columns(texts)
        lengths = {language: len(column) for language, column in columns.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{language} {length}" for language, length in lengths.items())
            raise InputError(
                "languages have unequal numbers of rows",
                file=name,
                value=shown,
                remedy="Give every row in every language.",
            )
        kept, dropped = _usable_rows(columns, list(texts.values()), places)
        if not kept:
            raise InputError("the corpus is empty", file=name, remedy="Give rows with text in at least two languages.")
        chosen = {language: tuple(column[row] for row in kept) for language, column in columns.items()}
        return cls(chosen, name, (*skipped, *dropped))

    def __repr__(self) -> str:
        shown = ", ".join(self.languages[:8]) + (f" and {len(self.texts) - 8} more" if len(self.texts) > 8 else "")
        return f"ParallelCorpus({self.name[:100]!r}, {count_noun(len(self), 'rows')}, languages: {shown})"

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def __len__(self) -> int:
        return len(next(iter(self.texts.values())))

    def rows_of(self, language: str) -> NDArray[np.int64]:
        """The rows in which a language has text."""
        return np.flatnonzero(self._present[self._known(language)])

    def column(self, language: str) -> tuple[str, ...]:
        """The texts a language has, without gaps, in the order of `rows_of`."""
        return tuple(text for text in self.texts[self._known(language)] if text is not None)

    def pair(self, source: str, target: str) -> Pair:
        """The rows two languages share; empty where they share none."""
        source, target = self._known(source), self._known(target)
        rows = np.flatnonzero(self._present[source] & self._present[target])
        return Pair(
            source,
            target,
            tuple(self.texts[source][row] or "" for row in rows),
            tuple(self.texts[target][row] or "" for row in rows),
            rows,
        )

    def pairs(self) -> list[tuple[str, str]]:
        """The unordered language pairs that share at least one row, in corpus order."""
        names = self.languages
        return [
            (source, target)
            for place, source in enumerate(names)
            for target in names[place + 1 :]
            if (self._present[source] & self._present[target]).any()
        ]

    def select(self, languages: Iterable[str]) -> ParallelCorpus:
        """The corpus in these languages, in this order; rows with fewer than two of them are dropped."""
        wanted = list(dict.fromkeys(codes.canonical(code) for code in languages))
        missing = [code for code in wanted if code not in self.texts]
        if missing:
            raise InputError(
                f"the corpus {self.name} has no {', '.join(missing)}",
                remedy=f"It has: {', '.join(self.languages)}.",
            )
        present = np.stack([self._present[code] for code in wanted])
        rows = np.flatnonzero(present.sum(axis=0) >= min(2, len(wanted)))
        if not len(rows):
            raise InputError(
                f"no row of {self.name} is in two of",
                value=", ".join(wanted),
                remedy="Choose languages that share rows.",
            )
        dropped = len(self) - len(rows)
        skip = (Skip(f"rows with fewer than two of {', '.join(wanted)}", dropped),) if dropped else ()
        chosen = {code: self.texts[code] for code in wanted}
        return replace(self, texts=chosen, skipped=(*self.skipped, *skip)).take(rows)

    def sample(self, count: int, *, seed: int) -> ParallelCorpus:
        """Rows drawn so that every pair of languages shares `count` of them, or all that it has; in corpus order.

        Of a strictly parallel corpus, which has every row in every language, these are `count` rows. Drawn from all
        rows of a set of bitexts, a pair with a tenth of the rows would get a tenth of the sample.
        """
        if count >= len(self):
            return self
        draw = np.random.default_rng(seed)
        if all(present.all() for present in self._present.values()):
            return self.take(np.sort(draw.choice(len(self), count, replace=False)))
        wanting = {pair: count for pair in self.pairs() if count > 0}
        chosen = []
        columns = np.stack(list(self._present.values()), axis=1)
        for row in draw.permutation(len(self)):
            if not wanting:
                break
            here = [code for code, present in zip(self.languages, columns[row], strict=True) if present]
            wanted = [pair for pair in combinations(here, 2) if pair in wanting]
            for pair in wanted:
                wanting[pair] -= 1
                if not wanting[pair]:
                    del wanting[pair]
            if wanted:
                chosen.append(row)
        return self.take(np.sort(np.array(chosen, np.int64)))

    def take(self, rows: NDArray[np.int64]) -> ParallelCorpus:
        """The corpus at these rows, in this order."""
        return replace(self, texts={code: tuple(column[row] for row in rows) for code, column in self.texts.items()})

    @cached_property
    def digest(self) -> str:
        """A hash of languages and texts: two corpora with the same digest hold the same rows."""
        state = hashlib.blake2b(digest_size=16)
        for code, column in self.texts.items():
            state.update(f"\x1d{code}\x1d".encode())
            for text in column:
                state.update(b"\x1e" if text is None else b"\x1f" + text.encode())
        return state.hexdigest()

    def _known(self, language: str) -> str:
        code = codes.canonical(language)
        if code not in self.texts:
            raise InputError(
                f"the corpus {self.name} has no", value=language, remedy=f"It has: {', '.join(self.languages)}."
            )
        return code

    @cached_property
    def _present(self) -> dict[str, NDArray[np.bool_]]:
        return {
            code: np.fromiter((text is not None for text in column), bool, len(column))
            for code, column in self.texts.items()
        }


def clean(text: Cell) -> Cell:
    """The text in NFC with outer white space removed, or None where nothing is left.

    A byte order mark and stray carriage returns go too; inner white space becomes single spaces,
    because a tab or line break inside a cell is a format's artefact and no language's spelling.

    >>> clean("\\ufeff  cafe\\u0301\\t noir\\r"), clean("  ")
    ('café noir', None)
    """
    if text is None:
        return None
    words = unicodedata.normalize("NFC", text.replace("\ufeff", "")).split()
    return " ".join(words) or None


def _columns(texts: Mapping[str, Sequence[Cell]]) -> dict[str, list[Cell]]:
    columns: dict[str, list[Cell]] = {}
    spelled: dict[str, str] = {}
    for given, column in texts.items():
        code = codes.canonical(given)
        if code in columns:
            raise InputError(
                f"{spelled[code]!r} and {given!r} are the same language ({code})", remedy="Keep one of the two."
            )
        columns[code], spelled[code] = [clean(text) for text in column], given
    if not columns:
        raise InputError("the corpus has no language", remedy="Give texts in at least two languages.")
    return columns


def _usable_rows(
    columns: Mapping[str, list[Cell]], given: Sequence[Sequence[Cell]], places: Sequence[str] | None
) -> tuple[list[int], list[Skip]]:
    """Rows with text in two languages (one, where there is only one) that no earlier row repeats."""
    needed = min(2, len(columns))
    seen: set[tuple[Cell, ...]] = set()
    kept: list[int] = []
    empty = sorted(
        (place, order)
        for order, column in enumerate(columns.values())
        for place, text in enumerate(column)
        if text is None and given[order][place] is not None
    )
    short: list[int] = []
    repeated: list[int] = []
    for place, row in enumerate(zip(*columns.values(), strict=True)):
        if len(row) - row.count(None) < needed:
            short.append(place)
        elif row in seen:
            repeated.append(place)
        else:
            seen.add(row)
            kept.append(place)

    def where(place: int) -> str:
        return places[place] if places else f"row {place + 1}"

    names = list(columns)
    found = {
        "empty cells": (len(empty), [f"{names[order]} {where(place)}" for place, order in empty[:3]]),
        "rows with fewer than two languages": (len(short), [where(place) for place in short[:3]]),
        "duplicate rows": (len(repeated), [where(place) for place in repeated[:3]]),
    }
    return kept, [Skip(reason, count, tuple(first)) for reason, (count, first) in found.items() if count]
