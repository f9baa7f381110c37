"""How quick a page is in a browser without a GPU: opening it, and moving in a map of 50,000 points.

    python benchmarks/page.py [--folder RUN] [--points 50000]

Needs playwright and a chromium. Prints JSON: bytes of the page, milliseconds until it is loaded and all that is on the
screen is drawn, then until all is that a print needs, and for panning, zooming and pointing frames a second, the
slowest frame, and CPU milliseconds a frame of all processes of the browser, which do not hang on what else the machine
does. With --folder the page is that of a run; otherwise of made-up points.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import interlingua
from interlingua.report.kit.chart import PointGroup, PointMap
from interlingua.report.kit.finding import Finding, Verdict
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import Headline, Section
from interlingua.report.report import Report

LANGUAGES = ("en", "es", "ru", "vi", "hi", "de", "fr", "tr", "be", "uk", "bg", "pl", "cs", "sl", "ca", "zh", "ar")
MOVES = {
    "pan": "at => canvas.dispatchEvent(new KeyboardEvent('keydown', {key: at % 40 < 20 ? 'ArrowRight' : 'ArrowLeft'}))",
    "zoom": "at => canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: at % 40 < 20 ? -20 : 20, ctrlKey: true, "
    "clientX: box.left + 300, clientY: box.top + 200, cancelable: true}))",
    "point": "at => canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 100 + (at * 7) % 600, "
    "clientY: box.top + 100 + (at * 5) % 300}))",
}


def map_page(count: int) -> str:
    """A page with a map of that many made-up points."""
    draw = random.Random(0)
    rows = range(count // len(LANGUAGES))
    groups = tuple(
        PointGroup(
            name=code,
            x=[draw.gauss(at % 5, 1) for _ in rows],
            y=[draw.gauss(at % 3, 1) for _ in rows],
            texts=[f"sentence {row}" for row in rows],
            rows=list(rows),
        )
        for at, code in enumerate(LANGUAGES)
    )
    chart = PointMap(name="map", title="Map", note="", groups=groups)
    headline = Headline(title="Map", answer=Finding(kind="no_result", verdict=Verdict.NOT_TESTED))
    section = Section(name="map", title="Map", charts=(chart,))
    return render_page(Report(command="audit", headline=headline, sections=(section,), runs=()))


def cpu_seconds() -> float:
    """CPU time of all processes below this one."""
    below: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parts = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            below.setdefault(int(parts[1]), []).append(int(entry.name))
            spent[int(entry.name)] = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    total, todo = 0.0, below.get(os.getpid(), [])
    while todo:
        one = todo.pop()
        total += spent.get(one, 0.0)
        todo += below.get(one, [])
    return total


def frames(tab: Page, move: str, *, seconds: float) -> dict[str, float]:
    script = """async ([move, seconds]) => {
        const canvas = document.querySelector('.map canvas'), box = canvas.getBoundingClientRect();
        const act = MOVE, times = [];
        return await new Promise((done) => {
            const frame = (now) => {
                times.push(now);
                if (now - times[0] > 1000 * seconds) return done(times);
                act(times.length);
                requestAnimationFrame(frame);
            };
            requestAnimationFrame(frame);
        });
    }""".replace("MOVE", move)
    before = cpu_seconds()
    times = tab.evaluate(script, ["", seconds])
    spent = cpu_seconds() - before
    gaps = [b - a for a, b in itertools.pairwise(times)]
    return {
        "frames a second": round(1000 * len(gaps) / (times[-1] - times[0]), 1),
        "slowest frame, ms": round(max(gaps), 1),
        "cpu a frame, ms": round(1000 * spent / len(gaps), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--points", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    html = map_page(asked.points) if asked.folder is None else interlingua.report_on(asked.folder).html
    told: dict[str, Any] = {"bytes": len(html.encode())}
    with tempfile.TemporaryDirectory() as home, sync_playwright() as started:
        path = Path(home) / "page.html"
        path.write_text(html, "utf-8")
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1300, "height": 900})
        spent, began = cpu_seconds(), time.monotonic()
        tab.goto(path.as_uri())
        for name, state in (("screen", "[data-ready]"), ("all", "[data-charts=all]")):
            tab.wait_for_selector(f"html{state}", state="attached", timeout=120_000)
            told[f"{name} drawn, ms"] = round(1000 * (time.monotonic() - began))
            told[f"{name} drawn, cpu ms"] = round(1000 * (cpu_seconds() - spent))
            tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        told["load"] = os.getloadavg()[0]
        if tab.locator(".map canvas").count():
            tab.locator(".map canvas").first.scroll_into_view_if_needed()
            told |= {name: frames(tab, move, seconds=asked.seconds) for name, move in MOVES.items()}
        browser.close()
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
