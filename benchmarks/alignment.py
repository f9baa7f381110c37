"""Speed, error rate and memory of the word aligner beside fast_align, Thot and eflomal, on the same text in one run.

    python -m benchmarks.alignment --shared ../shared/data --pairs en-fr en-ru    # gold and text of shared/data
    python -m benchmarks.alignment --text FILE          # lines `source ||| target`, words separated by spaces
    python -m benchmarks.alignment --synthetic 50000    # needs no files; also with --device cuda
    python -m benchmarks.alignment --memory 2000000     # peak memory, its slope by pair, and what 10 M pairs need

Peers are those that can be imported: pip install systran-align sil-thot eflomal. Both directions, with fast_align's
settings -d -o -v; seconds of CPU are those of all threads and child processes. Reading the text is not counted,
turning words into numbers is.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import lzma
import math
import platform
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from interlingua.wordalign.links import Links
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.symmetrise import symmetrise
from interlingua.wordalign.training import train_both

FAST_ALIGN_RATE = 1600
"""Pairs of 20 words a second of CPU time and a direction, measured where fast_align could be installed."""
WAYS = ("intersect", "grow-diag-final-and")
Rows = list[list[str]]
Pairs = set[tuple[int, int]]
Directions = tuple[list[Pairs], list[Pairs]]


@dataclass(frozen=True)
class Bitext:
    """Rows of words; the first ones have gold links, sure and possible."""

    name: str
    source: Rows
    target: Rows
    sure: list[Pairs] = field(default_factory=list)
    possible: list[Pairs] = field(default_factory=list)

    def error_rate(self, found: list[Pairs]) -> float:
        """AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) (Och & Ney 2003)."""
        rows = list(zip(found, self.sure, self.possible, strict=True))
        right = sum(len(links & sure) + len(links & possible) for links, sure, possible in rows)
        return 1 - right / sum(len(links) + len(sure) for links, sure, _ in rows)


def shared(folder: Path, pair: str) -> Bitext:
    """Gold sentences, and behind them the `software` and `tatoeba` text of the pair."""
    gold = folder / "wordalign" / f"xlwa.{pair}.dev.tsv"
    rows, sure, possible = _xlwa(gold) if gold.exists() else _src_tgt(folder / "wordalign" / pair.replace("-", ""))
    other = pair.replace("en", "").strip("-")
    for name in ("software", "tatoeba"):
        with lzma.open(folder / "parallel" / f"{name}.en-{other}.tsv.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                cells = [re.findall(r"\w+|[^\w\s]", cell) for cell in line.rstrip("\n").split("\t")]
                if all(cells):
                    rows.append(cells if pair.startswith("en") else cells[::-1])
    return Bitext(pair, [row[0] for row in rows], [row[1] for row in rows], sure, possible)


def _xlwa(path: Path) -> tuple[list[Rows], list[Pairs], list[Pairs]]:
    table = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    links = [{(int(s), int(t)) for s, t in (link.split("-") for link in cells[2].split())} for cells in table]
    return [[cell.split() for cell in cells[:2]] for cells in table], links, links


def _src_tgt(stem: Path) -> tuple[list[Rows], list[Pairs], list[Pairs]]:
    texts = stem.with_suffix(".src-tgt").read_text("utf-8").splitlines()
    found = [re.findall(r"(\d+)([-p])(\d+)", line) for line in stem.with_suffix(".gold").read_text().splitlines()]
    sure = [{(int(s) - 1, int(t) - 1) for s, kind, t in links if kind == "-"} for links in found]
    possible = [{(int(s) - 1, int(t) - 1) for s, _, t in links} for links in found]
    return [[side.split() for side in text.split("|||")] for text in texts], sure, possible


def from_lines(path: Path) -> Bitext:
    rows = [[side.split() for side in line.split("|||")] for line in path.read_text("utf-8").splitlines()]
    return Bitext(path.name, [row[0] for row in rows], [row[1] for row in rows])


def synthetic(pairs: int, words: int, seed: int = 0) -> Iterator[tuple[Rows, Rows]]:
    """Batches of rows: source words by Zipf's law, each with one of two translations, a tenth with any other.

    Frequencies fall with the rank, and with its square from rank 5,000 on, so that types and distinct pairs grow
    as in real text (en-es `software` and `tatoeba`, 76,000 pairs: 37,000 types, 75 distinct pairs a pair of rows,
    128 for an eighth of it). Neighbours change places now and then.
    """
    draw = np.random.default_rng(seed)
    ranks = np.arange(1, 2_000_001)
    weights = np.minimum(1, 5000 / ranks) / (ranks + 2.7)
    cumulative = np.cumsum(weights / weights.sum())
    for begin in range(0, pairs, 20_000):
        count = min(20_000, pairs - begin)
        lengths = np.clip(draw.poisson(words, count), 1, None)
        total = int(lengths.sum())
        ours = np.searchsorted(cumulative, draw.random(total))
        theirs = np.where(draw.random(total) < 0.1, np.searchsorted(cumulative, draw.random(total)), ours)
        theirs = 2 * theirs + (draw.random(total) < 0.3)
        moved = np.flatnonzero(draw.random(total - 1) < 0.1)
        theirs[moved], theirs[moved + 1] = theirs[moved + 1], theirs[moved]
        ends = np.cumsum(lengths).tolist()
        source, target = [f"s{word}" for word in ours], [f"t{word}" for word in theirs]
        bounds = list(zip([0, *ends[:-1]], ends, strict=True))
        yield [source[a:b] for a, b in bounds], [target[a:b] for a, b in bounds]


def whole(pairs: int, words: int) -> Bitext:
    batches = list(synthetic(pairs, words))
    source, target = ([row for batch in batches for row in batch[side]] for side in (0, 1))
    return Bitext(f"{pairs} synthetic pairs", source, target)


def ours(text: Bitext, device: str) -> Callable[[], Directions]:
    def found() -> Directions:
        forward, backward = train_both(text.source, text.target, device=device)
        return by_row(forward.applied.links, text), by_row(backward.applied.links, text)

    return found


def by_row(links: Links, text: Bitext) -> list[Pairs]:
    """The links of the gold rows."""
    rows: list[Pairs] = [set() for _ in text.sure]
    last = np.searchsorted(links.row, len(rows))
    for row, s, t in zip(*(x[:last].tolist() for x in (links.row, links.source, links.target)), strict=True):
        rows[row].add((s, t))
    return rows


def fast_align(text: Bitext, place: Path) -> Callable[[], Directions]:
    """fast_align as systran-align has it. Its tables are read, since its own aligner forgets the tension it found."""
    lines = (f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(text.source, text.target, strict=True))
    (place / "text").write_text("".join(lines), "utf-8")
    code = (
        "import sys, systran_align as align\n"
        "align.generate_alignment_probabilities(*sys.argv[1:], verbose=True, favor_diagonal=True,"
        " optimize_tension=True, variational_bayes=True, beam_threshold=-1000.0)"
    )
    files = [str(place / name) for name in ("text", "forward", "backward")]

    def found() -> Directions:
        run = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, check=True)
        tensions = [float(value) for value in re.findall(rb"final tension: ([\d.]+)", run.stderr)]
        if not text.sure:
            return [], []
        gold = text.source[: len(text.sure)], text.target[: len(text.sure)]
        forward = _read_off(Path(files[1]), *gold, tensions[len(tensions) // 2 - 1])
        backward = _read_off(Path(files[2]), *gold[::-1], tensions[-1])
        return forward, [{(s, t) for t, s in links} for links in backward]

    return found


def _read_off(path: Path, source: Rows, target: Rows, tension: float, null: float = 0.08) -> list[Pairs]:
    """The best source word of each target word under a table that systran-align wrote."""
    data = path.read_bytes()
    _, count = struct.unpack_from("<2I", data)
    words = data[8:].split(b"\0", count)[:count]
    number = {word.decode("utf-8"): at for at, word in enumerate(words, 1)}
    at = 8 + sum(map(len, words)) + count + 4
    theta: dict[int, dict[int, float]] = {}
    while at < len(data):
        word, size = struct.unpack_from("<2I", data, at)
        entries = np.frombuffer(data, np.dtype([("word", "<u4"), ("p", "<f4")]), size, at + 8)
        theta[word] = dict(zip(entries["word"].tolist(), entries["p"].tolist(), strict=True))
        at += 8 + 8 * size
    rows: list[Pairs] = []
    for ours_, theirs in zip(source, target, strict=True):
        rows.append(set())
        for j, word in enumerate(theirs, 1):
            near = [math.exp(-tension * abs(i / len(ours_) - j / len(theirs))) for i in range(1, len(ours_) + 1)]
            t = number.get(word, 0)
            best = [
                (1 - null) * w / sum(near) * theta.get(number.get(s, 0), {}).get(t, 0.0)
                for w, s in zip(near, ours_, strict=True)
            ]
            if max(best) > null * theta[1].get(t, 1e-9):
                rows[-1].add((best.index(max(best)), j - 1))
    return rows


def thot(text: Bitext, place: Path) -> Callable[[], Directions]:
    """The FastAlign model of sil-thot, variational, five iterations."""

    def direction(source: Rows, target: Rows) -> list[Pairs]:
        from thot.alignment import FastAlignModel

        model = FastAlignModel()
        model.variational_bayes = True
        for s, t in zip(source, target, strict=True):
            model.add_sentence_pair(s, t)
        model.start_training()
        for _ in range(5):
            model.train()
        model.end_training()
        rows: list[Pairs] = []
        for s, t in zip(source[: len(text.sure)], target, strict=False):
            matrix = model.get_best_alignment(s, t)[1].to_numpy()
            rows.append({(int(i), int(j)) for i, j in zip(*np.nonzero(matrix), strict=True)})
        return rows

    def found() -> Directions:
        backward = direction(text.target, text.source)
        return direction(text.source, text.target), [{(s, t) for t, s in links} for links in backward]

    return found


def eflomal(text: Bitext, place: Path) -> Callable[[], Directions]:
    def found() -> Directions:
        from interlingua.wordalign.eflomal import eflomal_links

        links = eflomal_links(text.source, text.target)
        return by_row(links.forward, text), by_row(links.backward, text)

    return found


PEERS = {"systran_align": ("fast_align", fast_align), "thot": ("Thot FastAlign", thot), "eflomal": ("eflomal", eflomal)}


def seconds() -> tuple[float, float]:
    """CPU time of this process and of its children, and the clock."""
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + child.ru_utime + child.ru_stime, time.perf_counter()


def measured(text: Bitext, run: Callable[[], Directions], repeats: int) -> dict[str, object]:
    """The least seconds of several runs, and the error rates of the last."""
    best = (float("inf"), float("inf"))
    for _ in range(repeats):
        before = seconds()
        forward, backward = run()
        after = seconds()
        best = min(best[0], after[0] - before[0]), min(best[1], after[1] - before[1])
    pairs = len(text.source)
    row: dict[str, object] = {"cpu_seconds": round(best[0], 2), "seconds": round(best[1], 2)}
    row["pairs_per_second_and_direction"] = round(2 * pairs / best[1])
    if text.sure:
        links = [
            Links.of(*zip(*((r, s, t) for r, row in enumerate(side) for s, t in row), strict=True))
            for side in (forward, backward)
        ]
        for how in WAYS:
            row[how] = round(100 * text.error_rate(by_row(symmetrise(*links, how), text)), 2)
    return row


def compare(text: Bitext, device: str, peers: bool, repeats: int) -> list[dict[str, object]]:
    runs: dict[str, Callable[[], Directions]] = {f"interlingua ({device})": ours(text, device)}
    with tempfile.TemporaryDirectory() as place:
        for module, (name, peer) in PEERS.items():
            if peers and importlib.util.find_spec(module):
                (Path(place) / module).mkdir()
                runs[name] = peer(text, Path(place) / module)
        rows = []
        for name, run in runs.items():
            warm_up = ours(whole(200, 5), device) if name.startswith("interlingua") else None
            if warm_up:
                warm_up()
            rows.append(
                {
                    "text": text.name,
                    "pairs": len(text.source),
                    "system": name,
                    **measured(text, run, repeats if name.startswith("interlingua") else 1),
                }
            )
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def peak(pairs: int, words: int, device: str) -> dict[str, object]:
    """What a fresh process needs for so many synthetic pairs, words as strings being read as they come."""
    code = "from benchmarks.alignment import _peak_run; _peak_run()"
    arguments = [sys.executable, "-c", code, str(pairs), str(words), device]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(found), file=sys.stderr, flush=True)
    return found


def _peak_run() -> None:
    pairs, words, device = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = seconds()
    source, target = (Sentences.of(row for batch in synthetic(pairs, words) for row in batch[side]) for side in (0, 1))
    numbered = seconds()
    forward, _ = train_both(source, target, device=device)
    ended = seconds()
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    result = {
        "pairs": pairs,
        "distinct_word_pairs": len(forward.model.pair_source),
        "peak_gb": round(gigabytes, 3),
        "of_which_libraries_gb": round(base / 1e6, 3),
        "seconds_reading": round(numbered[1] - began[1], 1),
        "seconds_training": round(ended[1] - numbered[1], 1),
        "cpu_seconds_training": round(ended[0] - numbered[0], 1),
    }
    if device.startswith("cuda"):
        result["peak_gpu_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 3)
    print(json.dumps(result))


def memory(pairs: int, words: int, device: str) -> dict[str, object]:
    """The peaks of half as many pairs and of all, the slope between them, and where it leads for 10 M pairs."""
    half, full = peak(pairs // 2, words, device), peak(pairs, words, device)
    slope = (float(str(full["peak_gb"])) - float(str(half["peak_gb"]))) / (pairs - pairs // 2)
    ten = float(str(full["peak_gb"])) + slope * (10_000_000 - pairs)
    return {"runs": [half, full], "kilobytes_a_pair": round(slope * 1e6, 2), "gb_for_10_million_pairs": round(ten, 1)}


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, help="folder with wordalign/ and parallel/")
    parser.add_argument("--pairs", nargs="+", default=["en-fr", "en-ru", "en-es", "en-bg", "en-sl"])
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
    texts = [whole(args.synthetic, args.words)] if args.synthetic else []
    texts += [from_lines(args.text)] if args.text else []
    texts += [shared(args.shared, pair) for pair in args.pairs] if args.shared else []
    rows = [row for text in texts for row in compare(text, args.device, args.peers, args.repeats)]
    for row in rows:
        if str(row["system"]).startswith("interlingua"):
            rate = float(str(row["pairs_per_second_and_direction"]))
            row["times_fast_align_by_its_stated_rate"] = round(rate / FAST_ALIGN_RATE, 1)
    print(json.dumps({**about, "result": rows}, indent=1) if args.json else table(rows))


if __name__ == "__main__":
    main()
