"""What the command line calls, and what a notebook calls: `audit()`, `adjust()`, `pretrain()`, `align()`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.space_measures import project, read_dictionaries
from interlingua.argument_types import check_argument_types
from interlingua.encoder import Cache, Encoder, View
from interlingua.engine.atomic_files import write_text
from interlingua.errors import InputError
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
from interlingua.studies.run_folder import alone_in

Progress = Callable[[str, int, int], None]


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


@check_argument_types
def audit(
    model: str = "embedded",
    corpus: object = "sampler",
    *,
    languages: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    column: int | str | None = None,
    against: str | None = None,
    pairs: str | None = None,
    maps: str | None = None,
    pooling: str | None = None,
    prompt: str | None = None,
    rows: int | None = None,
    names: str | Path | None = None,
    dictionary: str | Path | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    device: str | None = None,
    precision: str | None = None,
    trust_remote_code: bool = False,
    allow_pickle: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """How well the languages of a corpus are aligned inside a model, layer by layer.

    Encodes each language once and runs the measures over all layers and language pairs (`pairs`: all, or pivot:
    only those with the first language); measures that fit a map do so for pairs with the first language
    (`maps`: pivot, or all), since a map costs more than all comparisons of a pair. With `out`, records, tables, figures
    and a page are written there, and a second call with the same settings continues what a killed one began. `against`
    names a second model: then every language of the first is compared with every language of the second. `corpus` is
    whatever `read_corpus` takes: a path, a DataFrame, a mapping, rows, pairs of texts. `format`, `encoding` and
    `column` (of files with columns) help where the corpus's content leaves a doubt. `prompt`, a text or its name, comes
    before every text in the layer `output` of a sentence-transformers model. `rows` draws that many rows by `seed`.
    `names` is a corpus of parallel names for `spelling`; by default CLDR's territories. `dictionary` is a folder of
    MUSE dictionaries: then words alone are mapped, too.
    """
    if seed < 0:
        raise InputError("the seed is negative", value=seed, remedy="Give 0 or more.")
    plan = audit_plan(measures, against=against, pooling=pooling, seed=seed, prompt=prompt)
    _check_choices({"pairs": pairs, "maps": maps}, against)
    chosen = None if languages is None else codes.several(languages)
    texts = read_corpus(corpus, languages=chosen, format=format, encoding=encoding, column=column)
    texts = audit_corpus(texts, chosen, rows=rows, seed=seed, alone=against is not None)
    parallel_names = audit_names(names, texts, plan)
    entries = [] if dictionary is None else read_dictionaries(dictionary, texts.languages, seed=seed)
    asked = Questions(texts, plan, parallel_names, entries, pairs or "all", maps or "pivot")
    tell = progress or (lambda stage, done, total: None)
    tell("loading the model", 0, 1)

    def load(name: str) -> Encoder:
        return Encoder.load(
            name, device=device, precision=precision, trust_remote_code=trust_remote_code, allow_pickle=allow_pickle,
            prompt=prompt,
        )  # fmt: skip

    first = load(model)
    encoders = [first] if against is None else [first, load(against)]
    for encoder in encoders:
        encoder.checked(View("sentence", pooling), texts=1)
    prepared, folder = prepare(encoders, asked), None if out is None else Path(out)
    with alone_in(folder, "audit"):
        measured = measure(prepared, folder, cache=_cache(cache), tell=tell)
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


def _check_choices(choices: Mapping[str, str | None], against: str | None) -> None:
    for what, choice in choices.items():
        if choice is not None and choice not in ("all", "pivot"):
            raise InputError(f"unknown choice of {what}", value=choice, remedy="Use all, or pivot.")
        if choice is not None and against is not None:
            raise InputError(
                f"--{what} has nothing to do here",
                value=choice,
                remedy="With --against every language of one model is compared with every one of the other.",
            )


def _cache(given: str | Path | None) -> Cache | None:
    """The cache of representations: a folder, `none`, or the user's cache folder."""
    if given is not None and str(given) == "none":
        return None
    if given is not None:
        return Cache(Path(given))
    home = os.environ.get("INTERLINGUA_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(home) / "interlingua" / "representations")
