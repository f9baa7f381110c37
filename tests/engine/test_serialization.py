"""Dataclasses as JSON and back: equal again, strictly typed, and with one digest for one value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.engine.serialization import File, build, canonical, canonical_form, digest, to_plain
from interlingua.errors import InputError


class Way(StrEnum):
    THERE = "there"
    BACK = "back"


@dataclass(frozen=True)
class Leaf:
    name: str
    weight: float = 0.5


@dataclass(frozen=True)
class Fruit:
    name: str
    ripe: bool


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf | Fruit, ...] = ()
    pair: tuple[int, str] = (1, "a")
    names: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    depth: int | None = None
    way: Way = Way.THERE
    kind: Literal["oak", "elm"] = "oak"
    files: tuple[File, ...] = ()
    rest: Any = None


numbers = st.floats(allow_nan=False, allow_infinity=False)
trees = st.builds(
    Tree,
    leaves=st.lists(st.builds(Leaf, st.text(), numbers) | st.builds(Fruit, st.text(), st.booleans())).map(tuple),
    pair=st.tuples(st.integers(), st.text()),
    names=st.dictionaries(st.text(), st.lists(numbers, max_size=3).map(tuple), max_size=3),
    depth=st.none() | st.integers(),
    way=st.sampled_from(Way),
    kind=st.sampled_from(["oak", "elm"]),
    files=st.lists(st.builds(File, st.text(), st.text(), st.text()), max_size=2).map(tuple),
    rest=st.none() | st.lists(st.integers()) | st.text(),
)


@given(trees)
def test_what_is_written_is_read_again(tree: Tree) -> None:
    again = build(Tree, json.loads(canonical(to_plain(tree))))
    assert again == tree
    assert canonical(canonical_form(again)) == canonical(canonical_form(tree))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"leaves": [{"name": "a"}]}, r"Tree\.leaves should be"),
        ({"leaves": [{"name": "a", "weight": 1, "ripe": True}]}, r"Tree\.leaves should be"),
        ({"leaves": {"name": "a"}}, r"Tree\.leaves should be"),
        ({"pair": [1]}, r"Tree\.pair should be"),
        ({"pair": ["a", 1]}, r"Tree\.pair should be int"),
        ({"pair": [True, "a"]}, r"Tree\.pair should be int"),
        ({"names": {"a": ["b"]}}, r"Tree\.names\.a should be float"),
        ({"depth": 1.0}, r"Tree\.depth should be"),
        ({"way": "up"}, r"Tree\.way should be Way"),
        ({"kind": "pine"}, r"Tree\.kind should be"),
        ({"leafs": []}, "Did you mean 'leaves'"),
        ([], "Tree should be Tree"),
    ],
)
def test_anything_else_is_refused_by_the_name_of_its_field(data: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        build(Tree, data)


def test_a_field_without_a_default_is_wanted() -> None:
    with pytest.raises(InputError, match="Leaf lacks a field: 'name'"):
        build(Leaf, {"weight": 1.0})


@pytest.mark.parametrize("bad", [math.nan, math.inf, {1}, b"a", object(), {1: 2}, 1j])
def test_what_is_no_json_is_refused_wherever_it_stands(bad: Any) -> None:
    with pytest.raises(InputError, match=r"rest"):
        to_plain(Tree(rest=[{"a": bad}]))


def test_a_file_counts_by_name_and_content() -> None:
    here, there = File("/here/a.tsv", "00", "yesterday"), File("/there/a.tsv", "00", "today")
    assert digest(here) == digest(there) == digest({"file": "a.tsv", "digest": "00"})
    assert len({digest(one) for one in (here, File("/here/b.tsv", "00"), File("/here/a.tsv", "01"))}) == 3
    assert canonical_form(Tree(files=(here,))) == canonical_form(Tree(files=(there,)))


def test_a_whole_number_is_a_float_where_the_field_says_so() -> None:
    assert canonical(canonical_form(Leaf("a", 1))) == canonical(canonical_form(Leaf("a", 1.0)))
