"""One step, done in this process: locked, run into a folder of its own, and renamed into place when it is whole."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlingua.engine.digests import stamp
from interlingua.engine.locks import owner
from interlingua.engine.process_setup import limit_threads, load_once
from interlingua.engine.step import Progress, Resources, Step, Work, canonical, resolve
from interlingua.engine.torchrun import Lost, launch
from interlingua.engine.workspace import MANIFEST, Failure, Workspace, file_sizes
from interlingua.errors import InputError, InterlinguaError, system_error

_COSTLY = 1.0  # seconds
DONE, FAILED, BLOCKED, BUSY, FULL = "done", "failed", "blocked", "busy", "full"


@dataclass(frozen=True)
class Job:
    """A step on its way to a process: all it takes to run it, as plain data; `after` are the jobs it waits for."""

    key: str
    kind: str
    label: str
    like: str
    function: str
    arguments: Mapping[str, Any]
    manifest: str
    needs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    resources: Resources = field(default_factory=Resources)
    after: tuple[str, ...] = ()
    load: tuple[str, ...] = ()

    @classmethod
    def of(cls, step: Step, *, running: set[str] | frozenset[str] = frozenset()) -> Job:
        """The job of a step; of what it needs, it waits for those that are `running` too."""
        needs = {role: need.key for role, need in step.needs.items()}
        arguments, files = step.arguments()
        return cls(
            step.key,
            step.kind,
            step.shown,
            step.like,
            step.function,
            arguments,
            step.manifest,
            needs,
            tuple((file.path, file.stamp) for file in files),
            step.resources,
            tuple(dict.fromkeys(key for key in needs.values() if key in running)),
            tuple(file.path for file in step.load),
        )


@dataclass(frozen=True)
class Outcome:
    """What became of a job: done, failed, blocked by one that failed, busy elsewhere, or the disk was full."""

    key: str
    status: str
    seconds: float = 0.0
    failure: Failure | None = None
    ran: bool = False
    """Whether the function ran here and now."""
    tainted: bool = False
    """Whether the process should take no other job: what failed in it may have left a device unusable."""


def run_step(job: Job, workspace: Workspace, *, progress: Progress, gpus: int = 0) -> Outcome:
    """Run a job's function unless it is done, or another process is at it; its failure is an outcome, not an error."""
    if workspace.is_whole(job.key):
        return Outcome(job.key, DONE)
    own, lock = owner(workspace.work), workspace.lock(job.key)
    if not own.take(lock):
        return Outcome(job.key, BUSY)
    try:
        if workspace.is_whole(job.key):  # It was finished between our look and our lock.
            return Outcome(job.key, DONE)
        return _attempt(job, workspace, own.token, progress, gpus)
    finally:
        own.release(lock)


def _attempt(job: Job, workspace: Workspace, token: str, progress: Progress, gpus: int) -> Outcome:
    began = time.monotonic()
    making = workspace.making(job.key, token)
    try:
        making.mkdir()
        _run(job, workspace, making, Work(job.key, workspace.state(job.key), progress, gpus), token)
        seconds = time.monotonic() - began
        _finish(job, workspace, making, seconds)
        return Outcome(job.key, DONE, seconds, ran=True)
    except (Exception, SystemExit) as error:
        shutil.rmtree(making, ignore_errors=True)
        if _no_room(error):
            return Outcome(job.key, FULL)
        failure = Failure(job.key, job.kind, job.label, _told(error), workspace.read_log(job.key))
        if not isinstance(error, Lost):
            workspace.keep_failure(failure)
        tainted = not isinstance(error, InterlinguaError)
        return Outcome(job.key, FAILED, time.monotonic() - began, failure, ran=True, tainted=tainted)


def _run(job: Job, workspace: Workspace, making: Path, work: Work, token: str) -> None:
    inputs = {role: workspace.step(key) for role, key in job.needs.items()}
    with _logged(workspace, job.key, token):
        try:
            for path, before in job.files:
                if not Path(path).exists() or (before and stamp(Path(path)) != before):
                    raise InputError(
                        "changed since the study was planned", file=path, remedy="Run again: what depends on it is new."
                    )
            limit_threads(job.resources.cpus)
            if job.resources.processes > 1:
                launch(job, inputs, making, work)
            else:
                if job.load:
                    load_once(job.load)
                resolve(job.function)(job.arguments, inputs, making, work)
        except (Exception, SystemExit) as error:
            if not isinstance(error, InterlinguaError):
                traceback.print_exc()
            raise


def _finish(job: Job, workspace: Workspace, making: Path, seconds: float) -> None:
    """Rename the folder into place, with a manifest that tells the size of every file.

    What took long to make is flushed to the disk before it gets its name. What did not is left to the system, because
    flushing it would take longer than making it: after a power cut, `Workspace.broken` finds it by its sizes. A kill loses
    nothing of either.
    """
    sizes = file_sizes(making)
    file = os.open(f"{making}/{MANIFEST}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        os.write(file, f'{job.manifest[:-1]},"files":{canonical(sizes)}}}\n'.encode("utf-8", "backslashreplace"))
    finally:
        os.close(file)
    for name in (*sizes, MANIFEST) if seconds > _COSTLY else ():
        _sync(making / name)
    place = workspace.step(job.key)
    if workspace.is_pruned(job.key):
        workspace.drop(place)
    try:
        os.rename(making, place)
    except OSError as error:
        # Another process, of a machine that thought us dead, was first: one result, and it is theirs.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not place.is_dir():
            raise
        shutil.rmtree(making, ignore_errors=True)
    if (state := workspace.state(job.key)).exists():
        shutil.rmtree(state, ignore_errors=True)
    with suppress(FileNotFoundError):
        os.unlink(workspace.failure(job.key))


def _sync(path: Path) -> None:
    place = os.open(path, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


@contextmanager
def _logged(workspace: Workspace, key: str, token: str) -> Iterator[None]:
    """Send all that this process and its children print to a file, which gets the step's name where there is any.

    The file is made before the step and stays for the next where it is empty: most steps print nothing. Where the
    process dies, who has the step's lock tells which file has its last words.
    """
    log = workspace.log(f".{token}")
    sys.stdout.flush()
    sys.stderr.flush()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    before = os.dup(1), os.dup(2)
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for kept, number in zip(before, (1, 2), strict=True):
            os.dup2(kept, number)
            os.close(kept)
        if os.fstat(file).st_size:
            os.replace(log, workspace.log(key))
        os.close(file)


def _told(error: BaseException) -> str:
    if isinstance(error, InterlinguaError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"the library {error.name} is not installed where this step ran. Run: pip install {error.name}"
    return f"{type(error).__name__}: {error}".strip().splitlines()[0]


def _no_room(error: BaseException | None) -> bool:
    """Whether a full disk is at the bottom of an error: no step can go on then, and none has failed."""
    while error is not None:
        found = system_error(error)
        if found is not None and found.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False
