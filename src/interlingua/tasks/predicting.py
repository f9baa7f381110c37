"""Inputs through a model in batches of a token budget; what is kept stays on the device until one copy at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel

from interlingua.encoder.inputs import Inputs
from interlingua.encoder.loading import PRECISIONS, default_precision
from interlingua.encoder.pooling import send
from interlingua.encoder.tokens import batches
from interlingua.training.loop import Batch

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
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
    precision: str | None = None,
    budget: int | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int16]:
    """The best label of every token, in the flat order of the inputs."""
    device = next(model.parameters()).device
    total = int(inputs.starts[-1])
    # One place more, where what is said of padding goes: no count has to come back to the host.
    best = torch.zeros(total + 1, dtype=torch.int16, device=device)

    def take(rows: Ints, batch: Batch, output: torch.Tensor) -> None:
        offsets = np.arange(output.shape[1])
        inside = offsets < inputs.lengths[rows][:, None]
        places = np.where(inside, inputs.starts[rows][:, None] + offsets, total)
        best[send(places, device)] = output.argmax(dim=-1).to(torch.int16)

    _run(model, inputs, take, precision=precision, budget=budget, progress=progress)
    result: NDArray[np.int16] = best[:total].cpu().numpy()
    return result


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
