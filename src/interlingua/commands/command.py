"""`@command`: a function whose parameters are the settings of a class, for Python, type checkers and help alike."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any, ParamSpec, TypeVar, cast

from interlingua.argument_types import check_argument
from interlingua.errors import InputError
from interlingua.studies.config.fields import ConfigErrors, Field, check, find_renamed, settings_of

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")


def command(settings: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """The function that takes each setting of a class as a parameter, checks it and calls the body with all of them.

    A dataclass is a function that makes it, so a type checker copies its parameters to the command.
    """
    group = cast(type, settings)

    def decorate(body: Callable[[S], R]) -> Callable[P, R]:
        name = body.__name__
        parameters = _parameters(group)
        signature = inspect.Signature(parameters)

        @functools.wraps(body)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in kwargs:
                if old not in signature.parameters and (now := find_renamed(group, old)) is not None:
                    raise InputError(f"{name}: {old} is now called {now.name}", remedy=f"Write {now.name}=….")
            try:
                arguments = signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
            for field in settings_of(group):
                if field.name in arguments:
                    check_argument(arguments[field.name], field.hint, name, field.name)
            given = settings(**arguments)  # type: ignore[call-arg]
            problems = [problem.of_parameter(name) for problem in check(given)]
            if problems:
                raise problems[0] if len(problems) == 1 else ConfigErrors(f"{name}()", problems)
            return body(given)

        returned = inspect.get_annotations(body).get("return", inspect.Signature.empty)
        call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": returned}
        call.__doc__ = documentation(group, body.__doc__ or "")
        return call

    return decorate


def _parameters(group: type) -> list[inspect.Parameter]:
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    entries = {entry.name: entry for entry in inspect.signature(group).parameters.values()}
    return [
        inspect.Parameter(
            field.name,
            positional if entries[field.name].kind is positional else inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=field.hint,
        )
        for field in settings_of(group)
    ]


def documentation(group: type, more: str) -> str:
    """What a command does, and one row per parameter under the heading of its group."""
    parts = [inspect.cleandoc(group.__doc__ or "")]
    if (own := inspect.cleandoc(more)) and own != parts[0]:
        parts.append(own)
    panels: dict[str, list[Field]] = {}
    for field in settings_of(group):
        panels.setdefault(field.panel, []).append(field)
    for panel, fields in panels.items():
        rows = [f":param {field.name}: {field.about}" for field in fields]
        parts.append("\n".join([*([f"**{panel}**", ""] if panel else []), *rows]))
    return "\n\n".join(parts) + "\n"


def call_command(function: Callable[..., Any], given: object, **changed: Any) -> Any:
    """The call of a command with the settings of an object that has them all."""
    names = inspect.signature(function).parameters
    return function(**{name: getattr(given, name) for name in names if hasattr(given, name)} | changed)
