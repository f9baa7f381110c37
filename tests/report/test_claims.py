"""What an audit's page says, over random records: words agree with numbers, and nothing is ranked that is not alike."""

import itertools
import re
import statistics

import numpy as np
import pytest

from interlingua.report.answer import SCALE, answer, verdict
from interlingua.report.comparison import comparable, compared, gaps
from interlingua.report.evidence import above_null, association_said, at_chance
from interlingua.report.kinds import audit_numbers
from interlingua.report.readings import Reading, gather, mean
from interlingua.report.runs import Run
from interlingua.report.tables import summary_table
from interlingua.report.wording import language_name
from interlingua.stats import correlate
from interlingua.stats.chance import binomial_p

CODES = ["en", "es", "ru", "hi", "de", "sw", "zh", "tr"]
TRIALS = 60


def random_records(draw, *, equal=None, corpus="a", rows=None):
    """Records of retrieval, as is and centred, of random languages, layers, values, intervals and candidates."""
    codes = CODES[: int(draw.integers(2, len(CODES) + 1))]
    layers = range(int(draw.integers(1, 5)))
    level, spread = draw.choice([0.005, 0.1, 0.4, 0.9]), draw.choice([0.0, 0.02, 0.2])
    half = draw.choice([0.0, 0.01, 0.1])
    same = draw.random() < 0.6 if equal is None else equal
    records = []
    for pair in itertools.combinations(codes, 2):
        n = rows or (200 if same else int(draw.integers(50, 300)))
        for layer, way in itertools.product(layers, (1, -1)):
            raw = float(np.clip(level + spread * draw.normal(), 0, 1))
            centred = float(np.clip(raw + 0.05 * draw.normal(), 0, 1))
            for name, value in (("raw", raw), ("centred", centred)):
                apart = centred - raw
                records.append(
                    {"measure": "retrieval", "variant": f"p@1/cosine/{name}", "model": "m", "source": pair[::way][0],
                     "target": pair[::way][1], "layer": layer, "value": value, "null": 1 / n, "n": n, "seed": 0,
                     "low": max(value - half, 0.0), "high": min(value + half, 1.0), "digests": {"corpus": corpus},
                     "details": {"above_raw": [apart, apart - half, apart + half]} if name == "centred" else {}}
                )  # fmt: skip
    return records, {"languages": codes}


def said_of(records, run):
    return {finding.topic: finding.text for finding in answer(records, run)}


def shares(text):
    return [float(each) for each in re.findall(r"([\d.]+)\xa0%", text)]


@pytest.fixture(scope="module")
def cases():
    draw = np.random.default_rng(0)
    return [
        (gather(records), run, said_of(records, run)) for records, run in (random_records(draw) for _ in range(TRIALS))
    ]


def test_chance_the_candidates_and_a_verdict_come_before_the_number(cases):
    for found, _, said in cases:
        reading = mean(found.at(*found.headline(), found.best_layer()).values())
        first = said["Overall"]
        assert first.startswith(f"{verdict(reading)}: among ")
        assert first.index("candidates") < first.index("chance") < first.index("of sentences")
        assert ("no better than chance" in first) == at_chance(found)
        assert above_null(reading) or at_chance(found)


def test_no_verdict_contradicts_its_interval():
    draw = np.random.default_rng(1)
    for _ in range(300):
        low, value, high = np.sort(draw.random(3))
        words = verdict(Reading(value, 0.0, low, high)).lower()
        named = [place for place, (_, text) in enumerate(SCALE) if text.lower() in words]
        ends = [next(place for place, (least, _) in enumerate(SCALE) if end >= least) for end in (low, high)]
        assert (min(named), max(named)) == (ends[1], ends[0])
        assert verdict(Reading(value, value, low, high)) == "Not aligned"


def test_a_difference_in_words_is_that_of_the_numbers_beside_it_and_has_the_sign_of_its_verb(cases):
    told = 0
    for found, _, said in cases:
        text = said.get("Language identity")
        if text is None:
            continue
        before, after = shares(text)[:2]
        apart = float(re.search(r"\(([+−]?[\d.]+) points", text)[1].replace("−", "-"))
        if min(before, after) >= 0.1 and max(before, after) <= 99.9:
            assert apart == pytest.approx(after - before, abs=0.051)
            told += 1
        assert ("lifts" not in text) or apart >= 0
        assert ("lowers" not in text) or apart <= 0
        raw, centred = (
            mean(found.at("retrieval", f"p@1/cosine/{kind}", found.best_layer()).values()).value
            for kind in ("raw", "centred")
        )
        assert (before, after) == pytest.approx((100 * raw, 100 * centred), abs=0.51)
    assert told > TRIALS / 4


@pytest.mark.reliability("languages ranked over unequal candidates")
def test_nothing_is_ranked_over_unequal_candidates_and_no_name_is_best_below_the_median(cases, record_property):
    for found, run, said in cases:
        text = said.get("Languages", "")
        if not found.equal_candidates():
            assert not re.search("Best connected|Weak:|Lowest|stands out", text)
            assert "Pairs" not in said
            continue
        if "Best connected" not in text:
            continue
        key, layer = found.headline(), found.best_layer()
        each = {code: found.language(*key, layer, code) for code in found.languages}
        middle = statistics.median(reading.value for reading in each.values())
        best = text.split("Best connected: ")[1].split("Weak:")[0].split("Lowest")[0].split("No language falls")[0]
        named = [code for code in each if f"{language_name(code, run)} (" in best]
        assert 0 < len(named) <= len(each) / 2
        assert all(each[code].value > middle for code in named)
        weak = text.split("Weak: ")[1].split("under three")[0] if "Weak: " in text else ""
        behind = [code for code in each if f"{language_name(code, run)} (" in weak]
        assert not behind or len(each) >= 5
        assert all(each[code].high < middle for code in behind)
    record_property("tried", len(cases))
    record_property("held", len(cases))


@pytest.mark.parametrize("count", range(3, 9))
def test_where_all_but_one_language_are_equal_none_is_best_and_no_list_of_names_is_empty(count):
    codes = CODES[:count]
    records = [
        {"measure": "retrieval", "variant": "p@1/cosine/raw", "model": "m", "source": pair[::way][0],
         "target": pair[::way][1], "layer": 0, "value": value, "null": 0.005, "n": 200, "seed": 0, "low": value - 0.03,
         "high": value + 0.03, "digests": {"corpus": "a"}, "details": {}}
        for pair in itertools.combinations(codes, 2) for way in (1, -1)
        for value in [0.1 if codes[-1] in pair else 0.6]
    ]  # fmt: skip
    text = said_of(records, {"languages": codes})["Languages"]
    assert not re.search(r"(?::|and|,) ?[;.]", text), text
    if count > 3:  # Of three the weak one draws the others' means apart from its own, and one of these is the median.
        assert text.startswith(f"{count - 1} of {count} languages are tied for first")


def test_the_best_layer_is_compared_with_none_that_is_tied_with_it(cases):
    compared_layers = 0
    for found, _, said in cases:
        text = said.get("Layers", "")
        if "against" not in text:
            continue
        group = re.match(r"Layers? ([\d, and]+) (?:is|are tied)", text)[1]
        tied = {int(each) for each in re.findall(r"\d+", group)}
        others = {int(each) for each in re.findall(r"at layer (\d+)", text.split("against")[1].split(". It was")[0])}
        assert tied
        assert not tied & others
        assert found.best_layer() in tied
        compared_layers += 1
    assert compared_layers > 3


@pytest.mark.reliability("differences between runs that did not read the same")
def test_runs_are_compared_only_over_the_same_text_and_as_many_rows(record_property):
    draw = np.random.default_rng(2)
    for _ in range(20):
        corpora, rows = draw.choice(["a", "b"], 2), draw.choice([100, 200], 2)
        seed = int(draw.integers(2**31))
        runs = []
        for place, (corpus, n) in enumerate(zip(corpora, rows, strict=True)):
            records, about = random_records(np.random.default_rng(seed), corpus=str(corpus), rows=int(n))
            about |= {"kind": "audit", "model": f"m{place}", "digests": {"corpus": str(corpus)}, "rows": int(n)}
            runs.append(Run(about, records, first=place * len(records), key=str(place), name=f"run {place}"))
        numbers = [audit_numbers(run) for run in runs]
        alike = corpora[0] == corpora[1] and rows[0] == rows[1]
        found = gaps(tuple(runs), tuple(numbers))
        assert bool(found) == alike
        assert comparable(*(each["retrieval, as is"] for each in numbers), tuple(runs)) == alike
        section = compared(runs, numbers, kind="audit")
        cells = [row[3] for row in section.tables[-1].rows if row[0].startswith("retrieval")]
        assert all((cell == "not comparable") != alike for cell in cells)
        assert any("Nothing can be compared" in text for text in section.words) != alike
    record_property("tried", 20)
    record_property("held", 20)


def test_alignment_that_language_means_hide_is_not_called_none():
    records, run = random_records(np.random.default_rng(3), equal=True)
    both = [
        {**each, **({"value": 0.005, "low": 0.001, "high": 0.02} if each["variant"].endswith("raw") else
                    {"value": 0.6, "low": 0.5, "high": 0.7})}
        for each in records
    ]  # fmt: skip
    first = said_of(both, run)["Overall"]
    assert first.startswith("Not aligned: among 200 candidates (chance 0.5\xa0%) 0.5\xa0% of")
    assert "and 60.0\xa0% once each language’s mean is removed" in first
    assert "no better than chance" in first
    assert "no alignment shows" not in first


def two_runs(draw, *, change=lambda records: records):
    """Two models' audits of the same sentences; `change` makes the second's records."""
    records, about = random_records(draw, rows=200)
    moved = [{**each, **{key: min(max(each[key] + 0.3, 0), 1) for key in ("value", "low", "high")}} for each in records]
    runs = []
    for place, own in enumerate((records, change(moved))):
        more = {"kind": "audit", "model": f"m{place}", "digests": {"corpus": "a"}}
        runs.append(Run({**about, **more}, own, first=place * len(records), key=str(place), name=f"run {place}"))
    return runs, [audit_numbers(run) for run in runs]


def test_the_differences_in_words_between_runs_are_those_of_the_table_and_of_the_numbers_beside_them():
    draw, told = np.random.default_rng(5), 0
    for _ in range(20):
        runs, numbers = two_runs(draw)
        section = compared(runs, numbers, kind="audit")
        said = section.words[0]
        for name, first, other, apart in section.tables[-1].rows:
            if "retrieval" not in name or "candidates" in name:
                continue
            shown = float(str(apart).rstrip("*").replace("−", "-"))
            assert shown == pytest.approx(other - first, abs=5.1e-4)
            if str(apart).endswith("*"):
                words = said.split("Higher: ")[1] if shown > 0 else said.split("Lower: ")[1]
                assert f"{name} ({str(apart).rstrip('*')}" in words
                told += 1
            else:
                assert f"{name} (" not in said
    assert told > 20


@pytest.mark.parametrize(
    "change",
    [
        lambda records: [each for each in records if {each["source"], each["target"]} != {"en", "es"}],
        lambda records: [{**each, "seed": 1} for each in records],
        lambda records: [{**each, "n": each["n"] - (each["target"] == "es")} for each in records],
    ],
    ids=["other pairs", "rows drawn by another seed", "one pair with fewer rows"],
)
def test_means_over_other_pairs_or_rows_are_not_compared(change):
    draw, tried = np.random.default_rng(6), 0
    for _ in range(12):
        runs, numbers = two_runs(draw, change=change)
        if not numbers[1]:
            continue
        found = gaps(tuple(runs), tuple(numbers))
        assert "retrieval, as is" not in found
        tried += 1
    assert tried > 5


def test_runs_of_which_no_text_is_known_are_not_compared():
    draw = np.random.default_rng(7)
    records, about = random_records(draw)
    bare = [{**each, "digests": {}} for each in records]
    runs = [Run({**about, "kind": "audit"}, bare, first=at * len(bare), key=str(at), name=str(at)) for at in (0, 1)]
    assert not gaps(tuple(runs), tuple(audit_numbers(run) for run in runs))


def test_averaging_records_gives_the_numbers_of_the_page():
    draw = np.random.default_rng(8)
    for _ in range(20):
        records, run = random_records(draw, equal=True)
        found = gather(records)
        layer = found.best_layer()
        for name in ("raw", "centred"):
            mine = [each["value"] for each in records
                    if each["layer"] == layer and each["variant"] == f"p@1/cosine/{name}"]  # fmt: skip
            page = mean(found.at("retrieval", f"p@1/cosine/{name}", layer).values()).value
            assert page == pytest.approx(np.mean(mine))
            each = {code: row[2 + (name == "centred")] for row in summary_table(found, run).rows for code in row[1:2]}
            for code, value in each.items():
                own = [each["value"] for each in records if code in (each["source"], each["target"])
                       and each["layer"] == layer and each["variant"] == f"p@1/cosine/{name}"]  # fmt: skip
                assert value == pytest.approx(np.mean(own)) or name == "centred"


def test_shares_that_chance_gives_in_over_5_percent_are_never_called_above_it():
    for n in (20, 50, 200, 600, 1000):
        for hits in range(12):
            reading = Reading(hits / n, 1 / n, max(hits - 0.5, 0) / n, (hits + 5) / n, n)
            assert not above_null(reading) or binomial_p(hits, n, 1 / n) < 0.025
        assert above_null(Reading(0.5, 1 / n, 0.4, 0.6, n))


def test_a_correlation_that_is_not_clear_says_what_so_many_languages_could_show():
    draw, clear = np.random.default_rng(9), 0
    for _ in range(60):
        n = int(draw.integers(3, 18))
        x = draw.normal(size=n)
        found = correlate(x, x * draw.choice([0, 3]) + draw.normal(size=n))
        said = association_said(found)
        assert f"{n} languages" in said
        assert "least possible" in said
        assert bool(re.search("may exist|too few", said)) == (found.sign == 0)
        clear += found.sign != 0
    assert 5 < clear < 55
