"""Contexts and names as frozen tables: a row means the same in every language, and knows the line it came from."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

GENDERS = ("male", "female")
_MARKED = re.compile(r"([^\[\]]*)\[([^\[\]]+)\]([^\[\]]*)")


@dataclass(frozen=True, order=True)
class SlotKind:
    """What a slot asks for: an entity type, a grammatical case, and a gender where it matters.

    Contexts and names of equal kinds fit each other. The case is a name that both agree on: `nominative`, `locative`.

    >>> SlotKind("PER", gender="male").label, SlotKind("LOC", "locative").label
    ('PER.nominative.male', 'LOC.locative')
    """

    type: str
    case: str = "nominative"
    gender: str = ""

    @property
    def label(self) -> str:
        return ".".join(part for part in (self.type, self.case, self.gender) if part)


@dataclass(frozen=True, slots=True)
class SlotName:
    """A name as it goes into a slot: the entity, and what comes with it but is none of it.

    A preposition that the name decides (`we Francji`, `na Kubie`) is the `lead`, a suffix that is spelled apart
    (`Fransa'da`) is the `tail`: both are put into the sentence and neither is tagged.

    >>> SlotName.of("in the [Bahamas]"), SlotName.of("Minsk")
    (SlotName(text='Bahamas', lead='in the ', tail=''), SlotName(text='Minsk', lead='', tail=''))
    """

    text: str
    lead: str = ""
    tail: str = ""

    @classmethod
    def of(cls, written: str) -> SlotName:
        """A name as our files write it: square brackets around the entity where something comes with it."""
        if "[" not in written and "]" not in written:
            return cls(written.strip())
        match = _MARKED.fullmatch(written.strip())
        if match is None or not match[2].strip():
            raise ValueError("brackets must stand around one entity")
        return cls(match[2].strip(), match[1], match[3])

    @property
    def key(self) -> Hashable:
        """What two names share that are the same to a reader: the entity, whatever its preposition."""
        return self.text.casefold()

    def __str__(self) -> str:
        return f"{self.lead}{self.text}{self.tail}"


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence with a slot: the texts before and after it (more than two where it has several slots)."""

    pieces: tuple[str, ...]

    @property
    def key(self) -> Hashable:
        return self.pieces


T = TypeVar("T", Context, SlotName)


@dataclass(frozen=True)
class TemplateTable(Generic[T]):
    """Parallel rows of one kind: cell i of every language means the same.

    `lines` are the rows' lines in `file`, which errors, counts and row ids name. Where there is no file (CLDR) they
    count from 1.
    """

    kind: SlotKind
    cells: Mapping[str, tuple[T, ...]]
    lines: tuple[int, ...]
    file: str

    def __post_init__(self) -> None:
        if any(len(column) != len(self.lines) for column in self.cells.values()):
            raise ValueError("every language must have every row")

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.cells)

    def select(self, languages: Sequence[str]) -> TemplateTable[T]:
        """The table in these languages, in this order."""
        return replace(self, cells={code: self.cells[code] for code in languages})

    def take(self, rows: Sequence[int]) -> TemplateTable[T]:
        """The table at these rows, in this order."""
        return replace(
            self,
            cells={code: tuple(column[row] for row in rows) for code, column in self.cells.items()},
            lines=tuple(self.lines[row] for row in rows),
        )

    def keys(self, row: int) -> list[tuple[str, Hashable]]:
        """What a reader of any language would recognise the row by."""
        return [(code, column[row].key) for code, column in self.cells.items()]

    def distinct(self) -> tuple[TemplateTable[T], list[int]]:
        """The table without rows that repeat an earlier one in every language, and the lines of those."""
        seen: set[tuple[T, ...]] = set()
        kept: list[int] = []
        for row, cells in enumerate(zip(*self.cells.values(), strict=True)):
            if cells not in seen:
                seen.add(cells)
                kept.append(row)
        gone = sorted(set(range(len(self))) - set(kept))
        return (self.take(kept) if gone else self), [self.lines[row] for row in gone]


@dataclass(frozen=True)
class SkippedRows:
    """Rows that could not be used, or were changed: why, and on which lines of which file.

    >>> print(SkippedRows("contexts without a slot", "data/LOC.contexts.tsv", (3, 9)))
    contexts without a slot: 2 (LOC.contexts.tsv:3, 9)
    """

    reason: str
    file: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        shown = ", ".join(str(line) for line in self.lines[:5]) + (", …" if len(self.lines) > 5 else "")
        return f"{self.reason}: {len(self.lines)} ({base_name(self.file)}:{shown})"


@dataclass(frozen=True)
class Ambiguous:
    """A name that two types have: where it stands in each, and the languages in which it does."""

    texts: Mapping[str, str]
    first: tuple[SlotKind, int]
    second: tuple[SlotKind, int]


def ambiguous_names(
    names: Sequence[TemplateTable[SlotName]], types: tuple[str, str] = ("LOC", "PER"), *, parts: bool = True
) -> list[Ambiguous]:
    """Names of the first type that are also names of the second, as Washington is (papers/003 §3.2).

    With `parts` a name counts that is a run of whole words of the other (Washington in George Washington), else only
    the same name. Cases and spelling are compared as they stand, casefolded: a language where an inflected form
    hides the likeness does not show it, and the others do. `texts` are the first type's names by language.

    >>> place = TemplateTable(SlotKind("LOC"), {"en": (SlotName("Washington"),)}, (2,), "places")
    >>> named = tuple(map(SlotName, ("Ada Lovelace", "George Washington")))
    >>> person = TemplateTable(SlotKind("PER"), {"en": named}, (2, 3), "people")
    >>> [(found.texts["en"], found.second[1]) for found in ambiguous_names([place, person])]
    [('Washington', 3)]
    """
    left, right = ([table for table in names if table.kind.type == kind] for kind in types)
    runs: dict[tuple[str, str], list[tuple[SlotKind, int]]] = {}
    for table in right:
        for code, column in table.cells.items():
            for line, name in zip(table.lines, column, strict=True):
                for run in _runs(name.text, parts):
                    runs.setdefault((code, run), []).append((table.kind, line))
    found: dict[tuple[tuple[SlotKind, int], tuple[SlotKind, int]], dict[str, str]] = {}
    for table in left:
        for row, line in enumerate(table.lines):
            for code, column in table.cells.items():
                for other in dict.fromkeys(runs.get((code, column[row].text.casefold()), ())):
                    found.setdefault(((table.kind, line), other), {})[code] = column[row].text
    return [Ambiguous(texts, first, second) for (first, second), texts in found.items()]


def _runs(text: str, parts: bool) -> set[str]:
    words = text.casefold().split()
    if not parts:
        return {" ".join(words)}
    return {" ".join(words[a:b]) for a in range(len(words)) for b in range(a + 1, len(words) + 1)}


def base_name(file: str) -> str:
    """A file's name without its folder."""
    return file.replace("\\", "/").rpartition("/")[2]
