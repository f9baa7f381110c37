"""Which words translate each other: `interlingua.align`."""

from __future__ import annotations

from interlingua.analyses import word_alignment
from interlingua.analyses.word_alignment import Alignment
from interlingua.commands.command import command
from interlingua.studies.config.schema import AlignCommand
from interlingua.wordalign.model import Settings
from interlingua.wordalign.neural import NeuralSettings


@command(AlignCommand)
def align(given: AlignCommand) -> Alignment:
    """In Python `bitext` may also be pairs of texts, and `model` a loaded `Encoder`."""
    return word_alignment.align(
        given.bitext,
        given.target,
        method=given.method,
        symmetrize=given.symmetrize,
        settings=Settings(
            iterations=given.iterations,
            null=given.p0,
            tension=given.tension,
            optimise_tension=not given.fixed_tension,
            variational=given.variational,
            alpha=given.alpha,
            tension_rule=given.tension_rule,
        ),
        neural=NeuralSettings(given.neural, given.layer, given.unit, given.center, given.min_cosine),
        model=given.model,
        also=given.also,
        load=given.aligner,
        save=given.save,
        links=given.links,
        base=given.base,
        gold=given.gold,
        gold_base=given.gold_base,
        format=given.format,
        encoding=given.encoding,
        tokenize=given.tokenize,
        bad_lines=given.bad_lines,
        scores=given.scores,
        write_tokens=given.write_tokens,
        out=given.out,
        seed=given.seed,
        device=given.device,
        precision=given.precision,
        trust_remote_code=given.trust_remote_code,
        allow_pickle=given.allow_pickle,
        progress=given.progress,
        watch=given.watch,
    )
