"""The steps of a study's measures and explanations, over encoders and the states that training leaves them in."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b

from interlingua.analyses.space_measures import HEADLINE, NAME, needs_words
from interlingua.engine.serialization import File
from interlingua.engine.step import Step
from interlingua.measures import measures
from interlingua.measures.procrustes import dictionary_precision
from interlingua.studies.analysis_settings import explain_settings
from interlingua.studies.compile.study_inputs import Needs, StudyInputs, deduplicate_codes
from interlingua.studies.compile.tasks import TaskSteps, TrainedModel
from interlingua.studies.config.schema import ExplainTable, MeasureTable
from interlingua.studies.step_settings import (
    AttributeStep,
    Data,
    EncodeStep,
    MapStep,
    MeasureStep,
    StudyCorpus,
    StudyEncoder,
)
from interlingua.studies.study import expand_template


def unused_keys(table: MeasureTable, said: Collection[str]) -> dict[str, str]:
    """The keys of a table of measures that it says and no step would read, with why.

    >>> unused_keys(MeasureTable(measures=("cka",), spellings="names.tsv"), ["measures", "spellings"])
    {'spellings': 'parallel names are for spelling, which is not named'}
    """
    found = {}
    if "spellings" in said and not any(entry.needs == "names" for entry in measures if entry.name in table.measures):
        found["spellings"] = "parallel names are for spelling, which is not named"
    if table.against:
        ignored = [key for key in ("models", "encoders", "pairs", "maps") if key in said]
        found |= dict.fromkeys(ignored, "against says which encoders are compared, and compares all their languages")
    return found


@dataclass(frozen=True)
class _ModelState:
    """A model that may be measured: the study's encoder, what it is called, its settings and what they need."""

    encoder: str
    called: str
    model: StudyEncoder
    needs: Needs


@dataclass(frozen=True)
class _MeasuredModel:
    """A model that is measured: how it is encoded, what that needs, and the step that does it."""

    encoded: EncodeStep
    needs: Needs
    step: Step


@dataclass
class MeasureSteps:
    """The steps of tables of measures."""

    inputs: StudyInputs
    tasks: TaskSteps

    def steps(self, name: str, table: MeasureTable) -> list[Step]:
        """One step of encoding for each model, and one for each measure of it; two models together where asked."""
        languages = table.languages or deduplicate_codes(self.inputs.study.table.source, *self.inputs.study.languages)
        found: list[Step] = []
        for states in self._measured_together(table):
            sides = [self._side(state, languages, table) for state in states]
            of_dictionary = (NAME,) if table.dictionary is not None else ()
            made = {each: self._measure(each, name, table, sides) for each in (*table.measures, *of_dictionary)}
            found += made.values()
            found += [self._map(sides[0], made, table.projection)] if table.map else []
        return found

    def _measured_together(self, table: MeasureTable) -> list[tuple[_ModelState, ...]]:
        """What is measured together: one model, or two where encoders are compared."""
        if table.against:
            return [tuple(self._as_it_came(name) for name in pair) for pair in table.against]
        return [(state,) for state in self._states(table)]

    def _as_it_came(self, encoder: str) -> _ModelState:
        needs: Needs = {}
        return _ModelState(encoder, encoder, self.inputs.model(encoder, needs), needs)

    def _states(self, table: MeasureTable) -> list[_ModelState]:
        """Every model that is measured."""
        found = []
        for encoder in self.inputs.study.encoders(table.encoders):
            for state in table.models:
                if state == "encoder":
                    found.append(self._as_it_came(encoder))
                    continue
                task, of_task, regime = state.partition("/")
                if of_task and encoder not in self.inputs.study.trained(task, table.encoders):
                    continue
                for seed in self.inputs.study.seeds:
                    found += self._tuned(encoder, task, regime, seed) if of_task else self._adjusted(encoder, seed)
        return found

    def _adjusted(self, encoder: str, seed: int) -> list[_ModelState]:
        """The adjusted models, one per bitext where each language has its own."""
        study = self.inputs.study
        needs: Needs = {}
        model = self.inputs.model(encoder, needs)
        foreign = tuple(code for code in study.languages if code != study.table.source)
        groups = [foreign] if study.table.adjust.joint_adjustment else [(code,) for code in foreign]
        phases = self.inputs.adjust_phases
        return [
            _ModelState(
                encoder,
                f"{encoder} adjusted {'+'.join(group)} seed {seed}",
                model,
                needs | {"adjusted": self.inputs.adjusted(encoder, group, seed, phases)},
            )
            for group in groups
        ]

    def _tuned(self, encoder: str, task: str, regime: str, seed: int) -> list[_ModelState]:
        """The models of a task under a regime."""
        found = []
        sources = self.inputs.study.sources(task)
        for source in sources:
            trained = f" {source}" if len(sources) > 1 else ""
            for made in self.tasks.models(task, encoder, regime, seed, source):
                called = f"{encoder} {task}/{regime}{trained} {'+'.join(made.scenario.spoken)}".strip()
                found.append(_ModelState(encoder, f"{called} seed {seed}", made.encoder, made.needs))
        return found

    def _side(self, state: _ModelState, languages: tuple[str, ...], table: MeasureTable) -> _MeasuredModel:
        encoded = EncodeStep(
            encoder=replace(state.model, name=state.called),
            corpus=self._parallel(table.corpus, languages, table),
            languages=languages,
            known=self.inputs.study.speaks(state.encoder, languages),
            rows=table.rows,
            pooling=table.pooling,
            prompt=table.prompt,
            words=needs_words(table.measures),
            dictionary=None if table.dictionary is None else self.inputs.corpus(table.dictionary),
            precision=self.inputs.precision("encode"),
            seed=table.seed,
        )
        label = f"encode {state.called} {table.corpus}"
        return _MeasuredModel(
            encoded, state.needs, self.inputs.step(encoded, state.needs, label=label, like=state.encoder)
        )

    def _parallel(self, name: str, languages: Sequence[str], table: MeasureTable) -> StudyCorpus:
        how = {"format": table.format, "encoding": table.encoding, "column": table.column}
        return self.inputs.parallel(name, languages, **how)  # type: ignore[arg-type]

    def _measure(self, measure: str, name: str, table: MeasureTable, sides: Sequence[_MeasuredModel]) -> Step:
        # A measure that is written anew is measured anew; what else it calls is told by CODE. One that a file of the
        # study brought is known by that file.
        brought = ("measure", measure) in self.inputs.study.plugins.names
        call = dictionary_precision if measure == NAME else measures[measure].call
        needs_names = measure != NAME and measures[measure].needs == "names"
        settings = MeasureStep(
            measure=measure,
            written=blake2b(("" if brought else inspect.getsource(call)).encode(), digest_size=8).hexdigest(),
            block=name,
            encoded=tuple(side.encoded for side in sides),
            pairs=table.pairs,
            maps=table.maps,
            spellings=self.inputs.parallel(table.spellings) if needs_names and table.spellings is not None else None,
        )
        label = f"measure {measure} {'–'.join(side.encoded.encoder.name for side in sides)}"
        uses = [] if measure == NAME else [("measure", measure)]
        return self.inputs.step(settings, _needs(sides), label=label, like=measure, uses=uses)

    def _map(self, side: _MeasuredModel, made: Mapping[str, Step], projection: str) -> Step:
        """The map of a model's sentences; the measures that the best layer is chosen by come before it."""
        chosen = [measure for measure, *_ in HEADLINE if measure in made][:1]
        needs = _needs([side]) | {f"measure {measure}": made[measure] for measure in chosen}
        encoder = side.encoded.encoder.name
        settings = MapStep(encoded=side.encoded, projection=projection)
        uses = [("projection", projection)]
        return self.inputs.step(settings, needs, label=f"map {encoder}", like=encoder, uses=uses)


def _needs(sides: Sequence[_MeasuredModel]) -> Needs:
    """The steps behind each side: a measure reads vectors, and of the model what it is called and its digest."""
    needs: Needs = {}
    for place, side in enumerate(sides):
        needs |= {f"{place} {role}": step for role, step in (side.needs | {"encode": side.step}).items()}
    return needs


@dataclass(frozen=True)
class _Explained:
    """A model that is explained: what it is called, its folder or the step that trains it, and what is reported of
    it.
    """

    model: str
    folder: File | None
    task: str
    kind: str
    source: str
    regime: str | None
    spoken: tuple[str, ...]
    seed: int
    needs: Needs

    @property
    def shown(self) -> str:
        if self.folder is not None:
            return self.model
        told = f"{self.model} {self.task} {self.source} {self.regime} {'+'.join(self.spoken)}".strip()
        return f"{told} seed {self.seed}"


@dataclass
class ExplainSteps:
    """The steps of tables of explanations."""

    inputs: StudyInputs
    tasks: TaskSteps

    def steps(self, name: str, table: ExplainTable) -> list[Step]:
        """One step for each language of each model: that of training, which the others need, then those."""
        study, found = self.inputs.study, []
        for model in table.models:
            for source in study.model_sources(model):
                languages = deduplicate_codes(source, *(table.languages or study.languages))
                found += self._attributed(name, table, self._given(model, source, table), languages)
        for task in table.tasks:
            for encoder in study.encoders(table.encoders or study.table.tasks[task].encoders):
                for source in study.sources(task):
                    for regime in table.regimes:
                        for seed in table.seeds or study.seeds:
                            for made in self.tasks.models(task, encoder, regime, seed, source):
                                if made.step is not None:
                                    found += self._trained(name, table, task, source, seed, made)
        return found

    def _given(self, model: str, source: str, table: ExplainTable) -> _Explained:
        """A model from elsewhere."""
        folder, kind = self.inputs.fine_tuned(model)
        return _Explained(model, folder, kind, kind, source, None, (), table.seed, {})

    def _trained(
        self, name: str, table: ExplainTable, task: str, source: str, seed: int, made: TrainedModel
    ) -> list[Step]:
        """A model of a task of the study, in the languages that it is asked in."""
        study, spoken = self.inputs.study, made.scenario.spoken
        asked = study.speaks(
            made.encoder.name,
            deduplicate_codes(source, *(table.languages or study.table.tasks[task].languages or study.languages)),
        )
        model = _Explained(
            model=made.encoder.name,
            folder=None,
            task=task,
            kind=study.kind(task),
            source=source,
            regime=made.scenario.regime,
            spoken=spoken,
            seed=seed,
            needs=made.needs,
        )
        return self._attributed(name, table, model, [c for c in asked if not spoken or c in (source, *spoken)])

    def _attributed(self, block: str, table: ExplainTable, model: _Explained, languages: Sequence[str]) -> list[Step]:
        """The language of training, which comes first, and each other beside it."""
        source = model.source
        tests = table.tests if table.tests is not None else self.inputs.study.table.tasks[model.task].tests
        files = expand_template(tests, languages, source)
        found: list[Step] = []
        for code in (code for code in languages if code in files):
            needs = model.needs | ({"source": found[0]} if found else {})
            both = deduplicate_codes(source, code)
            own = self.inputs.files_by_name({each: files[each] for each in both}, needs)
            settings = AttributeStep(
                model=model.model,
                folder=model.folder,
                block=block,
                task=model.task,
                source=source,
                language=code,
                regime=model.regime,
                bitext_languages=model.spoken,
                tests={each: given[0] for each, given in own.items()},
                rows=table.rows,
                dictionaries=self._by_language(table.dictionaries, both[1:], both, source),
                vectors=self._by_language(table.vectors, both, both, source),
                examples=table.max_examples,
                how=asdict(replace(explain_settings(table, unit="token"), seed=model.seed)),
            )
            uses = [("task", model.kind), ("attribution", table.attribution)]
            label, like = f"attribute {model.shown} {code}", f"{model.model} {model.task}"
            found.append(self.inputs.step(settings, needs, label=label, like=like, uses=uses))
        return found

    def _by_language(
        self, files: str | Mapping[str, str] | None, templated: Sequence[str], languages: Sequence[str], source: str
    ) -> dict[str, Data]:
        """The files of those of the languages that have one; a template is filled for some."""
        if files is None:
            return {}
        found = expand_template(files, templated, source)
        return {code: self.inputs.corpus(found[code][0]) for code in languages if code in found}
