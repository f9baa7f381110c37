import json
import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.errors import InputError
from interlingua.studies.config.toml_file import locate_keys, read_toml

NASTY = '''# a comment with [brackets] = and "quotes
title = "a # no comment, [no] list" # but = this is
"quoted key".'lit.eral' = 1
date = 1979-05-27T07:32:00-08:00

[tasks.nli] # header comment
train = """
[not.a.table]
key = "inside a string"
"""
lines = [
  "one",  # with ] in it
  [ 2,
    3 ],
  { x = 1, y.z = ["deep",
                  "er"] },
]
a.b.c = 0x1F
a.b.d = \'\'\'
literal """ [x] \'\' quotes
\'\'\'
[[runs]]
name = "first"
[[runs.parts]]
p = 1
[[runs.parts]]
p = 2
[[runs]]
name = 'second'
[runs.more]
empty = {}
none = []
last = "escaped \\\\"
end = "quote \\" ]"
'''


def paths(value, path=()):
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths(inner, (*path, number))


def test_every_path_that_tomllib_finds_has_a_place_and_no_other():
    assert set(locate_keys(NASTY)) == set(paths(tomllib.loads(NASTY)))


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        (("title",), "title"),
        (("quoted key", "lit.eral"), '"quoted key"'),
        (("tasks", "nli"), "[tasks.nli]"),
        (("tasks", "nli", "train"), "train"),
        (("tasks", "nli", "lines", 0), '  "one"'),
        (("tasks", "nli", "lines", 1, 1), "    3"),
        (("tasks", "nli", "lines", 2, "y", "z", 1), '                  "er"'),
        (("tasks", "nli", "a", "b", "d"), "a.b.d"),
        (("runs", 0, "parts", 1, "p"), "p = 2"),
        (("runs", 1, "name"), "name = 'second'"),
        (("runs", 1, "more", "end"), "end"),
    ],
)
def test_a_place_is_the_line_where_it_is_written(path, begins):
    line = locate_keys(NASTY)[path]
    assert NASTY.splitlines()[line - 1].startswith(begins)


def test_windows_line_ends_count_once():
    assert locate_keys("a = 1\r\n\r\nb = [1,\r\n2]\r\n")["b", 1] == 4


KEYS = st.text("abcé .#[]='\"\\", min_size=1, max_size=5)
SCALARS = st.one_of(
    st.integers(-9, 9),
    st.booleans(),
    st.floats(-1, 1),
    st.text("ab#[]{}=,.'\"\\ é", max_size=6),
    st.just(date(2020, 1, 2)),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


def written(value, wide):
    """A value as TOML, in one line or a line for each element of a list."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {written(inner, wide)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        gap = " # ]\n" if wide else " "
        return "[" + "".join(f"{gap}{written(inner, wide)}," for inner in value) + gap + "]"
    return json.dumps(value) if isinstance(value, str | bool | int | float) else str(value)


@pytest.mark.reliability("small files that take long")
def test_a_file_of_holes_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "study.toml").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(InputError, match="more than 4 MB"):
        read_toml(tmp_path / "study.toml", called="study")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    file = tmp_path / "a.toml"
    file.write_bytes(b"\xef\xbb\xbf[a]\nb = 1\n")
    assert read_toml(file, called="file") == ({"a": {"b": 1}}, {("a",): 1, ("a", "b"): 2})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = 1\nb = " + b"[" * 100_000, r"a\.toml: nested too deeply\. Take some"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, r"a\.toml: nested too deeply"),
        (b"a = 1\nb = " + b"9" * 5000, r"a\.toml:2: a number of too many digits\. Give a shorter one"),
        (b"a = 1\nb = '\xe9'", r"a\.toml:2: a byte that is not UTF-8: '0xe9'\. Save it as UTF-8"),
        ("a = 1".encode("utf-16"), r"a\.toml:1: a byte that is not UTF-8: '0xff'"),
        (b"a = 1\nb = ]", r"a\.toml:2: not valid TOML"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(tmp_path, content, problem):
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_toml(tmp_path / "a.toml", called="file")


TABLES = st.lists(st.dictionaries(KEYS, VALUES, max_size=2), min_size=1, max_size=2)


@given(st.dictionaries(KEYS, st.one_of(VALUES, TABLES), max_size=4), st.booleans())
def test_any_document_is_placed_where_tomllib_reads_it(document, wide):
    lines = []
    for key, value in document.items():
        if isinstance(value, list) and value and all(isinstance(inner, dict) for inner in value):
            for inner in value:
                lines.append(f"[[top.{json.dumps(key)}]]")
                lines += [f"{json.dumps(name)} = {written(each, wide)}" for name, each in inner.items()]
        else:
            lines.append(f"[{json.dumps(key)}]\nv = {written(value, wide)}" if key != "top" else "")
    text = "\n".join(lines)
    parsed = tomllib.loads(text)
    found = locate_keys(text)
    assert set(found) == set(paths(parsed))
    split = text.split("\n")
    for path, line in found.items():
        if isinstance(path[-1], str) and path[-1] != "top":
            assert path[-1] == "v" or json.dumps(path[-1]) in split[line - 1]
