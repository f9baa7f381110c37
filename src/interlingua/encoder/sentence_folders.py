"""sentence-transformers folders: which modules they name, and what those make of the last layer."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder.model_folders import check_header, model_json
from interlingua.errors import InputError
from interlingua.paths import regular_folder

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
class SentenceModules:
    """Poolings whose vectors are joined, the modules after them, and the prompts a text may be given after."""

    modes: tuple[str, ...]
    with_prompt: bool
    steps: torch.nn.Sequential = field(repr=False)
    settings: TextSettings
    prompts: Mapping[str, str]
    default: str | None
    digest: str

    def placed(self, device: torch.device, limit: int | None) -> SentenceModules:
        """The head on a device, for a model that reads that many tokens."""
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
) -> SentenceModules:
    """A head, with a digest of all that decides its vectors."""
    chain = torch.nn.Sequential(*steps).eval().requires_grad_(False)
    about = [modes, with_prompt, [repr(step) for step in steps], asdict(settings), dict(prompts), default]
    state = hashlib.blake2b(json.dumps(about).encode(), digest_size=16)
    for name, weight in chain.state_dict().items():
        state.update(f"{name} {tuple(weight.shape)}".encode() + weight.numpy().tobytes())
    return SentenceModules(modes, with_prompt, chain, settings, dict(prompts), default, state.hexdigest())


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
    """The folder of the transformer, and for a sentence-transformers folder what follows it; `notes` describe what
    differs.
    """

    transformer: Path
    head: SentenceModules | None = None
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
    """The prompts under their names, the name of the one put before every text, and how many numbers of a vector are
    kept.
    """
    config = model_json(file, dict) if file.exists() else {}
    prompts, default = config.get("prompts") or {}, config.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise InputError("prompts are texts under names", file=file, value=prompts, remedy="Fetch the model again.")
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
