"""Type-I error and coverage of every p-value and interval that a page prints, by simulation, in one table.

    python -m benchmarks.calibration                          # minutes on 2 cores
    python -m benchmarks.calibration --only "F1" --times 200  # the rows whose name contains F1, quickly
    python -m benchmarks.calibration --list
    python -m benchmarks.calibration --write docs/calibration.md                     # the table of the page
    python -m benchmarks.calibration --only "F1" --write docs/calibration.md         # these rows of it

How to add a row: put it into `ROWS` of a file `benchmarks/calibration_AREA.py`; every such file is read.

    def mean_of_normal(draw: np.random.Generator) -> bool:
        low, high = mean_interval(draw.normal(size=20))
        return low <= 0.0 <= high                             # covered (a test: rejected)

    ROWS = [Row("mean of 20 normal values, Student", "coverage", mean_of_normal, times=2000)]

A row simulates one study at a time from its own generator (seeded by its name) in which the truth is known, and says
whether the interval covered it (`coverage`, nominal 0.95) or the test rejected what is true (`error`, nominal 0.05) or
found what is there (`power`, nominal as given). `before` is what the function of commit e6cb9bf gave, as a text.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

NOMINAL = {"error": 0.05, "coverage": 0.95, "power": 0.8}
BEGIN, END = "<!-- calibration table: written by python -m benchmarks.calibration --write -->", "<!-- end of table -->"


@dataclass(frozen=True)
class Row:
    """One p-value or interval under one simulated truth."""

    name: str
    kind: str
    simulate: Callable[[np.random.Generator], bool]
    times: int = 2000
    before: str = ""
    nominal: float | None = None

    @property
    def level(self) -> float:
        return NOMINAL[self.kind] if self.nominal is None else self.nominal


@dataclass(frozen=True)
class Found:
    """What a row's simulations gave: the share of them, its standard error at the nominal level, and a verdict."""

    name: str
    kind: str
    nominal: float
    share: float
    times: int
    before: str
    seconds: float

    @property
    def error(self) -> float:
        return float(np.sqrt(self.nominal * (1 - self.nominal) / self.times))

    @property
    def verdict(self) -> str:
        """`holds`: within 2.6 simulation errors of nominal; `cautious`: beyond them to the safe side; else `FAILS`."""
        off = (self.share - self.nominal) / self.error * (1 if self.kind == "error" else -1)
        return "holds" if abs(off) <= 2.6 else "FAILS" if off > 0 else "cautious"


def rows() -> list[Row]:
    """The rows of every `benchmarks/calibration_*.py`, in the order of the files' names; no name twice."""
    found: list[Row] = []
    for path in sorted(Path(__file__).parent.glob("calibration_*.py")):
        found += importlib.import_module(f"benchmarks.{path.stem}").ROWS
    names = [row.name for row in found]
    assert len(names) == len(set(names)), "two rows of one name"
    return found


def simulated(row: Row, times: int | None = None) -> Found:
    """The row's share over so many simulations; the same again for the same number of them."""
    count, start = times or row.times, time.perf_counter()
    draw = np.random.default_rng(zlib.crc32(row.name.encode()))
    hits = sum(bool(row.simulate(draw)) for _ in range(count))
    return Found(row.name, row.kind, row.level, hits / count, count, row.before, time.perf_counter() - start)


def _by_place(place: int, times: int | None) -> Found:
    return simulated(rows()[place], times)


def table(found: Sequence[Found], before: str = "") -> str:
    """The rows as a Markdown table; those of the table `before` that were not simulated stay, those unknown go."""
    heads = ("what", "of", "nominal", "before (e6cb9bf)", "now", "simulations", "verdict")
    kinds = {"error": "type-I error", "coverage": "coverage", "power": "power"}
    lines = [
        (each.name, kinds[each.kind], f"{each.nominal:g}", each.before or "–", f"{each.share:.3f}", f"{each.times:,}",
         each.verdict)
        for each in found
    ]  # fmt: skip
    made = {line[0]: f"| {' | '.join(line)} |" for line in lines}
    if before:
        made = {line.split(" | ")[0].removeprefix("| "): line for line in before.strip().splitlines()[2:]} | made
        made = {row.name: made[row.name] for row in rows() if row.name in made}
    return "\n".join([*(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads))), *made.values()])


def written(text: str, found: Sequence[Found]) -> str:
    """The page with the rows in the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    old, mark, after = rest.partition(END)
    assert mark, f"the page has no lines {BEGIN!r} and {END!r}"
    return f"{before}{BEGIN}\n{table(found, old)}\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose name contains any of these")
    parser.add_argument("--times", type=int, help="simulations per row; each row's own number by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--list", action="store_true", help="print the rows' names")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the rows into the table of this Markdown page")
    args = parser.parse_args()
    every = rows()
    chosen = [at for at, row in enumerate(every) if not args.only or any(text in row.name for text in args.only)]
    if args.list:
        print("\n".join(every[at].name for at in chosen))
        return 0
    found: list[Found] = []
    with ProcessPoolExecutor(max(args.jobs, 1)) as pool:
        for each in pool.map(_by_place, chosen, [args.times] * len(chosen)):
            found.append(each)
            print(
                f"{each.share:.3f}  {each.verdict:8}  {each.seconds:5.1f} s  {each.name}", file=sys.stderr, flush=True
            )
    if args.json:
        plain: list[dict[str, Any]] = [{**vars(each), "verdict": each.verdict} for each in found]
        print(json.dumps(plain, indent=1))
    else:
        print(table(found))
    if args.write:
        args.write.write_text(written(args.write.read_text("utf-8"), found), "utf-8")
    return 1 if any(each.verdict == "FAILS" for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
