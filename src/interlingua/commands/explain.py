"""What `interlingua explain` calls, and what a notebook calls: `explain`, `explain_rows`, `explain_texts`."""

from __future__ import annotations

import datetime
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from interlingua import languages as codes
from interlingua.analyses.explanation import (
    Explainer,
    ExplainSettings,
    Outside,
    Read,
    by_order,
    example_file,
    example_lines,
    page_examples,
    step_key,
    texts_of,
)
from interlingua.analyses.row_explanation import RowExplanation, about_target, explain_row, find_row
from interlingua.analyses.transfer import File, check_file
from interlingua.commands import report
from interlingua.commands.command import command
from interlingua.encoder.devices import pick_device
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store, step_of
from interlingua.errors import InputError
from interlingua.paths import json_value
from interlingua.readers.examples import Examples
from interlingua.readers.word_lists import WordVectors, read_dictionary, read_vectors
from interlingua.record import RecordTable, versions
from interlingua.report.explain_page import explain_files, texts_sections
from interlingua.report.notebook import Drawing, drawing, framed
from interlingua.report.page import Page, render_page
from interlingua.report.record_adapter import to_v1
from interlingua.studies.analysis_settings import explain_settings
from interlingua.studies.config.schema import ExplainCommand, ExplainRowsCommand, ExplainTextsCommand
from interlingua.studies.run_folder import alone_in, check_folder, told_before
from interlingua.tasks.saved_models import FineTuned, described, load
from interlingua.training.task import Task
from interlingua.words import token_spans

DIVIDER = "|||"


@dataclass(frozen=True)
class Explanation:
    """What was found: `records`, `run` with all that made them; the files are in `folder`."""

    records: RecordTable
    run: dict[str, Any]
    folder: Path

    def figure(self, name: str) -> Drawing:
        """A figure of the page by its name: plotly's JSON as a dictionary, which a notebook draws."""
        return report.figure(self.folder, name)

    def _repr_html_(self) -> str:
        return framed(report.page_of(self.folder))

    def __repr__(self) -> str:
        return f"Explanation({len(self.run['models'])} models, {self.run['task']}, {', '.join(self.run['languages'])})"


@dataclass(frozen=True)
class TextExplanation:
    """Two texts: units, attributions and flows (`example`), and what was explained of each, in words (`about`)."""

    example: dict[str, Any]
    about: tuple[str, str]
    notes: tuple[str, ...]

    def figure(self, name: str = "flows") -> Drawing:
        """The flows between both texts: plotly's JSON as a dictionary, which a notebook draws."""
        return drawing(texts_sections(self.example), name, [])

    def _repr_html_(self) -> str:
        page = Page("explain", "Two texts", " · ".join(self.about), texts_sections(self.example))
        return framed(render_page(page))


@command(ExplainCommand)
def explain(given: ExplainCommand) -> Explanation:
    """In Python `models` may map the language each was trained in to its folder: `{"es": "paws-es"}`.

    A folder is what `transfer(save_models=True)` wrote, or an ordinary one of a classifier. Every model's own language
    must be among the `tests`. The folder `out` gets records with every example's score, the attributions and flows of
    each example, tables, a picture and a page.
    """
    settings = explain_settings(given, unit="token")
    data, out = given.tests, Path(given.out)
    place, begun = str(pick_device(given.device)), time.monotonic()
    trained = _models(given.models, given.source)
    languages = _languages(data, trained)
    paths = {code: Path(data[name]) for name, code in languages.items()}
    for path in (*paths.values(), *(given.dictionaries or {}).values(), *(given.vectors or {}).values()):
        check_file(path)
    others = [code for code in paths if code != codes.canonical(given.source)]
    outside = _dictionaries(given.dictionaries or {}, settings, others)
    what = _one_task([name for name, _ in trained], given.task)
    examples = {code: _read(what, path, code, given.rows) for code, path in paths.items()}
    tables = _vectors(given.vectors or {}, settings, examples)
    for _, own in trained:
        for each in examples.values():
            by_order(what, examples[own], each)
    with alone_in(out, "explain"):
        check_folder(out, kind="explain")
        store, folder = Store(out), out
        steps: list[str] = []
        notes: list[str] = []
        shown: list[tuple[str, str]] = []
        for name, own in trained:
            tuned = load(name, device=place)
            explainer = Explainer(tuned, settings, replace(outside, vectors=tables), given.progress)
            steps += _explained(explainer, own, examples, store, folder, notes)
            shown.append((tuned.encoder.name, own))
        wanted = set(steps)
        records = RecordTable(record for record in store.read() if record.step in wanted)
        run = {
            "kind": "explain",
            "task": what.name,
            "metric": what.metric,
            "models": shown,
            "steps": steps,
            "languages": list(paths),
            "data": {code: path.name for code, path in paths.items()},
            "settings": asdict(settings),
            "skipped": list(dict.fromkeys([*told_before(folder).get("skipped", []), *notes])),
            "device": place,
            "versions": versions(),
            "seconds": round(time.monotonic() - begun, 1),
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }
        for name, text in explain_files(to_v1(records), run, page_examples(folder, shown, list(paths))).items():
            write_text(folder / name, text)
        write_text(folder / "run.json", json.dumps(run, ensure_ascii=False, indent=1))
        return Explanation(records, run, folder)


def _explained(
    explainer: Explainer, own: str, examples: Mapping[str, Examples[Any]], store: Store, folder: Path, notes: list[str]
) -> list[str]:
    """Run the steps of a model that are not in the store; the keys of all of them."""
    tuned = explainer.tuned
    more = json.dumps(sorted(tables.name for tables in explainer.outside.vectors.values()))
    more += json.dumps({code: list(entries) for code, entries in explainer.outside.dictionaries.items()})
    more += _digest(tuned)
    keys = {
        code: step_key(tuned.encoder.digest, examples[own], each, explainer.settings, f"{own} {code} {more}")
        for code, each in examples.items()
    }
    missing = [code for code, key in keys.items() if not _done(store, key, (tuned.encoder.name, own, code))]
    if not missing:
        return list(keys.values())
    source = explainer.side(own, examples[own])
    for code in missing:
        each = examples[code]
        target = source if code == own else explainer.side(code, each)
        made, compared = explainer.step(source, target)
        if not (folder / "run.json").is_file():  # So that a run cut short is known as one.
            write_text(folder / "run.json", json.dumps({"kind": "explain"}))
        for place, result in enumerate(compared):
            name = example_file(tuned.encoder.name, own, code, target.aspects[place].name)
            lines = example_lines(source, target, place, result, step=keys[code])
            write_text(folder / name, "\n".join([*lines, ""]))
        if not store.done(keys[code]):
            store.append(keys[code], made)
    notes += explainer.notes
    return list(keys.values())


def _done(store: Store, key: str, about: tuple[str, str, str]) -> bool:
    """Whether a step's records are there, and its examples are not those of another step under the same name."""
    files = (store.folder / "examples").glob(Path(example_file(*about, "*")).name)
    return store.done(key) and all(step_of(file) in (None, key) for file in files)


def _digest(tuned: FineTuned) -> str:
    """A hash of the head's weights, which are in a file of their own."""
    state = hashlib.blake2b(digest_size=16)
    for name, weight in tuned.model.head.state_dict().items():
        state.update(name.encode() + weight.detach().cpu().float().numpy().tobytes())
    return state.hexdigest()


@command(ExplainRowsCommand)
def explain_rows(given: ExplainRowsCommand) -> list[RowExplanation]:
    """Several languages are laid beside `source`, that of training, with what flows between them."""
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
    return [explain_row(explainer, examples, row, own=own) for row in asked]


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
    explainer = Explainer(tuned, replace(settings, target="predicted"), Outside({}, {}))
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
    lines = example_lines(sides[0], sides[1], 0, compared, most=1)
    if not lines:
        raise InputError(
            "attributions weigh nothing", value="; ".join(map(str, compared.skipped)), remedy="Give texts with words."
        )
    names = dict(zip(("source", "target"), languages, strict=True))
    row = int(compared.found.rows[0])
    about = [about_target(tuned, side, int(pair[row])) for side, pair in zip(sides, compared.pairs, strict=True)]
    return TextExplanation({**json_value(lines[0]), "languages": names}, (about[0], about[1]), tuple(explainer.notes))


def _label(tuned: FineTuned, read: Read, label: str | None) -> str:
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


def _dictionaries(given: Mapping[str, File], settings: ExplainSettings, others: Sequence[str]) -> Outside:
    found = {codes.canonical(name): read_dictionary(path) for name, path in given.items()}
    if settings.space == "aligned" and (missing := [code for code in others if code not in found]):
        raise InputError(
            "no dictionary for a language", value=", ".join(missing), remedy=f"Give --dictionary {missing[0]}=FILE."
        )
    return Outside(found, {})


def _vectors(
    given: Mapping[str, File], settings: ExplainSettings, examples: Mapping[str, Examples[Any]]
) -> dict[str, WordVectors]:
    """Word vectors of the words that occur."""
    found = {}
    for name, path in given.items() if settings.space == "vectors" else ():
        code = codes.canonical(name)
        texts = [text for parts in texts_of(examples[code]) for text in parts] if code in examples else []
        words = {text[start:end] for text in texts for start, end in token_spans(text)}
        found[code] = read_vectors(path, words=words)
    return found
