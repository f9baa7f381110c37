"""PAWS-X whose files have lost rows, each its own: the rows that all languages still have, one for one.

    python -m benchmarks.pawsx_rows ../shared/data/pawsx FOLDER --languages en de es fr ko zh

Comparing attributions needs the same sentence pairs in every language. Copies of PAWS-X without ids, from which empty
translations were taken, have 1,943 to 1,994 of 2,000 test pairs, in their old order. So rows are found by the best path
through cosines of English and the other language that goes forward in both, passes over what has no partner, and
joins equal labels alone. The training part is copied. On the way it tells how sure it is: the median cosine of
joined rows, and that of their neighbours' rows, which is what a path one row off would have.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder import Encoder

BAND = 100
"""No language lost more rows than this before any place."""


def best_path(scores: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs (row, column), both rising, whose scores add up to the most; -inf are never joined.

    >>> best_path(np.array([[0.9, 0.1], [0.2, 0.3], [0.1, 0.8]]))
    [(0, 0), (2, 1)]
    """
    rows, columns = scores.shape
    best = np.zeros((rows + 1, columns + 1))
    for row in range(rows):
        joined = best[row, :-1] + scores[row]
        # The most of skipping a row, skipping columns, or joining: a running maximum does the second.
        best[row + 1, 1:] = np.maximum.accumulate(np.maximum(best[row, 1:], joined))
    path = []
    row, column = rows, columns
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            path.append((row, column))
    return path[::-1]


def vectors(encoder: Encoder, texts: list[str]) -> NDArray[np.float64]:
    """Unit vectors of texts at a middle layer, their mean removed."""
    layer = round(encoder.layers[-1] * 0.7)
    found = np.array(encoder.encode(texts, layers=[layer])[layer], np.float64)
    found -= found.mean(axis=0)
    made: NDArray[np.float64] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", nargs="+", default=["en", "de", "es", "fr", "ko", "zh"])
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    encoder = Encoder.load("embedded")
    lines = {code: (args.source / f"test-{code}.tsv").read_text("utf-8").splitlines() for code in args.languages}
    cells = {code: [line.split("\t") for line in its] for code, its in lines.items()}
    space = {code: vectors(encoder, [f"{a} {b}" for a, b, _ in its]) for code, its in cells.items()}
    first, *others = args.languages
    joined = {first: {row: row for row in range(len(lines[first]))}}
    for code in others:
        cosines = space[first] @ space[code].T
        apart = np.abs(np.subtract.outer(np.arange(len(cosines)), np.arange(cosines.shape[1])))
        labels = [np.array([its[2] for its in cells[each]]) for each in (first, code)]
        allowed = (apart <= BAND) & (labels[0][:, None] == labels[1][None, :])
        path = best_path(np.where(allowed, cosines, -np.inf))
        joined[code] = dict(path)
        rows, columns = np.array(path).T
        beside = np.minimum(columns + 1, cosines.shape[1] - 1)
        print(
            f"{code}: {len(path)} of {len(lines[first])} and {len(lines[code])} rows; "
            f"cosine {median(cosines[rows, columns])}, one row on {median(cosines[rows, beside])}"
        )
    shared = [row for row in joined[first] if all(row in joined[code] for code in others)]
    for code in args.languages:
        text = "".join(f"{lines[code][joined[code][row]]}\n" for row in shared)
        (args.folder / f"test-{code}.tsv").write_text(text, "utf-8")
        shutil.copyfile(args.source / f"dev-{code}.tsv", args.folder / f"dev-{code}.tsv")
    print(f"{len(shared)} rows in all {len(args.languages)}")


def median(values: NDArray[np.float64]) -> str:
    return f"{float(np.median(values)):.2f}"


if __name__ == "__main__":
    main()
