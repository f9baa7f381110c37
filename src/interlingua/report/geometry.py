"""A geometry study as files: one page with maps to look into, pictures, tables, and what was found in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from interlingua.report.geometry_figures import (
    heat_figures,
    layer_figures,
    map_figures,
    scatter_figure,
    step_figures,
    styles,
)
from interlingua.report.geometry_pictures import maps_svg, scatter_svg
from interlingua.report.geometry_tables import all_tables, findings, layers_of
from interlingua.report.page import page_scripts, script_json, script_policy
from interlingua.report.tables import to_csv, to_latex, to_markdown
from interlingua.report.wording import language_name, visible

Found = Mapping[str, Any]


def geometry_files(records: Sequence[Found], run: Found, maps: Sequence[Found], found: Found) -> dict[str, str]:
    """File names and texts: `geometry.html`, `geometry.json`, pictures, and tables as CSV, Markdown and LaTeX.

    `found` is what was made of several records together: `groups`, `changes`, `scatter`.
    """
    tables = all_tables(records, run, found)
    pictures = map_figures(maps, records, run)
    marks = styles(maps, run)
    out = {
        "geometry.json": json.dumps(found, ensure_ascii=False, indent=1),
        "answer.md": "\n\n".join(f"**{topic}.** {text}" for topic, text in findings(records, run, found)) + "\n",
    }
    for figure in pictures:
        kind = "about" if figure["set"].startswith("about ") else "test"
        out |= {f"maps-{kind}-{label}.svg": maps_svg(figure, marks, label) for label in ("language", "type")}
    if found.get("scatter"):
        out["spelling.svg"] = scatter_svg(found["scatter"], marks)
    for table in tables:
        for ending, write in (("csv", to_csv), ("md", to_markdown), ("tex", to_latex)):
            out[f"tables/{table.name}.{ending}"] = write(table)
    out["geometry.html"] = _page(records, run, found, pictures, marks)
    return out


def _page(records: Sequence[Found], run: Found, found: Found, maps: Sequence[Found], marks: Mapping[str, Any]) -> str:
    """One self-contained page, which makes no request; texts are escaped, and its policy runs no script but ours."""
    heat = heat_figures(records, run, found)
    data = {
        "styles": marks,
        "maps": maps,
        **heat,
        "layers": layer_figures(records),
        "steps": step_figures(records, found, run),
        "scatter": scatter_figure(found, run),
    }
    scripts = page_scripts("geometry.js")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_asset("geometry.html.j2")).render(
        style=_asset("page.css"),
        scripts=scripts,
        policy=script_policy(scripts),
        data=script_json(data),
        figures=data,
        title=visible(str(run["model"])),
        languages=[language_name(code, run) for code in run["languages"]],
        source=language_name(run["source"], run),
        last=layers_of(records)[-1],
        findings=findings(records, run, found),
        tables=all_tables(records, run, found),
        trained=_trained(run),
        settings=_settings(run),
        skipped=[visible(str(note)) for note in run["skipped"]],
    )


def _trained(run: Found) -> list[str]:
    """What each fine-tuning cost, and its monitors, in words."""
    told = []
    for each in run.get("trained", []):
        watched = each.get("monitors")
        share = (
            f"; watched every {watched['every']} steps on {watched['rows']} rows a language, "
            f"{100 * watched['share']['seconds']:.1f} % of the time"
            if watched
            else ""
        )
        name = language_name(each["language"], run)
        told.append(f"{name}, seed {each['seed']}: {each['steps']} steps in {each['seconds']:.0f} s{share}")
    return told


def _settings(run: Found) -> list[tuple[str, str]]:
    """What was set, known keys first; what was left to the task or the device is not repeated."""
    keys = ("model", "data", "languages", "rows", "device", "seconds", "created")
    every = {**{key: run[key] for key in keys if key in run}, **run.get("settings", {})}
    return [
        (key.replace("_", " ").capitalize(), visible(_told(value)))
        for key, value in every.items()
        if value not in (None, (), [], False)
    ]


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {own}" for key, own in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _asset(name: str) -> str:
    return files("interlingua").joinpath(f"report/templates/{name}").read_text(encoding="utf-8")
