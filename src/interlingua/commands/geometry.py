"""What `interlingua geometry` calls, and what a notebook calls: `geometry()`."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.synthesis import Rules, Synthetic, synthesise
from interlingua.analyses.transfer_matrix import conclusions, spellings_of_test
from interlingua.commands import report
from interlingua.commands.command import command
from interlingua.encoder import Encoder
from interlingua.encoder.devices import pick_device
from interlingua.encoder.loading import EMBEDDED, check_precision
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store
from interlingua.record import RecordTable, versions
from interlingua.report.geometry import geometry_files
from interlingua.report.notebook import Drawing, framed
from interlingua.report.record_adapter import to_v1
from interlingua.studies.analysis_settings import geometry_settings
from interlingua.studies.config.schema import GeometryCommand
from interlingua.studies.geometry import Geometry
from interlingua.studies.pairwise import PairwiseSettings
from interlingua.studies.run_folder import alone_in, check_folder, seconds_of, told_before
from interlingua.training.processes import first_process_first, is_first_process

Source = str | Path
ROWS, SMALL_ROWS = 10_000, 1_000
"""Sentences in each language, training and test together: about the paper's (8,534 and 1,613), and for two cores."""
SMALL_LANGUAGES = ("be", "en", "ru", "tr")
"""Those that papers/003 looks at most."""
EMBEDDED_RATE, EMBEDDED_BATCH = 2e-4, 16
"""For the embedded encoder; the task's own, 2e-5 and 32 sentences, are for models ten times its size."""


@dataclass(frozen=True)
class GeometryFound:
    """What a study found: `records`, `run` with all that made them, the `maps`, and what several records say together.

    `found` has `changes`, `groups` and `scatter`: see `studies.concluding`.
    """

    records: RecordTable
    run: dict[str, Any]
    maps: list[dict[str, Any]]
    found: dict[str, Any]
    folder: Path

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        return report.figure(self.folder, name)

    def _repr_html_(self) -> str:
        return framed(report.page_of(self.folder))

    def __repr__(self) -> str:
        return f"Geometry({self.run['model']}, {', '.join(self.run['languages'])}, {len(self.records)} records)"


@command(GeometryCommand)
def geometry(given: GeometryCommand) -> GeometryFound:
    """In Python `entities` may also be what `synth()` gave.

    The folder `out` gets records, tables, pictures and a page.
    """
    settings, small, seed, out = geometry_settings(given), given.small, given.seed, Path(given.out)
    model, data, languages, rows = given.model, given.entities, given.languages, given.rows
    settings = replace(settings, source=codes.canonical(settings.source))
    settings = replace(settings, training=_training(settings.training, model, small=small, seed=seed))
    place, began = pick_device(given.device), time.monotonic()
    if settings.training.precision is not None:
        check_precision(place, settings.training.precision)
    chosen = SMALL_LANGUAGES if small and languages is None and not isinstance(data, Synthetic) else languages
    made = (
        data
        if isinstance(data, Synthetic)
        else synthesise(
            *(2 * (_listed(data),)),
            languages=chosen,
            types=given.types,
            rows=(SMALL_ROWS if small else ROWS) if rows is None else rows,
            seed=seed,
            rules=Rules(),
        )
    )
    encoder = Encoder.load(
        model,
        device=str(place),
        precision="fp32",
        trust_remote_code=given.trust_remote_code,
        allow_pickle=given.allow_pickle,
    )
    with alone_in(out, "geometry"):
        with first_process_first(place):
            check_folder(out, kind="geometry")
            store = Store(out)
        study = Geometry(encoder, made, settings, store, given.progress)
        about = {
            "kind": "geometry",
            "model": encoder.name,
            "data": ["synth()"] if isinstance(data, Synthetic) else [str(each) for each in _listed(data)],
            "languages": list(made.languages),
            "names": {code: codes.name(code) for code in made.languages},
            "rows": {part: len(drawn) for part, drawn in made.parts.items()},
            "source": settings.source,
            "about": settings.about,
            "seed": seed,
            "settings": settings.plain(),
        }
        return _result(study, about, out, began)


def _result(study: Geometry, about: dict[str, Any], out: Path, began: float) -> GeometryFound:
    """Run what is missing, conclude, and write page, pictures and tables."""
    before = told_before(out)
    _ = study.sets  # A name that is not there is told before anything is written.
    about["steps"] = study.steps
    missing = any(not study.store.done(key) for key in study.steps)
    study.about = about
    if is_first_process() and before and missing:  # What is in the folder from now on, not what was there.
        known = {key: before[key] for key in ("skipped", "trained") if key in before}
        write_text(out / "run.json", json.dumps({**about, **known}, ensure_ascii=False, indent=1))
    study.run()
    with first_process_first(study.encoder.device):  # The others read what it wrote.
        store = study.store if is_first_process() else Store(out)
        wanted = set(study.steps)
        records = [record for record in store.read() if record.step in wanted]
        spelled = spellings_of_test(study.synthetic, seed=about["seed"])
        found, notes = conclusions(records, spelled, seed=about["seed"])
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        left = [
            *study.encoder.layer_notes,
            *study.synthetic.notes,
            *(str(one) for one in study.synthetic.left_out),
            *study.notes,
        ]
        run = {
            **about,
            "pieces": study.pieces(),
            "skipped": list(dict.fromkeys([*before.get("skipped", []), *left, *notes])),
            "trained": [*before.get("trained", []), *study.pairwise.trained],
            "device": str(study.encoder.device),
            "digests": {"model": study.encoder.digest},
            "versions": versions(),
            "seconds": seconds_of(before, time.monotonic() - began if missing else None),
            "created": now if missing else before.get("created", now),
        }
        result = GeometryFound(RecordTable(records), run, study.maps(), found, out)
        if is_first_process():
            for name, text in geometry_files(to_v1(result.records), run, result.maps, found).items():
                write_text(out / name, text)
            write_text(out / "run.json", json.dumps(run, ensure_ascii=False, indent=1))
    return result


def _training(given: PairwiseSettings, model: str, *, small: bool, seed: int) -> PairwiseSettings:
    """The settings with nothing left open: the paper's one epoch (small: two), a rate, seeds counted from `seed`."""
    return replace(
        given,
        epochs=(2.0 if small else 1.0) if given.epochs is None else given.epochs,
        learning_rate=EMBEDDED_RATE if model == EMBEDDED and given.learning_rate is None else given.learning_rate,
        batch=EMBEDDED_BATCH if model == EMBEDDED and given.batch is None else given.batch,
        seeds=tuple(seed + number for number in given.seeds),
    )


def _listed(given: Source | Sequence[Source]) -> list[Source]:
    return [given] if isinstance(given, str | Path) else list(given)
