"""How much of the package a command walks through: files and functions entered, and how often an encoder is loaded.

    python -m benchmarks.walks                       # audit, transfer, and the same transfer as a study, on toy files
    python -m benchmarks.walks --json
    python -m benchmarks.walks -- audit --languages en,ru --rows 60 --cache none --out x    # any other command

Counted by `sys.setprofile` in all threads and all processes that a command starts (workers as well): Python functions
of the package, no comprehension, no class body, nothing while a module is imported. These are what a reader who follows
the command has to open, so fewer is better; it says nothing about time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
PACKAGE = HERE / "src" / "interlingua"
HOOK = """
import atexit, json, os, sys, threading
_package, _out = os.environ["WALK_PACKAGE"], os.environ["WALK_OUT"]
_entered, _loads = set(), [0]
_importing = ("<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>")
def _told(frame, event, argument):
    if event == "call":
        code = frame.f_code
        if code.co_filename.startswith(_package) and code.co_name not in _importing:
            caller = frame
            while caller is not None and caller.f_code.co_name != "<module>":
                caller = caller.f_back
            if caller is not None and caller.f_code.co_filename.startswith(_package) and "__main__" not in str(
                caller.f_globals.get("__name__")
            ):
                return
            _entered.add((code.co_filename, code.co_qualname))
            if code.co_qualname == "Encoder.load":
                _loads[0] += 1
def _write():
    sys.setprofile(None)
    with open(f"{_out}/{os.getpid()}.json", "w") as file:
        json.dump({"entered": sorted(map(list, _entered)), "loads": _loads[0]}, file)
atexit.register(_write)
threading.setprofile(_told)
sys.setprofile(_told)
"""
STUDY = """
name = "walk"
languages = ["ru"]
seeds = 1
regimes = ["original", "adjusted"]
[encoders.bert]
model = "model"
[bitexts]
files = "bitext.en-{language}.tsv"
[adjust]
max_pairs = 100
held_out = 20
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 2
"""
TRANSFER = (
    *("transfer", "model", "--task", "ner", "--train", "ner-train-en.tsv", "--test", "ru=ner-test-ru.tsv"),
    *("--bitext", "ru=bitext.en-ru.tsv", "--regimes", "original,adjusted", "--seeds", "1", "--epochs", "2"),
    *("--max-pairs", "100", "--held-out", "20", "--permutations", "100", "--out", "transfer"),
)
WALKS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "model", "--corpus", "parallel.tsv", "--cache", "none", "--out", "audit"),
    "transfer": TRANSFER,
    "the same as a study": ("study", "run", "walk.toml", "--cpus", "1", "--out", "study"),
    "the same study, inline": ("study", "run", "walk.toml", "--executor", "inline", "--out", "inline"),
}


@dataclass(frozen=True)
class Walk:
    """What a command entered, in all its processes."""

    name: str
    processes: int
    files: int
    functions: int
    loads: int
    folders: dict[str, int]


def walk(name: str, command: Sequence[str], place: Path) -> Walk:
    """Run a command in a folder under the profiler, and count."""
    with tempfile.TemporaryDirectory() as counted, tempfile.TemporaryDirectory() as hook:
        Path(hook, "sitecustomize.py").write_text(HOOK, "utf-8")
        own = {"WALK_PACKAGE": str(PACKAGE), "WALK_OUT": counted, "PYTHONPATH": f"{hook}{os.pathsep}{HERE / 'src'}"}
        done = subprocess.run(
            [sys.executable, "-m", "interlingua", *command],
            cwd=place,
            env={**os.environ, **own, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr[-2000:]}")
        parts = [json.loads(file.read_text("utf-8")) for file in Path(counted).glob("*.json")]
    entered = {tuple(each) for part in parts for each in part["entered"]}
    files = {file for file, _ in entered}
    folders = Counter(Path(file).relative_to(PACKAGE).parts[0] for file in files)
    loads = sum(part["loads"] for part in parts)
    return Walk(name, len(parts), len(files), len(entered), loads, dict(folders.most_common()))


def main() -> None:
    """Count the walks, and print them as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("command", nargs="*", help="a command of interlingua instead, after --")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path.cwd() if given.command else Path(folder)
        if not given.command:
            sys.path.insert(0, str(HERE / "tests"))
            from worlds import make_world

            make_world(place)
            (place / "walk.toml").write_text(STUDY, "utf-8")
        walks = {"command": tuple(given.command)} if given.command else WALKS
        for name, command in walks.items():
            found.append(walk(name, command, place))
            sys.stderr.write(f"{name}: {found[-1].files} files\n")
    if given.json:
        print(json.dumps([asdict(each) for each in found]))
        return
    print(f"{'walk':24} {'processes':>9} {'files':>6} {'functions':>9} {'Encoder.load':>12}")
    for each in found:
        print(f"{each.name:24} {each.processes:9} {each.files:6} {each.functions:9} {each.loads:12}")


if __name__ == "__main__":
    main()
