"""What a report is as files: a name for each text. Writing them is the caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.report.answer import answer
from interlingua.report.audit import build_page
from interlingua.report.readings import Readings, Record, gather
from interlingua.report.tables import (
    matrix_tables,
    records_table,
    summary_table,
    to_csv,
    to_latex,
    to_markdown,
    tokenizer_table,
)


def report_files(
    records: Sequence[Record],
    run: Mapping[str, Any],
    points: Mapping[str, Any] | None = None,
    *,
    found: Readings | None = None,
) -> dict[str, str]:
    """File names and texts: `report.html`, `answer.md`, and under `tables/` each table as CSV, Markdown and LaTeX.

    `found` are the records gathered, where the caller has them.
    """
    found = found or gather(records)
    every = to_csv(records_table(records))
    tables = [summary_table(found, run), tokenizer_table(found, run), *matrix_tables(found, run)]
    out = {
        "report.html": build_page(records, run, points, found=found, every=every),
        "answer.md": "\n\n".join(f"**{finding.topic}.** {finding.text}" for finding in answer(found, run)) + "\n",
        "tables/records.csv": every,
    }
    for table in tables:
        if table.rows:
            out |= {
                f"tables/{table.name}.csv": to_csv(table),
                f"tables/{table.name}.md": to_markdown(table),
                f"tables/{table.name}.tex": to_latex(table),
            }
    return out
