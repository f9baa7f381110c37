"""A study pretrains as `interlingua pretrain` does: on the same sentences held out, to the same weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from interlingua.cli.app import app
from interlingua.commands.pretrain import pretrain
from interlingua.commands.study import plan_study
from interlingua.engine.executors import Options
from interlingua.engine.step import StepContext
from interlingua.errors import InputError
from interlingua.studies.steps import pretrain as step
from interlingua.studies.steps.step_io import MODEL
from tiny import TINY, as_toml

WORDS = {
    "en": ["the red fish swims in the sea.", "a small dog sleeps by the door.", "we read long books at night."],
    "ru": ["красная рыба плывет в море.", "маленькая собака спит у двери.", "мы читаем длинные книги ночью."],
}
STUDY = """
name = "own"
[encoders.own]
recipe = "recipe.toml"
"""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As the steps of a study have: sums over threads round by their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A recipe of a moment with its text, and a study that has nothing else."""
    (tmp_path / "text").mkdir()
    for code, lines in WORDS.items():
        text = "".join(f"{line} {number}\n" for number in range(40) for line in lines)
        (tmp_path / "text" / f"{code}.txt").write_text(text, "utf-8")
    (tmp_path / "held-out.tsv").write_text("en\tru\nA.\tА.\nB.\tБ.\n", "utf-8")
    write_recipe(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    return tmp_path


def write_recipe(home: Path, languages: tuple[str, ...] = ("en", "ru"), **training: object) -> Path:
    changed = {"data": {"folder": "text", "languages": list(languages)}, "training": {**TINY["training"], **training}}
    (home / "recipe.toml").write_text(as_toml({**TINY, **changed}), "utf-8")
    return home / "recipe.toml"


def planned(home: Path):
    [found] = plan_study(home / "study.toml", out=home / "out").graph
    return found


@pytest.mark.parametrize("languages", [("en", "ru"), ("eng", "rus"), ("en", "pl"), ("en",)])
def test_a_recipe_has_the_same_held_out_sentences_in_a_study_as_alone(home, monkeypatch, languages):
    for code in languages:
        (home / "text" / f"{code}.txt").write_text("some text\n", "utf-8")
    recipe, taken = write_recipe(home, languages), []

    class Stopped(Exception):
        pass

    def trained(settings, corpus, **_):
        taken.append(None if corpus is None else corpus.languages)
        raise Stopped

    monkeypatch.setattr(step, "pretrain", trained)
    with pytest.raises(Stopped):
        step.run(planned(home).settings, StepContext("key", {}, home / "made", home / "work"))
    with pytest.raises(Stopped):
        pretrain(recipe, out=home / "alone", device="cpu")
    both = languages[0].startswith("en") and languages[-1].startswith("ru")
    assert taken == 2 * [("en", "ru") if both else None]


def test_a_study_that_has_a_recipe_alone_makes_the_weights_of_the_command(home):
    alone = pretrain(home / "recipe.toml", out=home / "alone", device="cpu")
    plan = plan_study(home / "study.toml", out=home / "out")
    done = plan.run(executor="inline", options=Options(device="cpu"))
    assert (done.done, done.failed) == (1, ())
    model = plan.workspace.step(next(iter(plan.graph)).key) / MODEL
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (model / name).read_bytes() == (alone.folder / name).read_bytes(), name
    assert plan.write_report().about["steps"]["done"] == 1
    assert (plan.workspace.folder / "models" / "recipe" / "model.safetensors").samefile(model / "model.safetensors")


def test_the_command_as_a_study_file_is_the_same_step_and_a_plan_runs_nothing(home):
    run = ["pretrain", str(home / "recipe.toml"), "--out", str(home / "alone"), "--device", "cpu"]
    runner = CliRunner()
    done = runner.invoke(app, [*run, "--save-study", str(home / "saved" / "own.toml")])
    assert done.exit_code == 0, done.output
    [saved] = plan_study(home / "saved" / "own.toml", out=home / "out").graph
    for state in ("needed", "done"):
        told = json.loads(runner.invoke(app, [*run, "--plan", "--json"]).stdout)
        assert [(each["key"], each["state"]) for each in told["steps"]] == [(saved.key, state)]
        if state == "needed":
            assert not (home / "alone").exists()
            pretrain(home / "recipe.toml", out=home / "alone", device="cpu")


def test_a_comment_in_a_recipe_makes_no_other_step_and_another_value_does(home):
    before, recipe = planned(home).key, home / "recipe.toml"
    recipe.write_text(f"# Mine.\n{recipe.read_text('utf-8')}", "utf-8")
    assert planned(home).key == before
    write_recipe(home, learning_rate=0.5)
    assert planned(home).key != before


def test_text_that_is_not_read_is_in_no_key_and_what_is_read_is(home):
    before = planned(home).key
    (home / "text" / "tr.txt").write_text("başka\n", "utf-8")
    assert planned(home).key == before
    for name in ("text/ru.txt", "held-out.tsv"):
        with (home / name).open("a", encoding="utf-8") as file:
            file.write("ещё\tещё\n")
        after = planned(home).key
        assert after != before
        before = after


def test_a_recipe_that_starts_from_another_run_is_another_step_for_other_weights(home):
    for name in ("training.json", "tokenizer.json", "config.json", "model.safetensors"):
        (home / "before").mkdir(exist_ok=True)
        (home / "before" / name).write_text("{}", "utf-8")
    write_recipe(home, start_from="before")
    text = (home / "recipe.toml").read_text("utf-8")
    (home / "recipe.toml").write_text(text.replace("[tokenizer]\nvocabulary = 600\nalphabet = 300\n", ""), "utf-8")
    before = planned(home).key
    assert planned(home).key == before
    (home / "before" / "model.safetensors").write_text("others", "utf-8")
    assert planned(home).key != before


def test_a_study_that_makes_nothing_is_refused(home):
    (home / "study.toml").write_text('name = "none"\n[encoders.own]\nmodel = "embedded"\n', "utf-8")
    with pytest.raises(InputError, match="nothing is done"):
        plan_study(home / "study.toml", out=home / "out")
