"""Calls with hostile inputs in a process of their own, each bounded in time and memory.

A worker is forked, so what the test has imported is not imported again; it takes one input after another, and is
replaced when an input kills it. An input *held* when the call returned a result or raised an `InputError`, within
`SECONDS` and with at most `MEMORY` bytes more than the worker had when it started. Seconds are the processor's, since a
busy machine says nothing of an input; one that waits for ever is noticed after `WAIT` times as many.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from interlingua.errors import InputError

SECONDS = 10.0
WAIT = 5
MEMORY = 1_000_000_000


@dataclass(frozen=True)
class Outcome:
    """What became of one input: its label, whether it held, and why not."""

    label: str
    held: bool
    why: str = ""


def run_bounded(
    call: Callable[[Any], object],
    inputs: Iterable[tuple[str, Any]],
    *,
    check: Callable[[Any, object], str] | None = None,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> list[Outcome]:
    """One outcome per (label, input). `check(input, result)` names what is wrong with a result, or returns ""."""
    context = multiprocessing.get_context("fork")
    outcomes: list[Outcome] = []
    worker: Any = None
    pipe: Any = None

    def stop() -> None:
        nonlocal worker
        if worker is not None:
            worker.kill()
            worker.join()
            pipe.close()
            worker = None

    try:
        for label, value in inputs:
            if worker is None:
                pipe, theirs = context.Pipe()
                worker = context.Process(target=_work, args=(theirs, call, check, memory), daemon=True)
                worker.start()
                theirs.close()
            pipe.send(value)
            why = None
            with contextlib.suppress(EOFError, ConnectionError):
                ended = _ends(pipe, worker.pid, seconds)
                why = pipe.recv() if ended else f"not ended after {seconds:g} s"
            if why is None:
                worker.join()
                why = f"the process died (exit {worker.exitcode})"
            if why:
                stop()
            outcomes.append(Outcome(label, not why, why))
    finally:
        stop()
    return outcomes


def _ends(pipe: Any, worker: int, seconds: float) -> bool:
    """Whether the worker answers before its time is up."""
    began, before = time.monotonic(), _processor_seconds(worker)
    while not pipe.poll(0.2):
        waited = time.monotonic() - began
        if waited > WAIT * seconds or (waited > seconds and _processor_seconds(worker) - before > seconds):
            return pipe.poll(0)
    return True


def _processor_seconds(process: int) -> float:
    try:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):  # Another system, or a process that died: the clock on the wall counts.
        return time.monotonic()


def _work(pipe: Any, call: Callable[[Any], object], check: Callable[[Any, object], str] | None, memory: int) -> None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)  # A panic of a tokenizer prints its own lines.
    before = _address_space()
    resource.setrlimit(resource.RLIMIT_AS, (before + memory, resource.RLIM_INFINITY))
    while True:
        try:
            value = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            result = call(value)
            why = check(value, result) if check else ""
        except InputError:
            why = ""
        except MemoryError:
            why = f"over {memory:,} bytes"
        except BaseException as error:  # A panic of a Rust library is no Exception.
            why = f"{type(error).__name__}: {str(error)[:300]}"
        pipe.send(why)


def _address_space() -> int:
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
