from __future__ import annotations

import numpy as np

from interlingua.analyses.explanation import verdicts
from interlingua.readers.examples import Answer, Examples, Question, TaggedWords, TextPair
from interlingua.tasks.ner import Ner, TagPredictions
from interlingua.tasks.qa import Answers, Qa
from interlingua.tasks.text_pairs import NLI_LABELS, ClassPredictions, Nli


def test_gold_and_predicted_differ_where_the_model_is_wrong_by_the_tasks_own_judge() -> None:
    context = "The cat sat on a mat."
    answers = (Answer("a mat", 15), Answer("Cat", 4))
    asked = Examples(tuple(Question(str(n), "What?", context, answers, n) for n in (1, 2)), "en", "qa.json")
    said = Answers(np.array([[0, 7], [8, 11]]), np.zeros(2))
    assert verdicts(Qa(), asked, said) == [("The cat", "The cat"), ("a mat / Cat", "sat")]
    pairs = Examples((TextPair("It rains.", "It is wet.", "neutral", 1),), "en", "nli.tsv")
    assert verdicts(Nli(), pairs, ClassPredictions(NLI_LABELS, np.array([0]), np.zeros((1, 3)))) == [
        ("neutral", "entailment")
    ]
    tagged = Examples(
        (TaggedWords(("Ada", "in", "Rome"), ("B-PER", "O", "B-LOC"), 1), TaggedWords(("No",), ("O",), 5)), "en", "x"
    )
    found = TagPredictions(("O", "B-PER", "B-LOC"), np.array([1, 0, 0, 0]))
    assert verdicts(Ner(), tagged, found) == [("PER Ada; LOC Rome", "PER Ada"), ("no name", "no name")]
