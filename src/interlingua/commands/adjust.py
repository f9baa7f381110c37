"""What `interlingua adjust` calls, and what a notebook calls: `adjust()`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.aligned_bitext import AlignerChoice, LinkedFiles, LinkedText, check_aligner, linking_of
from interlingua.analyses.training_inputs import check_trained
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.encoder.devices import pick_device
from interlingua.encoder.model_loading import check_precision, default_precision, find_folder
from interlingua.engine.process_group import current_group
from interlingua.engine.records import read_items
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.record import Items, RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.report import Report, build_report
from interlingua.studies.analysis_settings import adjust_phase, filter_table
from interlingua.studies.config.fields import Place, settings_of
from interlingua.studies.config.schema import AdjustCommand, AdjustTable, BitextTable, EncoderTable, StudyTable
from interlingua.studies.steps.adjust import TEXTS
from interlingua.studies.steps.step_io import MODEL, PROGRESS, journal_name
from interlingua.training.checkpoints import load_whole
from interlingua.training.journal import read_journal

File = str | Path
Files = File | tuple[File, ...]
Text = LinkedFiles | LinkedText
STEPS = "steps.jsonl"
_LINKER = "aligner"


@dataclass(frozen=True, repr=False)
class AdjustedModel(ReportedResult):
    """An adjusted model: its folder, the content of `run.json`, and the records of both states."""

    folder: Path
    run: Mapping[str, Any]
    records: RecordTable

    @property
    def finished(self) -> bool:
        """Whether the training came to its end, and both states were measured."""
        return bool(self.run["training"]["finished"])

    def report(self) -> Report:
        """Whether the adjustment helped, with tables and charts: what the page shows."""
        return build_report([adjust_run(self.folder, self.run, self.records)])

    def __repr__(self) -> str:
        done = "" if self.finished else ", not finished"
        steps = self.run["training"]["steps"]
        return f"AdjustedModel({str(self.folder)!r}, from {self.run['model']!r}, {steps} steps{done})"

    @property
    def page_file(self) -> Path | None:
        """The page in the folder; None of a run that was stopped."""
        return self.folder / "report.html" if self.finished else None


def adjust_run(folder: Path, about: Mapping[str, Any], records: RecordTable) -> Run:
    """What a report reads of an adjustment: its settings, its records with their items, and the losses of every step.

    Items that are lost with their file are None: then nothing is tested.
    """

    @cache
    def read(place: str) -> Items | None:
        try:
            return read_items(folder, place)
        except InputError:
            return None

    return Run(
        kind="adjust",
        about=about,
        records=records,
        attachments={"curves": read_journal(folder / STEPS)},
        items=lambda record: None if record.items is None else read(record.items),
    )


def compile_adjust(given: AdjustCommand) -> CompiledCommand:
    """The adjustment as a study with one cell: one model, all bitexts at once, measured before and after."""
    place = pick_device(given.device)
    precision = given.precision or default_precision(place)
    check_precision(place, precision)
    linking = linking_of(given.aligner, given.model, device=given.device, aligner_model=given.aligner_model)
    texts = _texts(given.bitexts, given.links, given.pivot_side, linking)
    check_aligner(given.aligner, texts.values())
    name = Path(given.model).name
    table = AdjustTable(
        **{field.name: getattr(given, field.name) for field in settings_of(AdjustTable) if hasattr(given, field.name)},
        pair_filters=filter_table(given.pair_filters),
        encoders=(name,) if given.aligner_model is not None else (),
        effect=True,
        joint_adjustment=len(texts) > 1,
    )
    _check_model(given, table)
    out = Path(given.out)
    identity = _identity(given, precision, texts)
    notes = tuple(
        f"{code}: {note}" for code, text in texts.items() if isinstance(text, LinkedText) for note in text.notes
    )
    files = _written(texts, out, identity)
    encoders = {
        name: EncoderTable(
            model=given.model, trust_remote_code=given.trust_remote_code, allow_pickle=given.allow_pickle
        )
    }
    if given.aligner_model is not None:
        encoders[_LINKER] = EncoderTable(model=given.aligner_model)
    study = one_cell(
        StudyTable(
            name="adjust",
            languages=tuple(files),
            source=_source(files),
            seeds=(given.seed,),
            precision=given.precision,
            encoders=encoders,
            bitexts=_bitext_table(given, files),
            adjust=table,
        ),
        _OPTIONS | {("encoders", name, "model"): "MODEL", ("encoders", _LINKER, "model"): "--aligner-model"},
    )
    return CompiledCommand(
        kind="adjust",
        study=study,
        identity=identity,
        out=out,
        lasting=("adjust",),
        device=given.device,
        progress=given.progress,
        stop_after=given.stop_after,
        keep=_is_adjusted,
        tensorboard=None if given.tensorboard is None else Path(given.tensorboard).absolute(),
        notes=notes,
    )


_OPTIONS: dict[Place, str] = {
    ("bitexts", "files"): "--bitext",
    ("bitexts", "links"): "--links",
    ("bitexts", "aligner"): "--aligner",
    ("bitexts", "pivot_side"): "--pivot-side",
    ("bitexts", "encoder"): "--aligner-model",
}


def _is_adjusted(step: Step) -> bool:
    return step.kind == "adjust"


def _check_model(given: AdjustCommand, table: AdjustTable) -> None:
    """Refuse what the model cannot do, before any text is read; it is loaded only where that is in question."""
    find_folder(given.model, allow_pickle=given.allow_pickle)
    if given.layer == -1 and given.freeze is None and given.lora is None:
        return
    model, _, _ = load_whole(given.model, trust_remote_code=given.trust_remote_code, allow_pickle=given.allow_pickle)
    check_trained(model, given.layer, [adjust_phase(table)], seed=given.seed)


def _texts(
    bitext: Files | LinkedText | Mapping[str, Files | LinkedText],
    links: File | Mapping[str, File] | None,
    english: str | None,
    linking: AlignerChoice,
) -> dict[str, Text]:
    """The texts by language, checked: files that are there, links that have a text."""
    given: Mapping[str, Files | LinkedText] = bitext if isinstance(bitext, Mapping) else {"": bitext}
    linked = links if isinstance(links, Mapping) else {} if links is None else {next(iter(given), ""): links}
    if not given:
        raise InputError("there is no bitext", remedy="Give --bitext FILE.")
    if set(linked) == {""} and len(given) == 1:
        linked = dict.fromkeys(given, linked[""])
    if links is not None and not isinstance(links, Mapping) and len(given) > 1:
        raise InputError("whose links are these", value=str(links), remedy="Name their language: --links ru=FILE.")
    found: dict[str, Text] = {}
    for name in linked:
        if name not in given:
            raise InputError("links without a bitext", value=name, remedy=f"Give --bitext {name}=FILE.")
    for name, text in given.items():
        made, code = (text, None) if isinstance(text, LinkedText) else _files(text, linked.get(name), english, linking)
        code = codes.canonical(name) if name else code
        if code is None:
            file = None if isinstance(made, LinkedText) else made.files[0]
            shown = "FILE" if isinstance(made, LinkedText) else ",".join(map(str, made.files))
            raise InputError(
                "the language of the bitext is not known from its name or its first line",
                file=file,
                remedy=f"Name it: --bitext ru={shown} (in Python a mapping of language to files).",
            )
        if code in found:
            raise InputError("two bitexts of one language", value=code, remedy="Join the files.")
        found[code] = made
    return found


def _files(
    text: Files, links: File | None, english: str | None, linking: AlignerChoice
) -> tuple[LinkedFiles, str | None]:
    """A bitext in files, and its language where these say so."""
    parts = text if isinstance(text, tuple) else (text,)
    if not all(isinstance(path, str | os.PathLike) for path in parts):
        raise InputError(
            "a bitext is a file, or two",
            value=type(text).__name__,
            remedy="Give paths; for text in memory LinkedText.of(interlingua.align(pairs)).",
        )
    made = LinkedFiles(tuple(map(Path, parts)), None if links is None else Path(links), english, linking)
    return made, made.language


def _identity(given: AdjustCommand, precision: str, texts: Mapping[str, Text]) -> dict[str, str]:
    """What the run's folder is for: a model, texts by content, and all settings that decide the adjusted model."""
    apart = {"model", "bitexts", "links", "aligner", "aligner_model", "pivot_side", "out", "device", "progress",
             "tensorboard", "stop_after", "checkpoint_every", "precision", "pair_filters"}  # fmt: skip
    own = {field.name: getattr(given, field.name) for field in settings_of(AdjustCommand) if field.name not in apart}
    local = Path(given.model).expanduser()
    return {
        "model": str(local.resolve()) if local.is_dir() else given.model,
        **{f"bitext {code}": text.digest for code, text in texts.items()},
        "pair_filters": repr(filter_table(given.pair_filters)),
        "precision": precision,
        **{name: str(value) for name, value in own.items()},
    }


def _written(texts: Mapping[str, Text], out: Path, identity: Mapping[str, str]) -> dict[str, LinkedFiles]:
    """The texts as files: what is in memory is written beside what the run keeps, named by its digest."""
    workspace = Workspace(out)
    folder = workspace.inner / "bitexts"
    in_memory = {code: text for code, text in texts.items() if isinstance(text, LinkedText)}

    def write() -> None:
        workspace.check("adjust", identity)
        for code, text in in_memory.items():
            text.write(folder, code)

    if in_memory:
        current_group().broadcast(write)
    return {code: text.write(folder, code) if isinstance(text, LinkedText) else text for code, text in texts.items()}


def _source(files: Mapping[str, LinkedFiles]) -> str:
    """The language that stays: English, but where it is adjusted itself."""
    return "en" if "en" not in files else files["en"].staying


def _bitext_table(given: AdjustCommand, files: Mapping[str, LinkedFiles]) -> BitextTable:
    links = {code: str(made.links) for code, made in files.items() if made.links is not None}
    cuts = {code: made.tokenize for code, made in files.items() if made.tokenize != "auto"}
    of_files = any(made.tokenize == "auto" for made in files.values())
    if cuts and of_files and given.pivot_side == "target":
        raise InputError(
            "text in memory has the language that stays first", value="target", remedy="Leave pivot_side out."
        )
    return BitextTable(
        files={
            code: tuple(map(str, made.files)) if len(made.files) > 1 else str(made.files[0])
            for code, made in files.items()
        },
        links=links or None,
        tokenize=cuts or "auto",
        aligner=given.aligner,
        pivot_side=given.pivot_side if of_files else None,
        encoder=_LINKER if given.aligner_model is not None else None,
    )


@command(AdjustCommand)
def adjust(given: AdjustCommand) -> AdjustedModel:
    """In Python a bitext may also be a `LinkedText` that is in memory, under its language.

    The folder `out` has, beside the model: `run.json` with the settings and what was trained on; `records` with
    `items`, retrieval and word distances before and after on sentences that were not trained on; `report.html`,
    `summary.md` and `tables/`; and `steps.jsonl`, the losses of every step. Started by `torchrun` or
    `accelerate launch`, all processes train one model.
    """
    with ran(compile_adjust(given)) as finished:
        about = _about(finished, given)
        if finished.finished:
            _export(finished, about)
        return AdjustedModel(Path(given.out), about, finished.records)


def _about(finished: FinishedCommand, given: AdjustCommand) -> dict[str, Any]:
    """What `run.json` says: the settings, what was trained on, and how far the training came."""
    texts, progress = _training(finished)
    languages: dict[str, Any] = texts.get("languages", {})
    table = finished.study.table.adjust
    phase = adjust_phase(table)
    codes_of_run = [*dict.fromkeys(text["staying"] for text in languages.values()), *languages]
    about = finished.about(
        model=given.model,
        out=given.out if isinstance(given.out, str) else str(given.out),
        settings={
            **{
                field.name: getattr(given, field.name)
                for field in settings_of(AdjustTable)
                if hasattr(given, field.name)
            },
            "epochs": phase.schedule.epochs,
            "learning_rate": phase.schedule.learning_rate,
            "warmup": phase.schedule.warmup,
            "batch_size": phase.parts[0].batch,
            "pair_filters": vars(table.pair_filters),
            "precision": given.precision or default_precision(pick_device(given.device)),
            "seed": given.seed,
        },
        layer=texts.get("layer"),
        languages=list(dict.fromkeys(codes_of_run)),
        names={code: codes.name(code) if codes.is_language(code) else "the other language" for code in codes_of_run},
        training={
            "steps": progress.get("steps", 0),
            "of_steps": progress.get("of_steps", 0),
            "finished": finished.finished,
            "metrics": progress.get("metrics", []),
            "languages": languages,
        },
    )
    if not finished.finished:
        done, total = progress.get("steps", 0), progress.get("of_steps", 0)
        about["unfinished"] = f"{done:,} of {total:,} steps are done. Run the same command again to finish."
    return about


def _training(finished: FinishedCommand) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was trained on and how far; of a run that was stopped, as its state has it; empty where it did not begin."""
    places = [finished.place(step) for step in finished.steps("adjust")] or finished.unfinished("adjust")
    texts, progress = (_read_step_file(place / name) for place in places[:1] or [Path()] for name in (TEXTS, PROGRESS))
    return texts or {}, (progress or [{}])[0]


def _read_step_file(file: Path) -> Any:
    """What a step wrote; nothing where it did not, or the file is damaged: the step writes it again."""
    try:
        return read_json(file) if file.is_file() else None
    except ValueError:
        return None


def _export(finished: FinishedCommand, about: Mapping[str, Any]) -> None:
    """Give the model, its journal, the page and the tables their names in the run's folder."""
    [step] = finished.steps("adjust")
    for file in sorted((finished.place(step) / MODEL).iterdir()):
        finished.export(step, str(MODEL / file.name), file.name)
    finished.export(step, journal_name(0, "adjust"), STEPS)
    for name, text in report_files(adjust_run(finished.folder, about, finished.records)).items():
        finished.write(name, text)
    finished.write_about(about)
