"""Strictly parallel NER in any set of languages, and how far the spellings of its names lie apart."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.measures.spelling import spelling
from interlingua.score import Score
from interlingua.synthetic import files as reading
from interlingua.synthetic.kinds import (
    Sources,
    first_sheet_per_kind,
    in_every_type,
    pair_sheets,
    selected,
    sheets_with_languages,
)
from interlingua.synthetic.name_products import DrawnRows, Product, ProductRow, sample, split
from interlingua.synthetic.slot_filling import FilledSentence
from interlingua.synthetic.tables import (
    Ambiguous,
    Context,
    SkippedRows,
    SlotKind,
    SlotName,
    TemplateTable,
    ambiguous_names,
)

T = TypeVar("T", Context, SlotName)


@dataclass(frozen=True)
class Rules:
    """How rows are judged and split: the defaults are the paper's, except that a context has one slot.

    `test_share` of the contexts, and of the names, are for testing, and of the rows. `slots` any takes contexts with
    several, all filled with one name. `bad_rows` fail stops at the first row that can't be used.
    """

    test_share: float = 0.2
    slots: str = "one"
    bad_rows: str = "skip"


@dataclass(frozen=True)
class SynthesisSources:
    """What sentences were made of: folders of contexts and of names, the types that were asked for, and the rules."""

    contexts: tuple[str | Path, ...]
    names: tuple[str | Path, ...]
    types: tuple[str, ...]
    rules: Rules


@dataclass(frozen=True)
class Synthetic:
    """Parallel tagged sentences: a sample for training and one for testing, which share no context and no name.

    `names` are all usable names, by kind; `whole` the products before the split. `left_out` are the rows that could
    not be used, `notes` the kinds that were not, each with its reason. `sources` are what it was made of.
    """

    languages: tuple[str, ...]
    parts: Mapping[str, DrawnRows]
    whole: Mapping[SlotKind, Product]
    seed: int
    wanted: int
    left_out: tuple[SkippedRows, ...] = ()
    notes: tuple[str, ...] = ()
    folder: Path | None = field(default=None, compare=False)
    sources: SynthesisSources | None = field(default=None, compare=False)

    @property
    def names(self) -> list[TemplateTable[SlotName]]:
        return [product.names for product in self.whole.values()]

    def sentences(self, language: str, part: str = "train") -> Iterator[tuple[ProductRow, FilledSentence]]:
        """Each row of a part with its words and tags in a language; row n is the same in every language."""
        return self.parts[part].sentences(codes.canonical(language))

    def ambiguous(self, types: tuple[str, str] = ("LOC", "PER"), *, parts: bool = True) -> list[Ambiguous]:
        """Names that two types have: see `synthetic.tables.ambiguous_names`."""
        return ambiguous_names(self.names, types, parts=parts)

    def about(self, name: str, count: int, *, part: str = "test") -> DrawnRows:
        """`count` sentences of each type about one name, in contexts of a part: papers/003 Fig. 1 with Washington.

        The name is looked for among the names in the nominative, in any language; it is put into the nominative
        contexts of every type, whichever type it is listed under.
        """
        found = _row_of(name, self.names)
        if found is None:
            raise InputError("no such name in the nominative", value=name, remedy="Give a name as the files write it.")
        table, row = found
        products = [
            Product(product.contexts, replace(table.take([row]), kind=product.kind))
            for product in self.parts[part].products.values()
            if product.kind.case == "nominative"
        ]
        types = {product.kind.type for product in products}
        return sample(products, count * len(types), seed=f"{self.seed}/about/{name}")

    def with_entity(self, name: str) -> tuple[Synthetic, DrawnRows]:
        """Sentences about one name, a tenth as many of each type as there are rows; where fewer, a note says so."""
        wanted = max(1, self.wanted // 10)
        found = self.about(name, wanted)
        short = len({row.kind.type for row in found.rows}) * wanted - len(found)
        note = f"about {name}: {short} sentences fewer, for want of contexts"
        return (replace(self, notes=(*self.notes, note)) if short else self), found

    def _repr_html_(self) -> str:
        """For a notebook: how many contexts, names and sentences of each kind there are."""
        heads = ("kind", "contexts", "names", "possible")
        rows = [[each[head] for head in heads] for each in self.counts()["kinds"]]
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
        head = "".join(f"<th>{each}</th>" for each in heads)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def counts(self) -> dict[str, Any]:
        """Everything counted, as plain numbers: the paper's Table 1 (`possible`, by type) and how rows were used."""
        kinds = []
        for kind, product in self.whole.items():
            parts = {
                name: {
                    "contexts": len(drawn.products[kind].contexts),
                    "names": len(drawn.products[kind].names),
                    "possible": len(drawn.products[kind]),
                    "rows": sum(row.kind == kind for row in drawn.rows),
                }
                for name, drawn in self.parts.items()
            }
            kinds.append(
                {
                    "kind": kind.label,
                    "type": kind.type,
                    "case": kind.case,
                    "gender": kind.gender or None,
                    "contexts": len(product.contexts),
                    "names": len(product.names),
                    "possible": len(product),
                    **parts,
                }
            )
        types = dict.fromkeys(kind.type for kind in self.whole)
        return {
            "kind": "synth",
            "languages": list(self.languages),
            "seed": self.seed,
            "wanted": self.wanted,
            "rows": {name: len(drawn) for name, drawn in self.parts.items()},
            "possible": {
                kind: sum(len(product) for product in self.whole.values() if product.kind.type == kind)
                for kind in types
            },
            "kinds": kinds,
            "ambiguous": len(self.ambiguous()),
            "left_out": [
                {"reason": left.reason, "file": Path(left.file).name, "count": len(left.lines), "lines": left.lines}
                for left in self.left_out
            ],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{len(drawn)} {name}" for name, drawn in self.parts.items())
        return f"Synthetic({shown} rows in {', '.join(self.languages)})"


def synthesise(
    contexts: Sources,
    names: Sources,
    *,
    languages: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    rows: int = 500,
    seed: int = 0,
    rules: Rules | None = None,
) -> Synthetic:
    """`rows` sentences in each language, from contexts and names of the same kinds; a kind comes from its first source.

    `types` names entity types, or kinds of them (`LOC.locative`), each with a weight where shares are to differ
    (`PER=4`); all by default. Without `languages`, those that every type has.
    """
    rules = rules or Rules()
    if rows < 1:
        raise InputError("the number of rows must be positive", value=rows, remedy="Give 1 or more.")
    asked = None if languages is None else tuple(dict.fromkeys(codes.canonical(code) for code in languages))
    left_out: list[SkippedRows] = []
    notes: list[str] = []
    found, other = (
        first_sheet_per_kind(sources, what, asked, left_out, notes)
        for sources, what in ((contexts, "contexts"), (names, "names"))
    )
    weights, chosen = selected(types, pair_sheets(found, other, notes))
    spoken = asked or in_every_type(chosen)
    context_tables: list[TemplateTable[Context]] = []
    name_tables: list[TemplateTable[SlotName]] = []
    for context_sheet, name_sheet in sheets_with_languages(chosen, spoken, notes):
        context_table, bad_contexts = reading.contexts(context_sheet, spoken, slots=rules.slots, bad=rules.bad_rows)
        name_table, bad_names = reading.names(name_sheet, spoken, bad=rules.bad_rows)
        context_tables.append(_enough(context_table))
        name_tables.append(_enough(name_table))
        left_out += bad_contexts + bad_names
    context_parts = split(context_tables, share=rules.test_share, seed=f"{seed}/contexts")
    name_parts = split(name_tables, share=rules.test_share, seed=f"{seed}/names")
    test_rows = round(rows * rules.test_share)
    wanted = {"train": rows - test_rows, "test": test_rows}
    samples: dict[str, DrawnRows] = {}
    for number, (part, count) in enumerate(wanted.items()):
        products = [
            Product(_enough(one[number], part), _enough(two[number], part))
            for one, two in zip(context_parts, name_parts, strict=True)
        ]
        samples[part] = drawn = sample(products, count, seed=f"{seed}/{part}", weights=weights)
        if len(drawn) < count:
            notes.append(f"{part}: only {len(drawn)} of {count} rows, for want of contexts and names")
    whole = {one.kind: Product(one, two) for one, two in zip(context_tables, name_tables, strict=True)}
    made_of = SynthesisSources(tuple(contexts), tuple(names), tuple(types or ()), rules)
    return Synthetic(spoken, samples, whole, seed, rows, tuple(left_out), tuple(notes), sources=made_of)


def _row_of(name: str, tables: Sequence[TemplateTable[SlotName]]) -> tuple[TemplateTable[SlotName], int] | None:
    for table in tables:
        if table.kind.case == "nominative":
            for column in table.cells.values():
                for row, found in enumerate(column):
                    if found.text.casefold() == name.casefold():
                        return table, row
    return None


def _enough(table: TemplateTable[T], part: str = "") -> TemplateTable[T]:
    needed = 1 if part else 2
    if len(table) < needed:
        raise InputError(
            f"{len(table)} usable rows for {table.kind.label}{' in the ' + part + ' part' if part else ''}",
            file=table.file,
            remedy="Give at least two that share no text, for training and for testing.",
        )
    return table


ALL = "all"
NULL_ROWS = 200
"""Names of one side behind each null: with 11 languages there are 55 pairs, and 40,000 distances are enough."""


@dataclass(frozen=True)
class Spellings:
    """How alike names are spelled, for each type and for all: `scores[type][variant][source, target]`.

    Variants are `tnld` and, without transliteration, `nld`. A pair stands once, in the order of `languages`; the
    distance is symmetric, and that of a language to itself is 0.
    """

    languages: tuple[str, ...]
    scores: Mapping[str, Mapping[str, Mapping[tuple[str, str], Score]]]

    def value(self, type: str, variant: str, source: str, target: str) -> float:
        """The mean distance of two languages' names of a type."""
        if source == target:
            return 0.0
        found = self.scores[type][variant]
        return (found.get((source, target)) or found[target, source]).value

    def matrix(self, type: str = ALL, variant: str = "tnld") -> list[list[float]]:
        """The distances of all pairs, rows and columns in the order of `languages`."""
        return [[self.value(type, variant, one, other) for other in self.languages] for one in self.languages]

    def rows(self) -> list[dict[str, str | float | int | None]]:
        """A row for each type and pair: both distances, the interval and null of TNLD, and the number of names."""
        return [
            {
                "type": type,
                "source": source,
                "target": target,
                "tnld": score.value,
                "low": score.low,
                "high": score.high,
                "null": score.null,
                "nld": variants["nld"][source, target].value,
                "names": score.n,
            }
            for type, variants in self.scores.items()
            for (source, target), score in variants["tnld"].items()
        ]


def spellings(
    names: Sequence[TemplateTable[SlotName]], languages: Sequence[str], *, romaniser: str = "anyascii", seed: int = 0
) -> Spellings:
    """TNLD and plain normalised edit distance of every pair of languages, by type and over all names.

    Entities alone are compared, without the prepositions and suffixes that come with them. Names of several cases of
    one type are taken together, each as often as it stands there.

    >>> from interlingua.synthetic.tables import SlotKind
    >>> table = TemplateTable(SlotKind("LOC"), {"en": (SlotName("Minsk"),), "be": (SlotName("Мінск"),)}, (2,), "places")
    >>> found = spellings([table], ["en", "be"])
    >>> found.matrix("LOC"), found.matrix("LOC", "nld")
    ([[0.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    if len(languages) < 2:
        raise InputError("one language has nothing to be compared with", value=languages[0], remedy="Give two or more.")
    types = dict.fromkeys(table.kind.type for table in names)
    groups = {type: [table for table in names if table.kind.type == type] for type in types}
    if len(groups) > 1:
        groups[ALL] = list(names)
    scores: dict[str, dict[str, dict[tuple[str, str], Score]]] = {}
    for type, tables in groups.items():
        columns = {code: [name.text for table in tables for name in table.cells[code]] for code in languages}
        found = scores.setdefault(type, {"tnld": {}, "nld": {}})
        for place, source in enumerate(languages):
            for target in languages[place + 1 :]:
                made = spelling(columns[source], columns[target], romaniser=romaniser, seed=seed, null_rows=NULL_ROWS)
                for variant in found:
                    found[variant][source, target] = made[variant]
    return Spellings(tuple(languages), scores)
