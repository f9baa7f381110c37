"""Files that a study brings (`plugins`): what each registers, so that a changed one reruns only what uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interlingua.attribution import attributions
from interlingua.engine.process_setup import mark_loaded
from interlingua.measures import measures
from interlingua.objectives import objectives
from interlingua.projection import projections
from interlingua.readers import readers, sniffers
from interlingua.registry import Registry, load
from interlingua.tasks import tasks

REGISTRIES: tuple[Registry, ...] = (measures, tasks, objectives, attributions, projections, readers, sniffers)
_READING = (readers.kind, sniffers.kind)
Name = tuple[str, str]
"""The kind of a registered thing, and its name."""


@dataclass(frozen=True)
class Plugins:
    """The files of a study, and what each of them registered; `everywhere` are those that any step may use.

    Such a one registers a reader, or nothing that a step names.
    """

    files: tuple[Path, ...] = ()
    names: Mapping[Name, Path] = field(default_factory=dict)
    everywhere: frozenset[Path] = frozenset()

    def used(self, names: Iterable[Name]) -> list[Path]:
        """The files that a step needs which uses these names, in the order of the study."""
        wanted = {self.names[name] for name in names if name in self.names} | self.everywhere
        return [file for file in self.files if file in wanted]


def load_all(files: Iterable[Path]) -> Plugins:
    """Load files, and find out what each registers."""
    found: dict[Name, Path] = {}
    everywhere: set[Path] = set()
    every = tuple(files)
    for file in every:
        before = _entries()
        load(file)
        new = [name for name, call in _entries().items() if before.get(name) is not call]
        named = [name for name in new if name[0] not in _READING]
        found |= dict.fromkeys(named, file)
        if len(named) < len(new) or not new:
            everywhere.add(file)
    return Plugins(every, found, frozenset(everywhere))


def load_for_commands(files: Iterable[Path]) -> None:
    """Load the files that a command names: from now on this process has them, see `loaded_plugins`."""
    for file in files:
        _LOADED.append(load_all([file.absolute()]))
        mark_loaded(file)


def loaded_plugins() -> Plugins:
    """The files that commands of this process were given."""
    return Plugins(
        tuple(dict.fromkeys(file for each in _LOADED for file in each.files)),
        {name: file for each in _LOADED for name, file in each.names.items()},
        frozenset(file for each in _LOADED for file in each.everywhere),
    )


_LOADED: list[Plugins] = []


def _entries() -> dict[Name, object]:
    return {(registry.kind, entry.name): entry.call for registry in REGISTRIES for entry in registry}
