"""Sections to one HTML page that opens offline: words, figures that plotly.js draws, tables, and their records."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from interlingua.report.papers import cited, in_names
from interlingua.report.readings import Record
from interlingua.report.sections import Section, payload, renumbered
from interlingua.report.tables import Ref
from interlingua.report.wording import number, visible

_SCRIPTS = ("assets/plotly/plotly-interlingua.min.js", "report/templates/dots.js", "report/templates/page.js")


@dataclass(frozen=True)
class Page:
    """A page: the command it is of, a heading, a line below it, sections, and the records that they name by place.

    `files` are more texts to download, by name, with a word on each.
    """

    command: str
    heading: str
    subtitle: str
    sections: Sequence[Section]
    records: Sequence[Record] = ()
    files: Mapping[str, tuple[bytes, str]] | None = None


def render_page(page: Page) -> str:
    """The page as HTML, which makes no request.

    Texts of users are escaped (jinja2's autoescape; what the script reads is compressed, and set as text), and should
    one slip through, the page's content security policy runs no script but those whose hashes it names.
    """
    _check_names(page.sections)
    data, kept = payload(page.sections, page.records)
    scripts = [asset(path) for path in _SCRIPTS]

    def places(behind: Ref) -> str:
        found = renumbered(behind, kept)
        return "" if found is None else str(found) if isinstance(found, int) else " ".join(map(str, found))

    # Autoescape covers every value; what the template marks safe is an asset of ours, or the policy on them.
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["slug"] = lambda name: re.sub(r"[^\w.-]+", "-", name)  # An id has no spaces.
    return environment.from_string(asset("report/templates/page.html.j2")).render(
        policy=_policy(scripts),
        style=asset("report/templates/page.css"),
        scripts=scripts,
        data=base64.b64encode(gzip.compress(_json(data).encode("utf-8", "backslashreplace"), mtime=0)).decode(),
        places=places,
        title=visible(f"{page.heading}, interlingua {page.command}"),
        eyebrow=visible(page.command),
        heading=visible(page.heading),
        subtitle=visible(page.subtitle),
        sections=page.sections,
        papers=cited(_texts(page)),
        downloads=[
            (name, f"data:application/octet-stream;base64,{base64.b64encode(content).decode()}", words)
            for name, (content, words) in (page.files or {}).items()
        ],
    )


def _texts(page: Page) -> Iterator[str]:
    """Where a page may name a paper: words, facts, captions, and titles and cells of tables."""
    yield page.subtitle
    for section in page.sections:
        yield from section.words
        for term, said in section.facts:
            yield term
            yield from [said] if isinstance(said, str) else said
        for figure in section.figures:
            yield figure.caption
        for table in section.tables:
            yield from (table.title, table.caption)
            yield from (cell for row in table.rows for cell in row if isinstance(cell, str))


def settings_section(
    run: Mapping[str, Any],
    *,
    labels: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    more: Sequence[tuple[str, str | Sequence[str]]] = (),
    name: str = "made",
    title: str = "How it was made",
) -> Section:
    """The section on settings, digests, versions and what was skipped, of `run.json`'s contents."""
    labels = labels or {}
    skipped = run.get("skipped") or []
    plain = {key: value for key, value in run.items() if key not in (*without, "digests", "versions", "skipped")}
    keys = [key for key in labels if key in plain] + [key for key in plain if key not in labels]
    facts: list[tuple[str, str | Sequence[str]]] = [
        (visible(labels.get(key, key.replace("_", " ").capitalize())), in_names(text))
        for key in keys
        if plain[key] is not None and (text := in_words(plain[key]))
    ]
    for key in ("digests", "versions"):
        if run.get(key):
            facts.append((key.capitalize(), [visible(f"{each} {value}") for each, value in run[key].items()]))
    notes = [f"{key}: {value}" for key, value in skipped.items()] if isinstance(skipped, Mapping) else skipped
    notes = [notes] if isinstance(notes, str) else notes
    facts.append(("Skipped", [visible(str(note)) for note in notes] or "Nothing."))
    words = ("Settings by the names that they have in the run’s JSON file.",)
    return Section(name, title, words, facts=(*facts, *more))


def in_words(value: object) -> str:
    """A setting as people read it: numbers short, lists with commas, what is inside of an object by its names.

    >>> in_words({"rate": 0.0003, "betas": [0.9, 0.98], "clip": None})
    'rate 0.0003, betas 0.9, 0.98, clip –'
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{visible(str(name))} {in_words(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(in_words(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value, 1) if abs(value) >= 10 else f"{value:g}"
    return "–" if value is None else visible(str(value))


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _check_names(sections: Sequence[Section]) -> None:
    """No two things on a page may have one name: links, downloads and the script find them by it."""
    for kind, names in (
        ("sections", [section.name for section in sections]),
        ("figures", [figure.name for section in sections for figure in section.figures]),
        ("tables", [table.name for section in sections for table in section.tables]),
    ):
        twice = {each for each in names if names.count(each) > 1}
        if twice:
            raise ValueError(f"two {kind} of a page are called {', '.join(sorted(twice))}")


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8', 'backslashreplace')).digest()).decode()}'"
        for text in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


@cache
def asset(path: str) -> str:
    """A text file of ours."""
    return files("interlingua").joinpath(path).read_text(encoding="utf-8")
