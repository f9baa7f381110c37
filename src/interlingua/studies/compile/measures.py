"""The steps of a study's measures and explanations, over encoders and the states that training leaves them in."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b

from interlingua.analyses.explanation import ExplainSettings
from interlingua.analyses.space_measures import HEADLINE, NAME, needs_words
from interlingua.engine.step import Step
from interlingua.measures import measures
from interlingua.measures.procrustes import dictionary_precision
from interlingua.studies.compile.study_inputs import Needs, StudyInputs, once
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
from interlingua.studies.study import expanded


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
class _State:
    """A model that may be measured: the study's encoder, what it is called, its settings and what they need."""

    encoder: str
    called: str
    model: StudyEncoder
    needs: Needs


@dataclass(frozen=True)
class _Side:
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
        languages = table.languages or once(self.inputs.study.table.source, *self.inputs.study.languages)
        found: list[Step] = []
        for states in self._measured_together(table):
            sides = [self._side(state, languages, table) for state in states]
            of_dictionary = (NAME,) if table.dictionary is not None else ()
            made = {each: self._measure(each, name, table, sides) for each in (*table.measures, *of_dictionary)}
            found += made.values()
            found += [self._map(sides[0], made)] if table.map else []
        return found

    def _measured_together(self, table: MeasureTable) -> list[tuple[_State, ...]]:
        """What is measured together: one model, or two where encoders are compared."""
        if table.against:
            return [tuple(self._as_it_came(name) for name in pair) for pair in table.against]
        return [(state,) for state in self._states(table)]

    def _as_it_came(self, encoder: str) -> _State:
        needs: Needs = {}
        return _State(encoder, encoder, self.inputs.model(encoder, needs), needs)

    def _states(self, table: MeasureTable) -> list[_State]:
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

    def _adjusted(self, encoder: str, seed: int) -> list[_State]:
        """The adjusted models, one per bitext where each language has its own."""
        study = self.inputs.study
        needs: Needs = {}
        model = self.inputs.model(encoder, needs)
        foreign = tuple(code for code in study.languages if code != study.table.source)
        groups = [foreign] if study.table.adjust.joint_adjustment else [(code,) for code in foreign]
        phases = self.inputs.adjust_phases
        return [
            _State(
                encoder,
                f"{encoder} adjusted {'+'.join(group)} seed {seed}",
                model,
                needs | {"adjusted": self.inputs.adjusted(encoder, group, seed, phases)},
            )
            for group in groups
        ]

    def _tuned(self, encoder: str, task: str, regime: str, seed: int) -> list[_State]:
        """The models of a task under a regime."""
        found = []
        sources = self.inputs.study.sources(task)
        for source in sources:
            trained = f" {source}" if len(sources) > 1 else ""
            for made in self.tasks.models(task, encoder, regime, seed, source):
                called = f"{encoder} {task}/{regime}{trained} {'+'.join(made.scenario.spoken)}".strip()
                found.append(_State(encoder, f"{called} seed {seed}", made.encoder, made.needs))
        return found

    def _side(self, state: _State, languages: tuple[str, ...], table: MeasureTable) -> _Side:
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
        return _Side(encoded, state.needs, self.inputs.step(encoded, state.needs, label=label, like=state.encoder))

    def _parallel(self, name: str, languages: Sequence[str], table: MeasureTable) -> StudyCorpus:
        how = {"format": table.format, "encoding": table.encoding, "column": table.column}
        return self.inputs.parallel(name, languages, **how)  # type: ignore[arg-type]

    def _measure(self, measure: str, name: str, table: MeasureTable, sides: Sequence[_Side]) -> Step:
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

    def _map(self, side: _Side, made: Mapping[str, Step]) -> Step:
        """The map of a model's sentences; the measures that the best layer is chosen by come before it."""
        chosen = [measure for measure, *_ in HEADLINE if measure in made][:1]
        needs = _needs([side]) | {f"measure {measure}": made[measure] for measure in chosen}
        encoder = side.encoded.encoder.name
        return self.inputs.step(MapStep(encoded=side.encoded), needs, label=f"map {encoder}", like=encoder)


def _needs(sides: Sequence[_Side]) -> Needs:
    """The steps behind each side: a measure reads vectors, and of the model what it is called and its digest."""
    needs: Needs = {}
    for place, side in enumerate(sides):
        needs |= {f"{place} {role}": step for role, step in (side.needs | {"encode": side.step}).items()}
    return needs


@dataclass
class ExplainSteps:
    """The steps of tables of explanations."""

    inputs: StudyInputs
    tasks: TaskSteps

    def steps(self, name: str, table: ExplainTable) -> list[Step]:
        study, found = self.inputs.study, []
        for task in table.tasks:
            for encoder in study.encoders(table.encoders or study.table.tasks[task].encoders):
                for source in study.sources(task):
                    for regime in table.regimes:
                        for seed in table.seeds or study.seeds:
                            for made in self.tasks.models(task, encoder, regime, seed, source):
                                if made.step is not None:
                                    found.append(self._attributed(name, table, task, source, seed, made))
        return found

    def _attributed(
        self, name: str, table: ExplainTable, task: str, source: str, seed: int, made: TrainedModel
    ) -> Step:
        """The language of training beside each other language that a model is asked in."""
        study, scenario, needs = self.inputs.study, made.scenario, dict(made.needs)
        encoder, spoken = made.encoder.name, scenario.spoken
        asked = study.speaks(
            encoder, once(source, *(table.languages or study.table.tasks[task].languages or study.languages))
        )
        languages = [code for code in asked if not spoken or code in (source, *spoken)]
        data = table.tests if table.tests is not None else study.table.tasks[task].tests
        given = {code: files for code, files in expanded(data, languages, source).items() if code in languages}
        own = {each.name: getattr(table, each.name) for each in fields(ExplainSettings) if hasattr(table, each.name)}
        settings = AttributeStep(
            encoder=made.encoder,
            block=name,
            task=task,
            source=source,
            regime=scenario.regime,
            bitext_languages=spoken,
            data={code: files[0] for code, files in self.inputs.files_by_name(given, needs).items()},
            rows=table.rows,
            dictionaries=self._by_language(table.dictionaries, languages, source),
            vectors=self._by_language(table.vectors, languages, source),
            how=asdict(ExplainSettings(**own, seed=seed)),
        )
        told = f"{encoder} {task} {source} {scenario.regime} {'+'.join(spoken)}".strip()
        uses = [("task", study.kind(task)), ("attribution", table.attribution)]
        label, like = f"attribute {told} seed {seed}", f"{encoder} {task}"
        return self.inputs.step(settings, needs, label=label, like=like, uses=uses)

    def _by_language(
        self, files: str | Mapping[str, str] | None, languages: Sequence[str], source: str
    ) -> dict[str, Data]:
        if files is None:
            return {}
        others = [code for code in languages if code != source]
        return {code: self.inputs.corpus(found[0]) for code, found in expanded(files, others, source).items()}
