"""`Step`: one thing a study does, as data: a function's name, its settings, what it needs, and the key of all that."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from interlingua.errors import InputError

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class File:
    """A file or folder among a step's settings: where it lies, the digest of its content, and its size and times.

    The key has its name (a reader may tell the language by it) and its content, not where it lies. `Digests` makes it.
    """

    path: str
    digest: str
    stamp: str = ""


@dataclass(frozen=True)
class Resources:
    """What a step takes of a machine; no part of its key.

    `cpus` is also the number of threads, on every machine, because sums over threads round by their number. `gpus`
    may be a fraction: four steps of 0.25 share one. `memory` is in bytes, 0 where nothing is said. `processes` above
    1: that many processes of torchrun run the function together.
    """

    cpus: int = 1
    gpus: float = 0.0
    memory: int = 0
    processes: int = 1

    def __post_init__(self) -> None:
        for name, value, least in (
            ("CPUs", self.cpus, 1),
            ("processes", self.processes, 1),
            ("memory", self.memory, 0),
        ):
            if value < least:
                raise InputError(f"{name} of a step", value=value, remedy=f"Give {least} or more.")
        if self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus)):
            raise InputError("GPUs of a step", value=self.gpus, remedy="Give a whole number, or a share below 1.")


@dataclass(frozen=True)
class Work:
    """What a step function is given beside its settings, inputs and output folder."""

    key: str
    folder: Path
    progress: Progress
    gpus: int = 0

    @property
    def state(self) -> Path:
        """A folder that survives a kill and a failure, and is removed when the step is done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder


StepFunction = Callable[[Mapping[str, Any], Mapping[str, Path], Path, Work], None]


@dataclass(frozen=True, eq=False)
class Step:
    """One thing a study does. Equal steps have equal keys, and run once.

    `function` is "package.module:name" of a `StepFunction`. `code` is raised where its results change. `label` is
    what people see; `like` tells which measured steps take about as long. Neither they nor `resources` are in the key.
    `load` are users' Python files that the function's process loads first; their content is in the key.

    >>> first = Step("count", "my.steps:count", {"rows": 3})
    >>> second = Step("count", "my.steps:count", {"rows": 3}, label="again")
    >>> first.key == second.key, len(first.key)
    (True, 32)
    >>> first.key == Step("count", "my.steps:count", {"rows": 4}).key
    False
    """

    kind: str
    function: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs: Mapping[str, Step] = field(default_factory=dict)
    resources: Resources = Resources()
    code: str = ""
    label: str = ""
    like: str = ""
    load: tuple[File, ...] = ()

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits: blake2b of the canonical JSON of all that makes the result."""
        return blake2b(self.manifest.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()

    @cached_property
    def manifest(self) -> str:
        """All that makes the result, as canonical JSON; files by their names and digests."""
        found = {
            "kind": self.kind,
            "function": self.function,
            "code": self.code,
            "settings": _plain(self.settings, self.kind, _by_content),
            "needs": {role: need.key for role, need in self.needs.items()},
        }
        return canonical(found | ({"load": [_by_content(file) for file in self.load]} if self.load else {}))

    def arguments(self) -> tuple[dict[str, Any], tuple[File, ...]]:
        """The settings as the function sees them, files by their paths; and the files among them."""
        files: list[File] = [*self.load]

        def path(file: File) -> str:
            files.append(file)
            return file.path

        return _plain(self.settings, self.kind, path), tuple(files)

    @property
    def shown(self) -> str:
        return self.label or f"{self.kind} {self.key[:8]}"


def canonical(value: Any) -> str:
    """JSON that is the same for equal values: keys in order, no spaces, no NaN.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def resolve(function: str) -> StepFunction:
    """The function that "package.module:name" names."""
    module, colon, name = function.partition(":")
    try:
        found: StepFunction = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"no such step function ({error})", value=function, remedy="Name it as package.module:function."
        ) from error
    if not colon or not callable(found):
        raise InputError("not a step function", value=function, remedy="Name it as package.module:function.")
    return found


def _by_content(file: File) -> dict[str, str]:
    return {"file": Path(file.path).name, "digest": file.digest}


def _plain(value: Any, kind: str, of_file: Callable[[File], Any]) -> Any:
    """A copy made of JSON's types only, with something else for each file."""
    if isinstance(value, File):
        return of_file(value)
    if isinstance(value, Mapping):
        odd = next((name for name in value if not isinstance(name, str)), None)
        if odd is not None:
            raise InputError(f"a name in the settings of {kind} is no text", value=odd, remedy="Use text.")
        return {name: _plain(inner, kind, of_file) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, kind, of_file) for inner in value]
    if value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    raise InputError(
        f"a setting of {kind} that is no JSON", value=repr(value), remedy="Use text, finite numbers, lists, tables."
    )
