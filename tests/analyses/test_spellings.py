from xml.etree import ElementTree

import numpy as np
import pytest
from anyascii import anyascii

from interlingua.analyses.synthesis import spellings
from interlingua.commands.synth import spelling_svg
from interlingua.errors import InputError
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


def test_the_picture_of_spellings_has_every_distance_in_its_cell_and_escapes_names():
    found = spellings([table(PLACES, SlotKind("LOC"))], ["en", "be", "pl"])
    drawn = ElementTree.fromstring(spelling_svg(found))
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for variant in ("tnld", "nld"):
        for row in found.matrix("LOC", variant):
            assert {f"{value:.2f}" for value in row} <= set(texts)
    assert {"LOC, TNLD", "LOC, without transliteration"} <= set(texts)
    assert len(list(drawn)) == 1 + 2  # The font, and two panels.
