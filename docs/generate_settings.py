"""Writes what pages say of settings, from their one declaration:  python docs/generate_settings.py

docs/cli.md is written whole; in every other page, the rows between `<!-- settings: CLASS -->` and `<!-- /settings -->`.
The pages are the same on every machine: they are made of names, help texts and defaults, and ask neither the terminal
nor the version of the library that parses.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from interlingua.cli.app import app
from interlingua.report.kit.citations import name_papers
from interlingua.studies.config import schema
from interlingua.studies.config.fields import Field, alternatives, settings_of

WIDTH = 100
HEAD = """# Command line

<!-- Made by docs/generate_settings.py; edit src/interlingua/studies/config/schema.py instead. -->

{about}

Results go to stdout, progress and errors to stderr. The exit code is 0, 1 (failed), 2 (bad input) or 130
(interrupted). Ctrl-C says on one line what is kept; runs in a folder go on when the same command is given again. A
folder that holds a run of another command, or another run, is refused and not touched. `-h` or `--help` prints the same
help in the terminal; `python -m interlingua` is the same command.
"""


def command_line() -> str:
    """The whole page as Markdown."""
    root: Any = typer.main.get_command(app)
    parts = [_wrapped(HEAD.format(about=root.help)), _options(root.params)]
    for name, command in _commands(root):
        if hasattr(command, "commands"):
            parts += [f"## interlingua {name}", _wrapped(inspect.cleandoc(command.help))]
            continue
        usage = " ".join(
            ["interlingua", name, "[OPTIONS]", *(_placeholder(p) for p in command.params if not _dashed(p))]
        )
        level = "###" if " " in name else "##"
        parts += [f"{level} interlingua {name}", f"```text\n{usage}\n```", _wrapped(inspect.cleandoc(command.help))]
        parts += [_options(command.params), _examples(command.epilog or "")]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its name, a group before what is in it."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")


def _options(params: list[Any]) -> str:
    return "\n".join(_option(param) for param in params)


def _option(param: Any) -> str:
    switch = bool(getattr(param, "is_flag", False))
    names = ", ".join(f"`{name}`" for name in param.opts) if _dashed(param) else ""
    if param.secondary_opts:
        names += " or " + ", ".join(f"`{name}`" for name in param.secondary_opts)
    value = "" if switch else f"`{_placeholder(param)}`"
    text = re.sub(r"\s*\[default: (.*)\]", r" Default: \1.", param.help or "")
    if param.default is not None and param.default is not False and not callable(param.default):
        # Only a switch that can be turned off is on by default.
        text += f" Default: `{param.opts[0]}`." if switch else f" Default: {param.default}."
    if getattr(param, "multiple", False):
        text += " Can be given several times."
    line = f"{' '.join(part for part in (names, value) if part)}: {text}"
    return textwrap.fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def _placeholder(param: Any) -> str:
    shown = (param.metavar or param.name.upper()).strip("[]")
    return shown if _dashed(param) or param.required else f"[{shown}]"


def _dashed(param: Any) -> bool:
    return bool(param.opts[0].startswith("-"))


def _examples(epilog: str) -> str:
    lines = [re.sub(r" {2,}#", "  #", line.strip()) for line in epilog.splitlines() if line.startswith("    ")]
    return "```bash\n" + "\n".join(lines) + "\n```" if lines else ""


def _wrapped(text: str) -> str:
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        p if p.startswith("<!--") else textwrap.fill(p, WIDTH, break_on_hyphens=False) for p in paragraphs
    )


KINDS = {"files": "files", "switch": "true or false", "names": "list of texts", "numbers": "list of whole numbers"}
SCALARS = {str: "text", int: "whole number", float: "number", bool: "true or false"}
ROWS = re.compile(r"(<!-- settings: (\w+)(, options)? -->\n).*?(<!-- /settings -->)", re.DOTALL)


def filled(page: str) -> str:
    """A page with the rows between its markers as the settings have them now."""
    return ROWS.sub(lambda found: f"{found[1]}{rows(found[2], options=bool(found[3]))}{found[4]}", page)


def rows(name: str, *, options: bool = False) -> str:
    """The settings of a class, a row each: as keys of a file, or as options."""
    lines = ["", f"| {'option' if options else 'key'} | what | left out |", "|---|---|---|"]
    fields = [field for field in settings_of(getattr(schema, name)) if field.setting.where != "python"]
    lines += [_row(field, options=options) for field in fields if not (options and field.setting.argument)]
    return name_papers("\n".join([*lines, "", ""]))


def _row(field: Field, *, options: bool) -> str:
    called = field.flag if options else field.name
    kind = "" if options else f" *{_kind(field).capitalize()}.*"
    about = field.about.partition(" Default: ")[0]
    span = f" It must be {field.setting.range}." if field.setting.range else ""
    left = "must be given" if field.required else field.left_out or "–"
    left = f"`{left}`" if left == str(field.default) else left
    return f"| `{called}` | {about}{span}{kind} | {left} |".replace("||", "\\|\\|")


def _kind(field: Field) -> str:
    options = [option for option in alternatives(field.hint) if option is not type(None)]
    if field.shape in ("scalar", "switch"):
        return " or ".join(dict.fromkeys(SCALARS.get(option, "text") for option in options))
    plain = [SCALARS[option] for option in options if option in SCALARS]
    return " or ".join([*plain, KINDS[field.shape]])


def pages() -> dict[Path, str]:
    """Every page that says something of settings, as it should be."""
    docs = Path(__file__).parent
    found = {path: filled(path.read_text("utf-8")) for path in sorted(docs.glob("*.md")) if path.name != "cli.md"}
    return {docs / "cli.md": command_line(), **found}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, "utf-8")
