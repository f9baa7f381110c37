"""The input of a step of each kind: its settings, the version of its code, whether it computes on a GPU. No torch.

Settings hold values: what a study file leaves to the task, the regime or the device is filled in before a step is made,
so that its key changes with the default. None says that the model or the data decide, or that there is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from interlingua.engine.serialization import File
from interlingua.studies.config.schema import PairFilterTable
from interlingua.training.phases import Phase

Value = str | int | float | bool | tuple[str, ...] | None
Data = File | str
"""A file by its content, the name of a corpus, or `@NAME/rest`: a file that the step of that role makes."""


@dataclass(frozen=True, kw_only=True)
class StudyEncoder:
    """An encoder of a study: a folder by its content, or a hub name with its commit; None: the step `encoder` makes it.

    `blocks` takes only that many first blocks.
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
    side that stays; None: the files' names say it. `tokenize` is how text is cut into words.
    """

    language: str
    source: str
    files: tuple[File, ...] = ()
    corpus: Data | None = None
    links: File | None = None
    aligner: str = "diagonal"
    encoder: StudyEncoder | None = None
    english: str | None = None
    tokenize: str = "auto"


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
    tidy: PairFilterTable
    kept: str


@dataclass(frozen=True, kw_only=True)
class SynthStep:
    """Contexts and names to parallel tagged sentences; no `types`: all, no `languages`: those that every type has."""

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = False

    contexts: tuple[Data, ...]
    names: tuple[Data, ...]
    types: tuple[str, ...]
    languages: tuple[str, ...]
    rows: int
    test_share: float
    slots: str
    bad_rows: str
    entity: str | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class SpellingStep:
    """Parallel names to how alike languages spell them."""

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = False

    block: str
    synth: SynthStep
    seed: int


@dataclass(frozen=True, kw_only=True)
class PretrainStep:
    """A recipe and plain text, by language, to a masked language model.

    `tokenizer` is a file with a vocabulary to cut, `start_from` the files of the run whose weights it begins with,
    `held_out` the corpus that progress is measured on; None: there is none.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = True

    recipe: File
    text: Mapping[str, File]
    tokenizer: File | None
    start_from: tuple[File, ...]
    held_out: Data | None


@dataclass(frozen=True, kw_only=True)
class AlignStep:
    """A bitext to word links; `precision` is that of the encoder whose vectors link, None without one.

    `diagonal` and `neural` are all settings of the aligner, None of another one; `symmetrize` makes two directions one,
    None where there is one.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = False

    bitext: StudyBitext
    symmetrize: str | None
    diagonal: Mapping[str, Value] | None
    neural: Mapping[str, Value] | None
    precision: str | None


@dataclass(frozen=True, kw_only=True)
class AdjustStep:
    """A model and linked text to the adjusted model, its head included.

    Distances are measured every `monitor_every` steps on the rows held out of the first bitext; None: never.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    source: str
    bitexts: tuple[StudyBitext, ...]
    linked_rows: LinkedRows
    phases: tuple[Phase, ...]
    monitor_every: int | None
    precision: str
    seed: int
    compile: bool
    checkpoint_every: int


@dataclass(frozen=True, kw_only=True)
class EffectStep:
    """An encoder, original or adjusted, to what an adjustment is judged by: retrieval and distances by language.

    They are measured on the rows held out of each bitext and, retrieval, on the embedded sampler. `trained_on` are the
    languages that it was adjusted on.
    """

    CODE: ClassVar[int] = 1
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    state: str
    trained_on: tuple[str, ...]
    bitexts: tuple[StudyBitext, ...]
    linked_rows: LinkedRows
    precision: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class FinetuneStep:
    """An encoder, adjusted or as it came, to a model for a task under the last phase of a regime.

    `linked_rows` is None where that phase reads no bitext.
    """

    CODE: ClassVar[int] = 4
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
    compile: bool
    checkpoint_every: int


@dataclass(frozen=True, kw_only=True)
class PredictStep:
    """A model to its scores on the tests of a task.

    `tests` and `retrieval` are files by the name of the test, `names` all tests that are asked, those mixed from two
    among them. `map_on` and `linked_rows` are those of a regime that maps, `through` the encoder that reads its tests.
    """

    CODE: ClassVar[int] = 4
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

    CODE: ClassVar[int] = 4
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

    `written` identifies the measure's own code. `pairs` and `maps` say which pairs are measured, and which of them get
    a fitted map. `spellings` None: names of places that are embedded.
    """

    CODE: ClassVar[int] = 5
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

    CODE: ClassVar[int] = 5
    ON_GPU: ClassVar[bool] = False

    encoded: EncodeStep
    projection: str = "pca"


@dataclass(frozen=True, kw_only=True)
class AttributeStep:
    """A fine-tuned model and examples in a language to attributions, and their consistency with those of `source`.

    `folder` is that of a model from elsewhere; None: the step `tuned` makes the model, and None is no `regime`. The
    step `source` has attributed the language of training, which another `language` is compared with. `tests` are the
    files of both, `dictionaries` and `vectors` those that are there. `examples` is how many are written, 0: all. `how`
    are the settings of `ExplainSettings`, all.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = True

    model: str
    folder: File | None
    block: str
    task: str
    source: str
    language: str
    regime: str | None
    bitext_languages: tuple[str, ...]
    tests: Mapping[str, Data]
    rows: int | None
    dictionaries: Mapping[str, Data]
    vectors: Mapping[str, Data]
    examples: int
    how: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class EntityGeometryStep:
    """A model and parallel names to what is seen of those inside it: cosines, clusters, a map.

    The model is as it came, or as the step `tuned` fine-tuned it on `source`. Looked at are the names of the test part,
    or with an `entity` that many sentences of each type about that name.
    """

    CODE: ClassVar[int] = 1
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    block: str
    synth: SynthStep
    source: str | None
    entity: str | None
    entity_rows: int
    projection: str
    perplexity: float | None
    layers: tuple[int, ...]
    max_points: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class GeometryStep:
    """A model and parallel tagged sentences to its fine-tuning on one language: watched, then tested on all.

    How often it is watched goes by the lengths of the fine-tunings on all of `sources`. `keep_model`: somebody looks
    into the model.
    """

    CODE: ClassVar[int] = 4
    ON_GPU: ClassVar[bool] = True

    encoder: StudyEncoder
    block: str
    synth: SynthStep
    source: str
    sources: tuple[str, ...]
    epochs: float
    learning_rate: float
    batch: int
    watch: bool
    watch_every: int | None
    watch_span: int
    keep_model: bool
    precision: str
    seed: int


StepSettings = (
    SynthStep
    | SpellingStep
    | PretrainStep
    | AlignStep
    | AdjustStep
    | EffectStep
    | FinetuneStep
    | PredictStep
    | DistancesStep
    | EncodeStep
    | MeasureStep
    | MapStep
    | AttributeStep
    | EntityGeometryStep
    | GeometryStep
)


KINDS: Mapping[str, type[StepSettings]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "_", settings.__name__.removesuffix("Step")).lower(): settings
    for settings in StepSettings.__args__
}
"""The settings of every kind of step; `studies.steps` has a module called as each kind."""
