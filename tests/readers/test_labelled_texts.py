"""Labelled texts as people have them: tables with and without a header, JSON Lines, and what is refused of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from interlingua.errors import InputError
from interlingua.readers.examples import LabelledText
from interlingua.readers.labelled_texts import read_texts

ROWS = [("Rain, and wind.", "weather"), ('He said "no".', "2"), ("Té verde", "food")]


def wrote(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder / name


def pairs(path: Path, **more: object) -> list[tuple[tuple[str, ...], str]]:
    return [(item.texts, item.label) for item in read_texts(path, language="en", **more)]


EVERY_WAY = {
    "bare.tsv": "".join(f"{text}\t{label}\n" for text, label in ROWS),
    "named.tsv": "label\tid\tSentence\n" + "".join(f"{label}\t7\t{text}\n" for text, label in ROWS),
    "commas.csv": 'text,label\n"Rain, and wind.",weather\n"He said ""no"".",2\nTé verde,food\n',
    "semicolons.csv": 'category;review\nweather;Rain, and wind.\n2;"He said ""no""."\nfood;Té verde\n',
    "quoted.tsv": '"text"\t"label"\n"Rain, and wind."\t"weather"\n"He said ""no""."\t"2"\n"Té verde"\t"food"\n',
    "strings.jsonl": "".join(json.dumps({"label": label, "text": text}) + "\n" for text, label in ROWS),
    "mixed.jsonl": "".join(
        json.dumps({"utterance": text, "intent": int(label) if label == "2" else label, "id": [1]}) + "\n"
        for text, label in ROWS
    ),
}


@pytest.mark.parametrize("name", EVERY_WAY)
def test_every_format_gives_the_same_texts_and_labels(tmp_path: Path, name: str) -> None:
    found = read_texts(wrote(tmp_path, name, EVERY_WAY[name]), language="eng")
    assert [(item.texts[0], item.label) for item in found] == ROWS
    assert found.language == "en"
    first = int(not name.startswith("bare") and not name.endswith("jsonl"))
    assert [item.line for item in found] == [first + 1, first + 2, first + 3]


def test_a_compressed_file_is_read_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(gzip.compress(EVERY_WAY["bare.tsv"].encode()))
    assert [label for _, label in pairs(tmp_path / "a.tsv")] == ["weather", "2", "food"]


def test_two_texts_are_read_together(tmp_path: Path) -> None:
    bare = wrote(tmp_path, "a.tsv", "a cat\tan animal\tyes\n")
    named = wrote(tmp_path, "b.csv", "label,hypothesis,premise\nyes,an animal,a cat\n")
    objects = wrote(tmp_path, "c.jsonl", '{"text2": "an animal", "text1": "a cat", "label": "yes"}\n')
    for path in (bare, named, objects):
        assert pairs(path) == [(("a cat", "an animal"), "yes")]


def test_columns_that_the_caller_names_are_taken(tmp_path: Path) -> None:
    path = wrote(tmp_path, "a.csv", "text,title,stars,label\nlong,short,5,x\n")
    assert pairs(path, columns=("Title", "stars")) == [(("short",), "5")]
    assert pairs(path, columns=("title", "text", "label")) == [(("short", "long"), "x")]
    with pytest.raises(InputError, match=r"a\.csv:1: no such column: 'score'\. It has: text, title"):
        pairs(path, columns=("text", "score"))


def test_what_is_left_out_is_counted_with_its_places(tmp_path: Path) -> None:
    text = "text,label,language\na,x,en\n,x,en\n\nb,,en\nc,y,ru\nd,y,English\n"
    found = read_texts(wrote(tmp_path, "a.csv", text), language="en")
    assert found.items == (LabelledText(("a",), "x", 2), LabelledText(("d",), "y", 7))
    assert {(skip.reason, skip.count, skip.where) for skip in found.skipped} == {
        ("rows with an empty text", 1, ("a.csv:3",)),
        ("blank lines", 1, ("a.csv:4",)),
        ("rows without a label", 1, ("a.csv:5",)),
        ("rows in other languages", 1, ("a.csv:6",)),
    }


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "text,label,Text\na,b,c\n", r"a\.csv:1: two columns of one name: 'Text'"),
        ("a.csv", "text,label,review\na,b,c\n", r"a\.csv:1: two columns that may hold the text: 'text and review'"),
        ("a.csv", "text,label,class\na,b,c\n", r"two columns that may hold the label: 'label and class'"),
        ("a.csv", "text,premise,label\na,b,c\n", r"two columns that may hold the text: 'text and premise'"),
        ("a.csv", "content2,label\na,b\n", r"a\.csv:1: no column for the text"),
        ("a.csv", "text,stars\na,b\n", r"no column for the label"),
        ("a.csv", "sentence1,label\na,b\n", r"no column for the second text"),
        ("a.csv", "Rain,weather\n", r"a\.csv:1: no header that names a text and a label"),
        ("a.csv", "text,label\nRain, wind,weather\n", r"a\.csv:2: 3 columns where the header has 2"),
        ("a.tsv", "a\tb\na\tb\tc\n", r"a\.tsv:2: 3 columns where 2 were expected"),
        ("a.tsv", "a\tb\tc\td\n", r"a\.tsv:1: 4 columns where 2 or 3 were expected"),
        ("a.jsonl", '{"text": "a", "label": true}\n', r"a\.jsonl:1: label is no text or whole number: True"),
        ("a.jsonl", '{"text": "a", "label": 1.5}\n', r"a\.jsonl:1: label is no text or whole number: 1\.5"),
        ("a.jsonl", '{"text": 3, "label": 1}\n', r"a\.jsonl:1: text is no text: 3"),
        ("a.jsonl", '{"text": "a", "label": 1}\n{"text": "a"}\n', r"a\.jsonl:2: no column for the label"),
        ("a.jsonl", '{"text": "a", "text": "b", "label": 1}\n', r"a\.jsonl:1: a key twice"),
        ("a.json", '[{"text": "a", "label": 1}]\n', r"a JSON list, not an object a line"),
        ("a.tsv", "text\tlabel\n", r"no example in the file"),
        ("a.tsv", "a\0b\tc\n", r"binary, not text"),
        ("a.tsv", "".join(f"s{n}\tx\n" for n in range(12)), r"a\.tsv:1: the texts are numbers or identifiers"),
        (
            "a.tsv",
            "".join(f"{'good' if n % 2 else 'bad'}\tsentence number {n}\n" for n in range(12)),
            r"a\.tsv:1: 12 labels and 2 texts in 12 rows",
        ),
    ],
)
def test_what_is_no_file_of_labelled_texts_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        read_texts(wrote(tmp_path, name, text), language="en")
    assert refused.value.remedy
