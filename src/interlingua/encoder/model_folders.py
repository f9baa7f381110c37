"""What the files of a model folder state, bounded by what they hold, before memory is taken for it."""

from __future__ import annotations

import errno
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as modules

from interlingua.errors import InputError
from interlingua.paths import read_json, regular

_FETCH = "Fetch the model again."
_LAYERS = 1024  # More than any model has; layers that share their weights are not told by the weights.
_SIZE = 1 << 24  # More than any model states without weights of that size: positions of 10,485,760 are the most.
_NUMBERS = 32_000_000  # Positions, masks and poolers that a model computes or makes up: 128 MB in float32.
_LABELS = 1_000_000  # A label has a name, made up where the folder has none.
_SETTINGS = 16 << 20  # Bytes of a file of settings; the largest that a model comes with has 6 MB.
_VOCABULARY = 64 << 20  # Bytes of a file of tokens, or of an index of weights; the largest has 35 MB.
_NODES = 5_000_000  # Objects and lists of a JSON file: each takes 64 bytes or more, however few it has in the file.
_HEADER = 32 << 20  # Bytes of the header of a safetensors file: 200,000 tensors.
_HOLES = 16 << 20  # Bytes of a file that may be holes, whatever the rest is.
_FEW_TENSORS, _PER_TENSOR = 1000, 16
_SMALL_NUMBERS = 4_000_000  # The same for a model of next to no weights: a mask of 2,048 positions.
_FLOATS = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"}
_COUNTS = re.compile(r"layers?$|blocks?$|depth|groups?$|experts|stages?$")
_SIZES = re.compile(r"size$|dims?$|^d_|^n_|^num_|positions?|embd|heads?$|length$|buckets|_ctx$|window")
# What old versions stored beside weights though it follows from the config: positions, masks, frequencies.
STORED = ("position_ids", "token_type_ids", "inv_freq", "masked_bias", "causal_mask", "version")
_WHOLE = (*STORED, "num_batches_tracked", "relative_position_index")


# What libraries read of a folder, with the bytes that it may have; they read it whole.
_READ = {
    **dict.fromkeys(
        ("config.json", "generation_config.json", "tokenizer_config.json", "special_tokens_map.json",
         "added_tokens.json", "chat_template.json", "processor_config.json", "preprocessor_config.json",
         "modules.json", "config_sentence_transformers.json", "sentence_*_config.json", "*.jinja"), _SETTINGS),
    **dict.fromkeys(
        ("tokenizer.json", "vocab.json", "vocab.txt", "merges.txt", "tekken.json", "*.index.json", "*.model", "*.spm",
         "*.bpe", "*.tiktoken", "tokenizer.model.*"), _VOCABULARY),
}  # fmt: skip


@dataclass(frozen=True)
class StoredWeights:
    """What the headers of the safetensors files of a folder say: how much the weights hold, and what is no float."""

    tensors: int
    numbers: int
    whole: tuple[str, ...] = ()


def is_bad_input(error: BaseException) -> bool:
    """Whether a library could not take what it was given; a panic of a library in Rust is no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def check_read_files(folder: Path) -> None:
    """Refuse files that a library reads whole and that are larger than any model's, and files of no kind to be read."""
    for pattern, most in _READ.items():
        for file in sorted(folder.glob(pattern)):
            check_size(file, most)


def check_size(file: Path, most: int = _SETTINGS) -> None:
    """Refuse a file of more bytes than `most`, or a JSON file of more objects and lists than memory should hold."""
    if file.is_dir():
        raise InputError("a folder, not a file", file=file, remedy=_FETCH)
    if (size := regular(file).stat().st_size) > most:
        raise InputError(f"more than {most >> 20} MB, which no model has there", file=file, value=size, remedy=_FETCH)
    if file.suffix == ".json" and size > _NODES:
        data = file.read_bytes()
        if (nodes := data.count(b"{") + data.count(b"[")) > _NODES:
            raise InputError(f"more than {_NODES:,} objects and lists", file=file, value=nodes, remedy=_FETCH)


def model_json(file: Path, kind: type) -> Any:
    """The JSON of a model's file, of this kind at its top."""
    try:
        check_size(file, next((most for pattern, most in _READ.items() if file.match(pattern)), _SETTINGS))
        found = read_json(file)
    except (OSError, ValueError) as error:  # Bad bytes and 5,000 digits are values, too.
        raise InputError(f"not valid JSON ({str(error)[:200]})", file=file, remedy=_FETCH) from error
    if not isinstance(found, kind):
        raise InputError(f"{file.name} holds no {'list' if kind is list else 'object'}", file=file, remedy=_FETCH)
    return found


def stored_weights(folder: Path, *, packed: bool) -> StoredWeights:
    """What the weights of a folder hold, by their headers; `packed` weights have up to 8 numbers in one."""
    from safetensors import safe_open

    tensors = numbers = 0
    whole: list[str] = []
    for file in sorted(folder.glob("*.safetensors")):
        check_header(file)
        try:
            with safe_open(file, framework="pt") as opened:
                for name in opened.keys():  # noqa: SIM118 - it is no dict
                    part = opened.get_slice(name)
                    shape, kind = part.get_shape(), str(part.get_dtype())
                    count = 1
                    for length in shape:
                        count *= length
                    tensors += 1
                    if kind in _FLOATS:
                        numbers += count
                        continue
                    numbers += count * (8 if packed else 1)
                    # A `bias` of three or more dimensions is a mask (GPT-2).
                    last = name.rpartition(".")[2]
                    if last not in _WHOLE and not (last == "bias" and len(shape) > 2):
                        whole.append(f"{name} ({kind})")
        except Exception as error:
            raise InputError(
                f"the model cannot be loaded ({file.name}: {str(error)[:200]})",
                file=folder,
                remedy="Check that config.json and the weights belong together and are whole.",
            ) from error
    if tensors > _FEW_TENSORS + numbers // _PER_TENSOR:
        raise InputError("the weights have many tensors of next to no numbers", file=folder, value=tensors,
                         remedy=_FETCH)  # fmt: skip
    return StoredWeights(tensors, numbers, tuple(whole))


def check_header(file: Path) -> None:
    """Refuse weights whose header is larger than any model's, or that are mostly holes."""
    check_holes(file)
    try:
        with regular(file).open("rb") as opened:
            header = int.from_bytes(opened.read(8), "little")
    except OSError as error:
        raise InputError(f"the weights cannot be read ({error.strerror})", file=file, remedy=_FETCH) from error
    if header > _HEADER:
        raise InputError("not a safetensors file: its header is too long", file=file, value=header, remedy=_FETCH)


def check_holes(file: Path) -> None:
    """Refuse a large file that was mostly never written: a hole takes no room on a disk, and as much memory as data."""
    if not regular(file).is_file() or (size := file.stat().st_size) <= _HOLES:
        return
    with file.open("rb") as opened:
        holes = _holes(opened.fileno(), size)
    if holes > size // 2:
        raise InputError(f"of the {size >> 20:,} MB of the file {holes >> 20:,} MB were never written", file=file,
                         remedy=_FETCH)  # fmt: skip


def _holes(opened: int, size: int) -> int:
    """Bytes of a file that were never written, 0 where the file system does not say."""
    holes = place = 0
    while hasattr(os, "SEEK_HOLE") and place < size:
        try:
            begin = os.lseek(opened, place, os.SEEK_HOLE)
            place = min(os.lseek(opened, begin, os.SEEK_DATA), size) if begin < size else size
        except OSError as error:
            if error.errno != errno.ENXIO:  # It is a hole to the end.
                return holes
            place = size
        holes += place - begin
    return holes


def check_config(config: Mapping[str, Any], stored: StoredWeights, file: Path) -> None:
    """Refuse sizes in a config.json that no model with these weights has; building it would never end."""
    for key, value in numbers_in(config):
        most = None
        if key.endswith("num_labels"):
            most = _LABELS
        elif _COUNTS.search(key):
            most = max(stored.tensors, _LAYERS)
        elif _SIZES.search(key):
            most = max(stored.numbers, _SIZE)
        if (most is not None and not value <= most) or abs(value) > 2**63:
            raise InputError(
                f"{key} is larger than the weights beside it, {stored.numbers:,} numbers in {stored.tensors:,} tensors",
                file=file,
                value=str(value)[:40],
                remedy="Use the config.json that belongs to these weights.",
            )


@contextmanager
def bounded_build(*, tensors: int, numbers: int, problem: InputError) -> Iterator[None]:
    """Inside, a model on the meta device that grows past a number of tensors or values is the `problem`.

    `transformers` builds every model there first, so nothing is allocated, and nothing goes on, past that point.
    """
    thread, seen = threading.get_ident(), {"tensors": 0, "numbers": 0}
    kept: dict[int, Any] = {}  # Tied weights are counted once.

    def count(_: torch.nn.Module, __: str, value: Any) -> None:
        if value is None or threading.get_ident() != thread or value.device.type != "meta" or id(value) in kept:
            return
        kept[id(value)] = value
        seen["tensors"] += 1
        seen["numbers"] += value.numel()
        if seen["tensors"] > tensors or seen["numbers"] > numbers:
            raise problem

    def parts(_: torch.nn.Module, __: str, ___: Any) -> None:
        if threading.get_ident() == thread:
            seen["modules"] = seen.get("modules", 0) + 1
            if seen["modules"] > 8 * tensors:
                raise problem

    hooks = (
        modules.register_module_parameter_registration_hook(count),
        modules.register_module_buffer_registration_hook(count),
        modules.register_module_module_registration_hook(parts),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def build_within(stored: StoredWeights | None, folder: Path) -> Iterator[None]:
    """Inside, a model that is larger than the weights of its folder is an error; None bounds nothing."""
    if stored is None:
        yield
        return
    problem = InputError(
        f"config.json describes a larger model than the weights beside it, {stored.numbers:,} numbers in "
        f"{stored.tensors:,} tensors",
        file=folder / "config.json",
        remedy="Use the config.json that belongs to these weights.",
    )
    # Weights that are stored as one tensor may be several in the model: queries, keys and values. Tensors of next to
    # no numbers are stored by the thousand in no space.
    tensors = min(4 * stored.tensors, stored.numbers // _PER_TENSOR) + _FEW_TENSORS
    numbers = min(_NUMBERS, 16 * stored.numbers + _SMALL_NUMBERS)
    with bounded_build(tensors=tensors, numbers=stored.numbers + numbers, problem=problem):
        yield


def numbers_in(document: Any) -> Iterator[tuple[str, int | float]]:
    """Every number of a JSON document, with the key that it or its list stands under."""
    left: list[tuple[str, Any]] = [("", document)]
    while left:
        key, node = left.pop()
        for name, value in node.items() if isinstance(node, dict) else ((key, value) for value in node):
            if type(value) in (int, float):
                yield name, value
            elif isinstance(value, dict | list):
                left.append((name, value))


def check_weights_match_config(model: torch.nn.Module, report: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Notes on weights that the model has no place for; an error where model and weights differ by more than that.

    `report` is the loading info of `from_pretrained`. A head is no part of the model here, and a pooler is never used.
    """
    if unfit := sorted(report["mismatched_keys"]):
        key, stored, wanted = unfit[0]
        raise InputError(
            f"{len(unfit)} tensors of the weights have another shape than config.json says",
            file=folder,
            value=f"{key}: {tuple(stored)}, not {tuple(wanted)}",
            remedy="Use the weights that belong to this config.json.",
        )
    computed = {name for name, module in model.named_modules() if "Sinusoidal" in type(module).__name__ and name}
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key and _parent(key) not in computed)
    if missing:
        raise InputError(
            f"the weights lack {len(missing)} tensors of the model",
            file=folder,
            value=", ".join(missing[:3]),
            remedy="They would be random numbers; use the weights that belong to this config.json.",
        )
    unused = [key for key in _of_the_body(model, report["unexpected_keys"]) if _parent(key) not in computed]
    if more := sorted(_blocks_beyond(model, unused)):
        raise InputError(
            "the weights have blocks that config.json makes no room for",
            file=folder,
            value=", ".join(more[:3]),
            remedy="Write their true number into config.json; a study takes the first of them by `blocks`.",
        )
    return (f"weights that the model has no place for: {len(unused)}, such as {unused[0]}",) if unused else ()


def _of_the_body(model: torch.nn.Module, unused: Iterable[str]) -> list[str]:
    """The weights among these that lie inside a part of the model, by their names in it; heads lie beside."""
    parts = dict(model.named_modules())
    bodies = {name for name, _ in model.named_children()} - {"pooler"}
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    named = sorted(key.removeprefix(prefix) for key in unused)
    return [key for key in named if key.split(".")[0] in bodies and not _follows(key, parts)]


def _follows(key: str, parts: Mapping[str, torch.nn.Module]) -> bool:
    """Whether a stored tensor follows from the config; a `bias` of what is no single layer is a mask (GPT-2)."""
    last = key.rpartition(".")[2]
    return last in STORED or (last == "bias" and _parent(key) in parts and any(parts[_parent(key)].children()))


def _blocks_beyond(model: torch.nn.Module, unused: Iterable[str]) -> set[str]:
    """The blocks of these weights whose number is past the end of the model's list of them."""
    lengths = {name: len(part) for name, part in model.named_modules() if isinstance(part, torch.nn.ModuleList)}
    beyond = set()
    for key in unused:
        names = key.split(".")
        for end, name in enumerate(names):
            within = ".".join(names[:end])
            if name.isdecimal() and within in lengths and int(name) >= lengths[within]:
                beyond.add(f"{within}.{name}")
    return beyond


def _parent(key: str) -> str:
    return key.rpartition(".")[0]
