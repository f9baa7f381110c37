"""What a notebook shows: a page in a frame of its own, and figures that Jupyter draws."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.report.page import Page, render_page
from interlingua.report.readings import Record
from interlingua.report.sections import Figure, Section
from interlingua.report.tables import Table

LIGHT = {
    "paper": "#ffffff", "ink": "#1b1d21", "soft": "#5a606b", "line": "#e3e5e9", "wash": "#f6f7f9", "one": "#0072b2",
    "two": "#d55e00", "three": "#009e73", "four": "#b8578f",
}  # fmt: skip
"""The colours of the light theme, as in page.css."""
_OURS = ("records", "when", "groups", "hover")


class Drawing(dict[str, Any]):
    """A figure as plotly has it, `{"data": …, "layout": …}`: `plotly.graph_objects.Figure(drawing)` takes it as it is.

    Without plotly installed a notebook shows it all the same, drawn by the plotly.js in this package.
    """

    def __init__(self, figure: Figure, section: Section, records: Sequence[Record]) -> None:
        chosen = {choice.name: choice.chosen for choice in section.choices}
        traces = [trace for trace in figure.traces if _fits(trace.get("when") or {}, chosen)]
        plain = [{key: value for key, value in trace.items() if key not in _OURS} for trace in traces]
        super().__init__(data=coloured(plain), layout=coloured({"title": {"text": figure.title}, **figure.layout}))
        self._page = Page("figure", figure.title, "", [_alone(section, figure)], records)

    def _repr_html_(self) -> str:
        return framed(render_page(self._page), height=620)


def drawing(sections: Sequence[Section], name: str, records: Sequence[Record]) -> Drawing:
    """The figure of that name; an unknown one is an error that lists what there is."""
    known = {figure.name: (figure, section) for section in sections for figure in section.figures}
    if name not in known:
        raise unknown("figure", name, list(known)) if known else InputError("there is no figure", remedy="See tables.")
    return Drawing(*known[name], records)


def framed(page: str, *, height: int = 800) -> str:
    """A page in a frame of its own, so that neither its style nor the notebook's reaches the other."""
    return f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" style="border:0"></iframe>'


def tabled(table: Table) -> str:
    """A table as plain HTML, for a notebook."""
    cell = "<{0}>{1}</{0}>"
    head = "".join(cell.format("th", html.escape(each)) for each in table.columns)
    rows = ["".join(cell.format("td", html.escape(each)) for each in row) for row in table.text()]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    title = html.escape(table.title)
    return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def coloured(thing: Any) -> Any:
    """Plotly's JSON with the names of theme colours replaced by those of the light theme.

    >>> coloured({"color": "@one/0.5"})
    {'color': '#0072b280'}
    """
    if isinstance(thing, str):
        if not thing.startswith("@"):
            return thing
        name, _, opacity = thing[1:].partition("/")
        return LIGHT[name] + (f"{round(float(opacity) * 255):02x}" if opacity else "")
    if isinstance(thing, Mapping):
        return {key: coloured(value) for key, value in thing.items()}
    return [coloured(each) for each in thing] if isinstance(thing, list | tuple) else thing


def _fits(when: Mapping[str, Any], chosen: Mapping[str, str]) -> bool:
    return all(
        chosen.get(name) in (wanted if isinstance(wanted, list | tuple) else (wanted,)) for name, wanted in when.items()
    )


def _alone(section: Section, figure: Figure) -> Section:
    return Section(section.name, section.title, choices=section.choices, figures=(figure,))
