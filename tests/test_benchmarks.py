from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import calibration  # noqa: E402
from benchmarks.__main__ import MENU, Entry, found_by, last_object, main, table  # noqa: E402
from benchmarks.rehearsal import LANGUAGES, rehearsed, toml  # noqa: E402
from benchmarks.sides import Side  # noqa: E402


def test_a_ratio_above_one_says_that_we_are_ahead_whichever_way_is_good() -> None:
    assert Side("speed", "steps/s", 4.0, "peer", 2.0, "1").ratio == 2.0
    assert Side("time", "ms", 2.0, "peer", 4.0, "1", better="less").ratio == 2.0


def test_the_calibration_page_has_every_row_and_none_fails() -> None:
    page = (ROOT / "docs" / "calibration.md").read_text("utf-8")
    table = page.partition(calibration.BEGIN)[2].partition(calibration.END)[0].strip().splitlines()[2:]
    shown = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    assert [cells[0] for cells in shown] == [row.name for row in calibration.rows()]
    assert {cells[-1] for cells in shown} == {"holds", "cautious"}


def test_rows_simulated_again_take_their_places_in_the_calibration_page() -> None:
    every = calibration.rows()
    first, second = (calibration.Found(row.name, row.kind, row.level, 0.5, 10, "", 1.0) for row in every[:2])
    page = f"above\n{calibration.BEGIN}\n{calibration.table([second])}\n{calibration.END}\nbelow"
    made = calibration.written(page, [first]).splitlines()
    assert (made[0], made[-1], len(made)) == ("above", "below", 8)
    assert [line.split(" | ")[0] for line in made[4:6]] == [f"| {row.name}" for row in every[:2]]


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
    both = ["transport", "alignment"]
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--only", *both, "--within", "0.01", "--json"])
    assert main() == 1
    assert set(json.loads(capsys.readouterr().out)["failed"]) == set(both)
    assert "unrecognized arguments: --never" in found_by(MENU[0], ["--never"], 600)[1]


def test_a_rehearsal_keeps_what_the_paper_says_and_takes_little_of_it() -> None:
    for name, spoken in LANGUAGES.items():
        study = rehearsed(name, 16)
        written = tomllib.loads("\n".join(toml(study)))
        assert written == study, name
        assert (study["seeds"], study["languages"]) == (1, spoken)
        whole = tomllib.loads((ROOT / "studies" / f"{name}.toml").read_text("utf-8"))
        assert set(study) - {"adjust"} <= {*whole, *whole["sizes"]["paper"], "seeds", "permutations"}
        models = {each["model"] for each in whole["sizes"]["paper"]["encoders"].values()}
        assert {each["model"] for each in study["encoders"].values()} <= models


@pytest.mark.heavy
@pytest.mark.shared
@pytest.mark.parametrize("name", list(LANGUAGES))
def test_a_study_of_paper_size_runs_to_its_page_with_small_random_models(name: str, tmp_path: Path) -> None:
    data = ROOT.parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip("needs the corpora")
    sizes = ("--rows", "16", "--layers", "8", "--width", "64")
    command = [sys.executable, "-m", "benchmarks.rehearsal", str(tmp_path), "--data", str(data), "--only", name, *sizes]
    tokenizer = data / "tokenizers" / "mbert-cased"
    done = subprocess.run([*command, "--tokenizer", str(tokenizer)], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:]
    assert (tmp_path / f"run-{name}" / "report.html").is_file()
