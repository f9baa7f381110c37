"""An audit as sections of a page: the answer in words, layer curves, heat maps, the map, histograms, tables."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.report.answer import CENTRED, RAW, answer
from interlingua.report.evidence import above_null, at_chance, change, peak
from interlingua.report.figures import CLUSTERED, GIVEN, distance_histograms, heat_maps, layer_curves
from interlingua.report.page import Page, render_page, settings_section
from interlingua.report.readings import Readings, Record, mean
from interlingua.report.runs import Run
from interlingua.report.scatter import dot_plot, sentence_map
from interlingua.report.sections import Choice, Figure, Section, of_run
from interlingua.report.tables import (
    Ref,
    Table,
    matrix_tables,
    records_table,
    refs,
    summary_table,
    to_csv,
    tokenizer_table,
)
from interlingua.report.wording import listing, number, points, share_percent, visible

RECORDS_BYTES = 120_000
"""The largest compressed table of all records that is put in the page; past it the page names the file instead."""

LABELS = {
    "model": "Model",
    "against": "Against",
    "corpus": "Corpus",
    "rows": "Rows of the corpus",
    "languages": "Languages",
    "pairs": "Pairs",
    "measures": "Measures",
    "layers": "Layers",
    "dim": "Numbers a vector",
    "pooling": "Pooling",
    "precision": "Precision",
    "device": "Device",
    "maps": "Rotations fitted for",
    "seed": "Seed",
    "seconds": "Seconds",
    "created": "Created",
}
_INTERVALS = (
    "95 %, over sentences or words. The interval of a mean over pairs is the mean of their bounds, which is never too "
    "narrow for pairs that share sentences; it says nothing about languages that are not here."
)
Found = Mapping[str, tuple[Run, Readings]]


def build_page(
    records: Sequence[Record],
    run: Mapping[str, Any],
    points: Mapping[str, Any] | None = None,
    *,
    found: Readings | None = None,
    every: str | None = None,
) -> str:
    """One self-contained HTML page of an audit, which makes no request.

    `found` are the records gathered and `every` their table as CSV, where the caller has them.
    """
    own = Run(run, records, more={"points": points})
    found = found or own.readings()
    files = {}
    if 0 < len(records) <= 20_000:  # More would not fit.
        packed = gzip.compress((every or to_csv(records_table(records))).encode("utf-8", "backslashreplace"), mtime=0)
        if len(packed) <= RECORDS_BYTES:
            files["records.csv.gz"] = (packed, f"all {len(records)} records")
    title = visible(str(run.get("model") or "model"))
    sections = audit_sections({"": (own, found)})
    return render_page(Page("audit", title, subtitle(found, run), sections, records, files))


def audit_sections(found: Found) -> list[Section]:
    """What there is to show of one audit, or of several: curves in one figure, all else beside each other."""
    sections = [_answer(run, each) for run, each in found.values()]
    choices, curves = layer_curves(found)
    if curves:
        words = (
            "Each line is the mean over all language pairs (or languages), the band its 95 % interval over sentences, "
            "and the dotted line what the measure reads without any relation: with pairs shuffled. Layer 0 is the "
            "embedding output, layer k the output of block k."
        )
        if any(each.output is not None for _, each in found.values()):
            words += " The layer “output” is what the model gives out: pooled as its folder says, and all that follows."
        told = (words + _marked(found),)
        sections.append(Section("layers", "Layer by layer", told, choices=tuple(choices), figures=tuple(curves)))
    sections += _heat(found)
    maps = tuple(of_run(made, run.key, run.name) for run, _ in found.values() if (made := sentence_map(run)))
    if maps:
        words = (
            "Every mark is a sentence. Shape tells the script (one with many languages has two shapes), colour the "
            "language. Where languages mix, the model puts meaning before language; islands of one colour mean the "
            "reverse. Point at a mark to see all its translations, click to keep them; names below hide and show."
        )
        sections.append(Section("map", "Map of sentences", (words,), figures=maps))
    sections += [section for run, each in found.values() if (section := _distances(run, each))]
    sections += [section for run, each in found.values() if (section := _tokenizer(run, each))]
    tables = tuple(named_table(table, run) for run, each in found.values() for table in _tables(run, each))
    if tables:
        words = "A number with dots under it shows its record: point at it, or click."
        sections.append(Section("tables", "Tables", (words,), tables=tables, folded=True))
    return sections + [_made(run) for run, _ in found.values()]


def _marked(found: Found) -> str:
    """Which layers the upright lines mark, and in which runs there is none to mark."""
    tops = [(run, top) for run, each in found.values() if (top := peak(each)) and len(top.layers) > 1]
    best = [f"{visible(run.prefix)}{top.layer}" for run, top in tops if top.stands_out]
    none = [visible(run.name) for run, top in tops if not top.stands_out and not top.output]
    said = f" The thin upright line marks the best layer ({', '.join(best)})." if best else ""
    if none:
        said += f" No layer stands out{f' in {listing(none)}' if len(found) > 1 else ''}, so no best one is marked."
    return said


def _answer(run: Run, found: Readings) -> Section:
    findings = answer(found, run.about)
    facts = tuple((finding.topic, finding.text) for finding in findings[1:])
    title = f"The answer: {run.name}" if run.key else "The answer"
    return Section(run.id("answer"), title, (findings[0].text,), key_figures(found), facts)


def _heat(found: Found) -> list[Section]:
    figures = tuple(
        of_run(figure, run.key, run.name) for run, each in found.values() for figure in heat_maps(run, each)
    )
    if not figures:
        return []
    best = {each.name(layer) for _, each in found.values() if (layer := each.best_layer()) is not None}
    where = f"At layer {best.pop()}, where it depends on the layer. " if len(best) == 1 else ""
    told = (
        "Rows and columns stand in the order of a hierarchical clustering of the first map, so bright blocks along the "
        "diagonal are groups of languages that the model holds together."
    )
    noise = all((top := peak(each)) is not None and top.chance for _, each in found.values())
    if noise:
        told = "Alignment is no better than chance, so which pair reads higher here means nothing."
    words = f"{where}{told} All maps share one order and one scale, 0 to 1; brighter is closer."
    chosen = GIVEN if noise else CLUSTERED
    order = Choice("order", "Order", ((CLUSTERED, "by similarity"), (GIVEN, "as given")), chosen)
    return [Section("pairs", "Language by language", (words,), choices=(order,), figures=figures)]


def _distances(run: Run, found: Readings) -> Section | None:
    made = distance_histograms(run, found)
    if made is None:
        return None
    words = (
        "How far words lie from their translations (related), and from words of other sentences (unrelated). The less "
        "the two hills overlap, the better a translation can be told by distance alone."
    )
    choices, figure = made
    title = "Related and unrelated words" + (f": {run.name}" if run.key else "")
    figures = (of_run(figure, run.key, run.name),)
    return Section(run.id("distances"), title, (words,), choices=tuple(choices), figures=figures)


def _tokenizer(run: Run, found: Readings) -> Section | None:
    table = tokenizer_table(found, run.about)
    if not table.rows:
        return None
    picture = _blame(run, found)
    title = "Tokenizer" + (f": {run.name}" if run.key else "")
    return Section(run.id("tokenizer"), title, figures=picture, tables=(named_table(table, run),))


def _blame(run: Run, found: Readings) -> tuple[Figure, ...]:
    """Retrieval against the tokenizer's pieces a word, a dot a language, for three languages or more."""
    key, layer = found.headline(), found.best_layer()
    if key is None or at_chance(found) or not found.equal_candidates():
        return ()
    dots = [
        (code, pieces.value, value.value, refs(value))
        for code in found.languages
        if (pieces := found.fertility(code)) and (value := found.language(*key, layer, code))
    ]
    if len(dots) < 3:
        return ()
    upward = "retrieval" if key[0] == "retrieval" else "CKA, debiased"
    caption = "One dot per language. Correlation does not imply causation."
    figure = dot_plot("blame", "Pieces a word and alignment", caption, {"languages": dots}, ("pieces a word", upward))
    return (of_run(figure, run.key, run.name),)


def _tables(run: Run, found: Readings) -> list[Table]:
    return [table for table in (summary_table(found, run.about), *matrix_tables(found, run.about)) if table.rows]


def named_table(table: Table, run: Run) -> Table:
    """A table of one of several runs: its name and title say of which."""
    if not run.key:
        return table
    return Table(run.id(table.name), f"{table.title}: {visible(run.name)}", table.caption, table.columns, table.rows,
                 table.records)  # fmt: skip


def _made(run: Run) -> Section:
    title = f"How it was made: {run.name}" if run.key else "How it was made"
    about = dict(run.about)
    for key in ("digests", "versions"):  # Records have them where the run does not tell.
        about[key] = about.get(key) or {k: v for record in run.records[:1] for k, v in (record.get(key) or {}).items()}
    more = (("Intervals", _INTERVALS), ("Records", f"{len(run.records)}, in records.jsonl in the run’s folder"))
    left_out = ("names", "kind", "steps")
    return settings_section(about, labels=LABELS, without=left_out, more=more, name=run.id("made"), title=title)


def subtitle(found: Readings, run: Mapping[str, Any]) -> str:
    """One line: languages, corpus, layers, day."""
    parts = [f"{len(found.languages)} languages"]
    if run.get("corpus"):
        parts.append(visible(str(run["corpus"])))
    key = found.headline()
    if key:
        layers = found.layers(*key)
        parts.append(f"layer{'s' if len(layers) > 1 else ''} {found.span(layers)}")
    if run.get("created"):
        parts.append(visible(str(run["created"]))[:10])
    return " · ".join(parts)


def key_figures(found: Readings) -> tuple[tuple[str, str, str, Ref], ...]:
    """What a reader wants at a glance: number, what it is, a remark, its records; only what was measured."""
    layer, peak_ = found.best_layer(), peak(found)
    chance = peak_ is not None and peak_.chance
    shown: list[tuple[str, str, str, Ref]] = []
    raw, centred = (found.at("retrieval", variant, layer) for variant in (RAW, CENTRED))
    if best := raw or centred:
        top = mean(best.values())
        bounds = f"{share_percent(top.low)} to {share_percent(top.high)}, " if top.low is not None else ""
        level = "" if top.null is None else f"chance {share_percent(top.null)} among {top.n:,}"
        remark = f"no better than chance ({share_percent(top.null)} among {top.n:,})" if chance else f"{bounds}{level}"
        shown.append((share_percent(top.value), "of translations found", remark.removesuffix(", "), refs(top)))
    if peak_ is not None and peak_.stands_out:
        if peak_.rivals:
            remark = f"{listing([str(at) for at in peak_.rivals])} tied; 0 is the embedding output"
            shown.append((str(layer), "is among the best layers", remark, None))
        else:
            shown.append((str(layer), "is the best layer", "0 is the embedding output", None))
    elif peak_ is not None and peak_.output:
        shown.append(("output", "is the layer read", "the model’s own sentence vectors", None))
    elif peak_ is not None:
        remark = "all are at chance" if chance else "all lie within one interval"
        shown.append(("No", "layer stands out", remark, None))
    if raw and centred and not chance:
        gain = change(centred, raw, "above_raw")
        after, before = (mean(readings.values()).value for readings in (centred, raw))
        remark = f"{share_percent(after)}, language means removed" if gain.sign else "the change is not clear"
        shown.append((points(after, before), "points from centring", remark, None))
    if cka := found.at("cka", "debiased", layer):
        top = mean(cka.values())
        remark = "" if top.null is None else f"{number(top.null)} when shuffled"
        remark = remark if above_null(top) else "no more than when shuffled"
        shown.append((number(top.value), "CKA, debiased", remark, refs(top)))
    return tuple(shown)
