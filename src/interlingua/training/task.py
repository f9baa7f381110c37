"""A model for a task: a body that any objective may train and a head on top; and what a task must be able to do."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch

from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.errors import InputError
from interlingua.score import Scores
from interlingua.training.loop import Batch

_READ = ("input_ids", "attention_mask", "token_type_ids")


@dataclass(frozen=True)
class FineTuning:
    """How a task is fine-tuned where nothing else is said; the one place that says so of each."""

    learning_rate: float
    epochs: int
    batch: int = 32


class Task(Protocol):
    """Labelled examples, a head, a predictor and a judge."""

    name: ClassVar[str]
    metric: ClassVar[str]
    """The variant of the scores that speaks for the task."""
    kind: ClassVar[str]
    """The head that `transformers` has for it: sequence, token or span."""
    defaults: ClassVar[FineTuning]
    reads: ClassVar[tuple[str, ...]]
    """What each text of an example is called, for people who type one."""

    def read(self, path: str | Path, language: str) -> Any:
        """The `Examples` of a file."""
        ...

    def labels(self, examples: Any) -> tuple[str, ...]:
        """The names of the labels of training examples; none where the head has no labels."""
        ...

    def example(self, texts: Sequence[str]) -> Any:
        """An example of texts that someone typed; its label is not known. Another number of them is an error."""
        ...

    def head(self, dim: int, labels: tuple[str, ...], *, dropout: float, activation: str) -> torch.nn.Module:
        """A new head on vectors of this width, called with (hidden states, batch)."""
        ...

    def inputs(self, examples: Any, encoder: Encoder, *, labels: tuple[str, ...], training: bool) -> Inputs:
        """The examples as the model reads them, tokenised once; with their labels where it is for training."""
        ...

    def loss(self, output: torch.Tensor, batch: Batch) -> torch.Tensor:
        """The loss summed over the labels of a batch."""
        ...

    def predict(
        self, model: torch.nn.Module, inputs: Inputs, *, labels: tuple[str, ...], precision: str | None = None
    ) -> Any:
        """What the model says of each example, computed in the run's precision; None: the device's own.

        Where it has `posteriors()`, they are arrays under names with the model's confidence, for a file.
        """
        ...

    def judge(self, predictions: Any, examples: Any) -> Scores:
        """How right the predictions are, with what each example adds."""
        ...


class TaskModel(torch.nn.Module):
    """A body (a `transformers` model without a head) and a task's head; called with a batch, gives the head's output.

    `base_model` is what other objectives train along, under the name that `transformers` models have for it.
    """

    def __init__(self, body: torch.nn.Module, head: torch.nn.Module) -> None:
        super().__init__()
        self.base_model, self.head = body, head
        self._reads = inputs_of(body)

    @classmethod
    def of(cls, encoder: Encoder, task: Task, labels: tuple[str, ...], *, seed: int) -> TaskModel:
        """The encoder's model, made trainable in place, under a new head drawn by the seed."""
        body: Any = encoder.model
        check_whole(body)
        body.float().requires_grad_(True)
        config = body.config
        dropout = next(
            (
                float(value)
                for key in ("classifier_dropout", "hidden_dropout_prob", "dropout")
                if isinstance(value := getattr(config, key, None), int | float)
            ),
            0.1,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            head = task.head(encoder.dim, labels, dropout=dropout, activation=activation(config.model_type))
        _take_pooler(body, head)
        return cls(body, head.to(encoder.device))

    def under_random_head(self, *, seed: int) -> TaskModel:
        """The same body, shared, under a head that has learnt nothing: its own, the weights of each layer shuffled.

        Weights of the same sizes: nothing is taken away but what was learnt. A head that was never trained is,
        shuffled, another of its kind, and its place among its own controls is any place.
        """
        head = copy.deepcopy(self.head)
        shuffle_weights(head.parameters(), seed=seed)
        return TaskModel(self.base_model, head).train(self.training)

    def forward(self, batch: Batch) -> torch.Tensor:
        output: torch.Tensor = self.head(self.hidden(batch), batch)
        return output

    def hidden(self, batch: Batch) -> torch.Tensor:
        """The last layer of the body, (input, position, dim)."""
        given = {name: batch[name] for name in self._reads if name in batch}
        states: torch.Tensor = self.base_model(**given).last_hidden_state
        return states


def check_typed(texts: Sequence[str], reads: Sequence[str]) -> None:
    """Refuse another number of typed texts than a task reads, or an empty one."""
    if len(texts) != len(reads) or not all(text.strip() for text in texts):
        raise InputError(
            f"the model reads {' and '.join(f'a {what}' for what in reads)}",
            value=" ||| ".join(texts),
            remedy="Divide two texts by |||." if len(reads) > 1 else "Give one text.",
        )


def inputs_of(model: Any) -> tuple[str, ...]:
    """What of a batch a `transformers` model is called with."""
    known = inspect.signature(model.forward).parameters
    # XLM-R knows one token type, and a tokenizer may speak of two.
    types = int(getattr(getattr(model, "config", None), "type_vocab_size", 0) or 0)
    return tuple(name for name in _READ if name in known and (name != "token_type_ids" or types > 1))


@torch.no_grad()
def shuffle_weights(weights: Iterable[torch.nn.Parameter], *, seed: int) -> None:
    """Shuffle each tensor's weights in place, by the seed."""
    draw = torch.Generator().manual_seed(seed)
    for weight in weights:
        order = torch.randperm(weight.numel(), generator=draw).to(weight.device)
        weight.copy_(weight.flatten()[order].view_as(weight))


def activation(model_type: str) -> str:
    """What stands between the two layers of the architecture's own sentence head, so that ours is the same function."""
    return {"electra": "gelu", "distilbert": "relu", "deberta": "gelu", "deberta-v2": "gelu"}.get(model_type, "tanh")


def check_whole(body: Any) -> None:
    """Refuse half of an encoder-decoder: no folder that `transformers` loads could be written of it."""
    from transformers import MODEL_MAPPING

    wanted = MODEL_MAPPING.get(type(body.config), None)
    kinds = wanted if isinstance(wanted, tuple) else (wanted,)
    if type(body) not in kinds:
        raise InputError(
            "only whole models can be fine-tuned, and this is one half of an encoder-decoder",
            value=type(body).__name__,
            remedy="Use an encoder such as xlm-roberta-base.",
        )


@torch.no_grad()
def _take_pooler(body: Any, head: Any) -> None:
    """Move a pre-trained pooler of the body's shape into the head, as BERT's own classifier uses it.

    A pooler that stays behind is never used, and several processes would wait for its gradients.
    """
    pooler = getattr(body, "pooler", None)
    if pooler is None:
        return
    theirs: Any = pooler if isinstance(pooler, torch.nn.Linear) else getattr(pooler, "dense", None)
    ours: Any = getattr(head, "dense", None)
    linear = isinstance(theirs, torch.nn.Linear) and isinstance(ours, torch.nn.Linear)
    if linear and theirs.weight.shape == ours.weight.shape:
        ours.weight.copy_(theirs.weight)
        ours.bias.copy_(theirs.bias)
    body.pooler = None
