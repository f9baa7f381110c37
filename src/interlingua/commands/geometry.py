"""What `interlingua geometry` calls, and what a notebook calls: `geometry()`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.synthesis import Rules, SynthesisSources, Synthetic, synthesise
from interlingua.analyses.transfer_matrix import spellings_in, summarize_geometry
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.encoder.devices import pick_device
from interlingua.encoder.model_loading import EMBEDDED, check_precision
from interlingua.engine.graph import Graph
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.projection import check_installed
from interlingua.record import Record, RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.report import Report, build_report
from interlingua.studies.analysis_settings import seeds_of
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import (
    EncoderTable,
    FollowedName,
    GeometryCommand,
    GeometryTable,
    Maps,
    MonitoringSettings,
    StudyTable,
    SynthTable,
)
from interlingua.studies.step_settings import EntityGeometryStep, GeometryStep
from interlingua.studies.steps.entity_geometry import ABOUT, MAP
from interlingua.studies.steps.geometry import JOURNAL, TRAINED

Source = str | Path
Entry = dict[str, Any]
ROWS, SMALL_ROWS = 10_000, 1_000
"""Sentences in each language, training and test together: about the paper's (8,534 and 1,613), and for two cores."""
SMALL_LANGUAGES = ("be", "en", "ru", "tr")
"""Those that papers/003 looks at most."""
EMBEDDED_RATE, EMBEDDED_BATCH = 2e-4, 16
"""For the embedded encoder; the task's own, 2e-5 and 32 sentences, are for models ten times its size."""
CONCLUSIONS = "geometry.json"
SENTENCES, NAMES = "sentences", "names"
"""What the study of the command calls its set of sentences, and its geometry table."""


@dataclass(frozen=True)
class GeometryFound(ReportedResult):
    """The result of a run: `records`, `run` with all that made them, `maps`, and what was computed of several records.

    `found` has `changes`, `groups` and `scatter`: see `analyses.transfer_matrix.conclusions`.
    """

    records: RecordTable
    run: dict[str, Any]
    maps: list[dict[str, Any]]
    found: dict[str, Any]
    folder: Path

    def report_run(self) -> Run:
        """The run as a report reads it."""
        attachments = {"geometries": [{"found": self.found, "maps": self.maps}]}
        return Run(kind="geometry", about=self.run, records=self.records, attachments=attachments)

    def report(self) -> Report:
        """What fine-tuning does to the model's space: what the page shows."""
        return build_report([self.report_run()])

    @property
    def page_file(self) -> Path:
        return self.folder / "report.html"

    def __repr__(self) -> str:
        return f"Geometry({self.run['model']}, {', '.join(self.run['languages'])}, {len(self.records)} records)"


def compile_geometry(given: GeometryCommand) -> CompiledCommand:
    """The study with one encoder, one set of sentences and one geometry table."""
    check_installed(given.projection)
    source, seeds = codes.canonical(given.source), seeds_of(given.seeds)
    if given.precision is not None:
        check_precision(pick_device(given.device), given.precision)
    synthetic, sentences = _sentences(given)
    _check_set(given, source, synthetic)
    usual = EMBEDDED_RATE, EMBEDDED_BATCH
    rate, batch = usual if given.model == EMBEDDED else (None, None)
    shared = [entry.name for group in (Maps, MonitoringSettings, FollowedName) for entry in fields(group)]
    table = StudyTable(
        name="geometry",
        languages=synthetic.languages,
        source=source,
        seeds=tuple(given.seed + number for number in seeds),
        precision=given.precision,
        encoders={
            given.model: EncoderTable(
                model=given.model, trust_remote_code=given.trust_remote_code, allow_pickle=given.allow_pickle
            )
        },
        synth={SENTENCES: sentences},
        geometry={
            NAMES: GeometryTable(
                synth=SENTENCES,
                sources=tuple(given.sources or ()),
                # The paper's one epoch.
                epochs=(2.0 if given.small else 1.0) if given.epochs is None else given.epochs,
                learning_rate=rate if given.learning_rate is None else given.learning_rate,
                batch_size=batch if given.batch_size is None else given.batch_size,
                seed=given.seed,
                **{name: getattr(given, name) for name in shared},
            )
        },
    )
    options: dict[Place, str] = {
        ("encoders",): "MODEL",
        ("synth",): "--entities",
        ("geometry", NAMES, "projection"): "--projection",
    }
    return CompiledCommand(
        kind="geometry",
        study=one_cell(table, options),
        identity={},
        out=Path(given.out),
        device=given.device,
        progress=given.progress,
    )


@command(GeometryCommand)
def geometry(given: GeometryCommand) -> GeometryFound:
    """In Python `entities` may also be what `synth()` gave.

    The folder `out` gets records, tables and a page.
    """
    with ran(compile_geometry(given)) as finished:
        planned = finished.planned
        (entry,) = geometry_entries(finished.study.table, planned.graph, planned.workspace, finished.records)
        own = entry["about"]
        notes = own.pop("skipped")
        trained = [read_json(finished.place(step) / TRAINED) for step in finished.steps("geometry")]
        data = ["synth()"] if isinstance(given.entities, Synthetic) else [str(each) for each in _listed(given.entities)]
        about = finished.about(
            **{**own, "data": data},
            trained=trained,
            digests={"model": finished.records[0].digests["model"]},
        )
        about["skipped"] += [note for note in notes if note not in about["skipped"]]
        maps = _export(finished)
        result = GeometryFound(finished.records, about, maps, entry["found"], finished.folder)
        for name, text in report_files(result.report_run()).items():
            finished.write(name, text)
        finished.write(CONCLUSIONS, json.dumps(result.found, ensure_ascii=False, indent=1))
        finished.write_about(about)
        return result


def _export(finished: FinishedCommand) -> list[Entry]:
    """Give maps and journals names that people see; the maps."""
    maps = []
    for step in finished.steps("entity_geometry"):
        finished.export(step, MAP, f"maps/{step.key}.json")
        maps.append(read_json(finished.place(step) / MAP))
    for step in finished.steps("geometry"):
        assert isinstance(step.settings, GeometryStep)
        finished.export(step, JOURNAL, f"steps/{step.settings.source}-seed{step.settings.seed}.jsonl")
    return maps


def geometry_entries(
    table: StudyTable, graph: Graph, workspace: Workspace, records: Sequence[Record]
) -> list[dict[str, Any]]:
    """One entry a geometry table and encoder that has records: `name`, `encoder`, `about`, `steps` and `found`.

    `about` is what a page says of a run of `interlingua geometry`; `found` see `transfer_matrix.conclusions`; `steps`
    are the keys of the finished looks, which left maps.
    """
    found: list[Entry] = []
    for name, given in table.geometry.items():
        own = [step for step in graph if getattr(step.settings, "block", None) == name]
        for encoder in given.encoders or table.encoders:
            mine = [record for record in records if (record.block, record.model) == (name, encoder)]
            looks, training = (
                [step for step in own if isinstance(step.settings, kind) and step.settings.encoder.name == encoder]
                for kind in (EntityGeometryStep, GeometryStep)
            )
            if not mine:
                continue
            told, notes = summarize_geometry(mine, spellings_in(records, given.synth), seed=given.seed)
            settings = training[0].settings
            assert isinstance(settings, GeometryStep)
            done = [step.key for step in looks if workspace.is_done(step.key)]
            about = {
                "kind": "geometry",
                "model": encoder,
                "data": given.synth,
                "languages": list(settings.synth.languages),
                "names": {code: codes.name(code) for code in settings.synth.languages},
                **_told_by(workspace, done),
                "source": given.source or table.source,
                "about": given.entity,
                "seed": given.seed,
                "settings": _settings(given, training),
                "skipped": notes,
            }
            found.append({"name": name, "encoder": encoder, "about": about, "steps": done, "found": told})
    return found


def _settings(given: GeometryTable, training: Sequence[Any]) -> Entry:
    """How it was looked and fine-tuned, by the names of the options."""
    first = training[0].settings
    shared = [entry.name for group in (Maps, MonitoringSettings, FollowedName) for entry in fields(group)]
    return {
        **{name: getattr(given, name) for name in shared if name != "entity"},
        "sources": list(dict.fromkeys(step.settings.source for step in training)),
        "seeds": list(dict.fromkeys(step.settings.seed for step in training)),
        "epochs": first.epochs,
        "learning_rate": first.learning_rate,
        "batch_size": first.batch,
        "precision": first.precision,
    }


def _told_by(workspace: Workspace, looks: Sequence[str]) -> Mapping[str, Any]:
    """What looks say of the set of sentences: its rows, and how the name that is followed is cut."""
    told: dict[str, Any] = {"rows": None, "pieces": {}}
    for key in looks:
        own = read_json(workspace.step(key) / ABOUT)
        told = {"rows": own["rows"], "pieces": told["pieces"] or own["pieces"]}
    return told


def _sentences(given: GeometryCommand) -> tuple[Synthetic, SynthTable]:
    """The sentences, and the table that says how they are made."""
    data = given.entities
    if isinstance(data, Synthetic):
        sources = data.sources
        made = None if sources is None else _synthesised(sources, data.languages, data.wanted, data.seed)
        if made != data or sources is None:
            raise InputError(
                "these sentences are not those that their contexts and names give (any more)",
                value=repr(data),
                remedy="Give what synth() returned, as it is, while its files are as they were.",
            )
    else:
        small = given.small and given.languages is None
        listed, types = tuple(_listed(data)), tuple(given.types or ())
        sources = SynthesisSources(listed, listed, types, Rules())
        rows = (SMALL_ROWS if given.small else ROWS) if given.rows is None else given.rows
        made = _synthesised(sources, SMALL_LANGUAGES if small else given.languages, rows, given.seed)
    return made, SynthTable(
        contexts=tuple(map(str, sources.contexts)),
        names=tuple(map(str, sources.names)),
        types=sources.types,
        languages=made.languages,
        rows=made.wanted,
        test_share=sources.rules.test_share,
        slots=sources.rules.slots,
        bad_rows=sources.rules.bad_rows,
        seed=made.seed,
    )


def _synthesised(given: SynthesisSources, languages: Sequence[str] | None, rows: int, seed: int) -> Synthetic:
    return synthesise(
        given.contexts,
        given.names,
        languages=languages,
        types=given.types or None,
        rows=rows,
        seed=seed,
        rules=given.rules,
    )


def _check_set(given: GeometryCommand, source: str, synthetic: Synthetic) -> None:
    """Refuse, before anything is written, what these sentences cannot be used for."""
    there = f"It has: {', '.join(synthetic.languages)}."
    if len(synthetic.languages) < 2:
        raise InputError(
            "one language has nothing to be compared with",
            value=synthetic.languages[0],
            remedy="Give two or more.",
        )
    if source not in synthetic.languages:
        raise InputError("the language of fine-tuning is not in the set", value=source, remedy=there)
    if unknown := sorted(set(map(codes.canonical, given.sources or ())) - set(synthetic.languages)):
        raise InputError("no such language in the set", value=unknown[0], remedy=there)
    if given.entity is not None:
        synthetic.about(given.entity, given.entity_rows)  # A name that is not there is told.


def _listed(given: Source | Sequence[Source]) -> list[Source]:
    return [given] if isinstance(given, str | Path) else list(given)
