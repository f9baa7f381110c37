"""Names to things. An unknown name gets the nearest match and the list.

A registry is filled by decorators in the files of one package; `load` brings
entries from a file outside (`--plugin my.py`). Nothing is looked up by branching.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from interlingua.errors import InputError
from interlingua.metric import Metric, Metrics

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry:
    """A registered thing: its name, the function, what it needs, one line about it, whether it fits something.

    `metrics` declares its numbers, where it gives numbers.
    """

    name: str
    call: Callable[..., Any]
    needs: str
    summary: str
    fits: bool = False
    metrics: Metrics = field(default_factory=Metrics)


@dataclass(frozen=True)
class ListedEntry:
    """What a list of names says of a registered thing."""

    name: str
    needs: str
    summary: str
    metrics: Metrics = field(default_factory=Metrics)


class _Constants(dict[str, Any]):
    """What a file of ours names at its top level, evaluated when it is asked for; nothing is imported."""

    def __init__(self, tree: ast.Module) -> None:
        super().__init__(Metric=Metric, Metrics=Metrics)
        self._values: dict[str, ast.expr] = {}
        self._imports: dict[str, tuple[str, str]] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                self._values |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("interlingua."):
                self._imports |= {each.asname or each.name: (str(node.module), each.name) for each in node.names}

    def __missing__(self, name: str) -> Any:
        if name in self._values:
            self[name] = self.value(self._values[name])
        elif name in self._imports:
            module, there = self._imports[name]
            file = Path(__file__).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")
            self[name] = _Constants(ast.parse(file.read_text("utf-8")))[there]
        else:
            raise KeyError(name)
        return self[name]

    def value(self, expression: ast.expr) -> Any:
        """What an expression of the file is."""
        return eval(compile(ast.Expression(expression), "<declaration>", "eval"), self)


def _registered(tree: ast.Module, registry: str) -> Iterator[ListedEntry]:
    """What a file registers with the decorator `registry.register`."""
    constants = _Constants(tree)
    for node in tree.body:
        for call in node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else ():
            if not (isinstance(call, ast.Call) and ast.unparse(call.func) == f"{registry}.register"):
                continue
            values = {each.arg: constants.value(each.value) for each in call.keywords if each.arg in _TOLD}
            assert isinstance(node, ast.FunctionDef | ast.ClassDef)
            summary = (ast.get_docstring(node) or "").splitlines()[0]
            yield ListedEntry(constants.value(call.args[0]), values.get("needs", ""), summary,
                         Metrics(values.get("metrics", ())))  # fmt: skip


_TOLD = ("needs", "metrics")


def list_registered(package: str, registry: str) -> list[ListedEntry]:
    """The entries of a package's registry, read from the source where nothing of it was imported yet.

    A list of names is asked for often, and what it names takes seconds to import.

    >>> [each.name for each in list_registered("interlingua.objectives", "objectives")][:2]
    ['adjustment', 'anchor']
    """
    imported = sys.modules.get(package)
    if imported is not None:
        entries: Registry = vars(imported)[registry]
        return [ListedEntry(entry.name, entry.needs, entry.summary, entry.metrics) for entry in entries]
    spec = importlib.util.find_spec(package)
    assert spec is not None
    files = [file for folder in spec.submodule_search_locations or () for file in Path(folder).glob("*.py")]
    found = [each for file in files for each in _registered(ast.parse(file.read_text("utf-8")), registry)]
    return sorted(found, key=lambda each: each.name)


class Registry:
    """A mapping from names to entries, filled on first use from one package's files."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self._entries: dict[str, Entry] = {}
        self._discovered = False

    def register(
        self,
        name: str,
        *,
        needs: str = "",
        fits: bool = False,
        metrics: Iterable[Metric] = (),
    ) -> Callable[[F], F]:
        """Register a function under a name; the first line of its docstring is its summary.

        `fits` says that it fits something to each pair, which costs more than comparing, so that fewer pairs get it.
        `metrics` declares its numbers.
        """

        def add(call: F) -> F:
            if not call.__module__.startswith(self.package):
                self._discover()  # So that a user's file that takes a name is told, not the package's own.
            if name in self._entries and self._entries[name].call.__module__ != call.__module__:
                raise InputError(f"two {self.kind}s are called", value=name, remedy="Rename one of them.")
            if not call.__doc__:
                raise InputError(f"the {self.kind} has no docstring", value=name, remedy="Say what it returns.")
            summary = call.__doc__.strip().splitlines()[0]
            self._entries[name] = Entry(name, call, needs, summary, fits, Metrics(metrics))
            return call

        return add

    def __getitem__(self, name: str) -> Entry:
        self._discover()
        if name not in self._entries:
            raise unknown(self.kind, name, list(self._entries))
        return self._entries[name]

    def __iter__(self) -> Iterator[Entry]:
        self._discover()
        return iter(sorted(self._entries.values(), key=lambda entry: entry.name))

    def _discover(self) -> None:
        if not self._discovered:
            self._discovered = True
            package = importlib.import_module(self.package)
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{self.package}.{module.name}")


def unknown(kind: str, name: str, known: list[str]) -> InputError:
    """The error for an unknown name: the nearest match, and all that is accepted.

    >>> print(unknown("measure", "retreival", ["cka", "retrieval"]))
    unknown measure: 'retreival'. Did you mean 'retrieval'? Known: cka, retrieval.
    """
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return InputError(f"unknown {kind}", value=name, remedy=f"{hint}Known: {', '.join(sorted(known))}.")


def load(path: Path) -> None:
    """Import a user's file, so that what it registers can be named."""
    if not path.is_file():
        raise InputError("no such file to load", value=str(path), remedy="Give the path of a Python file.")
    spec = importlib.util.spec_from_file_location(f"interlingua_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError("not a Python file", value=str(path), remedy="Give a file that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Dataclasses look their module up while it is made.
    try:
        spec.loader.exec_module(module)
    except InputError as error:
        del sys.modules[spec.name]
        raise InputError(error.problem, file=path, line=error.line, value=error.value, remedy=error.remedy) from error
    except Exception as error:
        del sys.modules[spec.name]
        raise InputError(
            f"cannot be loaded ({type(error).__name__}: {error})",
            file=path,
            remedy="Correct the file; it must import cleanly.",
        ) from error
