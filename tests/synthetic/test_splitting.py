import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.synthetic.name_products import split
from interlingua.synthetic.tables import SlotKind, SlotName, TemplateTable, ambiguous_names


def table(columns, kind=None):
    size = len(next(iter(columns.values())))
    cells = {code: tuple(SlotName(text) for text in column) for code, column in columns.items()}
    return TemplateTable(kind or SlotKind("LOC"), cells, tuple(range(2, size + 2)), "file")


rows = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60)), min_size=2, max_size=40)


@settings(max_examples=150, deadline=None)
@given(st.lists(rows, min_size=1, max_size=3), st.floats(0.05, 0.95), st.integers(0, 3))
def test_parts_are_disjoint_in_every_language_and_together_whole(given_rows, share, seed):
    tables = [
        table({"en": [f"a{a}" for a, _ in part], "ru": [f"б{b}" for _, b in part]}, SlotKind("LOC", f"case{number}"))
        for number, part in enumerate(given_rows)
    ]
    halves = split(tables, share=share, seed=str(seed))
    for code in ("en", "ru"):
        train, test = ({name.key for half in halves for name in half[place].cells[code]} for place in (0, 1))
        assert not train & test
    for whole, (train, test) in zip(tables, halves, strict=True):
        assert sorted(train.lines + test.lines) == list(whole.lines)


@pytest.mark.parametrize("size", [2, 3, 5, 10, 101, 332])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_untied_rows_are_split_to_the_nearest_row_and_no_part_is_empty(size, share):
    ((train, test),) = split([table({"en": [f"n{row}" for row in range(size)]})], share=share, seed="1")
    assert len(test) == max(1, round(size * share))
    assert len(train) + len(test) == size


def test_rows_tied_across_kinds_go_to_one_side_and_the_share_holds_in_each():
    names = [f"place{row}" for row in range(200)]
    nominative, locative = table({"en": names}), table({"en": names[50:120]}, SlotKind("LOC", "locative"))
    (_, one), (_, other) = split([nominative, locative], share=0.2, seed="0")
    held = {name.text for name in one.cells["en"]}
    assert {name.text for name in other.cells["en"]} == held & set(names[50:120])
    assert abs(len(one) - 40) <= 1
    assert abs(len(other) - 14) <= 1


def test_ambiguous_names_are_whole_words_of_the_other_type_in_some_language():
    places = table({"en": ["Washington", "Lima", "Ann"], "tr": ["Vaşington", "Lima", "Ann"]})
    people = table(
        {"en": ["George Washington", "Anna Lima"], "tr": ["George Washington", "Anna Lima"]}, SlotKind("PER")
    )
    found = {(each.first[1], each.second[1]): dict(each.texts) for each in ambiguous_names([places, people])}
    assert found == {(2, 2): {"en": "Washington"}, (3, 3): {"en": "Lima", "tr": "Lima"}}
    assert ambiguous_names([places, people], parts=False) == []
