"""Which of several processes this is (`torchrun`, `accelerate launch`), before and without any group of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def is_first_process() -> bool:
    """Whether this process writes and speaks for all."""
    return os.environ.get("RANK", "0") == "0"


def process_count() -> int:
    """The number of processes that train together, 1 without a launcher."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def first_process_first(device: torch.device) -> Iterator[None]:
    """Run the block in the first process, then in the others, which find what it left on disk."""
    if process_count() == 1:
        yield
        return
    from accelerate import PartialState

    # On a CPU accelerate must be told so, here and in the loop alike: the first to ask decides.
    with PartialState(cpu=device.type == "cpu").main_process_first():
        yield
