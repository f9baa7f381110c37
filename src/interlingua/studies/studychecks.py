"""What a study file says, checked before anything runs: its ingredients, then what is done with them; all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from interlingua.attribution import attributions
from interlingua.errors import InputError
from interlingua.flattening import flattenings
from interlingua.measures import measures
from interlingua.studies.exams import spoken_in, task_named
from interlingua.studies.explaining import ExplainSettings
from interlingua.studies.geometries import check_table
from interlingua.studies.grid import unused_keys
from interlingua.studies.ingredientchecks import (
    check_adjust,
    check_bitexts,
    check_encoder,
    check_resources,
    check_synth,
    check_whole,
)
from interlingua.studies.languagepairs import TWO_MODELS
from interlingua.studies.ownregimes import reads_bitexts
from interlingua.studies.scenarios import REGIMES, UNTRAINED, TransferSettings
from interlingua.studies.strict import Problems
from interlingua.studies.study import Study, expanded, task_files
from interlingua.studies.studycodes import plain_codes
from interlingua.studies.tables import ExplainTable, GeometryTable, MeasureTable, TaskTable
from interlingua.studies.tomlplaces import Path as Place
from interlingua.studies.valuechecks import Checks
from interlingua.tasks import tasks


def check(study: Study, problems: Problems) -> Study:
    """The study with its languages' codes in their one form; what is wrong is added to the problems."""
    study = replace(study, table=plain_codes(study.table, problems))
    table, checks = study.table, Checks(study, problems)
    check_whole(checks)
    for name, encoder in table.encoders.items():
        check_encoder(checks, ("encoders", name), encoder)
    check_bitexts(checks)
    check_adjust(checks)
    for name, task in table.tasks.items():
        _task(checks, ("tasks", name), name, task)
    for name, measure in table.measures.items():
        _measure(checks, ("measures", name), measure)
    for name, explain in table.explanations.items():
        _explain(checks, ("explanations", name), explain)
    check_synth(checks)
    for name, geometry in table.geometry.items():
        _geometry(checks, ("geometry", name), geometry)
    for kind, resources in table.resources.items():
        check_resources(checks, kind, resources)
    if not (table.tasks or table.measures or table.geometry):
        checks.wrong((), "nothing is done", remedy="Add [tasks.NAME], [measures.NAME] or [geometry.NAME].")
    return study


def _task(checks: Checks, path: Place, name: str, table: TaskTable) -> None:
    study, kind = checks.study, checks.study.kind(name)
    if not checks.known((*path, "task") if table.task else path, "task", kind, [entry.name for entry in tasks]):
        return
    headless = tasks[kind].needs != "head"
    checks.all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
    checks.some((*path, "languages"), table.languages)
    checks.some((*path, "through"), list(table.through))
    for code, other in table.through.items():
        checks.known((*path, "through", code), "encoder", other, study.table.encoders)
    checks.numbers(path, asdict(table))
    checks.tried(path, asdict(table), lambda: TransferSettings(warmup=table.warmup))
    checks.tried((*path, "pooling"), {}, lambda: task_named(kind, pooling=table.pooling))
    known = UNTRAINED if headless else (*REGIMES, *study.table.regime)
    checks.all_known((*path, "regimes"), "regime", table.regimes, known)
    if headless and (table.train is not None or table.dev is not None):
        checks.wrong((*path, "train"), "nothing is trained for it", value=kind, remedy="Leave train and dev out.")
    if not headless and table.train is None:
        checks.wrong(path, f"[tasks.{name}] lacks train", remedy="Add train = ….")
    if not table.tests:
        checks.wrong(path, f"[tasks.{name}] lacks tests", remedy='Add tests = "test-{language}.tsv".')
    if table.mixed is not None and kind != "nli":
        checks.wrong((*path, "mixed"), "mixed languages are for nli", value=kind, remedy="Leave mixed out.")
    if table.retrieval is not None and headless:
        checks.wrong((*path, "retrieval"), "this task is retrieval", value=kind, remedy="Use tests.")
    for key, files in task_files(table).items():
        checks.templates((*path, key), files)
    for source in study.sources(name):
        _task_files(checks, path, name, table, source, corpora=headless)
    _needed(checks, path, name, table)


def _task_files(checks: Checks, path: Place, name: str, table: TaskTable, source: str, *, corpora: bool) -> None:
    try:
        tests, lookups = checks.study.tests(name, source), checks.study.lookups(name, source)
        for test in (*tests, *lookups):
            spoken_in(test)
    except InputError as error:
        checks.problems.take((*path, "tests"), error)
        return
    for key in ("train", "dev", "mixed"):
        if (file := getattr(table, key)) is not None:
            checks.exist((*path, key), expanded(file, (source,), source)[source])
    for key, found in (("tests", tests), ("retrieval", lookups)):
        for test, files in found.items():
            place = (*path, key, test) if (*path, key, test) in checks.problems.lines else (*path, key)
            if key == "retrieval" or corpora:
                checks.corpus(place, files[0], dict.fromkeys((source, *spoken_in(test))))
            else:
                checks.exist(place, files)


def _needed(checks: Checks, path: Place, name: str, table: TaskTable) -> None:
    """Refuse regimes that need a bitext where a language has none."""
    own = checks.study.table.regime
    known = [name for name in table.regimes or checks.study.table.regimes if name in (*REGIMES, *own)]
    if not (regimes := [name for name in known if reads_bitexts(name, own)]):
        return
    where = (*path, "regimes") if table.regimes else ("regimes",)
    bitexts = checks.study.table.bitexts
    if bitexts is None:
        checks.wrong(where, f"the regime {regimes[0]} needs bitexts", remedy="Add [bitexts], or use original alone.")
    elif bitexts.files is not None and not checks.study.table.adjust.together:
        for code in table.languages or checks.study.languages:
            if code not in checks.study.sources(name) and not checks.study.bitext(code):
                checks.wrong(("bitexts", "files"), f"no bitext for {code}", remedy=f"Add {code} = ….")


def _measure(checks: Checks, path: Place, table: MeasureTable) -> None:
    known = [entry.name for entry in measures]
    checks.all_known((*path, "names"), "measure", table.names, known)
    checks.all_known((*path, "encoders"), "encoder", table.encoders, checks.study.table.encoders)
    checks.some((*path, "languages"), table.languages)
    checks.numbers(path, asdict(table))
    checks.known((*path, "pairs"), "choice of pairs", table.pairs, ("all", "pivot"))
    if not table.names:
        checks.wrong((*path, "names"), "no measure is named", remedy=f"Known: {', '.join(known)}.")
    for place, pair in enumerate(table.against):
        checks.all_known((*path, "against", place), "encoder", pair, checks.study.table.encoders)
        if len(pair) != 2:
            checks.wrong((*path, "against", place), "two encoders are compared", value=list(pair), remedy="Name two.")
        for number, name in enumerate(table.names):
            if name in known and name not in TWO_MODELS:
                checks.wrong((*path, "names", number), "this measure needs one space, and two models have two",
                            value=name, remedy=f"Use: {', '.join(TWO_MODELS)}.")  # fmt: skip
    for place, state in enumerate(table.of):
        _state(checks, (*path, "of", place), state, table.encoders)
    checks.corpus((*path, "corpus"), table.corpus, table.languages)
    said = [key for key in asdict(table) if (*path, key) in checks.problems.lines]
    for key, why in unused_keys(table, said).items():
        checks.wrong((*path, key), why, value=key, remedy="Leave it out.")
    for key in ("spellings", "dictionary"):
        if (given := getattr(table, key)) is not None:
            checks.exist((*path, key), (given,), folders=True)


def _state(checks: Checks, path: Place, state: str, encoders: Sequence[str]) -> None:
    """`encoder`, `adjusted`, or a task and a regime of it."""
    task, slash, regime = state.partition("/")
    if slash:
        if checks.known(path, "task of the study", task, checks.study.table.tasks):
            table = checks.study.table.tasks[task]
            checks.known(path, f"regime of {task}", regime, table.regimes or checks.study.table.regimes)
            if not checks.study.trained(task, encoders):
                checks.wrong(path, "none of these encoders is trained for it", value=task, remedy="Name another.")
    elif checks.known(path, "state of a model", state, ("encoder", "adjusted", *checks.study.table.tasks)):
        if state in checks.study.table.tasks:
            checks.wrong(path, "which regime?", value=state, remedy=f"Write {state}/original.")
        if state == "adjusted" and checks.study.table.bitexts is None:
            checks.wrong(path, "adjusting needs bitexts", remedy="Add [bitexts].")


def _explain(checks: Checks, path: Place, table: ExplainTable) -> None:
    study = checks.study
    checks.all_known((*path, "tasks"), "task of the study", table.tasks, study.table.tasks)
    checks.all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
    checks.some((*path, "languages"), table.languages)
    checks.numbers(path, {**asdict(table), "steps": table.steps})
    for place, seed in enumerate(table.seeds):
        checks.known((*path, "seeds", place), "seed of the study", str(seed), map(str, study.seeds))
    checks.known((*path, "attribution"), "attribution", table.attribution, [entry.name for entry in attributions])
    own = {key: value for key, value in asdict(table).items() if key in ExplainSettings.__dataclass_fields__}
    if table.attribution in [entry.name for entry in attributions]:
        checks.tried(path, own, lambda: ExplainSettings(**own))
    for place, task in enumerate(table.tasks):
        if task in study.table.tasks and study.kind(task) in [e.name for e in tasks if e.needs != "head"]:
            checks.wrong((*path, "tasks", place), "nothing to explain of this task", value=task, remedy="Leave it out.")
        elif task in study.table.tasks:
            known = study.table.tasks[task].regimes or study.table.regimes
            checks.all_known((*path, "regimes"), f"regime of {task}", table.regimes, known)
    checks.templates((*path, "data"), table.data)
    for key in ("dictionaries", "vectors"):
        checks.templates((*path, key), getattr(table, key))
    languages = [code for code in table.languages or study.languages if code != study.table.source]
    for key, files in (("data", table.data), ("dictionaries", table.dictionaries), ("vectors", table.vectors)):
        if files is not None:
            for found in expanded(files, languages, study.table.source).values():
                checks.exist((*path, key), found)


def _geometry(checks: Checks, path: Place, table: GeometryTable) -> None:
    study = checks.study
    checks.all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
    checks.tried(path, asdict(table), lambda: check_table(table, [entry.name for entry in flattenings]))
    if not checks.known((*path, "synth"), "synth", table.synth, study.table.synth):
        return
    spoken = study.table.synth[table.synth].languages or dict.fromkeys((study.table.source, *study.languages))
    checks.all_known((*path, "sources"), "language of the set", table.sources, spoken)
    if len(spoken) < 2:
        checks.wrong(path, "one language has nothing to be compared with", remedy="Name more languages.")
    if (source := table.source or study.table.source) not in spoken:
        checks.wrong((*path, "source"), "the language of the second look is not in the set", value=source,
                    remedy=f"It has: {', '.join(spoken)}.")  # fmt: skip
