"""`interlingua transfer`: a table with mean, deviation and marks, JSON, files, and errors that name what is wrong."""

from __future__ import annotations

import csv
import html
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import typer

import interlingua
from interlingua.analyses.evaluation import read_posteriors
from interlingua.cli.app import app, main
from interlingua.tasks import tasks
from worlds import World, make_world

SOURCE = Path(next(iter(interlingua.__path__))).parent
Run = Callable[..., tuple[int, str, str]]
QUICK = ("--seeds", "2", "--epochs", "4", "--learning-rate", "5e-3", "--batch-size", "16", "--adjust-epochs", "3")
QUICK += ("--adjust-learning-rate", "5e-3", "--max-pairs", "100", "--device", "cpu")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["interlingua", "transfer", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr()
        return int(end.value.code or 0), told.out, told.err

    return call


def ner(world: World, out: Path) -> list[str]:
    return [
        *(world["model"], "--task", "ner", "--train", world["ner-train-en.tsv"]),
        *("--test", f"ru={world['ner-test-ru.tsv']}", "--bitext", f"ru={world['bitext.en-ru.tsv']}"),
        *("--links", f"ru={world['links']}", "--out", str(out), *QUICK),
    ]


def test_a_table_is_printed_the_same_again_and_files_are_written(world: World, run: Run, tmp_path: Path) -> None:
    code, first, err = run(*ner(world, tmp_path / "out"), "--distances")
    assert code == 0, err
    for word in ("F1 of whole entities", "original", "adjusted", "continual", "±", "English was not tested"):
        assert word in " ".join(first.split())
    assert "steps: " in err
    page = html.unescape(re.sub(r"<[^>]+>", "", (tmp_path / "out" / "report.html").read_text("utf-8")))
    answer = " ".join(first.split("\n\n")[1].split())
    assert answer.startswith("English NER, F1 of whole entities: Russian ")
    assert answer in " ".join(page.split())
    code, second, _ = run(*ner(world, tmp_path / "out"), "--distances")
    assert (code, second) == (0, first)
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert names >= {
        "run.json",
        "transfer.json",
        "report.html",
        "summary.md",
        "predictions/adjusted-ru-seed1.ru.jsonl",
        "tables/f1-entity.md",
        "tables/f1-entity.csv",
        "tables/f1-token-seeds.tex",
    }
    assert [name for name in names if name.startswith("tables/words-distances")]
    check_sheets(tmp_path / "out")


def test_a_saved_study_gives_the_same_records_and_models(world: World, run: Run, tmp_path: Path) -> None:
    command = [*ner(world, tmp_path / "out"), "--test", f"en={world['ner-test-en.tsv']}", "--distances"]
    command += ["--retrieval", f"ru={world['parallel.tsv']}", "--regimes", "original,adjusted,mapped", "--save-models"]
    code, out, err = run(*command, "--save-study", tmp_path / "study.toml")
    assert (code, list(tmp_path.iterdir())) == (0, [tmp_path / "study.toml"]), err
    assert f"interlingua study run {tmp_path / 'study.toml'}" in out
    assert run(*command)[0] == 0
    interlingua.study(tmp_path / "study.toml", out=tmp_path / "study", executor="inline")
    ours, theirs = (interlingua.open_records(tmp_path / place).read() for place in ("out", "study"))
    assert ours == theirs
    named = {"original-seed0": "original-seed0", "adjusted-ru-seed1": "adjusted-ru-seed1"}
    for ours_, theirs_ in named.items():
        [whole] = (tmp_path / "study/models").glob(f"*-ner-en-{theirs_}")
        weights = (tmp_path / "out/models" / ours_ / "model.safetensors").read_bytes()
        assert (whole / "model.safetensors").read_bytes() == weights


def test_a_plan_names_the_steps_and_what_is_left_and_runs_nothing(world: World, run: Run, tmp_path: Path) -> None:
    def planned(*more: str) -> dict[str, dict[str, int]]:
        code, out, err = run(*ner(world, tmp_path / "out"), *more, "--plan", "--json")
        assert code == 0, err
        steps = json.loads(out)["steps"]
        kinds = {step["kind"]: [each["state"] for each in steps if each["kind"] == step["kind"]] for step in steps}
        return {kind: {state: states.count(state) for state in sorted(set(states))} for kind, states in kinds.items()}

    expected = {"align": 1, "adjust": 2, "finetune": 6, "predict": 6}
    assert planned() == {kind: {"needed": count} for kind, count in expected.items()}
    assert not (tmp_path / "out").exists()
    assert run(*ner(world, tmp_path / "out"))[0] == 0
    assert planned() == {kind: {"done": count} for kind, count in expected.items()}
    more = planned("--seeds", "3")
    assert more["finetune"] == {"done": 6, "needed": 3}
    assert more["align"] == {"done": 1}


def test_the_time_told_is_that_of_all_sessions(world: World, tmp_path: Path) -> None:
    def seconds(seeds: int) -> float | None:
        files = {"train": world["ner-train-en.tsv"], "out": tmp_path / "out", "device": "cpu"}
        done = interlingua.transfer(
            world["model"], "ner", {"ru": world["ner-test-ru.tsv"]}, seeds=seeds, epochs=1, batch_size=16, **files
        )
        return done.run["seconds"]

    first = seconds(1)
    assert first
    assert seconds(1) == first
    both = seconds(2)
    assert both is not None
    assert both > first


def check_sheets(out: Path) -> None:
    """Every number of a sheet is one of transfer.json, not rounded."""
    found = json.loads((out / "transfer.json").read_text("utf-8"))
    with (out / "tables" / "f1-entity.csv").open(encoding="utf-8", newline="") as file:
        sheet = list(csv.DictReader(file))
    scores = {e["regime"]: e for e in found["scores"] if e["metric"] == "f1/entity"}
    for row in sheet:
        score = scores[row["Regime"]]
        assert (float(row["Russian"]), float(row["Russian deviation"])) == (score["mean"], score["deviation"])
    assert {each["state"] for each in found["distances"]} >= {"untouched", "original", "adjusted"}


@pytest.mark.parametrize(("task", "ending", "metric"), [("nli", "tsv", "accuracy"), ("qa", "json", "em")])
def test_predictions_are_on_disk_with_their_places_and_are_what_was_scored(
    world: World, run: Run, tmp_path: Path, task: str, ending: str, metric: str
) -> None:
    test = world[f"{task}-test-ru.{ending}"]
    quick = ("--seeds", "2", "--epochs", "2", "--learning-rate", "5e-3", "--batch-size", "16", "--device", "cpu")
    command = [world["model"], "--task", task, "--train", world[f"{task}-train-en.{ending}"], "--test", f"ru={test}"]
    command += ["--test", f"en:own={world[f'{task}-test-en.{ending}']}", *quick, "--out", str(tmp_path / "out")]
    code, out, err = run(*command)
    assert code == 0, err
    assert f"Predictions of every model: {tmp_path / 'out/predictions'}/" in out
    names = {path.name for path in (tmp_path / "out/predictions").iterdir()}
    assert names == {
        f"original-seed{seed}.{name}.{kind}"
        for seed in (0, 1)
        for name in ("ru", "en.own")
        for kind in ("jsonl", "npz")
    }
    found = interlingua.open_records(tmp_path / "out")
    records = [record for record in found.read() if record.key == metric]
    assert len(records) == 4
    for record in records:
        path = (
            tmp_path / f"out/predictions/original-seed{record.seed}.{'ru' if record.target == 'ru' else 'en.own'}.jsonl"
        )
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert [line["right"] for line in lines] == found.items(record).astype(bool).tolist()
        (sure,) = read_posteriors(path.with_suffix(".npz")).values()
        if task == "nli":
            assert sure["labels"][sure["probabilities"].argmax(axis=1)].tolist() == [
                line["predicted"] for line in lines
            ]
        else:
            assert len(sure["spans"]) == len(sure["scores"]) == len(lines)
        assert {(line["language"], line["regime"], line["seed"]) for line in lines} == {
            (record.target, "original", record.seed)
        }
    if task == "nli":
        text = Path(test).read_text("utf-8").splitlines()
        lines = [
            json.loads(line)
            for line in (tmp_path / "out/predictions/original-seed0.ru.jsonl").read_text("utf-8").splitlines()
        ]
        assert all(text[line["line"] - 1].endswith(f"\t{line['gold']}") for line in lines)
        assert {line["file"] for line in lines} == {Path(test).name}


def test_the_command_that_is_printed_explains_a_wrong_prediction(
    world: World, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = ("--seeds", "1", "--epochs", "0.2", "--device", "cpu", "--save-models", "--out", str(tmp_path / "out"))
    files = ("--train", world["nli-train-en.tsv"], "--test", f"ru={world['nli-test-ru.tsv']}")
    code, out, err = run(world["model"], "--task", "nli", *files, *quick)
    assert code == 0, err
    command = shlex.split(next(line for line in out.splitlines() if "interlingua explain" in line).split(": ", 1)[1])
    monkeypatch.setattr(sys, "argv", [*command, "--json", "--device", "cpu"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    side = json.loads(capsys.readouterr().out)["rows"][0]["predictions"][0]
    lines = map(json.loads, (tmp_path / "out/predictions/original-seed0.ru.jsonl").read_text("utf-8").splitlines())
    wrong = next(line for line in lines if not line["right"])
    assert {key: side[key] for key in ("file", "line", "gold", "predicted")} == {
        key: wrong[key] for key in ("file", "line", "gold", "predicted")
    }


def test_json_is_one_object_and_the_same_as_from_python(world: World, run: Run, tmp_path: Path) -> None:
    arguments = [*ner(world, tmp_path / "out"), "--regimes", "original,adjusted", "--json"]
    code, out, _ = run(*arguments)
    assert code == 0
    told = json.loads(out)
    called = interlingua.transfer(
        world["model"],
        "ner",
        {"ru": world["ner-test-ru.tsv"]},
        train=world["ner-train-en.tsv"],
        bitexts={"ru": world["bitext.en-ru.tsv"]},
        links={"ru": world["links"]},
        regimes=["original", "adjusted"],
        seeds=2,
        epochs=4,
        learning_rate=5e-3,
        batch_size=16,
        adjust_epochs=3,
        adjust_learning_rate=5e-3,
        max_pairs=100,
        out=tmp_path / "called",
        device="cpu",
    )
    assert told["scores"] == called.exports()["scores"]
    assert set(told) == {"run", "report", "scores", "distances"}
    assert told["report"]["answer"]["sentence"] == called.report().headline.answer.sentence
    assert {score.metric for score in called.scores} >= {"f1/token", "f1/entity", "f1/entity/strict"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("--task", "nerr"), "unknown task: 'nerr'. Did you mean 'ner'?"),
        (("--regimes", "original,ajusted"), "unknown regime: 'ajusted'. Did you mean 'adjusted'?"),
        (("--test", "hi=nowhere.tsv"), "no such file: 'nowhere.tsv'"),
        (("--test", "nowhere.tsv"), "--test takes XX=FILE: 'nowhere.tsv'"),
        (("--test", "zz9=x"), "not a language code: 'zz9'"),
        (("--links", "ru=a,b"), "--links takes one file per language: 'a,b'"),
        (("--alpha", "x"), "Invalid value"),
        (("--precision", "fp16"), "fp16"),
    ],
)
def test_bad_input_ends_with_2_and_says_what_and_how(
    world: World, run: Run, tmp_path: Path, change: tuple[str, ...], problem: str
) -> None:
    code, out, err = run(*ner(world, tmp_path / "out"), *change)
    assert (code, out) == (2, "")
    assert problem in " ".join(err.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


def test_a_bitext_that_cannot_be_used_is_told_before_anything_is_trained(
    world: World, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.en-ru.tsv").write_text("a\tb\n", "utf-8")
    monkeypatch.setattr("interlingua.training.regime.train", None)
    files = ["--train", world["ner-train-en.tsv"], "--test", f"ru={world['ner-test-ru.tsv']}"]
    bitext = ["--bitext", f"ru={tmp_path / 'one.en-ru.tsv'}"]
    code, _, err = run(world["model"], "--task", "ner", *files, *bitext, *QUICK, "--out", tmp_path / "out")
    assert code == 2, err
    assert not (tmp_path / "out").exists()


TASK = '''"""Names again, as a task of one's own."""

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
    defaults: ClassVar[FineTuning] = FineTuning(learning_rate=5e-3, epochs=1, batch=48)
'''


def test_a_task_of_ones_own_comes_with_load_and_is_trained_as_it_says(world: World, run: Run, tmp_path: Path) -> None:
    (tmp_path / "tagging.py").write_text(TASK, "utf-8")
    files = ["--train", world["ner-train-en.tsv"], "--test", f"ru={world['ner-test-ru.tsv']}", "--device", "cpu"]
    try:
        code, out, err = run(
            world["model"], "--task", "tagging", *files, "--seeds", "1", "--out", tmp_path / "out", "--json",
            "--plugin", tmp_path / "tagging.py",
        )  # fmt: skip
    finally:
        tasks._entries.pop("tagging", None)
    assert code == 0, err
    assert [line["steps"] for line in json.loads(out)["run"]["trained"]] == [2]


@pytest.mark.parametrize("name", ["audit", "adjust", "transfer", "explain", "geometry", "explore", "pretrain", "list"])
def test_commands_that_look_names_up_have_load(name: str) -> None:
    command = typer.main.get_command(app).commands[name]
    assert "--plugin" in [option for parameter in command.params for option in parameter.opts]


def test_python_needs_neither_typer_nor_rich(world: World, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['typer'] = sys.modules['rich'] = None\n"
        "import interlingua\n"
        f"r = interlingua.transfer({world['model']!r}, 'ner', {{'ru': {world['ner-test-ru.tsv']!r}}},\n"
        f"    train={world['ner-train-en.tsv']!r}, regimes=['original'], seeds=1, out={str(tmp_path / 'out')!r},\n"
        "    epochs=1, device='cpu')\n"
        "print(len(r.scores))"
    )
    env = {"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)
    assert done.stdout == "4\n", done.stderr


def test_the_examples_the_epoch_is_chosen_on_are_the_test_in_the_language_of_training(
    world: World, run: Run, tmp_path: Path
) -> None:
    files = ["--train", world["nli-train-en.tsv"], "--dev", world["nli-test-en.tsv"], "--device", "cpu"]
    quick = ["--seeds", "1", "--epochs", "1", "--batch-size", "16", "--out", tmp_path / "out", "--json"]
    code, out, err = run(world["model"], "--task", "nli", *files, "--test", f"ru={world['nli-test-ru.tsv']}", *quick)
    assert code == 0, err
    told = json.loads(out)
    assert {entry["test"] for entry in told["scores"]} == {"ru", "en:dev"}
    kinds = {finding["kind"] for finding in told["report"]["findings"]}
    assert "source_untested" not in kinds
    assert kinds & {"source_on_dev", "training_failed"}


def test_a_model_that_gives_one_answer_failed_in_training_with_the_chance_level_and_no_correction_is_explained(
    world: World, run: Run, tmp_path: Path
) -> None:
    files = ["--train", world["nli-train-en.tsv"], "--test", f"en={world['nli-test-en.tsv']}", "--device", "cpu"]
    settings = ("--seeds", "1", "--epochs", "0.2", "--learning-rate", "1e-9", "--batch-size", "16")
    code, out, err = run(world["model"], "--task", "nli", *files, *settings, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    told = json.loads(out)
    [entry] = told["scores"]
    assert (entry["above"], entry["p"]) == (0, {})
    answer = told["report"]["answer"]
    assert (answer["kind"], answer["verdict"], answer["about"]["answer"]) == (
        "training_failed", "at chance", entry["always"],
    )  # fmt: skip
    assert f"{100 * entry['null']:.1f}" in answer["sentence"]
    assert "Holm" not in " ".join(finding["sentence"] for finding in told["report"]["findings"])
    again = interlingua.report_on(tmp_path / "out").to_dict()
    assert again["answer"] == told["report"]["answer"]
