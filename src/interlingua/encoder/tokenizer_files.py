"""The files of a tokenizer, looked at before a library reads them: no number and no chain of steps without bound.

A folder may come from anyone. A tokenizer makes room for all numbers of tokens below the largest, and its steps may
each write a text longer than the one they read: a few of them fill any memory, and the library then ends the process.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlingua.encoder.model_folders import model_json, numbers_in
from interlingua.errors import InputError

_FETCH = "Fetch the model again."
_TOKENS = 1_000_000  # Room for numbers of tokens that are left out, beyond the entries of the vocabulary.
_MADE_UP = 10_000  # Tokens that a tokenizer makes by itself, such as T5's <extra_id_0>.
_ADDED = 100_000  # Added tokens; a model of speech has 65,536.
_SPECIAL = 20_000
_STEPS = 200  # Steps of one kind; the most that a tokenizer has are 60, each of which replaces a letter.
_GROWTH = 1000  # How many times as long a text may become; the most is 6, where marks get spaces round them.
_BYTES = 3  # Steps that write bytes as letters: each makes a text up to twice as long.
_AROUND = 64  # Special tokens around a text
_VOCABULARIES = (".json", ".txt", ".model", ".spm", ".bpe")
_FILES = ("tokenizer.json", "vocab.json", "added_tokens.json", "tokenizer_config.json", "special_tokens_map.json")


def check_tokenizer_files(folder: Path) -> None:
    """Refuse numbers of tokens far beyond the entries of a vocabulary, and steps that make texts grow without bound.

    An entry takes more than one byte, so there are fewer than the files of the tokenizer have bytes.
    """
    entries = sum(file.stat().st_size for file in folder.iterdir() if file.suffix in _VOCABULARIES and file.is_file())
    for name in _FILES:
        file = folder / name
        if not file.exists():
            continue
        found = model_json(file, dict)
        decoded = found.get("added_tokens_decoder")
        settings = name == "tokenizer_config.json"  # In the others a key may be a token: "max", "extra".
        _check_lists(found, file)
        if name == "tokenizer.json":
            _check_steps(found, file)
        found.pop("truncation" if name == "tokenizer.json" else "model_max_length" if settings else None, None)
        for key, value in numbers_in(found):
            made_up = settings and ("extra" in key or key.startswith("num_"))
            if not abs(value) <= (_MADE_UP if made_up else entries + _TOKENS) and not (settings and "max" in key):
                raise _no_token(value, file, key)
        for number in decoded if isinstance(decoded, dict) else ():
            if not (number.isascii() and number.isdecimal() and len(number) < 20 and int(number) <= entries + _TOKENS):
                raise _no_token(number, file, "added_tokens_decoder")


def _check_lists(found: dict[str, Any], file: Path) -> None:
    """Refuse more added tokens than any tokenizer has: a library looks each up among all."""
    lists = {key: found.get(key) for key in ("added_tokens", "added_tokens_decoder")}
    lists |= {key: found.get(key) for key in ("additional_special_tokens", "extra_special_tokens")}
    if file.name == "added_tokens.json":
        lists["added tokens"] = found
    for key, given in lists.items():
        most = _SPECIAL if "special" in key else _ADDED
        if isinstance(given, list | dict) and len(given) > most:
            raise InputError(f"more than {most:,} tokens under {key!r}", file=file, value=len(given), remedy=_FETCH)


def _check_steps(found: dict[str, Any], file: Path) -> None:
    """Refuse normalizers and their like that make a text much longer, or that are many."""
    growth, as_bytes = 1.0, 0
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        steps = list(_steps(found.get(part)))
        if len(steps) > _STEPS:
            raise InputError(f"a {part} of {len(steps):,} steps", file=file, remedy=_FETCH)
        for step in steps if part in ("normalizer", "pre_tokenizer") else ():
            growth *= _growth(step, file)
            as_bytes += step.get("type") == "ByteLevel"
        for name in ("single", "pair") if isinstance(found.get(part), dict) else ():
            if isinstance(around := found[part].get(name), list) and len(around) > _AROUND:
                raise InputError(f"{len(around):,} special tokens around a text", file=file, remedy=_FETCH)
    if growth > _GROWTH or as_bytes > _BYTES:
        raise InputError("a normalizer that makes texts many times as long", file=file, remedy=_FETCH)


def _steps(part: Any) -> Iterator[dict[str, Any]]:
    """Every step of a part of a tokenizer, those of sequences included."""
    left = [part]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left += [inner for value in node.values() if isinstance(value, list) for inner in value
                     if isinstance(inner, dict) and "type" in inner]  # fmt: skip
    return


def _growth(step: dict[str, Any], file: Path) -> float:
    """How many times as long a step may make a text, at most."""
    pattern = step.get("pattern")
    replaced = pattern.get("String") if isinstance(pattern, dict) else None
    content, before = step.get("content"), step.get("prepend")
    if step.get("type") == "Replace" and isinstance(content, str):
        # A pattern that is an expression may match a single letter, or none.
        return max(len(content.encode("utf-8", "replace")) / max(len(str(replaced or "")), 1), 1.0)
    if step.get("type") == "Prepend" and isinstance(before, str):
        return 1 + len(before) / _AROUND
    if step.get("type") == "Precompiled":
        _check_precompiled(step.get("precompiled_charsmap"), file)
    return 1.0


def _check_precompiled(given: Any, file: Path) -> None:
    """Refuse a map of characters that states a larger table than it has: the library makes room for it first."""
    if given is None:
        return
    try:
        data = base64.b64decode(given, validate=True)
    except (TypeError, ValueError, binascii.Error):
        data = b""
    size = int.from_bytes(data[:4], "little")
    if len(data) < 4 or size > len(data) - 4 or size % 4:
        raise InputError("precompiled_charsmap is not a whole map of characters", file=file, remedy=_FETCH)


def _no_token(value: object, file: Path, key: str) -> InputError:
    return InputError(
        f"the number of a token under {key[:40]!r} is far beyond the vocabulary",
        file=file,
        value=str(value)[:40],
        remedy=_FETCH,
    )
