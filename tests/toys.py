"""Toys: a bitext whose second language is the first with every word turned round, and a few examples of every task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import models
from interlingua.encoder import Encoder
from interlingua.readers.examples import Answer, Examples, LabelledText, Question, TaggedWords, TextPair
from interlingua.training.pair_batches import TokenizedBitext, bitext
from interlingua.wordalign.links import Links
from interlingua.words import Sentence

WORDS = (
    *("kitchen", "tap", "empire", "collapse", "quickly", "district", "fields"),
    *("orchards", "monkeys", "please", "again", "slowly", "rise", "feed"),
)


@dataclass(frozen=True)
class Toy:
    model: Any
    encoder: Encoder
    source: list[Sentence]
    target: list[Sentence]
    links: Links
    data: TokenizedBitext


def sentences(rows: int, *, seed: int = 0) -> tuple[list[Sentence], list[Sentence], Links]:
    """Rows of 2 to 9 words; the target has them turned round and in another order."""
    draw = np.random.default_rng(seed)
    source, target, links = [], [], []
    for row in range(rows):
        words = draw.choice(WORDS, int(draw.integers(2, 10))).tolist()
        order = draw.permutation(len(words)).tolist()
        source.append(Sentence.of(words))
        target.append(Sentence.of([words[place][::-1] for place in order]))
        links += [(row, place, number) for number, place in enumerate(order) if number % 4 != 3]  # Some are unlinked.
    return source, target, Links.of(*zip(*links, strict=True))


def make_toy(folder: Any, *, rows: int = 13, seed: int = 0, how: str = "mean", **sizes: Any) -> Toy:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    sizes = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, **sizes}
    models.bert(folder, seed=seed, **sizes)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    encoder = Encoder.of(model.base_model, AutoTokenizer.from_pretrained(folder), name="tiny")
    source, target, links = sentences(rows, seed=seed)
    data = bitext(encoder.tokeniser, source, target, links, how=how, room=encoder.room)
    return Toy(model, encoder, source, target, links, data)


def words(count: int) -> list[str]:
    """Words none of which is an English article: an answer of those alone has no words to be judged by."""
    found = [word.strip(".,!") for number in (1, 2, 4, 5) for word in models.LINES[number].split()]
    return [found[number % len(found)] for number in range(count)]


def toy(name: str) -> Examples:
    """Twenty examples that differ from each other in what is to be learnt."""
    text = words(200)
    if name in ("nli", "paraphrase"):
        labels = ("entailment", "neutral", "contradiction") if name == "nli" else ("different", "paraphrase")
        items = tuple(
            TextPair(
                " ".join(text[k : k + 2 + k % 4]), " ".join(text[3 * k + 1 : 3 * k + 4]), labels[k % len(labels)], k + 1
            )
            for k in range(20)
        )
        return Examples(items, "en", "toy.tsv")
    if name == "classification":
        found = tuple(
            LabelledText((" ".join(text[k : k + 3 + k % 4]),), ("travel", "food", "sport")[k % 3], k + 1)
            for k in range(20)
        )
        return Examples(found, "en", "toy.tsv")
    if name == "ner":
        tags = ("O", "B-PER", "I-PER", "B-LOC")
        sentences = tuple(
            TaggedWords(
                tuple(text[2 * k : 2 * k + 3 + k % 5]), tuple(tags[(k + n) % 4] for n in range(3 + k % 5)), 10 * k + 1
            )
            for k in range(20)
        )
        return Examples(sentences, "en", "toy.iob")
    questions = []
    for k in range(20):
        # Filler makes the last ones too long for one window; no other word is there twice.
        chosen = np.random.default_rng(k).permutation(sorted(set(text) - {"slowly"}))[:10].tolist()
        filler = ["slowly"] * (3 * k)
        context = filler + chosen if k % 2 else chosen + filler
        place = context.index(chosen[k % 10])
        start = len(" ".join(context[:place])) + bool(place)
        answer = Answer(context[place], start)
        questions.append(Question(f"q{k}", f"{answer.text}?", " ".join(context), (answer,), k + 1))
    return Examples(tuple(questions), "en", "toy.json")
