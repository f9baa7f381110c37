"""`Workspace`: the folder of a run: for people what was found, in `.interlingua` what its steps made and are at."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua.engine.atomic_files import cannot_write, link_or_copy, write_atomically
from interlingua.engine.locks import Owner, holder, living_tokens
from interlingua.engine.step import step_kind
from interlingua.errors import InputError, InterlinguaError
from interlingua.paths import json_value, read_json

MANIFEST = "step.json"
HEAVY = "heavy"
PRUNED = ".pruned"
INNER = ".interlingua"
_LAYOUT = 1
_FIRST_LAYOUT = ("steps", "work", "logs")  # where versions before 0.1.0 had what is in `.interlingua` now


@dataclass(frozen=True)
class Failure:
    """A step that failed: which, why in one line, and the end of what it printed."""

    key: str
    kind: str
    label: str
    message: str
    log: str = ""


@dataclass(frozen=True)
class Workspace:
    """The folders and files of a run.

    Visible are `run.json`, `records/`, `items/`, tables and pages. The engine's are in `.interlingua/`:
    `steps/<key>` is what a finished step left, and its presence is "done"; `work/` has what is being made, and the
    state that lets a killed step go on; `logs/` what steps printed; `failed/` why they failed; `times.jsonl` how long
    they took, apart from records, which are the same to the byte at every run.
    """

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder).absolute())

    @cached_property
    def inner(self) -> Path:
        return self.folder / INNER

    @cached_property
    def work(self) -> Path:
        return self.inner / "work"

    @property
    def times(self) -> Path:
        return self.inner / "times.jsonl"

    @property
    def digests(self) -> Path:
        return self.inner / "digests.json"

    @contextmanager
    def acquire(
        self,
        kind: str,
        identity: Mapping[str, str],
        *,
        shared: bool = False,
        lasting: Callable[[str], bool] | None = None,
    ) -> Iterator[None]:
        """Make this folder the run's, or go on in it if it is; inside, no other process may.

        `kind` and `identity` say whose the folder is: equal ones go on in it, any other is an `InputError` that leaves
        everything as it was. With `shared`, several processes may run in it at once: steps are locked one by one. A
        new folder in which no step was finished or left a state, and nobody else is at work, is removed again when an
        `InterlinguaError` ends the run; `lasting` says by key which steps count, None: all.
        """
        self.check(kind, identity)
        # Files of the settings may be in it before the run.
        fresh = not self.folder.exists() or (self.inner.is_dir() and not (self.inner / "run.json").is_file())
        try:
            self.make()
            about = {"layout": _LAYOUT, "kind": kind, "identity": dict(identity)}
            if not (self.inner / "run.json").is_file():
                write_atomically(self.inner / "run.json", lambda file: file.write(json.dumps(about).encode()))
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        try:
            with nullcontext() if shared else self._alone():
                yield
        except InterlinguaError:
            states = {path.parent.name.removesuffix(".state") for path in self.work.glob("*.state/*")}
            begun = any(lasting is None or lasting(key) for key in self.done() | states)
            if fresh and not begun and not living_tokens(self.work):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        own, lock = Owner(self.work), self.work / ".run.lock"
        try:
            if not own.take(lock):
                raise InputError(
                    f"another run is at work in this folder ({holder(lock) or 'a process that has just ended'})",
                    file=self.folder,
                    remedy="Wait for it to end, or name another --out.",
                )
            yield
        finally:
            own.release(lock)
            own.leave()

    def check(self, kind: str, identity: Mapping[str, str]) -> None:
        """Refuse a folder that is neither this run's nor empty; nothing is written."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("--out is a file", value=str(self.folder), remedy="Name a folder.")
        about = _told(self.inner / "run.json")
        before = about.get("kind") or _told(self.folder / "run.json").get("kind")
        if before is not None and before != kind:
            raise InputError(
                f"the folder holds another run, one of interlingua {before}",
                file=self.folder,
                remedy=f"Name another --out for this {kind}, or remove that folder.",
            )
        if about:
            if about.get("layout") != _LAYOUT:
                raise InputError(
                    "the folder was made by a later version of interlingua",
                    file=self.folder,
                    remedy="Use that version, or name another --out.",
                )
            told = about.get("identity")
            theirs = told if isinstance(told, dict) else {}
            other = [name for name in {**theirs, **identity} if theirs.get(name) != identity.get(name)]
            if other:
                changes = [
                    f"{name} {theirs[name]} → {identity[name]}"
                    for name in other
                    if name in theirs and name in identity and not _is_digest(str(theirs[name]) + identity[name])
                ]
                raise InputError(
                    f"the folder holds another run (its {', '.join(other)} differ{'s' * (len(other) == 1)}"
                    f"{': ' if changes else ''}{'; '.join(changes)})",
                    file=self.folder,
                    remedy="Name another --out, or remove that folder.",
                )
        elif before is not None or all((self.folder / name).is_dir() for name in _FIRST_LAYOUT):
            raise InputError(
                "the folder was made by a development version of interlingua before 0.1.0, which alone reads it",
                file=self.folder,
                remedy="Name another --out, or remove that folder.",
            )
        elif self.folder.is_dir() and any(entry.name != INNER for entry in os.scandir(self.folder)):
            raise InputError(
                "the folder holds files that are no run of ours", file=self.folder, remedy="Name another --out."
            )

    def make(self) -> None:
        for name in ("steps", "work", "logs", "failed"):
            (self.inner / name).mkdir(parents=True, exist_ok=True)
        self.times.touch()

    def export(self, key: str, name: str, to: str) -> None:
        """Give a file or folder of a finished step a visible name too: hard links, or copies where there are none."""
        place = self.folder / to
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(self.step(key) / name, place)
        except OSError as error:
            raise cannot_write(self.folder, error) from error

    def adopt(self, other: Workspace, keys: Iterable[str]) -> int:
        """Take over the finished steps of another run's folder: hard links, or copies; how many there were."""
        found = 0
        for key in keys:
            if not self.is_done(key) and other.is_done(key) and _is_as_left(other.step(key)):
                try:
                    link_or_copy(other.step(key), self.step(key))
                except OSError as error:
                    raise cannot_write(self.folder, error) from error
                found += 1
        return found

    @cached_property
    def _inner(self) -> str:
        # Joined as text: joining paths with `/` took a third of the time of a small step.
        return f"{self.folder}/{INNER}"

    def step(self, key: str) -> Path:
        return Path(f"{self._inner}/steps/{key}")

    def state(self, key: str) -> Path:
        return Path(f"{self._inner}/work/{key}.state")

    def lock(self, key: str) -> Path:
        return Path(f"{self._inner}/work/{key}.lock")

    def making(self, key: str, token: str) -> Path:
        """Where an attempt writes; each has its own, so that two by mistake can't mix their files."""
        return Path(f"{self._inner}/work/{key}.{token}")

    def log(self, key: str) -> Path:
        return Path(f"{self._inner}/logs/{key}.log")

    def failure(self, key: str) -> Path:
        return Path(f"{self._inner}/failed/{key}.json")

    def is_done(self, key: str) -> bool:
        return os.path.isdir(f"{self._inner}/steps/{key}")

    def is_whole(self, key: str) -> bool:
        """Whether a step is done and has its heavy part, if it had one."""
        return self.is_done(key) and not self.is_pruned(key)

    def is_pruned(self, key: str) -> bool:
        return os.path.exists(f"{self._inner}/steps/{key}/{PRUNED}")

    def done(self) -> set[str]:
        """The keys of all finished steps, by one look at the folder."""
        return set(_names(self.inner / "steps"))

    def broken(self, keys: Iterable[str]) -> list[str]:
        """Those of the finished steps that are not as they were left: a power cut, or a hand, was at their files."""
        return [key for key in keys if not _is_as_left(self.step(key))]

    def pruned(self, keys: set[str]) -> set[str]:
        """Those of the finished steps whose heavy part was removed."""
        return {key for key in keys if self.is_pruned(key)}

    def failures(self) -> dict[str, Failure]:
        """Why steps failed, by key; one that can't be read is no failure any more."""
        found = {}
        for name in _names(self.inner / "failed"):
            try:
                told = read_json(self.inner / "failed" / name)
                found[told["key"]] = Failure(**told)
            except (OSError, ValueError, TypeError, KeyError):
                continue
        return found

    def failure_since(self, key: str, since: float) -> Failure | None:
        """Why a step failed in another run after a time; None where it did not."""
        try:
            if self.failure(key).stat().st_mtime < since:
                return None
        except FileNotFoundError:
            return None
        return self.failures().get(key)

    def keep_failure(self, failure: Failure) -> None:
        write_atomically(self.failure(failure.key), lambda file: file.write(json.dumps(asdict(failure)).encode()))

    def read_log(self, key: str, *, lines: int = 20, most: int = 4000) -> str:
        """The end of what a step printed."""
        try:
            with self.log(key).open("rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - most, 0))
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""

    def read_last_words(self, key: str) -> str:
        """The end of what a step printed whose process died; the file it wrote gets the step's name."""
        held = holder(self.lock(key))
        if held is not None:
            with suppress(FileNotFoundError):
                os.replace(self.log(f".{held.token}"), self.log(key))
        return self.read_log(key)

    def keep_times(self, told: Sequence[Mapping[str, Any]]) -> None:
        """Append lines in one write, so that two runs can share the file."""
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in told).encode("utf-8", "backslashreplace")
        place = os.open(self.times, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(place, lines)
        finally:
            os.close(place)

    def read_times(self) -> Iterator[dict[str, Any]]:
        """The times of steps, oldest first; a line cut by a kill is passed over."""
        try:
            text = self.times.read_text("utf-8", errors="replace")
        except OSError:
            return
        for line in text.splitlines():
            try:
                told = json_value(line)
                yield {"key": str(told["key"]), "kind": str(told["kind"]), "like": str(told["like"]),
                       "seconds": float(told["seconds"])}  # fmt: skip
            except (ValueError, TypeError, KeyError):
                continue

    def kind(self, key: str) -> str:
        """The kind of a finished step, as its manifest says; "unknown" where there is none."""
        try:
            return step_kind(json_value((self.step(key) / MANIFEST).read_text("utf-8"))["run"])
        except (OSError, ValueError, KeyError, AttributeError):
            return "unknown"

    def drop(self, place: Path) -> None:
        """Remove a folder that may be in use by nobody: renamed first, so that no half of it is taken for the whole."""
        gone = self.work / f".{place.name}.{os.getpid()}.gone"
        try:
            os.rename(place, gone)
        except FileNotFoundError:
            return
        shutil.rmtree(gone, ignore_errors=True)


def file_sizes(place: Path) -> dict[str, int]:
    """The size of every file under a folder, by its path there, without those that are ours."""
    found: dict[str, int] = {}
    below = [""]
    while below:
        folder = below.pop()
        for entry in os.scandir(f"{place}/{folder}"):
            if entry.is_dir(follow_symlinks=False):
                below.append(f"{folder}{entry.name}/")
            elif folder or entry.name not in (MANIFEST, PRUNED):
                found[f"{folder}{entry.name}"] = entry.stat().st_size
    return found


def _is_as_left(place: Path) -> bool:
    try:
        told = read_json(place / MANIFEST)["files"]
        if (found := file_sizes(place)) == told:
            return True
        # Without its heavy part it is whole, too.
        rest = {name: size for name, size in told.items() if not name.startswith(f"{HEAVY}/")}
        return (place / PRUNED).exists() and {name: found.get(name) for name in rest} == rest
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_digest(text: str) -> bool:
    """Whether a value says nothing to a person: a digest, or a list too long to be read."""
    return len(text) > 80 or re.search("[0-9a-f]{24}", text) is not None


def _told(file: Path) -> dict[str, Any]:
    """What a run wrote about itself; nothing where it did not."""
    try:
        found = read_json(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise InputError("not what a run says of itself", file=file, remedy="Name another --out.") from error
    return found if isinstance(found, dict) else {}


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
