from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel

import interlingua
from adjustments import records_of
from interlingua.errors import InputError
from interlingua.measures.retrieval import METRICS
from interlingua.record import Record, RecordTable
from interlingua.report.audit_files import report_files
from interlingua.report.record_adapter import to_v1
from interlingua.report.screen import BARS, console, print_table, sparkline
from interlingua.report.tables import Table, Told
from interlingua.score import Score
from interlingua.stats import wilson_interval
from pages import page_data
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
        record("nli", "accuracy", value, seed=seed, target=test, regime=regime, test=test)
        for regime, seeds in values.items()
        for test in ("ru", "ar", "sw")
        for seed, value in enumerate(seeds)
    ]
    hills = {"edges": [0.0, 0.5, 1.0], "related": [3, 1], "unrelated": [1, 3]}
    records += [
        record("distances", "auc", 0.8, options={"distance": "l2"}, state=state, details=hills)
        for state in ("original", "adjusted")
    ]
    scores = [
        {"test": test, "metric": "accuracy", "regime": regime, "seeds": [0, 1], "values": list(seeds), "null": 0.33,
         "mean": sum(seeds) / 2, "deviation": 0.014, "n": 50, "layer": None,
         "p": {} if regime == "original" else {"original": 0.01}}
        for regime, seeds in values.items() for test in ("ru", "ar", "sw")
    ]  # fmt: skip
    about = {"kind": "transfer", "model": "m", "task": "nli", "metric": "accuracy", "source": "en", "seeds": [0, 1],
             "tests": ["ru", "ar", "sw"], "regimes": ["original", "adjusted"], "settings": {"rate": 0.1}}  # fmt: skip
    return written(folder, about, records, {"transfer.json": {"scores": scores, "distances": []}})


def explain_folder(folder: Path) -> Path:
    records = []
    for at, code in enumerate(("en", "es", "ar", "hi")):
        records.append(
            record("consistency", "consistency", 1.0 - 0.2 * at, aspect="label", target=code, details={"random": 0.2})
        )
        records.append(record("task", "accuracy", 0.9 - 0.1 * at, target=code, details={"random": 0.2}))
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
    score = {"value": 0.4, "n": 50, "null": 0.02, "low": 0.3, "high": 0.5}
    hills = {"details": {"edges": [0.0, 1.0, 2.0], "related": [3, 1], "unrelated": [1, 3]}}
    ways = ("raw", "raw/backward", "centred", "centred/backward")

    def state(more: float) -> dict[str, Any]:
        retrieval = {f"p@1/cosine/{way}": {**score, "value": 0.4 + more} for way in ways}
        distances = {"auc/l2": {**score, **hills}, "distance/related/l2": score, "distance/unrelated/l2": score}
        return {"ru": {"retrieval": {"0": retrieval, "1": retrieval}, "distances": distances}}

    about = {"staying": "en", "rows": 10, "pairs": 20, "held_out": 5, "notes": [], "left_out": {}, "links_dropped": {}}
    summary = {"model": "m", "digest": "d", "layer": 1, "steps": 3, "of_steps": 3, "finished": True, "metrics": [],
               "settings": {"rate": 0.1, "seed": 0}, "languages": {"ru": about}, "before": state(0.0),
               "after": state(0.2)}  # fmt: skip
    folder.mkdir()
    (folder / "adjustment.json").write_text(json.dumps(summary), "utf-8")
    lines = "".join(f"{record.to_json()}\n" for record in records_of(summary))
    (folder / "records.jsonl").write_text(lines, "utf-8")
    return folder


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
    transfer = transfer_folder(folder)
    scores = json.loads((transfer / "transfer.json").read_text("utf-8"))["scores"]
    lines = (transfer / "records.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    records = [{**each, "task": "nli"} for each in records]
    records += [
        record("cka", "cka", 0.2 + 0.1 * layer, options={"form": "debiased"}, layer=layer, block=HOSTILE)
        for layer in range(3)
    ]
    records = [{**each, "step": "s"} for each in records]
    about = {"kind": "study", "name": HOSTILE, "about": HOSTILE, "paper": "", "seeds": [0, 1], "notes": [HOSTILE],
             "regimes": ["original", "adjusted"], "steps": {"done": 2}}  # fmt: skip
    found = {"study": about, "scores": [{"encoder": "m", "task": "nli", "source": "en", **each} for each in scores],
             "distances": [], "beside": [], "steps": ["s"]}  # fmt: skip
    for name in ("run.json", "transfer.json"):
        (transfer / name).unlink()
    (folder / ".interlingua").mkdir()
    (folder / ".interlingua" / "run.json").write_text('{"kind": "study"}')
    (folder / "study.json").write_text(json.dumps(found), "utf-8")
    (folder / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    return folder


def as_read(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records of a file as pages read them."""
    return to_v1(map(Record.from_dict, lines))


def recorded(folder: Path) -> RecordTable:
    lines = (folder / "records.jsonl").read_text("utf-8").splitlines()
    return RecordTable(Record.from_dict(json.loads(line)) for line in lines)


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


def command(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(__file__).resolve().parents[1] / "src")
    env = {"PYTHONPATH": source, "PATH": "/usr/bin:/bin", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8", **environment}
    line = [sys.executable, "-m", "interlingua", "report", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=env, encoding="utf-8")


@pytest.mark.parametrize("kind", MAKERS)
def test_the_kind_of_a_run_is_found_out_and_its_page_made(kind: str, tmp_path: Path) -> None:
    made = interlingua.report_on(MAKERS[kind](tmp_path / "run"), out=tmp_path / "page.html")
    assert list(made.runs) == [kind]
    assert (tmp_path / "page.html").read_text("utf-8") == made.html
    data = page_data(made.html)
    assert data["figures"]
    assert data["records"]["rows"]
    assert made.tables() == []
    assert "<script>alert" not in made.html


def test_one_run_has_the_page_that_its_command_writes(tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    records = [json.loads(line) for line in (run / "records.jsonl").read_text("utf-8").splitlines()]
    about, points = (json.loads((run / name).read_text("utf-8")) for name in ("run.json", "map.json"))
    assert interlingua.report_on(run).html == report_files(as_read(records), about, points)["report.html"]


def test_runs_of_every_kind_stand_on_one_page_and_name_their_own_records(tmp_path: Path) -> None:
    folders = [make(tmp_path / kind) for kind, make in MAKERS.items()]
    made = interlingua.report_on(*folders)
    data = page_data(made.html)
    rows = [dict(zip(data["records"]["keys"], row, strict=True)) for row in data["records"]["rows"]]
    seeds = next(figure for figure in data["figures"] if figure["name"].startswith("seeds"))
    for trace in seeds["traces"][1::2]:
        for value, place in zip(trace["x"], trace["records"], strict=True):
            assert rows[place]["measure"] == "nli"
            assert rows[place]["value"] == pytest.approx(value, abs=1e-4)
    assert not any(figure["name"] == "alignment-transfer" for figure in data["figures"])  # Two languages in common.


def test_alignment_and_transfer_meet_by_language(tmp_path: Path) -> None:
    audit = audit_folder(tmp_path / "audit")
    lines = (audit / "records.jsonl").read_text("utf-8")
    swahili = [json.loads(line) for line in lines.splitlines() if json.loads(line)["target"] == "ru"]
    more = "".join(json.dumps({**each, "target": "sw"}) + "\n" for each in swahili if each["source"] == "en")
    (audit / "records.jsonl").write_text(lines + more, "utf-8")
    data = page_data(interlingua.report_on(audit, transfer_folder(tmp_path / "nli")).html)
    figure = next(figure for figure in data["figures"] if figure["name"] == "alignment-transfer")
    dots = next(trace for trace in figure["traces"] if trace["mode"] == "markers+text")
    assert sorted(text.strip("\u2068\u2069") for text in dots["text"]) == ["ar", "ru", "sw"]
    assert set(dots["y"]) == {0.51}


def test_two_audits_are_compared_and_the_difference_is_that_of_their_means(tmp_path: Path) -> None:
    one, two = audit_folder(tmp_path / "one"), audit_folder(tmp_path / "two", more=0.2, pooling="cls")
    settings, numbers = interlingua.report_on(one, two).tables()
    assert settings.rows == (("pooling", "mean", "cls"),)
    row = next(row for row in numbers.rows if row[0] == "retrieval, as is")
    assert row[2] - row[1] == pytest.approx(0.2)  # type: ignore[operator]
    assert row[3] == "+0.200*"
    assert next(row for row in numbers.rows if row[0] == "best layer")[1:3] == (2, "2 (tied with 1)")


def test_the_same_run_twice_has_no_difference(tmp_path: Path) -> None:
    one = audit_folder(tmp_path / "one")
    tables = interlingua.report_on(one, one).tables()
    assert [table.name for table in tables] == ["numbers"]
    assert {row[3] for row in tables[0].rows} == {"–", "+0.000"}


def test_a_geometry_study_is_shown_without_what_another_left_in_its_folder(tmp_path: Path) -> None:
    run = interlingua.report_on(geometry_folder(tmp_path / "run")).runs["geometry"][0]
    assert {each["step"] for each in run.records} == {"s0", "s1", "s2"}
    assert [each["state"] for each in run.more["maps"]] == ["before", "after"]


@pytest.mark.parametrize("kind", ["audit", "transfer", "explain"])
def test_a_run_is_shown_without_records_of_other_settings_which_are_counted(kind: str, tmp_path: Path) -> None:
    folder = MAKERS[kind](tmp_path / "run")
    about, own = json.loads((folder / "run.json").read_text("utf-8")), (folder / "records.jsonl").read_text("utf-8")
    lines = [{**json.loads(line), "step": "s0"} for line in own.splitlines()]
    others = [{**line, "value": 0.01, "step": "s1"} for line in lines]
    (folder / "run.json").write_text(json.dumps({**about, "steps": ["s0"]}), "utf-8")
    (folder / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in [*others, *lines]), "utf-8")
    run = interlingua.report_on(folder).runs[kind][0]
    assert run.records == as_read(lines)
    assert run.about["skipped"][-1] == f"{len(lines)} records of other settings in the same folder"


def test_a_geometry_study_cut_short_is_shown_as_far_as_it_came(tmp_path: Path) -> None:
    folder = geometry_folder(tmp_path / "run")
    about = json.loads((folder / "run.json").read_text("utf-8"))
    del about["created"]
    (folder / "run.json").write_text(json.dumps(about), "utf-8")
    (folder / "geometry.json").write_text('{"scatter": "of another study"}', "utf-8")
    assert interlingua.report_on(folder).runs["geometry"][0].more["found"] == {}
    (folder / "records.jsonl").unlink()
    done = command(folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text("utf-8")
    assert "Nothing has been measured yet" in page
    assert "no records yet" in page


def test_a_run_that_was_killed_is_said_to_be_unfinished_with_what_finishes_it(tmp_path: Path) -> None:
    folder = audit_folder(tmp_path / "run")
    assert "not finished" not in interlingua.report_on(folder).html
    about = json.loads((folder / "run.json").read_text("utf-8"))
    own = [json.loads(line) for line in (folder / "records.jsonl").read_text("utf-8").splitlines()]
    lines = [json.dumps({**each, "step": f"s{number // 9}"}) + "\n" for number, each in enumerate(own)]
    (folder / "records.jsonl").write_text("".join(lines), "utf-8")
    del about["created"]
    (folder / "run.json").write_text(json.dumps({**about, "steps": [f"s{step}" for step in range(7)]}), "utf-8")
    done = command(folder, COLUMNS="400")
    told = "This run is not finished: 3 of 7 steps are done, and all that is said is of those. The command that "
    again = f"interlingua audit … --out {folder}, goes on from there."
    for text in (done.stdout, done.stderr, (folder / "report.html").read_text("utf-8")):
        assert told in text
        assert again in text
    assert "not finished" in command(folder, "--json").stderr


def test_two_geometry_studies_are_compared_by_means(tmp_path: Path) -> None:
    one, two = (moved(geometry_folder(tmp_path / str(more), more=more), corpus="c") for more in (0.0, 0.2))
    rows = {row[0]: row for row in interlingua.report_on(one, two).tables()[-1].rows}
    assert rows["purity by language, after"][3] == "+0.200"  # Far apart, but each is of one fine-tuning.
    assert rows["purity by language, before"][3] == "+0.200*"
    assert rows["cosine of translations, before"][1] == pytest.approx((0.5 + 0.6 + 0.7) / 3)
    assert rows["wrong sentences, trained on en, in others"][1] == pytest.approx((0.15 + 0.2) / 2)


@pytest.mark.parametrize("kind", MAKERS)
def test_two_runs_of_a_kind_are_told_apart_and_name_their_own_records(kind: str, tmp_path: Path) -> None:
    one, two = MAKERS[kind](tmp_path / "one"), MAKERS[kind](tmp_path / "two")
    made = interlingua.report_on(one, two)
    numbers = made.tables()[-1]
    assert numbers.columns == ("", "one", "two", "two − one")
    first, second = made.runs[kind]
    assert second.first == first.first + len(first.records)
    for row in numbers.records:
        for run, behind in zip((first, second), row[1:3], strict=True):
            places = (behind,) if isinstance(behind, int) else behind or ()
            assert all(run.first <= place < run.first + len(run.records) for place in places)
    assert any(row[1] is not None for row in numbers.records)
    names = [figure["name"] for figure in page_data(made.html)["figures"]]
    assert len(set(names)) == len(names)


def moved(folder: Path, more: float = 0.0, **digests: str) -> Path:
    """A run's records, further up and of other digests; a run that keeps numbers elsewhere as well has those moved."""
    path = folder / "records.jsonl"
    for line in (lines := [json.loads(each) for each in path.read_text("utf-8").splitlines()] if path.exists() else []):
        line.update({key: line[key] + more for key in ("value", "ci_low", "ci_high")})
        line["digests"] |= digests
    if lines:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    if (folder / "adjustment.json").exists():
        found = json.loads((folder / "adjustment.json").read_text("utf-8"))
        for when in ("before", "after"):
            found[when]["ru"] |= {"digest": digests["corpus"]} if "corpus" in digests else {}
            for score in found[when]["ru"]["retrieval"]["1"].values():
                score.update({key: score[key] + more for key in ("value", "low", "high")})
        (folder / "adjustment.json").write_text(json.dumps(found), "utf-8")
    return folder


TRAINED = {
    "adjust": ("Russian, after", "Russian, before"),
    "explain": ("consistency, label, hi", None),
    "geometry": ("purity by language, after", "purity by language, before"),
}


@pytest.mark.parametrize("kind", TRAINED)
@pytest.mark.reliability("no mark without a test that counts seeds")
def test_what_one_training_gave_has_no_mark_and_what_it_began_with_may(kind: str, tmp_path: Path) -> None:
    shared = {"corpus": "texts of c"}
    one = moved(MAKERS[kind](tmp_path / "one"), **shared)
    two = moved(MAKERS[kind](tmp_path / "two"), -0.3, model="other weights", **shared)
    trained, given = TRAINED[kind]
    made = interlingua.report_on(one, two)
    rows = {row[0]: str(row[3]) for row in made.tables()[-1].rows}
    assert rows[trained] == "−0.300"
    assert given is None or rows[given] == "−0.300*"
    assert "of one seed: how far other seeds are from it is not known" in made.html


def test_one_model_that_is_explained_in_two_ways_is_compared(tmp_path: Path) -> None:
    one, two = (moved(explain_folder(tmp_path / name), corpus="c") for name in ("one", "two"))
    rows = {row[0]: str(row[3]) for row in interlingua.report_on(one, moved(two, -0.2)).tables()[-1].rows}
    assert rows["consistency, label, hi"] == "−0.200*"


@pytest.mark.parametrize("kind", ["adjust", "explain", "geometry", "transfer"])
@pytest.mark.parametrize("told", [{"corpus": "other texts", "test": "other texts"}, {}])
def test_numbers_of_other_texts_or_of_unknown_ones_are_not_compared(kind: str, told: Any, tmp_path: Path) -> None:
    own = {"corpus": "texts", "test": "texts"} if told else {}
    if kind == "transfer":  # Its test is what tells: the corpus of a record is that of the bitext.
        own, told = ({key: each[key] for key in ("test",) if key in each} for each in (own, told))
    made = interlingua.report_on(
        moved(MAKERS[kind](tmp_path / "one"), **own), moved(MAKERS[kind](tmp_path / "two"), -0.2, **told)
    )
    assert {str(row[3]) for row in made.tables()[-1].rows} <= {"not comparable", "–"}
    assert "Nothing can be compared" in made.html
    assert "have no difference" in made.html


def test_several_models_of_one_explanation_keep_their_names(tmp_path: Path) -> None:
    one, two = (moved(explain_folder(tmp_path / name), corpus="c") for name in ("one", "two"))
    for folder in (one, two):
        lines = [json.loads(line) for line in (folder / "records.jsonl").read_text("utf-8").splitlines()]
        more = [{**line, "model": "n", "value": 0.123} for line in lines]
        (folder / "records.jsonl").write_text("".join(json.dumps(each) + "\n" for each in [*lines, *more]), "utf-8")
        about = json.loads((folder / "run.json").read_text("utf-8"))
        (folder / "run.json").write_text(json.dumps({**about, "models": [["m", "en"], ["n", "en"]]}), "utf-8")
    rows = {row[0]: row[1] for row in interlingua.report_on(one, two).tables()[-1].rows}
    assert rows["m, consistency, label, es"] == pytest.approx(0.8)
    assert rows["n, consistency, label, es"] == pytest.approx(0.123)


def test_a_star_marks_intervals_that_do_not_meet_and_no_others(tmp_path: Path) -> None:
    near = audit_folder(tmp_path / "near", more=0.05)
    _, numbers = interlingua.report_on(audit_folder(tmp_path / "one", model="x"), near).tables()
    assert not any(str(row[3]).endswith("*") for row in numbers.rows)


def retrieved_folder(folder: Path, hits: Any, *, corpus: str = "c0", layer: int = 1) -> Path:
    """An audit of one pair of languages, with its per-item values."""
    low, high = wilson_interval(hits.sum(), len(hits))
    shared = Record(measure="retrieval", model="m", source="en", target="ru", layer=layer, seed=0,
                    digests={"corpus": corpus})  # fmt: skip
    score = Score(float(hits.mean()), len(hits), null=1 / len(hits), low=low, high=high)
    made = shared.scored(METRICS, "p@1/cosine/raw", score)
    RecordStore(folder).append("s0", [(made, hits)])
    about = {"kind": "audit", "model": "m", "corpus": "c", "languages": ["en", "ru"], "created": "2025-05-04"}
    (folder / "run.json").write_text(json.dumps(about), "utf-8")
    return folder


def test_runs_on_the_same_sentences_are_compared_sentence_by_sentence(tmp_path: Path) -> None:
    before = np.zeros(600)
    before[:240] = 1
    after = before.copy()
    after[:6], after[240:270] = 0, 1
    assert binomtest(6, 36).pvalue < 1e-3
    one, two = retrieved_folder(tmp_path / "one", before), retrieved_folder(tmp_path / "two", after, layer=2)
    made = interlingua.report_on(one, two)
    row = next(row for row in made.tables()[-1].rows if row[0] == "retrieval, as is")
    assert row[3] == "+0.040*"
    expected = ttest_rel(after, before).confidence_interval(0.95)
    assert isinstance(row[3], Told)
    assert (row[3].parts["low"], row[3].parts["high"]) == pytest.approx((expected.low, expected.high))
    assert "Higher: retrieval, as is (+0.040, +0.021 to +0.059)" in made.html
    # The pair's number and those of its two languages.
    assert "Of 3 of 3 numbers the interval of the difference, sentence by sentence, includes 0." in (
        interlingua.report_on(one, one).html
    )


@pytest.mark.parametrize("lost", ["digest", "items", "rows"])
def test_runs_that_did_not_read_the_same_are_not_compared_and_without_items_only_by_intervals(
    lost: str, tmp_path: Path
) -> None:
    hits = np.zeros(600)
    hits[:240] = 1
    one = retrieved_folder(tmp_path / "one", hits)
    more = np.zeros(599 if lost == "rows" else 600)
    more[:264] = 1
    two = retrieved_folder(tmp_path / "two", more, corpus="other" if lost == "digest" else "c0")
    if lost == "items":
        (two / "items" / "s0.npz").unlink()
    made = interlingua.report_on(one, two)
    assert not any(str(row[3]).endswith("*") for row in made.tables()[-1].rows)
    said = "3 of 3 numbers cannot be told apart by their intervals"
    assert (said if lost == "items" else "Nothing can be compared") in made.html
    assert {row[3] for row in made.tables()[-1].rows} == {"–", "+0.040" if lost == "items" else "not comparable"}
    assert "no clear difference" not in made.html


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
def test_a_broken_run_is_told_with_its_place(break_it: Any, said: str, tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    break_it(run)
    with pytest.raises(InputError, match=said):
        interlingua.report_on(run, out=tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_records_that_a_study_s_report_was_not_made_from_are_counted_and_not_shown(tmp_path: Path) -> None:
    run = study_folder(tmp_path / "run")
    before = len(interlingua.report_on(run).runs["study"][0].records)
    with (run / "records.jsonl").open("a") as file:
        file.write(json.dumps(record("cka", "cka", 0.9, options={"form": "debiased"}, step="older")) + "\n")
    made = interlingua.report_on(run)
    assert len(made.runs["study"][0].records) == before
    assert "1 record that the study’s last report was not made from" in made.html


def test_a_study_that_was_not_reported_yet_is_told_how_to(tmp_path: Path) -> None:
    run = study_folder(tmp_path / "run")
    (run / "study.json").unlink()
    with pytest.raises(InputError, match="interlingua study report"):
        interlingua.report_on(run)
    done = command(run)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_command_prints_a_study_s_tables(tmp_path: Path) -> None:
    done = command(study_folder(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    assert "adjusted" in done.stdout
    assert (tmp_path / "run" / "report.html").is_file()


def test_a_folder_that_is_not_there_and_a_folder_as_page_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        interlingua.report_on(tmp_path / "nowhere")
    with pytest.raises(InputError, match="folder"):
        interlingua.report_on(audit_folder(tmp_path / "run"), out=tmp_path)


def test_a_record_cut_short_by_a_kill_is_left_out_and_told(tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    with (run / "records.jsonl").open("a") as file:
        file.write('{"measure": "retr')
    made = interlingua.report_on(run)
    assert "cut short" in made.html
    assert len(made.runs["audit"][0].records) == 27


def whole_run(folder: Path) -> Path:
    """A finished run of two steps, of 2 and 3 records."""
    run = audit_folder(folder)
    lines = [json.loads(line) for line in (run / "records.jsonl").read_text("utf-8").splitlines()[:5]]
    for number, line in enumerate(lines):
        line |= {"step": "one" if number < 2 else "two", "part": [number + 1, 2] if number < 2 else [number - 1, 3]}
    (run / "records.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    about = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(json.dumps({**about, "steps": ["one", "two"]}), "utf-8")
    return run


@pytest.mark.reliability("damaged files of a run")
@pytest.mark.parametrize("cut", [0, 5, 1000, 0.3, 0.5, 0.99, -1])
def test_a_finished_run_whose_records_are_cut_is_refused_and_whole_is_read(tmp_path: Path, cut: float) -> None:
    run = whole_run(tmp_path / "run")
    assert len(interlingua.report_on(run).runs["audit"][0].records) == 5
    data = (run / "records.jsonl").read_bytes()
    (run / "records.jsonl").write_bytes(data[: int(cut * len(data)) if isinstance(cut, float) else cut])
    with pytest.raises(InputError, match=r"records\.jsonl: the run was finished, and "):
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


def test_the_command_prints_tables_and_writes_the_page_into_the_folder(tmp_path: Path) -> None:
    run = audit_folder(tmp_path / "run")
    done = command(run)
    assert done.returncode == 0, done.stderr
    assert (run / "report.html").is_file()
    assert "Layer by layer" in done.stdout
    assert set(BARS) & set(done.stdout)
    assert command(tmp_path / "nowhere").returncode == 2


def test_a_terminal_is_told_nothing_of_pointing_and_clicking(tmp_path: Path) -> None:
    done = command(
        audit_folder(tmp_path / "one"), audit_folder(tmp_path / "two", more=0.2), "--out", tmp_path / "page.html"
    )
    assert done.returncode == 0, done.stderr
    assert "Key numbers" in done.stdout
    assert not re.search("hover|click|point at", done.stdout, re.IGNORECASE)


def test_a_terminal_says_first_that_runs_did_not_read_the_same_sentences(tmp_path: Path) -> None:
    hits = np.ones(40)
    folders = retrieved_folder(tmp_path / "one", hits), retrieved_folder(tmp_path / "two", hits[:30], corpus="other")
    for folder, corpus in zip(folders, ("c0", "other"), strict=True):
        about = json.loads((folder / "run.json").read_text("utf-8")) | {"digests": {"corpus": corpus}}
        (folder / "run.json").write_text(json.dumps(about), "utf-8")
    done = command(*folders, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert said.startswith("two against the first. Nothing can be compared: side by side only.")
    assert said.index("The runs did not read the same sentences") < said.index("Key numbers")
    assert "*" not in said.split("Key numbers")[1].split("* the 95")[0]
    told = json.loads(command(*folders, "--out", tmp_path / "page.html", "--json").stdout)
    assert any("did not read the same sentences" in words for words in told["summary"])


def test_a_terminal_without_utf8_gets_ascii_and_no_color_no_escapes(tmp_path: Path) -> None:
    done = command(audit_folder(tmp_path / "run"), PYTHONIOENCODING="ascii", NO_COLOR="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout
    assert set("_.:-=+*#") & set(done.stdout.split("Layer by layer")[1].split("Bars run")[0])


def test_json_names_the_page_and_the_differences(tmp_path: Path) -> None:
    one, two = audit_folder(tmp_path / "one"), audit_folder(tmp_path / "two", more=0.1)
    told = json.loads(command(one, two, "--out", tmp_path / "p.html", "--json").stdout)
    assert told["page"] == str(tmp_path / "p.html")
    assert [run["name"] for run in told["runs"]] == ["one", "two"]
    assert told["tables"]["numbers"]


def test_a_figure_of_a_notebook_is_plotly_json_without_names_of_ours(tmp_path: Path) -> None:
    made = interlingua.report_on(audit_folder(tmp_path / "run"))
    figure = made.figure("curve-retrieval-p1")
    assert set(figure) == {"data", "layout"}
    assert "@" not in json.dumps(figure).replace("p@1", "")
    assert not {"records", "when", "hover"} & {key for trace in figure["data"] for key in trace}
    assert figure._repr_html_().startswith("<iframe")
    with pytest.raises(InputError, match="curve-retrieval-p1"):
        made.figure("curve-retrieval")


def test_sparklines_rise_with_their_values_and_cut_what_lies_outside() -> None:
    line = sparkline([-1.0, 0.0, 0.4, 0.8, 2.0, None])
    assert line[0] == line[1] == "▁"
    assert line[1] < line[2] < line[3]
    assert line[4:] == "█ "


def test_a_console_of_latin1_folds_what_it_cannot_write() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    print_table(Table("t", "–", "", ("é", "я"), (("→", 1.0),)), console(stream))
    stream.flush()
    text = stream.buffer.getvalue().decode("latin-1")  # type: ignore[attr-defined]
    assert "é" in text
    assert "?" in text
    assert ">" in text


def test_results_show_themselves_in_a_notebook(tmp_path: Path) -> None:
    from interlingua.commands.adjust import Adjusted
    from interlingua.commands.audit import Audit
    from interlingua.commands.explain import Explanation, TextExplanation
    from interlingua.commands.geometry import GeometryFound
    from interlingua.commands.pretrain import Pretrained
    from interlingua.commands.transfer import Transfer

    folders = {kind: make(tmp_path / kind) for kind, make in MAKERS.items()}
    runs = {kind: interlingua.report_on(folder).runs[kind][0] for kind, folder in folders.items()}
    example = runs["explain"].more["examples"][0]
    shown = [
        (Audit(recorded(folders["audit"]), dict(runs["audit"].about), runs["audit"].more["points"]), "map"),
        (Adjusted(folders["adjust"], runs["adjust"].about, records_of(runs["adjust"].about)), "states"),
        (Transfer([], [], dict(runs["transfer"].about), folders["transfer"]), "seeds"),
        (Explanation(RecordTable([]), dict(runs["explain"].about), folders["explain"]), "flows"),
        (TextExplanation(example, ("one", "other"), ()), "flows"),
        (GeometryFound(RecordTable([]), dict(runs["geometry"].about), [], {}, folders["geometry"]), "map-1-before"),
    ]
    for result, name in shown:
        page = result._repr_html_()  # type: ignore[attr-defined]
        assert page.startswith('<iframe srcdoc="&lt;!doctype')
        assert page.count("<") == 2  # The frame's own tags: all of the page is an attribute.
        assert result.figure(name)["data"]  # type: ignore[attr-defined]
    made = Pretrained(tmp_path, {"architecture": HOSTILE, "steps": 3, "metrics": [{"loss": 2.5}]})._repr_html_()
    assert "2.5" in made
    assert "<script" not in made
