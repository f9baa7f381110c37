"""The real files in ../shared/data: as many examples as their own description and a plain count say."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from interlingua.readers.squad import join_by_question_id, read_questions
from interlingua.tasks import tasks
from interlingua.tasks.text_pairs import mix_with_english

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data here")]


@pytest.mark.parametrize(("split", "rows"), [("dev", 2490), ("test", 5010), ("train9k", 9000)])
def test_xnli_has_its_rows_a_third_of_each_label(split, rows):
    for path in sorted((DATA / "xnli").glob(f"{split}-*.tsv.xz"))[:4]:
        examples = tasks["nli"].call().read(path, path.name.split("-")[1].split(".")[0])
        assert len(examples) == rows
        assert not examples.skipped
        labels = [item.label for item in examples]
        assert {labels.count(name) for name in set(labels)} == {rows // 3}


def test_xnli_mixes_with_english_row_by_row():
    task = tasks["nli"].call()
    russian, english = (task.read(DATA / f"xnli/test-{code}.tsv.xz", code) for code in ("ru", "en"))
    made = mix_with_english(russian, english, seed=0)
    for item, ours, original in zip(made, russian, english, strict=True):
        assert (item.first, item.second) in ((original.first, ours.second), (ours.first, original.second))


def test_paws_x_is_read_whole_in_all_languages():
    paths = sorted((DATA / "pawsx").glob("*.tsv"))
    assert len(paths) == 14
    for path in paths:
        examples = tasks["paraphrase"].call().read(path, path.stem.split("-")[1])
        assert len(examples) == path.read_text("utf-8").count("\n")
        assert 1900 < len(examples) <= 2000


@pytest.mark.parametrize("code", ["en", "ru", "hi", "zh"])
def test_pan_x_has_its_sentences(code):
    task = tasks["ner"].call()
    for split, rows in (("train", 5000 if code == "hi" else 20000), ("dev", 1000 if code == "hi" else 10000)):
        examples = task.read(DATA / f"panx/{split}-{code}.tsv.xz", code)
        assert len(examples) == rows
        assert task.labels(examples) == ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")


def test_squad_and_xquad_have_their_questions_and_every_answer_in_its_place():
    examples = read_questions(DATA / "squad/train-v1.1-subset.json", language="en", strict=True)
    assert len(examples) == 8059
    for path in sorted((DATA / "xquad").glob("xquad.*.json")):
        assert len(read_questions(path, language=path.name.split(".")[1], strict=True)) == 1190


def test_xquad_crosses_both_ways():
    vi, en = (read_questions(DATA / f"xquad/xquad.{code}.json", language=code) for code in ("vi", "en"))
    assert len(join_by_question_id(vi, en)) == len(join_by_question_id(en, vi)) == 1190


def test_mlqas_own_crossed_file_is_what_crossing_its_two_files_gives():
    def questions(context: str, question: str) -> Path:
        return DATA / f"mlqa/dev-context-{context}-question-{question}.json.xz"

    with lzma.open(questions("en", "es"), "rt", encoding="utf-8") as stream:
        raw = json.load(stream)
    official = {q["id"]: q["question"] for a in raw["data"] for p in a["paragraphs"] for q in p["qas"]}
    spanish = read_questions(questions("es", "es"), language="es")
    english = read_questions(questions("en", "en"), language="en")
    ids = {item.id for item in spanish} & {item.id for item in english}
    made = join_by_question_id(
        *(replace(side, items=tuple(q for q in side if q.id in ids)) for side in (spanish, english))
    )
    assert {item.id: item.question for item in made} == official


def test_tatoeba_is_read_for_retrieval():
    corpus = tasks["retrieval"].call().read(DATA / "tatoeba", "ru")
    assert corpus.languages == ("ru", "en")
    assert len(corpus.pair("ru", "en").rows) == 1000
