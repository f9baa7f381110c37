"""One comparison of a benchmark: our figure, a peer's, and their ratio."""

from __future__ import annotations

import importlib.metadata
import time
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Side:
    """`ours` and `theirs` in the same unit, measured in the same run; `better` says which of more or less is good."""

    what: str
    unit: str
    ours: float
    peer: str
    theirs: float
    version: str
    better: Literal["more", "less"] = "more"

    @property
    def ratio(self) -> float:
        """How many times as good we are: above 1 we are ahead, whichever direction is good."""
        return self.ours / self.theirs if self.better == "more" else self.theirs / self.ours

    def row(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


def version(package: str) -> str:
    """The version of an installed package, or an empty string where it is no package of its own."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def now(device: Any) -> float:
    """Seconds on a clock for this device: the wall's once a GPU is done, the processor's on a CPU.

    A processor's seconds do not hang on what else the machine does; with one thread they are the wall's where nothing
    else runs.
    """
    if not str(device).startswith("cuda"):
        return time.process_time()
    import torch

    torch.cuda.synchronize()
    return time.perf_counter()
