"""The alternative to training: a Procrustes map between the target language and a head that was trained on English."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from interlingua.errors import InputError
from interlingua.measures.procrustes import Map


@contextmanager
def mapped(model: torch.nn.Module, fitted: Map) -> Iterator[None]:
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
