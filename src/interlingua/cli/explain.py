"""The command `interlingua explain`: parse, one call, print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.errors import InputError
from interlingua.studies.config.fields import settings_of
from interlingua.studies.config.schema import ExplainCommand, ExplainOptions

if TYPE_CHECKING:
    from interlingua.analyses.row_explanation import RowExplanation
    from interlingua.commands.compiled import CompiledCommand

EXAMPLES = """
**Examples**

    interlingua explain nli/models/original-seed0 --test en=en.tsv --test es=es.tsv --out why

    interlingua explain en=paws-en es=paws-es --test en=en.tsv --test es=es.tsv --out both

    interlingua explain nli/models/original-seed0 --test en=en.tsv --test es=es.tsv --row es:57

    interlingua explain nli/models/original-seed0 --text "Rain. ||| Wet." --text "Lluvia. ||| Mojado."
"""

_REMEDY = "Give --test xx=FILE for each language and --out (or --row), or --text twice."


def explain(given: ExplainOptions, output: Console) -> None:
    """Explain all rows, single ones, or two texts."""
    if given.text:
        _texts(given, output)
        return
    from interlingua.commands.command import call_with
    from interlingua.commands.explain import explain as explain_command

    if not given.tests or (given.out is None and not given.row):
        raise InputError("nothing to explain", remedy=_REMEDY)
    tests = _tests(given.tests, given.languages)
    if given.row:
        _rows(given, tests, output)
        return
    assert given.out is not None
    with resumable(given.out), progress_bars() as tell:
        models = _by_language(given.models, given.source)
        result = call_with(explain_command, given, models=models, tests=tests, progress=tell)
    from interlingua.report.record_adapter import to_v1

    print_notes(result.run["skipped"])
    if output.json:
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
    typer.echo(f"\nPage: {given.out / 'explain.html'}")


def compiled(given: ExplainOptions) -> CompiledCommand:
    """The explanation of all rows as a study."""
    from interlingua.commands.explain import compile_explain

    if given.text or given.row:
        raise InputError("a plan and a study are of all rows", remedy="Leave --row and --text out.")
    if not given.tests:
        raise InputError("nothing to explain", remedy=_REMEDY)
    own = {field.name for field in settings_of(ExplainCommand)}
    models, tests = _by_language(given.models, given.source), _tests(given.tests, given.languages)
    values = {name: getattr(given, name) for name in own if hasattr(given, name)}
    return compile_explain(ExplainCommand(**{**values, "models": models, "tests": tests}))


def _tests(tests: Mapping[str, Any], languages: Sequence[str] | None) -> Mapping[str, Any]:
    """The tests of the languages that are asked for."""
    if languages is None:
        return tests
    if absent := [code for code in languages if code not in tests]:
        raise InputError("no test in a language", value=absent[0], remedy=f"Give --test {absent[0]}=FILE.")
    return {code: tests[code] for code in languages}


def _by_language(models: Any, source: str) -> Any:
    """Folders, or folders by the language of training, which is the source where none is named."""
    return {code or source: folder for code, folder in models.items()} if isinstance(models, Mapping) else models


def _one_model(given: ExplainOptions) -> tuple[Any, str]:
    """The model that rows and texts are explained by, and the language it was trained in."""
    by = _by_language(given.models, given.source)
    found = [(name, code) for code, name in by.items()] if isinstance(by, Mapping) else [(n, given.source) for n in by]
    if len(found) != 1:
        raise InputError(
            "rows and texts are explained by one model", value=", ".join(str(name) for name, _ in found),
            remedy="Give one.",
        )  # fmt: skip
    return found[0]


def _rows(given: ExplainOptions, tests: Mapping[str, Any], output: Console) -> None:
    from interlingua.commands.command import call_with
    from interlingua.commands.explain import explain_rows

    if given.out is not None or given.rows is not None:
        option = "--out" if given.out is not None else "--rows"
        raise InputError(f"{option} is for all rows", remedy=f"Leave {option} out: --row prints what it finds.")
    model, source = _one_model(given)
    _print_rows(call_with(explain_rows, given, model=model, source=source, tests=tests, rows=given.row), output.json)


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


def _texts(given: ExplainOptions, output: Console) -> None:
    from interlingua.commands.command import call_with
    from interlingua.commands.explain import explain_texts

    if len(given.text) != 2:
        raise InputError("--text takes two texts", value=len(given.text), remedy="Give --text twice.")
    model, _ = _one_model(given)
    languages = given.languages
    if languages is not None and len(languages) != 2:
        raise InputError("two texts have two languages", value=", ".join(languages), remedy="Give --languages en,es.")
    names = ("first", "second") if languages is None else (languages[0], languages[1])
    first, second = given.text
    result = call_with(explain_texts, given, model=model, first=first, second=second, languages=names)
    print_notes(result.notes)
    if output.json:
        print_json({**result.example, "about": result.about})
        return
    from interlingua.report.explain_terminal import render_texts
    from interlingua.report.screen import console

    render_texts(result.example, result.about, console())
