"""The tables of a study file at one of its sizes, read strictly; nothing that computes is imported for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import StudyTable
from interlingua.studies.config.toml_file import ProblemList, build, read_toml

SIZES, DEFAULT = "sizes", "size"


def read_tables(
    file: FilePath, size: str | None = None, encoders: Mapping[str, str | FilePath] | None = None
) -> tuple[StudyTable | None, ProblemList, str | None]:
    """The tables of a study file at a size, what is wrong with them so far, and the size that was taken.

    `[sizes.NAME]` has what differs at a size: tables are merged key by key, all else takes the place of what the file
    has. `size = "NAME"` is the one taken where none is asked for.
    """
    given, lines = read_toml(file, called="study file")
    problems = ProblemList(str(file), lines)
    sizes = given.pop(SIZES, {})
    usual = given.pop(DEFAULT, None)
    if not isinstance(sizes, dict) or not all(isinstance(each, dict) for each in sizes.values()):
        problems.add((SIZES,), "sizes are tables", remedy="Write [sizes.small] above what differs.")
        return None, problems, None
    chosen = size if size is not None else usual
    if chosen is None and sizes:
        raise InputError(
            "no size was asked for",
            file=file,
            remedy=f"Give --size: {', '.join(sizes)}; or write size = … in the file.",
        )
    if chosen is not None and (not isinstance(chosen, str) or chosen not in sizes):
        plain = unknown("size", str(chosen), list(sizes))
        raise InputError(plain.problem, file=file, line=problems.line((DEFAULT,)) if size is None else None,
                         value=chosen, remedy=plain.remedy)  # fmt: skip
    if chosen is not None:
        given = merge_tables(given, sizes[chosen])
        problems.lines = _moved(problems.lines, (SIZES, chosen))
    if encoders and isinstance(given.setdefault("encoders", {}), dict):
        given["encoders"] |= {name: _own_encoder(given["encoders"].get(name), encoders[name]) for name in encoders}
    return build(StudyTable, given, (), problems), problems, chosen


def _own_encoder(before: object, model: str | FilePath) -> dict[str, Any]:
    """The table of a user's own model: a folder from the current one on, or a hub name.

    What it takes over of the encoder before it are the languages and how it is trained, not where it came from.
    """
    kept = ("languages", "batch_size", "learning_rate")
    found = {key: value for key, value in before.items() if key in kept} if isinstance(before, dict) else {}
    folder = FilePath(model).expanduser()
    return found | {"model": str(folder.absolute()) if folder.is_dir() else str(model)}


def sizes_of(file: FilePath) -> list[str]:
    """The sizes that a study file has, in its order."""
    try:
        found = read_toml(file, called="study file")[0].get(SIZES, {})
    except InputError:
        return []  # Reading it tells.
    return list(found) if isinstance(found, dict) else []


def merge_tables(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Tables merged key by key; all else is taken from `over`.

    >>> merge_tables({"a": {"b": 1, "c": [1, 2]}, "d": 1}, {"a": {"c": [3]}, "e": 2})
    {'a': {'b': 1, 'c': [3]}, 'd': 1, 'e': 2}
    """
    found = dict(base)
    for key, value in over.items():
        before = found.get(key)
        found[key] = merge_tables(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return found


def _moved(lines: Mapping[Place, int], prefix: Place) -> dict[Place, int]:
    """The lines with those of a size in the place of what it overrides."""
    deep = len(prefix)
    own = {path[deep:]: line for path, line in lines.items() if path[:deep] == prefix and len(path) > deep}
    # A table that both have stands where it stood first; what is in it knows its own line.
    whole = {path: line for path, line in lines.items() if path[:1] != prefix[:1]}
    return {**whole, **{path: line for path, line in own.items() if path not in whole or not _table(path, own)}}


def _table(path: Place, lines: Mapping[Place, int]) -> bool:
    return any(other[: len(path)] == path and isinstance(other[len(path)], str) for other in lines
               if len(other) > len(path))  # fmt: skip
