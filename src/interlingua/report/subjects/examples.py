"""Explained examples: pairs of texts with whole words shaded, what is explained marked, and what flows between them.

Attributions of word pieces are added up to whole words, since people read words. Both texts of a pair have one scale of
colour: shades scaled per text look comparable and are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from interlingua.analyses.explained_examples import (
    ExampleCollection,
    ExplainedExample,
    ExplainedText,
    WrongPredictions,
)
from interlingua.report.kit.chart import Chart, ChartMenu, FlowChart, WordFlow
from interlingua.report.kit.finding import Finding, Verdict, sentence_of
from interlingua.report.kit.section import (
    Example,
    ExampleText,
    ExampleWord,
    Headline,
    KeyFigure,
    Run,
    Section,
    Subject,
)
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_number,
    join_with_and,
    language_name,
    pluralize,
)

MAX_EXAMPLES = 24
"""Examples of a page, as many of each pair of languages as of the others."""
MAX_FLOWS, MAX_FLOW_WORDS = 80, 40
"""Flows of a chart, and words of each of its texts: those with the strongest flows, in the order of the text."""
MAX_HEADLINE_EXAMPLES = 4
"""Examples whose strongest words the first screen names, where a run has no records."""
MAX_STRONGEST = 6
"""Words and flows of an example that are printed in numbers."""


def example_collection(run: Run) -> ExampleCollection:
    """The examples of a run; an empty collection where it has none."""
    collection = run.attachments.get("examples")
    return collection if isinstance(collection, ExampleCollection) else ExampleCollection()


def select_examples(examples: Sequence[ExplainedExample], most: int) -> list[ExplainedExample]:
    """At most `most` examples, equally many of each pair of languages; wrong predictions first."""
    ranks: dict[tuple[str, ...], int] = {}
    ranked = []
    for place, example in enumerate(sorted(examples, key=lambda example: not example.is_wrong)):
        languages = tuple(text.language for text in example.texts)
        ranks[languages] = ranks.get(languages, -1) + 1
        ranked.append((ranks[languages], place, example))
    chosen = sorted(ranked, key=lambda entry: entry[:2])[:most]
    return [example for *_, example in sorted(chosen, key=lambda entry: entry[1])]


def first_wrong(predictions: Sequence[WrongPredictions]) -> WrongPredictions | None:
    """The first language but that of training in which a prediction is wrong; else that of training; else None.

    Languages stand in the order of the run, that of training first: errors of transfer are in the others.
    """
    wrong = [counts for counts in predictions if counts.wrong]
    return next((counts for counts in wrong if counts is not predictions[0]), wrong[0] if wrong else None)


def find_wrong_predictions(run: Run) -> Finding | None:
    """How many explained predictions are wrong, and the first of them; None where the run has no examples."""
    predictions = example_collection(run).predictions
    if not predictions:
        return None
    first = first_wrong(predictions)
    about = {
        "predictions": [asdict(counts) for counts in predictions],
        "first": "" if first is None else first.first,
        "names": dict(run.about.get("names") or {}),
    }
    return Finding(kind="wrong_predictions", verdict=Verdict.FOUND, about=about)


@sentence_of("wrong_predictions", topic="Wrong predictions")
def _wrong_predictions_sentence(finding: Finding) -> str:
    about = finding.about
    counts = [f"{language_name(p['language'], about)} {p['wrong']} of {p['total']}" for p in about["predictions"]]
    first = f" The first is row {escape_control_characters(about['first'])}." if about["first"] else ""
    return f"Wrong predictions among the explained examples: {join_with_and(counts)}.{first}"


def wrong_predictions_figure(run: Run) -> KeyFigure | None:
    """How many explained predictions are wrong, with a link to the first."""
    predictions = example_collection(run).predictions
    if not predictions:
        return None
    wrong, total = (sum(counts) for counts in ([p.wrong for p in predictions], [p.total for p in predictions]))
    first = first_wrong(predictions)
    remark = "" if first is None else f"first: row {escape_control_characters(first.first)}"
    link = "" if first is None else "examples"
    return KeyFigure(label="Wrong predictions", text=f"{wrong:,} of {total:,}", remark=remark, link=link)


def make_example(example: ExplainedExample, title: str, run: Run) -> Example:
    """An example to show: whole words on one scale for both texts; what is explained, gold and prediction beside."""
    largest = max((abs(value) for text in example.texts for value in text.word_attributions), default=0.0) or 1.0
    texts = tuple(
        ExampleText(
            language=language_name(text.language, run.about),
            explained=describe_explained(text),
            words=tuple(_example_words(text, largest)),
        )
        for text in example.texts
    )
    notes = [] if example.score is None else [f"Consistency {format_number(example.score, 3)}."]
    notes += [f"{language_name(t.language, run.about)}: {t.about}." for t in example.texts if t.about]
    return Example(title=title, texts=texts, note=escape_control_characters(" ".join(notes)))


def _example_words(text: ExplainedText, largest: float) -> Iterator[ExampleWord]:
    for number, ((word, begin, _), value) in enumerate(zip(text.whole_words, text.word_attributions, strict=True)):
        if begin > 0 and text.side[begin] != text.side[begin - 1]:
            yield ExampleWord(text="|")
        written = escape_control_characters(word)
        yield ExampleWord(text=written, strength=round(value / largest, 3), marked=number in text.marked)


def describe_explained(text: ExplainedText) -> str:
    """What is explained of a text, then whether the model is right.

    >>> empty = {"language": "en", "units": (), "side": (), "attributions": ()}
    >>> describe_explained(ExplainedText(**empty, explained="ORG: Bank", gold="ORG Bank", predicted="no name"))
    'ORG: Bank · wrong: gold ORG Bank, predicted no name'
    >>> describe_explained(ExplainedText(**empty, explained="label: neutral", gold="neutral", predicted="neutral"))
    'label: neutral · right'
    """
    parts = [text.explained] if text.explained else []
    if text.gold is not None:
        parts.append(f"wrong: gold {text.gold}, predicted {text.predicted}" if text.is_wrong else "right")
    return escape_control_characters(" · ".join(parts))


def _title(number: int, example: ExplainedExample, run: Run) -> str:
    pair = "–".join(language_name(text.language, run.about) for text in example.texts)
    words = escape_control_characters(" ".join(word for word, *_ in example.texts[0].whole_words[:12]))
    begin = words if len(words) < 50 else f"{words[:48]}…"
    # Of a row both answers are explained where the model is wrong.
    note = "wrong, " if run.records else f"{example.answer} answer, "
    return f"{number}. {note if example.is_wrong else ''}{pair}: {begin}"


def make_flow_chart(example: ExplainedExample, title: str, run: Run) -> FlowChart:
    """What flows between two texts: the words with the strongest flows, in the order of their texts."""
    flows = [flow for flow in example.word_flows() if flow[2] > 0][:MAX_FLOWS]
    ends = ([i for i, *_ in flows], [j for _, j, _ in flows])
    shown = [sorted(list(dict.fromkeys(numbers))[:MAX_FLOW_WORDS]) for numbers in ends]
    places = [{number: place for place, number in enumerate(numbers)} for numbers in shown]
    names = [language_name(text.language, run.about) for text in example.texts]
    words = [_word_shares(text, numbers) for text, numbers in zip(example.texts, shown, strict=True)]
    drawn = (
        WordFlow(source=places[0][i], target=places[1][j], share=share)
        for i, j, share in flows
        if i in places[0] and j in places[1]
    )
    return FlowChart(
        name="flows", title=title, note="Widths are shares of the attribution that flow from word to word.",
        source_name=names[0], target_name=names[1], source_words=words[0], target_words=words[1], flows=tuple(drawn),
    )  # fmt: skip


def _word_shares(text: ExplainedText, numbers: Sequence[int]) -> tuple[tuple[str, float], ...]:
    total = sum(abs(value) for value in text.word_attributions) or 1.0
    words, values = text.whole_words, text.word_attributions
    return tuple((escape_control_characters(words[number][0]), values[number] / total) for number in numbers)


def _sections(run: Run) -> list[Section]:
    shown = select_examples(example_collection(run).shown, MAX_EXAMPLES)
    if not shown:
        return []
    titles = [_title(number, example, run) for number, example in enumerate(shown, 1)]
    titled = list(zip(titles, shown, strict=True))
    flows: dict[tuple[str, ...], Chart] = {
        (title,): make_flow_chart(example, title, run) for title, example in titled if example.word_flows()
    }
    menu = ChartMenu(name="flows", menus=(("Example", tuple(title for (title,) in flows)),), charts=flows)
    finding, is_alone = find_wrong_predictions(run), not run.records
    # A page of many examples has the numbers of a chart below it; a terminal has no charts.
    tables = (_words_table(shown, run), *([_flows_table(shown, run)] if flows else ())) if is_alone else ()
    return [
        Section(
            name="examples",
            title="Examples",
            findings=(*(() if finding is None else (finding,)), *(_row_findings(run)[1:] if is_alone else ())),
            text=tuple(_reading_help(run)),
            charts=() if not flows else (menu,) if len(flows) > 1 else tuple(flows.values()),
            tables=tables,
            examples=tuple(make_example(example, title, run) for title, example in titled),
            terminal=is_alone,
        )
    ]


def _reading_help(run: Run) -> Iterator[str]:
    yield "Attributions of word pieces are added up to whole words."
    chances = [record.details.get("chance") for record in run.records if record.measure == "task"]
    if any(chance is not None and not chance.get("above") for chance in chances):
        yield (
            "In languages where the model is at chance the examples show how attributions are computed, and nothing "
            "about the task."
        )


def _words_table(examples: Sequence[ExplainedExample], run: Run) -> Table:
    """The words with the largest attributions of each text in numbers: shades need colours."""
    rows: list[tuple[Cell, ...]] = []
    for number, example in enumerate(examples, 1):
        for text in example.texts:
            values = text.word_attributions
            for place in sorted(range(len(values)), key=lambda place: -abs(values[place]))[:MAX_STRONGEST]:
                word = escape_control_characters(text.whole_words[place][0])
                rows.append((number, language_name(text.language, run.about), word, values[place]))
    columns = _columns({"Example": "count", "Language": "text", "Word": "text", "Attribution": "decimal3"})
    return Table(name="strongest-words", title="Strongest words", columns=columns, rows=tuple(rows), terminal=True)


def _flows_table(examples: Sequence[ExplainedExample], run: Run) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for number, example in enumerate(examples, 1):
        pair = "–".join(language_name(text.language, run.about) for text in example.texts)
        for i, j, share in example.word_flows()[:MAX_STRONGEST]:
            words = (text.whole_words[at][0] for text, at in zip(example.texts, (i, j), strict=True))
            rows.append((number, pair, *map(escape_control_characters, words), share))
    columns = _columns({"Example": "count", "Languages": "text", "From": "text", "To": "text", "Share": "percent"})
    return Table(name="strongest-flows", title="Strongest flows", columns=columns, rows=tuple(rows), terminal=True)


def _columns(displays: Mapping[str, Any]) -> tuple[Column, ...]:
    return tuple(Column(title=title, display=display) for title, display in displays.items())


def _headline(run: Run) -> Headline | None:
    """The first screen of single rows or of two texts: whether the prediction is right, and the words it rests on."""
    collection = example_collection(run)
    if run.records or not collection.shown:
        return None
    rows, words = _row_findings(run), [find_strongest_words(e, run) for e in collection.shown[:MAX_HEADLINE_EXAMPLES]]
    languages = dict.fromkeys(text.language for example in collection.shown for text in example.texts)
    where = join_with_and([language_name(code, run.about) for code in languages])
    model = escape_control_characters(collection.model.rstrip("/").rsplit("/", 1)[-1]) or "the model"
    score = collection.shown[0].score
    figures = () if score is None else (KeyFigure(label="Consistency", text=format_number(score, 3)),)
    return Headline(
        title=f"Which words does {model} look at in {where}?",
        answer=rows[0] if rows else words[0],
        figures=figures,
        measured=f"{pluralize(len(collection.shown), 'explanation')}. Single examples illustrate and prove nothing.",
        findings=tuple(words if rows else words[1:]),
    )


def _row_findings(run: Run) -> list[Finding]:
    """What the file and the model say of each row: wrong predictions first, those of other languages before them."""
    names = dict(run.about.get("names") or {})
    findings = [
        Finding(kind="row_prediction", verdict=Verdict.FOUND, about={**vars(p), "is_wrong": p.is_wrong, "names": names})
        for p in run.attachments.get("predictions") or ()
    ]
    first = findings[0].about["language"] if findings else ""  # That of training, others are compared with it.
    return sorted(
        findings, key=lambda f: (not f.about["is_wrong"], f.about["is_wrong"] and f.about["language"] == first)
    )


@sentence_of("row_prediction", topic="Prediction")
def _row_prediction_sentence(finding: Finding) -> str:
    about = finding.about
    where = f"{language_name(about['language'], about)}, {about['file']}:{about['line']}"
    wrong = f"Wrong: gold {about['gold']}, predicted {about['predicted']}"
    verdict = wrong if about["is_wrong"] else f"Right: {about['gold']}"
    return escape_control_characters(f"{verdict} ({where}).")


def find_strongest_words(example: ExplainedExample, run: Run) -> Finding:
    """The words of each text that speak most for what is explained."""
    strongest = []
    for text in example.texts:
        values = text.word_attributions
        places = sorted((at for at in range(len(values)) if values[at] > 0), key=lambda at: -values[at])[:3]
        words = [escape_control_characters(text.whole_words[at][0]) for at in places]
        strongest.append({"language": text.language, "explained": text.explained, "words": words})
    about = {
        "texts": strongest,
        "answer": example.answer,
        "is_wrong": example.is_wrong,
        "names": dict(run.about.get("names") or {}),
    }
    return Finding(kind="strongest_words", verdict=Verdict.FOUND, about=about)


@sentence_of("strongest_words", topic="Strongest words")
def _strongest_words_sentence(finding: Finding) -> str:
    parts = []
    for text in finding.about["texts"]:
        words = join_with_and([f"“{word}”" for word in text["words"]]) or "no word"
        name = language_name(text["language"], finding.about)
        parts.append(f"in {name}, “{escape_control_characters(text['explained'])}” rests most on {words}")
    sentence = "; ".join(parts)
    answer = f" ({finding.about['answer']} answer)" if finding.about["is_wrong"] else ""
    return f"{sentence[:1].upper()}{sentence[1:]}{answer}."


SUBJECT = Subject(
    name="examples",
    applies=lambda run: bool(example_collection(run).shown),
    sections=_sections,
    headline=_headline,
)
