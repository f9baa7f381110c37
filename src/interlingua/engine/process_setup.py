"""What a process does before a step: as many threads as it asks for, and the users' files that it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from interlingua.engine.digests import stamp
from interlingua.registry import load

_LOADED: dict[str, str] = {}


VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_set: dict[str, int] = {}


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


def load_once(files: Iterable[str]) -> None:
    """Load the files of a step in the process that runs it; one that has not changed since is not loaded again."""
    for file in files:
        now = stamp(Path(file))
        if _LOADED.get(file) != now:
            load(Path(file))
            _LOADED[file] = now
