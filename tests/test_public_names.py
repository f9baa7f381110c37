"""The names of the package: what is fetched on first use is what checkers and editors see."""

from __future__ import annotations

import ast
from pathlib import Path

import interlingua


def test_names_for_checkers_are_those_that_are_fetched():
    tree = ast.parse(Path(interlingua.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {each.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for each in node.names}
    assert seen == interlingua._HOMES
    assert sorted(interlingua.__all__) == sorted(["__version__", *seen])


def test_each_name_is_there():
    assert all(getattr(interlingua, name) is not None for name in interlingua.__all__)
