"""What a process does for a step: as many threads as it asks for, the users' files that it needs, the call itself."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interlingua.engine.digests import stamp
from interlingua.engine.serialization import build
from interlingua.engine.step import StepContext, resolve, settings_class
from interlingua.registry import load

_LOADED: dict[str, str] = {}


VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_set: dict[str, int] = {}


def call_step(run: str, settings: Mapping[str, Any], load: Iterable[str], context: StepContext) -> None:
    """Call a step function in this process, with the dataclass that its annotation says, made of plain data."""
    load_once(load)
    function = resolve(run)
    function(build(settings_class(function), settings), context)


def limit_threads(count: int) -> None:
    """Let libraries here use `count` threads: those loaded by their functions, those to come by the environment."""
    if _set.get("environment") != count:
        _set["environment"] = count
        os.environ |= dict.fromkeys(VARIABLES, str(count))
    if "numpy" in sys.modules and _set.get("numpy") != count:
        from threadpoolctl import threadpool_limits

        threadpool_limits(count)
        _set["numpy"] = count
    torch: Any = sys.modules.get("torch")
    # A torch that a step is only now to import reads the environment.
    if torch is not None and hasattr(torch, "set_num_threads") and _set.get("torch") != count:
        torch.set_num_threads(count)
        _set["torch"] = count


@contextmanager
def threads_restored() -> Iterator[None]:
    """After the block, libraries use as many threads as before it: steps that run in a user's own process set them."""
    from threadpoolctl import threadpool_limits

    environment = {name: os.environ.get(name) for name in VARIABLES}
    # A torch that a step is only now to import would stay with the threads of that step.
    count = thread_count()
    try:
        with threadpool_limits():
            yield
    finally:
        _set.clear()
        for name, value in environment.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(count)


def thread_count() -> int:
    """The threads that libraries use here: as this process, or who started it, has said, else one a CPU."""
    torch: Any = sys.modules.get("torch")
    said = os.environ.get("OMP_NUM_THREADS", "")
    return torch.get_num_threads() if torch is not None else int(said) if said.isdecimal() else cpu_count()


def cpu_count() -> int:
    """The CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_once(files: Iterable[str]) -> None:
    """Load the files of a step in the process that runs it; one that has not changed since is not loaded again."""
    for file in files:
        now = stamp(Path(file))
        if _LOADED.get(file) != now:
            load(Path(file))
            _LOADED[file] = now


def mark_loaded(file: Path) -> None:
    """Say that this process has loaded a file, so that steps do not load it again."""
    _LOADED[str(file.absolute())] = stamp(file)


def free_device_memory() -> None:
    """Free what a step left on a GPU that others share; without one, nothing, which is quicker than a collection."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()
