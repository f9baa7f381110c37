"""Does a model trained in one language work in others? Regimes × seeds trained, what they share once, exams taken."""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from interlingua.analyses.aligned_bitext import LinkedFiles, LinkedText
from interlingua.analyses.evaluation import Examiner, prediction_file, prediction_lines
from interlingua.analyses.training_inputs import Material, Pairs, Progress, drawn_pairs, loop_settings, stages
from interlingua.analyses.transfer import STATES, Exam, Lesson, Run, Scenario, TransferSettings, needs_pairs
from interlingua.encoder import Encoder
from interlingua.encoder.loading import default_precision
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store, step_of
from interlingua.record import Made
from interlingua.studies.run_folder import STATE
from interlingua.tasks.saved_models import FineTuned, made_by, save
from interlingua.training.processes import first_process_first, is_first_process
from interlingua.training.regime import Place, Stage, train_stages
from interlingua.training.task import TaskModel

_LINKS = "links"


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a model that a run trained: a key, and how it is measured.

    `saves` where a model's folder is written instead; `place` is that folder, or the file beside the records: their
    names say nothing of settings, so each says its key.
    """

    key: str
    label: str
    measure: Callable[[FineTuned], Made]
    saves: bool = False
    place: str | None = None


@dataclass
class TransferStudy:
    """A transfer study with all its data read and checked; `run` trains and measures what is not in the store yet."""

    encoder: Encoder
    lesson: Lesson
    scenarios: Sequence[Scenario]
    bitexts: Mapping[str, LinkedFiles]
    seeds: Sequence[int]
    settings: TransferSettings
    store: Store
    keep: bool = False
    progress: Progress | None = None
    trained: list[dict[str, Any]] = field(default_factory=list)
    """What was trained now: run, phase, seed, steps and seconds."""
    notes: list[str] = field(default_factory=list)
    """What was left out of linked text."""
    _texts: dict[str, LinkedText] = field(default_factory=dict)
    _pairs: dict[tuple[str, int], Pairs] = field(default_factory=dict)
    _materials: dict[tuple[tuple[str, ...], int], Material] = field(default_factory=dict)

    @property
    def precision(self) -> str:
        return self.settings.precision or default_precision(self.encoder.device)

    @cached_property
    def examiner(self) -> Examiner:
        exams = {exam.name: exam for scenario in self.scenarios for exam in scenario.exams}
        return Examiner(
            self.encoder, self.lesson, self.settings, self.bitexts, tuple(exams.values()), self.precision, self._linked
        )

    @cached_property
    def plan(self) -> list[tuple[Run, list[Wanted]]]:
        """Every run with what is wanted of it, in the order in which they are trained.

        Seed by seed, and within a seed by the text they read, so that what is made of it is made once.
        """
        found: dict[Run, list[Wanted]] = {}
        texts = list(dict.fromkeys(scenario.spoken for scenario in self.scenarios))
        for seed in self.seeds:
            for scenario in sorted(self.scenarios, key=lambda scenario: texts.index(scenario.spoken)):
                pairs = any(needs_pairs(phase) for phase in scenario.phases)
                run = Run(scenario.phases, scenario.spoken if pairs else (), seed)
                if self.settings.distances and pairs:
                    for count in range(len(run.phases)):
                        self._add_distances(found, replace(run, phases=run.phases[:count]), "")
                wanted = found.setdefault(run, [])
                wanted += [self._wanted_exam(run, scenario, exam) for exam in scenario.exams]
                if self.settings.distances and not scenario.mapped:
                    self._add_distances(found, run, scenario.regime)
                if self.keep and not scenario.mapped:
                    wanted.append(self._wanted_model(run, scenario))
        return list(found.items())

    @property
    def steps(self) -> list[str]:
        """The keys of all that is to be in the store."""
        return [each.key for _, wanted in self.plan for each in wanted if not each.saves]

    def run(self) -> None:
        """Train and measure, run by run; a run that was killed goes on from its newest checkpoint."""
        left = [(run, [each for each in wanted if not self._done(each)]) for run, wanted in self.plan]
        todo = [(run, missing) for run, missing in left if missing]
        for run, _ in todo:
            for code in run.spoken if run.seed == todo[0][0].seed else ():
                self._linked(code, run.seed)  # Text that cannot be used ends the run before anything is trained.
        for number, (run, missing) in enumerate(todo):
            self._tell("models", number, len(todo))
            self._one(run, missing)
            self._sweep([other for other, _ in todo[number + 1 :]])
        if todo:
            self._tell("models", len(todo), len(todo))
        self._sweep([])

    def _done(self, each: Wanted) -> bool:
        """Whether what is wanted is there; what other settings left under the same name is made again."""
        place = None if each.place is None else self.store.folder / each.place
        if each.saves:
            return place is not None and made_by(place) == each.key
        return self.store.done(each.key) and (place is None or step_of(place) in (None, each.key))

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None and is_first_process():
            self.progress(stage, done, total)

    def _one(self, run: Run, wanted: Sequence[Wanted]) -> None:
        """Train a run and take what is measured of it; the first of several processes measures for all."""
        tuned = self._fresh(run.seed)
        self._train(tuned, run, wanted[0].label)
        if not is_first_process():
            return
        tuned.model.eval()
        for each in wanted:
            made = each.measure(tuned)
            if not each.saves and not self.store.done(each.key):
                self.store.append(each.key, made)

    def _fresh(self, seed: int) -> FineTuned:
        """The model as it came, under a head drawn by the seed."""
        body = copy.deepcopy(self.encoder.model)
        inside = Encoder.of(body, self.encoder.tokenizer, name=self.encoder.name, precision=self.precision)
        if self.lesson.headless:
            model = TaskModel(body.float().requires_grad_(True), torch.nn.Identity())
        else:
            model = TaskModel.of(inside, self.lesson.task, self.lesson.labels, seed=seed)
        return FineTuned(self.lesson.task, self.lesson.labels, model, inside)

    def _train(self, tuned: FineTuned, run: Run, label: str) -> None:
        """Train phase after phase, each with its state in a folder that all runs with the same beginning share."""
        if not run.phases:
            return
        shown = f"{label}, seed {run.seed}"
        for stage, key in zip(self._stages(tuned, run), self._prefixes(run), strict=True):
            place = Place(self.store.folder / STATE / key)
            began, state = time.monotonic(), place.checkpoint(0, stage).state()
            train_stages(
                tuned.model,
                [stage],
                device=self.encoder.device,
                place=place,
                progress=lambda _, done, total: self._tell(shown, done, total),
            )
            own = label if any(term.name == "task" for term in stage.terms) else f"{stage.name} {'+'.join(run.spoken)}"
            self._keep_journal(place.journal(0, stage), f"{own} seed{run.seed}")
            if not state.get("finished"):
                steps = stage.settings.steps - int(state.get("step", 0))
                seconds = round(time.monotonic() - began, 2)
                about = {"run": label, "phase": stage.name, "seed": run.seed, "steps": steps, "seconds": seconds}
                self.trained.append(about)

    def _keep_journal(self, journal: Path, name: str) -> None:
        """Keep the metrics of a phase's steps, which its state has until it is removed; of the newest settings."""
        kept = self.store.folder / "steps" / f"{name.replace(' ', '-')}.jsonl"
        if is_first_process() and journal.is_file():
            write_text(kept, journal.read_text("utf-8"))

    def _stages(self, tuned: FineTuned, run: Run) -> list[Stage]:
        dev = self.lesson.dev is not None
        like = loop_settings(
            self.encoder.device,
            self.precision,
            graph=self.settings.graph,
            compile=self.settings.compile,
            checkpoint_every=self.settings.checkpoint_every,
            best=self.lesson.task.metric if dev else None,
        )
        return stages(
            tuned.model,
            run.phases,
            self._material(run),
            like=like,
            monitors={"task": self.examiner.watch} if dev else None,
            progress=self._tell,
        )

    def _material(self, run: Run) -> Material:
        """What the stages of a run are made of; kept for the next one on the same text."""
        key = (run.spoken, run.seed)
        if key not in self._materials:
            self._materials.clear()
            self._materials[key] = Material(
                self.lesson.task,
                self.examiner.train_inputs,
                run.spoken,
                lambda code: self._linked(code, run.seed),
                self.settings.pairs,
                run.seed,
                self.precision,
                steady=self.encoder.device.type == "cuda",
            )
        return self._materials[key]

    def _linked(self, code: str, seed: int) -> Pairs:
        if (code, seed) not in self._pairs:
            self._pairs = {key: pairs for key, pairs in self._pairs.items() if key[1] == seed}
            if code not in self._texts:
                self._tell(f"linking {code}", 0, 1)
                kept = self.store.folder / STATE / _LINKS / f"{self.bitexts[code].digest}.npz"
                with first_process_first(self.encoder.device):
                    self._texts[code] = self.bitexts[code].read(kept, progress=self._tell)
                self._tell(f"linking {code}", 1, 1)
            made = drawn_pairs(self._texts[code], self.encoder, self.settings.pairs, seed=seed)
            self._pairs[code, seed] = made
            self.notes += [f"{code}: {note}" for note in made.notes if f"{code}: {note}" not in self.notes]
        return self._pairs[code, seed]

    def _sweep(self, others: Sequence[Run]) -> None:
        """Remove the states that no run to come begins with."""
        if not is_first_process():
            return
        needed = {key for run in others for key in self._prefixes(run)} | ({_LINKS} if others else set())
        home = self.store.folder / STATE
        if not others:
            shutil.rmtree(home, ignore_errors=True)
        for folder in home.iterdir() if home.is_dir() else ():
            if folder.name not in needed:
                shutil.rmtree(folder, ignore_errors=True)

    def _prefixes(self, run: Run) -> list[str]:
        return run.prefixes(self._base, self.bitexts)

    @cached_property
    def _base(self) -> str:
        return f"{self.encoder.digest} {self.lesson.digest} {self.settings.pairs!r} {self.precision}"

    def _key(self, run: Run, *what: str) -> str:
        whole = f"{self._base} {self._prefixes(run)} {run.seed} {what}"
        return blake2b(whole.encode(), digest_size=16).hexdigest()

    def _wanted_exam(self, run: Run, scenario: Scenario, exam: Exam) -> Wanted:
        told = [self.settings.map_on, self.bitexts[exam.judged].digest] if scenario.mapped else []
        key = self._key(run, scenario.regime, exam.name, exam.digest, repr(exam.task), *told)
        model = _model(scenario, run)
        place = prediction_file(model, exam.name)

        def measure(tuned: FineTuned) -> Made:
            found = self.examiner.examine(tuned, scenario, exam, run.seed)
            if found.predictions is not None:  # Before the records, so that a step that is done has them.
                about = {"model": model, "regime": scenario.regime, "seed": run.seed, "step": key}
                write_text(self.store.folder / place, prediction_lines(exam, found.predictions, about))
            return found.made

        return Wanted(key, _label(scenario), measure, place=place)

    def _add_distances(self, found: dict[Run, list[Wanted]], run: Run, regime: str) -> None:
        """Related and unrelated words after a run's last phase, for each language whose bitext it may be asked for."""
        state = regime or STATES[bool(run.phases)]
        run = run if any(needs_pairs(phase) for phase in run.phases) else replace(run, spoken=())
        wanted = found.setdefault(run, [])
        for code in run.spoken or tuple(self.bitexts):
            key = self._key(run, "distances", state, code, self.bitexts[code].digest)
            if key not in [each.key for each in wanted]:
                wanted.append(Wanted(key, state, self._distances(run, state, code)))

    def _distances(self, run: Run, state: str, code: str) -> Callable[[FineTuned], Made]:
        return lambda tuned: self.examiner.distances(tuned, state, run.spoken, code, run.seed)

    def _wanted_model(self, run: Run, scenario: Scenario) -> Wanted:
        name = f"models/{_model(scenario, run)}"
        key = self._key(run, "model")

        def measure(tuned: FineTuned) -> Made:
            save(tuned, self.store.folder / name, step=key)
            return []

        return Wanted(key, _label(scenario), measure, saves=True, place=name)


def _label(scenario: Scenario) -> str:
    return f"{scenario.regime} {'+'.join(scenario.spoken)}" if scenario.spoken else scenario.regime


def _model(scenario: Scenario, run: Run) -> str:
    """What a trained model is called: its folder, where it is kept, and its predictions."""
    return f"{_label(scenario).replace(' ', '-')}-seed{run.seed}"
