"""What `interlingua report` calls, and a notebook: `report_on()` of the folders that other commands wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from interlingua import record as stored
from interlingua.analyses.explanation import page_examples
from interlingua.argument_types import check_argument_types
from interlingua.counting import counted
from interlingua.engine.atomic_files import reading_back, write_text
from interlingua.engine.records import RECORDS, Records, read_items
from interlingua.engine.workspace import INNER, Workspace
from interlingua.errors import InputError
from interlingua.paths import json_value, read_json, regular, usable_path
from interlingua.report.kinds import KINDS, compare, report_page
from interlingua.report.notebook import Drawing, drawing, framed
from interlingua.report.readings import Record
from interlingua.report.record_adapter import to_v1
from interlingua.report.runs import Items, Run
from interlingua.report.sections import Section
from interlingua.report.tables import Table
from interlingua.studies.steps.entity_geometry import MAP

_LONGEST_RECORD = 1 << 24
_CUT = "a last record that was cut short: the run was not finished"
_REMEDY = "Name a folder that interlingua audit, adjust, transfer, explain, geometry or study wrote."


@dataclass(frozen=True)
class Report:
    """One page of one run or several: `html`, the runs by kind, and the file it was written to."""

    html: str
    runs: Mapping[str, Sequence[Run]]
    out: Path | None = None

    def comparisons(self) -> list[Section]:
        """What is said of runs of one kind side by side, with its tables; none for one run."""
        return [compare(kind, its) for kind, its in self.runs.items() if len(its) > 1]

    def tables(self) -> list[Table]:
        """What differs between runs of one kind: settings, and key numbers with differences; none for one run."""
        return [table for section in self.comparisons() for table in section.tables]

    def __repr__(self) -> str:
        return f"Report({', '.join(f'{len(its)} × {kind}' for kind, its in self.runs.items())})"

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        sections, records = [], []
        for kind, its in self.runs.items():
            sections += KINDS[kind].sections(its)
            records += [record for run in its for record in run.records]
        return drawing(sections, name, records)

    def _repr_html_(self) -> str:
        return framed(self.html)


@check_argument_types
def report_on(*folders: str | Path, out: str | Path | None = None) -> Report:
    """One self-contained page of the runs in the folders: from records and settings alone, no model is loaded.

    The kind of each run is found out. Runs of one kind are compared on top and drawn into one figure where they share
    axes. With `out` the page is written to that file.
    """
    if not folders:
        raise InputError("there is no run to report on", remedy=_REMEDY)
    places = [usable_path(folder) for folder in folders]
    names = _names(places)
    runs: dict[str, list[Run]] = {}
    for number, (place, name) in enumerate(zip(places, names, strict=True)):
        with reading_back(place):
            kind, run = read_run(place)
        run = replace(run, items=_items(place))
        # Alone, a run needs no name on its page.
        runs.setdefault(kind, []).append(replace(run, key=_key(number), name=name) if len(places) > 1 else run)
    runs = _numbered(runs)
    with reading_back(places[0]):
        page = report_page(runs)
    if out is not None:
        if Path(out).is_dir():
            raise InputError("--out is a folder", value=str(out), remedy="Name a file, such as report.html.")
        write_text(Path(out), page)
    return Report(page, runs, None if out is None else Path(out))


@check_argument_types
def open_records(folder: str | Path) -> Records[stored.Record]:
    """The records of a finished run: `.read()` gives all of them, `.items(record)` the values behind one."""
    if not (Path(folder) / RECORDS).is_file():
        raise InputError("no records are in this folder", file=folder, remedy="Give the --out of a finished run.")
    return Records(stored.Record, folder)


def figure(folder: str | Path, name: str) -> Drawing:
    """A figure of a run's page by its name: plotly's JSON as a dictionary, which a notebook draws."""
    with reading_back(Path(folder)):
        kind, run = read_run(Path(folder))
        return drawing(KINDS[kind].sections([run]), name, run.records)


def page_of(folder: str | Path) -> str:
    """The page of one run."""
    with reading_back(Path(folder)):
        kind, run = read_run(Path(folder))
        return report_page({kind: [run]})


def read_run(folder: Path) -> tuple[str, Run]:
    """The kind of a run and what its folder holds; a folder that is no run, or a broken file in it, is an error."""
    if not folder.is_dir():
        raise InputError("no such folder", value=str(folder), remedy=_REMEDY)
    if (folder / "adjustment.json").is_file():
        summary = _object(folder / "adjustment.json")
        if "before" not in summary or "languages" not in summary:
            raise InputError("not what interlingua adjust writes", file=folder / "adjustment.json", remedy=_REMEDY)
        return "adjust", Run(summary, _records(folder / "records.jsonl")[0])
    about = _object(folder / "run.json") if (folder / "run.json").is_file() else _begun(folder)
    if about.get("kind") == "study":
        return "study", _study(folder)
    kind = about.get("kind")
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise InputError(
            "a run of a kind without a page", file=folder / "run.json", value=kind, remedy=f"Known: {known}."
        )
    records, notes = _records(folder / "records.jsonl")
    if isinstance(about.get("steps"), list):  # A folder may hold steps of other settings, or another model, too.
        every, wanted = records, set(about["steps"])
        records = [record for record in every if record.get("step") in wanted]
        if len(records) < len(every):
            notes.append(f"{counted(len(every) - len(records), 'records')} of other settings in the same folder")
    skipped = about.get("skipped") or []
    about = {**about, "skipped": [*([skipped] if isinstance(skipped, str) else skipped), *notes]}
    if "created" not in about:  # What every command writes at its end.
        about["unfinished"] = _unfinished(folder, about, records)
    elif lost := _lost(records, about, cut=_CUT in notes):
        raise InputError(f"the run was finished, and {lost}", file=folder / "records.jsonl",
                         remedy="Fetch the whole folder again, or give the run's command again.")  # fmt: skip
    return kind, Run(about, records, more=_more(folder, kind, about))


def _begun(folder: Path) -> dict[str, Any]:
    """What is known of a run that has told nothing of itself yet: a study, whose report is elsewhere.

    The folder of a command that did not come to its end is refused: what it found is told when it does.
    """
    inner = folder / INNER / "run.json"
    if not inner.is_file() and not (folder / "study.json").is_file():
        raise InputError("no run is in this folder", value=str(folder), remedy=_REMEDY)
    kind = _object(inner).get("kind", "study") if inner.is_file() else "study"
    if kind != "study":
        raise InputError(
            f"this run of interlingua {kind} is not finished",
            file=folder,
            remedy="The command that began it continues from there.",
        )
    return {"kind": "study"}


def _unfinished(folder: Path, about: Mapping[str, Any], records: Sequence[Record]) -> str:
    """How far a run came that was stopped or killed, and what finishes it."""
    steps = about.get("steps")
    done = len({record.get("step") for record in records})
    far = (
        f": {done} of {len(steps)} steps are done, and all that is said is of those" if isinstance(steps, list) else ""
    )
    again = f"The command that began it, interlingua {about['kind']} … --out {folder}, goes on from there."
    return f"This run is not finished{far}. {again}"


def _lost(records: Sequence[Record], about: Mapping[str, Any], *, cut: bool) -> str:
    """What is missing of the records that steps have written together; nothing where all are there.

    A step may have none, unless a last record that is `cut` was its first.
    """
    steps = about.get("steps") or []
    present = Counter(record.get("step") for record in records)
    if steps and (not records or (cut and any(step not in present for step in steps))):
        return f"of {counted(sum(step not in present for step in steps), 'steps')} no record is here"
    wanted = {record.get("step"): record["part"][1] for record in records if record.get("part")}
    lost = sum(max(count - present[step], 0) for step, count in wanted.items())
    return f"{counted(lost, 'records')} of it are not here" if lost else ""


def _items(folder: Path) -> Callable[[Record], Items | None]:
    """Gives the per-item values of a folder's records; None where they, or their file, are not there."""

    @cache
    def read(place: str) -> Items | None:
        try:
            return read_items(folder, place)
        except InputError:
            return None

    return lambda record: read(place) if isinstance(place := record.get("items"), str) else None


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
    every, notes = _records(folder / "records.jsonl")
    wanted = set(steps) if isinstance(steps, list) else {record.get("step") for record in every}
    records = [record for record in every if record.get("step") in wanted]
    if len(records) < len(every):
        notes.append(f"{counted(len(every) - len(records), 'records')} that the study’s last report was not made from")
    more = {name: found.get(name) or [] for name in ("scores", "distances", "beside", "geometries")}
    for each in more["geometries"]:
        each["maps"] = maps_of(Workspace(folder), each["steps"])
    return Run({**about, "skipped": notes}, records, more=more)


def _more(folder: Path, kind: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """What a run of a kind has beside records; a part that was not written yet is left out."""
    if kind == "audit":
        path = folder / "map.json"
        return {"points": _object(path)} if path.is_file() else {}
    if kind == "transfer":
        path = folder / "transfer.json"
        return _object(path) if path.is_file() else {}
    if kind == "geometry":
        path, ended = folder / "geometry.json", "created" in about  # Else it is of another study in this folder.
        found = _object(path) if ended and path.is_file() else {}
        return {"found": found, "maps": _maps(folder / "maps", about.get("steps"))}
    if kind == "explain":
        models = [(str(model), str(source)) for model, source in about.get("models") or []]
        try:
            return {"examples": page_examples(folder, models, about.get("languages") or []) if models else []}
        except ValueError as error:
            raise InputError(
                f"examples that can't be read ({error})", file=folder / "examples", remedy=_REMEDY
            ) from error
    return {}


def _maps(folder: Path, steps: Sequence[str] | None) -> list[dict[str, Any]]:
    """The maps of a geometry study, in the order of its steps; without one all that are there, before and after."""
    if steps is not None:
        return [_object(file) for step in steps if (file := folder / f"{step}.json").is_file()]
    return sorted((_object(file) for file in sorted(folder.glob("*.json"))), key=lambda each: each["state"] != "before")


def maps_of(workspace: Workspace, steps: Sequence[str]) -> list[dict[str, Any]]:
    """The maps that looks of a study left."""
    return [_object(file) for key in steps if (file := workspace.step(key) / MAP).is_file()]


def _object(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except ValueError as error:
        raise InputError(f"not JSON ({error})", file=path, remedy="Run the command again that wrote it.") from error
    if not isinstance(found, dict):
        raise InputError("not a JSON object", file=path, remedy="Run the command again that wrote it.")
    return found


def _records(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The records of a run, checked; a last line that was being written when the run was killed is told, not read."""
    if not path.exists() and not path.is_symlink():
        return [], ["no records yet: the run was not finished"]
    records: list[stored.Record] = []
    notes: list[str] = []
    with regular(path).open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_RECORD), b""), 1):
            if len(line) == _LONGEST_RECORD:
                raise InputError("a line of no record", file=path, line=number, remedy="Give the command again.")
            if not line.endswith(b"\n"):
                notes.append(_CUT)
                break
            records.append(_record(line, path, number))
    return to_v1(records), notes


def _record(line: bytes, path: Path, number: int) -> stored.Record:
    try:
        return stored.Record.from_dict(json_value(line))
    except InputError as error:
        value, remedy = error.value, error.remedy
        raise InputError(error.problem, file=path, line=number, value=value, remedy=remedy) from error
    except ValueError as error:
        wrong = "Remove that line and run again; see docs/records.md."
        raise InputError(f"not a record ({error})", file=path, line=number, remedy=wrong) from error


def _names(places: Sequence[Path]) -> list[str]:
    """What each run is called: its folder's own name, more of the path where two end alike."""
    names = [place.resolve().name for place in places]
    names = [name if names.count(name) == 1 else str(place) for name, place in zip(names, places, strict=True)]
    # The same folder twice is two columns that must still be told apart.
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def _key(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"r{number}"


def _numbered(runs: Mapping[str, Sequence[Run]]) -> dict[str, list[Run]]:
    """The runs with the places of their records: the page has those of a kind after those of another."""
    first = 0
    made: dict[str, list[Run]] = {}
    for kind, its in runs.items():
        made[kind] = []
        for run in its:
            made[kind].append(replace(run, first=first))
            first += len(run.records)
    return made
