"""Natural language inference: does a premise entail a hypothesis, contradict it, or neither (XNLI, MultiNLI)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from interlingua.errors import InputError
from interlingua.readers.examples import Examples, TextPair
from interlingua.tasks import tasks
from interlingua.tasks.pairs import PairTask
from interlingua.training.task import FineTuning

LABELS = ("entailment", "neutral", "contradiction")
_SPELLED = {name: name for name in LABELS} | {"contradictory": "contradiction"}
_SPELLED |= {str(number): name for number, name in enumerate(LABELS)}


@tasks.register("nli", needs="head")
@dataclass(frozen=True)
class Nli(PairTask):
    """Natural language inference (XNLI, MultiNLI): accuracy over entailment, neutral and contradiction.

    Premise and hypothesis in one input of at most `length` tokens. Labels are read by name or as numbers in that
    order, as Hugging Face's copies number them.
    """

    name: ClassVar[str] = "nli"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=5e-5, epochs=2)
    known: ClassVar[tuple[str, ...]] = LABELS
    spelled: ClassVar[Mapping[str, str]] = _SPELLED


def mixed(examples: Examples[TextPair], english: Examples[TextPair], *, seed: int) -> Examples[TextPair]:
    """The same pairs, premise or hypothesis of each replaced by its English original, at random (papers/001 §4.2).

    Both sets must be row-parallel. The side is drawn by the seed for each row, each with probability one half.

    >>> spanish = Examples((TextPair("Llueve.", "Hace sol.", "contradiction"),), "es", "es.tsv")
    >>> english = Examples((TextPair("It rains.", "It is sunny.", "contradiction"),), "en", "en.tsv")
    >>> mixed(spanish, english, seed=0)[0]
    TextPair(first='It rains.', second='Hace sol.', label='contradiction', line=0)
    """
    if len(examples) != len(english):
        raise InputError(
            f"{len(examples)} pairs, and {len(english)} in {english.name}",
            file=examples.name,
            remedy="Give two files of one release, whose rows correspond.",
        )
    first = np.random.default_rng(seed).integers(2, size=len(examples)).astype(bool)
    items = []
    for item, original, premise in zip(examples, english, first, strict=True):
        if item.label != original.label:
            raise InputError(
                f"another label than {english.name}:{original.line} has",
                file=examples.name,
                line=item.line,
                value=item.label,
                remedy="Give two files of one release, whose rows correspond.",
            )
        items.append(replace(item, first=original.first) if premise else replace(item, second=original.second))
    name = f"{examples.name} mixed with {english.name}, seed {seed}"
    return Examples(tuple(items), examples.language, name, examples.skipped)
