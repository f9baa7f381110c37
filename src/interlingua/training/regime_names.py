"""The names of regimes, with one line about each: all that a list of names needs, without torch."""

from __future__ import annotations

from collections.abc import Mapping

ALPHA, AUXILIARY = 0.01, 16
"""Eq. 2 of papers/001: the weight of the adjustment beside a task (tuned on XNLI), and its batch (§5.1)."""
SUMMARIES: Mapping[str, str] = {
    "original": "The task alone.",
    "adjusted": "The adjustment with its anchor (papers/001 Eq. 1), then the task.",
    "continual": f"As adjusted, and beside the task {ALPHA:g} of Eq. 1 on {AUXILIARY} random rows per step (Eq. 2).",
    "continual-code": "As continual, with the anchor's weight 1, as the code of papers/001 has it.",
    "joint": "Eq. 2 without the adjustment before it.",
    "adjust-only": "The adjustment with its anchor, and no task.",
}
"""One line about each regime that trains."""
MAPPED = "mapped"
ABOUT: Mapping[str, str] = {
    **SUMMARIES,
    MAPPED: "The task alone; in other languages a fitted rotation before its head (papers/000 Fig. 5).",
}
"""One line about each regime."""
REGIMES = (*(name for name in SUMMARIES if name != "adjust-only"), MAPPED)
"""The regimes of a task, in the order in which they are reported."""
STATES = ("untouched", "adjustment")
"""What a model is before its task: as it came, and adjusted; after it, the state is called as the regime is."""
