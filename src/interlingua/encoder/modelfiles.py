"""The files of a model folder, looked at before a library reads them: no device, and no size beyond what is there.

A folder may come from anyone. `config.json` states sizes that a library allocates, and a tokenizer's files state
numbers of tokens that it makes room for, so each is compared with what the folder holds: the headers of the weights,
and the entries of the vocabulary.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as modules

from interlingua.errors import InputError
from interlingua.paths import read_json

_FETCH = "Fetch the model again."
_LAYERS = 1024  # More than any model has; layers that share their weights are not told by the weights.
_SIZE = 1 << 24  # More than any model states without weights of that size: positions of 10,485,760 are the most.
_TOKENS = 1_000_000  # Room for numbers of tokens that are left out, beyond the entries of the vocabulary.
_MADE_UP = 10_000  # Tokens that a tokenizer makes by itself, such as T5's <extra_id_0>.
_NUMBERS = 32_000_000  # Positions, masks and poolers that a model computes or makes up: 128 MB in float32.
_FLOATS = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2"}
_COUNTS = re.compile(r"layers?$|blocks?$|depth|groups?$|experts|stages?$")
_SIZES = re.compile(r"size$|dims?$|^d_|^n_|^num_|positions?|embd|heads?$|length$|buckets|_ctx$|window")
# What old versions stored beside weights though it follows from the config: positions, masks, frequencies.
STORED = ("position_ids", "token_type_ids", "inv_freq", "masked_bias", "causal_mask", "version")
_WHOLE = (*STORED, "num_batches_tracked", "relative_position_index")


@dataclass(frozen=True)
class Stored:
    """What the headers of the safetensors files of a folder say: how much the weights hold, and what is no float."""

    tensors: int
    numbers: int
    whole: tuple[str, ...] = ()


def is_bad_input(error: BaseException) -> bool:
    """Whether a library could not take what it was given; a panic of a library in Rust is no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def model_json(file: Path, kind: type) -> Any:
    """The JSON of a model's file, of this kind at its top."""
    try:
        found = read_json(file)
    except (OSError, ValueError) as error:  # Bad bytes and 5,000 digits are values, too.
        raise InputError(f"not valid JSON ({str(error)[:200]})", file=file, remedy=_FETCH) from error
    if not isinstance(found, kind):
        raise InputError(f"{file.name} holds no {'list' if kind is list else 'object'}", file=file, remedy=_FETCH)
    return found


def stored_weights(folder: Path, *, packed: bool) -> Stored:
    """What the weights of a folder hold, by their headers; `packed` weights have up to 8 numbers in one."""
    from safetensors import safe_open

    tensors = numbers = 0
    whole: list[str] = []
    for file in sorted(folder.glob("*.safetensors")):
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
    return Stored(tensors, numbers, tuple(whole))


def check_config(config: Mapping[str, Any], stored: Stored, file: Path) -> None:
    """Refuse sizes in a config.json that no model with these weights has; building it would never end."""
    for key, value in _numbers(config):
        most = None
        if _COUNTS.search(key):
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
    """Inside, a model on the meta device that grows past so many tensors or numbers is the `problem`.

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
def build_within(stored: Stored | None, folder: Path) -> Iterator[None]:
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
    # Weights that are stored as one tensor may be several in the model: queries, keys and values.
    with bounded_build(tensors=4 * stored.tensors + 1000, numbers=stored.numbers + _NUMBERS, problem=problem):
        yield


def check_tokenizer_files(folder: Path) -> None:
    """Refuse numbers of tokens far beyond the entries of a vocabulary: a tokenizer makes room for all below them.

    An entry takes more than one byte, so there are fewer than the files of the tokenizer have bytes.
    """
    vocabularies = (".json", ".txt", ".model", ".spm", ".bpe")
    entries = sum(file.stat().st_size for file in folder.iterdir() if file.suffix in vocabularies and file.is_file())
    for name in ("tokenizer.json", "vocab.json", "added_tokens.json", "tokenizer_config.json",
                 "special_tokens_map.json"):  # fmt: skip
        file = folder / name
        if not file.exists():
            continue
        found = model_json(file, dict)
        decoded = found.get("added_tokens_decoder")
        settings = name == "tokenizer_config.json"  # In the others a key may be a token: "max", "extra".
        found.pop("truncation" if name == "tokenizer.json" else "model_max_length" if settings else None, None)
        for key, value in _numbers(found):
            made_up = settings and ("extra" in key or key.startswith("num_"))
            if not abs(value) <= (_MADE_UP if made_up else entries + _TOKENS) and not (settings and "max" in key):
                raise _no_token(value, file, key)
        for number in decoded if isinstance(decoded, dict) else ():
            if not (number.isascii() and number.isdecimal() and len(number) < 20 and int(number) <= entries + _TOKENS):
                raise _no_token(number, file, "added_tokens_decoder")


def _no_token(value: object, file: Path, key: str) -> InputError:
    return InputError(
        f"the number of a token under {key[:40]!r} is far beyond the vocabulary",
        file=file,
        value=str(value)[:40],
        remedy=_FETCH,
    )


def _numbers(document: Any) -> Iterator[tuple[str, int | float]]:
    """Every number of a JSON document, with the key that it or its list stands under."""
    left: list[tuple[str, Any]] = [("", document)]
    while left:
        key, node = left.pop()
        for name, value in node.items() if isinstance(node, dict) else ((key, value) for value in node):
            if type(value) in (int, float):
                yield name, value
            elif isinstance(value, dict | list):
                left.append((name, value))
