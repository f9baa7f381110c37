"""From settings as they are declared to those that analyses take: the only place where one becomes the other."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from interlingua.analyses.entity_geometry import LookSettings
from interlingua.analyses.explanation import ExplainSettings
from interlingua.analyses.training_inputs import PairSettings
from interlingua.analyses.transfer import TransferSettings
from interlingua.analyses.transfer_matrix import Watch
from interlingua.errors import InputError
from interlingua.flattening import installed
from interlingua.studies.config.fields import settings_of
from interlingua.studies.config.schema import (
    AdjustTable,
    Attributing,
    GeometryCommand,
    Maps,
    Monitoring,
    PairFilterTable,
    PairReading,
    TransferCommand,
)
from interlingua.studies.geometry import GeometrySettings
from interlingua.studies.pairwise import PairwiseSettings
from interlingua.training.phases import Freeze, Lora, Part, Phase
from interlingua.training.regime import regime
from interlingua.wordalign.links import PairFilters

_TARGETS = {"trainable": "joint", "frozen": "frozen"}
"""What the objective calls the two ways of treating the source side."""


def pair_settings(given: PairReading, tidy: PairFilterTable | None = None) -> PairSettings:
    """Which linked text is drawn and pulled together, and how."""
    return PairSettings(
        tidy=pair_filters(tidy or PairFilterTable()),
        rows=given.max_pairs,
        held_out=given.held_out,
        layer=given.layer,
        target=_TARGETS[given.source_side],
        how=given.word_pooling,
        specials=given.include_special_tokens,
        reduction=given.reduction,
        kept=given.reference_dtype,
    )


def pair_filters(given: PairFilterTable) -> PairFilters:
    """Which word pairs are passed over."""
    return PairFilters(
        longest=given.max_words or None,
        one_to_one=given.one_to_one,
        identical=given.drop_identical,
        shortest=given.min_characters,
        punctuation=given.drop_punctuation,
    )


def adjust_phase(given: AdjustTable) -> Phase:
    """How a model is adjusted: the objectives that have a weight, for how long, and what is trained."""
    weights = {name: getattr(given, name) for name in ("adjustment", "anchor", "contrastive", "drift")}
    parts = tuple(
        Part(name, weight, given.batch_size or Part(name).batch, temperature=given.temperature)
        for name, weight in weights.items()
        if weight
    )
    said = {name: getattr(given, name) for name in ("epochs", "learning_rate", "warmup", "steps")}
    (usual,) = regime("adjust-only").phases
    schedule = replace(usual.schedule, **{name: value for name, value in said.items() if value is not None})
    freeze = Freeze() if given.freeze is None else Freeze(embeddings=True, blocks=given.freeze)
    return Phase("adjust", parts, schedule, freeze, None if given.lora is None else Lora(given.lora))


def filter_table(given: PairFilters | None) -> PairFilterTable:
    """Filters of word pairs as a study file has them."""
    found = given or PairFilters()
    return PairFilterTable(
        max_words=found.longest or 0,
        one_to_one=found.one_to_one,
        drop_identical=found.identical,
        min_characters=found.shortest,
        drop_punctuation=found.punctuation,
    )


def transfer_settings(given: TransferCommand) -> TransferSettings:
    """How the command `transfer` trains and tests."""
    return TransferSettings(
        source=given.source,
        together=given.joint_adjustment,
        train_rows=given.train_rows,
        length=given.max_length,
        pooling=given.pooling,
        epochs=given.epochs,
        learning_rate=given.learning_rate,
        warmup=given.warmup,
        batch=given.batch_size,
        adjust_epochs=given.adjust_epochs,
        adjust_learning_rate=given.adjust_learning_rate,
        adjust_batch=given.adjust_batch_size,
        alpha=given.alpha,
        pairs=pair_settings(given),
        map_on=given.map_on,
        distances=given.distances,
        permutations=given.permutations,
        precision=given.precision,
        compile=given.compile,
        checkpoint_every=given.checkpoint_every,
    )


def explain_values(given: Attributing) -> dict[str, Any]:
    """The settings that decide attributions and their comparison, under the names that analyses have for them."""
    called = {"faithful": "faithfulness", "choices": "sensitivity"}
    own = {field.name for field in settings_of(type(given))}
    names = {entry.name: called.get(entry.name, entry.name) for entry in fields(ExplainSettings)}
    return {name: getattr(given, its) for name, its in names.items() if its in own}


def explain_settings(given: Attributing, *, unit: str) -> ExplainSettings:
    """How attributions are made; `unit` is what they are of where nothing is said."""
    values = explain_values(given)
    return ExplainSettings(**{**values, "unit": values["unit"] or unit, "tolerance": values["tolerance"] or None})


def look_settings(given: Maps, *, seed: int) -> LookSettings:
    """What is measured of entities, and drawn."""
    return LookSettings(
        flattening=given.map,
        perplexity=given.perplexity,
        map_layers=tuple(given.layers),
        points=given.max_points,
        seed=seed,
    )


def watch(given: Monitoring) -> Watch:
    """What is watched while a model is fine-tuned."""
    return Watch(on=given.watch, span=given.change_window, every=given.monitor_every)


def geometry_settings(given: GeometryCommand) -> GeometrySettings:
    """How the command `geometry` measures and trains; a projection that is not installed is an error."""
    installed(given.map)
    return GeometrySettings(
        source=given.source,
        about=given.entity,
        about_rows=given.entity_rows,
        looks=look_settings(given, seed=given.seed),
        training=PairwiseSettings(
            train_on=tuple(given.sources or ()),
            epochs=given.epochs,
            learning_rate=given.learning_rate,
            batch=given.batch_size,
            seeds=seeds_of(given.seeds),
            watch=watch(given),
            precision=given.precision,
        ),
    )


def seeds_of(given: Any) -> tuple[int, ...]:
    """A number of seeds, or the seeds themselves: each once, one at least."""
    if isinstance(given, int) and given > _MOST_SEEDS:
        raise InputError("that many seeds", value=given, remedy=f"Give {_MOST_SEEDS} or fewer.")
    seeds = tuple(range(given)) if isinstance(given, int) else tuple(given)
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise InputError("seeds are 0 or more, none twice, at least one", value=str(given), remedy="Give --seeds 5.")
    return seeds


_MOST_SEEDS = 10_000
