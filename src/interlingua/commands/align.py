"""Which words translate each other: `interlingua.align`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from interlingua.analyses import word_alignment
from interlingua.analyses.word_alignment import AlignerChoice, Alignment, AlignmentFiles, GoldLinks, ReadingRules
from interlingua.commands.command import command
from interlingua.engine.atomic_files import write_text
from interlingua.errors import InputError
from interlingua.record import Estimate, RecordTable, versions
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import Run
from interlingua.report.report import build_report
from interlingua.report.subjects.links import LinkedSentence, LinkSide, WordLinks
from interlingua.studies.analysis_settings import diagonal_settings, neural_settings
from interlingua.studies.config.schema import AlignCommand

MAX_EXAMPLES = 10
"""Sentence pairs that the page of an alignment draws."""
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
    result = word_alignment.align(
        given.bitext,
        given.target,
        linking=AlignerChoice(
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
    if given.report is not None:
        page = render_page(build_report([align_run(result, bitext=_bitext_name(given), method=_method_name(given))]))
        write_text(Path(given.report), page)
    return result


def align_run(result: Alignment, *, bitext: str, method: str) -> Run:
    """What a report reads of an alignment: counts of links and words, agreement with gold, the first sentences."""
    links = result.links
    sides = []
    for words, places in ((result.rows.source.words, links.source), (result.rows.target.words, links.target)):
        count = sum(map(len, words))
        linked = len(np.unique(np.stack([links.row, places]), axis=1).T)
        sides.append(LinkSide(words=count, unlinked=count - linked))
    summary = WordLinks(
        bitext=bitext,
        method=method,
        lines=len(result.rows),
        links=len(links.row),
        lines_without_links=len(result.rows) - len(np.unique(links.row)),
        source=sides[0],
        target=sides[1],
        quality={
            name: Estimate(value=score.value, ci_low=score.low, ci_high=score.high, null_value=score.null, n=score.n)
            for name, score in (result.quality or {}).items()
        },
        at_chance=result.at_chance,
        examples=tuple(_examples(result)),
    )
    notes = [*result.notes, *map(str, result.left_out)]
    about = {"bitext": bitext, "method": method, "skipped": notes, "versions": versions()}
    return Run(kind="align", about=about, records=RecordTable([]), attachments={"links": summary})


def _examples(result: Alignment) -> Iterator[LinkedSentence]:
    """The first sentence pairs that have links."""
    for row in np.unique(result.links.row)[:MAX_EXAMPLES].tolist():
        in_row = result.links.row == row
        yield LinkedSentence(
            line=row + 1,
            source_words=tuple(result.rows.source.words[row]),
            target_words=tuple(result.rows.target.words[row]),
            links=tuple(zip(result.links.source[in_row].tolist(), result.links.target[in_row].tolist(), strict=True)),
        )


def _bitext_name(given: AlignCommand) -> str:
    names = [Path(side).name for side in (given.bitext, given.target) if isinstance(side, str | Path)]
    return " and ".join("standard input" if name == "-" else name for name in names) or "pairs of texts"


def _method_name(given: AlignCommand) -> str:
    if given.links:
        return "links from " + " and ".join(Path(file).name for file in given.links)
    if given.aligner is not None:
        return f"saved aligner {Path(given.aligner).name}"
    model = f" with {given.model if isinstance(given.model, str) else given.model.name}"
    return f"{given.method or 'diagonal'}{model if given.method == 'neural' else ''}"


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
