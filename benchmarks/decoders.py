"""A decoder's layers with attention sinks left out: an audit against a few lines of plain transformers and NumPy.

    python -m benchmarks.decoders FOLDER --corpus ../shared/data/tatoeba --languages en,ru --rows 100

prints P@1, raw and centred, both directions, at every layer: the plain mean, the mean without sinks, and the largest
difference of the audit's from those computed here, which share no code with it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch

from interlingua import audit
from interlingua.readers import read_corpus


def means(folder: str, texts: Sequence[str]) -> np.ndarray:
    """The (2, layer, text, dim) means of hidden states, one text at a time: without sinks, and of all tokens."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    found = []
    for text in texts:
        given = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        own = ~given.pop("special_tokens_mask")[0].bool().numpy()
        with torch.inference_mode():
            states = [each[0].numpy() for each in model(**given, output_hidden_states=True).hidden_states]
        rows: list[list[np.ndarray]] = [[], []]
        for layer in states:
            lengths = np.linalg.norm(layer, axis=1)
            others = [np.sort(np.delete(lengths, place)) for place in range(len(lengths))]
            sink = np.array(
                [bool(len(o)) and n > 5 * o[(len(o) - 1) // 2] for n, o in zip(lengths, others, strict=True)]
            )
            rows[0].append(layer[own & ~sink if (own & ~sink).any() else own].mean(0))
            rows[1].append(layer[own].mean(0))
        found.append(rows)
    return np.moveaxis(np.array(found, np.float64), 0, 2)


def right(source: np.ndarray, target: np.ndarray, *, centred: bool) -> tuple[float, float]:
    """The share of rows whose translation is their nearest neighbour by cosine, there and back."""
    sides = [side - side.mean(0) * centred for side in (source, target)]
    one, other = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
    cosines, own = one @ other.T, np.arange(len(one))
    return float((cosines.argmax(1) == own).mean()), float((cosines.argmax(0) == own).mean())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--corpus", default="../shared/data/tatoeba")
    parser.add_argument("--languages", default="en,ru")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--cache", default="none", help="where the audit's representations are kept")
    args = parser.parse_args()
    source, target = args.languages.split(",")
    corpus = read_corpus(args.corpus, languages=[source, target]).sample(args.rows, seed=0)
    texts = [list(corpus.column(code)) for code in (source, target)]
    made: dict[tuple[int, bool, bool], tuple[float, float]] = {}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        sides = list(pool.map(means, [args.folder] * 2, texts))
    for sinks in (True, False):
        ours, theirs = (side[int(sinks)] for side in sides)
        for layer in range(len(ours)):
            for centred in (False, True):
                made[layer, sinks, centred] = right(ours[layer], theirs[layer], centred=centred)
    layers = 1 + max(layer for layer, *_ in made)
    heads = [f"{mean}, {kind}" for mean in ("plain mean", "without sinks") for kind in ("raw", "centred")]
    print(f"| layer | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for layer in range(layers):
        cells = [made[layer, sinks, centred] for sinks in (True, False) for centred in (False, True)]
        print(f"| {layer} | {' | '.join(f'{there:.2f} / {back:.2f}' for there, back in cells)} |", flush=True)
    gaps = {name: gap(args.folder, corpus, made, name, args.cache) for name in ("sinkless", "mean")}
    print(", ".join(f"largest difference of the audit ({name}): {value:.2g}" for name, value in gaps.items()))
    return int(max(gaps.values()) > 1.5 / args.rows)


def gap(
    folder: str, corpus: Any, made: dict[tuple[int, bool, bool], tuple[float, float]], pooling: str, cache: str
) -> float:
    """The largest difference of an audit's P@1 from those made here, over layers, directions and centring."""
    records = audit(folder, corpus, measures=["retrieval"], pooling=pooling, cache=cache, device="cpu").records
    differences = []
    for record in records:
        if (record.metric, record.options.get("similarity")) == ("p@1", "cosine"):
            back = record.source != corpus.languages[0]
            wanted = made[record.layer, pooling == "mean", record.options["centering"] == "centred"][back]
            differences.append(abs(record.value - wanted))
    return max(differences)


if __name__ == "__main__":
    sys.exit(main())
