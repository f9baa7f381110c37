"""What a sentence-transformers folder does with the last layer: pooling and modules after it, prompts and limits.

`SentenceHead.vectors` equals `SentenceTransformer.encode` (sentence-transformers 6) for texts of one length.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch

from interlingua.errors import InputError

MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
_LIKE = {"cls": "cls", "lasttoken": "last", "weightedmean": "weighted"}
"""Which pooling of layers is that of the head; any other is read by mean, without the sinks of a decoder."""


@dataclass(frozen=True)
class TextSettings:
    """How many tokens of a text are read (None: as many as the model has room for), and whether it is lower-cased."""

    limit: int | None = None
    lower: bool = False


class Dense(torch.nn.Module):
    """A linear map of sentence vectors and an activation, with what goes round both where it does."""

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        activation: torch.nn.Module,
        residual: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.weight = torch.nn.Parameter(weight)
        self.bias = None if bias is None else torch.nn.Parameter(bias)
        self.residual = None if residual is None else torch.nn.Parameter(residual)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """The (sentence, out) vectors of (sentence, in) ones."""
        mapped: torch.Tensor = self.activation(torch.nn.functional.linear(vectors, self.weight, self.bias))
        return mapped if self.residual is None else mapped + torch.nn.functional.linear(vectors, self.residual)


@dataclass(frozen=True)
class SentenceHead:
    """Poolings whose vectors are joined, the modules after them, and the prompts a text may be given after."""

    modes: tuple[str, ...]
    with_prompt: bool
    steps: torch.nn.Sequential = field(repr=False)
    settings: TextSettings
    prompts: Mapping[str, str]
    default: str | None
    digest: str

    def placed(self, device: torch.device, limit: int | None) -> SentenceHead:
        """The head on a device, for a model that reads so many tokens."""
        limits = [each for each in (self.settings.limit, limit) if each is not None]
        settings = replace(self.settings, limit=min(limits, default=None))
        return replace(self, steps=self.steps.to(device), settings=settings)

    @property
    def layers_pooling(self) -> str | None:
        """The pooling of layers that is nearest to the head's own; None where it is the model's mean."""
        return _LIKE.get(self.modes[0]) if len(self.modes) == 1 else None

    def width(self, dim: int) -> int:
        """How many numbers a vector has, for a model of `dim`; an error where the modules do not fit."""
        try:
            start = torch.zeros(1, dim * len(self.modes), device=next(self.steps.parameters(), torch.zeros(0)).device)
            return int(self.steps(start).shape[1])
        except RuntimeError as error:
            raise InputError(
                f"the modules after pooling do not fit vectors of {dim * len(self.modes)} numbers",
                value=str(error)[:200],
                remedy="Fetch the model again.",
            ) from error

    def prompt(self, asked: str | None) -> str:
        """The text before every text: a prompt by its name, a text itself, or what the folder does by default.

        >>> head = sentence_head(("mean",), True, [], TextSettings(), {"query": "query: "}, None)
        >>> head.prompt("query"), head.prompt("Find: "), head.prompt(None)
        ('query: ', 'Find: ', '')
        """
        if asked is None:
            return "" if self.default is None else self.prompts[self.default]
        if asked in self.prompts:
            return self.prompts[asked]
        if re.fullmatch(r"[\w-]+", asked):
            raise InputError(
                "the model has no prompt of this name",
                value=asked,
                remedy=f"It has: {', '.join(self.prompts) or 'none'}. A text ends in a space or a colon.",
            )
        return asked

    def vectors(self, hidden: torch.Tensor, *, skip: int) -> torch.Tensor:
        """The (sentence, dim) outputs of last hidden states (sentence, position, dim), float32, without any padding.

        `skip` is how many tokens are the prompt's with what stands before it, where its tokens are not pooled.
        """
        length = hidden.shape[1]
        skip = 0 if self.with_prompt else skip
        states = hidden.float()
        own = states[:, skip:]
        made = []
        for mode in self.modes:
            if mode == "cls":
                made.append(states[:, skip if skip < length else 0])
            elif mode == "lasttoken":
                made.append(states[:, -1] if skip < length else torch.zeros_like(states[:, -1]))
            elif mode == "max":
                made.append(own.amax(1) if skip < length else torch.full_like(states[:, 0], -torch.inf))
            elif mode == "weightedmean":
                weights = torch.arange(skip + 1, length + 1, device=hidden.device, dtype=torch.float32)[:, None]
                made.append((own * weights).sum(1) / weights.sum().clamp(min=1e-9))
            else:
                count = max(length - skip, 1e-9)
                made.append(own.sum(1) / (count if mode == "mean" else count**0.5))
        found: torch.Tensor = self.steps(torch.cat(made, dim=-1))
        return found


def sentence_head(
    modes: tuple[str, ...],
    with_prompt: bool,
    steps: Sequence[torch.nn.Module],
    settings: TextSettings,
    prompts: Mapping[str, str],
    default: str | None,
) -> SentenceHead:
    """A head, with a digest of all that decides its vectors."""
    chain = torch.nn.Sequential(*steps).eval().requires_grad_(False)
    about = [modes, with_prompt, [repr(step) for step in steps], asdict(settings), dict(prompts), default]
    state = hashlib.blake2b(json.dumps(about).encode(), digest_size=16)
    for name, weight in chain.state_dict().items():
        state.update(f"{name} {tuple(weight.shape)}".encode() + weight.numpy().tobytes())
    return SentenceHead(modes, with_prompt, chain, settings, dict(prompts), default, state.hexdigest())


def lower_cased(tokenizer: Any) -> None:
    """Make a tokenizer read texts in lower case, as a folder with `do_lower_case` says."""
    from tokenizers import normalizers

    if not tokenizer.is_fast:
        raise InputError("a tokenizer without offsets is not lower-cased here", value=type(tokenizer).__name__,
                         remedy='Take "do_lower_case" out of the folder and give lower-cased texts.')  # fmt: skip
    backend = tokenizer.backend_tokenizer
    given = backend.normalizer
    lower = normalizers.Lowercase()
    stated = [] if given is None else list(given) if isinstance(given, normalizers.Sequence) else [given]
    if not any(isinstance(part, normalizers.Lowercase) for part in stated):
        backend.normalizer = normalizers.Sequence([lower, *stated])
