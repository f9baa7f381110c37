"""Chance levels of tasks: closed forms, and models that have learnt nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from interlingua.readers.examples import Answer, Examples, Question, TaggedWords, TextPair
from interlingua.tasks.chance import chance
from interlingua.tasks.ner import Ner, TagPredictions
from interlingua.tasks.qa import Answers, Qa
from interlingua.tasks.text_pairs import NLI_LABELS, Nli


@dataclass(frozen=True)
class Said:
    labels: tuple[str, ...]
    choice: np.ndarray


def pairs(labels: list[str]) -> Examples[TextPair]:
    return Examples(tuple(TextPair("a", "b", label, n + 1) for n, label in enumerate(labels)), "en", "pairs.tsv")


def of_pairs(gold: list[str], said: list[int]) -> dict[str, object]:
    task, examples = Nli(), pairs(gold)
    predictions = Said(NLI_LABELS, np.array(said))
    numbers = np.array([NLI_LABELS.index(label) for label in gold])
    from interlingua.tasks.predictions import accuracy

    return chance(task, predictions, examples, NLI_LABELS, accuracy(predictions.choice, numbers))


def test_chance_of_pairs_is_the_most_frequent_label_or_one_in_as_many_as_there_are() -> None:
    told = of_pairs(["neutral"] * 60 + ["entailment"] * 40, [0, 1] * 50)
    assert told["level"] == pytest.approx(0.6)
    even = of_pairs(list(NLI_LABELS) * 20, [0, 1, 2] * 20)
    assert even["level"] == pytest.approx(1 / 3)
    assert even["above"]


def test_one_label_for_all_is_chance_whatever_the_score() -> None:
    told = of_pairs(["neutral"] * 90 + ["entailment"] * 10, [1] * 100)
    assert (told["always"], told["above"], told["level"]) == ("neutral", False, pytest.approx(0.9))
    assert not of_pairs(["neutral"] * 10, [1] * 10)["above"]


@pytest.mark.reliability("a model at chance taken for one that has learnt")
def test_models_that_guess_are_hardly_ever_above_chance() -> None:
    draw = np.random.default_rng(0)
    above = 0
    for _ in range(400):
        gold = [NLI_LABELS[n] for n in draw.integers(0, 3, 150)]
        above += bool(of_pairs(gold, draw.integers(0, 3, 150).tolist())["above"])
    assert above / 400 <= 0.05


def words(tags: list[list[str]]) -> Examples[TaggedWords]:
    items = tuple(TaggedWords(tuple("w" for _ in own), tuple(own), n + 1) for n, own in enumerate(tags))
    return Examples(items, "en", "words.tsv")


TAGS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


def of_words(tags: list[list[str]], said: list[str]) -> dict[str, object]:
    examples, task = words(tags), Ner()
    predictions = TagPredictions(TAGS, np.array([TAGS.index(tag) for tag in said]))
    return chance(task, predictions, examples, TAGS, task.judge(predictions, examples)[task.metric])


@pytest.mark.parametrize("tag", TAGS)
def test_a_tagger_that_says_one_tag_is_at_chance_and_its_score_is_no_higher_than_the_level(tag: str) -> None:
    gold = [["B-PER", "I-PER", "O", "O"], ["B-LOC"], ["O", "O", "B-PER"]] * 20
    task, examples = Ner(), words(gold)
    count = sum(map(len, gold))
    predictions = TagPredictions(TAGS, np.full(count, TAGS.index(tag)))
    score = task.judge(predictions, examples)[task.metric]
    told = chance(task, predictions, examples, TAGS, score)
    assert told["always"] == tag
    assert not told["above"]
    assert score.value <= told["level"] + 1e-12


def test_random_tags_are_at_chance_and_right_ones_are_not() -> None:
    draw = np.random.default_rng(1)
    gold = [["B-PER", "I-PER", "O", "O"], ["B-LOC", "O"], ["O", "O", "B-PER"]] * 20
    flat = [tag for own in gold for tag in own]
    assert of_words(gold, flat)["above"]
    assert not of_words(gold, draw.choice(TAGS, len(flat)).tolist())["above"]


def questions(count: int = 60) -> Examples[Question]:
    draw = np.random.default_rng(2)
    items = []
    for number in range(count):
        tokens = [f"w{n}" for n in draw.integers(0, 500, 40)]
        context = " ".join(tokens)
        first = int(draw.integers(0, 38))
        text = " ".join(tokens[first : first + 2])
        start = sum(len(word) + 1 for word in tokens[:first])
        items.append(Question(str(number), "what", context, (Answer(text, start),), number + 1))
    return Examples(tuple(items), "en", "questions.json")


def test_answers_at_random_places_are_at_chance_and_right_ones_are_not() -> None:
    examples, task, draw = questions(), Qa(), np.random.default_rng(3)
    right = np.array([(q.answers[0].start, q.answers[0].start + len(q.answers[0].text)) for q in examples])
    wrong = []
    for q in examples:
        places = [at for at in range(len(q.context)) if at == 0 or q.context[at - 1] == " "]
        first = int(draw.integers(0, len(places) - 2))
        wrong.append((places[first], places[first + 2] - 1))
    for spans, above in ((right, True), (np.array(wrong), False), (np.zeros((len(examples), 2), np.int64), False)):
        predictions = Answers(spans, np.zeros(len(spans)))
        told = chance(task, predictions, examples, (), task.judge(predictions, examples)[task.metric])
        assert told["above"] is above
    assert told["always"] == ""


def test_the_whole_paragraph_is_at_chance_in_any_script() -> None:
    for text in ("one two three four five six", "水 " + "山川草木花鳥風月" * 4):
        items = tuple(Question(str(n), "?", text + str(n), (Answer(text[:3], 0),), 1) for n in range(20))
        examples, task = Examples(items, "zh", "q.json"), Qa()
        spans = np.array([(0, len(item.context)) for item in items])
        predictions = Answers(spans, np.zeros(20))
        told = chance(task, predictions, examples, (), task.judge(predictions, examples)[task.metric])
        assert not told["above"]
