"""How well languages are aligned inside a model: `interlingua.audit`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.space_measures import project, read_dictionaries
from interlingua.commands.command import command
from interlingua.encoder import Cache, Encoder, View
from interlingua.engine.atomic_files import write_text
from interlingua.readers import read_corpus
from interlingua.record import RecordTable
from interlingua.report.answer import answer
from interlingua.report.audit import audit_sections, build_page
from interlingua.report.files import report_files
from interlingua.report.notebook import Drawing, drawing, framed
from interlingua.report.readings import gather
from interlingua.report.record_adapter import to_v1
from interlingua.report.runs import Run
from interlingua.studies.auditing import (
    Questions,
    audit_corpus,
    audit_names,
    audit_plan,
    measure,
    prepare,
)
from interlingua.studies.config.schema import AuditCommand
from interlingua.studies.run_folder import alone_in


@dataclass(frozen=True)
class Audit:
    """What an audit found: records, the run's settings, and a 2-D map of the sentences.

    The mean of the records of one metric is the number of the page:
    `records.where(metric="p@1", similarity="cosine", centering="raw", layer=6).mean()`.
    """

    records: RecordTable
    run: dict[str, Any]
    points: dict[str, Any] | None
    folder: Path | None = None

    @cached_property
    def _read(self) -> list[dict[str, Any]]:
        """The records as pages read them."""
        return to_v1(self.records)

    @property
    def best_layer(self) -> int | None:
        """The layer of the best mean retrieval, as is (CKA where retrieval was not measured)."""
        return gather(self._read).best_layer()

    def answer(self) -> str:
        """What was found, in words."""
        return "\n".join(f"{finding.topic}. {finding.text}" for finding in answer(self._read, self.run))

    def page(self) -> str:
        """The HTML page, self-contained."""
        return build_page(self._read, self.run, self.points)

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        run = Run(self.run, self._read, more={"points": self.points})
        return drawing(audit_sections({"": (run, run.readings())}), name, self._read)

    def __repr__(self) -> str:
        return f"Audit({self.run['model']}, {len(self.run['languages'])} languages, {len(self.records)} records)"

    def _repr_html_(self) -> str:
        return framed(self.page())


@command(AuditCommand)
def audit(given: AuditCommand) -> Audit:
    """In Python `corpus` is whatever `read_corpus` takes: a path, a DataFrame, a mapping, rows, pairs of texts.

    With `against`, every language of the first model is compared with every language of the second.
    """
    seed, against = given.seed, given.against
    plan = audit_plan(given.measures, against=against, pooling=given.pooling, seed=seed, prompt=given.prompt)
    chosen = None if given.languages is None else codes.several(given.languages)
    texts = read_corpus(
        given.corpus, languages=chosen, format=given.format, encoding=given.encoding, column=given.column
    )
    texts = audit_corpus(texts, chosen, rows=given.rows, seed=seed, alone=against is not None)
    parallel_names = audit_names(given.spellings, texts, plan)
    entries = [] if given.dictionary is None else read_dictionaries(given.dictionary, texts.languages, seed=seed)
    asked = Questions(texts, plan, parallel_names, entries, given.pairs or "all", given.maps or "pivot")
    tell = given.progress or (lambda stage, done, total: None)
    tell("loading the model", 0, 1)

    def load(name: str) -> Encoder:
        return Encoder.load(
            name, device=given.device, precision=given.precision, trust_remote_code=given.trust_remote_code,
            allow_pickle=given.allow_pickle, prompt=given.prompt,
        )  # fmt: skip

    first = load(given.model)
    encoders = [first] if against is None else [first, load(against)]
    for encoder in encoders:
        encoder.checked(View("sentence", given.pooling), texts=1)
    prepared, folder = prepare(encoders, asked), None if given.out is None else Path(given.out)
    with alone_in(folder, "audit"):
        measured = measure(prepared, folder, cache=_cache(given.cache), tell=tell)
        records, run = to_v1(measured.records), measured.run
        found = gather(records)
        best = found.best_layer()
        points = project(measured.spaces[0], texts, layer=first.layers[-1] if best is None else best, seed=seed)
        points["layer"] = "output" if best is not None and best == found.output else points["layer"]
        if folder is not None:
            write_text(folder / "map.json", json.dumps(points, ensure_ascii=False))
            for name, text in report_files(records, run, points, found=found).items():
                write_text(folder / name, text)
            write_text(folder / "run.json", json.dumps(run, ensure_ascii=False, indent=1))
        return Audit(RecordTable(measured.records), run, points, folder)


def _cache(given: str | Path | None) -> Cache | None:
    """The cache of representations: a folder, `none`, or the user's cache folder."""
    if given is not None and str(given) == "none":
        return None
    if given is not None:
        return Cache(Path(given))
    home = os.environ.get("INTERLINGUA_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(home) / "interlingua" / "representations")
