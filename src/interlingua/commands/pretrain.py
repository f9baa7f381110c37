"""A masked language model from plain text: `interlingua.pretrain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlingua.analyses.pretraining import ABOUT, check_machine, held_out_corpus
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.encoder.devices import pick_device
from interlingua.engine.atomic_files import cannot_write, link_or_copy
from interlingua.engine.digests import Digests
from interlingua.engine.serialization import digest
from interlingua.engine.workspace import Workspace
from interlingua.paths import read_json
from interlingua.record import RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.report import Report, build_report
from interlingua.studies.analysis_settings import pretrain_settings
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.config.recipe import read_config
from interlingua.studies.config.schema import EncoderTable, PretrainCommand, StudyTable
from interlingua.studies.steps.pretrain import UNFINISHED
from interlingua.studies.steps.step_io import MODEL


@dataclass(frozen=True, repr=False)
class PretrainingResult(ReportedResult):
    """A pretrained model: its folder, and the content of `run.json`."""

    folder: Path
    run: Mapping[str, Any]

    @property
    def training(self) -> Mapping[str, Any]:
        """What `training.json` says: sizes, text, and what was measured."""
        training: Mapping[str, Any] = self.run["training"]
        return training

    def report(self) -> Report:
        """What the model learnt, with curves over steps."""
        return build_report([pretrain_run(self.run)])

    @property
    def page_file(self) -> Path:
        """The page in the folder."""
        return self.folder / "report.html"

    def __repr__(self) -> str:
        return f"PretrainingResult({str(self.folder)!r}, {'' if self.training['finished'] else 'not '}finished)"


def pretrain_run(about: Mapping[str, Any]) -> Run:
    """What a report reads of a pretraining; it has no records."""
    return Run(kind="pretrain", about=about, records=RecordTable([]))


def compile_pretrain(given: PretrainCommand) -> CompiledCommand:
    """The command as a study that makes one encoder by a recipe; all of the recipe is checked."""
    file, out = Path(given.config), Path(given.out)
    recipe, home = read_config(file), file.parent
    text = recipe.text_files(home / recipe.data.folder)
    tokenizer_file, start_from = recipe.tokenizer_file(home), recipe.start_folder(home)
    settings = pretrain_settings(recipe, text, tokenizer_file=tokenizer_file, start_from=start_from)
    check_machine(settings, pick_device(given.device))
    if (held_out := recipe.held_out(home)) is not None:
        held_out_corpus(held_out, text)
    study = one_cell(StudyTable(name="pretrain", encoders={"model": EncoderTable(recipe=str(file))}), options={})
    digests = Digests(Workspace(out).digests)
    step = StudyInputs(study, digests).pretrained("model")
    return CompiledCommand(
        kind="pretrain",
        study=study,
        identity={"config or its text": digest(step.settings)},
        out=out,
        device=given.device,
        progress=given.progress,
        stop_after=given.stop_after,
        digests=digests,
    )


@command(PretrainCommand)
def pretrain(given: PretrainCommand) -> PretrainingResult:
    """Paths in the file start from its own folder.

    Started by `torchrun` or `accelerate launch`, all processes train one model.
    """
    with ran(compile_pretrain(given)) as finished:
        [step] = finished.planned.graph
        workspace = finished.planned.workspace
        model = finished.place(step) / MODEL if finished.finished else workspace.state(step.key) / UNFINISHED
        training: dict[str, Any] = read_json(model / ABOUT)
        del training["kind"]
        about = finished.about(
            model=str(given.out),
            languages=training["languages"],
            seed=training["seed"],
            config=Path(given.config).name,
            training=training,
        )
        if not training["finished"]:
            about["unfinished"] = f"{training['steps']:,} steps are done. Run the same command again to finish."
        if finished.is_first:
            _export(model, finished, about)
    return PretrainingResult(Path(given.out), about)


def _export(model: Path, finished: FinishedCommand, about: Mapping[str, Any]) -> None:
    """Give the files of a model, as far as it is trained, visible names, and write its page and tables."""
    try:
        for file in sorted(model.iterdir(), key=lambda file: file.name == ABOUT):  # Last: it says that all are there.
            link_or_copy(file, finished.folder / file.name)
    except OSError as error:
        raise cannot_write(finished.folder, error) from error
    for name, text in report_files(pretrain_run(about)).items():
        finished.write(name, text)
    if about["training"]["finished"]:
        finished.write_about(about)
