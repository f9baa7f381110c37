"""A run of every command that learnt nothing: its verdict says so, its chance level is printed and drawn, no more."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from interlingua.cli.app import app
from interlingua.commands.adjust import adjust_run
from interlingua.commands.explain import explained_run
from interlingua.commands.report import open_records
from interlingua.encoder import Encoder
from interlingua.record import Record, RecordTable
from interlingua.report.evidence import peak
from interlingua.report.kinds import report_page
from interlingua.report.kit.chart import FlowChart, charts_of
from interlingua.report.kit.finding import Verdict
from interlingua.report.readings import gather
from interlingua.report.record_adapter import to_v1
from interlingua.report.report import build_report
from interlingua.report.runs import Run
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel
from pages import page_data
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


def figures(page: Path) -> dict[str, Any]:
    return {figure["name"]: figure for figure in page_data(page.read_text("utf-8"))["figures"]}


def drawn(figure: Any, wanted: Callable[[str], bool] = lambda name: name.endswith("chance")) -> list[float]:
    """The heights at which a figure draws the chance level."""
    traces = [trace for trace in figure["traces"] if wanted(str(trace.get("name", "")).strip("\u2068\u2069"))]
    return [value for trace in traces for value in trace["y"]]


def answers(page: Path) -> str:
    """What the page says in words, without its data."""
    return page.read_text("utf-8").split('<script id="data"', 1)[0]


def first_words(page: Path) -> str:
    """What stands first on a page, below its title: what a reader sees without scrolling."""
    found = re.search(
        r"<section[^>]*>\s*<h2.*?</h2>\s*(?:<p[^>]*>|<dl[^>]*>)(.*?)(?:</p>|</dd>)", answers(page), re.DOTALL
    )
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", " ", found[1]))


def test_audit(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ("audit", world["model"], "--corpus", world["parallel.tsv"], "--device", "cpu", "--out", str(out))
    ran(*given)
    records = to_v1(map(Record.from_dict, json.loads(ran(*given, "--json"))["records"]))
    top = peak(gather(records))
    assert top is not None
    assert top.chance
    rows = top.reading.n
    first = next(line for line in (out / "answer.md").read_text("utf-8").splitlines() if line)
    assert f"{100 / rows:.1f}" in first  # The chance level.
    assert "Best connected" not in answers(out / "report.html")
    said = first_words(out / "report.html")
    assert said.strip().startswith(f"Not aligned: among {rows} candidates (chance {100 / rows:.1f}")
    assert "That is no better than chance" in said


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
    store = open_records(out)
    run = adjust_run(out, told["run"], RecordTable(store.read()))
    section = next(section for section in build_report([run]).sections if section.name == "adjustment-by-layer")
    levels = {chart.references[0].values[0] for chart in section.charts[0].charts.values()}
    assert sorted(levels) == pytest.approx([1 / 600, 1 / 60])


@pytest.mark.parametrize("label", range(3))
def test_explain(world: World, tmp_path: Path, label: int) -> None:
    out, model = tmp_path / "out", always(world, label, tmp_path / "tuned")
    data = [f"--test={code}={world[f'nli-test-{code}.tsv']}" for code in ("en", "ru")]
    ran("explain", str(model), *data, "--steps", "4", "--tolerance", "0", "--device", "cpu", "--out", str(out))
    records = [Record.from_dict(json.loads(line)) for line in (out / "records.jsonl").open(encoding="utf-8")]
    chances = [record.details["chance"] for record in records if record.metric == "accuracy"]
    assert [chance["always"] for chance in chances] == [LABELS[label]] * 2
    about = json.loads((out / "run.json").read_text("utf-8"))
    report = build_report([explained_run(out, about, RecordTable(records))])
    answer = report.headline.answer
    assert answer.verdict is Verdict.AT_CHANCE
    assert answer.sentence.startswith("The model is at chance in English (")
    assert answer.sentence.endswith(f"; always '{LABELS[label]}'): its attributions explain nothing.")
    assert not [finding for finding in report.findings() if finding.kind == "same_words"]
    (chart,) = (one for chart in report.charts() for one in charts_of(chart) if not isinstance(one, FlowChart))
    assert chart.name == "scores-beside-chance"
    assert [row.reference for row in chart.rows] == pytest.approx([chance["level"] for chance in chances])


def test_geometry(world: World, tmp_path: Path) -> None:
    out = tmp_path / "out"
    given = ("geometry", world["model"], "--small", "--rows", "60", "--languages", "en,ru,tr", "--epochs", "0.3")
    ran(*given, "--device", "cpu", "--out", str(out))
    told = json.loads((out / "geometry.json").read_text("utf-8"))
    assert [each["language"] for each in told["not_learnt"]] == ["en", "ru", "tr"]
    assert not {"groups", "scatter", "changes"} & set(told)
    made = figures(out / "geometry.html")
    said = first_words(out / "geometry.html").strip()
    assert said.startswith("The task was not learnt, not even in the language of training (English, seed 0: ")
    assert f"{100 * told['not_learnt'][0]['chance']:.0f}\N{NO-BREAK SPACE}% by chance" in said
    assert drawn(made["learnt"]) == pytest.approx([each["chance"] for each in told["not_learnt"]], abs=1e-4)
    # Nothing of what fine-tuning did is drawn: it did not learn its task.
    assert not [name for name in made if "after" in name or name.startswith(("steps", "wrong", "spelling", "together"))]
    assert all(
        "after" not in str(trace.get("name")) for name in ("purity-language", "purity-type")
        for trace in made[name]["traces"]
    )  # fmt: skip


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


def test_transfer_study_and_a_report_of_several(world: World, tmp_path: Path) -> None:
    """The records of a transfer whose models say one label, and pages of it: its own, a study's, and of two runs."""
    scores = [{"test": "ru", "metric": "accuracy", "regime": "original", "seeds": [0], "values": [0.334], "n": 500,
               "null": 0.36, "mean": 0.334, "deviation": None, "low": 0.29, "high": 0.38, "above": 0, "p": {},
               "p_holm": {}, "always": "neutral", "layer": None, "bases": ["original"], "against": {}}]  # fmt: skip
    about = {"kind": "transfer", "model": "m", "task": "nli", "metric": "accuracy", "source": "en", "seeds": [0],
             "tests": ["ru"], "regimes": ["original"], "settings": {}}  # fmt: skip
    transfer = Run(about, more={"scores": scores})
    entries = [{"encoder": "m", "task": "nli", "source": "en", **entry} for entry in scores]
    study = Run({**about, "name": "s"}, more={"scores": entries})
    both = [replace(transfer, key=name, name=name) for name in "ab"]
    pages = {"transfer": {"transfer": [transfer]}, "study": {"study": [study]}, "several": {"transfer": both}}
    for name, runs in pages.items():
        (tmp_path / f"{name}.html").write_text(report_page(runs), "utf-8")
        said = first_words(tmp_path / f"{name}.html").strip()
        assert re.search(r"(?:N|n)o(?:t above| better than) chance", said.split(". ")[1 if name == "several" else 0])
        assert re.search(r"chance level (?:36\.0|0\.360)", said)
        assert "*" not in said


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
