"""Model folders to train from and to write: whole, with whatever head they came with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from interlingua.atomic_files import open_to_umask
from interlingua.encoder import loading
from interlingua.encoder.modelfiles import model_json


def load_whole(name: str, *, trust_remote_code: bool = False, allow_pickle: bool = False) -> tuple[Any, Any, str]:
    """The model called `name` in float32, its tokenizer, and its digest; checked as an encoder's folder is.

    The model is of the class that its config names (`BertForMaskedLM`), so that a head is not lost; of a class that
    `transformers` lacks, and of an encoder-decoder, it is the encoder alone.
    """
    loaded = loading.load(
        name,
        device=torch.device("cpu"),
        precision="fp32",
        trust_remote_code=trust_remote_code,
        allow_pickle=allow_pickle,
    )
    folder = loading.find_folder(name, allow_pickle=allow_pickle)
    model: Any = loaded.model
    config = folder / "config.json"
    stated = model_json(config, dict) if config.is_file() else {}
    named = stated.get("architectures")
    import transformers

    kind = getattr(transformers, str(named[0]), None) if isinstance(named, list) and named else None
    known = isinstance(kind, type) and issubclass(kind, transformers.PreTrainedModel)
    if known and kind is not type(model) and not stated.get("is_encoder_decoder"):
        model, _ = loading.read_model(kind, folder, stated, dtype=torch.float32, allow_pickle=allow_pickle)
    return model.requires_grad_(True), loaded.tokenizer, loaded.digest


def save_whole(model: Any, tokenizer: Any, folder: Path) -> None:
    """An ordinary Hugging Face folder: config, tokenizer, and weights in float32 as safetensors."""
    from transformers.utils import logging as chatter

    chatter.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    open_to_umask(folder)
