"""The word level of an audit: dictionary words, each encoded alone, mapped by Procrustes (papers/000 §5.1.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from interlingua.encoder import Cache, Encoder, Representations
from interlingua.errors import InputError
from interlingua.measures.procrustes import dictionary_precision
from interlingua.readers.word_lists import find_dictionaries, read_dictionary
from interlingua.studies.measuring import Measurement, MeasurePlan
from interlingua.studies.record import Record, versions
from interlingua.studies.store import Made

NAME = "procrustes-dictionary"
Entries = list[tuple[str, str]]


@dataclass(frozen=True)
class Dictionary:
    """The training and test entries of one language pair; `dropped` entries could not be used."""

    source: str
    target: str
    train: Entries
    test: Entries
    dropped: int

    @property
    def digest(self) -> str:
        text = json.dumps([self.source, self.target, self.train, self.test], ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read_dictionaries(folder: str | Path, languages: Sequence[str], *, seed: int) -> list[Dictionary]:
    """The dictionaries of a folder between these languages, in MUSE's own split or one drawn by source word."""
    found = [
        _dictionary(pair, files, seed)
        for pair, files in find_dictionaries(folder).items()
        if pair[0] != pair[1] and set(pair) <= set(languages)
    ]
    if not found:
        raise InputError(
            f"no dictionary between {', '.join(languages)}",
            file=folder,
            remedy="Give files such as en-ru.txt, or other --languages.",
        )
    return found


def dictionary_measurement(
    dictionary: Dictionary, source: Encoder, target: Encoder, plan: MeasurePlan, *, cache: Cache | None
) -> Measurement:
    """P@K of a dictionary's test words at every layer; the words are encoded here, once."""
    dictionary = _spelled(dictionary, source, target)
    ours, theirs = (list(dict.fromkeys(entry[side] for entry in dictionary.train + dictionary.test)) for side in (0, 1))
    vectors = (
        source.reading(dictionary.source).encode(ours, pooling=source.mean, cache=cache),
        target.reading(dictionary.target).encode(theirs, pooling=target.mean, cache=cache),
    )
    rows = ({word: row for row, word in enumerate(ours)}, {word: row for row, word in enumerate(theirs)})

    def pairs(entries: Entries) -> NDArray[np.int64]:
        return np.array([(rows[0][left], rows[1][right]) for left, right in entries], np.int64)

    about = json.dumps([NAME, dictionary.digest, source.digest, target.digest, plan.seed])
    return Measurement(
        hashlib.blake2b(about.encode(), digest_size=12).hexdigest(),
        f"{dictionary.source}–{dictionary.target} dictionary",
        partial(
            _measure, dictionary, vectors, (pairs(dictionary.train), pairs(dictionary.test)), (source, target), plan
        ),
    )


def _spelled(dictionary: Dictionary, source: Encoder, target: Encoder) -> Dictionary:
    """The dictionary without entries of which a tokenizer leaves nothing; they are counted."""

    def kept(entries: Entries) -> Entries:
        sides = [
            encoder.tokeniser([entry[side] for entry in entries], spans=False, words=False).lengths > 0
            for side, encoder in enumerate((source, target))
        ]
        return [entry for entry, left, right in zip(entries, *sides, strict=True) if left and right]

    train, test = kept(dictionary.train), kept(dictionary.test)
    lost = len(dictionary.train) + len(dictionary.test) - len(train) - len(test)
    return replace(dictionary, train=train, test=test, dropped=dictionary.dropped + lost) if lost else dictionary


def _dictionary(pair: tuple[str, str], files: dict[str, Path], seed: int) -> Dictionary:
    if {"train", "test"} <= set(files):
        train, test = read_dictionary(files["train"]), read_dictionary(files["test"])
    else:
        entries = [entry for path in files.values() for entry in read_dictionary(path)]
        words = list(dict.fromkeys(source for source, _ in entries))
        order = np.random.default_rng(seed).permutation(len(words))
        learnt = {words[number] for number in order[: round(0.8 * len(words))]}
        train = [entry for entry in entries if entry[0] in learnt]
        test = [entry for entry in entries if entry[0] not in learnt]
    known = {source for source, _ in train}
    fair = [entry for entry in test if entry[0] not in known]
    if len(train) < 2 or not fair:
        raise InputError(
            f"the {pair[0]}–{pair[1]} dictionary is too small to split",
            file=next(iter(files.values())),
            remedy="Give more words.",
        )
    return Dictionary(*pair, train, fair, len(test) - len(fair))


def _measure(
    dictionary: Dictionary,
    vectors: tuple[Representations, Representations],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    encoders: tuple[Encoder, Encoder],
    plan: MeasurePlan,
) -> Made:
    (ours, theirs), (train, test), (source, target) = vectors, pairs, encoders
    two = source.digest != target.digest
    made: Made = []
    for layer in (layer for layer in ours.layers if layer in theirs.layers):
        left, right = (torch.from_numpy(np.array(side[layer], np.float32)) for side in (ours, theirs))
        scores = dictionary_precision(left, right, train=train, test=test, seed=plan.seed)
        for variant, score in scores.items():
            record = Record(
                measure=NAME,
                variant=variant,
                model=source.name,
                source=dictionary.source,
                target=dictionary.target,
                target_model=target.name if two else None,
                layer=layer,
                unit="dictionary word",
                pooling=source.mean,
                value=score.value,
                null=score.null,
                low=score.low,
                high=score.high,
                n=score.n,
                seed=plan.seed,
                corpus=f"dictionary {dictionary.source}-{dictionary.target}",
                digests={
                    "model": source.digest,
                    "corpus": dictionary.digest,
                    **({"target_model": target.digest} if two else {}),
                },
                details={"train": len(train), "dropped": dictionary.dropped, **score.details},
                versions=versions(),
            )
            made.append((record, score.items))
    return made
