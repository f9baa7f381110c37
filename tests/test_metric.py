"""What a metric declares, and how the keys of its scores are told apart."""

import pytest

from interlingua.errors import InputError
from interlingua.metric import Metric, Metrics, metric_to_dict

RETRIEVAL = Metric(
    name="p@1",
    title="P@1",
    options={"similarity": ("cosine", "csls"), "direction": ("forward", "backward")},
    directed=False,
)
CKA = Metric(name="cka", title="CKA", options={"form": ("debiased", "plain")}, bare=True)
BOTH = Metric(name="hubness", title="Hubness", higher_is_better=None, directed=True)


def test_keys_have_the_options_and_leave_out_what_is_usual():
    assert Metrics((RETRIEVAL,)).keys == ("p@1/cosine", "p@1/cosine/backward", "p@1/csls", "p@1/csls/backward")
    assert Metrics((CKA,)).keys == ("debiased", "plain")
    assert Metrics((BOTH,)).keys == ("hubness", "hubness/backward")


def test_a_key_means_its_metric_options_and_direction():
    metrics = Metrics((RETRIEVAL, CKA, BOTH))
    found = metrics.named("p@1/csls/backward", of="mine")
    assert (found.metric, dict(found.options)) == (RETRIEVAL, {"similarity": "csls", "direction": "backward"})
    assert not found.backward  # An option, and no turn of languages.
    assert metrics.named("plain", of="mine").options == {"form": "plain"}
    assert metrics.named("hubness/backward", of="mine").backward


@pytest.mark.parametrize("key", ["p@5/cosine", "p@1", "p@1/csls/mean", "debiased/backward", ""])
def test_a_key_that_is_not_declared_is_refused_with_what_to_declare(key):
    with pytest.raises(InputError, match=r"'mine' returned a score that it does not declare.*metrics="):
        Metrics((RETRIEVAL, CKA)).named(key, of="mine")


def test_two_metrics_may_not_have_one_key():
    with pytest.raises(InputError, match="declared twice: 'p@1/cosine'"):
        _ = Metrics((RETRIEVAL, RETRIEVAL)).keys


def test_a_metric_as_plain_data_has_all_that_is_declared():
    found = metric_to_dict(RETRIEVAL)
    assert found["key"] == "p@1/{cosine,csls}/{forward,backward}"
    assert found["range"] == [0.0, 1.0]
    assert found["options"] == {"similarity": ["cosine", "csls"], "direction": ["forward", "backward"]}
    assert found["higher_is_better"] is True
