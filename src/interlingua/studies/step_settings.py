"""What a step of each kind is told: its settings, the version of its code, whether it computes on a GPU. No torch.

Settings hold values: what a study file leaves to the task, the regime or the device is filled in before a step is made,
so that its key changes with the default. None says that the model or the data decide, or that there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from interlingua.engine.serialization import File
from interlingua.training.phases import Phase

Value = str | int | float | bool | tuple[str, ...] | None
Data = File | str
"""A file by its content, the name of a corpus, or `@NAME/rest`: a file that the step of that role makes."""


@dataclass(frozen=True, kw_only=True)
class StudyEncoder:
    """An encoder of a study: a folder by its content, or a hub name with its commit; None: the step `encoder` makes it.

    `blocks` takes the first so many alone.
    """

    name: str
    model: File | str | None
    revision: str | None = None
    blocks: int | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False


@dataclass(frozen=True, kw_only=True)
class StudyCorpus:
    """A parallel corpus by its name, or the files that it is in by content, and how they are read.

    What is read lies beside the first file under the corpus' name ("." is their folder); a name with commas lists the
    files themselves.
    """

    name: str
    files: tuple[File, ...] = ()
    format: str | None = None
    encoding: str | None = None
    column: int | str | None = None


@dataclass(frozen=True, kw_only=True)
class StudyTask:
    """A task by the name of its kind, with all its settings, those that it has by default among them."""

    kind: str
    settings: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StudyBitext:
    """The bitext of a language: its files, or the corpus that it is cut from, and what links its words.

    `links` is a file of links; else the `aligner` makes them, `neural` by the vectors of `encoder`. `english` is the
    side that stays; None: the files' names say it.
    """

    language: str
    source: str
    files: tuple[File, ...] = ()
    corpus: Data | None = None
    links: File | None = None
    aligner: str = "diagonal"
    encoder: StudyEncoder | None = None
    english: str | None = None


@dataclass(frozen=True, kw_only=True)
class LinkedRows:
    """Which rows of a bitext are drawn, at which layer their words are pulled together, to which target and how.

    `held_out` None: 1,000, or a tenth of a small bitext. The others are those of `PairSettings`.
    """

    rows: int
    held_out: int | None
    layer: int
    target: str
    how: str
    specials: bool
    reduction: str
    kept: str


@dataclass(frozen=True, kw_only=True)
class SynthStep:
    """Contexts and names to parallel tagged sentences."""

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = False

    contexts: tuple[Data, ...]
    names: tuple[Data, ...]
    types: tuple[str, ...]
    languages: tuple[str, ...]
    rows: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class SpellingStep:
    """Parallel names to how alike languages spell them."""

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = False

    block: str
    synth: SynthStep
    seed: int


@dataclass(frozen=True, kw_only=True)
class PretrainStep:
    """A recipe and plain text, by language, to a masked language model.

    `pieces` is a vocabulary to cut, `start_from` the folder of a model whose weights it begins with.
    """

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    recipe: File
    text: Mapping[str, tuple[File, ...]]
    pieces: File | None
    start_from: File | None


@dataclass(frozen=True, kw_only=True)
class AlignStep:
    """A bitext to word links; `precision` is that of the encoder whose vectors link, None without one."""

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = False

    bitext: StudyBitext
    precision: str | None


@dataclass(frozen=True, kw_only=True)
class AdjustStep:
    """An encoder and linked text to an adjusted encoder."""

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    source: str
    bitexts: tuple[StudyBitext, ...]
    linked_rows: LinkedRows
    phases: tuple[Phase, ...]
    precision: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class FinetuneStep:
    """An encoder, adjusted or as it came, to a model for a task under the last phase of a regime.

    `linked_rows` is None where that phase reads no bitext.
    """

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    task: StudyTask
    source: str
    train: Data
    train_rows: int | None
    dev: Data | None
    bitexts: tuple[StudyBitext, ...]
    linked_rows: LinkedRows | None
    phases: tuple[Phase, ...]
    precision: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class PredictStep:
    """A model to its scores on the tests of a task.

    `tests` and `retrieval` are files by the name of the test, `names` all tests that are asked, those mixed from two
    among them. `map_on` and `linked_rows` are those of a regime that maps, `through` the encoder that reads its tests.
    """

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    task: StudyTask
    block: str
    source: str
    regime: str
    mapped: bool | str
    through: StudyEncoder | None
    bitext_languages: tuple[str, ...]
    tests: Mapping[str, tuple[Data, ...]]
    mixed: Data | None
    retrieval: Mapping[str, tuple[Data, ...]]
    names: tuple[str, ...]
    rows: int | None
    bitexts: tuple[StudyBitext, ...]
    linked_rows: LinkedRows | None
    map_on: str | None
    precision: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class DistancesStep:
    """A model in one of its states to the distances of related and unrelated words of a language."""

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    block: str
    source: str
    state: str
    bitext_languages: tuple[str, ...]
    bitext: StudyBitext
    linked_rows: LinkedRows
    precision: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class EncodeStep:
    """A model and a parallel corpus to vectors at every layer: of sentences, of their `words` too where asked.

    `languages` are those of the corpus that are read, `known` those of them that the model knows. `pooling` None: the
    model's own. `prompt` None: the model's default. `rows` None: all. The words of `dictionary` are encoded beside.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    corpus: StudyCorpus
    languages: tuple[str, ...]
    known: tuple[str, ...]
    rows: int | None
    pooling: str | None
    prompt: str | None
    words: bool
    dictionary: Data | None
    precision: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class MeasureStep:
    """Vectors of one model or two, as they were `encoded`, to one measure's records.

    `written` tells the measure's own code apart. `pairs` and `maps` say which pairs are measured, and which of them get
    a fitted map. `spellings` None: names of places that are embedded.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = False

    measure: str
    written: str
    block: str
    encoded: tuple[EncodeStep, ...]
    pairs: str
    maps: str
    spellings: StudyCorpus | None


@dataclass(frozen=True, kw_only=True)
class MapStep:
    """Vectors of a model, and what was measured of them, to a 2-D map of the sentences in the best layer."""

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = False

    encoded: EncodeStep


@dataclass(frozen=True, kw_only=True)
class AttributeStep:
    """A fine-tuned model to the consistency of its attributions; `how` are the settings of `ExplainSettings`, all."""

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    block: str
    task: str
    source: str
    regime: str
    bitext_languages: tuple[str, ...]
    data: Mapping[str, Data]
    rows: int | None
    dictionaries: Mapping[str, Data]
    vectors: Mapping[str, Data]
    how: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class GeometryTraining:
    """How models are fine-tuned for the geometry of names, and watched."""

    train_on: tuple[str, ...]
    epochs: float
    learning_rate: float
    batch: int
    watch: bool
    watch_every: int | None
    watch_span: int
    precision: str


@dataclass(frozen=True, kw_only=True)
class GeometryLooks:
    """How entities are looked at, and the name that is followed."""

    source: str
    about: str | None
    about_rows: int
    map: str
    perplexity: float | None
    layers: tuple[int, ...]
    points: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class GeometryStep:
    """A model and parallel names to one part of their geometry: the look before, or a fine-tuning on one language.

    `part` is "before" or the language; `training` and `seed` are None before, `looks` where nobody looks again.
    """

    CODE: ClassVar[int] = 3
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    block: str
    synth: SynthStep
    part: str
    training: GeometryTraining | None
    looks: GeometryLooks | None
    seed: int | None


StepSettings = (
    SynthStep
    | SpellingStep
    | PretrainStep
    | AlignStep
    | AdjustStep
    | FinetuneStep
    | PredictStep
    | DistancesStep
    | EncodeStep
    | MeasureStep
    | MapStep
    | AttributeStep
    | GeometryStep
)


KINDS: Mapping[str, type[StepSettings]] = {
    settings.__name__.removesuffix("Step").lower(): settings for settings in StepSettings.__args__
}
"""The settings of every kind of step; `studies.steps` has a module called as each kind."""
