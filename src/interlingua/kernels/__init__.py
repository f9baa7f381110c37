"""GPU kernels for what small models spend their time on: moving numbers. Each equals a plain formula.

A kernel is written in Triton, which the CUDA build of PyTorch brings along; where it is missing nothing here is used.
"""

from __future__ import annotations

from importlib.util import find_spec


def available() -> bool:
    """Whether kernels can be compiled here: Triton is installed and there is a CUDA device.

    >>> available() in (True, False)
    True
    """
    import torch

    return find_spec("triton") is not None and torch.cuda.is_available()
