"""A bitext to word links, kept in a file; a bitext that comes from a parallel corpus is written first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlingua.engine.records import write_text
from interlingua.engine.step import Work
from interlingua.readers import read_corpus
from interlingua.studies.steps.step_io import LINKS, Inputs, bitext_name, encoder_of, linked_files, note


def run(settings: Mapping[str, Any], inputs: Inputs, out: Path, work: Work) -> None:
    """Link the words of one language's bitext."""
    if settings["corpus"] is not None:
        source, target = settings["source"], settings["language"]
        pair = read_corpus(settings["corpus"], languages=[source, target]).pair(source, target)
        rows = zip(pair.source_texts, pair.target_texts, strict=True)
        lines = ["\t".join(" ".join(text.split()) for text in row) for row in rows]
        write_text(out / bitext_name(settings), "".join(f"{line}\n" for line in lines))
    encoder = encoder_of(settings["encoder"], inputs, precision=None) if "encoder" in settings else None
    [files] = linked_files([settings], {f"align {settings['language']}": out}, encoder=encoder).values()
    text = files.read(out / LINKS, progress=work.progress)
    note(out, text.notes)
