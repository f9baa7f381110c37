"""What may be asked of any value in a study file: a known name, a number above 0, a file that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.registry import unknown
from interlingua.studies.strict import Problems
from interlingua.studies.study import FIELDS, MADE, Study, fields_of, templates_of
from interlingua.studies.tables import Files
from interlingua.studies.tomlplaces import Path as Place

_ABOVE_0: tuple[str, ...] = (
    "epochs",
    "learning_rate",
    "batch",
    "length",
    "train_rows",
    "test_rows",
    "rows",
    "alpha",
    "steps",
    "permutations",
    "blocks",
)


@dataclass(frozen=True)
class Checks:
    """The questions that checks of tables ask of their values; what is wrong is told at its line, among the problems.

    The study's languages have their one form already (`studycodes.plain_codes`).
    """

    study: Study
    problems: Problems

    def wrong(self, path: Place, problem: str, *, value: object = None, remedy: str) -> None:
        self.problems.add(path, problem, value=value, remedy=remedy)

    def known(self, path: Place, kind: str, name: str, known: Iterable[str]) -> bool:
        names = list(known)
        if name in names:
            return True
        self.problems.take(path, unknown(kind, name, names) if names else InputError(
            f"unknown {kind}", value=name, remedy="The study has none: add one first."))  # fmt: skip
        return False

    def all_known(self, path: Place, kind: str, given: Sequence[str], known: Iterable[str]) -> None:
        names = list(known)
        for place, name in enumerate(given):
            if self.known((*path, place), kind, name, names) and name in given[:place]:
                self.wrong((*path, place), f"a {kind} twice", value=name, remedy="Name each once.")

    def tried(self, path: Place, given: Mapping[str, Any], make: Callable[[], object]) -> None:
        """What a class says of its own values, at the key that has the value."""
        try:
            make()
        except InputError as error:
            key = next((key for key, value in given.items() if value == error.value and error.value is not None), None)
            self.problems.take(path if key is None else (*path, key), error)

    def numbers(self, path: Place, given: Mapping[str, Any]) -> None:
        for key in _ABOVE_0:
            value = given.get(key)
            if isinstance(value, int | float) and not value > 0:
                self.wrong((*path, key), f"{key} must be above 0", value=value, remedy="Give more.")

    def some(self, path: Place, given: Sequence[str]) -> None:
        """Refuse a table's languages that the study does not have."""
        self.all_known(path, "language of the study", given, {*self.study.languages, self.study.table.source})

    def templates(self, path: Place, files: Files | None) -> None:
        for under, template in templates_of(files):
            for name in fields_of(template):
                self.known((*path, *under), "field of a template", name, FIELDS)

    def exist(self, path: Place, files: Iterable[str], *, folders: bool = False) -> None:
        """Tell files that are not there; those that a step makes must name one that is in the study."""
        for file in files:
            if file.startswith(MADE):
                self.known(path, "synth", file[len(MADE) :].partition("/")[0], self.study.table.synth)
            elif not _templated(file):
                self._there(path, file, folders=folders)

    def _there(self, path: Place, file: str, *, folders: bool) -> None:
        try:
            found = self.study.place(file)
        except InputError as error:
            self.problems.take(path, error)
            return
        if not found.exists():
            self.wrong(path, "no such file", value=file, remedy=f"Looked in {self.study.data}; --data names another.")
        elif found.is_dir() and not folders:
            self.wrong(path, "a folder, not a file", value=file, remedy="Name the file.")

    def corpus(self, path: Place, name: str, languages: Iterable[str]) -> None:
        """A parallel corpus: the sampler, a dataset of the hub, or a file or folder that is there."""
        if name == "sampler":
            there = read_corpus(name).languages
            for code in languages:
                self.known(path, "language of the sampler", code, there)
        elif not name.startswith("hf:"):
            self.exist(path, (name,), folders=True)


def _templated(file: str) -> bool:
    """Whether a field was not filled, which has been told already."""
    return "{" in file
