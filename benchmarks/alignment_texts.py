"""Texts to align in benchmarks: gold sentences with text of the pair behind them, files, synthetic ones of any size."""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Rows = list[list[str]]
Pairs = set[tuple[int, int]]
Directions = tuple[list[Pairs], list[Pairs]]
LONGEST = 79
"""Rows of more words on either side are left out, as they were for the figures of fast_align this is held against."""


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
    """Gold sentences, and behind them the `software` and `tatoeba` text of the pair, rows of up to 79 words."""
    gold = folder / "wordalign" / f"xlwa.{pair}.dev.tsv"
    rows, sure, possible = _xlwa(gold) if gold.exists() else _src_tgt(folder / "wordalign" / pair.replace("-", ""))
    other = pair.replace("en", "").strip("-")
    cuts = _words, _chinese if other == "zh" else _words
    for name in ("software", "tatoeba"):
        with lzma.open(folder / "parallel" / f"{name}.en-{other}.tsv.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                texts = line.rstrip("\n").split("\t")
                cells = [cut(text) for cut, text in zip(cuts, texts, strict=True)]
                if all(0 < len(cell) <= LONGEST for cell in cells):
                    rows.append(cells if pair.startswith("en") else cells[::-1])
    return Bitext(pair, [row[0] for row in rows], [row[1] for row in rows], sure, possible)


_words: Callable[[str], list[str]] = re.compile(r"\w+|[^\w\s]").findall


def _chinese(text: str) -> list[str]:
    """Words by the segmenter, since the gold sentences are in words too; what `_words` gives are whole clauses."""
    import jieba

    jieba.setLogLevel(60)
    return [word for part in _words(text) for word in jieba.cut(part)]


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
