"""As many threads as a step asks for, in every library that has some: sums over threads round by their number."""

from __future__ import annotations

import os
import sys
from typing import Any

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
