"""A command as a study with one cell: planned, run in this process, and what its folder then holds."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua.encoder.devices import pick_device
from interlingua.engine.atomic_files import reading_back, report_full_disk, write_text
from interlingua.engine.digests import Digests
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph, StepState
from interlingua.engine.machine import this_machine
from interlingua.engine.plan import RunPlan, plan
from interlingua.engine.process_group import ProcessGroup, current_group
from interlingua.engine.process_setup import thread_count
from interlingua.engine.records import NOTES, Records
from interlingua.engine.runner import Event, Keep, RunSummary, keep_no_heavy, run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.record import Record, RecordTable, versions
from interlingua.studies.compile import steps_of
from interlingua.studies.compile.model_revisions import Revisions
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import ResourceTable, StudyTable
from interlingua.studies.config.toml_file import ProblemList, to_toml
from interlingua.studies.plugins import loaded_plugins
from interlingua.studies.step_settings import KINDS
from interlingua.studies.study import Study, model_place
from interlingua.studies.validation import check
from interlingua.training.regime import Regime

Progress = Callable[[str, int, int], None]
RUN = "run.json"


@dataclass(frozen=True, kw_only=True)
class CompiledCommand:
    """What a command runs, and where.

    `identity` says what its folder `out` is for: the same goes on in it. Without a folder it runs in a temporary one.
    A new folder is given up when an error ends the run before a step of the `lasting` kinds was begun; none named: of
    any kind. `device` None: the GPU where there is one. `keep` says which models and vectors stay in the folder,
    `cache` is a folder for vectors that runs share, `tensorboard` one for curves of a training. `notes` are those of
    reading the settings, `digests` of files what was read of them on the way. What was given in memory is in files in
    `temporary`, which go with this object.
    """

    kind: str
    study: Study
    identity: Mapping[str, str]
    out: Path | None
    lasting: tuple[str, ...] = ()
    device: str | None = None
    progress: Progress | None = None
    stop_after: float | None = None
    keep: Keep = keep_no_heavy
    cache: Path | None = None
    tensorboard: Path | None = None
    notes: tuple[str, ...] = ()
    digests: Digests | None = None
    temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)


def one_cell(table: StudyTable, options: Mapping[Place, str], *, regimes: Mapping[str, Regime] | None = None) -> Study:
    """The study that a command's settings make, checked, with files from the current folder on.

    Problems are reported under the name that the user knows: `options` has one for each key of the tables that a
    setting of the command fills in, such as `{("tasks", "ner", "train"): "--train"}`. `regimes` are those made in
    Python.
    """
    here = Path.cwd()
    cpus = ResourceTable(cpus=thread_count())
    whole = replace(table, resources=dict.fromkeys(KINDS, cpus))
    problems = ProblemList("", options=options)
    study = check(Study(whole, here / "command.toml", None, here, loaded_plugins(), regimes or {}), problems)
    problems.check()
    return study


def study_file(compiled: CompiledCommand, file: Path) -> str:
    """The study file that does what a command does, as it would stand at a place: paths start from its folder.

    `interlingua study run` of it gives the same records, and more encoders, languages, tasks and seeds can be added.
    """
    if compiled.temporary is not None:
        raise InputError(
            "what comes from standard input or a pipe has no name that a study file could give",
            remedy="Save it to a file, and give that.",
        )
    study, home = compiled.study, file.absolute().parent
    table = study.table

    def from_home(path: Path) -> str:
        return os.path.relpath(path, home)

    encoders = {}
    for name, each in table.encoders.items():
        local = each.model is not None and model_place(study.file.parent, each.model)
        made = replace(each, model=from_home(local)) if local and local.is_dir() else each
        if each.recipe is not None:
            made = replace(made, recipe=from_home(study.file.parent / each.recipe))
        encoders[name] = made
    models = {
        name: replace(each, folder=from_home(study.file.parent / each.folder)) for name, each in table.models.items()
    }
    kinds = {step.kind for step in Graph(steps_of(StudyInputs(study))[0])}
    return to_toml(
        replace(
            table,
            encoders=encoders,
            models=models,
            data_root=from_home(study.data),
            plugins=tuple(from_home(path) for path in study.plugins.files),
            resources={kind: given for kind, given in table.resources.items() if kind in kinds and given.cpus > 1},
        )
    )


@dataclass(frozen=True)
class PlannedCommand:
    """A compiled command with its steps, in a folder; nothing is written yet."""

    compiled: CompiledCommand
    graph: Graph
    workspace: Workspace
    notes: tuple[str, ...]
    revisions: Revisions = field(repr=False)
    digests: Digests = field(repr=False)

    @classmethod
    def of(cls, compiled: CompiledCommand, folder: Path) -> PlannedCommand:
        """The steps of a command in a folder, which is refused where it holds another run."""
        workspace = Workspace(folder)
        workspace.check(compiled.kind, compiled.identity)
        digests = compiled.digests or Digests(workspace.digests)
        revisions = Revisions(workspace.inner / "revisions.json", True)
        place = pick_device(compiled.device)
        inputs = StudyInputs(compiled.study, digests, revisions, place.type == "cuda")
        steps, notes = steps_of(inputs)
        return cls(
            compiled, Graph(steps, whole=compiled.keep), workspace, (*compiled.notes, *notes), revisions, digests
        )

    def states(self) -> dict[str, StepState]:
        """Where each step stands, by key; what failed is to be run again."""
        return self.graph.states(self.workspace, retry=True)

    def plan(self) -> RunPlan:
        """Steps by kind, what is done, and about how long the rest takes."""
        machine = this_machine(Options(), any(step.resources.gpus for step in self.graph))
        return plan(self.graph, self.workspace, cpus=machine.cpus, gpus=len(machine.gpus), retry=True)

    def _lasts(self, key: str) -> bool:
        kinds = self.compiled.lasting
        return not kinds or (key in self.graph and self.graph[key].kind in kinds)

    @contextlib.contextmanager
    def alone(self, group: ProcessGroup) -> Iterator[None]:
        """The folder as this command's: inside, no other process may write in it. Of several, the first takes it."""
        if not group.is_first:
            yield
            return
        asked = self.compiled
        with (
            self.workspace.acquire(asked.kind, asked.identity, lasting=self._lasts),
            report_full_disk(self.workspace.folder),
        ):
            self.revisions.keep()
            self.digests.keep()
            yield

    def run(self, group: ProcessGroup) -> RunSummary:
        """Run what is not done in this process; the first failure is raised as what it is."""
        asked = self.compiled
        options = Options(
            stop_after=asked.stop_after,
            device=asked.device,
            cache=asked.cache,
            tensorboard=asked.tensorboard,
            group=group,
        )
        tell = None if asked.progress is None or not group.is_first else _teller(asked.progress)
        return run(self.graph, self.workspace, executor="inline", options=options, raise_first=True, tell=tell)


@dataclass(frozen=True)
class FinishedCommand:
    """A command whose steps are done, or that was paused: its records, notes and files, to be read by what shows them.

    Of several processes only the first writes files.
    """

    planned: PlannedCommand
    summary: RunSummary
    is_first: bool

    @property
    def folder(self) -> Path:
        return self.planned.workspace.folder

    @property
    def study(self) -> Study:
        return self.planned.compiled.study

    @property
    def finished(self) -> bool:
        """Whether all steps are done; not so where the run was asked to stop."""
        return not self.summary.paused and not self.summary.blocked

    @cached_property
    def store(self) -> Records[Record]:
        """The records with the values of each item."""
        return Records(Record, self.folder)

    @cached_property
    def records(self) -> RecordTable:
        """The records of this run's steps."""
        wanted = {step.key for step in self.planned.graph}
        return RecordTable(record for record in self.store.read() if record.step in wanted)

    def steps(self, kind: str) -> list[Step]:
        """The finished steps of a kind."""
        done = self.planned.workspace.done()
        return [step for step in self.planned.graph if step.kind == kind and step.key in done]

    def place(self, step: Step) -> Path:
        """The folder that a step left."""
        return self.planned.workspace.step(step.key)

    def unfinished(self, kind: str) -> list[Path]:
        """The states of the steps of a kind that were stopped."""
        left = (self.planned.workspace.state(step.key) for step in self.planned.graph if step.kind == kind)
        return [place for place in left if place.is_dir()]

    def export(self, step: Step, name: str, to: str) -> None:
        """Give a file or folder that a step made a name that people see."""
        if self.is_first:
            self.planned.workspace.export(step.key, name, to)

    def write(self, name: str, text: str) -> None:
        """Write a file for people into the run's folder; one that says the same is left alone."""
        file = self.folder / name
        if self.is_first and not (file.is_file() and file.read_bytes() == text.encode("utf-8", "backslashreplace")):
            write_text(file, text)

    @property
    def notes(self) -> list[str]:
        """What was left out or handled specially, each once, in the order of the steps."""
        found = list(self.planned.notes)
        for step in self.planned.graph:
            file = self.place(step) / NOTES
            found += file.read_text("utf-8").splitlines() if file.is_file() else []
        return list(dict.fromkeys(found))

    @property
    def seconds(self) -> float:
        """What the steps of this run took, in all its sessions."""
        wanted = {step.key for step in self.planned.graph}
        took: list[float] = [e["seconds"] for e in self.planned.workspace.read_times() if e["key"] in wanted]
        return round(sum(took), 1)

    def about(self, **more: Any) -> dict[str, Any]:
        """What `run.json` says of every run, and what is given of this one.

        The time of making is that of the last session that ran a step.
        """
        before = read_json(self.folder / RUN) if (self.folder / RUN).is_file() else {}
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        return {
            "kind": self.planned.compiled.kind,
            **more,
            "steps": [step.key for step in self.planned.graph],
            "skipped": self.notes,
            "device": str(pick_device(self.planned.compiled.device)),
            "versions": versions(),
            "seconds": self.seconds,
            "created": now if self.summary.done else before.get("created", now),
        }

    def write_about(self, about: Mapping[str, Any]) -> None:
        """Write `run.json`, last: what it says is there."""
        self.write(RUN, json.dumps(about, ensure_ascii=False, indent=1))


@contextlib.contextmanager
def ran(compiled: CompiledCommand) -> Iterator[FinishedCommand]:
    """Run a command's steps; inside, its folder can be read and written. A temporary one is gone after the block.

    Of several processes all come here when the steps are done, and the first writes before the others go on.
    """
    group = current_group()
    with contextlib.ExitStack() as stack:
        if compiled.out is None and group.size > 1:
            raise InputError("several processes need a folder that all of them see", remedy="Give --out.")
        folder = compiled.out or Path(stack.enter_context(tempfile.TemporaryDirectory())) / compiled.kind
        planned = PlannedCommand.of(compiled, folder)
        stack.enter_context(planned.alone(group))
        summary = planned.run(group)
        with reading_back(planned.workspace.folder):
            finished = FinishedCommand(planned, summary, group.is_first)
            _ = finished.records
        yield finished
        group.barrier()


def _teller(tell: Progress) -> Callable[[Event], None]:
    """Events of a run for who shows progress: what each step says of itself, and the steps."""

    def hear(event: Event) -> None:
        if event.what == "progress" and event.of:
            tell(event.stage, event.done, event.of)
        elif event.total > 1 and event.what in ("started", "done"):
            tell("steps", event.finished, event.total)

    return hear
