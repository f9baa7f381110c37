"""Writes docs/cli.md from the command line itself:  python docs/generate_cli.py

The page is the same on every machine: it is made of names, help texts and defaults, wrapped at 100
columns, and asks neither the terminal nor the version of the library that parses.
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

WIDTH = 100
HEAD = """# Command line

<!-- Made by docs/generate_cli.py; edit src/interlingua/cli.py and cli_*.py instead. -->

{about}

Results go to stdout, progress and errors to stderr. The exit code is 0, 1 (failed), 2 (bad input) or 130
(interrupted). Ctrl-C says on one line what is kept; runs in a folder go on when the same command is given again. A
folder that holds a run of another command, or another run, is refused and not touched. `-h` or `--help` prints the same
help in the terminal; `python -m interlingua` is the same command.
"""


def page() -> str:
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


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(page(), encoding="utf-8")
