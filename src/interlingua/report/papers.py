"""The four papers this project began with: what each is called where people read, and its full citation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper: the short name it goes by in a text, authors, year (none where it has none), title, and where it is."""

    name: str
    authors: tuple[str, ...]
    year: int | None
    title: str
    where: str

    @property
    def citation(self) -> str:
        """The whole citation in one line."""
        who = f"{', '.join(self.authors[:-1])} and {self.authors[-1]}" if len(self.authors) > 1 else self.authors[0]
        when = "" if self.year is None else f" ({self.year})"
        end = "" if self.title.endswith("?") else "."
        return f"{who}{when}. {self.title}{end} {self.where}."


PAPERS = {
    "papers/000": Paper(
        "Conneau et al. 2020",
        ("Alexis Conneau", "Shijie Wu", "Haoran Li", "Luke Zettlemoyer", "Veselin Stoyanov"),
        2020,
        "Emerging Cross-lingual Structure in Pretrained Language Models",
        "ACL 2020, pages 6022–6034",
    ),
    "papers/001": Paper(
        "Efimov et al. 2023",
        ("Pavel Efimov", "Leonid Boytsov", "Elena Arslanova", "Pavel Braslavski"),
        2023,
        "The Impact of Cross-Lingual Adjustment of Contextual Word Representations on Zero-Shot Transfer",
        "ECIR 2023; arXiv 2204.06457",
    ),
    "papers/002": Paper(
        "Wang et al. 2021",
        ("Junxiang Wang", "Xuchao Zhang", "Bo Zong", "Yanchi Liu", "Wei Cheng", "Jingchao Ni", "Haifeng Chen",
         "Liang Zhao"),
        2021,
        "Do Multi-Lingual Pre-trained Language Models Reveal Consistent Token Attributions in Different Languages?",
        "arXiv 2112.12356",
    ),
    "papers/003": Paper(
        "Anonymous ACL submission",
        ("Anonymous",),
        None,
        "Exploring Contextual Embedding Spaces in Multilingual Models",
        "ACL submission",
    ),
}  # fmt: skip
"""By the key that study files, published numbers and docstrings cite them by, which stays what it is."""

_KEY = re.compile(r"papers/\d{3}(?!\d)")


def in_names(text: str) -> str:
    """The text with a paper's name in the place of its key; keys of no paper of ours stay.

    >>> in_names("papers/001 Table 3, and papers/009")
    'Efimov et al. 2023 Table 3, and papers/009'
    """
    return _KEY.sub(lambda found: PAPERS[found[0]].name if found[0] in PAPERS else found[0], text)


def cited(texts: Iterable[str]) -> list[str]:
    """The full citations of all papers that the texts name by key or by name, in our order.

    >>> cited(["as in papers/003 §3.1"])
    ['Anonymous. Exploring Contextual Embedding Spaces in Multilingual Models. ACL submission.']
    """
    every = "\n".join(texts)
    return [paper.citation for key, paper in PAPERS.items() if key in every or paper.name in every]
