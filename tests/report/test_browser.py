"""A page in a browser: safety, keyboard, contrast, widths, folding, sorting, downloads and printing."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua.report.kit.page import render_page
from sample_reports import HOSTILE, LANGUAGES, sample_report

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")]

LONG = "न" * 3_000
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")
"""Texts whose contrast with what is behind them is below WCAG AA."""


class Opened:
    def __init__(self, tab: Any, path: Path) -> None:
        self.tab, self.messages, self.requests = tab, [], []
        tab.on("console", lambda message: self.messages.append(message.text))
        tab.on("pageerror", lambda error: self.messages.append(str(error)))
        tab.on("dialog", lambda dialog: (self.messages.append("a dialog"), dialog.dismiss()))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready=all]", state="attached", timeout=60_000)

    def assert_quiet(self) -> None:
        assert self.messages == []
        assert [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))] == []

    def download(self, button: Any) -> tuple[str, bytes]:
        with self.tab.expect_download() as waiting:
            button.click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()

    @property
    def dialog(self) -> Any:
        return self.tab.locator("#record")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, text in (("plain", ""), ("hostile", HOSTILE), ("long", LONG)):
        (folder / f"{name}.html").write_text(render_page(sample_report(text)), "utf-8")
    return {name: folder / f"{name}.html" for name in ("plain", "hostile", "long")}


@pytest.fixture
def opened(browser: Any, paths: dict[str, Path]) -> Iterator[Any]:
    """Opens a page in a new context, and checks at the end that it asked for nothing and complained of nothing."""
    contexts: list[Any] = []
    pages: list[Opened] = []

    def show(name: str = "plain", *, width: int = 1280, height: int = 900, scheme: str = "light") -> Opened:
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme))
        pages.append(Opened(contexts[-1].new_page(), paths[name]))
        return pages[-1]

    yield show
    for page in pages:
        page.assert_quiet()
    for context in contexts:
        context.close()


def test_hostile_text_is_shown_and_never_run(opened: Any) -> None:
    tab = opened("hostile").tab
    assert tab.locator("img, [onclick], [onerror]").count() == 0
    assert "<script>alert(1)</script>" in tab.locator("h1").inner_text()
    assert "[U+202E]" in tab.locator("h1").inner_text()


def test_a_script_that_slipped_in_would_not_run(browser: Any, paths: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "injected.html"
    injected = "<main><script>window.ran = 1</script><img src=x onerror='window.ran = 2'>"
    path.write_text(paths["plain"].read_text("utf-8").replace("<main>", injected, 1), "utf-8")
    tab = browser.new_page()
    page = Opened(tab, path)
    assert tab.evaluate("window.ran") is None
    assert tab.evaluate("fetch('https://example.org').catch(() => 'blocked')") == "blocked"
    assert any("Content Security Policy" in message for message in page.messages)
    tab.close()


@pytest.mark.parametrize("name", ["plain", "hostile", "long"])
@pytest.mark.parametrize("width", [390, 768, 1100, 1600])
def test_nothing_scrolls_sideways(opened: Any, name: str, width: int) -> None:
    tab = opened(name, width=width).tab
    tab.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_texts_and_marks_have_the_contrast_of_wcag_aa(opened: Any, scheme: str, width: int) -> None:
    tab = opened(width=width, scheme=scheme).tab
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # Opens every section and draws every chart.
    assert tab.locator(".chart svg path[data-tip]").count() > 5
    assert tab.locator(".chart svg text").count() > 30
    assert tab.evaluate(CONTRAST) == []


def test_the_theme_goes_from_the_systems_to_light_to_dark_and_is_remembered(opened: Any) -> None:
    page = opened(scheme="light")
    tab, ground = page.tab, "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(ground)
    tab.locator("#theme").click()
    assert tab.locator("#theme").inner_text() == "Theme: light"
    tab.locator("#theme").click()
    assert tab.evaluate(ground) != light
    tab.reload()
    assert tab.locator("#theme").inner_text() == "Theme: dark"
    assert tab.evaluate(ground) != light


def test_a_number_opens_its_records_by_mouse_and_by_keyboard(opened: Any) -> None:
    page = opened()
    tab = page.tab
    figure = tab.locator(".figures button").first
    figure.hover()
    assert f"mean of {len(LANGUAGES)} records" in tab.locator("#tip").inner_text()
    figure.click()
    assert page.dialog.locator("tbody tr").count() == len(LANGUAGES)
    assert "lab/small" in page.dialog.inner_text()
    tab.keyboard.press("Escape")
    assert not page.dialog.is_visible()
    cells = tab.locator("#table-languages tbody button")
    assert [cells.nth(at).get_attribute("tabindex") for at in range(3)] == ["0", "-1", "-1"]
    cells.first.focus()
    tab.keyboard.press("ArrowDown")  # To the next row with records.
    tab.keyboard.press("Enter")
    assert page.dialog.locator("#record-h").inner_text() == "retrieval, p@1"
    assert "hi" in page.dialog.inner_text()
    assert "36" in page.dialog.inner_text()
    page.dialog.locator("#record-close").click()
    assert not page.dialog.is_visible()


def test_tables_sort_by_click_and_keyboard_and_return_to_their_order(opened: Any) -> None:
    tab = opened().tab
    names = "Array.from(document.querySelectorAll('#table-languages tbody th'), (cell) => cell.textContent)"
    given = tab.evaluate(names)
    head = tab.locator("#table-languages thead button").nth(1)
    head.click()
    assert tab.locator("#table-languages thead th").nth(1).get_attribute("aria-sort") == "descending"
    assert tab.evaluate(names) == ["Spanish", "Russian", "Hindi", "Chinese", "Arabic"]  # What is missing is last.
    head.focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate(names) == ["Chinese", "Hindi", "Russian", "Spanish", "Arabic"]
    tab.keyboard.press("Space")
    assert tab.evaluate(names) == given
    tab.locator("#table-languages thead button").first.click()
    assert tab.evaluate(names) == sorted(given)


def test_the_contents_mark_the_section_that_is_read(opened: Any) -> None:
    tab = opened(height=500).tab
    current = "document.querySelector('#toc [aria-current]').textContent"
    assert tab.evaluate(current) == "Summary"
    tab.locator("#toc a", has_text="Languages").click()
    tab.wait_for_function(f"() => {current} === 'Languages'")
    assert tab.locator("#contents").bounding_box()["y"] == 0  # It stays.
    tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    tab.wait_for_function(f"() => {current} === 'Glossary'")


def test_on_a_small_screen_the_contents_are_a_menu_that_stays_on_top(opened: Any) -> None:
    tab = opened(width=390, height=700).tab
    menu = tab.locator("#menu")
    assert not tab.locator("#toc").is_visible()
    tab.evaluate("scrollTo(0, 1500)")
    assert tab.locator("#contents").bounding_box()["y"] == 0
    menu.focus()
    tab.keyboard.press("Enter")
    assert menu.get_attribute("aria-expanded") == "true"
    tab.keyboard.press("Escape")
    assert not tab.locator("#toc").is_visible()
    menu.click()
    tab.locator("#toc a", has_text="Examples").click()
    assert not tab.locator("#toc").is_visible()
    assert tab.locator("#examples .example").is_visible()  # It was folded.


def test_a_folded_section_stays_folded_and_a_link_into_it_opens_it(opened: Any) -> None:
    tab = opened().tab
    section = tab.locator("#languages > details")
    section.locator("summary").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => !document.querySelector('#languages > details').open")
    tab.wait_for_timeout(50)
    tab.reload()
    tab.wait_for_selector("html[data-ready=all]", state="attached")
    assert section.get_attribute("open") is None
    term = tab.locator("a.term").first
    term.hover()
    assert len(tab.locator("#tip").inner_text()) > 20
    term.click()
    assert tab.locator("#glossary dfn").first.is_visible()


def test_a_print_has_every_section_open_and_the_colours_of_paper(opened: Any) -> None:
    page = opened(scheme="dark")
    tab = page.tab
    closed = "document.querySelectorAll('main section > details:not([open])').length"
    before = tab.evaluate(closed)
    assert before >= 3
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(closed) == 0
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.locator("#contents").is_visible()
    assert tab.pdf().startswith(b"%PDF")
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(closed) == before


def test_tables_download_as_csv_latex_and_markdown(opened: Any) -> None:
    page = opened("hostile")
    place = page.tab.locator('[data-table="languages"]')
    name, text = page.download(place.locator("[data-save=csv]"))
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert name == "languages.csv"
    assert len(rows) == 1 + len(LANGUAGES)
    assert {row[0] for row in rows[1:]} == {HOSTILE}
    assert page.download(place.locator("[data-save=tex]"))[1].decode().startswith("\\begin{table}")
    assert "| ---: |" in page.download(place.locator("[data-save=md]"))[1].decode()


def test_a_command_is_copied_or_at_least_selected(opened: Any) -> None:
    tab = opened().tab
    tab.locator("[data-copy]").click()
    tab.wait_for_function("() => ['Copied', 'Selected'].includes(document.querySelector('[data-copy]').textContent)")


def test_the_tab_key_reaches_the_summary_first_and_every_focus_is_seen(opened: Any) -> None:
    tab = opened().tab
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        focus = tab.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e); "
            "return [e.tagName, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; })()"
        )
        if focus[0] == "BODY":
            break
        assert focus[1], focus
        seen.add(focus[0])
    assert {"A", "BUTTON", "SUMMARY", "DIV"} <= seen


def test_words_of_a_right_to_left_text_run_from_the_right(opened: Any) -> None:
    tab = opened().tab
    tab.evaluate("document.querySelector('#examples > details').open = true")
    boxes = [word.bounding_box()["x"] for word in tab.locator(".side").nth(1).locator(".words > span").all()]
    assert boxes == sorted(boxes, reverse=True)
    assert "explained: ORG “Bank of Spain”" in tab.locator(".side").first.inner_text()
