"""Answers in a paragraph: spans of tokens, the best of them, exact match and F1 as SQuAD and MLQA count them."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import regex
import torch
from numpy.typing import NDArray

from interlingua.corpus import Skip
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import IGNORED, Inputs, Ranges, build_inputs, frame, tokenised
from interlingua.encoder.tokens import TokenisedTexts, covering_windows
from interlingua.errors import InputError
from interlingua.measures.separation import derangement
from interlingua.metric import Metric, Metrics
from interlingua.readers.examples import Examples, Question
from interlingua.readers.squad import read_questions
from interlingua.registry import unknown
from interlingua.score import Scores
from interlingua.tasks import tasks
from interlingua.tasks.heads import SpanHead
from interlingua.tasks.predictions import Floats, Progress, by_input, mean_score
from interlingua.training.loop import Batch
from interlingua.training.task import FineTuning, check_typed

Cut = Callable[[str], list[str]]

_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    # As MLQA's script has it: the first half can't match, the second takes the article out of the middle of words too.
    "ar": r"\sال^|ال",
}
_HAN = regex.compile(r"[\u4e00-\u9fa5]")


def squad_words(text: str) -> list[str]:
    """The words of an answer as the script of SQuAD 1.1 compares them.

    >>> squad_words("The  U.S. News"), squad_words("«A» cat")
    (['us', 'news'], ['«', '»', 'cat'])
    """
    bare = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return re.sub(_ARTICLES["en"], " ", bare).split()


def mlqa_words(language: str) -> Cut:
    """What cuts an answer in this language into words as MLQA's script does.

    A language that MLQA does not have is cut at white space and has no articles.

    >>> mlqa_words("es")("¡El gato!"), mlqa_words("zh")("在1960年。"), mlqa_words("ru")("«Кот» и the")
    (['gato'], ['在', '1960', '年'], ['кот', 'и', 'the'])
    """
    code = language.partition("-")[0]
    article = _ARTICLES.get(code)

    def cut(text: str) -> list[str]:
        bare = "".join(sign for sign in text.lower() if not _is_punctuation(sign))
        bare = re.sub(article, " ", bare) if article else bare
        return (_HAN.sub(r" \g<0> ", bare) if code == "zh" else bare).split()

    return cut


def official(language: str) -> Cut:
    """The script that is official for a language: SQuAD's for English, MLQA's for all others."""
    return squad_words if language == "en" else mlqa_words(language)


def exact(said: str, answers: Sequence[str], cut: Cut) -> float:
    """1 where what was said is one of the answers, up to case, punctuation and articles; else 0.

    >>> exact("the cat", ["Cat!", "a dog"], squad_words)
    1.0
    """
    words = cut(said)
    return float(any(words == cut(answer) for answer in answers))


def overlap(said: str, answers: Sequence[str], cut: Cut) -> float:
    """The F1 of the words said and those of the nearest answer, in [0, 1].

    With c words in common, counted as often as both have them: 2c / (words said + words of the answer).

    >>> overlap("the old cat", ["cat", "an old dog"], squad_words)
    0.6666666666666666
    """
    words = Counter(cut(said))
    best = 0.0
    for answer in answers:
        wanted = Counter(cut(answer))
        shared = (words & wanted).total()
        best = max(best, 2 * shared / (words.total() + wanted.total()) if shared else 0.0)
    return best


@cache
def _is_punctuation(sign: str) -> bool:
    return sign in string.punctuation or unicodedata.category(sign).startswith("P")


Ints = NDArray[np.int64]
Judge = Callable[[str, Sequence[str], Cut], float]
UNANSWERED = ("cls", "drop")


@dataclass(frozen=True)
class Answers:
    """The span of each question's paragraph that the model points at, by character, and its score (higher is surer).

    `probabilities` are of first and last token together, each among all of the window's paragraph.
    """

    spans: Ints
    scores: Floats
    probabilities: Floats | None = None

    def posteriors(self) -> dict[str, NDArray[Any]]:
        """The spans and the model's confidence in each, as arrays for a file: `spans`, `scores` and `probabilities`."""
        found: dict[str, NDArray[Any]] = {
            "spans": self.spans.astype(np.int32),
            "scores": self.scores.astype(np.float16),
        }
        return (
            found if self.probabilities is None else {**found, "probabilities": self.probabilities.astype(np.float16)}
        )

    def texts(self, examples: Examples[Question]) -> list[str]:
        return [item.context[start:end] for item, (start, end) in zip(examples, self.spans.tolist(), strict=True)]


_SCRIPTS = {"script": ("official", "squad", "mlqa")}
_OTHERS = "answers to other questions"
METRICS = Metrics(
    (
        Metric(name="f1", title="F1 of words", display="percent", null=_OTHERS, options=_SCRIPTS, headline=True),
        Metric(name="em", title="Exact match", display="percent", null=_OTHERS, options=_SCRIPTS),
    )
)


@tasks.register("qa", needs="head", metrics=METRICS)
@dataclass(frozen=True)
class Qa:
    """Question answering (SQuAD, XQuAD, MLQA, TyDi GoldP): F1 over words and exact match.

    Question and paragraph in one input of at most `length` tokens; a longer paragraph in windows that share `stride`
    tokens (at most half a window, so that any model's limit will do). Questions are cut to `question` tokens, answers
    have at most `answer`. A training window that does not hold its answer whole is taught to point at the first token
    (`unanswered="cls"`, as the usual scripts do) or left out (`"drop"`); both are counted.
    """

    length: int = 384
    stride: int = 128
    question: int = 64
    answer: int = 30
    unanswered: str = "cls"
    name: ClassVar[str] = "qa"
    metric: ClassVar[str] = "f1"
    kind: ClassVar[str] = "span"
    reads: ClassVar[tuple[str, ...]] = ("question", "paragraph")
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=3e-5, epochs=2)

    def __post_init__(self) -> None:
        if self.unanswered not in UNANSWERED:
            raise unknown("way with windows without the answer", self.unanswered, list(UNANSWERED))

    def read(self, path: str | Path, language: str) -> Examples[Question]:
        return read_questions(path, language=language)

    def labels(self, examples: Examples[Question]) -> tuple[str, ...]:
        return ()

    def example(self, texts: Sequence[str]) -> Question:
        check_typed(texts, self.reads)
        question, paragraph = texts
        return Question("1", question, paragraph, (), 1)

    def head(self, dim: int, labels: tuple[str, ...], *, dropout: float, activation: str) -> SpanHead:
        return SpanHead(dim)

    def inputs(
        self, examples: Examples[Question], encoder: Encoder, *, labels: tuple[str, ...] = (), training: bool
    ) -> Inputs:
        asked, asked_text = tokenised(encoder, [item.question for item in examples], spans=False)
        told, told_text = tokenised(encoder, [item.context for item in examples], spans=True)
        shape = frame(encoder.tokenizer, pair=True)
        whole = min(self.length, encoder.limit) - shape.special
        most = min(self.question, whole // 2)
        if most < 1:
            raise InputError("a question has no room", value=self.length, remedy="Give a length of at least 8 tokens.")
        lengths = asked.lengths[asked_text]
        cut = np.flatnonzero(lengths > most)
        kept = np.minimum(lengths, most)
        owner, begin, size = _windows(told.lengths[told_text], whole - kept, self.stride)
        first = Ranges(asked, asked_text[owner], np.zeros(len(owner), np.int64), kept[owner])
        second = Ranges(told, told_text[owner], begin, size)
        inputs = build_inputs(encoder, first, second, owner=owner, examples=len(examples))
        assert inputs.spans is not None
        skipped = _counted(f"questions cut to {most} tokens", cut, examples)
        units = np.ones(len(owner), np.int64)
        if not training:
            # A token of no characters still has spans of its own; what is no part of the paragraph has -1.
            told_here = (inputs.spans[:, 0] >= 0).astype(np.int16)
            return replace(inputs, token_labels={"context": told_here}, units=units, skipped=skipped)
        ahead = len(shape.before) + first.length + len(shape.between)
        start, end, whole_in, known = _targets(examples, told, told_text, owner, begin, size)
        gold = {
            "start": np.where(whole_in, start + ahead, inputs.summary),
            "end": np.where(whole_in, end + ahead, inputs.summary),
        }
        keep = known[owner] & (whole_in | (self.unanswered == "cls"))
        skipped += _counted("questions without an answer that can be trained on", np.flatnonzero(~known), examples)
        done = "left out" if self.unanswered == "drop" else "taught to point at the first token"
        skipped += _counted(f"windows that do not hold the answer, {done}", owner[known[owner] & ~whole_in], examples)
        labelled = replace(inputs, row_labels=gold, units=units, spans=None, skipped=skipped)
        return labelled if keep.all() else labelled.take(np.flatnonzero(keep))

    def loss(self, output: torch.Tensor, batch: Batch) -> torch.Tensor:
        """The mean of the cross-entropies of first and last token, summed over inputs (Devlin et al. 2019, §4.2).

        Padding is no candidate: otherwise the loss of an example would depend on what it is batched with.
        """
        if "attention_mask" in batch:
            output = output.masked_fill(batch["attention_mask"][..., None] == 0, -torch.inf)
        losses = [
            torch.nn.functional.cross_entropy(
                output[..., side].float(), batch[name], ignore_index=IGNORED, reduction="sum"
            )
            for side, name in enumerate(("start", "end"))
        ]
        return (losses[0] + losses[1]) / 2

    def predict(
        self,
        model: torch.nn.Module,
        inputs: Inputs,
        *,
        labels: tuple[str, ...] = (),
        precision: str | None = None,
        budget: int | None = None,
        progress: Progress | None = None,
    ) -> Answers:
        assert inputs.spans is not None
        found = by_input(
            model,
            inputs,
            lambda output, batch: best_spans(output, batch, self.answer),
            precision=precision,
            budget=budget,
            progress=progress,
        )
        order = np.lexsort((-found[:, 0], inputs.owner))
        best = order[np.searchsorted(inputs.owner[order], np.arange(inputs.examples))]
        at = inputs.starts[best][:, None] + found[best, 1:3].astype(np.int64)
        spans = np.stack([inputs.spans[at[:, 0], 0], inputs.spans[at[:, 1], 1]], axis=1)
        return Answers(np.maximum(spans, 0), found[best, 0], found[best, 3])

    def judge(self, predictions: Answers, examples: Examples[Question]) -> Scores:
        """`f1` and `em` by the script that is official for the language; `…/squad` and `…/mlqa` by that script.

        The null is what the answers to other questions score: each goes to another question, by a fixed seed. One
        question alone has none.
        """
        if len(predictions.spans) != len(examples):
            raise InputError(
                f"{len(predictions.spans)} predictions for {len(examples)} questions",
                file=examples.name,
                remedy="Judge predictions on the examples they were made for.",
            )
        return judge_answers(predictions.texts(examples), examples)


def judge_answers(said: list[str], examples: Examples[Question]) -> Scores:
    """The scores of answers given as texts."""
    wanted = [[answer.text for answer in item.answers] for item in examples]
    others = None if len(said) < 2 else [said[number] for number in derangement(len(said), groups=None, seed=0)]
    code = examples.language
    scores: Scores = {}
    ways: dict[str, Cut] = {"": official(code), "/squad": squad_words, "/mlqa": mlqa_words(code)}
    for suffix, cut in ways.items():
        for name, measure in (("f1", overlap), ("em", exact)):
            values = _judged(said, wanted, measure, cut)
            null = None if others is None else float(_judged(others, wanted, measure, cut).mean())
            scores[f"{name}{suffix}"] = mean_score(values, null=null)
    return scores


def _judged(said: list[str], wanted: list[list[str]], measure: Judge, cut: Cut) -> NDArray[np.float64]:
    """What each answer scores by one measure and one script."""
    return np.array([measure(text, answers, cut) for text, answers in zip(said, wanted, strict=True)])


def best_spans(output: torch.Tensor, batch: Batch, longest: int) -> torch.Tensor:
    """(input, 4): of the best span of at most `longest` tokens of the paragraph score, ends and probability.

    max over s <= e < s + longest of start[s] + end[e] (Devlin et al. 2019, §4.2), exactly: no list of candidates.
    """
    outside = batch["context"] <= 0
    start, end = (output[..., side].masked_fill(outside, -torch.inf) for side in (0, 1))
    ahead = torch.nn.functional.pad(end, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
    last, far = ahead.max(dim=-1)
    score, first = (start + last).max(dim=-1)
    whole = start.logsumexp(dim=-1) + end.logsumexp(dim=-1)
    ends = first.float(), (first + far.gather(1, first[:, None])[:, 0]).float()
    return torch.stack([score, *ends, (score - whole).exp()], dim=1)


def _windows(lengths: Ints, room: Ints, stride: int) -> tuple[Ints, Ints, Ints]:
    """The example, first token and size of each window; windows of an example share `stride` tokens."""
    step = room - np.minimum(stride, room // 2)
    counts = 1 + np.maximum(0, -(-(lengths - room) // step))
    owner = np.repeat(np.arange(len(lengths)), counts)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = number * step[owner]
    return owner, begin, np.minimum(room[owner], lengths[owner] - begin)


def _targets(
    examples: Examples[Question], told: TokenisedTexts, text: Ints, owner: Ints, begin: Ints, size: Ints
) -> tuple[Ints, Ints, NDArray[np.bool_], NDArray[np.bool_]]:
    """First and last token of an answer in each window, whether it is whole there, and whether the example has one."""
    assert told.spans is not None
    answers = [next((answer for answer in item.answers if answer.start >= 0), None) for item in examples]
    order = np.argsort(text, kind="stable")
    by_text: list[list[tuple[int, int]]] = [[] for _ in range(len(told.lengths))]
    for number in order:
        answer = answers[number]
        place = (0, 0) if answer is None else (answer.start, answer.start + len(answer.text))
        by_text[text[number]].append(place)
    longest = max(len(item.context) for item in examples)
    first, last = np.zeros(len(examples), np.int64), np.zeros(len(examples), np.int64)
    _, first[order], last[order], _ = covering_windows(by_text, told.starts, told.spans, longest=longest)
    known = np.array([answer is not None for answer in answers]) & (last > first)
    start, end = first[owner] - begin, last[owner] - 1 - begin
    return start, end, known[owner] & (start >= 0) & (end < size), known


def _counted(reason: str, owner: Ints, examples: Examples[Question]) -> tuple[Skip, ...]:
    where = tuple(f"{examples.name}:{examples[int(row)].line} {examples[int(row)].id}" for row in owner[:3])
    return (Skip(reason, len(owner), where),) if len(owner) else ()
