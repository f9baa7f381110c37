"""Paraphrase identification: do two sentences of like words mean the same (PAWS-X)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from interlingua.tasks import tasks
from interlingua.tasks.pairs import PairTask
from interlingua.training.task import FineTuning

LABELS = ("different", "paraphrase")
_SPELLED = {name: name for name in LABELS} | {str(number): name for number, name in enumerate(LABELS)}


@tasks.register("paraphrase", needs="head")
@dataclass(frozen=True)
class Paraphrase(PairTask):
    """Paraphrase identification (PAWS-X): accuracy over different (0) and paraphrase (1).

    Both sentences in one input of at most `length` tokens. Defaults are XTREME's (Hu et al. 2020).
    """

    name: ClassVar[str] = "paraphrase"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=2e-5, epochs=5)
    known: ClassVar[tuple[str, ...]] = LABELS
    spelled: ClassVar[Mapping[str, str]] = _SPELLED
