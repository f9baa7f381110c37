"""The command `interlingua explain`: parse, one call, print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from interlingua.cli.options import Console, print_json, print_notes
from interlingua.cli.progress import progress_bars, resumable
from interlingua.errors import InputError
from interlingua.studies.config.fields import settings_of
from interlingua.studies.config.schema import ExplainCommand, ExplainOptions

if TYPE_CHECKING:
    from interlingua.commands.command_study import CompiledCommand
    from interlingua.report.kit.notebook import ReportedResult

EXAMPLES = """
**Examples**

    interlingua explain nli/models/original-seed0 --test en=en.tsv --test es=es.tsv --out why

    interlingua explain en=paws-en es=paws-es --test en=en.tsv --test es=es.tsv --out both

    interlingua explain nli/models/original-seed0 --test es=es.tsv --row es:57 --out row.html

    interlingua explain nli/models/original-seed0 --text "Rain. ||| Wet." --text "Lluvia. ||| Mojado."
"""

_REMEDY = "Give --test xx=FILE for each language and --out (or --row), or --text twice."


def explain(given: ExplainOptions, output: Console) -> None:
    """Explain all rows, single ones, or two texts."""
    if given.text:
        _texts(given, output)
        return
    from interlingua.commands.command import call_command
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
        result = call_command(explain_command, given, models=models, tests=tests, progress=tell)
    print_notes(result.run["skipped"])
    report = result.report()
    if output.json:
        print_json({"run": result.run, "report": report.to_dict(), "records": result.records.to_dicts()})
        return
    from interlingua.report.kit.terminal import console, print_report

    print_report(report, console())
    typer.echo(f"\nPage, tables and records: {result.page_file}")


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
    from interlingua.commands.command import call_command
    from interlingua.commands.explain import explain_rows

    if given.rows is not None:
        raise InputError("--rows is for all rows", remedy="Leave --rows out: --row names the rows.")
    page = _page_file(given)
    model, source = _one_model(given)
    result = call_command(explain_rows, given, model=model, source=source, tests=tests, rows=given.row)
    print_notes(dict.fromkeys(note for row in result for note in row.notes))
    _print(result, page, output, {"rows": [row.to_dict() for row in result]})


def _texts(given: ExplainOptions, output: Console) -> None:
    from interlingua.commands.command import call_command
    from interlingua.commands.explain import explain_texts

    if len(given.text) != 2:
        raise InputError("--text takes two texts", value=len(given.text), remedy="Give --text twice.")
    page = _page_file(given)
    model, _ = _one_model(given)
    languages = given.languages
    if languages is not None and len(languages) != 2:
        raise InputError("two texts have two languages", value=", ".join(languages), remedy="Give --languages en,es.")
    names = ("first", "second") if languages is None else (languages[0], languages[1])
    first, second = given.text
    result = call_command(explain_texts, given, model=model, first=first, second=second, languages=names)
    print_notes(result.notes)
    _print(result, page, output, result.example.to_dict())


def _page_file(given: ExplainOptions) -> Path | None:
    """The page of single rows or texts: one file, so that it can stand beside others; None where none is asked for."""
    if given.out is not None and (given.out.suffix != ".html" or given.out.is_dir()):
        raise InputError(
            "single rows and texts are written as one page", value=str(given.out),
            remedy=f"Name a file: --out {given.out}.html.",
        )  # fmt: skip
    return given.out


def _print(result: ReportedResult, page: Path | None, output: Console, plain: Mapping[str, Any]) -> None:
    """Write the page where one is asked for, then print the report, or all of it as JSON."""
    from interlingua.report.kit.terminal import console, print_report

    if page is not None:
        from interlingua.engine.atomic_files import write_text

        write_text(page, result.page())
    report = result.report()
    if output.json:
        print_json({**plain, "report": report.to_dict()})
        return
    print_report(report, console())
    typer.echo("\nA page with charts: add --out NAME.html." if page is None else f"\nPage: {page}")
