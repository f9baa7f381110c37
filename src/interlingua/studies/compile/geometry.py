"""The steps of a study's geometry tables: names compared, a look before, a fine-tuning per language and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlingua.analyses.transfer import defaults_of
from interlingua.engine.step import Step
from interlingua.studies.compile.study_inputs import Needs, StudyInputs
from interlingua.studies.config.schema import GeometryTable
from interlingua.studies.step_settings import GeometryLooks, GeometryStep, GeometryTraining, SpellingStep, SynthStep

BEFORE = "before"
"""The part of a block that is no fine-tuning: the look at the model as it came."""


@dataclass
class GeometrySteps:
    """The steps of geometry tables, over encoders, languages of training and seeds."""

    inputs: StudyInputs

    def steps(self, name: str, table: GeometryTable) -> list[Step]:
        """How names are spelled, once for all encoders; then what each encoder takes, its steps one after another."""
        synth = self.inputs.synthetic(table.synth)
        spelling = SpellingStep(block=table.synth, synth=synth, seed=table.seed)
        found = [self.inputs.step(spelling, {}, label=f"spelling {table.synth}")]
        for encoder in self.inputs.study.encoders(table.encoders):
            found += self._of_encoder(name, table, encoder, synth)
        return found

    def _of_encoder(self, name: str, table: GeometryTable, encoder: str, synth: SynthStep) -> list[Step]:
        study = self.inputs.study
        needs: Needs = {}
        model = self.inputs.model(encoder, needs)
        source = table.source or study.table.source
        asked = {*(table.sources or synth.languages), source}
        sources = [code for code in synth.languages if code in asked]
        training, looks = self._training(table, encoder, sources), _looks(table, source)
        label, uses = f"geometry {name} {encoder}", [("flattening", table.map)]
        before = GeometryStep(
            encoder=model, block=name, synth=synth, part=BEFORE, training=None, looks=looks, seed=None
        )
        found = [self.inputs.step(before, needs, label=f"{label} {BEFORE}", like=f"{encoder} {BEFORE}", uses=uses)]
        for place, seed in enumerate(study.seeds):
            for code in sources:
                # A fine-tuning without a second look must not hang on how one looks.
                again = looks if code == source and place == 0 else None
                settings = GeometryStep(
                    encoder=model, block=name, synth=synth, part=code, training=training, looks=again, seed=seed
                )
                told = f"{label} {code} seed {seed}"
                found.append(self.inputs.step(settings, needs, label=told, like=encoder, uses=uses if again else ()))
        return found

    def _training(self, table: GeometryTable, encoder: str, sources: Sequence[str]) -> GeometryTraining:
        """How fine-tunings are run; an encoder's own batch and rate take the place of the table's, as with tasks."""
        own, usual = self.inputs.study.table.encoders[encoder], defaults_of("ner")
        return GeometryTraining(
            train_on=tuple(sources),
            epochs=table.epochs,
            learning_rate=own.learning_rate or table.learning_rate or usual.learning_rate,
            batch=own.batch_size or table.batch_size or usual.batch,
            watch=table.watch,
            watch_every=table.monitor_every,
            watch_span=table.change_window,
            precision=self.inputs.precision("geometry"),
        )


def _looks(table: GeometryTable, source: str) -> GeometryLooks:
    return GeometryLooks(
        source=source,
        about=table.entity,
        about_rows=table.entity_rows,
        map=table.map,
        perplexity=table.perplexity,
        layers=table.layers,
        points=table.max_points,
        seed=table.seed,
    )
