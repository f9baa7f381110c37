"""What people read in place of codes: names of measures, numbers with sensible digits, text made visible."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from interlingua import languages

UNRANKED = "In the corpus’s order, not ranked: pairs were read over different numbers of candidates."

MEASURES = {
    "retrieval": "Translation retrieval",
    "procrustes": "Orthogonal map, sentences",
    "procrustes-words": "Orthogonal map, words",
    "procrustes-dictionary": "Orthogonal map, dictionary words",
    "cka": "Similarity of the spaces (CKA)",
    "separation": "Related against unrelated words",
    "isotropy": "Use of the space",
    "tokenization": "Tokenizer",
    "spelling": "Spelling of names",
    "parallel-cosine": "Cosine of translations",
    "clusters": "Clusters by language",
}

VARIANTS = {
    ("retrieval", "p@1/cosine/raw"): "as is",
    ("retrieval", "p@1/cosine/centred"): "language mean removed",
    ("retrieval", "hubness/cosine/raw"): "hubness, as is",
    ("retrieval", "hubness/cosine/centred"): "hubness, language mean removed",
    ("procrustes", "p@1/mapped"): "after a fitted rotation",
    ("procrustes", "p@1/identity"): "without it",
    ("procrustes-words", "p@1/mapped"): "after a fitted rotation",
    ("procrustes-words", "p@1/identity"): "without it",
    ("procrustes-dictionary", "p@1/mapped"): "after a fitted rotation",
    ("procrustes-dictionary", "p@1/identity"): "without it",
    ("cka", "debiased"): "CKA, debiased",
    ("cka", "plain"): "CKA, plain",
    ("separation", "auc/cosine"): "cosine distance",
    ("separation", "auc/l2"): "Euclidean distance",
    ("isotropy", "average-cosine"): "mean cosine of unrelated words",
    ("isotropy", "isoscore"): "IsoScore",
    ("tokenization", "overlap"): "shared vocabulary",
    ("tokenization", "agreement"): "agreement of token counts",
    ("spelling", "tnld"): "distance of romanised names (TNLD)",
    ("spelling", "nld"): "distance of names as written",
    ("parallel-cosine", "raw"): "as is",
    ("parallel-cosine", "centred"): "language mean removed",
    ("clusters", "purity"): "neighbours of the same language",
}

_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters and explicit bidirectional overrides; joiners and direction marks, which scripts need, are not."""


def variant_name(measure: str, variant: str) -> str:
    """The human name of a variant, or its own name with spaces for slashes where it is not ours.

    >>> variant_name("cka", "debiased"), variant_name("mine", "top/two")
    ('CKA, debiased', 'top, two')
    """
    return VARIANTS.get((measure, variant), visible(variant).replace("/", ", "))


def measure_name(measure: str) -> str:
    """The human name of a measure, or its own name where it is not ours."""
    return MEASURES.get(measure, visible(measure))


def language_name(code: str, run: Mapping[str, Any]) -> str:
    """The English name of a language: what the run recorded (`run["names"]`), else CLDR's; else what is given.

    >>> language_name("ru", {"names": {"ru": "Russian (old)"}}), language_name("ru", {}), language_name("ru:mlqa", {})
    ('Russian (old)', 'Russian', 'ru:mlqa')
    """
    names = run.get("names")
    if isinstance(names, Mapping) and code in names:
        return visible(str(names[code]))
    return visible(languages.name(code) if languages.is_language(code) else code)


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits and a real minus; an en dash where there is none or it is not finite.

    >>> number(0.12345), number(-0.0001), number(-1.5), number(None), number(float("nan"))
    ('0.12', '0.00', '−1.50', '–', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def p_value(p: float) -> str:
    """A p-value to read.

    >>> p_value(0.0001), p_value(0.0414), p_value(0.213)
    ('p < 0.001', 'p = 0.041', 'p = 0.21')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def percent(value: float | None) -> str:
    r"""A share in percent: whole numbers, two digits of a small one, never rounded to none or all.

    >>> percent(0.7345), percent(0.002), percent(0.9996), percent(0.0), percent(1.0)
    ('73\xa0%', '0.2\xa0%', '99.96\xa0%', '0\xa0%', '100\xa0%')
    """
    if value is None or not math.isfinite(value):
        return "–"
    share = 100 * value
    if share in (0, 100) or 1 <= abs(share) <= 99:
        return f"{share:.0f}\N{NO-BREAK SPACE}%"
    text = f"{share:.1f}" if f"{share:.1f}" not in ("0.0", "100.0") else f"{share:.2f}"
    return f"{text}\N{NO-BREAK SPACE}%"


def share_percent(value: float | None) -> str:
    r"""A share in percent with one digit, so that differences of shown shares can be checked; more near none and all.

    >>> share_percent(0.2344), share_percent(0.002), share_percent(0.0002), share_percent(1.0)
    ('23.4\xa0%', '0.2\xa0%', '0.02\xa0%', '100\xa0%')
    """
    if value is None or not math.isfinite(value) or not 0.0995 <= 100 * value <= 99.9:
        return percent(value)
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def points(after: float, before: float) -> str:
    """The difference of two shares as `share_percent` shows them, in points of percent: what a reader would compute.

    >>> points(0.3246, 0.2344), points(0.1, 0.1004), points(0.2, 0.25)
    ('+9.1', '0.0', '−5.0')
    """
    apart = round(round(100 * after, 1) - round(100 * before, 1), 1)
    return number(apart, 1) if apart <= 0 else f"+{number(apart, 1)}"


def listing(items: Sequence[str]) -> str:
    """Items with commas and a last *and*.

    >>> listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def visible(text: str) -> str:
    """The text with control characters and bidirectional overrides written out, so that they act on nothing.

    >>> visible("abc\\u202edcba")
    'abc[U+202E]dcba'
    """
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
