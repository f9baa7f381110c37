"""Explained examples: pairs of texts with whole words shaded, what is explained marked, and what flows between them.

Attributions of word pieces are added up to whole words, since people read words. Both texts of a pair have one scale of
colour: shades scaled per text look comparable and are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from interlingua.analyses.explained_examples import ExampleCollection, ExplainedExample, ExplainedText, WrongPredictions
from interlingua.report.kit.chart import Chart, FlowChart, WordFlow, charts_under_menus
from interlingua.report.kit.finding import Finding, Verdict, sentence_of
from interlingua.report.kit.section import Example, ExampleText, ExampleWord, Headline, KeyFigure, Run, Section, Subject
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
        "predictions": [{**asdict(p), "name": language_name(p.language, run.about)} for p in predictions],
        "first": "" if first is None else escape_control_characters(first.first),
    }
    return Finding(kind="wrong_predictions", verdict=Verdict.FOUND, about=about)


@sentence_of("wrong_predictions", topic="Wrong predictions")
def _wrong_predictions_sentence(finding: Finding) -> str:
    about = finding.about
    counts = [f"{p['name']} {p['wrong']} of {p['total']}" for p in about["predictions"]]
    first = f" The first is row {about['first']}." if about["first"] else ""
    return f"Wrong predictions among the explained examples: {join_with_and(counts)}.{first}"


def wrong_predictions_figure(run: Run) -> KeyFigure | None:
    """How many explained predictions are wrong, with a link to the first."""
    finding = find_wrong_predictions(run)
    if finding is None:
        return None
    wrong, total = (sum(counts[key] for counts in finding.about["predictions"]) for key in ("wrong", "total"))
    first = finding.about["first"]
    remark, link = (f"first: row {first}", "examples") if first else ("", "")
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
    finding, is_alone = find_wrong_predictions(run), not run.records
    chances = [record.details.get("chance") for record in run.records if record.measure == "task"]
    is_at_chance = any(chance is not None and not chance.get("above") for chance in chances)
    at_chance = (
        "In languages where the model is at chance the examples show how attributions are computed, and nothing about "
        "the task."
    )
    # A page of many examples has the numbers of a chart below it; a terminal has no charts.
    tables = tuple(_tables(shown, run)) if is_alone else ()
    return [
        Section(
            name="examples",
            title="Examples",
            findings=(*(() if finding is None else (finding,)), *(_row_findings(run)[1:] if is_alone else ())),
            text=("Attributions of word pieces are added up to whole words.", *([at_chance] if is_at_chance else ())),
            charts=charts_under_menus("flows", ("Example",), flows),
            tables=tables,
            examples=tuple(make_example(example, title, run) for title, example in titled),
            terminal=is_alone,
        )
    ]


def _tables(examples: Sequence[ExplainedExample], run: Run) -> Iterator[Table]:
    """The words with the largest attributions and the largest flows in numbers: shades need colours."""
    words: list[tuple[Cell, ...]] = []
    flows: list[tuple[Cell, ...]] = []
    for number, example in enumerate(examples, 1):
        names = [language_name(text.language, run.about) for text in example.texts]
        written = [[escape_control_characters(word) for word, *_ in text.whole_words] for text in example.texts]
        for name, text, own in zip(names, example.texts, written, strict=True):
            values = text.word_attributions
            for place in sorted(range(len(values)), key=lambda place: -abs(values[place]))[:MAX_STRONGEST]:
                words.append((number, name, own[place], values[place]))
        for i, j, share in example.word_flows()[:MAX_STRONGEST]:
            flows.append((number, "–".join(names), written[0][i], written[1][j], share))
    start, share_column = Column(title="Example", display="count"), Column(title="Share", display="percent")
    of_words = (start, Column(title="Language"), Column(title="Word"), Column(title="Attribution", display="decimal3"))
    of_flows = (start, *(Column(title=title) for title in ("Languages", "From", "To")), share_column)
    yield Table(name="strongest-words", title="Strongest words", columns=of_words, rows=tuple(words), terminal=True)
    if flows:
        yield Table(name="strongest-flows", title="Strongest flows", columns=of_flows, rows=tuple(flows), terminal=True)


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
    findings = []
    for prediction in run.attachments.get("predictions") or ():
        name = language_name(prediction.language, run.about)
        about = {**vars(prediction), "is_wrong": prediction.is_wrong, "name": name}
        findings.append(Finding(kind="row_prediction", verdict=Verdict.FOUND, about=about))
    first = findings[0].about["language"] if findings else ""  # That of training, others are compared with it.
    return sorted(
        findings, key=lambda f: (not f.about["is_wrong"], f.about["is_wrong"] and f.about["language"] == first)
    )


@sentence_of("row_prediction", topic="Prediction")
def _row_prediction_sentence(finding: Finding) -> str:
    about = finding.about
    where = f"{about['name']}, {about['file']}:{about['line']}"
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
        name = language_name(text.language, run.about)
        strongest.append({"language": text.language, "name": name, "explained": text.explained, "words": words})
    about = {"texts": strongest, "answer": example.answer, "is_wrong": example.is_wrong}
    return Finding(kind="strongest_words", verdict=Verdict.FOUND, about=about)


@sentence_of("strongest_words", topic="Strongest words")
def _strongest_words_sentence(finding: Finding) -> str:
    parts = []
    for text in finding.about["texts"]:
        words = join_with_and([f"“{word}”" for word in text["words"]]) or "no word"
        parts.append(f"in {text['name']}, “{escape_control_characters(text['explained'])}” rests most on {words}")
    sentence = "; ".join(parts)
    answer = f" ({finding.about['answer']} answer)" if finding.about["is_wrong"] else ""
    return f"{sentence[:1].upper()}{sentence[1:]}{answer}."


SUBJECT = Subject(
    name="examples", applies=lambda run: bool(example_collection(run).shown), sections=_sections, headline=_headline
)
