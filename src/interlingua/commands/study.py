"""What `interlingua study` calls, and what a notebook calls: a study file checked, planned, run and told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from interlingua.analyses.evaluation import FILE as PREDICTIONS
from interlingua.analyses.seed_statistics import beside, read_published, study_distances, study_scores
from interlingua.argument_types import check_argument_types
from interlingua.engine.digests import Digests
from interlingua.engine.disk import Use, Waste, garbage, remove, usage
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph, State
from interlingua.engine.machine import this_machine
from interlingua.engine.plan import Plan, plan
from interlingua.engine.records import RECORDS, Store, collect, reading_back, told_once, write_text
from interlingua.engine.runner import Event, Ran, run
from interlingua.engine.workspace import Failure, Home
from interlingua.errors import InputError
from interlingua.paths import json_value, read_json
from interlingua.record import versions
from interlingua.report.study_files import StudyReport, study_files, study_report
from interlingua.stats.power import SeedPlan, seed_plan
from interlingua.studies.compile.grid import steps_of
from interlingua.studies.compile.study_inputs import Revisions
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.geometry_records import maps_of, study_geometries
from interlingua.studies.run_folder import study_folder
from interlingua.studies.study import Study
from interlingua.studies.study_file import read_study, sizes_of

__all__ = ["Planned", "check_study", "plan_study", "study"]


@dataclass(frozen=True, repr=False)
class Planned:
    """A study that was checked, with its steps; `notes` say what its grid leaves out."""

    study: Study
    graph: Graph
    home: Home
    notes: tuple[str, ...]
    revisions: Revisions = field(default_factory=Revisions, repr=False)

    def __repr__(self) -> str:
        return f"Planned({self.study.name!r}, {len(list(self.graph))} steps, in {str(self.home.folder)!r})"

    def plan(self, *, retry: bool = False) -> Plan:
        """Steps by kind, what is done, and about how long the rest takes with this machine's CPUs and GPUs."""
        states = self.states(retry=retry)
        wanted = any(step.resources.gpus for step in self.graph if states[step.key] is State.NEEDED)
        machine = this_machine(Options(), wanted)
        return plan(self.graph, self.home, cpus=machine.cpus, gpus=len(machine.gpus), retry=retry)

    def seed_plans(self) -> list[SeedPlan]:
        """Which differences between regimes the seeds can detect, per task; none where a study compares none."""
        table, path = self.study.table, self.home.folder / "study.json"
        if len(table.regimes) < 2:
            return []
        found = read_json(path) if path.is_file() else {}
        scores = found.get("scores") if isinstance(found, dict) else None
        known = [each for each in scores if isinstance(each, dict)] if isinstance(scores, list) else []
        return [seed_plan(name, self.study.kind(name), len(self.study.seeds), known) for name in table.tasks]

    def run(
        self,
        *,
        executor: str = "here",
        options: Options | None = None,
        retry: bool = False,
        tell: Callable[[Event], None] | None = None,
    ) -> Ran:
        """Run what is not done; see `studies.running.run`."""
        self.revisions.keep(self.home)
        return run(self.graph, self.home, executor=executor, options=options, retry=retry, tell=tell)

    def states(self, *, retry: bool = False) -> dict[str, State]:
        """Where each step stands, by key; with `retry`, what failed is to be run again."""
        return self.graph.states(self.home, retry=retry)

    def failures(self) -> list[Failure]:
        """Steps of this study that failed, and why."""
        return [failure for key, failure in self.home.failures().items() if key in self.graph]

    def predictions(self) -> Iterator[dict[str, Any]]:
        """What each model said of each example of its tests, a line each, of the steps that are done."""
        for step in self.graph:
            path = self.home.step(step.key) / PREDICTIONS
            if path.is_file():
                with path.open(encoding="utf-8") as lines:
                    yield from map(json_value, lines)

    def usage(self) -> tuple[Use, ...]:
        return usage(self.graph, self.home)

    def garbage(self) -> tuple[Waste, ...]:
        """What no record needs any more."""
        return garbage(self.graph, self.home) if (self.home.folder / "work").is_dir() else ()

    def remove(self, waste: tuple[Waste, ...]) -> int:
        """Remove it; the number of bytes."""
        return remove(waste, self.home)

    def report(self) -> StudyReport:
        """What was found so far, as tables, with the paper's numbers beside where the study names them.

        Steps count as soon as they are done, also while a run goes on, or after one was killed.
        """
        done = self.home.done()
        if not any(step.key in done for step in self.graph) and not (self.home.folder / RECORDS).is_file():
            raise InputError(
                "nothing was measured yet", file=self.home.folder, remedy="Run it first: interlingua study run."
            )
        collect(self.graph, self.home)
        table, store = self.study.table, Store(self.home.folder)
        wanted = {step.key for step in self.graph}
        records = [record for record in store.read() if record.step in wanted]
        states = list(self.states().values())
        about = {
            "kind": "study",
            "name": self.study.name,
            "about": table.about,
            "paper": table.paper,
            "size": self.study.size,
            "source": table.source,
            "languages": list(table.languages),
            "encoders": list(table.encoders),
            "regimes": list(table.regimes),
            "seeds": list(self.study.seeds),
            "permutations": table.permutations,
            "tasks": {name: self.study.kind(name) for name in table.tasks},
            "steps": {str(state): states.count(state) for state in State},
            "failed": [f"{failure.label}: {failure.message}" for failure in self.failures()],
            "notes": [*self.notes, *told_once(_lines(self.home.folder / "notes.txt"))],
            "versions": versions(),
        }
        scores = study_scores(records, store, regimes=table.regimes, permutations=table.permutations)
        numbers = [] if table.published is None else read_published(self.study.file.parent / table.published)
        plain = [record.to_dict() for record in records]
        looked = study_geometries(table, self.graph, self.home, records)
        for each in looked:
            each["maps"] = maps_of(self.home.folder, each["steps"])
        distances, papers = study_distances(records), beside(scores, records, numbers)
        return study_report(about, scores, distances, papers, plain, looked)

    def write_report(self) -> StudyReport:
        """The report, also as files in the study's folder: tables, `study.json`, a page."""
        with reading_back(self.home.folder):
            made = self.report()
        for name, text in study_files(made).items():
            write_text(self.home.folder / name, text)
        return made


def plan_study(
    file: str | Path,
    *,
    size: str | None = None,
    data_root: str | Path | None = None,
    out: str | Path | None = None,
    ask: bool = False,
) -> Planned:
    """A study file at a size, checked, with all its steps; nothing is written but a cache of files' digests.

    `ask` asks the hub for the commits of models that its cache here does not have, as a run does.
    """
    found = read_study(file, size=size, data_root=data_root)
    home = Home(study_folder(found.name, out))
    digests = Digests(home.digests)
    revisions = Revisions(home.revisions, ask)
    steps, notes = steps_of(found, digests, revisions)
    if home.folder.is_dir():
        digests.keep()
    return Planned(found, Graph(steps), home, tuple(notes), revisions)


def check_study(
    file: str | Path, *, size: str | None = None, data_root: str | Path | None = None
) -> dict[str, Planned]:
    """Every size of a study file (or one) that is right, by name; what is wrong in any is one error with all lines."""
    names: list[str | None] = [size] if size is not None else [*sizes_of(Path(file))] or [None]
    found: dict[str, Planned] = {}
    problems: dict[str, InputError] = {}
    for name in names:
        try:
            found[name or ""] = plan_study(file, size=name, data_root=data_root)
        except ConfigErrors as wrong:
            problems |= {str(problem): problem for problem in wrong.problems}
    if problems:
        raise ConfigErrors(str(file), sorted(problems.values(), key=lambda problem: problem.line or 0))
    return found


@check_argument_types
def study(
    file: str | Path,
    *,
    size: str | None = None,
    data_root: str | Path | None = None,
    out: str | Path | None = None,
    executor: str = "here",
    options: Options | None = None,
    retry: bool = False,
    tell: Callable[[Event], None] | None = None,
) -> StudyReport:
    """Run a study file and report it; what is done is not run again, and a killed study goes on where it was.

    `size` is one of the file's `[sizes.NAME]`; `data_root` takes the place of the folder its files are in; `out` is
    where results go. Steps that fail do not stop the others: `report.about["failed"]` has them.
    """
    planned = plan_study(file, size=size, data_root=data_root, out=out, ask=True)
    planned.run(executor=executor, options=options, retry=retry, tell=tell)
    return planned.write_report()


def as_dict(planned: Planned, told: Plan) -> dict[str, Any]:
    """A plan as plain data."""
    table = planned.study.table
    grid = {
        "encoders": list(table.encoders),
        "languages": list(table.languages),
        "tasks": list(table.tasks),
        "regimes": list(table.regimes),
        "seeds": list(planned.study.seeds),
        "measures": list(table.measures),
        "explanations": list(table.explanations),
        "geometry": list(table.geometry),
    }
    return {
        "study": planned.study.name,
        "folder": str(planned.home.folder),
        "grid": grid,
        "plan": told.to_dict(),
        "seeds": [asdict(each) for each in planned.seed_plans()],
        "notes": list(planned.notes),
        "failed": [asdict(failure) for failure in planned.failures()],
    }


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.is_file() else []
