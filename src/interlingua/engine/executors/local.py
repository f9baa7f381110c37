"""Steps on this machine: worker processes that are kept, CPUs, memory and GPU ids handed out."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from interlingua.engine import child_processes
from interlingua.engine.executors import Options, Tell, executors
from interlingua.engine.executors.ready_queue import ReadyQueue
from interlingua.engine.machine import Allocation, Machine, this_machine
from interlingua.engine.step_runner import BUSY, FAILED, Job, Outcome
from interlingua.engine.workspace import Failure, Workspace

_LOOK = 0.2  # seconds until a step that another run is at is looked at again
_PATIENCE = 5.0
_FROM_OUTSIDE = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""Signals that no step gives itself: the system's lack of memory, a scheduler, a hand."""


@executors.register("local")
def local(jobs: Sequence[Job], workspace: Workspace, options: Options, tell: Tell) -> Iterator[Outcome]:
    """Worker processes of this machine, as many at a time as CPUs, memory and GPUs allow."""
    machine = this_machine(options, any(job.resources.gpus for job in jobs))
    pool = WorkerPool(workspace, machine)
    queue = ReadyQueue(jobs, attempts=options.attempts)
    began = time.time()
    try:
        while not queue.is_over():
            for key in queue.due(time.monotonic()):
                if (failure := workspace.failure_since(key, began)) is not None:
                    yield from queue.settle(Outcome(key, FAILED, failure=failure))
                else:
                    queue.offer(key)
            while (chosen := queue.choose(machine.fits)) is not None:
                pool.give(chosen)
                tell("started", chosen.key, ("", 0, 0))
            for key, said in pool.listen(queue.patience(time.monotonic())):
                if not isinstance(said, Outcome):
                    tell("progress", key, said)
                elif said.status == BUSY:
                    tell("elsewhere", key, ("", 0, 0))
                    queue.put_off(key, time.monotonic() + _LOOK)
                else:
                    yield from queue.settle(said)
    finally:
        pool.end()


@dataclass
class Worker:
    """A worker process, the GPUs it sees, and the job it has."""

    process: subprocess.Popen[bytes]
    connection: Connection[Any, Any]
    lifeline: int
    gpus: tuple[str, ...]
    job: Job | None = None
    share: Allocation | None = None


@dataclass
class WorkerPool:
    """The workers of a run. A CUDA process can't change its GPUs, so that each worker keeps those it began with."""

    workspace: Workspace
    machine: Machine
    workers: list[Worker] = field(default_factory=list)

    def give(self, job: Job) -> None:
        """Hand a job that fits to an idle worker that sees the right GPUs, or to a new one."""
        share = self.machine.take(job.resources)
        idle = [worker for worker in self.workers if worker.job is None]
        worker = next((worker for worker in idle if worker.gpus == share.gpus), None)
        if worker is None:
            for number, other in enumerate(idle):
                # It holds memory of a GPU that the new one gets, or there would be more workers than CPUs to run them.
                if set(other.gpus) & set(share.gpus) or number >= self.machine.cpus - 1:
                    self._dismiss(other)
            worker = self._start(share.gpus)
            self.workers.append(worker)
        worker.job, worker.share = job, share
        try:
            worker.connection.send(job)
        except OSError:  # It died while idle.
            self._dismiss(worker)
            self.machine.give_back(share)
            self.give(job)

    def listen(self, patience: float | None) -> list[tuple[str, Outcome | tuple[str, int, int]]]:
        """What workers say, as (key, outcome or progress); a worker that died says that its job failed."""
        by_line = {worker.connection: worker for worker in self.workers}
        found: list[tuple[str, Outcome | tuple[str, int, int]]] = []
        for line in wait(list(by_line), timeout=patience):
            worker = by_line[line]  # type: ignore[index]
            try:
                said = worker.connection.recv()
            except (EOFError, OSError):
                said = self._lost(worker)
            if worker.job is None:
                continue
            found.append((worker.job.key, said))
            if isinstance(said, Outcome):
                if worker.share is not None:
                    self.machine.give_back(worker.share)
                worker.job = worker.share = None
                if said.tainted and worker in self.workers:
                    self._dismiss(worker)
        return found

    def end(self) -> None:
        """End all workers: the idle ones in peace, those at work at once."""
        for worker in self.workers:
            worker.connection.close()
            if worker.job is not None:
                _let_go(worker)
        for worker in self.workers:
            _bury(worker)
        self.workers.clear()

    def _start(self, gpus: tuple[str, ...]) -> Worker:
        ours, theirs = socket.socketpair()
        held, lifeline = os.pipe()
        environment = {**child_processes.environment(), "CUDA_VISIBLE_DEVICES": ",".join(gpus)}
        told = str(theirs.fileno()), str(held), str(self.workspace.folder)
        command = child_processes.command("interlingua.engine.executors.worker", *told)
        # No `multiprocessing`: it would import the user's script again, which may begin with this very run.
        process = subprocess.Popen(
            command, env=environment, pass_fds=(theirs.fileno(), held), stdin=subprocess.DEVNULL, stdout=2
        )
        theirs.close()
        os.close(held)
        return Worker(process, Connection(ours.detach()), lifeline, gpus)

    def _dismiss(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.connection.close()
        _bury(worker)

    def _lost(self, worker: Worker) -> Outcome | None:
        """The outcome of a job whose worker died: killed, out of memory, or crashed in a library."""
        self.workers.remove(worker)
        worker.connection.close()
        code = _bury(worker)
        job = worker.job
        if job is None:
            return None
        why = f"was killed by {_signal(-code)}" if code < 0 else f"ended with code {code}"
        hint = "; out of memory, perhaps: ask for fewer steps at a time" if code == -signal.SIGKILL else ""
        again = ". The next run runs it again" if -code in _FROM_OUTSIDE else ""
        message = f"its process {why}{hint}{again}"
        failure = Failure(job.key, job.kind, job.label, message, self.workspace.read_last_words(job.key))
        if not again:
            self.workspace.keep_failure(failure)
        return Outcome(job.key, FAILED, failure=failure, ran=True)


def _bury(worker: Worker) -> int:
    """Wait until a worker is gone, and help after a while; its exit code."""
    try:
        code = worker.process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        worker.process.kill()
        code = worker.process.wait()
    _let_go(worker)
    return code


def _let_go(worker: Worker) -> None:
    """Close a worker's lifeline, once: its number may be another file's next."""
    if worker.lifeline >= 0:
        os.close(worker.lifeline)
        worker.lifeline = -1


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
