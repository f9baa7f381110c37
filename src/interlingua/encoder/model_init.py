"""New models: a masked LM with random weights for pretraining, and the first blocks of a model as a model."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from interlingua.encoder.fused_layers import fused_attention
from interlingua.encoder.model_folders import bounded_build
from interlingua.encoder.model_loading import LoadedModel
from interlingua.engine.atomic_files import atomic_path, open_to_umask
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.registry import unknown

_TENSORS = 20_000  # A model of 1,000 layers has 16,000.
_LARGEST = 1 << 24
_UNMASKED = "interlingua_unmasked"


def init_masked_lm(architecture: str, sizes: Mapping[str, Any], tokenizer: Tokenizer, *, length: int, seed: int) -> Any:
    """A masked LM of this architecture and size, its weights drawn by the seed.

    `sizes` are keys of the architecture's own config (`hidden_size`, `num_hidden_layers` …).
    """
    from transformers import AutoConfig, AutoModelForMaskedLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    if architecture not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        raise unknown("architecture", architecture, sorted(MODEL_FOR_MASKED_LM_MAPPING_NAMES))
    known = AutoConfig.for_model(architecture).to_dict()
    if "vocab_size" not in known:
        raise InputError("not an architecture for text", value=architecture, remedy="Use bert, or one like it.")
    for key in sizes:
        if key not in known:
            raise unknown(f"size of {architecture}", key, sorted(known))
    given = {
        "vocab_size": tokenizer.get_vocab_size(),
        "max_position_embeddings": length,
        "pad_token_id": tokenizer.token_to_id("[PAD]"),
        **sizes,
    }
    if not isinstance(given["vocab_size"], int) or given["vocab_size"] < tokenizer.get_vocab_size():
        raise InputError(
            f"vocab_size is smaller than the tokenizer's vocabulary, {tokenizer.get_vocab_size():,}",
            value=given["vocab_size"],
            remedy="Leave it out of [model]; [tokenizer] vocabulary sets both.",
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    too_large = InputError(
        f"a larger model than the memory of this machine holds, {memory / 1e9:.0f} GB, or of more than "
        f"{_TENSORS:,} tensors",
        remedy="Give smaller sizes or fewer layers in [model].",
    )
    for key, size in sizes.items():
        if isinstance(size, int | float) and not abs(size) <= _LARGEST:
            raise InputError(f"{key} is out of range", value=str(size)[:40], remedy="Give a smaller size in [model].")
    try:
        with torch.device("meta"), bounded_build(tensors=_TENSORS, numbers=memory // 4, problem=too_large):
            probe = AutoModelForMaskedLM.from_config(AutoConfig.for_model(architecture, **given))
        if "max_position_embeddings" not in sizes:
            given["max_position_embeddings"] = length + _first_position(probe)
        torch.manual_seed(seed)
        model = AutoModelForMaskedLM.from_config(AutoConfig.for_model(architecture, **given))
        with torch.no_grad():  # Some sizes are found not to fit only when something passes through.
            model.eval()(input_ids=torch.zeros((1, 8), dtype=torch.long, device=model.device))
        return model.train()
    except InputError:
        raise
    except Exception as error:  # Each architecture checks its sizes in its own way.
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"sizes that do not fit ({reason})", remedy="Correct [model] in the config.") from error


def _first_position(model: torch.nn.Module) -> int:
    """The number of the first position: RoBERTa and its kin begin counting after the padding index."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            return 0 if module.padding_idx is None else module.padding_idx + 1
    return 0


@contextmanager
def attention(model: Any, *, masked: bool) -> Iterator[None]:
    """Attention with or without a mask; without, for batches that have no padding.

    Compiled code can't see that a mask is all ones, so `transformers` builds one, which rules out the fast
    kernels; an attention function of another name gets none. Architectures with an attention of their own, or
    with layers that look at a window only, keep what they have.
    """
    from transformers import AttentionInterface

    AttentionInterface.register(_UNMASKED, _attend)
    before = model.config._attn_implementation
    windowed = "sliding_attention" in (getattr(model.config, "layer_types", None) or ())
    if before not in ("sdpa", _UNMASKED) or windowed:
        yield
        return
    model.set_attn_implementation("sdpa" if masked else _UNMASKED)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    if attention_mask is not None:
        raise ValueError("a mask was given to attention that takes none")
    short = fused_attention(module, query, scale=scaling) if dropout == 0.0 else None
    if short is not None:
        return short, None
    mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout, scale=scaling)
    return mixed.transpose(1, 2).contiguous(), None


def wrap_tokenizer(tokenizer: Tokenizer, *, length: int) -> Any:
    """The tokenizer as `transformers` knows it."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=length,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def save_folder(model: Any, tokenizer: Tokenizer, folder: Path, *, length: int, dtype: str) -> None:
    """An ordinary Hugging Face folder: config, tokenizer, and weights in `dtype` as safetensors.

    With fp8-words the words' vectors, the largest matrix of a small model, are stored in 8 bits and the other matrices
    in bfloat16.

    With fp8 all matrices are stored in 8 bits (E5M2: two bits of mantissa, an error of 5.3 % of a normal weight) and
    the vectors in 32; `transformers` reads them as float32, which is what the config says, and so does 4.57, which
    cannot compute with E4M3. A weight beyond ±57,344, the largest number of E5M2, is stored as that one.
    """
    kinds = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    kinds |= {"fp8": torch.float32, "fp8-words": torch.float32}  # Shortened below: the config says float32.
    if dtype not in kinds:
        raise unknown("dtype", dtype, list(kinds))
    from transformers.utils import logging as chatter

    chatter.disable_progress_bar()  # One file is written; stderr belongs to our own progress.
    before = next(model.parameters()).dtype
    model.to(kinds[dtype]).save_pretrained(folder)
    model.to(before)
    if dtype in ("fp8", "fp8-words"):
        rows = None if dtype == "fp8" else tokenizer.get_vocab_size()
        _shorten(folder / "model.safetensors", rows)
    wrap_tokenizer(tokenizer, length=length).save_pretrained(folder)
    _name_tokenizer_class(folder / "tokenizer_config.json")
    open_to_umask(folder)


def _name_tokenizer_class(path: Path) -> None:
    """Name the class that `transformers` 4 knows as well; 5 writes one of its own, and reads either."""
    stated = read_json(path)
    text = json.dumps({**stated, "tokenizer_class": "PreTrainedTokenizerFast"}, indent=2, sort_keys=True)
    path.write_text(text + "\n", "utf-8")


def _shorten(path: Path, rows: int | None) -> None:
    """Store the matrices of a file in 8 bits; with `rows` only those with that many rows, and the others in
    bfloat16.
    """
    # Versions of PyTorch differ in what they make of a number out of range: the largest one, or no number at all.
    most = torch.finfo(torch.float8_e5m2).max

    def shortened(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.ndim < 2:
            return tensor
        if rows is not None and tensor.shape[0] != rows:
            return tensor.to(torch.bfloat16)
        return tensor.clamp(-most, most).to(torch.float8_e5m2)

    small = {name: shortened(tensor) for name, tensor in load_file(path).items()}
    with atomic_path(path) as beside:
        save_file(small, beside, metadata={"format": "pt"})


def block_list(body: torch.nn.Module, count: int) -> torch.nn.ModuleList | None:
    """The list of a body's `count` blocks: of lists so long the one with the most weights; None where there is none."""
    lists = [part for part in body.modules() if isinstance(part, torch.nn.ModuleList) and len(part) == count]
    sizes = [sum(weight.numel() for weight in part.parameters()) for part in lists]
    return lists[sizes.index(max(sizes))] if lists else None


def cut(loaded: LoadedModel, blocks: int) -> LoadedModel:
    """The model with its first blocks alone, in place; its output is layer `blocks`, with its own digest.

    A norm that the model has after its last block (ModernBERT) then stands after this one.
    """
    count = loaded.layers - 1
    if not 1 <= blocks <= count:
        raise InputError("no such number of blocks", value=blocks, remedy=f"The model has {count}.")
    if blocks == count:
        return loaded
    found = block_list(loaded.model, count)
    if found is None:
        raise InputError("this architecture shares its blocks", value=blocks, remedy="Use all of them.")
    del found[blocks:]
    config = loaded.model.config
    for name in ("num_hidden_layers", "encoder_layers", "num_layers", "n_layer", "n_layers"):
        if getattr(config, name, None) == count:
            setattr(config, name, blocks)
    digest = hashlib.blake2b(f"{loaded.digest} {blocks}".encode(), digest_size=16).hexdigest()
    return replace(loaded, layers=blocks + 1, digest=digest, head=None)
