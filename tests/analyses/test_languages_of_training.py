"""What is held in place, and what translations are looked up in, is the language of training, English or another."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlingua.analyses.aligned_bitext import AlignerChoice, LinkedFiles
from interlingua.analyses.transfer import task_named
from interlingua.commands.transfer import _linked
from interlingua.engine.step import StepContext
from interlingua.readers import read_corpus
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.step_settings import AlignStep, StudyBitext
from interlingua.studies.steps import align
from interlingua.studies.steps.step_io import LINKS, linked_files
from interlingua.studies.validation import read_study

LINE = "Good morning.\tДоброе утро.\n"


@pytest.mark.parametrize(
    ("names", "source", "stays", "language"),
    [
        (["x.ru-en.tsv"], "en", "target", "ru"),
        (["x.en-ru.tsv"], "en", "source", "ru"),
        (["x.ru-en.tsv"], "ru", "source", "en"),
        (["x.en-ru.tsv"], "ru", "target", "en"),
        (["x.en", "x.ru"], "ru", "target", "en"),
        (["x.ru", "x.en"], "ru", "source", "en"),
        (["x.ru", "x.en"], "en", "target", "ru"),
        (["x.txt"], "ru", "source", None),
    ],
)
def test_the_side_in_the_language_of_training_stays(tmp_path, names, source, stays, language):
    for name in names:
        (tmp_path / name).write_text(LINE if len(names) == 1 else "Hello.\n", "utf-8")
    found = LinkedFiles(tuple(tmp_path / name for name in names), source=source)
    assert (found.stays, found.language) == (stays, language)


def test_a_bitext_cut_from_a_corpus_has_the_language_of_training_first(tmp_path):
    about = StudyBitext(language="en", source="ru", corpus="sampler")
    align.run(
        AlignStep(bitext=about, symmetrize="intersect", diagonal={}, neural=None, precision=None),
        StepContext("key", {}, tmp_path, tmp_path),
    )
    [files] = linked_files([about], {"align en": tmp_path}).values()
    text = files.read(tmp_path / LINKS)
    for side, code in ((text.source, "ru"), (text.target, "en")):
        told = read_corpus("sampler", languages=["ru", "en"]).column(code)
        assert [each.text for each in side] == [" ".join(each.split()) for each in told]


def test_transfer_holds_the_language_it_trains_in(tmp_path):
    path = tmp_path / "x.ru-en.tsv"
    path.write_text(LINE, "utf-8")
    [found] = _linked({"en": path}, {}, None, AlignerChoice(), "ru").values()
    assert (found.stays, found.language) == ("source", "en")


def test_translations_are_looked_up_in_the_language_of_training():
    assert task_named("retrieval", source="ru").read("sampler", "en").languages == ("en", "ru")
    assert task_named("retrieval").pivot == "en"


def test_a_side_is_not_asked_of_a_corpus(tmp_path):
    path = Path(tmp_path / "study.toml")
    text = 'name = "x"\nlanguages = ["ru"]\n[encoders.one]\nmodel = "embedded"\n[measures.m]\nmeasures = ["cka"]\n'
    path.write_text(text + '[bitexts]\ncorpus = "sampler"\npivot_side = "target"\n', "utf-8")
    with pytest.raises(ConfigErrors, match=r"study.toml:9: a corpus knows its languages"):
        read_study(path)
