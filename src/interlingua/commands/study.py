"""What `interlingua study` calls, and what a notebook calls: a study file checked, planned, run and reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from interlingua.analyses.evaluation import FOLDER as PREDICTIONS
from interlingua.analyses.evaluation import model_name, plain_name
from interlingua.analyses.published_numbers import PublishedMatch, read_published
from interlingua.analyses.seed_statistics import RegimeScore, StateDistances, summarize_distances
from interlingua.argument_types import check_argument_types
from interlingua.commands.geometry import geometry_entries
from interlingua.commands.report import maps_of
from interlingua.engine.atomic_files import reading_back, write_text
from interlingua.engine.digests import Digests
from interlingua.engine.disk import DiskUse, RemovableFile, garbage, remove, usage
from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph, StepState
from interlingua.engine.machine import this_machine
from interlingua.engine.plan import RunPlan, plan
from interlingua.engine.records import NOTES, Records, deduplicate_notes
from interlingua.engine.runner import Event, RunSummary, keep_all_heavy, keep_no_heavy, run
from interlingua.engine.workspace import Failure, Workspace
from interlingua.errors import InputError
from interlingua.paths import json_value, read_json
from interlingua.record import Items, Record, RecordTable, versions
from interlingua.report.files import report_files
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.kit.table import Table
from interlingua.report.report import Report, build_report
from interlingua.report.subjects.published import published_matches
from interlingua.report.subjects.seeds import task_scores
from interlingua.stats.power import SeedPlan, seed_plan
from interlingua.studies.compile import steps_of
from interlingua.studies.compile.model_revisions import Revisions
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.compile.tasks import saved_models
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.config.study_file import sizes_of
from interlingua.studies.steps.step_io import MODEL
from interlingua.studies.steps.synth import COUNTS
from interlingua.studies.study import Study
from interlingua.studies.validation import read_study

__all__ = ["PlannedStudy", "check_study", "plan_study", "study"]


KIND = "study"


def _identity(study: Study) -> dict[str, str]:
    """What of a study its folder is for: two sizes of one file have two folders."""
    return {"name": study.name}


@dataclass(frozen=True)
class StudyReport(ReportedResult):
    """The results of a study so far: scores of tasks, distances of words, published numbers beside ours, and a report.

    `run` is what the report is made of: the settings (`about`), all records, published numbers and maps.
    """

    run: Run
    folder: Path | None = None

    @property
    def about(self) -> Mapping[str, Any]:
        """What was run, and how far it came."""
        return self.run.about

    @property
    def records(self) -> RecordTable:
        """All numbers."""
        return self.run.records

    @property
    def scores(self) -> list[RegimeScore]:
        """One score per encoder, task, language of training, test, metric and regime."""
        return [score for group in task_scores(self.run) for score in group.scores]

    @property
    def distances(self) -> list[StateDistances]:
        """Distances of words, one entry per encoder, task, language and state."""
        return summarize_distances(self.run.records)

    @property
    def published(self) -> list[PublishedMatch]:
        """Published numbers, each with ours."""
        return published_matches(self.run)

    @property
    def tables(self) -> list[Table]:
        """All tables of the report."""
        return list(self.report().tables())

    def select(self, task: str, metric: str) -> dict[tuple[str, str, str], RegimeScore]:
        """The scores of a task's metric, by encoder, regime and test."""
        wanted = [score for score in self.scores if (score.task, score.metric) == (task, metric)]
        return {(score.model, score.regime, score.test): score for score in wanted}

    def report(self) -> Report:
        """Findings, tables and charts."""
        return build_report([self.run])

    @property
    def page_file(self) -> Path | None:
        """The page in the study's folder; None before it was written."""
        return None if self.folder is None else self.folder / "report.html"

    def exports(self) -> dict[str, Any]:
        """What study.json holds: settings, scores, published numbers, and the steps whose records were read."""
        scores = [
            {"encoder": score.model, "task": score.task, "source": score.source, **score.to_plain()}
            for score in self.scores
        ]
        distances = [
            {"encoder": each.model, "task": each.task, "source": each.source, **each.to_plain()}
            for each in self.distances
        ]
        # Maps are large, and stay where their steps left them.
        geometries = [
            {name: value for name, value in each.items() if name != "maps"}
            for each in self.run.attachments.get("geometries") or ()
        ]
        return {
            "study": dict(self.about),
            "scores": scores,
            "distances": distances,
            "beside": [match.to_plain() for match in self.published],
            "published": [vars(each) for each in self.run.attachments.get("published") or ()],
            "geometries": geometries,
            "steps": list(dict.fromkeys(record.step for record in self.records if record.step)),
        }

    def __repr__(self) -> str:
        return f"StudyReport({self.about['name']}, {len(self.records)} records)"


@dataclass(frozen=True)
class GpuChoice:
    """Whether a study computes on GPUs, which decides a precision that its file does not name.

    Its first run decides, and `file` keeps it: the steps of one folder compute in one precision, wherever they run.
    """

    used: bool
    file: Path | None = None

    @classmethod
    def of(cls, study: Study, workspace: Workspace, executor: str, options: Options) -> GpuChoice:
        """What the study's first run found; before it, what this one finds."""
        file = workspace.inner / "gpus.json"
        if study.table.precision is not None:
            return cls(False)  # Nothing hangs on it.
        if file.is_file():
            return cls(bool(read_json(file)["used"]), file)
        return cls(_has_gpus(executor, options), file)

    def check(self, executor: str, options: Options) -> None:
        """Refuse to go on without GPUs where the study was begun with them."""
        if self.used and self.file is not None and self.file.is_file() and not _has_gpus(executor, options):
            raise InputError(
                "the study was begun on a machine with GPUs, where it computes in bf16, and there is none here",
                file=self.file,
                remedy='Run it where one is, or name another --out, or write precision = "fp32" into the study file.',
            )

    def keep(self) -> None:
        """Write it into the study's folder."""
        if self.file is not None and not self.file.is_file():
            write_text(self.file, json.dumps({"used": self.used}) + "\n")


def _has_gpus(executor: str, options: Options) -> bool:
    if executor == "ray":
        from interlingua.engine.executors.ray import has_gpus

        return has_gpus(options)
    return bool(this_machine(options, True).gpus)


@dataclass(frozen=True, repr=False)
class PlannedStudy:
    """A study that was checked, with its steps; `notes` say what its grid leaves out."""

    study: Study
    graph: Graph
    workspace: Workspace
    notes: tuple[str, ...]
    revisions: Revisions = field(default_factory=Revisions, repr=False)
    gpus: GpuChoice = field(default_factory=lambda: GpuChoice(False))

    def __repr__(self) -> str:
        return f"Planned({self.study.name!r}, {len(list(self.graph))} steps, in {str(self.workspace.folder)!r})"

    def plan(self, *, retry: bool = False) -> RunPlan:
        """Steps by kind, what is done, and about how long the rest takes with this machine's CPUs and GPUs."""
        states = self.states(retry=retry)
        wanted = any(step.resources.gpus for step in self.graph if states[step.key] is StepState.NEEDED)
        machine = this_machine(Options(), wanted)
        return plan(self.graph, self.workspace, cpus=machine.cpus, gpus=len(machine.gpus), retry=retry)

    def seed_plans(self) -> list[SeedPlan]:
        """Which differences between regimes the seeds can detect, per task; none where a study compares none."""
        table, path = self.study.table, self.workspace.folder / "study.json"
        if len(table.regimes) < 2:
            return []
        found = read_json(path) if path.is_file() else {}
        scores = found.get("scores") if isinstance(found, dict) else None
        known = [each for each in scores if isinstance(each, dict)] if isinstance(scores, list) else []
        return [seed_plan(name, self.study.kind(name), len(self.study.seeds), known) for name in table.tasks]

    def run(
        self,
        *,
        executor: str = "local",
        options: Options | None = None,
        retry: bool = False,
        keep: bool = False,
        reuse: Sequence[str | Path] = (),
        tell: Callable[[Event], None] | None = None,
    ) -> RunSummary:
        """Run what is not done; see `engine.runner.run`. With `keep`, models and vectors stay that no step needs.

        Steps that are finished in the folders of `reuse`, those of earlier runs, are taken over.
        """
        options = options or Options()
        states = self.states(retry=retry)
        if any(step.resources.gpus for step in self.graph if states[step.key] is StepState.NEEDED):
            self.gpus.check(executor, options)
        others = [_earlier(Path(folder)) for folder in reuse]
        with self._alone(options):
            if options.group.is_first:
                for other in others:
                    self.workspace.adopt(other, [step.key for step in self.graph])
            summary = run(
                self.graph,
                self.workspace,
                executor=executor,
                options=options,
                retry=retry,
                keep=keep_all_heavy if keep else keep_no_heavy,
                tell=tell,
            )
            if options.group.is_first:
                self._export_models()
            return summary

    def _export_models(self) -> None:
        """Give the models that tasks ask to be saved the names that people see, in `models/`."""
        done = self.workspace.done()
        for about, step in saved_models(self.study, self.graph):
            if step.key in done and not self.workspace.is_pruned(step.key):
                model = model_name(about.regime, about.bitext_languages, about.seed)
                name = f"{about.encoder.name}-{about.block}-{about.source}-{model}"
                self.workspace.export(step.key, str(MODEL), f"models/{plain_name(name)}")

    @contextmanager
    def _alone(self, options: Options) -> Iterator[None]:
        """The folder as this study's; of several processes that run it together, the first takes it for all."""
        if not options.group.is_first:
            yield
            return
        with self.workspace.acquire(KIND, _identity(self.study), shared=True):
            self.revisions.keep()
            self.gpus.keep()
            yield

    def states(self, *, retry: bool = False) -> dict[str, StepState]:
        """Where each step stands, by key; with `retry`, what failed is to be run again."""
        return self.graph.states(self.workspace, retry=retry)

    def failures(self) -> list[Failure]:
        """Steps of this study that failed, and why."""
        return [failure for key, failure in self.workspace.failures().items() if key in self.graph]

    def predictions(self) -> Iterator[dict[str, Any]]:
        """What each model said of each example of its tests, a line each, of the steps that are done."""
        for step in self.graph:
            for path in sorted((self.workspace.step(step.key) / PREDICTIONS).glob("*.jsonl")):
                with path.open(encoding="utf-8") as lines:
                    yield from map(json_value, lines)

    def usage(self) -> tuple[DiskUse, ...]:
        return usage(self.graph, self.workspace)

    def garbage(self) -> tuple[RemovableFile, ...]:
        """What no record needs any more."""
        return garbage(self.graph, self.workspace) if self.workspace.work.is_dir() else ()

    def remove(self, waste: tuple[RemovableFile, ...]) -> int:
        """Remove it; the number of bytes."""
        return remove(waste, self.workspace)

    def report(self) -> StudyReport:
        """The results so far, with published numbers beside ours where the study names them.

        Steps count as soon as they are done, also while a run goes on, or after one was killed.
        """
        done = self.workspace.done()
        if not any(step.key in done for step in self.graph) and not self.failures():
            raise InputError(
                "nothing was measured yet", file=self.workspace.folder, remedy="Run it first: interlingua study run."
            )
        Records.collect(self.graph, self.workspace)
        table, store = self.study.table, Records(Record, self.workspace.folder)
        wanted = {step.key for step in self.graph}
        records = [record for record in store.read() if record.step in wanted]
        states = list(self.states().values())
        steps = {str(state): states.count(state) for state in StepState}
        about: dict[str, Any] = {
            "kind": "study",
            "name": self.study.name,
            "about": table.about,
            "paper": table.paper,
            "size": self.study.size,
            "source": table.source,
            "languages": list(table.languages),
            "encoders": list(table.encoders),
            **({"models": list(table.models)} if table.models else {}),
            "regimes": list(table.regimes),
            "seeds": list(self.study.seeds),
            "permutations": table.permutations,
            "tasks": {name: self.study.kind(name) for name in table.tasks},
            "steps": steps,
            "unfinished": _unfinished(steps),
            "failed": [f"{failure.label}: {failure.message}" for failure in self.failures()],
            "notes": [*self.notes, *deduplicate_notes(_lines(self.workspace.folder / NOTES))],
            "versions": versions(),
        }
        numbers = [] if table.published is None else read_published(self.study.file.parent / table.published)
        geometries = geometry_entries(table, self.graph, self.workspace, records)
        for each in geometries:
            each["maps"] = maps_of(self.workspace, each["steps"])
        run = Run(
            kind="study",
            about=about,
            records=RecordTable(records),
            attachments={"published": numbers, "geometries": geometries},
            items=_items_of(store),
        )
        return StudyReport(run, self.workspace.folder)

    def write_report(self) -> StudyReport:
        """The report, also as files in the study's folder: `report.html`, `summary.md`, `tables/`, `study.json`."""
        with reading_back(self.workspace.folder):
            report = self.report()
        if not self.study.table.tests_models:
            self._show_made()
        exports = json.dumps(report.exports(), ensure_ascii=False, indent=1)
        for name, text in {"study.json": exports, **report_files(report.run)}.items():
            write_text(self.workspace.folder / name, text)
        return report

    def _show_made(self) -> None:
        """Give visible names to what a study makes that asks nothing of models: `models/NAME`, `synth/NAME`."""
        for step in self.graph:
            place = self.workspace.step(step.key)
            if step.kind == "pretrain" and (place / MODEL).is_dir():
                self.workspace.export(step.key, str(MODEL), f"models/{step.like}")
            for file in (*place.glob("*.iob2"), *place.glob(COUNTS)) if step.kind == "synth" else ():
                self.workspace.export(step.key, file.name, f"synth/{step.like}/{file.name}")


def _unfinished(steps: Mapping[str, int]) -> str:
    """How far a study came that was stopped, or in which steps failed; empty for a finished one."""
    done, every = steps.get("done", 0), sum(steps.values())
    if done == every:
        return ""
    return (
        f"This study is not finished: {done} of {every} steps are done, and the report covers those. interlingua study "
        "status shows what is left."
    )


def _items_of(store: Records[Record]) -> Callable[[Record], Items | None]:
    """The values of each item of a record; None where it has none."""
    return lambda record: None if record.items is None else store.items(record)


def _earlier(folder: Path) -> Workspace:
    """The folder of an earlier run."""
    found = Workspace(folder)
    if not (found.inner / "steps").is_dir():
        raise InputError(
            "no run of interlingua is in this folder",
            file=folder,
            remedy="Give the --out of an earlier command or study.",
        )
    return found


def plan_study(
    file: str | Path,
    *,
    size: str | None = None,
    data_root: str | Path | None = None,
    out: str | Path | None = None,
    encoders: Mapping[str, str | Path] | None = None,
    ask: bool = False,
    executor: str = "local",
    options: Options | None = None,
) -> PlannedStudy:
    """A study file at a size, checked, with all its steps; nothing is written but a cache of files' digests.

    `ask` asks the hub for the commits of models that its cache here does not have, as a run does. A precision that the
    file does not name follows from the GPUs of the study's first run; before it, from those that `executor` finds with
    these `options`.
    """
    found = read_study(file, size=size, data_root=data_root, encoders=encoders)
    workspace = Workspace(Path(out) if out is not None else Path(f"interlingua-study-{found.name}"))
    workspace.check(KIND, _identity(found))
    digests = Digests(workspace.digests)
    revisions = Revisions(workspace.inner / "revisions.json", ask)
    gpus = GpuChoice.of(found, workspace, executor, options or Options())
    inputs = StudyInputs(found, digests, revisions, gpus.used)
    steps, notes = steps_of(inputs)
    if workspace.inner.is_dir():
        digests.keep()
    saved = {step.key for _, step in saved_models(found, steps)}
    graph = Graph(steps, whole=lambda step: step.key in saved)
    return PlannedStudy(found, graph, workspace, tuple(notes), revisions, gpus)


def check_study(
    file: str | Path,
    *,
    size: str | None = None,
    data_root: str | Path | None = None,
    encoders: Mapping[str, str | Path] | None = None,
) -> dict[str, PlannedStudy]:
    """Every size of a study file (or one) that is right, under its name; what is wrong in any is one error with all
    lines.
    """
    names: list[str | None] = [size] if size is not None else [*sizes_of(Path(file))] or [None]
    found: dict[str, PlannedStudy] = {}
    problems: dict[str, InputError] = {}
    for name in names:
        try:
            found[name or ""] = plan_study(file, size=name, data_root=data_root, encoders=encoders)
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
    encoders: Mapping[str, str | Path] | None = None,
    executor: str = "local",
    options: Options | None = None,
    retry: bool = False,
    keep: bool = False,
    reuse: Sequence[str | Path] = (),
    tell: Callable[[Event], None] | None = None,
) -> StudyReport:
    """Run a study file and report it; what is done is not run again, and a killed study goes on where it was.

    `size` is one of the file's `[sizes.NAME]`; `data_root` takes the place of the folder its files are in; `out` is
    where results go. `encoders` are models in the place of the file's, or beside them, under their names. `keep` keeps
    models and vectors that no step to come needs; `reuse` are folders of earlier runs, whose finished steps are taken
    over. Steps that fail do not stop others: `report.about["failed"]` has them.
    """
    planned = plan_study(
        file, size=size, data_root=data_root, out=out, encoders=encoders, ask=True, executor=executor, options=options
    )
    planned.run(executor=executor, options=options, retry=retry, keep=keep, reuse=reuse, tell=tell)
    return planned.write_report()


def as_dict(planned: PlannedStudy, told: RunPlan) -> dict[str, Any]:
    """A plan as plain data."""
    table = planned.study.table
    grid = {
        "encoders": list(table.encoders),
        "models": list(table.models),
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
        "folder": str(planned.workspace.folder),
        "grid": grid,
        "plan": told.to_dict(),
        "seeds": [asdict(each) for each in planned.seed_plans()],
        "notes": list(planned.notes),
        "failed": [asdict(failure) for failure in planned.failures()],
    }


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.is_file() else []
