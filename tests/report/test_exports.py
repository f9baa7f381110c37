from __future__ import annotations

import csv
import io
import math
import re

import pytest

from interlingua.record import Difference, Estimate
from interlingua.report.kit.citations import PAPERS, cite, name_papers
from interlingua.report.kit.exports import format_cell, is_numeric, latex_text, to_csv, to_latex, to_markdown
from interlingua.report.kit.table import Cell, Column, Table
from sample_reports import HOSTILE as SCRIPT
from sample_reports import languages_table

HOSTILE = f'a|b & 5% $x$ #1 _y_ {{z}} ~^ \\ <i> "q", `c` \u202e* {SCRIPT}'


def table(*rows: tuple[Cell, ...], heads: tuple[str, ...] = ("a", "n"), display: str = "decimal3") -> Table:
    columns = (Column(title=heads[0]), *(Column(title=head, display=display) for head in heads[1:]))  # type: ignore[arg-type]
    return Table(name="t", title="T", columns=columns, rows=rows)


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_csv_reads_back_as_the_same_cells() -> None:
    rows: tuple[tuple[Cell, ...], ...] = ((HOSTILE, 0.1234567890123, None), ("line\nbreak", 2.0, None))
    head, *found = read(to_csv(table(*rows, heads=("text", "number", "none"))))
    assert head == ["text", "number", "none"]
    assert [(row[0], float(row[1]), row[2]) for row in found] == [(row[0], row[1], "") for row in rows]
    assert to_csv(table(heads=("a", "b"))) == "a,b\r\n"


def test_csv_has_a_column_for_each_number_of_an_estimate_and_the_rounded_formats_one() -> None:
    found = list(csv.DictReader(io.StringIO(to_csv(languages_table()), newline="")))
    assert list(found[0]) == [
        "Language", "P@1 as is", "P@1 as is ci_low", "P@1 as is ci_high", "P@1 as is null_value", "CKA, debiased",
        "Change", "Change ci_low", "Change ci_high", "Change p", "Change p_adjusted", "Layer",
    ]  # fmt: skip
    assert float(found[1]["P@1 as is ci_high"]) == 0.52
    assert found[3]["P@1 as is"] == found[3]["Change p"] == found[3]["CKA, debiased"] == ""
    assert "[46.0, 52.0]" in to_latex(languages_table())
    assert r"+10.0 \[+5.0, +15.0\]" in to_markdown(languages_table())


def test_no_number_that_is_not_finite_reaches_any_format() -> None:
    bad = table(("x", math.nan), ("y", math.inf), ("z", Estimate(value=math.nan, ci_low=0.0, ci_high=math.inf)))
    for text in (to_csv(bad), to_markdown(bad), to_latex(bad)):
        assert not re.search(r"\b(nan|inf)\b", text)


def test_markdown_has_the_same_number_of_cells_in_every_line() -> None:
    text = to_markdown(table((HOSTILE, 1.0), ("b\nc", None), heads=(HOSTILE, "n")))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [3] * 4
    assert "<" not in text


def test_latex_leaves_no_character_with_a_meaning() -> None:
    escaped = latex_text(HOSTILE)
    for command in (
        r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}", r"\textless{}", r"\textgreater{}",
        r"\textbar{}",
    ):  # fmt: skip
        escaped = escaped.replace(command, "")
    assert not re.search(r"(?<!\\)[&%$#_{}~^\\](?![&%$#_{}])", escaped)


FORMULAS = ["=1+1", "+a", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-", "=cmd|' /C calc'!A0"]
FORMULAS += [
    f"{blank}=1+1" for blank in (" ", "\xa0", "\u3000", "\u2028", "\x0b", "\x1c", "\x85", "\u200b", "\ufeff", "\0")
]


@pytest.mark.reliability("formulas in CSV cells")
@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_a_spreadsheet_would_compute_has_an_apostrophe_in_front(text: str) -> None:
    assert [row[0] for row in read(to_csv(table((text, 1), heads=(text, "n"))))] == [f"'{text}", f"'{text}"]


@pytest.mark.reliability("formulas in CSV cells")
@pytest.mark.parametrize("cell", [-0.5, -3, "-0.5", "+2", "-1e-05", ".5", "", "a=b", "–"])
def test_numbers_and_other_text_stay_as_they_are(cell: str | float) -> None:
    assert read(to_csv(table((cell, 1))))[1][0] == str(cell)


@pytest.mark.reliability("LaTeX rows that look like options")
@pytest.mark.parametrize("text", ["[x]", "*", "*[x]", " [x", "[[", "*a"])
def test_no_row_of_latex_begins_as_an_option_of_the_row_or_rule_before_it(text: str) -> None:
    rows = [
        line for line in to_latex(table((text, 1), (text, 2), heads=(text, "b"))).splitlines() if line[-2:] == r"\\"
    ]
    assert len(rows) == 3
    assert not any(line.lstrip().startswith(("[", "*")) for line in rows)
    assert all(text.strip() in line for line in rows)


def test_cells_follow_the_display_of_their_column() -> None:
    shown = [
        format_cell(cell, Table(name="t", title="T", columns=(Column(title="x", display=display, interval=True),),
                                rows=((cell,),)), 0)
        for display, cell in (
            ("percent", Estimate(value=0.5, ci_low=0.4, ci_high=0.6)), ("points", -0.05), ("count", 12345),
            ("p_value", 0.0001), ("text", 7), ("text", 0.5), ("number", None), ("text", "a\u202eb"),
        )
    ]  # fmt: skip
    assert shown == ["50.0\xa0% [40.0, 60.0]", "−5.0", "12,345", "p < 0.001", "7", "0.50", "–", "a[U+202E]b"]


@pytest.mark.parametrize(
    ("cells", "right"), [((0.5, None), True), ((3, 4), True), (("12 monkeys", 0.5), False), ((None, None), False)]
)
def test_a_column_of_text_that_holds_numbers_alone_is_aligned_as_numbers(cells: tuple[Cell, ...], right: bool) -> None:
    plain = Table(name="t", title="T", columns=(Column(title="x"),), rows=tuple((cell,) for cell in cells))
    assert is_numeric(plain, 0) is right


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="2 cells"):
        table(("x",))


def test_a_difference_keeps_its_tests() -> None:
    change = Difference(value=0.1, p=0.01, p_adjusted=0.04)
    assert read(to_csv(table(("ru", change), heads=("a", "F1"))))[0] == ["a", "F1", "F1 p", "F1 p_adjusted"]


@pytest.mark.parametrize("key", PAPERS)
def test_papers_are_named_by_author_and_year_and_cited_where_a_text_names_them(key: str) -> None:
    text = name_papers(f"As {key} §3 has it.")
    assert key not in text
    assert cite([text]) == cite([key]) == [PAPERS[key].citation]
    assert name_papers("papers/0012") == "papers/0012"
    assert cite(["nothing"]) == []
