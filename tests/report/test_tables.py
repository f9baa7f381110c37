import csv
import io
import re

import pytest

from interlingua.errors import InputError
from interlingua.report.readings import Reading, gather, mean
from interlingua.report.tables import (
    Table,
    Told,
    latex_text,
    matrix_tables,
    records_table,
    summary_table,
    to_csv,
    to_latex,
    to_markdown,
    tokenizer_table,
)

HOSTILE = 'a|b & 5% $x$ #1 _y_ {z} ~^ \\ <i> "q", `c` \u202e*'


def test_csv_reads_back_as_the_same_cells():
    table = Table(
        "t", "T", "", ("text", "number", "none"), ((HOSTILE, 0.1234567890123, None), ("line\nbreak", 2.0, None))
    )
    head, *rows = csv.reader(io.StringIO(to_csv(table), newline=""))
    assert tuple(head) == table.columns
    assert [(row[0], float(row[1]), row[2]) for row in rows] == [(row[0], row[1], "") for row in table.rows]


def test_a_number_told_in_words_is_its_parts_in_csv_and_its_words_elsewhere():
    cells = (Told("63.43 ±0.21*", {"": 63.43421, "sd": 0.211, "marks": "*"}), Told("–", {"": None}))
    table = Table("t", "T", "", ("regime", "ru"), tuple(zip("ab", cells, strict=True)))
    assert list(csv.DictReader(io.StringIO(to_csv(table), newline=""))) == [
        {"regime": "a", "ru": "63.43421", "ru sd": "0.211", "ru marks": "*"},
        {"regime": "b", "ru": "", "ru sd": "", "ru marks": ""},
    ]
    assert "63.43 ±0.21" in to_markdown(table)
    assert "63.43 ±0.21*" in to_latex(table)
    assert table.numeric() == [False, True]
    assert to_csv(Table("t", "T", "", ("a", "b"), ())) == "a,b\r\n"


def test_no_not_a_number_reaches_any_format():
    table = Table("t", "T", "", ("a", "b"), (("x", float("nan")), ("y", float("inf"))))
    for text in (to_csv(table), to_markdown(table), to_latex(table)):
        assert not re.search(r"\b(nan|inf)\b", text)


def test_markdown_has_the_same_number_of_cells_in_every_line():
    text = to_markdown(Table("t", "T", "", (HOSTILE, "n"), ((HOSTILE, 1.0), ("b\nc", None))))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [3] * 4


def test_latex_leaves_no_character_with_a_meaning():
    escaped = latex_text(HOSTILE)
    for command in (
        r"\textbackslash{}",
        r"\textasciitilde{}",
        r"\textasciicircum{}",
        r"\textless{}",
        r"\textgreater{}",
        r"\textbar{}",
    ):
        escaped = escaped.replace(command, "")
    assert not re.search(r"(?<!\\)[&%$#_{}~^\\](?![&%$#_{}])", escaped)


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="2 cells wide"):
        Table("t", "T", "", ("a", "b"), (("x",),))


def test_language_summary_is_the_mean_over_its_pairs_and_directions(records, run):
    table = summary_table(records, run)
    row = next(row for row in table.rows if row[1] == "hi")
    wanted = [
        record["value"]
        for record in records
        if record["measure"] == "retrieval"
        and record["variant"] in ("p@1/cosine/centred", "p@1/cosine/centred/backward")
        and record["layer"] == 4
        and "hi" in (record["source"], record["target"])
    ]
    assert len(wanted) == 32
    assert row[table.columns.index("Retrieval, centred")] == pytest.approx(sum(wanted) / len(wanted))


def test_matrix_holds_forward_above_and_backward_below_the_diagonal(records, run):
    table = matrix_tables(records, run)[0]
    cell = {
        (record["source"], record["target"], record["variant"]): record["value"]
        for record in records
        if record["measure"] == "retrieval" and record["layer"] == 4
    }
    codes = table.columns[1:]
    ru, en = codes.index("ru"), codes.index("en")
    assert table.rows[en][1 + ru] == cell["en", "ru", "p@1/cosine/raw"]
    assert table.rows[ru][1 + en] == cell["en", "ru", "p@1/cosine/raw/backward"]
    assert table.rows[en][1 + en] is None


def test_tokenizer_table_is_sorted_by_fertility_and_empty_without_records(records, run):
    fertility = [row[2] for row in tokenizer_table(records, run).rows]
    assert fertility == sorted(fertility)
    assert not tokenizer_table([r for r in records if r["measure"] != "tokenization"], run).rows


def test_flat_table_has_every_record(records):
    assert len(records_table(records).rows) == len(records)


def test_best_layer_is_the_argmax_of_the_mean(make):
    make_records, _, _ = make
    records = make_records(["en", "ru", "hi"], range(7))
    means = {
        layer: sum(values) / len(values)
        for layer in range(7)
        if (
            values := [
                r["value"] for r in records if r["layer"] == layer and r["variant"].startswith("p@1/cosine/centred")
            ]
        )
    }
    assert gather(records).best_layer() == max(means, key=means.get)


def test_records_of_two_models_are_refused(records):
    with pytest.raises(InputError, match="several models"):
        gather([records[0], {**records[0], "model": "other"}])


def test_values_that_are_not_finite_are_left_out(records):
    found = gather([{**records[0], "value": float("nan")}])
    assert not found.pairs


def test_mean_has_no_null_unless_all_have_one():
    assert mean([Reading(1.0, null=0.1), Reading(0.0)]).null is None


FORMULAS = ["=1+1", "+a", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-", "=cmd|' /C calc'!A0"]
FORMULAS += [
    f"{blank}=1+1" for blank in (" ", "\xa0", "\u3000", "\u2028", "\x0b", "\x1c", "\x85", "\u200b", "\ufeff", "\0")
]


@pytest.mark.reliability("formulas in CSV cells")
@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_a_spreadsheet_would_compute_has_an_apostrophe_in_front(text: str) -> None:
    made = to_csv(Table("t", "T", "", (text, "n"), ((text, 1),)))
    assert [row[0] for row in csv.reader(io.StringIO(made, newline=""))] == [f"'{text.strip()}", f"'{text}"]


@pytest.mark.reliability("formulas in CSV cells")
@pytest.mark.parametrize("cell", [-0.5, -3, "-0.5", "+2", "-1e-05", ".5", "", "a=b", "–"])
def test_numbers_and_other_text_stay_as_they_are(cell: str | float) -> None:
    made = to_csv(Table("t", "T", "", ("a", "b"), ((cell, "x"),)))
    assert list(csv.reader(io.StringIO(made)))[1][0] == str(cell)


@pytest.mark.reliability("LaTeX rows that look like options")
@pytest.mark.parametrize("text", ["[x]", "*", "*[x]", " [x", "[[", "*a"])
def test_no_row_of_latex_begins_as_an_option_of_the_row_or_rule_before_it(text: str) -> None:
    made = to_latex(Table("t", "T", "", (text, "b"), ((text, "y"), (text, "z"))))
    rows = [line for line in made.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 3
    assert not any(line.lstrip().startswith(("[", "*")) for line in rows)
    assert all(text.strip() in line for line in rows)
