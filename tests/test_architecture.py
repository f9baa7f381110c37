"""The plan of the house, read from the source: who may import whom, and what a module may be called."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
DRAWING = (SOURCE.parent / "docs" / "architecture.md").read_text("utf-8").split("```text\n")[1].split("```")[0]
FLOORS = {
    room: int(floor) for floor, rooms in re.findall(r"^floor (\d)  (.+)$", DRAWING, re.M) for room in rooms.split()
}
"""The floor of every module and package right under `interlingua`."""
SIDEWAYS = re.findall(r"(\w+) -> (\w+(?: \w+)*)", DRAWING)
SIBLINGS = {(home, room) for home, rooms in SIDEWAYS for room in rooms.split()}
KNOW_TRANSFORMERS = {"encoder", "training", "tasks"}
WORDS_OF_THE_FIELD = re.compile(
    r"(languages?|encoders?|models?|corpus|corpora|bitexts?|seeds?|layers?|(un)?measur(es?|ed|ing))"
)
NO_NAME = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "factory"}


def modules() -> dict[str, Path]:
    """Every module's path under `interlingua`, by its dotted name without the package's own."""
    found = {}
    for path in sorted((SOURCE / "interlingua").rglob("*.py")):
        parts = path.relative_to(SOURCE / "interlingua").with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imported(path: Path) -> set[str]:
    """Every module a file names in an import, wherever the import stands; relative ones would hide a floor."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno} is a relative import"
            # `from interlingua import api` names a module, not a thing in the package.
            inner = node.module == "interlingua"
            names |= {f"interlingua.{alias.name}" for alias in node.names} if inner else {str(node.module)}
    return names


def rooms(path: Path) -> set[str]:
    """The rooms of the house a file imports from; what is no room (`__version__`) is a name of the package itself."""
    return {
        name.split(".")[1]
        for name in imported(path)
        if name.startswith("interlingua.") and name not in ("interlingua.__version__",)
    }


def allowed(home: str, room: str) -> bool:
    """Whether a room may import another: one below, or a sibling that the plan names."""
    return FLOORS[room] < FLOORS[home] or (home, room) in SIBLINGS


def test_every_module_has_a_floor() -> None:
    nowhere = {name for name in modules() if name and name.split(".")[0] not in FLOORS}
    assert not nowhere, f"no floor names {nowhere}: add them to docs/architecture.md"
    there = {name.split(".")[0] for name in modules()}
    assert not FLOORS.keys() - there, "docs/architecture.md names what is not there"
    used = {(name.split(".")[0], room) for name, path in modules().items() if name for room in rooms(path)}
    assert not SIBLINGS - used, "docs/architecture.md allows what nobody needs"


@pytest.mark.parametrize("name", [name for name in modules() if name])
def test_a_module_imports_its_own_room_and_lower_floors_only(name: str) -> None:
    home, _, _ = name.partition(".")
    for room in rooms(modules()[name]) - {home, "errors"}:
        assert allowed(home, room), f"{name} imports {room}, which is not below it"


def test_errors_stand_on_nothing() -> None:
    assert rooms(modules()["errors"]) == set()


def test_only_the_encoder_and_what_trains_know_transformers() -> None:
    know = {name.split(".")[0] for name, path in modules().items() if "transformers" in roots(path)}
    assert know <= KNOW_TRANSFORMERS


def test_a_report_is_made_without_a_model() -> None:
    for name, path in modules().items():
        if name.split(".")[0] == "report":
            assert not roots(path) & {"torch", "transformers"}, name


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


def test_no_module_is_a_drawer_for_everything() -> None:
    assert not {name for name in modules() if set(name.split(".")) & NO_NAME}


def test_the_engine_has_no_word_of_the_field() -> None:
    engine = {name: path for name, path in modules().items() if name.startswith("engine.")}
    assert len(engine) > 15
    for name, path in engine.items():
        # Identifiers are words joined by underscores or begun by capitals.
        words = re.findall(r"[A-Z]?[a-z]+", path.read_text("utf-8"))
        found = {word for word in words if WORDS_OF_THE_FIELD.fullmatch(word.lower())}
        assert not found, f"{name} says {found}: say it in words of steps, files and processes"
        assert not rooms(path) - {"engine", "errors", "registry", "paths"}, f"{name} imports more than it may"


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[str]] = {}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name)
    assert len(found) > 300
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


LAYERS = {
    "engine": (
        ("atomic_files", "serialization", "process_group", "child_processes"),
        ("digests", "locks"),
        ("step",),
        ("workspace", "process_setup"),
        ("graph", "torchrun"),
        ("step_runner", "records", "plan", "disk"),
        ("executors", "machine"),
        ("runner",),
    ),
    "studies": (
        ("config",),
        ("plugins", "step_settings", "analysis_settings"),
        ("study",),
        ("compile",),
        ("validation", "steps"),
    ),
}
"""Modules of packages from the ground up: none imports one of a later line."""


@pytest.mark.parametrize("package", LAYERS)
def test_layers_inside_a_package_import_downwards_only(package: str) -> None:
    floors = {name: floor for floor, names in enumerate(LAYERS[package]) for name in names}
    own = {name: path for name, path in modules().items() if name.startswith(f"{package}.")}
    assert {name.split(".")[1] for name in own} == set(floors), "every module has a layer, and no layer is of none"
    for name, path in own.items():
        here = name.split(".")[1]
        for other in imported(path):
            parts = other.split(".")
            if parts[:2] == ["interlingua", package] and len(parts) > 2 and parts[2] in floors and parts[2] != here:
                assert floors[parts[2]] <= floors[here], f"{name} imports {other}, which stands above it"


READ_A_STUDY = (
    "import pathlib\n"
    "from interlingua.studies.config.study_file import read_tables\n"
    f"for file in sorted(pathlib.Path({str(SOURCE.parent / 'studies')!r}).glob('*.toml')):\n"
    "    table, problems, size = read_tables(file, 'tiny')\n"
    "    problems.check()\n"
    "    assert table is not None\n"
)


@pytest.mark.parametrize("how", ["import interlingua", "import interlingua.cli.app", READ_A_STUDY, "help"])
def test_a_first_word_loads_nothing_heavy(how: str) -> None:
    run = (
        "import runpy, sys; sys.argv = ['interlingua', '--help']\n"
        "try: runpy.run_module('interlingua', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code\n"
        if how == "help"
        else f"{how}\n"
    )
    show = "import sys, json; sys.stderr.write(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", run + show],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin"},
    )
    heavy = {"torch", "transformers", "tokenizers", "numpy", "scipy", "babel", "huggingface_hub"}
    assert not heavy & set(json.loads(done.stderr))
    if how == "help":
        assert "audit" in done.stdout
