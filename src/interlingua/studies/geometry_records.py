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
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.record import Record
from interlingua.score import Score
from interlingua.studies.config.schema import StudyTable
from interlingua.studies.step_settings import GeometryStep
from interlingua.studies.steps.geometry import ABOUT, MAPS, geometry_settings

Entry = dict[str, Any]


def study_geometries(table: StudyTable, graph: Graph, workspace: Workspace, records: Sequence[Record]) -> list[Entry]:
    """One entry a geometry table and encoder that has records: `name`, `encoder`, `about`, `steps` and `found`.

    `about` is what a page says of a run of `interlingua geometry`; `found` see `studies.concluding`; `steps` are the
    keys of the steps, whose folders have the maps.
    """
    found: list[Entry] = []
    steps: dict[tuple[str, str], list[Step]] = {}
    for step in graph:
        if isinstance(step.settings, GeometryStep):
            steps.setdefault((step.settings.block, step.settings.encoder.name), []).append(step)
    for (name, encoder), its in steps.items():
        mine = [r for r in records if (r.block, r.model) == (name, encoder)]
        if mine:
            given = table.geometry[name]
            told, notes = conclusions(mine, spelled_in(records, given.synth), seed=given.seed)
            about = _about(its, workspace, name, encoder, table) | {"skipped": notes}
            keys = [step.key for step in its if workspace.is_done(step.key)]
            found.append({"name": name, "encoder": encoder, "about": about, "steps": keys, "found": told})
    return found


def maps_of(workspace: Workspace, keys: Sequence[str]) -> list[Entry]:
    """The maps that steps left, before and after."""
    files = [file for key in keys for file in sorted((workspace.step(key) / MAPS).glob("*.json"))]
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
        if record.measure == "spelling" and record.aspect is not None and record.block == synth:
            pair = (str(record.source), str(record.target))
            languages |= dict.fromkeys(pair)
            score = Score(record.value, record.n, record.null_value, record.ci_low, record.ci_high)
            scores.setdefault(record.aspect, {}).setdefault(record.metric, {})[pair] = score
    return Spellings(tuple(languages), scores) if scores else None


def _about(steps: Sequence[Step], workspace: Workspace, name: str, encoder: str, table: StudyTable) -> Entry:
    given = table.geometry[name]
    own = [step.settings for step in steps if isinstance(step.settings, GeometryStep)]
    spoken = list(own[0].synth.languages)
    # The one that looks and trains has the settings of all.
    settings = geometry_settings(next((each for each in own[1:] if each.looks is not None), own[0])).plain()
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
    file = workspace.step(steps[0].key) / ABOUT
    return about | (read_json(file) if file.is_file() else {"rows": None, "pieces": {}})
