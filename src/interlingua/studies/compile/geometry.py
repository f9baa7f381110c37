"""The steps of a study's geometry tables: looks before and after, fine-tunings, and how names are spelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlingua.analyses.transfer import defaults_of
from interlingua.engine.step import Step
from interlingua.studies.compile.study_inputs import Needs, StudyInputs
from interlingua.studies.config.schema import GeometryTable
from interlingua.studies.step_settings import EntityGeometryStep, GeometryStep, SpellingStep, SynthStep


@dataclass
class GeometrySteps:
    """The steps of geometry tables, over encoders, languages of training and seeds."""

    inputs: StudyInputs

    def steps(self, name: str, table: GeometryTable) -> list[Step]:
        """What each encoder takes, its steps one after another; then how names are spelled, once for all encoders."""
        synth = self.inputs.synthetic(table.synth)
        found: list[Step] = []
        for encoder in self.inputs.study.encoders(table.encoders):
            found += self._of_encoder(name, table, encoder, synth)
        spelling = SpellingStep(block=table.synth, synth=synth, seed=table.seed)
        return [*found, self.inputs.step(spelling, {}, label=f"spelling {table.synth}")]

    def _of_encoder(self, name: str, table: GeometryTable, encoder: str, synth: SynthStep) -> list[Step]:
        """The looks at the model as it came, its fine-tunings, and the looks after the first one on the source."""
        study = self.inputs.study
        source = table.source or study.table.source
        asked = {*(table.sources or synth.languages), source}
        sources = [code for code in synth.languages if code in asked]
        found = self._looks(name, table, encoder, synth, None)
        first: Step | None = None
        for seed in study.seeds:
            for code in sources:
                looked_into = first is None and code == source
                step = self._fine_tuned(name, table, encoder, synth, code, sources, seed, keep=looked_into)
                first = step if looked_into else first
                found.append(step)
        assert first is not None
        return [*found, *self._looks(name, table, encoder, synth, (source, first))]

    def _looks(
        self, name: str, table: GeometryTable, encoder: str, synth: SynthStep, tuned: tuple[str, Step] | None
    ) -> list[Step]:
        """The looks at the names of the test part and, where one is followed, at a name."""
        needs: Needs = {}
        model = self.inputs.model(encoder, needs)
        if tuned is not None:
            needs["tuned"] = tuned[1]
        found = []
        for entity in dict.fromkeys((None, table.entity)):
            settings = EntityGeometryStep(
                encoder=model,
                block=name,
                synth=synth,
                source=None if tuned is None else tuned[0],
                entity=entity,
                entity_rows=0 if entity is None else table.entity_rows,
                projection=table.projection,
                perplexity=table.perplexity,
                layers=table.layers,
                max_points=table.max_points,
                seed=table.seed,
            )
            shown = "before" if tuned is None else f"after {tuned[0]}"
            about = "names" if entity is None else entity
            label = f"entity geometry {name} {encoder} {shown}: {about}"
            like = f"{encoder} {about}"
            found.append(
                self.inputs.step(settings, needs, label=label, like=like, uses=[("projection", table.projection)])
            )
        return found

    def _fine_tuned(
        self,
        name: str,
        table: GeometryTable,
        encoder: str,
        synth: SynthStep,
        code: str,
        sources: Sequence[str],
        seed: int,
        *,
        keep: bool,
    ) -> Step:
        """One fine-tuning; an encoder's own batch and rate take the place of the table's, as with tasks."""
        own, usual = self.inputs.study.table.encoders[encoder], defaults_of("ner")
        needs: Needs = {}
        settings = GeometryStep(
            encoder=self.inputs.model(encoder, needs),
            block=name,
            synth=synth,
            source=code,
            # A fine-tuning that nobody watches must not hang on the others.
            sources=tuple(sources) if table.watch else (code,),
            epochs=table.epochs,
            learning_rate=own.learning_rate or table.learning_rate or usual.learning_rate,
            batch=own.batch_size or table.batch_size or usual.batch,
            watch=table.watch,
            watch_every=table.monitor_every,
            watch_span=table.change_window,
            keep_model=keep,
            precision=self.inputs.precision("geometry"),
            seed=seed,
        )
        label = f"geometry {name} {encoder} {code} seed {seed}"
        return self.inputs.step(settings, needs, label=label, like=encoder)
