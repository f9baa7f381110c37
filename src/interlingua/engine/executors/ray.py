"""Steps on a Ray cluster: all handed over at once, each with references to what it waits for."""

from __future__ import annotations

import os
import pickle
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from interlingua.engine.child_processes import safe_child_environment
from interlingua.engine.executors import Options, Tell, executors
from interlingua.engine.machine import named_gpus, this_machine
from interlingua.engine.step import ObjectCache, Resources
from interlingua.engine.step_runner import BLOCKED, BUSY, DONE, FAILED, FULL, Job, Outcome, run_step
from interlingua.engine.workspace import Failure, Workspace
from interlingua.errors import InterlinguaError, MissingExtra

_WINDOW = 256  # references asked about at a time: asking about all costs as much as running them
_KNOCK = 10.0  # seconds for a cluster to answer
_SPEAK = 0.2  # seconds between two looks at what is done
_LOOK = 0.5  # seconds until a step that another run is at is looked at again


@executors.register("ray")
def on_ray(jobs: Sequence[Job], workspace: Workspace, options: Options, tell: Tell) -> Iterator[Outcome]:
    """A Ray cluster (extra `ray`); the run's folder must be on a file system that all its machines share."""
    with _cluster(options) as ray:
        yield from _all(ray, jobs, workspace, options, tell)


def has_gpus(options: Options) -> bool:
    """Whether a machine of the cluster has a GPU; a cluster that a run starts has those of this machine."""
    if _address(options) is None:
        return bool(this_machine(options, True).gpus)
    with _cluster(options) as ray:
        return bool(ray.cluster_resources().get("GPU"))


def _address(options: Options) -> str | None:
    return options.address or os.environ.get("RAY_ADDRESS")


@contextmanager
def _cluster(options: Options) -> Iterator[Any]:
    """Ray, connected to the cluster, or to one that is started here."""
    address = _address(options)
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Nothing of ours reports to anyone.
        # Read when Ray is imported: it listens on 127.0.0.1, as it does on other systems, not on all interfaces.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    try:
        import ray
    except ImportError as error:
        raise MissingExtra("ray", "running on a Ray cluster") from error
    ours = not ray.is_initialized()
    if ours:
        _connect(ray, address, options)
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()


def _connect(ray: Any, address: str | None, options: Options) -> None:
    about: dict[str, Any] = {"log_to_driver": False}
    if address is None:
        about |= {"num_cpus": options.cpus, "include_dashboard": False}
    else:
        about |= {"address": address}
    try:
        _knock(address)
        if address is not None and _wants_token(address):
            raise _refused(address)
        with safe_child_environment():
            ray.init(**about, job_config=_without_current_folder(ray))
    except ray.exceptions.AuthenticationError as error:
        raise _refused(address) from error
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        told = str(error).strip().splitlines()
        raise InterlinguaError(
            f"no Ray cluster at {address or 'this machine'} ({told[0] if told else type(error).__name__}). "
            "Start one with `ray start --head`, or check --address and the cluster's token (RAY_AUTH_TOKEN)."
        ) from error


def _wants_token(address: str) -> bool:
    """Whether a cluster answers that it wants another token than ours, or any; False where it can't be asked.

    Ray itself tries for a minute, and then says that there is no cluster.
    """
    try:
        import grpc

        raylet: Any = import_module("ray._raylet")
    except ImportError:  # Ray alone does not need gRPC for Python.
        return False
    scheme, _, place = address.rpartition("://")
    service = "RayletDriver/ClusterInfo" if scheme else "NodeInfoGcsService/GetClusterId"
    try:
        open_to_all = os.environ.get("RAY_AUTH_MODE", "token").lower() == "disabled"
        own = {} if open_to_all else raylet.AuthenticationTokenLoader.instance().get_token_for_http_header()
        with grpc.insecure_channel(place) as channel:
            channel.unary_unary(f"/ray.rpc.{service}")(b"", timeout=_KNOCK, metadata=tuple(own.items()))
    except grpc.RpcError as error:
        return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    except Exception:  # Ray's loader is its own affair.
        return False
    return False


def _refused(address: str | None) -> InterlinguaError:
    return InterlinguaError(
        f"the Ray cluster at {address or 'this machine'} refuses: its token is missing or is another. "
        "Set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN (or RAY_AUTH_TOKEN_PATH) to those of the cluster."
    )


def _without_current_folder(ray: Any) -> Any:
    """The settings of a job whose processes don't look into the folder that this one was started in, as Ray has it."""

    class Nowhere(list[str]):
        def extend(self, places: Iterable[str]) -> None:
            """Nothing: `_prepared` adds the folders that are needed, after those of the cluster's own Python."""

    job = ray.job_config.JobConfig()
    job._py_driver_sys_path = Nowhere()
    return job


def _knock(address: str | None) -> None:
    """Fail at once where nobody listens at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK).close()


def _all(ray: Any, jobs: Sequence[Job], workspace: Workspace, options: Options, tell: Tell) -> Iterator[Outcome]:
    shapes, orders = _Shapes(ray, workspace, options), _Orders(ray, workspace)
    for job in jobs:
        before = (orders.results[key] for key in job.after)
        orders.add(job, shapes[job.resources].remote(pickle.dumps(job), *before))
    tell("started", "", ("", 0, 0))
    try:
        while orders.waiting:
            window = list(islice(orders.waiting, _WINDOW))
            ready, _ = ray.wait(window, num_returns=len(window), timeout=_SPEAK)
            yield from orders.collect(ready)
    finally:
        for result in orders.waiting:  # stopped from outside: Ctrl-C, a full disk
            ray.cancel(result, force=True)


class _Orders:
    """The jobs handed over, and what became of them."""

    def __init__(self, ray: Any, workspace: Workspace) -> None:
        self._ray, self._workspace = ray, workspace
        self.results: dict[str, Any] = {}
        self.waiting: dict[Any, Job] = {}
        self._status: dict[str, str] = {}

    def add(self, job: Job, result: Any) -> None:
        self.results[job.key] = result
        self.waiting[result] = job

    def collect(self, ready: list[Any]) -> Iterator[Outcome]:
        """What became of finished jobs; a lost process or machine is a failure of the job it had."""
        try:
            found = [_read(said) for said in self._ray.get(ready)]
        except self._ray.exceptions.RayError:
            for result in ready:
                yield from self._one(result)
            return
        for result, outcome in zip(ready, found, strict=True):
            yield self._settled(result, outcome)

    def _one(self, result: Any) -> Iterator[Outcome]:
        """The same for one, after those it waited for: Ray gives the error of a lost job to all that wait for it."""
        job = self.waiting.get(result)
        if job is None:
            return
        for key in job.after:
            yield from self._one(self.results[key])
        try:
            outcome = _read(self._ray.get(result))
        except self._ray.exceptions.RayError as error:
            if any(self._status[key] != DONE for key in job.after):
                outcome = Outcome(job.key, BLOCKED)
            else:
                told = str(error).strip().splitlines()
                message = f"Ray: {type(error).__name__}: {told[0] if told else ''}"
                failure = Failure(job.key, job.kind, job.label, message, self._workspace.read_last_words(job.key))
                if not isinstance(error, _killed(self._ray)):  # What was killed just runs again the next time.
                    self._workspace.keep_failure(failure)
                outcome = Outcome(job.key, FAILED, failure=failure, ran=True)
        yield self._settled(result, outcome)

    def _settled(self, result: Any, outcome: Outcome) -> Outcome:
        del self.waiting[result]
        self._status[outcome.key] = outcome.status
        return outcome


class _Shapes(dict[Resources, Any]):
    """The remote function for each shape of resources: Ray keeps a queue for each, so that they are made once."""

    def __init__(self, ray: Any, workspace: Workspace, options: Options) -> None:
        super().__init__()
        self._attempts = options.attempts
        self._gpus = ray.cluster_resources().get("GPU", 0.0)
        self._remote = ray.remote(
            _performer(str(workspace.folder), options.attempts, [path for path in sys.path if path])
        )

    def __missing__(self, asked: Resources) -> Any:
        made = self._remote.options(
            num_cpus=asked.cpus,
            num_gpus=min(asked.gpus, self._gpus),
            memory=asked.memory or None,
            # Ray tries again what a lost process or machine was at; what failed by itself is tried again there.
            max_retries=self._attempts - 1,
        )
        self[asked] = made
        return made


def _read(said: bytes) -> Outcome:
    # Bytes, both ways: Ray passes them on as they are, while it looks into anything else.
    outcome: Outcome = pickle.loads(said)
    return outcome


def _performer(folder: str, attempts: int, path: list[str]) -> Callable[..., bytes]:
    """What a process of the cluster does with a job. What is the same for all jobs travels once, with the function."""

    def performed(sent: bytes, *before: bytes) -> bytes:
        workspace = _prepared(folder, *path)
        return pickle.dumps(_outcome(pickle.loads(sent), workspace, attempts, [_read(said).status for said in before]))

    return performed


@cache
def _prepared(folder: str, *path: str) -> Workspace:
    """The run's folder, in a process that finds the functions which the one that began the run finds."""
    sys.path += [place for place in path if place not in sys.path]
    return Workspace(Path(folder))


@cache
def _objects() -> ObjectCache:
    """What steps of this process have loaded; a GPU has less room, and other processes may be at it."""
    return ObjectCache(1 if named_gpus() else 2)


def _outcome(job: Job, workspace: Workspace, attempts: int, before: list[str]) -> Outcome:
    if FULL in before:
        return Outcome(job.key, FULL)
    if any(status != DONE for status in before):
        return Outcome(job.key, BLOCKED)
    objects = _objects()
    while True:
        outcome = run_step(job, workspace, progress=_silent, objects=objects)
        if outcome.status == FAILED:
            objects.clear()
        if outcome.status == BUSY:
            time.sleep(_LOOK)
        elif outcome.status == FAILED and attempts > 1:
            attempts -= 1
        else:
            return outcome


def _killed(ray: Any) -> tuple[type[BaseException], ...]:
    """The errors of Ray for a process or a machine that went away, or was out of memory: no fault of the step."""
    lost = ray.exceptions
    return lost.WorkerCrashedError, lost.OutOfMemoryError, lost.NodeDiedError


def _silent(stage: str, done: int, total: int) -> None:
    """Nothing: a cluster reports finished steps only."""
