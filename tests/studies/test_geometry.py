from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import models
from interlingua.analyses.entity_geometry import LookSettings, entity_vectors
from interlingua.analyses.synthesis import Synthetic, synthesise
from interlingua.encoder import Encoder
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.flattening import flattenings
from interlingua.measures.clusters import clusters
from interlingua.measures.parallel_cosine import parallel_cosine
from interlingua.measures.rows import unit
from interlingua.studies.geometry import Geometry, GeometrySettings
from interlingua.studies.pairwise import PairwiseSettings

LANGUAGES = ("en", "ru", "tr")
TRAINING = PairwiseSettings(epochs=4, learning_rate=3e-3, batch=8)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    folder = models.modernbert(tmp_path_factory.mktemp("geometry") / "model")
    return Encoder.load(str(folder), device="cpu", precision="fp32")


@pytest.fixture(scope="module")
def synthetic() -> Synthetic:
    return synthesise(["embedded"], ["embedded"], languages=LANGUAGES, rows=60, seed=0)


def study(encoder: Encoder, synthetic: Synthetic, folder: Path, **more: object) -> Geometry:
    settings = GeometrySettings(**{"about": "Georgia", "about_rows": 3, "training": TRAINING, **more})  # type: ignore[arg-type]
    return Geometry(encoder, synthetic, settings, Store(folder))


@pytest.fixture(scope="module")
def done(encoder: Encoder, synthetic: Synthetic, tmp_path_factory: pytest.TempPathFactory) -> Geometry:
    made = study(encoder, synthetic, tmp_path_factory.mktemp("geometry") / "run")
    made.run()
    return made


def test_all_steps_are_in_the_store_with_both_states_of_both_sets(done: Geometry) -> None:
    records = [record for record in done.store.read() if record.step in set(done.steps)]
    seen = {(r.corpus, r.details["state"]) for r in records if r.measure == "parallel-cosine"}
    assert seen == {(corpus, state) for corpus in ("test", "about Georgia") for state in ("before", "after")}
    assert {r.source for r in records if r.measure == "pairwise"} == set(LANGUAGES)
    assert {r.measure for r in records} == {"parallel-cosine", "clusters", "pairwise", "similarity"}


def test_cosines_and_clusters_are_those_of_the_entities_vectors(done: Geometry, encoder: Encoder) -> None:
    vectors = entity_vectors(encoder, done.sets[0])
    last = vectors.layers[-1]
    wanted = parallel_cosine(vectors.side("en", last), vectors.side("tr", last))["centred"]
    rows, languages, _ = vectors.together(last)
    together = clusters(rows, languages)["purity"]
    for record in done.store.read():
        if (record.corpus, record.layer, record.details.get("state")) == ("test", last, "before"):
            if (record.variant, record.source, record.target) == ("centred", "en", "tr"):
                assert record.value == pytest.approx(wanted.value, abs=1e-6)
                np.testing.assert_allclose(done.store.items(record), wanted.items, atol=1e-5)
            if record.variant == "purity/language":
                assert record.value == pytest.approx(together.value, abs=1e-6)


def test_fine_tuning_moves_the_output_more_than_the_first_layer(done: Geometry) -> None:
    by_state = {
        (r.details["state"], r.layer): r.value
        for r in done.store.read()
        if (r.measure, r.variant, r.corpus, r.source, r.target) == ("parallel-cosine", "raw", "test", "en", "ru")
    }
    last = max(layer for _, layer in by_state if layer is not None)
    moved = {layer: abs(by_state["after", layer] - by_state["before", layer]) for layer in (0, last)}
    assert moved[last] > moved[0]


def test_maps_are_the_flattened_entities_of_length_one(done: Geometry, encoder: Encoder) -> None:
    before = next(each for each in done.maps() if (each["set"], each["state"]) == ("test", "before"))
    vectors = entity_vectors(encoder, done.sets[0])
    last = vectors.layers[-1]
    flat = flattenings["pca"].call(unit(vectors.together(last)[0]).numpy())
    panel = before["panels"][-1]
    assert panel["layer"] == last
    np.testing.assert_allclose(np.array([panel["x"], panel["y"]]).T, flat.places, rtol=1e-3, atol=1e-6)
    assert [point["language"] for point in before["points"]] == [code for code in LANGUAGES for _ in vectors.rows]


def test_a_finished_study_is_not_run_again(
    done: Geometry, encoder: Encoder, synthetic: Synthetic, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (done.store.folder / "records.jsonl").read_bytes()
    monkeypatch.setattr(Encoder, "encode_views", lambda *given: pytest.fail("encoded again"))
    again = study(encoder, synthetic, done.store.folder)
    again.run()
    assert (done.store.folder / "records.jsonl").read_bytes() == before
    assert not again.pairwise.trained


class Killed(Exception):
    """The end of a process, in the middle of its work."""


@pytest.mark.parametrize("where", ["map of about Georgia", "fine-tuning on en", "fine-tuning on tr"])
def test_a_killed_study_ends_with_the_same_records(
    done: Geometry, encoder: Encoder, synthetic: Synthetic, tmp_path: Path, where: str
) -> None:
    def tell(stage: str, number: int, total: int) -> None:
        if stage.startswith(where) and (number >= 3 or total == 1):
            raise Killed

    begun = study(encoder, synthetic, tmp_path)
    begun.progress = tell
    with pytest.raises(Killed):
        begun.run()
    again = study(encoder, synthetic, tmp_path)
    again.run()
    mine, theirs = (
        sorted(
            json.dumps({**r.to_dict(), "items": None}, sort_keys=True)
            for r in each.store.read()
            if r.step in set(each.steps)
        )
        for each in (again, done)
    )
    assert mine == theirs
    assert again.maps() == done.maps()


def test_other_settings_of_a_look_are_other_steps(encoder: Encoder, synthetic: Synthetic, tmp_path: Path) -> None:
    one, other = (study(encoder, synthetic, tmp_path, looks=LookSettings(k=k, flattening="pca")) for k in (10, 5))
    assert not set(one.steps) & {key for key in other.steps if key not in one.pairwise.steps} - set(one.pairwise.steps)


def test_pieces_of_the_name_join_to_it_in_every_language(done: Geometry) -> None:
    cut = done.pieces()
    assert set(cut) == set(LANGUAGES)
    assert all(pieces for pieces in cut.values())


@pytest.mark.parametrize(
    ("more", "say"),
    [({"source": "be"}, "not in the set"), ({"about": "Nowhere"}, "no such name")],
)
def test_what_is_not_in_the_set_is_told_before_any_work(
    encoder: Encoder, synthetic: Synthetic, tmp_path: Path, more: dict[str, str], say: str
) -> None:
    with pytest.raises(InputError, match=say):
        study(encoder, synthetic, tmp_path, **more).run()
    assert not (tmp_path / "records.jsonl").exists()
