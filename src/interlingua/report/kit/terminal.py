"""`print_report`: a report in a terminal, in its width and its letters. One renderer for all commands."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from interlingua.report.kit.chart import LineChart, charts_of
from interlingua.report.kit.exports import format_cell, is_numeric
from interlingua.report.kit.finding import Finding
from interlingua.report.kit.section import Example, ExampleWord, KeyFigure, split_commands
from interlingua.report.kit.table import Table
from interlingua.report.kit.wording import Display, escape_control_characters, format_value

if TYPE_CHECKING:
    from interlingua.report.report import Report

MAX_TERMINAL_ROWS = 40
"""Rows of a table that a terminal shows, unless all tables are asked for."""
MAX_HEADING_LINES = 3
GAP = "  "
BARS = "▁▂▃▄▅▆▇█"
_ESCAPES = {number: "?" for number in (*range(32), *range(127, 160)) if number not in (9, 10)}
_PLAIN = str.maketrans(
    {**dict(zip(BARS, "_.:-=+*#", strict=True)), "–": "-", "−": "-", "─": "-", "→": ">", "’": "'", "“": '"', "”": '"',
     "…": "~", "\N{NO-BREAK SPACE}": " ", "×": "x", "±": "+/-", "ρ": "rho", "·": "-"}
)  # fmt: skip


class _Folded:
    """A stream that cannot write every letter: our own signs become ASCII, letters it lacks question marks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding or "ascii"

    def write(self, text: str) -> int:
        self._stream.write(text.translate(_PLAIN).encode(self.encoding, "replace").decode(self.encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Safe(Console):
    """A console that shows the escapes of a text, such as the name of a column, instead of following them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(segment.text.translate(_ESCAPES), segment.style)


def console(stream: TextIO | None = None) -> Console:
    """A console on a stream, stdout by default: rich minds NO_COLOR and the width; we, terminals without UTF-8."""
    file = stream or sys.stdout
    is_utf8 = (getattr(file, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")
    return _Safe(file=file if is_utf8 else cast(TextIO, _Folded(file)))


def print_report(report: Report, screen: Console, *, full: bool = False) -> None:
    """Print title, verdict, key figures, findings, the tables meant for a terminal, and the next step.

    With `full` all tables are printed, with all their rows. Nothing else is printed: method is on the page.
    """
    printer = _Printer(screen)
    head = report.headline
    printer.paragraph(head.title, style="bold")
    printer.blank()
    printer.paragraph(head.answer.sentence)
    printer.figures(head.figures)
    if head.measured:
        printer.blank()
        printer.paragraph(head.measured, style="dim")
    printer.findings(head.findings)
    printed = {finding.sentence for finding in head.findings}
    for section in report.sections:
        if section.terminal:
            printer.findings([finding for finding in section.findings if finding.sentence not in printed])
            curves = (one for chart in section.charts[:1] for one in charts_of(chart)[:1] if isinstance(one, LineChart))
            for chart in curves:
                printer.sparklines(chart)
            for example in section.examples:
                printer.example(example)
        for table in section.tables:
            if (table.terminal or full) and table.rows:
                printer.table(table, max_rows=None if full else MAX_TERMINAL_ROWS)
    if head.next_step:
        printer.blank()
        printer.next_step(head.next_step)


class _Printer:
    """Prints the parts of a report within the width of a console."""

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._width = screen.width
        self._is_folded = isinstance(screen.file, _Folded)

    def _plain(self, text: str) -> str:
        """The text as this console can write it, before its width is measured."""
        safe = escape_control_characters(text)
        return safe.translate(_PLAIN) if self._is_folded else safe

    def blank(self) -> None:
        self._screen.print()

    def _line(self, *parts: tuple[str, str]) -> None:
        self._screen.print(Text.assemble(*parts, no_wrap=True, overflow="ignore"), crop=False, soft_wrap=True)

    def paragraph(self, text: str, *, style: str = "", topic: str = "") -> None:
        """A text within the width, after its topic in bold."""
        start = self._plain(topic)
        for at, line in enumerate(wrap_words(start + self._plain(text), self._width)):
            bold = len(start) if at == 0 else 0
            self._line((line[:bold], "bold"), (line[bold:], style))

    def findings(self, findings: Sequence[Finding]) -> None:
        if findings:
            self.blank()
        for finding in findings:
            self.paragraph(finding.sentence, topic=f"{finding.topic}. ")

    def figures(self, figures: Sequence[KeyFigure]) -> None:
        """Key figures as a column of values, each with what it is beside it."""
        if not figures:
            return
        self.blank()
        values = [self._plain(f"{figure.value} {figure.interval}".rstrip()) for figure in figures]
        value_width = min(max(map(cell_len, values)), self._width // 2)
        for figure, value in zip(figures, values, strict=True):
            label = self._plain(figure.label + (f" ({figure.context})" if figure.context else ""))
            lines = wrap_words(label, self._width - value_width - len(GAP))
            parts = wrap_words(value, value_width)
            for at in range(max(len(lines), len(parts))):
                left, right = ("".join(column[at : at + 1]) for column in (parts, lines))
                self._line((pad(left, value_width), "bold"), (f"{GAP}{right}".rstrip(), ""))

    def sparklines(self, chart: LineChart) -> None:
        """A line chart as one line per curve: both ends, bars scaled to the curve's own maximum, the best point."""
        lines = [line for line in chart.lines if any(estimate is not None for estimate in line.y)]
        if not lines:
            return
        self.blank()
        self.paragraph(f"{chart.title} ({chart.x.title.lower()} {lines[0].x[0]} to {lines[0].x[-1]})", style="bold")
        label_width = max(cell_len(self._plain(line.name)) for line in lines)
        for line in lines:
            values = [None if estimate is None else estimate.value for estimate in line.y]
            label = pad(self._plain(line.name), label_width)
            curve = self._plain(describe_curve(values, chart.y.display))
            self._line((f"{label}{GAP if label else ''}{curve}", ""))

    def example(self, example: Example) -> None:
        """The words of each text shaded by what speaks for (blue) and against (orange) what is explained."""
        self.blank()
        self.paragraph(example.title, style="bold")
        for text in example.texts:
            self.paragraph(f"{text.language}, explained: {text.explained}" if text.explained else text.language)
            words = (Text(self._plain(word.text), style=_shade(word)) for word in text.words)
            self._screen.print(Text(" ").join(words))
        if example.note:
            self.paragraph(example.note, style="dim")

    def table(self, table: Table, *, max_rows: int | None) -> None:
        self.blank()
        self.paragraph(table.title, style="bold")
        left = 0 if max_rows is None else max(len(table.rows) - max_rows, 0)
        for block in fit_table(table, self._width, translate=self._plain, max_rows=max_rows):
            for style, line in block:
                self._line((line, style))
        notes = [table.note] if table.note else []
        notes += [f"{left} more rows are in the files."] if left else []
        if notes:
            self.paragraph(" ".join(notes), style="dim")

    def next_step(self, text: str) -> None:
        """Advice is wrapped; a command stays one line, so that it can be copied."""
        for at, (part, is_command) in enumerate(split_commands(text)):
            if is_command:
                self._line(("    " + self._plain(part), "bold"))
            else:
                self.paragraph(("Next: " if at == 0 else "") + part)


def _shade(word: ExampleWord) -> str:
    """A ground between white and the sign's colour with ink that can be read on it; what is explained is underlined."""
    full = (0, 114, 178) if word.strength >= 0 else (213, 94, 0)
    strength = min(abs(word.strength), 1.0)
    ground = ",".join(str(round(255 + (end - 255) * strength)) for end in full)
    shade = f"{'white' if strength > 0.6 else 'black'} on rgb({ground})" if strength >= 0.05 else ""
    return f"{shade} underline".strip() if word.marked else shade


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with blanks to a width in cells of a terminal, where Chinese letters take two."""
    blanks = " " * max(width - cell_len(text), 0)
    return blanks + text if right else text + blanks


def wrap_words(text: str, width: int) -> list[str]:
    """Lines of a text, broken at blanks alone (a no-break space holds); only a word wider than a line is cut.

    >>> wrap_words("one two three", 8)
    ['one two', 'three']
    >>> wrap_words("12\\N{NO-BREAK SPACE}% of it", 7)
    ['12\\xa0% of', 'it']
    """
    lines = [""]
    for word in text.replace("\n", " ").replace("\t", " ").split(" "):
        for piece in list(filter(None, chop_cells(word, width))) or [word]:
            joined = f"{lines[-1]} {piece}" if lines[-1] else piece
            if cell_len(joined) <= width:
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines


def fit_table(
    table: Table, width: int, *, translate: Any = escape_control_characters, max_rows: int | None = None
) -> list[list[tuple[str, str]]]:
    """Blocks of (style, line) that show a table within a width.

    Where it is too wide, intervals are dropped first, then headings and texts are wrapped at blanks, and then the table
    is split by columns, with those that name its rows in each part. No word is cut that fits into a line.
    """
    rows = table.rows[:max_rows]
    heads = [translate(column.title) for column in table.columns]
    cells: list[list[str]] = []
    for interval in (True, False):
        cells = [
            [translate(format_cell(cell, table, at, interval=interval)) for at, cell in enumerate(row)] for row in rows
        ]
        widths = [
            _width(head, column)
            for head, column in zip(heads, ([row[at] for row in cells] for at in range(len(heads))), strict=True)
        ]
        if _total(widths) <= width:
            break
    for at, head in enumerate(heads):  # A heading is one line where there is room.
        more = max(cell_len(head) - widths[at], 0)
        if _total(widths) + more <= width:
            widths[at] += more
    numeric = [is_numeric(table, at) for at in range(len(heads))]
    # Numbers keep their width, texts become no narrower than their longest word.
    floors = [
        max((cell_len(word) for row in cells for word in ([row[at]] if right else row[at].split(" "))), default=1)
        for at, right in enumerate(numeric)
    ]
    names = next((at for at, right in enumerate(numeric) if right), len(numeric))
    column_blocks = _column_blocks(widths, floors, names, width)
    return [_block(columns, heads, cells, widths, numeric, width) for columns in column_blocks]


def _width(head: str, column: Sequence[str]) -> int:
    """The width of a column: of its widest cell, and of its heading wrapped to a few lines."""
    body = max(map(cell_len, column), default=0)
    longest_word = max(map(cell_len, head.split(" ")))
    least = max(body, longest_word, 1)
    while len(wrap_words(head, least)) > MAX_HEADING_LINES:
        least += 1
    return least


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _column_blocks(widths: list[int], floors: Sequence[int], names: int, width: int) -> list[list[int]]:
    """Which columns stand side by side. `widths` of texts are narrowed here where that makes the table fit.

    Of the first `names` columns, which name the rows, as many stand in each part as take half of the width.
    """
    excess = _total(widths) - width
    for at in sorted(range(len(widths)), key=lambda at: -widths[at]):
        if excess > 0 and floors[at] < widths[at]:
            narrowed = max(floors[at], widths[at] - excess, min(24, widths[at]))
            excess -= widths[at] - narrowed
            widths[at] = narrowed
    if excess > 0 and len(widths) > 1:
        widths[0] = min(widths[0], max(width // 2, 1))
    keys = 1
    while keys < names and _total(widths[: keys + 1]) <= width // 2:
        keys += 1
    blocks: list[list[int]] = [list(range(keys))]
    for at in range(keys, len(widths)):
        widths[at] = min(widths[at], max(width - _total(widths[:keys]) - len(GAP), 1))
        if len(blocks[-1]) > keys and _total([widths[place] for place in (*blocks[-1], at)]) > width:
            blocks.append(list(range(keys)))
        blocks[-1].append(at)
    widths[0] = min(widths[0], width)
    return blocks


def _block(
    columns: Sequence[int],
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    widths: Sequence[int],
    numeric: Sequence[bool],
    width: int,
) -> list[tuple[str, str]]:
    """The lines of a heading, a rule and the rows, for some columns."""

    def lines(row: Sequence[str], *, bottom: bool) -> Iterator[str]:
        wrapped = [wrap_words(row[at], widths[at]) for at in columns]
        height = max(map(len, wrapped))
        for wanted in range(height):
            parts = []
            for at, own in zip(columns, wrapped, strict=True):
                place = wanted - (height - len(own)) if bottom else wanted
                parts.append(pad(own[place] if 0 <= place < len(own) else "", widths[at], right=numeric[at]))
            yield GAP.join(parts).rstrip()

    rule = "─" * min(_total([widths[at] for at in columns]), width)
    block = [("dim", line) for line in lines(heads, bottom=True)]
    block.append(("dim", rule))
    block += [("", line) for row in cells for line in lines(row, bottom=False)]
    return [*block, ("", "")] if columns[-1] != len(heads) - 1 else block


def sparkline(values: Sequence[float | None]) -> str:
    """One bar per value, from 0 (or the least, below 0) to the greatest of the values; a blank where there is none.

    >>> sparkline([0.0, 0.05, None, 0.1])
    '▁▅ █'
    """
    known = [value for value in values if value is not None]
    low, high = min([0.0, *known]), max(known, default=0.0)
    span = (high - low) or 1.0
    bars = [None if value is None else int((value - low) / span * len(BARS)) for value in values]
    return "".join(" " if at is None else BARS[min(at, len(BARS) - 1)] for at in bars)


def describe_curve(values: Sequence[float | None], display: Display) -> str:
    r"""A curve with both of its ends and its greatest value.

    >>> describe_curve([0.05, 0.18, 0.12], "percent")
    '5.0\xa0% ▃█▆ 12.0\xa0%, highest 18.0\xa0%'
    """
    known = [value for value in values if value is not None]
    if not known:
        return ""
    first, last, top = (format_value(value, display) for value in (known[0], known[-1], max(known)))
    return f"{first} {sparkline(values)} {last}" + (f", highest {top}" if top not in (first, last) else "")
