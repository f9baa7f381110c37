"""A bitext to word links, kept in a file; a bitext that comes from a parallel corpus is written first."""

from __future__ import annotations

from interlingua.analyses.word_alignment import AlignerChoice
from interlingua.encoder import Encoder
from interlingua.engine.atomic_files import write_text
from interlingua.engine.serialization import build
from interlingua.engine.step import StepContext
from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.studies.step_settings import AlignStep
from interlingua.studies.steps.step_io import LINKS, bitext_name, linked_files, load_encoder, path_of, write_notes
from interlingua.wordalign.model import AlignerSettings
from interlingua.wordalign.neural import NeuralSettings

_LEAST = 4
"""Two sentence pairs are held out at least, and never more than half of all."""


def run(settings: AlignStep, context: StepContext) -> None:
    """Link the words of one language's bitext; of several processes the first does, and the others find it."""
    if not context.group.is_first:
        return
    bitext = settings.bitext
    if bitext.corpus is not None:
        corpus = read_corpus(path_of(bitext.corpus, context), languages=[bitext.source, bitext.language])
        pair = corpus.pair(bitext.source, bitext.language)
        rows = zip(pair.source_texts, pair.target_texts, strict=True)
        lines = ["\t".join(" ".join(text.split()) for text in row) for row in rows]
        write_text(context.out / bitext_name(bitext), "".join(f"{line}\n" for line in lines))
    model: str | Encoder = "embedded"
    if bitext.encoder is not None and settings.precision is not None:
        model = load_encoder(bitext.encoder, context, precision=settings.precision)
    linking = AlignerChoice(
        bitext.aligner,
        model,
        context.device,
        symmetrize=settings.symmetrize or "intersect",
        diagonal=build(AlignerSettings, settings.diagonal or {}),
        neural=build(NeuralSettings, settings.neural or {}),
    )
    [files] = linked_files([bitext], {f"align {bitext.language}": context.out}, linking=linking).values()
    text = files.read(context.out / LINKS, progress=context.progress)
    if len(text.usable) < _LEAST:
        raise InputError(
            "fewer sentence pairs than training and measuring need",
            file=", ".join(path.name for path in files.files),
            value=len(text.usable),
            remedy=f"Give {_LEAST} or more with words on both sides.",
        )
    write_notes(context, [f"{bitext.language}: {note}" for note in text.notes])
