"""A task is one file: `classification` in the package, and one from outside, in transfer, explain and a study."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import interlingua
from interlingua.cli.app import app
from interlingua.commands.study import plan_study
from interlingua.engine.records import Records
from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.record import Record
from interlingua.studies.plugins import REGISTRIES
from interlingua.tasks.saved_models import load
from record_store import RecordStore
from toys import WORDS
from worlds import World, make_world, run_here, turned

LABELS = ("sport", "food", "travel")
QUICK = ("--epochs", "6", "--learning-rate", "5e-3", "--batch-size", "16", "--device", "cpu", "--seeds", "2")
runner = CliRunner()


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _registries_as_they_were() -> Iterator[None]:
    before = [(registry, dict(registry._entries)) for registry in REGISTRIES if list(registry)]
    yield
    for registry, entries in before:
        registry._entries.clear()
        registry._entries.update(entries)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Texts whose topic is that of their first word, and their stars the number of it."""
    made = make_world(tmp_path_factory.mktemp("world"))
    draw = np.random.default_rng(5)
    texts = [draw.choice(WORDS, int(draw.integers(3, 7)), replace=False).tolist() for _ in range(200)]
    numbers = [WORDS.index(text[0]) % 3 for text in texts]
    for name, rows in (("train", slice(0, 150)), ("test", slice(150, 200))):
        for code in ("en", "ru"):
            spoken = [" ".join(turned(text) if code == "ru" else text) for text in texts[rows]]
            with (made.folder / f"topics-{name}-{code}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(
                    [("text", "topic"), *zip(spoken, [LABELS[n] for n in numbers[rows]], strict=True)]
                )
            with (made.folder / f"stars-{name}-{code}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(
                    [("stars", "review"), *zip([2 * n + 1 for n in numbers[rows]], spoken, strict=True)]
                )
    page = (Path(__file__).parents[1] / "docs" / "extending.md").read_text("utf-8")
    task = re.search(r"<!-- file: polarity.py -->\n```python\n(.*?)```", page, re.DOTALL)
    assert task is not None
    (made.folder / "polarity.py").write_text(task[1], "utf-8")
    return made


def called(*arguments: object) -> str:
    found = runner.invoke(app, [str(each) for each in arguments])
    assert found.exit_code == 0, found.output + str(found.exception)
    return found.stdout


def transfer(world: World, out: Path, task: str, files: str, *more: str) -> str:
    return called(
        *("transfer", world["model"], "--task", task, "--train", world[f"{files}-train-en.csv"], "--out", out, *QUICK),
        *("--test", f"en={world[f'{files}-test-en.csv']}", "--test", f"ru={world[f'{files}-test-ru.csv']}", *more),
    )


@pytest.fixture(scope="module")
def done(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("topics")
    bitext = ("--bitext", f"ru={world['bitext.en-ru.tsv']}", "--links", f"ru={world['links']}", "--max-pairs", "100")
    told = transfer(world, out, "classification", "topics", *bitext, "--regimes", "original,adjusted", "--save-models")
    assert "Accuracy" in told
    return out


def test_regimes_and_seeds_are_scored_with_labels_and_chance(world: World, done: Path) -> None:
    scores = json.loads((done / "transfer.json").read_text("utf-8"))["scores"]
    found = {(each["regime"], each["test"], each["metric"]): each for each in scores}
    assert set(found) == {
        (regime, test, metric)
        for regime in ("original", "adjusted")
        for test in ("en", "ru")
        for metric in ("accuracy", "f1/macro")
    }
    learnt = found["original", "en", "accuracy"]
    assert learnt["mean"] > 0.8
    assert learnt["above"] == 2
    assert 1 / 3 <= learnt["null"] < 0.6
    assert found["original", "en", "f1/macro"]["above"] == 2
    lines = [json.loads(line) for line in (done / "predictions" / "original-seed0.en.jsonl").open(encoding="utf-8")]
    rows = Path(world["topics-test-en.csv"]).read_text("utf-8").splitlines()
    gold = [row["topic"] for row in csv.DictReader(rows)]
    assert [line["gold"] for line in lines] == gold
    assert {line["predicted"] for line in lines} <= set(LABELS)
    page = (done / "report.html").read_text("utf-8")
    assert "F1 averaged over labels" in page


def test_its_models_are_explained_over_files_and_for_typed_texts(world: World, done: Path, tmp_path: Path) -> None:
    model = done / "models" / "original-seed0"
    assert load(model).labels == tuple(sorted(LABELS))
    data = [f"--test={code}={world[f'topics-test-{code}.csv']}" for code in ("en", "ru")]
    quick = ("--steps", "4", "--random-heads", "0", "--no-sensitivity", "--device", "cpu")
    told = called("explain", model, *data, "--out", tmp_path / "why", "--rows", "12", *quick)
    assert "look at the same words" in told
    records = {(each.measure, each.target) for each in RecordStore(tmp_path / "why").read()}
    assert {("consistency", "en"), ("consistency", "ru"), ("faithfulness", "ru")} <= records
    row = called("explain", model, data[1], "--row", "ru:2")
    assert any(label in row for label in LABELS)
    words = list(WORDS[:4])
    texts = ("--text", " ".join(words), "--text", " ".join(turned(words)))
    told = json.loads(called("explain", model, *texts, "--label", "food", "--json", *quick[:2]))
    assert "food" in told["about"][0]
    assert [word.lower() for word in told["source"]["units"]] == words


def test_a_label_that_training_lacks_is_refused_with_its_line_before_anything_runs(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "test.csv").write_text("text,label\nkitchen tap,food\nempire,politics\n", "utf-8")
    train = world["topics-train-en.csv"]
    for tests, dev in (({"ru": tmp_path / "test.csv"}, None), ({"ru": train}, tmp_path / "test.csv")):
        with pytest.raises(InputError, match=r"test\.csv:3: a label that .*train-en\.csv does not have: 'politics'"):
            interlingua.transfer(
                world["model"], "classification", tests, train=train, dev=dev, out=tmp_path / "o", device="cpu"
            )
    assert not (tmp_path / "o").exists()


STUDY = """
name = "mine"
{load}
languages = ["en", "ru"]
seeds = 2
regimes = ["original"]
[encoders.bert]
model = "model"
[tasks.mine]
task = "{task}"
train = "{files}-train-{{source}}.csv"
tests = "{files}-test-{{language}}.csv"
epochs = 6
learning_rate = 5e-3
batch_size = 16
[explanations.mine]
tasks = ["mine"]
tests = "{files}-test-{{language}}.csv"
rows = 6
steps = 4
random_heads = 0
"""


@pytest.mark.parametrize(
    ("task", "files", "plugin"), [("classification", "topics", ""), ("polarity", "stars", 'plugins = ["polarity.py"]')]
)
def test_a_study_has_it_as_any_other_task(world: World, tmp_path: Path, task: str, files: str, plugin: str) -> None:
    path = world.folder / f"{task}.toml"
    path.write_text(STUDY.format(task=task, files=files, load=plugin), "utf-8")
    planned = plan_study(path, out=tmp_path / "out")
    run_here(planned)
    records = Records(Record, tmp_path / "out").read()
    values = [each.value for each in records if (each.metric, each.target) == ("accuracy", "en") and
              each.regime == "original" and each.measure == task]  # fmt: skip
    assert len(values) == 2
    assert min(values) > 0.75
    assert {each.target for each in records if each.measure == "consistency"} == {"en", "ru"}


def test_a_task_from_outside_works_in_transfer_and_explain(world: World, tmp_path: Path) -> None:
    plugin = ("--plugin", world["polarity.py"])
    assert "polarity" in called("list", *plugin)
    told = transfer(world, tmp_path / "out", "polarity", "stars", *plugin, "--save-models")
    assert "Accuracy" in told
    model = tmp_path / "out" / "models" / "original-seed0"
    assert load(model).labels == ("bad", "good")
    data = [f"--test={code}={world[f'stars-test-{code}.csv']}" for code in ("en", "ru")]
    quick = ("--steps", "4", "--random-heads", "0", "--no-sensitivity", "--device", "cpu")
    called("explain", model, *data, "--out", tmp_path / "why", "--rows", "6", *quick, *plugin)
    texts = ("--text", "kitchen tap", "--text", " ".join(turned(["kitchen", "tap"])))
    told = json.loads(called("explain", model, *texts, "--json", *plugin))
    assert {"bad", "good"} & set(re.findall(r"\w+", " ".join(told["about"])))


def test_the_embedded_encoder_learns_to_tell_questions_in_a_few_steps(tmp_path: Path) -> None:
    """What is a question is the same in every language of the sampler, whose rows are translations."""
    corpus = read_corpus("sampler")
    english = corpus.column("en")
    questions = [row for row, text in enumerate(english) if text.endswith("?")][:96]
    others = [row for row, text in enumerate(english) if text.endswith(".") and "?" not in text][: len(questions)]
    rows = sorted([*questions, *others])
    for code in ("en", "es"):
        texts = corpus.column(code)
        for name, chosen in (("train", rows[::3] + rows[1::3]), ("test", rows[2::3])):
            lines = [f"{texts[row]}\t{'question' if row in questions else 'statement'}\n" for row in chosen]
            (tmp_path / f"{name}-{code}.tsv").write_text("".join(lines), "utf-8")
    found = interlingua.transfer(
        "embedded",
        "classification",
        {code: tmp_path / f"test-{code}.tsv" for code in ("en", "es")},
        train=tmp_path / "train-en.tsv",
        seeds=1,
        epochs=6,
        learning_rate=2e-4,
        warmup=0.1,
        batch_size=8,
        pooling="mean",
        max_length=32,
        out=tmp_path / "out",
        device="cpu",
    )
    (own,) = (each for each in found.scores if (each.test, each.metric) == ("en", "accuracy"))
    assert own.seeds_above_chance == 1
    assert own.value > 0.8
