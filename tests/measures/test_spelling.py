import sys
from pathlib import Path

import numpy as np
import pytest
from anyascii import anyascii
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.errors import InputError, MissingExtra
from interlingua.measures.spelling import spelling

ENTITIES = Path(__file__).resolve().parents[2] / "../shared/data/entities/cldr_territories.tsv"


def slow_levenshtein(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0, :] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, left in enumerate(a, 1):
        for j, right in enumerate(b, 1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (left != right))
    return table[-1, -1]


def slow_nld(a, b):
    return slow_levenshtein(a, b) / max(len(a), len(b)) if a or b else 0.0


names = st.lists(
    st.tuples(st.text("abcДмитрйβ ", max_size=8), st.text("abcДмитрйβ ", max_size=8)), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None)
@given(names)
def test_items_and_null_equal_a_slow_edit_distance(pairs):
    source, target = map(list, zip(*pairs, strict=True))
    scores = spelling(source, target)
    for variant, spell in (("tnld", anyascii), ("nld", str)):
        left, right = ([spell(name).casefold() for name in side] for side in (source, target))
        table = np.array([[slow_nld(a, b) for b in right] for a in left])
        np.testing.assert_allclose(scores[variant].items, np.diagonal(table))
        assert scores[variant].null == pytest.approx(table.mean(), abs=1e-6)


def test_transliteration_bridges_scripts():
    scores = spelling(["Washington", "Minsk"], ["Вашингтон", "Мінск"])
    assert scores["nld"].value == 1.0
    assert scores["tnld"].value < 0.3


def test_case_counts_only_when_asked():
    assert spelling(["ANKARA"], ["Ankara"])["tnld"].value == 0.0
    assert spelling(["ANKARA"], ["Ankara"], case=True)["tnld"].value == pytest.approx(5 / 6)


def test_empty_names_are_equal_to_each_other_and_to_nothing_else():
    assert spelling(["", "", "a"], ["", "a", ""])["tnld"].items.tolist() == [0.0, 1.0, 1.0]


def test_null_of_many_names_comes_from_a_sample_and_says_so():
    source = [f"{place:04d}" for place in range(3000)]
    score = spelling(source, source)["nld"]
    assert score.details["null_rows"] == 1000
    # Each of four digits differs with probability near 0.9, and shifts save a little.
    assert 0.65 < score.null < 0.9
    assert score.value == 0.0


@pytest.mark.heavy  # uroman takes seconds to load its tables
def test_uroman_romanises_too():
    pytest.importorskip("uroman")
    assert spelling(["Moskva"], ["Москва"], romaniser="uroman")["tnld"].value == 0.0


def test_absent_uroman_prints_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "uroman", None)
    with pytest.raises(MissingExtra, match=r"pip install 'interlingua\[uroman\]'"):
        spelling(["a"], ["b"], romaniser="uroman")


@pytest.mark.parametrize(
    ("source", "target", "options", "says"),
    [
        (["a"], ["a", "b"], {}, "unequal"),
        ([], [], {}, "at least one"),
        (["a"], ["a"], {"romaniser": "anyasci"}, "Did you mean 'anyascii'"),
    ],
)
def test_bad_input_says_what_to_do(source, target, options, says):
    with pytest.raises(InputError, match=says):
        spelling(source, target, **options)


@pytest.mark.shared
@pytest.mark.skipif(not ENTITIES.exists(), reason="no ../shared")
def test_related_languages_spell_countries_more_alike_than_distant_ones():
    header, *lines = [line.split("\t") for line in ENTITIES.read_text(encoding="utf-8").splitlines()]
    column = {code: [line[header.index(code)] for line in lines] for code in ("ru", "be", "en", "zh")}
    distance = {code: spelling(column["ru"], column[code])["tnld"].value for code in ("be", "en", "zh")}
    assert distance["be"] < distance["en"] < distance["zh"]
