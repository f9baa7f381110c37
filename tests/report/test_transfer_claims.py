"""What a transfer's and a study's words and marks claim, over random records: no more than their table and seeds."""

import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.analyses.seed_statistics import summarise
from interlingua.record import Record
from interlingua.report.comparison import compared, gap, numbers_table
from interlingua.report.kinds import transfer_numbers
from interlingua.report.readings import Reading
from interlingua.report.runs import Run
from interlingua.report.study_answer import lead, study_answer
from interlingua.report.study_parts import task_runs
from interlingua.report.transfer import difference_table, headline, learnt, score_table, seed_table
from interlingua.report.transfer_answer import told, uncertainty
from interlingua.report.transfer_page import transfer_answer
from record_store import RecordStore

REGIMES, TESTS = ("original", "adjusted", "continual"), ("es", "ru", "hi")
NAMES = {"es": "Spanish", "ru": "Russian", "hi": "Hindi"}
CHANCE = 1 / 3


def random_scores(seed: int, kind: str, seeds: int, apart: float, level: float) -> list[dict[str, object]]:
    """The scores of random records, with some seeds missing on one side; where `level` is chance some have learnt none.

    The difference that pooled counts have is far from that of the means: seeds predict very different amounts.
    """
    draw, n = np.random.default_rng(seed), 40
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(Path(folder))
        for test in TESTS:
            for place, regime in enumerate(REGIMES):
                for number in range(seeds + (seeds > 1 and draw.random() < 0.2)):
                    share = float(np.clip(level + apart * place + 0.05 * draw.normal(), 0.02, 0.98))
                    if kind == "accuracy":
                        items = (draw.random(n) < share).astype(np.uint8)
                        value = float(items.mean())
                    else:
                        gold, more = draw.integers(1, 4, n), draw.integers(0, 1 + 5 * (number % 2), n)
                        right = draw.binomial(gold, share)
                        items = np.stack([right, right + more, gold])
                        value = float(2 * right.sum() / (right + more + gold).sum())
                    half = 1.96 * (share * (1 - share) / n) ** 0.5
                    made = Record(measure="task", metric=kind, model="m", source="en", value=value, n=n, target=test,
                                  null_value=CHANCE, ci_low=value - half, ci_high=value + half, seed=number, test=test,
                                  regime=regime)  # fmt: skip
                    store.append(f"{test}{regime}{number}", [(made, items)])
        return summarise(list(store.read()), store, regimes=REGIMES, tests=TESTS, permutations=9)


def run_of(scores: list[dict[str, object]], seeds: int) -> Run:
    about = {"tests": TESTS, "regimes": REGIMES, "seeds": [*range(seeds)], "source": "en", "model": "m", "task": "t"}
    return Run(about, more={"scores": scores})


def shown_means(scores: list[dict[str, object]], run: Run, metric: str) -> dict[tuple[str, str], float]:
    """What the table prints, by regime and test."""
    table = score_table(scores, run.about, metric)
    cells = {(str(row[0]), test): str(text) for row in table.rows for test, text in zip(TESTS, row[1:], strict=True)}
    return {key: float(re.match(r"[\d.]+", text)[0]) for key, text in cells.items()}


def gains(text: str) -> dict[str, float]:
    """The points that a text names, by language; what is said of fewer seeds is of other means."""
    text = text.split(" Over the seeds in which both learnt", maxsplit=1)[0]
    return {name: float(more.replace("−", "-")) for name, more in re.findall(r"(\w+) \(([+−][\d.]+)\)", text)}


worlds = {
    "seed": st.integers(0, 10**6),
    "kind": st.sampled_from(["accuracy", "f1/token"]),
    "seeds": st.integers(1, 4),
    "apart": st.sampled_from([-0.12, 0.0, 0.02, 0.12]),
    "level": st.sampled_from([CHANCE, 0.45, 0.6]),
}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(**worlds)
@pytest.mark.reliability("a difference in words is that of its table")
def test_words_say_the_difference_of_the_table_and_its_sign(seed, kind, seeds, apart, level):
    scores = random_scores(seed, kind, seeds, apart, level)
    run = run_of(scores, seeds)
    means = shown_means(scores, run, kind)
    facts = dict(told(run)[1])
    for regime in REGIMES[1:]:
        found = gains(facts[regime])
        assert set(found) == set(NAMES.values())
        for test, name in NAMES.items():
            assert found[name] == pytest.approx(means[regime, test] - means["original", test], abs=1e-9)
        sentences = re.findall(r"(Helped|Hurt): ([^.]*(?:\.\d[^.]*)*)\.", facts[regime])
        for verb, text in sentences:
            assert all((points > 0) == (verb == "Helped") for points in gains(text).values())
    for test, regime, base, _, difference, *_ in difference_table(scores, run.about, kind).rows[: 3 * len(TESTS)]:
        if "Over the seeds" not in str(facts):  # Those rows are of other means.
            shown = float(str(difference).replace("−", "-"))
            assert shown == pytest.approx(means[regime, test] - means[base, test], abs=1e-9)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(**worlds)
@pytest.mark.reliability("no mark without a test that counts seeds")
def test_no_mark_and_no_verdict_without_a_test_over_seeds(seed, kind, seeds, apart, level):
    scores = random_scores(seed, kind, seeds, apart, level)
    run = run_of(scores, seeds)
    table = score_table(scores, run.about, kind)
    marked = {
        (str(row[0]), test) for row in table.rows for test, text in zip(TESTS, row[1:], strict=True) if "*" in str(text)
    }
    tested = {
        (entry["regime"], entry["test"])
        for entry in scores
        for base, p in entry["p_holm"].items()
        if p < 0.05 and min(len(entry["against"][base][side]) for side in ("seeds", "base_seeds")) > 1
    }
    assert marked <= tested
    facts = dict(told(run)[1])
    for regime in REGIMES[1:]:
        for text in re.findall(r"(?:Helped|Hurt): ([^.]*(?:\.\d[^.]*)*)\.", facts[regime]):
            named = {test for test, name in NAMES.items() if name in text}
            assert {(regime, test) for test in named} <= tested
    if seeds == 1:
        whole = " ".join([*transfer_answer(run).words, *(str(each) for _, each in transfer_answer(run).facts)])
        assert not marked
        assert not re.search(r"Helped:|Hurt:|Holm", whole)
        entries = [{"encoder": "m", "task": "t", "source": "en", **entry} for entry in scores]
        study = Run({**run.about, "name": "s"}, more={"scores": entries})
        assert "came out higher" not in lead(task_runs(study), {}, [])
        assert not any("helped" in label for _, label, *_ in study_answer(study).tiles)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**worlds)
def test_what_has_not_learnt_is_said_first_with_its_chance_level(seed, kind, seeds, apart, level):
    scores = random_scores(seed, kind, seeds, apart, level)
    run = run_of(scores, seeds)
    low = [entry for entry in scores if entry["above"] == 0 and max(entry["values"]) <= CHANCE + 0.05]
    first = transfer_answer(run).words[0]
    if low:
        assert first.startswith("Not above chance")
        assert "(chance level 33.3" in first.split(" Trained in ")[0] or "chance level 33.3" in first
    entries = [{"encoder": "m", "task": "t", "source": "en", **entry} for entry in scores]
    study = study_answer(Run({**run.about, "name": "s"}, more={"scores": entries}))
    assert study.words[0].startswith("Not above chance") or not low


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**{**worlds, "apart": st.sampled_from([0.0, -0.1]), "level": st.sampled_from([CHANCE, 0.25])})
def test_corrections_and_powers_are_explained_only_where_a_comparison_is_of_models_that_learnt(
    seed, kind, seeds, apart, level
):
    scores = random_scores(seed, kind, seeds, apart, level)
    run = run_of(scores, seeds)
    entries = [{"encoder": "m", "task": "t", "source": "en", **entry} for entry in scores]
    study = study_answer(Run({**run.about, "name": "s"}, more={"scores": entries}))
    said = [str(score_table(scores, run.about, kind).caption), dict(told(run)[1] + [("", uncertainty(run))])[""]]
    said.append(dict(study.facts)["How sure"])
    for text in said:
        if any(learnt(entry) for entry in scores):
            continue
        assert not re.search(r"Holm|[Dd]etectable|seeds per regime|to detect", str(text)), text
        assert "neither side is above chance" in str(text) or "One seed: differences are not tested, and none" in text


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**worlds)
@pytest.mark.reliability("no mark without a test that counts seeds")
def test_runs_side_by_side_have_no_mark_of_one_seed_nor_of_two_models_at_chance(seed, kind, seeds, apart, level):
    runs = []
    for place in range(2):
        scores = random_scores(seed + place, kind, seeds, apart, level - 0.2 * place)
        runs.append(replace(run_of(scores, seeds), key=str(place), name=f"run {place}"))
    by_name = [transfer_numbers(run) for run in runs]
    section = compared(runs, by_name, kind="transfer")
    for name, first, other, apart_said in section.tables[-1].rows:
        sides = [numbers[name].details for numbers in by_name]
        if any(side["seeds"] == 1 for side in sides) or all(side["at_chance"] for side in sides):
            assert not str(apart_said).endswith("*"), (name, first, other)
            assert f"{name} (" not in section.words[0]


def test_a_run_at_chance_is_said_to_be_so_first_beside_one_that_learnt_and_beside_one_of_another_test():
    both = [replace(run_of(random_scores(place, "accuracy", 3, 0.0, level), 3), key=str(place), name=f"run {place}")
            for place, level in enumerate((0.2, 0.9))]  # fmt: skip
    for runs in (both, both[::-1]):
        first, *_ = compared(runs, [transfer_numbers(run) for run in runs], kind="transfer").words
        assert first.startswith("run 0: 9 of 9 numbers are no better than chance (chance level 0.333).")


@pytest.mark.parametrize("silent", [{"seeds": 1, "at_chance": False}, {"seeds": 3, "at_chance": True}])
def test_a_difference_of_one_seed_or_at_chance_has_no_star_however_far_apart(silent):
    both = Reading(0.2, 0.3, 0.19, 0.21, 500, {"seeds": 3, "at_chance": False})
    far = replace(both, value=0.6, low=0.59, high=0.61)
    runs = [Run({}), Run({})]
    quiet = [replace(each, details=silent) for each in (both, far)]
    for one, other, shown in ((both, far, "+0.400*"), (*quiet, "+0.400")):
        table = numbers_table(runs, [{"score": one}, {"score": other}], [{"score": gap(one, other)}])
        assert table.rows[0][3] == shown


@settings(max_examples=30, deadline=None, derandomize=True)
@given(**worlds)
def test_the_tables_have_every_seed_whose_mean_is_the_score(seed, kind, seeds, apart, level):
    scores = random_scores(seed, kind, seeds, apart, level)
    run = run_of(scores, seeds)
    assert [*headline(scores)] == [kind]
    for row, entry in zip(seed_table(scores, run.about, kind).rows, scores, strict=True):
        values = [float(str(value)) for value in row[4:] if value is not None]
        assert len(values) == len(entry["seeds"])
        assert np.mean(values) == pytest.approx(100 * entry["mean"], abs=0.01)
