"""Keys of a study's steps hold values: what a file leaves to the task, the regime or the device is filled in before."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

import interlingua.studies.steps
from interlingua.commands.study import PlannedStudy, plan_study
from interlingua.encoder import Encoder
from interlingua.encoder.model_loading import find_folder
from interlingua.engine import machine
from interlingua.engine.executors import Options, executors
from interlingua.engine.step import ObjectCache, resolve, settings_class
from interlingua.errors import InputError
from interlingua.studies.step_settings import KINDS, AdjustStep, FinetuneStep
from interlingua.tasks.ner import Ner
from interlingua.tasks.text_pairs import Nli
from interlingua.training import regime
from interlingua.training.task import FineTuning

STUDY = """
name = "small"
languages = ["ru"]
seeds = 1
regimes = ["original", "adjusted", "continual"]

[encoders.one]
model = "embedded"

[bitexts]
corpus = "sampler"

[synth.names]
rows = 20

[tasks.ner]
train = "@names/{source}.train.iob2"
tests = "@names/{language}.test.iob2"

[tasks.pairs]
task = "nli"
train = "nli.tsv"
tests = "nli.tsv"
regimes = ["original"]

[measures.space]
measures = ["cka"]
corpus = "sampler"

[explanations.ig]
tasks = ["ner"]

[geometry.names]
synth = "names"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nli.tsv").write_text("premise\thypothesis\tlabel\na\tb\tneutral\n", "utf-8")
    return tmp_path


def planned(folder: Path, text: str = STUDY, **given: Any) -> PlannedStudy:
    (folder / "study.toml").write_text(text, "utf-8")
    return plan_study(folder / "study.toml", out=folder / "out", **given)


def keys(found: PlannedStudy) -> dict[str, str]:
    return {step.shown: step.key for step in found.graph}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """The kinds of the steps whose keys differ."""
    assert before.keys() == after.keys()
    return {shown.partition(" ")[0] for shown in before if before[shown] != after[shown]}


def test_every_kind_has_a_module_whose_function_takes_its_settings() -> None:
    place = Path(str(interlingua.studies.steps.__file__)).parent
    modules = {path.stem for path in place.glob("*.py")} - {"__init__", "step_io"}
    assert modules == KINDS.keys()
    for kind, settings in KINDS.items():
        assert settings_class(resolve(f"interlingua.studies.steps.{kind}:run")) is settings
        assert get_type_hints(settings).keys() > {field.name for field in fields(settings)}  # CODE, ON_GPU


def test_settings_of_steps_are_read_without_torch() -> None:
    code = "import sys, interlingua.studies.step_settings; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_equal_studies_have_equal_keys_wherever_they_lie(folder: Path) -> None:
    first = planned(folder)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "nli.tsv").write_bytes((folder / "nli.tsv").read_bytes())
    assert keys(first) == keys(planned(folder / "elsewhere", "# The same.\n" + STUDY))


def test_a_default_that_is_named_is_no_change(folder: Path) -> None:
    named = (
        f"epochs = {Ner.defaults.epochs}\nlearning_rate = {Ner.defaults.learning_rate}\n"
        f"batch_size = {Ner.defaults.batch}\n"
        f"max_length = {Ner().length}\n"
    )
    text = STUDY.replace("[tasks.ner]\n", f"[tasks.ner]\n{named}").replace("seeds = 1", 'seeds = 1\nprecision = "fp32"')
    text = text.replace("[bitexts]\n", '[bitexts]\naligner = "diagonal"\n')
    text += f"learning_rate = {Ner.defaults.learning_rate}\nbatch_size = {Ner.defaults.batch}\nepochs = 1\n"
    text += "[adjust]\nepochs = 1.0\nlearning_rate = 5e-5\nbatch_size = 32\nalpha = 0.01\n"
    assert keys(planned(folder, text)) == keys(planned(folder))


@pytest.mark.parametrize(
    "usual",
    [FineTuning(1e-5, Ner.defaults.epochs), FineTuning(Ner.defaults.learning_rate, 7),
     FineTuning(Ner.defaults.learning_rate, Ner.defaults.epochs, 8)],
)  # fmt: skip
def test_another_default_of_a_task_makes_other_models_of_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, usual: FineTuning
) -> None:
    before = keys(planned(folder))
    monkeypatch.setattr(Ner, "defaults", usual)
    after = keys(planned(folder))
    assert changed(before, after) >= {"finetune", "predict", "attribute"}
    same = {shown for shown in before if before[shown] == after[shown]}
    assert {"adjust one ru seed 0", "finetune one pairs en original seed 0", "encode one sampler"} <= same


def test_another_length_of_a_task_makes_other_models_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys(planned(folder))
    make = Nli.__init__
    monkeypatch.setattr(Nli, "__init__", lambda self, length=64, **more: make(self, length=length, **more))
    after = keys(planned(folder))
    assert {shown for shown in before if before[shown] != after[shown]} == {
        "finetune one pairs en original seed 0",
        "predict one pairs en original seed 0",
    }


def test_another_schedule_of_the_adjustment_makes_other_adjusted_models(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys(planned(folder))
    (phase,) = regime.regime("adjust-only").phases
    monkeypatch.setattr(regime, "_ADJUST", replace(phase, schedule=replace(phase.schedule, warmup=0.2)))
    after = keys(planned(folder))
    different = {shown for shown in before if before[shown] != after[shown]}
    assert {shown for shown in different if not shown.startswith("predict")} == {
        "adjust one ru seed 0",
        "finetune one ner en adjusted ru seed 0",
        "finetune one ner en continual ru seed 0",
    }


def test_where_a_gpu_is_steps_that_get_one_compute_in_bf16(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "visible_gpus", lambda: ("0",))
    found = planned(folder, STUDY + "[resources.adjust]\ngpus = 0\n")
    precisions = {
        type(step.settings): step.settings.precision
        for step in found.graph
        if isinstance(step.settings, AdjustStep | FinetuneStep)
    }
    assert precisions == {AdjustStep: "fp32", FinetuneStep: "bf16"}
    monkeypatch.setattr(machine, "visible_gpus", lambda: ("0", "1"))
    assert keys(planned(folder, STUDY + "[resources.adjust]\ngpus = 0\n")) == keys(found)
    told = planned(folder, STUDY.replace("seeds = 1", 'seeds = 1\nprecision = "fp32"'))
    monkeypatch.setattr(machine, "visible_gpus", tuple)
    assert keys(told) == keys(planned(folder))


SPELLED = (
    STUDY[: STUDY.index("[tasks.ner]")].replace('"original", "adjusted", "continual"', '"original"')
    + """
[geometry.names]
synth = "names"
"""
)


def test_the_first_run_decides_the_precision_of_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "visible_gpus", lambda: ("0",))
    with_gpu = planned(folder, SPELLED)
    idle = SimpleNamespace(call=lambda *_: (outcome for outcome in ()))
    monkeypatch.setitem(executors._entries, "none", idle)
    with_gpu.run(executor="none")
    monkeypatch.setattr(machine, "visible_gpus", tuple)
    assert keys(planned(folder, SPELLED)) == keys(with_gpu)
    with pytest.raises(InputError, match="begun on a machine with GPUs"):
        planned(folder, SPELLED).run(executor="none", options=Options())


def test_a_study_in_one_process_loads_an_encoder_once_and_leaves_it_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = Encoder.load

    def counted(name: str, **given: Any) -> Encoder:
        loaded.append(name)
        return load(name, **given)

    given: dict[str, tuple[Any, str]] = {}
    get = ObjectCache.get

    def watched(self: ObjectCache, key: str, make: Any, **options: Any) -> Any:
        found = get(self, key, make, **options)
        if hasattr(found, "model"):
            _, before = given.setdefault(f"{id(self)} {key}", (found, _state(found)))
            assert _state(found) == before
        return found

    monkeypatch.setattr(Encoder, "load", counted)
    monkeypatch.setattr(ObjectCache, "get", watched)
    text = STUDY[: STUDY.index("[tasks.pairs]")] + STUDY[STUDY.index("[measures.space]") : STUDY.index("[explanations")]
    few = "retrieval = 'sampler'\ntrain_rows = 4\ntest_rows = 4\nepochs = 1\n"
    text = text.replace("[tasks.ner]\n", f"[tasks.ner]\n{few}")
    text = text.replace("[measures.space]\n", "[measures.space]\nrows = 20\n")
    text += "[adjust]\nmax_pairs = 8\nheld_out = 4\ndistances = true\n"
    summary = planned(folder, text).run(executor="inline")
    assert (summary.failed, summary.blocked) == ((), 0)
    assert [name for name in loaded if "heavy" not in name] == [str(find_folder("embedded"))]
    assert given
    # A model goes when the last step that needs it is done, and nothing runs again.
    assert not list(folder.glob("out/.interlingua/steps/*/heavy/model"))
    assert planned(folder, text).run(executor="inline").done == 0


def _state(found: Any) -> str:
    model = getattr(found, "encoder", found).model
    state = hashlib.blake2b(str(model.training).encode())
    for name, weight in model.state_dict().items():
        state.update(name.encode() + weight.cpu().numpy().tobytes())
    return state.hexdigest()
