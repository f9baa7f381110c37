"""`render_page`: a report as one HTML file that opens offline, runs no script but its own and makes no request."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from interlingua import __version__
from interlingua.record import Estimate, Record
from interlingua.report.kit.chart import PointMap, charts_of
from interlingua.report.kit.citations import cite
from interlingua.report.kit.evidence import tied_for_first
from interlingua.report.kit.exports import format_bounds, format_cell, is_numeric, to_csv, to_latex, to_markdown
from interlingua.report.kit.figure import PageCharts, round_digits
from interlingua.report.kit.finding import Finding
from interlingua.report.kit.glossary import GLOSSARY, find_terms
from interlingua.report.kit.section import split_code, split_commands
from interlingua.report.kit.svg import chart_css
from interlingua.report.kit.table import Cell, Table, cell_records
from interlingua.report.kit.wording import escape_control_characters

if TYPE_CHECKING:
    from interlingua.report.report import Report

MAX_PAGE_ROWS = 300
"""Rows of a table that a page shows; all are in its files."""
MAX_DETAILS = 12
"""Values of a detail of a record that its dialog shows; longer lists are drawn, not read."""
_NUMBERS = ("value", "ci_low", "ci_high", "null_value", "n", "layer", "seed")
_FIELDS = (
    "measure", "metric", "options", "value", "ci_low", "ci_high", "null_value", "n", "model", "against", "source",
    "target", "languages", "layer", "unit", "pooling", "task", "test", "regime", "bitexts", "state", "trained_on",
    "aspect", "seed", "block", "corpus", "details", "digests", "versions", "step", "items",
)  # fmt: skip
"""What the dialog of a record shows, in its order."""


class RecordIndex:
    """The records that a page refers to, each once, and the groups of them that its numbers are made of."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._places: dict[int, int] = {}
        self._groups: dict[tuple[int, ...], int] = {}

    def group(self, records: Sequence[Record]) -> str:
        """What the page calls these records, by which its script opens them (`g3`); empty where there are none."""
        if not records:
            return ""
        key = tuple(self._place(record) for record in records)
        return f"g{self._groups.setdefault(key, len(self._groups))}"

    def _place(self, record: Record) -> int:
        # Two equal records are one number of one run: by identity, since a record has mappings and no hash.
        place = self._places.setdefault(id(record), len(self._records))
        if place == len(self._records):
            self._records.append(record)
        return place

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: one column per field, and each group as ranges of places (`0-3 7`)."""
        columns = {name: _packed_column(name, self._records) for name in _FIELDS}
        groups = [" ".join(_ranges(key)) for key in self._groups]
        return {"count": len(self._records), "columns": columns, "groups": groups}


def _packed_column(name: str, records: Sequence[Record]) -> Any:
    """The values of a field: numbers as they are (six digits), all others as places in a list of different values."""
    values = [getattr(record, name) for record in records]
    if name in _NUMBERS:
        return [round_digits(value) for value in values]
    if name == "details":
        values = [{key: part for key, part in value.items() if _is_short(part)} for value in values]
    texts = [json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")) for value in values]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return {"values": [json.loads(text) for text in places], "places": [places[text] for text in texts]}


def _is_short(detail: Any) -> bool:
    return not (isinstance(detail, (list, tuple, Mapping)) and len(detail) > MAX_DETAILS)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _ranges(places: Sequence[int]) -> Iterator[str]:
    """Places as ranges where they follow each other.

    >>> list(_ranges([0, 1, 2, 7, 5]))
    ['0-2', '7', '5']
    """
    start = 0
    for at in range(1, len(places) + 1):
        if at == len(places) or places[at] != places[at - 1] + 1:
            yield str(places[start]) if at - start == 1 else f"{places[start]}-{places[at - 1]}"
            start = at


def render_page(report: Report) -> str:
    """The page as HTML, which makes no request; two renders of a report are equal to the byte.

    Texts of users are escaped (jinja2's autoescape; what the script reads is compressed, and set as text), and should
    one slip through, the page's content security policy runs no script but those whose hashes it names.
    """
    index = RecordIndex()
    used_terms: dict[str, None] = {}
    drawn = [one for chart in report.charts() for one in charts_of(chart)]
    of_charts = ["pdf.js", *(["dots.js"] if any(isinstance(chart, PointMap) for chart in drawn) else []), "charts.js"]
    scripts = [asset(name) for name in (*(of_charts if drawn else ()), "report.js")]
    charts = PageCharts(index.group)

    def text(value: str) -> Markup:
        return inline_markup(value, used_terms)

    def packed_data() -> str:
        """What the script reads; made last, when every number of the page has its records."""
        data = {
            "records": index.to_dict(),
            "tables": _table_files(report),
            "charts": charts.to_dict() if drawn else None,
        }
        plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return base64.b64encode(gzip.compress(plain.encode("utf-8", "backslashreplace"), mtime=0)).decode()

    # Autoescape covers every value. What is marked safe is an asset of ours, a figure of `kit.figure`, or a `Markup`.
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"text": text, "plain": escape_control_characters, "slug": term_slug}
    environment.globals |= {
        "group": lambda records: _data_group(index.group(records)),
        "evidence": lambda finding: _data_group(index.group(finding_records(finding))),
        "steps": split_commands,
        "table_rows": lambda table: list(_table_rows(table, index)),
        "numeric": is_numeric,
        "has_records": lambda table: any(cell_records(cell) for row in table.rows[:MAX_PAGE_ROWS] for cell in row),
        "max_rows": MAX_PAGE_ROWS,
        "chart": lambda chart, alone: Markup(charts.figure(chart, alone=alone)),
    }
    return environment.from_string(asset("report.html.j2")).render(
        policy=content_security_policy(scripts),
        style=asset("report.css") + (chart_css() if drawn else ""),
        scripts=scripts,
        version=__version__,
        report=report,
        headline=report.headline,
        sections=report.sections,
        papers=cite(report.texts()),
        glossary=GLOSSARY,
        used_terms=used_terms,
        data=packed_data,
    )


def finding_records(finding: Finding) -> tuple[Record, ...]:
    """The records behind a finding: of its estimate, and of what it is compared with."""
    return (*cell_records(finding.estimate), *cell_records(finding.compared_with))


def inline_markup(text: str, used_terms: dict[str, None]) -> Markup:
    """A text as HTML: escaped, what stands in backticks as code, and the first use of each glossary term as a link."""
    out: list[Markup] = []
    for part, is_code in split_code(escape_control_characters(text)):
        if is_code:
            out.append(Markup("<code>{}</code>").format(part))
            continue
        at = 0
        for term, start, end in find_terms(part):
            if term in used_terms:
                continue
            used_terms[term] = None
            out.append(escape(part[at:start]))
            slug = term_slug(term)
            out.append(Markup('<a class="term" href="#term-{}">{}</a>').format(slug, part[start:end]))
            at = end
        out.append(escape(part[at:]))
    return Markup("").join(out)


def term_slug(term: str) -> str:
    """The id of a term: letters and digits alone."""
    return re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")


def _data_group(group: str) -> Markup:
    return Markup(' data-r="{}"').format(group) if group else Markup("")


def _table_rows(table: Table, index: RecordIndex) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table for the template: text, interval, records, what it is sorted by, and whether it is best."""
    best = [_best_rows(table, at) for at in range(len(table.columns))]
    for place, row in enumerate(table.rows[:MAX_PAGE_ROWS]):
        yield [
            {
                "text": format_cell(cell, table, at, interval=False),
                "interval": format_bounds(cell, table.columns[at]),
                "group": _data_group(index.group(cell_records(cell))),
                "sort": _sort_value(cell),
                "best": place in best[at],
            }
            for at, cell in enumerate(row)
        ]


def _sort_value(cell: Cell) -> Markup:
    value = cell.value if isinstance(cell, Estimate) else cell
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return Markup("")
    return Markup(' data-v="{}"').format(round_digits(value))


def _best_rows(table: Table, at: int) -> frozenset[int]:
    """The rows whose cell is best or tied with the best; none where the column ranks nothing or all are tied."""
    better = table.columns[at].better
    cells = {place: row[at] for place, row in enumerate(table.rows)}
    known = {
        place: cell if isinstance(cell, Estimate) else Estimate(value=float(cell))
        for place, cell in cells.items()
        if isinstance(cell, (int, float, Estimate))
    }
    if better is None or len(known) < 2:
        return frozenset()
    best = tied_for_first(known, higher_is_better=better)
    return frozenset(best if len(best) < len(known) else ())


def _table_files(report: Report) -> dict[str, dict[str, str]]:
    """The downloads of every table; one that is too long to read is for programs alone."""
    files = {}
    for table in report.tables():
        files[table.name] = {"csv": to_csv(table)}
        if len(table.rows) <= MAX_PAGE_ROWS:
            files[table.name] |= {"tex": to_latex(table), "md": to_markdown(table)}
    return files


def content_security_policy(scripts: Sequence[str]) -> str:
    """A policy that allows these scripts by their hashes, styles of the page, pictures inside it, and nothing else."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode('utf-8')).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


@cache
def asset(name: str) -> str:
    """A template, style or script of ours."""
    return files("interlingua.report").joinpath("templates", name).read_text(encoding="utf-8")
