"""`interlingua report` as a user meets it: what is read of folders, what is refused, pages, terminal and JSON."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjustments
import interlingua
from interlingua.errors import InputError
from interlingua.measures.retrieval import METRICS
from interlingua.record import Record, RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.finding import Verdict
from interlingua.score import Score
from interlingua.stats import wilson_interval
from record_store import RecordStore

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u202e"


def record(measure: str, metric: str, value: float, **more: Any) -> dict[str, Any]:
    shared: dict[str, Any] = {
        "model": "m", "source": "en", "target": "ru", "n": 50, "null_value": 0.02, "ci_low": value - 0.05,
        "ci_high": value + 0.05, "seed": 0, "digests": {"model": "ab"}, "versions": {"numpy": "2"},
    }  # fmt: skip
    return Record(**{**shared, **more, "measure": measure, "metric": metric, "value": value}).to_dict()


def audit_folder(folder: Path, *, more: float = 0.0, pooling: str = "mean", model: str = "m") -> Path:
    records = [
        record(
            "retrieval", "p@1", 0.3 + 0.05 * layer + 0.02 * at + more, layer=layer, source=pair[back], model=model,
            target=pair[not back], options={"similarity": "cosine", "centering": centering},
        )
        for centering, back in (("centred", False), ("raw", False), ("centred", True))
        for layer in range(3)
        for at, pair in enumerate((("en", "ru"), ("en", "ar"), ("ru", "ar")))
    ]  # fmt: skip
    about = {"kind": "audit", "model": model, "corpus": "c", "languages": ["en", "ru", "ar"], "pooling": pooling,
             "digests": {"corpus": "c0"},
             "names": {"en": HOSTILE}, "skipped": ["2 rows"]}  # fmt: skip
    points = [{"x": x, "y": x * x, "language": code, "row": x, "text": f"{HOSTILE} {x}"}
              for code in ("en", "ar") for x in range(5)]  # fmt: skip
    return written(folder, about, records, {"map.json": {"method": "pca", "layer": 1, "points": points}})


def transfer_folder(folder: Path) -> Path:
    values = {"original": (0.5, 0.52), "adjusted": (0.6, 0.63)}
    records = [
        record("nli", "accuracy", value, seed=seed, target=test, regime=regime, test=test, task="nli", null_value=0.33,
               higher_is_better=True)
        for regime, seeds in values.items()
        for test in ("ru", "ar", "sw")
        for seed, value in enumerate(seeds)
    ]  # fmt: skip
    about = {"kind": "transfer", "model": "m", "task": "nli", "metric": "accuracy", "source": "en", "seeds": [0, 1],
             "tests": ["ru", "ar", "sw"], "regimes": ["original", "adjusted"], "settings": {"rate": 0.1}}  # fmt: skip
    return written(folder, about, records, {})


def explain_folder(folder: Path) -> Path:
    records = []
    chance = {"level": 0.33, "by": "always 'neutral'", "always": None, "above": True}
    for at, code in enumerate(("en", "es", "ar", "hi")):
        shared = {"task": "nli", "target": code, "unit": "token", "block": "explain"}
        about = {"random": 0.2, "above_random": [0.3, 0.29, 0.31]}
        value = 1.0 - 0.2 * at
        records.append(record("consistency", "consistency", value, aspect="label", details=about, **shared))
        records.append(record("task", "accuracy", 0.9 - 0.1 * at, details={"chance": chance}, **shared))
    example = {
        "key": 1, "score": 0.5, "null": 0.1,
        "source": {"units": ["tea", HOSTILE], "side": [0, 1], "attributions": [0.5, -1.0], "gap": 0.0},
        "target": {"units": ["شاي", "x" * 10_000], "side": [0, 1], "attributions": [0.1, 0.2], "gap": 0.0},
        "flows": [[0, 0, 0.5], [1, 1, 0.2], [0, 1, 0.05]],
    }  # fmt: skip
    about = {"kind": "explain", "task": "nli", "metric": "accuracy", "models": [["m", "en"]], "settings": {},
             "languages": ["en", "es", "ar", "hi"], "skipped": []}  # fmt: skip
    written(folder, about, records, {})
    (folder / "examples").mkdir()
    (folder / "examples" / "m.en-ar.label.jsonl").write_text(json.dumps(example) + "\n", "utf-8")
    return folder


def adjust_folder(folder: Path) -> Path:
    run = adjustments.run_of({"held-out": (0.3, 0.4)}, {"held-out": (0.3, 0.6)}, items=False)
    about = {"kind": "adjust", "names": {"en": HOSTILE}, **run.about}
    return written(folder, about, run.records.to_dicts(), {})


def geometry_folder(folder: Path, *, more: float = 0.0) -> Path:
    codes, records = ("en", "ru", "tr"), []
    for state, step in (("before", "s0"), ("after", "s1"), ("before", "another study's")):
        about = {"layer": 1, "corpus": "test", "step": step, "state": state, "unit": "entity"}
        for at, (a, b) in enumerate((("en", "ru"), ("en", "tr"), ("ru", "tr"))):
            records.append(
                record(
                    "parallel-cosine",
                    "parallel-cosine",
                    0.5 + 0.1 * at,
                    source=a,
                    target=b,
                    options={"centering": "raw"},
                    **about,
                )
            )
        records.append(
            record(
                "clusters",
                "purity",
                0.6 + more,
                options={"label": "language"},
                languages=codes,
                source=None,
                target=None,
                **about,
            )
        )
    for at, (a, b) in enumerate((a, b) for a in codes for b in codes):
        records.append(
            record("pairwise", "wrong", 0.1 + 0.05 * at, options={"of": "sentence"}, source=a, target=b, step="s2")
        )
    points = [{"language": code, "row": f"r{row}", "type": "PER", "name": HOSTILE, "text": f"{HOSTILE} {row}"}
              for code in codes for row in range(2)]  # fmt: skip
    panel = {"layer": 1, "x": list(range(6)), "y": list(range(6)), "about": {}}
    about = {"kind": "geometry", "model": "m", "languages": list(codes), "source": "en", "about": None, "settings": {},
             "names": {}, "skipped": [], "steps": ["s0", "s1", "s2"], "created": "2025-05-04"}  # fmt: skip
    written(folder, about, records, {"geometry.json": {}})
    (folder / "maps").mkdir()
    for step, state in (("s1", "after"), ("s0", "before"), ("another study's", "before")):
        made = {"set": "test", "state": state, "method": "pca", "entities": 2, "points": points, "panels": [panel]}
        (folder / "maps" / f"{step}.json").write_text(json.dumps(made), "utf-8")
    return folder


def study_folder(folder: Path) -> Path:
    """A study of two tables: records of a transfer and of a measure."""
    transfer = transfer_folder(folder)
    lines = (transfer / "records.jsonl").read_text("utf-8").splitlines()
    records = [{**json.loads(line), "task": "nli"} for line in lines]
    records += [
        record("cka", "cka", 0.2 + 0.1 * layer, options={"form": "debiased"}, layer=layer, block=HOSTILE)
        for layer in range(3)
    ]
    about = {"kind": "study", "name": HOSTILE, "about": HOSTILE, "paper": "", "seeds": [0, 1], "notes": [HOSTILE],
             "regimes": ["original", "adjusted"], "source": "en", "tasks": {"nli": "nli"},
             "steps": {"done": 2}}  # fmt: skip
    (transfer / "run.json").unlink()
    (folder / ".interlingua").mkdir()
    (folder / ".interlingua" / "run.json").write_text('{"kind": "study"}')
    (folder / "study.json").write_text(json.dumps({"study": about, "steps": ["s"]}), "utf-8")
    lines = [json.dumps({**each, "step": "s"}) + "\n" for each in records]
    (folder / "records.jsonl").write_text("".join(lines), "utf-8")
    return folder


def written(folder: Path, about: dict[str, Any], records: list[dict[str, Any]], more: dict[str, Any]) -> Path:
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"created": "2025-05-04", **about}), "utf-8")
    (folder / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    for name, content in more.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


NEWER = json.dumps({**record("a", "b", 0.1), "schema": 9}) + "\n"
MAKERS = {"audit": audit_folder, "transfer": transfer_folder, "explain": explain_folder, "adjust": adjust_folder,
          "geometry": geometry_folder, "study": study_folder}  # fmt: skip


def lines_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "records.jsonl").read_text("utf-8").splitlines()]


def change(run: Path, about: dict[str, Any] | None = None, records: list[dict[str, Any]] | None = None) -> Path:
    """Write settings or records of a run anew; a setting None is taken away."""
    if about is not None:
        settings = json.loads((run / "run.json").read_text("utf-8")) | about
        settings = {name: value for name, value in settings.items() if value is not None}
        (run / "run.json").write_text(json.dumps(settings), "utf-8")
    if records is not None:
        (run / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    return run


def command(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(__file__).resolve().parents[1] / "src")
    env = {"PYTHONPATH": source, "PATH": "/usr/bin:/bin", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment}
    line = [sys.executable, "-m", "interlingua", "report", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=env, encoding="utf-8")


@pytest.mark.parametrize("kind", MAKERS)
def test_the_kind_of_a_run_is_detected_and_its_page_is_the_one_of_its_command(kind: str, tmp_path: Path) -> None:
    made = interlingua.report_on(MAKERS[kind](tmp_path / "run"), out=tmp_path / "page.html")
    assert made.command == kind
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page == report_files(made.runs[0])["report.html"]
    assert "<script>alert" not in page
    assert any(section.charts or section.tables for section in made.sections)
    assert made.to_dict()["answer"]["sentence"]


@pytest.mark.parametrize("kind", MAKERS)
def test_two_runs_of_a_kind_are_compared_and_keep_their_own_records(kind: str, tmp_path: Path) -> None:
    made = interlingua.report_on(MAKERS[kind](tmp_path / "one"), MAKERS[kind](tmp_path / "two"))
    assert made.command == "report"
    numbers = next(table for table in made.tables() if table.name == "numbers")
    first, second = (column.title for column in numbers.columns[1:3])
    assert first != second
    assert "one" in first
    names = [table.name for table in made.tables()]
    assert len(set(names)) == len(names)
    assert made.headline.answer.verdict not in (Verdict.HIGHER, Verdict.LOWER)


def test_runs_of_every_kind_stand_on_one_page(tmp_path: Path) -> None:
    made = interlingua.report_on(*(make(tmp_path / kind) for kind, make in MAKERS.items()))
    assert made.headline.answer.kind == "runs_of_different_kinds"
    assert {run.kind for run in made.runs} == set(MAKERS)
    assert "<script>alert" not in made.html


def test_two_audits_are_compared_by_their_means_and_settings_come_last(tmp_path: Path) -> None:
    one, two = audit_folder(tmp_path / "one"), audit_folder(tmp_path / "two", more=0.2, pooling="cls")
    made = interlingua.report_on(one, two)
    answer = made.headline.answer
    assert answer.verdict is Verdict.HIGHER
    assert answer.estimate is not None
    assert answer.estimate.value == pytest.approx(0.2)
    own = [section for section in made.sections if not section.folded]
    assert [table.rows for table in own[-1].tables] == [(("pooling", "mean", "cls"),)]


def test_a_geometry_run_is_read_without_what_another_left_in_its_folder(tmp_path: Path) -> None:
    (run,) = interlingua.report_on(geometry_folder(tmp_path / "run")).runs
    assert {each.step for each in run.records} == {"s0", "s1", "s2"}
    assert [each["state"] for each in run.attachments["geometries"][0]["maps"]] == ["before", "after"]


@pytest.mark.parametrize("kind", ["audit", "transfer", "explain", "adjust"])
def test_a_run_is_read_without_records_of_other_settings_which_are_counted(kind: str, tmp_path: Path) -> None:
    folder = MAKERS[kind](tmp_path / "run")
    lines = [{**line, "step": "s0"} for line in lines_of(folder)]
    others = [{**line, "value": 0.01, "step": "s1"} for line in lines]
    (run,) = interlingua.report_on(change(folder, {"steps": ["s0"]}, [*others, *lines])).runs
    assert run.records == RecordTable(map(Record.from_dict, lines))
    assert run.about["skipped"][-1] == f"{len(lines)} records of other settings in the same folder"


def test_a_geometry_run_that_was_stopped_is_shown_as_far_as_it_came(tmp_path: Path) -> None:
    folder = change(geometry_folder(tmp_path / "run"), {"created": None})
    (folder / "geometry.json").write_text('{"scatter": "of another study"}', "utf-8")
    assert interlingua.report_on(folder).runs[0].attachments["geometries"][0]["found"] == {}
    (folder / "records.jsonl").unlink()
    done = command(folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text("utf-8")
    assert "Nothing has been measured yet" in page
    assert "no records yet" in page


def test_a_run_that_was_killed_is_said_to_be_unfinished_with_what_finishes_it(tmp_path: Path) -> None:
    folder = audit_folder(tmp_path / "run")
    assert "not finished" not in interlingua.report_on(folder).html
    lines = [{**each, "step": f"s{number // 9}"} for number, each in enumerate(lines_of(folder))]
    change(folder, {"created": None, "steps": [f"s{step}" for step in range(7)]}, lines)
    done = command(folder, COLUMNS="400")
    assert interlingua.report_on(folder).headline.answer.verdict is Verdict.UNFINISHED
    for text in (done.stdout, done.stderr):
        assert "This run is not finished: 3 of 7 steps are done, and only those are reported." in text
    for text in (done.stdout, done.stderr, (folder / "report.html").read_text("utf-8")):
        assert f"interlingua audit … --out {folder}" in text
    assert "not finished" in command(folder, "--json").stderr


def retrieved_folder(folder: Path, hits: Any, *, corpus: str = "c0", layer: int = 1) -> Path:
    """An audit of one pair of languages, with its per-item values."""
    low, high = wilson_interval(hits.sum(), len(hits))
    shared = Record(measure="retrieval", model="m", source="en", target="ru", layer=layer, seed=0,
                    digests={"corpus": corpus})  # fmt: skip
    score = Score(float(hits.mean()), len(hits), null=1 / len(hits), low=low, high=high)
    made = shared.scored(METRICS, "p@1/cosine/raw", score)
    RecordStore(folder).append("s0", [(made, hits)])
    about = {"kind": "audit", "model": "m", "corpus": "c", "languages": ["en", "ru"], "created": "2025-05-04"}
    (folder / "run.json").write_text(json.dumps({**about, "rows": len(hits)}), "utf-8")
    return folder


def test_items_of_both_folders_are_read_and_without_them_only_intervals_decide(tmp_path: Path) -> None:
    before = np.zeros(600)
    before[:240] = 1
    after = before.copy()
    after[:6], after[240:270] = 0, 1
    one, two = retrieved_folder(tmp_path / "one", before), retrieved_folder(tmp_path / "two", after, layer=2)
    answer = interlingua.report_on(one, two).headline.answer
    assert (answer.verdict, answer.basis.test) == (Verdict.HIGHER, "paired difference")
    (two / "items" / "s0.npz").unlink()
    answer = interlingua.report_on(one, two).headline.answer
    assert (answer.verdict, answer.basis.test) == (Verdict.UNCLEAR, "intervals that do not overlap")


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda run: (run / "run.json").unlink(), "no run"),
        (lambda run: (run / "run.json").write_text("{"), "not JSON"),
        (lambda run: (run / "run.json").write_text("[]"), "JSON object"),
        (lambda run: (run / "run.json").write_text('{"kind": "cake"}'), "cake"),
        (lambda run: (run / "records.jsonl").open("a").write("{broken\n"), "records.jsonl:28"),
        (lambda run: (run / "records.jsonl").open("a").write('{"measure": "x"}\n'), "records.jsonl:28"),
        (lambda run: (run / "records.jsonl").open("a").write(NEWER), "newer"),
        (lambda run: (run / "map.json").write_text("nothing"), "map.json"),
    ],
)  # fmt: skip
def test_a_broken_run_is_reported_with_its_place(break_it: Any, said: str, tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    break_it(run)
    with pytest.raises(InputError, match=said):
        interlingua.report_on(run, out=tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_records_that_a_study_s_report_was_not_made_from_are_counted_and_not_shown(tmp_path: Path) -> None:
    run = study_folder(tmp_path / "run")
    before = len(interlingua.report_on(run).runs[0].records)
    with (run / "records.jsonl").open("a") as file:
        file.write(json.dumps(record("cka", "cka", 0.9, options={"form": "debiased"}, step="older")) + "\n")
    made = interlingua.report_on(run)
    assert len(made.runs[0].records) == before
    assert "1 record that the study’s last report was not made from" in made.html


def test_a_study_that_was_not_reported_yet_is_refused_with_the_command(tmp_path: Path) -> None:
    run = study_folder(tmp_path / "run")
    (run / "study.json").unlink()
    done = command(run)
    assert done.returncode == 2
    assert "interlingua study report" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_and_a_folder_as_page_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        interlingua.report_on(tmp_path / "nowhere")
    with pytest.raises(InputError, match="folder"):
        interlingua.report_on(audit_folder(tmp_path / "run"), out=tmp_path)
    assert command(tmp_path / "nowhere").returncode == 2


def test_a_record_cut_short_by_a_kill_is_left_out_and_noted(tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    with (run / "records.jsonl").open("a") as file:
        file.write('{"measure": "retr')
    made = interlingua.report_on(run)
    assert "cut short" in made.html
    assert len(made.runs[0].records) == 27


def whole_run(folder: Path, *, packed: bool = False) -> Path:
    """A finished run of two steps, of 2 and 3 records."""
    run = audit_folder(folder)
    lines = lines_of(run)[:5]
    for number, line in enumerate(lines):
        line |= {"step": "one" if number < 2 else "two", "part": [number + 1, 2] if number < 2 else [number - 1, 3]}
    change(run, {"steps": ["one", "two"]}, lines)
    if packed:
        plain = run / "records.jsonl"
        (run / "records").mkdir()
        (run / "records" / "00000.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        plain.unlink()
    return run


@pytest.mark.reliability("damaged files of a run")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("cut", [0, 5, 500, 0.3, 0.5, 0.9, -12])
def test_a_finished_run_whose_records_are_cut_is_refused_and_whole_is_read(
    tmp_path: Path, cut: float, packed: bool
) -> None:
    run = whole_run(tmp_path / "run", packed=packed)
    assert len(interlingua.report_on(run).runs[0].records) == 5
    (file,) = (path for path in run.rglob("*.jsonl*") if path.is_file())
    data = file.read_bytes()
    file.write_bytes(data[: int(cut * len(data)) if isinstance(cut, float) else min(cut, len(data) // 2)])
    said = (
        "not the records of a step|the run was finished, and "
        if packed
        else r"records\.jsonl: the run was finished, and "
    )
    with pytest.raises(InputError, match=said):
        interlingua.report_on(run)


@pytest.mark.reliability("damaged files of a run")
def test_records_that_are_no_file_or_have_no_end_are_refused(tmp_path: Path) -> None:
    run = whole_run(tmp_path / "run")
    with (run / "records.jsonl").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="a line of no record"):
        interlingua.report_on(run)
    for place in (None, "/dev/zero"):
        (run / "records.jsonl").unlink()
        if place is None:
            os.mkfifo(run / "records.jsonl")
        else:
            (run / "records.jsonl").symlink_to(place)
        with pytest.raises(InputError, match="not a regular file"):
            interlingua.report_on(run)


def test_the_command_prints_a_report_in_80_columns_and_writes_the_page(tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    done = command(run)
    assert done.returncode == 0, done.stderr
    assert (run / "report.html").is_file()
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80
    assert interlingua.report_on(run).headline.answer.sentence.split(".")[0][:40] in " ".join(done.stdout.split())


def test_a_terminal_shows_the_comparison_alone_and_with_full_every_run(tmp_path: Path) -> None:
    folders = audit_folder(tmp_path / "one"), audit_folder(tmp_path / "two", more=0.2)
    page = ("--out", tmp_path / "page.html", "--title", "Which one?")
    short, full = command(*folders, *page), command(*folders, *page, "--full")
    assert short.returncode == full.returncode == 0, short.stderr + full.stderr
    assert short.stdout.startswith("Which one?")
    assert "Key numbers" in short.stdout
    assert len(short.stdout) < len(full.stdout) / 2
    assert max(map(len, short.stdout.splitlines()[:-1])) <= 80


def test_a_terminal_says_first_that_runs_did_not_read_the_same_sentences(tmp_path: Path) -> None:
    hits = np.ones(40)
    folders = retrieved_folder(tmp_path / "one", hits), retrieved_folder(tmp_path / "two", hits[:30], corpus="other")
    made = interlingua.report_on(*folders)
    assert made.headline.answer.verdict is Verdict.NOT_COMPARABLE
    done = command(*folders, "--out", tmp_path / "page.html")
    text = " ".join(done.stdout.split())
    assert text.index("Not comparable: m (rows 40) was measured on 40 sentences, m (rows 30) on 30") < text.index(
        "Key numbers"
    )
    answer = json.loads(command(*folders, "--out", tmp_path / "page.html", "--json").stdout)["report"]["answer"]
    assert answer["verdict"] == "not comparable"


def test_a_terminal_without_utf8_gets_ascii_and_no_color_no_escapes(tmp_path: Path) -> None:
    done = command(audit_folder(tmp_path / "run"), PYTHONIOENCODING="ascii", NO_COLOR="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout


def test_json_names_the_page_the_runs_and_every_finding(tmp_path: Path) -> None:
    one, two = audit_folder(tmp_path / "one"), audit_folder(tmp_path / "two", more=0.2)
    data = json.loads(command(one, two, "--out", tmp_path / "p.html", "--json").stdout)
    assert data["page"] == str(tmp_path / "p.html")
    assert [run["name"] for run in data["runs"]] == ["one", "two"]
    assert data["report"]["answer"]["verdict"] == "higher"
    assert data["report"]["tables"]["numbers"]["rows"]
    assert {"run_changes", "settings_differ"} <= {finding["kind"] for finding in data["report"]["findings"]}
