"""`Study`: what a study file of one size says once it is checked, and its templates filled: tests, bitexts, files."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua.analyses.transfer import parse_test_languages
from interlingua.errors import InputError
from interlingua.paths import usable_path
from interlingua.registry import unknown
from interlingua.studies.config.schema import BitextTable, Files, StudyTable, TaskTable
from interlingua.studies.plugins import Plugins

FIELDS = ("language", "source")
"""What a template may name."""
MADE = "@"
"""What begins the name of a file that a step of the study makes: `@NAME/rest`."""


@dataclass(frozen=True)
class Study:
    """A study that was checked: its tables, its file, the size that was taken, where its data lies, what it loads.

    `given` are `Regime` objects that were made in Python, under their names; they take the place of ours.
    """

    table: StudyTable
    file: Path
    size: str | None
    data: Path
    plugins: Plugins = field(default_factory=Plugins)
    given: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        seeds = self.table.seeds
        return tuple(range(seeds)) if isinstance(seeds, int) else seeds

    @property
    def languages(self) -> tuple[str, ...]:
        return self.table.languages

    @property
    def foreign(self) -> tuple[str, ...]:
        """The languages that are not the source."""
        return tuple(code for code in self.table.languages if code != self.table.source)

    @property
    def name(self) -> str:
        return self.table.name if self.size is None else f"{self.table.name}-{self.size}"

    def kind(self, task: str) -> str:
        """The kind of a task's table: what it says, or its name."""
        return self.table.tasks[task].task or task

    def sources(self, task: str) -> tuple[str, ...]:
        return self.table.tasks[task].sources or (self.table.source,)

    def model_sources(self, model: str) -> tuple[str, ...]:
        """The languages that a model from elsewhere was trained in."""
        return self.table.models[model].sources or (self.table.source,)

    def encoders(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The encoders that a table asks for: all where it names none."""
        return tuple(asked) or tuple(self.table.encoders)

    def trained(self, task: str, asked: Sequence[str]) -> tuple[str, ...]:
        """Those of the encoders a table asks for that a task is trained with."""
        own = self.encoders(self.table.tasks[task].encoders)
        return tuple(name for name in self.encoders(asked) if name in own)

    def speaks(self, encoder: str, languages: Sequence[str]) -> tuple[str, ...]:
        """Those of the languages that an encoder knows."""
        known = self.table.encoders[encoder].languages
        return tuple(code for code in languages if not known or code in known)

    def tests(self, task: str, source: str) -> dict[str, tuple[str, ...]]:
        """The tests of a task under their names, each with its file or two."""
        table = self.table.tasks[task]
        return expand_template(table.tests, table.languages or self.languages, source) if table.tests else {}

    def lookups(self, task: str, source: str) -> dict[str, tuple[str, ...]]:
        """The corpora on which models of a task look up sentences."""
        table = self.table.tasks[task]
        return (
            {}
            if table.retrieval is None
            else expand_template(table.retrieval, table.languages or self.languages, source)
        )

    def bitext(self, code: str) -> tuple[str, ...]:
        """The files of a language's bitext; none where it comes from a corpus."""
        files = self.table.bitexts.files if self.table.bitexts is not None else None
        found = {} if files is None else expand_template(files, (code,), self.table.source)
        return next((paths for name, paths in found.items() if parse_test_languages(name) == (code,)), ())

    def linkable(self) -> tuple[str, ...]:
        """The languages that have a bitext with the source."""
        table = self.table.bitexts
        others = [] if table is None else [code for code in self.languages if code != self.table.source]
        return tuple(code for code in others if (table and table.corpus is not None) or self.bitext(code))

    def place(self, file: str) -> Path:
        """Where a file of the study lies."""
        return self.data / usable_path(file, home=True)


def model_place(home: Path, model: str) -> Path:
    """Where a model's folder would lie that a study file in `home` names."""
    return home / usable_path(model, home=True)


def expand_template(files: Files, languages: Sequence[str], source: str) -> dict[str, tuple[str, ...]]:
    """A template for every language, or a table of names and templates, as files under names.

    >>> expand_template("test-{language}.tsv", ["es", "ru"], "en")
    {'es': ('test-es.tsv',), 'ru': ('test-ru.tsv',)}
    >>> expand_template({"{source}+{language}": ("{source}.q", "{language}.p"), "hi:x": "{language}.x"}, ["ru"], "en")
    {'en+ru': ('en.q', 'ru.p'), 'hi:x': ('hi.x',)}
    """
    if not isinstance(files, Mapping):
        files = {"{language}": files}
    found: dict[str, tuple[str, ...]] = {}
    for name, given in files.items():
        templates = (given,) if isinstance(given, str) else tuple(given)
        for code in languages if "{language}" in name else (_judged(name, source),):
            told = {"language": code, "source": source}
            found[_filled(name, told)] = tuple(_filled(template, told) for template in templates)
    return found


def literal(path: str | os.PathLike[str]) -> str:
    """A path as a template that names this file alone, whatever is in its name.

    >>> literal("a.tsv"), literal("{language}.tsv"), literal("@x"), literal("sampler")
    ('a.tsv', '{{language}}.tsv', './@x', './sampler')
    """
    text = os.fspath(path).replace("{", "{{").replace("}", "}}")
    return f"./{text}" if text.startswith((MADE, "hf:")) or text == "sampler" else text


def _judged(name: str, source: str) -> str:
    return parse_test_languages(_filled(name, {"language": source, "source": source}))[-1]


def _filled(template: str, told: Mapping[str, str]) -> str:
    # Not str.format: a brace that is no field stays what it is, and nothing of Python can be reached.
    return re.sub(r"\{\{|\}\}|\{(language|source)\}", lambda f: told[f[1]] if f[1] else f[0][0], template)


def fields_of(template: str) -> list[str]:
    """The names in braces of a template.

    >>> fields_of("a-{language}.{lang}.tsv")
    ['language', 'lang']
    """
    try:
        return [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
    except ValueError:
        return ["{"]


def templates_of(files: Files | None) -> list[tuple[tuple[str | int, ...], str]]:
    """Every template of a table of files, with where it stands under the table's key."""
    if files is None:
        return []
    if isinstance(files, str):
        return [((), files)]
    if isinstance(files, Mapping):
        return [((name, *path), each) for name, inner in files.items() for path, each in templates_of(inner)] + [
            ((name,), name) for name in files
        ]
    return [((place,), each) for place, each in enumerate(files)]


TWO_DIRECTIONS = ("diagonal", "eflomal")
"""The aligners that link either language to the other, to be symmetrised."""


def linking_encoder(table: BitextTable, encoders: Iterable[str]) -> str | None:
    """The encoder whose vectors link words: the one that is named, or the only one; None for another aligner.

    >>> linking_encoder(BitextTable(aligner="neural"), ["bert"])
    'bert'
    """
    names = list(encoders)
    _check_links(table)
    if table.symmetrize is not None and (table.aligner or "diagonal") not in TWO_DIRECTIONS:
        raise InputError(
            f"the aligner {table.aligner} has one direction", value=table.symmetrize, remedy="Leave symmetrize out."
        )
    if table.aligner != "neural":
        if table.encoder is not None:
            raise InputError(
                "no encoder links here", value=table.encoder, remedy='Leave it out, or give aligner = "neural".'
            )
        return None
    if table.encoder is not None and table.encoder not in names:
        raise unknown("encoder", table.encoder, names)
    if table.encoder is None and len(names) != 1:
        raise InputError(
            "whose vectors link the words is not said",
            value=table.aligner,
            remedy=f"Give encoder = …, one of {', '.join(names)}.",
        )
    return table.encoder or names[0]


def _check_links(table: BitextTable) -> None:
    """Refuse links of a corpus: they would be passed over."""
    if table.links is not None and table.corpus is not None:
        raise InputError(
            "a corpus is linked when its bitexts are cut", value=table.links, remedy="Leave links out, or give files."
        )


def task_files(table: TaskTable) -> dict[str, Files | None]:
    """The files of a task by key."""
    return {
        "train": table.train,
        "dev": table.dev,
        "mix_with": table.mix_with,
        "tests": table.tests or None,
        "retrieval": table.retrieval,
    }
