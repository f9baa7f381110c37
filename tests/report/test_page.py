from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from interlingua.record import RecordTable
from interlingua.report import report as assembly
from interlingua.report.files import report_files
from interlingua.report.kit import page as kit_page
from interlingua.report.kit.finding import Verdict
from interlingua.report.kit.glossary import GLOSSARY
from interlingua.report.kit.page import MAX_PAGE_ROWS, RecordIndex, render_page
from interlingua.report.kit.section import Run, Section, Subject
from interlingua.report.kit.table import Column, Table
from interlingua.report.report import build_report, provenance_section, with_unique_names
from pages import page_data
from sample_reports import (
    DIGEST,
    HOSTILE,
    LANGUAGES,
    RECORDS,
    layer_chart,
    record,
    sample_report,
    sample_run,
    sample_subject,
)

LONG = "न" * 10_000


class Parsed(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._is_script = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._is_script = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._is_script = False

    def handle_data(self, data: str) -> None:
        if not self._is_script:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def ids(self) -> list[str]:
        return [str(attrs["id"]) for _, attrs in self.tags if "id" in attrs]


@pytest.fixture(scope="module")
def html() -> str:
    return render_page(sample_report())


# One file, safe and reproducible.


def test_the_page_asks_for_nothing_and_runs_only_scripts_of_known_hashes(html: str) -> None:
    parsed = Parsed(html)
    for tag, attrs in parsed.tags:
        assert "src" not in attrs
        assert (attrs.get("href") or "#").startswith(("#", "data:")), tag
        assert not any(name.startswith("on") for name in attrs)
    [policy] = [attrs["content"] for _, attrs in parsed.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert scripts
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert policy.count("sha256-") == len(scripts)
    assert not re.search(r"script-src[^;]*unsafe", policy)


def test_texts_of_users_are_shown_and_never_markup() -> None:
    html = render_page(sample_report(HOSTILE))
    parsed = Parsed(html)
    plain = Parsed(render_page(sample_report()))
    assert sum(tag == "script" for tag, _ in parsed.tags) == sum(tag == "script" for tag, _ in plain.tags)
    assert not any(tag == "img" or "onerror" in attrs for tag, attrs in parsed.tags)
    assert parsed.text.count("<script>alert(1)</script>") > 10
    assert "\u202e" not in html
    assert "[U+202E]" in html
    assert "{{7*7}}" in parsed.text
    assert len(parsed.ids()) == len(set(parsed.ids()))


def test_two_renders_of_equal_reports_are_equal_to_the_byte(html: str) -> None:
    assert render_page(sample_report()) == html


def test_two_renders_in_processes_with_other_hashes_are_equal_to_the_byte(html: str) -> None:
    code = "from sample_reports import *; from interlingua.report.kit.page import render_page; import hashlib, sys; "
    code += "sys.stdout.write(hashlib.sha256(render_page(sample_report()).encode()).hexdigest())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path), "PATH": ""})  # fmt: skip
    assert done.stdout == hashlib.sha256(html.encode()).hexdigest()


def test_a_page_without_data_is_at_most_60_kb() -> None:
    empty = build_report([Run(kind="audit", about={}, records=RecordTable([]))])
    assert len(render_page(empty).encode()) <= 60_000
    html = render_page(sample_report())  # With charts, and what saves them as PDF.
    assert len(re.sub(r'(?s)id="data">.*?</script>|<main>.*?</main>', "", html)) <= 90_000


def test_renderers_do_not_import_torch() -> None:
    code = "import sys, interlingua.report.files, interlingua.report.kit.terminal, interlingua.report.kit.notebook; "
    code += "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The first screen.


def test_the_first_screen_answers_the_question(html: str) -> None:
    report = sample_report()
    first = Parsed(html.split('<section id="summary"', 1)[1].split("</section>", 1)[0]).text
    head = report.headline
    for text in (head.title, "3 are aligned", "chance level 0.2", head.measured, "Next step"):
        assert text in first
    assert "interlingua adjust lab/small --bitext zh=talks.en-zh.tsv" in first
    assert first.index(head.title) < first.index("3 are aligned") < first.index("Sentences that retrieve")
    assert DIGEST not in html.split('id="provenance"', maxsplit=1)[0].split("<body>")[1]


def test_a_title_of_the_user_stands_in_the_place_of_ours_everywhere() -> None:
    report = sample_report(title="My <b>model</b>")
    parsed = Parsed(render_page(report))
    assert report.headline.title == "My <b>model</b>"
    assert parsed.text.count("My <b>model</b>") == 2
    assert "How well does" not in parsed.text


def test_an_unfinished_run_says_so_first_and_keeps_what_was_found() -> None:
    report = sample_report(unfinished="This run is not finished: 3 of 9 steps are done.")
    assert report.headline.answer.verdict == Verdict.UNFINISHED
    assert report.headline.answer.sentence == "This run is not finished: 3 of 9 steps are done."
    assert next(finding.kind for finding in report.findings()) == "sample.verdict"
    assert 'class="verdict unfinished"' in render_page(report)


def test_no_records_still_make_a_page() -> None:
    report = build_report([Run(kind="audit", about={"model": HOSTILE}, records=RecordTable([]))])
    assert report.headline.answer.verdict == Verdict.NOT_TESTED
    assert [section.name for section in report.sections] == ["provenance"]
    assert "<img" not in render_page(report)


# Sections, names, contents.


def test_landmarks_headings_and_contents_are_in_order(html: str) -> None:
    parsed = Parsed(html)
    levels = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert [sum(tag == name for tag, _ in parsed.tags) for name in ("main", "nav", "footer")] == [1, 1, 1]
    targets = [str(attrs["href"])[1:] for tag, attrs in parsed.tags if tag == "a" and attrs.get("href") != "data:,"]
    assert set(targets) <= set(parsed.ids())
    sections = [str(attrs["id"]) for tag, attrs in parsed.tags if tag == "section"]
    assert sections == ["summary", "layers", "languages", "examples", "provenance", "glossary"]
    assert all(name in targets for name in sections)


def test_names_that_repeat_or_are_no_file_names_are_made_unique() -> None:
    table = Table(name="../../etc/x y", title="T", columns=(Column(title="a"),), rows=(("x",),))
    upper = replace(table, name="ETC-X-Y")
    sections = [Section(name="s", title="S", tables=(table, table, upper), charts=(layer_chart("s"),))] * 2
    named = with_unique_names(sections)
    of_sections = [section.name for section in named]
    of_tables = [table.name for section in named for table in section.tables]
    of_charts = [chart.name for section in named for chart in section.charts]
    names = [*of_sections, *of_tables, *of_charts]
    assert [len({name.lower() for name in own}) for own in (of_sections, of_tables, of_charts)] == [2, 6, 2]
    assert all(re.fullmatch(r"[\w-][\w.-]*", name) for name in names)
    assert with_unique_names([Section(name="summary", title="S")])[0].name == "summary-2"
    long = with_unique_names([Section(name="x" * 9_999, title="S")] * 2)
    assert max(len(section.name) for section in long) < 80


def test_sections_of_several_subjects_follow_each_other_and_the_first_headline_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = Subject(
        name="silent", applies=lambda run: True, sections=lambda run: [Section(name="layers", title="Own")]
    )
    absent = Subject(name="absent", applies=lambda run: False, sections=lambda run: [Section(name="no", title="No")])
    monkeypatch.setattr(assembly, "subjects", lambda: (silent, absent, sample_subject()))
    report = build_report([sample_run()])
    assert report.headline.title.startswith("How well")
    names = [section.name for section in report.sections]
    assert names == ["layers", "layers-2", "languages", "examples", "provenance"]


def test_settings_have_labels_and_digests_stand_in_the_folded_last_section_alone() -> None:
    run = sample_run(settings={"learning_rate": 3e-4, "batch_size": 8}, names={"en": "English"}, steps=["a"])
    section = provenance_section(run)
    facts = dict(section.facts)
    assert facts["Learning rate"] == "0.0003"
    assert facts["Batch size"] == "8"
    assert facts["Rows"] == "600"
    assert facts["Skipped or left out"] == ("3 duplicate rows",)
    assert any(DIGEST in line for line in facts["Digests of models and data"])
    assert sum(DIGEST in str(text) for text in facts.values()) == 1
    assert not {"Names", "Steps"} & facts.keys()
    assert section.folded
    assert dict(provenance_section(Run(kind="x", about={}, records=RecordTable([]))).facts) == {
        "Skipped or left out": "Nothing."
    }


# Tables and records.


def test_every_number_with_records_names_them_and_no_other_record_is_in_the_page(html: str) -> None:
    data = page_data(html)
    groups, columns = data["records"]["groups"], data["records"]["columns"]

    def places(group: str) -> list[int]:
        ends = [[int(end) for end in part.split("-")] for part in group.split()]
        return [place for end in ends for place in range(end[0], end[-1] + 1)]

    used = {place for group in groups for place in places(group)}
    named = [attrs["data-r"] for _, attrs in Parsed(html).tags if "data-r" in attrs]
    assert {int(str(name)[1:]) for name in named} <= set(range(len(groups)))
    assert data["records"]["count"] <= len(RECORDS)
    assert used <= set(range(data["records"]["count"]))
    shown = {(columns["target"]["values"][columns["target"]["places"][at]], columns["layer"][at]) for at in used}
    assert shown <= {(code, layer) for code in LANGUAGES for layer in range(7)}
    for at in used:
        code, layer = columns["target"]["values"][columns["target"]["places"][at]], columns["layer"][at]
        [original] = RECORDS.where(target=code, layer=layer)
        assert columns["value"][at] == pytest.approx(original.value, rel=1e-5)


def test_the_dialog_of_a_cell_has_the_records_that_its_value_is_the_mean_of() -> None:
    index = RecordIndex()
    assert index.group(()) == ""
    four = RECORDS.where(layer=4)
    first, second = index.group(list(four)), index.group(list(four))
    assert first == second == "g0"
    assert index.group(list(four)[:2]) == "g1"
    data = index.to_dict()
    assert data["count"] == len(four)
    assert data["groups"] == ["0-4", "0-1"]
    assert sum(data["columns"]["value"]) / 5 == pytest.approx(four.mean(), rel=1e-5)


def test_long_details_and_numbers_that_are_not_finite_stay_out_of_the_data() -> None:
    details = {"edges": list(range(100)), "share": 0.5, "bad": float("nan")}
    index = RecordIndex()
    index.group([record(details=details)])
    data = json.loads(json.dumps(index.to_dict(), allow_nan=False))
    assert data["columns"]["details"]["values"] == [{"share": 0.5, "bad": None}]


def test_cells_are_formatted_by_their_columns_and_the_tied_best_are_bold(html: str) -> None:
    body = html.split('<table id="table-languages">', 1)[1].split("</table>", 1)[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)[1:]
    assert ["best" in row for row in rows] == [True, True, False, False, False]
    assert "[47.0, 53.0]" in rows[0]
    assert "50.0\N{NO-BREAK SPACE}%" in rows[0]
    assert "+10.0" in rows[0]
    assert rows[3].count("–") == 3
    assert not re.search(r"\b(nan|NaN|None|inf|Infinity)\b", Parsed(html).text)


@pytest.mark.parametrize("better", [True, False, None])
def test_nothing_is_bold_where_all_are_tied_or_nothing_is_ranked(better: bool | None) -> None:
    column = Column(title="x", display="number", better=better)
    equal = Table(name="t", title="T", columns=(column,), rows=((0.5,), (0.5,)))
    assert kit_page._best_rows(equal, 0) == frozenset()
    apart = replace(equal, rows=((0.5,), (0.7,), (None,)))
    wanted = {True: {1}, False: {0}, None: set()}[better]
    assert kit_page._best_rows(apart, 0) == wanted


def test_a_huge_table_is_cut_on_the_page_and_whole_in_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple((f"row {number}", number) for number in range(20_000))
    table = Table(name="huge", title="Huge", columns=(Column(title="a"), Column(title="n", display="count")), rows=rows)
    subject = Subject(name="s", applies=lambda run: True,
                      sections=lambda run: [Section(name="s", title="S", tables=(table,))])  # fmt: skip
    monkeypatch.setattr(assembly, "subjects", lambda: (subject,))
    html = render_page(build_report([sample_run()]))
    assert html.count("<tr>") == MAX_PAGE_ROWS + 1
    assert f"The first {MAX_PAGE_ROWS} of 20,000 rows" in html
    assert len(html) < 400_000
    assert page_data(html)["tables"]["huge"]["csv"].count("\r\n") == 20_001


def test_sixty_thousand_records_stay_below_two_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [record("es", layer, (at % 977) / 977, seed=at) for at in range(2_400) for layer in range(25)]
    cells = tuple((str(layer), RecordTable(many[layer::25]).estimate()) for layer in range(25))
    table = Table(name="t", title="T", columns=(Column(title="a"), Column(title="b", display="percent")), rows=cells)
    subject = Subject(name="s", applies=lambda run: True,
                      sections=lambda run: [Section(name="s", title="S", tables=(table,))])  # fmt: skip
    monkeypatch.setattr(assembly, "subjects", lambda: (subject,))
    html = render_page(build_report([sample_run()]))
    assert page_data(html)["records"]["count"] == 60_000
    assert len(html) < 2_000_000


# Texts.


def test_terms_are_linked_once_and_only_those_that_are_used_are_explained(html: str) -> None:
    linked = re.findall(r'<a class="term" href="#term-([\w-]+)">', html)
    explained = re.findall(r'<div id="term-([\w-]+)">', html)
    assert linked
    assert len(linked) == len(set(linked))
    assert sorted(linked) == sorted(explained)
    assert {"p-1", "chance-level", "best-layer"} <= set(linked)


def test_a_page_that_uses_no_term_has_no_glossary() -> None:
    empty = render_page(build_report([Run(kind="audit", about={}, records=RecordTable([]))]))
    assert 'id="glossary"' not in empty
    assert "#glossary" not in empty


def test_backticks_are_code_and_a_lone_one_is_a_character() -> None:
    markup = kit_page.inline_markup("Run `interlingua <x>` at the best layer", {})
    assert "<code>interlingua &lt;x&gt;</code>" in markup
    assert kit_page.inline_markup("a ` b", {}) == "a ` b"


def test_page_names_papers_in_full_only_where_its_texts_name_them() -> None:
    assert "Contextual Embedding Spaces" not in render_page(sample_report())
    named = render_page(sample_report("As in Anonymous ACL submission, Table 2"))
    assert "Exploring Contextual Embedding Spaces in Multilingual Models" in named
    assert "Pavel Efimov" not in named


def test_words_of_an_example_are_whole_and_shaded_on_one_scale(html: str) -> None:
    example = html.split('<article class="example">', 1)[1].split("</article>", 1)[0]
    assert "explained: <bdi>ORG “Bank of Spain”</bdi>" in example
    assert example.count('dir="auto"') == 2
    assert re.findall(r'class="(\w+)( marked)?" style="--s:([\d.]+)"', example)[:2] == [
        ("minus", "", "0.40"),
        ("minus", " marked", "0.20"),
    ]


# JSON and files.


def test_plain_data_has_findings_figures_and_tables_with_their_intervals() -> None:
    data = json.loads(json.dumps(sample_report().to_dict(), allow_nan=False))
    assert data["answer"]["verdict"] == "found"
    assert [finding["verdict"] for finding in data["findings"]] == ["lower", "lower"]
    assert data["figures"][0]["estimate"]["value"] == pytest.approx(RECORDS.where(layer=4).mean())
    table = data["tables"]["languages"]
    assert table["columns"][1] == "P@1 as is"
    assert table["rows"][0][1]["ci_low"] == pytest.approx(0.47)
    assert table["rows"][0][3]["p_adjusted"] == 0.02
    assert table["rows"][3][1:4] == [None, None, None]


def test_files_are_page_summary_and_every_table_in_three_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "subjects", lambda: (sample_subject(HOSTILE),))
    files = report_files(sample_run(HOSTILE), "A title")
    assert set(files) == {"report.html", "summary.md", *(f"tables/languages.{end}" for end in ("csv", "md", "tex"))}
    assert files["summary.md"].startswith("# A title\n")
    assert "**Weak languages.**" in files["summary.md"]
    assert "<img" not in files["summary.md"]


def test_the_glossary_of_the_docs_is_the_one_of_the_pages() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "concepts.md").read_text("utf-8")
    listed = text.split("## Glossary\n", 1)[1].split("\n## ", 1)[0]
    found = dict(re.findall(r"^- \*\*(.+?)\*\*: (.+)$", listed, re.MULTILINE))
    assert found == GLOSSARY
