"""Records to tables, and tables to CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interlingua.report.readings import Reading, Readings, Record, finite, gather, tied_for_first
from interlingua.report.wording import UNRANKED, language_name, listing, number, visible

Cell = str | int | float | None


class Told(str):
    """A number as people read it, with what it was made of: to a machine, a column for each of its `parts`.

    The part with no name is the number itself; others are called such as `low`, `sd` and `marks`.

    >>> told = Told("63.43 ±0.21*", {"": 63.434, "sd": 0.2111, "marks": "*"})
    >>> told, told.parts["sd"]
    ('63.43 ±0.21*', 0.2111)
    """

    parts: Mapping[str, Cell]

    def __new__(cls, text: str, parts: Mapping[str, Cell]) -> Told:
        made = super().__new__(cls, text)
        made.parts = dict(parts)
        return made


Ref = int | tuple[int, ...] | None
"""The record behind a number, by its place among the page's; several where the number is a mean of theirs."""

MATRICES = (
    ("retrieval", "p@1/cosine/raw", "Retrieval, as is"),
    ("retrieval", "p@1/cosine/centred", "Retrieval, language mean removed"),
    ("cka", "debiased", "CKA, debiased"),
    ("spelling", "tnld", "TNLD"),
    ("tokenization", "overlap", "Shared vocabulary"),
)
"""What is tabulated language by language, with its title."""

_FLAT = (
    "measure",
    "variant",
    "model",
    "source",
    "target",
    "layer",
    "unit",
    "value",
    "null",
    "low",
    "high",
    "n",
    "seed",
)

_NUMBER = re.compile(r"[+−-]?\d[\d.,]*(\s%)?( ±[\d.]+| \[[−\d., ]+\])?\*{0,2}( (\(|at )layer \d+\)?)?|–|")
"""A number as we write one for people: a sign, percent, a deviation or interval, marks, a layer; or a dash."""

_FORMULA = re.compile(r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a cell begins that a spreadsheet takes for a formula (some leave blanks before it out), or cuts into others."""
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
}


@dataclass(frozen=True)
class Table:
    """A title, a caption that says how to read it, column heads, and rows of cells as wide as the heads.

    `records`, where given, is as large as `rows`: what is behind each cell.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    records: tuple[tuple[Ref, ...], ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in (*self.rows, *self.records)):
            raise ValueError(f"a row of {self.name!r} is not {len(self.columns)} cells wide")
        if self.records and len(self.records) != len(self.rows):
            raise ValueError(f"{self.name!r} has {len(self.rows)} rows and records of {len(self.records)}")

    def behind(self, row: int, column: int) -> Ref:
        """The records behind a cell, None where they are not told."""
        return self.records[row][column] if self.records else None

    def text(self) -> list[list[str]]:
        """The rows as people read them: numbers rounded, an en dash for what is missing."""
        return [[shown(cell) for cell in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Which columns hold numbers, or nothing but numbers with signs and marks, and so stand right-aligned."""
        return [
            any(isinstance(row[at], int | float) or row[at] not in ("–", None) for row in self.rows)
            and all(not isinstance(row[at], str) or _NUMBER.fullmatch(str(row[at])) for row in self.rows)
            for at in range(len(self.columns))
        ]


def shown(cell: Cell) -> str:
    """A cell as people read it.

    >>> shown(0.12345), shown(1200), shown(None), shown("a")
    ('0.123', '1200', '–', 'a')
    """
    if isinstance(cell, str):
        return cell
    return str(cell) if isinstance(cell, int) else number(cell, 3)


def to_csv(table: Table) -> str:
    r"""The table as RFC 4180 text with full precision; what is missing is an empty cell.

    What people read as one cell, such as a mean and its deviation, is a column for each number in it. Text that a
    spreadsheet would compute as a formula gets an apostrophe in front; numbers stay numbers.

    >>> to_csv(Table("t", "T", "", ("a", "b"), (("x,y", None),)))
    'a,b\r\n"x,y",\r\n'
    >>> to_csv(Table("t", "T", "", ("ru",), ((Told("63.4 ±0.2*", {"": 63.434, "sd": 0.2111, "marks": "*"}),),)))
    'ru,ru sd,ru marks\r\n63.434,0.2111,*\r\n'
    >>> to_csv(Table("t", "T", "", ("=a", "n"), (("-1+2", -0.5), ("@b", "-0.5"))))
    "'=a,n\r\n'-1+2,-0.5\r\n'@b,-0.5\r\n"
    """
    flat = unfolded(table)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([_no_formula(cell) for cell in row] for row in (flat.columns, *flat.rows))
    return out.getvalue()


def _no_formula(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return None if finite(cell) is None else cell
    if isinstance(cell, str) and _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def unfolded(table: Table) -> Table:
    """The table with a column for each part of the numbers that are told in words; parts that are nowhere are none."""
    columns: list[str] = []
    cells: list[list[Cell]] = []
    for at, head in enumerate(table.columns):
        column = [row[at] for row in table.rows]
        told = [cell.parts if isinstance(cell, Told) else {"": cell} for cell in column]
        for part in dict.fromkeys(part for parts in told for part in parts):
            found = [parts.get(part) for parts in told]
            if not part or any(cell not in (None, "") for cell in found):
                columns.append(f"{head} {part}".strip())
                cells.append(found)
        if not column:
            columns.append(head)
            cells.append([])
    return Table(table.name, table.title, table.caption, tuple(columns), tuple(zip(*cells, strict=True)))


def to_markdown(table: Table) -> str:
    r"""The table as a GitHub-flavoured Markdown pipe table under its title.

    >>> print(to_markdown(Table("t", "T", "", ("a|b", "n"), (("x", 0.5),))))
    **T**
    <BLANKLINE>
    | a\|b | n |
    | --- | ---: |
    | x | 0.500 |
    <BLANKLINE>
    """

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"

    rule = "| " + " | ".join("---:" if numeric else "---" for numeric in table.numeric()) + " |"
    head = [f"**{markdown_text(table.title)}**", ""] + ([markdown_text(table.caption), ""] if table.caption else [])
    return "\n".join([*head, line(table.columns), rule, *(line(row) for row in table.text()), ""])


def to_latex(table: Table) -> str:
    r"""The table as a LaTeX float with booktabs rules; every character with a meaning to TeX is escaped.

    >>> print(to_latex(Table("t", "T", "", ("a_b", "n"), (("50%", 0.5),))))
    \begin{table}
    \centering
    \caption{T}
    \label{tab:t}
    \begin{tabular}{lr}
    \toprule
    a\_b & n \\
    \midrule
    50\% & 0.500 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """

    def line(cells: Iterable[str]) -> str:
        row = " & ".join(latex_text(cell) for cell in cells)
        # After the end of a row, or a rule, TeX takes a star or a bracket for an option of it.
        return ("{}" if row.lstrip()[:1] in ("[", "*") else "") + row + r" \\"

    caption = f"{table.title}. {table.caption}" if table.caption else table.title
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{{''.join('r' if numeric else 'l' for numeric in table.numeric())}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            *(line(row) for row in table.text()),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def latex_text(text: str) -> str:
    r"""Text in which TeX sees only characters.

    >>> latex_text("a_b\\c{d}")
    'a\\_b\\textbackslash{}c\\{d\\}'
    """
    return "".join(_LATEX.get(letter, letter) for letter in visible(text).replace("\n", " "))


def markdown_text(text: str) -> str:
    r"""Text in which Markdown sees neither a cell's end nor HTML nor emphasis.

    >>> markdown_text("a|b <i> *c*")
    'a\\|b &lt;i> \\*c\\*'
    """
    plain = visible(text).replace("\n", " ").replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for letter in "|*_`[]":
        plain = plain.replace(letter, f"\\{letter}")
    return plain


def summary_table(records: Iterable[Record] | Readings, run: Mapping[str, Any]) -> Table:
    """One row a language, best retrieval first: its means at the best layer; empty columns are left out."""
    found = _readings(records)
    layer = found.best_layer()
    columns = {
        "Retrieval": _column(found, "retrieval", "p@1/cosine/raw", layer),
        "Retrieval, centred": _column(found, "retrieval", "p@1/cosine/centred", layer),
        "Hubness": _column(found, "retrieval", "hubness/cosine/raw", layer),
        "CKA": _column(found, "cka", "debiased", layer),
        f"Rotated to {run['languages'][0]}" if run.get("maps") == "pivot" else "Rotated": _column(
            found, "procrustes", "p@1/mapped", layer
        ),
        "Separation": _column(found, "separation", "auc/cosine", layer),
        "Mean cosine": _column(found, "isotropy", "average-cosine", layer),
        "Pieces a word": {code: found.fertility(code) for code in found.languages},
    }
    bounded = columns["Retrieval"] if any(columns["Retrieval"].values()) else columns["Retrieval, centred"]
    values: dict[str, dict[str, float | None]] = {}
    behind: dict[str, dict[str, Reading | None]] = {}
    for head, column in columns.items():
        values[head], behind[head] = {code: _value(reading) for code, reading in column.items()}, column
        if column is bounded:
            for name, key in (("95 % low", "low"), ("95 % high", "high"), ("Chance", "null")):
                values[name] = {code: getattr(reading, key) if reading else None for code, reading in column.items()}
                behind[name] = column
    kept = [head for head, column in values.items() if any(value is not None for value in column.values())]
    order = list(found.languages)
    if ranked := found.equal_candidates():
        order.sort(key=lambda code: -(bounded[code].value if bounded[code] else -1.0))  # type: ignore[union-attr]
    rows = tuple((language_name(code, run), code, *(values[head][code] for head in kept)) for code in order)
    caption = "Means over the pairs a language is in, both directions" + (
        f", at layer {found.name(layer)} (layer 0 is the embedding output)." if layer is not None else "."
    )
    caption += "" if ranked else f" {UNRANKED}"
    pools = {
        "retrieval": found.told_pool("retrieval", "p@1/cosine/raw", layer)
        or found.told_pool("retrieval", "p@1/cosine/centred", layer),
        "rotated": found.told_pool("procrustes", "p@1/mapped", layer),
    }
    if told := "; ".join(f"{name} {pool}" for name, pool in pools.items() if pool):
        caption += f" {told[0].upper()}{told[1:]}."
    known = {code: each for code in order if (each := bounded[code])}
    tied = tied_for_first(known) if ranked and known and len(order) > 2 else []
    if len(tied) > 1:
        caption += f" Tied for first: {listing([language_name(code, run) for code in order if code in tied])}."
    behind_cells = tuple((None, None, *(refs(behind[head][code]) for head in kept)) for code in order)
    return Table("languages", "Languages", caption, ("Language", "Code", *kept), rows, behind_cells)


def tokenizer_table(records: Iterable[Record] | Readings, run: Mapping[str, Any]) -> Table:
    """One row a language, lowest fertility first: how the tokenizer cuts its words; no rows when not measured."""
    found = _readings(records)
    own = {
        kind: {code: found.fertility(code, kind=kind) for code in found.languages}
        for kind in ("fertility", "continued", "unknown")
    }
    shared = {
        kind: {code: found.language("tokenization", kind, None, code) for code in found.languages}
        for kind in ("overlap", "agreement")
    }
    columns = (*own.values(), *shared.values())
    codes = [code for code in found.languages if own["fertility"][code] is not None]
    codes.sort(key=lambda code: _value(own["fertility"][code]) or 0.0)
    rows = tuple((language_name(code, run), code, *(_value(column[code]) for column in columns)) for code in codes)
    behind_cells = tuple((None, None, *(refs(column[code]) for column in columns)) for code in codes)
    heads = ("Language", "Code", "Pieces a word", "Words cut", "Unknown tokens", "Shared vocabulary", "Agreement")
    caption = (
        "Pieces a word: 1 is best. Words cut: share of words in two pieces or more. Shared vocabulary and agreement of "
        "token counts are means over the other languages."
    )
    return Table("tokenizer", "Tokenizer", caption, heads, rows, behind_cells)


def matrix_tables(records: Iterable[Record] | Readings, run: Mapping[str, Any]) -> list[Table]:
    """Language by language at the best layer, one table a measure; rows are sources, columns targets."""
    found = _readings(records)
    layer = found.best_layer()
    tables = []
    for measure, variant, title in MATRICES:
        readings = found.at(measure, variant, layer)
        codes = [code for code in found.languages if any(code in pair for pair in readings)]
        if not readings:
            continue
        cells = [[readings.get((code, other)) or readings.get((other, code)) for other in codes] for code in codes]
        rows = tuple((language_name(code, run), *map(_value, line)) for code, line in zip(codes, cells, strict=True))
        behind_cells = tuple((None, *map(refs, line)) for line in cells)
        where = f" at layer {found.name(layer)}; layer 0 is the embedding output"
        place = where if found.layers(measure, variant) else ""
        caption = f"Rows are sources, columns targets{place}."
        name = f"pairs-{measure}" + (f"-{variant.rpartition('/')[2]}" if measure == "retrieval" else "")
        tables.append(Table(name, title, caption, ("Language", *codes), rows, behind_cells))
    return tables


def records_table(records: Iterable[Record]) -> Table:
    """Every record, one row each, with its numbers and what they are of; settings stay in `run.json`."""
    rows = tuple(tuple(record.get(key) for key in _FLAT) for record in records)
    return Table("records", "All records", "", _FLAT, rows)


def _readings(records: Iterable[Record] | Readings) -> Readings:
    return records if isinstance(records, Readings) else gather(records)


def _column(found: Readings, measure: str, variant: str, layer: int | None) -> dict[str, Reading | None]:
    return {code: found.language(measure, variant, layer, code) for code in found.languages}


def refs(reading: Reading | None) -> Ref:
    """The records behind a reading: one, several, or None."""
    if reading is None or not reading.records:
        return None
    return reading.records[0] if len(reading.records) == 1 else reading.records


def _value(reading: Reading | None) -> float | None:
    return None if reading is None else reading.value
