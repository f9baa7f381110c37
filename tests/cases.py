"""Tiny task models and cases of every kind of head, and a linear model whose attributions are known by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import models
import toys
from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.attribution.inputs import END, AttributionInput, Baseline, Targets, of_answers, of_texts, of_tokens
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs, frame
from interlingua.tasks import tasks
from interlingua.training.task import TaskModel

ARCHITECTURES = ("bert", "distilbert", "electra", "xlm-roberta", "deberta-v2", "modernbert", "qwen2", "gemma3")


def loaded(folder: Path, architecture: str) -> Encoder:
    return Encoder.load(str(models.ARCHITECTURES[architecture](folder)), device="cpu", precision="fp32")


def separators(encoder: Encoder, *, pair: bool) -> tuple[int, ...]:
    shape = frame(encoder.tokenizer, pair=pair)
    return shape.before + shape.between + shape.after


def case_of(encoder: Encoder, task_name: str, *, scale: str = "logit", baseline: str = "padding") -> AttributionInput:
    """A head of random weights, large enough for scores that differ, on toy examples and their gold targets."""
    task = tasks[task_name].call()
    examples = toys.toy(task_name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=1)
    with torch.no_grad():
        for weight in model.head.parameters():
            weight.mul_(20)
    inputs = task.inputs(examples, encoder, labels=labels, training=False)
    through = EmbeddingForward(model, budget=256)
    kept = separators(encoder, pair=task_name != "ner")
    return AttributionInput(
        through,
        inputs,
        targets_of(task_name, inputs, scale),
        Baseline.of(baseline, through, encoder.tokenizer, kept=kept),
    )


def targets_of(task_name: str, inputs: Inputs, scale: str) -> Targets:
    if task_name in ("nli", "paraphrase", "classification"):
        return of_texts(np.arange(len(inputs)) % 2, scale=scale)
    if task_name == "ner":
        items = np.arange(0, inputs.item_count, 3)
        return of_tokens(inputs, items, items % 4, scale=scale)
    rows = np.arange(len(inputs))
    return of_answers(rows, inputs.lengths - 3, END, scale=scale)


class Linear(torch.nn.Module):
    """Scores that are linear in word embeddings, with other weights at every position."""

    def __init__(self, words: int, width: int, dim: int, labels: int) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(0)
        self.table = torch.nn.Embedding(words, dim)
        self.table.weight.data = torch.randn(words, dim, generator=draw)
        self.weight = torch.nn.Parameter(torch.randn(width, dim, labels, generator=draw))

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.table

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        vectors = self.table(batch["input_ids"])
        if "attention_mask" in batch:
            vectors = vectors * batch["attention_mask"][..., None]
        return torch.einsum("bld,ldk->bk", vectors, self.weight[: vectors.shape[1]])


def linear_case() -> AttributionInput:
    draw = np.random.default_rng(0)
    lengths = draw.integers(3, 12, size=9)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids = draw.integers(3, 30, size=starts[-1]).astype(np.int32)
    ids[starts[:-1]], ids[starts[1:] - 1] = 1, 2
    inputs = Inputs(ids, starts, None, np.arange(9), 0, np.zeros(9, np.int64), 9, units=np.ones(9, np.int64))
    through = EmbeddingForward(Linear(30, 12, 7, 3), budget=40)
    baseline = Baseline("padding", through.embed(torch.tensor(0)), (1, 2))
    return AttributionInput(through, inputs, of_texts(np.arange(9) % 3), baseline)
