"""The device that a name means, and how many tokens, padding included, go through a model there at once."""

from __future__ import annotations

import torch

from interlingua.errors import InputError

BUDGET = {"cpu": 2048, "cuda": 32768}


def pick_device(name: str | None) -> torch.device:
    """The device of a name; without one, the GPU where there is one."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError("unknown device", value=name, remedy="Use cpu, cuda or cuda:N.") from error
    if device.type not in BUDGET:
        raise InputError("unsupported device", value=name, remedy="Use cpu, cuda or cuda:N.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError("no CUDA device is here", value=name, remedy="Use --device cpu.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(
            "no such CUDA device", value=name, remedy=f"There are {torch.cuda.device_count()}, from cuda:0."
        )
    return device
