"""Whatever lies in the current folder, no process that interlingua starts imports it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import interlingua

TESTS = Path(__file__).resolve().parents[1]
SOURCE = str(Path(interlingua.__file__).parents[1])
MODULES = ("numpy", "sitecustomize", "usercustomize", "torch", "random", "multiprocessing", "socket", "json", "pickle")
RUN = """
import os, sys
from pathlib import Path
sys.path.append({tests!r})
os.chdir({here!r})
from interlingua.engine.graph import Graph
from interlingua.engine.workspace import Workspace
from interlingua.engine.executors import Options
from interlingua.engine.runner import run
from interlingua.engine.step import Resources, Step
from steps_for_tests import Settings
step = Step("steps_for_tests:{function}", Settings({settings}), resources=Resources(cpus=2, processes={processes}))
ran = run(Graph([step]), Workspace(Path({workspace!r})), executor={executor!r}, options=Options(cpus=2))
assert ran.done == 1, ran
"""


def hostile(folder: Path) -> Path:
    """A folder of modules that tell that they were imported, the package's own name among them."""
    folder.mkdir()
    tell = f"open({str(folder / 'imported')!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(9)\n"
    for name in MODULES:
        (folder / f"{name}.py").write_text(tell)
    for name in ("interlingua", "jieba"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(tell)
    return folder


def told(folder: Path) -> str:
    return (folder / "imported").read_text() if (folder / "imported").exists() else ""


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env: Mapping[str, str] = {**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=240)


@pytest.mark.reliability("Python files in the current folder")
@pytest.mark.parametrize(
    ("executor", "processes", "path"),
    [
        ("local", 1, "{source}"),
        ("local", 1, "{source}:"),
        ("local", 1, ":{source}"),
        pytest.param("local", 2, "{source}", marks=pytest.mark.heavy),
        pytest.param("ray", 1, "{source}", marks=pytest.mark.heavy),
    ],
)
def test_steps_of_a_study_import_nothing_of_the_current_folder(
    tmp_path: Path, executor: str, processes: int, path: str
) -> None:
    here = hostile(tmp_path / "here")
    if executor == "ray":
        pytest.importorskip("ray")
    function, settings = ("ranks", "") if processes > 1 else ("total", "value=1")
    code = RUN.format(
        tests=str(TESTS), here=str(here), workspace=str(tmp_path / "home"), executor=executor, processes=processes,
        function=function, settings=settings,
    )  # fmt: skip
    # The process itself is started elsewhere and safely: it is its children that are tested.
    done = run(sys.executable, "-P", "-c", code, cwd=tmp_path, PYTHONPATH=path.format(source=SOURCE))
    assert (told(here), done.returncode) == ("", 0), done.stderr[-2000:]


@pytest.mark.heavy
@pytest.mark.reliability("what listens on a network")
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is listened on")
def test_a_ray_of_this_machine_listens_on_this_machine_alone(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    code = RUN.format(
        tests=str(TESTS), here=str(tmp_path), workspace=str(tmp_path / "home"), executor="ray", processes=1,
        function="tree_listeners", settings="root=os.getpid()",
    )  # fmt: skip
    done = run(sys.executable, "-P", "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    (value,) = (file.read_text() for file in (tmp_path / "home").rglob("value"))
    several, *addresses = value.split()
    assert several == "True"
    loopback = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
    assert addresses
    assert set(addresses) <= set(loopback)


@pytest.mark.reliability("Python files in the current folder")
def test_the_command_imports_nothing_of_the_current_folder(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("numpy", "typer", "rich", "regex", "sitecustomize", "json"):
        (here / f"{name}.py").write_text(
            f"open({str(here / 'imported')!r}, 'a').write(__name__)\nraise SystemExit(9)\n"
        )
    done = run(sys.executable, "-m", "interlingua", "list", cwd=here)
    assert (told(here), done.returncode) == ("", 0), done.stderr[-2000:]
    console = "from interlingua.__main__ import main; main()"  # what pip writes for the command `interlingua`
    done = run(sys.executable, "-P", "-c", console, "list", cwd=hostile(tmp_path / "other"))
    assert (told(tmp_path / "other"), done.returncode) == ("", 0), done.stderr[-2000:]


@pytest.mark.reliability("Python files in the current folder")
def test_processes_that_tokenise_import_nothing_of_the_current_folder(tmp_path: Path) -> None:
    here = hostile(tmp_path / "here")
    code = (
        f"import os, interlingua.training.text as text\nfrom pathlib import Path\nos.chdir({str(here)!r})\n"
        "text._WORTH_PROCESSES = 0\nos.cpu_count = lambda: 2\n"
        f"files = [Path({str(TESTS / 'tiny.py')!r}), Path({str(TESTS / 'toys.py')!r})]\n"
        "with text._mapped(os.path.getsize, files) as sizes:\n    assert min(sizes) > 0\n"
    )
    done = run(sys.executable, "-P", "-c", code, cwd=tmp_path)
    assert (told(here), done.returncode) == ("", 0), done.stderr[-2000:]


@pytest.mark.reliability("Python files in the current folder")
def test_a_child_takes_the_very_package_that_started_it(tmp_path: Path) -> None:
    """Run from source in its own folder, without PYTHONPATH; and a function beside the user's script is found."""
    (tmp_path / "mine.py").write_text(
        "from steps_for_tests import Settings\n"
        "def work(settings: Settings, context):\n"
        "    import interlingua\n    (context.out / 'value').write_text(interlingua.__file__)\n"
    )
    (tmp_path / "run.py").write_text(
        f"import sys; sys.path.insert(1, {SOURCE!r})\n"
        + RUN.format(
            tests=str(TESTS), here=str(tmp_path), workspace=str(tmp_path / "home"), executor="local", processes=1,
            function="total", settings="",
        ).replace("steps_for_tests:total", "mine:work")
    )  # fmt: skip
    done = run(sys.executable, "run.py", cwd=tmp_path, PYTHONPATH="")
    assert done.returncode == 0, done.stderr[-2000:]
    assert [file.read_text() for file in (tmp_path / "home").rglob("value")] == [interlingua.__file__]
