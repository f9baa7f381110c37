from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.synthetic.name_products import Product, sample
from interlingua.synthetic.slot_filling import cut
from interlingua.synthetic.tables import SlotKind, SlotName, TemplateTable


def product(contexts, names, kind):
    lines = tuple(range(2, 2 + max(contexts, names)))
    return Product(
        TemplateTable(kind, {code: tuple(cut(f"{code}{i} [???].") for i in range(contexts)) for code in ("en", "tr")},
              lines[:contexts], "contexts"),
        TemplateTable(kind, {code: tuple(SlotName(f"{code} Name{i}") for i in range(names)) for code in ("en", "tr")},
              lines[:names], "names"),
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 90), st.integers(0, 5))
def test_a_draw_has_distinct_rows_and_a_longer_one_begins_with_it(contexts, names, count, seed):
    made = product(contexts, names, SlotKind("LOC"))
    assert len(made) == contexts * names
    drawn = made.draw(count, seed=str(seed))
    assert len({row.id for row in drawn}) == len(drawn) == min(count, contexts * names)
    assert made.draw(count + 7, seed=str(seed))[: len(drawn)] == drawn


def test_every_context_meets_every_name_once():
    made = product(4, 5, SlotKind("LOC"))
    assert {(row.context, row.name) for row in made.draw(20, seed="0")} == {(c, n) for c in range(4) for n in range(5)}


def test_a_product_of_billions_is_drawn_from_without_being_built():
    cells = tuple(cut(f"{i} [???]") for i in range(40_000))
    names = tuple(SlotName(str(i)) for i in range(50_000))
    made = Product(
        TemplateTable(SlotKind("ORG"), {"en": cells}, tuple(range(40_000)), "c"),
        TemplateTable(SlotKind("ORG"), {"en": names}, tuple(range(50_000)), "n"),
    )
    assert len(made) == 2_000_000_000
    assert len({row.id for row in made.draw(500, seed="3")}) == 500


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 3))
def test_rows_stay_parallel_and_ids_tie_the_languages(count, seed):
    made = [
        product(3, 5, SlotKind("LOC")),
        product(2, 4, SlotKind("PER", gender="male")),
        product(4, 4, SlotKind("PER")),
    ]
    drawn = sample(made, count, seed=str(seed))
    both = list(zip(drawn.sentences("en"), drawn.sentences("tr"), strict=True))
    for (row, english), (same, turkish) in both:
        assert row == same
        assert english.text.replace("en", "tr") == turkish.text
        assert [tag for tag in english.tags if tag != "O"] == [tag for tag in turkish.tags if tag != "O"]
    assert len(both) == len(drawn.rows)


def test_types_get_their_share_and_kinds_of_a_type_get_equal_parts():
    made = [product(9, 9, SlotKind("PER", gender="male")), product(9, 9, SlotKind("PER", gender="female")),
            product(9, 9, SlotKind("LOC"))]  # fmt: skip
    drawn = sample(made, 30, seed="0", weights={"PER": 2, "LOC": 1})
    assert [sum(row.kind == each.kind for row in drawn.rows) for each in made] == [10, 10, 10]
