"""All that can be wrong with a study, found before anything runs: values, names, files, languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.space_measures import TWO_MODELS
from interlingua.analyses.transfer import UNTRAINED, parse_test_languages, task_named
from interlingua.analyses.word_alignment import CUTS
from interlingua.attribution import attributions
from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.paths import usable_path
from interlingua.projection import projections
from interlingua.readers import read_corpus
from interlingua.readers.format_detection import corpus_files
from interlingua.registry import unknown
from interlingua.studies.compile.custom_regimes import check_regime, maps, reads_bitexts
from interlingua.studies.compile.measures import unused_keys
from interlingua.studies.config.fields import Place, settings_of
from interlingua.studies.config.recipe import read_config
from interlingua.studies.config.schema import (
    AlignmentSettings,
    BitextTable,
    EncoderTable,
    ExplainTable,
    Files,
    GeometryTable,
    MeasureTable,
    ModelTable,
    StudyTable,
    TaskTable,
)
from interlingua.studies.config.study_file import read_tables
from interlingua.studies.config.toml_file import ProblemList
from interlingua.studies.plugins import Plugins, load_all
from interlingua.studies.step_settings import KINDS
from interlingua.studies.study import (
    FIELDS,
    MADE,
    Study,
    expand_template,
    fields_of,
    linking_encoder,
    model_place,
    task_files,
    templates_of,
)
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import described
from interlingua.training.regime_names import REGIMES


@dataclass(frozen=True)
class TableChecks:
    """The questions that checks of tables ask of their values; what is wrong is reported at its line, among the
    problems.

    The study's languages have their one form already (`studycodes.plain_codes`).
    """

    study: Study
    problems: ProblemList

    def wrong(self, path: Place, problem: str, *, value: object = None, remedy: str) -> None:
        self.problems.add(path, problem, value=value, remedy=remedy)

    def known(self, path: Place, kind: str, name: str, known: Iterable[str]) -> bool:
        names = list(known)
        if name in names:
            return True
        self.problems.take(path, unknown(kind, name, names) if names else InputError(
            f"unknown {kind}", value=name, remedy="The study has none: add one first."))  # fmt: skip
        return False

    def all_known(self, path: Place, kind: str, given: Sequence[str], known: Iterable[str]) -> None:
        names = list(known)
        for place, name in enumerate(given):
            if self.known((*path, place), kind, name, names) and name in given[:place]:
                self.wrong((*path, place), f"a {kind} twice", value=name, remedy="Name each once.")

    def tried(self, path: Place, given: Mapping[str, Any], make: Callable[[], object]) -> None:
        """What a class says of its own values, at the key that has the value."""
        try:
            make()
        except InputError as error:
            key = next((key for key, value in given.items() if value == error.value and error.value is not None), None)
            self.problems.take(path if key is None else (*path, key), error)

    def some(self, path: Place, given: Sequence[str]) -> None:
        """Refuse a table's languages that the study does not have."""
        self.all_known(path, "language of the study", given, {*self.study.languages, self.study.table.source})

    def templates(self, path: Place, files: Files | None) -> None:
        for under, template in templates_of(files):
            for name in fields_of(template):
                self.known((*path, *under), "field of a template", name, FIELDS)

    def exist(self, path: Place, files: Iterable[str], *, folders: bool = False) -> None:
        """Report files that do not exist; those that a step makes must name one that is in the study."""
        for file in files:
            if file.startswith(MADE):
                self.known(path, "synth", file[len(MADE) :].partition("/")[0], self.study.table.synth)
            elif not _templated(file):
                self._there(path, file, folders=folders)

    def _there(self, path: Place, file: str, *, folders: bool) -> None:
        try:
            found = self.study.place(file)
        except InputError as error:
            self.problems.take(path, error)
            return
        if not found.exists():
            self.wrong(path, "no such file", value=file, remedy=f"Looked in {self.study.data}; see --data-root.")
        elif found.is_dir() and not folders:
            self.wrong(path, "a folder, not a file", value=file, remedy="Name the file.")

    def corpus(self, path: Place, name: str, languages: Iterable[str], *, sets: bool = False) -> None:
        """A parallel corpus: the sampler, a dataset of the hub, or a file or folder that is there.

        With `sets`, several files too: a list, or what all their names begin with.
        """
        if name == "sampler":
            there = read_corpus(name).languages
            for code in languages:
                self.known(path, "language of the sampler", code, there)
        elif not name.startswith("hf:") and not (sets and self._is_set(name)):
            self.exist(path, (name,), folders=True)

    def _is_set(self, name: str) -> bool:
        try:
            return bool(corpus_files(name, folder=self.study.data)[1])
        except InputError:
            return False


def _templated(file: str) -> bool:
    """Whether a field was not filled, which has been reported already."""
    return "{" in file


_MOST_SEEDS = 10_000
_HUB = re.compile(r"[\w.-]+(/[\w.-]+)?")


def check_top_level(checks: TableChecks) -> None:
    """What holds for the whole file: its name, languages, seeds, regimes and precision."""
    table = checks.study.table
    if table.tests_models:
        if not table.languages:
            checks.wrong(("languages",), "no language is named", remedy='Give languages = ["es", "ru"].')
        if not table.encoders and (table.tasks or table.measures or table.geometry or not table.models):
            checks.wrong(("encoders",), "no encoder is named", remedy="Add [encoders.NAME] with a model.")
    elif not table.synth and not any(encoder.recipe for encoder in table.encoders.values()):
        remedy = "Add [tasks.NAME], [measures.NAME], [explanations.NAME] or [geometry.NAME]."
        checks.wrong((), "nothing is done", remedy=remedy)
    if isinstance(table.seeds, int) and table.seeds > _MOST_SEEDS:
        checks.wrong(("seeds",), f"more than {_MOST_SEEDS} seeds", value=table.seeds,
                     remedy=f"Give their number, or one seed as seeds = [{table.seeds}].")  # fmt: skip
    elif not (seeds := checks.study.seeds) or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        checks.wrong(("seeds",), "seeds are 0 or more, none twice, at least one", value=table.seeds, remedy="Give 5.")
    if not re.fullmatch(r"[\w.-]+", table.name):
        checks.wrong(("name",), "a name is letters, digits, - and _", value=table.name, remedy="Correct that line.")
    checks.all_known(("regimes",), "regime", table.regimes, (*REGIMES, *table.regime, *checks.study.given))
    for name, regime in table.regime.items():
        checks.tried(("regime", name), {}, partial(check_regime, name, regime))
    if table.published is not None and not (checks.study.file.parent / table.published).is_file():
        checks.wrong(("published",), "no such file", value=table.published, remedy="It starts from the study's file.")


def check_encoder(checks: TableChecks, path: Place, table: EncoderTable) -> None:
    """One encoder: a model that may be there, or a recipe whose text is."""
    checks.some((*path, "languages"), table.languages)
    if (table.model is None) == (table.recipe is None):
        checks.wrong(
            path, "an encoder is a model, or a recipe", remedy='Give model = "embedded", or recipe = "x.toml".'
        )
        return
    home = checks.study.file.parent
    try:
        local = table.recipe is not None or table.model == "embedded" or model_place(home, str(table.model)).is_dir()
    except InputError as error:
        checks.problems.take((*path, "model"), error)
        return
    if table.revision is not None and local:
        checks.wrong((*path, "revision"), "a revision is of a hub name", value=table.revision, remedy="Leave it out.")
    if table.recipe is not None:
        _recipe(checks, path, table, home / table.recipe)
    elif not local:
        name = str(table.model)
        if name.startswith((".", "/", "~")) or not _HUB.fullmatch(name):
            checks.wrong((*path, "model"), "no such model folder", value=name, remedy="Give a folder, or a hub name.")


def check_model(checks: TableChecks, path: Place, table: ModelTable) -> None:
    """One model that was fine-tuned before: its folder says a task, which is the one that is expected."""
    checks.some((*path, "sources"), table.sources)
    try:
        task, _ = described(model_place(checks.study.file.parent, table.folder))
    except InputError as error:
        checks.problems.take((*path, "folder"), error)
        return
    if table.task not in (None, task.name):
        checks.wrong((*path, "task"), f"the model was trained for {task.name}", value=table.task,
                     remedy="Leave task out.")  # fmt: skip


def _recipe(checks: TableChecks, path: Place, table: EncoderTable, file: Path) -> None:
    try:
        recipe = read_config(file)
    except InputError as error:
        checks.problems.take((*path, "recipe"), error)
        return
    folder = file.parent / recipe.data.folder if table.text is None else checks.study.place(table.text)
    where = (*path, "recipe" if table.text is None else "text")
    missing = [code for code in recipe.data.languages if not any(folder.glob(f"{code}.txt*"))]
    for code in missing:
        checks.wrong(where, f"no text of {code}", value=str(table.text or recipe.data.folder),
                    remedy=f"Put {code}.txt there, plain or compressed.")  # fmt: skip
    if not missing:
        checks.tried(where, {}, lambda: recipe.text_files(folder))
    checks.tried((*path, "recipe"), {}, lambda: recipe.tokenizer_file(file.parent))
    checks.tried((*path, "recipe"), {}, lambda: recipe.start_folder(file.parent))


def check_bitexts(checks: TableChecks) -> None:
    """Where bitexts come from and how they are linked; files that are not there."""
    table = checks.study.table
    given, path, before = table.bitexts, ("bitexts",), len(checks.problems.found)
    if given is None:
        return
    if (given.files is None) == (given.corpus is None):
        checks.wrong(path, "bitexts are files, or a corpus", remedy='Give files = "x.en-{language}.tsv".')
        return
    checks.tried(path, asdict(given), partial(linking_encoder, given, table.encoders))
    if given.pivot_side is not None and given.corpus is not None:
        checks.wrong(
            (*path, "pivot_side"), "a corpus knows its languages", value=given.pivot_side, remedy="Leave it out."
        )
    if given.corpus is not None:
        checks.corpus((*path, "corpus"), given.corpus, checks.study.foreign)
        return
    checks.templates((*path, "files"), given.files)
    checks.templates((*path, "links"), given.links)
    for name, cut in given.tokenize.items() if isinstance(given.tokenize, Mapping) else ():
        checks.known((*path, "tokenize", name), "way to cut text into words", cut, CUTS)
    for name in given.files if isinstance(given.files, Mapping) else ():
        if name != "{language}":
            checks.tried((*path, "files", name), {}, partial(parse_test_languages, name))
            if len(checks.problems.found) > before:
                return
    # Only languages that a regime needs one for must have one: `_needed`.
    texts = [code for code in checks.study.foreign if checks.study.bitext(code)]
    links = {} if given.links is None else expand_template(given.links, tuple(texts), table.source)
    for code in texts:
        checks.exist((*path, "files"), checks.study.bitext(code))
        checks.exist((*path, "links"), links.get(code, ()))
    if texts and all(links.get(code) for code in texts):
        for key in ("aligner", *(field.name for field in settings_of(AlignmentSettings))):
            if getattr(given, key) != getattr(BitextTable, key):
                checks.wrong((*path, key), "nothing is left to link: every bitext has links", value=getattr(given, key),
                             remedy=f"Leave out {key}, or the links.")  # fmt: skip


def check_adjust(checks: TableChecks) -> None:
    """Whose adjustment is measured, and that there is text to adjust them on."""
    table, path = checks.study.table.adjust, ("adjust",)
    checks.all_known((*path, "encoders"), "encoder", table.encoders, checks.study.table.encoders)
    if not table.effect:
        if table.encoders:
            checks.wrong((*path, "encoders"), "the effect of no adjustment is measured", value=list(table.encoders),
                         remedy="Add effect = true, or leave encoders out.")  # fmt: skip
    elif checks.study.table.bitexts is None:
        checks.wrong((*path, "effect"), "adjusting needs bitexts", remedy="Add [bitexts].")
    else:
        for code in checks.study.foreign if checks.study.table.bitexts.files is not None else ():
            if not checks.study.bitext(code) and not table.joint_adjustment:
                checks.wrong(("bitexts", "files"), f"no bitext for {code}", remedy=f"Add {code} = ….")


def check_synth(checks: TableChecks) -> None:
    """Synthetic sets: their sizes, and the folders of contexts and names."""
    for name, given in checks.study.table.synth.items():
        for key in ("contexts", "names"):
            said: str | tuple[str, ...] = getattr(given, key)
            folders = (said,) if isinstance(said, str) else said
            checks.exist(("synth", name, key), [each for each in folders if each != "embedded"], folders=True)


def check_resources(checks: TableChecks, kind: str) -> None:
    """What steps of a kind take of a machine: the kind is one there is."""
    checks.known(("resources", kind), "kind of steps", kind, KINDS)


def normalize_codes(table: StudyTable, problems: ProblemList) -> StudyTable:
    """The table with one code for each language; what is no language, or is named twice, is a problem."""

    def plain(path: Place, code: str) -> str | None:
        try:
            return codes.canonical(code)
        except InputError as error:
            problems.take(path, error)
            return None  # As if it were not there, so that what else is wrong can be told.

    def all_plain(path: Place, given: Sequence[str]) -> tuple[str, ...]:
        found: list[str] = []
        for place, code in enumerate(given):
            one = plain((*path, place), code)
            if one in found:
                problems.add((*path, place), "a language twice", value=code, remedy="Name each once.")
            if one is not None:
                found.append(one)
        return tuple(found)

    changed: dict[str, Any] = {}
    for section in ("encoders", "tasks", "measures", "explanations", "synth"):
        changed[section] = {
            name: replace(each, languages=all_plain((section, name, "languages"), each.languages))
            for name, each in getattr(table, section).items()
        }
    for section, tables in (("tasks", changed["tasks"]), ("models", table.models)):
        changed[section] = {
            name: replace(each, sources=all_plain((section, name, "sources"), each.sources))
            for name, each in tables.items()
        }
    changed["geometry"] = {
        name: replace(
            each,
            sources=all_plain(("geometry", name, "sources"), each.sources),
            source=None if each.source is None else plain(("geometry", name, "source"), each.source),
        )
        for name, each in table.geometry.items()
    }
    languages = all_plain(("languages",), table.languages)
    source = plain(("source",), table.source) or StudyTable.source
    return replace(table, languages=languages, source=source, **changed)


def read_study(
    file: str | Path,
    *,
    size: str | None = None,
    data_root: str | Path | None = None,
    encoders: Mapping[str, str | Path] | None = None,
) -> Study:
    """The study that a TOML file describes at a size; `data_root` takes the place of the folder that the file names.

    `encoders` are models that take the place of the file's encoders of their names, or are added to them.

    Unknown keys, names, parameters, languages and missing files are one error, `ConfigErrors`, with a line for each.
    """
    path = Path(file)
    table, problems, taken = read_tables(path, size, encoders)
    if table is not None:
        folder, plugins = path.parent, Plugins()
        try:
            folder = Path(data_root) if data_root is not None else path.parent / usable_path(table.data_root, home=True)
        except InputError as error:
            problems.take(("data_root",), error)
        try:
            plugins = load_all(path.parent / usable_path(each, home=True) for each in table.plugins)
        except InputError as error:
            problems.take(("plugins",), error)
        study = check(Study(table, path, taken, folder.absolute(), plugins), problems)
    problems.check()
    assert table is not None
    return study


def check(study: Study, problems: ProblemList) -> Study:
    """The study with its languages' codes in their one form; what is wrong is added to the problems."""
    study = replace(study, table=normalize_codes(study.table, problems))
    table, checks = study.table, TableChecks(study, problems)
    check_top_level(checks)
    for name, encoder in table.encoders.items():
        check_encoder(checks, ("encoders", name), encoder)
    for name, model in table.models.items():
        check_model(checks, ("models", name), model)
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
    for kind in table.resources:
        check_resources(checks, kind)
    return study


def _task(checks: TableChecks, path: Place, name: str, table: TaskTable) -> None:
    study, kind = checks.study, checks.study.kind(name)
    if not checks.known((*path, "task") if table.task else path, "task", kind, [entry.name for entry in tasks]):
        return
    headless = tasks[kind].needs != "head"
    checks.all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
    checks.some((*path, "languages"), table.languages)
    checks.some((*path, "test_encoder"), list(table.test_encoder))
    for code, other in table.test_encoder.items():
        checks.known((*path, "test_encoder", code), "encoder", other, study.table.encoders)
    checks.tried((*path, "pooling"), {}, lambda: task_named(kind, pooling=table.pooling))
    known = UNTRAINED if headless else (*REGIMES, *study.table.regime)
    checks.all_known((*path, "regimes"), "regime", table.regimes, known)
    if headless and (table.train is not None or table.dev is not None):
        checks.wrong((*path, "train"), "nothing is trained for it", value=kind, remedy="Leave train and dev out.")
    if not headless and table.train is None:
        checks.wrong(path, f"[tasks.{name}] lacks train", remedy="Add train = ….")
    if not table.tests:
        checks.wrong(path, f"[tasks.{name}] lacks tests", remedy='Add tests = "test-{language}.tsv".')
    if table.mix_with is not None and kind != "nli":
        checks.wrong((*path, "mix_with"), "mixed languages are for nli", value=kind, remedy="Leave mix_with out.")
    if table.retrieval is not None and headless:
        checks.wrong((*path, "retrieval"), "this task is retrieval", value=kind, remedy="Use tests.")
    for key, files in task_files(table).items():
        checks.templates((*path, key), files)
    for source in study.sources(name):
        _task_files(checks, path, name, table, source, corpora=headless)
    _needed(checks, path, name, table)


def _task_files(checks: TableChecks, path: Place, name: str, table: TaskTable, source: str, *, corpora: bool) -> None:
    try:
        tests, lookups = checks.study.tests(name, source), checks.study.lookups(name, source)
        for test in (*tests, *lookups):
            parse_test_languages(test)
    except InputError as error:
        checks.problems.take((*path, "tests"), error)
        return
    for key in ("train", "dev", "mix_with"):
        if (file := getattr(table, key)) is not None:
            checks.exist((*path, key), expand_template(file, (source,), source)[source])
    for key, found in (("tests", tests), ("retrieval", lookups)):
        for test, files in found.items():
            place = (*path, key, test) if (*path, key, test) in checks.problems.lines else (*path, key)
            if key == "retrieval" or corpora:
                checks.corpus(place, files[0], dict.fromkeys((source, *parse_test_languages(test))))
            else:
                checks.exist(place, files)


def _needed(checks: TableChecks, path: Place, name: str, table: TaskTable) -> None:
    """Refuse regimes that need a bitext where a language has none."""
    own, given = checks.study.table.regime, checks.study.given
    known = [name for name in table.regimes or checks.study.table.regimes if name in (*REGIMES, *own)]
    if not (regimes := [name for name in known if name not in given and reads_bitexts(name, own)]):
        return
    where = (*path, "regimes") if table.regimes else ("regimes",)
    tested = {
        parse_test_languages(test)[0] for test in checks.study.tests(name, checks.study.table.source) if "+" not in test
    }
    bitexts = checks.study.table.bitexts
    if bitexts is None:
        checks.wrong(where, f"the regime {regimes[0]} needs bitexts", remedy="Add [bitexts], or use original alone.")
    elif bitexts.files is not None and not checks.study.table.adjust.joint_adjustment:
        only_maps = all(maps(name, own) for name in regimes)
        for code in table.languages or checks.study.languages:
            if only_maps and code not in tested:
                continue  # A map is of one language; tests in two, and lookups, are asked without one.
            if code not in checks.study.sources(name) and not checks.study.bitext(code):
                checks.wrong(("bitexts", "files"), f"no bitext for {code}", remedy=f"Add {code} = ….")


def _measure(checks: TableChecks, path: Place, table: MeasureTable) -> None:
    known = [entry.name for entry in measures]
    checks.all_known((*path, "measures"), "measure", table.measures, known)
    checks.all_known((*path, "encoders"), "encoder", table.encoders, checks.study.table.encoders)
    checks.known((*path, "projection"), "projection", table.projection, [entry.name for entry in projections])
    checks.some((*path, "languages"), table.languages)
    if not table.measures:
        checks.wrong((*path, "measures"), "no measure is named", remedy=f"Known: {', '.join(known)}.")
    for place, pair in enumerate(table.against):
        for side, name in enumerate(pair):  # One may be compared with itself.
            checks.known((*path, "against", place, side), "encoder", name, checks.study.table.encoders)
        if len(pair) != 2:
            checks.wrong((*path, "against", place), "two encoders are compared", value=list(pair), remedy="Name two.")
        for number, name in enumerate(table.measures):
            if name in known and name not in TWO_MODELS:
                checks.wrong((*path, "measures", number), "this measure needs one space, and two models have two",
                            value=name, remedy=f"Use: {', '.join(TWO_MODELS)}.")  # fmt: skip
    for place, state in enumerate(table.models):
        _state(checks, (*path, "models", place), state, table.encoders)
    checks.corpus((*path, "corpus"), table.corpus, table.languages, sets=True)
    said = [key for key in asdict(table) if (*path, key) in checks.problems.lines]
    for key, why in unused_keys(table, said).items():
        checks.wrong((*path, key), why, value=key, remedy="Leave it out.")
    for key in ("spellings", "dictionary"):
        if (given := getattr(table, key)) is not None:
            checks.exist((*path, key), (given,), folders=True)


def _state(checks: TableChecks, path: Place, state: str, encoders: Sequence[str]) -> None:
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


def _explain(checks: TableChecks, path: Place, table: ExplainTable) -> None:
    study = checks.study
    checks.all_known((*path, "tasks"), "task of the study", table.tasks, study.table.tasks)
    checks.all_known((*path, "models"), "model of the study", table.models, study.table.models)
    if not table.tasks and not table.models:
        checks.wrong(path, "nothing is explained", remedy="Give tasks = […], or models = […].")
    if table.models and table.tests is None:
        checks.wrong(path, "models have no tests of their own", remedy='Give tests = "test-{language}.tsv".')
    checks.all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
    checks.some((*path, "languages"), table.languages)
    for place, seed in enumerate(table.seeds):
        checks.known((*path, "seeds", place), "seed of the study", str(seed), map(str, study.seeds))
    checks.known((*path, "attribution"), "attribution", table.attribution, [entry.name for entry in attributions])
    for place, task in enumerate(table.tasks):
        if task in study.table.tasks and study.kind(task) in [e.name for e in tasks if e.needs != "head"]:
            checks.wrong((*path, "tasks", place), "nothing to explain of this task", value=task, remedy="Leave it out.")
        elif task in study.table.tasks:
            known = study.table.tasks[task].regimes or study.table.regimes
            checks.all_known((*path, "regimes"), f"regime of {task}", table.regimes, known)
    checks.templates((*path, "tests"), table.tests)
    for key in ("dictionaries", "vectors"):
        checks.templates((*path, key), getattr(table, key))
    models = {model: study.model_sources(model) for model in table.models if model in study.table.models}
    trained = {task: study.sources(task) for task in table.tasks if task in study.table.tasks}
    for source in dict.fromkeys(code for sources in (*models.values(), *trained.values()) for code in sources):
        others = [code for code in table.languages or study.languages if code != source]
        for key, files, spoken in (
            ("tests", table.tests, [source, *others]),
            ("dictionaries", table.dictionaries, others),
            ("vectors", table.vectors, [source, *others]),
        ):
            for found in {} if files is None else expand_template(files, spoken, source).values():
                checks.exist((*path, key), found)
        every = [study.table.tasks[task].tests for task, sources in trained.items() if source in sources]
        for tests in every if table.tests is None else [table.tests]:
            if source not in expand_template(tests, [source, *others], source):
                checks.wrong((*path, "tests"), "no test in the language of training", value=source,
                             remedy=f"Add {source} = … to them.")  # fmt: skip


def _geometry(checks: TableChecks, path: Place, table: GeometryTable) -> None:
    study = checks.study
    checks.all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
    checks.known((*path, "projection"), "projection", table.projection, [entry.name for entry in projections])
    if not checks.known((*path, "synth"), "synth", table.synth, study.table.synth):
        return
    spoken = study.table.synth[table.synth].languages or dict.fromkeys((study.table.source, *study.languages))
    checks.all_known((*path, "sources"), "language of the set", table.sources, spoken)
    if len(spoken) < 2:
        checks.wrong(path, "one language has nothing to be compared with", remedy="Name more languages.")
    if (source := table.source or study.table.source) not in spoken:
        checks.wrong((*path, "source"), "the language of the second look is not in the set", value=source,
                    remedy=f"It has: {', '.join(spoken)}.")  # fmt: skip
