"""The command `interlingua align`: parse, one call, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlingua.cli.options import Device, Json, print_json
from interlingua.cli.progress import progress_bars
from interlingua.counting import counted

if TYPE_CHECKING:
    from interlingua.analyses.word_alignment import Alignment
    from interlingua.wordalign.training import Iteration

EXAMPLES = """
**Examples**

    interlingua align talks.tsv > talks.links                     # both directions, links where they agree

    interlingua align train.en train.ru --symmetrize grow-diag-final-and --save aligner

    interlingua align new.txt --load aligner --scores new.scores  # apply it, and score each pair

    interlingua align test.txt --also talks.tsv --gold test.gold --gold-base 1 --out test.links

    interlingua align talks.tsv --method neural --model xlm-roberta-base --layer 8

    interlingua align test.txt --links a --links b --symmetrize union --gold test.gold --gold-base 0
"""


def align(
    file: Annotated[
        str,
        typer.Argument(help="'source ||| target' lines, two columns with a tab, or - for stdin.", metavar="FILE"),
    ],
    target: Annotated[
        Path | None, typer.Argument(help="The target side, where FILE is the source side alone.", metavar="[TARGET]")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="diagonal (fast_align's model), neural (an encoder's vectors) or eflomal (an extra). "
            "[default: diagonal]"
        ),
    ] = None,
    symmetrize: Annotated[
        str | None,
        typer.Option(
            help="intersect, union, grow-diag, grow-diag-final, grow-diag-final-and, forward or backward. "
            "[default: intersect]",
            metavar="HOW",
        ),
    ] = None,
    also: Annotated[
        list[Path] | None, typer.Option(help="More bitext to train on; its links are not printed.", metavar="FILE")
    ] = None,
    iterations: Annotated[int, typer.Option(help="Passes of EM.")] = 5,
    p0: Annotated[
        float, typer.Option(help="The probability that a word has no partner; fast_align takes 0.08.")
    ] = 0.12,
    tension: Annotated[float, typer.Option(help="How strongly links keep to the diagonal, at the start.")] = 4.0,
    fixed_tension: Annotated[bool, typer.Option("--fixed-tension", help="Leave the tension as it is.")] = False,
    tension_rule: Annotated[
        str, typer.Option(help="How the tension moves: part (of the way to its maximum) or fast_align (as it does).")
    ] = "part",
    alpha: Annotated[float, typer.Option(help="The prior of variational Bayes.")] = 0.01,
    no_variational: Annotated[bool, typer.Option("--no-variational", help="Plain EM, without a prior.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep the trained model here.", metavar="DIR")] = None,
    load: Annotated[Path | None, typer.Option(help="Apply a kept model; train nothing.", metavar="DIR")] = None,
    model: Annotated[
        str, typer.Option(help="For neural: 'embedded', a model folder, or a hub name.", metavar="MODEL")
    ] = "embedded",
    layer: Annotated[
        int | None,
        typer.Option(help="For neural: 0 is the embedding output. [default: two thirds of the way up]", metavar="N"),
    ] = None,
    neural: Annotated[str, typer.Option(help="For neural: argmax, itermax or softmax.")] = "argmax",
    unit: Annotated[str, typer.Option(help="For neural: what is compared, word or token.")] = "word",
    no_centre: Annotated[
        bool, typer.Option("--no-centre", help="For neural: leave each language's mean in the vectors.")
    ] = False,
    least: Annotated[float | None, typer.Option(help="For neural: the lowest cosine of a link.")] = None,
    links: Annotated[
        list[Path] | None,
        typer.Option(help="Links from elsewhere in place of a method; two files are two directions.", metavar="FILE"),
    ] = None,
    base: Annotated[int, typer.Option(help="The number of the first word, in what is printed and in --links.")] = 0,
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold links: Pharaoh ('p' possible), XL-WA or NAACL; prints AER.", metavar="FILE"),
    ] = None,
    gold_base: Annotated[
        int | None, typer.Option(help="The number of the first word in --gold, 0 or 1; must be said for Pharaoh.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="pipes, tsv, xl-wa or files, where the content leaves a doubt.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding of the files; UTF-8 by default.")] = None,
    tokenize: Annotated[
        str,
        typer.Option(
            help="words: words and punctuation, Chinese and Thai segmented. space: at white space, for text that is "
            "tokenised. auto: space for ||| and XL-WA and where --gold or --links count words, else words; with "
            "--load as the model's text was."
        ),
    ] = "auto",
    bad_lines: Annotated[
        str | None,
        typer.Option(
            help="skip (and count) or fail, for lines that are no pair. [default: skip; files of unequal length fail]"
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Write log-probability a word and share of linked words of each line.", metavar="FILE"),
    ] = None,
    write_tokens: Annotated[
        Path | None, typer.Option(help="Write the text as it was cut into words.", metavar="FILE")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the links here in place of stdout.", metavar="FILE")] = None,
    seed: Annotated[int, typer.Option(help="Decides the intervals of AER.")] = 0,
    device: Device = None,
    precision: Annotated[
        str | None, typer.Option(help="For neural: fp32, bf16 or fp16; bf16 on a GPU, fp32 on a CPU.")
    ] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="For neural: let the model run its own code.")
    ] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="For neural: read pickled weights, which can run code.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Which words translate each other?

    Prints one line of links (Pharaoh: 0-0 1-2 …, source-target) for every line of FILE, an empty one for a line that is
    no pair. What training did, the lines left out and the AER go to stderr.
    """
    from interlingua.analyses import word_alignment
    from interlingua.wordalign.model import Settings
    from interlingua.wordalign.neural import NeuralSettings

    with progress_bars() as tell:
        result = word_alignment.align(
            file,
            target,
            method=method,
            symmetrize=symmetrize,
            settings=Settings(
                iterations=iterations,
                null=p0,
                tension=tension,
                optimise_tension=not fixed_tension,
                variational=not no_variational,
                alpha=alpha,
                tension_rule=tension_rule,
            ),
            neural=NeuralSettings(neural, layer, unit, not no_centre, least),
            model=model,
            also=also or (),
            load=load,
            save=save,
            links=links or (),
            base=base,
            gold=gold,
            gold_base=gold_base,
            format=format,
            encoding=encoding,
            tokenize=tokenize,
            bad_lines=bad_lines,
            scores=scores,
            write_tokens=write_tokens,
            out=out,
            seed=seed,
            device=device,
            precision=precision,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            progress=tell,
            watch=_watch,
        )
    for line in _summary(result, out):
        sys.stderr.write(f"{line}\n")
    if as_json:
        print_json(result.to_dict())
    elif out is None:
        sys.stdout.writelines(f"{line}\n" for line in result.lines())


def _watch(direction: str, passed: Iteration) -> None:
    sys.stderr.write(
        f"{direction:>8}, pass {passed.number}: log-likelihood {passed.log_likelihood:.1f}, "
        f"perplexity {passed.perplexity:.2f}, tension {passed.tension:.3f}, no partner {passed.null:.1%}\n"
    )


def _summary(result: Alignment, out: Path | None) -> list[str]:
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
        lines.append(f"{shown:>9}  {score.value:.3f}  {ends}  {counted(score.n, 'rows')}{null}")
    count = len(result.rows)
    empty = count - len(set(result.links.row.tolist()))
    place = "" if out is None else f"{out}: "
    without = f", {counted(empty, 'lines')} without a link" if empty else ""
    lines.append(f"{place}{counted(count, 'lines')}, {counted(len(result.links.row), 'links')}{without}")
    return lines
