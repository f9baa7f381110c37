"""The neural aligner against the statistical one, by how much parallel text there is.

    python -m benchmarks.neural_alignment ../shared/data                 # the embedded encoder, minutes on 2 cores
    python -m benchmarks.neural_alignment ../shared/data --model DIR --device cuda --json

Gold: XL-WA dev (en-bg, en-es, en-ru, en-sl). The statistical aligner is trained on the gold sentences alone, with
1,000, 3,000 and 10,000 more pairs, and with all `software` and `tatoeba` text of the pair; words are \\w+|[^\\w\\s].
The neural one is trained on nothing: its layer, unit and centring are those with the lowest AER on the first 100 rows
of en-fr, another pair. argmax is compared with intersect, itermax with grow-diag-final-and, by a paired bootstrap of
sentences: "+" behind a figure says that the neural one is better, "-" that it is worse, nothing that the 95 % interval
of the difference holds 0. DATA has the folders `wordalign` and `parallel`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from interlingua.encoder import Encoder, Representations
from interlingua.wordalign.links import Links
from interlingua.wordalign.neural import METHODS, UNITS, NeuralSettings, neural_links
from interlingua.wordalign.quality import Gold, LinkCounts, count_links, quality, read_gold
from interlingua.wordalign.symmetrize import symmetrize
from interlingua.wordalign.training import train_both
from interlingua.words import Sentence, field_spans

PAIRS = ("bg", "es", "ru", "sl")
AMOUNTS = (0, 1000, 3000, 10_000, None)
HOWS = {"intersect": "argmax", "grow-diag-final-and": "itermax"}
"""Symmetrisations, and the neural method that each is compared with: few sure links, or more of them."""
CHOOSING_ROWS = 100

Bitext = tuple[list[Sentence], list[Sentence], Gold]


class Remembering:
    """An encoder that keeps every layer of what it has read, so that layers can be compared for one pass."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._kept = encoder, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], *, unit: str, layers: Sequence[int]) -> Representations:
        key = (tuple(texts), unit)
        if key not in self._kept:
            self._kept[key] = self._encoder.encode(texts, unit=unit)
        return self._kept[key]


def xl_wa(data: Path, code: str) -> Bitext:
    path = data / "wordalign" / f"xlwa.en-{code}.dev.tsv"
    lines = path.read_text("utf-8").splitlines()
    return _bitext([line.split("\t")[:2] for line in lines], lines, path, base=0)


def french(data: Path) -> Bitext:
    folder = data / "wordalign"
    sides = [line.split("|||") for line in (folder / "enfr.src-tgt").read_text("utf-8").splitlines()]
    return _bitext(sides, (folder / "enfr.gold").read_text("utf-8").splitlines(), folder / "enfr.gold", base=1)


def _bitext(sides: list[list[str]], lines: list[str], path: Path, *, base: int) -> Bitext:
    source, target = ([Sentence(row[k], field_spans(row[k])) for row in sides] for k in (0, 1))
    lengths = [(len(a.spans), len(b.spans)) for a, b in zip(source, target, strict=True)]
    return source, target, read_gold(enumerate(lines, 1), file=str(path), lengths=lengths, base=base)


def parallel(data: Path, code: str) -> list[tuple[list[str], list[str]]]:
    """All text of a pair, in a seeded order, so that a small amount is a part of a larger one."""
    rows = []
    for name in ("software", "tatoeba"):
        with lzma.open(data / "parallel" / f"{name}.en-{code}.tsv.xz", "rt", encoding="utf-8") as file:
            cells = (line.rstrip("\n").split("\t") for line in file)
            rows += [tuple(re.findall(r"\w+|[^\w\s]", side) for side in row[:2]) for row in cells]
    return [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]


def judged(links: Links, gold: Gold) -> dict[str, float]:
    scores = quality(count_links(links, gold))
    return {name: round(score.value, 4) for name, score in scores.items()} | {
        "low": round(scores["aer"].low, 4),
        "high": round(scores["aer"].high, 4),
    }


def difference(counts: LinkCounts, other: LinkCounts, *, seed: int = 0, times: int = 2000) -> str:
    """Whether the second has the lower AER ("+"), the higher one ("-"), or neither for sure ("")."""
    tables = counts.table(), other.table()
    n = len(tables[0])
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=times)
    aer = [1 - (sums[:, 2] + sums[:, 3]) / (sums[:, 0] + sums[:, 1]) for sums in (weights @ table for table in tables)]
    low, high = np.quantile(aer[0] - aer[1], (0.025, 0.975))
    return "+" if low > 0 else "-" if high < 0 else ""


def choose(encoder: Encoder, data: Path) -> tuple[NeuralSettings, list[dict[str, Any]]]:
    """The settings with the lowest AER on some rows of another pair, and all that were tried."""
    source, target, gold = french(data)
    few = Gold(gold.sure, gold.possible, gold.marked & (np.arange(len(gold.marked)) < CHOOSING_ROWS))
    tried = []
    for layer, method, unit, centre in product(encoder.layers, METHODS, UNITS, (False, True)):
        settings = NeuralSettings(method, layer, unit, centre)
        found = neural_links(encoder, source[:CHOOSING_ROWS], target[:CHOOSING_ROWS], settings).links
        tried.append(asdict(settings) | {"aer": judged(found, few)["aer"]})
    best = min(tried, key=lambda one: one["aer"])
    return NeuralSettings(best["method"], best["layer"], best["unit"], best["centre"]), tried


def compare(args: argparse.Namespace) -> dict[str, Any]:
    encoder: Any = Remembering(Encoder.load(args.model, device=args.device))
    settings, tried = choose(encoder, args.data)
    rows: list[dict[str, Any]] = []
    for code in args.pairs:
        source, target, gold = xl_wa(args.data, code)
        neural: dict[str, LinkCounts] = {}
        for method in METHODS:
            began = time.process_time()
            found = neural_links(encoder, source, target, replace(settings, method=method)).links
            neural[method] = count_links(found, gold)
            spent = round(time.process_time() - began, 1)
            rows.append({"pair": f"en-{code}", "aligner": method, "text": 0, **judged(found, gold), "cpu": spent})
        text = parallel(args.data, code)
        for amount in AMOUNTS:
            more = text if amount is None else text[:amount]
            ours = [sentence.words for sentence in source] + [row[0] for row in more]
            theirs = [sentence.words for sentence in target] + [row[1] for row in more]
            began = time.process_time()
            forward, backward = train_both(ours, theirs, device=args.device or "cpu")
            spent = round(time.process_time() - began, 1)
            for how, method in HOWS.items():
                both = symmetrize(forward.applied.links, backward.applied.links, how)
                kept = both.row < len(source)
                found = Links(both.row[kept], both.source[kept], both.target[kept])
                sign = difference(count_links(found, gold), neural[method])
                about = {"pair": f"en-{code}", "aligner": how, "text": len(more), "neural": sign, "cpu": spent}
                rows.append(about | judged(found, gold))
            if not args.json:
                print(*_lines(rows[-len(HOWS) :]), sep="\n", flush=True)
    return {"model": encoder.name, "digest": encoder.digest, "settings": asdict(settings), "tried": tried, "rows": rows}


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    return [
        f"{row['pair']:6} {row['aligner']:20} {row['text']:>7}  AER {100 * row['aer']:5.1f}  "
        f"[{100 * row['low']:.1f}, {100 * row['high']:.1f}]  P {100 * row['precision']:.1f}  "
        f"R {100 * row['recall']:.1f}  {row['cpu']:>6} CPU s"
        for row in rows
    ]


def table(result: dict[str, Any]) -> str:
    """A Markdown table: a line a pair, AER by amount of text (both symmetrisations) and of the neural methods."""
    names = ["gold only", "+1,000", "+3,000", "+10,000", "+all", " / ".join(METHODS)]
    lines = ["| pair | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for pair in dict.fromkeys(row["pair"] for row in result["rows"]):
        of_pair = [row for row in result["rows"] if row["pair"] == pair]
        cells = []
        for amount in sorted({row["text"] for row in of_pair}):
            both = [row for row in of_pair if row["text"] == amount and row["aligner"] in HOWS]
            cells.append(" / ".join(f"{100 * row['aer']:.1f}{row['neural']}" for row in both))
        neural = [row for row in of_pair if row["aligner"] in METHODS]
        cells.append(" / ".join(f"{100 * row['aer']:.1f}" for row in neural))
        lines.append(f"| {pair} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--device", default=None)
    parser.add_argument("--pairs", type=lambda text: text.split(","), default=list(PAIRS))
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    args = parser.parse_args()
    result = compare(args)
    if args.json:
        print(json.dumps(result))
        return
    print(f"\nAER in per cent by text trained on ({' / '.join(HOWS)}), and of the neural aligner:\n")
    print(table(result))
    print(f"\n{result['model']}, chosen on {CHOOSING_ROWS} rows of en-fr: {result['settings']}")


if __name__ == "__main__":
    main()
