"""The Python processes that this one starts: none imports anything from the folder it happens to be started in.

Python puts the current folder first on the path of `python -m` and `python -c`, and an empty entry of PYTHONPATH means
that folder too: a `numpy.py` or `sitecustomize.py` that lies beside someone's data would be run.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])
"""The folder that holds this package: a child uses this very one, installed or not."""
_BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); from interlingua.engine.child_processes import begin; begin()"


def command(module: str, *arguments: str) -> list[str]:
    """The command line that runs a module as `python -m` does, without the current folder on its path.

    Folders that only this process looks into, such as that of the user's own script, come last there: the standard
    library and what is installed go first, and `sitecustomize` is sought before they are known.
    """
    path = [os.path.abspath(place) for place in sys.path if place]
    return [sys.executable, "-P", "-c", _BEGIN, ROOT, json.dumps(path), module, *arguments]


def begin() -> None:
    """What a child does first, by the arguments of `command`."""
    root, path, module, *arguments = sys.argv[1:]
    sys.path.remove(root)  # It stood first, so that no other copy of the package was taken.
    sys.path += [place for place in json.loads(path) if place not in sys.path]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def environment() -> dict[str, str]:
    """The environment for children: Python leaves the current folder alone, and PYTHONPATH has no empty entry."""
    found = {**os.environ, "PYTHONSAFEPATH": "1"}
    if places := [os.path.abspath(place) for place in found.pop("PYTHONPATH", "").split(os.pathsep) if place]:
        found["PYTHONPATH"] = os.pathsep.join(places)
    return found


@contextmanager
def safe_child_environment() -> Iterator[None]:
    """Inside, children that libraries start have that environment too."""
    before = {name: os.environ.get(name) for name in ("PYTHONSAFEPATH", "PYTHONPATH")}
    guard()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def guard() -> None:
    """Give that environment to this process, and so to all it starts from here on."""
    found = environment()
    if "PYTHONPATH" not in found:
        os.environ.pop("PYTHONPATH", None)
    os.environ.update(found)
