from __future__ import annotations

import io

from rich.console import Console

from interlingua.report.study_terminal import render_study
from interlingua.report.tables import Table

HEADS = ("where", "task", "source", "test", "regime", "metric", "paper", "of", "ours", "of ours")


def shown(*tables: Table, width: int = 80) -> str:
    out = io.StringIO()
    render_study(tables, Console(file=out, width=width))
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
    printed = shown(long, Table("x-differences", "Differences", "", ("a",), ((1,),)))
    assert "Differences" not in printed
    assert "5 more rows are in the files" in " ".join(printed.split())
