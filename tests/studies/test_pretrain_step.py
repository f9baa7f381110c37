"""A study's pretraining is judged on the sentences that `interlingua pretrain` takes."""

from __future__ import annotations

import pytest

from interlingua.commands.pretrain import pretrain
from interlingua.commands.study import plan_study
from interlingua.engine.serialization import File
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import PretrainStep
from interlingua.studies.steps import pretrain as step
from tiny import TINY, as_toml


@pytest.mark.parametrize("languages", [["en", "ru"], ["eng", "rus"], ["en", "pl"], ["en"]])
def test_a_recipe_has_the_same_held_out_sentences_in_a_study_as_alone(tmp_path, monkeypatch, languages):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(as_toml({**TINY, "data": {"folder": "text", "languages": languages}}), "utf-8")
    (tmp_path / "held-out.tsv").write_text("en\tru\nA.\tА.\nB.\tБ.\n", "utf-8")
    (tmp_path / "text").mkdir()
    texts = {code: (File(str(tmp_path / "text" / f"{code}.txt"), ""),) for code in languages}
    taken = []

    def trained(config, corpus, *, out, **_):
        taken.append(None if corpus is None else corpus.languages)
        out.mkdir(parents=True, exist_ok=True)
        return {}

    monkeypatch.setattr(step, "pretrain", trained)
    monkeypatch.setattr("interlingua.commands.pretrain.train_model", trained)
    settings = PretrainStep(recipe=File(str(recipe), ""), text=texts, pieces=None, start_from=None)
    step.run(settings, StepContext("key", {}, tmp_path / "made", tmp_path / "work"))
    pretrain(recipe, out=tmp_path / "alone", device="cpu")
    both = languages[0].startswith("en") and languages[-1].startswith("ru")
    assert taken == 2 * [("en", "ru") if both else None]


STUDY = """
name = "own"
languages = ["ru"]
seeds = 1
[encoders.own]
recipe = "recipe.toml"
[measures.space]
measures = ["cka"]
rows = 20
"""


def test_a_recipe_that_starts_from_another_run_is_another_step_for_other_weights(tmp_path):
    training = {**TINY["training"], "start_from": "before"}
    sections = {"data": {"folder": "text", "languages": ["en", "ru"]}, "training": training}
    (tmp_path / "recipe.toml").write_text(as_toml(sections), "utf-8")
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    for name in ("text/en.txt", "text/ru.txt", "before/model.safetensors"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")

    def key() -> str:
        plan = plan_study(tmp_path / "study.toml", out=tmp_path / "out", ask=False)
        return next(step.key for step in plan.graph if step.kind == "pretrain")

    before = key()
    assert key() == before
    (tmp_path / "before" / "model.safetensors").write_text("others", "utf-8")
    assert key() != before
