import re
from pathlib import Path

import pytest

from interlingua.report.page import Page, render_page
from interlingua.report.papers import PAPERS, cited, in_names
from interlingua.report.sections import Section

ROOT = Path(__file__).resolve().parents[2]


def test_every_key_that_the_repository_cites_has_a_paper():
    texts = [path.read_text("utf-8") for pattern in ("src/**/*.py", "studies/**/*.t*") for path in ROOT.glob(pattern)]
    found = {key for text in texts for key in re.findall(r"papers/\d{3}", text)} - {"papers/009"}  # of a doctest
    assert found == set(PAPERS)


def test_the_page_on_method_and_the_citation_file_know_each_paper_in_full():
    method = (ROOT / "docs" / "method.md").read_text("utf-8")
    top, rest = method.split("## Encoder", 1)
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    for key, paper in PAPERS.items():
        assert f"| {paper.name} | {paper.citation} | `{key}` |" in top
        part = citation.split(f"# {key}", 1)[1].split("\n  #", 1)[0]
        assert f"title: {paper.title}" in part
        assert paper.year is None or f"year: {paper.year}" in part
        assert all(author.split()[-1] in part for author in paper.authors)
    assert "papers/0" not in rest


def test_pages_for_readers_name_papers_and_not_our_keys():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    keyed = {page.name for page in pages if re.search(r"papers/\d", page.read_text("utf-8"))}
    assert keyed == {"method.md"}  # Its table has the keys.


@pytest.mark.parametrize("key", PAPERS)
def test_a_page_that_names_a_paper_cites_it_in_full(key):
    said = in_names(f"As {key} §3 has it.")
    html = render_page(Page("study", "x", "", [Section("s", "S", (said,))]))
    assert key not in html
    assert PAPERS[key].title in html
    other = next(paper for name, paper in PAPERS.items() if name != key)
    assert other.title not in html


def test_longer_numbers_are_no_keys():
    assert in_names("papers/0012") == "papers/0012"
    assert cited(["nothing"]) == []
