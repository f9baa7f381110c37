from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.explorer.corpus_index import CorpusIndex
from interlingua.explorer.explorer import Explorer
from interlingua.explorer.server import ExplorerServer
from interlingua.readers import read_corpus

CHROMIUM = shutil.which("chromium")
HOSTILE = [
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "'); document.title='owned'; //",
    "</textarea><script>document.title='owned'</script>",
    "abc \u202edcba\u202c",
    "javascript:document.title='owned'",
]
pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")]


@dataclass
class Seen:
    """A page, what its console said, and every address that was asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def running(encoder: Encoder) -> Iterator[ExplorerServer]:
    corpus = read_corpus("sampler", languages=["en", "es", "ar"]).take(np.arange(12))
    texts = {code: [*column, *HOSTILE, "x" * 900] for code, column in corpus.texts.items()}
    made = ParallelCorpus.of(texts, name="<b onclick=alert(1)>corpus")
    shelf = CorpusIndex.of(encoder, made, cache=None)
    with ExplorerServer(Explorer((shelf, shelf), made)) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def seen(browser: Any, running: ExplorerServer) -> Iterator[Seen]:
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    found = Seen(context.new_page())
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(running.gate.address)
    drawn(found.page)
    yield found
    context.close()
    assert found.said == []
    assert all(url.startswith((f"http://127.0.0.1:{running.gate.port}/", "data:,")) for url in found.asked)


def drawn(page: Any) -> None:
    page.wait_for_selector("#pairs .ribbon", state="attached", timeout=60000)
    page.wait_for_selector(".near tbody tr", timeout=60000)


def typed(page: Any, field: str, text: str) -> None:
    with page.expect_response(lambda reply: "/api/pair" in reply.url and reply.ok, timeout=60000):
        page.fill(f"#{field}", text)


def test_every_section_is_drawn_for_both_models(seen: Seen) -> None:
    page = seen.page
    assert page.locator("#curves svg.curve").count() == 2
    assert page.locator("#pairs .pair").count() == 2
    assert page.locator("#near table").count() == 2
    assert page.locator("#pairs .link").count() > 0
    assert "token" not in page.url


def test_ranks_are_explained_where_there_are_any(seen: Seen) -> None:
    page = seen.page
    assert page.locator("#near .note").count() == 2
    page.fill("#source", "No such sentence is in the corpus.")
    page.wait_for_function("() => document.querySelectorAll('#near .note').length === 0")
    assert page.inner_text("#near .rank") == ""


def test_hostile_text_is_shown_and_never_run(seen: Seen) -> None:
    page = seen.page
    for text in HOSTILE:
        typed(page, "source", text)
        typed(page, "target", text[::-1])
        assert page.input_value("#source") == text
    page.fill("#find", "<script>")
    page.wait_for_selector("#found button")
    assert "<script>" in page.inner_text("#found")
    page.click("#found button")
    drawn(page)
    page.wait_for_timeout(200)
    assert "owned" not in page.title()
    assert "<b onclick" in page.inner_text("#about")
    assert page.locator("main img, main script, main [onclick], main [onerror]").count() == 0


@pytest.mark.parametrize("field", ["source", "target"])
def test_an_emptied_sentence_leaves_no_picture_of_the_last_one(seen: Seen, field: str) -> None:
    page = seen.page
    page.fill(f"#{field}", " ")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Fill in both sentences.'")
    assert page.locator("#curves *, #pairs *").count() == 0
    page.wait_for_function(
        "of => (document.querySelectorAll('#near *').length === 0) === (of === 'source')", arg=field
    )  # Neighbours are the first sentence's.
    page.set_viewport_size({"width": 1200, "height": 900})
    page.wait_for_timeout(300)
    assert page.locator("#curves *, #pairs *").count() == 0  # A new width does not bring it back.
    typed(page, field, "The kitchen tap is leaking again.")
    drawn(page)
    assert page.locator("#curves svg.curve").count() == 2


def test_an_answer_that_comes_after_the_sentence_is_gone_is_not_drawn(seen: Seen) -> None:
    page = seen.page
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/api/pair", hold)
    page.fill("#source", "Another sentence.")
    page.wait_for_timeout(600)
    page.fill("#source", "")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Fill in both sentences.'")
    for route in held:
        route.continue_()
    page.wait_for_timeout(600)
    assert held
    assert page.locator("#curves *, #pairs *").count() == 0


def test_a_bidirectional_override_is_written_out(seen: Seen) -> None:
    seen.page.fill("#find", "dcba")
    seen.page.wait_for_selector("#found button")
    assert "[U+202E]" in seen.page.inner_text("#found")


def test_sliding_redraws_without_asking_for_the_pair_again(seen: Seen) -> None:
    page = seen.page
    before = len([url for url in seen.asked if url.endswith("/api/pair")])
    said = page.inner_text("#said")
    page.focus("#layer")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("text => document.getElementById('said').textContent !== text", arg=said)
    assert "layer=5" in page.url
    assert len([url for url in seen.asked if url.endswith("/api/pair")]) == before


def test_a_permalink_brings_the_view_back_without_the_token(seen: Seen, running: ExplorerServer) -> None:
    page = seen.page
    typed(page, "source", "Where is the tea & the “milk”? #1")
    typed(page, "target", "أين الشاي؟")
    page.select_option("#target_language", "ar")
    page.uncheck("#centred")
    page.check("#of_target")
    page.click("#copy")
    page.wait_for_selector("#copied:not(:empty)")
    link = page.evaluate("navigator.clipboard.readText()")
    assert running.gate.token not in link
    other = page.context.new_page()
    other.goto(link)
    drawn(other)
    assert other.input_value("#source") == "Where is the tea & the “milk”? #1"
    assert other.input_value("#target_language") == "ar"
    assert not other.is_checked("#centred")
    assert other.is_checked("#of_target")
    assert other.inner_text("#said") == page.inner_text("#said")


def test_without_the_cookie_the_page_stays_shut(browser: Any, running: ExplorerServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    reply = page.goto(f"http://127.0.0.1:{running.gate.port}/#source=x")
    assert reply.status == 403
    assert "token" in page.inner_text("body")
    context.close()


def test_words_are_reached_and_read_by_keyboard(seen: Seen) -> None:
    page = seen.page
    page.focus("#pairs .pair li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    second = page.locator("#pairs .pair").first.locator("ol").nth(1).locator("li").nth(1)
    assert second.evaluate("element => element === document.activeElement")
    assert second.locator(".word").inner_text() in page.inner_text("#reading")
    assert "adds" in page.inner_text("#reading")


def test_right_to_left_text_is_laid_out_so(seen: Seen) -> None:
    page = seen.page
    page.select_option("#target_language", "ar")
    page.wait_for_function("() => /[\\u0600-\\u06ff]/.test(document.getElementById('target').value)")
    assert page.evaluate("getComputedStyle(document.getElementById('target')).direction") == "rtl"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_without_scrolling_sideways(seen: Seen, scheme: str) -> None:
    page = seen.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    page.fill("#find", "xxxxxxxx")
    page.wait_for_selector("#found button")
    page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    lines = page.evaluate("[...document.querySelectorAll('#near .rank .soft')].map(e => e.getClientRects().length)")
    assert set(lines) == {1}  # A number is not cut in two.


def test_every_control_has_a_name(seen: Seen) -> None:
    names = seen.page.evaluate(
        "[...document.querySelectorAll('main button, main select, main textarea, main input')]"
        ".map(e => e.getAttribute('aria-label') || (e.labels && [...e.labels].map(l => l.textContent).join('')) "
        "|| e.textContent)"
    )
    assert all(name.strip() for name in names)


def test_a_server_that_is_gone_is_told_of(seen: Seen) -> None:
    page = seen.page
    refused = []

    def busy_at_first(route: Any) -> None:
        if len(refused) < 3:
            refused.append(route.request.url)
            route.fulfill(status=503, json={"error": "The model is busy."})
        else:
            route.continue_()

    page.route("**/api/pair", busy_at_first)
    shown = "() => { const m = document.getElementById('message'); return !m.hidden && m.textContent.includes('busy') }"
    with page.expect_response(lambda reply: "/api/pair" in reply.url and reply.ok, timeout=60000):
        page.fill("#source", "Anything else.")
        page.wait_for_function(shown, timeout=60000)  # It asks again by itself.
    page.wait_for_selector("#message", state="hidden", timeout=60000)
    assert len(refused) == 3
    seen.said.clear()  # The browser itself reports the 503.


def test_a_text_in_another_language_is_pointed_out_and_a_click_chooses_it(seen: Seen) -> None:
    page = seen.page
    page.select_option("#target_language", "ar")
    typed(page, "target", "El puente viejo estaba cerrado en invierno.")
    page.wait_for_selector("#doubts button")
    assert "looks like Spanish, and Arabic is chosen" in page.inner_text("#doubts")
    with page.expect_response(lambda reply: "/api/pair" in reply.url and reply.ok, timeout=60000):
        page.click("#doubts button")
    page.wait_for_selector("#doubts", state="hidden")
    assert page.input_value("#target_language") == "es"
    assert "and Spanish lie from" in page.inner_text("#said")
