"""The steps of a study's tasks: models under every regime and seed, and what is asked of them; what is shared, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlingua.analyses.transfer import (
    UNTRAINED,
    Scenario,
    TestSet,
    TransferSettings,
    is_mapped,
    needs_pairs,
    parse_test_languages,
    plan_regimes,
    task_named,
)
from interlingua.engine.step import Step
from interlingua.studies.compile.custom_regimes import own_regime
from interlingua.studies.compile.study_inputs import Needs, StudyInputs, objectives_in
from interlingua.studies.step_settings import DistancesStep, FinetuneStep, PredictStep, StudyEncoder
from interlingua.studies.study import Study
from interlingua.tasks import tasks
from interlingua.tasks.retrieval import Retrieval
from interlingua.training.phases import Phase


@dataclass(frozen=True)
class TaskModels:
    """A task with an encoder and a language of training: what its models have in common."""

    task: str
    encoder: str
    source: str


@dataclass(frozen=True)
class TrainedModel:
    """What a scenario's model is: the step that makes it and its role, or no step; the encoder, and what that needs."""

    scenario: Scenario
    role: str
    step: Step | None
    encoder: StudyEncoder
    encoder_needs: Needs

    @property
    def needs(self) -> Needs:
        """What a step needs that reads the model."""
        return self.encoder_needs | ({} if self.step is None else {self.role: self.step})

    @property
    def is_adjusted(self) -> bool:
        """Whether the model was adjusted before its task."""
        return self.step is not None and (self.role == "adjusted" or "adjusted" in self.step.needs)

    @property
    def before_task(self) -> Needs:
        """What a step needs that reads the model as it was adjusted before its task."""
        assert self.step is not None
        return self.encoder_needs | {"adjusted": self.step if self.role == "adjusted" else self.step.needs["adjusted"]}


@dataclass
class TaskSteps:
    """The steps of tasks; `notes` say what cannot be tested."""

    inputs: StudyInputs
    notes: list[str] = field(default_factory=list)
    _cells: int = 0

    def steps(self, task: str, encoder: str, source: str) -> list[Step]:
        """Every regime and seed of a task: models, what is asked of them, and distances where they are wanted."""
        table, study = self.inputs.study.table.tasks[task], self.inputs.study
        regimes = table.regimes or tuple(
            name
            for name in study.table.regimes
            if not self._is_headless(task) or name in UNTRAINED or name in study.given
        )
        common = TaskModels(task, encoder, source)
        scenarios = self._scenarios(common, regimes)
        texts = list(dict.fromkeys(scenario.spoken for scenario in scenarios))
        self._cells += 1
        found: list[Step] = []
        for seed in study.seeds:
            for scenario in scenarios:
                # Those that train on a bitext go first, so that one that cannot be used is told before anything is
                # trained; and those on one bitext together, so that what is made of it is made once.
                late = not any(map(needs_pairs, scenario.phases))
                turn = (int(late), self._cells, seed, texts.index(scenario.spoken))
                found += [replace(step, turn=turn) for step in self._asked(common, scenario, seed)]
        return found

    def models(self, task: str, encoder: str, regime: str, seed: int, source: str) -> list[TrainedModel]:
        """The models of a task under a regime, as its own tests are given them."""
        common = TaskModels(task, encoder, source)
        return [self._trained(common, scenario, seed) for scenario in self._scenarios(common, [regime])]

    def _is_headless(self, task: str) -> bool:
        return tasks[self.inputs.study.kind(task)].needs != "head"

    def _settings(self, common: TaskModels) -> TransferSettings:
        """What the study says of training for a task; an encoder's own rate and batch take the place of the task's."""
        table, own = self.inputs.study.table.tasks[common.task], self.inputs.study.table.encoders[common.encoder]
        settings = self.inputs.settings(
            together=self.inputs.study.table.adjust.joint_adjustment,
            epochs=table.epochs,
            learning_rate=own.learning_rate or table.learning_rate,
            warmup=table.warmup,
            batch=own.batch_size or table.batch_size,
        )
        return replace(settings, source=common.source)

    def _scenarios(self, common: TaskModels, regimes: Sequence[str]) -> list[Scenario]:
        """What is trained for a task and tested on what, phases with all their values; what cannot be is noted."""
        study, table = self.inputs.study, self.inputs.study.table.tasks[common.task]
        kind, source, settings = study.kind(common.task), common.source, self._settings(common)
        every = self._exams(common.task, kind, source)
        known = {source, *study.speaks(common.encoder, table.languages or study.languages)}
        found: list[Scenario] = []
        notes: list[str] = []
        for name in regimes:
            own, regime = study.table.regime.get(name), study.given.get(name, name)
            if own is not None:
                regime = own_regime(name, own, task=kind, settings=settings)
            # Another encoder may know what this one does not, where a map leads from it to this one's head.
            knows = known | (table.test_encoder.keys() if is_mapped(regime) else set())
            exams = [exam for exam in every if knows >= set(exam.languages)]
            notes += [
                f"{common.encoder} does not know the languages of {exam.name}" for exam in every if exam not in exams
            ]
            wanted = table.languages or study.languages
            bitexts = tuple(code for code in study.linkable() if code in wanted and code in knows)
            headless = self._is_headless(common.task)
            made, more = plan_regimes([regime], exams, bitexts, settings, task=kind, headless=headless)
            found += made
            notes += more
        for note in dict.fromkeys(notes):
            told = note if len(study.table.tasks) == 1 else f"{common.task}: {note}"
            if told not in self.notes:
                self.notes.append(told)
        return found

    def _exams(self, task: str, kind: str, source: str) -> list[TestSet]:
        """The tests of a task without their examples, which only steps read."""
        table = self.inputs.study.table.tasks[task]
        what: Any = task_named(kind, length=table.max_length, pooling=table.pooling, source=source)
        tests = self.inputs.study.tests(task, source)
        found = {name: TestSet(name, parse_test_languages(name), what, None) for name in tests}
        if table.mix_with is not None:
            for name, exam in list(found.items()):
                if exam.judged != source:
                    found[f"{name} mixed"] = TestSet(f"{name} mixed", (source, exam.judged), what, None)
        for name in self.inputs.study.lookups(task, source):
            found[f"{name} retrieval"] = TestSet(
                f"{name} retrieval", parse_test_languages(name), Retrieval(pivot=source), None
            )
        return list(found.values())

    def _trained(self, common: TaskModels, scenario: Scenario, seed: int) -> TrainedModel:
        needs: Needs = {}
        model = self.inputs.model(common.encoder, needs)
        if self._is_headless(common.task):
            phases = scenario.phases
            step = self.inputs.adjusted(common.encoder, scenario.spoken, seed, phases) if phases else None
            return TrainedModel(scenario, "adjusted", step, model, needs)
        return TrainedModel(scenario, "tuned", self._finetuned(common, scenario, seed, model, needs), model, needs)

    def _finetuned(
        self, common: TaskModels, scenario: Scenario, seed: int, model: StudyEncoder, encoder_needs: Needs
    ) -> Step:
        study, source = self.inputs.study, common.source
        table, kind = study.table.tasks[common.task], study.kind(common.task)
        before, rest = _at_the_task(scenario.phases)
        needs: Needs = dict(encoder_needs)
        if before:
            needs["adjusted"] = self.inputs.adjusted(common.encoder, scenario.spoken, seed, before)
        beside = any(map(needs_pairs, rest))
        settings = FinetuneStep(
            encoder=model,
            task=self.inputs.task(kind, source=source, length=table.max_length, pooling=table.pooling),
            source=source,
            train=self.inputs.file(str(table.train), source, needs),
            train_rows=table.train_rows,
            dev=None if table.dev is None else self.inputs.file(table.dev, source, needs),
            bitexts=tuple(self.inputs.bitext(code, needs) for code in scenario.spoken) if beside else (),
            linked_rows=self.inputs.linked_rows if beside else None,
            phases=rest,
            precision=self.inputs.precision("finetune"),
            seed=seed,
            compile=table.compile,
            checkpoint_every=table.checkpoint_every,
        )
        # Steps of one key have one label: what is trained alike for several regimes is called as the first of them.
        plain = scenario.regime not in {**study.table.regime, **study.given} and not beside
        shown = ("adjusted" if before else "original") if plain else scenario.regime
        told = f"{shown} {'+'.join(scenario.spoken) if before or beside else ''}"
        label = f"finetune {common.encoder} {common.task} {source} {told.strip()} seed {seed}"
        uses = [("task", kind), *objectives_in(rest)]
        like = f"{common.encoder} {common.task} {scenario.regime if beside else 'original'}"
        return self.inputs.step(settings, needs, label=label, like=like, uses=uses)

    def _asked(self, common: TaskModels, scenario: Scenario, seed: int) -> list[Step]:
        """What is asked of a scenario's model: its tests and, where they are wanted, distances in every state."""
        study, made = self.inputs.study, self._trained(common, scenario, seed)
        found = [self._predicted(common, made, seed)]
        if not study.table.adjust.distances or scenario.mapped or study.table.bitexts is None:
            return found
        for code in scenario.spoken or study.linkable():
            states: list[tuple[str, tuple[str, ...], Needs]] = [("untouched", (), made.encoder_needs)]
            if made.is_adjusted:
                states.append(("adjustment", scenario.spoken, made.before_task))
            if made.role == "tuned":
                states.append((scenario.regime, scenario.spoken, made.needs))
            found += [
                self._distances(common, made.encoder, state, spoken, code, needs, seed)
                for state, spoken, needs in states
            ]
        return found

    def _distances(
        self,
        common: TaskModels,
        encoder: StudyEncoder,
        state: str,
        spoken: tuple[str, ...],
        code: str,
        model_needs: Needs,
        seed: int,
    ) -> Step:
        needs = dict(model_needs)
        settings = DistancesStep(
            encoder=encoder,
            # A model before its task is the same for all tasks: their names would make it another.
            block=common.task if "tuned" in needs else "",
            source=common.source,
            state=state,
            bitext_languages=spoken,
            bitext=self.inputs.bitext(code, needs),
            linked_rows=self.inputs.linked_rows,
            precision=self.inputs.precision("distances"),
            seed=seed,
        )
        label = f"distances {encoder.name} {state} {code} seed {seed}"
        uses = [("task", self.inputs.study.kind(common.task))] if "tuned" in needs else []
        return self.inputs.step(settings, needs, label=label, like=encoder.name, uses=uses)

    def _predicted(self, common: TaskModels, made: TrainedModel, seed: int) -> Step:
        study, source, scenario = self.inputs.study, common.source, made.scenario
        table, kind, needs = study.table.tasks[common.task], study.kind(common.task), dict(made.needs)
        names = tuple(exam.name for exam in scenario.exams)
        tests = {
            name: files
            for name, files in study.tests(common.task, source).items()
            if name in names or f"{name} mixed" in names
        }
        lookups = {
            name: files for name, files in study.lookups(common.task, source).items() if f"{name} retrieval" in names
        }
        mixed = table.mix_with if any(name.endswith(" mixed") for name in names) else None
        settings = PredictStep(
            encoder=made.encoder,
            task=self.inputs.task(kind, source=source, length=table.max_length, pooling=table.pooling),
            block=common.task,
            source=source,
            regime=scenario.regime,
            mapped=scenario.mapped,
            through=self._through(common.task, scenario, needs),
            bitext_languages=scenario.spoken,
            tests=self.inputs.files_by_name(tests, needs),
            mixed=None if mixed is None else self.inputs.file(mixed, source, needs),
            retrieval=self.inputs.files_by_name(lookups, needs),
            names=names,
            rows=table.test_rows,
            bitexts=tuple(self.inputs.bitext(code, needs) for code in scenario.spoken),
            linked_rows=self.inputs.linked_rows if scenario.mapped else None,
            map_on=study.table.adjust.map_on if scenario.mapped else None,
            precision=self.inputs.precision("predict"),
            seed=seed,
        )
        shown = f"{common.encoder} {common.task} {source} {scenario.regime} {'+'.join(scenario.spoken)}".strip()
        like = f"{common.encoder} {common.task}"
        return self.inputs.step(settings, needs, label=f"predict {shown} seed {seed}", like=like, uses=[("task", kind)])

    def _through(self, task: str, scenario: Scenario, needs: Needs) -> StudyEncoder | None:
        """The encoder that reads a mapped scenario's tests in place of the model's own."""
        name = self.inputs.study.table.tasks[task].test_encoder.get(scenario.spoken[0]) if scenario.mapped else None
        if name is None:
            return None
        more: Needs = {}
        found = self.inputs.model(name, more)
        needs |= {f"through {role}": step for role, step in more.items()}
        return found


def _at_the_task(phases: Sequence[Phase]) -> tuple[tuple[Phase, ...], tuple[Phase, ...]]:
    """The phases before the first with a task in it, which serve every task, and the rest."""
    place = next((n for n, phase in enumerate(phases) if any(part.objective == "task" for part in phase.parts)), None)
    place = len(phases) if place is None else place
    return tuple(phases[:place]), tuple(phases[place:])


def saved_models(study: Study, steps: Iterable[Step]) -> Iterator[tuple[PredictStep, Step]]:
    """The fine-tunings whose models tasks ask to be saved, each with the settings of a step that gives it its tests.

    Under a regime that maps the model is that of another regime.
    """
    for step in steps:
        settings, tuned = step.settings, step.needs.get("tuned")
        if not isinstance(settings, PredictStep) or settings.mapped or tuned is None:
            continue
        if study.table.tasks[settings.block].save_models:
            yield settings, tuned
