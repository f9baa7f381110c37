"""Zero-shot transfer: regimes and what each trains, test sets, and which training serves which test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.training_inputs import NO_PAIRS, PairSettings
from interlingua.errors import InputError
from interlingua.paths import usable_path
from interlingua.readers.format_detection import missing_file
from interlingua.readers.squad import join_by_question_id
from interlingua.registry import unknown
from interlingua.tasks import tasks
from interlingua.tasks.retrieval import Retrieval
from interlingua.tasks.text_pairs import mix_with_english
from interlingua.training.phases import Phase, Schedule
from interlingua.training.regime import Regime, regime
from interlingua.training.regime_names import ALPHA, MAPPED, REGIMES
from interlingua.training.task import FineTuning

File = str | Path
Files = File | tuple[File, ...]


@dataclass(frozen=True)
class TestSet:
    """A test set: its name in tables, the languages its texts are in, the task that judges it, and its examples.

    `judged` is the language of what is judged: the text's own, or the paragraph's.
    """

    name: str
    languages: tuple[str, ...]
    task: Any
    examples: Any

    @property
    def judged(self) -> str:
        return self.languages[-1]

    @property
    def digest(self) -> str:
        digest: str = self.examples.digest
        return digest

    @property
    def skipped(self) -> tuple[Any, ...]:
        skipped: tuple[Any, ...] = self.examples.skipped
        return skipped


@dataclass(frozen=True)
class TestFiles:
    """The files that exams are made of, under their names.

    A name is a language (`ru`), two joined by `+` where question and paragraph differ (`en+ru`: English questions on
    Russian paragraphs, two files joined by id, or one that has both, as MLQA's), and after a colon anything that
    distinguishes two sets (`ru:mlqa`).
    `mixed` is the file in the language of training that pairs of the others are mixed with (NLI). `retrieval` are
    parallel corpora on which every model's sentences are looked up, too. `rows` takes a sample of each, by a fixed
    seed.
    """

    tests: Mapping[str, Files]
    mixed: File | None = None
    retrieval: Mapping[str, Files] | None = None
    rows: int | None = None

    def read(self, task: Any, *, source: str) -> tuple[TestSet, ...]:
        """All exams in the order given; `source` is the language of training."""
        if not self.tests:
            raise InputError("there is nothing to test on", remedy="Give --test xx=FILE.")
        exams = [self._read(name, files, task) for name, files in self.tests.items()]
        if self.mixed is not None:
            exams += self._mixed(exams, task, source)
        if self.retrieval and task.name == "retrieval":
            raise InputError("--retrieval is for other tasks", remedy="With --task retrieval give --test xx=CORPUS.")
        for name, files in (self.retrieval or {}).items():
            exam = self._read(name, files, Retrieval(pivot=source))
            exams.append(TestSet(f"{name} retrieval", exam.languages, exam.task, exam.examples))
        for number, exam in enumerate(exams):
            if exam.name in [other.name for other in exams[:number]]:
                raise InputError(
                    "two tests of one name", value=exam.name, remedy="Give each a name: ru:first, ru:other."
                )
        return tuple(self._sampled(exam) for exam in exams)

    def _read(self, name: str, files: Files, task: Any) -> TestSet:
        spoken, paths = parse_test_languages(name), files if isinstance(files, tuple) else (files,)
        for path in paths:
            if task.name != "retrieval":  # A corpus may be a folder, or a name.
                check_file(path)
        if len(spoken) == 1 and len(paths) == 1:
            return TestSet(name, spoken, task, task.read(paths[0], spoken[0]))
        if task.name != "qa":
            raise InputError("only questions have a paragraph in another language", value=name, remedy="Give xx=FILE.")
        if len(spoken) != 2 or len(paths) > 2:
            raise InputError(
                "a question's language and a paragraph's need a file each, or one for both",
                value=name,
                remedy="Give en+ru=QUESTIONS,PARAGRAPHS: two files of one release; or en+ru=FILE.",
            )
        if len(paths) == 1:
            return TestSet(name, spoken, task, task.read(paths[0], spoken[1]))
        asked, told = (task.read(path, code) for path, code in zip(paths, spoken, strict=True))
        return TestSet(name, spoken, task, join_by_question_id(asked, told))

    def _mixed(self, exams: Sequence[TestSet], task: Any, source: str) -> list[TestSet]:
        assert self.mixed is not None
        if task.name != "nli":
            raise InputError("mixed languages are for pairs of premise and hypothesis", remedy="Use --task nli.")
        check_file(self.mixed)
        english = task.read(self.mixed, source)
        return [
            TestSet(f"{exam.name} mixed", (source, exam.judged), task, mix_with_english(exam.examples, english, seed=0))
            for exam in exams
            if exam.judged != source
        ]

    def _sampled(self, exam: TestSet) -> TestSet:
        if self.rows is None:
            return exam
        return TestSet(exam.name, exam.languages, exam.task, exam.examples.sample(self.rows, seed=0))


def parse_test_languages(name: str) -> tuple[str, ...]:
    """The languages that a test's name says.

    >>> parse_test_languages("rus"), parse_test_languages("en+ru"), parse_test_languages("ru:mlqa")
    (('ru',), ('en', 'ru'), ('ru',))
    """
    return tuple(codes.canonical(code) for code in name.split(":", maxsplit=1)[0].split("+"))


def check_file(path: File) -> None:
    """Refuse a path where no file is."""
    if not usable_path(path).is_file():
        raise missing_file(Path(path))


def task_named(name: str, *, length: int | None = None, pooling: str | None = None, source: str = "en") -> Any:
    """The task called so with its settings; `length` is that of its inputs, `pooling` what a head for texts reads.

    `source` is the language of training, in which translations are looked for.
    """
    call: Any = tasks[name].call
    given: dict[str, Any] = {} if length is None or tasks[name].needs != "head" else {"length": length}
    if pooling is not None:
        if "pooling" not in getattr(call, "__dataclass_fields__", {}) or tasks[name].needs != "head":
            raise InputError("no vector of a text is read for", value=name, remedy="Leave pooling out.")
        given["pooling"] = pooling
    return Retrieval(pivot=source) if call is Retrieval else call(**given)


def check_labels(exams: Sequence[TestSet], labels: tuple[str, ...], *, train: str) -> None:
    """Refuse exams with labels that the training examples lack; a head could never give them."""
    for exam in exams:
        if tasks[exam.task.name].needs == "head":
            check_labels_known(exam.examples, exam.task.kind, labels, train=train)


def check_labels_known(examples: Any, kind: str, labels: tuple[str, ...], *, train: str) -> None:
    """Refuse examples with a label or a tag that the training examples lack; answers of questions are free."""
    if kind == "span":
        return
    known = set(labels)
    what, all_of = ("tag", "types") if kind == "token" else ("label", "labels")
    for item in examples:
        for offset, label in enumerate(item.tags if kind == "token" else (item.label,)):
            if label not in known:
                shown = ", ".join(labels[:20]) + (f" and {len(labels) - 20} more" if len(labels) > 20 else "")
                raise InputError(
                    f"a {what} that {train} does not have",
                    file=examples.name,
                    line=item.line + offset,
                    value=label,
                    remedy=f"Train on all {all_of}; it has: {shown}.",
                )


UNTRAINED = ("original", "adjusted")
"""The regimes of a task that trains nothing: the model as it is, and adjusted."""
MAPS = ("words", "sentences")


@dataclass(frozen=True)
class TransferSettings:
    """How a transfer study is run; what is None is the task's, the regime's or the device's own.

    `source` is the language of training. `together` adjusts on all bitexts at once and gives every exam to that one
    model; else an exam is given to the model adjusted on its own language. `warmup` is the share of a task's steps in
    which its rate rises, `pooling` the vector that its head reads, where it reads one a text. `alpha` is the weight of
    the adjustment beside a task, `adjusting` the phase that adjusts before it. `map_on` is what maps are fitted on.
    `graph` and `compile` make training on a GPU faster; `distances` measures related and unrelated words after every
    phase.
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
    adjusting: Phase | None = None
    alpha: float | None = None
    pairs: PairSettings = field(default_factory=PairSettings)
    map_on: str = "words"
    distances: bool = False
    permutations: int = 10_000
    precision: str | None = None
    graph: bool | None = None
    compile: bool = False
    checkpoint_every: int = 1000


@dataclass(frozen=True)
class Scenario:
    """A regime with the languages whose bitexts it reads, and the exams that are given to what it trains.

    `mapped`: the exams' language goes through a map before the head, or through a control's of that name.
    """

    regime: str
    phases: tuple[Phase, ...]
    spoken: tuple[str, ...]
    exams: tuple[TestSet, ...]
    mapped: bool | str = False


def plan_regimes(
    regimes: Sequence[str | Regime],
    exams: Sequence[TestSet],
    bitexts: Sequence[str],
    settings: TransferSettings,
    *,
    task: str,
    headless: bool,
) -> tuple[list[Scenario], list[str]]:
    """The scenarios in the order of the regimes, and descriptions of what cannot be tested.

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
    named = (
        regime("adjust-only") if headless else regime("original" if given == MAPPED else given, task=defaults_of(task))
    )
    phases = () if headless and given == "original" else named.phases
    own = {} if settings.adjusting is None else {settings.adjusting.name: settings.adjusting}
    return tuple(own.get(phase.name) or override_phase(phase, settings) for phase in phases)


def defaults_of(task: str) -> FineTuning:
    """How a task is trained, as it says itself."""
    own = getattr(tasks[task].call, "defaults", None)
    if not isinstance(own, FineTuning):
        raise InputError("the task does not say how it is trained", value=task, remedy="Give it `defaults`.")
    return own


def override_phase(phase: Phase, settings: TransferSettings) -> Phase:
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
    given: str | Regime, phases: tuple[Phase, ...], exams: Sequence[TestSet], bitexts: Sequence[str], source: str
) -> tuple[list[Scenario], list[str]]:
    """A map is of one language: exams in two, and in the language of training, have none."""
    name = given.name if isinstance(given, Regime) else given
    notes = []
    mine: dict[str, list[TestSet]] = {}
    for exam in exams:
        if exam.languages == (source,) or len(exam.languages) > 1 or exam.task.name == "retrieval":
            notes.append(f"{exam.name} is not tested under {name}: a map is of one language, for a head to read")
        elif exam.judged not in bitexts:
            raise _no_bitext(exam, name)
        else:
            mine.setdefault(exam.judged, []).append(exam)
    return [Scenario(name, phases, (code,), tuple(its), is_mapped(given)) for code, its in mine.items()], notes


def _groups(
    name: str, phases: tuple[Phase, ...], exams: Sequence[TestSet], bitexts: Sequence[str], settings: TransferSettings
) -> tuple[list[Scenario], list[str]]:
    """One model for all languages, or one a language, with the exams of each."""
    if not bitexts:
        raise InputError(f"the regime {name} needs a bitext", remedy="Give --bitext xx=FILE, or --regimes original.")
    groups = [tuple(bitexts)] if settings.together else [(code,) for code in bitexts]
    given: dict[tuple[str, ...], list[TestSet]] = {group: [] for group in groups}
    notes = []
    for exam in exams:
        foreign = {code for code in exam.languages if code != settings.source}
        fitting = groups if settings.together else [group for group in groups if foreign <= set(group)]
        if not fitting:
            raise _no_bitext(exam, name)
        if len(fitting) > 1:
            notes.append(
                f"{exam.name} is not tested under {name}: there is a model for each bitext (--joint-adjustment: one)"
            )
        else:
            given[fitting[0]].append(exam)
    return [Scenario(name, phases, group, tuple(its)) for group, its in given.items() if its], notes


def _no_bitext(exam: TestSet, name: str) -> InputError:
    return InputError(
        f"the regime {name} has no bitext for the test {exam.name}",
        remedy="Give --bitext xx=FILE for its language, or --joint-adjustment to test one model adjusted on all.",
    )


@dataclass(frozen=True)
class TaskData:
    """What is trained: the task with its labels, examples to train on and, by choice, to choose the best weights by.

    A task without a head (retrieval) has no examples.
    """

    task: Any
    labels: tuple[str, ...] = ()
    train: Any = None
    dev: Any = None

    @property
    def headless(self) -> bool:
        return self.train is None
