"""The fast aligner against the same model in loops, and what must hold for any text."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections.abc import Callable
from dataclasses import astuple, replace

import numpy as np
import pytest
import torch

from aligner_by_loops import ByLoops, Rows, bitext
from interlingua.errors import InputError
from interlingua.wordalign import align_words, cooccurrence, em_steps, training, vocabulary
from interlingua.wordalign.blocks import workers
from interlingua.wordalign.cooccurrence import Slots
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import AlignerSettings
from interlingua.wordalign.training import TrainedAligner, align_both, train, train_both
from interlingua.wordalign.vocabulary import Sentences

PLAIN = AlignerSettings(variational=False, optimise_tension=False)
FIXED = AlignerSettings(optimise_tension=False)
MOVING = AlignerSettings(tension_step=0.5)


def as_set(links: Links) -> set[tuple[int, int, int]]:
    return set(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))


def probabilities(trained: TrainedAligner) -> dict[tuple[str | None, str], float]:
    model = trained.model
    pairs = zip(model.pair_source.tolist(), model.pair_target.tolist(), model.log_probability.tolist(), strict=True)
    found = {(model.source_words[s], model.target_words[t]): np.exp(log) for s, t, log in pairs}
    null = zip(model.target_words, model.null_log_probability.tolist(), strict=True)
    return {**found, **{(None, word): np.exp(log) for word, log in null}}


STEPS = AlignerSettings(tension_rule="fast_align")


@pytest.mark.parametrize(
    "settings", [PLAIN, FIXED, MOVING, STEPS, AlignerSettings(variational=False), AlignerSettings(null=0.3, alpha=1.0)]
)
@pytest.mark.parametrize("seed", range(3))
def test_links_table_tension_and_objective_are_those_of_the_same_model_in_loops(
    seed: int, settings: AlignerSettings
) -> None:
    source, target = bitext(seed)
    loops = ByLoops(source, target, settings.variational, settings.null, alpha=settings.alpha)
    objective = loops.run(
        settings.iterations,
        tension_step=settings.tension_step * settings.optimise_tension,
        fast_align=settings.tension_rule == "fast_align",
    )
    trained = train(source, target, settings)
    assert probabilities(trained) == pytest.approx(loops.theta, abs=1e-6)
    assert trained.model.tension == pytest.approx(loops.tension, abs=1e-5)
    assert [iteration.objective for iteration in trained.iterations] == pytest.approx(objective, rel=1e-6)
    last = trained.iterations[-1]
    assert last.log_likelihood == pytest.approx(loops.log_likelihood(), rel=1e-6)
    assert last.perplexity == pytest.approx(np.exp(-loops.log_likelihood() / len(loops.places())), rel=1e-6)
    assert last.null == pytest.approx(np.mean([shares[0] for shares in loops.posteriors().values()]), rel=1e-5)
    assert as_set(trained.applied.links) == loops.links()


def with_lonely_words() -> tuple[Rows, Rows]:
    """A text with a source word beside one target word only, and words of both sides in no whole row."""
    source, target = bitext(0)
    return [*source, ["lonely"], ["lonely"], ["unheard"], []], [*target, ["only"], ["only"], [], ["unsaid"]]


CORNERS = {
    "lonely words": with_lonely_words(),
    "one target type": ([["a"], ["a", "b"], ["b"]], [["x"], ["x"], ["x", "x"]]),
    "one pair": ([["a"]], [["x"]]),
}


@pytest.mark.parametrize("null", [0.12, 0.0])
@pytest.mark.parametrize("settings", [PLAIN, FIXED, MOVING])
@pytest.mark.parametrize("name", CORNERS)
def test_words_with_one_partner_or_none_and_no_empty_word_are_those_of_the_loops(
    name: str, settings: AlignerSettings, null: float
) -> None:
    loops = ByLoops(*CORNERS[name], settings.variational, null)
    objective = loops.run(5, tension_step=settings.tension_step * settings.optimise_tension)
    trained = train(*CORNERS[name], replace(settings, null=null))
    absent = {(None, word): 0.0 for word in ("unsaid",) if name == "lonely words"}
    assert probabilities(trained) == pytest.approx(loops.theta | absent, abs=1e-6)
    assert [iteration.objective for iteration in trained.iterations] == pytest.approx(objective, rel=1e-6, abs=1e-9)
    last = trained.iterations[-1]
    assert last.log_likelihood == pytest.approx(loops.log_likelihood(), rel=1e-6, abs=1e-9)
    assert last.perplexity == pytest.approx(np.exp(-loops.log_likelihood() / len(loops.places())), rel=1e-6)
    assert last.null == pytest.approx(np.mean([shares[0] for shares in loops.posteriors().values()]), rel=1e-5)
    assert trained.model.tension == pytest.approx(4.0 if name == "one pair" else loops.tension, abs=1e-5)
    assert as_set(trained.applied.links) == loops.links()


@pytest.mark.parametrize("settings", [PLAIN, FIXED, MOVING, AlignerSettings(variational=False, tension_step=1.0)])
def test_the_objective_never_falls(settings: AlignerSettings) -> None:
    for seed in range(6):
        source, target = bitext(seed, rows=80, words=30)
        many = AlignerSettings(
            25, settings.null, 4.0, settings.optimise_tension, settings.variational, tension_step=settings.tension_step
        )
        found = [iteration.objective for iteration in train(source, target, many).iterations]
        assert all(after >= before - 1e-12 * abs(before) for before, after in itertools.pairwise(found))
        assert found[-1] > found[0]


def test_log_likelihoods_by_row_add_up_to_that_of_the_last_iteration() -> None:
    trained = train(*bitext(3, rows=40))
    assert trained.applied.log_likelihood.sum() == pytest.approx(trained.iterations[-1].log_likelihood)


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cooccurrence.PIECE, "cpu", 23)
    monkeypatch.setitem(em_steps._RANGE, "cpu", 7)


def test_the_size_of_pieces_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = bitext(5, rows=80, words=25)
    whole = train(source, target)
    for size in (1, 23, 300):
        monkeypatch.setitem(cooccurrence.PIECE, "cpu", size)
        monkeypatch.setitem(em_steps._RANGE, "cpu", size)
        cut = train(source, target)
        assert as_set(cut.applied.links) == as_set(whole.applied.links)
        assert probabilities(cut) == pytest.approx(probabilities(whole), rel=1e-6)
        for ours, theirs in zip(cut.iterations, whole.iterations, strict=True):
            assert astuple(ours) == pytest.approx(astuple(theirs), rel=1e-6)


@pytest.mark.parametrize("limit", [1, 10, 23, 150, 10_000])
@pytest.mark.parametrize("seed", range(3))
def test_cuts_hold_all_words_in_order_and_as_many_as_may_be_worked_on_at_once(seed: int, limit: int) -> None:
    source, target = bitext(seed, rows=60)
    source[3], target[7] = [], []
    whole = Slots.of(Sentences.of(source), Sentences.of(target), torch.device("cpu"))
    words = whole.order.words.tolist()
    types = [int(whole.target_ids[word]) for word in words]
    sizes = [len(source[int(whole.row_of[word])]) for word in words]

    def size(begin: int, end: int) -> int:
        return sum(sizes[begin:end])

    cuts = whole.cuts(limit)
    parts = [part for cut in cuts for part in cut.parts]
    assert [number for part in parts for number in range(*part)] == list(range(len(words)))
    for cut in cuts:
        begin, end = cut.parts[0][0], cut.parts[-1][1]
        assert set(types[begin:end]) == set(range(cut.first_type, cut.first_type + cut.types))
        following = next((number for number in range(end, len(words)) if types[number] != types[end]), len(words))
        assert cut.types == 1 or size(begin, end) <= limit
        assert len(cut.parts) == 1 or cut.types == 1
        assert end == len(words) or size(begin, following) > limit  # Another type would be too much,
        for one, other in itertools.pairwise(cut.parts):
            assert size(one[0], other[0] + 1) > limit  # and so would another word.
    assert all(end - begin == 1 or size(begin, end) <= limit for begin, end in parts)


@pytest.mark.parametrize("seed", range(3))
def test_what_has_just_as_many_cooccurrences_as_may_be_worked_on_at_once_is_not_cut(seed: int) -> None:
    source, target = bitext(seed, rows=60)
    whole = Slots.of(Sentences.of(source), Sentences.of(target), torch.device("cpu"))
    for types, limit in enumerate(whole.order.entry_ends.tolist(), start=1):
        first = whole.cuts(limit)[0]
        assert (first.first_type, first.types) == (0, types)
        assert first.parts == ((0, int(whole.order.type_ends[types - 1])),)
    sizes = [len(source[int(whole.row_of[word])]) for word in whole.order.words[: whole.order.type_ends[0]].tolist()]
    for words in range(1, len(sizes)):  # One type that is more than may be worked on at once.
        assert whole.cuts(sum(sizes[:words]))[0].parts[0] == (0, words)


def test_single_precision_gives_the_same_links_and_an_objective_of_six_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = bitext(5, rows=80, words=25)
    double = train(source, target)
    monkeypatch.setattr(em_steps, "EXACT", 0)
    single = train(source, target)
    assert as_set(single.applied.links) == as_set(double.applied.links)
    expected = [iteration.objective for iteration in double.iterations]
    assert [iteration.objective for iteration in single.iterations] == pytest.approx(expected, rel=2e-6)
    assert probabilities(single) == pytest.approx(probabilities(double), rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("exact", [0, 1 << 20])
def test_the_products_of_a_gpu_are_those_of_scipy(monkeypatch: pytest.MonkeyPatch, exact: int) -> None:
    source, target = bitext(16, rows=80, words=25)
    monkeypatch.setattr(em_steps, "EXACT", exact)
    by_scipy = train(source, target)
    monkeypatch.setattr(em_steps, "weights", cooccurrence.DeviceWeights)
    by_torch = train(source, target)
    assert as_set(by_torch.applied.links) == as_set(by_scipy.applied.links)
    expected = [iteration.objective for iteration in by_scipy.iterations]
    assert [iteration.objective for iteration in by_torch.iterations] == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_words_may_be_sorted_in_any_number_of_turns(monkeypatch: pytest.MonkeyPatch, size: int, complete: bool) -> None:
    source, target = bitext(17, rows=60, words=25)
    if not complete:
        source[3], target[7], source[11], target[11] = [], [], [], []
    whole = train(source, target)
    monkeypatch.setitem(cooccurrence._SORTED_AT_ONCE, "cpu", size)
    assert train(source, target).iterations == whole.iterations
    order = Slots.of(Sentences.of(source), Sentences.of(target), torch.device("cpu")).order
    ids, starts = Sentences.of(target).ids, Sentences.of(target).starts
    rows = np.repeat(np.arange(len(target)), np.diff(starts))
    kept = [k for k in range(len(ids)) if source[rows[k]]]
    assert order.words.tolist() == sorted(kept, key=lambda k: (ids[k], k))
    entries = [len(source[rows[k]]) * (k in kept) for k in range(len(ids))]
    assert order.entry_ends.tolist() == np.bincount(ids, entries).cumsum().tolist()


def test_without_a_place_for_models_the_same_links_come_and_no_model_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = bitext(18, rows=40)
    expected = train_both(source, target)
    kept: list[tuple[str, torch.Tensor]] = []
    align_both(source, target, keep=lambda name, model: kept.append((name, model.log_probability)))
    assert [name for name, _ in kept] == ["forward", "backward"]
    for (_, logs), one in zip(kept, expected, strict=True):
        assert torch.equal(logs, one.model.log_probability)
    monkeypatch.setattr(training, "_model", None)
    for one, other in zip(align_both(source, target), expected, strict=True):
        assert one.iterations == other.iterations
        assert as_set(one.applied.links) == as_set(other.applied.links)


def test_threads_do_not_run_far_ahead_of_what_is_asked_for() -> None:
    done: list[int] = []
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with workers(torch.device("cpu")) as pool:
            found = pool.each(lambda item: done.append(item) or item, range(1000))
            assert [next(found) for _ in range(3)] == [0, 1, 2]
            found.close()
            assert len(done) < 30
            assert list(pool.each(lambda item: item * 2, range(50))) == list(range(0, 100, 2))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.usefixtures("_small_pieces")
def test_neither_the_number_of_threads_nor_a_file_on_disk_changes_a_digit() -> None:
    source, target = bitext(6, rows=60, words=25)
    threads = torch.get_num_threads()
    found = []
    try:
        for count, memory in ((1, None), (3, None), (3, 0), (3, 500)):
            torch.set_num_threads(count)
            found.append(train(source, target, memory=memory))
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert other.iterations == found[0].iterations
        for name in ("pair_source", "pair_target", "log_probability", "null_log_probability"):
            assert torch.equal(getattr(other.model, name), getattr(found[0].model, name))
        assert as_set(other.applied.links) == as_set(found[0].applied.links)


@pytest.mark.parametrize("how", [train, train_both, align_both])
def test_a_full_disk_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, how: Callable[..., object]
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 3}))
    how(*bitext(0))  # A little text needs no file,
    with pytest.raises(InputError, match=r"no room for the co-occurrences of this text.*TMPDIR") as error:
        how(*bitext(0), memory=0)  # but where no memory may be taken.
    assert error.value.file == tempfile.gettempdir()


def test_hashing_finds_the_pairs_that_cells_of_their_own_find(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = bitext(7, rows=100, words=40)
    by_cells = probabilities(train(source, target))
    monkeypatch.setattr(cooccurrence, "distinct", lambda keys, bound: vocabulary._by_hashing(keys))
    assert probabilities(train(source, target)) == pytest.approx(by_cells, rel=1e-6)


def test_swapping_the_sides_swaps_the_directions() -> None:
    source, target = bitext(8, rows=60)
    forward, backward = train_both(source, target)
    mirrored = train_both(target, source)
    assert as_set(mirrored[0].applied.links.turned()) == as_set(backward.applied.links)
    assert as_set(mirrored[1].applied.links.turned()) == as_set(forward.applied.links)
    assert backward.iterations == train(target, source).iterations


@pytest.mark.parametrize("settings", [AlignerSettings(), AlignerSettings(iterations=2, null=0.3, variational=False)])
def test_both_directions_are_each_what_it_is_alone(settings: AlignerSettings) -> None:
    source, target = bitext(8, rows=60)
    alone = train(source, target, settings), train(target, source, settings)
    links = alone[0].applied.links, alone[1].applied.links.turned()
    for both in (train_both(source, target, settings), align_both(source, target, settings)):
        for one, wanted, linked in zip(both, alone, links, strict=True):
            assert one.iterations == wanted.iterations
            assert as_set(one.applied.links) == as_set(linked)
            assert one.applied.best.tolist() == wanted.applied.best.tolist()


def test_sides_that_are_numbers_already_are_trained_on_as_they_are() -> None:
    source, target = bitext(8, rows=60)
    wanted, found = train(source, target), train(Sentences.of(source), Sentences.of(iter(target)))
    assert found.iterations == wanted.iterations
    assert probabilities(found) == probabilities(wanted)
    assert found.applied.best.tolist() == wanted.applied.best.tolist()


def test_links_come_sorted() -> None:
    for trained in train_both(*bitext(9, rows=60)):
        links = trained.applied.links
        triples = list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))
        assert triples == sorted(triples)


def test_neither_names_of_words_nor_the_order_of_rows_matter() -> None:
    source, target = bitext(10, rows=50)
    before = train(source, target)
    order = random.Random(0).sample(range(50), 50)
    after = train([[f"{word}-x" for word in source[row]] for row in order], [target[row] for row in order])
    assert {(order[row], s, t) for row, s, t in as_set(after.applied.links)} == as_set(before.applied.links)
    assert [i.objective for i in after.iterations] == pytest.approx([i.objective for i in before.iterations], rel=1e-6)


def test_a_text_that_is_repeated_gives_the_same_table_under_plain_em() -> None:
    source, target = bitext(11, rows=30)
    once, twice = train(source, target, PLAIN), train(source * 3, target * 3, PLAIN)
    assert probabilities(twice) == pytest.approx(probabilities(once), rel=1e-5)
    assert twice.iterations[-1].log_likelihood == pytest.approx(3 * once.iterations[-1].log_likelihood)


def test_progress_is_told_of_every_iteration() -> None:
    told: list[tuple[str, int]] = []
    forward, _ = train_both(*bitext(0), progress=lambda direction, found: told.append((direction, found.number)))
    assert told == [(direction, number) for direction in ("forward", "backward") for number in range(1, 6)]
    assert len(forward.iterations) == 5
    alone: list[training.Iteration] = []
    assert train(*bitext(0), progress=alone.append).iterations == tuple(alone) == forward.iterations


@pytest.mark.parametrize("iterations", [1, 2])
def test_few_iterations_are_enough_for_links(iterations: int) -> None:
    source, target = bitext(12)
    loops = ByLoops(source, target)
    objective = loops.run(iterations)
    trained = train(source, target, AlignerSettings(iterations=iterations))
    assert as_set(trained.applied.links) == loops.links()
    assert [iteration.objective for iteration in trained.iterations] == pytest.approx(objective, rel=1e-6)


EMPTY: list[tuple[Rows, Rows]] = [([], []), ([[]], [[]]), ([[], []], [["t"], []]), ([["s"]], [[]])]


@pytest.mark.parametrize("settings", [PLAIN, AlignerSettings(), STEPS])
@pytest.mark.parametrize(("source", "target"), EMPTY)
def test_a_text_without_a_whole_row_has_no_links_and_moves_nothing(
    source: Rows, target: Rows, settings: AlignerSettings
) -> None:
    assert len(Slots.of(Sentences.of(source), Sentences.of(target), torch.device("cpu")).order.words) == 0
    for trained in train_both(source, target, settings):
        assert len(trained.applied.links) == 0
        assert set(trained.applied.best.tolist()) <= {-1}
        assert trained.applied.log_likelihood.tolist() == [0.0] * len(source)
        assert trained.model.tension == settings.tension
        assert [astuple(each)[1:] for each in trained.iterations] == [(0.0, 0.0, 1.0, settings.tension, 0.0)] * 5


def test_rows_with_an_empty_side_change_nothing_for_the_others() -> None:
    source, target = bitext(13, rows=20)
    alone = train(source, target)
    among = train([[], *source, ["s1", "s2"]], [["t1", "t9"], *target, []])
    assert {(row - 1, s, t) for row, s, t in as_set(among.applied.links)} == as_set(alone.applied.links)
    assert [i.objective for i in among.iterations] == pytest.approx([i.objective for i in alone.iterations])


@pytest.mark.parametrize("exact", [0, em_steps.EXACT])
@pytest.mark.parametrize(("null", "best"), [(0.5, -1), (0.49, 0), (0.51, -1)])
def test_a_word_as_probable_as_the_empty_one_has_no_link(
    null: float, best: int, exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(em_steps, "EXACT", exact)
    for types in range(1, 12):  # All have the same probability, whatever its last digits are.
        trained = train(
            [["a"]] * types, [[f"t{number}"] for number in range(types)], AlignerSettings(iterations=1, null=null)
        )
        assert trained.applied.best.tolist() == [best] * types


@pytest.mark.parametrize("exact", [0, em_steps.EXACT])
def test_of_a_word_that_stands_twice_as_far_from_the_diagonal_the_first_one_is_linked(
    exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(em_steps, "EXACT", exact)
    source, target = [["twice"]] * 50, [["this"]] * 50
    for length in range(3, 40):  # Other words are as many as there are places: none explains another.
        ours, theirs = ([f"{side}{length}-{place}" for place in range(length)] for side in "st")
        ours[length // 2 - 1] = ours[length // 2 + 1] = "twice"
        theirs[length // 2] = "this"
        source, target = [*source, ours], [*target, theirs]
    found = as_set(train(source, target, FIXED).applied.links)
    assert {(row, s) for row, s, t in found if target[row][t] == "this"} == {
        (row, ours.index("twice")) for row, ours in enumerate(source)
    }


def test_one_word_links_to_one_word() -> None:
    assert as_set(train([["a"]], [["b"]]).applied.links) == {(0, 0, 0)}


def test_a_very_long_row_is_trained_on_in_bounded_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cooccurrence.PIECE, "cpu", 1 << 16)
    draw = random.Random(0)
    long = [f"s{draw.randrange(400)}" for _ in range(900)]
    source, target = bitext(14, rows=20)
    trained = train([*source, long], [*target, [f"t{word[1:]}" for word in long]], AlignerSettings(iterations=2))
    last = [link for link in as_set(trained.applied.links) if link[0] == 20]
    assert {(s, t) for _, s, t in last} <= set(itertools.product(range(900), repeat=2))
    assert np.isfinite(trained.applied.log_likelihood).all()


def test_a_translation_word_by_word_is_found_whole() -> None:
    draw = random.Random(0)
    source = [[f"s{number}" for number in draw.sample(range(12), 5)] for _ in range(60)]
    target = [[f"t{word[1:]}" for word in row] for row in source]
    assert as_set(align_words(source, target)) == {(row, place, place) for row in range(60) for place in range(5)}


@pytest.mark.parametrize("seed", range(4))
def test_link_words_keeps_what_both_directions_say(seed: int) -> None:
    source, target = bitext(seed)
    forward, backward = ByLoops(source, target, null=0.08), ByLoops(target, source, null=0.08)
    for loops in (forward, backward):
        loops.run(6)
    agreed = forward.links() & {(row, s, t) for row, t, s in backward.links()}
    assert as_set(align_words(source, target)) == agreed


def test_sides_of_different_length_are_an_error() -> None:
    with pytest.raises(InputError, match="2 source rows and 1 target rows"):
        train([["a"], ["b"]], [["c"]])


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("iterations", 0, "1 or more"),
        ("null", 1.0, "a probability below 1"),
        ("null", -0.1, "a probability below 1"),
        ("tension", 20.0, r"from 0\.1 to 14\.0"),
        ("tension", 0.05, r"from 0\.1 to 14\.0"),
        ("tension", float("nan"), r"from 0\.1 to 14\.0"),
        ("alpha", 0.0, "a positive number"),
        ("alpha", float("inf"), "a positive number"),
        ("tension_step", 0.0, "above 0, at most 1"),
        ("tension_step", 1.5, "above 0, at most 1"),
        ("tension_rule", "fast", "part or fast_align"),
    ],
)
def test_a_bad_setting_is_named(name: str, value: object, accepted: str) -> None:
    with pytest.raises(InputError, match=rf"bad .*\b{name}\b.* of the aligner.*Give {accepted}\.") as error:
        AlignerSettings(**{name: value})  # type: ignore[arg-type]
    assert error.value.value is value


@pytest.mark.parametrize(
    ("name", "value"), [("iterations", 1), ("null", 0.0), ("tension", 0.1), ("tension", 14.0), ("tension_step", 1.0)]
)
def test_the_ends_of_what_a_setting_may_be_are_settings(name: str, value: float) -> None:
    settings = AlignerSettings(**{name: value})  # type: ignore[arg-type]
    assert getattr(settings, name) == value
    assert np.isfinite(train(*bitext(0), settings).applied.log_likelihood).all()


def test_a_table_of_millions_of_logarithms_is_those_it_was_made_of() -> None:
    given = -100 * torch.rand(2, (3 << 20) + 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for ours, theirs in zip(given, em_steps.TranslationTable.of_logs(*given).logs(), strict=True):
        assert theirs.dtype == torch.float32
        assert (ours - theirs).abs().max() < 1e-5


@pytest.mark.gpu
def test_a_gpu_finds_the_same_links() -> None:
    source, target = bitext(15, rows=2000, words=300)
    here, there = train(source, target), train(source, target, device="cuda")
    same = as_set(here.applied.links) & as_set(there.applied.links)
    assert len(same) >= 0.999 * len(here.applied.links)
    assert [i.objective for i in there.iterations] == pytest.approx([i.objective for i in here.iterations], rel=1e-6)
