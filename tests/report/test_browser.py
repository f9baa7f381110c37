from __future__ import annotations

import csv
import io
import shutil
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsers import all_drawn
from interlingua.report.audit import build_page
from interlingua.report.explain_page import texts_sections
from interlingua.report.page import Page, render_page
from interlingua.report.sections import Figure, Section
from interlingua.report.tables import Table

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")]

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}<!--\u202e\u2028"
LONG = "न" * 10_000
CODES = ["en", "ru", "ar", "hi"]


class Opened:
    def __init__(self, tab: Any) -> None:
        self.tab, self.heard, self.asked = tab, [], []
        tab.on("console", lambda message: self.heard.append(message.text))
        tab.on("pageerror", lambda error: self.heard.append(str(error)))
        tab.on("dialog", lambda dialog: (self.heard.append("a dialog"), dialog.dismiss()))
        tab.on("request", lambda request: self.asked.append(request.url))

    def show(self, path: Path) -> Opened:
        self.tab.goto(path.as_uri())
        all_drawn(self.tab)
        return self

    def outside(self) -> list[str]:
        return [url for url in self.asked if not url.startswith(("file:", "data:", "blob:"))]

    def saved(self, button: Any) -> tuple[str, bytes]:
        with self.tab.expect_download() as waiting:
            button.click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def path(make: Any, tmp_path_factory: Any) -> Path:
    make_records, make_run, make_points = make
    points = make_points(CODES, 6)
    points["points"][0]["text"], points["points"][1]["text"] = HOSTILE, LONG
    names = {"en": HOSTILE, "ru": "<b onclick=alert(3)>", "ar": "العربية", "hi": "%{x} हिन्दी"}
    run = {**make_run(CODES), "names": names, "model": HOSTILE, "skipped": [HOSTILE, LONG]}
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(build_page(make_records(CODES, range(3)), run, points), "utf-8")
    return path


@pytest.fixture(scope="module")
def page(path: Path, browser: Any) -> Iterator[Opened]:
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    yield Opened(tab).show(path)
    tab.close()


def test_every_figure_is_drawn_without_a_complaint_or_a_request(page: Opened) -> None:
    tab = page.tab
    figures = tab.locator("figure").count()
    assert figures == tab.locator(".js-plotly-plot .main-svg:first-child").count() + tab.locator(".dots canvas").count()
    assert page.heard == []
    assert page.outside() == []


def test_hostile_text_is_shown_and_never_run(page: Opened) -> None:
    tab = page.tab
    assert tab.locator("img, [onclick], [onerror]").count() == 0
    assert "<script>alert(1)</script>" in tab.locator("h1").inner_text()
    assert "[U+202E]" in tab.locator("h1").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth") == 1300
    assert page.heard == []


def test_a_cell_shows_its_record_on_hover_and_on_click_and_by_keyboard(page: Opened) -> None:
    tab = page.tab
    cell = tab.locator("#tokenizer td[data-r]").first
    cell.scroll_into_view_if_needed()
    cell.hover()
    tip = tab.locator("#tip")
    assert "n = 600" in tip.inner_text()
    cell.click()
    assert tab.locator("#record").is_visible()
    assert "tokenization" in tab.locator("#record").inner_text()
    tab.keyboard.press("Escape")
    assert not tab.locator("#record").is_visible()
    cell.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert tab.locator("#record").is_visible()
    tab.keyboard.press("Escape")


def test_a_mark_shows_its_record_on_hover_and_on_click(page: Opened) -> None:
    tab = page.tab
    plot = tab.locator('[data-figure="heat-cka"] .plot')
    plot.scroll_into_view_if_needed()
    box = tab.locator('[data-figure="heat-cka"] .nsewdrag').bounding_box()
    place = (box["x"] + box["width"] * 0.88, box["y"] + box["height"] * 0.12)
    tab.mouse.move(place[0] - 5, place[1])
    tab.mouse.move(*place)
    tab.wait_for_selector('[data-figure="heat-cka"] .hoverlayer .hovertext', timeout=60_000)
    assert "n = 600" in tab.locator('[data-figure="heat-cka"] .hoverlayer').text_content()
    tab.mouse.click(*place)
    tab.wait_for_selector("#record[open]", timeout=60_000)
    said = tab.locator("#record").inner_text()
    assert "cka, debiased" in said
    assert "ab12ab12" in said
    tab.keyboard.press("Escape")


def test_figures_download_as_svg_png_and_csv(page: Opened) -> None:
    tab = page.tab
    for name in ("heat-retrieval", "map"):
        place = tab.locator(f'[data-figure="{name}"]')
        place.locator("details summary").click()
        file, svg = page.saved(place.locator("[data-save=svg]"))
        assert file == f"{name}.svg"
        assert ET.fromstring(svg.decode()).tag.endswith("svg")
        file, png = page.saved(place.locator("[data-save=png]"))
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", png[16:20])[0] > 200
        _, text = page.saved(place.locator("[data-save=csv]"))
        rows = list(csv.reader(io.StringIO(text.decode())))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) == (1 + len(CODES) if name == "heat-retrieval" else 1 + 6 * len(CODES))
        if name == "map":
            assert any("<script>alert(1)</script>" in row[4] for row in rows)
        place.locator("details summary").click()


def test_tables_download_as_csv_latex_and_markdown(page: Opened) -> None:
    place = page.tab.locator('[data-table="tokenizer"]')
    _, text = page.saved(place.locator("[data-save=csv]"))
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert len(rows) == 1 + len(CODES)
    assert any(HOSTILE.replace("\u202e", "[U+202E]") == row[0] for row in rows)
    _, latex = page.saved(place.locator("[data-save=tex]"))
    lines = latex.decode().splitlines()
    assert lines[0] == r"\begin{table}"
    assert sum(line.endswith(r" \\") for line in lines) == 1 + len(CODES)
    _, markdown = page.saved(place.locator("[data-save=md]"))
    assert "| --- |" in markdown.decode()


def test_menus_and_theme_redraw_what_they_govern(page: Opened) -> None:
    tab = page.tab
    heat = tab.locator('[data-figure="heat-retrieval"] .plot')
    before = heat.evaluate("plot => plot.data[0].x.join()")
    tab.locator('#pairs [data-choice="order"]').select_option("given")
    plot = """document.querySelector('[data-figure="heat-retrieval"] .plot')"""
    drawn = f"codes => {plot}.data[0].x.map(x => x.slice(1, -1)).join() === codes"
    tab.wait_for_function(drawn, arg=",".join(CODES), timeout=60_000)
    assert isinstance(before, str)
    paper = heat.evaluate("plot => plot.layout.paper_bgcolor")
    tab.locator("#theme").click()
    tab.locator("#theme").click()
    tab.wait_for_function(f"paper => {plot}.layout.paper_bgcolor !== paper", arg=paper, timeout=60_000)
    tab.locator("#theme").click()
    assert page.heard == []


def test_the_map_can_be_read_and_moved_by_hand_and_by_keys(page: Opened) -> None:
    tab = page.tab
    canvas = tab.locator('[data-figure="map"] canvas').first
    canvas.scroll_into_view_if_needed()
    seen = "canvas => canvas.toDataURL().length + canvas.toDataURL().slice(-3000)"
    before = canvas.evaluate(seen)
    canvas.focus()
    tab.keyboard.press("+")
    tab.keyboard.press("ArrowRight")
    moved = f"""before => ({seen})(document.querySelector('[data-figure="map"] canvas')) !== before"""
    tab.wait_for_function(moved, arg=before, timeout=60_000)
    tab.keyboard.press("0")
    box = canvas.bounding_box()
    said = ""
    for x in range(20, int(box["width"]), 12):
        for y in range(30, int(box["height"]), 30):
            tab.mouse.move(box["x"] + x, box["y"] + y)
            if tab.locator('[data-figure="map"] .reading li').count():
                said = tab.locator('[data-figure="map"] .reading').inner_text()
                break
        if said:
            break
    assert "العربية" in said  # All translations of the sentence that was pointed at.


@pytest.fixture
def fresh(path: Path, browser: Any) -> Iterator[Opened]:
    """The page just opened, on a screen so low that its figures are below."""
    tab = browser.new_page(viewport={"width": 1300, "height": 400}, color_scheme="dark")
    opened = Opened(tab)
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready=first]", timeout=120_000)
    yield opened
    tab.close()
    assert opened.heard == []
    assert opened.outside() == []


FAR = '[data-figure="heat-cka"]'
"""A figure far below the first screen."""


def test_a_figure_is_drawn_when_it_comes_near_and_nothing_moves(fresh: Opened) -> None:
    tab = fresh.tab
    assert tab.locator(f"{FAR} .main-svg").count() == 0
    height = tab.evaluate("document.documentElement.scrollHeight")
    tab.locator(f"{FAR} summary").focus()  # As the keyboard does it: the browser scrolls there.
    tab.wait_for_selector(f"{FAR} .main-svg >> nth=0", timeout=60_000)
    all_drawn(tab)
    assert tab.evaluate("document.documentElement.scrollHeight") == height


def test_a_figure_that_was_never_on_the_screen_downloads(fresh: Opened) -> None:
    button = fresh.tab.locator(f"{FAR} [data-save=svg]")
    with fresh.tab.expect_download() as waiting:
        button.evaluate("button => button.click()")
    svg = Path(waiting.value.path()).read_text("utf-8")
    assert ET.fromstring(svg).tag.endswith("svg")
    assert "हिन्दी" in svg or "hi" in svg


def test_a_menu_of_figures_not_yet_drawn_holds_when_they_are(fresh: Opened) -> None:
    tab = fresh.tab
    tab.evaluate(
        """() => {
            const menu = document.querySelector('#pairs [data-choice="order"]');
            menu.value = "given";
            menu.dispatchEvent(new Event("change"));
        }"""
    )
    assert tab.locator(f"{FAR} .main-svg").count() == 0
    all_drawn(tab)
    assert tab.locator(f"{FAR} .plot").evaluate("plot => plot.data[0].x.map(x => x.slice(1, -1)).join()") == ",".join(
        CODES
    )


def test_a_print_has_every_figure_in_the_colours_of_paper(fresh: Opened) -> None:
    tab = fresh.tab
    assert tab.pdf().startswith(b"%PDF")
    tab.wait_for_selector("html[data-ready=all]", timeout=120_000)
    tab.emulate_media(media="print")
    tab.wait_for_function(
        "() => [...document.querySelectorAll('.js-plotly-plot')].every(plot => plot.layout.paper_bgcolor === '#ffffff')"
    )
    assert tab.locator(".js-plotly-plot").count() + tab.locator(".dots").count() == tab.locator("figure").count()


@pytest.mark.parametrize("width", [1300, 390])
def test_flows_of_two_texts_fit_the_width(browser: Any, tmp_path: Path, width: int) -> None:
    example = {
        "key": 1, "score": 0.5, "languages": {"source": "en", "target": "ar"},
        "source": {"units": ["tea", HOSTILE, LONG], "side": [0, 0, 1], "attributions": [0.5, -1.0, 0.2]},
        "target": {"units": ["شاي", "ساخن"], "side": [0, 1], "attributions": [0.4, 0.1]},
        "flows": [[0, 0, 0.5], [1, 1, 0.2], [2, 1, 0.1]],
    }  # fmt: skip
    table = Table("t", "T", "", (HOSTILE, LONG), ((HOSTILE, 1.0),))
    bars = Figure("bars", "Bars", "", ({"type": "bar", "x": ["a"], "y": [1]},))
    sections = [*texts_sections(example), Section("more", "More", figures=(bars,), tables=(table,))]
    path = tmp_path / "page.html"
    path.write_text(render_page(Page("explain", HOSTILE, LONG, sections)), "utf-8")
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="dark")
    opened = Opened(tab).show(path)
    assert tab.locator(".sankey-link").count() == 3
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert opened.heard == []
    assert opened.outside() == []
    tab.close()
