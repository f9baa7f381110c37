"""Judges against seqeval, scikit-learn and the published scripts of SQuAD 1.1 and MLQA, on random predictions."""

from __future__ import annotations

import re
import string
import sys
import unicodedata
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.readers.examples import Answer, Examples, Question, TaggedWords, TextPair
from interlingua.tasks.ner import Ner, TagPredictions, entities
from interlingua.tasks.predictions import accuracy, f1
from interlingua.tasks.qa import exact, judge_answers, mlqa_words, overlap, squad_words
from interlingua.tasks.text_pairs import NLI_LABELS, ClassPredictions, Nli

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG")


def tagged(seed: int) -> tuple[TagPredictions, Examples[TaggedWords]]:
    draw = np.random.default_rng(seed)
    gold = [
        [TAGS[k] for k in draw.integers(0, len(TAGS), size=draw.integers(1, 9))] for _ in range(draw.integers(1, 12))
    ]
    said = [[tag if draw.random() < 0.6 else TAGS[draw.integers(len(TAGS))] for tag in tags] for tags in gold]
    numbers = np.array([TAGS.index(tag) for tags in said for tag in tags])
    items = tuple(TaggedWords(("w",) * len(tags), tuple(tags)) for tags in gold)
    return TagPredictions(TAGS, numbers), Examples(items, "en", "random")


@pytest.mark.parametrize("seed", range(40))
def test_entity_f1_is_that_of_seqeval(seed):
    seqeval = pytest.importorskip("seqeval.metrics")
    from seqeval.scheme import IOB2

    predictions, examples = tagged(seed)
    said = predictions.tags()
    gold = [list(item.tags) for item in examples]
    ends = np.cumsum([len(tags) for tags in gold])
    ours = [said[end - len(tags) : end] for tags, end in zip(gold, ends, strict=True)]
    scores = Ner().judge(predictions, examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert scores["f1/entity"].value == pytest.approx(seqeval.f1_score(gold, ours), abs=1e-12)
        strict = seqeval.f1_score(gold, ours, mode="strict", scheme=IOB2)
        assert scores["f1/entity/strict"].value == pytest.approx(strict, abs=1e-12)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(TAGS), min_size=1, max_size=9))
def test_entities_are_those_seqeval_finds(tags):
    labeling = pytest.importorskip("seqeval.metrics.sequence_labeling")
    from seqeval.scheme import IOB2, Entities

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert entities(tags) == set(labeling.get_entities(list(tags)))
        strict = {(e.tag, e.start, e.end - 1) for e in Entities([list(tags)], IOB2).entities[0]}
    assert entities(tags, strict=True) == strict


@pytest.mark.parametrize("seed", range(20))
def test_token_f1_is_the_micro_average_over_tags_other_than_o(seed):
    from sklearn.metrics import accuracy_score, f1_score

    predictions, examples = tagged(seed)
    gold = [tag for item in examples for tag in item.tags]
    scores = Ner().judge(predictions, examples)
    expected = f1_score(gold, predictions.tags(), labels=TAGS[1:], average="micro", zero_division=0)
    assert scores["f1/token"].value == pytest.approx(expected, abs=1e-12)
    assert scores["accuracy/token"].value == pytest.approx(accuracy_score(gold, predictions.tags()), abs=1e-12)


def test_tags_the_model_was_never_taught_count_as_missed():
    examples = Examples((TaggedWords(("a", "b"), ("B-DATE", "B-PER")),), "en", "x")
    score = Ner().judge(TagPredictions(TAGS, np.array([0, 1])), examples)["f1/token"]
    assert score.value == pytest.approx(2 / 3)
    assert score.details == {"right": [1], "predicted": [1], "gold": [2]}


def test_the_null_of_accuracy_and_token_f1_is_the_mean_over_shuffles():
    draw = np.random.default_rng(0)
    predictions, examples = tagged(3)
    scores = Ner().judge(predictions, examples)
    shuffled = [Ner().judge(TagPredictions(TAGS, draw.permutation(predictions.choice)), examples) for _ in range(2000)]
    for name in ("f1/token", "accuracy/token"):
        assert np.mean([each[name].value for each in shuffled]) == pytest.approx(scores[name].null, abs=0.01)


def test_the_counts_of_each_example_make_the_f1_and_its_interval_covers_it_nineteen_times_in_twenty():
    draw = np.random.default_rng(0)
    gold = draw.integers(0, 5, size=(1000, 120))
    said = draw.integers(0, 5, size=(1000, 120))
    right = draw.binomial(np.minimum(gold, said), 0.6)
    everywhere = f1(right.ravel(), said.ravel(), gold.ravel()).value
    scores = [f1(*rows) for rows in zip(right, said, gold, strict=True)]
    one = scores[0]
    assert one.value == 2 * sum(one.details["right"]) / (sum(one.details["predicted"]) + sum(one.details["gold"]))
    covered = np.mean([score.low <= everywhere <= score.high for score in scores])
    assert 0.93 < covered < 0.97


def test_nothing_said_and_nothing_there_scores_zero():
    assert f1([0], [0], [0]).value == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_of_pairs_is_that_of_scikit_learn_with_hits_as_items(seed):
    from sklearn.metrics import accuracy_score

    draw = np.random.default_rng(seed)
    gold, said = draw.integers(0, 3, size=(2, 50))
    examples = Examples(tuple(TextPair("a", "b", NLI_LABELS[label]) for label in gold), "en", "x")
    scores = Nli().judge(ClassPredictions(NLI_LABELS, said, np.eye(3, dtype=np.float32)[said]), examples)
    assert scores["accuracy"].value == pytest.approx(accuracy_score(gold, said))
    assert np.array_equal(scores["accuracy"].items, gold == said)
    assert accuracy(said, gold).null == pytest.approx(np.mean(gold[:, None] == said))


# The official scripts, as published, written down again here: SQuAD 1.1 (Rajpurkar et al. 2016) …
def squad_normalize(s):
    def remove_articles(text):
        return re.sub(r"\b(a|an|the)\b", " ", text)

    def white_space_fix(text):
        return " ".join(text.split())

    def remove_punc(text):
        exclude = set(string.punctuation)
        return "".join(ch for ch in text if ch not in exclude)

    return white_space_fix(remove_articles(remove_punc(s.lower())))


# … and MLQA (Lewis et al. 2020).
PUNCT = {chr(i) for i in range(sys.maxunicode) if unicodedata.category(chr(i)).startswith("P")} | set(
    string.punctuation
)


def mixed_segmentation(text):
    out, held = [], ""
    for char in text:
        if re.search(r"[\u4e00-\u9fa5]", char) or char in PUNCT:
            if held != "":
                out.extend(held.split())
                held = ""
            out.append(char)
        else:
            held += char
    if held != "":
        out.extend(held.split())
    return out


def mlqa_normalize(s, lang):
    articles = {
        "en": r"\b(a|an|the)\b",
        "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
        "vi": r"\b(của|là|cái|chiếc|những)\b",
        "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
        "ar": "\\sال^|ال",
    }
    text = "".join(ch for ch in s.lower() if ch not in PUNCT)
    if lang in articles:
        text = re.sub(articles[lang], " ", text)
    tokens = mixed_segmentation(text) if lang == "zh" else text.split()
    return " ".join([t for t in tokens if t.strip() != ""])


def f1_score(prediction, ground_truth, normalize):
    prediction_tokens, ground_truth_tokens = normalize(prediction).split(), normalize(ground_truth).split()
    num_same = sum((Counter(prediction_tokens) & Counter(ground_truth_tokens)).values())
    if num_same == 0:
        return 0
    precision, recall = num_same / len(prediction_tokens), num_same / len(ground_truth_tokens)
    return (2 * precision * recall) / (precision + recall)


PIECES = [
    "the", "The", "a", "an", "cat", "U.S.", "1,500", "—", "«", "»", "¡El", "los", "gato", "der", "Hund", "của", "con",
    "ال", "البيت", "بيت", "，", "在", "北京", "1960年", "।", "रसोई", "кот", " ", "  ", "\t", "'s", "e\u0301", "ß", "İ",
    "$", "+",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(PIECES), max_size=8).flatmap(
    lambda parts: st.sampled_from(["", " "]).map(lambda glue: glue.join(parts))
)


@settings(max_examples=300)
@given(
    ANSWERS,
    st.lists(ANSWERS, min_size=1, max_size=3),
    st.sampled_from(["en", "es", "de", "vi", "ar", "hi", "zh", "ru"]),
)
def test_answers_are_judged_as_by_the_official_scripts(said, answers, language):
    for cut, normalize in (
        (squad_words, squad_normalize),
        (mlqa_words(language), lambda text: mlqa_normalize(text, language)),
    ):
        assert overlap(said, answers, cut) == pytest.approx(
            max(f1_score(said, a, normalize) for a in answers), abs=1e-12
        )
        assert exact(said, answers, cut) == max(normalize(said) == normalize(a) for a in answers)


@settings(max_examples=200)
@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["en", "zh", "ar"]))
def test_any_text_is_judged_as_by_the_official_scripts(said, answer, language):
    assert overlap(said, [answer], squad_words) == pytest.approx(f1_score(said, answer, squad_normalize), abs=1e-12)
    expected = f1_score(said, answer, lambda text: mlqa_normalize(text, language))
    assert overlap(said, [answer], mlqa_words(language)) == pytest.approx(expected, abs=1e-12)


def test_english_is_judged_by_squads_script_and_other_languages_by_mlqas():
    def scores(language: str) -> dict[str, float]:
        question = Question("q", "?", "«El gato»", (Answer("el gato", 0),))
        return {n: s.value for n, s in judge_answers(["«gato»"], Examples((question,), language, "x")).items()}

    assert scores("es")["em"] == scores("es")["em/mlqa"] == 1.0
    assert scores("es")["em/squad"] == scores("en")["em"] == scores("en")["em/squad"] == 0.0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 30])
def test_the_null_of_answers_gives_no_question_its_own_and_one_alone_has_none(count):
    texts = [f"word{number}" for number in range(count)]
    items = tuple(Question(text, "?", text, (Answer(text, 0),)) for text in texts)
    scores = judge_answers(texts, Examples(items, "en", "x"))
    assert {score.value for score in scores.values()} == {1.0}
    assert {score.null for score in scores.values()} == {None if count == 1 else 0.0}


def test_the_null_of_answers_takes_every_answer_once():
    said = ["yes", *["no"] * 8]
    items = tuple(Question(str(number), "?", "yes", (Answer("yes", 0),)) for number in range(9))
    assert judge_answers(said, Examples(items, "en", "x"))["em"].null == pytest.approx(1 / 9)


def test_the_scores_of_answers_are_means_over_questions():
    draw = np.random.default_rng(0)
    said = [" ".join(draw.choice(PIECES, 4)) for _ in range(30)]
    items = tuple(Question(str(k), "?", "c", (Answer(" ".join(draw.choice(PIECES, 4)), -1),)) for k in range(30))
    for score in judge_answers(said, Examples(items, "en", "x")).values():
        assert score.value == pytest.approx(score.items.mean())
        assert score.n == 30
