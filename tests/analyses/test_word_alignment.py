"""A study that links by vectors says whose they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interlingua.analyses.word_alignment import AlignerChoice, align
from interlingua.commands.study import plan_study
from interlingua.encoder import Encoder
from interlingua.engine.step import StepContext
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.steps import align as step
from interlingua.studies.steps.step_io import LINKS
from interlingua.wordalign.model import AlignerSettings
from interlingua.wordalign.neural import NeuralSettings
from worlds import make_world

STUDY = """
name = "linked"
languages = ["ru"]
seeds = 1
regimes = ["adjusted"]
[encoders.bert]
model = "model"
[bitexts]
files = "bitext.{source}-{language}.tsv"
aligner = "neural"
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
"""
TWO = STUDY + '[encoders.first]\nmodel = "model"\nblocks = 1\n'


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_world(tmp_path_factory.mktemp("world"))


def planned(world, text):
    path = world.folder / "study.toml"
    path.write_text(text, "utf-8")
    return plan_study(path, out=world.folder / "out")


def linked(world, text, out):
    [found] = [each for each in planned(world, text).graph if each.kind == "align"]
    out.mkdir()
    step.run(found.settings, StepContext(found.key, {}, out, out))
    with np.load(out / LINKS) as kept:
        return found.key, [kept[name].tolist() for name in ("row", "source", "target")]


def test_the_links_are_those_of_the_encoder_that_is_named(world, tmp_path):
    named = TWO.replace('aligner = "neural"', 'aligner = "neural"\nencoder = "first"')
    keys = set()
    for place, (text, blocks) in enumerate([(STUDY, None), (named.replace('"first"', '"bert"', 1), None), (named, 1)]):
        key, found = linked(world, text, tmp_path / str(place))
        keys.add(key)
        encoder = Encoder.load(world["model"], device="cpu", blocks=blocks)
        links = align(world["bitext.en-ru.tsv"], linking=AlignerChoice("neural", encoder)).links
        assert found == [links.row.tolist(), links.source.tolist(), links.target.tolist()]
    assert len(keys) == 2


def test_with_several_encoders_one_must_be_named(world):
    with pytest.raises(ConfigErrors, match=r"toml:10: whose vectors link the words is not said: 'neural'.*bert, first"):
        planned(world, TWO)
    with pytest.raises(ConfigErrors, match="Did you mean 'first'"):
        planned(world, TWO.replace('aligner = "neural"', 'aligner = "neural"\nencoder = "frst"'))


def test_another_aligner_needs_none(world):
    [found] = [each for each in planned(world, TWO.replace("neural", "diagonal")).graph if each.kind == "align"]
    assert found.settings.bitext.encoder is None


@pytest.mark.parametrize(
    "links", ['"links"', '{ ru = "links" }', '{ "{language}" = "links" }'], ids=["one", "by language", "template"]
)
def test_an_aligner_beside_links_for_every_bitext_is_refused_and_links_alone_are_not(world, links):
    given = STUDY.replace("[tasks.ner]", f"links = {links}\n[tasks.ner]")
    one_by_one = given.replace('files = "bitext.{source}-{language}.tsv"', 'files = { ru = "bitext.en-ru.tsv" }')
    for study in (given, one_by_one):
        with pytest.raises(ConfigErrors, match=r"toml:10: nothing is left to link: every bitext has links: 'neural'"):
            planned(world, study)
    alone = one_by_one.replace('aligner = "neural"\n', "")
    [found] = [each for each in planned(world, alone).graph if each.kind == "align"]
    assert found.settings.bitext.links


def test_an_aligner_links_the_languages_that_have_no_links(world):
    given = STUDY.replace("[tasks.ner]", 'links = { hi = "links" }\n[tasks.ner]')
    [found] = [each for each in planned(world, given).graph if each.kind == "align"]
    assert (found.settings.bitext.links, found.settings.bitext.aligner) == (None, "neural")


def test_an_aligner_that_is_not_said_is_the_default_one(world):
    keys = set()
    for said in ('aligner = "diagonal"\n', ""):
        [found] = [e for e in planned(world, STUDY.replace('aligner = "neural"\n', said)).graph if e.kind == "align"]
        keys.add(found.key)
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("said", "linking"),
    [
        (
            'symmetrize = "union"\niterations = 2\np0 = 0.3\ntension = 6.0\n'
            "fixed_tension = true\nvariational = false\n",
            AlignerChoice(
                symmetrize="union", diagonal=AlignerSettings(2, 0.3, 6.0, optimise_tension=False, variational=False)
            ),
        ),
        (
            'layer = 1\nneural = "itermax"\nunit = "token"\ncenter = false\nmin_cosine = 0.1\n',
            AlignerChoice("neural", neural=NeuralSettings("itermax", 1, "token", centre=False, least=0.1)),
        ),
    ],
    ids=["diagonal", "neural"],
)
def test_a_study_links_by_the_settings_of_the_aligner_that_it_names(world, tmp_path, said, linking):
    """As the command does, and other settings are another step."""
    without = STUDY.replace('aligner = "neural"\n', "")
    plain = without.replace("[tasks.ner]", f'aligner = "{linking.method}"\n[tasks.ner]')
    before, _ = linked(world, plain, tmp_path / "plain")
    key, found = linked(world, plain.replace("[tasks.ner]", f"{said}[tasks.ner]"), tmp_path / "own")
    encoder = Encoder.load(world["model"], device="cpu")
    links = align(world["bitext.en-ru.tsv"], linking=replace(linking, model=encoder, device="cpu")).links
    assert found == [links.row.tolist(), links.source.tolist(), links.target.tolist()]
    assert key != before


def test_settings_of_an_aligner_that_does_not_link_are_in_no_key(world):
    keys = set()
    for said in ("", "layer = 1\n", 'neural = "itermax"\n', 'symmetrize = "intersect"\n'):
        study = STUDY.replace('aligner = "neural"\n', said)
        keys |= {each.key for each in planned(world, study).graph if each.kind == "align"}
    assert len(keys) == 1


def test_one_direction_is_not_symmetrised(world):
    with pytest.raises(ConfigErrors, match=r"the aligner neural has one direction: 'union'\. Leave symmetrize out"):
        planned(world, STUDY.replace("[tasks.ner]", 'symmetrize = "union"\n[tasks.ner]'))
