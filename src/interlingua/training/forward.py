"""A forward pass up to a layer, and through a map that was fitted between two spaces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

from interlingua.encoder.model_init import block_list
from interlingua.errors import InputError
from interlingua.measures.procrustes import Map

Batch = dict[str, torch.Tensor]
States = dict[int, torch.Tensor]

Key = tuple[int, ...]
_KEPT: ContextVar[dict[Key, Any] | None] = ContextVar("what terms share while one sum is computed", default=None)


class _Enough(Exception):
    """The last layer that is wanted has been computed."""


@contextmanager
def share_within_sum() -> Iterator[None]:
    """Within the block, `once` computes each thing once: what the terms of one sum share lives as long as the sum."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def once(key: Key, compute: Callable[[], Any]) -> Any:
    """What `compute` gives; inside `share_within_sum` the first who asks under a key computes it for all.

    Outside it is computed at every call: weights may have changed, and nobody could notice. Keys are made of `id`s of
    things that outlive the sum, such as its batches.

    >>> calls = []
    >>> with share_within_sum():
    ...     found = [once((1, 2), lambda: calls.append(1)) for _ in range(3)]
    >>> len(calls)
    1
    """
    kept = _KEPT.get()
    if kept is None:
        return compute()
    if key not in kept:
        kept[key] = compute()
    return kept[key]


def block_count(model: torch.nn.Module) -> int:
    """The number of blocks of a body; layer k is the output of block k, layer 0 the embedding output."""
    config: Any = model.base_model.config  # type: ignore[union-attr]
    return int(config.num_hidden_layers)


def blocks(model: torch.nn.Module) -> list[torch.nn.Module] | None:
    """The blocks of a model's body in order, None where there is no list of as many as the config says (ALBERT)."""
    found = block_list(model.base_model, block_count(model))  # type: ignore[arg-type]
    return None if found is None else list(found)


def checked_layer(model: torch.nn.Module, layer: int) -> int:
    """The number of a layer, negative ones counted from the end (-1 is the last)."""
    count = block_count(model)
    number = layer + count + 1 if layer < 0 else layer
    if not 0 <= number <= count:
        raise InputError(
            "no such layer", value=layer, remedy=f"There are 0 (the embedding output) to {count}; -1 is the last."
        )
    return number


def is_trained(model: torch.nn.Module, layer: int) -> bool:
    """Whether a layer's vectors depend on any weight that is trained now; tried on four tokens."""
    device = next(model.parameters()).device
    states = Forward(model, (layer,))(model, {"input_ids": torch.arange(4, device=device)[None]})
    return any(state.requires_grad for state in states.values())


class Forward:
    """A model's body run up to the highest of some layers: what lies above costs nothing.

    The pass is stopped by a hook on the last wanted block, which works for any architecture whose blocks are a list.
    Whether a block's output is what `transformers` calls the layer is tried once, on a few tokens; where it is not
    (a norm that is part of the layer, shared blocks) the whole pass is run and the layers are taken from it.
    """

    def __init__(self, model: torch.nn.Module, layers: Iterable[int]) -> None:
        self.layers = tuple(sorted({checked_layer(model, layer) for layer in layers}))
        self._last = block_count(model)
        self.stops = max(self.layers) < self._last and self._stops_where_it_should(model)

    def __call__(self, model: torch.nn.Module, batch: Batch) -> States:
        """The hidden states (text, position, dim) of each layer."""
        given: Batch = {name: batch[name] for name in ("input_ids", "attention_mask") if name in batch}
        return self._stopped(model, given) if self.stops else self._whole(model, given)

    def _whole(self, model: torch.nn.Module, given: Batch) -> States:
        body: Any = model.base_model
        if self.layers == (self._last,):
            return {self._last: body(**given)["last_hidden_state"]}
        states = body(**given, output_hidden_states=True)["hidden_states"]
        return {layer: states[layer] for layer in self.layers}

    def _stopped(self, model: torch.nn.Module, given: Batch) -> States:
        found: States = {}
        parts = blocks(model)
        assert parts is not None
        highest = max(*self.layers, 1)  # Layer 0 is what the first block is given.

        def entered(_: torch.nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            found[0] = arguments[0] if arguments else keywords["hidden_states"]
            if max(self.layers) == 0:
                raise _Enough

        def left(number: int) -> Callable[..., None]:
            def keep(_: torch.nn.Module, __: Any, output: Any) -> None:
                found[number] = output[0] if isinstance(output, tuple) else output
                if number == highest:
                    raise _Enough

            return keep

        hooks = [parts[number - 1].register_forward_hook(left(number)) for number in {*self.layers, highest} - {0}]
        if 0 in self.layers:
            hooks.append(parts[0].register_forward_pre_hook(entered, with_kwargs=True))
        try:
            body: Any = model.base_model
            body(**given)
        except _Enough:
            pass
        finally:
            for hook in hooks:
                hook.remove()
        return {layer: found[layer] for layer in self.layers}

    def _stops_where_it_should(self, model: torch.nn.Module) -> bool:
        if blocks(model) is None:
            return False
        device = next(model.parameters()).device
        given = {"input_ids": torch.arange(4, device=device)[None]}
        before = model.training
        model.eval()
        try:
            with torch.no_grad():
                whole, short = self._whole(model, given), self._stopped(model, given)
        except (AttributeError, KeyError, TypeError):
            return False
        finally:
            model.train(before)
        return all(torch.equal(whole[layer], short[layer]) for layer in self.layers)


@contextmanager
def map_head(model: torch.nn.Module, fitted: Map) -> Iterator[None]:
    """Within the block, the head reads the target language's last layer as if it were English's (papers/000 Fig. 5).

    `fitted` carries vectors of the target language onto English ones, fitted at the last layer of this very model
    (`measures.procrustes.fit(target, english)`), on words or sentences. Every hidden state x of the body becomes
    (x - m_target) W + m_english; nothing is trained. Where the map was fitted on rows of length 1, a state is brought
    to length 1, mapped, and given its length back. A body's own pooler is run again on what was mapped.
    """
    body: Any = model.base_model
    width = int(body.config.hidden_size)
    if tuple(fitted.matrix.shape) != (width, width):
        raise InputError(
            "the map is of another width", value=tuple(fitted.matrix.shape), remedy=f"The model's vectors have {width}."
        )

    def put(_: torch.nn.Module, __: Any, output: Any) -> Any:
        output["last_hidden_state"] = map_states(output["last_hidden_state"], fitted)
        if output.get("pooler_output") is not None:
            output["pooler_output"] = body.pooler(output["last_hidden_state"])
        return output

    hook = body.register_forward_hook(put)
    try:
        yield
    finally:
        hook.remove()


def map_states(hidden: torch.Tensor, fitted: Map) -> torch.Tensor:
    """Hidden states (…, dim) through a map, of the same shape, type and device."""
    flat = hidden.reshape(-1, hidden.shape[-1])
    matrix, source_mean, target_mean = (
        part.to(flat.device) for part in (fitted.matrix, fitted.source_mean, fitted.target_mean)
    )
    here = Map(matrix, source_mean, target_mean, fitted.normalise)
    images = here.apply(flat.double())
    if fitted.normalise:
        images = images * torch.linalg.vector_norm(flat.double(), dim=1, keepdim=True)
    return images.to(hidden.dtype).view_as(hidden)
