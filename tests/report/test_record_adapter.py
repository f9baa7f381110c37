"""Records as the pages read them: the one place that spells variants and details."""

from dataclasses import replace

import pytest

from interlingua.analyses.entity_geometry import CLUSTER_METRICS
from interlingua.attribution.consistency import CHOICES, METRICS
from interlingua.attribution.faithfulness import METRICS as FAITHFULNESS
from interlingua.measures import measures
from interlingua.record import Record
from interlingua.report.record_adapter import to_v1
from interlingua.score import Score
from interlingua.tasks import tasks

SCORE = Score(0.5, 4, null=0.25, low=0.1, high=0.9)
SHARED = Record(measure="", model="m", source="en", target="ru", layer=3)


@pytest.mark.parametrize("name", [entry.name for entry in measures])
def test_a_measure_s_variants_are_the_keys_of_its_scores(name):
    metrics = measures[name].metrics
    made = [replace(SHARED, measure=name).scored(metrics, key, SCORE) for key in metrics.keys]
    assert [each["variant"] for each in to_v1(made)] == [key.removesuffix("/backward") for key in metrics.keys]


@pytest.mark.parametrize(
    ("measure", "metrics", "key", "more", "variant"),
    [
        ("retrieval", tasks["retrieval"].metrics, "mrr", {"test": "ru"}, "mrr/layer 3"),
        ("retrieval", tasks["retrieval"].metrics, "mrr/backward", {"test": "ru"}, "mrr/layer 3/backward"),
        ("ner", tasks["ner"].metrics, "f1/entity/strict", {"test": "ru"}, "f1/entity/strict"),
        ("ner", tasks["ner"].metrics, "f1/entity", {"test": "ru"}, "f1/entity"),
        ("qa", tasks["qa"].metrics, "em/mlqa", {"test": "ru"}, "em/mlqa"),
        ("consistency", METRICS, "consistency", {"aspect": "start"}, "start"),
        ("consistency-choices", CHOICES, "consistency/word/softmax", {"aspect": "label"}, "label/word/softmax"),
        ("faithfulness", FAITHFULNESS, "sufficiency", {"aspect": "label"}, "sufficiency/label"),
        ("clusters", CLUSTER_METRICS, "purity/type", {"state": "after"}, "purity/type"),
    ],
)
def test_variants_of_other_records_are_as_pages_know_them(measure, metrics, key, more, variant):
    (found,) = to_v1([replace(SHARED, measure=measure, **more).scored(metrics, key, SCORE)])
    assert found["variant"] == variant
    assert (found["value"], found["null"], found["low"], found["high"]) == (0.5, 0.25, 0.1, 0.9)


def test_what_is_a_field_now_is_a_detail_there():
    made = replace(SHARED, measure="nli", metric="accuracy", test="ru", regime="mine", bitexts=("ru",), task="t",
                   details={"chance": {}})  # fmt: skip
    (found,) = to_v1([made])
    assert found["details"] == {"regime": "mine", "test": "ru", "bitexts": ["ru"], "task": "t", "chance": {}}
    looked = replace(SHARED, measure="parallel-cosine", unit="entity", state="before", block="names")
    assert to_v1([looked])[0]["details"] == {"state": "before", "trained": None, "geometry": "names"}
    assert to_v1([replace(looked, unit="sentence", state=None)])[0]["details"] == {"called": "names"}
    spelled = replace(SHARED, measure="spelling", aspect="PER", block="names")
    assert to_v1([spelled])[0]["details"] == {"type": "PER", "synth": "names"}


def test_many_languages_together_are_one_source():
    (found,) = to_v1([replace(SHARED, measure="clusters", source=None, target=None, languages=("en", "ru"))])
    assert (found["source"], found["target"]) == ("en+ru", None)
