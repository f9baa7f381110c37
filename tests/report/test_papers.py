from __future__ import annotations

import re
from pathlib import Path

from interlingua.report.kit.citations import PAPERS

ROOT = Path(__file__).resolve().parents[2]


def test_every_key_that_the_repository_cites_has_a_paper() -> None:
    paths = [path for pattern in ("src/**/*.py", "studies/**/*.t*") for path in ROOT.glob(pattern)]
    texts = [path.read_text("utf-8") for path in paths if path.name != "papers.py"]
    found = {key for text in texts for key in re.findall(r"papers/\d{3}", text)} - {"papers/009"}  # of a doctest
    assert found <= set(PAPERS)


def test_the_page_on_method_and_the_citation_file_know_each_paper_in_full() -> None:
    top, rest = (ROOT / "docs" / "method.md").read_text("utf-8").split("## Encoder", 1)
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    for key, paper in PAPERS.items():
        assert f"| {paper.name} | {paper.citation} |" in top
        part = citation.split(f"title: {paper.title}", 1)
        assert len(part) == 2, key
        assert paper.year is None or f"year: {paper.year}" in citation
        assert all(author.split()[-1] in citation for author in paper.authors)
    assert "papers/0" not in rest


def test_pages_for_readers_name_papers_and_not_our_keys() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    keyed = {page.name for page in pages if re.search(r"papers/\d", page.read_text("utf-8"))}
    assert keyed <= {"method.md"}  # Its table has the keys.
