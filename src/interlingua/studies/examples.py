"""Where the explained examples of a run are, and the first of them, for pages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SHOWN = 8
"""How many examples of each language a page shows."""


def example_file(model: str, source: str, target: str, aspect: str) -> str:
    """Where the examples of an aspect of two languages are written, under the folder.

    >>> example_file("runs/mBERT", "en", "es", "label")
    'examples/runs-mBERT.en-es.label.jsonl'
    """
    name = re.sub(r"[^\w.-]+", "-", model).strip("-")
    return f"examples/{name}.{source}-{target}.{aspect}.jsonl"


def page_examples(folder: Path, models: Sequence[tuple[str, str]], languages: Sequence[str]) -> list[dict[str, Any]]:
    """The first examples of every language, of the first model, for the page."""
    found = []
    model, source = models[0]
    for code in languages:
        for path in sorted((folder / "examples").glob(Path(example_file(model, source, code, "*")).name)):
            if code == source:
                continue
            with path.open(encoding="utf-8") as lines:
                for _, line in zip(range(SHOWN), lines, strict=False):
                    found.append({**json.loads(line), "languages": {"source": source, "target": code}})
    return found
