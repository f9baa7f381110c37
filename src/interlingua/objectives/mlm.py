"""Masked language modelling on unaligned text (Devlin et al. 2019): the loss at masked positions only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua import kernels
from interlingua.objectives import objectives
from interlingua.training.loop import Batch
from interlingua.training.text import TokenStream


@dataclass(frozen=True)
class SpecialTokens:
    """The ids the objective needs."""

    cls: int
    mask: int
    vocabulary: int
    first_ordinary: int
    """Ids below this are special: never masked, never drawn."""


@objectives.register("mlm")
@dataclass
class MaskedLanguageModelling:
    """Masked language modelling: predict the words that were hidden, from unaligned text.

    Sequences of [CLS] and packed lines; a share of each masked 80 / 10 / 10, drawn anew at each step. `share` is one
    number, or the shares at the first and at the last of `batches`, linear between: mmBERT (Marone et al. 2025) masks
    less and less.

    Languages are drawn with probability proportional to size to the power `smoothing` (Conneau & Lample 2019).
    Every sequence is full, so there is no padding and no attention mask; the head is given as many positions of every
    sequence, those of the largest share, so shapes never change. A batch depends on `seed` and step alone; with several
    processes each takes its share of the same batch.

    With `long_every` k, every k-th batch has sequences of `long_length`, a multiple of `length`, and as many tokens:
    later positions are learnt at little cost. `room` is the length that the starts of `stream` leave room for.
    """

    stream: TokenStream
    special: SpecialTokens
    batch_size: int
    length: int
    share: float | tuple[float, float] = 0.15
    batches: int = 1
    smoothing: float = 0.7
    seed: int = 0
    long_length: int = 0
    long_every: int = 0
    room: int | None = None
    _resident: dict[torch.device, torch.Tensor] = field(default_factory=dict, repr=False)
    _positions: torch.Tensor | None = field(default=None, repr=False)
    _rowwise: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None = field(default=None, repr=False)

    def batch(self, step: int, *, rank: int, world: int, device: torch.device) -> Batch:
        if self.long_every and step % self.long_every == self.long_every - 1:
            return self._longer().batch(step, rank=rank, world=world, device=device)
        draw = np.random.default_rng([self.seed, step])
        places = self._places(draw)[rank::world]
        offsets = torch.arange(self.length - 1, device=device)
        begin = torch.from_numpy(places)
        if device.type == "cuda":
            begin = begin.pin_memory()  # From ordinary memory the copy would wait for the step before.
        begin = begin.to(device, non_blocking=True)
        ids = self._tokens(device)[begin[:, None] + offsets].long()
        ids = torch.nn.functional.pad(ids, (1, 0), value=self.special.cls)
        generator = torch.Generator(device).manual_seed(int(draw.integers(1 << 60)))
        return self._masked(ids, generator, slice(rank, None, world), masked=self._count(self.share_at(step)))

    def _longer(self) -> MaskedLanguageModelling:
        """The same with long sequences alone, as many tokens a batch."""
        count = self.batch_size * self.length // self.long_length
        return replace(self, length=self.long_length, batch_size=count, long_every=0, room=self.length)

    def share_at(self, step: int) -> float:
        """The share that is masked in the batch of a step, counted from 0; after the last batch that of the last.

        >>> stream = TokenStream(*[np.zeros(0, int)] * 4, ())
        >>> mlm = MaskedLanguageModelling(stream, SpecialTokens(2, 4, 9, 5), 1, 8, share=(0.4, 0.2), batches=3)
        >>> [round(mlm.share_at(step), 2) for step in (0, 1, 2, 3)]
        [0.4, 0.3, 0.2, 0.2]
        """
        if not isinstance(self.share, tuple):
            return self.share
        first, last = self.share
        return last if step >= self.batches - 1 else first + (last - first) * step / (self.batches - 1)

    def _count(self, share: float) -> int:
        return max(round(share * self.length), 1)

    def prepare(self, model: torch.nn.Module) -> Callable[[], None]:
        """Put a hook between body and head, so that the head sees the masked positions alone; what removes it.

        With 15 % masked that saves most of the cost of a small model, whose vocabulary is its largest matrix;
        a hook does it for any `transformers` architecture.
        """

        if kernels.available():
            from interlingua.kernels.crossentropy import cross_entropy

            self._rowwise = cross_entropy

        def pick(_: torch.nn.Module, __: Any, output: Any) -> Any:
            if self._positions is not None:
                hidden = output["last_hidden_state"]
                index = self._positions[..., None].expand(-1, -1, hidden.shape[-1])
                output["last_hidden_state"] = hidden.gather(1, index)
            return output

        body: Any = model.base_model
        undo: Callable[[], None] = body.register_forward_hook(pick).remove
        return undo

    def loss(self, model: torch.nn.Module, batch: Batch) -> torch.Tensor:
        self._positions = batch["positions"]
        logits: torch.Tensor = model(input_ids=batch["input_ids"]).logits
        self._positions = None  # Whoever calls the model next wants all positions.
        rows, labels = logits.flatten(0, 1), batch["labels"].flatten()
        if self._rowwise is not None and rows.is_cuda:
            return self._rowwise(rows, labels).sum() / (labels >= 0).sum()
        return torch.nn.functional.cross_entropy(rows.float(), labels)

    def weights(self) -> NDArray[np.float64]:
        """The probability of each language."""
        sizes = self.stream.sizes().astype(np.float64) ** self.smoothing
        share: NDArray[np.float64] = sizes / sizes.sum()
        return share

    def _places(self, draw: np.random.Generator) -> NDArray[np.int64]:
        chosen = draw.choice(len(self.stream.languages), self.batch_size, p=self.weights())
        low, high = self.stream.begin[chosen], self.stream.begin[chosen + 1]
        places = self.stream.starts[draw.integers(low, high)]
        # A longer sequence than was planned for begins earlier, where it would leave the text of its language.
        return np.minimum(places, self.stream.starts[high - 1] + (self.room or self.length) - self.length)

    def _tokens(self, device: torch.device) -> torch.Tensor:
        """The stream on the device, sent once: a few hundred megabytes for all the text there is here."""
        if device not in self._resident:
            self._resident[device] = torch.from_numpy(np.asarray(self.stream.ids).astype(np.int32)).to(device)
        return self._resident[device]

    def _masked(self, ids: torch.Tensor, generator: torch.Generator, own: slice, *, masked: int) -> Batch:
        """Inputs, positions and the tokens that stood there: `masked` of a sequence, fewer where it has too few.

        There are as many positions as the largest share has; the label of those that are not masked is -100.
        """

        def random(columns: int) -> torch.Tensor:
            # Drawn for the whole batch, so that the shares of several processes are those of one.
            return torch.rand(self.batch_size, columns, generator=generator, device=ids.device)[own]

        count = self._count(max(self.share) if isinstance(self.share, tuple) else self.share)
        order = random(ids.shape[1]).masked_fill_(ids < self.special.first_ordinary, -1.0)
        positions, rank = order.topk(count, dim=1).indices.sort(dim=1)
        stood = ids.gather(1, positions)
        choice = random(count)
        ordinary = self.special.vocabulary - self.special.first_ordinary
        drawn = self.special.first_ordinary + (random(count) * ordinary).long().clamp_(max=ordinary - 1)
        shown = torch.where(choice < 0.8, self.special.mask, torch.where(choice < 0.9, drawn, stood))
        # A sequence may hold fewer ordinary tokens than are to be masked: the others stay, and count for nothing.
        left = (stood < self.special.first_ordinary) | (rank >= masked)
        return {
            "input_ids": ids.scatter(1, positions, torch.where(left, stood, shown)),
            "positions": positions,
            "labels": stood.masked_fill(left, -100),
        }
