"""Predictions of a model for examples in batches, and the scores they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import special
from torch.nn.attention import SDPBackend, sdpa_kernel

from interlingua.encoder.inputs import Inputs
from interlingua.encoder.model_loading import PRECISIONS, default_precision
from interlingua.encoder.pooling import to_device
from interlingua.encoder.tokens import batches
from interlingua.score import Score
from interlingua.stats import Z95, mean_interval, wilson_interval
from interlingua.training.loop import Batch

Ints = NDArray[np.int64]


def accuracy(predicted: Ints, gold: Ints) -> Score:
    """The share of predictions that are right, in [0, 1]; `items` are the hits.

    The null is exact over shuffled predictions: the sum over labels of the share predicted times the share of gold.
    The interval is Wilson's.

    >>> score = accuracy(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    >>> score.value, score.null
    (0.75, 0.5)
    """
    hits = (predicted == gold).astype(np.float64)
    size = 1 + int(max(predicted.max(), gold.max()))
    shares = np.bincount(predicted, minlength=size) / len(gold), np.bincount(gold, minlength=size) / len(gold)
    low, high = wilson_interval(float(hits.sum()), len(gold))
    return Score(float(hits.mean()), len(gold), null=float(shares[0] @ shares[1]), low=low, high=high, items=hits)


def mean_score(values: NDArray[np.float64], *, null: float | None = None) -> Score:
    """The mean of values in [0, 1], with Student's interval; `items` are the values."""
    low, high = mean_interval(values)
    return Score(float(values.mean()), len(values), null=null, low=max(low, 0.0), high=min(high, 1.0), items=values)


def f1(right: Sequence[int] | Ints, predicted: Sequence[int] | Ints, gold: Sequence[int] | Ints) -> Score:
    """Micro-averaged F1 in [0, 1] from the counts of each example: 2 · right / (predicted + gold), each summed.

    0 where nothing is predicted and nothing is gold, as seqeval has it. `details` has the counts of each example, from
    which any test can draw again. The interval is that of a ratio of sums over examples (Cochran 1977, Eq. 6.13):
    ± t(0.975, n-1) · sqrt(sum((2·right - F1·(predicted + gold))²) · n/(n-1)) / sum(predicted + gold).

    >>> score = f1([1, 0], [1, 1], [2, 0])
    >>> score.value, score.details["right"]
    (0.5, [1, 0])
    """
    hits, said, there = (np.asarray(values, np.int64) for values in (right, predicted, gold))
    both = said + there
    value = 2 * float(hits.sum()) / max(float(both.sum()), 1.0)
    rest = 2 * hits - value * both
    n = len(hits)
    point = float(special.stdtrit(n - 1, 0.975)) if n > 1 else Z95
    half = point * float(np.sqrt((rest**2).sum() * n / max(n - 1, 1))) / max(float(both.sum()), 1.0)
    counts = {"right": hits.tolist(), "predicted": said.tolist(), "gold": there.tolist()}
    return Score(value, n, low=max(value - half, 0.0), high=min(value + half, 1.0), details=counts)


Floats = NDArray[np.float32]
Probabilities = NDArray[np.float16]
Progress = Callable[[int, int], None]
Pick = Callable[[torch.Tensor, Batch], torch.Tensor]
_BUDGET = {"cpu": 2048, "cuda": 65536}


def by_input(
    model: torch.nn.Module,
    inputs: Inputs,
    pick: Pick,
    *,
    precision: str | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """What `pick` makes of the output for each input, (input, value), in the order of the inputs.

    `pick` takes the model's output in float32 and the batch, and gives (input, value). `precision` is what the run
    says (fp32, bf16, fp16); without one it is bf16 on a GPU and fp32 on a CPU, as the encoder runs there.
    """
    kept: list[torch.Tensor] = []
    order: list[Ints] = []

    def take(rows: Ints, batch: Batch, output: torch.Tensor) -> None:
        kept.append(pick(output, batch))
        order.append(rows)

    _run(model, inputs, take, precision=precision, budget=budget, progress=progress)
    values = torch.cat(kept).cpu().numpy()
    result: Floats = np.empty_like(values)
    result[np.concatenate(order)] = values
    return result


def by_token(
    model: torch.nn.Module,
    inputs: Inputs,
    *,
    labels: int,
    precision: str | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> tuple[NDArray[np.int16], Probabilities]:
    """The best label of every token and the probability of each label, in the flat order of the inputs."""
    device = next(model.parameters()).device
    total = int(inputs.starts[-1])
    # One place more, where what is said of padding goes: no count has to come back to the host.
    best = torch.zeros(total + 1, dtype=torch.int16, device=device)
    sure = torch.zeros((total + 1, labels), dtype=torch.float16, device=device)

    def take(rows: Ints, batch: Batch, output: torch.Tensor) -> None:
        offsets = np.arange(output.shape[1])
        inside = offsets < inputs.lengths[rows][:, None]
        places = to_device(np.where(inside, inputs.starts[rows][:, None] + offsets, total), device)
        best[places] = output.argmax(dim=-1).to(torch.int16)
        sure[places] = output.softmax(dim=-1).to(torch.float16)

    _run(model, inputs, take, precision=precision, budget=budget, progress=progress)
    result: NDArray[np.int16] = best[:total].cpu().numpy()
    return result, sure[:total].cpu().numpy()


def round_probabilities(probabilities: NDArray[np.floating[Any]], choice: Ints) -> Probabilities:
    """Probabilities (row, label) as float16, whose largest in a row is still that of its `choice` (below 0: none).

    >>> probabilities = np.array([[0.30001, 0.30002, 0.39997], [0.5, 0.50001, 0.0]])
    >>> round_probabilities(probabilities, np.array([2, 1])).argmax(axis=1)
    array([2, 1])
    """
    found = probabilities.astype(np.float16)
    tied = np.flatnonzero((choice >= 0) & (found.argmax(axis=1) != choice))
    found[tied, choice[tied]] = np.nextafter(found[tied].max(axis=1), np.float16(2))
    return found


@torch.inference_mode()
def _run(
    model: torch.nn.Module,
    inputs: Inputs,
    take: Callable[[Ints, Batch, torch.Tensor], None],
    *,
    precision: str | None,
    budget: int | None,
    progress: Progress | None,
) -> None:
    """Hand every batch's output to `take`, longest inputs first."""
    weight = next(model.parameters())
    device = weight.device
    kind = PRECISIONS[precision or default_precision(device)]
    mixed = kind != torch.float32 and weight.dtype == torch.float32
    before, done = model.training, 0
    model.eval()
    # cuDNN's attention builds a plan for every new shape, which costs more than it saves here.
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
        for rows in batches(inputs.lengths, budget or _BUDGET.get(device.type, 2048)):
            batch = inputs.batch(rows, device)
            with torch.autocast(device.type, kind, enabled=mixed):
                output = model(batch)
            take(rows, batch, output.float())
            done += len(rows)
            if progress:
                progress(done, len(inputs))
    model.train(before)
