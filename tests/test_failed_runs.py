"""A run of every command that learnt nothing: its verdict says so, its chance level is printed and drawn, no more."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import interlingua
from interlingua.cli.app import app
from interlingua.encoder import Encoder
from interlingua.record import Record, RecordTable
from interlingua.report.kit.chart import Chart, FlowChart, IntervalChart, LineChart, charts_of
from interlingua.report.kit.finding import Verdict
from interlingua.report.kit.section import Run
from interlingua.report.kit.wording import format_share
from interlingua.report.report import Report, build_report
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel
from tiny import TINY, as_toml
from worlds import World, make_world

LABELS = ("entailment", "neutral", "contradiction")
runner = CliRunner()
pytestmark = pytest.mark.reliability("a run that learnt nothing says so first")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A small world whose pairs of texts do not translate each other, and a head that always says one label."""
    made = make_world(tmp_path_factory.mktemp("failed"))
    torch.manual_seed(0)
    draw = random.Random(0)
    for name, heads in (("bitext.en-ru.tsv", 0), ("parallel.tsv", 1)):
        lines = (made.folder / name).read_text("utf-8").splitlines()
        ours, theirs = zip(*(line.split("\t") for line in lines[heads:]), strict=True)
        mixed = [f"{one}\t{other}" for one, other in zip(ours, draw.sample(theirs, len(theirs)), strict=True)]
        (made.folder / name).write_text("\n".join([*lines[:heads], *mixed]) + "\n", "utf-8")
    return made


def always(world: World, label: int, folder: Path) -> Path:
    """A fine-tuned model that answers with one label whatever it reads."""
    encoder = Encoder.load(world["model"], device="cpu", precision="fp32")
    model = TaskModel.of(encoder, tasks["nli"].call(), LABELS, seed=0)
    with torch.no_grad():
        biases = [weight for weight in model.head.parameters() if weight.shape == (len(LABELS),)]
        biases[-1][label] = 1e3
    save(FineTuned(tasks["nli"].call(), LABELS, model, encoder), folder)
    return folder


def ran(*given: str) -> str:
    done = runner.invoke(app, list(map(str, given)))
    assert done.exit_code == 0, done.output
    return done.stdout


def charts(report: Report) -> dict[str, Chart]:
    return {chart.name: chart for menu in report.charts() for chart in charts_of(menu)}


def test_audit(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ("audit", world["model"], "--corpus", world["parallel.tsv"], "--device", "cpu", "--out", str(out))
    ran(*given)
    report = interlingua.report_on(out)
    answer = report.headline.answer
    assert answer.verdict is Verdict.AT_CHANCE
    assert answer.estimate is not None
    rows = answer.estimate.n
    assert f"{100 / rows:.1f}" in answer.sentence  # The chance level.
    assert "best_languages" not in {finding.kind for finding in report.findings()}
    assert answer.sentence in (out / "summary.md").read_text("utf-8").replace("\\", "")


def test_adjust(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = [
        "adjust",
        world["model"],
        "--bitext",
        f"ru={world['bitext.en-ru.tsv']}",
        "--steps",
        "1",
        "--learning-rate",
        "1e-6",
    ]
    given += ["--held-out", "60", "--device", "cpu", "--out", str(out)]
    ran(*given)
    told = json.loads(ran(*given, "--json"))
    answer = told["report"]["answer"]
    assert (answer["kind"], answer["verdict"]) == ("adjustment", "at chance")
    assert answer["about"]["chance"] == pytest.approx(1 / 60)
    assert answer["sentence"].startswith(
        "Nothing can be concluded for Russian: translations are not found above chance"
    )
    section = next(each for each in interlingua.report_on(out).sections if each.name == "adjustment-by-layer")
    levels = {chart.references[0].values[0] for chart in charts_of(section.charts[0])}  # type: ignore[union-attr]
    assert sorted(levels) == pytest.approx([1 / 600, 1 / 60])


@pytest.mark.parametrize("label", range(3))
def test_explain(world: World, tmp_path: Path, label: int) -> None:
    out, model = tmp_path / "out", always(world, label, tmp_path / "tuned")
    data = [f"--test={code}={world[f'nli-test-{code}.tsv']}" for code in ("en", "ru")]
    ran("explain", str(model), *data, "--steps", "4", "--tolerance", "0", "--device", "cpu", "--out", str(out))
    report = interlingua.report_on(out)
    answer = report.headline.answer
    assert answer.verdict is Verdict.AT_CHANCE
    scores = report.runs[0].records.of("task", "accuracy")
    assert [each.details["chance"]["always"] for each in scores] == [LABELS[label]] * 2
    assert answer.sentence.startswith("The model is at chance in English (")
    assert answer.sentence.endswith(f"; always '{LABELS[label]}'): its attributions explain nothing.")
    assert not [finding for finding in report.findings() if finding.kind == "same_words"]
    (chart,) = (chart for chart in charts(report).values() if not isinstance(chart, FlowChart))
    assert isinstance(chart, IntervalChart)
    assert [row.reference for row in chart.rows] == pytest.approx([each.details["chance"]["level"] for each in scores])


def test_geometry(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ("geometry", world["model"], "--small", "--rows", "60", "--languages", "en,ru,tr", "--epochs", "0.3")
    ran(*given, "--device", "cpu", "--out", str(out))
    told = json.loads((out / "geometry.json").read_text("utf-8"))
    assert [each["language"] for each in told["not_learnt"]] == ["en", "ru", "tr"]
    assert not {"groups", "scatter", "changes"} & set(told)
    report = interlingua.report_on(out)
    assert (report.headline.answer.kind, report.headline.answer.verdict) == ("task_not_learnt", Verdict.AT_CHANCE)
    assert report.headline.answer.sentence.startswith("The task was not learnt: nothing can be said of fine-tuning on ")
    chances = [each["chance"] for each in told["not_learnt"]]
    assert f"chance level {format_share(chances[0])}" in report.headline.answer.sentence
    made = charts(report)
    intervals = made.pop("error-intervals")
    assert isinstance(intervals, IntervalChart)
    assert [row.reference for row in intervals.rows] == pytest.approx(chances)
    # Nothing of what fine-tuning did is drawn: it did not learn its task.
    assert not [name for name in made if name.startswith(("training", "error", "correlation"))]
    assert not [chart.title for chart in made.values() if "after fine-tuning" in chart.title]
    lines = [line.name for chart in made.values() if isinstance(chart, LineChart) for line in chart.lines]
    assert set(lines) == {"before fine-tuning"}


@pytest.mark.parametrize("held", [0.0, 0.1])
def test_pretrain(world: World, tmp_path: Path, held: float) -> None:
    draw = random.Random(0)
    (tmp_path / "text").mkdir()
    for code, letters in (("en", "abcdefghij"), ("ru", "абвгдежзий")):
        words = ["".join(draw.choices(letters, k=draw.randint(2, 6))) for _ in range(200)]
        lines = [" ".join(draw.choices(words, k=12)) for _ in range(600)]
        (tmp_path / "text" / f"{code}.txt").write_text("\n".join(lines), "utf-8")
    data = {"folder": "text", "languages": ["en", "ru"], "held_out": held}
    training = {**TINY["training"], "steps": 1, "warmup": 1, "learning_rate": 1e-9}
    config = {**TINY, "data": data, "training": training, "evaluation": {"corpus": world["parallel.tsv"]}}
    (tmp_path / "c.toml").write_text(as_toml(config), "utf-8")
    given = ("pretrain", str(tmp_path / "c.toml"), "--device", "cpu", "--out", str(tmp_path / "out"))
    shown = ran(*given)
    found = json.loads(ran(*given, "--json"))
    metrics = found["metrics"][-1]
    findings = {each["kind"]: each for each in [found["report"]["answer"], *found["report"]["findings"]]}
    assert findings["pretraining_translations"]["verdict"] == "at chance"
    assert metrics["raw_p"] >= 0.05
    if held:
        assert findings["pretraining_text"]["verdict"] == "at chance"
        assert metrics["held_out_loss"] > metrics["unigram_loss"]
    assert found["report"]["answer"]["verdict"] == "at chance"
    assert " ".join(found["report"]["answer"]["sentence"].split())[:40] in " ".join(shown.split())


def test_transfer_study_and_a_report_of_several(tmp_path: Path) -> None:
    """The records of a transfer whose model always answers one label: its own report, a study's, and of two runs."""
    record = Record(
        measure="nli", metric="accuracy", model="m", task="nli", source="en", target="ru", test="ru", regime="original",
        value=0.334, n=500, seed=0, null_value=0.36, ci_low=0.29, ci_high=0.38, higher_is_better=True,
        digests={"test": "t"}, details={"always": "neutral"}, unit="example",
    )  # fmt: skip
    about: dict[str, Any] = {"model": "m", "task": "nli", "metric": "accuracy", "source": "en", "seeds": [0],
                             "tests": ["ru"], "regimes": ["original"], "settings": {}}  # fmt: skip
    run = Run(kind="transfer", about=about, records=RecordTable([record]))
    study = Run(kind="study", about={**about, "name": "s", "tasks": {"nli": "nli"}}, records=RecordTable([record]))
    for runs in ([run], [study], [replace(run, name=name) for name in "ab"]):
        answer = build_report(runs).headline.answer
        assert answer.verdict is Verdict.AT_CHANCE
        assert "36.0" in answer.sentence


def test_align(world: World, tmp_path: Path) -> None:
    draw, rows = random.Random(1), Path(world["bitext.en-ru.tsv"]).read_text("utf-8").splitlines()[:60]
    gold = [
        " ".join(f"{at}-{draw.randrange(len(theirs.split()))}" for at in range(len(ours.split())))
        for ours, theirs in (row.split("\t") for row in rows)
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    (tmp_path / "gold").write_text("\n".join(gold) + "\n", "utf-8")
    given = ["align", str(tmp_path / "pairs.tsv"), "--gold", str(tmp_path / "gold"), "--gold-base", "0"]
    found = json.loads(ran(*given, "--json"))
    assert found["at_chance"]
    assert found["quality"]["aer"]["high"] >= found["quality"]["aer"]["null"]
    (tmp_path / "gold").write_text("\n".join(found["links"]) + "\n", "utf-8")  # What it found is not at chance.
    assert json.loads(ran(*given, "--json"))["at_chance"] is False
