"""The config of a pretraining run, read from TOML; all of it is checked before the first second of compute."""

from __future__ import annotations

import hashlib
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from interlingua.errors import InputError
from interlingua.languages import canonical
from interlingua.registry import unknown
from interlingua.studies.config.toml_file import Path as Place
from interlingua.studies.config.toml_file import Problems, convert, read_toml


@dataclass(frozen=True)
class TextData:
    """Where the text is: `folder` holds a file a language, `xx.txt`, plain or compressed.

    `lines` takes the first lines of each file alone; `tidy` leaves lines out that teach nothing (`training.tidying`);
    `held_out` is the share of each language's text, its end, that is never trained on, so that the loss on it shows
    what was learnt and not what was kept.
    """

    folder: str
    languages: tuple[str, ...]
    smoothing: float = 0.7
    lines: int | None = None
    tidy: bool = False
    held_out: float = 0.0


@dataclass(frozen=True)
class Pieces:
    """The tokenizer: trained on the data, or cut from a `file` with a WordPiece vocabulary."""

    vocabulary: int = 24000
    alphabet: int = 6000
    file: str | None = None


@dataclass(frozen=True)
class Recipe:
    """How it is trained; `batch` is in sequences of `length` tokens over all processes and accumulated parts.

    `mask` is a share, or the first and the last one. `start_from` is the folder of a run whose weights and tokenizer
    this one begins with.
    """

    steps: int
    batch: int = 512
    length: int = 128
    learning_rate: float = 1e-3
    warmup: int = 500
    decay: float = 1.0
    floor: float = 0.0
    weight_decay: float = 0.01
    mask: float | tuple[float, float] = 0.15
    precision: str = "fp32"
    compile: bool = False
    optimizer: str = "adamw"
    accumulate: int = 1
    seed: int = 0
    checkpoint_every: int = 1000
    evaluate_every: int = 1000
    save: str = "fp16"
    start_from: str | None = None


@dataclass(frozen=True)
class Evaluation:
    """Parallel sentences that progress is measured on, pivot against each other language."""

    corpus: str = "sampler"
    pivot: str = "en"


@dataclass(frozen=True)
class Source:
    """The file a config was read from, and where in it each key stands."""

    file: Path | None = None
    lines: Mapping[Place, int] = field(default_factory=dict)

    def wrong(self, problem: str, section: str, key: str, *, value: object = None, remedy: str) -> InputError:
        """The error for a key's value, with the line where it stands."""
        line = Problems(str(self.file), self.lines).line(tuple(part for part in (section, key) if part))
        return InputError(problem, file=self.file, line=line, value=value, remedy=remedy)


@dataclass(frozen=True)
class Config:
    """Everything that decides a model, and the file it was read from."""

    data: TextData
    training: Recipe
    tokenizer: Pieces = field(default_factory=Pieces)
    model: Mapping[str, Any] = field(default_factory=dict)
    evaluation: Evaluation = field(default_factory=Evaluation)
    source: Source = field(default_factory=Source, compare=False)

    def digest(self, files: Mapping[str, str]) -> str:
        """A hash of what decides the run: every setting, and the digests of the files; not where those are."""
        settings = asdict(self)
        del settings["source"], settings["data"]["folder"], settings["tokenizer"]["file"]
        del settings["training"]["start_from"]
        state = json.dumps([settings, dict(files)], sort_keys=True, default=str)
        return hashlib.blake2b(state.encode(), digest_size=16).hexdigest()


_SECTIONS: dict[str, Any] = {"data": TextData, "training": Recipe, "tokenizer": Pieces, "evaluation": Evaluation}
_Check = tuple[str, str, Callable[[Any], bool], str]
_CHECKS: tuple[_Check, ...] = (
    ("data", "languages", lambda v: len(v) > 0, "Name at least one language."),
    ("data", "smoothing", lambda v: v >= 0, "Use 1 for sampling by size, 0 for all alike, 0.7 between."),
    ("data", "lines", lambda v: v is None or v >= 1, "Give the number of lines to take of each language."),
    ("data", "held_out", lambda v: 0 <= v < 1, "Give a share such as 0.005, or 0."),
    ("tokenizer", "vocabulary", lambda v: 5 < v <= 2_000_000, "Give a few thousand entries."),
    ("tokenizer", "alphabet", lambda v: 1 <= v <= 0x110000, "Give the number of characters to keep."),
    ("training", "steps", lambda v: 1 <= v <= 10**9, "Train for at least one step, and at most a billion."),
    ("training", "batch", lambda v: 1 <= v <= 2**20, "Give the number of sequences in a step."),
    ("training", "length", lambda v: 8 <= v <= 2**16, "Sequences need at least 8 tokens, and have at most 65,536."),
    ("training", "learning_rate", lambda v: v > 0, "Give a number above 0, such as 1e-3."),
    ("training", "warmup", lambda v: 0 <= v <= 10**9, "Give a number of steps, or 0."),
    ("training", "decay", lambda v: 0 <= v <= 1, "Give the share of the steps that decay, from 0 to 1."),
    ("training", "floor", lambda v: 0 <= v <= 1, "Give the last rate as a share of the peak, from 0 to 1."),
    ("training", "weight_decay", lambda v: v >= 0, "Give a number of 0 or more."),
    (
        "training",
        "mask",
        lambda v: all(0 < share < 1 for share in v) and len(v) == 2 if isinstance(v, tuple) else 0 < v < 1,
        "Give a share between 0 and 1, such as 0.15, or the first and the last one, such as [0.3, 0.15].",
    ),
    ("training", "precision", lambda v: v in ("fp32", "bf16"), "Use fp32 or bf16."),
    ("training", "optimizer", lambda v: v in ("adamw", "muon"), "Use adamw or muon."),
    ("training", "save", lambda v: v in ("fp32", "fp16", "bf16", "fp8"), "Use fp32, fp16, bf16 or fp8."),
    ("training", "accumulate", lambda v: 1 <= v <= 2**20, "Give the number of parts a batch is cut into, or 1."),
    ("training", "seed", lambda v: 0 <= v < 2**63, "Give a number of 0 or more, below 2 to the power of 63."),
    ("training", "checkpoint_every", lambda v: v >= 1, "Give a number of steps."),
    ("training", "evaluate_every", lambda v: v >= 1, "Give a number of steps."),
)


def read_config(path: Path) -> Config:
    """The config in a TOML file; whatever is wrong in it is an error with the line, the value and the remedy."""
    given, lines = read_toml(path, called="config file")
    source = Source(path, lines)
    parts: dict[str, Any] = {}
    for section, values in given.items():
        if section not in (*_SECTIONS, "model"):
            plain = unknown("section", section, [*_SECTIONS, "model"])
            raise source.wrong(plain.problem, section, "", value=section, remedy=plain.remedy)
        if not isinstance(values, dict):
            raise source.wrong("not a section", "", section, value=section, remedy=f"Write [{section}] above its keys.")
        parts[section] = values if section == "model" else _section(section, values, source)
    for section in ("data", "training"):
        if section not in parts:
            raise InputError(f"the config has no [{section}]", file=path, remedy="Add it; see docs/howto-pretrain.md.")
    config = Config(**parts, source=source)
    _check(config)
    if config.training.start_from is not None and "tokenizer" in parts:
        raise source.wrong(
            "a run that starts from another has its tokenizer",
            "tokenizer",
            "",
            value=config.training.start_from,
            remedy="Remove [tokenizer], or start_from.",
        )
    return config


def _section(section: str, values: Mapping[str, Any], source: Source) -> Any:
    kind = _SECTIONS[section]
    known, hints = {entry.name: entry for entry in fields(kind)}, typing.get_type_hints(kind)
    problems = Problems(str(source.file), source.lines)
    for key, value in values.items():
        if key in known:
            convert(hints[key], value, (section, key), problems)
        else:
            problems.take((section, key), unknown(f"key in [{section}]", key, list(known)))
    problems.check()
    for key, entry in known.items():
        if key not in values and entry.default is MISSING:
            raise source.wrong(f"[{section}] lacks {key}", section, "", remedy=f"Add {key} = … below [{section}].")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})


def _check(config: Config) -> None:
    for section, key, right, remedy in _CHECKS:
        value = getattr(getattr(config, section), key)
        if not right(value):
            raise config.source.wrong(f"{key} is out of range", section, key, value=value, remedy=remedy)
    recipe = config.training
    if recipe.batch % recipe.accumulate:
        raise config.source.wrong(
            f"a batch of {recipe.batch} cannot be cut into {recipe.accumulate} equal parts",
            "training",
            "accumulate",
            value=recipe.accumulate,
            remedy="Make batch a multiple of accumulate.",
        )
    seen: set[str] = set()
    for key, codes in (("languages", config.data.languages), ("pivot", (config.evaluation.pivot,))):
        section = "data" if key == "languages" else "evaluation"
        for code in codes:
            try:
                plain = canonical(code)
            except InputError as error:
                raise config.source.wrong(error.problem, section, key, value=code, remedy=error.remedy) from error
            if section == "data" and plain in seen:
                raise config.source.wrong("a language twice", section, key, value=code, remedy="Name each once.")
            seen.add(plain)
