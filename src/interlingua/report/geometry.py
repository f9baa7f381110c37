"""A geometry study as files: one page with maps to look into, pictures, tables, and what was found in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.report.geometry_maps import map_sets, styles
from interlingua.report.geometry_page import geometry_page
from interlingua.report.geometry_pictures import maps_svg, scatter_svg
from interlingua.report.geometry_tables import all_tables, findings, states_of
from interlingua.report.runs import Run
from interlingua.report.tables import to_csv, to_latex, to_markdown

Found = Mapping[str, Any]


def geometry_files(records: Sequence[Found], run: Found, maps: Sequence[Found], found: Found) -> dict[str, str]:
    """File names and texts: `geometry.html`, `geometry.json`, pictures, and tables as CSV, Markdown and LaTeX.

    `found` is what was made of several records together: `groups`, `changes`, `scatter`.
    """
    marks = styles(maps, run)
    out = {
        "geometry.json": json.dumps(found, ensure_ascii=False, indent=1),
        "answer.md": "\n\n".join(f"**{topic}.** {text}" for topic, text in findings(records, run, found)) + "\n",
    }
    states = states_of(run, found)
    for each in map_sets([one for one in maps if one["state"] in states], records, run):
        kind = "about" if each["set"].startswith("about ") else "test"
        out |= {f"maps-{kind}-{label}.svg": maps_svg(each, marks, label) for label in ("language", "type")}
    if found.get("scatter"):
        out["spelling.svg"] = scatter_svg(found["scatter"], marks)
    for table in all_tables(records, run, found):
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{table.name}.{ending}"] = write(table)
    out["geometry.html"] = geometry_page(Run(run, records, more={"maps": maps, "found": found}))
    return out
