"""The tables of a study file, as they are written: what each key is, and what it is where it is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Files = str | tuple[str, ...] | Mapping[str, str | tuple[str, ...]]
"""A template with {language} and {source}, two of them, or one (or two) for each name."""
Text = str | Mapping[str, str]


@dataclass(frozen=True)
class EncoderTable:
    """An encoder: a `model` (embedded, a folder, a hub name), or a `recipe` that `pretrain` makes one of.

    `text` is the folder with `xx.txt` for the recipe, in place of the recipe's own.
    `languages` are those it knows (none said: all of the study's). `batch` and `learning_rate` take the place of
    those of every task. `blocks` takes the first so many blocks alone: what was their output is then the model's.
    `revision` is that of a hub name: a commit, a branch or a tag.
    """

    model: str | None = None
    revision: str | None = None
    recipe: str | None = None
    text: str | None = None
    blocks: int | None = None
    languages: tuple[str, ...] = ()
    batch: int | None = None
    learning_rate: float | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False


@dataclass(frozen=True)
class BitextTable:
    """The bitexts of the languages: files, or the name of a parallel corpus (`corpus`), and how they are linked.

    `links` are files of links, as `--links` has them; what has none is linked by the `aligner`, `diagonal` where it is
    not said. `encoder` is the study's encoder whose vectors `aligner = "neural"` links by; a study with one alone need
    not say.
    """

    files: Files | None = None
    corpus: str | None = None
    links: Text | None = None
    aligner: str | None = None
    encoder: str | None = None
    english: str | None = None


@dataclass(frozen=True)
class AdjustTable:
    """How models are adjusted; what is left out is papers/001's. `alpha` is the weight beside a task."""

    rows: int = 30_000
    held_out: int | None = None
    epochs: float | None = None
    learning_rate: float | None = None
    batch: int | None = None
    layer: int = -1
    target: str = "joint"
    alpha: float | None = None
    together: bool = False
    map_on: str = "words"
    distances: bool = False


@dataclass(frozen=True)
class TaskTable:
    """A task: what it is trained on and tested on; `task` is its kind where the table is called otherwise.

    `tests` is a template for every language, or a table of tests as `--test` has them. `sources` are languages of
    training, one model each (none said: the study's `source`). `through` names, by language, another encoder that
    reads its tests under a regime that maps, before the head of this one (papers/000 Fig. 5).
    """

    task: str | None = None
    train: str | None = None
    dev: str | None = None
    tests: Files = ""
    mixed: str | None = None
    retrieval: Files | None = None
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    encoders: tuple[str, ...] = ()
    regimes: tuple[str, ...] = ()
    through: Mapping[str, str] = field(default_factory=dict)
    epochs: float | None = None
    learning_rate: float | None = None
    warmup: float | None = None
    batch: int | None = None
    length: int | None = None
    pooling: str | None = None
    train_rows: int | None = None
    test_rows: int | None = None


@dataclass(frozen=True)
class MeasureTable:
    """What is measured of representations: measures by name on a parallel corpus.

    `of` are the models: `encoder` as it came, `adjusted`, or `TASK/REGIME` for one fine-tuned. `against` compares
    encoders two by two instead.
    """

    names: tuple[str, ...]
    corpus: str = "sampler"
    of: tuple[str, ...] = ("encoder",)
    against: tuple[tuple[str, ...], ...] = ()
    encoders: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    rows: int | None = None
    pairs: str = "pivot"
    pooling: str | None = None
    spellings: str | None = None
    dictionary: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class ExplainTable:
    """What is explained: attributions of fine-tuned models on row-parallel tests, and how they are made and compared.

    `data` is a template for every language; without one, the task's tests are explained.
    """

    tasks: tuple[str, ...]
    data: Files | None = None
    regimes: tuple[str, ...] = ("original",)
    encoders: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    rows: int | None = None
    dictionaries: Text | None = None
    vectors: Text | None = None
    attribution: str = "integrated"
    steps: int = 16
    rule: str = "gauss-legendre"
    tolerance: float = 0.01
    baseline: str = "padding"
    target: str = "gold"
    scale: str = "logit"
    unit: str = "token"
    space: str = "embeddings"
    layer: int = -1
    weighting: str = "absolute"
    solver: str = "exact"
    faithful: bool = True
    choices: bool = True
    random_heads: int = 5


@dataclass(frozen=True)
class SynthTable:
    """Parallel tagged sentences that `synth` makes; files of them are named `@NAME/{language}.train.iob2`.

    Of several `contexts` and `names` a kind comes from the first that has it.
    """

    contexts: str | tuple[str, ...] = "embedded"
    names: str | tuple[str, ...] = "embedded"
    types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    rows: int = 500
    seed: int = 0


@dataclass(frozen=True)
class PartTable:
    """An objective of a phase by its name, its weight and its batch; `replacement` draws batches anew at every step."""

    objective: str
    weight: float = 1.0
    batch: int | None = None
    replacement: bool = False


@dataclass(frozen=True)
class PhaseTable:
    """A weighted sum of objectives and how it is trained; what is left out is the task's, or the adjustment's.

    `freeze` leaves the embeddings and the first so many blocks as they are; -1 is the whole body. `warmup` and `decay`
    are the shares of the steps in which the rate rises to `learning_rate` and, at the end, falls to 0; a task's falls
    from where it has risen.
    """

    parts: tuple[PartTable, ...]
    epochs: float | None = None
    learning_rate: float | None = None
    warmup: float | None = None
    decay: float | None = None
    weight_decay: float | None = None
    freeze: int | None = None


@dataclass(frozen=True)
class RegimeTable:
    """A regime of one's own: phases in order, the last one with the task first in it.

    `mapped` trains nothing more: in other languages a rotation, fitted on translations, stands before the head. Its
    controls know no translations: "shuffled" has it fitted on pairs dealt anew, "shifted" moves the mean alone.
    """

    phases: tuple[PhaseTable, ...]
    mapped: bool | str = False


@dataclass(frozen=True)
class GeometryTable:
    """What fine-tuning does to the space of parallel names (papers/003): looks before and after, curves, errors.

    The sentences are those of the table `synth`. `source` is the language of fine-tuning for the look after it (none
    said: the study's), `sources` all that are fine-tuned on (none said: every one of the set). `about` is a name to
    follow. The other keys are those of `interlingua geometry`.
    """

    synth: str
    source: str | None = None
    sources: tuple[str, ...] = ()
    encoders: tuple[str, ...] = ()
    about: str | None = None
    about_rows: int = 100
    map: str = "pca"
    perplexity: float | None = None
    layers: tuple[int, ...] = (0, -1)
    points: int = 2000
    epochs: float = 1.0
    learning_rate: float | None = None
    batch: int | None = None
    watch: bool = True
    every: int | None = None
    span: int = 50
    seed: int = 0


@dataclass(frozen=True)
class ResourceTable:
    """What a step of a kind takes of a machine; `memory` in GiB.

    `gpus` left out is one a process for a kind that computes on GPUs, and none for another; 0 keeps a kind off them.
    """

    cpus: int = 1
    gpus: float | None = None
    memory: float = 0.0
    processes: int = 1


@dataclass(frozen=True)
class StudyTable:
    """A whole study file, of one size."""

    name: str
    languages: tuple[str, ...]
    encoders: Mapping[str, EncoderTable]
    about: str = ""
    paper: str = ""
    published: str | None = None
    data: str = "."
    source: str = "en"
    seeds: int | tuple[int, ...] = 5
    load: tuple[str, ...] = ()
    regime: Mapping[str, RegimeTable] = field(default_factory=dict)
    regimes: tuple[str, ...] = ("original",)
    precision: str | None = None
    permutations: int = 10_000
    bitexts: BitextTable | None = None
    adjust: AdjustTable = field(default_factory=AdjustTable)
    tasks: Mapping[str, TaskTable] = field(default_factory=dict)
    measures: Mapping[str, MeasureTable] = field(default_factory=dict)
    explanations: Mapping[str, ExplainTable] = field(default_factory=dict)
    synth: Mapping[str, SynthTable] = field(default_factory=dict)
    geometry: Mapping[str, GeometryTable] = field(default_factory=dict)
    resources: Mapping[str, ResourceTable] = field(default_factory=dict)
