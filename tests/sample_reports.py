"""A small report with one of everything, made by a subject of its own, for tests of the renderers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from interlingua.metric import Metric
from interlingua.record import Difference, Estimate, Record, RecordTable
from interlingua.report import report as assembly
from interlingua.report.kit.chart import Axis, HeatMap, Line, LineChart, ReferenceLine
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
from interlingua.report.kit.table import Column, Table

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}<!--\u202e\u2028`"
LANGUAGES = {"es": "Spanish", "ru": "Russian", "hi": "Hindi", "ar": "Arabic", "zh": "Chinese"}
METRIC = Metric(name="p@1", title="Retrieval accuracy (P@1)", display="percent")
DIGEST = "ab12cd34" * 8


def record(target: str = "es", layer: int = 0, value: float = 0.25, **fields: Any) -> Record:
    given: dict[str, Any] = {
        "measure": "retrieval", "metric": "p@1", "options": {"similarity": "cosine", "centering": "raw"},
        "n": 600, "ci_low": value - 0.03, "ci_high": value + 0.03, "null_value": 1 / 600, "model": "lab/small",
        "source": "en", "target": target, "layer": layer, "corpus": "sampler", "digests": {"model": DIGEST},
        "versions": {"interlingua": "0.1.0", "numpy": "2.5"}, "step": "measure", "value": value,
    }  # fmt: skip
    return Record(**{**given, **fields})


def value_of(target: str, layer: int) -> float:
    """The value of the sample's record of a language and layer: better in the middle, worse for later languages."""
    return 0.5 - 0.07 * list(LANGUAGES).index(target) - 0.03 * abs(layer - 4)


RECORDS = RecordTable([record(code, layer, value_of(code, layer)) for code in LANGUAGES for layer in range(7)])


@sentence_of("sample.verdict", topic="Alignment")
def _verdict(finding: Finding) -> str:
    return f"Of 5 languages, 3 are aligned with English at the best layer; {finding.about['language']} is weak."


@sentence_of("sample.weak", topic="Weak languages")
def _weak(finding: Finding) -> str:
    return f"{finding.about['language']} is below the median: P@1 is far from the chance level."


def estimate(**wanted: Any) -> Estimate:
    return RECORDS.where(**wanted).estimate()


def verdict_finding(language: str = "Chinese") -> Finding:
    about = {"language": language}
    return Finding(kind="sample.verdict", verdict=Verdict.FOUND, about=about, metric=METRIC, estimate=estimate(layer=4))


def weak_finding(language: str = "Chinese") -> Finding:
    weak, best = estimate(layer=4, target="zh"), estimate(layer=4, target="es")
    about = {"language": language}
    return Finding(kind="sample.weak", verdict=Verdict.LOWER, about=about, estimate=weak, compared_with=best)


def languages_table(text: str = "", **fields: Any) -> Table:
    """One row per language; the first two are tied for first."""
    columns = (
        Column(title="Language"),
        Column(title=text or "P@1 as is", display="percent", interval=True, better=True),
        Column(title="CKA, debiased", display="decimal3"),
        Column(title="Change", display="points", interval=True),
        Column(title="Layer"),
    )
    change = Difference(value=0.1, ci_low=0.05, ci_high=0.15, p=0.004, p_adjusted=0.02)
    tied = estimate(layer=4, target="es"), Estimate(value=0.49, ci_low=0.46, ci_high=0.52, null_value=1 / 600)
    rows = [
        (text or name, tied[place] if place < 2 else estimate(layer=4, target=code), 0.1 * place, change, place)
        for place, (code, name) in enumerate(LANGUAGES.items())
    ]
    rows[3] = (rows[3][0], None, math.nan, None, 3)
    given: dict[str, Any] = {"name": "languages", "title": "Languages", "note": "Means at layer 4.", "terminal": True}
    return Table(columns=columns, rows=tuple(rows), **{**given, **fields})


def layer_chart(name: str = "layers", title: str = "P@1 per layer") -> LineChart:
    lines = tuple(
        Line(
            name=LANGUAGES[code], x=tuple(range(7)), y=tuple(estimate(layer=k, target=code) for k in range(7)), color=at
        )
        for at, code in enumerate(("es", "zh"))
    )
    axis = Axis(title="P@1", display="percent", zero=True)
    chance = (ReferenceLine(label="chance level", values=(1 / 600,)),)
    note = "Mean of both directions."
    return LineChart(name=name, title=title, note=note, x=Axis(title="Layer"), y=axis, lines=lines, references=chance)


def heat_map() -> HeatMap:
    cells = tuple(tuple(None if a == b else estimate(layer=4, target=b) for b in LANGUAGES) for a in LANGUAGES)
    codes = tuple(LANGUAGES)
    return HeatMap(name="pairs", title="Pairs", note="Rows are sources.", rows=codes, columns=codes, cells=cells,
                   scale="P@1")  # fmt: skip


def example(text: str = "") -> Example:
    words = ("The", "Bank", "of", "Spain", "raised", "rates")
    english = tuple(
        ExampleWord(text=text or word, strength=at / 5 - 0.4, marked=0 < at < 4) for at, word in enumerate(words)
    )
    arabic = tuple(ExampleWord(text=word, strength=0.5) for word in ("رفع", "بنك", "إسبانيا"))
    texts = (
        ExampleText(language="English", explained=text or "ORG “Bank of Spain”", words=english),
        ExampleText(language="Arabic", explained="ORG “بنك إسبانيا”", words=arabic),
    )
    return Example(title=text or "Row 3", texts=texts, note="Consistency 0.42 (random attributions 0.31).")


def sample_subject(text: str = "") -> Subject:
    """A subject with one of everything; `text`, such as a hostile one, stands in the place of every text of a user."""
    name = text or "Chinese"

    def headline(run: Run) -> Headline:
        figures = (
            KeyFigure(label=text or "Sentences that retrieve their translation", estimate=estimate(layer=4)),
            KeyFigure(label="Best layer", text="4", remark=text or "layers 3 and 5 are tied"),
            KeyFigure(label="Weakest language", estimate=estimate(layer=4, target="zh"), remark=name),
        )
        return Headline(
            title=text or "How well does lab/small align 5 languages with English?",
            answer=verdict_finding(name),
            figures=figures,
            measured=text or "600 sentences in 6 languages of the embedded corpus, layers 0 to 6.",
            next_step=text
            or "Adjust the model for Chinese: `interlingua adjust lab/small --bitext zh=talks.en-zh.tsv`.",
            findings=(weak_finding(name),),
        )

    def sections(run: Run) -> Sequence[Section]:
        return [
            Section(
                name="layers",
                title="Layers",
                findings=(weak_finding(name),),
                text=(text or "Layer 0 is the embedding output.",),
                charts=(layer_chart(title=text or "P@1 per layer"), heat_map()),
                terminal=True,
            ),
            Section(name="languages", title=text or "Languages", tables=(languages_table(text),)),
            Section(name="examples", title="Examples", examples=(example(text),), folded=True),
        ]

    return Subject(name="sample", applies=lambda run: len(run.records) > 0, headline=headline, sections=sections)


def sample_run(text: str = "", **about: Any) -> Run:
    settings = {
        "model": text or "lab/small", "corpus": text or "sampler", "languages": ["en", *LANGUAGES],
        "rows": 600, "seed": 0, "skipped": [text or "3 duplicate rows"], "digests": {"model lab/small": DIGEST},
        "seconds": 12.34, "versions": {"interlingua": "0.1.0", "numpy": "2.5"}, "created": "2026-11-19T10:00:00Z",
    }  # fmt: skip
    return Run(kind="audit", about={**settings, **about}, records=RECORDS)


def sample_report(text: str = "", *, title: str = "", **about: Any) -> assembly.Report:
    """The report of the sample run, by the sample subject alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "subjects", lambda: (sample_subject(text),))
        return assembly.build_report([sample_run(text, **about)], title=title)
