"""Records: typed fields, strict reading, and a table to select them by."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from interlingua.errors import InputError
from interlingua.measures.retrieval import METRICS
from interlingua.record import SCHEMA, Record, RecordTable
from interlingua.score import Score

EMPTY = Record(measure="retrieval", model="m", source="en", target="ru", layer=2, seed=0, versions={"numpy": "2"})
FULL = replace(
    EMPTY, metric="p@1", options={"similarity": "cosine"}, value=0.5, n=4, ci_low=0.1, ci_high=0.9, null_value=0.25,
    higher_is_better=False, against="other", languages=("en", "ru"), pooling="mean", task="nli", test="ru",
    regime="mine", bitexts=(), state="after", trained_on="en", aspect="label", block="b", corpus="c",
    digests={"model": "d"},
    details={"edges": [0.0, 0.5]}, items="s.npz#0", step="s", part=(1, 2),
)  # fmt: skip


@pytest.mark.parametrize("record", [EMPTY, FULL], ids=["empty", "full"])
def test_a_record_survives_json(record):
    assert Record.from_dict(json.loads(record.to_json())) == record


def test_every_field_is_tried_and_a_line_holds_no_empty_one():
    assert all(getattr(FULL, each.name) is not None for each in fields(Record))
    assert set(FULL.to_dict()) == {each.name for each in fields(Record)}
    assert not {"task", "against", "options", "details", "languages", "bitexts"} & set(EMPTY.to_dict())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "0.5"}, "value is '0.5'"),
        ({"value": True}, "value is True"),
        ({"n": 1.5}, "n is 1.5"),
        ({"higher_is_better": 1}, "higher_is_better is 1"),
        ({"options": {"similarity": 1}}, "options is"),
        ({"layer": "2"}, "layer is '2'"),
        ({"variant": "p@1"}, "unknown field 'variant'"),
        ({"part": [3, 2]}, "part is"),
        ({"part": [1]}, "not a record"),
        ({"schema": 1}, "another schema: 1. This version reads schema 2"),
        ({"schema": SCHEMA + 1}, "newer interlingua"),
        ({"value": float("nan")}, "is not a number"),
    ],
)
def test_a_damaged_record_is_refused_and_says_why(change, said):
    with pytest.raises(InputError, match=said):
        Record.from_dict({**FULL.to_dict(), **change})


@pytest.mark.parametrize("lost", ["measure", "metric", "value", "n", "model", "step", "part", "versions"])
def test_a_record_without_what_each_has_is_refused(lost):
    with pytest.raises(InputError, match=f"no {lost}"):
        Record.from_dict({key: value for key, value in FULL.to_dict().items() if key != lost})


@pytest.mark.parametrize("given", [None, [], "text", 3])
def test_what_is_no_object_is_no_record(given):
    with pytest.raises(InputError, match="not a record"):
        Record.from_dict(given)


def test_a_score_from_target_to_source_turns_the_languages_round():
    score = Score(0.5, 4, null=0.25, low=0.1, high=0.9)
    there, back = (EMPTY.scored(METRICS, f"p@1/cosine/raw{end}", score) for end in ("", "/backward"))
    assert (there.source, there.target) == (back.target, back.source) == ("en", "ru")
    assert there.options == back.options == {"similarity": "cosine", "centering": "raw"}
    assert (there.key, there.higher_is_better) == ("p@1/cosine/raw", True)
    two = replace(EMPTY, against="other").scored(METRICS, "p@1/cosine/raw/backward", score)
    assert (two.source, two.target, two.options["direction"]) == ("en", "ru", "backward")


def table():
    draw = np.random.default_rng(0)
    return RecordTable(
        replace(EMPTY, layer=layer, source=source, target=target).scored(METRICS, f"{metric}/cosine/{centering}", score)
        for layer in range(3)
        for source, target in (("en", "ru"), ("ru", "en"))
        for metric in ("p@1", "mrr")
        for centering in ("raw", "centred")
        for score in [Score(draw.random(), 9)]
    )


def test_records_are_selected_by_fields_and_options_as_by_a_loop():
    every = table()
    found = every.where(metric="p@1", centering="raw", layer=(0, 2))
    assert list(found) == [
        r for r in every if r.metric == "p@1" and r.options["centering"] == "raw" and r.layer in (0, 2)
    ]
    assert found.mean() == pytest.approx(np.mean([record.value for record in found]))
    groups = every.by("layer", "centering")
    assert list(groups) == [(layer, centering) for layer in range(3) for centering in ("raw", "centred")]
    assert sum(map(len, groups.values())) == len(every)
    assert every[3:5] == RecordTable([every[3], every[4]])
    assert not every.where(target="sw")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"metrik": "p@1"}, "unknown field of a record: 'metrik'. Did you mean 'metric'"),
        ({"metric": "p@"}, "unknown metric: 'p@'. Did you mean 'p@1'"),
        ({"layer": 7}, "unknown layer: '7'. Known: 0, 1, 2"),
    ],
)
def test_a_name_that_no_record_has_gets_the_nearest(wanted, said):
    with pytest.raises(InputError, match=said):
        table().where(**wanted)


def test_numbers_of_two_metrics_have_no_mean():
    for several in (table(), RecordTable([])):
        with pytest.raises(InputError, match="only records of one metric"):
            several.mean()
