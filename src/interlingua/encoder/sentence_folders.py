"""Sentence-transformers folders: where the transformer lies, and what is done with its last layer (`SentenceHead`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder.modelfiles import check_header, model_json
from interlingua.encoder.sentence_head import MODES, Dense, SentenceHead, TextSettings, sentence_head
from interlingua.errors import InputError
from interlingua.paths import regular_folder

# In the order in which sentence-transformers joins the vectors of several.
_FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_AFTER = ("Dense", "Normalize", "LayerNorm", "Dropout")
_ACCEPTED = f"Transformer, Pooling, then any of {', '.join(_AFTER)}"
_ALONE = "Name the folder of the transformer itself (or take modules.json away) to read its layers without them."
_TEXT_SETTINGS = [
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
]
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_SENTENCE = "sentence_embedding"
# What of a transformer's settings decides how, not what, it computes.
_NO_MATTER = {"torch_dtype", "dtype", "attn_implementation", "trust_remote_code", "low_cpu_mem_usage", "device_map",
              "use_safetensors", "add_pooling_layer", "padding_side", "use_fast", "output_hidden_states"}  # fmt: skip


@dataclass(frozen=True)
class SentenceFolder:
    """The folder of the transformer, and for a sentence-transformers folder what follows it; `notes` in words."""

    transformer: Path
    head: SentenceHead | None = None
    notes: tuple[str, ...] = ()


def sentence_folder(folder: Path, *, allow_pickle: bool = False) -> SentenceFolder:
    """What `modules.json` says, every module of it; without one, the folder itself."""
    file = folder / "modules.json"
    if not file.exists():
        return SentenceFolder(folder)
    places = [(_kind(module, file), _inside(folder, str(module.get("path", "")))) for module in _modules(file)]
    kinds = [kind for kind, _ in places]
    if kinds[:2] != ["Transformer", "Pooling"] or not set(kinds[2:]) <= set(_AFTER):
        raise InputError(
            f"modules of sentence-transformers in an order that is not read here; accepted: {_ACCEPTED}",
            file=file,
            value=", ".join(kinds),
            remedy=_ALONE,
        )
    transformer, pooling = places[0][1], places[1][1]
    modes, with_prompt = _pooling(pooling / "config.json")
    steps = [_step(kind, place, allow_pickle=allow_pickle) for kind, place in places[2:]]
    settings, notes = _text_settings(transformer)
    prompts, default, dimensions = _general(folder / "config_sentence_transformers.json")
    steps += [] if dimensions is None else [_Truncate(dimensions)]
    return SentenceFolder(
        transformer, sentence_head(modes, with_prompt, [s for s in steps if s], settings, prompts, default), notes
    )


def _modules(file: Path) -> list[dict[str, Any]]:
    found = model_json(file, list)
    if not all(isinstance(part, dict) for part in found):
        raise InputError("not what sentence-transformers writes", file=file, remedy="Fetch the model again.")
    return list(found)


def _kind(module: dict[str, Any], file: Path) -> str:
    """The name of a module that sentence-transformers itself has; one of a folder's own would have to be run."""
    stated = str(module.get("type", ""))
    kind = stated.rpartition(".")[2]
    if not stated.startswith("sentence_transformers.") or kind not in ("Transformer", "Pooling", *_AFTER):
        raise InputError(
            f"a module of sentence-transformers that is not read here; accepted: {_ACCEPTED}",
            file=file,
            value=stated,
            remedy=_ALONE,
        )
    return kind


def _inside(folder: Path, name: str) -> Path:
    """The folder of a module, which lies in the model's own: elsewhere it would read what the model does not hold."""
    place = folder / name
    try:
        inside = place.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # No name of a file, or links in a circle.
        inside = False
    if not inside:
        raise InputError("a module outside of the model's folder", file=folder / "modules.json", value=name,
                         remedy="Put it there.")  # fmt: skip
    return place


def _pooling(file: Path) -> tuple[tuple[str, ...], bool]:
    """The poolings whose vectors are joined, in their order, and whether a prompt's tokens count."""
    config = model_json(file, dict)
    stated = config.get("pooling_mode")
    if stated is None:
        stated = [mode for flag, mode in _FLAGS.items() if config.get(flag)] or ["mean"]
    modes = tuple(stated) if isinstance(stated, list) else (stated,)
    for mode in modes:
        if mode not in MODES:
            raise InputError("unknown pooling", file=file, value=mode, remedy=f"Known: {', '.join(MODES)}.")
    if not modes:
        raise InputError("no pooling", file=file, value="[]", remedy=f"Known: {', '.join(MODES)}.")
    return modes, bool(config.get("include_prompt", True))


def _step(kind: str, place: Path, *, allow_pickle: bool) -> torch.nn.Module | None:
    """A module after pooling; None for one that does nothing when a model is only read."""
    file = place / "config.json"
    config = model_json(file, dict) if file.exists() else {}
    for key in ("module_input_name", "module_output_name"):
        if (config.get(key) or _SENTENCE) != _SENTENCE:
            raise InputError(f"{kind} of something else than the vector of a sentence", file=file, value=config[key],
                             remedy=_ALONE)  # fmt: skip
    if kind == "Dropout":
        return None
    if kind == "Normalize":
        return _Normalize()
    weights = _weights(place, allow_pickle=allow_pickle)
    if kind == "LayerNorm":
        scale, shift = _tensor(weights, "norm.weight", 1, place), _tensor(weights, "norm.bias", 1, place)
        norm = torch.nn.LayerNorm(len(scale))
        norm.weight, norm.bias = torch.nn.Parameter(scale), torch.nn.Parameter(shift)
        return norm
    residual = None
    weight = _tensor(weights, "linear.weight", 2, place)
    if config.get("use_residual"):
        square = weight.shape[0] == weight.shape[1]
        residual = torch.eye(len(weight)) if square else _tensor(weights, "residual.weight", 2, place)
    bias = _tensor(weights, "linear.bias", 1, place) if config.get("bias", True) else None
    return Dense(weight, bias, _activation(config.get("activation_function"), file), residual)


class _Normalize(torch.nn.Module):
    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(vectors, dim=-1)


class _Truncate(torch.nn.Module):
    """The first numbers of a vector, as Matryoshka models are cut; nothing is normalised again."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.dimensions = dimensions

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors[..., : self.dimensions]

    def extra_repr(self) -> str:
        return str(self.dimensions)


def _activation(stated: object, file: Path) -> torch.nn.Module:
    """A function of torch by its name, tanh where none is stated; anything else would be code of the folder."""
    if stated is None:
        return torch.nn.Tanh()
    kind = getattr(torch.nn, str(stated).rpartition(".")[2], None)
    made = None
    if str(stated).startswith("torch.nn.") and isinstance(kind, type) and issubclass(kind, torch.nn.Module):
        try:
            made = kind()
            made(torch.zeros(1, 2))
        except (TypeError, NotImplementedError, RuntimeError, AttributeError):
            made = None
    if made is None or any(True for _ in made.parameters()):
        raise InputError("an activation that torch does not have", file=file, value=stated,
                         remedy="Known are classes of torch.nn, as torch.nn.modules.activation.Tanh.")  # fmt: skip
    return made


def _weights(place: Path, *, allow_pickle: bool) -> dict[str, torch.Tensor]:
    if place.is_dir():
        regular_folder(place)
    safe, pickled = (place / name for name in _WEIGHTS)
    try:
        if safe.exists():
            from safetensors.torch import load_file

            check_header(safe)
            return dict(load_file(safe))
        if pickled.exists() and allow_pickle:
            return dict(torch.load(pickled, map_location="cpu", weights_only=True))
    except Exception as error:  # Each kind means that the weights cannot be read.
        raise InputError(f"the weights cannot be read ({str(error)[:200]})", file=place,
                         remedy="Fetch the model again.") from error  # fmt: skip
    if pickled.exists():
        raise InputError(
            f"the module has only pickled weights ({pickled.name}), which can run code when read",
            file=place,
            remedy="Convert them to safetensors, or pass --allow-pickle if you trust their author.",
        )
    raise InputError("the module has no weights", file=place, remedy=f"It must hold {safe.name}.")


def _tensor(weights: dict[str, torch.Tensor], name: str, dimensions: int, place: Path) -> torch.Tensor:
    found = weights.get(name)
    if found is None or found.ndim != dimensions or not found.is_floating_point() or not torch.isfinite(found).all():
        value = "absent" if found is None else f"{found.dtype}, shape {tuple(found.shape)}"
        raise InputError(f"the weights of the module hold no usable {name!r}", file=place, value=value,
                         remedy="Fetch the model again.")  # fmt: skip
    return found.float()


def _text_settings(transformer: Path) -> tuple[TextSettings, tuple[str, ...]]:
    """How texts are given to the transformer; what is not plain text is refused."""
    file = next((place for name in _TEXT_SETTINGS if (place := transformer / name).exists()), None)
    if file is None:
        return TextSettings(), ()
    config = model_json(file, dict)
    task, modes = config.get("transformer_task") or "feature-extraction", config.get("modality_config") or {}
    text = modes.get("text", {"method": "forward", "method_output_name": "last_hidden_state"})
    plain = text.get("method") == "forward" and text.get("method_output_name") in (
        "last_hidden_state", ["last_hidden_state"],
    )  # fmt: skip
    for what, wrong in {
        "transformer_task": task != "feature-extraction",
        "modality_config": bool(modes) and (not plain or "text" not in modes or "message" in modes),
        "query_expansion": bool(config.get("query_expansion")),
        "processing_kwargs": bool(config.get("processing_kwargs")),
    }.items():
        if wrong:
            raise InputError(f"the transformer reads something else than plain text ({what})", file=file,
                             value=config.get(what), remedy=_ALONE)  # fmt: skip
    stated = {key: config.get(old) or config.get(key) or {}
              for old, key in (("model_args", "model_kwargs"), ("tokenizer_args", "processor_kwargs"),
                               ("config_args", "config_kwargs"))}  # fmt: skip
    limit = stated["processor_kwargs"].pop("model_max_length", config.get("max_seq_length"))
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise InputError("max_seq_length is no number of tokens", file=file, value=limit, remedy="Give 1 or more.")
    left = sorted(name for given in stated.values() for name in given if name not in _NO_MATTER)
    notes = (f"settings of the folder's transformer that are not applied here: {', '.join(left)}",) if left else ()
    return TextSettings(limit, bool(config.get("do_lower_case"))), notes


def _general(file: Path) -> tuple[dict[str, str], str | None, int | None]:
    """The prompts by name, the name of the one put before every text, and how many numbers of a vector are kept."""
    config = model_json(file, dict) if file.exists() else {}
    prompts, default = config.get("prompts") or {}, config.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise InputError("prompts are texts by name", file=file, value=prompts, remedy="Fetch the model again.")
    named = {name: text or "" for name, text in prompts.items()}
    if default in ("query", "document"):  # sentence-transformers knows both names, of no text unless the folder has it.
        named.setdefault(default, "")
    if default is not None and default not in named:
        raise InputError("the default prompt is none of the prompts", file=file, value=default,
                         remedy=f"There are: {', '.join(prompts) or 'none'}.")  # fmt: skip
    kept = config.get("truncate_dim")
    if kept is not None and (isinstance(kept, bool) or not isinstance(kept, int) or kept < 1):
        raise InputError("truncate_dim is no number of dimensions", file=file, value=kept, remedy="Give 1 or more.")
    return named, default, kept
