"""Procrustes maps on disk: fitted once, applied anywhere."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save

from interlingua.engine.atomic_files import cannot_write, write_beside
from interlingua.errors import InputError
from interlingua.measures.procrustes import Map


def save_map(path: str | Path, fitted: Map) -> None:
    """Write a map as a safetensors file, beside and renamed into place."""
    place = Path(path)
    data = save({name: tensor.contiguous() for name, tensor in fitted.to_tensors().items()})
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_beside(place, lambda file: file.write(data))
    except OSError as error:
        raise cannot_write(place.parent, error) from error


def load_map(path: str | Path) -> Map:
    """The map in a file that `save_map` wrote.

    >>> import tempfile, torch
    >>> from interlingua.measures.procrustes import fit
    >>> english = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_map(Path(folder, "en-ru.safetensors"), fit(english, english.flip(1)))
    ...     loaded = load_map(Path(folder, "en-ru.safetensors"))
    >>> loaded.apply(english).shape
    torch.Size([20, 4])
    """
    try:
        return Map.from_tensors(load(Path(path).read_bytes()))
    except FileNotFoundError as error:
        raise InputError("no such map", value=str(path), remedy="Give a file that save_map wrote.") from error
    except (SafetensorError, OSError) as error:
        raise InputError(f"not a saved map ({error})", file=path, remedy="Give a file that save_map wrote.") from error
