"""What any terminal can show: tables, sparklines and shaded cells, in its width, its colours and its letters."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TextIO, cast

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from interlingua.report.sections import Section
from interlingua.report.tables import Table as Written
from interlingua.report.wording import visible

_ESCAPES = {number: "?" for number in (*range(32), *range(127, 160)) if number not in (9, 10)}
BARS = "▁▂▃▄▅▆▇█"
SHADES = " ░▒▓█"
_PLAIN = str.maketrans(
    {**dict(zip(BARS, "_.:-=+*#", strict=True)), **dict(zip(SHADES, " .:+#", strict=True)), "–": "-", "−": "-",
     "→": ">", "’": "'", "…": "~", "\N{NO-BREAK SPACE}": " ", "×": "x", "±": "+/-", "ρ": "rho", "·": "-"}
)  # fmt: skip


class _Folded:
    """A stream that can't write every letter: our own signs become ASCII, letters it lacks question marks."""

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
    known = (getattr(file, "encoding", None) or "utf-8").lower().replace("-", "").startswith("utf")
    return _Safe(file=file if known else cast(TextIO, _Folded(file)))


def sparkline(values: Sequence[float | None], *, low: float = 0.0, high: float = 1.0) -> str:
    """One bar a value from `low` to `high`, a space where there is none; what lies outside is cut to the ends.

    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅ █'
    """
    span = (high - low) or 1.0
    places = [None if v is None else int((v - low) / span * len(BARS)) for v in values]
    return "".join(" " if at is None else BARS[min(max(at, 0), len(BARS) - 1)] for at in places)


def stretched(values: Sequence[float | None]) -> str:
    """A sparkline from the least of the values to the greatest, for curves that are no shares.

    >>> stretched([3.0, 5.0, 4.0])
    '▁█▅'
    """
    known = [value for value in values if value is not None]
    return sparkline(values, low=min(known), high=max(known)) if known else ""


def shaded_cell(value: float | None, *, low: float, high: float) -> Text:
    """A share in whole percent, on a ground that is the lighter the higher it is, or after a sign without colour."""
    if value is None:
        return Text("")
    part = min(max((value - low) / ((high - low) or 1.0), 0.0), 1.0)
    # Cividis' ends: told apart with any colour vision, and by lightness alone.
    dark, light = (0, 34, 78), (254, 232, 56)
    mixed = [round(a + (b - a) * part) for a, b in zip(dark, light, strict=True)]
    ink = "black" if part > 0.5 else "white"
    sign = SHADES[min(int(part * len(SHADES)), len(SHADES) - 1)]
    return Text(f"{sign}{round(100 * value):3d}", style=f"{ink} on rgb({mixed[0]},{mixed[1]},{mixed[2]})")


def print_answer(section: Section, screen: Console, *, facts: bool = True) -> None:
    """Print what a page says on top, so that numbers come after their meaning; `facts` prints its terms, too."""
    for words in section.words:
        screen.print(Text(visible(words)))
    for topic, said in section.facts if facts else ():
        lines = [said] if isinstance(said, str) else said
        screen.print(Text.assemble((f"{visible(topic)}. ", "bold"), visible(" ".join(lines))))
    screen.print()


def print_table(
    written: Written, screen: Console, *, columns: Sequence[str] | None = None, most: int | None = None
) -> None:
    """Print a table of a report, or some of its columns and rows; texts are shown, never read as markup.

    What is above and below it takes the width of the screen: that of a narrow table would break words.
    """
    shown = [place for place, head in enumerate(written.columns) if columns is None or head in columns]
    table = plain_table("")
    numeric = written.numeric()
    for place in shown:
        justify: Literal["left", "right"] = "right" if numeric[place] else "left"
        table.add_column(Text(written.columns[place]), justify=justify, overflow="fold")
    rows = written.text()
    for row in rows[:most]:
        table.add_row(*(Text(row[place]) for place in shown))
    left = 0 if most is None else len(rows) - most
    screen.print(Text(written.title, style="bold"))
    screen.print(table)
    if below := " ".join([*([written.caption] if written.caption else []),
                          *([f"{left} more rows are in the files."] if left > 0 else [])]):  # fmt: skip
        screen.print(Text(below, style="dim italic"))
    screen.print()


def print_titled(table: Table, screen: Console) -> None:
    """Print a table with its title and caption in the width of the screen: that of a narrow table would break words."""
    title, caption = table.title, table.caption
    table.title = table.caption = None
    if title:
        screen.print(title, style="bold")
    screen.print(table)
    if caption:
        screen.print(caption, style="dim italic")
        screen.print()


def plain_table(title: str, caption: str = "") -> Table:
    """An empty table in the manner of all of ours."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", title_style="bold", caption_justify="left")
    table.title = Text(title) if title else None
    table.caption = Text(caption) if caption else None
    return table
