"""Every setting, once: its type, default, range and help, for keys of files, options, parameters and documentation.

Classes are data alone. A group has what belongs together and is mixed into every table and command that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from interlingua.studies.config.fields import Problem, Setting

if TYPE_CHECKING:
    from interlingua.analyses.aligned_bitext import LinkedText
    from interlingua.analyses.synthesis import Synthetic
    from interlingua.encoder import Encoder
    from interlingua.training.regime import Regime
    from interlingua.wordalign.links import PairFilters
    from interlingua.wordalign.training import Iteration
else:  # Importing them is slow. A value's type is checked by what it is not: text, numbers, lists.
    LinkedText, Synthetic, Encoder, Regime, PairFilters, Iteration = (
        type(name, (), {"__module__": f"interlingua.{module}"})
        for name, module in (
            ("LinkedText", "analyses.aligned_bitext"),
            ("Synthetic", "analyses.synthesis"),
            ("Encoder", "encoder.encoder"),
            ("Regime", "training.regime"),
            ("PairFilters", "wordalign.links"),
            ("Iteration", "wordalign.training"),
        )
    )

Files = str | tuple[str, ...] | Mapping[str, str | tuple[str, ...]]
"""In a study: a template with {language} and {source}, two of them, or one (or two) for each name."""
Text = str | Mapping[str, str]
File = str | Path
Progress = Callable[[str, int, int], None]
PairFiles = File | tuple[File, ...]
"""One file, or two."""

PRECISIONS = ("fp32", "bf16", "fp16")
SIDES = ("source", "target")
ALIGNERS = ("diagonal", "neural", "eflomal")
SOURCE_SIDES = ("trainable", "frozen")
SOME = ("all", "pivot")
WORD_POOLINGS = ("mean", "first", "last", "token")
LARGEST_SEED = 2**63

_MODEL = Setting(help="'embedded', a model folder, or a hub name.", argument=True, metavar="MODEL")
_LEARNING_RATE = Setting(
    help="Peak learning rate; small models need a higher one.", above=0, left_out="the task's", formerly=("rate",)
)
_EPOCHS = Setting(help="Passes over the training data; fractions are allowed.", above=0, left_out="the task's")
_BATCH_SIZE = Setting(help="Examples per step.", least=1, left_out="the task's", formerly=("batch",))
_WARMUP = Setting(help="Share of the steps in which the learning rate rises.", least=0, below=1, left_out="0")
_SEED = Setting(help="Seed of every random draw.", least=0, below=LARGEST_SEED)
_SEEDS = Setting(
    help="Number of training runs per regime (seeds 0, 1, …), or the seeds themselves. One seed tests no difference.",
    least=0,
    below=LARGEST_SEED,
)
_LANGUAGES = Setting(help="Codes or names, comma-separated.", left_out="all", metavar="XX,YY")
_SOURCE = Setting(help="Language of training.", metavar="XX")
_DEVICE = Setting(help="cpu, cuda or cuda:N.", left_out="the GPU where there is one")
_PRECISION = Setting(
    help="Number format of the computation.", choices=PRECISIONS, left_out="bf16 on a GPU, fp32 on a CPU"
)
_TRUST = Setting(help="Run code from the model's repository.")
_PICKLE = Setting(help="Read pickled weights, which can run code.")
_OUT = Setting(help="Output folder. An unfinished run in it is resumed.", metavar="DIR")
_PROGRESS = Setting(help="Called with a stage, how much is done, and of how much.", where="python")
_STOP_AFTER = Setting(
    help="Stop after this many seconds; the same command continues later.", least=0, left_out="never", metavar="SECONDS"
)
_COMPILE = Setting(help="Compile the model before training.")
_CHECKPOINT_EVERY = Setting(help="Steps between two checkpoints.", least=1)
_SAVE_MODELS = Setting(help="Save every fine-tuned model, in DIR/models.", formerly=("keep",))
_POOLING = Setting(
    help="Of tasks with a label for a text, what the head reads: first (token) or mean.",
    left_out="the task's",
)
_TRAIN_ROWS = Setting(help="Train on a sample of this many examples.", least=1, left_out="all")
_TEST_ROWS = Setting(help="Test on a sample of this many examples.", least=1, left_out="all")
_MAX_LENGTH = Setting(
    help="Maximum number of tokens of an input.", least=1, left_out="the task's", formerly=("length",)
)
_ALIGNER = Setting(
    help="Word aligner: diagonal (fast_align's model), neural (an encoder's vectors) or eflomal (an extra).",
    choices=ALIGNERS,
    left_out="diagonal",
)
_PIVOT_SIDE = Setting(
    help="Side of a bitext that stays where it is.",
    choices=SIDES,
    metavar="SIDE",
    formerly=("english",),
    left_out="what the file's name says, else source",
)
_LINKS = Setting(help="Word links of a bitext (Pharaoh), instead of an aligner.", left_out="made", metavar="XX=FILE")
_JOINT = Setting(
    help="Adjust one model on all bitexts and test every language with it, instead of one model per language.",
    formerly=("together",),
)
_MAP_ON = Setting(help="For the regime mapped: what the rotation is fitted on.", choices=("words", "sentences"))
_DISTANCES = Setting(help="Also measure distances of related and unrelated words after every phase.")
_ALPHA = Setting(help="Weight of the adjustment beside a task.", above=0, left_out="0.01")
_PERMUTATIONS = Setting(
    help="Permutations of the F1 test, which holds the seeds fixed.", least=1, paper="Efimov et al. 2023"
)
_ENTITY = Setting(
    help="A name to follow, in test contexts of every type.", left_out="none", metavar="NAME", formerly=("about",)
)
_ROWS = Setting(help="Number of rows, drawn by the seed.", least=1, left_out="all")
_TYPES = Setting(
    help="Entity types or kinds, with weights where shares differ: PER=4,LOC.locative,ORG.",
    left_out="all",
    metavar="TYPES",
)
_CACHE = Setting(help="Folder for vectors, or 'none'.", left_out="the user's cache", metavar="DIR")
_SPELLINGS = Setting(
    help="Parallel names for the measure spelling.",
    left_out="CLDR's territories",
    metavar="CORPUS",
    formerly=("names",),
)
_DICTIONARY = Setting(
    help="Folder of MUSE dictionaries: words alone are mapped as well.", left_out="none", metavar="DIR"
)
_PROJECTION = Setting(
    help="How the map of sentences is projected to two dimensions; tsne and umap need extras.",
    choices="interlingua.projection:projections",
)
_MEASURES = Setting(
    help="Names, comma-separated; see 'interlingua list'.", choices="interlingua.measures:measures", metavar="NAMES"
)
_FORMAT = Setting(help="Format of the corpus.", left_out="detected from the content", metavar="READER")
_ENCODING = Setting(help="Encoding of the files.", left_out="UTF-8")
_COLUMN = Setting(
    help="Column of the sentences, by number or name, where the file of each language has columns.",
    left_out="the only one",
    metavar="COLUMN",
)
_PAIRS = Setting(help="All pairs, or only those with the first language.", choices=SOME, metavar="WHICH")
_MAPS = Setting(
    help="Pairs that get a fitted map: pivot, those with the first language, or all.", choices=SOME, metavar="WHICH"
)
_SENTENCE_POOLING = Setting(
    help="From tokens to a sentence: mean, sinkless (without attention sinks), weighted (by position), first, last or "
    "cls.",
    left_out="what the model's folder states, else the mean; of a decoder, sinkless",
)
_PROMPT = Setting(
    help="Of a sentence-transformers model: text before every text, or the name of a prompt that it has.",
    left_out="the model's own",
)
_BAD_LINES = Setting(
    help="What happens to lines that are no pair: skip (and count) or fail.",
    choices=("skip", "fail"),
    left_out="skip; files of unequal length fail",
)


# ------------------------------------------------------------------------------------------------- groups
@dataclass(frozen=True, kw_only=True)
class LoadingSettings:
    """What may be done to load a model."""

    panel = "Model loading"
    trust_remote_code: Annotated[bool, _TRUST] = False
    allow_pickle: Annotated[bool, _PICKLE] = False


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """Where a command computes, and who receives its progress."""

    panel = "Running"
    device: Annotated[str | None, _DEVICE] = None
    progress: Annotated[Progress | None, _PROGRESS] = None


@dataclass(frozen=True, kw_only=True)
class ComputeSettings(DeviceSettings):
    """Where and in which number format a command computes."""

    panel = "Running"
    precision: Annotated[str | None, _PRECISION] = None


@dataclass(frozen=True, kw_only=True)
class TaskSchedule:
    """How long a task is trained, and how fast."""

    panel = "Training of the task"
    epochs: Annotated[float | None, _EPOCHS] = None
    learning_rate: Annotated[float | None, _LEARNING_RATE] = None
    batch_size: Annotated[int | None, _BATCH_SIZE] = None
    warmup: Annotated[float | None, _WARMUP] = None


@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """How a training runs."""

    panel = "Running"
    checkpoint_every: Annotated[int, _CHECKPOINT_EVERY] = 1000
    compile: Annotated[bool, _COMPILE] = False


@dataclass(frozen=True, kw_only=True)
class ExampleReading:
    """How a task's examples are read."""

    panel = "Training of the task"
    max_length: Annotated[int | None, _MAX_LENGTH] = None
    pooling: Annotated[str | None, _POOLING] = None
    train_rows: Annotated[int | None, _TRAIN_ROWS] = None
    test_rows: Annotated[int | None, _TEST_ROWS] = None


@dataclass(frozen=True, kw_only=True)
class AdjustSchedule:
    """How long a model is adjusted, and how fast."""

    panel = "Adjustment"
    epochs: Annotated[float | None, replace(_EPOCHS, left_out="1")] = None
    learning_rate: Annotated[float | None, replace(_LEARNING_RATE, left_out="5e-5")] = None
    batch_size: Annotated[int | None, replace(_BATCH_SIZE, help="Sentence pairs per step.", left_out="32")] = None


@dataclass(frozen=True, kw_only=True)
class PairReading:
    """Which sentence pairs adjust a model, how words of them become vectors, and how these are pulled together."""

    panel = "Adjustment"
    max_pairs: Annotated[
        int,
        Setting(
            help="Maximum number of sentence pairs per bitext that are trained on, drawn by the seed.",
            least=1,
            formerly=("sentences", "rows"),
            paper="Efimov et al. 2023",
        ),
    ] = 30_000
    held_out: Annotated[
        int | None,
        Setting(
            help="Number of other sentence pairs that are measured on.", least=2, left_out="1,000, a tenth at most"
        ),
    ] = None
    layer: Annotated[
        int, Setting(help="Layer whose vectors are pulled together: 0 is the embedding output, -1 the last layer.")
    ] = -1
    source_side: Annotated[
        str,
        Setting(
            help="trainable: both languages move; frozen: only the other language moves.",
            choices=SOURCE_SIDES,
            formerly=("target",),
        ),
    ] = "trainable"
    reduction: Annotated[
        str,
        Setting(help="How the loss joins pairs: mean, or sum as Efimov et al. 2023 print it.", choices=("mean", "sum")),
    ] = "mean"
    word_pooling: Annotated[str, Setting(help="How a word's tokens become one vector.", choices=WORD_POOLINGS)] = "mean"
    include_special_tokens: Annotated[
        bool,
        Setting(help="Also pull the first and the last special token of a pair together.", paper="Efimov et al. 2023"),
    ] = True
    reference_dtype: Annotated[
        str, Setting(help="Number format in which the original vectors are kept.", choices=("fp32", "fp16", "bf16"))
    ] = "fp16"


@dataclass(frozen=True, kw_only=True)
class AdjustmentSettings:
    """What an adjustment is made of: weights of objectives, what is trained, and what is watched meanwhile."""

    panel = "Adjustment"
    adjustment: Annotated[float, Setting(help="Weight of pulling translations together.", least=0)] = 1.0
    anchor: Annotated[float, Setting(help="Weight of the penalty that keeps English vectors in place.", least=0)] = 1.0
    contrastive: Annotated[float, Setting(help="Weight of a contrast of word pairs (InfoNCE).", least=0)] = 0.0
    temperature: Annotated[float, Setting(help="Temperature of that contrast.", above=0)] = 0.1
    drift: Annotated[float, Setting(help="Weight of the L2 penalty on parameter change.", least=0)] = 0.0
    steps: Annotated[
        int | None, Setting(help="Number of training steps; overrides the epochs.", least=1, left_out="by the epochs")
    ] = None
    freeze: Annotated[
        int | None,
        Setting(
            help="Leave the embeddings and the first N blocks as they are; 0: the embeddings; -1: the whole body.",
            left_out="nothing is frozen",
            metavar="N",
        ),
    ] = None
    lora: Annotated[
        int | None,
        Setting(
            help="Train LoRA matrices of this rank (extra peft), merged at the end.",
            least=1,
            left_out="all weights",
            metavar="R",
        ),
    ] = None
    monitor_every: Annotated[
        int | None,
        Setting(help="Steps between two measurements of distances.", least=1, left_out="never", metavar="STEPS"),
    ] = None
    warmup: Annotated[float | None, replace(_WARMUP, left_out="0.1")] = None

    def rules(self) -> Iterator[Problem]:
        if not any((self.adjustment, self.anchor, self.contrastive)):
            yield Problem(
                ("adjustment",),
                "nothing is adjusted: {adjustment}, {anchor} and {contrastive} are 0",
                None,
                "Give one of them a value above 0.",
            )


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """Where word links of a bitext come from."""

    panel = "Bitexts"
    aligner: Annotated[str | None, _ALIGNER] = None
    pivot_side: Annotated[str | None, _PIVOT_SIDE] = None


@dataclass(frozen=True, kw_only=True)
class AlignmentSettings:
    """How an aligner links words: fast_align's model, and after it what is for vectors alone."""

    panel = "Word aligner"
    symmetrize: Annotated[
        str | None,
        Setting(
            help="How two directions become one.",
            left_out="intersect",
            metavar="HOW",
            choices=(
                "intersect",
                "union",
                "grow-diag",
                "grow-diag-final",
                "grow-diag-final-and",
                "forward",
                "backward",
            ),
        ),
    ] = None
    iterations: Annotated[int, Setting(help="Passes of EM.", least=1)] = 5
    p0: Annotated[
        float, Setting(help="Probability that a word has no partner; fast_align takes 0.08.", least=0, below=1)
    ] = 0.12
    tension: Annotated[
        float, Setting(help="How strongly links keep to the diagonal, at the start.", least=0.1, most=14)
    ] = 4.0
    fixed_tension: Annotated[bool, Setting(help="Leave the tension as it is.")] = False
    tension_rule: Annotated[
        str,
        Setting(
            help="How the tension moves: part (of the way to its maximum) or fast_align (as it does).",
            choices=("part", "fast_align"),
        ),
    ] = "part"
    alpha: Annotated[float, Setting(help="Prior of variational Bayes.", above=0)] = 0.01
    variational: Annotated[bool, Setting(help="Variational Bayes, or plain EM without a prior.")] = True
    layer: Annotated[
        int | None,
        Setting(
            help="For neural: layer whose vectors are compared; 0 is the embedding output.",
            left_out="two thirds of the way up",
            metavar="N",
        ),
    ] = None
    neural: Annotated[
        str, Setting(help="For neural: how vectors become links.", choices=("argmax", "itermax", "softmax"))
    ] = "argmax"
    unit: Annotated[str, Setting(help="For neural: what is compared.", choices=("word", "token"))] = "word"
    center: Annotated[
        bool, Setting(help="For neural: take each language's mean off the vectors.", formerly=("no_centre", "centre"))
    ] = True
    min_cosine: Annotated[
        float | None,
        Setting(help="For neural: lowest cosine of a link.", least=-1, most=1, left_out="any", formerly=("least",)),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AttributionSettings:
    """How attributions are made and compared; what Wang et al. 2021 leave open has a default here."""

    panel = "Attributions"
    attribution: Annotated[
        str,
        Setting(help="Method of attribution; see 'interlingua list'.", choices="interlingua.attribution:attributions"),
    ] = "integrated"
    steps: Annotated[int, Setting(help="Steps of integrated gradients to begin with.", least=1)] = 16
    rule: Annotated[
        str,
        Setting(help="Quadrature rule.", choices=("gauss-legendre", "left", "middle", "right", "trapezoid")),
    ] = "gauss-legendre"
    tolerance: Annotated[
        float, Setting(help="Completeness gap above which an example gets more steps; 0: never.", least=0)
    ] = 0.01
    baseline: Annotated[
        str, Setting(help="What attribution starts from; separators stay.", choices=("padding", "mask", "zero", "mean"))
    ] = "padding"
    target: Annotated[str, Setting(help="Answer that is explained.", choices=("gold", "predicted"))] = "gold"
    scale: Annotated[str, Setting(help="Scale of the explained score.", choices=("logit", "probability"))] = "logit"
    weighting: Annotated[
        str, Setting(help="From attributions to weights.", choices=("absolute", "positive", "softmax"))
    ] = "absolute"
    space: Annotated[
        str, Setting(help="Space in which words are compared.", choices=("embeddings", "aligned", "vectors", "layer"))
    ] = "embeddings"
    layer: Annotated[int, Setting(help="For the space layer: 0 is the embedding output, -1 the last layer.")] = -1
    solver: Annotated[
        str,
        Setting(
            help="Solver of the transport: exact, or entropic on the model's device.", choices=("exact", "entropic")
        ),
    ] = "exact"
    precision: Annotated[str, Setting(help="Number format of the computation.", choices=PRECISIONS)] = "fp32"


@dataclass(frozen=True, kw_only=True)
class ExplainChecks:
    """What else is measured of attributions."""

    panel = "Checks"
    faithfulness: Annotated[bool, Setting(help="Also delete tokens and measure the loss.", formerly=("faithful",))] = (
        True
    )
    sensitivity: Annotated[
        bool, Setting(help="Also score every unit and weighting on 500 rows.", formerly=("choices",))
    ] = True
    random_heads: Annotated[
        int,
        Setting(
            help="Number of untrained heads on the model's body that it is compared with, at least 3; each costs as "
            "much as the model itself. 0: none, and nothing is credited to the model.",
            least=0,
        ),
    ] = 5

    def rules(self) -> Iterator[Problem]:
        if 0 < self.random_heads < 3:
            yield Problem(
                ("random_heads",), "{random_heads} must be 0 or at least 3", self.random_heads, "Give 5, or 0 for none."
            )


@dataclass(frozen=True, kw_only=True)
class Maps:
    """2-D maps of entities."""

    panel = "Maps"
    projection: Annotated[
        str,
        replace(_PROJECTION, help="Projection: pca; tsne (extra maps) or umap (extra umap).", formerly=("map",)),
    ] = "pca"
    perplexity: Annotated[
        float | None,
        Setting(help="Of t-SNE, or the number of neighbours of UMAP.", above=0, left_out="70 (t-SNE), 15 (UMAP)"),
    ] = None
    layers: Annotated[
        tuple[int, ...], Setting(help="Layers of the maps: 0 is the embedding output, -1 the output.", metavar="N,N")
    ] = (0, -1)
    max_points: Annotated[int, Setting(help="Maximum number of points of a map.", least=10, formerly=("points",))] = (
        2000
    )

    def rules(self) -> Iterator[Problem]:
        if self.perplexity is not None and self.projection == "pca":
            yield Problem(
                ("perplexity",),
                "{perplexity} does not apply to pca",
                self.perplexity,
                "Use {projection} tsne, or leave it out.",
            )
        if not self.layers:
            yield Problem(("layers",), "{layers} names no layer", "", "Give 0,-1.")


@dataclass(frozen=True, kw_only=True)
class MonitoringSettings:
    """What is watched while a model is fine-tuned."""

    panel = "Monitoring"
    watch: Annotated[bool, Setting(help="Watch every language's space while fine-tuning.")] = True
    monitor_every: Annotated[
        int | None,
        Setting(
            help="Steps between two measurements.",
            least=1,
            left_out="what 5 % of the training allows",
            formerly=("every",),
        ),
    ] = None
    change_window: Annotated[
        int, Setting(help="Number of steps over which changes are taken.", least=1, formerly=("span",))
    ] = 50

    def rules(self) -> Iterator[Problem]:
        if self.monitor_every is not None and self.change_window % self.monitor_every:
            yield Problem(
                ("monitor_every",),
                f"{{monitor_every}} does not divide {{change_window}} ({self.change_window})",
                self.monitor_every,
                "Give a divisor.",
            )


@dataclass(frozen=True, kw_only=True)
class FollowedName:
    """A name that is followed."""

    panel = "Entities"
    entity: Annotated[str | None, _ENTITY] = None
    entity_rows: Annotated[int, Setting(help="Sentences of each type about it.", least=1, formerly=("about_rows",))] = (
        100
    )


# ------------------------------------------------------------------------------------------------- study file
@dataclass(frozen=True, kw_only=True)
class SynthSettings:
    """How many sentences are made of contexts and names, which of them, and how they are split."""

    rows: Annotated[int, Setting(help="Sentences in each language, for training and testing together.", least=1)] = 500
    test_share: Annotated[
        float, Setting(help="Share of contexts, of names and of rows for testing.", above=0, below=1)
    ] = 0.2
    slots: Annotated[
        str,
        Setting(
            help="one: contexts with several slots are left out; any: one name fills them all.", choices=("one", "any")
        ),
    ] = "one"
    bad_rows: Annotated[
        str,
        Setting(
            help="What happens to unusable contexts and names: skip (and count) or fail.", choices=("skip", "fail")
        ),
    ] = "skip"
    entity: Annotated[
        str | None,
        replace(_ENTITY, help="Also put this one name into test contexts of every type: xx.about.iob2."),
    ] = None
    seed: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class EncoderTable(LoadingSettings):
    """An encoder: a `model`, or a `recipe` that `pretrain` makes one of."""

    model: Annotated[str | None, replace(_MODEL, left_out="a recipe is given")] = None
    revision: Annotated[str | None, Setting(help="Commit, branch or tag of a hub name.", left_out="the newest")] = None
    recipe: Annotated[
        str | None, Setting(help="Recipe file that the model is pretrained by.", left_out="a model is given")
    ] = None
    text: Annotated[str | None, Setting(help="Folder with xx.txt for the recipe.", left_out="the recipe's own")] = None
    blocks: Annotated[
        int | None,
        Setting(help="Keep only the first blocks; their output is then the model's.", least=1, left_out="all"),
    ] = None
    languages: Annotated[
        tuple[str, ...], Setting(help="Languages that the encoder knows.", left_out="the study's")
    ] = ()
    batch_size: Annotated[int | None, _BATCH_SIZE] = None
    learning_rate: Annotated[float | None, _LEARNING_RATE] = None


@dataclass(frozen=True, kw_only=True)
class BitextTable(AlignmentSettings, LinkSettings):
    """The bitexts of the languages: files, or a parallel corpus, and how their words are linked."""

    files: Annotated[Files | None, Setting(help="Bitexts of the languages.", left_out="a corpus is given")] = None
    corpus: Annotated[
        str | None, Setting(help="Parallel corpus that bitexts are cut from.", left_out="files are given")
    ] = None
    links: Annotated[Text | None, _LINKS] = None
    tokenize: Annotated[
        Text,
        Setting(
            help="How bitexts, or one by its language, are cut into words: words and punctuation, at each space, or "
            "auto: space for ||| and XL-WA and where links are given, else words.",
            choices=("auto", "words", "space"),
        ),
    ] = "auto"
    encoder: Annotated[
        str | None, Setting(help="Encoder whose vectors the aligner neural reads.", left_out="the only one")
    ] = None


@dataclass(frozen=True, kw_only=True)
class PairFilterTable:
    """Which word pairs an adjustment passes over; the defaults are those of Efimov et al. 2023."""

    max_words: Annotated[int, Setting(help="Most words that a side of a sentence may have; 0: any.", least=0)] = 64
    one_to_one: Annotated[bool, Setting(help="Drop both links of a word that has two.")] = True
    drop_identical: Annotated[bool, Setting(help="Drop pairs of equal strings, which teach nothing.")] = True
    min_characters: Annotated[int, Setting(help="Least characters of a word.", least=1)] = 1
    drop_punctuation: Annotated[bool, Setting(help="Drop words without a letter or digit.")] = False


@dataclass(frozen=True, kw_only=True)
class AdjustTable(AdjustmentSettings, PairReading, AdjustSchedule, TrainingRun):
    """How models are adjusted; the defaults are those of Efimov et al. 2023."""

    pair_filters: PairFilterTable = field(default_factory=PairFilterTable)
    encoders: Annotated[
        tuple[str, ...], Setting(help="Encoders whose adjustment is measured, where it is.", left_out="all")
    ] = ()
    effect: Annotated[
        bool,
        Setting(
            help="Also measure retrieval and word distances of encoders before and after their adjustment, on held-out "
            "sentences and on the embedded sampler."
        ),
    ] = False
    alpha: Annotated[float | None, _ALPHA] = None
    joint_adjustment: Annotated[bool, _JOINT] = False
    map_on: Annotated[str, _MAP_ON] = "words"
    distances: Annotated[bool, _DISTANCES] = False


@dataclass(frozen=True, kw_only=True)
class TaskTable(TrainingRun, TaskSchedule, ExampleReading):
    """A task: what it is trained on and tested on."""

    task: Annotated[
        str | None, Setting(help="Kind of the task.", choices="interlingua.tasks:tasks", left_out="the table's name")
    ] = None
    train: Annotated[str | None, Setting(help="Labelled examples; not for retrieval.", left_out="none")] = None
    dev: Annotated[
        str | None,
        Setting(help="Examples like those of training; the epoch with the best score is kept.", left_out="none"),
    ] = None
    tests: Annotated[Files, Setting(help="Test files of every language, or by the name of a test.")] = ""
    mix_with: Annotated[
        str | None,
        Setting(
            help="For NLI: the test in the language of training, which pairs of the others are mixed with.",
            left_out="not mixed",
            formerly=("mixed",),
        ),
    ] = None
    retrieval: Annotated[
        Files | None, Setting(help="Parallel corpora in which every model looks up sentences.", left_out="none")
    ] = None
    sources: Annotated[
        tuple[str, ...], Setting(help="Languages of training, one model each.", left_out="the study's source")
    ] = ()
    languages: Annotated[tuple[str, ...], Setting(help="Languages of the tests.", left_out="the study's")] = ()
    encoders: Annotated[tuple[str, ...], Setting(help="Encoders that are trained.", left_out="all")] = ()
    regimes: Annotated[tuple[str, ...], Setting(help="Regimes of the task.", left_out="the study's")] = ()
    test_encoder: Annotated[
        Mapping[str, str],
        Setting(
            help="By language, another encoder that reads its tests under a regime that maps, before the head of "
            "this one.",
            left_out="the trained one",
            formerly=("through",),
        ),
    ] = field(default_factory=dict)
    save_models: Annotated[bool, replace(_SAVE_MODELS, formerly=())] = False


@dataclass(frozen=True, kw_only=True)
class MeasureTable:
    """What is measured of representations on a parallel corpus."""

    measures: Annotated[tuple[str, ...], replace(_MEASURES, help="Measures.", formerly=("names",))]
    corpus: Annotated[str, Setting(help="Parallel corpus.")] = "sampler"
    models: Annotated[
        tuple[str, ...],
        Setting(help="Models: encoder as it came, adjusted, or TASK/REGIME for a fine-tuned one.", formerly=("of",)),
    ] = ("encoder",)
    against: Annotated[
        tuple[tuple[str, ...], ...], Setting(help="Pairs of encoders to be compared instead.", left_out="none")
    ] = ()
    encoders: Annotated[tuple[str, ...], Setting(help="Encoders.", left_out="all")] = ()
    languages: Annotated[tuple[str, ...], Setting(help="Languages.", left_out="the study's")] = ()
    rows: Annotated[int | None, _ROWS] = None
    format: Annotated[str | None, _FORMAT] = None
    encoding: Annotated[str | None, _ENCODING] = None
    column: Annotated[int | str | None, _COLUMN] = None
    pairs: Annotated[str, _PAIRS] = "pivot"
    maps: Annotated[str, _MAPS] = "all"
    pooling: Annotated[str | None, _SENTENCE_POOLING] = None
    prompt: Annotated[str | None, _PROMPT] = None
    spellings: Annotated[str | None, replace(_SPELLINGS, formerly=())] = None
    dictionary: Annotated[str | None, _DICTIONARY] = None
    map: Annotated[
        bool, Setting(help="Leave a 2-D map of the sentences in the best layer, `map.json` in the folder of its step.")
    ] = False
    projection: Annotated[str, _PROJECTION] = "pca"
    seed: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class ModelTable:
    """A model that was fine-tuned before: by `transfer`, or a classifier or tagger as `transformers` saves it."""

    folder: Annotated[str, Setting(help="Its folder, from the file's folder.")]
    task: Annotated[
        str | None,
        Setting(
            help="Kind of its task; another than its own is an error.",
            choices="interlingua.tasks:tasks",
            left_out="what its folder says",
        ),
    ] = None
    sources: Annotated[
        tuple[str, ...],
        Setting(help="Languages of its training; each is compared with the others.", left_out="the study's source"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ExplainTable(AttributionSettings, ExplainChecks):
    """What is explained: attributions of fine-tuned models, of `tasks` or `models`, on row-parallel tests."""

    tasks: Annotated[tuple[str, ...], Setting(help="Tasks of the study whose models are explained.")] = ()
    models: Annotated[tuple[str, ...], Setting(help="Models of [models.NAME] that are explained.")] = ()
    tests: Annotated[
        Files | None,
        Setting(help="Row-parallel files; models need them.", left_out="the task's tests", formerly=("data",)),
    ] = None
    regimes: Annotated[tuple[str, ...], Setting(help="Regimes of the explained models of tasks.")] = ("original",)
    encoders: Annotated[tuple[str, ...], Setting(help="Encoders.", left_out="the task's")] = ()
    languages: Annotated[tuple[str, ...], Setting(help="Languages.", left_out="the task's")] = ()
    seeds: Annotated[tuple[int, ...], Setting(help="Seeds.", left_out="the study's")] = ()
    rows: Annotated[int | None, Setting(help="Only the first rows of every file.", least=1, left_out="all")] = None
    dictionaries: Annotated[Text | None, Setting(help="For the space aligned: MUSE dictionaries.", left_out="none")] = (
        None
    )
    vectors: Annotated[Text | None, Setting(help="For the space vectors: aligned word vectors.", left_out="none")] = (
        None
    )
    unit: Annotated[str, Setting(help="Unit of the attributions.", choices=("token", "word"))] = "token"
    max_examples: Annotated[
        int,
        Setting(help="Examples of a language whose attributions and flows are written; 0: all.", least=0),
    ] = 200
    seed: Annotated[int, replace(_SEED, help="Seed of random draws for models; one of a task has its own.")] = 0

    def rules(self) -> Iterator[Problem]:
        yield from _vector_units(self.space, self.unit)


@dataclass(frozen=True, kw_only=True)
class SynthTable(SynthSettings):
    """Parallel tagged sentences that `synth` makes; files of them are named `@NAME/{language}.train.iob2`."""

    contexts: Annotated[
        str | tuple[str, ...],
        Setting(help="Folders of contexts, or 'embedded'; a kind comes from the first that has it."),
    ] = "embedded"
    names: Annotated[str | tuple[str, ...], Setting(help="Folders of names, likewise.")] = "embedded"
    types: Annotated[tuple[str, ...], _TYPES] = ()
    languages: Annotated[
        tuple[str, ...],
        Setting(help="Languages.", left_out="the study's, else those that every type has"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class PartTable:
    """An objective of a phase by its name."""

    objective: Annotated[str, Setting(help="Name of the objective; see 'interlingua list'.")]
    weight: Annotated[float, Setting(help="Weight in the sum.")] = 1.0
    batch_size: Annotated[int | None, replace(_BATCH_SIZE, left_out="the task's, else 32")] = None
    replacement: Annotated[bool, Setting(help="Draw batches anew at every step.")] = False
    temperature: Annotated[float, Setting(help="Temperature of the objective contrastive.", above=0)] = 0.1


@dataclass(frozen=True, kw_only=True)
class PhaseTable:
    """A weighted sum of objectives and how it is trained; what is left out is the task's, or the adjustment's."""

    parts: tuple[PartTable, ...]
    epochs: Annotated[float | None, replace(_EPOCHS, left_out="the task's, or the adjustment's")] = None
    learning_rate: Annotated[float | None, replace(_LEARNING_RATE, left_out="the task's, or the adjustment's")] = None
    warmup: Annotated[float | None, replace(_WARMUP, left_out="the task's, or the adjustment's")] = None
    decay: Annotated[
        float | None,
        Setting(
            help="Share of the steps, at the end, in which the learning rate falls to 0.",
            least=0,
            most=1,
            left_out="the task's, or the adjustment's",
        ),
    ] = None
    weight_decay: Annotated[
        float | None,
        Setting(help="Weight decay of the optimizer.", least=0, left_out="the task's, or the adjustment's"),
    ] = None
    freeze: Annotated[
        int | None,
        Setting(
            help="Leave the embeddings and the first N blocks as they are; -1: the whole body.", left_out="nothing"
        ),
    ] = None

    def rules(self) -> Iterator[Problem]:
        warmup, decay = self.warmup or 0.0, self.decay or 0.0
        if warmup + decay > 1 + 1e-9:
            yield Problem(
                ("decay",),
                "{warmup} and {decay} are more than all steps",
                decay,
                f"Give {{decay}} of {1 - warmup:g} at most.",
            )


@dataclass(frozen=True, kw_only=True)
class RegimeTable:
    """A custom regime: phases in order, the last one with the task first in it."""

    phases: tuple[PhaseTable, ...]
    mapped: Annotated[
        bool | str,
        Setting(
            help="Train nothing more: in other languages a rotation, fitted on translations, stands before the "
            "head. Its controls know no translations: 'shuffled' fits it on pairs dealt anew, 'shifted' moves "
            "the mean alone."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class GeometryTable(Maps, MonitoringSettings, FollowedName):
    """What fine-tuning does to the space of parallel names: looks before and after, curves, errors."""

    synth: Annotated[str, Setting(help="Table of synth whose sentences are used.")]
    source: Annotated[
        str | None, Setting(help="Language of fine-tuning for the look after it.", left_out="the study's source")
    ] = None
    sources: Annotated[
        tuple[str, ...], Setting(help="Languages that are fine-tuned on.", left_out="every language of the set")
    ] = ()
    encoders: Annotated[tuple[str, ...], Setting(help="Encoders.", left_out="all")] = ()
    epochs: Annotated[float, replace(_EPOCHS, left_out="")] = 1.0
    learning_rate: Annotated[float | None, _LEARNING_RATE] = None
    batch_size: Annotated[int | None, _BATCH_SIZE] = None
    seed: Annotated[int, _SEED] = 0


@dataclass(frozen=True, kw_only=True)
class ResourceTable:
    """What a step of a kind takes of a machine."""

    cpus: Annotated[int, Setting(help="CPUs, and threads.", least=1)] = 1
    gpus: Annotated[
        float | None,
        Setting(
            help="GPUs, or a share of one below 1; 0 keeps a kind off them.",
            least=0,
            left_out="one per process for a kind that computes on GPUs, else none",
        ),
    ] = None
    memory: Annotated[float, Setting(help="Memory in GiB; 0: not said.", least=0)] = 0.0
    processes: Annotated[int, Setting(help="Processes of torchrun that run a step together.", least=1)] = 1

    def rules(self) -> Iterator[Problem]:
        if self.gpus is not None and self.gpus > 1 and self.gpus != int(self.gpus):
            yield Problem(("gpus",), "{gpus} must be a whole number, or a share below 1", self.gpus)


@dataclass(frozen=True, kw_only=True)
class StudyTable:
    """A whole study file, of one size."""

    name: Annotated[str, Setting(help="Name of the study.")]
    languages: Annotated[tuple[str, ...], Setting(help="Languages of the tests.", left_out="none is tested")] = ()
    encoders: Mapping[str, EncoderTable] = field(default_factory=dict)
    models: Mapping[str, ModelTable] = field(default_factory=dict)
    about: Annotated[str, Setting(help="What the study asks, for its page.")] = ""
    paper: Annotated[str, Setting(help="Paper that the study repeats.")] = ""
    published: Annotated[
        str | None, Setting(help="Table of published numbers, from the file's folder.", left_out="none")
    ] = None
    data_root: Annotated[str, Setting(help="Folder of the files, from the file's folder.", formerly=("data",))] = "."
    source: Annotated[str, _SOURCE] = "en"
    seeds: Annotated[int | tuple[int, ...], _SEEDS] = 5
    plugins: Annotated[
        tuple[str, ...],
        Setting(help="Python files that register more names.", left_out="none", formerly=("load",)),
    ] = ()
    regime: Mapping[str, RegimeTable] = field(default_factory=dict)
    regimes: Annotated[tuple[str, ...], Setting(help="Regimes; see 'interlingua list'.")] = ("original",)
    precision: Annotated[str | None, _PRECISION] = None
    permutations: Annotated[int, _PERMUTATIONS] = 10_000
    bitexts: BitextTable | None = None
    adjust: AdjustTable = field(default_factory=AdjustTable)
    tasks: Mapping[str, TaskTable] = field(default_factory=dict)
    measures: Mapping[str, MeasureTable] = field(default_factory=dict)
    explanations: Mapping[str, ExplainTable] = field(default_factory=dict)
    synth: Mapping[str, SynthTable] = field(default_factory=dict)
    geometry: Mapping[str, GeometryTable] = field(default_factory=dict)
    resources: Mapping[str, ResourceTable] = field(default_factory=dict)

    @property
    def tests_models(self) -> bool:
        """Whether anything is asked of models; else the study makes what it names: models by recipes, and synth."""
        return bool(self.tasks or self.measures or self.explanations or self.geometry or self.adjust.effect)


# ------------------------------------------------------------------------------------------------- recipe
@dataclass(frozen=True, kw_only=True)
class TextTable:
    """Where the text of a pretraining run is."""

    folder: Annotated[str, Setting(help="Folder with one file per language, xx.txt, plain or compressed.")]
    languages: Annotated[tuple[str, ...], Setting(help="Languages that are trained on.")]
    smoothing: Annotated[float, Setting(help="1 draws languages by their size, 0 all alike.", least=0)] = 0.7
    lines: Annotated[int | None, Setting(help="Take only the first lines of each file.", least=1, left_out="all")] = (
        None
    )
    tidy: Annotated[bool, Setting(help="Leave out lines that teach nothing.")] = False
    held_out: Annotated[
        float, Setting(help="Share of each text, its end, that is never trained on.", least=0, below=1)
    ] = 0.0

    def rules(self) -> Iterator[Problem]:
        if not self.languages:
            yield Problem(("languages",), "{languages} names no language", "", "Name at least one language.")


@dataclass(frozen=True, kw_only=True)
class TokenizerTable:
    """The tokenizer: trained on the data, or cut from a file with a WordPiece vocabulary."""

    vocabulary: Annotated[int, Setting(help="Number of entries.", above=5, most=2_000_000)] = 24000
    alphabet: Annotated[int, Setting(help="Number of characters that are kept.", least=1, most=0x110000)] = 6000
    file: Annotated[str | None, Setting(help="Tokenizer file to cut.", left_out="trained")] = None


@dataclass(frozen=True, kw_only=True)
class PretrainTable:
    """How a model is pretrained."""

    steps: Annotated[int, Setting(help="Training steps.", least=1, most=10**9)]
    batch_size: Annotated[
        int,
        Setting(
            help="Sequences per step, over all processes and accumulated parts.",
            least=1,
            most=2**20,
            formerly=("batch",),
        ),
    ] = 512
    max_length: Annotated[int, Setting(help="Tokens of a sequence.", least=8, most=2**16, formerly=("length",))] = 128
    long_length: Annotated[
        int, Setting(help="Tokens of a sequence in every long_every-th step; a multiple of max_length.", least=0)
    ] = 0
    long_every: Annotated[int, Setting(help="Steps from one with long sequences to the next; 0: none.", least=0)] = 0
    learning_rate: Annotated[float, replace(_LEARNING_RATE, left_out="")] = 1e-3
    warmup: Annotated[int, Setting(help="Steps in which the learning rate rises.", least=0, most=10**9)] = 500
    decay: Annotated[float, Setting(help="Share of the steps in which it falls.", least=0, most=1)] = 1.0
    floor: Annotated[float, Setting(help="Last learning rate, as a share of the peak.", least=0, most=1)] = 0.0
    weight_decay: Annotated[float, Setting(help="Weight decay of the optimizer.", least=0)] = 0.01
    mask: Annotated[
        float | tuple[float, float],
        Setting(
            help="Share of the tokens that are masked; or the first and the last one, linear between.", above=0, below=1
        ),
    ] = 0.15
    start_from: Annotated[
        str | None,
        Setting(help="Folder of another run, whose weights and tokenizer this one begins with.", left_out="none"),
    ] = None
    precision: Annotated[str, Setting(help="Number format of the computation.", choices=("fp32", "bf16"))] = "fp32"
    compile: Annotated[bool, _COMPILE] = False
    optimizer: Annotated[str, Setting(help="Optimizer.", choices=("adamw", "muon"))] = "adamw"
    accumulate: Annotated[int, Setting(help="Parts that a batch is cut into.", least=1, most=2**20)] = 1
    seed: Annotated[int, _SEED] = 0
    checkpoint_every: Annotated[int, Setting(help="Steps between two checkpoints.", least=1)] = 1000
    evaluate_every: Annotated[int, Setting(help="Steps between two measurements.", least=1)] = 1000
    save: Annotated[
        str,
        Setting(help="Number format of the saved model.", choices=("fp32", "fp16", "bf16", "fp8", "fp8-words")),
    ] = "fp16"

    def rules(self) -> Iterator[Problem]:
        given: object = self.mask
        if isinstance(given, tuple) and len(given) != 2:
            yield Problem(("mask",), "{mask} is one share, or two", self.mask, "Give 0.15, or [0.3, 0.15].")
        if self.long_every and (self.long_length <= self.max_length or self.long_length % self.max_length):
            yield Problem(
                ("long_length",),
                "{long_length} is no multiple of {max_length}",
                self.long_length,
                f"Give {4 * self.max_length}, or leave out {{long_every}}.",
            )
        elif self.long_every and self.batch_size * self.max_length % (self.long_length * self.accumulate):
            yield Problem(
                ("long_length",),
                "a batch has no whole number of sequences of {long_length} tokens",
                self.long_length,
                "Make {batch_size} a multiple of {long_length} / {max_length}.",
            )
        if self.batch_size % self.accumulate:
            yield Problem(
                ("accumulate",),
                f"a batch of {self.batch_size} cannot be cut into {self.accumulate} equal parts",
                self.accumulate,
                "Make {batch_size} a multiple of {accumulate}.",
            )


@dataclass(frozen=True, kw_only=True)
class EvaluationTable:
    """Parallel sentences that progress is measured on, pivot against each other language."""

    corpus: Annotated[str, Setting(help="Parallel corpus.")] = "sampler"
    pivot: Annotated[str, Setting(help="Language that the others are compared with.")] = "en"


@dataclass(frozen=True, kw_only=True)
class RecipeTable:
    """A whole recipe; `model` has sizes of the architecture that it names."""

    data: TextTable
    training: PretrainTable
    tokenizer: TokenizerTable = field(default_factory=TokenizerTable)
    model: Mapping[str, Any] = field(default_factory=dict)
    evaluation: EvaluationTable = field(default_factory=EvaluationTable)


def _vector_units(space: str, unit: str | None) -> Iterator[Problem]:
    if space == "vectors" and unit != "word":
        yield Problem(("unit",), "the space vectors compares words", unit, "Use {unit} word.")


# ------------------------------------------------------------------------------------------------- commands
@dataclass(frozen=True)
class AuditCommand(LoadingSettings, ComputeSettings):
    """How well are my languages aligned inside this model, and where is it weak?

    Encodes each language once, measures every layer and pair of languages against its null, and writes records, tables
    (CSV, Markdown, LaTeX) and an HTML page. A killed audit continues when the same command is run again.
    """

    model: Annotated[str, _MODEL] = "embedded"
    corpus: Annotated[
        Any,
        Setting(
            help="'sampler', a file, a folder, hf:NAME, or - for stdin; in Python also rows, a mapping or a DataFrame.",
            metavar="CORPUS",
        ),
    ] = "sampler"
    _: KW_ONLY
    languages: Annotated[
        Sequence[str] | None, replace(_LANGUAGES, help="Codes or names, comma-separated; the first is the pivot.")
    ] = None
    measures: Annotated[Sequence[str] | None, replace(_MEASURES, left_out="those of a plain audit")] = None
    format: Annotated[str | None, _FORMAT] = None
    encoding: Annotated[str | None, _ENCODING] = None
    column: Annotated[int | str | None, _COLUMN] = None
    against: Annotated[
        str | None, Setting(help="A second model to compare with.", left_out="none", metavar="MODEL")
    ] = None
    pairs: Annotated[str | None, replace(_PAIRS, left_out="all")] = None
    maps: Annotated[str | None, replace(_MAPS, left_out="pivot")] = None
    pooling: Annotated[str | None, _SENTENCE_POOLING] = None
    prompt: Annotated[str | None, _PROMPT] = None
    rows: Annotated[
        int | None, replace(_ROWS, help="Number of rows of every pair of languages, drawn by the seed.")
    ] = None
    spellings: Annotated[File | None, _SPELLINGS] = None
    dictionary: Annotated[File | None, _DICTIONARY] = None
    projection: Annotated[str, _PROJECTION] = "pca"
    seed: Annotated[int, _SEED] = 0
    out: Annotated[
        File | None, replace(_OUT, left_out="interlingua-audit on a command line, nowhere with --json and in Python")
    ] = None
    cache: Annotated[File | None, _CACHE] = None

    def rules(self) -> Iterator[Problem]:
        for name in ("pairs", "maps"):
            if self.against is not None and getattr(self, name) is not None:
                yield Problem(
                    (name,),
                    f"{{{name}}} does not apply with {{against}}",
                    getattr(self, name),
                    "Every language of one model is compared with every one of the other: leave it out.",
                )


@dataclass(frozen=True)
class AdjustCommand(AdjustmentSettings, PairReading, AdjustSchedule, LinkSettings, LoadingSettings, ComputeSettings):
    """Can a small parallel corpus bring the languages of this model closer?

    Pulls words and their translations together (Efimov et al. 2023, Eq. 1) while English stays where it was, and writes
    an ordinary Hugging Face folder. Reports retrieval and distances before and after, on sentences that were not
    trained on; the folder has them as JSON and on a page. A killed run continues when the same command is run again.
    """

    model: Annotated[str, _MODEL]
    bitexts: Annotated[
        PairFiles | LinkedText | Mapping[str, PairFiles | LinkedText],
        Setting(
            help="Sentence pairs: 'source ||| target' lines or two columns, or two files with a comma between. With "
            "a language before it (ru=FILE) any number of bitexts.",
            flag="bitext",
            metavar="XX=FILE",
            formerly=("bitext",),
        ),
    ]
    _: KW_ONLY
    out: Annotated[
        File, Setting(help="Folder of the adjusted model. An unfinished run in it is resumed.", metavar="DIR")
    ]
    links: Annotated[File | Mapping[str, File] | None, _LINKS] = None
    aligner_model: Annotated[
        str | None, Setting(help="For the aligner neural: another model.", left_out="MODEL", metavar="MODEL")
    ] = None
    pair_filters: Annotated[
        PairFilters | None, Setting(help="Filters of word pairs.", left_out="Efimov et al.'s", where="python")
    ] = None
    checkpoint_every: Annotated[int, _CHECKPOINT_EVERY] = 200
    seed: Annotated[int, _SEED] = 0
    tensorboard: Annotated[
        File | None, Setting(help="Folder for TensorBoard (an extra).", left_out="none", metavar="DIR")
    ] = None
    stop_after: Annotated[float | None, _STOP_AFTER] = None


@dataclass(frozen=True)
class TransferCommand(TaskSchedule, ExampleReading, LinkSettings, PairReading, LoadingSettings, ComputeSettings):
    """Will a model trained on English work in my language?

    Fine-tunes MODEL on the labelled examples with every regime and seed, tests it zero-shot on every test, and reports
    mean, deviation and whether a regime differs from the original, over seeds and examples. What regimes share is
    trained once; a killed run continues when the same command is run again, and more seeds, tests or regimes can be
    added to a folder.
    """

    model: Annotated[str, _MODEL]
    task: Annotated[
        str,
        Setting(help="Kind of the task; see 'interlingua list'.", choices="interlingua.tasks:tasks"),
    ]
    tests: Annotated[
        Mapping[str, PairFiles],
        Setting(
            help="A language and its test file; repeatable. For qa also en+ru=QUESTIONS,PARAGRAPHS: two files joined "
            "by id. ru:NAME=FILE distinguishes two tests of one language.",
            flag="test",
            metavar="XX=FILE",
        ),
    ]
    _: KW_ONLY
    out: Annotated[File, _OUT]
    train: Annotated[
        File | None,
        Setting(help="Labelled examples in one language (not for retrieval).", left_out="none", metavar="FILE"),
    ] = None
    regimes: Annotated[
        Sequence[str | Regime] | None,
        Setting(
            help="Comma-separated: original, adjusted, continual, continual-code, joint, mapped.",
            metavar="NAMES",
            left_out="the first three; without a bitext the first",
            formerly=("regime",),
        ),
    ] = None
    seeds: Annotated[int | Sequence[int], _SEEDS] = 5
    bitexts: Annotated[
        Mapping[str, PairFiles] | None,
        Setting(
            help="Sentence pairs to adjust on: 'source ||| target' lines, two columns, or two files with a comma "
            "between; repeatable.",
            flag="bitext",
            left_out="none",
            metavar="XX=FILE",
        ),
    ] = None
    links: Annotated[Mapping[str, File] | None, _LINKS] = None
    dev: Annotated[
        File | None,
        Setting(
            help="Examples like those of training; the epoch with the best score is kept.",
            left_out="none",
            metavar="FILE",
        ),
    ] = None
    source: Annotated[str, _SOURCE] = "en"
    mix_with: Annotated[
        File | None,
        Setting(
            help="For NLI: the test in the language of training, row for row. Adds a version of each test whose "
            "premise or hypothesis is replaced by this one's.",
            left_out="not mixed",
            formerly=("mixed",),
            metavar="FILE",
        ),
    ] = None
    retrieval: Annotated[
        Mapping[str, PairFiles] | None,
        Setting(
            help="Parallel corpora in which every model looks up sentences; repeatable.",
            left_out="none",
            metavar="XX=CORPUS",
        ),
    ] = None
    joint_adjustment: Annotated[bool, _JOINT] = False
    adjust_epochs: Annotated[
        float | None, Setting(help="Passes over the sentence pairs of the adjustment.", above=0, left_out="1")
    ] = None
    adjust_learning_rate: Annotated[
        float | None,
        Setting(help="Peak learning rate of the adjustment.", above=0, left_out="5e-5", formerly=("adjust_rate",)),
    ] = None
    adjust_batch_size: Annotated[
        int | None, Setting(help="Sentence pairs per step of the adjustment.", least=1, left_out="32")
    ] = None
    alpha: Annotated[float | None, _ALPHA] = None
    map_on: Annotated[str, _MAP_ON] = "words"
    distances: Annotated[bool, _DISTANCES] = False
    permutations: Annotated[int, _PERMUTATIONS] = 10_000
    checkpoint_every: Annotated[int, _CHECKPOINT_EVERY] = 1000
    save_models: Annotated[bool, _SAVE_MODELS] = False
    compile: Annotated[bool, _COMPILE] = False


@dataclass(frozen=True, kw_only=True)
class RowParallel:
    """Row-parallel files and what spaces are made of."""

    task: Annotated[
        str | None,
        Setting(help="Task, such as nli; it must be the models' own.", left_out="the model's"),
    ] = None
    source: Annotated[str, _SOURCE] = "en"
    dictionaries: Annotated[
        Mapping[str, File] | None,
        Setting(
            help="For the space aligned: a MUSE dictionary from the source to a language; repeatable.",
            flag="dictionary",
            left_out="none",
            metavar="XX=FILE",
        ),
    ] = None
    vectors: Annotated[
        Mapping[str, File] | None,
        Setting(
            help="For the space vectors: aligned word vectors, word2vec text format; repeatable.",
            left_out="none",
            metavar="XX=FILE",
        ),
    ] = None
    seed: Annotated[int, _SEED] = 0


_UNIT = Setting(help="Unit of the attributions.", choices=("token", "word"), left_out="token; word for rows and texts")
_TESTS = Setting(
    help="A language and its row-parallel file of the task; repeatable, two languages or more.",
    flag="test",
    metavar="XX=FILE",
    formerly=("data",),
)


@dataclass(frozen=True)
class ExplainCommand(AttributionSettings, ExplainChecks, RowParallel, DeviceSettings):
    """Do the languages look at the same words? Token attributions of fine-tuned models, and their consistency.

    Layer integrated gradients of every example in every language, and the earth mover's similarity of those of a text
    and of its translation (Wang et al. 2021), beside the scores of shuffled pairs, random attributions and untrained
    heads on the same body. A model at chance is reported as such, and nothing is concluded from its attributions.
    """

    models: Annotated[
        File | Sequence[File] | Mapping[str, File],
        Setting(
            help="Folders of fine-tuned models (transfer --save-models), or of classifiers as transformers saves "
            "them; xx=FOLDER: it was trained in xx.",
            argument=True,
            several=True,
            metavar="MODEL...",
        ),
    ]
    tests: Annotated[Mapping[str, File], _TESTS]
    _: KW_ONLY
    out: Annotated[File, _OUT]
    rows: Annotated[int | None, Setting(help="Only the first rows of every file.", least=1, left_out="all")] = None
    unit: Annotated[str | None, _UNIT] = None

    def rules(self) -> Iterator[Problem]:
        yield from _vector_units(self.space, self.unit)


@dataclass(frozen=True)
class ExplainRowsCommand(AttributionSettings, RowParallel, DeviceSettings):
    """Single rows: what their file and the model say of each, words shaded by attribution, flows to a translation.

    A row is named by its line (57), by language or file and line ("es:57", "test-es.tsv:57", as a transfer's
    predictions have it), or by a question's id. One language is enough; others are laid beside the source. Explained is
    the gold answer, or the predicted one; where the model is wrong, also what it says. Nothing is written; `.page()` of
    the result is a page.
    """

    model: Annotated[File, _MODEL]
    tests: Annotated[Mapping[str, File], _TESTS]
    rows: Annotated[Sequence[str | int], Setting(help="Rows to explain.")]
    _: KW_ONLY
    unit: Annotated[str | None, _UNIT] = None

    def rules(self) -> Iterator[Problem]:
        yield from _vector_units(self.space, self.unit or "word")


@dataclass(frozen=True)
class ExplainTextsCommand(AttributionSettings, DeviceSettings):
    """Two texts side by side: what the model looks at in each, and how consistent that is.

    Texts of a pair (premise and hypothesis, question and paragraph) are divided by `|||`. Explained is `label`, or what
    the model says of the first text, in both; for questions each text's own answer (its start), for entities the first
    that both have.
    """

    model: Annotated[File, _MODEL]
    first: Annotated[str, Setting(help="First text.")]
    second: Annotated[str, Setting(help="Second text.")]
    _: KW_ONLY
    languages: Annotated[tuple[str, str], Setting(help="Names of both languages.")] = ("first", "second")
    label: Annotated[str | None, Setting(help="Label to explain.", left_out="the model's")] = None
    unit: Annotated[str | None, _UNIT] = None
    seed: Annotated[int, _SEED] = 0


@dataclass(frozen=True)
class GeometryCommand(Maps, MonitoringSettings, FollowedName, LoadingSettings, ComputeSettings):
    """What does fine-tuning do to the space my languages share?

    Puts parallel names into parallel sentences, measures them inside MODEL (how near translations lie, whether they
    cluster by language or by type, maps), fine-tunes it for NER on every language, monitored step by step and tested on
    all, measures again, and compares errors with the spelling of names. A killed run continues when the same command is
    run again.
    """

    model: Annotated[str, _MODEL] = "embedded"
    entities: Annotated[
        File | Sequence[File] | Synthetic,
        Setting(
            help="Folder of contexts and names, or 'embedded'; repeatable: a kind comes from the first that has it. "
            "In Python also what synth() returns.",
            several=True,
            metavar="DIR",
            formerly=("data",),
        ),
    ] = "embedded"
    _: KW_ONLY
    out: Annotated[File, _OUT]
    languages: Annotated[Sequence[str] | None, replace(_LANGUAGES, left_out="those that every type has")] = None
    types: Annotated[Sequence[str] | None, _TYPES] = None
    rows: Annotated[
        int | None,
        Setting(help="Sentences in each language, for training and testing together.", least=1, left_out="10,000"),
    ] = None
    source: Annotated[str, Setting(help="Language of fine-tuning for the maps after it.", metavar="XX")] = "en"
    sources: Annotated[
        Sequence[str] | None,
        Setting(
            help="Languages that are fine-tuned on, and the source.",
            left_out="every language",
            metavar="XX,YY",
            formerly=("train_on",),
        ),
    ] = None
    epochs: Annotated[float | None, replace(_EPOCHS, left_out="1")] = None
    learning_rate: Annotated[float | None, replace(_LEARNING_RATE, left_out="2e-5; for the embedded encoder 2e-4")] = (
        None
    )
    batch_size: Annotated[int | None, replace(_BATCH_SIZE, left_out="32; for the embedded encoder 16")] = None
    seeds: Annotated[
        int | Sequence[int], replace(_SEEDS, help="Number of fine-tunings of each language, or their seeds.")
    ] = 1
    small: Annotated[bool, Setting(help="For 2 cores: be,en,ru,tr, 1,000 sentences, 2 epochs, unless set.")] = False
    seed: Annotated[int, _SEED] = 0


@dataclass(frozen=True)
class SynthCommand(SynthSettings):
    """Make strictly parallel NER data: every context with every name, in any set of languages.

    Writes xx.train.iob2 and xx.test.iob2 for each language (word, row id, tag), counts.json, and how alike the names
    are spelled (spelling.csv, spelling.svg). No context and no name of the test part is seen in training. What is left
    out is reported by file and line.
    """

    contexts: Annotated[
        File | Sequence[File],
        Setting(
            help="Folder of contexts, or 'embedded'; repeatable: a kind comes from the first that has it.",
            several=True,
            metavar="DIR",
        ),
    ] = "embedded"
    names: Annotated[
        File | Sequence[File],
        Setting(help="Folder of names, likewise; repeatable.", several=True, metavar="DIR"),
    ] = "embedded"
    _: KW_ONLY
    languages: Annotated[Sequence[str] | None, replace(_LANGUAGES, left_out="those that every type has")] = None
    types: Annotated[Sequence[str] | None, _TYPES] = None
    out: Annotated[File | None, Setting(help="Folder for the files.", left_out="nothing is written", metavar="DIR")] = (
        None
    )


@dataclass(frozen=True)
class PretrainCommand(DeviceSettings):
    """Train a small masked language model on plain text, one file per language.

    Trains a tokenizer and a model as a recipe says, without any parallel signal, measures retrieval on held-out
    parallel sentences on the way, and writes an ordinary Hugging Face folder. A killed run continues when the same
    command is run again.
    """

    config: Annotated[File, Setting(help="A TOML file; see docs/howto-pretrain.md.", argument=True, metavar="CONFIG")]
    _: KW_ONLY
    out: Annotated[File, Setting(help="Folder of the model. An unfinished run in it is resumed.", metavar="DIR")]
    stop_after: Annotated[float | None, _STOP_AFTER] = None


@dataclass(frozen=True)
class AlignCommand(AlignmentSettings, LoadingSettings, ComputeSettings):
    """Which words translate each other?

    Prints one line of links (Pharaoh: 0-0 1-2 …, source-target) for every line of FILE, an empty one for a line that is
    no pair. The course of training, the lines left out and the AER go to stderr.
    """

    bitext: Annotated[
        Any,
        Setting(
            help="'source ||| target' lines, two columns with a tab, or - for stdin; in Python also pairs.",
            argument=True,
            metavar="FILE",
        ),
    ]
    target: Annotated[
        File | None,
        Setting(
            help="Target side, where FILE is the source side alone.", argument=True, left_out="none", metavar="TARGET"
        ),
    ] = None
    _: KW_ONLY
    method: Annotated[str | None, _ALIGNER] = None
    also: Annotated[
        Sequence[File],
        Setting(help="More bitext to train on; its links are not printed; repeatable.", several=True, metavar="FILE"),
    ] = ()
    save: Annotated[File | None, Setting(help="Folder for the trained aligner.", left_out="none", metavar="DIR")] = None
    aligner: Annotated[
        File | None,
        Setting(help="Apply a saved aligner; train nothing.", left_out="none", metavar="DIR", formerly=("load",)),
    ] = None
    model: Annotated[
        str | Encoder, Setting(help="For neural: 'embedded', a model folder, or a hub name.", metavar="MODEL")
    ] = "embedded"
    links: Annotated[
        Sequence[File],
        Setting(
            help="Links from elsewhere instead of a method; two files are two directions; repeatable.",
            several=True,
            metavar="FILE",
        ),
    ] = ()
    base: Annotated[int, Setting(help="Number of the first word, in what is printed and in the links given.")] = 0
    gold: Annotated[
        File | None,
        Setting(
            help="Gold links: Pharaoh ('p' possible), XL-WA or NAACL; prints the AER.", left_out="none", metavar="FILE"
        ),
    ] = None
    gold_base: Annotated[
        int | None,
        Setting(
            help="Number of the first word in the gold links, 0 or 1; must be given for Pharaoh.",
            left_out="the format's",
        ),
    ] = None
    format: Annotated[str | None, replace(_FORMAT, help="Format of the bitext: pipes, tsv, xl-wa or files.")] = None
    encoding: Annotated[str | None, _ENCODING] = None
    tokenize: Annotated[
        str,
        Setting(
            help="words: words and punctuation, Chinese and Thai segmented; space: at white space, for tokenized "
            "text; auto: space for ||| and XL-WA and where gold or given links count words, else words; a "
            "saved aligner's own.",
            choices=("auto", "words", "space"),
        ),
    ] = "auto"
    bad_lines: Annotated[str | None, _BAD_LINES] = None
    scores: Annotated[
        File | None,
        Setting(
            help="File for the log-probability per word and the share of linked words of each line.",
            left_out="none",
            metavar="FILE",
        ),
    ] = None
    write_tokens: Annotated[
        File | None, Setting(help="File for the text as it was cut into words.", left_out="none", metavar="FILE")
    ] = None
    out: Annotated[File | None, Setting(help="File for the links.", left_out="stdout", metavar="FILE")] = None
    report: Annotated[
        File | None,
        Setting(help="File for a page: counts, AER, the first sentences with links.", left_out="none", metavar="FILE"),
    ] = None
    seed: Annotated[int, _SEED] = 0
    watch: Annotated[
        Callable[[str, Iteration], None] | None,
        Setting(help="Called with the direction and what a pass of training did.", where="python"),
    ] = None


@dataclass(frozen=True)
class ReportCommand:
    """Report on one run, or compare several: one HTML page that works offline, and a summary in the terminal.

    Reads records and settings only and loads no model. Runs of one command are compared: a verdict, a ranking, the
    difference of every number with its interval, and the settings that differ.
    """

    folders: Annotated[
        Sequence[Path],
        Setting(
            help="Folders that audit, adjust, transfer, explain, geometry, pretrain or study wrote.",
            argument=True,
            several=True,
            metavar="DIR...",
        ),
    ]
    _: KW_ONLY
    out: Annotated[
        Path | None,
        Setting(
            help="File of the page.",
            left_out="report.html in the folder; interlingua-report.html for several",
            metavar="FILE",
        ),
    ] = None
    title: Annotated[
        str, Setting(help="Title of the page.", left_out="the question and the models", metavar="TEXT")
    ] = ""
    full: Annotated[bool, Setting(help="Print all tables, and of several runs also the report of each run.")] = False


@dataclass(frozen=True)
class ExploreCommand(DeviceSettings):
    """Look inside, live: two sentences, their words, links, attributions, flows and neighbours, layer by layer.

    Serves a page on this machine alone, at an address with a random token, until it is interrupted (Ctrl-C). The first
    start encodes the corpus; later ones take it from the cache. Nothing leaves the machine.
    """

    model: Annotated[str, _MODEL] = "embedded"
    _: KW_ONLY
    against: Annotated[
        str | None,
        Setting(help="A second model to show beside it: before and after.", left_out="none", metavar="MODEL"),
    ] = None
    corpus: Annotated[
        str,
        Setting(
            help="Where sentences are picked from: 'sampler', a file, a folder.", metavar="CORPUS", formerly=("data",)
        ),
    ] = "sampler"
    languages: Annotated[Sequence[str] | None, _LANGUAGES] = None
    rows: Annotated[int | None, _ROWS] = None
    heads: Annotated[
        Mapping[str, str] | None,
        Setting(
            help="A fine-tuned folder to look into, under a name; repeatable.",
            flag="head",
            left_out="none",
            metavar="NAME=DIR",
        ),
    ] = None
    aligner: Annotated[
        Path | None,
        Setting(
            help="A folder that 'interlingua align --save' made: also show its links.", left_out="none", metavar="DIR"
        ),
    ] = None
    port: Annotated[
        int | None,
        Setting(
            help="Port on this machine; 0: any that is free.", least=0, most=65535, left_out="8017, or any that is free"
        ),
    ] = None
    browser: Annotated[bool, Setting(help="Open the page in a browser.")] = True
    max_queue: Annotated[
        int, Setting(help="Maximum number of requests that wait for the model.", least=0, formerly=("waiting",))
    ] = 64
    cache: Annotated[str | None, _CACHE] = None


@dataclass(frozen=True)
class StudyChoice:
    """A study file, at a size."""

    file: Annotated[Path, Setting(help="A study file; see docs/howto-study.md.", argument=True, metavar="FILE.toml")]
    _: KW_ONLY
    size: Annotated[str | None, Setting(help="One of the file's sizes.", left_out="the file's own", metavar="NAME")] = (
        None
    )
    data_root: Annotated[
        Path | None,
        Setting(help="Folder of the files that it names.", left_out="what it says", metavar="DIR", formerly=("data",)),
    ] = None
    encoders: Annotated[
        Mapping[str, str] | None,
        Setting(
            help="Your own model in the place of an encoder of the file, or beside them: a folder or a hub name; "
            "repeatable.",
            flag="encoder",
            left_out="those of the file",
            metavar="NAME=MODEL",
        ),
    ] = None


@dataclass(frozen=True)
class StudyFolder(StudyChoice):
    """A study file, and the folder of its results."""

    _: KW_ONLY
    out: Annotated[
        Path | None,
        Setting(help="Folder of the results.", left_out="interlingua-study-NAME-SIZE, here", metavar="DIR"),
    ] = None


_RETRY = Setting(help="Run again what failed before.")


@dataclass(frozen=True)
class StudyCheck(StudyChoice):
    """Check a study file and list every error with its line number. Exit code 2 if there is one."""


@dataclass(frozen=True)
class StudyPlan(StudyFolder):
    """Print what a run would do: steps by kind, what is done, and about how long the rest takes."""

    _: KW_ONLY
    retry: Annotated[bool, _RETRY] = False
    steps: Annotated[bool, Setting(help="Also name every step.")] = False


@dataclass(frozen=True)
class StudyRun(StudyFolder):
    """Run what is not done; a killed study continues where it was, and a finished one is only printed.

    If a step fails, the steps that need it are skipped and the others continue; the exit code is then 1.
    """

    _: KW_ONLY
    executor: Annotated[
        str,
        Setting(
            help="Where steps run. local: processes of this machine; inline: this process alone; ray: a cluster.",
            metavar="NAME",
        ),
    ] = "local"
    address: Annotated[
        str | None, Setting(help="Of a Ray cluster: auto, or HOST:PORT.", left_out="none", metavar="ADDRESS")
    ] = None
    cpus: Annotated[int | None, Setting(help="Number of CPUs.", least=1, left_out="all")] = None
    gpus: Annotated[str | None, Setting(help="Ids, comma-separated; '' for none.", left_out="all", metavar="IDS")] = (
        None
    )
    attempts: Annotated[int, Setting(help="How often a step is tried.", least=1)] = 1
    retry: Annotated[bool, _RETRY] = False
    keep: Annotated[bool, Setting(help="Keep models and vectors that no step to come needs.")] = False
    reuse: Annotated[
        tuple[Path, ...],
        Setting(
            help="Folder of an earlier run, of a study or a command, whose finished steps are taken over where they "
            "are the same; repeatable.",
            several=True,
            left_out="none",
            metavar="DIR",
        ),
    ] = ()


@dataclass(frozen=True)
class StudyStatus(StudyFolder):
    """Print the state of a study: steps done, failed and why, the rest with its time, and the disk it takes."""


@dataclass(frozen=True)
class StudyReportCommand(StudyFolder):
    """Print and write the results so far, with the paper's numbers beside, from the records alone."""


@dataclass(frozen=True)
class StudyPrune(StudyFolder):
    """List the models and vectors that no record needs any more, and with --yes remove them; records stay."""

    _: KW_ONLY
    yes: Annotated[bool, Setting(help="Remove it.")] = False


@dataclass(frozen=True)
class ExplainOptions(AttributionSettings, ExplainChecks, RowParallel, DeviceSettings):
    """Do the languages look at the same words? Token attributions of fine-tuned models, and their consistency.

    Layer integrated gradients of every example in every language, and the earth mover's similarity of those of a text
    and of its translation (Wang et al. 2021), beside the scores of shuffled pairs, random attributions and untrained
    heads on the same body. A model at chance is reported as such, and nothing is concluded from its attributions. With
    --row, single rows of the tests, such as a wrong prediction: what the file and the model say, words shaded by
    attribution, the strongest flows to a translation. With --text, the same for two texts. Both are printed, and
    written as a page with --out NAME.html.
    """

    models: Annotated[
        Sequence[File] | Mapping[str, File],
        Setting(
            help="Folders of fine-tuned models (transfer --save-models), or of classifiers as transformers saves "
            "them; xx=FOLDER: it was trained in xx.",
            argument=True,
            several=True,
            metavar="MODEL...",
        ),
    ]
    _: KW_ONLY
    tests: Annotated[Mapping[str, File] | None, replace(_TESTS, left_out="none; with --text")] = None
    out: Annotated[
        Path | None,
        replace(_OUT, help=f"{_OUT.help} With --row or --text a page, NAME.html.", left_out="with --row, --text: none"),
    ] = None
    row: Annotated[
        Sequence[str],
        Setting(
            help="Explain only this row, and print it: its line, xx:LINE, FILE:LINE, or a question's id; repeatable. "
            "One language of tests is enough.",
            several=True,
            metavar="ROW",
        ),
    ] = ()
    text: Annotated[
        Sequence[str],
        Setting(
            help="Instead of tests: two texts, each as the task reads it; '|||' divides a pair.",
            several=True,
            metavar="TEXT",
        ),
    ] = ()
    label: Annotated[str | None, Setting(help="For two texts: the label to explain.", left_out="the model's")] = None
    languages: Annotated[
        Sequence[str] | None, replace(_LANGUAGES, help="Only these of the tests; for --text the names of both.")
    ] = None
    rows: Annotated[int | None, Setting(help="Only the first rows of every file.", least=1, left_out="all")] = None
    unit: Annotated[str | None, _UNIT] = None

    def rules(self) -> Iterator[Problem]:
        yield from _vector_units(self.space, self.unit or ("word" if self.row else None))
