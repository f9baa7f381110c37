"""Explained examples: pieces of words make up whole words, and what is explained is marked in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import models
from interlingua.analyses.explanation import Explainer, ExplainSettings, ExternalVectors, explained_examples, texts_of
from interlingua.encoder import Encoder
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.task import TaskModel
from interlingua.words import token_spans

WORDS = ("Unquestionably", "the", "Zanzibarian", "Bank", "of", "Qwertystan", "closed", ",", "naïvely", "!")
TAGS = ("O", "O", "B-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "O", "O", "O")
SETTINGS = {"steps": 2, "tolerance": None, "faithful": False, "choices": False, "random_heads": 0}


@pytest.mark.parametrize("architecture", [models.bert, models.xlm_roberta, models.modernbert])
def test_pieces_add_up_to_whole_words_that_are_marked_where_the_entity_stands(
    architecture: Callable[[Path], Path], tmp_path: Path
) -> None:
    encoder = Encoder.load(str(architecture(tmp_path / "body")), device="cpu", precision="fp32")
    task = tasks["ner"].call()
    labels = ("O", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
    tuned = FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=1), encoder)
    examples = Examples((TaggedWords(WORDS, TAGS, 3),), "en", "test.tsv")
    explainer = Explainer(tuned, ExplainSettings(unit="token", **SETTINGS), ExternalVectors({}, {}))
    side = explainer.side("en", examples)
    (shown,) = explained_examples(side, side, 0, explainer.compare(side, side, 0))
    text = shown.texts[0]
    (whole,) = texts_of(examples)[0:1]
    assert len(text.units) > len(WORDS)  # Words are in pieces, or there is nothing to test.
    assert [word for word, *_ in text.words] == [whole[0][begin:end] for begin, end in token_spans(whole[0])]
    assert [(begin, end) for _, begin, end in text.words] == list(
        zip([0, *(end for *_, end in text.words)][:-1], (end for *_, end in text.words), strict=True)
    )
    assert sum(text.word_attributions) == pytest.approx(sum(text.attributions))
    assert text.explained == "ORG: Zanzibarian Bank of Qwertystan"
    assert [text.words[number][0] for number in text.marked] == ["Zanzibarian", "Bank", "of", "Qwertystan"]
    assert text.row == "en:3"
    flows = shown.word_flows()
    assert sum(share for *_, share in flows) == pytest.approx(sum(share for *_, share in shown.flows))
