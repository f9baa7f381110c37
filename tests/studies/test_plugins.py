"""A study's own files: measures, objectives and tasks by name, in every process, and rerun where they changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from interlingua.commands.study import PlannedStudy, plan_study
from interlingua.engine.digests import Digests
from interlingua.engine.graph import Graph, StepState
from interlingua.engine.records import Records
from interlingua.engine.runner import run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from interlingua.record import Record
from interlingua.registry import ListedEntry, list_registered
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.plugins import REGISTRIES, load_all
from steps_for_tests import Settings
from worlds import World, make_world, run_here

MEASURE = '''"""A measure of ours."""

from interlingua.measures import measures
from interlingua.metric import Metric
from interlingua.score import Score


@measures.register("twice", needs="sentences", metrics=[Metric(name="rows", title="Rows", higher_is_better=False)])
def twice(source, target):
    """Twice the number of rows."""
    return {"rows": Score(2.0 * len(source), len(source))}
'''
OBJECTIVE = '''"""The means of two languages' words brought together, as docs/extending.md has it."""

from __future__ import annotations

from dataclasses import dataclass

from interlingua.objectives import objectives
from interlingua.training.pair_batches import PairPass


@objectives.register("centre")
@dataclass
class Centre:
    """Squared distance of the mean vectors of a batch's linked words."""

    pairs: PairPass
    layer: int = -1

    def prepare(self, model):
        return self.pairs.prepare(model, self.layer)

    def batch(self, step, *, rank, world, device):
        return self.pairs.batch(step, rank=rank, world=world, device=device)

    def loss(self, model, batch):
        words = self.pairs.words(model, batch, self.layer).flatten(0, 1)
        apart = words.index_select(0, batch["left"]) - words.index_select(0, batch["right"])
        return ((apart * batch["pair_weight"][:, None]).sum(dim=0) / batch["counts"][0]).square().sum()
'''
TASK = '''"""Names again, as a task of ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from interlingua.tasks import tasks
from interlingua.tasks.ner import METRICS, Ner
from interlingua.training.task import FineTuning


@tasks.register("tagging", needs="head", metrics=METRICS)
@dataclass(frozen=True)
class Tagging(Ner):
    """Tags of words."""

    name: ClassVar[str] = "tagging"
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=5e-3, epochs=1)
'''
STUDY = """
name = "brought"
plugins = ["measure.py", "objective.py", "task.py"]
languages = ["ru"]
seeds = 1
regimes = ["original", "centred"]
[encoders.bert]
model = "model"
[bitexts]
files = "bitext.{source}-{language}.tsv"
links = "links"
[adjust]
max_pairs = 40
held_out = 20
[regime.centred]
phases = [{ parts = [{ objective = "centre" }] }, { parts = [{ objective = "task" }] }]
[tasks.tagging]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
train_rows = 32
batch_size = 16
[measures.rows]
measures = ["twice"]
corpus = "parallel.tsv"
[measures.plain]
measures = ["cka"]
corpus = "parallel.tsv"
"""


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> object:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True, scope="module")
def _registries_as_they_were() -> object:
    before = [(registry, dict(registry._entries)) for registry in REGISTRIES if list(registry)]
    yield
    for registry, entries in before:
        registry._entries.clear()
        registry._entries.update(entries)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("brought"))
    for name, text in (("study.toml", STUDY), ("measure.py", MEASURE), ("objective.py", OBJECTIVE), ("task.py", TASK)):
        (made.folder / name).write_text(text, "utf-8")
    return made


@pytest.fixture(scope="module")
def done(world: World, tmp_path_factory: pytest.TempPathFactory) -> PlannedStudy:
    planned = plan_study(world["study.toml"], out=tmp_path_factory.mktemp("study") / "out")
    run_here(planned)
    return planned


def test_a_measure_a_task_and_an_objective_of_ones_own_are_used(done: PlannedStudy) -> None:
    records = Records(Record, done.workspace.folder).read()
    assert {(r.key, r.value, r.higher_is_better) for r in records if r.measure == "twice"} == {("rows", 60.0, False)}
    assert {r.higher_is_better for r in records if r.measure == "cka"} == {True}
    told = {(r.task, r.regime) for r in records if r.regime is not None}
    assert told == {("tagging", "original"), ("tagging", "centred")}
    assert done.run().done == 0


@pytest.mark.parametrize(
    ("file", "again"),
    [
        ("measure.py", {"measure twice bert"}),
        (
            "objective.py",
            {
                "adjust bert ru seed 0",
                "finetune bert tagging en centred ru seed 0",
                "predict bert tagging en centred ru seed 0",
            },
        ),
        (
            "task.py",
            {
                "finetune bert tagging en original seed 0",
                "predict bert tagging en original seed 0",
                "finetune bert tagging en centred ru seed 0",
                "predict bert tagging en centred ru seed 0",
            },
        ),
    ],
)
def test_a_changed_file_reruns_what_uses_it_and_no_more(
    world: World, done: PlannedStudy, file: str, again: set[str]
) -> None:
    path = world.folder / file
    before = path.read_text("utf-8")
    try:
        path.write_text(before + "\n# changed\n", "utf-8")
        planned = plan_study(world["study.toml"], out=done.workspace.folder)
        states = planned.states()
        assert {step.shown for step in planned.graph if states[step.key] is StepState.NEEDED} == again
    finally:
        path.write_text(before, "utf-8")
    assert StepState.NEEDED not in plan_study(world["study.toml"], out=done.workspace.folder).states().values()


def test_a_file_that_registers_nothing_or_a_reader_is_for_every_step(tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("X = 1\n", "utf-8")
    (tmp_path / "measure.py").write_text(MEASURE, "utf-8")
    found = load_all([tmp_path / "nothing.py", tmp_path / "measure.py"])
    assert found.names == {("measure", "twice"): tmp_path / "measure.py"}
    assert found.used([("measure", "cka")]) == [tmp_path / "nothing.py"]
    assert found.used([("measure", "twice")]) == [tmp_path / "nothing.py", tmp_path / "measure.py"]


def steps(tmp_path: Path) -> list[Step]:
    (tmp_path / "mine.py").write_text(MEASURE.replace('"twice"', '"thrice"'), "utf-8")
    file = Digests().file(tmp_path / "mine.py")
    return [Step("steps_for_tests:knows", Settings(measure="thrice"), load=(file,))]


def test_worker_processes_load_the_files_of_a_step(tmp_path: Path) -> None:
    found = steps(tmp_path)
    ran = run(Graph(found), Workspace(tmp_path / "out"))
    assert not ran.failed, ran.failed
    bare = [Step("steps_for_tests:knows", Settings(measure="thrice"))]
    assert bare[0].key != found[0].key
    (failure,) = run(Graph(bare), Workspace(tmp_path / "bare")).failed
    assert "unknown measure: 'thrice'" in failure.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise ValueError('no')\n", "cannot be loaded (ValueError: no)"),
        ("def f(:\n", "cannot be loaded (SyntaxError"),
        (None, "no such file to load"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_told_with_the_line_that_names_it(
    world: World, text: str | None, told: str
) -> None:
    file = world.folder / "broken.toml"
    path = world.folder / "broken.py"
    path.unlink(missing_ok=True)
    if text is not None:
        path.write_text(text, "utf-8")
    file.write_text(STUDY.replace('"task.py"]', '"task.py", "broken.py"]'), "utf-8")
    with pytest.raises(ConfigErrors) as wrong:
        plan_study(file)
    problem = wrong.value.problems[0]
    assert told in str(problem)
    assert problem.line == 3


def test_a_measure_of_names_that_a_file_brings_is_given_the_spellings(world: World, tmp_path: Path) -> None:
    text = MEASURE.replace("twice", "longer").replace('"sentences"', '"names"')
    (world.folder / "longer.py").write_text(text, "utf-8")
    (world.folder / "names.tsv").write_text("en\tru\nLondon\tЛондон\n", "utf-8")
    head = 'name = "x"\nlanguages = ["ru"]\nplugins = ["longer.py"]\n[encoders.bert]\nmodel = "model"\n'
    table = '[measures.m]\ncorpus = "parallel.tsv"\nmeasures = ["longer"]\nspellings = "names.tsv"\n'
    (world.folder / "longer.toml").write_text(head + table, "utf-8")
    planned = plan_study(world["longer.toml"], out=tmp_path / "out")
    run_here(planned)
    assert {(r.unit, r.value) for r in Records(Record, planned.workspace.folder).read()} == {("name", 2.0)}


def test_a_list_read_from_source_is_that_of_what_is_registered() -> None:
    for registry in REGISTRIES:
        own = [entry for entry in registry if entry.call.__module__.startswith(registry.package)]
        (name,) = (name for name, value in vars(sys.modules[registry.package]).items() if value is registry)
        with pytest.MonkeyPatch.context() as patched:
            patched.delitem(sys.modules, registry.package)
            read = list_registered(registry.package, name)
        assert read == [ListedEntry(entry.name, entry.needs, entry.summary, entry.metrics) for entry in own]
