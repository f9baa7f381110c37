from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from interlingua.report.runs import Run
from interlingua.report.study import study_tables
from interlingua.report.study_answer import study_answer
from interlingua.report.study_terminal import render_study, summaries
from interlingua.report.tables import Table
from interlingua.report.transfer import DIFFERENCE_HEADS

ABOUT = {"kind": "study", "name": "grid", "about": "Does it help?", "paper": "", "seeds": [0, 1], "steps": {"done": 9}}
HEADS = ("where", "task", "source", "test", "regime", "metric", "paper", "of", "ours", "of ours")


def shown(*tables: Table, width: int = 80) -> str:
    out = io.StringIO()
    render_study(Run(ABOUT), tables, Console(file=out, width=width))
    return out.getvalue()


def test_a_number_of_the_paper_takes_one_line_of_a_narrow_terminal_and_comes_after_our_scores() -> None:
    cites = [f"Efimov et al. 2023 Table 2, Mixed-language NLI, Adj+cont, {code}" for code in ("es", "ru")]
    rows = tuple((cite, "nli", "en", "es", "continual", "accuracy", "0.7*", "mbert", "0.4", "small") for cite in cites)
    beside = Table("beside-the-paper", "Efimov et al. 2023 and ours", "", HEADS, rows)
    scores = Table("scores", "nli. Accuracy", "", ("regime", "es"), (("original", 0.4),))
    printed = shown(beside, scores)
    assert printed.index("nli. Accuracy") < printed.index("Efimov et al. 2023 and ours")
    for cite in cites:
        [line] = [line for line in printed.splitlines() if cite in line]
        assert "0.7*" in line
        assert "0.4" in line


def test_differences_are_left_to_the_files_and_long_tables_are_cut() -> None:
    long = Table("long", "Long", "All of it.", ("n",), tuple((number,) for number in range(45)))
    printed = shown(long, Table("x-differences", "Differences", "", DIFFERENCE_HEADS, ((1,) * len(DIFFERENCE_HEADS),)))
    assert "Differences" not in printed
    assert "5 more rows are in the files" in " ".join(printed.split())


def measured() -> Run:
    """Retrieval of two models, one of them with two seeds: 3 layers, 4 pairs, 2 variants."""
    draw = np.random.default_rng(0)
    shared = {"measure": "retrieval", "target_model": None, "null": 0.01, "low": None, "high": None, "n": 50,
              "unit": "sentence", "digests": {}, "versions": {}, "details": {"called": "space"}}  # fmt: skip
    records: list[dict[str, Any]] = [
        {**shared, "model": model, "seed": seed, "source": "en", "target": target, "layer": layer, "variant": variant,
         "value": float(draw.uniform())}
        for model, seed in (("small", 0), ("small adjusted seed 0", 0), ("small adjusted seed 1", 1))
        for layer in range(3) for target in ("es", "ru", "hi", "sw") for variant in ("p@1/cosine/raw", "p@5/cosine/raw")
    ]  # fmt: skip
    return Run(ABOUT, records)


def test_measures_take_a_row_a_model_at_the_layer_with_the_highest_mean_over_pairs_and_seeds() -> None:
    run = measured()
    [table] = summaries(run)
    assert [row[0] for row in table.rows] == ["small", "small adjusted"]
    for model, _, best, layer, null in table.rows:
        chosen = [r for r in run.records if r["variant"] == "p@1/cosine/raw" and r["model"].startswith(model)]
        chosen = [r for r in chosen if ("adjusted" in r["model"]) == ("adjusted" in model)]
        means = [np.mean([r["value"] for r in chosen if r["layer"] == at]) for at in range(3)]
        assert layer == int(np.argmax(means))
        assert best == pytest.approx(max(means))
        assert null == pytest.approx(0.01)


def test_a_study_that_was_stopped_is_said_to_be_unfinished_before_all_else() -> None:
    told = "This study is not finished: 9 of 28 steps are done, and all that is said is of those."
    steps = {"done": 9, "failed": 1, "blocked": 2, "needed": 16}
    stopped = Run({**ABOUT, "steps": steps}, measured().records)
    assert study_answer(stopped).words[0].startswith(told)
    assert not any("not finished" in words for words in study_answer(measured()).words)


def test_a_terminal_begins_with_the_pages_answer_and_names_the_files_of_what_it_leaves_out() -> None:
    run, out = measured(), io.StringIO()
    tables = study_tables(run)
    [whole] = [table for table in tables if table.name == "space-retrieval"]
    render_study(run, tables, Console(file=out, width=100))
    printed = out.getvalue()
    assert " ".join(printed.split()).startswith(" ".join(study_answer(run).words[0].split()))
    assert f"tables/space-retrieval.csv ({len(whole.rows)} rows)" in printed
    assert len(whole.rows) == 3 * 4 * 2
    assert "p@5" not in printed
    assert len(printed.splitlines()) < 25
