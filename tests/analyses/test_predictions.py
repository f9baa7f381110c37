"""Predictions in a file say all that their scores are made of."""

import json
from collections import Counter

import numpy as np
import pytest

from interlingua.analyses.evaluation import prediction_lines, read_posteriors
from interlingua.analyses.transfer import TestSet
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.tasks.ner import Ner, TagPredictions

LABELS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


@pytest.mark.reliability("scores computed again from predictions")
def test_the_f1_of_tags_is_computed_again_from_the_lines():
    draw = np.random.default_rng(0)
    sizes = draw.integers(1, 12, 40)
    items = [
        TaggedWords(tuple(f"w{n}" for n in range(size)), tuple(draw.choice(LABELS, size).tolist()), line)
        for line, size in enumerate(sizes, 1)
    ]
    examples = Examples(tuple(items), "ru", "test-ru.tsv")
    choice = draw.integers(-1, len(LABELS), int(sizes.sum()))  # -1: a word that could not be read
    predictions = TagPredictions(LABELS, choice)
    text = prediction_lines(TestSet("ru", ("ru",), Ner(), examples), predictions, {"model": "m"})
    lines = [json.loads(line) for line in text.splitlines()]
    assert [tuple(line["words"]) for line in lines] == [item.words for item in items]
    pairs = [pair for line in lines for pair in zip(line["tags"], line["predicted_tags"], strict=True)]
    counts = Counter((gold != "O", said != "O", gold == said) for gold, said in pairs)
    right = counts[True, True, True]
    wanted = 2 * right / sum((there + said) * count for (there, said, _), count in counts.items())
    assert Ner().judge(predictions, examples)["f1/token"].value == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("damage", [b"", b"PK", b"nothing"])
def test_posteriors_that_cannot_be_read_are_told_with_their_file(tmp_path, damage):
    (tmp_path / "es.npz").write_bytes(damage)
    with pytest.raises(InputError, match=r"es\.npz: posteriors that can't be read"):
        read_posteriors(tmp_path / "es.npz")
