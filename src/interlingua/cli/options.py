"""Options of commands, made of classes of settings; plug-ins, notes on stderr, and one JSON object on stdout."""

from __future__ import annotations

import inspect
import json
import sys
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from interlingua.errors import InputError, printable
from interlingua.studies.config.fields import ConfigErrors, Field, Setting, alternatives, check, settings_of

if typing.TYPE_CHECKING:
    from interlingua.commands.command_study import CompiledCommand

S = TypeVar("S")
Compile = Callable[[Any], "CompiledCommand"]
"""A command's settings as a study with one cell."""


@dataclass(frozen=True, kw_only=True)
class Console:
    """What every command takes beside its own settings."""

    panel = "Output"
    plugins: Annotated[
        tuple[Path, ...],
        Setting(
            help="A Python file that registers more names; repeatable.",
            flag="plugin",
            several=True,
            metavar="FILE",
            formerly=("load",),
        ),
    ] = ()
    json: Annotated[bool, Setting(help="Print one JSON object on stdout and nothing else there.")] = False
    plan: Annotated[bool, Setting(help="Print the steps, what is done and what is left, and run nothing.")] = False
    save_study: Annotated[
        Path | None,
        Setting(
            help="Write a study file that does the same, and run nothing: 'interlingua study run' gives the same "
            "records, and the file can grow into a grid.",
            left_out="none",
            metavar="FILE.toml",
        ),
    ] = None


def as_command(
    app: typer.Typer,
    settings: type[S],
    run: Callable[[S, Console], None],
    *,
    name: str,
    examples: str = "",
    plugins: bool = True,
    compile: Compile | None = None,
) -> None:
    """Add the command of a class of settings to an application; without `plugins` it looks nothing up by a name.

    `compile` gives the command as a study with one cell, for --plan and --save-study.
    """
    without = {*(() if compile is not None else ("plan", "save_study")), *(() if plugins else ("plugins",))}
    fields = [
        field
        for field in (*settings_of(settings), *(one for one in settings_of(Console) if one.name not in without))
        if field.setting.where != "python"
    ]

    def parse(**raw: Any) -> None:
        values = {field.name: convert_option(field, raw[field.name]) for field in fields if raw[field.name] is not None}
        console = Console(
            **{field.name: values.pop(field.name) for field in settings_of(Console) if field.name in values}
        )
        load_all(console.plugins)
        given = settings(**values)
        flags = {field.name: shown_name(field) for field in fields}
        problems = [problem.of_option(lambda name: flags.get(name, name)) for problem in check(given)]
        if problems:
            raise problems[0] if len(problems) == 1 else ConfigErrors("the options", problems)
        if compile is not None and (console.plan or console.save_study):
            from interlingua.cli.plans import show_compiled

            show_compiled(compile(given), console)
        else:
            run(given, console)

    parameters = sorted((_parameter(field) for field in fields), key=lambda each: each.default is not each.empty)
    parse.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    parse.__annotations__ = {each.name: each.annotation for each in parameters}
    parse.__doc__ = settings.__doc__
    own = {field.flag for field in fields}
    old = {
        f"--{no}{before.replace('_', '-')}": shown_name(field).replace("--", f"--{no}", 1)
        for field in fields
        for before in field.setting.formerly
        for no in (("", "no-") if field.shape == "switch" else ("",))
        if f"--{no}{before.replace('_', '-')}" not in own
    }

    class Renamed(TyperCommand):
        """A command that names the new option where an old one is given."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            for argument in args:
                option = argument.partition("=")[0]
                if option in old:
                    raise InputError(f"{option} is now called {old[option]}", remedy=f"Write {old[option]}.")
            return super().parse_args(ctx, args)

    app.command(name=name, epilog=examples or None, cls=Renamed)(parse)


def shown_name(field: Field) -> str:
    """What a setting is called on the command line: the option, or the place of an argument."""
    return field.setting.metavar.removesuffix("...") if field.setting.argument else field.flag


def _parameter(field: Field) -> inspect.Parameter:
    """One option or argument as typer declares it."""
    setting, shape = field.setting, field.shape
    kind: Any = str
    default: Any = field.default
    if shape == "switch":
        kind = bool
    elif setting.several or shape == "files":
        kind = list[str]
        default = None if default == () or not isinstance(default, list) else default
    elif shape == "numbers" and isinstance(default, tuple):
        default = ",".join(map(str, default))
    elif shape == "numbers":
        default = None if default is None else str(default)
    elif shape == "scalar":
        kind = _scalar(field)
    if field.required:
        default = inspect.Parameter.empty
    elif default is None or (kind == list[str]):
        kind, default = kind | None, None
    help = field.about
    if default is None or default is inspect.Parameter.empty:
        before, sign, words = help.partition(" Default: ")
        help = f"{before} [default: {words.removesuffix('.')}]" if sign else help
    else:  # typer tells it.
        help = help.partition(" Default: ")[0]
    if setting.argument:
        info = typer.Argument(help=help, metavar=setting.metavar or None)
    else:
        names = f"{field.flag}/--no-{field.flag[2:]}" if default is True else field.flag
        info = typer.Option(names, help=help, metavar=setting.metavar or None, rich_help_panel=field.panel or None)
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _scalar(field: Field) -> Any:
    kinds = [kind for kind in alternatives(field.hint) if kind is not type(None)]
    return kinds[0] if kinds in ([int], [float]) else str


def convert_option(field: Field, raw: Any) -> Any:
    """The value of an option as Python has it."""
    kinds = alternatives(field.hint)
    found = raw
    if field.setting.several:
        paths = Path in _inner(kinds) and str not in _inner(kinds)
        found = named_or_listed(field, [Path(part) for part in raw] if paths else list(raw))
    elif field.shape == "files":
        found = by_name(field, raw)
    elif field.shape == "names":
        found = split_names(raw)
    elif field.shape == "numbers":
        found = _numbers(field, raw)
    elif isinstance(raw, str) and int in kinds and raw.isdecimal() and len(raw) < 6:
        found = int(raw)
    elif isinstance(raw, str) and Path in kinds and str not in kinds:
        found = Path(raw)
    return found


def _inner(kinds: Iterable[Any]) -> set[Any]:
    return {each for kind in kinds for part in typing.get_args(kind) for each in alternatives(part)}


def _numbers(field: Field, raw: str) -> Any:
    try:
        parts = tuple(int(part) for part in raw.split(",") if part.strip())
    except ValueError as error:
        raise InputError(f"{field.flag} takes numbers", value=raw, remedy=f"Give {field.flag} 0,1.") from error
    return parts[0] if len(parts) == 1 and int in alternatives(field.hint) and "," not in raw else parts


def by_name(field: Field, given: Sequence[str]) -> Any:
    """`XX=FILE` and `XX=FILE,FILE` as a mapping, in order; one alone may come without a name where that is accepted.

    A path may hold the sign, and a language has no dot and no slash.
    """
    plain = any(kind is str for kind in alternatives(field.hint))
    paired = any(typing.get_origin(part) is tuple for kind in alternatives(field.hint) for part in _values(kind))
    example = field.setting.metavar or "XX=FILE"
    found: dict[str, Any] = {}
    for text in given:
        name, sign, files = text.partition("=")
        name = name.strip()
        if plain and (not sign or set(name) & set("./\\")):
            name, files = "", text
        # A file whose name has a comma is one.
        parts = [files] if Path(files).exists() else [part.strip() for part in files.split(",")]
        if (not name and not plain) or not all(parts) or len(parts) > 2:
            raise InputError(f"{field.flag} takes {example}", value=text, remedy=f"Give {field.flag} {example}.")
        if len(parts) > 1 and not paired:
            raise InputError(f"{field.flag} takes one file per language", value=files, remedy="Give one.")
        if name in found:
            raise InputError(
                f"{field.flag} twice for one language" if name else f"with several {field.flag} each needs a language",
                value=text, remedy=f"Give each once: {field.flag} {example}.",
            )  # fmt: skip
        found[name] = tuple(parts) if len(parts) > 1 else parts[0]
    if "" in found and len(found) > 1:
        raise InputError(f"with several {field.flag} each needs a language", value=found[""],
                         remedy=f"Give {field.flag} {example} for each.")  # fmt: skip
    return found.get("", found)


def _values(kind: Any) -> tuple[Any, ...]:
    """The types of a mapping's values."""
    origin = typing.get_origin(kind)
    is_mapping = isinstance(origin, type) and issubclass(origin, Mapping)
    return alternatives(typing.get_args(kind)[1]) if is_mapping else ()


def named_or_listed(field: Field, given: list[Any]) -> Any:
    """A list, or a mapping where names stand before an `=` and are accepted."""
    if field.shape != "files" or not any("=" in str(part) for part in given):
        return given
    found: dict[str, Any] = {}
    for part in given:
        name, sign, value = str(part).partition("=")
        key = name if sign else ""
        if key in found:
            raise InputError("two models of one language", value=", ".join(map(str, given)),
                             remedy="Give each language once.")  # fmt: skip
        found[key] = value if sign else name
    return found


def load_all(files: Iterable[Path] | None) -> None:
    """Import plug-ins, before any name is looked up."""
    if files:
        from interlingua.studies.plugins import load_for_commands

        load_for_commands(tuple(Path(file) for file in files))


def split_names(given: str | None) -> list[str] | None:
    """What stands between the commas of an option; None where it was not given.

    >>> split_names("en, ru,"), split_names(None)
    (['en', 'ru'], None)
    """
    return None if given is None else [name for part in given.split(",") if (name := part.strip())]


def print_notes(notes: Iterable[object]) -> None:
    """Say on stderr what was left out or handled specially."""
    for note in notes:
        sys.stderr.write(f"note: {printable(note)}\n")


def print_json(told: Any) -> None:
    """One JSON object on stdout, and the end of its line; undefined numbers and what JSON does not know are bugs.

    The text is whole before any of it is written. Where the output can't hold its letters, they are `\\u` and a number.
    """
    text = json.dumps(told, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(told, allow_nan=False)
    sys.stdout.write(f"{text}\n")
