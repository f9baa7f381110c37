"""Tables as CSV, Markdown and LaTeX. CSV is for programs (full precision), the others for people (rounded)."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable

from interlingua.record import Estimate
from interlingua.report.kit.table import Cell, Column, MarkedEstimate, Table
from interlingua.report.kit.wording import escape_control_characters, format_deviation, format_interval, format_value

_FORMULA = re.compile(r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""How a cell begins that a spreadsheet takes for a formula (some leave blanks before it out), or cuts into others."""
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_NUMBERS_OF_ESTIMATE = ("ci_low", "ci_high", "null_value", "p", "p_adjusted", "deviation", "mark")
"""What an estimate has a column of its own for in CSV, after its value."""
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "–": "--", "−": "$-$", "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip


def format_cell(cell: Cell, table: Table, column: int, *, interval: bool = True) -> str:
    """A cell as people read it: by the display of its column, with its interval where the column has one.

    A whole number in a column of text, such as a layer, is printed as it is.
    """
    kind = table.columns[column]
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return escape_control_characters(cell)
    if isinstance(cell, Estimate):
        display = "number" if kind.display == "text" else kind.display
        bounds = format_bounds(cell, kind) if interval else ""
        mark = ""
        if isinstance(cell, MarkedEstimate):
            mark = cell.mark
            bounds = bounds if cell.deviation is None else format_deviation(cell.deviation, display)
        return f"{format_value(cell.value, display)}{mark} {bounds}".rstrip()
    if kind.display == "text":
        return str(cell) if isinstance(cell, int) else format_value(cell, "number")
    return format_value(cell, kind.display)


def format_bounds(cell: Cell, column: Column) -> str:
    """The interval of a cell where its column has one, else nothing."""
    if not isinstance(cell, Estimate) or not column.interval:
        return ""
    return format_interval(cell.ci_low, cell.ci_high, "number" if column.display == "text" else column.display)


def is_numeric(table: Table, column: int) -> bool:
    """Whether a column holds numbers and is right-aligned."""
    if table.columns[column].display != "text":
        return True
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def to_csv(table: Table) -> str:
    r"""The table as RFC 4180 text with full precision; what is missing is an empty cell.

    An estimate is a column for its value and one for each number it comes with: `F1`, `F1 ci_low`, `F1 ci_high`. Text
    that a spreadsheet would compute as a formula gets an apostrophe in front; numbers stay numbers.

    >>> from interlingua.report.kit.table import Column
    >>> columns = (Column(title="=a"), Column(title="F1", display="percent"))
    >>> rows = (("-1+2", Estimate(value=0.5, ci_low=0.25, ci_high=1.0)), ("b", None))
    >>> to_csv(Table(name="t", title="T", columns=columns, rows=rows))
    "'=a,F1,F1 ci_low,F1 ci_high\r\n'-1+2,0.5,0.25,1.0\r\nb,,,\r\n"
    """
    heads: list[str] = []
    columns: list[list[str | int | float | None]] = []
    for at, column in enumerate(table.columns):
        cells = [row[at] for row in table.rows]
        heads.append(column.title)
        columns.append([cell.value if isinstance(cell, Estimate) else cell for cell in cells])
        for name in _NUMBERS_OF_ESTIMATE:
            numbers = [getattr(cell, name, None) if isinstance(cell, Estimate) else None for cell in cells]
            if any(number not in (None, "") for number in numbers):
                heads.append(f"{column.title} {name}")
                columns.append(numbers)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_guard_formula(head) for head in heads])
    writer.writerows([_guard_formula(cell) for cell in row] for row in zip(*columns, strict=True))
    return out.getvalue()


def _guard_formula(cell: str | int | float | None) -> str | int | float | None:
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, str) and _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _text_rows(table: Table) -> list[list[str]]:
    return [[format_cell(cell, table, at) for at, cell in enumerate(row)] for row in table.rows]


def to_markdown(table: Table) -> str:
    r"""The table as a GitHub-flavoured Markdown pipe table under its title.

    >>> from interlingua.report.kit.table import Column
    >>> columns = (Column(title="a|b"), Column(title="n", display="number"))
    >>> print(to_markdown(Table(name="t", title="T", columns=columns, rows=(("x", 0.5),))))
    **T**
    <BLANKLINE>
    | a\|b | n |
    | --- | ---: |
    | x | 0.50 |
    <BLANKLINE>
    """

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"

    numeric = [is_numeric(table, at) for at in range(len(table.columns))]
    rule = f"| {' | '.join('---:' if right else '---' for right in numeric)} |"
    head = [f"**{markdown_text(table.title)}**", "", *([markdown_text(table.note), ""] if table.note else [])]
    rows = [line(row) for row in _text_rows(table)]
    return "\n".join([*head, line(column.title for column in table.columns), rule, *rows, ""])


def to_latex(table: Table) -> str:
    r"""The table as a LaTeX float with booktabs rules; every character with a meaning to TeX is escaped.

    >>> from interlingua.report.kit.table import Column
    >>> columns = (Column(title="a_b"), Column(title="n", display="number"))
    >>> print(to_latex(Table(name="t", title="T", columns=columns, rows=(("50%", 0.5),))))
    \begin{table}
    \centering
    \caption{T}
    \label{tab:t}
    \begin{tabular}{lr}
    \toprule
    a\_b & n \\
    \midrule
    50\% & 0.50 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """

    def line(cells: Iterable[str]) -> str:
        row = " & ".join(latex_text(cell) for cell in cells)
        # After the end of a row, or a rule, TeX takes a star or a bracket for an option of it.
        return ("{}" if row.lstrip()[:1] in ("[", "*") else "") + row + r" \\"

    caption = f"{table.title.rstrip('.')}. {table.note}" if table.note else table.title
    sides = "".join("r" if is_numeric(table, at) else "l" for at in range(len(table.columns)))
    label = re.sub(r"[^A-Za-z0-9-]+", "-", table.name)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\label{{tab:{label}}}",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            line(column.title for column in table.columns),
            r"\midrule",
            *(line(row) for row in _text_rows(table)),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _one_line(text: str) -> str:
    return " ".join(escape_control_characters(text).splitlines())


def latex_text(text: str) -> str:
    r"""Text in which TeX sees only characters.

    >>> latex_text("a_b\\c{d}")
    'a\\_b\\textbackslash{}c\\{d\\}'
    """
    return "".join(_LATEX.get(letter, letter) for letter in _one_line(text))


def markdown_text(text: str) -> str:
    r"""Text in which Markdown sees neither a cell's end nor HTML nor emphasis.

    >>> markdown_text("a|b <i> *c*")
    'a\\|b &lt;i> \\*c\\*'
    """
    plain = _one_line(text).replace("\\", "\\\\")
    plain = plain.replace("&", "&amp;").replace("<", "&lt;")
    for letter in "|*_`[]":
        plain = plain.replace(letter, f"\\{letter}")
    return plain
