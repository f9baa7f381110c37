"""What a run takes of the disk, by kind, and what of it no record needs."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from interlingua.engine.graph import Graph, StepState
from interlingua.engine.locks import holder, living_tokens
from interlingua.engine.step import Step
from interlingua.engine.workspace import HEAVY, PRUNED, Workspace


@dataclass(frozen=True)
class DiskUse:
    """What the finished steps of a kind take: bytes in all, and of them in `heavy` folders."""

    kind: str
    steps: int
    bytes: int
    heavy: int


@dataclass(frozen=True)
class RemovableFile:
    """Something that can go: where, of which kind, how large, and why."""

    path: Path
    kind: str
    bytes: int
    why: str


def usage(graph: Graph, workspace: Workspace) -> tuple[DiskUse, ...]:
    """What finished steps take, by kind, the largest first; steps that are no part of the run are called so."""
    found: dict[str, DiskUse] = {}
    for key in sorted(workspace.done()):
        kind = graph[key].kind if key in graph else "not in this run"
        before = found.get(kind, DiskUse(kind, 0, 0, 0))
        whole, heavy = size(workspace.step(key)), size(workspace.step(key) / HEAVY)
        found[kind] = DiskUse(kind, before.steps + 1, before.bytes + whole, before.heavy + heavy)
    return tuple(sorted(found.values(), key=lambda use: (-use.bytes, use.kind)))


def garbage(graph: Graph, workspace: Workspace) -> tuple[RemovableFile, ...]:
    """What no record of the run needs, in a fixed order.

    The `heavy` parts of steps whose dependants are all done; steps, states, logs and failures of earlier versions of
    the run. A step without dependants keeps all it has: it was asked for itself. What a living process is at stays.
    """
    states = graph.states(workspace)
    found = []
    for step in graph:
        after = graph.dependants(step.key)
        heavy = workspace.step(step.key) / HEAVY
        unasked = after and not graph.is_asked_whole(step)
        if unasked and heavy.is_dir() and all(states[one.key] is StepState.DONE for one in (step, *after)):
            found.append(RemovableFile(heavy, step.kind, size(heavy), f"all {len(after)} steps that need it are done"))
    for key in sorted(workspace.done()):
        if key not in graph:
            found.append(
                RemovableFile(
                    workspace.step(key), workspace.kind(key), size(workspace.step(key)), "no step of this run"
                )
            )
    for folder in ("work", "logs", "failed"):
        for entry in sorted(os.scandir(workspace.inner / folder), key=lambda entry: entry.name):
            key = entry.name.partition(".")[0]
            if key and key not in graph and not entry.name.endswith(".lock") and not _is_at(workspace, key):
                place = Path(entry.path)
                found.append(RemovableFile(place, folder, size(place), "of no step of this run"))
    return tuple(found)


def remove(waste: tuple[RemovableFile, ...], workspace: Workspace) -> int:
    """Remove what `garbage` found; the number of bytes. A step that loses its heavy part is marked first."""
    freed = 0
    for one in waste:
        if one.path.name == HEAVY:
            _drop_heavy(one.path, workspace)
        elif one.path.is_dir():
            workspace.drop(one.path)
        else:
            one.path.unlink(missing_ok=True)
        freed += one.bytes
    return freed


def prune(step: Step, workspace: Workspace) -> None:
    """Remove the heavy part of a finished step, if it has one."""
    heavy = workspace.step(step.key) / HEAVY
    if heavy.is_dir():
        _drop_heavy(heavy, workspace)


def prune_others(graph: Graph, workspace: Workspace) -> None:
    """Remove the heavy parts of finished steps that are not of this run, where no visible name holds them, too."""
    for key in workspace.done():
        heavy = workspace.step(key) / HEAVY
        if key not in graph and heavy.is_dir() and not _is_named(heavy):
            _drop_heavy(heavy, workspace)


def _is_named(folder: Path) -> bool:
    """Whether a file under a folder has another name beside it."""
    files = (os.path.join(below, name) for below, _, names in os.walk(folder) for name in names)
    return any(os.lstat(file).st_nlink > 1 for file in files)


def _drop_heavy(heavy: Path, workspace: Workspace) -> None:
    # Marked first: a kill in between costs a run of the step, not a dependant that finds half of it.
    (heavy.parent / PRUNED).touch()
    workspace.drop(heavy)


def size(place: Path) -> int:
    """The bytes of a file or of all files in a folder; 0 where it is not there."""
    if place.is_file():
        return place.stat().st_size
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _is_at(workspace: Workspace, key: str) -> bool:
    """Whether a living process is at a step."""
    held = holder(workspace.lock(key))
    return held is not None and not held.is_dead(workspace.lock(key))


def sweep(workspace: Workspace) -> None:
    """Remove what dead processes left: what they were making or removing, what finished steps need no more, and logs
    of no step.
    """
    living = living_tokens(workspace.work)
    for entry in os.scandir(workspace.work):
        key, _, token = entry.name.partition(".")
        place = Path(entry.path)
        if entry.name.endswith(".gone"):
            shutil.rmtree(place, ignore_errors=True)
        elif key and (maker := token.partition(".")[0]) not in ("state", "lock") and maker not in living:
            # The folder an attempt wrote into, or what it told its processes.
            shutil.rmtree(place, ignore_errors=True) if entry.is_dir() else place.unlink(missing_ok=True)
        elif key and token == "state" and workspace.is_whole(key):
            shutil.rmtree(place, ignore_errors=True)
        elif key and token == "lock" and workspace.is_whole(key) and not _is_at(workspace, key):
            place.unlink(missing_ok=True)  # Of who was killed when the step was done already.
    for log in (workspace.inner / "logs").glob(".*.log"):
        if log.stem.removeprefix(".") not in living:
            log.unlink(missing_ok=True)
