"""What a transfer study trains and tests: regimes × languages of bitext, and the exams each is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.studies.exams import Exam
from interlingua.studies.stages import NO_PAIRS, PairSettings
from interlingua.tasks import tasks
from interlingua.training.regime import ALPHA, NAMES, SUMMARIES, Phase, Regime, Schedule, regime
from interlingua.training.task import FineTuning

MAPPED = "mapped"
REGIMES = (*(name for name in NAMES if name != "adjust-only"), MAPPED)
ABOUT = {
    **SUMMARIES,
    MAPPED: "The task alone; in other languages a fitted rotation before its head (papers/000 Fig. 5).",
}
"""One line about each regime."""
UNTRAINED = ("original", "adjusted")
"""The regimes of a task that trains nothing: the model as it is, and adjusted."""
MAPS = ("words", "sentences")


@dataclass(frozen=True)
class TransferSettings:
    """How a transfer study is run; what is None is the task's, the regime's or the device's own.

    `source` is the language of training. `together` adjusts on all bitexts at once and gives every exam to that one
    model; else an exam is given to the model adjusted on its own language. `warmup` is the share of a task's steps in
    which its rate rises, `pooling` the vector that its head reads, where it reads one a text. `alpha` is the weight of
    the adjustment beside a task. `map_on` is what maps are fitted on. `graph` and `compile` make training on a GPU
    faster; `distances` measures related and unrelated words after every phase.
    """

    source: str = "en"
    together: bool = False
    train_rows: int | None = None
    length: int | None = None
    pooling: str | None = None
    epochs: float | None = None
    learning_rate: float | None = None
    warmup: float | None = None
    batch: int | None = None
    adjust_epochs: float | None = None
    adjust_learning_rate: float | None = None
    adjust_batch: int | None = None
    alpha: float | None = None
    pairs: PairSettings = field(default_factory=PairSettings)
    map_on: str = "words"
    distances: bool = False
    permutations: int = 10_000
    precision: str | None = None
    graph: bool | None = None
    compile: bool = False
    checkpoint_every: int = 1000

    def __post_init__(self) -> None:
        if self.map_on not in MAPS:
            raise unknown("kind of map", self.map_on, list(MAPS))
        own = ("train_rows", "length", "epochs", "learning_rate", "batch")
        for name in (*own, "adjust_epochs", "adjust_learning_rate", "adjust_batch"):
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:  # NaN, too.
                problem = f"{name.replace('_', ' ')} must be above 0, and finite"
                raise InputError(problem, value=value, remedy="Give another number.")
        if self.warmup is not None and not 0 <= self.warmup < 1:
            raise InputError("warmup is a share of the steps", value=self.warmup, remedy="Give 0.1, say.")
        if self.permutations < 1 or self.checkpoint_every < 1:
            raise InputError("permutations and steps are at least 1", remedy="Give more.")


@dataclass(frozen=True)
class Scenario:
    """A regime with the languages whose bitexts it reads, and the exams that are given to what it trains.

    `mapped`: the exams' language goes through a map before the head, or through a control's of that name.
    """

    regime: str
    phases: tuple[Phase, ...]
    spoken: tuple[str, ...]
    exams: tuple[Exam, ...]
    mapped: bool | str = False


def plan(
    regimes: Sequence[str | Regime],
    exams: Sequence[Exam],
    bitexts: Sequence[str],
    settings: TransferSettings,
    *,
    task: str,
    headless: bool,
) -> tuple[list[Scenario], list[str]]:
    """The scenarios in the order of the regimes, and what cannot be tested, in words.

    Checked here: names of regimes, and that every exam has the bitext that a regime needs for it.
    """
    if not regimes:
        raise InputError("no regime was named", remedy=f"Known: {', '.join(REGIMES)}.")
    scenarios: list[Scenario] = []
    notes: list[str] = []
    for each in regimes:
        name, phases = (
            each.name if isinstance(each, Regime) else each,
            phases_of(each, settings, task=task, headless=headless),
        )
        if name in [scenario.regime for scenario in scenarios]:
            raise InputError("a regime is named twice", value=name, remedy="Name each once.")
        if is_mapped(each):
            found, left = _maps(each, phases, exams, bitexts, settings.source)
        elif not any(needs_pairs(phase) for phase in phases):
            found, left = [Scenario(name, phases, (), tuple(exams))], []
        else:
            found, left = _groups(name, phases, exams, bitexts, settings)
        scenarios += found
        notes += left
    return scenarios, notes


def is_mapped(given: str | Regime) -> bool | str:
    """Whether a regime puts a map before a head, and which control's."""
    return given.mapped if isinstance(given, Regime) else given == MAPPED


def needs_pairs(phase: Phase) -> bool:
    """Whether a phase reads linked text."""
    return any(part.objective not in NO_PAIRS for part in phase.parts)


def phases_of(given: str | Regime, settings: TransferSettings, *, task: str, headless: bool) -> tuple[Phase, ...]:
    """The phases of a regime with what the user set; of a task without a head, those before it."""
    if isinstance(given, Regime):
        return given.phases
    known = UNTRAINED if headless else REGIMES
    if given not in known:
        raise unknown(f"regime of {task}" if headless else "regime", given, list(known))
    if headless:
        return tuple(changed(phase, settings) for phase in regime("adjust-only").phases if given != "original")
    named = regime("original" if given == MAPPED else given, task=defaults_of(task))
    return tuple(changed(phase, settings) for phase in named.phases)


def defaults_of(task: str) -> FineTuning:
    """How a task is trained, as it says itself."""
    own = getattr(tasks[task].call, "defaults", None)
    if not isinstance(own, FineTuning):
        raise InputError("the task does not say how it is trained", value=task, remedy="Give it `defaults`.")
    return own


def changed(phase: Phase, settings: TransferSettings) -> Phase:
    """The phase with what the user set in place of its own."""
    is_task = phase.parts[0].objective == "task"
    batch = settings.batch if is_task else settings.adjust_batch
    parts = [replace(part, batch=batch) if batch is not None and not part.replacement else part for part in phase.parts]
    if is_task and settings.alpha is not None:
        parts = [
            replace(part, weight=settings.alpha) if part.replacement and part.weight == ALPHA else part
            for part in parts
        ]
    epochs = settings.epochs if is_task else settings.adjust_epochs
    rate = settings.learning_rate if is_task else settings.adjust_learning_rate
    schedule: Schedule = phase.schedule
    if epochs is not None:
        schedule = replace(schedule, epochs=epochs)
    if rate is not None:
        schedule = replace(schedule, learning_rate=rate)
    if is_task and settings.warmup is not None:
        schedule = schedule.warmed(settings.warmup)
    return replace(phase, parts=tuple(parts), schedule=schedule)


def _maps(
    given: str | Regime, phases: tuple[Phase, ...], exams: Sequence[Exam], bitexts: Sequence[str], source: str
) -> tuple[list[Scenario], list[str]]:
    """A map is of one language: exams in two, and in the language of training, have none."""
    name = given.name if isinstance(given, Regime) else given
    notes = []
    mine: dict[str, list[Exam]] = {}
    for exam in exams:
        if exam.languages == (source,) or len(exam.languages) > 1 or exam.task.name == "retrieval":
            notes.append(f"{exam.name} is not tested under {name}: a map is of one language, for a head to read")
        elif exam.judged not in bitexts:
            raise _no_bitext(exam, name)
        else:
            mine.setdefault(exam.judged, []).append(exam)
    return [Scenario(name, phases, (code,), tuple(its), is_mapped(given)) for code, its in mine.items()], notes


def _groups(
    name: str, phases: tuple[Phase, ...], exams: Sequence[Exam], bitexts: Sequence[str], settings: TransferSettings
) -> tuple[list[Scenario], list[str]]:
    """One model for all languages, or one a language, with the exams of each."""
    if not bitexts:
        raise InputError(f"the regime {name} needs a bitext", remedy="Give --bitext xx=FILE, or --regime original.")
    groups = [tuple(bitexts)] if settings.together else [(code,) for code in bitexts]
    given: dict[tuple[str, ...], list[Exam]] = {group: [] for group in groups}
    notes = []
    for exam in exams:
        foreign = {code for code in exam.languages if code != settings.source}
        fitting = groups if settings.together else [group for group in groups if foreign <= set(group)]
        if not fitting:
            raise _no_bitext(exam, name)
        if len(fitting) > 1:
            notes.append(f"{exam.name} is not tested under {name}: there is a model for each bitext (--together: one)")
        else:
            given[fitting[0]].append(exam)
    return [Scenario(name, phases, group, tuple(its)) for group, its in given.items() if its], notes


def _no_bitext(exam: Exam, name: str) -> InputError:
    return InputError(
        f"the regime {name} has no bitext for the test {exam.name}",
        remedy="Give --bitext xx=FILE for its language, or --together to test one model adjusted on all there are.",
    )
