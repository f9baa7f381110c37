"""Step functions that tests run: trivial, and telling a side log that they ran."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from interlingua.engine.step import Step, Work
from interlingua.errors import InputError


def trivial(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    pass


def total(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """A number of its own plus those of its inputs; says in the side log that it began and that it ended."""
    side = settings.get("side")
    tell(side, f"begin {work.key} {os.getpid()}")
    time.sleep(settings.get("sleep", 0.0))
    value = settings["value"] + sum(int((path / "value").read_text()) for path in inputs.values())
    (out / "value").write_text(str(value))
    (out / "heavy").mkdir()
    (out / "heavy" / "weights").write_bytes(b"w" * 1000)
    with (out / "records.jsonl").open("w") as file:
        file.write(json.dumps({"key": work.key, "value": value}) + "\n")
    (out / "items").mkdir()
    (out / "items" / f"{work.key}.npz").write_bytes(str(value).encode())
    (out / "notes.txt").write_text(f"{value} added\n")
    tell(side, f"end {work.key} {os.getpid()}")


def knows(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """Fails where no measure of that name is registered in this process."""
    from interlingua.measures import measures

    (out / "summary").write_text(measures[settings["measure"]].summary)


def measures(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """Two records with per-item values, through the store."""
    import numpy as np

    from interlingua.engine.records import Store
    from interlingua.record import Record

    values = np.arange(3.0) + settings["value"]
    record = Record(measure="mean", metric="plain", model="model", source="en", value=float(values.mean()), n=3)
    Store(out).append(work.key, [(record, values), (record, None)])


def tell(side: str | None, line: str) -> None:
    if side is not None:
        place = os.open(side, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(place, f"{line}\n".encode())
        os.close(place)


def reads(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    (out / "value").write_text(str(len(Path(settings["file"]).read_text())))


def fails(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    print("what it said before")
    if not Path(settings["mended"]).exists():
        raise InputError("no such thing", value="x", remedy="Mend it.")
    (out / "value").write_text("1")


def fails_unless_tried_before(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    tried = work.state / "tried"
    if not tried.exists():
        tried.touch()
        raise RuntimeError("the first try")
    (out / "value").write_text("1")


def dies(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    print("its last words", flush=True)
    (out / "half").write_text("half")
    if (once := settings.get("once")) is None or not Path(once).exists():
        Path(once or out / "died").touch()
        os.kill(os.getpid(), getattr(signal, settings["signal"]))
    (out / "value").write_text("0")


def fills_the_disk(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    raise OSError(28, "No space left on device")


def environment(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """Which GPUs and how many threads it was given, and when it was at work."""
    began = time.time()
    time.sleep(settings["sleep"])
    told = {"gpus": os.environ.get("CUDA_VISIBLE_DEVICES"), "count": work.gpus, "pid": os.getpid()}
    told |= {"threads": os.environ["OMP_NUM_THREADS"], "began": began, "ended": time.time()}
    Path(settings["told"]).write_text(json.dumps(told))


def counts_in_its_state(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """Counts to ten, and dies on the way the first time: the second time goes on from where it was."""
    place = work.state / "count"
    begin = int(place.read_text()) if place.exists() else 0
    for number in range(begin, 10):
        place.write_text(str(number + 1))
        if number == 6 and begin == 0:
            os._exit(3)
    (out / "value").write_text(f"10 from {begin}")


def ranks(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """Several processes add their ranks through torch; the first writes the sum."""
    import torch
    import torch.distributed as group

    from interlingua.training.processes import is_first_process, process_count

    if settings.get("wrong"):
        raise InputError("wrong", remedy="Right it.")
    group.init_process_group("gloo")
    summed = torch.tensor([int(os.environ["RANK"]) + 1])
    group.all_reduce(summed)
    if is_first_process():
        (out / "value").write_text(f"{summed.item()} of {process_count()}")
    group.destroy_process_group()
    sys.stdout.flush()


def study(side: str, *, layers: int = 6, width: int = 10, sleep: float = 0.02) -> list[Step]:
    """Layers of sums, each step of the one before and its neighbour: `layers` × `width` steps."""
    steps: list[Step] = []
    for layer in range(layers):
        for place in range(width):
            below = [steps[(layer - 1) * width + (place + shift) % width] for shift in (0, 1)] if layer else []
            settings = {"value": layer * width + place, "sleep": sleep, "side": side}
            needs = {str(number): step for number, step in enumerate(below)}
            steps.append(Step("total", "steps_for_tests:total", settings, needs, label=f"{layer}.{place}"))
    return steps


if __name__ == "__main__":
    from interlingua.engine.executors import Options
    from interlingua.engine.graph import Graph
    from interlingua.engine.runner import run
    from interlingua.engine.workspace import Home

    folder, side, sleep, layers = sys.argv[1:]
    run(Graph(study(side, layers=int(layers), sleep=float(sleep))), Home(Path(folder)), options=Options(cpus=2))


def listeners(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """The addresses that processes of a group, and the one that started them, listen on; the first writes them."""
    import torch
    import torch.distributed as group

    group.init_process_group("gloo")
    group.all_reduce(torch.ones(1))
    found: list[Any] = [None, None]
    group.all_gather_object(found, [*listened(os.getpid()), *listened(os.getppid())])
    if os.environ["RANK"] == "0":
        (out / "value").write_text(" ".join(sorted({address for each in found for address in each})))
    group.destroy_process_group()


def listened(process: int) -> list[str]:
    """The addresses, in hexadecimal, that a process listens on."""
    open_files = [os.readlink(place) for place in Path(f"/proc/{process}/fd").iterdir() if place.is_symlink()]
    own = {name[8:-1] for name in open_files if name.startswith("socket:[")}
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return [fields[1].rpartition(":")[0] for fields in lines if fields[3] == "0A" and fields[9] in own]


def tree_listeners(settings: Mapping[str, Any], inputs: Mapping[str, Path], out: Path, work: Work) -> None:
    """The addresses that a process and all that descend from it listen on."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(place.parent.name)] = int(place.read_text().rpartition(")")[2].split()[1])
    below = {settings["root"]}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    found: set[str] = set()
    for process in below:
        with suppress(OSError):
            found |= set(listened(process))
    (out / "value").write_text(f"{len(below) > 3} {' '.join(sorted(found))}")
