"""What the original model makes of the source side's words, computed once, before training, and kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.engine.atomic_files import atomic_path
from interlingua.errors import InputError
from interlingua.training.forward import Forward, checked_layer
from interlingua.training.pair_batches import TokenizedBitext, pooled_words

Progress = Callable[[str, int, int], None]
KINDS = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
_STORED = {"fp32": np.float32, "fp16": np.float16, "bf16": np.uint16}  # NumPy has no bfloat16: its bits.
_BUDGET = {"cpu": 4096, "cuda": 32768}
_RESIDENT = 1 / 8


@dataclass(frozen=True)
class Reference:
    """Vectors f⁰ of all source items of a bitext at a layer, (item, dim), in memory or mapped from a file.

    On a GPU they are sent once where they take at most an eighth of its memory; else each batch's rows are.
    """

    vectors: NDArray[Any]
    layer: int
    kind: str
    _sent: dict[torch.device, torch.Tensor] = field(default_factory=dict, repr=False, compare=False)

    def rows(self, places: torch.Tensor) -> torch.Tensor:
        """The vectors of some items in float32, in the shape of `places`."""
        device = places.device
        if device.type == "cuda" and self._fits(device):
            if device not in self._sent:
                self._sent[device] = self._tensor(np.asarray(self.vectors)).to(device)
            return self._sent[device][places].float()
        taken = np.asarray(self.vectors[places.cpu().numpy()])
        return self._tensor(taken).to(device).float()

    def check(self, model: torch.nn.Module, layer: int, bitext: TokenizedBitext) -> None:
        """Refuse to stand for another layer or another bitext."""
        if self.layer != checked_layer(model, layer):
            raise InputError(f"the reference is of layer {self.layer}", value=layer, remedy="Compute it at that layer.")
        if len(self.vectors) != bitext.source_items:
            raise InputError("the reference is of another bitext", remedy="Compute it from the bitext of the pairs.")

    def _fits(self, device: torch.device) -> bool:
        total: int = torch.cuda.get_device_properties(device).total_memory
        return self.vectors.nbytes <= total * _RESIDENT

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        tensor = torch.from_numpy(np.array(array))
        return tensor.view(torch.bfloat16) if self.kind == "bf16" else tensor


def reference(
    model: torch.nn.Module,
    bitext: TokenizedBitext,
    *,
    layer: int = -1,
    kind: str = "fp32",
    precision: str = "fp32",
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Reference:
    """The source vectors of a model as it is now, without dropout: call it before training.

    `kind` is how they are kept (fp16 and bf16 halve the room), `precision` how they are computed. With a
    folder they are memory-mapped from a file there, made once for these weights, this text and this layer.
    """
    if kind not in KINDS:
        raise InputError("unknown kind of numbers", value=kind, remedy=f"Known: {', '.join(KINDS)}.")
    forward = Forward(model, [layer])
    number = forward.layers[0]
    body: Any = model.base_model
    shape = (bitext.source_items, int(body.config.hidden_size))
    if folder is None:
        memory = np.empty(shape, _STORED[kind])
        _fill(memory, model, bitext, forward, kind=kind, precision=precision, progress=progress)
        return Reference(memory, number, kind)
    place = folder / f"{_key(model, bitext, number, kind, precision)}.npy"
    if _readable(place, shape, kind) is None:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(place) as beside:
            mapped = np.lib.format.open_memmap(beside, "w+", _STORED[kind], shape)
            with beside.open("r+b") as file:
                # A hole in a file takes room when it is written to, and a full disk then kills by SIGBUS.
                if hasattr(os, "posix_fallocate"):  # Not on a Mac.
                    os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
            _fill(mapped, model, bitext, forward, kind=kind, precision=precision, progress=progress)
            mapped.flush()
    found = _readable(place, shape, kind)
    if found is None:
        raise InputError("the vectors of the original cannot be read", file=place, remedy="Remove that file.")
    return Reference(found, number, kind)


def _readable(place: Path, shape: tuple[int, int], kind: str) -> NDArray[Any] | None:
    """The vectors in a file, mapped; None where there is none, or one that is damaged: it is made anew."""
    try:
        found: NDArray[Any] = np.load(place, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if found.shape == shape and found.dtype == _STORED[kind] else None


def _fill(
    out: NDArray[Any],
    model: torch.nn.Module,
    bitext: TokenizedBitext,
    forward: Forward,
    *,
    kind: str,
    precision: str,
    progress: Progress | None,
) -> None:
    done = 0
    for chosen, vectors in source_vectors(model, bitext, forward, precision=precision):
        kept = vectors.to(KINDS[kind])
        if not bool(torch.isfinite(kept).all()):
            raise InputError("vectors do not fit this kind of numbers", value=kind, remedy="Use fp32 or bf16.")
        out[chosen] = (kept.view(torch.uint16) if kind == "bf16" else kept).cpu().numpy()
        done += len(chosen)
        if progress:
            progress("vectors of the original", done, len(out))


@torch.no_grad()
def source_vectors(
    model: torch.nn.Module, bitext: TokenizedBitext, forward: Forward, *, precision: str
) -> Iterator[tuple[NDArray[np.int64], torch.Tensor]]:
    """Item numbers and vectors of all source items, a batch of rows at a time, shortest first."""
    device = next(model.parameters()).device
    before = model.training
    model.eval()
    try:
        for rows in length_batches(bitext.lengths[: len(bitext)], device):
            batch = bitext.source_batch(rows, device=device)
            with torch.autocast(device.type, KINDS[precision], enabled=precision != "fp32"):
                hidden = forward(model, batch)[forward.layers[0]]
            vectors = pooled_words(hidden, batch)
            here = batch["anchor_weight"].bool()
            yield batch["anchor_row"][here].cpu().numpy(), vectors[here]
    finally:
        model.train(before)


def length_batches(lengths: NDArray[np.int64], device: torch.device) -> Iterator[NDArray[np.int64]]:
    """Rows in batches of a bounded number of padded tokens, shortest first."""
    budget = _BUDGET[device.type]
    order = np.argsort(lengths, kind="stable")
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and (last + 1 - first) * lengths[order[last]] <= budget:
            last += 1
        yield order[first:last]
        first = last


def _key(model: torch.nn.Module, bitext: TokenizedBitext, layer: int, kind: str, precision: str) -> str:
    state = hashlib.blake2b(f"{layer} {kind} {precision}".encode(), digest_size=16)
    body: Any = model.base_model
    for name, weight in body.state_dict().items():
        state.update(name.encode())
        state.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    for array in (bitext.ids, bitext.starts, bitext.item_text, bitext.item_starts, bitext.position):
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()
