"""What `interlingua transfer` calls, and what a notebook calls: `transfer()`."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from interlingua import languages as codes
from interlingua.analyses.aligned_bitext import LinkedFiles, Linking, check_aligner, linking_of
from interlingua.analyses.evaluation import read_predictions
from interlingua.analyses.seed_statistics import distance_table, summarise
from interlingua.analyses.transfer import (
    STATES,
    UNTRAINED,
    Exam,
    ExamFiles,
    File,
    Files,
    Lesson,
    TransferSettings,
    check_file,
    check_known,
    check_labels,
    plan,
    task_named,
)
from interlingua.commands import report
from interlingua.commands.command import command
from interlingua.encoder import Encoder
from interlingua.encoder.devices import pick_device
from interlingua.encoder.loading import check_precision
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.record import versions
from interlingua.report.notebook import Drawing, framed
from interlingua.report.record_adapter import to_v1
from interlingua.report.transfer_page import transfer_files
from interlingua.studies.analysis_settings import seeds_of, transfer_settings
from interlingua.studies.config.schema import TransferCommand
from interlingua.studies.run_folder import alone_in, check_folder, seconds_of, told_before
from interlingua.studies.transferring import TransferStudy
from interlingua.tasks import tasks
from interlingua.training.processes import first_process_first, is_first_process

DEFAULT_REGIMES = ("original", "adjusted", "continual")
"""What is compared where there is a bitext; without one, the original is all there is."""


@dataclass(frozen=True)
class Transfer:
    """What a transfer study found: `scores` has an entry a test, metric and regime, `distances` one a state.

    `run` is all that made them; the records with every example's value are in the store of `folder`.
    """

    scores: list[dict[str, Any]]
    distances: list[dict[str, Any]]
    run: dict[str, Any]
    folder: Path

    def select(self, metric: str) -> dict[tuple[str, str], dict[str, Any]]:
        """The entries of a metric, by regime and test."""
        return {(e["regime"], e["test"]): e for e in self.scores if e["metric"] == metric}

    def predictions(self) -> Iterator[dict[str, Any]]:
        """What every model said of every example: `file`, `line`, `test`, `regime`, `seed`, `gold`, `predicted` …"""
        return read_predictions(self.folder, set(self.run["steps"]))

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        return report.figure(self.folder, name)

    def _repr_html_(self) -> str:
        return framed(report.page_of(self.folder))

    def __repr__(self) -> str:
        shown = f"{self.run['task']}, {len(self.run['tests'])} tests, {len(self.run['regimes'])} regimes"
        return f"Transfer({self.run['model']}, {shown}, {len(self.run['seeds'])} seeds)"


@command(TransferCommand)
def transfer(given: TransferCommand) -> Transfer:
    """With `bitexts` of several languages a test is given to the model adjusted on its own language.

    In Python regimes may also be `Regime` objects. Started by `torchrun` or `accelerate launch`, all processes train
    each model together.
    """
    settings = transfer_settings(given)
    settings = replace(settings, source=codes.canonical(settings.source))
    out, task, regimes = Path(given.out), given.task, given.regimes
    place = pick_device(given.device)
    if settings.precision is not None:
        check_precision(place, settings.precision)
    chosen = seeds_of(given.seeds)
    files = ExamFiles(given.tests, given.mix_with, given.retrieval, given.test_rows)
    lesson, exams = _read(task, given.train, given.dev, files, settings)
    linking = linking_of(given.aligner, given.model, device=given.device)
    linked = _linked(given.bitexts or {}, given.links or {}, given.pivot_side, linking, settings.source)
    check_aligner(given.aligner, linked.values())
    if regimes is None:
        regimes = ("original",) if not linked else UNTRAINED if lesson.headless else DEFAULT_REGIMES
    scenarios, notes = plan(regimes, exams, tuple(linked), settings, task=lesson.task.name, headless=lesson.headless)
    if given.save_models and lesson.headless:
        raise InputError("there is no fine-tuned model to keep", value=task, remedy="Use interlingua adjust.")
    if place.index is not None:
        torch.cuda.set_device(place)  # The launcher of several processes chooses; alone, it takes the current one.
    encoder = Encoder.load(
        given.model,
        device=str(place),
        precision="fp32",
        trust_remote_code=given.trust_remote_code,
        allow_pickle=given.allow_pickle,
    )
    with alone_in(out, "transfer"):
        with first_process_first(place):
            check_folder(out, kind="transfer")
            store = Store(out)
        study = TransferStudy(
            encoder, lesson, scenarios, linked, chosen, settings, store, given.save_models, given.progress
        )
        started = time.monotonic()
        about = {
            "kind": "transfer",
            "model": encoder.name,
            "task": lesson.task.name,
            "metric": lesson.task.metric,
            "source": settings.source,
            "train": None if lesson.train is None else lesson.train.name,
            "tests": [exam.name for exam in exams],
            "test_rows": given.test_rows,
            "regimes": list(dict.fromkeys(scenario.regime for scenario in scenarios)),
            "bitexts": {code: [path.name for path in each.files] for code, each in linked.items()},
            "seeds": list(chosen),
            "settings": asdict(settings),
            "steps": study.steps,
        }
        return _result(study, exams, about, notes, started, out)


def _result(
    study: TransferStudy, exams: Sequence[Exam], about: dict[str, Any], notes: list[str], started: float, out: Path
) -> Transfer:
    """Run what is missing, compare, and write tables and picture."""
    before = told_before(out)
    missing = any(not study.store.done(key) for key in study.steps)
    if is_first_process() and missing:  # Of a session that is cut short the time is not known.
        told = {**(before or about), "seconds": None}
        write_text(out / "run.json", json.dumps(told, ensure_ascii=False, indent=1))
    lost = _left_out(study, exams) if missing else []
    study.run()
    lost = list(dict.fromkeys([*before.get("left_out", []), *lost, *study.notes]))
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    run = {
        **about,
        "skipped": [*notes, *lost],
        "left_out": lost,
        "trained": [*before.get("trained", []), *study.trained],
        "device": str(study.encoder.device),
        "precision": study.precision,
        "digests": {"model": study.encoder.digest, **{code: each.digest for code, each in study.bitexts.items()}},
        "versions": versions(),
        "seconds": seconds_of(before, time.monotonic() - started if missing else None),
        "created": now if missing else before.get("created", now),
    }
    with first_process_first(study.encoder.device):  # The others read what it wrote.
        return _compared(study, run, out)


def _compared(study: TransferStudy, run: dict[str, Any], out: Path) -> Transfer:
    store = study.store if is_first_process() else Store(out)
    wanted = set(study.steps)
    records = [record for record in store.read() if record.step in wanted]
    scores = summarise(
        records, store, regimes=run["regimes"], tests=run["tests"], permutations=study.settings.permutations
    )
    result = Transfer(scores, distance_table(records, states=[*STATES, *run["regimes"]]), run, out)
    if is_first_process():
        for name, text in transfer_files(result.scores, result.distances, run, to_v1(records)).items():
            write_text(out / name, text)
        write_text(out / "run.json", json.dumps(run, ensure_ascii=False, indent=1))
    return result


def _read(
    task: str, train: File | None, dev: File | None, files: ExamFiles, settings: TransferSettings
) -> tuple[Lesson, tuple[Exam, ...]]:
    """All examples, checked against each other."""
    what = task_named(task, length=settings.length, pooling=settings.pooling, source=settings.source)
    entry = tasks[task]
    source = settings.source
    if entry.needs != "head":
        for given, option in ((train, "--train"), (dev, "--dev")):
            if given is not None:
                raise InputError(f"{option} has nothing to do here", value=task, remedy="Nothing is trained for it.")
        return Lesson(what), files.read(what, source=source)
    if train is None:
        raise InputError("there is nothing to train the task on", value=task, remedy="Give --train FILE.")
    for path in (train, *([] if dev is None else [dev])):
        check_file(path)
    examples = what.read(train, source)
    if settings.train_rows is not None:
        examples = examples.sample(settings.train_rows, seed=0)
    labels = what.labels(examples)
    exams = files.read(what, source=source)
    check_labels(exams, labels, train=examples.name)
    chosen = None if dev is None else what.read(dev, source)
    if chosen is not None:
        check_known(chosen, what.kind, labels, train=examples.name)
    return Lesson(what, labels, examples, chosen), exams


def _linked(
    bitexts: Mapping[str, Files], links: Mapping[str, File], english: str | None, linking: Linking, source: str
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


def _left_out(study: TransferStudy, exams: Sequence[Exam]) -> list[str]:
    """All that was left out of the model's folder, examples and inputs, counted, in words."""
    parts = [exam.skipped for exam in exams]
    parts += [inputs.skipped for inputs in study.examiner.exam_inputs.values()]
    told = [str(skip) for part in parts for skip in part]
    return list(dict.fromkeys([*study.examiner.trained_without, *told]))
