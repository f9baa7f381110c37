"""What `interlingua transfer` calls, and what a notebook calls: `transfer()`, a study with one cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch

from interlingua import languages as codes
from interlingua.analyses.aligned_bitext import AlignerChoice, LinkedFiles, check_aligner, linking_of
from interlingua.analyses.evaluation import FOLDER, model_name, plain_name, read_predictions
from interlingua.analyses.seed_statistics import RegimeScore, StateDistances, summarize_distances
from interlingua.analyses.transfer import (
    UNTRAINED,
    File,
    Files,
    TestFiles,
    TestSet,
    TransferSettings,
    check_file,
    check_labels,
    check_labels_known,
    parse_test_languages,
    plan_regimes,
    task_named,
)
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.encoder.devices import pick_device
from interlingua.encoder.model_loading import check_precision, find_folder
from interlingua.engine.disk import prune_others
from interlingua.engine.step import Step
from interlingua.errors import InputError
from interlingua.paths import json_value
from interlingua.report.files import report_files
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.report import Report, build_report
from interlingua.report.subjects.seeds import task_scores
from interlingua.studies.analysis_settings import seeds_of, transfer_settings
from interlingua.studies.compile.tasks import saved_models
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import (
    AdjustTable,
    BitextTable,
    EncoderTable,
    PairReading,
    StudyTable,
    TaskTable,
    TransferCommand,
)
from interlingua.studies.step_settings import AdjustStep, FinetuneStep, PredictStep
from interlingua.studies.steps.step_io import MODEL
from interlingua.studies.study import MADE
from interlingua.tasks import tasks
from interlingua.training.regime import Regime

DEFAULT_REGIMES = ("original", "adjusted", "continual")
"""What is compared where there is a bitext; without one, the original is all there is."""
_JOURNAL = re.compile(r"\d+-(.+)\.jsonl")


@dataclass(frozen=True)
class Transfer(ReportedResult):
    """The result of a transfer: `scores`, one per test, metric and regime, and `distances`, one per state.

    `run` has the settings. The records with the values of every example are in the store of `folder`; `reported` is
    what the report is made of.
    """

    scores: Sequence[RegimeScore]
    distances: Sequence[StateDistances]
    run: dict[str, Any]
    folder: Path
    reported: Run = field(repr=False)

    def select(self, metric: str) -> dict[tuple[str, str], RegimeScore]:
        """The scores of a metric, by regime and test."""
        return {(score.regime, score.test): score for score in self.scores if score.metric == metric}

    def predictions(self) -> Iterator[dict[str, Any]]:
        """What every model predicted for every example: `file`, `line`, `test`, `regime`, `gold`, `predicted` …"""
        return read_predictions(self.folder, set(self.run["steps"]))

    def report(self) -> Report:
        """Findings, tables and charts."""
        return build_report([self.reported])

    @property
    def page_file(self) -> Path:
        """The page in the run's folder."""
        return self.folder / "report.html"

    def exports(self) -> dict[str, Any]:
        """What transfer.json holds."""
        return {
            "scores": [score.to_plain() for score in self.scores],
            "distances": [distances.to_plain() for distances in self.distances],
        }

    def __repr__(self) -> str:
        shown = f"{self.run['task']}, {len(self.run['tests'])} tests, {len(self.run['regimes'])} regimes"
        return f"Transfer({self.run['model']}, {shown}, {len(self.run['seeds'])} seeds)"


@dataclass(frozen=True)
class CheckedTransfer:
    """A call of `transfer` that was checked: what of its files and regimes its steps and its page are made of."""

    given: TransferCommand
    settings: TransferSettings
    seeds: tuple[int, ...]
    task: str
    metric: str
    headless: bool
    train: str | None
    exams: tuple[str, ...]
    bitexts: Mapping[str, LinkedFiles]
    regimes: tuple[str | Regime, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the regimes, in their order."""
        return tuple(each.name if isinstance(each, Regime) else each for each in self.regimes)


@command(TransferCommand)
def transfer(given: TransferCommand) -> Transfer:
    """With `bitexts` of several languages a test is given to the model adjusted on its own language.

    In Python regimes may also be `Regime` objects. Started by `torchrun` or `accelerate launch`, all processes train
    each model together.
    """
    checked = _checked(given)
    with ran(_compiled(checked)) as finished:
        about = _about(checked, finished)
        reported = Run(kind="transfer", about=about, records=finished.records, items=finished.store.items)
        result = Transfer(
            [score for group in task_scores(reported) for score in group.scores],
            summarize_distances(finished.records, states=about["regimes"]),
            about,
            finished.folder,
            reported,
        )
        _export(finished)
        if finished.is_first:  # Models of other settings whose names were taken by those of this run.
            prune_others(finished.planned.graph, finished.planned.workspace)
        finished.write("transfer.json", json.dumps(result.exports(), ensure_ascii=False, indent=1))
        for name, text in report_files(reported).items():
            finished.write(name, text)
        finished.write_about(about)
        return result


def compile_transfer(given: TransferCommand) -> CompiledCommand:
    """The command as a study with one cell, checked."""
    return _compiled(_checked(given))


def _checked(given: TransferCommand) -> CheckedTransfer:
    """All that can be wrong, reported before anything is written: examples, labels, languages, regimes, the model."""
    settings = transfer_settings(given)
    settings = replace(settings, source=codes.canonical(settings.source))
    given = _with_source_test(given, settings.source)
    regimes = given.regimes
    place = pick_device(given.device)
    if settings.precision is not None:
        check_precision(place, settings.precision)
    seeds = seeds_of(given.seeds)
    what = task_named(given.task, length=settings.length, pooling=settings.pooling, source=settings.source)
    train, exams = _read(what, given, settings)
    linking = linking_of(given.aligner, given.model, device=given.device)
    linked = _linked(given.bitexts or {}, given.links or {}, given.pivot_side, linking, settings.source)
    check_aligner(given.aligner, linked.values())
    headless = tasks[given.task].needs != "head"
    if regimes is None:
        regimes = ("original",) if not linked else UNTRAINED if headless else DEFAULT_REGIMES
    plan_regimes(regimes, exams, tuple(linked), settings, task=what.name, headless=headless)
    if given.save_models and headless:
        raise InputError("there is no fine-tuned model to keep", value=given.task, remedy="Use interlingua adjust.")
    find_folder(given.model, allow_pickle=given.allow_pickle)
    if place.index is not None:
        torch.cuda.set_device(place)  # The launcher of several processes chooses; alone, it takes the current one.
    names = tuple(exam.name for exam in exams)
    own = (given, settings, seeds, what.name, what.metric, headless, train, names, linked)
    return CheckedTransfer(*own, regimes=tuple(regimes))


def _with_source_test(given: TransferCommand, source: str) -> TransferCommand:
    """The command with a test in the language of training: how much of its own score transfers is the question.

    Where none is given, the examples that the epoch is chosen on take its place; their score is slightly too high.
    Examples that are trained on never do.
    """
    tested = any(parse_test_languages(name) == (source,) for name in given.tests)
    if tested or given.dev is None or tasks[given.task].needs != "head":
        return given
    return replace(given, tests={**given.tests, f"{source}:dev": given.dev})


def _dev_test(checked: CheckedTransfer) -> str | None:
    """The test that is made of the examples the epoch is chosen on."""
    name = f"{checked.settings.source}:dev"
    return name if checked.given.dev is not None and checked.given.tests.get(name) == checked.given.dev else None


def _read(what: Any, given: TransferCommand, settings: TransferSettings) -> tuple[str | None, tuple[TestSet, ...]]:
    """The name of the examples that are trained on, and all tests, checked against each other."""
    source, train, dev = settings.source, given.train, given.dev
    files = TestFiles(given.tests, given.mix_with, given.retrieval, given.test_rows)
    if tasks[given.task].needs != "head":
        for file, option in ((train, "--train"), (dev, "--dev")):
            if file is not None:
                raise InputError(
                    f"{option} has nothing to do here", value=given.task, remedy="Nothing is trained for it."
                )
        return None, files.read(what, source=source)
    if train is None:
        raise InputError("there is nothing to train the task on", value=given.task, remedy="Give --train FILE.")
    for path in (train, *([] if dev is None else [dev])):
        check_file(path)
    examples = what.read(train, source)
    if settings.train_rows is not None:
        examples = examples.sample(settings.train_rows, seed=0)
    labels = what.labels(examples)
    exams = files.read(what, source=source)
    check_labels(exams, labels, train=examples.name)
    if dev is not None:
        check_labels_known(what.read(dev, source), what.kind, labels, train=examples.name)
    return examples.name, exams


def _linked(
    bitexts: Mapping[str, Files], links: Mapping[str, File], english: str | None, linking: AlignerChoice, source: str
) -> dict[str, LinkedFiles]:
    """The bitexts by language, checked: files that are there, links that have a text."""
    own = {codes.canonical(name): Path(path) for name, path in links.items()}
    found: dict[str, LinkedFiles] = {}
    for name, files in bitexts.items():
        code = codes.canonical(name)
        if code == source or code in found:
            raise InputError(
                "a bitext is with another language, one each", value=name, remedy=f"Training is in {source}."
            )
        paths = tuple(Path(path) for path in (files if isinstance(files, tuple) else (files,)))
        found[code] = LinkedFiles(paths, own.get(code), english, linking, source)
    for code in own:
        if code not in found:
            raise InputError("links without a bitext", value=code, remedy=f"Give --bitext {code}=FILE.")
    return found


def _compiled(checked: CheckedTransfer) -> CompiledCommand:
    """The study with one cell that does what was asked for."""
    given, settings = checked.given, checked.settings
    source, kind = settings.source, checked.task
    foreign = [code for name in (*given.tests, *(given.retrieval or {})) for code in parse_test_languages(name)]
    languages = dict.fromkeys([*checked.bitexts, *(code for code in foreign if code != source)])
    linked = {code: files for code, files in checked.bitexts.items() if files.links is not None}
    table = StudyTable(
        name="transfer",
        languages=tuple(languages) or (source,),
        source=source,
        seeds=checked.seeds,
        regimes=checked.names,
        precision=given.precision,
        permutations=given.permutations,
        encoders={
            given.model: EncoderTable(
                model=given.model, trust_remote_code=given.trust_remote_code, allow_pickle=given.allow_pickle
            )
        },
        bitexts=None
        if not checked.bitexts
        else BitextTable(
            files={code: tuple(_name(file) for file in each.files) for code, each in checked.bitexts.items()},
            links={code: _name(files.links) for code, files in linked.items() if files.links} or None,
            aligner=given.aligner,
            pivot_side=given.pivot_side,
        ),
        adjust=AdjustTable(
            **{entry.name: getattr(given, entry.name) for entry in fields(PairReading)},
            epochs=given.adjust_epochs,
            learning_rate=given.adjust_learning_rate,
            batch_size=given.adjust_batch_size,
            alpha=given.alpha,
            joint_adjustment=given.joint_adjustment,
            map_on=given.map_on,
            distances=given.distances,
            checkpoint_every=given.checkpoint_every,
            compile=given.compile,
        ),
        tasks={
            kind: TaskTable(
                train=None if given.train is None else _name(given.train),
                dev=None if given.dev is None else _name(given.dev),
                tests=_named(given.tests),
                mix_with=None if given.mix_with is None else _name(given.mix_with),
                retrieval=_named(given.retrieval) if given.retrieval else None,
                epochs=given.epochs,
                learning_rate=given.learning_rate,
                batch_size=given.batch_size,
                warmup=given.warmup,
                max_length=given.max_length,
                pooling=given.pooling,
                train_rows=given.train_rows,
                test_rows=given.test_rows,
                checkpoint_every=given.checkpoint_every,
                compile=given.compile,
                save_models=given.save_models,
            )
        },
    )
    own = {each.name: each for each in checked.regimes if isinstance(each, Regime)}
    study = one_cell(table, options=_options(kind, given.model), regimes=own)
    place = Path(given.model).expanduser()
    return CompiledCommand(
        kind="transfer",
        study=study,
        # A model by its folder's own name, from wherever it is named.
        identity={
            "model": place.resolve().name if place.is_dir() else given.model,
            "task": checked.task,
            "source": source,
        },
        out=Path(given.out),
        device=given.device,
        progress=given.progress,
        keep=lambda step: given.save_models and step.kind == "finetune",
    )


def _name(file: File) -> str:
    """A file as a study names it: one whose name begins as those that steps make is one of this folder."""
    return f"./{file}" if str(file).startswith(MADE) else str(file)


def _named(files: Mapping[str, Files]) -> dict[str, str | tuple[str, ...]]:
    return {
        name: tuple(_name(file) for file in given) if isinstance(given, tuple) else _name(given)
        for name, given in files.items()
    }


def _options(task: str, model: str) -> dict[Place, str]:
    """The options that fill in the tables of the study, for messages about them."""
    own = {"train": "--train", "dev": "--dev", "tests": "--test", "mix_with": "--mix-with", "retrieval": "--retrieval"}
    return {
        ("encoders", model): "MODEL",
        ("bitexts",): "--bitext",
        ("bitexts", "links"): "--links",
        ("bitexts", "aligner"): "--aligner",
        ("regimes",): "--regimes",
        ("seeds",): "--seeds",
        ("source",): "--source",
        ("tasks", task): "--task",
        **{("tasks", task, key): option for key, option in own.items()},
    }


def _about(checked: CheckedTransfer, finished: FinishedCommand) -> dict[str, Any]:
    """What `run.json` says of the run."""
    return finished.about(
        model=checked.given.model,
        task=checked.task,
        metric=checked.metric,
        source=checked.settings.source,
        train=checked.train,
        tests=list(checked.exams),
        dev_test=_dev_test(checked),
        test_rows=checked.given.test_rows,
        regimes=list(checked.names),
        bitexts={code: [path.name for path in each.files] for code, each in checked.bitexts.items()},
        seeds=list(checked.seeds),
        settings=asdict(checked.settings),
        permutations=checked.settings.permutations,
        trained=_trained(finished),
        precision=next((settings.precision for settings, _ in _tests(finished)), None),
        digests={
            "model": next((record.digests["model"] for record in finished.records), None),
            **{code: each.digest for code, each in checked.bitexts.items()},
        },
    )


def _trained(finished: FinishedCommand) -> list[dict[str, Any]]:
    """What was trained: of each phase the run that it began with, its seed and steps; and the seconds of its step."""
    took = {told["key"]: told["seconds"] for told in finished.planned.workspace.read_times()}
    labels = {tuned.key: f"{own.regime} {'+'.join(own.bitext_languages)}".strip() for own, tuned in _models(finished)}
    found = []
    for settings, step in _trainings(finished):
        for phase, journal in _journals(finished, step):
            about = {"run": labels.get(step.key, "adjustment"), "phase": phase, "seed": settings.seed}
            found.append(about | {"steps": _last_step(journal), "seconds": took.get(step.key)})
    return found


def _export(finished: FinishedCommand) -> None:
    """Give predictions, models and the metrics of training the names that people see."""
    for settings, step in _tests(finished):
        for file in sorted((finished.place(step) / FOLDER).glob("*")):
            finished.export(step, f"{FOLDER}/{file.name}", f"{FOLDER}/{plain_name(_name_of(settings))}.{file.name}")
    for settings, tuned in saved_models(finished.study, finished.steps("predict")):
        finished.export(tuned, str(MODEL), f"models/{_name_of(settings)}")
    names = {tuned.key: _name_of(settings) for settings, tuned in _models(finished)}
    for own, step in _trainings(finished):
        for phase, journal in _journals(finished, step):
            of_task = phase == "task" and step.key in names
            name = names[step.key] if of_task else model_name(phase, [each.language for each in own.bitexts], own.seed)
            finished.export(step, journal.name, f"steps/{plain_name(name)}.jsonl")


def _name_of(settings: PredictStep) -> str:
    return model_name(settings.regime, settings.bitext_languages, settings.seed)


def _tests(finished: FinishedCommand) -> list[tuple[PredictStep, Step]]:
    return [(step.settings, step) for step in finished.steps("predict") if isinstance(step.settings, PredictStep)]


def _models(finished: FinishedCommand) -> list[tuple[PredictStep, Step]]:
    """Each fine-tuning with the tests of the first regime that it is for: a model before a map is another regime's."""
    found: dict[str, tuple[PredictStep, Step]] = {}
    for settings, step in _tests(finished):
        if (tuned := step.needs.get("tuned")) is not None:
            found.setdefault(tuned.key, (settings, tuned))
    return list(found.values())


def _trainings(finished: FinishedCommand) -> list[tuple[AdjustStep | FinetuneStep, Step]]:
    every = finished.planned.graph
    return [(each.settings, each) for each in every if isinstance(each.settings, AdjustStep | FinetuneStep)]


def _journals(finished: FinishedCommand, step: Step) -> list[tuple[str, Path]]:
    """The phases of a step that trains, each with its metrics of every training step."""
    files = sorted(finished.place(step).glob("*-*.jsonl"))
    return [(named[1], file) for file in files if (named := _JOURNAL.fullmatch(file.name)) is not None]


def _last_step(journal: Path) -> int:
    lines = journal.read_text("utf-8").splitlines()
    return max((int(told["step"]) for told in map(json_value, lines) if "step" in told), default=0)
