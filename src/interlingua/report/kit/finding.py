"""`Finding`: what was found, before any word is chosen; one template per kind makes the sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from interlingua.metric import Metric
from interlingua.record import Difference, Estimate
from interlingua.report.kit.wording import escape_control_characters


class Verdict(StrEnum):
    """What the numbers of a finding allow to say."""

    FOUND = "found"
    """A number is reported; nothing is judged."""
    HIGHER = "higher"
    LOWER = "lower"
    UNCLEAR = "unclear"
    """A test was made, and its interval contains no difference."""
    AT_CHANCE = "at chance"
    NOT_TESTED = "not tested"
    NOT_COMPARABLE = "not comparable"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What an interval or p-value is over, how it was tested, and how many comparisons were corrected together."""

    over: str = "items"
    """`items` (sentences, words, examples), `seeds`, `seeds and examples`, `languages`."""
    test: str = ""
    correction: str = ""
    compared: int = 1


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was found: its kind, what it is about, the verdict, and the evidence.

    `about` holds what the sentence names: languages by code, layers, regimes, counts, levels. Page, terminal,
    notebook and JSON all render a finding by `sentence`, so a number is worded in one place.
    """

    kind: str
    verdict: Verdict
    about: Mapping[str, Any] = field(default_factory=dict)
    metric: Metric | None = None
    estimate: Estimate | Difference | None = None
    compared_with: Estimate | None = None
    basis: Basis = field(default_factory=Basis)

    @property
    def sentence(self) -> str:
        """The finding in plain English."""
        return escape_control_characters(_TEMPLATES[self.kind](self))

    @property
    def topic(self) -> str:
        """What stands before the sentence in a list: `Weak languages`."""
        return _TOPICS[self.kind]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: kind, verdict, numbers and the sentence."""
        return {
            "kind": self.kind,
            "verdict": str(self.verdict),
            "about": dict(self.about),
            "metric": None if self.metric is None else self.metric.name,
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
            "compared_with": None if self.compared_with is None else self.compared_with.to_dict(),
            "basis": vars(self.basis),
            "sentence": self.sentence,
        }


Template = Callable[[Finding], str]
_TEMPLATES: dict[str, Template] = {}
_TOPICS: dict[str, str] = {}


def sentence_of(kind: str, *, topic: str) -> Callable[[Template], Template]:
    """Declare the one template that words findings of a kind, and the topic they are listed under."""

    def declare(template: Template) -> Template:
        # A module of tests may be imported under two names.
        if kind in _TEMPLATES and _TEMPLATES[kind].__code__.co_filename != template.__code__.co_filename:
            raise ValueError(f"two templates for findings of the kind {kind!r}")
        _TEMPLATES[kind], _TOPICS[kind] = template, topic
        return template

    return declare
