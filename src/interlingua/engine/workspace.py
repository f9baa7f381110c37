"""`Home`: the folder of a study: what its steps made, what they are at, what failed, and how long each took."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua.engine.atomic_files import write_beside
from interlingua.engine.locks import holder
from interlingua.paths import json_value, read_json

MANIFEST = "step.json"
HEAVY = "heavy"
LIGHTENED = ".lightened"


@dataclass(frozen=True)
class Failure:
    """A step that failed: which, why in one line, and the end of what it printed."""

    key: str
    kind: str
    label: str
    message: str
    log: str = ""


@dataclass(frozen=True)
class Home:
    """The folders and files of a study.

    `steps/<key>` is what a finished step left: its presence is "done". `work/` has what is being made, and the state
    that lets a killed step go on; `logs/` what steps printed; `failed/` why they failed; `times.jsonl` how long
    they took, apart from records, which are the same to the byte at every run.
    """

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder).absolute())

    @cached_property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def times(self) -> Path:
        return self.folder / "times.jsonl"

    @property
    def digests(self) -> Path:
        return self.folder / "digests.json"

    @property
    def revisions(self) -> Path:
        return self.folder / "revisions.json"

    def make(self) -> None:
        for name in ("steps", "work", "logs", "failed"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    # Joined as text: joining paths with `/` took a third of the time of a small step.
    def step(self, key: str) -> Path:
        return Path(f"{self.folder}/steps/{key}")

    def state(self, key: str) -> Path:
        return Path(f"{self.folder}/work/{key}.state")

    def lock(self, key: str) -> Path:
        return Path(f"{self.folder}/work/{key}.lock")

    def making(self, key: str, token: str) -> Path:
        """Where an attempt writes; each has its own, so that two by mistake can't mix their files."""
        return Path(f"{self.folder}/work/{key}.{token}")

    def log(self, key: str) -> Path:
        return Path(f"{self.folder}/logs/{key}.log")

    def failure(self, key: str) -> Path:
        return Path(f"{self.folder}/failed/{key}.json")

    def is_done(self, key: str) -> bool:
        return os.path.isdir(f"{self.folder}/steps/{key}")

    def is_whole(self, key: str) -> bool:
        """Whether a step is done and has its heavy part, if it had one."""
        return self.is_done(key) and not self.is_lightened(key)

    def is_lightened(self, key: str) -> bool:
        return os.path.exists(f"{self.folder}/steps/{key}/{LIGHTENED}")

    def done(self) -> set[str]:
        """The keys of all finished steps, by one look at the folder."""
        return set(_names(self.folder / "steps"))

    def broken(self, keys: Iterable[str]) -> list[str]:
        """Those of the finished steps that are not as they were left: a power cut, or a hand, was at their files."""
        return [key for key in keys if not _is_as_left(self.step(key))]

    def lightened(self, keys: set[str]) -> set[str]:
        """Those of the finished steps whose heavy part was removed."""
        return {key for key in keys if self.is_lightened(key)}

    def failures(self) -> dict[str, Failure]:
        """Why steps failed, by key; one that can't be read is no failure any more."""
        found = {}
        for name in _names(self.folder / "failed"):
            try:
                told = read_json(self.folder / "failed" / name)
                found[told["key"]] = Failure(**told)
            except (OSError, ValueError, TypeError, KeyError):
                continue
        return found

    def keep_failure(self, failure: Failure) -> None:
        write_beside(self.failure(failure.key), lambda file: file.write(json.dumps(asdict(failure)).encode()))

    def log_tail(self, key: str, *, lines: int = 20, most: int = 4000) -> str:
        """The end of what a step printed."""
        try:
            with self.log(key).open("rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - most, 0))
                return "\n".join(file.read().decode("utf-8", "replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""

    def last_words(self, key: str) -> str:
        """The end of what a step printed whose process died; the file it wrote gets the step's name."""
        held = holder(self.lock(key))
        if held is not None:
            with suppress(FileNotFoundError):
                os.replace(self.log(f".{held.token}"), self.log(key))
        return self.log_tail(key)

    def keep_times(self, told: Sequence[Mapping[str, Any]]) -> None:
        """Append lines in one write, so that two runs can share the file."""
        lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in told).encode("utf-8", "backslashreplace")
        place = os.open(self.times, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(place, lines)
        finally:
            os.close(place)

    def measured(self) -> Iterator[dict[str, Any]]:
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
            return str(json_value((self.step(key) / MANIFEST).read_text("utf-8"))["kind"])
        except (OSError, ValueError, KeyError):
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
            elif folder or entry.name not in (MANIFEST, LIGHTENED):
                found[f"{folder}{entry.name}"] = entry.stat().st_size
    return found


def _is_as_left(place: Path) -> bool:
    try:
        told = read_json(place / MANIFEST)["files"]
        if (found := file_sizes(place)) == told:
            return True
        # Without its heavy part it is whole, too.
        rest = {name: size for name, size in told.items() if not name.startswith(f"{HEAVY}/")}
        return (place / LIGHTENED).exists() and {name: found.get(name) for name in rest} == rest
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _names(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
