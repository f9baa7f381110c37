"""The config of a pretraining run, read from TOML; all of it is checked before the first second of compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from interlingua.errors import InputError
from interlingua.languages import canonical
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import EvaluationTable, PretrainTable, RecipeTable, TextTable, TokenizerTable
from interlingua.studies.config.toml_file import ProblemList, build, read_toml


@dataclass(frozen=True)
class Source:
    """The file a config was read from, and where in it each key stands."""

    file: Path | None = None
    lines: Mapping[Place, int] = field(default_factory=dict)

    def wrong(self, problem: str, section: str, key: str, *, value: object = None, remedy: str) -> InputError:
        """The error for a key's value, with the line where it stands."""
        line = ProblemList(str(self.file), self.lines).line(tuple(part for part in (section, key) if part))
        return InputError(problem, file=self.file, line=line, value=value, remedy=remedy)


@dataclass(frozen=True)
class Config:
    """Everything that decides a model, and the file it was read from."""

    data: TextTable
    training: PretrainTable
    tokenizer: TokenizerTable = field(default_factory=TokenizerTable)
    model: Mapping[str, Any] = field(default_factory=dict)
    evaluation: EvaluationTable = field(default_factory=EvaluationTable)
    source: Source = field(default_factory=Source, compare=False)

    def digest(self, files: Mapping[str, str]) -> str:
        """A hash of what decides the run: every setting, and the digests of the files; not where those are."""
        settings = asdict(self)
        del settings["source"], settings["data"]["folder"], settings["tokenizer"]["file"]
        del settings["training"]["start_from"]
        state = json.dumps([settings, dict(files)], sort_keys=True, default=str)
        return hashlib.blake2b(state.encode(), digest_size=16).hexdigest()


def read_config(path: Path) -> Config:
    """The config in a TOML file; all that is wrong in it is one error with lines, values and remedies."""
    given, lines = read_toml(path, called="config file")
    problems = ProblemList(str(path), lines)
    table = build(RecipeTable, given, (), problems)
    if table is not None:
        _check_languages(table, problems)
        if table.training.start_from is not None and "tokenizer" in given:
            problems.add(
                ("tokenizer",),
                "a run that starts from another has its tokenizer",
                value=table.training.start_from,
                remedy="Remove [tokenizer], or start_from.",
            )
    problems.check()
    assert table is not None
    return Config(table.data, table.training, table.tokenizer, table.model, table.evaluation, Source(path, lines))


def _check_languages(table: RecipeTable, problems: ProblemList) -> None:
    seen: set[str] = set()
    for number, code in enumerate(table.data.languages):
        try:
            plain = canonical(code)
        except InputError as error:
            problems.take(("data", "languages", number), error)
            continue
        if plain in seen:
            problems.add(("data", "languages", number), "a language twice", value=code, remedy="Name each once.")
        seen.add(plain)
    try:
        canonical(table.evaluation.pivot)
    except InputError as error:
        problems.take(("evaluation", "pivot"), error)
