"""Pretraining: what a masked language model learnt of its text and of translations, with curves over steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from interlingua.record import Estimate
from interlingua.report.kit.chart import Axis, Line, LineChart, ReferenceLine
from interlingua.report.kit.finding import Basis, Finding, Verdict, sentence_of
from interlingua.report.kit.section import ComparedNumber, Headline, KeyFigure, Run, Section, Subject
from interlingua.report.kit.table import Cell, Column, Table
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_number,
    format_share,
    join_with_and,
    language_name,
    pluralize,
)
from interlingua.stats.chance import LEVEL

Entry = Mapping[str, Any]
"""What was measured at one step: `step`, `loss`, and what the monitors gave."""
MAX_CURVE_POINTS = 200
MIN_CURVE_POINTS = 3
MAX_NAMED_LANGUAGES = 4
_CENTERINGS = {"raw": "as is", "centred": "centred"}


def training_summary(run: Run) -> Mapping[str, Any]:
    """The content of `training.json`."""
    summary = run.about.get("training")
    return summary if isinstance(summary, Mapping) else {}


def _metrics(run: Run) -> Sequence[Entry]:
    return training_summary(run).get("metrics") or ()


def _last(run: Run) -> Entry:
    return _metrics(run)[-1] if _metrics(run) else {}


def _text_finding(run: Run) -> Finding:
    """Whether the loss is below its chance level.

    That is the loss of word frequencies on the held-out text; where none was held out, that of guessing evenly over the
    vocabulary, ln(its size), which judges the text that was trained on alone.
    """
    last, vocabulary = _last(run), int(training_summary(run).get("vocabulary", 0))
    about, basis = {"held_out": "unigram_loss" in last}, Basis()
    if about["held_out"]:
        loss, level = float(last["held_out_loss"]), float(last["unigram_loss"])
        basis = Basis(over="batches of held-out text", test="paired t-test")
        verdict = Verdict.LOWER if loss < level and last["unigram_p"] < LEVEL else Verdict.AT_CHANCE
    elif "loss" in last and vocabulary >= 2:
        loss, level = float(last["loss"]), math.log(vocabulary)
        verdict = Verdict.AT_CHANCE if loss >= level else Verdict.NOT_TESTED
    else:
        return Finding(kind="pretraining_text", verdict=Verdict.NOT_TESTED, about=about)
    estimate = Estimate(value=loss, null_value=level)
    return Finding(kind="pretraining_text", verdict=verdict, about=about, estimate=estimate, basis=basis)


@sentence_of("pretraining_text", topic="Text")
def _text_sentence(finding: Finding) -> str:
    loss = finding.estimate
    if loss is None:
        return "The loss was not measured yet."
    ours, level = format_number(loss.value), format_number(loss.null_value)
    if finding.about["held_out"]:
        at_chance = finding.verdict is Verdict.AT_CHANCE
        learnt = "learnt no more than word frequencies" if at_chance else "learnt the text"
        return f"The model {learnt}: its held-out loss is {ours}, that of word frequencies alone {level}."
    if finding.verdict is Verdict.AT_CHANCE:
        return f"The model learnt nothing of the text: its loss is {ours}, that of guessing evenly {level}."
    return (
        f"The training loss is {ours}, below that of guessing evenly ({level}); no text was held out (data.held_out), "
        "so nothing is known of new text."
    )


def _translation_finding(run: Run) -> Finding | None:
    """Whether translations are found above chance at any layer, as is or with language means removed."""
    last = _last(run)
    known = [centering for centering in _CENTERINGS if f"{centering}_p" in last]
    if not known:
        return None
    best = max(known, key=lambda centering: float(last[centering]))
    above = any(last[f"{centering}_p"] < LEVEL for centering in known)
    return Finding(
        kind="pretraining_translations",
        verdict=Verdict.HIGHER if above else Verdict.AT_CHANCE,
        about={"centering": best, "layer": last[f"{best}_layer"]},
        estimate=Estimate(value=float(last[best]), null_value=float(last[f"{best}_chance"])),
        basis=Basis(over="sentences", test="binomial test", correction="Bonferroni over pairs, directions and layers"),
    )


@sentence_of("pretraining_translations", topic="Translations")
def _translations_sentence(finding: Finding) -> str:
    accuracy = finding.estimate
    assert accuracy is not None
    numbers = f"{format_share(accuracy.value)}, chance level {format_share(accuracy.null_value)}"
    if finding.verdict is Verdict.AT_CHANCE:
        return f"Translations are not found above chance at any layer (at most {numbers})."
    return (
        f"Translations are found above chance: retrieval accuracy (P@1) is {numbers}, at layer "
        f"{finding.about['layer']} ({_CENTERINGS[finding.about['centering']]})."
    )


def _headline(run: Run) -> Headline:
    """What was not learnt answers first: a model at chance is not judged by anything else."""
    summary, findings = training_summary(run), _findings(run)
    at_chance = [finding for finding in findings if finding.verdict is Verdict.AT_CHANCE]
    answer = (at_chance or findings[::-1])[0]
    languages = [language_name(str(code), run.about) for code in summary.get("languages") or ()]
    named = join_with_and(languages) if len(languages) <= MAX_NAMED_LANGUAGES else f"{len(languages)} languages"
    folder = escape_control_characters(str(run.about.get("model") or "the model"))
    done = "" if summary.get("finished", True) else ", not finished"
    advice = "Train longer, or with another learning rate." if at_chance else (
        f"Measure how well the languages are aligned: `interlingua audit {folder}`."
    )  # fmt: skip
    return Headline(
        title=f"What has {PurePath(folder).name} learnt of {named or 'its text'}?",
        answer=answer,
        figures=tuple(_figures(run, findings)),
        measured=(
            f"{pluralize(int(summary.get('steps', 0)), 'step')}{done}; {int(summary.get('tokens_seen', 0)):,} tokens "
            f"seen; {int(summary.get('parameters', 0)):,} parameters, vocabulary {int(summary.get('vocabulary', 0)):,}."
        ),
        next_step=run.unfinished or advice,
        findings=tuple(finding for finding in findings if finding is not answer),
    )


def _findings(run: Run) -> list[Finding]:
    translations = _translation_finding(run)
    return [_text_finding(run), *([translations] if translations is not None else [])]


def _figures(run: Run, findings: Sequence[Finding]) -> Iterator[KeyFigure]:
    text, last = findings[0], _last(run)
    if text.estimate is not None:
        held_out = text.about["held_out"]
        level = "word frequencies alone" if held_out else "guessing evenly"
        yield KeyFigure(
            label="Held-out loss" if held_out else "Training loss",
            estimate=text.estimate,
            display="number",
            remark=f"{level}: {format_number(text.estimate.null_value)}",
        )
    for centering, title in _CENTERINGS.items():
        if centering in last:
            chance = last.get(f"{centering}_chance")
            remark = "" if chance is None else f"; chance level {format_share(chance)}"
            yield KeyFigure(
                label=f"Retrieval accuracy (P@1), {title}",
                estimate=Estimate(value=float(last[centering]), null_value=chance),
                remark=f"best layer {last[f'{centering}_layer']}{remark}",
            )


def _sections(run: Run) -> list[Section]:
    charts = tuple(chart for chart in (_loss_chart(run), _retrieval_chart(run)) if chart is not None)
    sections = [Section(name="pretraining-curves", title="Over training", charts=charts)] if charts else []
    summary, tables = training_summary(run), tuple(_text_table(run))
    facts = (
        ("Architecture", str(summary.get("architecture", ""))),
        ("Languages", ", ".join(map(str, summary.get("languages") or ()))),
        ("Seed", str(summary.get("seed", ""))),
    )
    return [*sections, Section(name="pretraining-text", title="Text and model", tables=tables, facts=facts)]


def _loss_chart(run: Run) -> LineChart | None:
    last = _last(run)
    terms = {"loss": "training loss", "held_out_loss": "held-out loss"}
    references = []
    if "unigram_loss" in last:
        references.append(ReferenceLine(label="word frequencies alone", values=(float(last["unigram_loss"]),)))
    if (vocabulary := int(training_summary(run).get("vocabulary", 0))) > 1:
        references.append(ReferenceLine(label="guessing evenly", values=(math.log(vocabulary),)))
    return curve_chart(
        _metrics(run),
        terms,
        name="pretraining-loss",
        title="Loss",
        note="Cross-entropy per masked token, in nats. A loss above the line of word frequencies means that the model "
        "has not learnt to use context.",
        y=Axis(title="loss (nats per token)"),
        references=tuple(references),
    )


def _retrieval_chart(run: Run) -> LineChart | None:
    last = _last(run)
    chance = next((float(last[f"{name}_chance"]) for name in _CENTERINGS if f"{name}_chance" in last), None)
    return curve_chart(
        _metrics(run),
        _CENTERINGS,
        name="pretraining-retrieval",
        title="Retrieval accuracy",
        note="Share of sentences whose nearest neighbour in the other language is their translation (P@1): mean over "
        "pairs with the pivot language and both directions, at the layer that is best at each step.",
        y=Axis(title="retrieval accuracy (P@1)", display="percent", zero=True),
        references=() if chance is None else (ReferenceLine(label="chance level", values=(chance,)),),
    )


def curve_chart(
    entries: Sequence[Entry],
    terms: Mapping[str, str],
    *,
    name: str,
    title: str,
    note: str,
    y: Axis,
    references: tuple[ReferenceLine, ...] = (),
) -> LineChart | None:
    """Values over training steps, one line per term; None where fewer than three steps have one.

    Of many steps each point is the mean of several, so that a page stays small.
    """
    lines = []
    for number, (term, line_title) in enumerate(terms.items()):
        measured = [entry for entry in entries if isinstance(entry.get(term), int | float)]
        if len(measured) < MIN_CURVE_POINTS:
            continue
        size = math.ceil(len(measured) / MAX_CURVE_POINTS)
        parts = [measured[at : at + size] for at in range(0, len(measured), size)]
        values = tuple(Estimate(value=math.fsum(entry[term] for entry in part) / len(part)) for part in parts)
        lines.append(Line(name=line_title, x=tuple(float(part[-1]["step"]) for part in parts), y=values, color=number))
    if not lines:
        return None
    return LineChart(name=name, title=title, note=note, x=_STEPS, y=y, lines=tuple(lines), references=references)


_STEPS = Axis(title="training step", display="count")


def _text_table(run: Run) -> Iterator[Table]:
    """One row per language: lines kept, and left out by each rule; none where the text was taken as it is."""
    lines: Mapping[str, Mapping[str, int]] = training_summary(run).get("lines_of_text") or {}
    rules = list(dict.fromkeys(rule for counts in lines.values() for rule in counts))
    if len(rules) > 1:
        columns = (Column(title="language"), *(Column(title=rule, display="count") for rule in rules))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (language_name(code, run.about), *(counts.get(rule, 0) for rule in rules)) for code, counts in lines.items()
        )
        title = "Lines of text: kept, and left out by each rule"
        yield Table(name="pretraining-lines", title=title, columns=columns, rows=rows, terminal=True)


def _numbers(run: Run) -> dict[str, Estimate]:
    """The figures of the first screen, each of one training."""
    findings = _findings(run)
    text, translations = findings[0].verdict, findings[-1].verdict
    return {
        figure.label: ComparedNumber.of(
            figure.estimate,
            display=figure.display,
            higher_is_better=figure.display == "percent",
            trained_seeds=1,
            at_chance=(translations if figure.display == "percent" else text) is Verdict.AT_CHANCE,
        )
        for figure in _figures(run, findings)
        if figure.estimate is not None
    }


SUBJECT = Subject(
    name="training",
    applies=lambda run: run.kind == "pretrain",
    sections=_sections,
    headline=_headline,
    numbers=_numbers,
)
