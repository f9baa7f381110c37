"""Every command of an earlier commit beside the same command of this tree: equal numbers, and at what cost?

    python -m benchmarks.commands BASE                       # BASE is a commit, for example v0.1 or HEAD~20
    python -m benchmarks.commands BASE --only audit transfer --rounds 3
    python -m benchmarks.commands BASE --json

The base is checked out as a git worktree in a temporary folder. Both sides run the same commands on the same small
files, one thread, on the CPU, rounds in turn. A side's cost is the least of its rounds: processor seconds (of the
command and its children), peak memory, and the bytes of the folder it leaves. The ratio is ours over the base's:
below 1 is better. Numbers are compared exactly: every value in the JSON files, JSON lines, tables and texts that both
sides leave, without times, versions and keys of steps. Where a name has changed on purpose, RENAMED says how.

Exit code 1 where a number differs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
NER = ("--train", "ner-train-en.tsv", "--test", "ru=ner-test-ru.tsv", "--test", "en=ner-test-en.tsv", "--epochs", "3")
NLI = ("--train", "nli-train-en.tsv", "--test", "ru=nli-test-ru.tsv", "--epochs", "2")
BITEXT = ("--bitext", "ru=bitext.en-ru.tsv")
STUDY = """
name = "world"
languages = ["ru"]
seeds = 2
regimes = ["original", "adjusted"]
[encoders.bert]
model = "model"
[bitexts]
files = "bitext.en-{language}.tsv"
[adjust]
rows = 100
held_out = 20
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 3
"""
PAIR = ("--train-on", "en", "--languages", "en,ru")
RECIPE = """
[data]
folder = "mono"
languages = ["en", "ru"]
[tokenizer]
vocabulary = 500
[model]
hidden_size = 16
num_hidden_layers = 2
num_attention_heads = 2
intermediate_size = 32
[training]
steps = 6
batch = 4
length = 16
"""


@dataclass(frozen=True)
class Command:
    """A command line, without `--out`; `embedded` ones run the model of the package and take tens of seconds."""

    name: str
    arguments: tuple[str, ...]
    has_folder: bool = True


COMMANDS = (
    Command("list", ("list",), has_folder=False),
    Command("audit", ("audit", "model", "--corpus", "parallel.tsv", "--cache", "none")),
    Command("audit-against", ("audit", "model", "--against", "other", "--corpus", "parallel.tsv", "--cache", "none")),
    Command(
        "audit-embedded",
        ("audit", "embedded", "--languages", "en,es,ru,hi", "--rows", "150", "--cache", "none"),
    ),
    Command("adjust", ("adjust", "model", *BITEXT, "--held-out", "20")),
    Command(
        "transfer-ner",
        (
            "transfer",
            "model",
            "--task",
            "ner",
            *NER,
            *BITEXT,
            "--seeds",
            "2",
            "--regime",
            "original,adjusted,continual",
        ),
    ),
    Command("transfer-nli", ("transfer", "model", "--task", "nli", *NLI, "--seeds", "2", "--keep")),
    Command("transfer-retrieval", ("transfer", "model", "--task", "retrieval", "--test", "ru=parallel.tsv")),
    Command("explain", ("explain", "MODEL", "--data", "en=nli-test-en.tsv", "--data", "ru=nli-test-ru.tsv")),
    Command(
        "geometry", ("geometry", "embedded", "--small", "--rows", "60", "--train-on", "en", "--languages", "en,ru")
    ),
    Command("pretrain", ("pretrain", "recipe.toml")),
    Command("synth", ("synth", "--languages", "en,ru,tr", "--rows", "200")),
    Command("align", ("align", "bitext.en-ru.tsv"), has_folder=False),
    Command("study", ("study", "run", "study.toml", "--cpus", "1")),
)
RENAMED_OPTIONS: dict[str, str] = {
    "--adjust-rate": "--adjust-learning-rate",
    "--data": "--test",
    "--keep": "--save-models",
    "--rate": "--learning-rate",
    "--regime": "--regimes",
    "--sentences": "--max-pairs",
    "--train-on": "--sources",
}
"""Options of the base that have another name now: the old one -> the new one."""
RENAMED_KEYS: dict[str, str] = {"rows": "max_pairs", "batch": "batch_size", "length": "max_length"}
"""Keys of the study file and of the recipe that have another name now."""
RENAMED_IN_FILES = re.compile(rf"^({'|'.join(RENAMED_KEYS)}) =", re.MULTILINE)
NO_NUMBERS = re.compile(
    r"(^|/)(seconds|created|versions|version|step|items|part|folder|out|path|peak|time|ended|began|digest|digests|"
    r"cache|machine|argv|command|rate_seconds|tokens_per_second)($|/)"
)


def environment(tree: Path) -> dict[str, str]:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("INTERLINGUA", "PYTHON"))}
    return {
        **bare, "PYTHONPATH": str(tree / "src"), "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "80",
        "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1",
    }  # fmt: skip


def stage(folder: Path) -> None:
    """The small files that the commands name, made once for both sides."""
    sys.path.insert(0, str(HERE / "tests"))
    from worlds import make_world

    make_world(folder)
    shutil.copytree(folder / "model", folder / "other")
    for name, text in (("study.toml", STUDY), ("recipe.toml", RECIPE)):
        (folder / name).write_text(text, "utf-8")
        (folder / f"new-{name}").write_text(
            RENAMED_IN_FILES.sub(lambda key: RENAMED_KEYS[key[1]] + " =", text), "utf-8"
        )
    (folder / "mono").mkdir()
    rows = [line.split("\t") for line in (folder / "bitext.en-ru.tsv").read_text("utf-8").splitlines()]
    for number, code in enumerate(("en", "ru")):
        (folder / "mono" / f"{code}.txt").write_text("".join(f"{row[number]}\n" for row in rows), "utf-8")


def run(tree: Path, command: Command, work: Path, out: Path) -> dict[str, float]:
    """One run and what it cost; its output is kept beside its folder."""
    arguments = list(command.arguments)
    if tree == HERE:
        arguments = [RENAMED_OPTIONS.get(argument, argument) for argument in arguments]
        arguments = [
            f"new-{argument}" if argument in ("study.toml", "recipe.toml") else argument for argument in arguments
        ]
    if "MODEL" in arguments:  # A fine-tuned model: what transfer left for this side.
        arguments[arguments.index("MODEL")] = str(next((out.parent / "transfer-nli").glob("models/*")))
    if command.has_folder:
        arguments += ["--out", str(out)]
    out.parent.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, "-m", "interlingua", *arguments]
    began = time.perf_counter()
    with open(f"{out}.stdout", "wb") as stdout, open(f"{out}.stderr", "wb") as stderr:
        process = subprocess.Popen(line, cwd=work, env=environment(tree), stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{tree.name}: {' '.join(arguments)}\n{Path(f'{out}.stderr').read_text('utf-8')[-3000:]}")
    files = [path for path in out.rglob("*") if path.is_file()] if command.has_folder else []
    return {
        "processor_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.perf_counter() - began,
        "peak_mb": usage.ru_maxrss / 1024,
        # A file with two names, as hard links give it, takes its room once.
        "folder_mb": sum({path.stat().st_ino: path.stat().st_size for path in files}.values()) / 2**20,
    }


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a JSON document with its place, but for what is no number of the run."""
    if NO_NUMBERS.search(at):
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{at}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{at}/{number}")
    else:
        yield at, json.dumps(value, ensure_ascii=False)


def as_compared(line: Any) -> Any:
    """A line as both sides have it: a record without its schema. A base with records of schema 1 cannot be compared."""
    if not isinstance(line, dict) or "schema" not in line:
        return line
    return {key: value for key, value in line.items() if key != "schema"}


def numbers(out: Path) -> Counter[str]:
    """What a run says, as a bag of lines: rows of JSON lines in any order, values of JSON files, rows of tables."""
    found: Counter[str] = Counter()
    for path in sorted(out.rglob("*")) if out.is_dir() else [Path(f"{out}.stdout")]:
        inside = path.relative_to(out.parent)
        if not path.is_file() or any(
            part.startswith(".") or part in ("steps", "logs", "work") for part in inside.parts
        ):
            continue
        name = "/".join(inside.parts[1:])
        if path.suffix == ".jsonl":
            for line in path.read_text("utf-8").splitlines():
                found[f"{name}: {sorted(leaves(as_compared(json.loads(line))))}"] += 1
        elif path.suffix == ".json":
            for place, value in leaves(json.loads(path.read_text("utf-8"))):
                found[f"{name}{place} = {value}"] += 1
        elif path.suffix in {".csv", ".tsv", ".iob2", ".stdout"}:
            found.update(f"{name}: {line}" for line in path.read_text("utf-8").splitlines())
    return found


def compared(command: Command, base: Path, work: Path, rounds: int) -> dict[str, Any]:
    trees = {"base": base, "ours": HERE}
    costs: dict[str, list[dict[str, float]]] = {side: [] for side in trees}
    for number in range(rounds):
        for side, tree in trees.items():
            out = work / "out" / side / command.name
            shutil.rmtree(out, ignore_errors=True)
            costs[side].append(run(tree, command, work, out))
            print(f"{command.name} {side} round {number + 1}: {costs[side][-1]['processor_s']:.1f} s", file=sys.stderr)
    least = {side: {key: min(cost[key] for cost in of) for key in of[0]} for side, of in costs.items()}
    before, after = (numbers(work / "out" / side / command.name) for side in trees)
    return {
        "command": command.name,
        **{key: (least["base"][key], least["ours"][key]) for key in least["base"]},
        "values": sum(after.values()),
        "missing": sorted((before - after).elements())[:5],
        "new": sorted((after - before).elements())[:5],
        "differing": sum((before - after).values()) + sum((after - before).values()),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    heads = ("command", "processor s", "ratio", "peak MB", "ratio", "folder MB", "ratio", "values", "differing")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        cells = [row["command"]]
        for key in ("processor_s", "peak_mb", "folder_mb"):
            before, after = row[key]
            cells += [f"{before:.1f} → {after:.1f}", f"{after / before:.2f}" if before else "–"]
        lines.append("| " + " | ".join([*cells, str(row["values"]), str(row["differing"])]) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--only", nargs="+", choices=[each.name for each in COMMANDS], default=None)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    chosen = [each for each in COMMANDS if given.only is None or each.name in given.only]
    if any("MODEL" in each.arguments for each in chosen) and "transfer-nli" not in {each.name for each in chosen}:
        chosen.insert(0, next(each for each in COMMANDS if each.name == "transfer-nli"))
    with tempfile.TemporaryDirectory(prefix="interlingua-commands-") as place:
        base, work = Path(place) / "base", Path(place) / "work"
        subprocess.run(["git", "-C", str(HERE), "worktree", "add", "-q", "--detach", base, given.base], check=True)
        try:
            work.mkdir()
            stage(work)
            rows = [compared(command, base, work, given.rounds) for command in chosen]
        finally:
            subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(base)], check=False)
    if given.json:
        print(json.dumps([{**row} for row in rows], ensure_ascii=False, indent=1))
    else:
        print(table(rows))
        for row in rows:
            for kind in ("missing", "new"):
                for line in row[kind]:
                    print(f"{row['command']}, {kind}: {line[:300]}")
    return int(any(row["differing"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
