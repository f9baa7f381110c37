"""The command `interlingua align`: parse, one call, print."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from interlingua.cli.options import Console, print_json
from interlingua.cli.progress import progress_bars
from interlingua.plural_counts import count_noun
from interlingua.studies.config.schema import AlignCommand

if TYPE_CHECKING:
    from interlingua.analyses.word_alignment import Alignment
    from interlingua.wordalign.training import Iteration

EXAMPLES = """
**Examples**

    interlingua align talks.tsv > talks.links                     # both directions, links where they agree

    interlingua align train.en train.ru --symmetrize grow-diag-final-and --save aligner

    interlingua align new.txt --aligner aligner --scores new.scores  # apply it, and score each pair

    interlingua align talks.tsv --out talks.links --report links.html  # links, and a page of them

    interlingua align test.txt --also talks.tsv --gold test.gold --gold-base 1 --out test.links

    interlingua align talks.tsv --method neural --model xlm-roberta-base --layer 8

    interlingua align test.txt --links a --links b --symmetrize union --gold test.gold --gold-base 0
"""


def align(given: AlignCommand, output: Console) -> None:
    """Link the words, and print the links."""
    from interlingua.commands.align import align as align_command
    from interlingua.commands.command import call_command

    out = None if given.out is None else Path(given.out)
    with progress_bars() as tell:
        result = call_command(align_command, replace(given, progress=tell, watch=_watch))
    for line in _summary(result, out, None if given.report is None else Path(given.report)):
        sys.stderr.write(f"{line}\n")
    if output.json:
        print_json(result.to_dict())
    elif out is None:
        sys.stdout.writelines(f"{line}\n" for line in result.lines())


def _watch(direction: str, passed: Iteration) -> None:
    sys.stderr.write(
        f"{direction:>8}, pass {passed.number}: log-likelihood {passed.log_likelihood:.1f}, "
        f"perplexity {passed.perplexity:.2f}, tension {passed.tension:.3f}, no partner {passed.null:.1%}\n"
    )


def _summary(result: Alignment, out: Path | None, page: Path | None) -> list[str]:
    """What was left out, how good the links are, and what was written, for people."""
    lines = [f"note: {note}" for note in result.notes] + [str(left) for left in result.left_out]
    if result.quality and result.at_chance:
        error = result.quality["aer"]
        lines.append(
            f"No better than chance: the AER is {error.value:.3f} [{error.low:.3f}, {error.high:.3f}], that of links "
            f"of other rows {error.null:.3f}."
        )
    for name, score in (result.quality or {}).items():
        shown = "AER" if name == "aer" else name
        null = "" if score.null is None else f", {score.null:.3f} with the links of other rows"
        ends = f"[{score.low:.3f}, {score.high:.3f}]"
        lines.append(f"{shown:>9}  {score.value:.3f}  {ends}  {count_noun(score.n, 'rows')}{null}")
    count = len(result.rows)
    empty = count - len(set(result.links.row.tolist()))
    place = "" if out is None else f"Written to {out}: "
    without = f", {count_noun(empty, 'lines')} without a link" if empty else ""
    lines.append(f"{place}{count_noun(count, 'lines')}, {count_noun(len(result.links.row), 'links')}{without}")
    if page is not None:
        lines.append(f"Page: {page}")
    return lines
