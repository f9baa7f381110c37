"""One chart of every kind with the names and numbers that reports have, for tests of drawings."""

from __future__ import annotations

import math

from interlingua.record import Estimate, Record
from interlingua.report.kit.chart import (
    Axis,
    Chart,
    Dot,
    FlowChart,
    HeatMap,
    Histogram,
    HistogramChart,
    HistogramRow,
    IntervalChart,
    IntervalRow,
    Line,
    LineChart,
    PointGroup,
    PointMap,
    ReferenceLine,
    ScatterChart,
    WordFlow,
)

LANGUAGES = {
    "en": "English",
    "es": "Spanish",
    "ru": "Russian",
    "vi": "Tiếng Việt",
    "hi": "हिन्दी",
    "de": "German",
    "fr": "French",
    "tr": "Turkish",
    "be": "Беларуская",
    "uk": "Ukrainian",
    "pl": "Polish",
    "zh": "中文",
    "ar": "العربية",
    "pt": "Portuguese",
    "ja": "Japanese",
    "sw": "Swahili",
    "el": "Ελληνικά",
}
HOSTILE = "</text></svg><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}<!--\u202e\u2066\x00\ud800"
LAYERS = (*range(12), "output")
SHARE = Axis(title="Sentences that find their translation", display="percent", zero=True)


def record(value: float, **fields: object) -> Record:
    return Record(measure="retrieval", metric="p@1", model="m", value=value, n=600, source="en", target="ru", **fields)


def estimate(value: float, spread: float = 0.03) -> Estimate:
    return Estimate(
        value=value, ci_low=value - spread, ci_high=value + spread, null_value=1 / 600, n=600, records=(record(value),)
    )


def curve(top: float, shift: float = 0.0) -> tuple[Estimate, ...]:
    return tuple(estimate(0.02 + top * math.sin((layer + 1) / 14 * 3 + shift)) for layer in range(len(LAYERS)))


def layers() -> LineChart:
    lines = (
        Line(name="language means removed", x=LAYERS, y=curve(0.3), best=6),
        Line(
            name="as is",
            x=LAYERS,
            y=(*curve(0.22, -0.1)[:5], None, *curve(0.22, -0.1)[6:]),
            color=1,
            dashed=True,
            best=8,
        ),
    )
    chance = ReferenceLine(label="chance level 0.2\N{NO-BREAK SPACE}%", values=(1 / 600,))
    return LineChart(
        name="layers",
        title="Retrieval per layer",
        note="Mean of all pairs.",
        x=Axis(title="layer"),
        y=SHARE,
        lines=lines,
        references=(chance,),
    )


def training() -> LineChart:
    steps = tuple(range(0, 3000, 60))
    lines = tuple(
        Line(
            name=f"seed {seed}",
            x=steps,
            color=seed,
            y=tuple(Estimate(value=0.3 + seed / 5 + 2 * math.exp(-x / 900)) for x in steps),
        )
        for seed in range(3)
    )
    floor = tuple(0.1 + 0.0011 * at for at in range(len(steps)))
    return LineChart(
        name="training",
        title="Loss",
        note="",
        x=Axis(title="steps"),
        y=Axis(title="loss"),
        lines=lines,
        references=(ReferenceLine(label="shuffled pairs", values=floor),),
    )


def languages_lines() -> LineChart:
    lines = tuple(
        Line(name=name, x=LAYERS, y=curve(0.1 + at / 30), color=at if at < 3 else -1)
        for at, name in enumerate(list(LANGUAGES.values())[:9])
    )
    return LineChart(name="many", title="Languages", note="", x=Axis(title="layer"), y=SHARE, lines=lines)


def pairs(count: int = 17, *, diverging: bool = False) -> HeatMap:
    names = [(list(LANGUAGES) + [f"l{at}" for at in range(count)])[at] for at in range(count)]
    full = [LANGUAGES.get(name, name) for name in names]
    cells = tuple(
        tuple(
            None if a == b else estimate(math.sin(3 * a + 7 * b) / (3 if diverging else 6) + (0 if diverging else 0.3))
            for b in range(count)
        )
        for a in range(count)
    )
    return HeatMap(
        name=f"pairs-{count}-{'difference' if diverging else 'value'}",
        title="Pairs",
        note="Rows search in columns.",
        rows=tuple(full),
        columns=tuple(names),
        cells=cells,
        diverging=diverging,
        scale="Difference in P@1, points" if diverging else "P@1, %",
        display="points" if diverging else "percent",
    )


def tokens() -> ScatterChart:
    dots = tuple(
        Dot(
            label=name,
            x=1 + at * 7 % 17 / 8,
            y=0.1 + at * 5 % 17 / 40,
            records=(record(0.1),),
            color=at % 3,
            detail="Table 3",
        )
        for at, name in enumerate(LANGUAGES.values())
    )
    return ScatterChart(
        name="tokens",
        title="Tokenizer",
        note="",
        x=Axis(title="word pieces per word", zero=True),
        y=SHARE,
        dots=dots,
        groups=("Latin", "Cyrillic", "other"),
        trend=((1.0, 0.4), (3.0, 0.2)),
    )


def published() -> ScatterChart:
    dots = tuple(Dot(label=code, x=0.6 + at / 81, y=0.58 + at * 3 % 17 / 70) for at, code in enumerate(LANGUAGES))
    axis = Axis(title="published F1", display="percent")
    return ScatterChart(
        name="published",
        title="Ours and theirs",
        note="",
        x=axis,
        y=Axis(title="F1 here", display="percent"),
        dots=dots,
        diagonal=True,
    )


def seeds() -> IntervalChart:
    rows = tuple(
        IntervalRow(
            label=name,
            group=group,
            estimate=estimate(value, 0.04),
            reference=1 / 3,
            dots=tuple((value + shift / 100, (record(value),)) for shift in (-2, 0, 3)),
        )
        for at, name in enumerate(("Russian", "हिन्दी", "Tiếng Việt"))
        for place, group in enumerate(("original", "adjusted", "adjusted, then continued"))
        for value in [0.5 + at / 20 + place / 30]
    )
    lines = (
        ReferenceLine(label="chance level", values=(1 / 3,)),
        ReferenceLine(label="English, original 71 %", values=(0.71,)),
    )
    return IntervalChart(
        name="seeds", title="Seeds", note="", x=Axis(title="entity F1", display="percent"), rows=rows, references=lines
    )


def changes() -> IntervalChart:
    rows = tuple(
        IntervalRow(label=name, group="", estimate=estimate(math.sin(at) / 10))
        for at, name in enumerate(LANGUAGES.values())
    )
    zero = (ReferenceLine(label="no difference", values=(0.0,)),)
    return IntervalChart(
        name="changes",
        title="Change",
        note="",
        x=Axis(title="change in points", display="points"),
        rows=rows,
        references=zero,
    )


def distances() -> HistogramChart:
    def bell(middle: float) -> tuple[float, ...]:
        return tuple(1000 * math.exp(-(((at - middle) / 5) ** 2)) for at in range(40))

    rows = tuple(
        HistogramRow(
            label=label,
            side=estimate(auc),
            histograms=(
                Histogram(name="translations", counts=bell(middle)),
                Histogram(name="unrelated words", counts=bell(26), color=1),
            ),
        )
        for label, middle, auc in (("as is", 16, 0.785), ("after adjustment", 11, 0.885))
    )
    axis = Axis(title="distance over the mean unrelated distance", low=0, high=2)
    return HistogramChart(name="distances", title="Distances", note="", x=axis, rows=rows, side_title="AUC")


def flows() -> FlowChart:
    source = tuple(
        zip(
            ["The", "train", "to", "the", "coast", "leaves", "at", "seven"],
            (0.1, 0.9, 0, 0, 0.6, -0.3, 0.1, 0.4),
            strict=True,
        )
    )
    target = tuple(
        zip(["يغادر", "القطار", "إلى", "الساحل", "في", "السابعة"], (-0.2, 1.0, 0.1, 0.5, 0.1, 0.4), strict=True)
    )
    bands = tuple(
        WordFlow(source=a, target=b, share=share)
        for a, b, share in ((1, 1, 0.4), (4, 3, 0.22), (7, 5, 0.15), (4, 1, 0.05))
    )
    return FlowChart(
        name="flows",
        title="Attribution",
        note="",
        source_name="English",
        target_name="Arabic",
        source_words=source,
        target_words=target,
        flows=bands,
    )


def points(count: int = 50) -> PointMap:
    groups = tuple(
        PointGroup(
            name=name,
            x=[math.sin(at * 7 + row) for row in range(count)],
            y=[math.cos(at * 3 + row) / 2 for row in range(count)],
            texts=[f"{name} {row}" for row in range(count)],
            rows=list(range(count)),
        )
        for at, name in enumerate(list(LANGUAGES.values())[:8])
    )
    return PointMap(
        name="map",
        title="Map",
        note="",
        groups=groups,
        x_title="first component, 12 % of the variance",
        y_title="second component, 7 %",
    )


def gallery() -> list[Chart]:
    heat = [pairs(17), pairs(6), pairs(8, diverging=True)]
    return [
        layers(),
        training(),
        languages_lines(),
        *heat,
        tokens(),
        published(),
        seeds(),
        changes(),
        distances(),
        flows(),
        points(),
    ]
