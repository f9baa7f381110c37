"""Which words translate each other: `interlingua.align`."""

from __future__ import annotations

from pathlib import Path

from interlingua.analyses import word_alignment
from interlingua.analyses.word_alignment import Alignment, AlignmentFiles, GoldLinks, Linking, ReadingRules
from interlingua.commands.command import command
from interlingua.errors import InputError
from interlingua.studies.analysis_settings import diagonal_settings, neural_settings
from interlingua.studies.config.schema import AlignCommand

_REASONS = {
    "--save": "Only a model that is trained now can be saved.",
    "--method": "The links are given, nothing is linked here; leave it out, or leave out --links.",
    "--aligner": "A loaded model replaces training; leave out --links and --method.",
    "--also": "More text is for training, and nothing is trained here.",
    "--symmetrize": "There are not two directions; give two files of links, or a method that has both.",
}


@command(AlignCommand)
def align(given: AlignCommand) -> Alignment:
    """In Python `bitext` may also be pairs of texts, and `model` a loaded `Encoder`."""
    _check(given)
    return word_alignment.align(
        given.bitext,
        given.target,
        linking=Linking(
            given.method or "diagonal",
            given.model,
            given.device,
            symmetrize=given.symmetrize or "intersect",
            diagonal=diagonal_settings(given),
            neural=neural_settings(given),
            precision=given.precision,
            trust_remote_code=given.trust_remote_code,
            allow_pickle=given.allow_pickle,
        ),
        saved=given.aligner,
        links=given.links,
        base=given.base,
        also=given.also,
        reading=ReadingRules(given.format, given.encoding, given.tokenize, given.bad_lines),
        gold=None if given.gold is None else GoldLinks(given.gold, given.gold_base, given.seed),
        files=AlignmentFiles(given.out, given.scores, given.write_tokens, given.save),
        progress=given.progress,
        watch=given.watch,
    )


def _check(given: AlignCommand) -> None:
    """Refuse what has nothing to do, before anything is read."""
    if given.base not in (0, 1):
        raise InputError("the first word is 0 or 1", value=given.base, remedy="Give --base 0 or --base 1.")
    if len(given.links) > 2:
        raise InputError("more than two files of links", value=len(given.links), remedy="Give one a direction.")
    method = "" if given.links else given.method or "diagonal"
    trains = method == "diagonal" and given.aligner is None
    for asked, name, fits in (
        (given.save, "--save", trains),
        (given.method, "--method", not given.links),
        (given.aligner, "--aligner", method == "diagonal"),
        (given.also, "--also", trains or method == "eflomal"),
        (given.symmetrize, "--symmetrize", len(given.links) == 2 or method in ("diagonal", "eflomal")),
    ):
        if asked and not fits:
            raise InputError(f"{name} has nothing to do here", remedy=_REASONS[name])
    if given.save is not None and Path(given.save).exists():
        raise InputError("there is something already", file=given.save, remedy="Name a folder that does not exist.")
