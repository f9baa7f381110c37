"""Sentence-transformers folders: where the transformer lies, how it pools, and what of the folder is not read here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlingua.encoder.modelfiles import model_json
from interlingua.errors import InputError

POOLINGS = ("mean", "cls", "last")
_STATED = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
}
_HARMLESS = ("Transformer", "Pooling", "Normalize")  # A length of 1 changes no cosine.


@dataclass(frozen=True)
class SentenceFolder:
    """The folder of the transformer, the pooling that stands for the folder's own, and what differs from it."""

    transformer: Path
    pooling: str | None = None
    notes: tuple[str, ...] = ()


def sentence_folder(folder: Path) -> SentenceFolder:
    """What `modules.json` says; without one, the folder itself and mean pooling.

    Hidden states of every layer are read, so what comes after pooling (a Dense module) cannot be, and of the poolings
    only mean, cls and last have a meaning for words too: others are read as mean. Either is said in `notes`.
    """
    file = folder / "modules.json"
    if not file.exists():
        return SentenceFolder(folder)
    transformer, pooling, notes = folder, "mean", []
    for module in _read(file, list):
        kind, place = str(module.get("type", "")).rsplit(".", 1)[-1], _inside(folder, str(module.get("path", "")))
        if kind == "Transformer":
            transformer = place
        elif kind == "Pooling":
            stated = _stated(_read(place / "config.json", dict))
            pooling = stated if stated in POOLINGS else "mean"
            if pooling != stated:
                notes.append(f"the folder pools tokens by {stated}, which is not done here: read as mean")
        if kind not in _HARMLESS:
            notes.append(f"the folder's module {kind} is not applied: layers are read before it")
    return SentenceFolder(transformer, pooling, tuple(notes))


def _inside(folder: Path, name: str) -> Path:
    """The folder of a module, which lies in the model's own: elsewhere it would read what the model does not hold."""
    place = folder / name
    try:
        inside = place.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # No name of a file, or links in a circle.
        inside = False
    if not inside:
        raise InputError("a module outside of the model's folder", file=folder / "modules.json", value=name,
                         remedy="Put it there.")  # fmt: skip
    return place


def _stated(config: dict[str, Any]) -> str:
    """The name of the pooling in any of the formats there were; several at once are joined by '+'."""
    mode = config.get("pooling_mode")
    if mode is not None:
        return "+".join(mode) if isinstance(mode, list) else str(mode).replace("lasttoken", "last")
    return "+".join(name for key, name in _STATED.items() if config.get(key)) or "mean"


def _read(file: Path, kind: type) -> Any:
    found = model_json(file, kind)
    if kind is list and not all(isinstance(part, dict) for part in found):
        raise InputError("not what sentence-transformers writes", file=file, remedy="Fetch the model again.")
    return found
