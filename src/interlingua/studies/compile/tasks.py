"""The steps of a study's tasks: models under every regime and seed, and what is asked of them; what is shared, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from interlingua.analyses.transfer import (
    UNTRAINED,
    Exam,
    Scenario,
    TransferSettings,
    is_mapped,
    needs_pairs,
    plan,
    spoken_in,
    task_named,
)
from interlingua.engine.step import Step
from interlingua.studies.compile.custom_regimes import own_regime, plain_phases
from interlingua.studies.compile.study_inputs import Found, Ingredients, objectives_in
from interlingua.studies.study import expanded
from interlingua.tasks import tasks
from interlingua.tasks.retrieval import Retrieval
from interlingua.training.regime import Phase


@dataclass
class Transfers:
    """The steps of tasks; `notes` say what cannot be tested."""

    parts: Ingredients
    notes: list[str] = field(default_factory=list)

    def transfer(self, task: str, encoder: str, source: str) -> list[Step]:
        """Every regime and seed of a task: models, what is asked of them, and distances where they are wanted."""
        table, study = self.parts.study.table.tasks[task], self.parts.study
        headless = tasks[study.kind(task)].needs != "head"
        regimes = table.regimes or tuple(name for name in study.table.regimes if not headless or name in UNTRAINED)
        scenarios = self._scenarios(task, encoder, source, regimes)
        found: list[Step] = []
        for seed in study.seeds:
            for scenario in scenarios:
                found += self._asked(task, encoder, source, scenario, seed)
        return found

    def _scenarios(self, task: str, encoder: str, source: str, regimes: Sequence[str]) -> list[Scenario]:
        """What is trained for a task and tested on what; what cannot be is noted."""
        study, table = self.parts.study, self.parts.study.table.tasks[task]
        kind = study.kind(task)
        every = self._exams(task, kind, source)
        known = {source, *study.speaks(encoder, table.languages or study.languages)}
        found: list[Scenario] = []
        notes: list[str] = []
        for name in regimes:
            own = study.table.regime.get(name)
            regime = name if own is None else own_regime(name, own, task=kind)
            # Another encoder may know what this one does not, where a map leads from it to this one's head.
            knows = known | (table.test_encoder.keys() if is_mapped(regime) else set())
            exams = [exam for exam in every if knows >= set(exam.languages)]
            notes += [f"{encoder} does not know the languages of {exam.name}" for exam in every if exam not in exams]
            spoken = dict.fromkeys(code for exam in exams for code in exam.languages if code != source)
            made, more = plan(
                [regime],
                exams,
                tuple(spoken) if study.table.bitexts is not None else (),
                replace(self.parts.settings(together=study.table.adjust.joint_adjustment), source=source),
                task=kind,
                headless=tasks[kind].needs != "head",
            )
            found += made
            notes += more
        self.notes += [told for note in dict.fromkeys(notes) if (told := f"{task}: {note}") not in self.notes]
        return found

    def _exams(self, task: str, kind: str, source: str) -> list[Exam]:
        """The tests of a task without their examples, which only steps read."""
        table = self.parts.study.table.tasks[task]
        what: Any = task_named(kind, length=table.max_length, pooling=table.pooling, source=source)
        tests = self.parts.study.tests(task, source)
        found = {name: Exam(name, spoken_in(name), what, None) for name in tests}
        if self.parts.study.table.tasks[task].mix_with is not None:
            for name, exam in list(found.items()):
                if exam.judged != source:
                    found[f"{name} mixed"] = Exam(f"{name} mixed", (source, exam.judged), what, None)
        for name in self.parts.study.lookups(task, source):
            found[f"{name} retrieval"] = Exam(f"{name} retrieval", spoken_in(name), Retrieval(pivot=source), None)
        return list(found.values())

    def _trained(
        self, task: str, encoder: str, source: str, scenario: Scenario, seed: int
    ) -> tuple[str, Step | None, dict[str, Any], Found]:
        """What a scenario's model is: its role, the step that makes it, and the encoder's settings and needs."""
        needs: Found = {}
        model = self.parts.model(encoder, needs)
        table = self.parts.study.table.tasks[task]
        headless = tasks[self.parts.study.kind(task)].needs != "head"
        if headless:
            step = self.parts.adjusted(encoder, scenario.spoken, seed) if scenario.phases else None
            return "adjusted", step, model, needs
        own = self.parts.study.table.encoders[encoder]
        beside = needs_pairs(scenario.phases[-1])
        first = len(scenario.phases) > 1
        settings = replace(
            self.parts.settings(
                train_rows=table.train_rows,
                length=table.max_length,
                pooling=table.pooling,
                epochs=table.epochs,
                learning_rate=own.learning_rate or table.learning_rate,
                warmup=table.warmup,
                batch=own.batch_size or table.batch_size,
                **(
                    {"alpha": self.parts.study.table.adjust.alpha, "pairs": self.parts.adjusting["pairs"]}
                    if beside
                    else {}
                ),
            ),
            source=source,
        )
        more: Found = dict(needs)
        own_phases = self._own_phases(task, scenario.regime, settings)
        if first:
            before = None if own_phases is None else own_phases[:-1]
            more["adjusted"] = self.parts.adjusted(encoder, scenario.spoken, seed, before)
        regime = scenario.regime if beside and own_phases is None else "original"
        given = {
            "encoder": model,
            "task": self.parts.study.kind(task),
            "regime": regime,
            "train": self.parts.files(expanded(str(table.train), (source,), source)[source], more)[0],
            "dev": None
            if table.dev is None
            else self.parts.files(expanded(table.dev, (source,), source)[source], more)[0],
            "bitexts": [self.parts.bitext(code, more) for code in scenario.spoken] if beside else [],
            "settings": asdict(settings),
            "seed": seed,
        }
        shown = "adjusted" if first and not beside else regime
        if own_phases is not None:
            given["phases"] = plain_phases(own_phases[-1:])
            shown = scenario.regime
        told = f"{shown} {'+'.join(scenario.spoken) if first or beside else ''}"
        label = f"finetune {encoder} {task} {source} {told.strip()} seed {seed}"
        uses = [("task", given["task"]), *objectives_in((own_phases or ())[-1:])]
        return (
            "tuned",
            self.parts.step("finetune", given, more, label=label, like=f"{encoder} {task} {regime}", uses=uses),
            model,
            needs,
        )

    def _own_phases(self, task: str, regime: str, settings: TransferSettings) -> tuple[Phase, ...] | None:
        """The phases of a regime of the study's own, with what is set for the task; None of one of ours."""
        own = self.parts.study.table.regime.get(regime)
        if own is None:
            return None
        whole = TransferSettings(**{**vars(settings), **self.parts.adjusting})
        return own_regime(regime, own, task=self.parts.study.kind(task), settings=whole).phases

    def _asked(self, task: str, encoder: str, source: str, scenario: Scenario, seed: int) -> list[Step]:
        """What is asked of a scenario's model: its tests and, where they are wanted, distances in every state."""
        role, step, model, needs = self._trained(task, encoder, source, scenario, seed)
        made = needs | ({} if step is None else {role: step})
        about = {"encoder": model, "task": self.parts.study.kind(task), "called": task, "source": source, "seed": seed}
        label = f"{encoder} {task} {source} {scenario.regime} {'+'.join(scenario.spoken)}".strip()
        found = [self._predicted(task, scenario, about, made, label=f"predict {label} seed {seed}")]
        if not self.parts.study.table.adjust.distances or scenario.mapped or self.parts.study.table.bitexts is None:
            return found
        for code in scenario.spoken or [code for code in self.parts.study.languages if code != source]:
            states = [(scenario.regime, scenario.spoken, made)]
            if len(scenario.phases) > (0 if role == "adjusted" else 1):
                states.append(
                    (
                        "adjustment",
                        scenario.spoken,
                        needs | {"adjusted": self._before(role, step)},
                    )
                )
            states.append(("untouched", (), dict(needs)))
            for state, spoken, has in states if role == "tuned" else states[1:]:
                found.append(self._distances(about, state, spoken, code, has))
        return found

    @staticmethod
    def _before(role: str, step: Step | None) -> Step:
        """The step that adjusted a model before its task."""
        assert step is not None
        return step if role == "adjusted" else step.needs["adjusted"]

    def _distances(self, about: Mapping[str, Any], state: str, spoken: Sequence[str], code: str, needs: Found) -> Step:
        needs = dict(needs)
        settings = {
            "encoder": about["encoder"],
            # A model before its task is the same for all tasks: their names would make it another.
            "called": about["called"] if "tuned" in needs else "",
            "source": about["source"],
            "seed": about["seed"],
            "state": state,
            "spoken": list(spoken),
            "bitext": self.parts.bitext(code, needs),
            "settings": asdict(self.parts.settings(pairs=self.parts.adjusting["pairs"])),
        }
        label = f"distances {about['encoder']['name']} {state} {code} seed {about['seed']}"
        uses = [("task", about["task"])] if "tuned" in needs else []
        return self.parts.step("distances", settings, needs, label=label, like=about["encoder"]["name"], uses=uses)

    def _predicted(self, task: str, scenario: Scenario, about: Mapping[str, Any], needs: Found, *, label: str) -> Step:
        table, source = self.parts.study.table.tasks[task], about["source"]
        needs = dict(needs)
        names = [exam.name for exam in scenario.exams]
        tests = {name: files for name, files in self.parts.study.tests(task, source).items()
                 if name in names or f"{name} mixed" in names}  # fmt: skip
        lookups = {name: files for name, files in self.parts.study.lookups(task, source).items()
                   if f"{name} retrieval" in names}  # fmt: skip
        mixed = table.mix_with if any(name.endswith(" mixed") for name in names) else None
        settings = {
            **about,
            "regime": scenario.regime,
            "mapped": scenario.mapped,
            "through": self._through(task, scenario, needs),
            "spoken": list(scenario.spoken),
            "length": table.max_length,
            "pooling": table.pooling,
            "tests": {name: self.parts.files(files, needs) for name, files in tests.items()},
            "mixed": None if mixed is None else self.parts.files(expanded(mixed, (source,), source)[source], needs)[0],
            "retrieval": {name: self.parts.files(files, needs) for name, files in lookups.items()},
            "names": names,
            "rows": table.test_rows,
            "bitexts": [self.parts.bitext(code, needs) for code in scenario.spoken],
            "settings": asdict(
                self.parts.settings(map_on=self.parts.study.table.adjust.map_on, pairs=self.parts.adjusting["pairs"])
            )
            if scenario.mapped
            else asdict(self.parts.settings()),
        }
        like, uses = f"{about['encoder']['name']} {task}", [("task", about["task"])]
        return self.parts.step("predict", settings, needs, label=label, like=like, uses=uses)

    def _through(self, task: str, scenario: Scenario, needs: Found) -> dict[str, Any] | None:
        """The settings of the encoder that reads a mapped scenario's tests in place of the model's own."""
        name = self.parts.study.table.tasks[task].test_encoder.get(scenario.spoken[0]) if scenario.mapped else None
        if name is None:
            return None
        more: Found = {}
        found = self.parts.model(name, more)
        needs |= {f"through {role}": step for role, step in more.items()}
        return found

    def models(
        self, task: str, encoder: str, regime: str, seed: int, source: str
    ) -> list[tuple[Scenario, str, Step | None, dict[str, Any], Found]]:
        """The models of a task under a regime, as its own tests are given them."""
        scenarios = self._scenarios(task, encoder, source, [regime])
        return [(scenario, *self._trained(task, encoder, source, scenario, seed)) for scenario in scenarios]
