"""Questions on paragraphs: SQuAD JSON, as SQuAD, XQuAD, MLQA and TyDi QA GoldP have it.

Texts stay as they are: answers are given by character. An answer that does not stand at its `answer_start` is kept
for judging, can't be trained on, and is counted, or is an error where the caller says so.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.plural_counts import count_noun
from interlingua.readers.documents import open_document
from interlingua.readers.examples import Answer, Examples, Question, Skips, collect_examples
from interlingua.readers.json_values import load_json, question_id, text_of

_TYDI = {
    "arabic": "ar", "bengali": "bn", "english": "en", "finnish": "fi", "indonesian": "id", "japanese": "ja",
    "korean": "ko", "russian": "ru", "swahili": "sw", "telugu": "te", "thai": "th",
}  # fmt: skip
"""TyDi QA has all languages in one file, each question's id beginning with the language's name."""


def read_questions(path: str | Path, *, language: str, strict: bool = False) -> Examples[Question]:
    """The questions of a file, with their paragraphs and answers; `language` is that of the paragraphs.

    Of a TyDi file, the questions in that language. `strict` makes a misplaced answer an error.
    """
    code = codes.canonical(language)
    with open_document(Path(path)) as document:
        text = document.text()
        name, file = document.short, document.name
    skips = Skips(name)
    places = _Places(text)
    items: dict[str, Question] = {}
    for paragraph, item in _asked(text, file):
        question = _question(paragraph, item, file, places)
        said = _TYDI.get(question.id.split("-")[0])
        if said is not None and said != code:
            skips.add("questions in other languages", question.line)
            continue
        if question.id in items:
            raise InputError(
                "an id twice", file=file, line=question.line, value=question.id, remedy="Give each question one id."
            )
        if not question.answers:
            skips.add("questions without an answer", question.line)
            continue
        for answer in question.answers:
            if answer.start < 0 and strict:
                raise InputError(
                    "the answer does not stand at its answer_start",
                    file=file,
                    line=question.line,
                    value=f"{question.id}: {answer.text}",
                    remedy="Count characters, not bytes, and give the paragraph that was annotated.",
                )
            if answer.start < 0:
                skips.add("answers that do not stand at their answer_start", question.line)
        items[question.id] = question
    return collect_examples(list(items.values()), language=code, name=name, file=file, skips=skips)


def join_by_question_id(questions: Examples[Question], paragraphs: Examples[Question]) -> Examples[Question]:
    """The questions of one file on the paragraphs of another, joined by id, in the order of the paragraphs' file.

    Ids that only one of the two has are an error: MLQA has files of its own for questions in another language.
    """
    asked = {item.id: item for item in questions}
    known = {item.id for item in paragraphs}
    for side, other, odd in (
        (paragraphs, questions, [item for item in paragraphs if item.id not in asked]),
        (questions, paragraphs, [item for item in questions if item.id not in known]),
    ):
        if odd:
            raise InputError(
                f"ids that {other.name} does not have, of {count_noun(len(odd), 'questions')}",
                file=side.name,
                line=odd[0].line,
                value=odd[0].id,
                remedy="Give two files of one release, or, of MLQA, the one file that has both languages.",
            )
    items = tuple(
        Question(item.id, asked[item.id].question, item.context, item.answers, item.line) for item in paragraphs
    )
    name = f"{questions.name} on {paragraphs.name}"
    return Examples(items, paragraphs.language, name, (*questions.skipped, *paragraphs.skipped))


_ID = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]{1,40})')


class _Places:
    """Line numbers of ids, which JSON does not give: all ids of the text are found in one walk, however written."""

    def __init__(self, text: str) -> None:
        self._lines: dict[object, deque[int]] = {}
        self.context = ""
        self.last, line, at = 1, 1, 0
        for match in _ID.finditer(text):
            line += text.count("\n", at, match.start())
            at = match.start()
            with contextlib.suppress(ValueError):
                self._lines.setdefault(json.loads(match[1]), deque()).append(line)

    def line(self, key: object) -> int:
        """The line of the next question with this id; that of the last one where it is not found."""
        found = self._lines.get(key) if isinstance(key, str | int) else None
        if found:
            self.last = found.popleft()
        return self.last


def _asked(text: str, file: str) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Every question's object with its paragraph."""
    try:
        for article in load_json(text, file=file, remedy="Give a file in the format of SQuAD.")["data"]:
            for paragraph in article["paragraphs"]:
                for item in paragraph["qas"]:
                    yield paragraph["context"], item
    except (KeyError, TypeError) as error:
        raise InputError(
            f"not in the format of SQuAD ({type(error).__name__}: {error})",
            file=file,
            line=1,
            remedy="Give data, paragraphs, context and qas.",
        ) from error


def _question(paragraph: object, item: Mapping[str, Any], file: str, places: _Places) -> Question:
    try:
        line = places.line(item["id"])
        key = question_id(item["id"], file=file, line=line)
        context = places.context
        if paragraph is not context:  # Looked through once, however many questions it has.
            context = places.context = text_of(paragraph, f"the context of {key!r}", file=file, line=line)
        answers = []
        for answer in item["answers"]:
            text = text_of(answer["text"], f"an answer to {key!r}", file=file, line=line)
            start = answer["answer_start"]
            if not isinstance(start, int) or isinstance(start, bool):
                raise InputError(
                    f"the answer_start of {key!r} is no whole number",
                    file=file,
                    line=line,
                    value=str(start),
                    remedy="Give the number of characters before the answer.",
                )
            stands = start >= 0 and text != "" and context[start : start + len(text)] == text
            answers.append(Answer(text, start if stands else -1))
        asked = text_of(item["question"], f"the question of {key!r}", file=file, line=line)
        return Question(key, asked, context, tuple(answers), line)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"not a question of SQuAD ({type(error).__name__}: {error})",
            file=file,
            line=places.last,
            remedy="Give id, question, and answers with text and answer_start.",
        ) from error
