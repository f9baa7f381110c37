from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import models
import toys
from interlingua import align, explain_texts
from interlingua.analyses.explanation import Explainer, ExternalVectors, explained_examples
from interlingua.analyses.word_alignment import SavedAligner
from interlingua.attribution.inputs import AttributionInput
from interlingua.attribution.integrated_gradients import IntegratedGradients
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.explorer.corpus_index import CorpusIndex
from interlingua.explorer.encoded_text import words_of
from interlingua.explorer.explorer import Explorer
from interlingua.explorer.explorer_loading import open_explorer, open_server
from interlingua.explorer.heads import SETTINGS, Head
from interlingua.readers.examples import Examples
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel


def test_answers_are_plain_json_without_undefined_numbers(explorer: Explorer) -> None:
    asked = {"source": "a 𓀀", "target": "!", "source_language": "", "target_language": "ar", "centred": False}
    for weighing in ("attribution", "even"):
        answer = explorer.pair({**asked, "weighing": weighing})
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer  # NaN would be refused, a tuple not come back.


def test_every_layer_of_every_model_is_answered(explorer: Explorer, shelf: CorpusIndex) -> None:
    two = Explorer((shelf, shelf), shelf.corpus)
    found = two.pair({"source": "Good morning.", "target": "Buenos días."})
    assert [len(model["layers"]) for model in found["models"]] == [9, 9]
    assert found["models"][0] == found["models"][1]


def test_a_rows_neighbours_leave_itself_out_and_rank_its_translations(explorer: Explorer) -> None:
    text = explorer.corpus.texts["en"][4]
    found = explorer.neighbours({"text": text, "language": "en", "row": 4, "layer": 6, "count": 3})
    groups = {group["language"]: group for group in found["models"][0]["languages"]}
    assert all(len(group["found"]) == 3 for group in groups.values())
    assert 4 not in [near["row"] for near in groups["en"]["found"]]
    assert groups["en"]["rank"] is None
    for code in ("es", "ar", "zh"):
        rows = [near["row"] for near in groups[code]["found"]]
        assert (groups[code]["rank"] <= 3) == (4 in rows)


def test_an_edited_sentence_has_no_translation_in_the_corpus(explorer: Explorer) -> None:
    text = f"{explorer.corpus.texts['en'][4]} Indeed."
    found = explorer.neighbours({"text": text, "language": "en", "row": 4})
    assert found["row"] is None
    assert {group["rank"] for group in found["models"][0]["languages"]} == {None}


def test_rows_are_found_by_their_text_in_either_language(explorer: Explorer) -> None:
    texts = explorer.corpus.texts
    word = texts["es"][3].split()[0]
    asked = {"source_language": "en", "target_language": "es", "find": word.upper(), "count": 20}
    expected = [
        row
        for row in range(len(explorer.corpus))
        if any(word.casefold() in texts[code][row].casefold() for code in ("en", "es"))
    ]
    assert [row["row"] for row in explorer.rows(asked)["rows"]] == expected[:20]


def test_pages_of_rows_follow_each_other(explorer: Explorer) -> None:
    asked = {"source_language": "en", "target_language": "es", "count": 13}
    seen, start = [], 0
    while start is not None:
        page = explorer.rows({**asked, "start": start})
        seen += [row["row"] for row in page["rows"]]
        start = page["next"]
    assert seen == list(range(len(explorer.corpus)))


def test_statistical_links_are_those_of_the_saved_aligner(shelf: CorpusIndex, tmp_path: Path) -> None:
    pair = shelf.corpus.pair("en", "es")
    texts = list(zip(pair.source_texts, pair.target_texts, strict=True))
    align(texts, save=tmp_path / "aligner")
    made = align(texts, aligner=tmp_path / "aligner", symmetrize="grow-diag-final-and")
    explorer = Explorer((shelf,), shelf.corpus, aligner=SavedAligner.load(tmp_path / "aligner"))
    for row in range(5):
        found = explorer.pair({"source": texts[row][0], "target": texts[row][1]})["statistical"]
        chosen = made.links.row == row
        links = zip(made.links.source[chosen].tolist(), made.links.target[chosen].tolist(), strict=True)
        assert sorted(map(tuple, found)) == sorted(links)


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("head")
    encoder = Encoder.load(str(models.bert(folder / "body")), device="cpu", precision="fp32")
    task = tasks["nli"].call()
    labels = task.labels(toys.toy("nli"))
    save(FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=1), encoder), folder / "nli")
    return folder / "nli"


def test_a_head_says_what_explain_says_of_the_same_texts(shelf: CorpusIndex, nli: Path) -> None:
    explorer = Explorer((shelf,), shelf.corpus, (Head.load("mine", nli, device="cpu"),))
    asked = {"source": "The tap.", "target": "El grifo.", "source_second": "A fall.", "target_second": "La cocina."}
    found = explorer.head({**asked, "head": "mine"})
    likely = max(found["source"]["said"], key=found["source"]["said"].get)
    other = explain_texts(
        nli,
        "The tap. ||| A fall.",
        "El grifo. ||| La cocina.",
        label=likely,
        steps=SETTINGS.steps,
        tolerance=0,
        device="cpu",
    )
    example = other.example.to_dict()
    assert found["score"] == example["score"]
    assert found["flows"] == example["flows"]
    for side in ("source", "target"):
        assert found[side]["units"] == example[side]["units"]
        np.testing.assert_allclose(found[side]["attributions"], example[side]["attributions"], atol=1e-6)
        assert sum(found[side]["said"].values()) == pytest.approx(1.0, abs=1e-3)
    assert found["source"]["explained"] == likely


NAMES = ("Anna lives in Rome.", "Anna vive en Roma.")
QUESTIONS = (("Where does she live?", "Anna lives in Rome."), ("¿Dónde vive?", "Anna vive en Roma."))


@pytest.mark.parametrize("name", ["ner", "qa"])
def test_a_head_attributes_no_more_than_it_shows_and_that_as_explain_does(name: str, tmp_path: Path) -> None:
    encoder = Encoder.load(str(models.bert(tmp_path / "body")), device="cpu", precision="fp32")
    task = tasks[name].call()
    labels = task.labels(toys.toy(name))
    tuned = FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=3), encoder)
    head = Head("mine", tuned)
    if name == "ner":
        with torch.no_grad():  # A head that calls every word the first of a name.
            next(weight for weight in tuned.model.head.parameters() if weight.ndim == 1)[labels.index("B-PER")] = 9.0
        texts, seconds = NAMES, ("", "")
    else:
        texts, seconds = tuple(zip(*QUESTIONS, strict=True))
    found = head.explain(texts, seconds, ("en", "es"))
    # All targets of all aspects, as data sets are explained.
    explainer = Explainer(tuned, SETTINGS, ExternalVectors({}, {}))
    examples = [
        Examples((task.example((text, second)[: len(task.reads)]),), code, code)
        for text, second, code in zip(texts, seconds, ("en", "es"), strict=True)
    ]
    sides = [explainer.side(each.language, each) for each in examples]
    assert sum(len(aspect.targets) for aspect in sides[0].aspects) > 1
    compared = explainer.compare(sides[0], sides[1], 0)
    other = explained_examples(sides[0], sides[1], 0, compared, most=1)[0].to_dict()
    assert found["score"] == pytest.approx(other["score"], abs=1e-5)
    for side in ("source", "target"):
        assert found[side]["units"] == other[side]["units"]
        np.testing.assert_allclose(found[side]["attributions"], other[side]["attributions"], rtol=1e-4, atol=2e-6)
        assert found[side]["gap"] == pytest.approx(other[side]["gap"], abs=1e-4)


def test_only_the_target_that_is_shown_goes_through_the_model(nli: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, seen = Head.load("mine", nli, device="cpu"), []
    monkeypatch.setattr(IntegratedGradients, "__call__", _counted(IntegratedGradients.__call__, seen))
    head.explain(("The tap.", "El grifo."), ("A fall.", "La cocina."), ("en", "es"))
    assert seen == [1, 1]


def _counted(call: Any, seen: list[int]) -> Any:
    def counted(way: IntegratedGradients, case: AttributionInput) -> Any:
        seen.append(len(case.targets))
        return call(way, case)

    return counted


def test_entities_of_no_common_kind_are_told(shelf: CorpusIndex, tmp_path: Path) -> None:
    encoder = Encoder.load(str(models.bert(tmp_path / "body")), device="cpu", precision="fp32")
    task = tasks["ner"].call()
    labels = ("O", "B-LOC", "I-LOC")
    model = TaskModel.of(encoder, task, labels, seed=1)
    with torch.no_grad():  # A head that calls nothing an entity.
        for weight in model.head.parameters():
            weight.copy_(torch.eye(3)[0] if weight.shape == (3,) else torch.zeros_like(weight))
    save(FineTuned(task, labels, model, encoder), tmp_path / "ner")
    explorer = Explorer((shelf,), shelf.corpus, (Head.load("ner", tmp_path / "ner", device="cpu"),))
    with pytest.raises(InputError, match="nothing of one kind in both texts: none in the first, none in the second"):
        explorer.head({"source": "The tap.", "target": "El grifo.", "head": "ner"})


def test_heads_ask_for_what_they_need(shelf: CorpusIndex, explorer: Explorer, nli: Path) -> None:
    with_head = Explorer((shelf,), shelf.corpus, (Head.load("mine", nli, device="cpu"),))
    asked = {"source": "The tap.", "target": "El grifo."}
    with pytest.raises(InputError, match="second text"):
        with_head.head({**asked, "head": "mine"})
    with pytest.raises(InputError, match="unknown task head"):
        with_head.head({**asked, "head": "mien"})
    with pytest.raises(InputError, match="--head"):
        explorer.head({**asked, "head": "mine"})


def test_an_explorer_is_opened_by_names_and_checked_first(bert_folder: Path) -> None:
    made = open_explorer([str(bert_folder)], languages=["en", "es"], rows=6, cache="none", device="cpu")
    assert (len(made.corpus), made.corpus.languages) == (6, ("en", "es"))
    with pytest.raises(InputError, match="too few rows"):
        open_explorer(rows=1)
    server = open_server(made, port=0)
    try:
        with pytest.raises(InputError, match="port cannot be opened"):
            open_server(made, port=server.gate.port)
        with pytest.raises(InputError, match="port cannot be opened"):
            open_server(made, port=123456)
    finally:
        server.server_close()


def test_words_are_cut_without_a_segmenter_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlingua.explorer.encoded_text.lacks_segmenter", lambda text: "han")
    assert len(words_of("厨房的水")) == 4


TYPED = {
    "en": "The old bridge was closed in winter.", "es": "El puente viejo estaba cerrado en invierno.",
    "ar": "كان الجسر القديم مغلقا في الشتاء.", "zh": "旧桥在冬天关闭了。",
}  # fmt: skip


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize("language", TYPED)
@pytest.mark.parametrize("chosen", TYPED)
def test_a_typed_text_in_another_language_than_the_one_chosen_is_said(explorer, language, chosen) -> None:
    languages = {"source_language": "en", "target_language": chosen}
    asked = {"source": TYPED["en"], "target": TYPED[language], **languages}
    doubts = explorer.pair(asked)["doubts"]
    assert [(each["side"], each["language"]) for each in doubts] == [("target", language)] * (language != chosen)
    turned = explorer.pair({"source": TYPED[language], "target": TYPED["en"], "source_language": chosen})["doubts"]
    assert [(each["side"], each["language"]) for each in turned] == [("source", language)] * (language != chosen)


def test_a_text_in_a_script_of_no_language_of_the_corpus_is_said(explorer) -> None:
    asked = {"source": "Old bridge.", "target": "Мост.", "source_language": "en", "target_language": "es"}
    (said,) = explorer.pair(asked)["doubts"]
    assert said["language"] == ""
    assert "no letter in the script of Spanish" in said["message"]


def test_nothing_is_said_of_rows_of_the_corpus_signs_and_languages_that_are_not_known(explorer) -> None:
    rows = {"source": explorer.corpus.texts["en"][3], "target": explorer.corpus.texts["zh"][3], "row": 3}
    assert explorer.pair({**rows, "source_language": "en", "target_language": "zh"})["doubts"] == []
    asked = {"source": "42!", "target": "Мост.", "source_language": "ar", "target_language": ""}
    assert explorer.pair(asked)["doubts"] == []


def test_where_a_cosine_stands_agrees_with_the_ranges_shown(explorer) -> None:
    texts = {"source": TYPED["en"], "target": TYPED["es"], "source_language": "en", "target_language": "es"}
    model = explorer.pair(texts)["models"][0]
    for layer, low, high in zip(model["layers"], model["unrelated"], model["translations"], strict=True):
        among = {"unrelated": (True, False), "both": (True, True), "translations": (False, True)}
        assert among.get(layer["standing"], (False, False)) == (layer["cosine"] <= low[2], layer["cosine"] >= high[0])
