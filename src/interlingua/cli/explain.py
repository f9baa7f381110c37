"""The command `interlingua explain`: parse, one call, print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlingua.cli.options import Load, load_all, print_json, print_notes, split_names
from interlingua.cli.progress import progress_bars, resumable
from interlingua.errors import InputError

if TYPE_CHECKING:
    from interlingua.analyses.explanation import ExplainSettings
    from interlingua.analyses.row_explanation import RowExplanation
    from interlingua.analyses.transfer import File

EXAMPLES = """
**Examples**

    interlingua explain nli/models/original-seed0 --data en=en.tsv --data es=es.tsv --out why

    interlingua explain en=paws-en es=paws-es --data en=en.tsv --data es=es.tsv --out both

    interlingua explain nli/models/original-seed0 --data en=en.tsv --data es=es.tsv --row es:57

    interlingua explain nli/models/original-seed0 --text "Rain. ||| Wet." --text "Lluvia. ||| Mojado."
"""


def explain(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Folders of fine-tuned models (interlingua transfer --keep), or of classifiers as transformers saves "
            "them; xx=FOLDER: it was trained in xx.",
            metavar="MODEL...",
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(help="A language and its row-parallel file of the task, two or more.", metavar="XX=FILE"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where results go; a folder begun before is gone on with.")] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(
            help="Explain this row of the data alone, and print it: its line, xx:LINE, FILE:LINE, or a question's id; "
            "repeatable. One language of data will do.",
            metavar="ROW",
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of data: two texts, each as the task reads it; '|||' divides a pair.", metavar="TEXT"
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="For two texts: the label to explain. [default: the model's]")
    ] = None,
    task: Annotated[str | None, typer.Option(help="A task such as nli; must be the model's own.")] = None,
    languages: Annotated[
        str | None,
        typer.Option(help="Only these of --data, comma-separated; for --text the names of both.", metavar="XX,YY"),
    ] = None,
    source: Annotated[str, typer.Option(help="The language the models were trained in.", metavar="XX")] = "en",
    rows: Annotated[int | None, typer.Option(help="Only the first rows of every file.")] = None,
    attribution: Annotated[
        str, typer.Option(help="integrated, gradient-input, saliency, occlusion, rollout or random.")
    ] = "integrated",
    baseline: Annotated[str, typer.Option(help="padding, mask, zero or mean; separators stay.")] = "padding",
    steps: Annotated[int, typer.Option(help="Steps of integrated gradients to begin with.")] = 16,
    rule: Annotated[str, typer.Option(help="gauss-legendre, left, middle, right or trapezoid.")] = "gauss-legendre",
    tolerance: Annotated[
        float, typer.Option(help="Completeness gap above which an example gets more steps; 0: never.")
    ] = 0.01,
    target: Annotated[str, typer.Option(help="What is explained: the gold or the predicted answer.")] = "gold",
    scale: Annotated[str, typer.Option(help="logit or probability.")] = "logit",
    unit: Annotated[str | None, typer.Option(help="token or word. [default: token; for --row and --text word]")] = None,
    weighting: Annotated[str, typer.Option(help="absolute, positive or softmax.")] = "absolute",
    space: Annotated[str, typer.Option(help="embeddings, aligned, vectors or layer.")] = "embeddings",
    layer: Annotated[int, typer.Option(help="For the space layer; 0 is the embedding output, -1 the last.")] = -1,
    dictionary: Annotated[
        list[str] | None,
        typer.Option(help="For the space aligned: a MUSE dictionary from the source to a language.", metavar="XX=FILE"),
    ] = None,
    vectors: Annotated[
        list[str] | None,
        typer.Option(help="For the space vectors: aligned word vectors, word2vec text format.", metavar="XX=FILE"),
    ] = None,
    solver: Annotated[str, typer.Option(help="exact, or entropic on the model's device.")] = "exact",
    faithful: Annotated[bool, typer.Option(help="Also delete tokens and see what is lost.")] = True,
    choices: Annotated[bool, typer.Option(help="Also score every unit and weighting on 500 rows.")] = True,
    random_heads: Annotated[
        int,
        typer.Option(
            help="Number of untrained heads on the model's body that it is compared with; each costs as much as the "
            "model itself. 0: none, and nothing is credited to the model."
        ),
    ] = 5,
    precision: Annotated[str, typer.Option(help="fp32, or bf16 on a GPU.")] = "fp32",
    seed: Annotated[int, typer.Option(help="Of shuffled pairs, random attributions and random heads.")] = 0,
    load: Load = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda or cuda:N. [default: a GPU where there is one]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print results as JSON on stdout.")] = False,
) -> None:
    """Do the languages look at the same words? Token attributions of fine-tuned models, and their consistency.

    Layer integrated gradients of every example in every language, and the earth mover's similarity of those of a text
    and of its translation (Wang et al. 2021), beside what shuffled pairs, random attributions and untrained heads on
    the same body score. A model at chance is said to be so, and nothing is concluded from its attributions. With --row,
    single rows of the data, such as a wrong prediction: what the file and the model say, words shaded by attribution,
    the strongest flows to a translation. With --text, the same for two texts.
    """
    from interlingua.analyses.explanation import ExplainSettings

    load_all(load)
    settings = ExplainSettings(
        attribution=attribution,
        steps=steps,
        rule=rule,
        tolerance=tolerance or None,
        baseline=baseline,
        target=target,
        scale=scale,
        unit=unit or ("word" if text or row else "token"),
        space=space,
        layer=layer,
        weighting=weighting,
        solver=solver,
        precision=precision,
        faithful=faithful,
        choices=choices,
        random_heads=random_heads,
        seed=seed,
    )
    chosen = split_names(languages)
    if text:
        _texts(models, text, chosen, label, settings, device, as_json)
        return
    from interlingua.commands import explain as explain_command

    if not data or (out is None and not row):
        raise InputError(
            "nothing to explain",
            remedy="Give --data xx=FILE for each language and --out (or --row), or --text twice.",
        )
    files, words, tables = _files(data, "--data"), _files(dictionary, "--dictionary"), _files(vectors, "--vectors")
    if chosen is not None:
        if absent := [code for code in chosen if code not in files]:
            raise InputError("no data in a language", value=absent[0], remedy=f"Give --data {absent[0]}=FILE.")
        files = {code: files[code] for code in chosen}
    if row:
        if out is not None or rows is not None:
            given = "--out" if out is not None else "--rows"
            raise InputError(f"{given} is for all rows", remedy=f"Leave {given} out: --row prints what it finds.")
        name, own = _one_model(models, source)
        found = explain_command.explain_rows(
            name,
            files,
            row,
            task=task,
            source=own,
            dictionaries=words,
            vectors=tables,
            settings=settings,
            device=device,
        )
        _print_rows(found, as_json)
        return
    assert out is not None
    with resumable(out), progress_bars() as tell:
        result = explain_command.explain(
            _by_language(models, source),
            files,
            task=task,
            source=source,
            rows=rows,
            dictionaries=words,
            vectors=tables,
            settings=settings,
            out=out,
            device=device,
            progress=tell,
        )
    from interlingua.report.record_adapter import to_v1

    print_notes(result.run["skipped"])
    if as_json:
        from interlingua.report.explain_page import explain_summary

        print_json(
            {
                **explain_summary(to_v1(result.records), result.run),
                "run": result.run,
                "records": result.records.to_dicts(),
            }
        )
        return
    from interlingua.report.explain_terminal import render_explanation
    from interlingua.report.screen import console

    render_explanation(to_v1(result.records), result.run, console())
    typer.echo(f"\nPage: {out / 'explain.html'}")


def _by_language(models: list[str], source: str) -> list[str] | dict[str, str]:
    """Folders, or folders by the language of training where it is named: `es=FOLDER`."""
    named = [name.partition("=") for name in models]
    if not any(divider for _, divider, _ in named):
        return models
    found = {(code if divider else source): (folder if divider else code) for code, divider, folder in named}
    if len(found) < len(models):
        raise InputError("two models of one language", value=", ".join(models), remedy="Give each language once.")
    return found


def _files(given: list[str] | None, option: str) -> dict[str, File]:
    from interlingua.analyses.transfer import named_files, one_file

    return {name: one_file(paths, option) for name, paths in named_files(given or [], option).items()}


def _one_model(models: list[str], source: str) -> tuple[str, str]:
    """The model that rows are explained by, and the language it was trained in."""
    by = _by_language(models, source)
    found = [(name, source) for name in by] if isinstance(by, list) else [(name, code) for code, name in by.items()]
    if len(found) != 1:
        raise InputError("rows are explained by one model", value=", ".join(models), remedy="Give one.")
    return found[0]


def _print_rows(found: list[RowExplanation], as_json: bool) -> None:
    print_notes(dict.fromkeys(note for each in found for note in each.notes))
    if as_json:
        print_json({"rows": [asdict(each) for each in found]})
        return
    from interlingua.report.explain_terminal import render_row
    from interlingua.report.screen import console

    for number, each in enumerate(found):
        if number:
            typer.echo("")
        render_row(each.sides, each.examples, console())


def _texts(
    models: list[str],
    text: list[str],
    languages: list[str] | None,
    label: str | None,
    settings: ExplainSettings,
    device: str | None,
    as_json: bool,
) -> None:
    from interlingua.commands import explain as explain_command

    if len(text) != 2 or len(models) != 1:
        raise InputError("texts are compared in twos, by one model", value=len(text), remedy="Give --text twice.")
    if languages is not None and len(languages) != 2:
        raise InputError("two texts have two languages", value=", ".join(languages), remedy="Give --languages en,es.")
    names = ("first", "second") if languages is None else (languages[0], languages[1])
    result = explain_command.explain_texts(
        models[0],
        text[0],
        text[1],
        languages=names,
        label=label,
        settings=settings,
        device=device,
    )
    print_notes(result.notes)
    if as_json:
        print_json({**result.example, "about": result.about})
        return
    from interlingua.report.explain_terminal import render_texts
    from interlingua.report.screen import console

    render_texts(result.example, result.about, console())
