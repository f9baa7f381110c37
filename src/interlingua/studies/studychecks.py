"""What a study file says, checked before anything runs: languages, names, parameters, files; all at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from interlingua.attribution import attributions
from interlingua.encoder.loading import PRECISIONS
from interlingua.errors import InputError
from interlingua.flattening import flattenings
from interlingua.measures import measures
from interlingua.readers import read_corpus
from interlingua.registry import unknown
from interlingua.studies.aligning import METHODS
from interlingua.studies.exams import spoken_in, task_named
from interlingua.studies.explaining import ExplainSettings
from interlingua.studies.geometries import check_table
from interlingua.studies.grid import unused_keys
from interlingua.studies.linkedtexts import SIDES
from interlingua.studies.ownregimes import check_regime, reads_bitexts
from interlingua.studies.recipe import read_config
from interlingua.studies.runfolder import check_kind
from interlingua.studies.scenarios import MAPS, REGIMES, UNTRAINED, TransferSettings
from interlingua.studies.stages import PairSettings
from interlingua.studies.strict import Problems
from interlingua.studies.study import (
    FIELDS,
    MADE,
    Study,
    expanded,
    fields_of,
    linking_encoder,
    task_files,
    templates_of,
)
from interlingua.studies.studycodes import plain_codes
from interlingua.studies.tables import (
    EncoderTable,
    ExplainTable,
    Files,
    GeometryTable,
    MeasureTable,
    StudyTable,
    TaskTable,
)
from interlingua.studies.tomlplaces import Path as Place
from interlingua.tasks import tasks

KINDS: tuple[str, ...] = ("synth", "pretrain", "align", "adjust", "finetune", "predict", "distances")
KINDS += ("encode", "measure", "attribute", "spelling", "geometry")
"""The kinds of steps, for which [resources.KIND] may say what they take."""
TWO_MODELS = ("procrustes", "procrustes-words", "cka")
_HUB = re.compile(r"[\w.-]+(/[\w.-]+)?")
_ABOVE_0: tuple[str, ...] = (
    "epochs",
    "learning_rate",
    "batch",
    "length",
    "train_rows",
    "test_rows",
    "rows",
    "alpha",
    "steps",
    "cpus",
)
_ABOVE_0 += ("processes", "permutations", "blocks")


def check(study: Study, problems: Problems) -> Study:
    """The study with its languages' codes in their one form; what is wrong is added to the problems."""
    return _Checks(study, problems).run()


@dataclass
class _Checks:
    study: Study
    problems: Problems

    def run(self) -> Study:
        self.study = replace(self.study, table=plain_codes(self.study.table, self.problems))
        table = self.study.table
        self._top(table)
        for name, encoder in table.encoders.items():
            self._encoder(("encoders", name), encoder)
        self._bitexts(table)
        self._adjust(table)
        for name, task in table.tasks.items():
            self._task(("tasks", name), name, task)
        for name, measure in table.measures.items():
            self._measure(("measures", name), measure)
        for name, explain in table.explanations.items():
            self._explain(("explanations", name), explain)
        self._synth(table)
        for name, geometry in table.geometry.items():
            self._geometry(("geometry", name), geometry)
        for kind, resources in table.resources.items():
            self._known(("resources", kind), "kind of steps", kind, KINDS)
            self._numbers(("resources", kind), asdict(resources))
        if not (table.tasks or table.measures or table.geometry):
            self._wrong((), "nothing is done", remedy="Add [tasks.NAME], [measures.NAME] or [geometry.NAME].")
        return self.study

    def _wrong(self, path: Place, problem: str, *, value: object = None, remedy: str) -> None:
        self.problems.add(path, problem, value=value, remedy=remedy)

    def _known(self, path: Place, kind: str, name: str, known: Iterable[str]) -> bool:
        names = list(known)
        if name in names:
            return True
        self.problems.take(path, unknown(kind, name, names) if names else InputError(
            f"unknown {kind}", value=name, remedy="There are none."))  # fmt: skip
        return False

    def _all_known(self, path: Place, kind: str, given: Sequence[str], known: Iterable[str]) -> None:
        names = list(known)
        for place, name in enumerate(given):
            if self._known((*path, place), kind, name, names) and name in given[:place]:
                self._wrong((*path, place), f"a {kind} twice", value=name, remedy="Name each once.")

    def _tried(self, path: Place, given: Mapping[str, Any], make: Callable[[], object]) -> None:
        """What a class says of its own values, at the key that has the value."""
        try:
            make()
        except InputError as error:
            key = next((key for key, value in given.items() if value == error.value and error.value is not None), None)
            self.problems.take(path if key is None else (*path, key), error)

    def _numbers(self, path: Place, given: Mapping[str, Any]) -> None:
        for key in _ABOVE_0:
            value = given.get(key)
            if isinstance(value, int | float) and not value > 0:
                self._wrong((*path, key), f"{key} must be above 0", value=value, remedy="Give more.")

    def _some(self, path: Place, given: Sequence[str]) -> None:
        """Refuse a table's languages that the study does not have."""
        self._all_known(path, "language of the study", given, {*self.study.languages, self.study.table.source})

    def _top(self, table: StudyTable) -> None:
        if not table.languages:
            self._wrong(("languages",), "no language is named", remedy='Give languages = ["es", "ru"].')
        if not table.encoders:
            self._wrong(("encoders",), "no encoder is named", remedy="Add [encoders.NAME] with a model.")
        seeds = self.study.seeds
        if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
            self._wrong(
                ("seeds",), "seeds are 0 or more, none twice, at least one", value=table.seeds, remedy="Give 5."
            )
        if not re.fullmatch(r"[\w.-]+", table.name):
            self._wrong(("name",), "a name is letters, digits, - and _", value=table.name, remedy="Mend that line.")
        self._all_known(("regimes",), "regime", table.regimes, (*REGIMES, *table.regime))
        for name, regime in table.regime.items():
            self._tried(("regime", name), {}, partial(check_regime, name, regime))
        if table.precision is not None:
            self._known(("precision",), "precision", table.precision, PRECISIONS)
        self._numbers((), {"permutations": table.permutations})
        if table.published is not None and not (self.study.file.parent / table.published).is_file():
            self._wrong(
                ("published",), "no such file", value=table.published, remedy="It starts from the study's file."
            )

    def _encoder(self, path: Place, table: EncoderTable) -> None:
        self._some((*path, "languages"), table.languages)
        self._numbers(path, asdict(table))
        if (table.model is None) == (table.recipe is None):
            self._wrong(
                path, "an encoder is a model, or a recipe", remedy='Give model = "embedded", or recipe = "x.toml".'
            )
            return
        home = self.study.file.parent
        local = table.recipe is not None or table.model == "embedded" or (home / str(table.model)).expanduser().is_dir()
        if table.revision is not None and local:
            self._wrong(
                (*path, "revision"), "a revision is of a hub name", value=table.revision, remedy="Leave it out."
            )
        if table.recipe is not None:
            self._recipe(path, table, home / table.recipe)
        elif not local:
            name = str(table.model)
            if name.startswith((".", "/", "~")) or not _HUB.fullmatch(name):
                self._wrong(
                    (*path, "model"), "no such model folder", value=name, remedy="Give a folder, or a hub name."
                )

    def _recipe(self, path: Place, table: EncoderTable, file: Path) -> None:
        try:
            recipe = read_config(file)
        except InputError as error:
            self.problems.take((*path, "recipe"), error)
            return
        folder = file.parent / recipe.data.folder if table.text is None else self.study.place(table.text)
        for code in recipe.data.languages:
            if not any(folder.glob(f"{code}.txt*")):
                where = (*path, "recipe" if table.text is None else "text")
                self._wrong(where, f"no text of {code}", value=str(table.text or recipe.data.folder),
                            remedy=f"Put {code}.txt there, plain or compressed.")  # fmt: skip

    def _bitexts(self, table: StudyTable) -> None:
        given, path, before = table.bitexts, ("bitexts",), len(self.problems.found)
        if given is None:
            return
        if (given.files is None) == (given.corpus is None):
            self._wrong(path, "bitexts are files, or a corpus", remedy='Give files = "x.en-{language}.tsv".')
            return
        self._known((*path, "aligner"), "aligner", given.aligner, METHODS)
        self._tried(path, asdict(given), partial(linking_encoder, given, table.encoders))
        if given.english is not None:
            self._known((*path, "english"), "side", given.english, SIDES)
            if given.corpus is not None:
                self._wrong(
                    (*path, "english"), "a corpus knows its languages", value=given.english, remedy="Leave it out."
                )
        if given.corpus is not None:
            self._corpus((*path, "corpus"), given.corpus, self._foreign())
            return
        self._templates((*path, "files"), given.files)
        self._templates((*path, "links"), given.links)
        for name in given.files if isinstance(given.files, Mapping) else ():
            if name != "{language}":
                self._tried((*path, "files", name), {}, partial(spoken_in, name))
                if len(self.problems.found) > before:
                    return
        for code in self._foreign():
            if not self.study.bitext(code):
                continue  # Only languages that a regime needs one for must have one: `_needed`.
            self._exist((*path, "files"), self.study.bitext(code))
            if given.links is not None:
                self._exist((*path, "links"), expanded(given.links, (code,), table.source).get(code, ()))

    def _foreign(self) -> list[str]:
        return [code for code in self.study.languages if code != self.study.table.source]

    def _adjust(self, table: StudyTable) -> None:
        given, path = asdict(table.adjust), ("adjust",)
        self._numbers(path, given)
        pairs = {key: given[key] for key in ("rows", "held_out", "layer", "target")}
        if given["rows"] > 0:
            self._tried(path, given, lambda: PairSettings(**pairs))
        self._known((*path, "map_on"), "kind of map", table.adjust.map_on, MAPS)

    def _task(self, path: Place, name: str, table: TaskTable) -> None:
        study, kind = self.study, self.study.kind(name)
        if not self._known((*path, "task") if table.task else path, "task", kind, [entry.name for entry in tasks]):
            return
        headless = tasks[kind].needs != "head"
        self._all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
        self._some((*path, "languages"), table.languages)
        self._some((*path, "through"), list(table.through))
        for code, other in table.through.items():
            self._known((*path, "through", code), "encoder", other, study.table.encoders)
        self._numbers(path, asdict(table))
        self._tried(path, asdict(table), lambda: TransferSettings(warmup=table.warmup))
        self._tried((*path, "pooling"), {}, lambda: task_named(kind, pooling=table.pooling))
        known = UNTRAINED if headless else (*REGIMES, *study.table.regime)
        self._all_known((*path, "regimes"), "regime", table.regimes, known)
        if headless and (table.train is not None or table.dev is not None):
            self._wrong((*path, "train"), "nothing is trained for it", value=kind, remedy="Leave train and dev out.")
        if not headless and table.train is None:
            self._wrong(path, f"[tasks.{name}] lacks train", remedy="Add train = ….")
        if not table.tests:
            self._wrong(path, f"[tasks.{name}] lacks tests", remedy='Add tests = "test-{language}.tsv".')
        if table.mixed is not None and kind != "nli":
            self._wrong((*path, "mixed"), "mixed languages are for nli", value=kind, remedy="Leave mixed out.")
        if table.retrieval is not None and headless:
            self._wrong((*path, "retrieval"), "this task is retrieval", value=kind, remedy="Use tests.")
        for key, files in task_files(table).items():
            self._templates((*path, key), files)
        for source in study.sources(name):
            self._task_files(path, name, table, source, corpora=headless)
        self._needed(path, name, table)

    def _task_files(self, path: Place, name: str, table: TaskTable, source: str, *, corpora: bool) -> None:
        try:
            tests, lookups = self.study.tests(name, source), self.study.lookups(name, source)
            for test in (*tests, *lookups):
                spoken_in(test)
        except InputError as error:
            self.problems.take((*path, "tests"), error)
            return
        for key in ("train", "dev", "mixed"):
            if (file := getattr(table, key)) is not None:
                self._exist((*path, key), expanded(file, (source,), source)[source])
        for key, found in (("tests", tests), ("retrieval", lookups)):
            for test, files in found.items():
                place = (*path, key, test) if (*path, key, test) in self.problems.lines else (*path, key)
                if key == "retrieval" or corpora:
                    self._corpus(place, files[0], dict.fromkeys((source, *spoken_in(test))))
                else:
                    self._exist(place, files)

    def _needed(self, path: Place, name: str, table: TaskTable) -> None:
        """Refuse regimes that need a bitext where a language has none."""
        own = self.study.table.regime
        known = [name for name in table.regimes or self.study.table.regimes if name in (*REGIMES, *own)]
        if not (regimes := [name for name in known if reads_bitexts(name, own)]):
            return
        where = (*path, "regimes") if table.regimes else ("regimes",)
        bitexts = self.study.table.bitexts
        if bitexts is None:
            self._wrong(where, f"the regime {regimes[0]} needs bitexts", remedy="Add [bitexts], or use original alone.")
        elif bitexts.files is not None and not self.study.table.adjust.together:
            for code in table.languages or self.study.languages:
                if code not in self.study.sources(name) and not self.study.bitext(code):
                    self._wrong(("bitexts", "files"), f"no bitext for {code}", remedy=f"Add {code} = ….")

    def _measure(self, path: Place, table: MeasureTable) -> None:
        known = [entry.name for entry in measures]
        self._all_known((*path, "names"), "measure", table.names, known)
        self._all_known((*path, "encoders"), "encoder", table.encoders, self.study.table.encoders)
        self._some((*path, "languages"), table.languages)
        self._numbers(path, asdict(table))
        self._known((*path, "pairs"), "choice of pairs", table.pairs, ("all", "pivot"))
        if not table.names:
            self._wrong((*path, "names"), "no measure is named", remedy=f"Known: {', '.join(known)}.")
        for place, pair in enumerate(table.against):
            self._all_known((*path, "against", place), "encoder", pair, self.study.table.encoders)
            if len(pair) != 2:
                self._wrong(
                    (*path, "against", place), "two encoders are compared", value=list(pair), remedy="Name two."
                )
            for number, name in enumerate(table.names):
                if name in known and name not in TWO_MODELS:
                    self._wrong((*path, "names", number), "this measure needs one space, and two models have two",
                                value=name, remedy=f"Use: {', '.join(TWO_MODELS)}.")  # fmt: skip
        for place, state in enumerate(table.of):
            self._state((*path, "of", place), state, table.encoders)
        self._corpus((*path, "corpus"), table.corpus, table.languages)
        said = [key for key in asdict(table) if (*path, key) in self.problems.lines]
        for key, why in unused_keys(table, said).items():
            self._wrong((*path, key), why, value=key, remedy="Leave it out.")
        for key in ("spellings", "dictionary"):
            if (given := getattr(table, key)) is not None:
                self._exist((*path, key), (given,))

    def _state(self, path: Place, state: str, encoders: Sequence[str]) -> None:
        """`encoder`, `adjusted`, or a task and a regime of it."""
        task, slash, regime = state.partition("/")
        if slash:
            if self._known(path, "task of the study", task, self.study.table.tasks):
                table = self.study.table.tasks[task]
                self._known(path, f"regime of {task}", regime, table.regimes or self.study.table.regimes)
                if not self.study.trained(task, encoders):
                    self._wrong(path, "none of these encoders is trained for it", value=task, remedy="Name another.")
        elif self._known(path, "state of a model", state, ("encoder", "adjusted", *self.study.table.tasks)):
            if state in self.study.table.tasks:
                self._wrong(path, "which regime?", value=state, remedy=f"Write {state}/original.")
            if state == "adjusted" and self.study.table.bitexts is None:
                self._wrong(path, "adjusting needs bitexts", remedy="Add [bitexts].")

    def _explain(self, path: Place, table: ExplainTable) -> None:
        study = self.study
        self._all_known((*path, "tasks"), "task of the study", table.tasks, study.table.tasks)
        self._all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
        self._some((*path, "languages"), table.languages)
        self._numbers(path, {**asdict(table), "steps": table.steps})
        for place, seed in enumerate(table.seeds):
            self._known((*path, "seeds", place), "seed of the study", str(seed), map(str, study.seeds))
        self._known((*path, "attribution"), "attribution", table.attribution, [entry.name for entry in attributions])
        own = {key: value for key, value in asdict(table).items() if key in ExplainSettings.__dataclass_fields__}
        if table.attribution in [entry.name for entry in attributions]:
            self._tried(path, own, lambda: ExplainSettings(**own))
        for place, task in enumerate(table.tasks):
            if task in study.table.tasks and study.kind(task) in [e.name for e in tasks if e.needs != "head"]:
                self._wrong(
                    (*path, "tasks", place), "nothing to explain of this task", value=task, remedy="Leave it out."
                )
            elif task in study.table.tasks:
                known = study.table.tasks[task].regimes or study.table.regimes
                self._all_known((*path, "regimes"), f"regime of {task}", table.regimes, known)
        self._templates((*path, "data"), table.data)
        for key in ("dictionaries", "vectors"):
            self._templates((*path, key), getattr(table, key))
        languages = [code for code in table.languages or study.languages if code != study.table.source]
        for key, files in (("data", table.data), ("dictionaries", table.dictionaries), ("vectors", table.vectors)):
            if files is not None:
                for found in expanded(files, languages, study.table.source).values():
                    self._exist((*path, key), found)

    def _synth(self, table: StudyTable) -> None:
        for name, given in table.synth.items():
            self._numbers(("synth", name), asdict(given))
            for key in ("contexts", "names"):
                said: str | tuple[str, ...] = getattr(given, key)
                folders = (said,) if isinstance(said, str) else said
                self._exist(("synth", name, key), [each for each in folders if each != "embedded"], folders=True)

    def _geometry(self, path: Place, table: GeometryTable) -> None:
        study = self.study
        self._all_known((*path, "encoders"), "encoder", table.encoders, study.table.encoders)
        self._tried(path, asdict(table), lambda: check_table(table, [entry.name for entry in flattenings]))
        if not self._known((*path, "synth"), "synth", table.synth, study.table.synth):
            return
        spoken = study.table.synth[table.synth].languages or dict.fromkeys((study.table.source, *study.languages))
        self._all_known((*path, "sources"), "language of the set", table.sources, spoken)
        if len(spoken) < 2:
            self._wrong(path, "one language has nothing to be compared with", remedy="Name more languages.")
        if (source := table.source or study.table.source) not in spoken:
            self._wrong((*path, "source"), "the language of the second look is not in the set", value=source,
                        remedy=f"It has: {', '.join(spoken)}.")  # fmt: skip

    def _templates(self, path: Place, files: Files | None) -> None:
        for under, template in templates_of(files):
            for name in fields_of(template):
                self._known((*path, *under), "field of a template", name, FIELDS)

    def _exist(self, path: Place, files: Iterable[str], *, folders: bool = False) -> None:
        """Tell files that are not there; those that a step makes must name one that is in the study."""
        for file in files:
            if file.startswith(MADE):
                self._known(path, "synth", file[len(MADE) :].partition("/")[0], self.study.table.synth)
            elif not _templated(file) and not (found := self.study.place(file)).exists():
                self._wrong(
                    path, "no such file", value=file, remedy=f"Looked in {self.study.data}; --data names another."
                )
            elif not _templated(file) and found.is_dir() and not folders and path[0] != "measures":
                self._wrong(path, "a folder, not a file", value=file, remedy="Name the file.")

    def _corpus(self, path: Place, name: str, languages: Iterable[str]) -> None:
        """A parallel corpus: the sampler, a dataset of the hub, or a file or folder that is there."""
        if name == "sampler":
            there = read_corpus(name).languages
            for code in languages:
                self._known(path, "language of the sampler", code, there)
        elif not name.startswith("hf:"):
            self._exist(path, (name,), folders=True)


def _templated(file: str) -> bool:
    """Whether a field was not filled, which has been told already."""
    return "{" in file


def study_folder(study: Study, out: str | Path | None) -> Path:
    """Where a study's results go: what was asked for, or a folder called as the study, in the current one.

    Two sizes of one file have two folders. A folder that holds anything else is refused, nothing in it is touched.
    """
    folder = Path(out) if out is not None else Path(f"interlingua-study-{study.name}")
    check_kind(folder, "study")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "steps").is_dir():
        raise InputError("the folder holds files that are no study of ours", file=folder, remedy="Name another --out.")
    return folder
