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

from interlingua.engine.atomic_files import NO_ROOM
from interlingua.engine.digests import stamp
from interlingua.engine.locks import owner
from interlingua.engine.process_group import ProcessGroup, SingleProcess
from interlingua.engine.process_setup import call_step, limit_threads
from interlingua.engine.serialization import canonical
from interlingua.engine.step import (
    ObjectCache,
    Progress,
    Resources,
    Step,
    StepContext,
    StepPaused,
)
from interlingua.engine.torchrun import Lost, launch
from interlingua.engine.workspace import MANIFEST, Failure, Workspace, file_sizes
from interlingua.errors import InputError, InterlinguaError, system_error

_COSTLY = 1.0  # seconds
DONE, FAILED, BLOCKED, PAUSED, BUSY, FULL = "done", "failed", "blocked", "paused", "busy", "full"


@dataclass(frozen=True)
class Job:
    """A step on its way to a process: all it takes to run it, as plain data; `after` are the jobs it waits for."""

    key: str
    kind: str
    label: str
    like: str
    run: str
    settings: Mapping[str, Any]
    manifest: str
    needs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    resources: Resources = field(default_factory=Resources)
    after: tuple[str, ...] = ()
    load: tuple[str, ...] = ()
    deadline: float | None = None
    """The `time.time()` after which it is not begun, and is asked to pause."""
    device: str | None = None
    cache: Path | None = None
    tensorboard: Path | None = None

    @classmethod
    def of(
        cls,
        step: Step,
        *,
        running: set[str] | frozenset[str] = frozenset(),
        deadline: float | None = None,
        device: str | None = None,
        cache: Path | None = None,
        tensorboard: Path | None = None,
    ) -> Job:
        """The job of a step; of what it needs, it waits for those that are `running` too."""
        needs = {role: need.key for role, need in step.needs.items()}
        settings, files = step.arguments()
        return cls(
            step.key,
            step.kind,
            step.shown,
            step.like,
            step.run,
            settings,
            step.manifest,
            needs,
            tuple((file.path, file.stamp) for file in files),
            step.resources,
            tuple(dict.fromkeys(key for key in needs.values() if key in running)),
            tuple(file.path for file in step.load),
            deadline,
            device,
            cache,
            tensorboard,
        )


@dataclass(frozen=True)
class Outcome:
    """What became of a job: done, failed, paused, blocked by one that is not done, busy elsewhere, or a full disk."""

    key: str
    status: str
    seconds: float = 0.0
    failure: Failure | None = None
    ran: bool = False
    """Whether the function ran here and now."""
    tainted: bool = False
    """Whether the process should take no other job: what failed in it may have left a device unusable."""
    error: BaseException | None = field(default=None, compare=False, repr=False)
    """What was raised; only in the process where it was."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "error": None}  # Not every error can be sent to another process.


def run_step(
    job: Job,
    workspace: Workspace,
    *,
    progress: Progress,
    objects: ObjectCache | None = None,
    group: ProcessGroup | None = None,
    captured: bool = True,
    late: bool = False,
) -> Outcome:
    """Run a job's function unless it is done, or another process is at it; its failure is an outcome, not an error.

    It is not begun after its deadline, unless `late`.

    Of several processes that run it together the first locks, writes and renames, and the others wait for its word;
    there a failure is raised, because those that did not fail cannot go on. Where the output is `captured`, all that
    this process prints meanwhile goes to the step's log.
    """
    group = group or SingleProcess()
    status, token = group.broadcast(lambda: _claim(job, workspace, late=late))
    if status:
        return Outcome(job.key, status)
    making = workspace.making(job.key, token)
    inputs = {role: workspace.step(key) for role, key in job.needs.items()}
    state = workspace.state(job.key)
    context = StepContext(
        job.key,
        inputs,
        making,
        state,
        progress,
        objects or ObjectCache(),
        group,
        job.deadline,
        job.device,
        job.cache,
        job.tensorboard,
    )
    try:
        return _attempt(job, workspace, context, token, captured)
    except BaseException:
        if group.is_first:
            shutil.rmtree(making, ignore_errors=True)
        raise
    finally:
        if group.is_first:
            owner(workspace.work).release(workspace.lock(job.key))


def _claim(job: Job, workspace: Workspace, *, late: bool) -> tuple[str, str]:
    """Lock a step; its status where it is not to be run here and now, and the token of who has the lock."""
    if workspace.is_whole(job.key):
        return DONE, ""
    if job.deadline is not None and time.time() >= job.deadline and not late:
        return PAUSED, ""
    own, lock = owner(workspace.work), workspace.lock(job.key)
    if not own.take(lock):
        return BUSY, ""
    if workspace.is_whole(job.key):  # It was finished between our look and our lock.
        own.release(lock)
        return DONE, ""
    return "", own.token


def _attempt(job: Job, workspace: Workspace, context: StepContext, token: str, captured: bool) -> Outcome:
    began = time.monotonic()
    group, making = context.group, context.out
    try:
        group.broadcast(making.mkdir)
        _call(job, workspace, context, token, captured)
        group.barrier()  # The folder gets its name when none of them writes into it any more.
        seconds = time.monotonic() - began
        group.broadcast(lambda: _finish(job, workspace, making, seconds))
        return Outcome(job.key, DONE, seconds, ran=True)
    except StepPaused:
        if group.is_first:
            shutil.rmtree(making, ignore_errors=True)
        return Outcome(job.key, PAUSED, time.monotonic() - began, ran=True)
    except (Exception, SystemExit) as error:
        if group.is_first:
            shutil.rmtree(making, ignore_errors=True)
        full = _no_room(error)
        failure = Failure(job.key, job.kind, job.label, _told(error), workspace.read_log(job.key))
        if group.is_first and not full and not isinstance(error, Lost):
            workspace.keep_failure(failure)
        if group.size > 1:
            raise
        if full:
            return Outcome(job.key, FULL, error=error)
        tainted = not isinstance(error, InterlinguaError)
        return Outcome(job.key, FAILED, time.monotonic() - began, failure, ran=True, tainted=tainted, error=error)


def _call(job: Job, workspace: Workspace, context: StepContext, token: str, captured: bool) -> None:
    with _logged(workspace, job.key, token) if captured else _traced(workspace, job.key, context.group):
        for path, before in job.files:
            if not Path(path).exists() or (before and stamp(Path(path)) != before):
                raise InputError(
                    "changed since the run was planned", file=path, remedy="Run again: what depends on it is new."
                )
        limit_threads(job.resources.cpus)
        if job.resources.processes > 1 and context.group.size == 1:
            launch(job, context)
        else:
            call_step(job.run, job.settings, job.load, context)


def _finish(job: Job, workspace: Workspace, making: Path, seconds: float) -> None:
    """Rename the folder into place, with a manifest of the size of every file.

    What took long to make is flushed to the disk before it gets its name. What did not is left to the system, because
    flushing it would take longer than making it: after a power cut, `Workspace.broken` finds it by its sizes. A kill
    loses nothing of either.
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
    process dies, the owner of the step's lock shows which file has its last output.
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
    except (Exception, SystemExit) as error:
        if not isinstance(error, InterlinguaError):
            traceback.print_exc()
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for kept, number in zip(before, (1, 2), strict=True):
            os.dup2(kept, number)
            os.close(kept)
        if os.fstat(file).st_size:
            os.replace(log, workspace.log(key))
        else:
            workspace.log(key).unlink(missing_ok=True)  # Of an attempt that failed.
        os.close(file)


@contextmanager
def _traced(workspace: Workspace, key: str, group: ProcessGroup) -> Iterator[None]:
    """Let this process print where it prints; while a step fails, its log says how it came to that."""
    try:
        yield
        if group.is_first:
            workspace.log(key).unlink(missing_ok=True)
    except (Exception, SystemExit) as error:
        if group.is_first and not isinstance(error, InterlinguaError):
            workspace.log(key).write_text(traceback.format_exc(), "utf-8", "backslashreplace")
        raise


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
        if found is not None and found.errno in NO_ROOM:
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False
