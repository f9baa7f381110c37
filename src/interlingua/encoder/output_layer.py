"""The layer `output` of a sentence-transformers model: each text read as `SentenceTransformer.encode` reads it.

A text is cut where the folder says, after its prompt, and not read in windows. Batches are of one length: no padding,
so that a vector depends on its own text alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder import model_loading as loading
from interlingua.encoder.pooling import to_device
from interlingua.encoder.representations import CacheWriter, MemoryWriter
from interlingua.encoder.sentence_folders import SentenceModules
from interlingua.encoder.tokens import Tokeniser, token_types
from interlingua.errors import InputError

_CHUNK = 8192

Progress = Callable[[int, int], None]


def read_texts(
    tokeniser: Tokeniser, texts: Sequence[str], *, prompt: str, limit: int | None
) -> tuple[list[list[int]], int]:
    """The ids of each text as it is read, and how many are cut: after the prompt, with special tokens, to `limit`."""
    made = tokeniser([prompt + text for text in texts], spans=False, words=False)
    before, after = tokeniser.prefix, tokeniser.suffix
    room = None if limit is None else max(limit - len(before) - len(after), 0)
    found, cut = [], 0
    for begin, end in zip(made.starts[:-1].tolist(), made.starts[1:].tolist(), strict=True):
        ids = made.ids[begin:end].tolist()
        if room is not None and len(ids) > room:
            ids = ids[len(ids) - room :] if tokeniser.cuts_left else ids[:room]
            cut += 1
        found.append([*before, *ids, *after])
        if not found[-1]:
            raise InputError(f"the tokenizer turns text {len(found)} into nothing", value=texts[len(found) - 1],
                             remedy="Remove that row from the corpus.")  # fmt: skip
    return found, cut


def prompt_length(tokeniser: Tokeniser, prompt: str, *, limit: int | None) -> int:
    """How many tokens of a text are its prompt's, those before it included: as sentence-transformers counts them."""
    if not prompt:
        return 0
    ((ids,), _) = read_texts(tokeniser, [prompt], prompt="", limit=limit)
    return len(ids) - (ids[-1] in tokeniser.specials)


@torch.inference_mode()
def write_output(
    loaded: loading.LoadedModel,
    tokeniser: Tokeniser,
    texts: Sequence[str],
    writer: CacheWriter | MemoryWriter,
    *,
    prompt: str,
    device: torch.device,
    budget: int,
    progress: Progress | None,
) -> int:
    """Append the (1, text, dim) outputs of texts to a writer, in chunks; how many texts were cut at the limit."""
    assert loaded.head is not None
    limit = loaded.head.settings.limit
    skip = prompt_length(tokeniser, prompt, limit=limit)
    cut = 0
    first: dict[str, NDArray[np.float32]] = {}  # Equal texts have equal vectors, to the last bit.
    for begin in range(0, len(texts), _CHUNK):
        chunk = texts[begin : begin + _CHUNK]
        new = [text for text in dict.fromkeys(chunk) if text not in first]
        if new:
            ids, short = read_texts(tokeniser, new, prompt=prompt, limit=limit)
            vectors = _vectors(loaded, loaded.head, tokeniser, ids, skip=skip, device=device, budget=budget)
            if not np.isfinite(vectors).all():
                raise InputError("output vectors of this model are infinite or undefined", value=loaded.name,
                                 remedy="Its weights are broken, or the prompt leaves no room.")  # fmt: skip
            first.update(zip(new, vectors, strict=True))
            cut += short
        writer.append(np.stack([first[text] for text in chunk])[None])
        if progress:
            progress(begin + len(chunk), len(texts))
    return cut


def _vectors(
    loaded: loading.LoadedModel,
    head: SentenceModules,
    tokeniser: Tokeniser,
    ids: list[list[int]],
    *,
    skip: int,
    device: torch.device,
    budget: int,
) -> NDArray[np.float32]:
    """The outputs of texts by their ids, batches of one length at a time."""
    lengths = np.array([len(each) for each in ids])
    found = np.empty((len(ids), head.width(loaded.dim)), np.float32)
    around = len(tokeniser.prefix) + len(tokeniser.suffix)
    for length in np.unique(lengths)[::-1].tolist():
        places = np.flatnonzero(lengths == length)
        for part in np.array_split(places, -(-len(places) * length // max(budget, length))):
            read = np.array([ids[place] for place in part], np.int64)
            given = {"input_ids": to_device(read, device), "attention_mask": to_device(np.ones_like(read), device)}
            if tokeniser.types is not None:
                types = token_types(tokeniser.types, np.full(len(part), length - around))
                given["token_type_ids"] = to_device(types, device)
            found[part] = head.vectors(loading.hidden_states(loaded.model, given)[-1], skip=skip).cpu().numpy()
    return found
