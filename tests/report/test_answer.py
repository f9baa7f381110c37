import itertools

import numpy as np
import pytest
import torch

from interlingua.measures.retrieval import retrieval
from interlingua.report.answer import answer
from interlingua.report.audit import key_figures
from interlingua.report.readings import gather
from interlingua.report.tables import summary_table
from interlingua.report.terminal import language_lines
from interlingua.report.wording import UNRANKED


def texts(records, run):
    return {finding.topic: finding.text for finding in answer(records, run)}


def test_weakest_and_strongest_languages_are_named(records, run):
    found = texts(records, run)
    best, weak = found["Languages"].split("Weak: ")
    assert "English" in best
    assert weak.startswith("Swahili")


def test_even_languages_are_not_called_weak(make):
    make_records, make_run, _ = make
    codes = ["en", "es", "fr", "de"]
    assert "No language falls far behind" in texts(make_records(codes, range(3)), make_run(codes))["Languages"]


def audited(vectors, *, centre=(True,)):
    """An audit's records of languages with these vectors, at one layer."""
    records = []
    for source, target in itertools.combinations(vectors, 2):
        scores = retrieval(vectors[source], vectors[target], ks=(1,), similarities=("cosine",), centre=centre)
        records += [
            {"measure": "retrieval", "variant": variant, "model": "m", "source": source, "target": target, "layer": 1,
             "value": score.value, "null": score.null, "low": score.low, "high": score.high, "n": score.n,
             "details": score.details}
            for variant, score in scores.items()
        ]  # fmt: skip
    return records


@pytest.mark.parametrize(("worse", "share"), [(1.0, (0.0, 0.05)), (2.0, (0.8, 1.0))])
def test_of_languages_exactly_alike_none_is_called_weak_and_one_that_is_much_worse_is(worse, share):
    codes, told = ["en", "de", "es", "ru", "hi", "zh"], []
    for seed in range(40):
        draw = torch.Generator().manual_seed(seed)
        meaning = torch.randn(200, 24, generator=draw)
        noise = {code: 1.6 * (worse if code == "zh" else 1.0) for code in codes}
        vectors = {code: meaning + noise[code] * torch.randn(200, 24, generator=draw) for code in codes}
        said = texts(audited(vectors), {"languages": codes})["Languages"]
        told.append("Weak: Chinese (" in said or (worse == 1.0 and "Weak" in said))
    assert share[0] <= np.mean(told) <= share[1]


def test_a_low_language_is_not_weak_where_its_interval_reaches_the_median_or_is_not_known(make):
    make_records, make_run, _ = make
    codes = ["en", "es", "fr", "sw", "de"]
    records = make_records(codes, range(3))
    for high, words in ((1.0, "Lowest: Swahili"), (None, "Without intervals none is called weak")):
        said = texts([{**record, "high": high} for record in records], make_run(codes))["Languages"]
        assert words in said
        assert "Weak" not in said
    assert "Weak: Swahili" in texts(records, make_run(codes))["Languages"]


def test_the_layer_convention_and_the_optimism_are_stated(records, run):
    text = texts(records, run)["Layers"]
    assert text.startswith("Layer 4 is best of 0–6 (layer 0 is the embedding output")
    assert "chosen on these same sentences" in text


def test_retrieval_is_said_to_go_with_fertility_only_where_the_correlation_is_clear(records, run):
    assert "The more pieces per word, the worse the retrieval (Spearman’s ρ" in texts(records, run)["Tokenizer"]
    draw = np.random.default_rng(3)
    own = {code: draw.uniform(1, 3) for code in run["names"]}
    mixed = [
        {**r, "value": own[r[r["variant"].split("/")[1]]]} if r["variant"].startswith("fertility/") else r
        for r in records
    ]
    said = texts(mixed, run)["Tokenizer"]
    assert "no clear relation" in said
    assert "a weaker relation may exist" in said
    assert "blame" not in said
    same = [{**r, "value": 2.0} if r["variant"].startswith("fertility/") else r for r in records]
    said = texts(same, run)["Tokenizer"]
    assert "no correlation is defined" in said
    assert "ρ" not in said.split("Agreement")[0]


@pytest.mark.parametrize(
    ("codes", "words"),
    [(["en", "hi", "ru"], "too few"), (["en", "hi", "ru", "sw", "de"], "only a perfect order")],
)
def test_few_languages_make_it_cautious(make, codes, words):
    make_records, make_run, _ = make
    records = make_records(codes, range(3))
    draw = np.random.default_rng(0)
    own = {code: draw.uniform(1, 3) for code in codes}
    mixed = [{**r, "value": own.get(r["source"], 2.0)} if r["variant"].startswith("fertility/") else r for r in records]
    assert words in texts(mixed, make_run(codes))["Tokenizer"]


@pytest.mark.parametrize(("offset", "lifts", "lowers"), [(0.0, (0, 0.1), (0, 0.1)), (0.8, (0.9, 1), (0, 0))])
def test_centring_is_said_to_lift_retrieval_where_languages_lie_apart_and_seldom_where_they_do_not(
    offset, lifts, lowers
):
    told = []
    for seed in range(60):
        draw = torch.Generator().manual_seed(seed)
        meaning = torch.randn(150, 16, generator=draw)
        vectors = {
            code: meaning + 0.9 * torch.randn(150, 16, generator=draw) + offset * side * torch.ones(16)
            for code, side in (("en", 1), ("ru", -1))
        }
        told.append(texts(audited(vectors, centre=(False, True)), {})["Language identity"])
    for words, (least, most) in (("lifts retrieval", lifts), ("lowers retrieval", lowers)):
        assert least <= np.mean([words in text for text in told]) <= most
    assert all("the change is not clear" in text for text in told if " takes retrieval" in text)


def reading(measure, variant, value, low, high, **details):
    return {"measure": measure, "variant": variant, "model": "m", "source": "en", "target": "ru", "layer": 1,
            "value": value, "null": 0.001, "low": low, "high": high, "n": 200, "details": details}  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "centred", "gain", "words"),
    [
        ((0.43, 0.36, 0.50), (0.40, 0.33, 0.47), None, "the change is not clear"),
        ((0.43, 0.36, 0.50), (0.40, 0.33, 0.47), [-0.03, -0.05, -0.01], "lowers retrieval from 43"),
        ((0.40, 0.33, 0.47), (0.43, 0.36, 0.50), [0.03, 0.01, 0.05], "lifts retrieval from 40"),
        ((0.004, 0.002, 0.01), (0.022, 0.015, 0.033), None, "lifts retrieval from 0.4"),
        ((0.5, None, None), (0.9, 0.8, 1.0), None, "the change is not clear"),
    ],
)
def test_centring_is_judged_by_the_interval_of_the_change(raw, centred, gain, words):
    more = {} if gain is None else {"above_raw": gain}
    records = [
        reading("retrieval", "p@1/cosine/raw", *raw),
        reading("retrieval", "p@1/cosine/centred", *centred, **more),
    ]
    said = texts(records, {})["Language identity"]
    assert words in said
    assert ("constant offset" in said) == ("lifts" in words)
    tile = next(tile for tile in key_figures(gather(records)) if tile[1] == "points from centring")
    assert (tile[2] == "the change is not clear") == ("not clear" in words)


@pytest.mark.parametrize(
    ("gain", "train", "words"),
    [
        (None, 160, "the difference is not clear."),
        (
            [-0.03, -0.05, -0.01],
            160,
            "among the same (−3.0 points; 95\xa0% interval of the change −5.0 to −1.0 points).",
        ),
        ([-0.03, -0.05, -0.01], 60, "60 sentences are too few to fit a map of 64 dimensions."),
        ([0.03, 0.01, 0.05], 60, "turned against each other."),
        ([0.03, -0.01, 0.07], 60, "the difference is not clear."),
    ],
)
def test_a_rotation_is_judged_by_the_interval_of_the_change_and_a_loss_has_a_cause_only_where_rows_are_few(
    gain, train, words
):
    more = {} if gain is None else {"above_identity": gain}
    records = [
        reading("retrieval", "p@1/cosine/centred", 0.4, 0.33, 0.47),
        reading("procrustes", "p@1/mapped", 0.40, 0.28, 0.53, train=train, width=64, **more),
        reading("procrustes", "p@1/identity", 0.43, 0.31, 0.56),
    ]
    assert texts(records, {})["Rotation"].endswith(words)


def test_one_pair_is_named_and_nothing_is_ranked(make):
    make_records, make_run, _ = make
    found = texts(make_records(["en", "ru"], [0, 1]), make_run(["en", "ru"]))
    assert "English–Russian" in found["Overall"]
    assert not {"Languages", "Pairs"} & set(found)


def test_without_alignment_records_it_says_so(records, run):
    only = [record for record in records if record["measure"] == "isotropy"]
    assert list(texts(only, run)) == ["Overall"]
    assert "No alignment" in texts(only, run)["Overall"]
    assert "No alignment" in texts([], {})["Overall"]


def test_a_model_at_chance_is_called_so_and_ranks_nothing(records, run):
    flat = [{**r, "value": r["null"], "low": 0.0, "high": 0.01} if r["measure"] == "retrieval" else r for r in records]
    found = texts(flat, run)
    assert "no better than chance" in found["Overall"]
    assert not {"Languages", "Pairs"} & set(found)
    assert "blame" not in found["Tokenizer"]


@pytest.mark.reliability("languages ranked over unequal candidates")
def test_nothing_is_ranked_where_pairs_have_different_numbers_of_candidates(make, record_property):
    make_records, make_run, _ = make
    codes = ["en", "ru", "hi", "sw", "es", "fr"]
    run, draw = make_run(codes), np.random.default_rng(0)
    held = 0
    for trial in range(20):
        sizes = {code: int(size) for code, size in zip(codes, draw.integers(20, 23 + trial // 5, 6), strict=True)}
        records = [{**each, "n": sizes[each["target"] or "en"]} for each in make_records(codes, range(2))]
        equal = len({sizes[code] for code in codes[1:]}) == 1
        found, table, lines = texts(records, run), summary_table(records, run), language_lines(gather(records), run)
        ranked = "Best connected" in found["Languages"]
        names = [str(row[1]) for row in table.rows]
        assert ranked == equal == ("Closest" in found.get("Pairs", "")) == ("ρ" in found["Tokenizer"])
        if not equal:
            least, most = min(sizes[code] for code in codes[1:]), max(sizes[code] for code in codes[1:])
            assert f"Not comparable: {least} candidates" in found["Languages"]
            assert f"against {most} (" in found["Languages"]
            assert names == codes
            assert UNRANKED in table.caption
            assert UNRANKED in str(lines.caption)
        held += 1
    record_property("tried", 20)
    record_property("held", held)
