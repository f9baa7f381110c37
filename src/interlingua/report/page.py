"""Records to one HTML page that opens offline: words first, then figures, tables and how it was made."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from interlingua.report.answer import CENTRED, RAW, answer
from interlingua.report.figures import distance_histograms, heat_maps, layer_curves
from interlingua.report.readings import Readings, Record, gather, mean
from interlingua.report.scatter import sentence_map
from interlingua.report.tables import (
    Table,
    matrix_tables,
    records_table,
    summary_table,
    to_csv,
    tokenizer_table,
)
from interlingua.report.wording import language_name, number, percent, visible

RECORDS_BYTES = 120_000
"""The largest compressed table of all records that is put in the page; past it the page names the file instead."""

SETTINGS = {
    "model": "Model",
    "corpus": "Corpus",
    "languages": "Languages",
    "layers": "Layers",
    "pooling": "Pooling",
    "precision": "Precision",
    "device": "Device",
    "seed": "Seed",
    "seconds": "Seconds",
    "created": "Created",
}


def build_page(
    records: Iterable[Record],
    run: Mapping[str, Any],
    points: Mapping[str, Any] | None = None,
    *,
    found: Readings | None = None,
    every: str | None = None,
) -> str:
    """One self-contained HTML page of a run, under 2.5 MB, which makes no request.

    `found` are the records gathered and `every` their table as CSV, where the caller has them.

    Texts of users are escaped (jinja2's autoescape, `script_json`), and should one slip through,
    the page's content security policy runs no script but the two whose hashes it names.
    """
    many = list(records)
    found = found or gather(many)
    data = {
        "names": {visible(code): language_name(code, run) for code in found.languages},
        "curves": layer_curves(found),
        "heat": heat_maps(found, run),
        "map": sentence_map(points, run),
        "histograms": distance_histograms(found),
    }
    tokenizer = tokenizer_table(found, run)
    tables = [table for table in (summary_table(found, run), *matrix_tables(found, run)) if table.rows]
    scripts = page_scripts("page.js")
    # Autoescape covers every value; what is marked safe below is our own asset or went through `script_json`.
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_asset("report/templates/page.html.j2")).render(
        style=_asset("report/templates/page.css"),
        scripts=scripts,
        policy=script_policy(scripts),
        data=script_json(data),
        has={key: bool(value) for key, value in data.items()},
        figures=data,
        title=visible(str(run.get("model") or "model")),
        subtitle=_subtitle(found, run),
        findings=answer(found, run),
        key_figures=_key_figures(found),
        best=found.best_layer(),
        tokenizer=tokenizer if tokenizer.rows else None,
        tables=tables,
        downloads=_downloads([*tables, *([tokenizer] if tokenizer.rows else [])], many, every),
        count=len(many),
        settings=_settings(run),
        skipped=_skipped(run),
        digests=_union(many, "digests"),
        versions=_union(many, "versions"),
    )


def script_json(data: object) -> str:
    r"""JSON that can stand inside a `<script>` element whatever texts are in it.

    `</script>` and `<!--` end or change a script element wherever they stand, and U+2028 was a
    line end in JavaScript: all are written as escapes, which JSON reads back as the same text.

    >>> script_json({"text": "</script>&"})
    '{"text":"\\u003c/script\\u003e\\u0026"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def page_scripts(name: str) -> list[str]:
    """The scripts of a page with figures: plotly.js, and the page's own after what all such pages draw by."""
    own = (_asset(f"report/templates/{each}") for each in ("plotting.js", name))
    return [_asset("assets/plotly/plotly-cartesian.min.js"), "\n".join(own)]


def script_policy(scripts: Sequence[str]) -> str:
    """The content security policy under which these scripts run, and no other."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"


def _asset(path: str) -> str:
    return files("interlingua").joinpath(path).read_text(encoding="utf-8")


def _subtitle(found: Readings, run: Mapping[str, Any]) -> str:
    parts = [f"{len(found.languages)} languages"]
    if run.get("corpus"):
        parts.append(visible(str(run["corpus"])))
    key = found.headline()
    if key:
        layers = found.layers(*key)
        parts.append(f"layers {layers[0]}–{layers[-1]}" if len(layers) > 1 else f"layer {layers[0]}")
    if run.get("created"):
        parts.append(visible(str(run["created"]))[:10])
    return " · ".join(parts)


def _key_figures(found: Readings) -> list[tuple[str, str, str]]:
    """What a reader wants at a glance: number, what it is, and a remark; only what was measured."""
    layer = found.best_layer()
    shown = []
    raw, centred = (found.at("retrieval", variant, layer) for variant in (RAW, CENTRED))
    if best := centred or raw:
        top = mean(best.values())
        bounds = f"{percent(top.low)} to {percent(top.high)}" if top.low is not None else ""
        shown.append((percent(top.value), "of translations found", bounds))
    if layer is not None:
        shown.append((str(layer), "is the best layer", "0 is the embedding output"))
    if raw and centred:
        gain = 100 * (mean(centred.values()).value - mean(raw.values()).value)
        shown.append((f"{'+' if gain >= 0 else '−'}{abs(gain):.0f}", "points from centring", "language means removed"))
    if cka := found.at("cka", "debiased", layer):
        top = mean(cka.values())
        shown.append(
            (number(top.value), "CKA, debiased", "" if top.null is None else f"{number(top.null)} when shuffled")
        )
    return shown


def _downloads(tables: Sequence[Table], records: Sequence[Record], every: str | None) -> list[tuple[str, str, str]]:
    """File name, link and size in words of each table; the table of all records only when it fits."""
    links = []
    for table in tables:
        body = to_csv(table).encode()
        links.append(
            (f"{table.name}.csv", f"data:text/csv;charset=utf-8;base64,{base64.b64encode(body).decode()}", table.title)
        )
    packed = gzip.compress((every or to_csv(records_table(records))).encode(), mtime=0)
    if records and len(packed) <= RECORDS_BYTES:
        link = f"data:application/gzip;base64,{base64.b64encode(packed).decode()}"
        links.append(("records.csv.gz", link, f"All {len(records)} records"))
    return links


def _settings(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The run's settings in words: known keys first, in our order, then any other plain value."""
    keys = [key for key in SETTINGS if key in run]
    keys += [
        key for key, value in run.items() if key not in (*SETTINGS, "names", "skipped") and _plain(value) is not None
    ]
    return [(SETTINGS.get(key, key.replace("_", " ").capitalize()), text) for key in keys if (text := _plain(run[key]))]


def _plain(value: object) -> str | None:
    if isinstance(value, list | tuple):
        return ", ".join(visible(str(item)) for item in value)
    if isinstance(value, float):
        return number(value, 1)
    return visible(str(value)) if isinstance(value, str | int) else None


def _skipped(run: Mapping[str, Any]) -> list[str]:
    notes = run.get("skipped") or []
    if isinstance(notes, Mapping):
        return [visible(f"{key}: {value}") for key, value in notes.items()]
    return [visible(str(note)) for note in ([notes] if isinstance(notes, str) else notes)]


def _union(records: Iterable[Record], key: str) -> list[tuple[str, str]]:
    """Each distinct name and value among the records' digests or versions, in order of appearance."""
    # Most records share theirs with all others.
    distinct = {tuple((record.get(key) or {}).items()): None for record in records}
    return list({(visible(str(name)), visible(str(value))): None for items in distinct for name, value in items})
