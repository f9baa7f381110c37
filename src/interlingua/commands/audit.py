"""How well languages are aligned inside a model: `interlingua.audit`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.space_measures import TWO_MODELS, Dictionary, read_dictionaries
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.corpus import ParallelCorpus
from interlingua.encoder.devices import pick_device
from interlingua.encoder.model_loading import check_precision, default_precision, find_folder
from interlingua.errors import InputError
from interlingua.measures import measures as registry
from interlingua.paths import read_json
from interlingua.projection import check_installed
from interlingua.readers import read_corpus
from interlingua.readers.embedded_data import place_names
from interlingua.readers.saved_corpus import saved_lines
from interlingua.record import RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.finding import Finding
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.report import Report, build_report
from interlingua.report.subjects.layers import alignment_blocks
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import AuditCommand, EncoderTable, MeasureTable, StudyTable
from interlingua.studies.steps.step_io import ABOUT, MAP

DEFAULT_MEASURES = (
    "retrieval",
    "procrustes",
    "procrustes-words",
    "cka",
    "separation",
    "isotropy",
    "tokenization",
    "spelling",
)
KIND = "audit"
"""The kind of its folder, and what the study that it is calls itself and its table of measures."""
SAVED = "corpus"
"""The name of a corpus that was in memory, as a file."""


@dataclass(frozen=True, repr=False)
class Audit(ReportedResult):
    """The result of an audit: its records, the run's settings, and a 2-D map of the sentences.

    The mean of the records of one metric is the number of the page:
    `records.where(metric="p@1", similarity="cosine", centering="raw", layer=6).mean()`.
    """

    records: RecordTable
    run: dict[str, Any]
    points: dict[str, Any] | None
    folder: Path | None = None

    @cached_property
    def _report(self) -> Report:
        return build_report([audit_run(self.records, self.run, self.points)])

    def report(self) -> Report:
        """The report of this audit: findings, tables and charts as objects."""
        return self._report

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, the answer first: each with its kind, verdict, numbers and sentence."""
        return (self._report.headline.answer, *self._report.findings())

    def answer(self) -> str:
        """The verdict and all findings as plain text."""
        return self.summary()

    @property
    def best_layer(self) -> int | None:
        """The layer of the best mean retrieval, as is (CKA where retrieval was not measured)."""
        found = alignment_blocks(audit_run(self.records, self.run, self.points))
        return next((space.best_layer for spaces in found.values() for space in spaces), None)

    @property
    def page_file(self) -> Path | None:
        """The page in the folder of the run; None where nothing was written."""
        return None if self.folder is None else self.folder / "report.html"

    def __repr__(self) -> str:
        return f"Audit({self.run['model']}, {len(self.run['languages'])} languages, {len(self.records)} records)"


def audit_run(records: RecordTable, about: Mapping[str, Any], points: Mapping[str, Any] | None) -> Run:
    """What a report reads of an audit: its settings, its records and its map."""
    return Run(kind=KIND, about=about, records=records, attachments={} if points is None else {"points": points})


@command(AuditCommand)
def audit(given: AuditCommand) -> Audit:
    """In Python `corpus` is whatever `read_corpus` takes: a path, a DataFrame, a mapping, rows, pairs of texts.

    With `against`, every language of the first model is compared with every language of the second.
    """
    checked = CheckedAudit.of(given)
    with ran(_compiled(checked)) as finished:
        records, (map_step,) = finished.records, finished.steps("map")
        points, run = read_json(finished.place(map_step) / MAP), _about(checked, finished)
        if given.out is None:  # Per-item values go with the folder.
            return Audit(RecordTable(replace(record, items=None) for record in records), run, points)
        finished.export(map_step, MAP, MAP)
        for name, text in report_files(audit_run(records, run, points)).items():
            finished.write(name, text)
        finished.write_about(run)
        return Audit(records, run, points, Path(given.out))


def compile_audit(given: AuditCommand) -> CompiledCommand:
    """An audit as a study with one cell."""
    return _compiled(CheckedAudit.of(given))


@dataclass(frozen=True)
class CheckedAudit:
    """A call of `audit` that was checked as far as it can be without a model, and what was read on the way."""

    given: AuditCommand
    measures: tuple[str, ...]
    texts: ParallelCorpus
    names: ParallelCorpus | None
    dictionaries: Sequence[Dictionary]
    precision: str
    saved: tempfile.TemporaryDirectory[str] | None
    """Where the corpus is as a file, if it was given in memory or by a pipe."""

    @classmethod
    def of(cls, given: AuditCommand) -> CheckedAudit:
        measures, seed, device = _measures(given.measures, given.against), given.seed, pick_device(given.device)
        check_installed(given.projection)
        chosen = None if given.languages is None else codes.several(given.languages)
        whole = read_corpus(
            given.corpus, languages=chosen, format=given.format, encoding=given.encoding, column=given.column
        )
        texts = _compared(whole, chosen, rows=given.rows, seed=seed, alone=given.against is not None)
        names = _names(given.spellings, texts, measures)
        words = [] if given.dictionary is None else read_dictionaries(given.dictionary, texts.languages, seed=seed)
        precision = given.precision or default_precision(device)
        for model in (given.model, given.against):
            if model is not None:
                find_folder(model, allow_pickle=given.allow_pickle)
        check_precision(device, precision)
        return cls(given, measures, texts, names, words, precision, None if _is_file(given.corpus) else _saved(whole))


def _measures(names: Sequence[str] | None, against: str | None) -> tuple[str, ...]:
    """The measures that are taken: those asked for, or those of a plain audit."""
    chosen = tuple(names) if names is not None else DEFAULT_MEASURES if against is None else TWO_MODELS
    for name in chosen:
        registry[name]  # Raises with the nearest name.
        if against is not None and name not in TWO_MODELS:
            raise InputError(
                "this measure needs one space, and two models have two",
                value=name,
                remedy=f"With a second model use: {', '.join(TWO_MODELS)}.",
            )
    if not chosen:
        raise InputError("no measure was named", remedy="Leave --measures out for those of a plain audit.")
    return tuple(dict.fromkeys(chosen))


def _compared(
    corpus: ParallelCorpus, languages: Sequence[str] | None, *, rows: int | None, seed: int, alone: bool
) -> ParallelCorpus:
    """The rows and languages asked for; refused where two languages share too few rows (`alone`: one may do)."""
    if languages is not None:
        corpus = corpus.select(languages)
    if len(corpus.languages) < (1 if alone else 2):
        raise InputError(
            f"an audit compares languages, and {'this corpus has one' if languages is None else 'one was named'}",
            value=corpus.languages[0],
            remedy="Give at least two.",
        )
    corpus = corpus if rows is None else corpus.sample(rows, seed=seed)
    if not alone:
        for source, target in corpus.pairs():
            count = len(corpus.pair(source, target).rows)
            if count < 10:
                raise InputError(
                    f"{source} and {target} share only {count} row{'s' if count > 1 else ''} in {corpus.name}",
                    remedy="No measure says anything below 10; give more rows or other --languages.",
                )
    return corpus


def _names(given: str | Path | None, texts: ParallelCorpus, measures: Sequence[str]) -> ParallelCorpus | None:
    """Parallel names where a measure asks for them: those given, or CLDR's territories."""
    if not any(registry[name].needs == "names" for name in measures):
        if given is not None:
            raise InputError(
                "--spellings has nothing to do here", value=str(given), remedy="Leave it out, or measure spelling."
            )
        return None
    return place_names(texts.languages) if given is None else read_corpus(given)


def _is_file(corpus: Any) -> bool:
    """Whether a corpus can be read again and again: not so what is in memory, comes by a pipe or from stdin."""
    return isinstance(corpus, str | os.PathLike) and os.fspath(corpus) != "-" and not Path(corpus).is_fifo()


def _saved(corpus: ParallelCorpus) -> tempfile.TemporaryDirectory[str]:
    """A corpus as a file in a new folder, which goes with the object."""
    place = tempfile.TemporaryDirectory(prefix="interlingua-")
    with (Path(place.name) / SAVED).open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(saved_lines(corpus))
    return place


def _compiled(checked: CheckedAudit) -> CompiledCommand:
    given, texts, saved = checked.given, checked.texts, checked.saved
    models = (given.model,) if given.against is None else (given.model, given.against)
    own: dict[str, Any] = {} if saved is not None else {"encoding": given.encoding, "column": given.column}
    if given.against is None:  # Of two models all languages are compared.
        own |= {"pairs": given.pairs or "all", "maps": given.maps or "pivot"}
    table = MeasureTable(
        measures=checked.measures,
        corpus=os.fspath(given.corpus) if saved is None else str(Path(saved.name) / SAVED),
        format=given.format if saved is None else "saved",
        **own,
        against=() if given.against is None else (models,),
        languages=texts.languages,
        rows=given.rows,
        pooling=given.pooling,
        prompt=given.prompt,
        spellings=None if given.spellings is None else os.fspath(given.spellings),
        dictionary=None if given.dictionary is None else os.fspath(given.dictionary),
        map=True,
        projection=given.projection,
        seed=given.seed,
    )
    whole = StudyTable(
        name=KIND,
        languages=texts.languages,
        source=texts.languages[0],
        encoders={
            name: EncoderTable(model=name, trust_remote_code=given.trust_remote_code, allow_pickle=given.allow_pickle)
            for name in models
        },
        precision=given.precision,
        measures={KIND: table},
    )
    options: dict[Place, str] = {("encoders",): "MODEL", ("measures", KIND): "audit"}
    options |= {("measures", KIND, key): f"--{key}" for key in ("measures", "corpus", "spellings", "dictionary")}
    # Measures, names and dictionaries may be added in the same folder: only their steps are run.
    same = ("model", "against", "pairs", "maps", "pooling", "prompt", "rows", "seed")
    identity = {name: str(getattr(given, name)) for name in same}
    identity |= {"corpus": texts.digest, "languages": ",".join(texts.languages), "precision": checked.precision}
    return CompiledCommand(
        kind=KIND,
        study=one_cell(whole, options),
        identity=identity,
        out=None if given.out is None else Path(given.out),
        device=given.device,
        progress=given.progress,
        cache=_cache(given.cache),
        temporary=saved,
    )


def _about(checked: CheckedAudit, finished: FinishedCommand) -> dict[str, Any]:
    """What `run.json` says: what was asked, and what the models are that were read."""
    given, texts = checked.given, checked.texts
    models = [read_json(finished.place(step) / ABOUT) for step in finished.steps("encode")]
    first = models[0]
    digests = {"corpus": texts.digest, **{f"model {model['model']}": model["digest"] for model in models}}
    if checked.names is not None:
        digests["names"] = checked.names.digest
    digests |= {f"dictionary {entry.source}-{entry.target}": entry.digest for entry in checked.dictionaries}
    # The number of the layer `output`, and what comes before every text there, where a model has one.
    own = [model for model in models if model["output"] is not None]
    outputs = {"output": own[0]["output"], "prompt": list(dict.fromkeys(m["prompt"] for m in own))} if own else {}
    return finished.about(
        model=given.model,
        against=given.against,
        corpus=texts.name,
        languages=list(texts.languages),
        measures=list(checked.measures),
        pooling=first["pooling"],
        seed=given.seed,
        layers=first["layers"],
        **outputs,
        dim=first["dim"],
        precision=checked.precision,
        digests=digests,
        pairs=given.pairs or "all",
        maps=given.maps or "pivot",
        names={code: codes.name(code) for code in texts.languages},
        rows=len(texts),
    )


def _cache(given: str | Path | None) -> Path | None:
    """The cache of representations: a folder, none, or the user's cache folder."""
    if given is not None:
        return None if str(given) == "none" else Path(given)
    home = os.environ.get("INTERLINGUA_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interlingua" / "representations"
