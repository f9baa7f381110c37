from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from interlingua.analyses.entity_geometry import Mention, Mentions, entity_vectors, mentions
from interlingua.analyses.synthesis import synthesise
from interlingua.encoder import Encoder, PoolingRequest
from interlingua.errors import InputError

LANGUAGES = ("en", "ru", "tr")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    # Byte-level: it can spell every language.
    return Encoder.load(str(models.modernbert(tmp_path_factory.mktemp("entities") / "model")))


@pytest.fixture(scope="module")
def found() -> Mentions:
    made = synthesise(["embedded"], ["embedded"], languages=LANGUAGES, rows=100, seed=0)
    return mentions(made.parts["test"], LANGUAGES, name="test")


def plain(encoder: Encoder, mention: Mention) -> list[torch.Tensor]:
    """Every layer of one mention, by transformers alone: tokens whose characters overlap the entity's, averaged."""
    tokenizer = encoder.tokenizer
    given = tokenizer(mention.text, return_tensors="pt", return_offsets_mapping=True)
    offsets = given.pop("offset_mapping")[0]
    begin, end = mention.span
    special = torch.tensor(tokenizer.get_special_tokens_mask(given["input_ids"][0], already_has_special_tokens=True))
    inside = (offsets[:, 0] < end) & (offsets[:, 1] > begin) & (special == 0)
    with torch.no_grad():
        states = encoder.model(input_ids=given["input_ids"], output_hidden_states=True).hidden_states
    return [state[0][inside].mean(dim=0) for state in states]


def test_vectors_equal_a_plain_mean_over_the_entitys_tokens_at_every_layer(encoder: Encoder, found: Mentions) -> None:
    made = entity_vectors(encoder, found)
    assert made.layers == encoder.layers
    for code in LANGUAGES:
        for row in (0, 5, 11):
            for layer, wanted in enumerate(plain(encoder, found.by_language[code][made.rows[row]])):
                torch.testing.assert_close(made.side(code, layer)[row], wanted, atol=2e-5, rtol=1e-4)


def test_rows_are_parallel_and_spans_cover_the_name(found: Mentions) -> None:
    columns = [found.by_language[code] for code in LANGUAGES]
    for together in zip(*columns, strict=True):
        assert len({(mention.row, mention.type) for mention in together}) == 1
        for mention in together:
            assert mention.text[slice(*mention.span)] == mention.name
            assert mention.name.strip() == mention.name != ""


def test_some_layers_are_those_of_all(encoder: Encoder, found: Mentions) -> None:
    every, some = entity_vectors(encoder, found), entity_vectors(encoder, found, layers=[0, -1])
    assert some.layers == (0, encoder.layers[-1])
    for layer in some.layers:
        torch.testing.assert_close(some.side("ru", layer), every.side("ru", layer))


def test_labels_of_all_languages_together_belong_to_their_vectors(encoder: Encoder, found: Mentions) -> None:
    made = entity_vectors(encoder, found, layers=[-1])
    rows, languages, types = made.together(made.layers[-1], np.array([3, 7]))
    assert languages == ["en", "en", "ru", "ru", "tr", "tr"]
    assert types == [found.by_language["en"][made.rows[row]].type for row in (3, 7)] * 3
    torch.testing.assert_close(rows[4], made.side("tr", made.layers[-1])[3])


def test_each_language_is_encoded_once(encoder: Encoder, found: Mentions, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    before = Encoder.encode_views

    def counted(self: Encoder, texts: list[str], views: list[PoolingRequest]) -> object:
        calls.append(len(texts))
        return before(self, texts, views)

    monkeypatch.setattr(Encoder, "encode_views", counted)
    entity_vectors(encoder, found)
    assert calls == [len(found)] * 3


def test_an_entity_without_tokens_is_left_out_in_every_language_and_counted(encoder: Encoder) -> None:
    text = "Ann saw Bo ."
    whole = tuple(Mention(f"r{row}", "PER", "Ann", text, (0, 3)) for row in range(4))
    # Nothing overlaps a span of no characters.
    holed = (*whole[:2], Mention("r2", "PER", "", text, (12, 12)), whole[3])
    made = entity_vectors(encoder, Mentions("test", {"en": whole, "ru": holed}))
    assert made.rows.tolist() == [0, 1, 3]
    assert [str(skip) for skip in made.skipped] == ["1 entity that the tokenizer turns into nothing (ru r2)"]
    assert made.vectors["en"].shape == made.vectors["ru"].shape == (len(encoder.layers), 3, encoder.dim)


def test_a_name_past_the_models_limit_is_read_in_a_window_not_cut(tmp_path: Path) -> None:
    encoder = Encoder.load(str(models.modernbert(tmp_path / "model")))
    encoder.__dict__["limit"] = 24
    text = "so " * 60 + "Washington"
    far = Mention("r", "LOC", "Washington", text, (len(text) - 10, len(text)))
    made = entity_vectors(encoder, Mentions("test", {"en": (far, far), "ru": (far, far)}))
    assert len(made.rows) == 2
    assert not made.skipped


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(10, 60))
def test_any_sample_gives_parallel_mentions(seed: int, rows: int) -> None:
    made = synthesise(["embedded"], ["embedded"], languages=["be", "en"], rows=rows, seed=seed)
    found = mentions(made.parts["train"], ["be", "en"], name="train")
    assert [m.row for m in found.by_language["be"]] == [m.row for m in found.by_language["en"]]
    assert all(m.text[slice(*m.span)] == m.name for m in found.by_language["be"])


def test_spans_are_asked_for_text_by_text(encoder: Encoder) -> None:
    for view in (
        PoolingRequest("span"),
        PoolingRequest("word", spans=((0, 1),)),
        PoolingRequest("span", spans=((0, 1), (0, 1))),
    ):
        with pytest.raises(InputError, match="one span of every text"):
            encoder.encode_views(["a"], [view])


@pytest.mark.shared
def test_washington_is_a_place_and_a_person_in_the_papers_spellings(shared_data: Path) -> None:
    source = [str(shared_data / "syntheticner"), "embedded"]  # Persons' contexts are not among the public files.
    codes = ("be", "en", "ru", "tr")
    made = synthesise(source, source, languages=codes, types=["PER", "LOC"], rows=100)
    found = mentions(made.about("Washington", 10), codes, name="about Washington")
    names = {code: {mention.name for mention in own} for code, own in found.by_language.items()}
    assert names == {"be": {"Вашынгтон"}, "en": {"Washington"}, "ru": {"Вашингтон"}, "tr": {"Vaşington"}}
    types = [mention.type for mention in found.by_language["en"]]
    assert sorted(types) == ["LOC"] * 10 + ["PER"] * 10
