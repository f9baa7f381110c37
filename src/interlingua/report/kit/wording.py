"""Numbers, names and lists as people read them; one function formats a number wherever it is printed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from interlingua import languages
from interlingua.record import Estimate

Display: TypeAlias = Literal["text", "percent", "points", "number", "decimal3", "count", "p_value"]
"""How a number is shown: a share as percent, a difference of shares as points of percent, a plain number with two or
three decimals, a whole number, a p-value."""

_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters and explicit bidirectional overrides; joiners and direction marks, which scripts need, are not."""


def language_name(code: str, run: Mapping[str, Any]) -> str:
    """The English name of a language: what the run recorded (`run["names"]`), else CLDR's; else what is given.

    >>> language_name("ru", {"names": {"ru": "Russian (old)"}}), language_name("ru", {}), language_name("ru:mlqa", {})
    ('Russian (old)', 'Russian', 'ru:mlqa')
    """
    names = run.get("names")
    if isinstance(names, Mapping) and code in names:
        return escape_control_characters(str(names[code]))
    return escape_control_characters(languages.name(code) if languages.is_language(code) else code)


def model_name(model: object) -> str:
    """What a model is called on a page: its name, without the folders above it.

    >>> model_name("xlm-roberta-base"), model_name("../runs/m3e-small/"), model_name("org/model")
    ('xlm-roberta-base', 'm3e-small', 'org/model')
    """
    name = str(model)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        name = name.rstrip("/").rpartition("/")[2] or name
    return escape_control_characters(name)


def format_number(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits and a real minus; an en dash where there is none or it is not finite.

    >>> [format_number(value) for value in (0.12345, -0.0001, -1.5, None, float("nan"))]
    ['0.12', '0.00', '−1.50', '–', '–']
    """
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "−")


def format_p_value(p: float) -> str:
    """A p-value to read.

    >>> format_p_value(0.0001), format_p_value(0.0414), format_p_value(0.213)
    ('p < 0.001', 'p = 0.041', 'p = 0.21')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def format_percent(value: float | None) -> str:
    r"""A share in percent: whole numbers, two digits of a small one, never rounded to none or all.

    >>> format_percent(0.7345), format_percent(0.002), format_percent(0.9996), format_percent(0.0), format_percent(1.0)
    ('73\xa0%', '0.2\xa0%', '99.96\xa0%', '0\xa0%', '100\xa0%')
    """
    if value is None or not math.isfinite(value):
        return "–"
    share = 100 * value
    if share in (0, 100) or 1 <= abs(share) <= 99:
        return f"{share:.0f}\N{NO-BREAK SPACE}%"
    text = f"{share:.1f}" if f"{share:.1f}" not in ("0.0", "100.0") else f"{share:.2f}"
    return f"{text}\N{NO-BREAK SPACE}%"


def format_share(value: float | None) -> str:
    r"""A share in percent with one digit, so that differences of shown shares can be checked; more near none and all.

    >>> format_share(0.2344), format_share(0.002), format_share(0.0002), format_share(1.0)
    ('23.4\xa0%', '0.2\xa0%', '0.02\xa0%', '100\xa0%')
    """
    if value is None or not math.isfinite(value) or not 0.0995 <= 100 * value <= 99.9:
        return format_percent(value)
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def format_points(after: float, before: float) -> str:
    """The difference of two shares as `format_share` shows them, in points of percent: what a reader would compute.

    >>> format_points(0.3246, 0.2344), format_points(0.1, 0.1004), format_points(0.2, 0.25)
    ('+9.1', '0.0', '−5.0')
    """
    apart = round(round(100 * after, 1) - round(100 * before, 1), 1)
    return format_number(apart, 1) if apart <= 0 else f"+{format_number(apart, 1)}"


def join_with_and(items: Sequence[str]) -> str:
    """Items with commas and a last *and*.

    >>> join_with_and(["a"]), join_with_and(["a", "b"]), join_with_and(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def join_at_most(items: Sequence[str], most: int) -> str:
    """Items with commas and a last *and*; past `most`, how many more there are.

    >>> join_at_most(["a", "b"], 2), join_at_most(["a", "b", "c", "d"], 2)
    ('a and b', 'a, b and 2 more')
    """
    more = len(items) - most
    return f"{', '.join(items[:most])} and {more} more" if more > 0 else join_with_and(items)


def capitalize_first(text: str) -> str:
    """The text with a capital first letter, and no other letter changed."""
    return text[:1].upper() + text[1:]


def shorten(text: str, max_letters: int) -> str:
    """The beginning of a text that is longer than this, with an ellipsis; control characters are written out.

    >>> shorten("abcdef", 4), shorten("abcd", 4)
    ('abc…', 'abcd')
    """
    return escape_control_characters(text if len(text) <= max_letters else f"{text[: max_letters - 1]}…")


def escape_control_characters(text: str) -> str:
    """The text with control characters and bidirectional overrides written out, so that they act on nothing.

    >>> escape_control_characters("abc\\u202edcba")
    'abc[U+202E]dcba'
    """
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def format_value(value: float | None, display: Display) -> str:
    r"""A number as its display says; an en dash where there is none.

    >>> [format_value(0.1234, display) for display in ("percent", "points", "number", "decimal3", "p_value")]
    ['12.3\xa0%', '+12.3', '0.12', '0.123', 'p = 0.12']
    >>> format_value(1234, "count"), format_value(None, "percent")
    ('1,234', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if display == "percent":
        return format_share(value)
    if display == "points":
        return ("+" if round(100 * value, 1) > 0 else "") + format_number(100 * value, 1)
    if display == "p_value":
        return format_p_value(value)
    if display == "count":
        return f"{round(value):,}"
    return format_number(value, 3 if display == "decimal3" else 2)


def format_interval(low: float | None, high: float | None, display: Display) -> str:
    r"""The bounds of an interval with the unit once, in brackets; empty where one is missing. Shares end at 0 and 1.

    >>> format_interval(0.1, 0.25, "percent"), format_interval(-0.1, 0.2, "number"), format_interval(None, 1, "number")
    ('[10.0, 25.0]', '[−0.10, 0.20]', '')
    """
    if low is None or high is None:
        return ""
    if display == "percent":  # Student's interval of two seeds reaches beyond what a share can be.
        low, high = max(low, 0.0), min(high, 1.0)
    both = [format_value(end, display).removesuffix("\N{NO-BREAK SPACE}%") for end in (low, high)]
    return f"[{both[0]}, {both[1]}]"


def difference_display(display: Display) -> Display:
    """How a difference of two numbers is shown, of which each is shown like this."""
    return "points" if display == "percent" else "decimal3"


def format_chance(null_value: float | None, display: Display) -> str:
    r"""The chance level, to be set in brackets or after a comma; empty where there is none.

    >>> format_chance(0.02, "percent"), format_chance(None, "percent")
    ('chance level 2.0\xa0%', '')
    """
    return "" if null_value is None else f"chance level {format_value(null_value, display)}"


def format_estimate(estimate: Estimate, display: Display) -> str:
    r"""A number and its 95 % interval in brackets, where it has one.

    >>> format_estimate(Estimate(value=0.2, ci_low=0.1, ci_high=0.3), "percent")
    '20.0\xa0% [10.0, 30.0]'
    """
    bounds = format_interval(estimate.ci_low, estimate.ci_high, display)
    return f"{format_value(estimate.value, display)} {bounds}".rstrip()


def format_deviation(deviation: float, display: Display) -> str:
    """A standard deviation after its mean, without a unit of its own.

    >>> format_deviation(0.0123, "percent"), format_deviation(0.0123, "decimal3")
    ('± 1.2', '± 0.012')
    """
    if display in ("percent", "points"):
        return f"± {format_number(100 * deviation, 1)}"
    return f"± {format_value(deviation, display)}"


def pluralize(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun.

    >>> pluralize(1, "sentence"), pluralize(1200, "sentence"), pluralize(2, "entity", "entities")
    ('1 sentence', '1,200 sentences', '2 entities')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
