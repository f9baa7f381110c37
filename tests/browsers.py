from __future__ import annotations

from typing import Any


def all_drawn(tab: Any) -> None:
    """Wait until every figure of a report is drawn; those far from the screen are only for a print."""
    tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.wait_for_selector("html[data-ready=all]", state="attached", timeout=120_000)
