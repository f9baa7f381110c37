"""Writes docs/map.md, where every module is, from the modules' own first lines:  python docs/generate_map.py"""

from __future__ import annotations

import ast
from pathlib import Path

from interlingua.report.kit.citations import name_papers

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "interlingua"
HEAD = """# Where things are

<!-- Made by docs/generate_map.py from the first line of every module; edit those instead. -->

All modules, from the lowest floor up. A module imports its own package and lower floors only; a test checks this
([architecture](architecture.md)).
"""
FLOORS = {
    "Floor 0: what every other module may import": (
        "errors", "paths", "argument_types", "registry", "score", "metric", "record", "languages", "words",
        "plural_counts", "corpus",
    ),
    "Floor 1: the engine, pure functions, and readers of files": (
        "engine", "stats", "measures", "projection", "transport", "kernels", "readers", "synthetic",
    ),
    "Floor 2: models": ("encoder",),
    "Floor 3: training, word links and attributions": ("training", "wordalign", "attribution"),
    "Floor 4: objectives and tasks": ("objectives", "tasks"),
    "Floor 5: analyses: objects in, records out": ("analyses",),
    "Floor 6: studies and reports": ("studies", "report"),
    "Floor 7: the functions of the package, and the explorer": ("commands", "explorer"),
    "Floor 8: the command line": ("cli", "__init__", "__main__"),
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
    """The package or module right under `interlingua`."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _first_line(path: Path) -> str:
    """The first sentence or line of a module's docstring, as a cell of a table."""
    told = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return name_papers(told.split("\n\n")[0].replace("\n", " ").replace("|", "\\|").strip())


if __name__ == "__main__":
    (ROOT / "docs" / "map.md").write_text(page(), "utf-8")
