"""An encoder before and after its adjustment on the same sentences: paired differences, and the verdict over all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from interlingua.record import Difference, Estimate, Items, Record, RecordTable
from interlingua.stats import holm, paired_difference
from interlingua.stats.chance import LEVEL, above_chance

ORIGINAL, ADJUSTED = "original", "adjusted"
STATES = (ORIGINAL, ADJUSTED)
SAMPLER, HELD_OUT = "sampler", "held-out"
TEXTS = (HELD_OUT, SAMPLER)
"""The sentences held out of the bitext, and the embedded sampler: everyday sentences that were not trained on."""
CENTERINGS = ("centred", "raw")
Change = Literal["higher", "lower", "unclear"]
EffectVerdict = Literal["higher", "lower", "unclear", "untested"]
ItemsOf: TypeAlias = "Callable[[Record], Items | None]"
_ORDER: tuple[Change, ...] = ("lower", "unclear", "higher")


@dataclass(frozen=True, kw_only=True)
class StateComparison:
    """One P@1 in both states on the same sentences of a text, from `source` to `target`.

    `best_layer`: each state at its own best layer; else both at the adjusted one. `difference.p_adjusted` is after
    Holm's correction over all comparisons of the language.
    """

    text: str
    source: str
    target: str
    centering: str
    best_layer: bool
    before: Estimate
    after: Estimate
    difference: Difference

    @property
    def key(self) -> tuple[str, str, str, bool]:
        """What it compares: text, centering, language of the queries, whether at the best layers."""
        return self.text, self.centering, self.source, self.best_layer

    @property
    def layers(self) -> tuple[int, int]:
        """The layers before and after."""
        return _layer(self.before), _layer(self.after)

    @property
    def change(self) -> Change:
        """Higher or lower where the corrected test says so, else unclear."""
        if self.difference.p_adjusted is None or self.difference.p_adjusted >= LEVEL:
            return "unclear"
        return "higher" if self.difference.value > 0 else "lower"


@dataclass(frozen=True, kw_only=True)
class TextChange:
    """P@1 of a text in both states, the mean of both directions; `difference` is None where items were not kept."""

    layers: tuple[int, int]
    before: Estimate
    after: Estimate
    difference: Difference | None


@dataclass(frozen=True, kw_only=True)
class ChanceLevel:
    """The chance level of a text, its highest P@1 in each state, and the states whose P@1 is above chance nowhere."""

    chance: float
    highest: Mapping[str, float]
    states_at_chance: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AdjustmentEffect:
    """What an adjustment changed for one language: the records of both states of one model and seed.

    `source` is the language that stays, `language` the one that is adjusted to it, `layer` the adjusted layer.
    """

    model: str
    source: str
    language: str
    seed: int | None
    layer: int
    records: RecordTable
    items: ItemsOf = field(repr=False, compare=False)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that were measured; a run that was stopped has the original alone."""
        return tuple(state for state in STATES if self.records.of("retrieval", "p@1", state=state))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts that every state was measured on."""
        return tuple(text for text in TEXTS if all(self._p_at_1(state, text) for state in self.states))

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """Both directions, from the language that stays first."""
        return (self.source, self.language), (self.language, self.source)

    def _p_at_1(self, state: str, text: str) -> RecordTable:
        records = self.records.of("retrieval", "p@1", state=state)
        return RecordTable(record for record in records if text_of(record) == text)

    @cached_property
    def _cells(self) -> dict[tuple[str, str, str, int, str], Record]:
        return {
            (state, text, record.options["centering"], record.layer or 0, str(record.source)): record
            for state in self.states
            for text in TEXTS
            for record in self._p_at_1(state, text)
        }

    def layers(self, state: str, text: str) -> list[int]:
        """The layers that a state was measured at."""
        return sorted({layer for at, of, _, layer, _ in self._cells if (at, of) == (state, text)})

    def estimate(self, state: str, text: str, centering: str, layer: int, source: str | None = None) -> Estimate:
        """P@1 at a layer from one language, or the mean of both directions."""
        sources = (self.source, self.language) if source is None else (source,)
        return RecordTable(self._cells[state, text, centering, layer, start] for start in sources).estimate()

    def best_layer(self, state: str, text: str, centering: str = "centred") -> int:
        """The layer with the best mean P@1 of both directions; the lowest of equal ones."""
        return max(self.layers(state, text), key=lambda at: (self.estimate(state, text, centering, at).value, -at))

    def tied_layers(self, state: str, text: str, centering: str = "centred") -> list[int]:
        """The layers that a paired t-test over sentences cannot separate from the best, after Holm's correction."""
        best = self.best_layer(state, text, centering)
        others = [at for at in self.layers(state, text) if at != best]
        differences = [self._difference((state, text, centering, at), (state, text, centering, best)) for at in others]
        p_values = [difference.p for difference in differences if difference is not None and difference.p is not None]
        if len(p_values) < len(others):
            return []
        return [at for at, p in zip(others, holm(p_values), strict=True) if p >= LEVEL]

    def change_at(self, text: str, layers: tuple[int, int], centering: str = "centred") -> TextChange:
        """The mean of both directions before and after, each state at a layer of its own."""
        sides = [(state, text, centering, at) for state, at in zip(STATES, layers, strict=True)]
        before, after = (self.estimate(*side) for side in sides)
        return TextChange(layers=layers, before=before, after=after, difference=self._difference(sides[0], sides[1]))

    def best_change(self, text: str = HELD_OUT, centering: str = "centred") -> TextChange:
        """The change with each state at its own best layer.

        Where another layer was nearly as good before, a change at the adjusted layer alone says too much.
        """
        before, after = (self.best_layer(state, text, centering) for state in STATES)
        return self.change_at(text, (before, after), centering)

    @cached_property
    def comparisons(self) -> tuple[StateComparison, ...]:
        """Every P@1 before and after with its paired test, corrected together (Holm); empty where items are missing.

        Both texts, both directions, as is and with language means removed, each state at its best layer and both at
        the adjusted one.
        """
        if self.states != STATES:
            return ()
        comparisons: list[StateComparison] = []
        for text in self.texts:
            for best in (True, False):
                for centering in CENTERINGS:
                    tops = [self.best_layer(state, text, centering) if best else self.layer for state in STATES]
                    for source, target in self.directions:
                        sides = [(state, text, centering, at) for state, at in zip(STATES, tops, strict=True)]
                        difference = self._difference(sides[0], sides[1], source)
                        if difference is None:
                            return ()
                        before, after = (self.estimate(*side, source) for side in sides)
                        comparisons.append(
                            StateComparison(
                                text=text,
                                source=source,
                                target=target,
                                centering=centering,
                                best_layer=best,
                                before=before,
                                after=after,
                                difference=difference,
                            )
                        )
        corrected = holm([comparison.difference.p or 0.0 for comparison in comparisons])
        return tuple(_with_p(comparison, p) for comparison, p in zip(comparisons, corrected, strict=True))

    @cached_property
    def verdict(self) -> EffectVerdict:
        """The verdict of the weakest comparison; without the sampler, a gain is not tested on other text.

        What is learnt from one kind of text may be lost on another, so nothing is judged on the text trained on alone.
        Without items nothing was tested.
        """
        if not self.comparisons:
            return "untested"
        change = weakest(self.comparisons).change
        return "untested" if change == "higher" and SAMPLER not in self.texts else change

    @cached_property
    def chance_levels(self) -> dict[str, ChanceLevel]:
        """Of each text whether translations are found above chance at all, over every layer and kind of P@1."""
        levels = {}
        for text in self.texts:
            of_state = {state: self._p_at_1(state, text) for state in self.states}
            at_chance = [
                state
                for state, records in of_state.items()
                if not above_chance([(record.value, record.n, record.null_value or 0.0) for record in records])
            ]
            levels[text] = ChanceLevel(
                chance=max(record.null_value or 0.0 for records in of_state.values() for record in records),
                highest={state: max(record.value for record in records) for state, records in of_state.items()},
                states_at_chance=tuple(at_chance),
            )
        return levels

    @property
    def is_at_chance(self) -> bool:
        """Whether no text finds translations above chance in any state: then nothing can be concluded."""
        return all(set(level.states_at_chance) == set(self.states) for level in self.chance_levels.values())

    def words(self, state: str, metric: str, **options: str) -> Estimate | None:
        """A measure of word distances at the adjusted layer: `auc`, or `distance` of related or unrelated words."""
        records = self.records.of("separation", metric, state=state, distance="l2", **options)
        return records.estimate() if records else None

    def _difference(
        self, before: tuple[str, str, str, int], after: tuple[str, str, str, int], source: str | None = None
    ) -> Difference | None:
        """The mean paired difference, its interval and p-value, from one language or over both directions."""
        sources = (self.source, self.language) if source is None else (source,)
        records = [[self._cells[*side, start] for start in sources] for side in (before, after)]
        items = [[self._items(record) for record in side] for side in records]
        if any(values is None for side in items for values in side):
            return None
        ours, theirs = (np.mean([values for values in side if values is not None], axis=0) for side in items)
        # Candidates that all sentences share add to the variance. That of a mean of two directions is at most the mean
        # of theirs: their hubs may be of the same sentences.
        hubs = [
            [variance / len(sources), freedom]
            for side in records
            for record in side
            for variance, freedom in ([record.details["hubs"]] if record.details.get("hubs") else [])
        ]
        value, low, high, p = paired_difference(theirs - ours, hubs)
        return Difference(
            value=value,
            ci_low=low,
            ci_high=high,
            n=len(ours),
            p=p,
            records=tuple(record for side in records for record in side),
        )

    @cached_property
    def _known_items(self) -> dict[str, Items | None]:
        return {}

    def _items(self, record: Record) -> Items | None:
        """The items of a record, each read once."""
        if record.items is None:
            return None
        if record.items not in self._known_items:
            self._known_items[record.items] = self.items(record)
        return self._known_items[record.items]


def weakest(comparisons: Iterable[StateComparison]) -> StateComparison:
    """The comparison that decides: a lower one before an unclear one before a higher one, then the smallest."""
    return min(comparisons, key=lambda comparison: (_ORDER.index(comparison.change), comparison.difference.value))


def adjustment_effects(records: Iterable[Record], items: ItemsOf) -> list[AdjustmentEffect]:
    """One effect per model, language and seed whose encoder was measured before or after its adjustment."""
    effect_records = RecordTable(record for record in records if is_effect(record))
    pairs = dict.fromkeys(
        (record.model, str(record.source), str(record.target), record.layer or 0)
        for record in effect_records.of("separation", "auc")
    )
    effects = []
    for model, source, language, layer in pairs:
        both = {source, language}
        of_model = (record for record in effect_records if record.model == model)
        of_pair = RecordTable(record for record in of_model if {record.source, record.target} == both)
        for (seed,), of_seed in of_pair.by("seed").items():
            if of_seed.of("retrieval", "p@1"):
                effects.append(
                    AdjustmentEffect(
                        model=model,
                        source=source,
                        language=language,
                        seed=seed,
                        layer=layer,
                        records=of_seed,
                        items=items,
                    )
                )
    return effects


def is_effect(record: Record) -> bool:
    """Whether a record is of an encoder in either state, and of no task, block of a study or test."""
    return (
        record.measure in ("retrieval", "separation")
        and record.state in STATES
        and record.unit != "entity"
        and record.regime is None
        and record.block is None
        and record.test is None
    )


def text_of(record: Record) -> str:
    """Which text a record is of: the embedded sampler, or the sentences held out of the bitext."""
    return SAMPLER if record.corpus == SAMPLER else HELD_OUT


def _layer(estimate: Estimate) -> int:
    return estimate.records[0].layer or 0


def _with_p(comparison: StateComparison, p: float) -> StateComparison:
    difference = comparison.difference
    return StateComparison(**{**vars(comparison), "difference": Difference(**{**vars(difference), "p_adjusted": p})})
