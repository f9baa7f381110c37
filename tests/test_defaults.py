"""What is left out means the same on the command line, in a study file and from Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from interlingua.analyses.entity_geometry import LookSettings
from interlingua.analyses.explanation import ExplainSettings
from interlingua.analyses.synthesis import synthesise
from interlingua.analyses.training_inputs import PairSettings
from interlingua.analyses.transfer import TransferSettings
from interlingua.analyses.transfer_matrix import Watch
from interlingua.cli import adjust as adjust_module
from interlingua.cli import explain, geometry, transfer
from interlingua.cli import synth as synth_module
from interlingua.commands.adjust import adjust
from interlingua.commands.synth import synth
from interlingua.engine.step import Resources
from interlingua.studies.adjusting import AdjustSettings
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.config.tables import (
    AdjustTable,
    EncoderTable,
    ExplainTable,
    GeometryTable,
    PartTable,
    ResourceTable,
    StudyTable,
    SynthTable,
)
from interlingua.studies.geometry import GeometrySettings
from interlingua.studies.step_settings import SynthStep
from interlingua.studies.study import Study
from interlingua.training.phases import Part, Schedule
from interlingua.training.regime import ADJUST

Named = type[Any] | Callable[..., Any]


def defaults(of: Named | Schedule) -> dict[str, Any]:
    """Every default by name: of a class, of a function, or an object's own values."""
    if not isinstance(of, type) and is_dataclass(of):
        found: dict[str, Any] = {each.name: getattr(of, each.name) for each in fields(of)}
    elif is_dataclass(of):
        found = {each.name: each.default for each in fields(of) if each.default is not MISSING}
    else:
        given = inspect.signature(of).parameters.values()
        found = {each.name: each.default for each in given if each.default is not inspect.Parameter.empty}
    return found


SAME: Mapping[str, tuple[Named, Named | Schedule, dict[str, str], int]] = {
    # One, the other, what one calls otherwise, and how many names they share at least.
    "adjusting in a study": (AdjustTable, PairSettings, {}, 4),
    "transfers in a study": (AdjustTable, TransferSettings, {}, 7),
    "explanations in a study": (ExplainTable, ExplainSettings, {}, 15),
    "geometry in a study": (GeometryTable, GeometrySettings, {}, 2),
    "looks in a study": (GeometryTable, LookSettings, {"map": "flattening", "layers": "map_layers"}, 5),
    "watching in a study": (GeometryTable, Watch, {"watch": "on"}, 3),
    "a whole study": (StudyTable, TransferSettings, {}, 3),
    "parts of a phase": (PartTable, Part, {}, 2),
    "resources": (ResourceTable, Resources, {}, 3),
    "synthetic sets in a study": (SynthTable, synthesise, {}, 2),
    "adjusting and transfers": (AdjustSettings, PairSettings, {"reference": "kept"}, 8),
    "adjust": (adjust_module.adjust, AdjustSettings, {"sentences": "rows"}, 14),
    "adjust, its schedule": (adjust_module.adjust, ADJUST, {"rate": "learning_rate"}, 2),
    "adjust, from Python": (adjust_module.adjust, adjust, {}, 9),
    "transfer": (transfer.transfer, TransferSettings, {}, 16),
    "explain": (explain.explain, ExplainSettings, {}, 16),
    "geometry": (geometry.geometry, GeometrySettings, {}, 3),
    "geometry, its looks": (geometry.geometry, LookSettings, {"map": "flattening"}, 4),
    "geometry, its watching": (geometry.geometry, Watch, {"watch": "on"}, 4),
    "synth": (synth_module.synth, synth, {}, 5),
}


@pytest.mark.parametrize("case", SAME)
def test_what_is_left_out_is_the_same_in_both(case: str) -> None:
    one, other, called, least = SAME[case]
    ours = {called.get(name, name): value for name, value in defaults(one).items()}
    theirs = defaults(other)
    # None on one side alone leaves the value to another.
    shared = {name for name in ours.keys() & theirs.keys() if (ours[name] is None) == (theirs[name] is None)}
    assert len(shared) >= least
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}


@pytest.fixture
def parts() -> StudyInputs:
    table = StudyTable("plain", ("ru",), {"one": EncoderTable(model="embedded")})
    return StudyInputs(Study(table, Path("study.toml"), None, Path()))


def test_steps_of_a_study_that_sets_nothing_have_the_settings_of_python(parts: StudyInputs) -> None:
    assert parts.settings() == TransferSettings()
    synth = SynthStep(contexts=(), names=(), types=(), languages=(), rows=1, seed=0)
    assert parts.step(synth, {}, label="").resources == Resources()
