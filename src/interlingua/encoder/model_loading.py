"""How a model gets into memory: from a folder, a hub or the package, in safetensors, on a device, in a precision."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from interlingua.encoder.model_folders import (
    build_within,
    check_config,
    check_holes,
    check_read_files,
    check_weights_match_config,
    is_bad_input,
    model_json,
    stored_weights,
)
from interlingua.encoder.sentence_folders import SentenceModules, lower_cased, sentence_folder
from interlingua.encoder.tokenizer_files import check_tokenizer_files
from interlingua.errors import InputError, MissingExtra
from interlingua.paths import regular_folder, usable_path

ASSETS = Path(__file__).parent.parent / "assets"
EMBEDDED = "embedded"
# Encoder-decoders of which sentence-transformers, too, takes the encoder alone.
_READ_BY_ENCODER = {"t5", "mt5", "umt5", "udop", "longt5", "prophetnet", "switch_transformers", "blenderbot",
                    "blenderbot-small", "m2m_100", "pegasus", "pegasus_x", "marian", "t5gemma"}  # fmt: skip
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class LoadedModel:
    """What a model folder holds, ready to run."""

    name: str
    digest: str
    tokenizer: Any
    model: torch.nn.Module
    layers: int
    dim: int
    limit: int | None
    notes: tuple[str, ...] = ()
    head: SentenceModules | None = None  # of a sentence-transformers folder


def load(
    name: str,
    *,
    device: torch.device,
    precision: str,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    revision: str | None = None,
) -> LoadedModel:
    """The tokenizer and the encoder side of the model called `name`, checked and in evaluation mode."""
    check_precision(device, precision)
    top = find_folder(name, allow_pickle=allow_pickle, revision=revision)
    parts = sentence_folder(top, allow_pickle=allow_pickle)
    folder = parts.transformer
    config = check_folder(folder, trust_remote_code=trust_remote_code, allow_pickle=allow_pickle)
    from transformers import AutoModel
    from transformers.utils import logging as chatter

    # Its load report and bars speak of heads we do not want; what matters of them is checked below.
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    tokenizer = _load_tokenizer(folder, trust_remote_code=trust_remote_code)
    model, report = read_model(
        AutoModel, folder, config, dtype=PRECISIONS[precision], trust=trust_remote_code, allow_pickle=allow_pickle
    )
    two_sided = _is_two_sided(model, config)
    if two_sided:  # Only the encoder is read, and some folders hold it alone (sentence-t5).
        missing = {key for key in report["missing_keys"] if not key.startswith("decoder.")}
        report = {**report, "missing_keys": missing}
    unused = check_weights_match_config(model, report, folder)
    if two_sided:
        whole = model
        if parts.head is not None and config.get("model_type") not in _READ_BY_ENCODER:
            raise InputError("sentence-transformers reads this kind of model by its decoder, which is not done here",
                             file=folder, value=config.get("model_type"),
                             remedy="Take modules.json away to read the layers of its encoder.")  # fmt: skip
        model = whole.get_encoder()
        if getattr(model, "config", None) is None:  # FSMT's.
            model.config = whole.config
    if any("pooler" in key for key in report["missing_keys"]) and getattr(model, "pooler", None) is not None:
        model.pooler = None  # Made up, other numbers at every load, and never used here.
    model = model.to(device).eval().requires_grad_(False)
    _check_finite(model, folder)
    _check_runs(model, device, folder)
    made = replace(from_memory(model, tokenizer, name=os.fspath(name)), digest=_digest(folder),
                   notes=(*parts.notes, *unused))  # fmt: skip
    return made if parts.head is None else _with_head(made, parts.head, device)


def _is_two_sided(model: torch.nn.Module, config: Mapping[str, Any]) -> bool:
    """Whether a model has an encoder and a decoder; the config of T5EncoderModel says that it has not."""
    if config.get("is_encoder_decoder"):
        return True
    stated = config.get("architectures")
    alone = isinstance(stated, list) and any(str(name).endswith("EncoderModel") for name in stated)
    return alone and {"encoder", "decoder"} <= {name for name, _ in model.named_children()}


def _with_head(loaded: LoadedModel, head: SentenceModules, device: torch.device) -> LoadedModel:
    """The model with what its folder does with the last layer, and a digest of both."""
    if head.settings.lower:
        lower_cased(loaded.tokenizer)
    # A length that the folder states is the one that counts, whatever the tokenizer's.
    limit = loaded.limit if head.settings.limit is None else _table_limit(loaded.model)
    placed = head.placed(device, limit)
    placed.width(loaded.dim)
    digest = hashlib.blake2b(f"{loaded.digest} {head.digest}".encode(), digest_size=16).hexdigest()
    return replace(loaded, head=placed, digest=digest)


def read_model(
    kind: Any, folder: Path, config: Mapping[str, Any], *, dtype: torch.dtype, trust: bool = False, allow_pickle: bool
) -> tuple[Any, Mapping[str, Any]]:
    """The model of a checked folder by a class of `transformers`, and its report on loading it.

    The headers of the weights bound what is built: a config.json of a few bytes can state any size.
    """
    packed = isinstance(config.get("quantization_config"), dict)
    stored = stored_weights(folder, packed=packed) if any(folder.glob("*.safetensors")) else None
    if stored is not None:
        check_config(config, stored, folder / "config.json")
    try:
        with build_within(stored, folder):
            model, report = kind.from_pretrained(
                folder,
                dtype=dtype,
                use_safetensors=None if allow_pickle else True,
                trust_remote_code=trust,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # So that we can name them: see `check_fit`.
            )
    except InputError:
        raise
    except Exception as error:  # transformers raises many kinds; each means the folder cannot be read.
        raise InputError(
            f"the model cannot be loaded ({type(error).__name__}: {_first_line(error)})",
            file=folder,
            remedy="Check that config.json and the weights belong together and are whole.",
        ) from error
    if stored is not None and stored.whole and getattr(model, "hf_quantizer", None) is None:
        raise InputError(
            f"{len(stored.whole)} tensors of the weights are whole numbers, and no method of quantisation is known "
            "that says what they stand for",
            file=folder,
            value=stored.whole[0],
            remedy="Use weights in floating point.",
        )
    return model, report


def from_memory(model: Any, tokenizer: Any, *, name: str) -> LoadedModel:
    """A model and tokenizer that are already in memory; without a folder there is no digest."""
    return LoadedModel(
        name=name,
        digest="",
        tokenizer=tokenizer,
        model=model,
        layers=_layer_count(model) + 1,
        dim=int(_width(model)),
        limit=_position_limit(model, tokenizer),
    )


def find_folder(name: str, *, allow_pickle: bool = False, revision: str | None = None) -> Path:
    """The local folder of a model: the embedded one, a path, or a snapshot of a hub repository at a revision."""
    if not isinstance(name, str | os.PathLike):
        raise InputError(
            "a model is given by its name", value=type(name).__name__, remedy="Give a folder or a hub name."
        )
    name = os.fspath(name)
    if name == EMBEDDED:
        folder = ASSETS / "encoder"
        if not folder.is_dir():
            raise InputError(
                "this version has no embedded encoder",
                remedy="Give a MODEL: a folder or a hub name such as xlm-roberta-base.",
            )
        return folder
    path = usable_path(name, home=True)
    if path.is_dir():
        return regular_folder(path)
    if path.exists():
        remedy = "Give the folder that holds it; text has an option of its own (--corpus, --bitext, --test)."
        raise InputError("a model is a folder, and this is a file", value=name, remedy=remedy)
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or not name.strip():
        raise InputError("no such model folder", value=name, remedy="Give an existing folder or a hub name.")
    from huggingface_hub import snapshot_download

    patterns = ["*.json", "*.txt", "*.model", "*.spm", "*.safetensors", "*.py", *(["*.bin"] if allow_pickle else [])]
    fetch = partial(
        snapshot_download, name, revision=revision, allow_patterns=patterns, ignore_patterns=["onnx/*", "openvino/*"]
    )
    try:
        try:
            return Path(fetch())
        except Exception:
            if revision is None:
                raise
            return Path(fetch(local_files_only=True))  # A commit that is here needs no network.
    except Exception as error:  # Not found, no network, not allowed: to the user they are one case.
        raise InputError(
            f"no such folder, and the hub did not give it ({_first_line(error)})",
            value=name,
            remedy="Check the spelling and the network, or give a local folder.",
        ) from error


def default_precision(device: torch.device) -> str:
    """bf16 on a GPU, fp32 on a CPU (where bf16 is slower, not faster)."""
    return "bf16" if device.type == "cuda" else "fp32"


def check_precision(device: torch.device, precision: str) -> None:
    """Refuse a precision that the device lacks."""
    if precision not in PRECISIONS:
        raise InputError("unknown precision", value=precision, remedy=f"Known: {', '.join(PRECISIONS)}.")
    if device.type == "cpu" and precision == "fp16":
        raise InputError("fp16 is for GPUs", value=precision, remedy="Use --precision fp32 on a CPU.")
    if device.type == "cpu" and precision == "bf16" and not _has_bf16_instructions():
        raise InputError(
            "this CPU has no bf16 instructions, and bf16 runs six times slower than fp32 on it",
            remedy="Use --precision fp32, or a GPU.",
        )


def _has_bf16_instructions() -> bool:
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.is_file() and any(flag in cpuinfo.read_text() for flag in ("avx512_bf16", "amx_bf16", "bf16"))


def vocabulary(model: torch.nn.Module) -> int | None:
    """How many tokens a model has vectors for; None where it looks none up, as one that reads characters does."""
    try:
        found = model.get_input_embeddings()  # type: ignore[operator]
    except (AttributeError, NotImplementedError):
        return None
    return getattr(found, "num_embeddings", None)


@torch.inference_mode()
def reads_left_to_right(model: torch.nn.Module) -> bool:
    """Whether what comes after a token changes nothing of it: so in decoders, and not in bidirectional variants.

    Found by trying, since a config does not say it: two texts with the same first half.
    """
    known = vocabulary(model) or 64
    half = min(8, (_table_limit(model) or 16) // 2)
    rows = [[number % known for number in (*range(half), *range(start, start + half))] for start in (8, 9)]
    first, second = (_tried(model, {"input_ids": [row]})[:half] for row in rows)
    # Half precision rounds differently where experts or kernels are chosen by the whole text.
    least = 1e-6 if next(model.parameters()).dtype == torch.float32 else 1e-2
    return bool(((first - second).norm(dim=1) <= least * first.norm(dim=1)).all())


@torch.inference_mode()
def padding_rules(model: torch.nn.Module, pad: int) -> tuple[bool, bool]:
    """Whether a text must always come with a mask, and whether it must never be padded: found by trying.

    A model may take a token for padding by its number where it is given no mask (XLM's), and convolutions (ConvBERT)
    or Fourier transforms (FNet) read padding whatever the mask says: a vector would depend on the other texts.
    """
    known = vocabulary(model) or 64
    whole = min(21, _table_limit(model) or 21)  # as many positions as the text and its padding take
    size = whole - whole // 4
    rest = whole - size
    row = [number % known for number in range(size)]
    bare = _tried(model, {"input_ids": [row]})
    masked = _tried(model, {"input_ids": [row], "attention_mask": [[1] * size]})
    padded = _tried(model, {"input_ids": [[*row, *[pad] * rest]], "attention_mask": [[1] * size + [0] * rest]})[:size]
    least = 1e-4 if next(model.parameters()).dtype == torch.float32 else 5e-2
    bare_differs, padded_differs = (
        not bool(((other - masked).norm(dim=1) <= least * masked.norm(dim=1)).all()) for other in (bare, padded)
    )
    return bare_differs, padded_differs


def _tried(model: torch.nn.Module, given: Mapping[str, list[list[int]]]) -> torch.Tensor:
    """The last hidden states (position, dim) of one made-up text."""
    device = next(model.parameters()).device
    training = model.training
    model.eval()
    try:
        states = hidden_states(model, {name: torch.tensor(rows, device=device) for name, rows in given.items()})
    finally:
        model.train(training)
    return states[-1][0].float()


def hidden_states(model: torch.nn.Module, given: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The states of all layers; an error where the model can't read such a batch, other than for want of memory."""
    try:
        states: tuple[torch.Tensor, ...] = model(**given, output_hidden_states=True).hidden_states
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, InputError | torch.OutOfMemoryError) or "alloc" in str(error):
            raise
        texts, tokens = given["input_ids"].shape
        raise InputError(
            f"the model fails on {texts} texts of {tokens} tokens ({type(error).__name__}: {_first_line(error)})",
            value=type(model).__name__,
            remedy="Its config.json may be wrong, or this architecture is not read here; report it to us.",
        ) from error
    if not isinstance(states, tuple):
        raise InputError("the model gives no layers", value=type(model).__name__, remedy="Report it to us.")
    widths = [state.shape[-1] for state in states]
    if len(set(widths)) > 1:
        raise InputError(
            f"the model's layers are not equally wide: layer 0 has {widths[0]} numbers, layer {len(widths) - 1} has "
            f"{widths[-1]}",
            value=type(model).__name__,
            remedy="Models that map their last layer to another width (OPT-350m) are not read here.",
        )
    return states


def check_folder(folder: Path, *, trust_remote_code: bool, allow_pickle: bool) -> dict[str, Any]:
    """The config of a model's folder, whose files are there, regular and of kinds that run no code."""
    config_file = folder / "config.json"
    if not config_file.exists():
        raise InputError("the model folder has no config.json", file=folder, remedy="Give a Hugging Face model folder.")
    regular_folder(folder)
    check_read_files(folder)
    config: dict[str, Any] = model_json(config_file, dict)
    if config.get("transformers_weights") is not None:
        raise InputError("config.json names the file of its weights", file=config_file,
                         value=config["transformers_weights"],
                         remedy="Call the weights model.safetensors and take that setting out.")  # fmt: skip
    if (folder / "adapter_config.json").exists():
        raise InputError("the folder holds an adapter (adapter_config.json), which is not read here", file=folder,
                         remedy="Merge it into the model (merge_and_unload of peft) and save that.")  # fmt: skip
    if "auto_map" in config and not trust_remote_code:
        raise InputError(
            "the model wants to run its own code",
            file=folder,
            remedy="Read that code, and pass --trust-remote-code if you trust it.",
        )
    safe = [*folder.glob("*.safetensors"), *folder.glob("*.safetensors.index.json")]
    pickled = [*folder.glob("*.bin"), *folder.glob("*.pt"), *folder.glob("*.pth")]
    if not safe and pickled and not allow_pickle:
        raise InputError(
            f"the folder has only pickled weights ({pickled[0].name}), which can run code when read",
            file=folder,
            remedy="Convert them to safetensors, or pass --allow-pickle if you trust their author.",
        )
    if not safe and not pickled:
        raise InputError(
            "the folder has no safetensors weights",
            file=folder,
            remedy="It must hold model.safetensors; what a hub has as pickles alone is fetched with --allow-pickle.",
        )
    for file in folder.glob("*.safetensors.index.json"):
        _check_index(file, folder, allow_pickle=allow_pickle)
    for file in folder.glob("*.safetensors"):
        if file.stat().st_size < 1024 and file.read_bytes().startswith(b"version https://git-lfs"):
            raise InputError(
                "a Git LFS pointer, not the weights", file=file, remedy="Run 'git lfs pull' in that folder."
            )
    return config


def _check_index(file: Path, folder: Path, *, allow_pickle: bool) -> None:
    """Refuse an index that names weights outside of the folder, or pickled ones under a safe name."""
    try:
        named = set(model_json(file, dict)["weight_map"].values())
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("not an index of weights", file=file, remedy="Fetch the model again.") from error
    for name in sorted(map(str, named)):
        if Path(name).name != name:
            raise InputError(
                "the index names weights outside of the model's folder", file=file, value=name, remedy="Put them there."
            )
        if not name.endswith(".safetensors") and not allow_pickle:
            raise InputError(
                "the index names weights that are not safetensors, which can run code when read",
                file=file,
                value=name,
                remedy="Convert them to safetensors, or pass --allow-pickle if you trust their author.",
            )
        if not (folder / name).is_file():
            raise InputError("weights that the index names are not there", file=file, value=name,
                             remedy="Fetch the model again.")  # fmt: skip


def _check_finite(model: torch.nn.Module, folder: Path) -> None:
    """Refuse broken weights before anything is computed or written: in training they look like a bad learning rate."""
    for name, weight in model.named_parameters():
        # The sum is one pass without a copy; in half precision it may overflow where no weight does.
        if not bool(torch.isfinite(weight.sum())) and not bool(torch.isfinite(weight).all()):
            raise InputError(
                "the weights hold infinite or undefined values",
                file=folder,
                value=name,
                remedy="They are broken; fetch or train the model again.",
            )


@torch.inference_mode()
def _check_runs(model: torch.nn.Module, device: torch.device, folder: Path) -> None:
    """Refuse settings that are found not to fit only when tokens pass through, at two lengths that nothing divides."""
    known, longest = vocabulary(model) or 64, _position_limit(model) or math.inf
    for length in (16, 17) if longest >= 17 else (1,):
        try:
            ids = torch.tensor([[number % known for number in range(length)]], device=device)
            model(input_ids=ids, output_hidden_states=True).hidden_states[-1].shape  # noqa: B018
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # Each model checks its settings in its own way.
            raise InputError(
                f"the model fails on {length} tokens ({type(error).__name__}: {_first_line(error)})",
                file=folder / "config.json",
                remedy="Check its settings: these do not fit one another.",
            ) from error


def _load_tokenizer(folder: Path, *, trust_remote_code: bool) -> Any:
    from transformers import AutoTokenizer

    check_tokenizer_files(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust_remote_code)
        tokenizer("a", add_special_tokens=True)  # Some parts are found not to fit only when a text passes through.
    except ImportError as error:
        raise MissingExtra("sentencepiece", "this model's tokenizer") from error
    except BaseException as error:
        if not is_bad_input(error):
            raise
        raise InputError(
            f"the tokenizer cannot be loaded ({type(error).__name__}: {_first_line(error)})",
            file=folder,
            remedy="The folder must hold tokenizer.json or the files of its tokenizer.",
        ) from error
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        # Without its files transformers makes an empty tokenizer of the model's kind, and says nothing.
        raise InputError(
            "the tokenizer has no vocabulary",
            file=folder,
            remedy="The folder must hold tokenizer.json or the files of its tokenizer.",
        )
    if (getattr(tokenizer, "sp_model_kwargs", None) or {}).get("enable_sampling"):
        raise InputError("the tokenizer cuts a text at random, another way each time (enable_sampling)",
                         file=folder / "tokenizer_config.json",
                         remedy='Take "enable_sampling" out of its "sp_model_kwargs".')  # fmt: skip
    longest = tokenizer.model_max_length
    if isinstance(longest, bool) or not isinstance(longest, int | float) or not longest >= 1:
        raise InputError(
            "model_max_length is no number of tokens",
            file=folder / "tokenizer_config.json",
            value=longest,
            remedy="Give a number of 1 or more.",
        )
    if tokenizer.is_fast:
        # A tokenizer.json may carry truncation and padding of its own: both would lose text in silence.
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def _layer_count(model: torch.nn.Module) -> int:
    config: Any = model.config
    for key in ("num_hidden_layers", "encoder_layers", "num_layers", "n_layer", "n_layers"):
        count = getattr(config, key, None)
        if isinstance(count, int):
            return count
    raise InputError(
        "the model's config names no number of layers", value=type(model).__name__, remedy="Report it to us."
    )


def _width(model: Any) -> int:
    """The width of the hidden states; the embedding's own may differ where it is factorised (ELECTRA, ALBERT)."""
    config = model.config
    for key in ("hidden_size", "d_model", "dim", "n_embd"):
        width = getattr(config, key, None)
        if isinstance(width, int):
            return width
    return int(model.get_input_embeddings().weight.shape[1])


def _position_limit(model: torch.nn.Module, tokenizer: Any = None) -> int | None:
    """The longest input in tokens, special ones included; None where positions are relative and unbounded."""
    stated = math.inf if tokenizer is None else tokenizer.model_max_length
    limits = [int(stated)] if stated < 1_000_000 else []
    config: Any = model.config
    most = getattr(config, "max_position_embeddings", None)
    if isinstance(most, int) and most > 0:  # XLNet says -1 where it means no limit.
        limits.append(most)
    limits += _tables(model)
    return min(limits) if limits else None


def _table_limit(model: torch.nn.Module) -> int | None:
    """The longest input where each position has a vector of its own; None where positions can be computed."""
    return _position_limit(model) if _tables(model) else None


def _tables(model: torch.nn.Module) -> list[int]:
    """How many positions each table of a model has room for."""
    found = []
    for name, module in model.named_modules():
        weight = getattr(module, "weight", None)
        named = name.endswith(("position_embeddings", "embed_positions", "wpe"))
        if named and isinstance(weight, torch.Tensor) and weight.ndim == 2:
            # RoBERTa and its kin begin counting positions after the padding index.
            padding = getattr(module, "padding_idx", None)
            found.append(len(weight) - (0 if padding is None else padding + 1))
    return found


def _digest(folder: Path) -> str:
    """A hash of everything that decides the model's output: config, tokenizer and weights."""
    state = hashlib.blake2b(digest_size=16)
    kinds = (".json", ".txt", ".model", ".spm", ".safetensors", ".bin", ".py")
    for file in sorted(file for file in folder.iterdir() if file.suffix in kinds and file.is_file()):
        check_holes(file)
        state.update(file.name.encode() + b"\0")
        with file.open("rb") as stream:
            while block := stream.read(1 << 22):
                state.update(block)
    return state.hexdigest()


def _first_line(error: BaseException, limit: int = 200) -> str:
    """The first line of an error without its full stop; of a long one the whole sentences that fit."""
    line = next(iter(str(error).strip().splitlines()), "")
    if len(line) > limit:
        head = line[:limit]
        end = head.rfind(". ")
        line = head[:end] if end > 0 else f"{head.rpartition(' ')[0] or head}…"
    return line.rstrip(". ")


_COMMIT = re.compile(r"[0-9a-f]{40}")
_SECONDS = 10.0


def cached_commit(name: str, revision: str | None = None) -> str | None:
    """The commit of a revision (none said: main) of which the local cache has files; None where it has none.

    A revision that is a commit stands for itself. Nothing is fetched.
    """
    if revision is not None and _COMMIT.fullmatch(revision):
        return revision
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model")
    try:
        commit = (folder / "refs" / (revision or "main")).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return commit if _COMMIT.fullmatch(commit) and (folder / "snapshots" / commit).is_dir() else None


def asked_commit(name: str, revision: str | None = None) -> str | None:
    """The commit that the hub has for a revision now; None where it cannot be asked, or does not know."""
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(name, revision=revision, timeout=_SECONDS).sha
    except Exception:  # No network, offline by choice, no such model: loading it will say which.
        return None
