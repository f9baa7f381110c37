"""Exams: the test sets of a transfer study, one or two languages each, read and checked before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.paths import usable_path
from interlingua.readers.format_detection import missing
from interlingua.readers.squad import crossed
from interlingua.tasks import tasks
from interlingua.tasks.retrieval import Retrieval
from interlingua.tasks.text_pairs import mixed

File = str | Path
Files = File | tuple[File, ...]


@dataclass(frozen=True)
class Exam:
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
class ExamFiles:
    """The files that exams are made of, by name.

    A name is a language (`ru`), two joined by `+` where question and paragraph differ (`en+ru`: English questions on
    Russian paragraphs, two files joined by id, or one that has both, as MLQA's), and after a colon anything that tells
    two sets apart (`ru:mlqa`).
    `mixed` is the file in the language of training that pairs of the others are mixed with (NLI). `retrieval` are
    parallel corpora on which every model's sentences are looked up, too. `rows` takes a sample of each, by a fixed
    seed.
    """

    tests: Mapping[str, Files]
    mixed: File | None = None
    retrieval: Mapping[str, Files] | None = None
    rows: int | None = None

    def read(self, task: Any, *, source: str) -> tuple[Exam, ...]:
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
            exams.append(Exam(f"{name} retrieval", exam.languages, exam.task, exam.examples))
        for number, exam in enumerate(exams):
            if exam.name in [other.name for other in exams[:number]]:
                raise InputError(
                    "two tests of one name", value=exam.name, remedy="Tell them apart: ru:first, ru:other."
                )
        return tuple(self._sampled(exam) for exam in exams)

    def _read(self, name: str, files: Files, task: Any) -> Exam:
        spoken, paths = spoken_in(name), files if isinstance(files, tuple) else (files,)
        for path in paths:
            if task.name != "retrieval":  # A corpus may be a folder, or a name.
                check_file(path)
        if len(spoken) == 1 and len(paths) == 1:
            return Exam(name, spoken, task, task.read(paths[0], spoken[0]))
        if task.name != "qa":
            raise InputError("only questions have a paragraph in another language", value=name, remedy="Give xx=FILE.")
        if len(spoken) != 2 or len(paths) > 2:
            raise InputError(
                "a question's language and a paragraph's need a file each, or one for both",
                value=name,
                remedy="Give en+ru=QUESTIONS,PARAGRAPHS: two files of one release; or en+ru=FILE.",
            )
        if len(paths) == 1:
            return Exam(name, spoken, task, task.read(paths[0], spoken[1]))
        asked, told = (task.read(path, code) for path, code in zip(paths, spoken, strict=True))
        return Exam(name, spoken, task, crossed(asked, told))

    def _mixed(self, exams: Sequence[Exam], task: Any, source: str) -> list[Exam]:
        assert self.mixed is not None
        if task.name != "nli":
            raise InputError("mixed languages are for pairs of premise and hypothesis", remedy="Use --task nli.")
        check_file(self.mixed)
        english = task.read(self.mixed, source)
        return [
            Exam(f"{exam.name} mixed", (source, exam.judged), task, mixed(exam.examples, english, seed=0))
            for exam in exams
            if exam.judged != source
        ]

    def _sampled(self, exam: Exam) -> Exam:
        if self.rows is None:
            return exam
        return Exam(exam.name, exam.languages, exam.task, exam.examples.sample(self.rows, seed=0))


def spoken_in(name: str) -> tuple[str, ...]:
    """The languages that a test's name says.

    >>> spoken_in("rus"), spoken_in("en+ru"), spoken_in("ru:mlqa")
    (('ru',), ('en', 'ru'), ('ru',))
    """
    return tuple(codes.canonical(code) for code in name.split(":", maxsplit=1)[0].split("+"))


def named_files(given: Sequence[str], option: str) -> dict[str, Files]:
    """`xx=FILE` and `xx=FILE,FILE` as a mapping, in order.

    >>> named_files(["ru=a.tsv", "en+ru=q.json,p.json"], "--test")
    {'ru': 'a.tsv', 'en+ru': ('q.json', 'p.json')}
    """
    found: dict[str, Files] = {}
    for text in given:
        name, _, files = text.partition("=")
        # A file whose name has a comma is one.
        parts = (files,) if Path(files).exists() else tuple(part.strip() for part in files.split(","))
        if not name.strip() or not all(parts) or len(parts) > 2:
            raise InputError(f"{option} is no language and file", value=text, remedy=f"Give {option} xx=FILE.")
        if name.strip() in found:
            raise InputError(f"{option} names a language twice", value=name.strip(), remedy="Give each once.")
        found[name.strip()] = parts if len(parts) > 1 else parts[0]
    return found


def one_file(files: Files, option: str) -> File:
    """The file, where an option takes one alone."""
    if isinstance(files, tuple):
        raise InputError(f"{option} takes one file a language", value=", ".join(map(str, files)), remedy="Give one.")
    return files


def check_file(path: File) -> None:
    """Refuse a path where no file is."""
    if not usable_path(path).is_file():
        raise missing(Path(path))


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


def check_labels(exams: Sequence[Exam], labels: tuple[str, ...], *, train: str) -> None:
    """Refuse exams with labels that the training examples lack; a head could never give them."""
    for exam in exams:
        if exam.task.name != "ner":
            continue  # The readers of all other tasks know their labels.
        for item in exam.examples:
            for offset, tag in enumerate(item.tags):
                if tag not in labels:
                    raise InputError(
                        f"a tag that {train} does not have",
                        file=exam.examples.name,
                        line=item.line + offset,
                        value=tag,
                        remedy=f"Train on all types; it has: {', '.join(labels)}.",
                    )
