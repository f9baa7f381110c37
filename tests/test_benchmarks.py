from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.__main__ import MENU, Entry, found_by, last_object, main, table  # noqa: E402
from benchmarks.sides import Side  # noqa: E402


def test_a_ratio_above_one_says_that_we_are_ahead_whichever_way_is_good() -> None:
    assert Side("speed", "steps/s", 4.0, "peer", 2.0, "1").ratio == 2.0
    assert Side("time", "ms", 2.0, "peer", 4.0, "1", better="less").ratio == 2.0


def test_every_benchmark_of_the_menu_can_tell_its_sides() -> None:
    for entry in MENU:
        assert callable(import_module(f"benchmarks.{entry.name}").sides), entry.name


@pytest.mark.parametrize("indent", [None, 1])
def test_what_a_peer_prints_before_the_result_is_not_read(indent: int | None) -> None:
    wanted = {"a": [1, {"b": 2}], "c": "{"}
    printed = "{'train_runtime': 1.2}\nwarning {\n" + json.dumps(wanted, indent=indent) + "\n"
    assert last_object(printed) == wanted


def test_the_table_has_a_line_for_every_side() -> None:
    sides = [Side(f"speed {n}", "steps/s", 4.0, "peer", 2.0 + n, "1") for n in range(3)]
    lines = table(sides).splitlines()
    assert len(lines) == 2 + len(sides)
    assert len({len(line) for line in lines}) == 1


def test_a_benchmark_compares_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    few = ("--problems", "40", "--peer-problems", "4", "--times", "1", "--json")
    sides, why = found_by(Entry("transport", few, None), few, 600)
    assert not why
    assert {"POT's ot.emd in a loop", "scipy's linprog (HiGHS)"} <= {side.peer for side in sides}
    assert all(side.ratio == side.theirs / side.ours for side in sides)


def test_one_that_takes_too_long_or_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--only", "transport", "--limit", "0.01", "--json"])
    assert main() == 1
    assert "more than" in json.loads(capsys.readouterr().out)["failed"]["transport"]
    assert "unrecognized arguments: --never" in found_by(MENU[0], ["--never"], 600)[1]
