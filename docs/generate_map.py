"""Writes docs/map.md, where every module is, from the modules' own first lines:  python docs/generate_map.py"""

from __future__ import annotations

import ast
from pathlib import Path

from interlingua.report.papers import in_names

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "interlingua"
HEAD = """# Where things are

<!-- Made by docs/generate_map.py from the first line of every module; edit those instead. -->

The rooms of the house from the ground up: a module imports its own room and lower floors only, and a test holds it
to that.
"""
FLOORS = {
    "The ground: what everything stands on": (
        "errors", "paths", "atomic_files", "children", "registry", "score", "languages", "words", "counting",
        "argument_types", "corpus",
    ),
    "Floor 1: pure functions, and files read": (
        "stats", "measures", "flattening", "transport", "kernels", "readers", "wordalign", "synthetic",
    ),
    "Floor 2: models": ("encoder",),
    "Floor 3: training and attribution": ("training", "attribution", "wordalign_neural"),
    "Floor 4: what is trained": ("objectives", "tasks"),
    "Floor 5: studies and reports": ("studies", "report"),
    "Floor 6: what a notebook calls, and the live page": ("api", "explorer"),
    "Floor 7: the command line": ("cli", "__init__", "__main__"),
}  # fmt: skip


def page() -> str:
    """The whole page as Markdown; every module is in it, or it is an error."""
    paths = sorted(PACKAGE.rglob("*.py"))
    parts, seen = [HEAD.strip()], set()
    for title, names in FLOORS.items():
        rows = []
        for name in names:
            for path in paths:
                if _room(path) == name:
                    seen.add(path)
                    rows.append(f"| `{path.relative_to(PACKAGE)}` | {_first_line(path)} |")
        parts.append(f"## {title}\n\n| module | what it is |\n|---|---|\n" + "\n".join(rows))
    homeless = [str(path.relative_to(PACKAGE)) for path in paths if path not in seen]
    if homeless:
        raise SystemExit(f"no floor in docs/generate_map.py has {', '.join(homeless)}")
    return "\n\n".join(parts) + "\n"


def _room(path: Path) -> str:
    """The package or module right under `interlingua`; what commands call, and commands, are one room each."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return next((kind for kind in ("api", "cli") if first.startswith(f"{kind}_")), first)


def _first_line(path: Path) -> str:
    """The first sentence or line of a module's docstring, as a cell of a table."""
    told = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return in_names(told.split("\n\n")[0].replace("\n", " ").replace("|", "\\|").strip())


if __name__ == "__main__":
    (ROOT / "docs" / "map.md").write_text(page(), "utf-8")
