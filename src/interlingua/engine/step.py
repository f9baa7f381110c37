"""`Step`: one thing to do, as data: a function's name, its settings, the steps it needs, and the key of all that."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from interlingua.engine.process_group import ProcessGroup, SingleProcess
from interlingua.engine.serialization import Dataclass, File, canonical, canonical_form, digest, to_plain
from interlingua.errors import InputError, InterlinguaError

T = TypeVar("T")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Resources:
    """What a step takes of a machine; not in its key.

    `cpus` is also the number of threads, on every machine, because sums over threads round by their number. `gpus`
    may be a fraction: four steps of 0.25 share one. `memory` is in bytes, 0 where none is given. `processes` above
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


class StepPaused(InterlinguaError):
    """Raised by a step function that stops on purpose: its state stays, and the next run continues from it."""


class ObjectCache:
    """What one process has loaded and may use again, by key: of each kind at most `size`, the most recently used.

    >>> cache = ObjectCache(2)
    >>> [cache.get(name, lambda: made) for made, name in enumerate(["a", "b", "a", "c", "b"])]
    [0, 1, 0, 3, 4]
    """

    def __init__(self, size: int = 2) -> None:
        self._size = size
        self._objects: dict[str, dict[str, Any]] = {}

    def get(self, key: str, make: Callable[[], T], *, kind: str = "", most: int | None = None) -> T:
        """The object under a key, made where it is not there. Who gets it may read it, not change it.

        Kinds do not push each other out; of a kind `most` stay in the place of `size`.
        """
        own = self._objects.setdefault(kind, {})
        if key in own:
            found: T = own.pop(key)
        else:
            while own and len(own) >= (most or self._size):  # Before the new one is made, which needs the room.
                del own[next(iter(own))]
            found = make()
        own[key] = found
        return found

    def clear(self) -> None:
        """Forget all: a step that failed may have left anything in them."""
        self._objects.clear()


def _silent(stage: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True)
class StepContext:
    """What a step function is given beside its settings.

    `inputs` are the finished folders of what it needs, by role; `out` is an empty folder of this attempt, which gets
    the step's name when the function returns. What lies in `out / "heavy"` is removed when no step to come needs it.
    `objects` are what this process loaded in earlier steps. Of several processes only the one that `group` calls first
    writes. `deadline` is the `time.time()` at which a long function should save its state and raise `StepPaused`.
    `device` is where to compute, None: on what there is; `cache` a folder that runs share, None: there is none;
    `tensorboard` one for curves of a training while it runs, None: they are not shown.
    """

    key: str
    inputs: Mapping[str, Path]
    out: Path
    state_folder: Path
    progress: Progress = _silent
    objects: ObjectCache = field(default_factory=ObjectCache)
    group: ProcessGroup = field(default_factory=SingleProcess)
    deadline: float | None = None
    device: str | None = None
    cache: Path | None = None
    tensorboard: Path | None = None

    @property
    def state(self) -> Path:
        """A folder that survives a kill, a failure and a pause, and is removed when the step is done."""
        self.state_folder.mkdir(parents=True, exist_ok=True)
        return self.state_folder


StepFunction = Callable[[Any, StepContext], None]
"""`def run(settings: MySettings, context: StepContext) -> None`: the annotation says which dataclass it gets."""


@dataclass(frozen=True, eq=False)
class Step:
    """One thing to do. Equal steps have equal keys, and run once.

    `run` is "package.module:name" of a `StepFunction`; `settings` a frozen dataclass of JSON types, tuples, `File` and
    dataclasses of those, the one that the function's annotation names. `code` is raised when the function's results
    change. `label` is what people see; `like` shows which steps take about as long. Of the steps that a run was asked
    for, those of a lower `turn` go first, and those without one last; records keep the order that was given. None of
    these nor `resources` are in the key. `load` are users' Python files that the function's process runs first; their
    content is in the key.

    >>> @dataclass(frozen=True)
    ... class Count:
    ...     rows: int
    >>> first, second = Step("my.steps:count", Count(3)), Step("my.steps:count", Count(3), label="again")
    >>> first.key == second.key, len(first.key), first.kind
    (True, 32, 'count')
    >>> first.key == Step("my.steps:count", Count(4)).key
    False
    """

    run: str
    settings: Dataclass
    needs: Mapping[str, Step] = field(default_factory=dict)
    code: int = 1
    resources: Resources = Resources()
    label: str = ""
    like: str = ""
    load: tuple[File, ...] = ()
    turn: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """What sort of step it is: the function's name, or its module's where the function is called `run`."""
        return step_kind(self.run)

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits: blake2b of the canonical JSON of all that makes the result."""
        return digest(self.manifest)

    @cached_property
    def manifest(self) -> str:
        """All that makes the result, as canonical JSON; files by their names and digests."""
        found = {
            "run": self.run,
            "code": self.code,
            "settings": canonical_form(self.settings),
            "needs": {role: need.key for role, need in self.needs.items()},
        }
        return canonical(found | ({"load": [file.content for file in self.load]} if self.load else {}))

    def arguments(self) -> tuple[dict[str, Any], tuple[File, ...]]:
        """The settings as plain data, of which `serialization.build` makes them again; and all files of the step."""
        files: list[File] = [*self.load]

        def whole(file: File) -> dict[str, Any]:
            files.append(file)
            made: dict[str, Any] = to_plain(file)
            return made

        return to_plain(self.settings, file=whole, where=type(self.settings).__name__), tuple(files)

    @property
    def shown(self) -> str:
        return self.label or f"{self.kind} {self.key[:8]}"


def step_kind(run: str) -> str:
    """The kind of a step by its function.

    >>> step_kind("my.steps.adjust:run"), step_kind("my.steps:count")
    ('adjust', 'count')
    """
    module, _, name = run.partition(":")
    return module.rpartition(".")[2] if name == "run" else name


def resolve(run: str) -> StepFunction:
    """The function that "package.module:name" names."""
    module, colon, name = run.partition(":")
    try:
        found: StepFunction = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"no such step function ({error})", value=run, remedy="Name it as package.module:function."
        ) from error
    if not colon or not callable(found):
        raise InputError("not a step function", value=run, remedy="Name it as package.module:function.")
    return found


def settings_class(function: StepFunction) -> type[Any]:
    """The dataclass that a step function's first parameter is annotated with."""
    try:
        found = typing.get_type_hints(function)[next(iter(inspect.signature(function).parameters))]
    except (NameError, TypeError, KeyError, ValueError, StopIteration) as error:
        raise _not_annotated(function) from error
    if not isinstance(found, type) or not is_dataclass(found):
        raise _not_annotated(function)
    return found


def _not_annotated(function: StepFunction) -> InputError:
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', function)}"
    return InputError(
        "the settings of a step function have no dataclass as their annotation",
        value=name,
        remedy="Write def run(settings: MySettings, context: StepContext), with names that are imported when it runs.",
    )
