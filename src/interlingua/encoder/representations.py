"""`Representations`: vectors by layer and item with their labels, in memory or in the memory-mapped cache."""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from interlingua.encoder.partial_folder import PartialFolder, sweep
from interlingua.errors import DiskFull, InputError
from interlingua.paths import read_json

Vectors = NDArray[np.floating[Any]]
_HEADER = 128
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Representations:
    """Vectors (layer, item, dim) and what each item is.

    `row[i]` is the text item i belongs to and `spans[i]` its characters there. `lost` counts words
    that the tokenizer turned into nothing and that therefore have no item.
    """

    vectors: Sequence[Vectors]
    layers: tuple[int, ...]
    unit: str
    row: NDArray[np.int64]
    spans: NDArray[np.int64]
    lost: int = 0
    windowed: int = 0
    key: str = field(default="", compare=False)

    def __getitem__(self, layer: int) -> Vectors:
        """The (item, dim) vectors of a layer; layer 0 is the embedding output, negative ones count from the end."""
        number = self.layers[layer] if -len(self.layers) <= layer < 0 else layer
        if number not in self.layers:
            raise InputError(
                "no such layer",
                value=layer,
                remedy=f"There are {self.layers[0]} (the embedding output) to {self.layers[-1]}.",
            )
        return self.vectors[self.layers.index(number)]

    def with_more(self, other: Representations) -> Representations:
        """These and other layers of the same items; a layer may have a width of its own."""
        assert (self.row == other.row).all()
        return replace(self, vectors=[*self.vectors, *other.vectors], layers=(*self.layers, *other.layers))

    def copied(self, layer: int, items: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """A copy of a layer's vectors, or of some items', in float32; of a mapped file nothing stays in memory.

        The pages of a file that were read count as this process's memory until the system wants them back: as much as
        the whole cache, in the end.
        """
        found = self[layer]
        copy = np.array(found if items is None else found[items], np.float32)
        mapped: object = found.base
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):  # Windows has none.
            mapped.madvise(mmap.MADV_DONTNEED)
        return copy

    def __len__(self) -> int:
        return len(self.row)

    @property
    def dim(self) -> int:
        return int(self.vectors[0].shape[1])

    def __repr__(self) -> str:
        return f"Representations({len(self.layers)} layers × {len(self)} {self.unit}s × {self.dim})"


class Cache:
    """A folder of finished representations, one folder each, written beside and renamed into place.

    `notes` say which were damaged, and made anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []

    def get(self, key: str) -> Representations | None:
        """The representations stored under a key, memory-mapped, or None."""
        place = self.folder / key
        try:
            return self._read(place, key)
        except NotADirectoryError:  # A cache that is a file is told when it is written to.
            return None
        except (FileNotFoundError, ValueError, EOFError, KeyError, TypeError, IndexError):
            # Not there, or damaged (a file gone, cut or written over, as after a power failure): made anew.
            if place.is_dir():
                self.notes.append(f"damaged representations in the cache, made anew: {place}")
                shutil.rmtree(place, ignore_errors=True)
            return None

    def _read(self, place: Path, key: str) -> Representations:
        about = read_json(place / "about.json")
        vectors = [np.load(place / f"layer-{layer:03d}.npy", mmap_mode="r") for layer in about["layers"]]
        items = np.load(place / "items.npy")
        return Representations(
            vectors=vectors,
            layers=tuple(about["layers"]),
            unit=about["unit"],
            row=items[:, 0],
            spans=items[:, 1:],
            lost=about["lost"],
            windowed=about["windowed"],
            key=key,
        )

    def writer(self, key: str, layers: Sequence[int], dim: int, dtype: np.dtype[Any]) -> CacheWriter:
        return CacheWriter(self.folder, key, layers, dim, dtype)


class MemoryWriter:
    """Collects chunks in memory; for callers that want no files."""

    def __init__(self, layers: Sequence[int]) -> None:
        self.layers = tuple(layers)
        self._chunks: list[Vectors] = []

    def append(self, chunk: Vectors) -> None:
        """Take a (layer, item, dim) chunk of consecutive items."""
        self._chunks.append(chunk)

    def taken(self, items: NDArray[np.int64]) -> Vectors:
        """The (layer, item, dim) vectors of some items that were appended, by number."""
        ends = np.cumsum([chunk.shape[1] for chunk in self._chunks])
        where = np.searchsorted(ends, items, side="right")
        found = np.empty((len(self.layers), len(items), self._chunks[0].shape[2]), self._chunks[0].dtype)
        for number in np.unique(where):
            chunk, chosen = self._chunks[number], where == number
            found[:, chosen] = chunk[:, items[chosen] - (ends[number] - chunk.shape[1])]
        return found

    def finish(
        self, unit: str, row: NDArray[np.int64], spans: NDArray[np.int64], lost: int, windowed: int
    ) -> Representations:
        vectors = np.concatenate(self._chunks, axis=1) if len(self._chunks) > 1 else self._chunks[0]
        return Representations(list(vectors), self.layers, unit, row, spans, lost, windowed)

    def abort(self) -> None:
        self._chunks.clear()


class CacheWriter:
    """Streams chunks to one file per layer in a hidden folder, which `finish` renames into place.

    Files are written, not mapped, so that the resident memory stays small however many items there are.
    """

    def __init__(self, folder: Path, key: str, layers: Sequence[int], dim: int, dtype: np.dtype[Any]) -> None:
        self.layers, self._key, self._dim, self._dtype = tuple(layers), key, dim, dtype
        self._folder, self._count = folder, 0
        self._files: list[BinaryIO] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            sweep(folder)
            self._unfinished = PartialFolder(folder, key[:12])
        except OSError as error:
            raise _cannot_write(folder, error) from error
        self._place = self._unfinished.place
        try:
            for layer in self.layers:
                self._files.append(open(self._name(layer), "wb"))  # noqa: SIM115
                self._files[-1].write(b"\0" * _HEADER)
        except OSError as error:
            self.abort()
            raise _cannot_write(folder, error) from error

    def append(self, chunk: Vectors) -> None:
        """Take a (layer, item, dim) chunk of consecutive items."""

        def write(file: BinaryIO, layer: Vectors) -> None:
            file.write(np.ascontiguousarray(layer, self._dtype).data if layer.size else b"")

        try:
            with ThreadPoolExecutor(4) as pool:  # Writing releases the interpreter; one thread would hold up a GPU.
                list(pool.map(write, self._files, chunk))
        except OSError as error:
            self.abort()
            raise _cannot_write(self._folder, error) from error
        self._count += chunk.shape[1]

    def taken(self, items: NDArray[np.int64]) -> Vectors:
        """The (layer, item, dim) vectors of some items that were appended, by number, read from the files."""
        found = np.empty((len(self.layers), len(items), self._dim), self._dtype)
        shape = (self._count, self._dim)
        try:
            for place, (file, layer) in enumerate(zip(self._files, self.layers, strict=True)):
                file.flush()
                found[place] = np.memmap(self._name(layer), self._dtype, "r", _HEADER, shape)[items]
        except OSError as error:
            self.abort()
            raise _cannot_write(self._folder, error) from error
        return found

    def finish(
        self, unit: str, row: NDArray[np.int64], spans: NDArray[np.int64], lost: int, windowed: int
    ) -> Representations:
        try:
            for file in self._files:
                file.seek(0)
                file.write(_npy_header((self._count, self._dim), self._dtype))
                file.close()
            np.save(self._place / "items.npy", np.column_stack([row, spans]))
            about = {"layers": self.layers, "unit": unit, "lost": lost, "windowed": windowed}
            (self._place / "about.json").write_text(json.dumps(about), "utf-8")
            final = self._folder / self._key
            try:
                os.rename(self._place, final)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
                shutil.rmtree(self._place)  # Another process finished the same work first; both made the same bytes.
            self._unfinished.let_go()
        except OSError as error:
            self.abort()
            raise _cannot_write(self._folder, error) from error
        found = Cache(self._folder).get(self._key)
        assert found is not None
        return found

    def abort(self) -> None:
        """Remove the unfinished files."""
        for file in self._files:
            with contextlib.suppress(OSError):  # The disk is full: closing tries to write once more.
                file.close()
        shutil.rmtree(self._place, ignore_errors=True)
        self._unfinished.let_go()

    def _name(self, layer: int) -> Path:
        return self._place / f"layer-{layer:03d}.npy"


def _npy_header(shape: tuple[int, int], dtype: np.dtype[Any]) -> bytes:
    """A NumPy 1.0 header of fixed size, so that it can be written over the reserved bytes at the end."""
    text = repr({"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
    body = text.ljust(_HEADER - 10 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body.encode("latin1")


def _cannot_write(folder: Path, error: OSError) -> InputError:
    if error.errno in _NO_ROOM:
        return DiskFull(
            "no space left for representations",
            file=folder,
            remedy="Free some, or name another place with --cache DIR.",
        )
    return InputError(
        f"cannot write representations ({error.strerror})",
        file=folder,
        remedy="Name a folder you can write to with --cache DIR.",
    )
