"""Other aligners on a text of a benchmark: the links of its gold sentences in both directions."""

from __future__ import annotations

import math
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.alignment_texts import Bitext, Directions, Pairs, Rows
from interlingua.wordalign.links import Links

Run = Callable[[], Callable[[], Directions]]
"""What is timed; what it gives finds the links of the gold sentences, which is not."""


def by_row(links: Links, text: Bitext) -> list[Pairs]:
    """The links of the gold rows."""
    rows: list[Pairs] = [set() for _ in text.sure]
    last = np.searchsorted(links.row, len(rows))
    for row, s, t in zip(*(x[:last].tolist() for x in (links.row, links.source, links.target)), strict=True):
        rows[row].add((s, t))
    return rows


def fast_align(text: Bitext, place: Path) -> Run:
    """fast_align as systran-align has it. It keeps its best entries only, as it does by default.

    For the links, it is run once more with all of them written and not counted: they are read off its tables, since
    its own aligner forgets the tension it found.
    """
    lines = (f"{' '.join(s)} ||| {' '.join(t)}\n" for s, t in zip(text.source, text.target, strict=True))
    (place / "text").write_text("".join(lines), "utf-8")
    code = (
        "import sys, systran_align as align\n"
        "align.generate_alignment_probabilities(*sys.argv[2:], verbose=True, favor_diagonal=True,"
        " optimize_tension=True, variational_bayes=True, beam_threshold=float(sys.argv[1]))"
    )
    files = [str(place / name) for name in ("text", "forward", "backward")]

    def run(beam: float) -> list[float]:
        done = subprocess.run([sys.executable, "-c", code, str(beam), *files], capture_output=True, check=True)
        return [float(value) for value in re.findall(rb"final tension: ([\d.]+)", done.stderr)]

    def links() -> Directions:
        tensions = run(-1000.0)
        gold = text.source[: len(text.sure)], text.target[: len(text.sure)]
        forward = _read_off(Path(files[1]), *gold, tensions[len(tensions) // 2 - 1])
        backward = _read_off(Path(files[2]), *gold[::-1], tensions[-1])
        return forward, [{(s, t) for t, s in links} for links in backward]

    def found() -> Callable[[], Directions]:
        run(-4.0)
        return links

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


def thot(text: Bitext, place: Path) -> Run:
    """The FastAlign model of sil-thot, variational, five iterations."""

    def direction(source: Rows, target: Rows) -> Callable[[], list[Pairs]]:
        from thot.alignment import FastAlignModel

        model = FastAlignModel()
        model.variational_bayes = True
        for s, t in zip(source, target, strict=True):
            model.add_sentence_pair(s, t)
        model.start_training()
        for _ in range(5):
            model.train()
        model.end_training()

        def links() -> list[Pairs]:
            rows: list[Pairs] = []
            for s, t in zip(source[: len(text.sure)], target, strict=False):
                matrix = model.get_best_alignment(s, t)[1].to_numpy()
                rows.append({(int(i), int(j)) for i, j in zip(*np.nonzero(matrix), strict=True)})
            return rows

        return links

    def found() -> Callable[[], Directions]:
        forward, backward = direction(text.source, text.target), direction(text.target, text.source)
        return lambda: (forward(), [{(s, t) for t, s in links} for links in backward()])

    return found


def eflomal(text: Bitext, place: Path) -> Run:
    def found() -> Callable[[], Directions]:
        from interlingua.wordalign.eflomal import eflomal_links

        links = eflomal_links(text.source, text.target)
        return lambda: (by_row(links.forward, text), by_row(links.backward, text))

    return found


PACKAGES = {"fast_align": "systran-align", "Thot FastAlign": "sil-thot", "eflomal": "eflomal"}
PEERS = {"systran_align": ("fast_align", fast_align), "thot": ("Thot FastAlign", thot), "eflomal": ("eflomal", eflomal)}
