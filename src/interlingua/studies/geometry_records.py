"""What a study's geometry tables found, read back from its records and steps: settings, maps and conclusions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.synthesis import Spellings
from interlingua.analyses.transfer_matrix import conclusions
from interlingua.engine.graph import Graph
from interlingua.engine.step import Step
from interlingua.engine.workspace import Home
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.record import Record
from interlingua.score import Score
from interlingua.studies.compile.geometry import geometry_settings
from interlingua.studies.config.schema import StudyTable
from interlingua.studies.steps.geometry import ABOUT, MAPS

Entry = dict[str, Any]


def study_geometries(table: StudyTable, graph: Graph, home: Home, records: Sequence[Record]) -> list[Entry]:
    """One entry a geometry table and encoder that has records: `name`, `encoder`, `about`, `steps` and `found`.

    `about` is what a page says of a run of `interlingua geometry`; `found` see `studies.concluding`; `steps` are the
    keys of the steps, whose folders have the maps.
    """
    found: list[Entry] = []
    steps: dict[tuple[str, str], list[Step]] = {}
    for step in graph:
        if step.kind == "geometry":
            named = (str(step.settings["called"]), str(step.settings["encoder"]["name"]))
            steps.setdefault(named, []).append(step)
    for (name, encoder), its in steps.items():
        mine = [r for r in records if (r.details.get("geometry"), r.model) == (name, encoder)]
        if mine:
            given = table.geometry[name]
            told, notes = conclusions(mine, spelled_in(records, given.synth), seed=given.seed)
            about = _about(its, home, name, encoder, table) | {"skipped": notes}
            keys = [step.key for step in its if home.is_done(step.key)]
            found.append({"name": name, "encoder": encoder, "about": about, "steps": keys, "found": told})
    return found


def maps_of(folder: Path, keys: Sequence[str]) -> list[Entry]:
    """The maps that steps left under a study's folder, before and after."""
    files = [file for key in keys for file in sorted((folder / "steps" / key / MAPS).glob("*.json"))]
    found = [_map(file) for file in files]
    # Keys of looks decide files' names: what people see first is the test part.
    return sorted(found, key=lambda each: (each["state"] != "before", each["set"] != "test"))


def _map(file: Path) -> Entry:
    try:
        found: Entry = read_json(file)
        return found
    except ValueError as error:
        raise InputError(f"not a map ({error})", file=file, remedy="Remove its step's folder and run again.") from error


def spelled_in(records: Sequence[Record], synth: str) -> Spellings | None:
    """How names of a set are spelled, as its step measured it; None where it did not."""
    scores: dict[str, dict[str, dict[tuple[str, str], Score]]] = {}
    languages: dict[str, None] = {}
    for record in records:
        if record.measure == "spelling" and record.details.get("synth") == synth:
            pair = (record.source, str(record.target))
            languages |= dict.fromkeys(pair)
            score = Score(record.value, record.n, record.null, record.low, record.high)
            scores.setdefault(record.details["type"], {}).setdefault(record.variant, {})[pair] = score
    return Spellings(tuple(languages), scores) if scores else None


def _about(steps: Sequence[Step], home: Home, name: str, encoder: str, table: StudyTable) -> Entry:
    given, spoken = table.geometry[name], list(steps[0].settings["synth"]["languages"])
    # The one that looks and trains has the settings of all.
    whole = next((step for step in steps[1:] if step.settings["looks"] is not None), steps[0])
    settings = geometry_settings(whole.settings).plain()
    left = ("seeds", "train_on")
    about = {
        "kind": "geometry",
        "model": encoder,
        "data": given.synth,
        "languages": spoken,
        "names": {code: codes.name(code) for code in spoken},
        "source": given.source or table.source,
        "about": given.entity,
        "seed": given.seed,
        "settings": {key: value for key, value in settings.items() if key not in left},
    }
    file = home.step(steps[0].key) / ABOUT
    return about | (read_json(file) if file.is_file() else {"rows": None, "pieces": {}})
