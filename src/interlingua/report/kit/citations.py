"""The four papers this project began with: the short name that texts cite them by, and the full citation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: the short name it is cited by, authors, year (None where it has none), title, and where it appeared."""

    name: str
    authors: tuple[str, ...]
    year: int | None
    title: str
    venue: str

    @property
    def citation(self) -> str:
        """The full citation in one line."""
        authors = f"{', '.join(self.authors[:-1])} and {self.authors[-1]}" if self.authors[1:] else self.authors[0]
        year = "" if self.year is None else f" ({self.year})"
        end = "" if self.title.endswith("?") else "."
        return f"{authors}{year}. {self.title}{end} {self.venue}."


PAPERS = {
    "papers/000": Paper(
        name="Conneau et al. 2020",
        authors=("Alexis Conneau", "Shijie Wu", "Haoran Li", "Luke Zettlemoyer", "Veselin Stoyanov"),
        year=2020,
        title="Emerging Cross-lingual Structure in Pretrained Language Models",
        venue="ACL 2020, pages 6022–6034",
    ),
    "papers/001": Paper(
        name="Efimov et al. 2023",
        authors=("Pavel Efimov", "Leonid Boytsov", "Elena Arslanova", "Pavel Braslavski"),
        year=2023,
        title="The Impact of Cross-Lingual Adjustment of Contextual Word Representations on Zero-Shot Transfer",
        venue="ECIR 2023; arXiv 2204.06457",
    ),
    "papers/002": Paper(
        name="Wang et al. 2021",
        authors=("Junxiang Wang", "Xuchao Zhang", "Bo Zong", "Yanchi Liu", "Wei Cheng", "Jingchao Ni", "Haifeng Chen",
                 "Liang Zhao"),
        year=2021,
        title="Do Multi-Lingual Pre-trained Language Models Reveal Consistent Token Attributions in Different "
        "Languages?",
        venue="arXiv 2112.12356",
    ),
    "papers/003": Paper(
        name="Anonymous ACL submission",
        authors=("Anonymous",),
        year=None,
        title="Exploring Contextual Embedding Spaces in Multilingual Models",
        venue="ACL submission",
    ),
}  # fmt: skip
"""By the key that data files of ours may still cite them by; texts for people cite author and year."""

_KEY = re.compile(r"papers/\d{3}(?!\d)")


def name_papers(text: str) -> str:
    """The text with the short name of a paper in the place of its key; other keys stay.

    >>> name_papers("papers/001 Table 3, and papers/009")
    'Efimov et al. 2023 Table 3, and papers/009'
    """
    return _KEY.sub(lambda match: PAPERS[match[0]].name if match[0] in PAPERS else match[0], text)


def cite(texts: Iterable[str]) -> list[str]:
    """The full citations of all papers that the texts name, in our order.

    >>> cite(["as in Anonymous ACL submission, §3.1"])
    ['Anonymous. Exploring Contextual Embedding Spaces in Multilingual Models. ACL submission.']
    """
    joined = "\n".join(texts)
    return [paper.citation for key, paper in PAPERS.items() if key in joined or paper.name in joined]
