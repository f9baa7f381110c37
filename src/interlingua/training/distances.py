"""How far apart related and unrelated words lie, at any moment of a run: the states of papers/001 Fig. 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from interlingua.errors import InputError
from interlingua.measures.separation import separation
from interlingua.score import Scores
from interlingua.training.bitext import Bitext, Ints, pooled_words
from interlingua.training.bookkeeping import Monitor
from interlingua.training.passes import Forward, checked_layer
from interlingua.training.reference import KINDS, length_batches


@dataclass(frozen=True)
class WordDistances:
    """The distances of a bitext's linked words and of unrelated ones in a model, by `measures.separation`.

    Related: word pairs of `bitext`, special tokens left out. Unrelated: a word with a word of another row. At most
    `most` pairs, drawn by the seed. Called with a model (from any checkpoint: `Checkpoint.load_weights`) it gives all
    scores, histograms among them; as a monitor, the means by L2 and the AUC.
    """

    bitext: Bitext
    layer: int = -1
    most: int = 5000
    precision: str = "fp32"
    seed: int = 0

    def __call__(self, model: torch.nn.Module) -> Scores:
        left, right, rows = self.vectors(model)
        return separation(left, right, groups=rows, seed=self.seed)

    def vectors(self, model: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor, Ints]:
        """The vectors of the pairs' two sides, on the host, and the row each is of."""
        whole, pairs = self.bitext, self._pairs()
        rows = np.unique(whole.pair_row[pairs])
        forward = Forward(model, [checked_layer(model, self.layer)])
        device, before = next(model.parameters()).device, model.training
        model.eval()
        sides: list[list[torch.Tensor]] = [[], []]
        order = []
        wanted = np.zeros(len(whole.pair_row), bool)
        wanted[pairs] = True
        longest = np.maximum(whole.lengths[: len(whole)], whole.lengths[len(whole) :])[rows]
        try:
            for chosen in length_batches(longest, device):
                batch = whole.batch(rows[chosen], device=device)
                with (
                    torch.no_grad(),
                    torch.autocast(device.type, KINDS[self.precision], enabled=self.precision != "fp32"),
                ):
                    hidden = forward(model, batch)[forward.layers[0]]
                words = pooled_words(hidden, batch).flatten(0, 1)
                numbers = whole.pair_numbers(rows[chosen])
                kept = torch.from_numpy(wanted[numbers]).to(device)
                for side, name in zip(sides, ("left", "right"), strict=True):
                    side.append(words[batch[name][: len(numbers)][kept]].cpu())
                order.append(numbers[wanted[numbers]])
        finally:
            model.train(before)
        place = np.argsort(np.concatenate(order), kind="stable")
        ours, theirs = (torch.cat(side)[torch.from_numpy(place)] for side in sides)
        return ours, theirs, whole.pair_row[np.sort(pairs)]

    def _pairs(self) -> Ints:
        """The numbers of the pairs that are measured, in order."""
        words = np.flatnonzero(self.bitext.of_words)
        if len(words) < 2:
            raise InputError("fewer than two pairs of words", value=len(words), remedy="Give more text.")
        if len(words) <= self.most:
            return words
        return np.sort(np.random.default_rng(self.seed).choice(words, self.most, replace=False))

    def monitor(self, every: int) -> Monitor:
        """The means and the AUC as a monitor of the loop."""

        def measure(model: torch.nn.Module) -> dict[str, float]:
            scores = self(model)
            return {
                "related": scores["distance/related/l2"].value,
                "unrelated": scores["distance/unrelated/l2"].value,
                "auc": scores["auc/l2"].value,
            }

        return Monitor(every, measure)
