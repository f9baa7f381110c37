"""Steps in this process, one after another: no start of a worker, and what one step loaded the next can use."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

from interlingua.engine.executors import Options, Tell, executors
from interlingua.engine.locks import release_locks
from interlingua.engine.process_setup import free_device_memory, threads_restored
from interlingua.engine.step import ObjectCache
from interlingua.engine.step_runner import BLOCKED, BUSY, DONE, FAILED, FULL, Job, Outcome, run_step
from interlingua.engine.workspace import Workspace

_LOOK = 0.2  # seconds until a step that another run is at is looked at again


@executors.register("inline")
def inline(jobs: Sequence[Job], workspace: Workspace, options: Options, tell: Tell) -> Iterator[Outcome]:
    """This process, one step after another; under torchrun all its processes together.

    The first step is begun however little time there is: every run comes a little further.
    """
    objects = ObjectCache()
    undone: set[str] = set()
    begun = False
    with threads_restored():
        try:
            for job in jobs:
                if undone & set(job.after):
                    outcome = Outcome(job.key, BLOCKED)
                else:
                    tell("started", job.key, ("", 0, 0))
                    outcome = _outcome(job, workspace, options, tell, objects, late=not begun)
                    begun = begun or outcome.ran
                if outcome.status != DONE:
                    undone.add(job.key)
                yield outcome
        finally:
            if options.group.is_first:
                release_locks(workspace.work)


def _outcome(
    job: Job, workspace: Workspace, options: Options, tell: Tell, objects: ObjectCache, *, late: bool
) -> Outcome:
    """What becomes of a job after as many tries as it gets; one that another run is at is waited for."""
    began, attempts, told = time.time(), options.attempts, False

    def progress(stage: str, done: int, total: int) -> None:
        tell("progress", job.key, (stage, done, total))

    run = partial(
        run_step, job, workspace, progress=progress, objects=objects, group=options.group, captured=False, late=late
    )
    while True:
        outcome = run()
        if outcome.status in (FAILED, FULL):
            objects.clear()
        free_device_memory()
        if outcome.status == FAILED and attempts > 1:
            attempts -= 1
        elif outcome.status != BUSY:
            return outcome
        else:
            if not told:
                tell("elsewhere", job.key, ("", 0, 0))
                told = True
            if (failure := workspace.failure_since(job.key, began)) is not None:
                return Outcome(job.key, FAILED, failure=failure)
            time.sleep(_LOOK)
