"""What `audit()` and `pretrain()` give back: objects that answer, draw, and show themselves in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.report.answer import answer
from interlingua.report.audit import audit_sections, build_page
from interlingua.report.notebook import Drawing, drawing, framed, tabled
from interlingua.report.readings import gather
from interlingua.report.runs import Run
from interlingua.report.tables import Table


@dataclass(frozen=True)
class Audit:
    """What an audit found: records, the run's settings, and a 2-D map of the sentences."""

    records: list[dict[str, Any]]
    run: dict[str, Any]
    points: dict[str, Any] | None
    folder: Path | None = None

    def select(self, measure: str, variant: str, *, layer: int | None = None) -> list[dict[str, Any]]:
        """The records of one variant of a measure, at one layer or at all; one for each direction of a pair.

        The mean of their values is the number of the page. An unknown name is an InputError with the nearest.
        """
        measured = list(dict.fromkeys(record["measure"] for record in self.records))
        if measure not in measured:
            raise unknown("measure of this audit", measure, measured)
        own = [record for record in self.records if record["measure"] == measure]
        variants = list(dict.fromkeys(record["variant"] for record in own))
        if variant not in variants:
            raise unknown(f"variant of {measure}", variant, variants)
        layers = sorted({record["layer"] for record in own if record["layer"] is not None})
        if layer is not None and layers and layer not in layers:
            raise InputError(
                "no such layer in this audit", value=layer, remedy=f"Its layers: {', '.join(map(str, layers))}."
            )
        return [
            record for record in own if record["variant"] == variant and (layer is None or record["layer"] == layer)
        ]

    @property
    def best_layer(self) -> int | None:
        """The layer of the best mean retrieval, as is (CKA where retrieval was not measured)."""
        return gather(self.records).best_layer()

    def answer(self) -> str:
        """What was found, in words."""
        return "\n".join(f"{finding.topic}. {finding.text}" for finding in answer(self.records, self.run))

    def page(self) -> str:
        """The HTML page, self-contained."""
        return build_page(self.records, self.run, self.points)

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        run = Run(self.run, self.records, more={"points": self.points})
        return drawing(audit_sections({"": (run, run.readings())}), name, self.records)

    def __repr__(self) -> str:
        return f"Audit({self.run['model']}, {len(self.run['languages'])} languages, {len(self.records)} records)"

    def _repr_html_(self) -> str:
        return framed(self.page())


@dataclass(frozen=True, repr=False)
class Pretrained:
    """What pretraining made: the model folder, and what was measured on the way."""

    folder: Path
    summary: dict[str, Any]

    def __repr__(self) -> str:
        return f"Pretrained({str(self.folder)!r}, {'' if self.summary['finished'] else 'not '}finished)"

    def _repr_html_(self) -> str:
        plain = [(key, value) for key, value in self.summary.items() if isinstance(value, str | int | float)]
        rows = [(key.replace("_", " "), str(value)) for key, value in plain]
        last = self.summary["metrics"][-1] if self.summary.get("metrics") else {}
        rows += [(key.replace("_", " "), f"{value:.4g}") for key, value in last.items() if isinstance(value, float)]
        return tabled(Table("pretrained", "Pretrained", "", ("", "value"), tuple(rows)))
