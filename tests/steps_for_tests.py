"""Step functions that tests run: trivial, and telling a side log that they ran."""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlingua.engine.records import PACKED
from interlingua.engine.serialization import File
from interlingua.engine.step import Step, StepContext, StepPaused
from interlingua.errors import InputError


@dataclass(frozen=True)
class Settings:
    """What any of these functions may be told."""

    value: int = 0
    side: str | None = None
    sleep: float = 0.0
    file: File | None = None
    measure: str = ""
    mended: str = ""
    signal: str = ""
    once: str | None = None
    told: str = ""
    wrong: bool = False
    root: int = 0


def trivial(settings: Settings, context: StepContext) -> None:
    pass


def total(settings: Settings, context: StepContext) -> None:
    """A number of its own plus those of its inputs; says in the side log that it began and that it ended."""
    side = settings.side
    tell(side, f"begin {context.key} {os.getpid()}")
    time.sleep(settings.sleep)
    value = settings.value + sum(int((path / "value").read_text()) for path in context.inputs.values())
    (context.out / "value").write_text(str(value))
    (context.out / "heavy").mkdir()
    (context.out / "heavy" / "weights").write_bytes(b"w" * 1000)
    line = json.dumps({"key": context.key, "value": value}) + "\n"
    (context.out / PACKED).write_bytes(gzip.compress(line.encode(), mtime=0))
    (context.out / "items").mkdir()
    (context.out / "items" / f"{context.key}.npz").write_bytes(str(value).encode())
    (context.out / "notes.txt").write_text(f"{value} added\n")
    tell(side, f"end {context.key} {os.getpid()}")


base = total
"""The same function, of another kind."""


def knows(settings: Settings, context: StepContext) -> None:
    """Fails where no measure of that name is registered in this process."""
    from interlingua.measures import measures

    (context.out / "summary").write_text(measures[settings.measure].summary)


def measures(settings: Settings, context: StepContext) -> None:
    """Two records with per-item values, through `Records`."""
    import numpy as np

    from interlingua.engine.records import Records
    from interlingua.record import Record

    values = np.arange(3.0) + settings.value
    record = Record(measure="mean", metric="plain", model="model", source="en", value=float(values.mean()), n=3)
    Records.write(context.out, context.key, [(record, values), (record, None)])


def tell(side: str | None, line: str) -> None:
    if side is not None:
        place = os.open(side, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(place, f"{line}\n".encode())
        os.close(place)


def reads(settings: Settings, context: StepContext) -> None:
    assert settings.file is not None
    (context.out / "value").write_text(str(len(Path(settings.file.path).read_text())))


def fails(settings: Settings, context: StepContext) -> None:
    print("what it said before")
    if not Path(settings.mended).exists():
        raise InputError("no such thing", value="x", remedy="Mend it.")
    (context.out / "value").write_text("1")


def fails_unless_tried_before(settings: Settings, context: StepContext) -> None:
    tried = context.state / "tried"
    if not tried.exists():
        tried.touch()
        raise RuntimeError("the first try")
    (context.out / "value").write_text("1")


def dies(settings: Settings, context: StepContext) -> None:
    print("its last words", flush=True)
    (context.out / "half").write_text("half")
    if (once := settings.once) is None or not Path(once).exists():
        Path(once or context.out / "died").touch()
        os.kill(os.getpid(), getattr(signal, settings.signal))
    (context.out / "value").write_text("0")


def pauses(settings: Settings, context: StepContext) -> None:
    """Pauses the first time, with a word in its state."""
    again = (context.state / "again").exists()
    (context.state / "again").touch()
    if not again:
        raise StepPaused("for a while")
    (context.out / "value").write_text("1")


def waits_to_pause(settings: Settings, context: StepContext) -> None:
    """Counts until its deadline, and goes on from there."""
    place = context.state / "count"
    count = int(place.read_text()) if place.exists() else 0
    while count < 100:
        count += 1
        place.write_text(str(count))
        time.sleep(0.01)
        if context.deadline is not None and time.time() > context.deadline:
            raise StepPaused(f"at {count}")
    (context.out / "value").write_text("100")


def group(settings: Settings, context: StepContext) -> None:
    """The first process says what it is told to; all tell the side log what they heard."""
    heard = context.group.broadcast(lambda: settings.value)
    tell(settings.side, f"{os.environ['RANK']} heard {heard}")
    if context.group.is_first:
        (context.out / "value").write_text(str(context.group.size))
    else:
        time.sleep(0.3)  # The first is through long before.
        (context.out / "beside").write_text("the second's")
    if settings.wrong:
        raise InputError("wrong", remedy="Right it.")


def threads(settings: Settings, context: StepContext) -> None:
    import torch

    (context.out / "value").write_text(f"{torch.get_num_threads()} {os.environ['OMP_NUM_THREADS']}")


def prints(settings: Settings, context: StepContext) -> None:
    print("a word")
    if settings.wrong:
        raise ValueError("wrong")


def loads(settings: Settings, context: StepContext) -> None:
    """Says in the side log when an object is made, not when it is found."""
    context.objects.get("object", lambda: tell(settings.side, "made"))
    if settings.wrong:
        raise ValueError("wrong")


def fills_the_disk(settings: Settings, context: StepContext) -> None:
    raise OSError(28, "No space left on device")


def environment(settings: Settings, context: StepContext) -> None:
    """Which GPUs and how many threads it was given, and when it was at work."""
    began = time.time()
    time.sleep(settings.sleep)
    told = {"gpus": os.environ.get("CUDA_VISIBLE_DEVICES"), "pid": os.getpid()}
    told |= {"threads": os.environ["OMP_NUM_THREADS"], "began": began, "ended": time.time()}
    Path(settings.told).write_text(json.dumps(told))


def counts_in_its_state(settings: Settings, context: StepContext) -> None:
    """Counts to ten, and dies on the way the first time: the second time goes on from where it was."""
    place = context.state / "count"
    begin = int(place.read_text()) if place.exists() else 0
    for number in range(begin, 10):
        place.write_text(str(number + 1))
        if number == 6 and begin == 0:
            os._exit(3)
    (context.out / "value").write_text(f"10 from {begin}")


def ranks(settings: Settings, context: StepContext) -> None:
    """Several processes add their ranks through torch; the first writes the sum."""
    import torch
    import torch.distributed as group

    from interlingua.training.processes import is_first_process, process_count

    if settings.wrong:
        raise InputError("wrong", remedy="Right it.")
    group.init_process_group("gloo")
    summed = torch.tensor([int(os.environ["RANK"]) + 1])
    group.all_reduce(summed)
    if is_first_process():
        (context.out / "value").write_text(f"{summed.item()} of {process_count()}")
    group.destroy_process_group()
    sys.stdout.flush()


def study(side: str, *, layers: int = 6, width: int = 10, sleep: float = 0.02) -> list[Step]:
    """Layers of sums, each step of the one before and its neighbour: `layers` × `width` steps."""
    steps: list[Step] = []
    for layer in range(layers):
        for place in range(width):
            below = [steps[(layer - 1) * width + (place + shift) % width] for shift in (0, 1)] if layer else []
            settings = Settings(value=layer * width + place, sleep=sleep, side=side)
            needs = {str(number): step for number, step in enumerate(below)}
            steps.append(Step("steps_for_tests:total", settings, needs, label=f"{layer}.{place}"))
    return steps


if __name__ == "__main__":
    from interlingua.engine.executors import Options
    from interlingua.engine.graph import Graph
    from interlingua.engine.runner import keep_all_heavy, run
    from interlingua.engine.workspace import Workspace

    folder, side, sleep, layers = sys.argv[1:]
    graph = Graph(study(side, layers=int(layers), sleep=float(sleep)))
    run(graph, Workspace(Path(folder)), options=Options(cpus=2), keep=keep_all_heavy)


def listeners(settings: Settings, context: StepContext) -> None:
    """The addresses that processes of a group, and the one that started them, listen on; the first writes them."""
    import torch
    import torch.distributed as group

    group.init_process_group("gloo")
    group.all_reduce(torch.ones(1))
    found: list[Any] = [None, None]
    group.all_gather_object(found, [*listened(os.getpid()), *listened(os.getppid())])
    if os.environ["RANK"] == "0":
        (context.out / "value").write_text(" ".join(sorted({address for each in found for address in each})))
    group.destroy_process_group()


def listened(process: int) -> list[str]:
    """The addresses, in hexadecimal, that a process listens on."""
    open_files = [os.readlink(place) for place in Path(f"/proc/{process}/fd").iterdir() if place.is_symlink()]
    own = {name[8:-1] for name in open_files if name.startswith("socket:[")}
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return [fields[1].rpartition(":")[0] for fields in lines if fields[3] == "0A" and fields[9] in own]


def tree_listeners(settings: Settings, context: StepContext) -> None:
    """The addresses that a process and all that descend from it listen on."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
    below = {settings.root}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    found: set[str] = set()
    for process in below:
        with suppress(OSError):
            found |= set(listened(process))
    (context.out / "value").write_text(f"{len(below) > 3} {' '.join(sorted(found))}")
