"""Words that translate each other in both directions, in one call."""

from __future__ import annotations

from collections.abc import Sequence

from interlingua.wordalign.links import Links
from interlingua.wordalign.model import AlignerSettings, combine_directions
from interlingua.wordalign.training import align_both

FEW_ROWS = AlignerSettings(iterations=6, optimise_tension=False, null=0.08)
"""One step more than fast_align takes, its p0 and its tension kept: a few hundred rows are too few to move it."""


def align_words(
    source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], settings: AlignerSettings = FEW_ROWS
) -> Links:
    """Links on which both directions agree (intersection), so that each word has at most one.

    `source` and `target` are words by row.

    >>> links = align_words([["the", "dog"], ["the", "cat"], ["dog"]], [["el", "perro"], ["el", "gato"], ["perro"]])
    >>> [(int(r), int(s), int(t)) for r, s, t in zip(links.row, links.source, links.target)]
    [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 0, 0)]
    """
    forward, backward = align_both(source, target, settings)
    return combine_directions(forward.applied, backward.applied, "intersect")
