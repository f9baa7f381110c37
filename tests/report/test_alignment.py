"""What an audit's report says of languages and pairs: verdicts with their evidence, and like with like."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from audits import CENTRED, RAW, changed, make_record, make_records, make_run
from interlingua.measures.retrieval import METRICS, retrieval
from interlingua.record import Estimate, Record, mean_estimate
from interlingua.report.kit.chart import charts_of
from interlingua.report.kit.evidence import association_sentence, is_above_null
from interlingua.report.kit.finding import Finding, Verdict
from interlingua.report.kit.section import Headline
from interlingua.report.report import build_report
from interlingua.report.subjects import alignment
from interlingua.report.subjects.alignment import SCALE, alignment_levels, find_alignment, languages_table
from interlingua.report.subjects.layers import AlignmentRecords
from interlingua.stats import correlate
from interlingua.stats.chance import binomial_p

CODES = ["en", "es", "ru", "hi", "de", "sw", "zh", "tr"]


def space_of(records: Iterable[Record], **about: Any) -> AlignmentRecords:
    return AlignmentRecords(records, make_run(records, **about).about)


def found_in(records: Iterable[Record], **about: Any) -> dict[str, Finding]:
    return {finding.kind: finding for finding in find_alignment(space_of(list(records), **about))}


def headline_of(records: Iterable[Record], **about: Any) -> Headline:
    return build_report([make_run(records, **about)]).headline


# --------------------------------------------------------------------------------------------------------- the answer
def test_the_first_screen_has_the_question_the_verdict_key_figures_and_what_to_do() -> None:
    head = headline_of(make_records(CODES, range(7)))
    assert head.title == "How well lab/multilingual-small aligns 8 languages"
    assert head.answer.kind == "level"
    assert head.answer.sentence.startswith("Weakly aligned: on average ")
    assert [figure.label.split(":")[0] for figure in head.figures] == [
        "Retrieval accuracy (P@1), layer 4", "Best layer", "Points gained by subtracting language means",
        "Lowest language",
    ]  # fmt: skip
    assert head.figures[0].estimate == head.answer.estimate
    assert "600 candidates, chance level 0.2" in head.figures[0].context
    assert "last layer 6" in head.figures[1].context
    assert "Use layer 4 and subtract the mean vector of each language." in head.next_step
    assert "`interlingua adjust lab/multilingual-small --bitext sw=FILE --out adjusted`" in head.next_step
    assert "600 sentences per pair" in head.measured


def test_no_level_contradicts_its_interval() -> None:
    draw = np.random.default_rng(1)
    words = [text for _, text in SCALE]
    for _ in range(300):
        low, value, high = np.sort(draw.random(3))
        named = [
            words.index(text)
            for text in alignment_levels(Estimate(value=value, ci_low=low, ci_high=high, null_value=0.0))
        ]
        ends = [next(place for place, (least, _) in enumerate(SCALE) if end >= least) for end in (low, high)]
        assert named == list(dict.fromkeys(ends))
        assert alignment_levels(Estimate(value=value, ci_low=low, ci_high=high, null_value=value)) == ("not aligned",)


def test_a_model_at_chance_is_called_so_and_nothing_is_ranked() -> None:
    records = changed(
        make_records(CODES, range(5)),
        lambda r: {"value": r.null_value, "ci_low": 0.0, "ci_high": 0.01} if r.measure == "retrieval" else None,
    )
    found = found_in(records)
    assert found["level"].verdict == Verdict.AT_CHANCE
    assert "no better than chance" in found["level"].sentence
    assert found["best_layer"].verdict == Verdict.AT_CHANCE
    ranking = {"best_languages", "weak_languages", "pairs", "fertility_relation", "outlier_language"}
    assert not ranking & found.keys()
    head = headline_of(records)
    assert head.title == "lab/multilingual-small does not align 8 languages"
    assert head.figures[1].text == "none stands out"
    assert "interlingua adjust" not in head.next_step
    table = languages_table(space_of(records))
    assert table is not None
    assert [column.better for column in table.columns] == [None] * len(table.columns)
    assert "not ranked" in table.note
    assert [row[0] for row in table.rows] == ["English", "Spanish", "Russian", "Hindi", "German", "Swahili", "Chinese",
                                              "Turkish"]  # fmt: skip


def test_one_pair_is_named_and_nothing_is_ranked() -> None:
    head = headline_of(make_records(["en", "ru"], range(2)))
    assert head.title == "How well lab/multilingual-small aligns English and Russian"
    assert head.answer.sentence.startswith("English–Russian is weakly aligned: ")
    assert not {"best_languages", "weak_languages", "pairs"} & found_in(make_records(["en", "ru"], range(2))).keys()


@pytest.mark.parametrize("count", [3, 4])
def test_of_three_or_four_languages_pairs_are_named_and_none_is_weak(count: int) -> None:
    found = found_in(make_records(["en", "hi", "sw", "ru"][:count], range(5)))
    assert not {"weak_languages", "best_languages", "outlier_language"} & found.keys()
    assert "Highest: English–" in found["level"].sentence
    assert found["pairs"].verdict == Verdict.HIGHER


def test_without_alignment_records_it_says_so() -> None:
    only = [record for record in make_records(CODES, range(3)) if record.measure == "isotropy"]
    assert list(found_in(only)) == ["no_alignment"]
    assert headline_of(only).answer.kind == headline_of([]).answer.kind == "no_alignment"


def test_alignment_that_language_means_hide_is_not_called_none() -> None:
    records = [
        make_record("retrieval", "p@1", 0.002, options=RAW, null_value=0.002, n=500, ci_low=0.0, ci_high=0.01),
        make_record("retrieval", "p@1", 0.6, options=CENTRED, null_value=0.002, n=500),
    ]
    level = found_in(records)["level"]
    assert level.verdict == Verdict.AT_CHANCE
    assert level.about["centered"] == 0.6
    assert "With language means subtracted it is above chance: 60.0" in level.sentence


def test_cka_answers_where_retrieval_was_not_measured() -> None:
    records = [record for record in make_records(CODES, range(5)) if record.measure == "cka"]
    level = found_in(records)["level"]
    assert level.metric is not None
    assert level.metric.name == "cka"
    assert "The debiased CKA is" in level.sentence
    assert level.verdict == Verdict.FOUND


def test_two_models_are_compared_by_cka_and_one_language_in_both_apart() -> None:
    records = changed(
        (r for r in make_records(["en", "ru", "hi"], range(3)) if r.measure == "cka"), lambda r: {"against": "other"}
    )
    same = [make_record("cka", "cka", 0.9, options={"form": "debiased"}, source=c, target=c, against="other", layer=k)
            for c in ("en", "ru", "hi") for k in range(3)]  # fmt: skip
    run = make_run([*records, *same], against="other")
    report = build_report([run])
    assert report.headline.title == "How alike lab/multilingual-small and other are in 3 languages"
    titles = [chart.title for menu in report.charts() for chart in charts_of(menu)]
    assert "Linear CKA, same language" in titles
    assert report.headline.answer.estimate is not None
    assert all(r.source != r.target for r in report.headline.answer.estimate.records)


# ------------------------------------------------------------------------------------------------- languages and pairs
def test_weak_and_best_languages_are_named() -> None:
    found = found_in(make_records(CODES, range(7)))
    assert found["weak_languages"].verdict == Verdict.LOWER
    assert found["weak_languages"].about["languages"] == ["sw", "hi"]
    assert found["best_languages"].about["languages"][0] == "en"
    assert found["level"].about["weak"] == ["Swahili", "Hindi"]
    assert "weak: Swahili and Hindi (" in found["level"].sentence
    even = found_in(make_records(["en", "es", "fr", "de", "pt"], range(3)))
    assert even["weak_languages"].verdict == Verdict.FOUND
    assert even["level"].about["weak"] == []


def measured(vectors: Mapping[str, torch.Tensor], *, centre: Sequence[bool] = (True,)) -> list[Record]:
    """Records of retrieval between languages with these vectors, at one layer."""
    found = []
    for source, target in itertools.combinations(vectors, 2):
        scores = retrieval(vectors[source], vectors[target], ks=(1,), similarities=("cosine",), centre=centre)
        shared = Record(measure="retrieval", model="m", source=source, target=target, layer=1)
        found += [shared.scored(METRICS, key, score) for key, score in scores.items()]
    return found


@pytest.mark.parametrize(("worse", "share"), [(1.0, (0.0, 0.05)), (2.0, (0.8, 1.0))])
def test_of_languages_exactly_alike_none_is_called_weak_and_one_that_is_much_worse_is(
    worse: float, share: tuple[float, float]
) -> None:
    codes, weak = ["en", "de", "es", "ru", "hi", "zh"], []
    for seed in range(40):
        draw = torch.Generator().manual_seed(seed)
        meaning = torch.randn(200, 24, generator=draw)
        noise = {code: 1.6 * (worse if code == "zh" else 1.0) for code in codes}
        vectors = {code: meaning + noise[code] * torch.randn(200, 24, generator=draw) for code in codes}
        finding = found_in(measured(vectors))["weak_languages"]
        named = finding.verdict == Verdict.LOWER
        weak.append(named and ("zh" in finding.about["languages"] or worse == 1.0))
    assert share[0] <= np.mean(weak) <= share[1]


@pytest.mark.parametrize(("high", "verdict"), [(1.0, Verdict.UNCLEAR), (None, Verdict.NOT_TESTED)])
def test_a_low_language_is_not_weak_where_its_interval_reaches_the_median_or_is_not_known(
    high: float | None, verdict: Verdict
) -> None:
    records = make_records(["en", "es", "fr", "sw", "de"], range(3))
    assert found_in(records)["weak_languages"].verdict == Verdict.LOWER
    finding = found_in(changed(records, lambda r: {"ci_high": high}))["weak_languages"]
    assert finding.verdict == verdict
    assert finding.about["languages"] == ["sw"]


def random_records(draw: np.random.Generator, *, equal: bool | None = None) -> list[Record]:
    """Records of retrieval, as is and centred, of random languages, layers, values, intervals and candidates."""
    codes = CODES[: int(draw.integers(2, len(CODES) + 1))]
    layers = range(int(draw.integers(1, 5)))
    level, spread = draw.choice([0.005, 0.1, 0.4, 0.9]), draw.choice([0.0, 0.02, 0.2])
    half = draw.choice([0.0, 0.01, 0.1])
    same = draw.random() < 0.6 if equal is None else equal
    found = []
    for pair in itertools.combinations(codes, 2):
        n = 200 if same else int(draw.integers(50, 300))
        for layer, way in itertools.product(layers, (1, -1)):
            raw = float(np.clip(level + spread * draw.normal(), 0, 1))
            centred = float(np.clip(raw + 0.05 * draw.normal(), 0, 1))
            for options, value in ((RAW, raw), (CENTRED, centred)):
                apart = centred - raw
                details = {"above_raw": [apart, apart - half, apart + half]} if options is CENTRED else {}
                found.append(
                    make_record("retrieval", "p@1", value, options=options, source=pair[::way][0],
                                target=pair[::way][1], layer=layer, null_value=1 / n, n=n,
                                ci_low=max(value - half, 0.0), ci_high=min(value + half, 1.0), details=details)
                )  # fmt: skip
    return found


@pytest.mark.reliability("languages ranked over unequal candidates")
def test_findings_agree_with_their_numbers_and_nothing_is_ranked_over_unequal_candidates(record_property: Any) -> None:
    draw, ranked = np.random.default_rng(0), 0
    for _ in range(60):
        records = random_records(draw)
        space, found = space_of(records), found_in(records)
        counts = {r.n for r in records}
        level = found["level"].estimate
        assert level is not None
        assert (found["level"].verdict == Verdict.AT_CHANCE) == space.is_at_chance
        assert is_above_null(level) or space.is_at_chance
        if len(counts) > 1:
            assert not {"best_languages", "weak_languages", "pairs"} & found.keys()
            assert ("unranked" in found) == (len(space.languages) > 2 and not space.is_at_chance)
            table = languages_table(space)
            assert table is not None
            assert all(column.better is None for column in table.columns)
            assert [row[0] for row in table.rows] == [space.name_language(code) for code in space.languages]
        if "best_languages" in found and found["best_languages"].verdict == Verdict.HIGHER:
            values = [e.value for e in space.language_estimates(space.headline, space.best_layer).values()]
            names = found["best_languages"].about["languages"]
            assert 1 <= len(names) <= len(values) / 2
            assert min(found["best_languages"].about["values"]) > statistics.median(values)
            ranked += 1
        if "best_layer" in found and found["best_layer"].verdict == Verdict.HIGHER:
            compared = re.findall(r"at layer (\d+)", found["best_layer"].sentence)
            tied = {found["best_layer"].about["layer"], *found["best_layer"].about["tied"]}
            assert not {int(layer) for layer in compared} & tied
    record_property("tried", 60)
    record_property("held", 60)
    assert ranked > 5


@pytest.mark.parametrize("count", [5, 6, 8])
def test_where_all_but_one_language_are_equal_none_is_best_and_no_list_of_names_is_empty(count: int) -> None:
    values = dict.fromkeys(CODES[:count], 0.5) | {CODES[count - 1]: 0.3}
    records = [
        make_record("retrieval", "p@1", min(values[a], values[b]), options=RAW, source=a, target=b, null_value=0.005,
                    n=200, layer=0)
        for a, b in itertools.combinations(values, 2)
    ]  # fmt: skip
    finding = found_in(records)["best_languages"]
    assert finding.about["languages"]
    assert "()" not in finding.sentence


def test_languages_at_chance_among_others_are_named() -> None:
    records = changed(
        make_records(["en", "ru", "hi", "de", "fr"], range(3)),
        lambda r: {"value": r.null_value, "ci_low": 0.0, "ci_high": 0.01}
        if r.measure == "retrieval" and "hi" in (r.source, r.target) else None,
    )  # fmt: skip
    finding = found_in(records)["languages_at_chance"]
    assert finding.verdict == Verdict.AT_CHANCE
    assert finding.about["languages"] == ["hi"]


def test_a_language_that_is_lowest_in_one_measure_and_not_in_another_is_named() -> None:
    records = changed(
        make_records(["en", "es", "fr", "de", "pt", "ru"], range(3)),
        lambda r: {"value": r.value - 0.3, "ci_low": r.value - 0.33, "ci_high": r.value - 0.27}
        if r.measure == "cka" and "en" in (r.source, r.target) else None,
    )  # fmt: skip
    finding = found_in(records)["outlier_language"]
    assert finding.about["language"] == "en"
    assert finding.sentence.startswith("English is lowest in CKA (")
    assert "outlier_language" not in found_in(make_records(["en", "es", "fr", "de", "pt", "ru"], range(3)))


# --------------------------------------------------------------------------------------- language means and rotation
@pytest.mark.parametrize(("offset", "lifts", "lowers"), [(0.0, (0, 0.1), (0, 0.1)), (0.8, (0.9, 1), (0, 0))])
def test_centring_raises_retrieval_where_languages_lie_apart_and_seldom_where_they_do_not(
    offset: float, lifts: tuple[float, float], lowers: tuple[float, float]
) -> None:
    verdicts = []
    for seed in range(60):
        draw = torch.Generator().manual_seed(seed)
        meaning = torch.randn(150, 16, generator=draw)
        vectors = {
            code: meaning + 0.9 * torch.randn(150, 16, generator=draw) + offset * side * torch.ones(16)
            for code, side in (("en", 1), ("ru", -1))
        }
        verdicts.append(found_in(measured(vectors, centre=(False, True)))["centering"].verdict)
    for verdict, (least, most) in ((Verdict.HIGHER, lifts), (Verdict.LOWER, lowers)):
        assert least <= np.mean([each == verdict for each in verdicts]) <= most


Bounds = tuple[float, float | None, float | None]


@pytest.mark.parametrize(
    ("raw", "centred", "gain", "verdict"),
    [
        ((0.43, 0.36, 0.50), (0.40, 0.33, 0.47), None, Verdict.UNCLEAR),
        ((0.43, 0.36, 0.50), (0.40, 0.33, 0.47), [-0.03, -0.05, -0.01], Verdict.LOWER),
        ((0.40, 0.33, 0.47), (0.43, 0.36, 0.50), [0.03, 0.01, 0.05], Verdict.HIGHER),
        ((0.004, 0.002, 0.01), (0.022, 0.015, 0.033), None, Verdict.HIGHER),
        ((0.5, None, None), (0.9, 0.8, 1.0), None, Verdict.NOT_TESTED),
        ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), [0.0, 0.0, 0.0], Verdict.UNCLEAR),
    ],
)
def test_centring_is_judged_by_the_paired_interval(
    raw: Bounds, centred: Bounds, gain: list[float] | None, verdict: Verdict
) -> None:
    records = [
        make_record("retrieval", "p@1", value, options=options, ci_low=low, ci_high=high, null_value=0.001, n=1000,
                    details=details)
        for options, (value, low, high), details in (
            (RAW, raw, {}), (CENTRED, centred, {} if gain is None else {"above_raw": gain}))
    ]  # fmt: skip
    finding = found_in(records)["centering"]
    assert finding.verdict == verdict
    assert ("constant offset" in finding.sentence) == (verdict == Verdict.HIGHER)
    assert ("not a significant change" in finding.sentence) == (verdict in (Verdict.UNCLEAR, Verdict.NOT_TESTED))


def test_a_difference_is_that_of_the_shares_beside_it() -> None:
    draw = np.random.default_rng(5)
    for _ in range(60):
        finding = found_in(random_records(draw)).get("centering")
        if finding is None:
            continue
        before, after = (float(share) for share in re.findall(r"([\d.]+)\xa0%", finding.sentence)[:2])
        apart = float(re.search(r"\(([+−]?[\d.]+) points", finding.sentence)[1].replace("−", "-"))  # type: ignore[index]
        if min(before, after) >= 0.1 and max(before, after) <= 99.9:
            assert apart == pytest.approx(after - before, abs=0.051)
            assert finding.estimate is not None
            assert 100 * finding.estimate.value == pytest.approx(apart, abs=0.051)


@pytest.mark.parametrize(
    ("gain", "train", "verdict", "words"),
    [
        (None, 160, Verdict.UNCLEAR, "does not change P@1 significantly"),
        ([-0.03, -0.05, -0.01], 160, Verdict.LOWER, "−3.0 points; 95\xa0% interval −5.0 to −1.0)."),
        ([-0.03, -0.05, -0.01], 60, Verdict.LOWER, "60 sentences are too few to fit a map of 64 dimensions."),
        ([0.03, 0.01, 0.05], 60, Verdict.HIGHER, "part of the mismatch is rotational."),
    ],
)
def test_a_rotation_is_judged_by_the_paired_interval_and_a_loss_has_a_cause_only_where_rows_are_few(
    gain: list[float] | None, train: int, verdict: Verdict, words: str
) -> None:
    details = {"train": train, "width": 64} | ({} if gain is None else {"above_identity": gain})
    mapped = 0.46 if verdict == Verdict.HIGHER else 0.40
    records = [
        make_record("retrieval", "p@1", 0.4, options=CENTRED, null_value=0.001),
        make_record("procrustes", "p@1", mapped, options={"map": "mapped"}, ci_low=0.28, ci_high=0.53, n=120,
                    null_value=0.01, details=details),
        make_record("procrustes", "p@1", 0.43, options={"map": "identity"}, ci_low=0.31, ci_high=0.56, n=120),
    ]  # fmt: skip
    finding = found_in(records)["rotation"]
    assert finding.verdict == verdict
    assert words in finding.sentence
    assert "120 held-out candidates, chance level 0.8" in finding.sentence
    at_null = changed(records, lambda r: {"null_value": 0.35} if r.options.get("map") == "mapped" else None)
    assert found_in(at_null)["rotation"].verdict == Verdict.AT_CHANCE


# ---------------------------------------------------------------------------------------------------------- tokenizer
def test_pieces_per_word_go_with_alignment_only_where_the_correlation_is_clear() -> None:
    records = make_records(list(SKILLED := ["en", "es", "ru", "vi", "hi", "de", "fr", "tr", "be", "sw"]), range(3))
    assert found_in(records)["fertility_relation"].verdict == Verdict.LOWER
    draw = np.random.default_rng(3)
    own = {code: draw.uniform(1, 3) for code in SKILLED}

    def pieces(of: Mapping[str, float] | None) -> list[Record]:
        return changed(
            records,
            lambda r: {"value": 2.0 if of is None else of[str(r.source if r.options["side"] == "source" else r.target)]}
            if r.metric == "fertility" else None,
        )  # fmt: skip

    mixed, same = found_in(pieces(own))["fertility_relation"], found_in(pieces(None))["fertility_relation"]
    assert mixed.verdict == Verdict.UNCLEAR
    assert "a weaker relation may exist" in mixed.sentence
    assert same.verdict == Verdict.NOT_TESTED
    assert "No correlation is defined" in same.sentence
    few = found_in(make_records(["en", "hi", "ru", "sw"], range(3)))
    assert "fertility" in few
    assert "fertility_relation" not in few


def test_a_correlation_that_is_not_clear_says_what_so_many_languages_could_show() -> None:
    draw, clear = np.random.default_rng(9), 0
    for _ in range(60):
        n = int(draw.integers(3, 18))
        x = draw.normal(size=n)
        found = correlate(x, x * draw.choice([0, 3]) + draw.normal(size=n))
        assert found is not None
        sentence = association_sentence(found)
        assert f"{n} languages" in sentence
        assert "least possible" in sentence
        assert bool(re.search("may exist|too few", sentence)) == (found.sign == 0)
        clear += found.sign != 0
    assert 5 < clear < 55


def test_shares_that_chance_gives_in_over_5_percent_are_never_called_above_it() -> None:
    for n in (20, 50, 200, 600, 1000):
        for hits in range(12):
            estimate = Estimate(
                value=hits / n, null_value=1 / n, ci_low=max(hits - 0.5, 0) / n, ci_high=(hits + 5) / n, n=n
            )
            assert not is_above_null(estimate) or binomial_p(hits, n, 1 / n) < 0.025
        assert is_above_null(Estimate(value=0.5, null_value=1 / n, ci_low=0.4, ci_high=0.6, n=n))


# --------------------------------------------------------------------------------------------------- tables, numbers
def test_numbers_of_the_page_are_plain_means_of_their_records() -> None:
    records = make_records(CODES, range(5))
    space, run = space_of(records), make_run(records)
    for pick, code in ((space.mean(space.as_is, 4), None), (space.language(space.as_is, 4, "hi"), "hi")):
        assert pick is not None
        wanted = run.records.of("retrieval", "p@1", layer=4, **RAW)
        own = [r for r in wanted if code is None or code in (r.source, r.target)]
        assert pick.value == pytest.approx(statistics.fmean(r.value for r in own))
        assert set(map(id, pick.records)) == set(map(id, own))
    numbers = alignment.alignment_numbers(run)
    assert numbers["Retrieval accuracy (P@1), as is"].value == pytest.approx(run.records.of(
        "retrieval", "p@1", layer=4, **RAW).mean())  # fmt: skip
    assert numbers["P@1 of Hindi"] == alignment.language_estimates(run)["hi"]
    table = languages_table(space)
    assert table is not None
    assert [row[0] for row in table.rows][:1] == ["English"]
    assert table.rows[0][1] == space.language(space.headline, 4, "en")


def test_every_measure_has_a_column_under_its_declared_heading() -> None:
    space = space_of(make_records(CODES, range(5)))
    table = alignment.measures_table(space)
    assert table is not None
    assert [column.title for column in table.columns] == [
        "Language", "CKA", "P@1 held out", "AUC", "Shared tokens", "TNLD", "Mean cosine",
    ]  # fmt: skip
    assert table.rows[0][1] == space.language(space.find("cka", "cka", form="debiased"), 4, "en")


def test_heat_maps_are_for_five_languages_and_more_and_a_table_for_fewer() -> None:
    few = alignment.pairs_section(space_of(make_records(["en", "ru", "hi"], range(5))))
    assert few is not None
    assert few.charts == ()
    assert [row[0] for row in few.tables[0].rows] == ["English–Russian", "English–Hindi", "Russian–Hindi"]
    many = alignment.pairs_section(space := space_of(make_records(CODES, range(5))))
    assert many is not None
    maps = {chart.name: chart for chart in many.charts}
    assert {chart.scale for chart in many.charts} == {"P@1", "CKA", "P@1 held out", "AUC", "Shared tokens", "TNLD"}
    raw = maps["pairs-retrieval-p-1"]
    row, column = raw.rows.index("English"), raw.columns.index("sw")
    assert raw.cells[row][column] == space.at(space.as_is, 4)["en", "sw"]
    assert raw.cells[raw.rows.index("Swahili")][raw.columns.index("en")] == space.at(space.as_is, 4)["sw", "en"]
    assert raw.cells[row][raw.columns.index("en")] is None
    assert raw.low is None
    assert raw.high is None
    assert alignment.pairs_section(space_of(make_records(["en", "ru"], range(2)))) is None


def test_dots_are_for_five_languages_and_more() -> None:
    assert alignment.fertility_chart(space_of(make_records(["en", "ru", "hi", "sw"], range(3)))) is None
    chart = alignment.fertility_chart(space_of(make_records(CODES, range(3))))
    assert chart is not None
    assert len(chart.dots) == len(CODES)
    assert all(dot.records for dot in chart.dots)


def test_models_of_a_study_are_ranked_only_on_equal_candidates() -> None:
    first, second = make_records(["en", "ru", "hi"], range(3)), make_records(["en", "ru", "hi"], range(3), seed=1)
    better = changed(first, lambda r: {"model": "better", "block": "space"})
    worse = changed(second, lambda r: {"model": "worse seed 0", "block": "space", "value": r.value / 3,
                                       "ci_low": r.value / 3 - 0.03, "ci_high": r.value / 3 + 0.03})  # fmt: skip
    report = build_report([make_run([*better, *worse])])
    assert report.headline.answer.kind == "model_levels"
    assert report.headline.answer.verdict == Verdict.HIGHER
    assert [name for name, _ in report.headline.answer.about["models"]] == ["better", "worse"]
    layers = next(section for section in report.sections if section.name == "layers")
    lines = charts_of(layers.charts[0])[0].lines  # type: ignore[union-attr]
    assert {line.name.split(",")[0] for line in lines} == {"better", "worse"}
    fewer = changed(worse, lambda r: {"n": 99})
    assert build_report([make_run([*better, *fewer])]).headline.answer.verdict == Verdict.NOT_COMPARABLE


def test_records_of_other_subjects_are_left_alone() -> None:
    records = changed(make_records(["en", "ru"], [1]), lambda r: {"state": "adjusted"})
    assert not alignment.SUBJECT.applies(replace(make_run(records), kind="adjust"))


def test_averages_of_bounds_are_those_of_mean_estimate() -> None:
    records = make_records(CODES, [4])
    space = space_of(records)
    mean = space.mean(space.as_is, 4)
    assert mean == mean_estimate(space.at(space.as_is, 4).values())
