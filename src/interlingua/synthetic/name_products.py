"""Contexts × names: which are drawn, and split so that no test context or name is seen in training."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from interlingua.synthetic.seeded_draws import Permutation, apportion, shuffle_seeded
from interlingua.synthetic.slot_filling import FilledSentence, fill
from interlingua.synthetic.tables import Context, SlotKind, SlotName, TemplateTable


@dataclass(frozen=True, slots=True)
class ProductRow:
    """One context with one name: the same sentence in every language, under one id."""

    kind: SlotKind
    context: int
    name: int
    id: str


@dataclass(frozen=True)
class Product:
    """All contexts of a kind with all its names, |C| · |E| rows of which none is built before it is asked for.

    >>> from interlingua.synthetic.slot_filling import cut
    >>> contexts = TemplateTable(SlotKind("LOC"), {"en": (cut("I like [???]."), cut("[???]!"))}, (2, 3), "contexts")
    >>> named = tuple(map(SlotName, ("Rome", "Oslo", "Lima")))
    >>> names = TemplateTable(SlotKind("LOC"), {"en": named}, (2, 3, 4), "names")
    >>> product = Product(contexts, names)
    >>> len(product), product.row(4).id, product.sentence(product.row(4), "en").text
    (6, 'LOC.nominative:3:3', 'Oslo!')
    """

    contexts: TemplateTable[Context]
    names: TemplateTable[SlotName]

    @property
    def kind(self) -> SlotKind:
        return self.contexts.kind

    def __len__(self) -> int:
        return len(self.contexts) * len(self.names)

    def row(self, number: int) -> ProductRow:
        """Row `number` of the product; its id says the kind, the context's line and the name's."""
        context, name = divmod(number, len(self.names))
        lines = self.contexts.lines[context], self.names.lines[name]
        return ProductRow(self.kind, context, name, f"{self.kind.label}:{lines[0]}:{lines[1]}")

    def draw(self, count: int, *, seed: str) -> list[ProductRow]:
        """`count` rows without replacement, all of them where there are fewer; a longer draw begins with a shorter."""
        order = Permutation(len(self), f"{seed}/{self.kind.label}")
        return [self.row(order[number]) for number in range(min(count, len(self)))]

    def sentence(self, row: ProductRow, language: str) -> FilledSentence:
        """The tagged sentence of a row in a language."""
        context, name = self.contexts.cells[language][row.context], self.names.cells[language][row.name]
        return fill(context, name, self.kind.type, language)


@dataclass(frozen=True)
class DrawnRows:
    """Rows drawn from products, in a seeded order; every language has the same ones."""

    products: Mapping[SlotKind, Product]
    rows: tuple[ProductRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def sentences(self, language: str) -> Iterator[tuple[ProductRow, FilledSentence]]:
        """Each row with its sentence in a language, in the order that all languages share."""
        return ((row, self.products[row.kind].sentence(row, language)) for row in self.rows)

    def iob2(self, language: str) -> Iterator[str]:
        """The lines of an IOB2 file: word, row id and tag with tabs between, a blank line after each sentence.

        Readers of CoNLL files take the first column and the last, so the id is no hindrance to them.
        """
        for row, filled in self.sentences(language):
            for word, tag in zip(filled.words, filled.tags, strict=True):
                yield f"{word}\t{row.id}\t{tag}\n"
            yield "\n"


def sample(
    products: Sequence[Product], count: int, *, seed: str, weights: Mapping[str, float] | None = None
) -> DrawnRows:
    """`count` rows over the products: shared out by type (`weights`, even by default), then evenly by kind.

    A product with fewer rows than its part gives all it has, and the rest is not made up by others, so that the
    balance of types is what was asked for or visibly is not.
    """
    types = list(dict.fromkeys(product.kind.type for product in products))
    shares = apportion(count, [1.0 if weights is None else weights[kind] for kind in types])
    rows: list[ProductRow] = []
    for kind, part in zip(types, shares, strict=True):
        inside = [product for product in products if product.kind.type == kind]
        for product, size in zip(inside, apportion(part, [1.0] * len(inside)), strict=True):
            rows += product.draw(size, seed=seed)
    return DrawnRows({product.kind: product for product in products}, tuple(shuffle_seeded(rows, f"{seed}/order")))


T = TypeVar("T", Context, SlotName)
_Group = list[tuple[int, int]]
"""Rows, each by its table and its place there."""


def split(
    tables: Sequence[TemplateTable[T]], *, share: float, seed: str
) -> list[tuple[TemplateTable[T], TemplateTable[T]]]:
    """Each table's training and test part: disjoint, together whole, the test part `share` of it to the nearest row.

    papers/003 §3.1 splits rows. Here rows that share a text in any language, whatever their kind, stay together
    (Australia in the nominative and in the locative; a context that two genders have in common in English): otherwise
    a test name would have been seen in training. Where rows are tied the share is met as nearly as the ties allow.
    Both parts of a table of two or more untied rows have a row.

    >>> from interlingua.synthetic.tables import SlotKind
    >>> named = tuple(SlotName(f"Place {i}") for i in range(10))
    >>> table = TemplateTable(SlotKind("LOC"), {"en": named}, tuple(range(10)), "x")
    >>> [len(part) for part in split([table], share=0.2, seed="0")[0]]
    [8, 2]
    """
    groups = _groups(tables)
    test: list[set[int]] = [set() for _ in tables]
    classes: dict[tuple[int, ...], list[_Group]] = {}
    for group in groups:
        classes.setdefault(tuple(number for number, _ in group), []).append(group)
    # Groups of one pattern (so many rows of the same tables) are split alike; what rounding owes a table is paid
    # by the next pattern that has rows of it.
    owed = [0.0] * len(tables)
    for pattern in sorted(classes):
        members = shuffle_seeded(classes[pattern], f"{seed}/{pattern}")
        inside = {number: pattern.count(number) for number in pattern}
        debt = sum(owed[number] / count for number, count in inside.items()) / len(inside)
        taken = min(max(round(len(members) * share + debt), 0), len(members))
        for number, count in inside.items():
            owed[number] += (len(members) * share - taken) * count
        for number, row in (item for group in members[:taken] for item in group):
            test[number].add(row)
    for number in range(len(tables)):
        _lend(number, tables, test, groups)
    return [
        (table.take([row for row in range(len(table)) if row not in chosen]), table.take(sorted(chosen)))
        for table, chosen in zip(tables, test, strict=True)
    ]


def _lend(number: int, tables: Sequence[TemplateTable[T]], test: Sequence[set[int]], groups: Sequence[_Group]) -> None:
    """Move a group where one part of a small table has no row, if that leaves no other part without one."""
    sizes = [len(table) for table in tables]
    if 0 < len(test[number]) < sizes[number]:
        return
    into = not test[number]
    for group in groups:
        inside = [other for other, _ in group]
        left = all(
            inside.count(other) < (sizes[other] - len(test[other]) if into else len(test[other])) for other in inside
        )
        if number in inside and left:
            for other, row in group:
                (test[other].add if into else test[other].discard)(row)
            return


def _groups(tables: Sequence[TemplateTable[T]]) -> list[_Group]:
    """Rows in sets that no text ties to another, in order of their first row."""
    items = [(number, row) for number, table in enumerate(tables) for row in range(len(table))]
    parent = list(range(len(items)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    seen: dict[tuple[str, Hashable], int] = {}
    for place, (number, row) in enumerate(items):
        for key in tables[number].keys(row):
            other = root(seen.setdefault(key, place))
            mine = root(place)
            parent[max(other, mine)] = min(other, mine)
    groups: dict[int, _Group] = {}
    for place, item in enumerate(items):
        groups.setdefault(root(place), []).append(item)
    return list(groups.values())
