"""A worker process of this machine: takes jobs from a socket, one after another, and reports what became of them.

python -m interlingua.engine.executors.worker SOCKET LIFELINE FOLDER
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from interlingua.engine.locks import owner, release_locks
from interlingua.engine.machine import named_gpus
from interlingua.engine.process_setup import free_device_memory
from interlingua.engine.step import ObjectCache
from interlingua.engine.step_runner import FAILED, Job, run_step
from interlingua.engine.workspace import Workspace

_SPEAK = 0.2  # seconds between two words on progress


def serve(connection: Connection[Any, Any], workspace: Workspace) -> None:
    """Perform what comes, until the other end is closed or a failure leaves this process doubtful."""
    objects = ObjectCache(1 if named_gpus() else 2)  # A GPU has less room, and other workers may be at it.
    spoke = 0.0
    try:
        while True:
            job: Job = connection.recv()

            def progress(stage: str, done: int, total: int) -> None:
                nonlocal spoke
                if (now := time.monotonic()) - spoke > _SPEAK:
                    spoke = now
                    connection.send((stage, done, total))

            outcome = run_step(job, workspace, progress=progress, objects=objects)
            if outcome.status == FAILED:
                objects.clear()
            connection.send(outcome)
            if outcome.tainted:
                return
            free_device_memory()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    finally:
        workspace.log(f".{owner(workspace.work).token}").unlink(missing_ok=True)
        release_locks(workspace.work)


def _end_with(lifeline: int) -> None:
    """End at once when the runner is gone or closes the line, whatever a step is at: its state is made for that."""
    os.read(lifeline, 1)
    os._exit(1)


def main() -> None:
    """Begin to serve; a Ctrl-C is the runner's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(all_threads=False)
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    serve(Connection(int(sys.argv[1])), Workspace(Path(sys.argv[3])))


if __name__ == "__main__":
    main()
