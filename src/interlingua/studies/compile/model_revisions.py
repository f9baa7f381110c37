"""Commits of hub models: what a name and a revision stood for when a study was first run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from interlingua.encoder.model_loading import asked_commit, cached_commit
from interlingua.engine.atomic_files import write_text
from interlingua.paths import read_json


@dataclass
class Revisions:
    """Commits under name and revision: what the hub's cache on this machine has, else what a run of the study found
    out.

    `kept` is the study's file of those; `ask` lets the hub be asked for what neither has.
    """

    kept: Path | None = None
    ask: bool = False
    _told: dict[str, str] = field(default_factory=dict)
    _new: bool = False

    def __post_init__(self) -> None:
        if self.kept is not None and self.kept.is_file():
            try:
                self._told = {str(name): str(commit) for name, commit in read_json(self.kept).items()}
            except (ValueError, AttributeError):
                self._told = {}  # Asked again.

    def commit(self, name: str, revision: str | None) -> str | None:
        """The commit that a hub name stands for; None where it is not known here."""
        if (found := cached_commit(name, revision)) is not None:
            return found
        asked = name if revision is None else f"{name}@{revision}"
        if asked not in self._told and self.ask and (found := asked_commit(name, revision)) is not None:
            self._told[asked] = found
            self._new = True
        return self._told.get(asked)

    def keep(self) -> None:
        """Write what the hub said into the study's folder."""
        if self.kept is not None and self._new:
            write_text(self.kept, json.dumps(self._told, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
            self._new = False
