"""Charts in a browser: drawing, menus, tips, and every download, which is what Python would write."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chart_gallery as gallery
from interlingua.report import report as assembly
from interlingua.report.kit import exports
from interlingua.report.kit.chart import ChartMenu, PointMap
from interlingua.report.kit.figure import chart_table
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import Headline, Section, Subject
from interlingua.report.kit.svg import HALF, NARROW, WIDE, draw, font_file, resolve
from sample_reports import sample_run, verdict_finding

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")]

DRAWN = [chart for chart in gallery.gallery() if not isinstance(chart, PointMap)]
RUSSIAN = dataclasses.replace(gallery.layers(), title="Russian as is")
HINDI = dataclasses.replace(gallery.training(), title="Hindi centred", note="Of Hindi.")
MENU = ChartMenu(
    name="menu",
    menus=(("Language", ("Russian", "हिन्दी")), ("Vectors", ("as is", "centred"))),
    charts={("Russian", "as is"): RUSSIAN, ("हिन्दी", "centred"): HINDI},
)


class Opened:
    def __init__(self, tab: Any, path: Path) -> None:
        self.tab, self.messages = tab, []
        tab.on("console", lambda message: self.messages.append(message.text))
        tab.on("pageerror", lambda error: self.messages.append(str(error)))
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready=all]", state="attached")
        tab.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")
        tab.wait_for_selector("html[data-charts=all]", state="attached")

    def figure(self, name: str) -> Any:
        return self.tab.locator(f'[data-chart="{name}"]')

    def save(self, name: str, kind: str) -> tuple[str, bytes]:
        with self.tab.expect_download() as waiting:
            self.figure(name).locator(f"[data-save={kind}]").click()
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every kind of chart, one of which has a hostile text."""
    bad = dataclasses.replace(gallery.changes(), name="bad", title=gallery.HOSTILE, note=gallery.HOSTILE)
    sections = [Section(name="all", title="All", charts=(*DRAWN, MENU, gallery.points(40), bad))]
    subject = Subject(
        name="charts",
        applies=lambda run: True,
        headline=lambda run: Headline(title="Charts", answer=verdict_finding()),
        sections=lambda run: sections,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "subjects", lambda: (subject,))
        page = render_page(assembly.build_report([sample_run()]))
    path = tmp_path_factory.mktemp("charts") / "page.html"
    path.write_text(page, "utf-8")
    return path


@pytest.fixture
def page(browser: Any, path: Path) -> Iterator[Opened]:
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    yield Opened(tab, path)
    tab.close()


def test_every_mark_is_on_the_page_with_its_tip_and_its_records(page: Opened) -> None:
    for chart in DRAWN:
        drawn = ET.fromstring(draw(chart, number=lambda record: 1))
        tips = [mark.get("data-tip") for mark in drawn.iter() if mark.get("data-tip")]
        marks = page.figure(chart.name).locator("svg [data-tip]")
        assert marks.evaluate_all("marks => marks.map(mark => mark.dataset.tip)") == tips
        linked = [mark for mark in drawn.iter() if mark.get("data-r")]
        assert page.figure(chart.name).locator("svg [data-r]").count() == len(linked)
    assert page.messages == []


def test_a_tip_follows_the_pointer_and_a_click_opens_the_record(page: Opened) -> None:
    mark = page.figure("layers").locator("svg .m").nth(3)
    mark.scroll_into_view_if_needed()
    mark.hover()
    assert page.tab.locator("#tip").inner_text() == mark.get_attribute("data-tip")
    mark.click()
    value = gallery.layers().lines[0].y[3]
    assert value is not None
    assert str(value.value)[:6] in page.tab.locator("#record").inner_text()


def test_menus_show_the_chart_of_their_options_and_never_none(page: Opened) -> None:
    figure = page.figure("menu")
    language, vectors = figure.locator("select").all()
    assert figure.locator("h3").inner_text() == "Russian as is"
    language.select_option(label="हिन्दी")  # There is no Hindi as is: the vectors follow.
    assert (figure.locator("h3").inner_text(), vectors.input_value()) == ("Hindi centred", "1")
    assert figure.locator("figcaption").inner_text() == "Of Hindi."
    assert figure.locator("svg .m").count() == 150
    name, content = page.save("menu", "csv")
    assert name == "menu_हिन्दी-centred.csv"
    assert content.decode().count("\r\n") == 1 + 150 + 50
    vectors.select_option(label="as is")
    assert (figure.locator("h3").inner_text(), language.input_value()) == ("Russian as is", "0")


def test_phones_get_the_narrow_drawing_and_no_sideways_scroll(browser: Any, path: Path) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    page = Opened(tab, path)
    widths = tab.locator(".chart svg").evaluate_all("all => all.map(svg => svg.viewBox.baseVal.width)")
    assert set(widths) == {NARROW}
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    smallest = """all => Math.min(...all.map(text => Number(text.getAttribute("font-size") ?? 12) *
        text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width))"""
    assert tab.locator(".chart svg text").evaluate_all(smallest) >= 11
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.wait_for_timeout(400)
    assert tab.locator(".chart.wide svg").first.evaluate("svg => svg.viewBox.baseVal.width") == WIDE
    assert page.messages == []
    tab.close()


def cells(text: str) -> list[list[str | float]]:
    def cell(part: str) -> str | float:
        return float(part) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", part) else part

    return [[cell(part) for part in row] for row in csv.reader(io.StringIO(text))]


def test_numbers_are_saved_as_python_writes_them(browser: Any, path: Path) -> None:
    for chart in DRAWN:
        tab = browser.new_page()  # A browser stops after ten downloads of a page.
        page, table = Opened(tab, path), chart_table(chart)
        pairs = zip(cells(page.save(chart.name, "csv")[1].decode()), cells(exports.to_csv(table)), strict=True)
        for row, expected in pairs:
            assert [value if isinstance(value, str) else pytest.approx(value, rel=1e-5) for value in expected] == row
        assert page.save(chart.name, "md")[1].decode() == exports.to_markdown(table)
        assert page.save(chart.name, "tex")[1].decode() == exports.to_latex(table)
        tab.close()


def test_pictures_are_saved_as_python_resolves_them_in_light_colours(page: Opened) -> None:
    for name, width in (("layers", HALF), ("pairs-17-value", WIDE), ("seeds", WIDE)):
        chart = next(chart for chart in DRAWN if chart.name == name)
        saved = page.save(name, "svg")[1].decode()
        assert saved == resolve(draw(chart, width=width), font=True)


def test_hostile_texts_reach_files_as_texts(page: Opened) -> None:
    ET.fromstring(page.save("bad", "svg")[1])
    assert objects_of(page.save("bad", "pdf")[1])
    assert b"\\textbackslash" not in page.save("bad", "csv")[1]
    assert page.messages == []


def objects_of(pdf: bytes) -> dict[int, bytes]:
    """The objects of a PDF, found by its cross-reference table alone."""
    assert pdf.startswith(b"%PDF-1.")
    start = int(pdf[pdf.rindex(b"startxref") + 9 :].split()[0])
    assert pdf[start : start + 4] == b"xref"
    lines = pdf[start:].split(b"\n")
    count = int(lines[1].split()[1])
    places = [int(line.split()[0]) for line in lines[3 : 2 + count]]
    found = {}
    for number, place in enumerate(places, 1):
        assert pdf[place:].startswith(b"%d 0 obj" % number)
        found[number] = pdf[place : pdf.index(b"\nendobj", place)]
    return found


def stream_of(body: bytes) -> bytes:
    head, _, rest = body.partition(b">>stream\n")
    length = int(re.search(rb"/Length (\d+)", head)[1])  # type: ignore[index]
    assert rest[length : length + 10] == b"\nendstream"
    return zlib.decompress(rest[:length]) if b"/FlateDecode" in head else rest[:length]


def test_a_pdf_has_vectors_the_font_and_texts_that_can_be_searched(page: Opened, tmp_path: Path) -> None:
    name, pdf = page.save("many", "pdf")
    assert name == "many.pdf"
    objects = objects_of(pdf)
    font = next(body for body in objects.values() if b"/Length1" in body)
    assert stream_of(font) == font_file()
    unicode_map = stream_of(next(body for body in objects.values() if b"begincmap" in stream_or_none(body)))
    letters = {int(a, 16): chr(int(b, 16)) for a, b in re.findall(rb"<([0-9a-f]{4})> <([0-9a-f]{4})>", unicode_map)}
    content = stream_of(objects[4]).decode("latin-1")
    lines = re.findall("<([0-9a-f]+)> Tj", content)
    glyphs = [[int(line[at : at + 4], 16) for at in range(0, len(line), 4)] for line in lines]
    shown = {"".join(map(letters.__getitem__, text)) for text in glyphs}
    assert {"English", "Беларуская", "Tiếng Việt", "layer", "output", "0\xa0%"} <= shown
    assert content.count(" l") > 100  # Lines and shapes are vectors,
    assert content.count("Do Q") == 1  # and the one name whose script the font lacks, in Devanagari, a picture.
    if shutil.which("pdffonts"):
        (tmp_path / "a.pdf").write_bytes(pdf)
        told = subprocess.run(["pdffonts", tmp_path / "a.pdf"], capture_output=True, text=True, check=True)
        assert not told.stderr
        (row,) = told.stdout.splitlines()[2:]
        assert row.split()[:6] == ["NotoSans", "CID", "TrueType", "Identity-H", "yes", "no"]
        text = subprocess.run(["pdftotext", tmp_path / "a.pdf", "-"], capture_output=True, text=True, check=True).stdout
        assert "Беларуская" in text


def stream_or_none(body: bytes) -> bytes:
    return stream_of(body) if b">>stream\n" in body else b""


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="no poppler here")
@pytest.mark.parametrize("name", ["layers", "pairs-8-difference", "seeds", "flows"])
def test_a_pdf_looks_as_the_svg(page: Opened, browser: Any, tmp_path: Path, name: str) -> None:
    """The two pictures, blurred by being small, differ by little more than the drawing of letters."""
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "a.pdf").write_bytes(page.save(name, "pdf")[1])
    subprocess.run(["pdftoppm", "-r", "96", "-png", tmp_path / "a.pdf", tmp_path / "a"], check=True)
    from_pdf = image.open(next(tmp_path.glob("a*.png"))).convert("RGB")
    (tmp_path / "a.svg").write_bytes(page.save(name, "svg")[1])
    tab = browser.new_page(viewport={"width": from_pdf.width, "height": from_pdf.height})
    tab.goto((tmp_path / "a.svg").as_uri())
    tab.screenshot(path=tmp_path / "b.png")
    tab.close()
    from_svg = image.open(tmp_path / "b.png").convert("RGB")
    size = (from_pdf.width // 8, from_pdf.height // 8)
    pairs = zip(from_pdf.resize(size).tobytes(), from_svg.resize(size).tobytes(), strict=True)
    apart = [abs(a - b) for a, b in pairs]
    assert sum(apart) / len(apart) < 2.5
    assert max(apart) < 90


def test_maps_are_drawn_chosen_and_saved(page: Opened) -> None:
    figure = page.figure("map")
    figure.scroll_into_view_if_needed()
    count = """canvas => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
        for (let at = 0; at < data.length; at += 4) seen.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
        return seen.size;
    }"""
    page.tab.wait_for_timeout(200)
    everything = figure.locator(".map canvas").evaluate(count)
    assert everything > 50
    figure.locator(".keys button").first.click()
    page.tab.wait_for_timeout(200)
    assert figure.locator(".map canvas").evaluate(count) < everything
    saved = page.save("map", "svg")[1].decode()
    assert saved.count("<circle") == 41  # English, which is round, and its entry in the legend.
    assert saved.count('fill="#e3e5e9"') == 7 * 40
    rows = cells(page.save("map", "csv")[1].decode())
    assert len(rows) == 1 + 8 * 40
    assert rows[1] == ["English", 0, 0, 0.5, "English 0"]
    assert objects_of(page.save("map", "pdf")[1])
    assert page.messages == []


def test_the_numbers_of_a_chart_are_a_table_by_keyboard(page: Opened) -> None:
    figure = page.figure("seeds")
    figure.locator(".numbers summary").press("Enter")
    rows = figure.locator(".numbers tbody tr")
    rows.first.wait_for()
    assert rows.count() == len(gallery.seeds().rows)
    figure.locator(".numbers button").first.press("Enter")
    assert page.tab.locator("#record").is_visible()


def test_a_chart_is_drawn_when_it_comes_near(browser: Any, path: Path) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 600})
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready=all]", state="attached")
    last = tab.locator('[data-chart="bad"]')
    assert last.locator("svg").count() == 0
    before = tab.evaluate("document.documentElement.scrollHeight")
    last.scroll_into_view_if_needed()
    last.locator("svg").wait_for()
    assert abs(tab.evaluate("document.documentElement.scrollHeight") - before) < 60  # Room was kept for it.
    tab.close()
