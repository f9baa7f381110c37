"""Folders as sentence-transformers writes them, with random weights, and what it encodes with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import models

TANH, GELU = "torch.nn.modules.activation.Tanh", "torch.nn.modules.activation.GELU"
DENSE = ("Dense", {"in_features": 32, "out_features": 20, "bias": True, "activation_function": TANH})
BACK = ("Dense", {"in_features": 20, "out_features": 20, "bias": False, "activation_function": GELU,
                  "use_residual": True})  # fmt: skip
WIDE = ("Dense", {"in_features": 32, "out_features": 40, "use_residual": True,
                  "activation_function": "torch.nn.modules.linear.Identity"})  # fmt: skip
NORMAL = ("Normalize", {})
PROMPTS = {"prompts": {"query": "Find the kitchen: ", "none": "", "passage": "El grifo"}, "default_prompt_name": None}


def folder_of(
    folder: Path,
    pooling: Mapping[str, Any],
    *steps: tuple[str, Mapping[str, Any]],
    body: Any = models.bert,
    inner: str = "",
    settings: Mapping[str, Any] | None = None,
    prompts: Mapping[str, Any] | None = None,
) -> Path:
    """A folder as sentence-transformers has written it since version 2, with random weights of its modules."""
    body(folder / inner)
    torch.manual_seed(4)
    modules = [("Transformer", inner), ("Pooling", "1_Pooling")]
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **pooling}))
    for number, (kind, config) in enumerate(steps, start=2):
        place = folder / f"{number}_{kind}"
        modules.append((kind, place.name))
        place.mkdir()
        (place / "config.json").write_text(json.dumps(config))
        if kind == "Dense":
            shape = (config["out_features"], config["in_features"])
            weights = {"linear.weight": torch.randn(shape)}
            weights |= {"linear.bias": torch.randn(shape[0])} if config.get("bias", True) else {}
            weights |= (
                {"residual.weight": torch.randn(shape)} if config.get("use_residual") and shape[0] != shape[1] else {}
            )
            save_file(weights, place / "model.safetensors")
        if kind == "LayerNorm":
            size = config["dimension"]
            save_file({"norm.weight": torch.randn(size), "norm.bias": torch.randn(size)}, place / "model.safetensors")
    listed = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    if settings is not None:
        (folder / inner / "sentence_bert_config.json").write_text(json.dumps(settings))
    if prompts is not None:
        (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    return folder


def theirs(folder: Path, texts: list[str], **given: Any) -> np.ndarray:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return np.asarray(model.encode(texts, batch_size=4, show_progress_bar=False, **given))
