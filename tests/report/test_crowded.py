from __future__ import annotations

import pytest

from interlingua.report.scatter import SIDES, dot_plot, label_sides


def test_labels_of_dots_side_by_side_do_not_lie_on_each_other() -> None:
    # Nearer than a label of two letters is wide, and nobody else about.
    left, right = label_sides([(0.50, 0.5, 2), (0.52, 0.5, 2), (0.0, 0.0, 2), (1.0, 1.0, 2)])[:2]
    assert left != "middle right"
    assert right != "middle left"


def test_lonely_dots_have_their_labels_on_the_right() -> None:
    assert label_sides([(0.0, 0.0, 2), (1.0, 0.0, 2), (0.0, 1.0, 2)]) == ["middle right"] * 3


@pytest.mark.parametrize("dots", [[], [(0.3, 0.3, 2)], [(0.3, 0.3, 2)] * 9])
def test_every_dot_has_a_side_or_none_whatever_the_crowd(dots: list[tuple[float, float, int]]) -> None:
    found = label_sides(dots)
    assert len(found) == len(dots)
    assert set(found) <= {*SIDES, ""}


def test_of_dots_in_one_place_each_side_has_one_label_and_the_rest_none() -> None:
    crowd = label_sides([(0.5, 0.5, 2)] * 9 + [(0.0, 0.0, 2), (1.0, 1.0, 2)])[:9]
    named = [side for side in crowd if side]
    assert len(named) == len(set(named)) <= len(SIDES)
    assert crowd.count("") == 9 - len(named) > 0


def test_axes_that_reach_further_than_the_dots_bring_them_nearer_to_each_other() -> None:
    dots = [(0.0, 0.0, 8), (1.0, 0.5, 8), (0.0, 1.0, 8)]
    assert label_sides(dots) == ["middle right"] * 3
    assert label_sides(dots, reach=([0.0, 20.0], [0.0, 20.0])) != ["middle right"] * 3


def test_a_dot_without_room_for_its_name_says_it_when_pointed_at() -> None:
    dots = [(f"test {number}", 0.5, 0.5, None) for number in range(9)]
    figure = dot_plot("dots", "Dots", "Each a test.", {"one": [*dots, ("far", 1.0, 0.0, None)]}, ("x", "y"))
    trace = figure.traces[0]
    assert trace["text"].count("") > 0
    assert [name.strip("\u2068\u2069") for name in trace["hovertext"]] == [*(dot[0] for dot in dots), "far"]
    assert "%{hovertext}" in trace["hover"]
    assert "pointed at" in figure.caption

