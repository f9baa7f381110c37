"""Every side-by-side with a peer, one after the other, in one table: ours, the peer, the ratio, its version.

    python -m benchmarks                                            # on the CPU, under 15 minutes on 2 cores
    python -m benchmarks --device cuda --tokenizer DIR              # on a GPU, under 10
    python -m benchmarks --only transport alignment --json
    python -m benchmarks --shared ../shared/data                    # error rates of aligners on gold links, too

Each runs in a process of its own, so that one that fails or takes too long costs its own rows alone; it is then named,
and the exit code is 1. All together end in time (`--within`): what that leaves no seconds for is named, too. A ratio
above 1 says that we are ahead. The settings are those of MENU: small shapes and processor seconds on a CPU, one thread
unless OMP_NUM_THREADS says more; multilingual BERT's shape on a GPU. Peers that are not installed are left out;
`./run benchmarks` installs those it can.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import interlingua
from benchmarks.sides import Side

EMBEDDED = Path(interlingua.__file__).parent / "assets" / "encoder"
WITHIN = {"cpu": 900.0, "cuda": 590.0}
"""The seconds that all may take together."""
SMALL = ("--layers", "4", "--width", "128")


@dataclass(frozen=True)
class Entry:
    """A benchmark with its options on a CPU and on a GPU; None where it has nothing to show there."""

    name: str
    cpu: tuple[str, ...] | None
    cuda: tuple[str, ...] | None
    tokenizer: bool = False


MENU = (
    Entry("encoding", ("--count", "500", "--repeats", "1"), ("--shape", "mbert", "--count", "8000")),
    Entry("pretraining", None, ("--dropout", "0", "--steps", "200")),
    Entry("alignment", ("--synthetic", "20000"), ("--synthetic", "20000", "--repeats", "3")),
    Entry(
        "adjustment",
        (*SMALL, "--rows", "600", "--steps", "24", "--reference-steps", "6"),
        ("--steps", "100", "--rows", "3200", "--reference-seconds", "8"),
        tokenizer=True,
    ),
    Entry(
        "fine_tuning",
        (*SMALL, "--steps", "12", "--examples", "1000", "--no-compile"),
        ("--steps", "80", "--examples", "3200", "--no-compile"),
        tokenizer=True,
    ),
    Entry(
        "attribution",
        (*SMALL, "--examples", "24", "--together", "8"),
        ("--examples", "256", "--peer-examples", "64"),
    ),
    Entry(
        "transport",
        ("--problems", "500", "--peer-problems", "20", "--times", "2"),
        ("--problems", "2000", "--peer-problems", "10", "--times", "1"),
    ),
    Entry("steps", ("--steps", "1500", "--rounds", "2"), None),
)


def options_of(entry: Entry, args: argparse.Namespace) -> list[str] | None:
    chosen = entry.cuda if args.device.startswith("cuda") else entry.cpu
    if chosen is None:
        return None
    options = [*chosen, "--json"]
    if entry.name != "steps":
        options += ["--device", args.device]
    if entry.tokenizer or (entry.name == "encoding" and args.tokenizer and args.device != "cpu"):
        options += ["--tokenizer", str(args.tokenizer or EMBEDDED)]
    if entry.name == "alignment" and args.shared:
        options += ["--shared", str(args.shared), "--pairs", "en-fr", "en-bg"]
    return options


def found_by(
    entry: Entry, options: Sequence[str], seconds: float, threads: str | None = None
) -> tuple[list[Side], str]:
    """What the benchmark compared, and why there is nothing where there is nothing."""
    command = [sys.executable, "-m", f"benchmarks.{entry.name}", *options]
    place = ({} if threads is None else {"OMP_NUM_THREADS": threads}) | os.environ
    try:
        done = subprocess.run(command, env=place, capture_output=True, check=False, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return [], f"took more than {seconds:.0f} s"
    if done.returncode:
        return [], (done.stderr.strip().splitlines() or ["failed without a word"])[-1]
    try:
        found: Any = last_object(done.stdout)
    except ValueError:
        return [], f"printed no JSON: {done.stdout[-200:]!r}"
    return importlib.import_module(f"benchmarks.{entry.name}").sides(found), ""


def last_object(printed: str) -> Any:
    """The JSON object at the end of what was printed, on one line or over many; a `Trainer` prints before it."""
    lines = printed.strip().splitlines()
    start = max(number for number, line in enumerate(lines) if line.startswith("{"))
    return json.loads("\n".join(lines[start:]))


def machine(device: str) -> str:
    import torch

    name = torch.cuda.get_device_name() if device.startswith("cuda") else processor()
    return f"{name}, {os.cpu_count()} cores, torch {torch.__version__}, Python {platform.python_version()}"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(sides: Sequence[Side]) -> str:
    head = ["what", "unit", "ours", "peer", "theirs", "ratio", "version"]
    rows = [
        [s.what, s.unit, number(s.ours), s.peer, number(s.theirs), f"{s.ratio:.2f}", s.version or "-"] for s in sides
    ]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (head, *rows)
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", nargs="+", choices=[entry.name for entry in MENU], metavar="NAME")
    parser.add_argument("--tokenizer", type=Path, help="folder of a tokenizer; the embedded encoder's by default")
    parser.add_argument("--shared", type=Path, help="folder with wordalign/ and parallel/")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that one may take")
    parser.add_argument("--within", type=float, help="seconds that all may take; 900 on a CPU, 590 on a GPU")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    within = args.within or WITHIN[args.device.partition(":")[0]]
    sides: list[Side] = []
    failed: dict[str, str] = {}
    # One thread where the CPU is timed: what else a machine does then changes both sides less, and the ratio hardly.
    threads = None if args.device.startswith("cuda") else "1"
    began = time.perf_counter()
    for entry in MENU:
        options = options_of(entry, args) if not args.only or entry.name in args.only else None
        if options is None:
            continue
        print(f"benchmarks.{entry.name} …", end=" ", file=sys.stderr, flush=True)
        start = time.perf_counter()
        found, why = found_by(entry, options, min(args.limit, max(within - (start - began), 0.0)), threads)
        sides += found
        if why:
            failed[entry.name] = why
        print(f"{time.perf_counter() - start:.0f} s {why}", file=sys.stderr, flush=True)
        for side in found:  # What is known stays, though a later one be cut short.
            print(f"  {side.what}: {side.ratio:.2f} x {side.peer}", file=sys.stderr, flush=True)
    took = time.perf_counter() - began
    if args.json:
        rows = [side.row() for side in sides]
        print(json.dumps({"machine": machine(args.device), "seconds": took, "sides": rows, "failed": failed}, indent=1))
    else:
        print(f"{table(sides)}\n\n{machine(args.device)}; {took:.0f} s")
        for name, why in failed.items():
            print(f"failed: {name}: {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
