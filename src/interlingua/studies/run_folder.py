"""Whose folder is it? A run goes on in its own, begins in an empty one, touches no other, and is alone in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from interlingua.engine.atomic_files import reading_back, told_when_full
from interlingua.engine.locks import Owner, holder, living_tokens
from interlingua.engine.workspace import INNER
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.training.processes import is_first_process

STATE = ".training"
"""The folder inside a run's where training keeps its state."""

RUNNING = ".running"
"""The folder inside a run's where the process that is at it has its lock."""

_LEFT = {
    "adjust": ("adjustment.json",),
}
"""What runs of commands leave that write no `run.json`."""


@contextmanager
def alone_in(out: Path | None, kind: str) -> Iterator[None]:
    """Be the one process that runs in a folder: a second one is refused, the lock of a dead one is taken over.

    Of several processes that train together the first speaks for all. Nothing is left behind of the lock, nor of a
    folder in which nothing was written, nor of a new one where bad input ended the run before its first result. Where
    no lock can be made (a folder that is only read, a file system without hard links) the run goes on without one.
    """
    if out is None or not is_first_process():
        yield
        return
    check_kind(out, kind)
    begun = out.is_dir() and any(entry.name != RUNNING for entry in out.iterdir())
    made = [place for place in (out, *out.parents) if not place.exists()]
    own, lock = _owner(out / RUNNING), out / RUNNING / "lock"
    try:
        if own is not None and not _taken(own, lock):
            raise InputError(
                f"another run is at work in this folder ({holder(lock) or 'a process that has just ended'})",
                file=out,
                remedy="Wait for it to end, or name another --out.",
            )
        with told_when_full(out), reading_back(out) if begun else nullcontext():
            yield
    except InputError:
        if out in made:
            _remove_begun(out)
        raise
    finally:
        if own is not None:
            own.release(lock)
            own.leave()
            with suppress(OSError):  # Not empty: another process is there, or a run is.
                living_tokens(lock.parent)
                lock.parent.rmdir()
                for place in made:
                    place.rmdir()


def _remove_begun(out: Path) -> None:
    """Remove what a run leaves that came to nothing: links, empty folders, and word of itself; all or nothing."""
    entries = [entry for entry in out.iterdir() if entry.name != RUNNING] if out.is_dir() else []
    if all(_begun(entry) or entry.name == "run.json" for entry in entries):
        for entry in entries:
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _owner(place: Path) -> Owner | None:
    for _ in range(3):
        try:
            place.mkdir(parents=True, exist_ok=True)
            return Owner(place)
        except FileNotFoundError:  # Removed by who has just left it.
            continue
        except OSError:
            break
    with suppress(OSError):  # Not empty: another process is there.
        place.rmdir()
    return None


def _taken(own: Owner, lock: Path) -> bool:
    try:
        return own.take(lock)
    except InputError:  # no hard links here
        return True


def check_folder(
    out: Path,
    *,
    kind: str,
    same: Mapping[str, Any] | None = None,
    about: Sequence[str] = ("run.json",),
    differing: str | None = None,
) -> None:
    """Refuse a folder that is neither this run's nor empty, before anything in it is touched.

    `kind` is the command that asks. `about` are the files in which a run says what it is: each that is there must have
    the values of `same`. `differing` says in words what it means that they differ; by default it is their names.
    """
    check_kind(out, kind)
    told = [told_by(out / name) for name in about if (out / name).is_file()]
    for before in told:
        other = ", ".join(name for name, value in (same or {}).items() if before.get(name) != value)
        if other:
            raise InputError(
                f"the folder holds another run (its {differing or f'{other} differ'})",
                file=out,
                remedy="Name another --out, or remove that folder.",
            )
    if not told and out.is_dir() and any(not _begun(entry) for entry in out.iterdir()):
        raise InputError("the folder holds files that are no run of ours", file=out, remedy="Name another --out.")


def check_kind(out: Path, kind: str) -> None:
    """Refuse a file, and a folder with a run of another command than `kind`."""
    if out.exists() and not out.is_dir():
        raise InputError("--out is a file", value=str(out), remedy="Name a folder.")
    there = kind_of(out)
    if there not in (None, kind):
        raise InputError(
            f"the folder holds another run, one of interlingua {there}",
            file=out,
            remedy=f"Name another --out for this {kind}, or remove that folder.",
        )


def kind_of(folder: Path) -> str | None:
    """The command whose run a folder holds, finished or not; None where it is no run's, or can't be told."""
    told = [name for name in ("run.json", f"{STATE}/run.json", f"{INNER}/run.json") if (folder / name).is_file()]
    if told:
        kind = told_by(folder / told[0]).get("kind")
        return kind if isinstance(kind, str) else None
    return next((kind for kind, left in _LEFT.items() if all(any(folder.glob(name)) for name in left)), None)


def told_by(file: Path) -> dict[str, Any]:
    """What a run wrote about itself."""
    try:
        found = read_json(file)
    except ValueError as error:
        raise InputError("not the settings of a run", file=file, remedy="Name another --out.") from error
    return found if isinstance(found, dict) else {}


def told_before(folder: Path) -> dict[str, Any]:
    """What the last session of a run wrote about it; empty where there was none."""
    file = folder / "run.json"
    return told_by(file) if file.is_file() else {}


def seconds_of(before: Mapping[str, Any], own: float | None) -> float | None:
    """How long a run took in all its sessions, the last one's `own` seconds included; None where that is not known.

    `before` is what the folder told before this session. A session that was killed told nothing of its time.

    >>> seconds_of({}, 2.0), seconds_of({"seconds": 60.0}, 2.0), seconds_of({"seconds": 60.0}, None)
    (2.0, 62.0, 60.0)
    >>> seconds_of({"kind": "transfer"}, 2.0) is None
    True
    """
    told: float | None = before.get("seconds") if before else 0.0
    return told if told is None or own is None else round(told + own, 3)


def _begun(entry: Path) -> bool:
    """Whether a run killed before its first file was whole leaves this: nothing that could be lost."""
    if entry.name == STATE:
        return all(inner.name.startswith((".", "links")) for inner in entry.iterdir())
    return (
        entry.name == RUNNING
        or entry.name.startswith(".run.json.")
        or (entry.name == "items" and not any(entry.iterdir()))
    )
