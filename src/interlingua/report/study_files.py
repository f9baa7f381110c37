"""A study's report as files: tables, one JSON object, a page that opens offline."""

from __future__ import annotations

import html
import json
import re

from interlingua.report.study import StudyReport
from interlingua.report.tables import Table, to_csv, to_latex, to_markdown
from interlingua.report.wording import visible

_STYLE = """
:root{color-scheme:light dark;--ink:#1b1d21;--soft:#5a606b;--line:#d5d8dd;--back:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3a9b4;--line:#3a3f47;--back:#16181c}}
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;color:var(--ink);background:var(--back);
max-width:76rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:left}
td.n,th.n{text-align:right} figure{margin:0 0 2rem;overflow-x:auto} figcaption,p.soft{color:var(--soft)}
h2{font-size:1.05rem;margin-bottom:.3rem}
"""


def study_files(report: StudyReport) -> dict[str, str]:
    """File names and texts: `study.json`, `study.html`, and under `tables/` each table as CSV, Markdown, LaTeX."""
    out = {"study.json": json.dumps(as_json(report), ensure_ascii=False, indent=1), "study.html": page(report)}
    for table in report.tables:
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{_plain(table.name)}.{ending}"] = write(table)
    return out


def as_json(report: StudyReport) -> dict[str, object]:
    """The report as one object of plain data."""
    return {"study": report.about, "scores": report.scores, "distances": report.distances, "beside": report.beside}


def page(report: StudyReport) -> str:
    """One self-contained HTML page without a script; every text is escaped."""
    about = report.about
    title = html.escape(visible(str(about["name"])))
    told = "".join(f"<p>{html.escape(visible(str(about[key])))}</p>" for key in ("about", "paper") if about[key])
    counts = ", ".join(f"{count} {name}" for name, count in about["steps"].items() if count)
    notes = "".join(f"<li>{html.escape(visible(note))}</li>" for note in about["notes"])
    parts = "\n".join(map(_figure, report.tables))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>\n'
        f'<body><h1>{title}</h1>{told}<p class="soft">Steps: {html.escape(counts)}. Seeds: {len(about["seeds"])}.</p>\n'
        f"{parts}\n<h2>What was left out</h2><ul>{notes or '<li>Nothing.</li>'}</ul></body></html>\n"
    )


def _figure(table: Table) -> str:
    right = [' class="n"' if numeric else "" for numeric in table.numeric()]
    heads = "".join(f"<th{how}>{html.escape(head)}</th>" for head, how in zip(table.columns, right, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{how}>{html.escape(cell)}</td>" for cell, how in zip(row, right, strict=True)) + "</tr>"
        for row in table.text()
    )
    return (
        f"<figure><h2>{html.escape(table.title)}</h2><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        f"<figcaption>{html.escape(table.caption)}</figcaption></figure>"
    )


def _plain(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)
