"""What `interlingua explain` calls, and what a notebook calls: `explain`, `explain_rows`, `explain_texts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from interlingua import languages as codes
from interlingua.analyses.explained_examples import (
    EXAMPLES,
    ExampleCollection,
    ExplainedExample,
    example_file,
    read_collection,
)
from interlingua.analyses.explanation import (
    EncodedExamples,
    Explainer,
    ExplainSettings,
    ExternalVectors,
    by_order,
    explained_examples,
    words_of,
)
from interlingua.analyses.row_explanation import RowExplanation, about_target, explain_row, find_row
from interlingua.analyses.transfer import File, check_file
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.encoder.devices import pick_device
from interlingua.engine.records import Records
from interlingua.engine.serialization import File as StoredFile
from interlingua.engine.step import Step
from interlingua.errors import InputError
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import WordVectors, read_dictionary, read_vectors
from interlingua.record import Record, RecordTable
from interlingua.report.files import report_files
from interlingua.report.kit.notebook import ReportedResult
from interlingua.report.kit.section import Run
from interlingua.report.report import Report, build_report
from interlingua.studies.analysis_settings import explain_settings
from interlingua.studies.config.fields import settings_of
from interlingua.studies.config.schema import (
    ExplainCommand,
    ExplainRowsCommand,
    ExplainTable,
    ExplainTextsCommand,
    ModelTable,
    StudyTable,
)
from interlingua.studies.step_settings import AttributeStep
from interlingua.studies.study import literal
from interlingua.tasks.saved_models import FineTuned, described, load
from interlingua.training.task import Task

KIND, DIVIDER, PAGE = "explain", "|||", "report.html"
_OPTIONS = {"tests": "test", "dictionaries": "dictionary", "vectors": "vectors"}
_NO_RECORDS = RecordTable(())


@dataclass(frozen=True)
class Explanation(ReportedResult):
    """Attributions of models in several languages: `records`, and `run` with all that made them, in `folder`."""

    records: RecordTable
    run: dict[str, Any]
    folder: Path

    def report(self) -> Report:
        """The report of this result: findings, tables and charts as objects."""
        return build_report([explained_run(self.folder, self.run, self.records)])

    @property
    def page_file(self) -> Path:
        """The page in the folder of the run."""
        return self.folder / PAGE

    def __repr__(self) -> str:
        return f"Explanation({len(self.run['models'])} models, {self.run['task']}, {', '.join(self.run['languages'])})"


class _WithoutFolder(ReportedResult):
    """What is only shown: nothing is written."""

    @property
    def page_file(self) -> None:
        """None: `.page()` has the page."""


@dataclass(frozen=True)
class TextExplanation(_WithoutFolder):
    """Two texts with their attributions and what flows between them, and notes on what was left out."""

    example: ExplainedExample
    model: str
    notes: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """What was explained of each text, its score, and how complete the attributions are."""
        return tuple(text.about for text in self.example.texts)

    def report(self) -> Report:
        """The report of this result: findings, tables and charts as objects."""
        about = {"models": [self.model], "skipped": self.notes}
        examples = ExampleCollection(shown=(self.example,), model=self.model)
        return build_report([Run(kind=KIND, about=about, records=_NO_RECORDS, attachments={"examples": examples})])


@dataclass(frozen=True, eq=False)
class RowExplanations(_WithoutFolder, Sequence[RowExplanation]):
    """Explanations of single rows: a sequence of `RowExplanation`."""

    rows: tuple[RowExplanation, ...]
    model: str

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def report(self) -> Report:
        """The report of this result: findings, tables and charts as objects."""
        notes = list(dict.fromkeys(note for row in self.rows for note in row.notes))
        examples = ExampleCollection(shown=tuple(e for row in self.rows for e in row.examples), model=self.model)
        attachments = {
            "examples": examples,
            "predictions": tuple(prediction for row in self.rows for prediction in row.predictions),
        }
        about = {"models": [self.model], "skipped": notes}
        return build_report([Run(kind=KIND, about=about, records=_NO_RECORDS, attachments=attachments)])


def explained_run(folder: Path, about: Mapping[str, Any], records: RecordTable) -> Run:
    """The run in a folder of `interlingua explain` as a report reads it, with the examples that a page shows."""
    models = [(str(model), str(source)) for model, source in about.get("models") or []]
    examples = read_collection(folder, models, [str(code) for code in about.get("languages") or []])
    store = Records(Record, folder)
    return Run(
        kind=KIND, about=about, records=records, attachments={"examples": examples},
        items=lambda record: None if record.items is None else store.items(record),
    )  # fmt: skip


def compile_explain(given: ExplainCommand) -> CompiledCommand:
    """The explanations of some models as a study, checked with all that it reads."""
    settings = explain_settings(given, unit="token")
    trained = _models(given.models, given.source)
    languages = _languages(given.tests, trained)
    paths = {code: Path(given.tests[name]) for name, code in languages.items()}
    for path in (*paths.values(), *(given.dictionaries or {}).values(), *(given.vectors or {}).values()):
        check_file(path)
    others = [code for code in paths if code != codes.canonical(given.source)]
    _dictionaries(given.dictionaries or {}, settings, others)
    what = _one_task([name for name, _ in trained], given.task)
    examples = {code: _read(what, path, code, given.rows) for code, path in paths.items()}
    _vectors(given.vectors or {}, settings, examples)
    for _, own in trained:
        for each in examples.values():
            by_order(what, examples[own], each)
    sources: dict[str, tuple[str, ...]] = {}
    for name, own in trained:
        sources[name] = (*sources.get(name, ()), own)
    asked = {each.name: getattr(given, each.name) for each in settings_of(ExplainTable) if hasattr(given, each.name)}
    table = ExplainTable(
        **{
            **asked,
            "models": tuple(sources),
            "tests": _literal(given.tests),
            "dictionaries": _literal(given.dictionaries),
            "vectors": _literal(given.vectors) if settings.space == "vectors" else None,
            "unit": settings.unit,
            "max_examples": 0,
        }
    )
    study = one_cell(
        StudyTable(
            name=KIND,
            languages=tuple(paths),
            source=codes.canonical(given.source),
            seeds=1,
            models={name: ModelTable(folder=name, task=what.name, sources=own) for name, own in sources.items()},
            explanations={KIND: table},
        ),
        {
            ("models",): "MODEL",
            **{("explanations", KIND, key): f"--{flag}" for key, flag in _OPTIONS.items()},
        },
    )
    # Other models and settings go on in the same folder, which then shows what was asked for last.
    out = None if given.out is None else Path(given.out)
    return CompiledCommand(kind=KIND, study=study, identity={}, out=out, device=given.device, progress=given.progress)


def _literal(files: Mapping[str, File] | None) -> dict[str, str] | None:
    return None if files is None else {codes.canonical(name): literal(path) for name, path in files.items()}


@command(ExplainCommand)
def explain(given: ExplainCommand) -> Explanation:
    """In Python `models` may map the language each was trained in to its folder: `{"es": "paws-es"}`.

    A folder is what `transfer(save_models=True)` wrote, or an ordinary one of a classifier. Every model's own language
    must be among the `tests`. The folder `out` gets records with every example's score, the attributions and flows of
    each example, tables and a page.
    """
    with ran(compile_explain(given)) as finished:
        steps = [(step, cast(AttributeStep, step.settings)) for step in finished.steps("attribute")]
        _export_examples(finished, steps)
        about = steps[0][1]
        models = list(dict.fromkeys((each.model, each.source) for _, each in steps))
        tests = {code: file for _, each in steps for code, file in each.tests.items()}
        languages = list(finished.study.languages)
        run = finished.about(
            task=about.task,
            metric=_one_task([about.model], None).metric,
            models=models,
            languages=languages,
            data={code: Path(cast(StoredFile, tests[code]).path).name for code in languages},
            settings=dict(about.how),
        )
        for name, text in report_files(explained_run(finished.folder, run, finished.records)).items():
            finished.write(name, text)
        finished.write_about(run)
        return Explanation(finished.records, run, finished.folder)


def _export_examples(finished: FinishedCommand, steps: Sequence[tuple[Step, AttributeStep]]) -> None:
    """Give each step's examples a name that people see; those of an earlier run with other models go."""
    names = set()
    for step, each in steps:
        for file in sorted((finished.place(step) / EXAMPLES).glob("*.jsonl")):
            aspect = file.name.split(".")[1]
            names.add(name := example_file(each.model, each.source, each.language, aspect))
            finished.export(step, f"{EXAMPLES}/{file.name}", name)
    for file in (finished.folder / EXAMPLES).glob("*.jsonl") if finished.is_first else ():
        if f"{EXAMPLES}/{file.name}" not in names:
            file.unlink()


@command(ExplainRowsCommand)
def explain_rows(given: ExplainRowsCommand) -> RowExplanations:
    """Other languages are compared with `source`, that of training, with what flows between them."""
    settings = replace(explain_settings(given, unit="word"), faithful=False, choices=False)
    codes_of = {name: codes.canonical(name) for name in given.tests}
    paths = {code: Path(given.tests[name]) for name, code in codes_of.items()}
    if len(paths) < len(given.tests):
        raise InputError("a language is given twice", value=", ".join(given.tests), remedy="Give each once.")
    for path in (*paths.values(), *(given.dictionaries or {}).values(), *(given.vectors or {}).values()):
        check_file(path)
    own = codes.canonical(given.source)
    outside = _dictionaries(given.dictionaries or {}, settings, [code for code in paths if code != own])
    what = _one_task([str(given.model)], given.task)
    examples = {code: _read(what, path, code, None) for code, path in paths.items()}
    asked = [str(row) for row in given.rows]
    for row in asked:
        find_row(what, examples, row)  # Before a model is read: what is asked for must be there.
    outside = replace(outside, vectors=_vectors(given.vectors or {}, settings, examples))
    explainer = Explainer(load(given.model, device=str(pick_device(given.device))), settings, outside)
    rows = tuple(explain_row(explainer, examples, row, own=own) for row in asked)
    return RowExplanations(rows, str(given.model))


@command(ExplainTextsCommand)
def explain_texts(given: ExplainTextsCommand) -> TextExplanation:
    """Nothing is written."""
    settings = replace(explain_settings(given, unit="word"), faithful=False, choices=False)
    tuned = load(given.model, device=str(pick_device(given.device)))
    languages, label = given.languages, given.label
    if settings.space in ("aligned", "vectors"):
        raise InputError("this space needs files", value=settings.space, remedy="Use embeddings or layer for texts.")
    examples = [_of_text(tuned, text, code) for text, code in zip((given.first, given.second), languages, strict=True)]
    if label is not None and tuned.task.kind != "sequence":
        raise InputError("only texts and pairs of texts have a label", value=label, remedy="Leave --label out.")
    explainer = Explainer(tuned, replace(settings, target="predicted"), ExternalVectors({}, {}))
    reads = [explainer.read(code, each) for code, each in zip(languages, examples, strict=True)]
    chosen = _label(tuned, reads[0], label) if tuned.task.kind == "sequence" else None
    sides = explainer.two(reads[0], reads[1], label=chosen)
    if sides is None:
        raise InputError(
            "the model finds nothing in one text that it finds in the other, too",
            value=tuned.task.name,
            remedy="Give texts with a name of one kind in both." if tuned.task.kind == "token" else "Give other texts.",
        )
    compared = explainer.compare(sides[0], sides[1], 0)
    shown = explained_examples(sides[0], sides[1], 0, compared, most=1)
    if not shown:
        raise InputError(
            "attributions weigh nothing", value="; ".join(map(str, compared.skipped)), remedy="Give texts with words."
        )
    row = int(compared.found.rows[0])
    about = [about_target(tuned, side, int(pair[row])) for side, pair in zip(sides, compared.pairs, strict=True)]
    return TextExplanation(shown[0].with_about(about), str(given.model), tuple(explainer.notes))


def _label(tuned: FineTuned, read: EncodedExamples, label: str | None) -> str:
    if label is not None and label not in tuned.labels:
        raise InputError(
            "a label that the model was not trained on", value=label, remedy=f"It knows: {', '.join(tuned.labels)}."
        )
    return label or tuned.labels[int(read.predictions.choice[0])]


def _of_text(tuned: FineTuned, text: str, code: str) -> Examples[Any]:
    """One example of the task that the text is."""
    return Examples((tuned.task.example([part.strip() for part in text.split(DIVIDER)]),), code, "text")


def _models(given: str | Path | Sequence[str | Path] | Mapping[str, str | Path], source: str) -> list[tuple[str, str]]:
    """(folder, language of training) of each model."""
    if isinstance(given, Mapping):
        found = [(str(folder), codes.canonical(code)) for code, folder in given.items()]
    else:
        folders = [given] if isinstance(given, str | Path) else list(given)
        found = [(str(folder), codes.canonical(source)) for folder in folders]
    if not found:
        raise InputError("no model is given", remedy="Give the folder of a fine-tuned model.")
    return found


def _languages(data: Mapping[str, File], trained: Sequence[tuple[str, str]]) -> dict[str, str]:
    languages = {name: codes.canonical(name) for name in data}
    if len(set(languages.values())) < len(languages):
        raise InputError("a language is given twice", value=", ".join(data), remedy="Give each once.")
    for _, own in trained:
        if own not in languages.values():
            raise InputError(
                "no data in the language of training", value=own, remedy=f"Give --test {own}=FILE, or another --source."
            )
    if len(languages) < 2:
        raise InputError("one language only", value=", ".join(data), remedy="Give data in a second language too.")
    return languages


def _one_task(folders: Sequence[str], task: str | None) -> Task:
    """The task that all models are for, from their descriptions alone; refused where they are of two."""
    found = [described(folder)[0] for folder in folders]
    for folder, each in zip(folders, found, strict=True):
        if task is not None and task != each.name:
            raise InputError(
                f"the model was trained for {each.name}", file=folder, value=task, remedy="Leave --task out."
            )
        if each.name != found[0].name:
            raise InputError("models of two tasks", value=each.name, remedy=f"The first is for {found[0].name}.")
    return found[0]


def _read(task: Task, path: Path, code: str, rows: int | None) -> Examples[Any]:
    examples: Examples[Any] = task.read(path, code)
    if rows is not None and rows < 1:
        raise InputError("the number of rows is below one", value=rows, remedy="Give --rows 500.")
    # The first rows of each file, so that rows go on corresponding.
    return examples if rows is None else replace(examples, items=examples.items[:rows])


def _dictionaries(given: Mapping[str, File], settings: ExplainSettings, others: Sequence[str]) -> ExternalVectors:
    found = {codes.canonical(name): read_dictionary(path) for name, path in given.items()}
    if settings.space == "aligned" and (missing := [code for code in others if code not in found]):
        raise InputError(
            "no dictionary for a language", value=", ".join(missing), remedy=f"Give --dictionary {missing[0]}=FILE."
        )
    return ExternalVectors(found, {})


def _vectors(
    given: Mapping[str, File], settings: ExplainSettings, examples: Mapping[str, Examples[Any]]
) -> dict[str, WordVectors]:
    """Word vectors of the words that occur."""
    found = {}
    for name, path in given.items() if settings.space == "vectors" else ():
        code = codes.canonical(name)
        found[code] = read_vectors(path, words=words_of(examples[code]) if code in examples else set())
    return found
