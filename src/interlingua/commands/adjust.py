"""What `interlingua adjust` calls, and what a notebook calls: `adjust()`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from interlingua import languages as codes
from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText, Linking, check_aligner, linking_of
from interlingua.commands.command import command
from interlingua.encoder.devices import pick_device
from interlingua.encoder.loading import check_precision
from interlingua.engine.atomic_files import write_text
from interlingua.errors import InputError
from interlingua.report.adjustment_page import (
    adjustment_files,
    adjustment_page,
    adjustment_records,
    adjustment_sections,
)
from interlingua.report.notebook import Drawing, drawing, framed
from interlingua.report.runs import Run
from interlingua.studies.adjusting import Origin
from interlingua.studies.adjusting import adjust as train_model
from interlingua.studies.analysis_settings import adjust_settings
from interlingua.studies.config.schema import AdjustCommand
from interlingua.studies.run_folder import alone_in
from interlingua.training.processes import is_first_process

File = str | Path
Files = File | tuple[File, ...]


@dataclass(frozen=True, repr=False)
class Adjusted:
    """An adjusted model: its folder, and what is known of it (the content of `adjustment.json`)."""

    folder: Path
    summary: Mapping[str, Any]

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        records = adjustment_records(self.summary)
        return drawing(adjustment_sections([Run(self.summary, records)]), name, records)

    def __repr__(self) -> str:
        done = "" if self.summary["finished"] else ", not finished"
        return f"Adjusted({str(self.folder)!r}, from {self.summary['model']!r}, {self.summary['steps']} steps{done})"

    def _repr_html_(self) -> str:
        return framed(adjustment_page(self.summary))


@command(AdjustCommand)
def adjust(given: AdjustCommand) -> Adjusted:
    """In Python a bitext may also be a `LinkedText` that is in memory.

    What the folder `out` has beside the model: `adjustment.json`, retrieval and distances before and after on sentences
    that were not trained on, `adjustment.html`, `distances.svg`, and `steps.jsonl`, the losses of every step. Started
    by `torchrun` or `accelerate launch`, all processes train one model.
    """
    place, settings, out = pick_device(given.device), adjust_settings(given), Path(given.out)
    check_precision(place, settings.on(place).precision or "fp32")
    linking = linking_of(given.aligner, given.model, device=given.device, aligner_model=given.aligner_model)
    texts = _texts(given.bitexts, given.links, given.pivot_side, linking)
    check_aligner(given.aligner, texts.values())
    if place.index is not None:
        torch.cuda.set_device(place)  # The launcher of several processes chooses; alone, it takes the current one.
    with alone_in(out, "adjust"):
        result = train_model(
            Origin(given.model, given.trust_remote_code, given.allow_pickle),
            texts,
            settings,
            out=out,
            device=place,
            tensorboard=None if given.tensorboard is None else Path(given.tensorboard),
            progress=given.progress,
            stop_after=given.stop_after,
        )
        if is_first_process() and result.summary["finished"]:
            for name, text in adjustment_files(result.summary).items():
                if not (result.folder / name).is_file():
                    write_text(result.folder / name, text)
    return Adjusted(result.folder, result.summary)


def _texts(
    bitext: Files | LinkedText | Mapping[str, Files | LinkedText],
    links: File | Mapping[str, File] | None,
    english: str | None,
    linking: Linking,
) -> dict[str, LinkedFiles | LinkedText]:
    """The texts by language, checked: files that are there, links that have a text."""
    given: Mapping[str, Files | LinkedText] = bitext if isinstance(bitext, Mapping) else {"": bitext}
    linked = links if isinstance(links, Mapping) else {} if links is None else {next(iter(given), ""): links}
    if not given:
        raise InputError("there is no bitext", remedy="Give --bitext FILE.")
    if set(linked) == {""} and len(given) == 1:
        linked = dict.fromkeys(given, linked[""])
    if links is not None and not isinstance(links, Mapping) and len(given) > 1:
        raise InputError("whose links are these", value=str(links), remedy="Name their language: --links ru=FILE.")
    found: dict[str, LinkedFiles | LinkedText] = {}
    for name in linked:
        if name not in given:
            raise InputError("links without a bitext", value=name, remedy=f"Give --bitext {name}=FILE.")
    for name, text in given.items():
        if isinstance(text, LinkedText):
            found[codes.canonical(name) if name else "target"] = text
            continue
        parts = text if isinstance(text, tuple) else (text,)
        if not all(isinstance(path, str | os.PathLike) for path in parts):
            raise InputError(
                "a bitext is a file, or two",
                value=type(text).__name__,
                remedy="Give paths; for text in memory LinkedText.of(interlingua.align(pairs)).",
            )
        files = tuple(Path(path) for path in parts)
        own = linked.get(name)
        made = LinkedFiles(files, None if own is None else Path(own), english, linking)
        code = codes.canonical(name) if name else made.language
        if code is None:
            raise InputError(
                "the language of the bitext is not known from its name or its first line",
                file=files[0],
                remedy=f"Name it: --bitext ru={','.join(map(str, files))} (in Python a mapping of language to files).",
            )
        if code in found:
            raise InputError("two bitexts of one language", value=code, remedy="Join the files.")
        found[code] = made
    return found
