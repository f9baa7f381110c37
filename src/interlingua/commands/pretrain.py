"""A masked language model from plain text: `interlingua.pretrain`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlingua.analyses.pretraining import ABOUT, check_machine, held_out_corpus
from interlingua.commands.command import command
from interlingua.commands.compiled import CompiledCommand, one_cell, ran
from interlingua.encoder.devices import pick_device
from interlingua.engine.atomic_files import cannot_write, link_or_copy
from interlingua.engine.digests import Digests
from interlingua.engine.serialization import digest
from interlingua.engine.workspace import Workspace
from interlingua.paths import read_json
from interlingua.report.notebook import tabled
from interlingua.report.tables import Table
from interlingua.studies.analysis_settings import pretrain_settings
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.config.recipe import read_config
from interlingua.studies.config.schema import EncoderTable, PretrainCommand, StudyTable
from interlingua.studies.steps.pretrain import UNFINISHED
from interlingua.studies.steps.step_io import MODEL


@dataclass(frozen=True, repr=False)
class Pretrained:
    """What pretraining made: the model folder, and what was measured on the way."""

    folder: Path
    summary: dict[str, Any]

    def __repr__(self) -> str:
        return f"Pretrained({str(self.folder)!r}, {'' if self.summary['finished'] else 'not '}finished)"

    def _repr_html_(self) -> str:
        plain = [(key, value) for key, value in self.summary.items() if isinstance(value, str | int | float)]
        rows = [(key.replace("_", " "), str(value)) for key, value in plain]
        last = self.summary["metrics"][-1] if self.summary.get("metrics") else {}
        rows += [(key.replace("_", " "), f"{value:.4g}") for key, value in last.items() if isinstance(value, float)]
        return tabled(Table("pretrained", "Pretrained", "", ("", "value"), tuple(rows)))


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
def pretrain(given: PretrainCommand) -> Pretrained:
    """Paths in the file start from its own folder.

    Started by `torchrun` or `accelerate launch`, all processes train one model.
    """
    with ran(compile_pretrain(given)) as finished:
        [step] = finished.planned.graph
        workspace = finished.planned.workspace
        model = finished.place(step) / MODEL if finished.finished else workspace.state(step.key) / UNFINISHED
        summary = read_json(model / ABOUT)
        if finished.is_first:
            _show(model, finished.folder)
    del summary["kind"]
    return Pretrained(Path(given.out), summary)


def _show(model: Path, out: Path) -> None:
    """Give the files of a model, as far as it is trained, visible names."""
    try:
        for file in sorted(model.iterdir(), key=lambda file: file.name == ABOUT):  # Last: it says that all are there.
            link_or_copy(file, out / file.name)
    except OSError as error:
        raise cannot_write(out, error) from error
