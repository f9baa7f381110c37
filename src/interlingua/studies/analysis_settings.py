"""From settings as they are declared to those that analyses take: the only place where one becomes the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from interlingua.analyses.explanation import ExplainSettings
from interlingua.analyses.pretraining import PretrainSettings
from interlingua.analyses.training_inputs import PairSettings
from interlingua.analyses.transfer import TransferSettings
from interlingua.errors import InputError
from interlingua.studies.config.fields import settings_of
from interlingua.studies.config.recipe import Config
from interlingua.studies.config.schema import (
    AdjustTable,
    AlignmentSettings,
    AttributionSettings,
    PairFilterTable,
    PairReading,
    TransferCommand,
)
from interlingua.training.loop import LoopSettings
from interlingua.training.phases import Freeze, Lora, Phase, PhaseObjective
from interlingua.training.regime import regime
from interlingua.wordalign.links import PairFilters
from interlingua.wordalign.model import AlignerSettings
from interlingua.wordalign.neural import NeuralSettings

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
        PhaseObjective(name, weight, given.batch_size or PhaseObjective(name).batch, temperature=given.temperature)
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


def explain_values(given: AttributionSettings) -> dict[str, Any]:
    """The settings that decide attributions and their comparison, under the names that analyses have for them."""
    called = {"faithful": "faithfulness", "choices": "sensitivity"}
    own = {field.name for field in settings_of(type(given))}
    names = {entry.name: called.get(entry.name, entry.name) for entry in fields(ExplainSettings)}
    return {name: getattr(given, its) for name, its in names.items() if its in own}


def explain_settings(given: AttributionSettings, *, unit: str) -> ExplainSettings:
    """How attributions are made; `unit` is what they are of by default."""
    values = explain_values(given)
    return ExplainSettings(**{**values, "unit": values["unit"] or unit, "tolerance": values["tolerance"] or None})


def seeds_of(given: Any) -> tuple[int, ...]:
    """A number of seeds, or the seeds themselves: each once, one at least."""
    if isinstance(given, int) and given > _MOST_SEEDS:
        raise InputError("that many seeds", value=given, remedy=f"Give {_MOST_SEEDS} or fewer.")
    seeds = tuple(range(given)) if isinstance(given, int) else tuple(given)
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise InputError("seeds are 0 or more, none twice, at least one", value=str(given), remedy="Give --seeds 5.")
    return seeds


_MOST_SEEDS = 10_000


def diagonal_settings(given: AlignmentSettings) -> AlignerSettings:
    """How fast_align's model is trained."""
    return AlignerSettings(
        iterations=given.iterations,
        null=given.p0,
        tension=given.tension,
        optimise_tension=not given.fixed_tension,
        variational=given.variational,
        alpha=given.alpha,
        tension_rule=given.tension_rule,
    )


def neural_settings(given: AlignmentSettings) -> NeuralSettings:
    """How an encoder's vectors become links."""
    return NeuralSettings(given.neural, given.layer, given.unit, given.center, given.min_cosine)


def pretrain_settings(
    recipe: Config, text: Mapping[str, Path], *, tokenizer_file: Path | None, start_from: Path | None
) -> PretrainSettings:
    """How a recipe pretrains a model, with the files that it names."""
    data, training = recipe.data, recipe.training
    return PretrainSettings(
        text,
        LoopSettings(
            steps=training.steps,
            learning_rate=training.learning_rate,
            warmup=training.warmup,
            decay=training.decay,
            floor=training.floor,
            weight_decay=training.weight_decay,
            accumulate=training.accumulate,
            precision=training.precision,
            compile=training.compile,
            static_shapes=True,
            optimizer=training.optimizer,
            seed=training.seed,
            checkpoint_every=training.checkpoint_every,
        ),
        batch_size=training.batch_size,
        max_length=training.max_length,
        long_length=training.long_length,
        long_every=training.long_every,
        mask=training.mask,
        evaluate_every=training.evaluate_every,
        save=training.save,
        smoothing=data.smoothing,
        lines=data.lines,
        tidy=data.tidy,
        held_out=data.held_out,
        vocabulary=recipe.tokenizer.vocabulary,
        alphabet=recipe.tokenizer.alphabet,
        tokenizer_file=tokenizer_file,
        start_from=start_from,
        architecture=str(recipe.model.get("architecture", "bert")),
        sizes={key: value for key, value in recipe.model.items() if key != "architecture"},
        pivot=recipe.evaluation.pivot,
        wrong=recipe.source.wrong,
    )
