import xml.etree.ElementTree as ET

import numpy as np
import pytest
from anyascii import anyascii

from interlingua.analyses.synthesis import Spellings, spellings
from interlingua.commands.synth import spelling_svg
from interlingua.errors import InputError
from interlingua.score import Score
from interlingua.synthetic.tables import SlotKind, SlotName, TemplateTable

PLACES = {"en": ["Minsk", "Warsaw"], "be": ["Мінск", "Варшава"], "pl": ["Mińsk", "Warszawa"]}
PEOPLE = {"en": ["Olga Ivanova"], "be": ["Вольга Іванова"], "pl": ["Olga Iwanowa"]}


def table(columns, kind, lead=""):
    cells = {code: tuple(SlotName(text, lead) for text in column) for code, column in columns.items()}
    return TemplateTable(kind, cells, tuple(range(2, 2 + len(columns["en"]))), "file")


def distance(a, b):
    grid = np.zeros((len(a) + 1, len(b) + 1), int)
    grid[:, 0], grid[0, :] = range(len(a) + 1), range(len(b) + 1)
    for i, left in enumerate(a, 1):
        for j, right in enumerate(b, 1):
            grid[i, j] = min(grid[i - 1, j] + 1, grid[i, j - 1] + 1, grid[i - 1, j - 1] + (left != right))
    return grid[-1, -1] / max(len(a), len(b))


def test_matrices_by_type_and_over_all_names_equal_the_formula():
    found = spellings([table(PLACES, SlotKind("LOC")), table(PEOPLE, SlotKind("PER"))], ["en", "be", "pl"])
    columns = {"LOC": PLACES, "PER": PEOPLE, "all": {code: PLACES[code] + PEOPLE[code] for code in PLACES}}
    for type, names in columns.items():
        for variant, spell in (("tnld", anyascii), ("nld", str)):
            expected = [
                [
                    np.mean(
                        [distance(spell(a).lower(), spell(b).lower()) for a, b in zip(names[i], names[j], strict=True)]
                    )
                    for j in names
                ]
                for i in names
            ]
            np.testing.assert_allclose(found.matrix(type, variant), expected)
    assert {(row["type"], row["source"], row["target"]) for row in found.rows()} == {
        (type, *pair) for type in columns for pair in (("en", "be"), ("en", "pl"), ("be", "pl"))
    }


def test_prepositions_are_no_part_of_the_spelling():
    kind = SlotKind("LOC", "locative")
    assert spellings([table(PLACES, kind, "in ")], ["en", "be"]).matrix("LOC") == spellings(
        [table(PLACES, kind)], ["en", "be"]
    ).matrix("LOC")


def test_one_language_has_no_matrix():
    with pytest.raises(InputError, match="two or more"):
        spellings([table(PLACES, SlotKind("LOC"))], ["en"])


def test_the_picture_has_every_distance_of_every_type_and_no_text_as_markup():
    distances = {"tnld": {("en", "be"): Score(0.37, 5)}, "nld": {("en", "be"): Score(0.93, 5)}}
    drawn = spelling_svg(Spellings(("en", "be"), {"a<b": distances, "LOC": distances}))
    assert drawn.count(">0.37<") == drawn.count(">0.93<") == 4
    assert "a&lt;b" in drawn
    assert ET.fromstring(drawn).tag.endswith("svg")
