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
from interlingua.paths import read_json
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import EvaluationTable, PretrainTable, RecipeTable, TextTable, TokenizerTable
from interlingua.studies.config.toml_file import ProblemList, build, read_toml

START_FILES = ("training.json", "tokenizer.json", "config.json", "model.safetensors")
"""What of a run another one starts from."""
_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")


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

    @property
    def digest(self) -> str:
        """A hash of all that it says but where files are: another order or comment in the file is the same recipe."""
        settings = asdict(self)
        del settings["source"], settings["data"]["folder"], settings["tokenizer"]["file"]
        del settings["training"]["start_from"]
        state = json.dumps(settings, sort_keys=True, default=str)
        return hashlib.blake2b(state.encode(), digest_size=16).hexdigest()

    def text_files(self, folder: Path) -> dict[str, Path]:
        """The text file of each language in a folder, by its one code; an error where it is not one."""
        found: dict[str, Path] = {}
        for code in self.data.languages:
            matches = [path for suffix in _SUFFIXES if (path := folder / f"{code}.txt{suffix}").is_file()]
            if len(matches) != 1:
                names = ", ".join(path.name for path in matches)
                raise self.source.wrong(
                    f"two files for {code} in {folder} ({names})" if matches else f"no text for {code} in {folder}",
                    "data",
                    "languages",
                    value=code,
                    remedy="Keep one of them." if matches else f"Put a file {code}.txt there, plain or compressed.",
                )
            found[canonical(code)] = matches[0]
        return found

    def tokenizer_file(self, home: Path) -> Path | None:
        """The file whose vocabulary is cut, if any; paths start from `home`."""
        if self.tokenizer.file is None:
            return None
        place = home / self.tokenizer.file
        if not place.is_file():
            raise self.source.wrong(
                "no such tokenizer file", "tokenizer", "file", value=str(place), remedy="Give a tokenizer.json."
            )
        return place

    def start_folder(self, home: Path) -> Path | None:
        """The folder of the run that this one starts from, if any; its batches must not be drawn again."""
        if self.training.start_from is None:
            return None
        folder = home / self.training.start_from

        def wrong(problem: str, key: str, remedy: str, value: object) -> InputError:
            return self.source.wrong(problem, "training", key, value=value, remedy=remedy)

        for name in START_FILES:
            if not (folder / name).is_file():
                raise wrong(f"that folder has no {name}", "start_from", "Give one that pretrain made.", str(folder))
        try:
            before = read_json(folder / "training.json")
        except ValueError as error:
            raise wrong(
                "its training.json cannot be read", "start_from", "Give one that pretrain made.", str(folder)
            ) from error
        if isinstance(before, dict) and before.get("seed") == self.training.seed:
            raise wrong(
                "the run it starts from has the same seed, so the same batches would be drawn again",
                "seed" if ("training", "seed") in self.source.lines else "start_from",
                "Give [training] another seed.",
                self.training.seed,
            )
        return folder

    def held_out(self, home: Path) -> Path | str | None:
        """The corpus that progress is measured on: a file, or a name; None for one language, which has no other."""
        if len(self.data.languages) < 2:
            return None
        name = self.evaluation.corpus
        return home / name if (home / name).exists() else name


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
