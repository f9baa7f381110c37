"""Speed, error rate and memory of the word aligner beside fast_align, Thot and eflomal, on the same text in one run.

    python -m benchmarks.alignment --shared ../shared/data --pairs en-fr en-ru    # gold and text of shared/data
    python -m benchmarks.alignment --text FILE          # lines `source ||| target`, words separated by spaces
    python -m benchmarks.alignment --synthetic 50000    # needs no files; with --device cuda the CPU runs beside it
    python -m benchmarks.alignment --memory 2000000     # peak memory of the command, its slope, what 10 M pairs need

Peers are those that can be imported: pip install systran-align sil-thot eflomal. Both directions, with fast_align's
settings -d -o -v; seconds of CPU are those of all threads and child processes. Reading the text is not counted,
turning words into numbers is.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.alignment_peers import PACKAGES, PEERS, Run, by_row
from benchmarks.alignment_texts import Bitext, Directions, from_lines, shared, synthetic, whole
from benchmarks.sides import Side, version
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import combine_directions
from interlingua.wordalign.symmetrize import symmetrize
from interlingua.wordalign.training import align_both
from interlingua.wordalign.vocabulary import Sentences

FAST_ALIGN_RATE = 1600
"""Pairs of 20 words a second of CPU time and a direction, measured where fast_align could be installed."""
WAYS = ("intersect", "grow-diag-final-and")


class Ours:
    """Our aligner on one device, and the seconds of its parts in the fastest run."""

    def __init__(self, text: Bitext, device: str) -> None:
        self._text, self._device = text, device
        self.parts: dict[str, float] = {}
        self.links = Links.of([], [], [])

    def __call__(self) -> Callable[[], Directions]:
        told: dict[str, list[float]] = {"forward": [], "backward": []}
        began = time.perf_counter()
        source, target = (Sentences.of(side, device=self._device) for side in (self._text.source, self._text.target))
        numbered = time.perf_counter()
        forward, backward = align_both(
            source, target, device=self._device, progress=lambda name, _: told[name].append(time.perf_counter())
        )
        trained = time.perf_counter()
        self.links = combine_directions(forward.applied, backward.applied, "intersect")
        ended = time.perf_counter()
        # The first report comes after the index is made and the first pass: what is between reports is passes alone.
        passes = sum((times[-1] - times[0]) * len(times) / (len(times) - 1) for times in told.values())
        parts = {
            "numbering": numbered - began,
            "passes": passes,
            "training": trained - numbered,
            "whole": ended - began,
        }
        self.parts = min((self.parts, parts), key=lambda found: found.get("whole", math.inf))
        return lambda: (by_row(forward.applied.links, self._text), by_row(backward.applied.links, self._text))


def seconds() -> tuple[float, float]:
    """CPU time of this process and of its children, and the clock."""
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + child.ru_utime + child.ru_stime, time.perf_counter()


def measured(text: Bitext, run: Run, repeats: int) -> dict[str, object]:
    """The least seconds of several runs, and the error rates of the last."""
    best = (float("inf"), float("inf"))
    for _ in range(repeats):
        before = seconds()
        links = run()
        after = seconds()
        best = min(best[0], after[0] - before[0]), min(best[1], after[1] - before[1])
    pairs = len(text.source)
    row: dict[str, object] = {"cpu_seconds": round(best[0], 2), "seconds": round(best[1], 2)}
    row["pairs_per_second_and_direction"] = round(2 * pairs / best[1])
    row["pairs_per_cpu_second_and_direction"] = round(2 * pairs / best[0])
    if isinstance(run, Ours):
        for part, took in run.parts.items():
            row[f"seconds_{part}"] = round(took, 3)
        for part in ("passes", "training"):
            row[f"pairs_per_second_and_direction_{part}"] = round(2 * pairs / run.parts[part])
    if text.sure:
        forward, backward = (
            Links.of(*zip(*((r, s, t) for r, row in enumerate(side) for s, t in row), strict=True)) for side in links()
        )
        for how in WAYS:
            row[how] = round(100 * text.error_rate(by_row(symmetrize(forward, backward, how), text)), 2)
    return row


def compare(text: Bitext, devices: list[str], peers: bool, repeats: int) -> list[dict[str, object]]:
    runs: dict[str, Run] = {f"interlingua ({device})": Ours(text, device) for device in devices}
    with tempfile.TemporaryDirectory() as place:
        for module, (name, peer) in PEERS.items():
            if peers and importlib.util.find_spec(module):
                (Path(place) / module).mkdir()
                runs[name] = peer(text, Path(place) / module)
        for device in devices:
            Ours(whole(200, 5), device)()  # Libraries are loaded and a GPU is woken up before the clock runs.
        rows = []
        for name, run in runs.items():
            found = measured(text, run, repeats if isinstance(run, Ours) else 1)
            rows.append({"text": text.name, "pairs": len(text.source), "system": name, **found})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    ours = [run for run in runs.values() if isinstance(run, Ours)]
    if len(ours) == 2:
        rows[0]["links_as_on_cpu"] = share_of_equal(ours[0].links, ours[1].links)
    return rows


def share_of_equal(links: Links, others: Links) -> float:
    """The share of links that both have, of those that either has."""
    wide = 1 << 20
    keys = [(one.row * wide + one.source) * wide + one.target for one in (links, others)]
    both = len(np.intersect1d(*keys, assume_unique=True))
    return both / max(len(keys[0]) + len(keys[1]) - both, 1)


def peak(pairs: int, words: int, device: str) -> dict[str, object]:
    """What the whole command needs for so many synthetic pairs: it reads a file and writes one, in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        text, links = (Path(folder) / name for name in ("text", "links"))
        with text.open("w", encoding="utf-8") as file:
            for source, target in synthetic(pairs, words):
                rows = zip(source, target, strict=True)
                file.writelines(f"{' '.join(ours)} ||| {' '.join(theirs)}\n" for ours, theirs in rows)
        command = [sys.executable, "-m", "interlingua", "align", str(text), "--out", str(links), "--device", device]
        began = time.perf_counter()
        done = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(done.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        found: dict[str, object] = {
            "pairs": pairs,
            "peak_gb": round(used.ru_maxrss / 1e6, 3),
            "seconds": round(time.perf_counter() - began, 1),
            "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
            "lines": sum(1 for _ in links.open()),
        }
    print(json.dumps(found), file=sys.stderr, flush=True)
    return found


def memory(pairs: int, words: int, device: str) -> dict[str, object]:
    """The peaks of an eighth, a quarter, a half and all of the pairs, the last slope, and what it makes of 10 M pairs.

    A straight line is too much for 10 M pairs: the distinct pairs of words grow more slowly than the text.
    """
    runs = [peak(pairs // part, words, device) for part in (8, 4, 2, 1)]
    half, full = (float(str(run["peak_gb"])) for run in runs[-2:])
    slope = (full - half) / (pairs - pairs // 2)
    ten = full + slope * (10_000_000 - pairs)
    return {"runs": runs, "kilobytes_a_pair": round(slope * 1e6, 2), "gb_for_10_million_pairs": round(ten, 1)}


def table(rows: list[dict[str, object]]) -> str:
    """The rows side by side, as Markdown; the ratio is of CPU seconds to ours."""
    first = {str(row["text"]): row for row in reversed(rows) if str(row["system"]).startswith("interlingua")}
    lines = [
        "| text | pairs | system | CPU s | s | × ours | AER intersect | AER grow-diag-final-and |",
        "|" + "---|" * 8,
    ]
    for row in rows:
        ratio = float(str(row["cpu_seconds"])) / float(str(first[str(row["text"])]["cpu_seconds"]))
        cells = [row["text"], row["pairs"], row["system"], row["cpu_seconds"], row["seconds"], f"{ratio:.1f}"]
        lines.append("| " + " | ".join(str(cell) for cell in (*cells, *(row.get(how, "") for how in WAYS))) + " |")
    return "\n".join(lines)


def sides(found: dict[str, Any]) -> list[Side]:
    """Our first device against all else of the same text: speed, and error rates where the text has gold links."""
    made = []
    for text in dict.fromkeys(row["text"] for row in found["result"]):
        ours, *others = (row for row in found["result"] if row["text"] == text)
        on_gpu = "cuda" in ours["system"]
        key = "pairs_per_second_and_direction" if on_gpu else "pairs_per_cpu_second_and_direction"
        unit = f"pairs a {'' if on_gpu else 'CPU '}second and direction"
        for peer in others:
            name = peer["system"]
            number = version(PACKAGES.get(name, "torch"))
            made.append(Side(f"word alignment, {text}", unit, ours[key], name, peer[key], number))
            made += [
                Side(f"word alignment, {text}, {how}", "AER %", ours[how], name, peer[how], number, better="less")
                for how in WAYS
                if how in ours and how in peer
            ]
        if on_gpu:
            elsewhere = "fast_align on one core of another machine"
            made.append(Side(f"word alignment, {text}", unit, ours[key], elsewhere, FAST_ALIGN_RATE, "not in this run"))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, help="folder with wordalign/ and parallel/")
    parser.add_argument("--pairs", nargs="+", default=["en-fr", "en-ru", "en-es", "en-bg", "en-sl", "zh-en"])
    parser.add_argument("--text", type=Path, help="lines `source ||| target`")
    parser.add_argument("--synthetic", type=int, metavar="PAIRS")
    parser.add_argument("--memory", type=int, metavar="PAIRS")
    parser.add_argument("--words", type=int, default=20, help="mean words of a synthetic sentence")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    machine = torch.cuda.get_device_name() if args.device.startswith("cuda") else platform.processor() or "CPU"
    about = {"machine": machine, "threads": torch.get_num_threads(), "torch": torch.__version__}
    if args.memory:
        print(json.dumps({**about, "memory": memory(args.memory, args.words, args.device)}, indent=1))
        return
    devices = [args.device] if args.device == "cpu" else [args.device, "cpu"]
    texts = [whole(args.synthetic, args.words)] if args.synthetic else []
    texts += [from_lines(args.text)] if args.text else []
    texts += [shared(args.shared, pair) for pair in args.pairs] if args.shared else []
    rows = [row for text in texts for row in compare(text, devices, args.peers, args.repeats)]
    for row in rows:
        if str(row["system"]).startswith("interlingua"):
            rate = float(str(row["pairs_per_second_and_direction"]))
            row["times_fast_align_by_its_stated_rate"] = round(rate / FAST_ALIGN_RATE, 1)
    print(json.dumps({**about, "result": rows}, indent=1) if args.json else table(rows))


if __name__ == "__main__":
    main()
