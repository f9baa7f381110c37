"""How Sphinx makes the site of these pages:  ./run docs

The site opens offline: no font, script or style comes from another host, and formulas are MathML, which
browsers draw by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

import interlingua
from interlingua.report.kit.citations import name_papers

project = "interlingua"
author = "The interlingua authors"
copyright = author
release = version = interlingua.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["*.py"]
html_theme = "furo"
html_title = f"interlingua {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = html_copy_source = html_show_sourcelink = False
pygments_style, pygments_dark_style = "friendly", "native"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # links of these pages name headings as GitHub does
myst_dmath_double_inline = True

default_role = "code"  # docstrings write `names` with one backtick, as Markdown does
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
nitpicky = True  # every type in a signature is described on this site, or is someone else's:
nitpick_ignore_regex = [
    ("py:.*", r"(collections|markupsafe|numpy|os|pathlib|tokenizers|torch|transformers|typing)\..*"),
    ("py:.*", r"ArrayLike|Module|Path|(dict|tuple|str \| tuple)\[.*|interlingua\..*\.[A-Z]"),
]

BAR = 'stretchy="false" lspace="0" rspace="0"'


def _formula(self: Any, node: nodes.math | nodes.math_block) -> None:
    """A formula as MathML; one that is not understood is a warning, hence an error of the build."""
    block = isinstance(node, nodes.math_block)
    try:
        # Without braces TeX takes one digit for an argument, docutils all there are: 12 over what follows.
        drawn = tex2mathml(re.sub(r"(frac)(\d)(\d)", r"\1{\2}{\3}", node.astext()), as_block=block)
        # Bars of a norm are as tall as a letter, and no relation with space around it.
        drawn = re.sub(r'<mo(?: class="mathopen"| stretchy="false")?>([‖|])</mo>', rf"<mo {BAR}>\1</mo>", drawn)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %s: %s", node.astext(), error, location=node)
        drawn = f"<code>{escape(node.astext())}</code>"
    self.body.append(f'<div class="formula">{drawn}</div>' if block else drawn)
    raise nodes.SkipNode


def _restructure(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are read as reStructuredText: bars stay bars, Markdown's tables become its own, papers get names."""
    written: list[str] = []
    for kind, group in groupby(zip(_kinds(lines), lines, strict=True), key=lambda pair: pair[0]):
        told = [line for _, line in group]
        if kind == "table":
            written += _table([line.strip().strip("|").split("|") for line in told])
        elif kind == "example":
            written += told
        else:
            parts = [re.split("(`[^`]*`)", line) for line in told]
            written += [
                "".join(part if part[:1] == "`" else part.replace("|", r"\|") for part in line) for line in parts
            ]
    lines[:] = [name_papers(line) for line in written]


def _kinds(lines: list[str]) -> Iterator[str]:
    """What each line is; an example ends at a blank line, so a table that it prints is part of it."""
    example = False
    for line in lines:
        shown = line.strip()
        example = bool(shown) and (example or shown.startswith(">>>"))
        table = shown.startswith("|") and shown.endswith("|") and len(shown) > 1
        yield "example" if example else "table" if table else "prose"


def _table(rows: list[list[str]]) -> list[str]:
    """A table whose first row is the head and whose second, dashes, is left out."""
    cells = [[cell.strip() for cell in row] for row in [rows[0], *rows[2:]]]
    listed = [f"   {'* -' if place == 0 else '  -'} {cell}" for row in cells for place, cell in enumerate(row)]
    return [".. list-table::", "   :header-rows: 1", "", *listed]


def _is_shown_elsewhere(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Whether a module's member has its place on the page of `interlingua` itself: a thing is described once."""
    front = {id(getattr(interlingua, each)) for each in interlingua.__all__}
    return True if what == "module" and id(obj) in front else None


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("autodoc-process-docstring", _restructure)
    app.connect("autodoc-skip-member", _is_shown_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
