"""Heads of tasks: a vector for a text, for each token, or for the ends of a span, to scores."""

from __future__ import annotations

import torch

from interlingua.training.loop import Batch

_ACTIVATIONS = {"tanh": torch.nn.Tanh, "gelu": torch.nn.GELU, "relu": torch.nn.ReLU}
_SPREAD = 0.02  # the standard deviation that BERT and its kin draw new weights with


class SentenceHead(torch.nn.Module):
    """Scores of labels for a text, (input, label): two linear layers on the vector that stands for it.

    `dense` is BERT's pooler (Devlin et al. 2019, §3), `out` its classifier. The vector is that of the first token, or
    of the last where a model reads from left to right; with `pooling="mean"` the mean of all tokens, from which a model
    learns sooner whose first token was never trained to stand for anything.
    """

    def __init__(self, dim: int, labels: int, *, dropout: float, activation: str, pooling: str = "first") -> None:
        super().__init__()
        self.pooling = pooling
        self.dense, self.out = _linear(dim, dim), _linear(dim, labels)
        self.activation, self.dropout = _ACTIVATIONS[activation](), torch.nn.Dropout(dropout)

    def forward(self, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        vector = self.activation(self.dense(self._vector(hidden, batch)))
        scores: torch.Tensor = self.out(self.dropout(vector))
        return scores

    def _vector(self, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        if self.pooling == "mean":
            if "attention_mask" not in batch:
                return hidden.mean(dim=1)
            there = batch["attention_mask"][..., None].to(hidden.dtype)
            return (hidden * there).sum(dim=1) / there.sum(dim=1)
        index = batch["summary"][:, None, None].expand(-1, 1, hidden.shape[-1])
        return hidden.gather(1, index)[:, 0]


class TokenHead(torch.nn.Module):
    """Scores of labels for every token, (input, position, label): one linear layer."""

    def __init__(self, dim: int, labels: int, *, dropout: float) -> None:
        super().__init__()
        self.out, self.dropout = _linear(dim, labels), torch.nn.Dropout(dropout)

    def forward(self, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        scores: torch.Tensor = self.out(self.dropout(hidden))
        return scores


class SpanHead(torch.nn.Module):
    """Scores of every token as the first and as the last of a span, (input, position, 2): one linear layer."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.out = _linear(dim, 2)

    def forward(self, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        scores: torch.Tensor = self.out(hidden)
        return scores


def _linear(width: int, out: int) -> torch.nn.Linear:
    layer = torch.nn.Linear(width, out)
    torch.nn.init.normal_(layer.weight, std=_SPREAD)
    torch.nn.init.zeros_(layer.bias)
    return layer
