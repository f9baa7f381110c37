"""A masked language model from plain text: `interlingua.pretrain`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from interlingua.commands.command import command
from interlingua.encoder.devices import pick_device
from interlingua.encoder.loading import check_precision
from interlingua.errors import InputError
from interlingua.report.notebook import tabled
from interlingua.report.tables import Table
from interlingua.studies.config.recipe import read_config
from interlingua.studies.config.schema import PretrainCommand
from interlingua.studies.pretraining import held_out
from interlingua.studies.pretraining import pretrain as train_model
from interlingua.studies.run_folder import alone_in


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


@command(PretrainCommand)
def pretrain(given: PretrainCommand) -> Pretrained:
    """Paths in the file start from its own folder.

    Started by `torchrun` or `accelerate launch`, all processes train one model.
    """
    config, out = Path(given.config), Path(given.out)
    settings, home = read_config(config), config.parent
    place = pick_device(given.device)
    try:
        check_precision(place, settings.training.precision)
    except InputError as error:
        raise settings.source.wrong(
            error.problem, "training", "precision", value="bf16", remedy='Use precision = "fp32", or a GPU.'
        ) from error
    if place.index is not None:
        torch.cuda.set_device(place)  # The launcher of several processes chooses; alone, it takes the current one.
    with alone_in(out, "pretrain"):
        summary = train_model(
            settings,
            held_out(settings, home),
            home=home,
            out=out,
            device=place,
            progress=given.progress,
            stop_after=given.stop_after,
        )
    return Pretrained(out, summary)
