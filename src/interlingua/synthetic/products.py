"""The product of contexts and names, kind by kind: how many sentences it has, and any of them by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from interlingua.synthetic.drawing import Permutation, apportioned, shuffled
from interlingua.synthetic.slots import Filled, fill
from interlingua.synthetic.tables import Context, Kind, Name, Table


@dataclass(frozen=True, slots=True)
class Row:
    """One context with one name: the same sentence in every language, under one id."""

    kind: Kind
    context: int
    name: int
    id: str


@dataclass(frozen=True)
class Product:
    """All contexts of a kind with all its names, |C| · |E| rows of which none is built before it is asked for.

    >>> from interlingua.synthetic.slots import cut
    >>> contexts = Table(Kind("LOC"), {"en": (cut("I like [???]."), cut("[???]!"))}, (2, 3), "contexts")
    >>> names = Table(Kind("LOC"), {"en": (Name("Rome"), Name("Oslo"), Name("Lima"))}, (2, 3, 4), "names")
    >>> product = Product(contexts, names)
    >>> len(product), product.row(4).id, product.sentence(product.row(4), "en").text
    (6, 'LOC.nominative:3:3', 'Oslo!')
    """

    contexts: Table[Context]
    names: Table[Name]

    @property
    def kind(self) -> Kind:
        return self.contexts.kind

    def __len__(self) -> int:
        return len(self.contexts) * len(self.names)

    def row(self, number: int) -> Row:
        """Row `number` of the product; its id says the kind, the context's line and the name's."""
        context, name = divmod(number, len(self.names))
        lines = self.contexts.lines[context], self.names.lines[name]
        return Row(self.kind, context, name, f"{self.kind.label}:{lines[0]}:{lines[1]}")

    def draw(self, count: int, *, seed: str) -> list[Row]:
        """`count` rows without replacement, all of them where there are fewer; a longer draw begins with a shorter."""
        order = Permutation(len(self), f"{seed}/{self.kind.label}")
        return [self.row(order[number]) for number in range(min(count, len(self)))]

    def sentence(self, row: Row, language: str) -> Filled:
        """The tagged sentence of a row in a language."""
        context, name = self.contexts.cells[language][row.context], self.names.cells[language][row.name]
        return fill(context, name, self.kind.type, language)


@dataclass(frozen=True)
class Sample:
    """Rows drawn from products, in a seeded order; every language has the same ones."""

    products: Mapping[Kind, Product]
    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def sentences(self, language: str) -> Iterator[tuple[Row, Filled]]:
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


def sample(products: Sequence[Product], count: int, *, seed: str, weights: Mapping[str, float] | None = None) -> Sample:
    """`count` rows over the products: shared out by type (`weights`, even by default), then evenly by kind.

    A product with fewer rows than its part gives all it has, and the rest is not made up by others, so that the
    balance of types is what was asked for or visibly is not.
    """
    types = list(dict.fromkeys(product.kind.type for product in products))
    shares = apportioned(count, [1.0 if weights is None else weights[kind] for kind in types])
    rows: list[Row] = []
    for kind, part in zip(types, shares, strict=True):
        inside = [product for product in products if product.kind.type == kind]
        for product, size in zip(inside, apportioned(part, [1.0] * len(inside)), strict=True):
            rows += product.draw(size, seed=seed)
    return Sample({product.kind: product for product in products}, tuple(shuffled(rows, f"{seed}/order")))
