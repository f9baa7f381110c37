"""A step run by several processes together, which find each other as those of torchrun do; each calls its function.

torchrun itself listens on all interfaces, and unpickles what it is sent there.

python -m interlingua.engine.torchrun FILE.json
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from interlingua.engine import child_processes
from interlingua.engine.process_group import current_group
from interlingua.engine.process_setup import VARIABLES, call_step
from interlingua.engine.step import Resources, StepContext, StepPaused
from interlingua.errors import InputError, InterlinguaError

_ADDRESS = "127.0.0.1"
_LOOK = 0.05
_PATIENCE = 5.0
_WATCH = 1.0
_PAUSED = {"paused": True}


class LaunchedJob(Protocol):
    """What of a job it takes to run it."""

    @property
    def run(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    @property
    def resources(self) -> Resources: ...

    @property
    def load(self) -> tuple[str, ...]: ...


class Lost(InterlinguaError):
    """Processes of a step ended without a word: killed from outside, not failed; the next run runs the step again."""


def launch(job: LaunchedJob, context: StepContext) -> None:
    """Run a job's function in `resources.processes` processes of this machine; one that ends badly ends them all.

    The first writes into `out` (`StepContext.group`); the CPUs of the step are shared out.
    """
    out = context.out
    told = {
        "run": job.run,
        "settings": dict(job.settings),
        "load": list(job.load),
        "inputs": {role: str(path) for role, path in context.inputs.items()},
        "out": str(out),
        "key": context.key,
        "state": str(context.state),
        "deadline": context.deadline,
        "device": context.device,
        "cache": None if context.cache is None else str(context.cache),
        "tensorboard": None if context.tensorboard is None else str(context.tensorboard),
        "parent": os.getpid(),
    }
    resources = job.resources
    about = out.with_name(f"{out.name}.json")
    about.write_text(json.dumps(told), "utf-8")
    threads = str(max(resources.cpus // resources.processes, 1))
    environment = {**child_processes.environment(), **dict.fromkeys(VARIABLES, threads)}
    failed = about.with_suffix(".failed")
    try:
        code = _run(child_processes.command(__name__, str(about)), environment, resources.processes)
        said = json.loads(failed.read_text("utf-8")) if failed.is_file() else None
        if said == _PAUSED:
            raise StepPaused("paused")
        if said:
            raise InputError(**said)
        if code != 0:
            problem = f"{resources.processes} processes ended with code {code}: see the step's log"
            raise Lost(f"{problem}. The next run runs it again") if said is None else InterlinguaError(problem)
    finally:
        about.unlink(missing_ok=True)
        failed.unlink(missing_ok=True)


def _run(command: list[str], environment: Mapping[str, str], count: int) -> int:
    """Run a command in several processes of one group; the code of the first that ends badly, which ends all, or 0."""
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    # Where the processes meet: a port of this machine alone. Any that is free, so that two such steps don't meet.
    with socket.create_server((_ADDRESS, 0)) as listening:
        port = listening.getsockname()[1]
        store = TCPStore(
            _ADDRESS, port, is_master=True, wait_for_workers=False, master_listen_fd=os.dup(listening.fileno())
        )
    loopback = "lo0" if sys.platform == "darwin" else "lo"
    group = {
        **environment,
        **dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE"), str(count)),
        **dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), loopback),
        "MASTER_ADDR": _ADDRESS,
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": str(True),  # The store is here, and none of them opens another.
        "TORCHELASTIC_RESTART_COUNT": "0",
    }
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for rank in map(str, range(count)):
            processes.append(subprocess.Popen(command, env={**group, "RANK": rank, "LOCAL_RANK": rank}))
        while True:
            codes = [process.poll() for process in processes]
            if any(codes) or None not in codes:
                return next((code for code in codes if code), 0)
            time.sleep(_LOOK)
    finally:
        _end(processes)
        del store


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End all processes: those that still run are asked to first."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    until = time.monotonic() + _PATIENCE
    for process in processes:
        try:
            process.wait(max(until - time.monotonic(), 0.01))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main(about: Path) -> None:
    """One of the processes: call the function that the file names."""
    told = json.loads(about.read_text("utf-8"))
    threading.Thread(target=_end_with, args=(told["parent"],), daemon=True).start()
    inputs = {role: Path(path) for role, path in told["inputs"].items()}
    try:
        context = StepContext(
            told["key"],
            inputs,
            Path(told["out"]),
            Path(told["state"]),
            group=current_group(),
            deadline=told["deadline"],
            device=told["device"],
            cache=None if told["cache"] is None else Path(told["cache"]),
            tensorboard=None if told["tensorboard"] is None else Path(told["tensorboard"]),
        )
        call_step(told["run"], told["settings"], told["load"], context)
    except Exception as error:
        # A process that fails leaves a note of it; one that is killed leaves none.
        kept: dict[str, Any] = {}
        if not isinstance(error, InputError) and about.with_suffix(".failed").exists():
            raise  # Another failed first, and said why; this one lost its partner.
        if isinstance(error, StepPaused):
            kept = _PAUSED
        elif isinstance(error, InputError):
            kept = {"problem": error.problem, "line": error.line, "remedy": error.remedy}
            kept["file"] = None if error.file is None else str(error.file)
            kept["value"] = None if error.value is None else str(error.value)
        beside = about.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps(kept), "utf-8")
        os.replace(beside, about.with_suffix(".failed"))
        raise


def _end_with(parent: int) -> None:
    """End when the process that ordered this one is gone, whose kill nothing else reports."""
    while True:
        try:
            os.kill(parent, 0)
        except ProcessLookupError:
            os._exit(1)
        except PermissionError:
            return
        time.sleep(_WATCH)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
