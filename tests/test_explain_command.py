from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import models
import toys
from interlingua import explain, explain_rows, explain_texts
from interlingua.analyses.explanation import Explainer
from interlingua.cli.app import app
from interlingua.commands.explain import explained_run
from interlingua.commands.study import plan_study
from interlingua.encoder import Encoder
from interlingua.engine.records import Records
from interlingua.errors import InputError, MissingExtra
from interlingua.readers.examples import Answer, Question, TaggedWords
from interlingua.record import Record
from interlingua.report.kit.finding import Verdict
from interlingua.studies.steps import step_io
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, load, save
from interlingua.training.task import TaskModel
from record_store import record_lines
from tasks.test_native_models import ordinary
from worlds import run_here

LANGUAGES = ("en", "es", "ru")
runner = CliRunner()


def tuned(folder: Path, task_name: str, *, seed: int = 1) -> Path:
    """A model with a head of random weights, written as `transfer --save-models` writes one."""
    encoder = Encoder.load(str(models.bert(folder / "body", positions=128)), device="cpu", precision="fp32")
    task = tasks[task_name].call()
    labels = task.labels(toys.toy(task_name))
    model = TaskModel.of(encoder, task, labels, seed=seed)
    with torch.no_grad():
        for weight in model.head.parameters():
            weight.mul_(20)
    save(FineTuned(task, labels, model, encoder), folder / "tuned")
    return folder / "tuned"


def turned(text: str, language: str) -> str:
    """Another language: the words of a text in another order."""
    if language == "en":
        return text
    words = text.split()
    order = np.random.default_rng(len(words) + LANGUAGES.index(language)).permutation(len(words))
    return " ".join(words[n] for n in order)


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nli")
    tuned(folder, "nli")
    for code in LANGUAGES:
        lines = [f"{turned(e.first, code)}\t{turned(e.second, code)}\t{e.label}" for e in toys.toy("nli")]
        (folder / f"{code}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def scores(result: Any, aspect: str) -> dict[tuple[str, str, str], Record]:
    """The consistency of an aspect, by model and languages."""
    mine = result.records.where(measure="consistency", aspect=aspect)
    return {(each.model, each.source, each.target): each for each in mine}


def data(folder: Path, ending: str = "tsv") -> dict[str, Path]:
    return {code: folder / f"{code}.{ending}" for code in LANGUAGES}


def stored(folder: Path) -> Records[Record]:
    return Records(Record, folder)


@pytest.fixture(scope="module")
def done(nli: Path) -> Path:
    out = nli / "out"
    command = ["explain", str(nli / "tuned"), "--task", "nli", "--out", str(out), "--rows", "12"]
    found = runner.invoke(app, [*command, *(f"--test={code}={path}" for code, path in data(nli).items())])
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("Does tuned look at the same words in English, Spanish and Russian?")
    return out


def test_a_text_is_consistent_with_itself_exactly_and_with_its_words_in_another_order_nearly(done: Path) -> None:
    records = {(r.measure, r.aspect or r.key, r.target): r for r in stored(done).read()}
    own, other = records["consistency", "label", "en"], records["consistency", "label", "es"]
    assert own.value == 1.0
    assert own.n == other.n == 12
    assert other.null_value is not None
    assert other.details["settings"]["space"] == "embeddings"
    assert other.value > other.null_value
    assert 0 <= other.details["random"] <= 1
    assert other.details["gap_median"] <= 0.01


def test_every_example_has_its_attributions_plan_and_score_on_disk(done: Path) -> None:
    items = {r.target: stored(done).items(r) for r in stored(done).read() if r.measure == "consistency"}
    for code in LANGUAGES:
        path = next((done / "examples").glob(f"*.en-{code}.label.jsonl"))
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert [line["score"] for line in lines] == pytest.approx(items[code].tolist(), abs=1e-6)
        for line in lines:
            assert len(line["source"]["units"]) == len(line["source"]["attributions"])
            flowing = sum(flow for _, _, flow in line["flows"])
            assert line["score"] - 1e-4 <= flowing <= 1 + 1e-4
        right = np.mean([line["target"]["gold"] == line["target"]["predicted"] for line in lines])
        judged = next(r for r in stored(done).read() if r.key == "accuracy" and r.target == code)
        assert right == pytest.approx(judged.value)


def test_the_folder_has_tables_and_a_page_that_fetches_nothing(done: Path) -> None:
    page = (done / "report.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=[\"']?(http|//)", page.split("<script", 1)[0])
    names = {path.name for path in (done / "tables").iterdir()}
    for stem in ("consistency", "consistency-languages", "performance", "choices", "faithfulness"):
        assert {f"{stem}.csv", f"{stem}.md", f"{stem}.tex"} <= names
    assert not (done / "tables/correlation.csv").exists()  # The model is at chance.
    assert "its attributions explain nothing" in (done / "summary.md").read_text("utf-8")


def test_the_tables_of_a_folder_are_its_records(nli: Path, done: Path) -> None:
    report = explain(nli / "tuned", data(nli), rows=12, out=done).report()
    assert report.headline.answer.verdict is Verdict.AT_CHANCE
    (table,) = (table for table in report.tables() if table.name == "consistency")
    values = {column.title: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}
    own = {r.target: r.value for r in stored(done).read() if r.measure == "consistency"}
    assert own["en"] == 1.0
    assert {code: values[code].value for code in LANGUAGES} == pytest.approx(own)
    assert values["Overall"].value == pytest.approx(np.mean(list(own.values())))
    assert values["Others"].value == pytest.approx(np.mean([own["es"], own["ru"]]))
    wrong = next(figure for figure in report.headline.figures if figure.label == "Wrong predictions")
    accuracies = [r.value for r in stored(done).read() if r.key == "accuracy"]
    assert wrong.text == f"{round(sum(12 * (1 - value) for value in accuracies))} of 36"
    assert [text.is_wrong for example in explained_run(done, dict(report.runs[0].about), report.runs[0].records)
            .attachments["examples"].shown[:1] for text in example.texts] == [True, True]  # fmt: skip


def test_a_second_run_computes_nothing_and_says_the_same(
    nli: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = record_lines(done)
    monkeypatch.setattr("interlingua.analyses.explanation.Explainer.side", lambda *_: pytest.fail("computed again"))
    result = explain(nli / "tuned", data(nli), rows=12, out=done)
    assert record_lines(done) == before
    assert len(scores(result, "label")) == 3


def test_other_settings_in_one_folder_are_kept_apart(nli: Path, tmp_path: Path) -> None:
    def left(steps: int) -> tuple[list[dict[str, Any]], str]:
        settings = {"steps": steps, "tolerance": 0, "faithfulness": False, "sensitivity": False}
        found = explain(nli / "tuned", data(nli), rows=4, **settings, out=tmp_path / "out", device="cpu")
        assert found.report().runs[0].records == found.records
        (example,) = (tmp_path / "out/examples").glob("*.en-es.label.jsonl")
        return found.records, example.read_text("utf-8")

    first, other = left(2), left(3)
    assert first[0] != other[0]
    assert first[1] != other[1]
    assert left(2) == first


def test_models_by_language_of_training_give_a_source_by_target_table(nli: Path, tmp_path: Path) -> None:
    settings = {"steps": 2, "tolerance": 0, "faithfulness": False, "sensitivity": False}
    by = {"en": nli / "tuned", "es": nli / "tuned"}
    result = explain(by, data(nli), rows=4, **settings, out=tmp_path / "out")
    found = scores(result, "label")
    name = result.run["models"][0][0]
    assert found[name, "en", "en"].value == found[name, "es", "es"].value == 1.0
    assert found[name, "en", "es"].value == pytest.approx(found[name, "es", "en"].value, abs=1e-9)
    (table,) = (table for table in result.report().tables() if table.name == "consistency")
    assert len({row[:2] for row in table.rows}) == 2


@pytest.mark.parametrize("name", ["gradient-input", "saliency", "occlusion", "rollout", "random"])
def test_every_attribution_can_be_explained_with(nli: Path, tmp_path: Path, name: str) -> None:
    settings = {"attribution": name, "faithfulness": False, "sensitivity": False}
    result = explain(nli / "tuned", data(nli), rows=3, **settings, out=tmp_path)
    values = [each.value for each in scores(result, "label").values()]
    assert all(0 <= value <= 1 for value in values)


@pytest.mark.parametrize("space", ["aligned", "vectors", "layer"])
def test_every_space_can_be_used_and_is_in_the_record(nli: Path, tmp_path: Path, space: str) -> None:
    words = sorted({word for item in toys.toy("nli") for word in f"{item.first} {item.second}".split()})
    (tmp_path / "d.txt").write_text("".join(f"{word}\t{word}\n" for word in words), "utf-8")
    rows = np.random.default_rng(0).normal(size=(len(words), 4))
    lines = [f"{word} {' '.join(f'{value:.4f}' for value in row)}" for word, row in zip(words[1:], rows, strict=False)]
    (tmp_path / "v.vec").write_text("\n".join(lines) + "\n", "utf-8")
    settings = {"space": space, "unit": "word", "faithfulness": False, "sensitivity": False, "steps": 2}
    result = explain(
        nli / "tuned",
        data(nli),
        rows=4,
        **settings,
        dictionaries={"es": tmp_path / "d.txt", "ru": tmp_path / "d.txt"},
        vectors=dict.fromkeys(LANGUAGES, tmp_path / "v.vec"),
        out=tmp_path / "out",
    )
    found = scores(result, "label")
    assert all(each.details["space"].startswith(space) for each in found.values())
    assert found[result.run["models"][0][0], "en", "en"].value == 1.0


def test_questions_have_consistencies_of_start_and_end(tmp_path: Path) -> None:
    model = tuned(tmp_path, "qa")
    write_questions(tmp_path)
    files = {code: tmp_path / f"{code}.json" for code in ("en", "es")}
    result = explain(model, files, steps=2, tolerance=0, out=tmp_path / "out")
    for aspect in ("start", "end"):
        found = scores(result, aspect)
        assert sorted(each.value for each in found.values())[-1] == 1.0
        assert {each.n for each in found.values()} == {8}


def write_questions(folder: Path) -> None:
    """Eight questions in two languages, each file on one line."""
    questions = list(toys.toy("qa"))[:8]
    for code in ("en", "es"):
        items = [item if code == "en" else _moved(item) for item in questions]
        paragraphs = [
            {
                "context": item.context,
                "qas": [
                    {
                        "id": item.id,
                        "question": item.question,
                        "answers": [{"text": a.text, "answer_start": a.start} for a in item.answers],
                    }
                ],
            }
            for item in items
        ]
        told = {"version": "1", "data": [{"title": "x", "paragraphs": paragraphs}]}
        (folder / f"{code}.json").write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def _moved(item: Question) -> Question:
    shift = "again "
    answers = tuple(Answer(answer.text, answer.start + len(shift)) for answer in item.answers)
    return replace(item, context=shift + item.context, answers=answers)


def test_entities_are_paired_by_type_and_order_and_those_alone_are_counted(tmp_path: Path) -> None:
    model = tuned(tmp_path, "ner")
    sentences = [
        TaggedWords(("kitchen", "tap", "again"), ("B-PER", "O", "B-LOC")),
        TaggedWords(("rise", "slowly"), ("O", "B-LOC")),
    ]
    other = [
        TaggedWords(("again", "tap", "kitchen"), ("B-LOC", "O", "B-PER")),
        TaggedWords(("slowly", "rise"), ("O", "O")),
    ]
    for code, items in (("en", sentences), ("es", other)):
        text = "\n\n".join("\n".join(f"{w}\t{t}" for w, t in zip(i.words, i.tags, strict=True)) for i in items)
        (tmp_path / f"{code}.tsv").write_text(text + "\n", "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    result = explain(model, files, steps=2, tolerance=0, out=tmp_path / "out")
    found = scores(result, "entities")
    assert {key[2]: each.n for key, each in found.items()} == {"en": 3, "es": 2}
    assert any("1 target (entities) that the other language does not have" in note for note in result.run["skipped"])


def test_a_name_that_begins_with_an_inner_tag_is_explained_as_it_is_judged(tmp_path: Path) -> None:
    tuned(tmp_path, "ner")
    model = load(tmp_path / "tuned", device="cpu")
    with torch.no_grad():  # A head that calls every word I-LOC.
        next(each for each in model.model.head.parameters() if each.ndim == 1)[model.labels.index("I-LOC")] = 99.0
    save(model, tmp_path / "inner")
    file = tmp_path / "en.tsv"
    file.write_text("kitchen\tO\ntap\tI-LOC\n", "utf-8")
    # A file that begins a name with I- is read as IOB1, so that its name has the tag B-LOC.
    for target, first in (("predicted", "I-LOC at 'kitchen'"), ("gold", "B-LOC at 'tap'")):
        settings = {"target": target, "unit": "word", "steps": 2, "tolerance": 0}
        (found,) = explain_rows(tmp_path / "inner", {"en": file}, ["1"], **settings)
        text = found.examples[0].texts[0]
        assert text.about.startswith(first)
        assert text.explained == ("LOC: kitchen" if target == "predicted" else "LOC: tap") or target == "predicted"
        assert [text.whole_words[at][0] for at in text.marked][-1:] == ["tap"]


def test_two_texts_are_printed_with_flows(nli: Path) -> None:
    item = toys.toy("nli")[3]
    first, second = f"{item.first} ||| {item.second}", f"{turned(item.first, 'es')} ||| {turned(item.second, 'es')}"
    command = ["explain", str(nli / "tuned"), "--text", first, "--text", second, "--languages", "en,es"]
    page = nli / "two.html"
    found = runner.invoke(app, [*command, "--out", str(page)])
    assert found.exit_code == 0, found.output
    assert "Strongest flows" in found.stdout
    assert "completeness gap" in found.stdout
    assert "default-src 'none'" in page.read_text("utf-8")
    told = json.loads(runner.invoke(app, [*command, "--json"]).stdout)
    assert sum(told["source"]["attributions"]) != 0
    assert told["report"]["answer"]["kind"] == "strongest_words"
    same = explain_texts(nli / "tuned", first, first)
    assert same.example.score == 1.0
    assert same.example.texts[0].explained.startswith("label: ")
    assert same._repr_html_().startswith("<div")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--text", "only one"], "--text takes two texts"),
        (["--text", "a", "--text", "b"], "Divide two texts by |||"),
        (["--text", "a ||| b", "--text", "c ||| d", "--label", "maybe"], "It knows: entailment"),
        ([], "nothing to explain"),
        (["--test", "en=none.tsv", "--test", "es=none.tsv", "--out", "o"], "none.tsv"),
        (["--attribution", "integratd", "--text", "a ||| b"], "Did you mean 'integrated'"),
        (["--baseline", "pading"], "Did you mean 'padding'"),
        (["--space", "vectors", "--unit", "token"], "the space vectors compares words"),
        (["--weighting", "softmx"], "Did you mean 'softmax'"),
        (["--rule", "lefty", "--text", "a ||| b", "--text", "c ||| d"], "Did you mean 'left'"),
    ],
)
def test_bad_arguments_end_with_one_line_and_what_to_do(nli: Path, arguments: list[str], problem: str) -> None:
    found = runner.invoke(app, ["explain", str(nli / "tuned"), *arguments])
    assert isinstance(found.exception, InputError | SystemExit)
    assert problem in str(found.exception) + found.output


def test_data_that_does_not_fit_is_refused_with_its_line(nli: Path, tmp_path: Path) -> None:
    rows = [("a tap", "again", "neutral"), ("the tap", "rise", "entailment")]
    for name, labels in (("en", ("neutral", "entailment")), ("es", ("neutral", "neutral"))):
        lines = [f"{r[0]}\t{r[1]}\t{label}" for r, label in zip(rows, labels, strict=True)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    with pytest.raises(InputError, match=r"another label than en\.tsv:2"):
        explain(nli / "tuned", files, out=tmp_path / "out")
    with pytest.raises(InputError, match="trained for nli"):
        explain(nli / "tuned", files, task="ner", out=tmp_path / "out")
    with pytest.raises(InputError, match="language of training"):
        explain(nli / "tuned", {"de": files["en"], "es": files["es"]}, out=tmp_path / "out")
    with pytest.raises(InputError, match="second language"):
        explain(nli / "tuned", {"en": files["en"]}, out=tmp_path / "out")
    with pytest.raises(InputError, match=r"no task\.json"):
        explain(nli / "body", files, out=tmp_path / "out")
    with pytest.raises(InputError, match="--dictionary es=FILE"):
        explain(nli / "tuned", files, space="aligned", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


QUICK = {"steps": 2, "tolerance": 0, "faithfulness": False, "sensitivity": False}


def test_a_run_cut_short_goes_on_and_ends_with_the_same_records(
    nli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explain(nli / "tuned", data(nli), rows=4, **QUICK, out=tmp_path / "whole")
    attributed: list[str] = []
    side = Explainer.side

    def stopped(self: Explainer, language: str, examples: Any) -> Any:
        attributed.append(language)
        if attributed == ["en", "es", "ru"]:
            raise KeyboardInterrupt
        return side(self, language, examples)

    monkeypatch.setattr(Explainer, "side", stopped)
    with pytest.raises(KeyboardInterrupt):
        explain(nli / "tuned", data(nli), rows=4, **QUICK, out=tmp_path / "cut")
    assert not (tmp_path / "cut/run.json").exists()
    explain(nli / "tuned", data(nli), rows=4, **QUICK, out=tmp_path / "cut")
    # The language of training is attributed once, also for a process that comes later.
    assert attributed == ["en", "es", "ru", "ru"]
    assert record_lines(tmp_path / "cut") == record_lines(tmp_path / "whole")
    examples = [path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole/examples").iterdir()]
    assert len(examples) == 3
    for path in examples:
        assert (tmp_path / "cut" / path).read_bytes() == (tmp_path / "whole" / path).read_bytes()


def test_a_folder_of_another_command_is_refused(nli: Path, tmp_path: Path) -> None:
    tmp_path.joinpath("out").mkdir()
    (tmp_path / "out/run.json").write_text('{"kind": "transfer"}')
    with pytest.raises(InputError, match="holds another run"):
        explain(nli / "tuned", data(nli), rows=4, **QUICK, out=tmp_path / "out")


def test_the_language_of_training_is_attributed_once_for_every_model(
    nli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attributed: list[str] = []
    loaded: list[object] = []
    side = Explainer.side
    monkeypatch.setattr(
        Explainer, "side", lambda self, code, examples: attributed.append(code) or side(self, code, examples)
    )
    monkeypatch.setattr(step_io, "load", lambda *given, **more: loaded.append(given) or load(*given, **more))
    by = {"en": nli / "tuned", "es": copied(nli / "tuned", tmp_path / "other")}
    explain(by, data(nli), rows=4, **QUICK, out=tmp_path / "out")
    assert attributed == ["en", "es", "ru", "es", "en", "ru"]
    assert len(loaded) == 2
    assert not list((tmp_path / "out").glob(".interlingua/steps/*/heavy/*"))


def copied(folder: Path, place: Path) -> Path:
    shutil.copytree(folder, place)
    return place


def test_a_language_that_is_added_is_all_that_is_computed(
    nli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the attributions in the language of training, which no folder keeps."""
    files = data(nli)
    explain(nli / "tuned", {code: files[code] for code in ("en", "es")}, rows=4, **QUICK, out=tmp_path / "out")
    attributed: list[str] = []
    side = Explainer.side
    monkeypatch.setattr(
        Explainer, "side", lambda self, code, examples: attributed.append(code) or side(self, code, examples)
    )
    explain(nli / "tuned", files, rows=4, **QUICK, out=tmp_path / "out")
    assert attributed == ["en", "ru"]
    explain(nli / "tuned", {code: files[code] for code in ("en", "ru")}, rows=4, **QUICK, out=tmp_path / "out")
    assert attributed == ["en", "ru"]
    assert {path.name.split(".")[1] for path in (tmp_path / "out/examples").iterdir()} == {"en-en", "en-ru"}


def options(folder: Path, *more: str) -> list[str]:
    tests = [f"--test={code}={path}" for code, path in data(folder).items()]
    return [*tests, "--rows", "4", "--steps", "2", "--tolerance", "0", "--no-faithfulness", "--no-sensitivity", *more]


def test_a_plan_names_the_steps_and_runs_nothing(nli: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ["explain", str(nli / "tuned"), *options(nli), "--out", str(out), "--plan", "--json"]
    found = runner.invoke(app, asked)
    assert found.exit_code == 0, found.output
    steps = json.loads(found.stdout)["steps"]
    assert [(step["kind"], step["state"]) for step in steps] == [("attribute", "needed")] * 3
    assert not out.exists()
    explain(nli / "tuned", data(nli), rows=4, **QUICK, out=out)
    assert {step["state"] for step in json.loads(runner.invoke(app, asked).stdout)["steps"]} == {"done"}
    row = runner.invoke(app, ["explain", str(nli / "tuned"), f"--test=es={nli / 'es.tsv'}", "--row", "3", "--plan"])
    assert "Leave --row and --text out" in str(row.exception)


def test_the_study_of_an_explanation_gives_the_same_records(nli: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for code in LANGUAGES:  # A name with what a template could have in it.
        shutil.copyfile(nli / f"{code}.tsv", tmp_path / f"{{language}} {code}.tsv")
    files = {code: tmp_path / f"{{language}} {code}.tsv" for code in LANGUAGES}
    file = tmp_path / "sub" / "study.toml"
    tests = [f"--test={code}={path}" for code, path in files.items()]
    saved = runner.invoke(app, ["explain", str(nli / "tuned"), *tests, *options(nli)[3:], "--save-study", str(file)])
    assert saved.exit_code == 0, saved.output
    explain(nli / "tuned", files, rows=4, **QUICK, out=tmp_path / "out")
    planned = plan_study(file, out=tmp_path / "study")
    run_here(planned)
    assert record_lines(tmp_path / "study") == record_lines(tmp_path / "out")
    report = planned.report().report()
    assert report.headline.answer.verdict is Verdict.AT_CHANCE
    assert {"same-words", "beside-chance", "consistency-tables"} <= {section.name for section in report.sections}


STUDY = """
name = "given"
languages = ["en", "es"]

[models.clf]
folder = "{folder}"

[explanations.why]
models = ["clf"]
tests = "{{language}}.tsv"
steps = 2
faithfulness = false
random_heads = 0
max_examples = 1
"""


def test_a_study_explains_an_ordinary_classifier_without_training_anything(tmp_path: Path) -> None:
    folder = ordinary(tmp_path, "bert")
    for code in ("en", "es"):
        rows = [f"{turned('kitchen tap again slowly', code)}\t{label}\n" for label in ("negative", "positive")]
        (tmp_path / f"{code}.tsv").write_text("text\tlabel\n" + "".join(rows), "utf-8")
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(folder=folder.relative_to(tmp_path)), "utf-8")
    planned = plan_study(file, out=tmp_path / "out")
    run_here(planned)
    report = planned.report()
    found = report.records.where(measure="consistency")
    assert {(each.model, each.task, each.source, each.target, each.regime, each.block) for each in found} == {
        ("clf", "classification", "en", code, None, "why") for code in ("en", "es")
    }
    assert not [each for each in report.records if each.measure == "faithfulness"]
    for step in planned.graph:
        (examples,) = (planned.workspace.step(step.key) / "examples").iterdir()
        assert len(examples.read_text("utf-8").splitlines()) == 1
    own = explain(
        folder,
        {code: tmp_path / f"{code}.tsv" for code in ("en", "es")},
        steps=2,
        faithfulness=False,
        random_heads=0,
        out=tmp_path / "own",
    )
    assert [each.value for each in own.records.where(measure="consistency")] == [each.value for each in found]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('models = ["clf"]', "", "nothing is explained"),
        ('models = ["clf"]', 'models = ["other"]', "unknown model of the study"),
        ('tests = "{language}.tsv"', "", "models have no tests of their own"),
        ('tests = "{language}.tsv"', 'tests = {es = "es.tsv"}', "no test in the language of training"),
        ('tests = "{language}.tsv"', 'tests = "{language}.csv"', "no such file"),
        ("[explanations.why]", 'task = "nli"\n[explanations.why]', "the model was trained for classification"),
        ("[explanations.why]", 'sources = ["ru"]\n[explanations.why]', "unknown language of the study"),
        ('folder = "model"', 'folder = "nothing"', r"no task\.json"),
        ("[explanations.why]", '[tasks.ner]\ntrain = "en.tsv"\ntests = "en.tsv"\n[explanations.why]', "no encoder"),
    ],
)
def test_what_is_wrong_with_a_model_of_a_study_is_told_with_its_line(
    tmp_path: Path, before: str, after: str, problem: str
) -> None:
    ordinary(tmp_path, "bert")
    for code in ("en", "es"):
        (tmp_path / f"{code}.tsv").write_text("a tap\tnegative\n", "utf-8")
    text = STUDY.format(folder="model")
    assert before in text
    (tmp_path / "study.toml").write_text(text.replace(before, after), "utf-8")
    with pytest.raises(InputError, match=rf"study\.toml(:\d+)?: .*{problem}"):
        plan_study(tmp_path / "study.toml", out=tmp_path / "out")


def test_a_head_of_other_labels_is_told(tmp_path: Path) -> None:
    model = tuned(tmp_path, "ner")
    for code in ("en", "es"):
        (tmp_path / f"{code}.tsv").write_text("kitchen\tB-ORG\n", "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    with pytest.raises(InputError, match="a tag that the model was not trained on"):
        explain(model, files, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_long_texts_are_cut_to_the_models_limit_and_counted(nli: Path, tmp_path: Path) -> None:
    long = " ".join(["kitchen tap again"] * 60)
    for code in ("en", "es"):
        (tmp_path / f"{code}.tsv").write_text(f"{long}\t{long}\tneutral\na tap\tagain\tneutral\n", "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    result = explain(nli / "tuned", files, steps=2, tolerance=0, out=tmp_path / "out")
    assert any("pair cut to" in note for note in result.run["skipped"])
    assert [each.n for each in scores(result, "label").values()] == [2, 2]


def test_rows_missing_in_one_language_do_not_shift_the_others(nli: Path, tmp_path: Path) -> None:
    rows = [(item.first, item.second, item.label) for item in toys.toy("nli")][:6]
    (tmp_path / "en.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    holed = [row if n != 2 else ("", row[1], row[2]) for n, row in enumerate(rows)]
    (tmp_path / "es.tsv").write_text("".join("\t".join(row) + "\n" for row in holed), "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    settings = {"steps": 2, "tolerance": 0, "faithfulness": False, "sensitivity": False}
    result = explain(nli / "tuned", files, **settings, out=tmp_path / "out")
    name = result.run["models"][0][0]
    found = scores(result, "label")[name, "en", "es"]
    assert found.n == 5
    assert found.value == pytest.approx(1.0, abs=1e-6)  # The same texts, batched with others on each side.


def test_spaces_made_of_files_are_not_for_two_texts(nli: Path) -> None:
    with pytest.raises(InputError, match="needs files"):
        explain_texts(nli / "tuned", "a ||| b", "c ||| d", space="aligned")


def test_without_a_segmenter_words_are_left_out_of_the_choices_and_the_run_goes_on(
    nli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(text: str) -> list[tuple[int, int]]:
        raise MissingExtra("segment", "finding words in han script")

    monkeypatch.setattr("interlingua.attribution.units.token_spans", absent)
    settings = {"steps": 2, "tolerance": 0, "faithfulness": False}
    result = explain(nli / "tuned", data(nli), rows=3, **settings, out=tmp_path)
    assert any("not scored by word" in note and "interlingua[segment]" in note for note in result.run["skipped"])
    variants = {
        (each.aspect, each.options["unit"], each.options["weighting"])
        for each in result.records
        if each.measure == "consistency-choices"
    }
    assert variants == {("label", "token", way) for way in ("absolute", "positive", "softmax")}


def lines_of(out: Path, code: str) -> dict[object, dict[str, Any]]:
    path = next((out / "examples").glob(f"*.en-{code}.label.jsonl"))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {line["key"]: line for line in lines}


def test_a_row_alone_is_explained_as_it_is_among_all(nli: Path, done: Path) -> None:
    among = lines_of(done, "es")
    wrong = [key for key, line in among.items() if line["target"]["gold"] != line["target"]["predicted"]]
    right = [key for key, line in among.items() if key not in wrong]
    files = {code: data(nli)[code] for code in ("en", "es")}
    found = explain_rows(nli / "tuned", files, [f"es:{wrong[0]}", *map(str, right[:1])])
    for each, key in zip(found, [wrong[0], *right[:1]], strict=True):
        line = among[key]
        assert [prediction.line for prediction in each.predictions] == [key, key]
        assert [(prediction.gold, prediction.predicted) for prediction in each.predictions] == [
            (line[side]["gold"], line[side]["predicted"]) for side in ("source", "target")
        ]
        first = each.examples[0].to_dict()
        for side in ("source", "target"):
            assert first[side]["units"] == line[side]["units"]
            assert first[side]["attributions"] == pytest.approx(line[side]["attributions"], abs=1e-3)
            assert first[side]["row"] == line[side]["row"]
        assert first["score"] == pytest.approx(line["score"], abs=1e-3)
        assert [e.answer for e in each.examples] == (["gold", "predicted"] if each.is_wrong else ["gold"])


def test_a_row_is_printed_with_what_file_and_model_say(nli: Path, done: Path) -> None:
    among = lines_of(done, "es")
    key, line = next((k, v) for k, v in among.items() if v["target"]["gold"] != v["target"]["predicted"])
    command = ["explain", str(nli / "tuned"), f"--test=en={nli / 'en.tsv'}", f"--test=es={nli / 'es.tsv'}"]
    page = nli / "row.html"
    found = runner.invoke(app, [*command, "--row", f"es.tsv:{key}", "--out", str(page)])
    assert found.exit_code == 0, found.output
    said = f"gold {line['target']['gold']}, predicted {line['target']['predicted']}"
    assert f"Wrong: {said} (Spanish, es.tsv:{key})." in " ".join(found.stdout.split())
    for words in ("Strongest flows", "Strongest words", "completeness gap", "Consistency"):
        assert words in found.stdout
    assert said in page.read_text("utf-8")
    told = json.loads(runner.invoke(app, [*command, "--row", str(key), "--json"]).stdout)
    assert told["rows"][0]["predictions"][1]["predicted"] == line["target"]["predicted"]
    assert {finding["kind"] for finding in told["report"]["findings"]} == {"row_prediction", "strongest_words"}


def test_one_language_is_enough_for_a_row(nli: Path) -> None:
    found = runner.invoke(app, ["explain", str(nli / "tuned"), f"--test=es={nli / 'es.tsv'}", "--row", "3"])
    assert found.exit_code == 0, found.output
    assert "es.tsv:3" in found.stdout
    assert "Strongest flows" not in found.stdout
    told = explain_rows(nli / "tuned", {"es": nli / "es.tsv"}, [3])
    assert all(len(example.texts) == 1 for example in told[0].examples)
    assert sum(told[0].examples[0].texts[0].attributions) != 0
    assert told.page().startswith("<!doctype html>")


def test_a_row_that_one_file_lacks_is_explained_where_it_is_and_said(nli: Path, tmp_path: Path) -> None:
    rows = [(item.first, item.second, item.label) for item in toys.toy("nli")][:6]
    (tmp_path / "en.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    holed = [row if n != 2 else ("", row[1], row[2]) for n, row in enumerate(rows)]
    (tmp_path / "es.tsv").write_text("".join("\t".join(row) + "\n" for row in holed), "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    third, fourth = explain_rows(nli / "tuned", files, [3, 4])
    assert [prediction.language for prediction in third.predictions] == ["en"]
    assert any(note.startswith("es.tsv: does not have the row 3") for note in third.notes)
    assert fourth.examples[0].score == pytest.approx(1.0, abs=1e-6)  # The same text on both sides.


def test_a_sentence_of_tagged_words_is_found_by_any_of_its_lines_in_its_own_file(tmp_path: Path) -> None:
    model = tuned(tmp_path, "ner")
    sides = {
        "en": [(("kitchen", "again"), ("B-PER", "O")), (("rise", "slowly"), ("O", "B-LOC"))],
        "es": [(("again", "the", "tap", "kitchen"), ("O", "O", "O", "B-PER")), (("slowly", "rise"), ("B-LOC", "O"))],
    }
    for code, sentences in sides.items():
        text = "\n\n".join("\n".join(f"{w}\t{t}" for w, t in zip(*both, strict=True)) for both in sentences)
        (tmp_path / f"{code}.tsv").write_text(text + "\n", "utf-8")
    files = {code: tmp_path / f"{code}.tsv" for code in ("en", "es")}
    for asked, lines in (("es:3", [1, 1]), ("es.tsv:7", [4, 6]), ("en:5", [4, 6]), ("1", [1, 1])):
        found = explain_rows(model, files, [asked])[0]
        assert [prediction.line for prediction in found.predictions] == lines
        assert found.predictions[0].gold == ("PER kitchen" if lines == [1, 1] else "LOC slowly")
        texts = [text for example in found.examples if example.answer == "gold" for text in example.texts]
        assert {text.about.split(":")[0] for text in texts} == {
            "B-PER at 'kitchen'" if lines == [1, 1] else "B-LOC at 'slowly'"
        }
        assert {text.explained for text in texts} == {"PER: kitchen" if lines == [1, 1] else "LOC: slowly"}
        assert {text.whole_words[at][0] for text in texts for at in text.marked} == {texts[0].explained[5:]}
    with pytest.raises(InputError, match=r"another row in each file: '4'\. Say which is meant: --row en:4, --row es:4"):
        explain_rows(model, files, ["4"])


def test_a_question_is_found_by_its_id_and_a_line_of_many_is_refused(tmp_path: Path) -> None:
    model = tuned(tmp_path, "qa")
    write_questions(tmp_path)
    files = {code: tmp_path / f"{code}.json" for code in ("en", "es")}
    found = explain_rows(model, files, ["q3"])[0]
    answer = next(item.answers[0].text for item in toys.toy("qa") if item.id == "q3")
    assert [prediction.id for prediction in found.predictions] == ["q3", "q3"]
    assert found.predictions[0].gold == answer
    assert {example.aspect for example in found.examples} == {"start", "end"}
    for text in (text for example in found.examples if example.answer == "gold" for text in example.texts):
        assert text.explained == f"answer: {answer}"
        assert [text.whole_words[at][0] for at in text.marked] == answer.split()
    with pytest.raises(InputError, match="8 examples on one line"):
        explain_rows(model, files, ["en:1"])


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (["99"], "no example on this line of en.tsv, es.tsv: '99'"),
        (["de:3"], "Given are: en (en.tsv), es (es.tsv)"),
        (["q7"], "neither a line nor an id of the data: 'q7'"),
        (["3", "--rows", "4"], "Leave --rows out"),
        (["3", "--out", "x"], "Name a file: --out x.html"),
    ],
)
def test_a_row_that_is_not_there_is_told_with_what_to_give(nli: Path, row: list[str], problem: str) -> None:
    command = ["explain", str(nli / "tuned"), f"--test=en={nli / 'en.tsv'}", f"--test=es={nli / 'es.tsv'}", "--row"]
    found = runner.invoke(app, [*command, *row])
    assert isinstance(found.exception, InputError)
    assert problem in str(found.exception)
