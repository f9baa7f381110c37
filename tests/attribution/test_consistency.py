from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

import toys
from cases import case_of, loaded
from interlingua.attribution.consistency import WeightedUnits, consistencies, consistency
from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.attribution.inputs import AttributionInput
from interlingua.attribution.integrated_gradients import IntegratedGradients
from interlingua.attribution.shared_spaces import AlignedSpace, Contextual, Embeddings, External
from interlingua.attribution.units import units_of
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.readers.examples import Examples, Question, TextPair
from interlingua.readers.word_lists import WordVectors, read_vectors
from interlingua.tasks.qa import Qa
from interlingua.tasks.text_pairs import Nli
from interlingua.transport import WEIGHTINGS, TransportProblem, exact
from interlingua.words import token_spans


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return loaded(tmp_path_factory.mktemp("models") / "bert", "bert")


@pytest.fixture(scope="module")
def case(bert: Encoder) -> AttributionInput:
    return case_of(bert, "nli")


def texts(examples: Examples[TextPair]) -> list[tuple[str, str]]:
    return [(item.first, item.second) for item in examples]


def weighed(case: AttributionInput, bert: Encoder, *, unit: str = "token") -> WeightedUnits:
    units = units_of(case.inputs, texts(toys.toy("nli")), bert, unit=unit)
    found = IntegratedGradients(steps=4)(case)
    values, starts = units.sums(found, case.inputs, case.targets.row)
    numbers, _ = units.of_rows(case.targets.row)
    return WeightedUnits(values, Embeddings(case.through).vectors(units, case.inputs, "en")[numbers], starts)


@pytest.mark.parametrize("unit", ["token", "word"])
def test_units_cover_every_token_but_separators_once_and_keep_the_sum(
    case: AttributionInput, bert: Encoder, unit: str
) -> None:
    units = units_of(case.inputs, texts(toys.toy("nli")), bert, unit=unit)
    places = np.sort(units.place)
    assert places.tolist() == np.flatnonzero(case.baseline.changed(case.inputs.ids)).tolist()
    found = IntegratedGradients(steps=2)(case)
    sums, starts = units.sums(found, case.inputs, case.targets.row)
    totals = np.add.reduceat(found.values, found.starts[:-1])
    assert np.add.reduceat(sums, starts[:-1]) == pytest.approx(totals, abs=1e-9)


def test_words_are_written_as_in_their_texts(case: AttributionInput, bert: Encoder) -> None:
    units = units_of(case.inputs, texts(toys.toy("nli")), bert, unit="word")
    for row, item in enumerate(toys.toy("nli")):
        for side, text in enumerate((item.first, item.second)):
            own = [n for n in range(len(units)) if units.row[n] == row and units.side[n] == side]
            assert [units.written[n] for n in own] == [text[start:end] for start, end in token_spans(text)]


def test_cut_pairs_and_windows_of_paragraphs_are_traced_to_their_characters(bert: Encoder) -> None:
    pairs = toys.toy("nli")
    inputs = Nli(length=9).inputs(pairs, bert, training=False)
    units = units_of(inputs, texts(pairs), bert, unit="token")
    assert inputs.skipped
    questions = toys.toy("qa")
    windows = Qa(length=24, stride=4).inputs(questions, bert, training=False)
    assert len(windows) > len(questions)
    told = units_of(windows, [(item.question, item.context) for item in questions], bert, unit="token")
    assert windows.spans is not None
    for number in np.flatnonzero(told.side == 1):
        assert told.spans[number].tolist() == windows.spans[told.place[told.start[number]]].tolist()
    for found, made in ((units, inputs), (told, windows)):
        assert len(found.place) == (~np.isin(made.ids, [2, 3])).sum()


def test_identical_examples_score_exactly_1_and_shuffled_ones_less(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    found = consistency(one, one)
    assert (found.scores == 1.0).all()
    score = found.score()
    assert score.value == 1.0
    assert score.null is not None
    assert score.null < 0.9
    assert score.details["random"] < 0.95


def test_a_score_has_its_mean_with_students_interval_every_example_and_both_controls(
    case: AttributionInput, bert: Encoder
) -> None:
    one = weighed(case, bert)
    other = replace(one, values=np.random.default_rng(0).normal(size=len(one.values)))
    found = consistencies(one, other, weightings=["absolute"], flows=False)["absolute"]
    score = found.score()
    assert (score.value, score.n) == (pytest.approx(found.scores.mean()), len(one))
    assert score.items is not None
    assert score.items.tolist() == found.scores.tolist()
    interval = stats.t.interval(0.95, len(one) - 1, loc=found.scores.mean(), scale=stats.sem(found.scores))
    assert (score.low, score.high) == pytest.approx(interval)
    assert score.null == pytest.approx(found.null.mean())
    above = stats.ttest_rel(found.scores, found.random).confidence_interval(0.95)
    assert score.details == {
        "random": pytest.approx(found.random.mean()),
        "above_random": pytest.approx([(found.scores - found.random).mean(), above.low, above.high]),
        "error": 0.0,
    }
    near = consistency(one, other, solver="entropic")
    assert near.score().details["error"] == max(flow.error for flow in near.flows) > 0


def test_one_example_has_no_other_to_be_shuffled_with(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    first = WeightedUnits(one.values[: one.starts[1]], one.vectors[: one.starts[1]], one.starts[:2])
    score = consistency(first, first).score()
    assert (score.value, score.n, score.low, score.high, score.null) == (1.0, 1, None, None, None)


def test_two_examples_are_each_others_null(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    two = WeightedUnits(one.values[: one.starts[2]], one.vectors[: one.starts[2]], one.starts[:3])
    other = replace(two, values=np.random.default_rng(0).normal(size=len(two.values)))
    sides = [[(side.unit_vectors(n), side.weights(n, "absolute")) for n in range(2)] for side in (two, other)]
    crossed = [
        TransportProblem.of(ours @ theirs.T, np.asarray(ours_weigh), np.asarray(theirs_weigh))
        for (ours, ours_weigh), (theirs, theirs_weigh) in zip(sides[0], sides[1][::-1], strict=True)
    ]
    for seed in range(3):
        found = consistency(two, other, seed=seed)
        assert found.null == pytest.approx([flow.score for flow in exact(crossed)], abs=1e-12)


def test_units_have_vectors_of_length_1_in_double_precision_or_none_at_all() -> None:
    vectors = np.float32([[3, 4], [0, 0], [0, 0.1], [0, 0], [1e-30, 0], [-5, 12]])
    side = WeightedUnits(np.ones(6), vectors, np.array([0, 4, 6]))
    exact = [np.array([[0.6, 0.8], [0, 0], [0, 1], [0, 0]]), np.array([[1, 0], [-5 / 13, 12 / 13]])]
    for number, wanted in enumerate(exact):
        assert side.unit_vectors(number) == pytest.approx(wanted, abs=1e-15)
    assert side.unknown == 2


def test_random_attributions_are_the_own_ones_on_other_words(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    other = replace(one, vectors=np.roll(one.vectors, 1, axis=0))
    even = [replace(side, values=np.full(len(side.values), 0.3)) for side in (one, other)]
    found = consistency(*even)
    assert found.random == pytest.approx(found.scores, abs=1e-12)  # Sizes that are all one can't be dealt otherwise.
    # With all the weight on one unit of two a text meets itself in half of the deals.
    starts = np.arange(0, 4001, 2)
    vectors = np.tile(np.eye(2, dtype=np.float32), (2000, 1))
    peaked = WeightedUnits(np.tile([1.0, 0.0], 2000), vectors, starts)
    dealt = consistency(peaked, peaked).random
    assert set(np.round(dealt, 9)) == {0.0, 1.0}
    assert dealt.mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(2000))
    # So it is where sizes are alike and one of two speaks for the target, if that alone is weighed.
    split = WeightedUnits(np.tile([1.0, -1.0], 300), vectors[:600], starts[:301])
    assert consistency(split, split).random.min() == pytest.approx(1.0)
    spoken = [consistency(split, split, weighting="positive", seed=seed).random for seed in (0, 0, 1)]
    assert spoken[0].tolist() == spoken[1].tolist() != spoken[2].tolist()
    assert spoken[0].mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(300))
    # A unit without a vector takes no part.
    vectors = np.tile(np.array([[1, 0], [0, 0]], np.float32), (2000, 1))
    assert consistency(replace(peaked, vectors=vectors), replace(peaked, vectors=vectors)).random.min() == 1.0


def test_scores_are_the_same_from_both_sides_and_by_both_solvers(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    other = replace(one, values=np.random.default_rng(0).normal(size=len(one.values)))
    forward, backward = consistency(one, other), consistency(other, one)
    assert forward.scores == pytest.approx(backward.scores, abs=1e-9)
    near = consistency(one, other, solver="entropic")
    assert near.scores == pytest.approx(forward.scores, abs=6e-3)
    assert near.score().details["error"] <= 5e-3


def test_a_permuted_text_with_its_attributions_scores_1(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    order = np.concatenate(
        [np.random.default_rng(n).permutation(np.arange(one.starts[n], one.starts[n + 1])) for n in range(len(one))]
    )
    assert consistency(one, WeightedUnits(one.values[order], one.vectors[order], one.starts)).scores == pytest.approx(
        1.0
    )


@pytest.mark.parametrize("flows", [True, False])
def test_weightings_together_score_as_each_alone_and_as_problems_solved_one_by_one(
    case: AttributionInput, bert: Encoder, flows: bool
) -> None:
    one = weighed(case, bert)
    draw = np.random.default_rng(1)
    other = replace(one, values=draw.normal(size=len(one.values)))
    # One row that a weighting has nothing of, and in every text a unit said twice.
    other.values[other.starts[2] : other.starts[3]] *= -np.sign(other.values[other.starts[2] : other.starts[3]])
    one.vectors[one.starts[:-1] + 1] = one.vectors[one.starts[:-1]]
    found = consistencies(one, other, weightings=list(WEIGHTINGS), flows=flows)
    assert len(found["positive"].rows) < len(found["absolute"].rows)
    for weighting, each in found.items():
        alone = consistency(one, other, weighting=weighting)
        assert each.rows.tolist() == alone.rows.tolist()
        assert each.skipped == alone.skipped
        for name in ("scores", "null", "random"):
            assert getattr(each, name) == pytest.approx(getattr(alone, name), abs=1e-12)
        assert len(each.flows) == (len(each.rows) if flows else 0)
        problems = [
            TransportProblem.of(
                one.unit_vectors(row) @ other.unit_vectors(row).T,
                *(np.asarray(side.weights(row, weighting)) for side in (one, other)),
            )
            for row in each.rows.tolist()
        ]
        assert each.scores == pytest.approx([flow.score for flow in exact(problems)], abs=1e-12)
        for flow, problem in zip(each.flows, problems, strict=flows):
            assert (flow.plan * problem.similarities).sum() == pytest.approx(flow.score, abs=1e-12)


def test_the_units_of_some_inputs_are_those_of_all_at_these_inputs(case: AttributionInput, bert: Encoder) -> None:
    rows = np.array([0, 3, 4])
    every, some = (
        units_of(case.inputs, texts(toys.toy("nli")), bert, unit="word", rows=given) for given in (None, rows)
    )
    numbers, _ = every.of_rows(rows)
    assert some.row.tolist() == every.row[numbers].tolist()
    assert some.spans.tolist() == every.spans[numbers].tolist()
    assert some.written == tuple(every.written[number] for number in numbers)
    wanted = [every.place[every.start[n] : every.start[n + 1]].tolist() for n in numbers]
    assert [some.place[a:b].tolist() for a, b in itertools.pairwise(some.start)] == wanted


def test_examples_whose_attributions_are_all_zero_are_skipped_and_counted_never_nan(
    case: AttributionInput, bert: Encoder
) -> None:
    one = weighed(case, bert)
    values = one.values.copy()
    values[one.starts[3] : one.starts[4]] = 0.0
    found = consistency(replace(one, values=values), one)
    assert 3 not in found.rows
    assert len(found.rows) == len(one) - 1
    assert found.skipped[0].count == 1
    assert found.skipped[0].where == ("example 4",)
    assert np.isfinite(found.scores).all()
    assert consistency(one, one).skipped == ()
    nothing = consistency(replace(one, values=np.zeros_like(values)), one)
    assert nothing.skipped[0].where == ("example 1", "example 2", "example 3")
    with pytest.raises(InputError, match="no example could be compared") as error:
        nothing.score()
    assert str(len(one)) in str(error.value.value)


def test_a_text_of_only_special_tokens_has_no_units_and_is_skipped(case: AttributionInput, bert: Encoder) -> None:
    empty = Examples((TextPair("\u200b", "\u200b", "neutral"), TextPair("the tap", "again", "neutral")), "en", "x.tsv")
    inputs = Nli().inputs(empty, bert, training=False)
    only = replace(case, inputs=inputs, targets=case.targets.take(np.array([0, 1])))
    found = IntegratedGradients(steps=2)(only)
    assert np.isfinite(found.values).all()
    units = units_of(inputs, texts(empty), bert, unit="word")
    values, starts = units.sums(found, inputs, only.targets.row)
    side = WeightedUnits(values, Embeddings(case.through).vectors(units, inputs, "en"), starts)
    result = consistency(side, side)
    assert result.rows.tolist() == [1]
    assert result.skipped[0].count == 1


def test_unequal_numbers_of_examples_and_widths_are_told(case: AttributionInput, bert: Encoder) -> None:
    one = weighed(case, bert)
    with pytest.raises(InputError, match="row-parallel"):
        consistency(one, WeightedUnits(one.values[: one.starts[2]], one.vectors[: one.starts[2]], one.starts[:3]))
    with pytest.raises(InputError, match="one space"):
        consistency(one, replace(one, vectors=one.vectors[:, :5]))
    with pytest.raises(InputError, match="Did you mean 'exact'"):
        consistency(one, one, solver="exat")


def test_embeddings_of_words_are_means_of_their_tokens(case: AttributionInput, bert: Encoder) -> None:
    units = units_of(case.inputs, texts(toys.toy("nli")), bert, unit="word")
    vectors = Embeddings(case.through).vectors(units, case.inputs, "en")
    table = case.through.table.weight.detach().numpy()
    for number in range(0, len(units), 7):
        ids = case.inputs.ids[units.place[units.start[number] : units.start[number + 1]]]
        assert vectors[number] == pytest.approx(table[ids].mean(axis=0), abs=1e-6)


def test_layer_0_and_the_last_are_the_models_own_states(case: AttributionInput, bert: Encoder) -> None:
    units = units_of(case.inputs, texts(toys.toy("nli")), bert, unit="token")
    for layer in (0, 2, -1):
        vectors = Contextual(case.through, layer).vectors(units, case.inputs, "en")
        batch = case.inputs.batch(np.array([4]), case.through.device)
        with torch.no_grad():
            states = case.through.body.eval()(
                **{name: batch[name] for name in batch if name.endswith(("ids", "mask"))}, output_hidden_states=True
            ).hidden_states[layer][0]
        own = np.flatnonzero(units.row == 4)
        positions = units.place[units.start[own]] - case.inputs.starts[4]
        assert vectors[own] == pytest.approx(states[positions].numpy(), abs=1e-5)
    with pytest.raises(InputError, match="There are 0 to 3"):
        Contextual(case.through, 9).vectors(units, case.inputs, "en")


def test_a_rotated_language_is_turned_back_by_a_dictionary(bert: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    # The second language's words are the first's with embeddings rotated: the map must find the rotation.
    case = case_of(bert, "nli")
    words = sorted({word for item in toys.toy("nli") for word in (item.first + " " + item.second).split()})
    dim = case.through.table.weight.shape[1]
    rotation, _ = torch.linalg.qr(torch.randn(dim, dim, generator=torch.Generator().manual_seed(0)))
    from interlingua.attribution import shared_spaces

    plain = shared_spaces._known_words

    def turned(through: EmbeddingForward, encoder: Encoder, given: list[str]) -> tuple[np.ndarray, np.ndarray]:
        vectors, known = plain(through, encoder, [word.removeprefix("x") for word in given])
        return (vectors @ rotation.numpy() if given[0].startswith("x") else vectors), known

    monkeypatch.setattr(shared_spaces, "_known_words", turned)
    many = [(word, f"x{word}") for word in words]
    space, skipped = AlignedSpace.of(case.through, bert, {"xx": many})
    assert not skipped
    vectors, _ = plain(case.through, bert, words)
    mapped = space.maps["xx"].apply(torch.from_numpy(vectors @ rotation.numpy())).numpy()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit * mapped).sum(axis=1) / np.linalg.norm(mapped, axis=1)
    assert cosines.min() > 0.9


def test_dictionary_words_the_tokenizer_does_not_know_are_counted_and_too_few_are_an_error(bert: Encoder) -> None:
    case = case_of(bert, "nli")
    entries = [("tap", "кран"), ("kitchen", "кухонный"), ("☃", "кран"), ("\u200b", "кран")]
    _, skipped = AlignedSpace.of(case.through, bert, {"ru": entries})
    assert sum(skip.count for skip in skipped) == 2
    with pytest.raises(InputError, match="too few words"):
        AlignedSpace.of(case.through, bert, {"ru": entries[2:]})


def test_words_without_a_vector_are_left_out_of_the_weights(case: AttributionInput, bert: Encoder) -> None:
    units = units_of(case.inputs, texts(toys.toy("nli")), bert, unit="word")
    known = sorted(set(units.written))[::2]
    table = WordVectors({word: n for n, word in enumerate(known)}, np.eye(len(known), dtype=np.float32), "x.vec")
    vectors = External({"en": table}).vectors(units, case.inputs, "en")
    values, starts = units.sums(IntegratedGradients(steps=2)(case), case.inputs, case.targets.row)
    side = WeightedUnits(values, vectors, starts)
    assert side.unknown == sum(word not in known for word in units.written)
    for number in range(len(side)):
        weights = side.weights(number, "absolute")
        if weights is not None:
            here = units.written[starts[number] : starts[number + 1]]
            assert not any(weight for word, weight in zip(here, weights, strict=True) if word not in known)
            assert weights.sum() == pytest.approx(1.0)
    with pytest.raises(InputError, match="--vectors ru=FILE"):
        External({"en": table}).vectors(units, case.inputs, "ru")


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("2 3\ntea 1 0 0\ncup 1 0\n", ":3: not a word and 3 numbers"),
        ("tea 1 0 0\ncup 1 x 0\n", ":2: not a number"),
        ("tea 1 0\ncup 1 nan\n", ":2: an infinite"),
        ("tea\n", ":1: not a word and 1 numbers"),
        ("tea 1 2\ncup 1 2 3\n", ":2: not a word and 2 numbers"),
        ("2 2\ntea 1 2\n  1 2\n", ":3: not a word and 2 numbers"),
        ("tea 1 1_0\ncup 1 2\n", ":1: not a number among"),
        ("cup 1 2\ntea 1 ٣\n", ":2: not a number among"),
        ("-2 2\ntea 1 2\ncup 1 2\n", ":1: the first line states no number of words"),
        ("2.0 2\ntea 1 2\ncup 1 2\n", ":1: the first line states no number of words"),
        ("3 3\n", "states 3 words, and the file has 0"),
    ],
)
def test_bad_vector_files_are_told_with_their_line(tmp_path: Path, content: str, where: str) -> None:
    (tmp_path / "bad.vec").write_text(content, "utf-8")
    with pytest.raises(InputError, match=where):
        read_vectors(tmp_path / "bad.vec")


def test_vectors_are_read_with_and_without_sizes_only_wanted_words_and_the_first_of_two(tmp_path: Path) -> None:
    lines = "Tea 1 2\nnew york 3 4\ntea 5 6\ntea 7 8\n"
    (tmp_path / "plain.vec").write_text("cup 9 9\n" + lines, "utf-8")
    (tmp_path / "sized.vec").write_text("5 2\ncup 9 9\n" + lines, "utf-8")
    for name in ("plain.vec", "sized.vec"):
        found = read_vectors(tmp_path / name, words={"TEA", "new york"})
        row, other = found.find("TEA"), found.find("new york")
        assert row is not None
        assert other is not None
        assert found.table[row].tolist() == [5, 6]
        assert found.table[other].tolist() == [3, 4]
        assert found.find("cup") is None


def test_questions_are_traced_too(bert: Encoder) -> None:
    items = (Question("1", "the tap?", "The kitchen tap is leaking again.", ()),)
    examples = Examples(items, "en", "q.json")
    inputs = Qa().inputs(examples, bert, training=False)
    units = units_of(inputs, [(item.question, item.context) for item in examples], bert, unit="word")
    assert units.written == ("the", "tap", "?", "The", "kitchen", "tap", "is", "leaking", "again", ".")


def planted(agreement: float, seed: int, examples: int = 60, width: int = 16) -> tuple[WeightedUnits, WeightedUnits]:
    """Texts of very unequal likeness whose attributions agree as much as is said."""
    draw = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(draw.integers(4, 12, examples))])
    source = draw.normal(size=(starts[-1], width))
    likeness = np.repeat(np.exp(draw.uniform(-3, 1.8, examples)), np.diff(starts))[:, None]
    target = source + likeness * draw.normal(size=source.shape)
    ours, noise = draw.normal(size=(2, starts[-1]))
    theirs = agreement * ours + np.sqrt(1 - agreement**2) * noise
    return WeightedUnits(ours, source.astype(np.float32), starts), WeightedUnits(
        theirs, target.astype(np.float32), starts
    )


def test_differences_to_random_find_an_agreement_that_the_texts_hide_and_none_where_there_is_none() -> None:
    scores = {at: [consistency(*planted(at, seed), seed=seed).score() for seed in range(40)] for at in (0.0, 0.7)}
    paired = {at: np.mean([score.details["above_random"][1] > 0 for score in its]) for at, its in scores.items()}
    apart = np.mean([score.low > score.details["random"] for score in scores[0.7]])
    assert paired[0.0] <= 0.1
    assert paired[0.7] >= 0.9
    assert apart < 0.6


def test_one_example_is_no_proof() -> None:
    one = planted(0.6, 0, examples=1)
    assert consistency(*one).score().details["above_random"][1:] == [None, None]
