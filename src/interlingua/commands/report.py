"""What `interlingua report` calls, and a notebook: `report_on()` of the folders that other commands wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from interlingua.analyses.explained_examples import read_collection
from interlingua.argument_types import check_argument_types
from interlingua.engine.atomic_files import reading_back, write_text
from interlingua.engine.records import Records, open_lines, read_items, record_files
from interlingua.engine.workspace import INNER, Workspace
from interlingua.errors import InputError
from interlingua.paths import json_value, read_json, usable_path
from interlingua.record import Items, Record, RecordTable
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import Run
from interlingua.report.kit.wording import pluralize
from interlingua.report.report import Report, build_report

KINDS = ("audit", "adjust", "transfer", "explain", "geometry", "pretrain", "study")
"""The commands whose folders have a report."""
MAP = "map.json"
_LONGEST_RECORD = 1 << 24
_CUT = "a last record that was cut short: the run was not finished"
_REMEDY = "Name a folder that interlingua audit, adjust, transfer, explain, geometry, pretrain or study wrote."


@check_argument_types
def report_on(*folders: str | Path, out: str | Path | None = None, title: str = "") -> Report:
    """The report of a run, or the comparison of several, from records and settings alone: no model is loaded.

    The command detects which kind of run each folder holds. Runs of one kind are compared. `out` is a file for the
    page, and `title` stands in the place of the title made for it.
    """
    if not folders:
        raise InputError("there is no run to report on", remedy=_REMEDY)
    places = [usable_path(folder) for folder in folders]
    if out is not None and Path(out).is_dir():
        raise InputError("--out is a folder", value=str(out), remedy="Name a file, such as report.html.")
    runs = []
    for place, name in zip(places, _names(places), strict=True):
        with reading_back(place):
            runs.append(replace(read_run(place), name=name if len(places) > 1 else ""))
    with reading_back(places[0]):
        report = build_report(runs, title=title)
        page = None if out is None else render_page(report)
    if out is not None and page is not None:
        write_text(Path(out), page)
    return report


@check_argument_types
def open_records(folder: str | Path) -> Records[Record]:
    """The records of a finished run: `.read()` gives all of them, `.items(record)` the values behind one."""
    if not record_files(Path(folder)):
        raise InputError("no records are in this folder", file=folder, remedy="Give the --out of a finished run.")
    return Records(Record, folder)


def read_run(folder: Path) -> Run:
    """What the folder of a run holds; a folder that holds no run, or a broken file in it, is an error."""
    if not folder.is_dir():
        raise InputError("no such folder", value=str(folder), remedy=_REMEDY)
    about = _object(folder / "run.json") if (folder / "run.json").is_file() else _begun(folder)
    kind = about.get("kind")
    if kind == "study":
        return _study(folder)
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise InputError(
            "a run of a kind without a report", file=folder / "run.json", value=kind, remedy=f"Known: {known}."
        )
    records, notes = _records(folder)
    if isinstance(about.get("steps"), list):  # A folder may also hold steps of other settings, or of another model.
        every, wanted = records, set(about["steps"])
        records = [record for record in every if record.step in wanted]
        if len(records) < len(every):
            notes.append(f"{pluralize(len(every) - len(records), 'record')} of other settings in the same folder")
    skipped = about.get("skipped") or []
    about = {**about, "skipped": [*([skipped] if isinstance(skipped, str) else skipped), *notes]}
    if "created" not in about:  # What every command writes at its end.
        about["unfinished"] = _unfinished(folder, about, records)
    elif kind != "pretrain" and (lost := _lost(records, about, cut=_CUT in notes)):  # Pretraining has no records.
        raise InputError(f"the run was finished, and {lost}", file=next(iter(record_files(folder)), folder),
                         remedy="Fetch the whole folder again, or give the run's command again.")  # fmt: skip
    attachments = _attachments(folder, str(kind), about)
    return Run(kind=str(kind), about=about, records=RecordTable(records), attachments=attachments, items=_items(folder))


def _begun(folder: Path) -> dict[str, Any]:
    """What is known of a folder without run.json: a study, whose report is in another file.

    The folder of a command that was stopped before its end is refused.
    """
    inner = folder / INNER / "run.json"
    if not inner.is_file() and not (folder / "study.json").is_file():
        raise InputError("no run is in this folder", value=str(folder), remedy=_REMEDY)
    kind = _object(inner).get("kind", "study") if inner.is_file() else "study"
    if kind != "study":
        raise InputError(
            f"this run of interlingua {kind} is not finished",
            file=folder,
            remedy="Run the same command again to resume it.",
        )
    return {"kind": "study"}


def _unfinished(folder: Path, about: Mapping[str, Any], records: Sequence[Record]) -> str:
    """How far a run came that was stopped or killed, and what finishes it."""
    steps = about.get("steps")
    done = len({record.step for record in records})
    progress = (
        f": {done} of {len(steps)} steps are done, and only those are reported" if isinstance(steps, list) else ""
    )
    return f"This run is not finished{progress}. To resume it: interlingua {about['kind']} … --out {folder}"


def _lost(records: Sequence[Record], about: Mapping[str, Any], *, cut: bool) -> str:
    """What is missing of the records that steps have written together; nothing where all are there.

    A step may have none, unless a last record that is `cut` was its first.
    """
    steps = about.get("steps") or []
    present = Counter(record.step for record in records)
    if steps and (not records or (cut and any(step not in present for step in steps))):
        return f"the records of {pluralize(sum(step not in present for step in steps), 'step')} are missing"
    wanted = {record.step: record.part[1] for record in records}
    lost = sum(max(count - present[step], 0) for step, count in wanted.items())
    return f"{pluralize(lost, 'record')} of it are missing" if lost else ""


def _items(folder: Path) -> Callable[[Record], Items | None]:
    """Gives the per-item values of a folder's records; None where they, or their file, are not there."""

    @cache
    def read(place: str) -> Items | None:
        try:
            return read_items(folder, place)
        except InputError:
            return None

    return lambda record: None if record.items is None else read(record.items)


def _study(folder: Path) -> Run:
    """A study: its report, and the records that it was made from.

    Others, of earlier versions of the study file, are counted and left out.
    """
    path = folder / "study.json"
    if not path.is_file():
        remedy = f"Write one: interlingua study report FILE.toml --out {folder}"
        raise InputError("a study without a report", value=str(folder), remedy=remedy)
    found = _object(path)
    about, steps = found.get("study"), found.get("steps")
    if not isinstance(about, dict) or "name" not in about:
        raise InputError("not what interlingua study writes", file=path, remedy=_REMEDY)
    every, notes = _records(folder)
    wanted = set(steps) if isinstance(steps, list) else {record.step for record in every}
    records = [record for record in every if record.step in wanted]
    if len(records) < len(every):
        lost = pluralize(len(every) - len(records), "record")
        notes.append(f"{lost} that the study’s last report was not made from")
    attachments = {name: value for name, value in found.items() if name not in ("study", "steps")}
    for entry in attachments.get("geometries") or ():
        entry["maps"] = maps_of(Workspace(folder), entry["steps"])
    about = {**about, "kind": "study", "skipped": notes}
    return Run(kind="study", about=about, records=RecordTable(records), attachments=attachments, items=_items(folder))


def _attachments(folder: Path, kind: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """What a run has beside records; a part that was not written yet is left out."""
    if kind == "audit":
        return {"points": _object(folder / MAP)} if (folder / MAP).is_file() else {}
    if kind == "geometry":
        # Of a run that was stopped, this file is of another one in the same folder.
        path = folder / "geometry.json"
        found = _object(path) if "created" in about and path.is_file() else {}
        return {"geometries": [{"found": found, "maps": _maps(folder / "maps", about.get("steps"))}]}
    if kind == "adjust":
        from interlingua.training.journal import read_journal

        return {"curves": read_journal(folder / "steps.jsonl")}
    if kind == "explain":
        models = [(str(model), str(source)) for model, source in about.get("models") or []]
        try:
            return {"examples": read_collection(folder, models, about.get("languages") or [])} if models else {}
        except ValueError as error:
            raise InputError(
                f"examples that cannot be read ({error})", file=folder / "examples", remedy=_REMEDY
            ) from error
    return {}


def _maps(folder: Path, steps: Sequence[str] | None) -> list[dict[str, Any]]:
    """The maps of a geometry run in the order of its steps; without steps all that are there, before and after."""
    if steps is not None:
        return [_object(file) for step in steps if (file := folder / f"{step}.json").is_file()]
    return sorted((_object(file) for file in sorted(folder.glob("*.json"))), key=lambda each: each["state"] != "before")


def maps_of(workspace: Workspace, steps: Sequence[str]) -> list[dict[str, Any]]:
    """The maps that steps of a study left."""
    return [_object(file) for key in steps if (file := workspace.step(key) / MAP).is_file()]


def _object(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except ValueError as error:
        raise InputError(f"not JSON ({error})", file=path, remedy="Run the command again that wrote it.") from error
    if not isinstance(found, dict):
        raise InputError("not a JSON object", file=path, remedy="Run the command again that wrote it.")
    return found


def _records(folder: Path) -> tuple[list[Record], list[str]]:
    """The records of a run, checked; a last line that was being written when the run was killed is noted, not read."""
    files = record_files(folder)
    if not files:
        return [], ["no records yet: the run was not finished"]
    records: list[Record] = []
    notes: list[str] = []
    for path in files:
        with open_lines(path) as file:
            for number, line in enumerate(iter(partial(file.readline, _LONGEST_RECORD), b""), 1):
                if len(line) == _LONGEST_RECORD:
                    raise InputError("a line of no record", file=path, line=number, remedy="Give the command again.")
                if not line.endswith(b"\n"):
                    notes.append(_CUT)
                    break
                records.append(_record(line, path, number))
    return records, notes


def _record(line: bytes, path: Path, number: int) -> Record:
    try:
        return Record.from_dict(json_value(line))
    except InputError as error:
        value, remedy = error.value, error.remedy
        raise InputError(error.problem, file=path, line=number, value=value, remedy=remedy) from error
    except ValueError as error:
        wrong = "Remove that line and run again; see docs/records.md."
        raise InputError(f"not a record ({error})", file=path, line=number, remedy=wrong) from error


def _names(places: Sequence[Path]) -> list[str]:
    """A name for each run: its folder, with more of the path where two folders have one name."""
    names = [place.resolve().name for place in places]
    names = [name if names.count(name) == 1 else str(place) for name, place in zip(names, places, strict=True)]
    # The same folder twice is two columns that must still be told apart.
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]
