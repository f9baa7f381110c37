"""What an adjustment did, before and after: a table, the picture of distances of papers/001 Fig. 1, a page."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlingua.counting import counted
from interlingua.report.evidence import Change
from interlingua.report.tables import Told
from interlingua.report.wording import language_name, listing, number, p_value, percent, visible

Found = Mapping[str, Any]
_WIDE, _TALL, _LEFT, _GAP = 420, 120, 64, 46
_COLOURS = {"related": "one", "unrelated": "two"}
_STYLE = """
svg{--one:#0072b2;--two:#d55e00;--ink:#1b1d21;--soft:#5a606b;--line:#d5d8dd;
font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif}
@media (prefers-color-scheme:dark){svg{--one:#56b4e9;--two:#e69f00;--ink:#e8eaed;--soft:#a3a9b4;--line:#3a3f47}}
text{fill:var(--soft)} .ink{fill:var(--ink)} .b{font-weight:600} .axis{stroke:var(--line)}
.one{fill:var(--one);stroke:var(--one)} .two{fill:var(--two);stroke:var(--two)}
.hill{fill-opacity:.28;stroke-width:1.6;stroke-linejoin:round} .mean{stroke-width:1.6;stroke-dasharray:4 3}
"""


UNCLEAR, HIGHER, LOWER = "no clear change", "higher", "lower"
BEST = "best layer"
"""How `studies.changes` names the comparisons of each state at its own best layer begin."""
SAMPLER = "sampler"
_NAMED = {SAMPLER: "embedded sampler", "held-out": "held-out sentences"}
_NO_SAMPLER = (
    "The embedded sampler, the other text that an adjustment is judged on, lacks a language of the pair, or its rows "
    "are in the bitext"
)
_ASKED = tuple(f"p@1/cosine/{kind}{way}" for kind in ("raw", "centred") for way in ("", "/backward"))
CAPTION = (
    "Arrows: the share of held-out sentences, or of those of the embedded sampler, whose nearest neighbour in the "
    "other language is their translation (P@1), as is or with language means removed. AUC: how "
    "often a word lies nearer to its translation than to an unrelated word, 0.5 by chance. Distances (L2, of words in "
    "context) fall or grow with the whole space, so they decide nothing: the AUC does. P@1 is higher or lower where a "
    "paired t-test over sentences says so after Holm’s correction for all comparisons of the language; the AUC where "
    "the two 95 % intervals lie apart. The verdict goes by the weakest P@1 of the held-out sentences and of the "
    "embedded sampler, everyday sentences that were not trained on; the AUC is no part of it."
)


@dataclass(frozen=True)
class Line:
    """A number before and after, as people read it; `change` is higher, lower, not clear, or nothing: not judged."""

    name: str
    before: str
    after: str
    change: str = ""
    behind: tuple[str, str, str] | None = None
    """The corpus, measure and variant of the records it is of; None where it is made of several."""


def adjustment_lines(summary: Found, code: str) -> list[Line]:
    """What was measured on one language: retrieval at the adjusted layer, held out and sampler, and distances.

    Retrieval and the AUC are judged. Distances are not, nor is their ratio: adjustment shrinks the whole space, and
    unrelated words come closer as related ones do.
    """
    layer = str(summary["layer"])
    states = [summary[when][code] for when in ("before", "after") if when in summary]
    texts = {"": states}
    if all("sampler" in state for state in states):
        texts[SAMPLER] = [state["sampler"] for state in states]
    lines = []
    for text, its in texts.items():
        start, called = f"{text}: " if text else "", text or "held-out"
        for name in _ASKED:
            best = [best_layer(state["retrieval"], "raw" if "/raw" in name else "centred")[0] for state in its]
            found = [state["retrieval"][at][name]["value"] for state, at in zip(its, best, strict=True)]
            words = [
                Told(f"{percent(value)} at layer {at}", {"": value, "layer": int(at)})
                for value, at in zip(found, best, strict=True)
            ]
            own = name.replace("p@1/cosine", BEST)
            change = _judged(summary, code, called, own)
            lines.append(Line(f"{start}{score_name(own, summary, code)}", words[0], words[-1], change))
        for name in _ASKED:
            found = [state["retrieval"][layer][name] for state in its]
            change = _judged(summary, code, called, name)
            named, behind = f"{start}{score_name(name, summary, code)}", (text, "retrieval", name)
            lines.append(_line(named, found, percent, change, behind=behind))
    for kind, what in (("related", "a word from its translation"), ("unrelated", "unrelated words")):
        found = [state["distances"][f"distance/{kind}/l2"] for state in states]
        lines.append(_line(f"distance of {what}", found, number, behind=("", "separation", f"distance/{kind}/l2")))
    ratios = [{"value": _distance(state, "unrelated") / max(_distance(state, "related"), 1e-12)} for state in states]
    lines.append(_line("the second distance over the first", ratios, number))
    found = [state["distances"]["auc/l2"] for state in states]
    change = apart(found[0], found[-1]) if len(found) > 1 else ""
    named = "translation nearer than an unrelated word (AUC)"
    lines.append(_line(named, found, _three, change, behind=("", "separation", "auc/l2")))
    return lines


def staying_name(summary: Found, code: str) -> str:
    """The language that a language was adjusted to."""
    about = (summary.get("languages") or {}).get(code, {})
    return language_name(str(about.get("staying", "en")), summary)


def score_name(name: str, summary: Found, code: str) -> str:
    """What a P@1 is of, in words.

    >>> about = {"languages": {"ru": {"staying": "en"}}}
    >>> score_name("p@1/cosine/raw/backward", about, "ru")
    'Russian → English, as is'
    """
    ends = [staying_name(summary, code), language_name(code, summary)]
    where = ", best layer" if name.startswith(BEST) else ""
    arrow = " → ".join(reversed(ends) if name.endswith("/backward") else ends)
    return f"{arrow}, {'as is' if '/raw' in name else 'means removed'}{where}"


def overall(summary: Found, code: str) -> str:
    """The verdict of a language in a sentence: that of its weakest P@1, and which that is; empty without a change."""
    found = (summary.get("after") or {}).get(code, {}).get("verdict")
    if found is None:
        return ""
    called = f"{staying_name(summary, code)}–{language_name(code, summary)}"
    compared = found["comparisons"]
    start = _at_chance(found)
    weak = next(each for each in compared if (each["text"], each["score"]) == (found["text"], found["score"]))
    weakest = (
        f"{_NAMED[weak['text']]}, {score_name(weak['score'], summary, code)}: from {percent(weak['before'])} to "
        f"{percent(weak['after'])}, {Change(*weak['change']).told}, {p_value(weak['holm'])} after Holm’s correction"
    )
    counts = Counter(each["is"] for each in compared)
    counted_up = ", ".join(f"{counts[kind]} {kind}" for kind in (HIGHER, LOWER, "unclear") if counts[kind])
    if found["change"] == "untested":
        said = (
            f"{'All' if start else 'all'} {found['of']} comparisons are higher, but on sentences of the bitext’s own "
            f"kind alone: of other text nothing can be said. The weakest: {weakest}."
        )
    else:
        word = UNCLEAR if found["change"] == "unclear" else found["change"]
        word = word[0].upper() + word[1:] if start else word
        said = f"{word}, by the weakest of {found['of']} comparisons ({counted_up}): {weakest}."
    alone = "" if any(each["text"] == SAMPLER for each in compared) else f" {_NO_SAMPLER}."
    return f"{called}: {start}{said}{alone}"


def _at_chance(verdict: Found) -> str:
    """In which texts and states translations are not found above chance, said first; nothing where they all are."""
    texts = {name: its for name, its in (verdict.get("texts") or {}).items() if its["at_chance"]}
    told, everywhere = [], len(texts) == len(verdict.get("texts") or {})
    for states in dict.fromkeys(tuple(its["at_chance"]) for its in texts.values()):
        own = {name: its for name, its in texts.items() if tuple(its["at_chance"]) == states}
        numbers = [
            f"{f'{_NAMED[name]} ' if len(own) > 1 else ''}at most "
            f"{' and '.join(percent(its['most'][state]) for state in states)}, chance {percent(its['chance'])}"
            for name, its in own.items()
        ]
        where = "" if everywhere and len(own) == len(texts) else f" in the {listing([_NAMED[name] for name in own])}"
        when = " and ".join(states) if len(states) > 1 else f"{states[0]} the adjustment"
        told.append(
            f"translations are found no clearer than chance finds it{where}, {when}, at any layer "
            f"({'; '.join(numbers)}). "
        )
    return told[0] + "".join(each[0].upper() + each[1:] for each in told[1:]) if told else ""


def _judged(summary: Found, code: str, text: str, score: str) -> str:
    """Higher, lower or unclear, as the verdict of the language counts a comparison; nothing where none was made."""
    found = (summary.get("after") or {}).get(code, {}).get("verdict") or {"comparisons": ()}
    for each in found["comparisons"]:
        if (each["text"], each["score"]) == (text, score):
            return UNCLEAR if each["is"] == "unclear" else str(each["is"])
    return ""


def _line(
    name: str, found: Sequence[Found], show: Any, change: str = "", *, behind: tuple[str, str, str] | None = None
) -> Line:
    told = [Told(show(each["value"]), {"": each["value"], "low": each.get("low"), "high": each.get("high")})
            for each in found]  # fmt: skip
    return Line(name, told[0], told[-1] if len(told) > 1 else "", change, behind)


def _three(value: float) -> str:
    return number(value, 3)


def apart(before: Found, after: Found) -> str:
    """Whether a score is higher or lower by two 95 % intervals that lie apart; intervals that touch may hide a change.

    >>> apart({"low": 0.6, "high": 0.7}, {"low": 0.8, "high": 0.9}), apart({"low": 0.6, "high": 0.8}, {"low": 0.7})
    ('higher', 'no clear change')
    """
    ends = [found[end] for found in (before, after) for end in ("low", "high") if found.get(end) is not None]
    if len(ends) < 4:
        return UNCLEAR
    return HIGHER if ends[2] > ends[1] else LOWER if ends[3] < ends[0] else UNCLEAR


def _distance(state: Found, kind: str) -> float:
    return float(state["distances"][f"distance/{kind}/l2"]["value"])


def best_layer(by_layer: Found, kind: str = "centred") -> tuple[str, float]:
    """The layer with the best mean P@1 of both directions, and that; the lowest of equal ones."""
    best = max(by_layer, key=lambda layer: (mean_of_both(by_layer[layer], kind), -int(layer)))
    return best, mean_of_both(by_layer[best], kind)


def mean_of_both(scores: Found, kind: str = "centred") -> float:
    """The mean P@1 of both directions, as is (`raw`) or with language means removed."""
    return float(sum(scores[f"p@1/cosine/{kind}{way}"]["value"] for way in ("", "/backward"))) / 2


def left_out(summary: Found) -> list[str]:
    """All that was not used, in words: lines, rows, and links by the filter that dropped them."""
    told = []
    for code, about in summary["languages"].items():
        told += [f"{code}: {note}" for note in about["notes"]]
        told += [f"{code}: {counted(count, reason)} left out" for reason, count in about["left_out"].items() if count]
        dropped = {f"links dropped: {name}": count for name, count in about["links_dropped"].items() if count}
        told += [f"{code}: {counted(count, what)}" for what, count in dropped.items()]
    return [visible(line) for line in told]


def distance_picture(summary: Found) -> str:
    """An SVG: hills of the distances of related and unrelated words, before above after, a column a language.

    Each hill has the same area, and the two rows of a column one axis, so that hills can be compared (papers/001 §5.3,
    Fig. 1). Dashed lines are the means.
    """
    codes = list(summary["languages"])
    whens = [when for when in ("before", "after") if when in summary]
    wide = _LEFT + len(codes) * (_WIDE + _GAP)
    tall = 64 + len(whens) * (_TALL + 18) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        'role="img" aria-label="Distances of related and unrelated words before and after adjustment">',
        f"<style>{_STYLE}</style>",
        _legend(),
    ]
    for number_, code in enumerate(codes):
        parts += _column(summary, code, whens, left=_LEFT + number_ * (_WIDE + _GAP))
    return "\n".join([*parts, "</svg>"])


def _legend() -> str:
    items = []
    for place, (kind, text) in enumerate((("related", "translations"), ("unrelated", "unrelated words"))):
        x = _LEFT + 130 * place
        items.append(f'<rect class="hill {_COLOURS[kind]}" x="{x}" y="10" width="14" height="12"/>')
        items.append(f'<text x="{x + 20}" y="20">{text}</text>')
    return "".join(items)


def _column(summary: Found, code: str, whens: Sequence[str], *, left: int) -> list[str]:
    states = {when: summary[when][code]["distances"] for when in whens}
    edges = [state["auc/l2"]["details"]["edges"] for state in states.values()]
    low, high = 0.0, float(max(found[-1] for found in edges))
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return float(left + (value - low) / span * _WIDE)

    name = html.escape(language_name(code, summary))
    parts = [f'<text class="ink b" x="{left}" y="48">{name}, layer {summary["layer"]}</text>']
    for row, (when, state) in enumerate(states.items()):
        floor = 64 + row * (_TALL + 18) + _TALL
        details = state["auc/l2"]["details"]
        width = details["edges"][1] - details["edges"][0]
        hills = {kind: [n / sum(details[kind]) / width for n in details[kind]] for kind in _COLOURS}
        top = max(max(hill) for hill in hills.values())
        if left == _LEFT:
            parts.append(f'<text class="ink" x="{left - 10}" y="{floor - 4}" text-anchor="end">{when}</text>')
        parts.append(f'<path class="axis" d="M{left} {floor}h{_WIDE}"/>')
        for kind, colour in _COLOURS.items():
            parts.append(f'<path class="hill {colour}" d="{_outline(details["edges"], hills[kind], top, x, floor)}"/>')
            mean = x(state[f"distance/{kind}/l2"]["value"])
            parts.append(f'<path class="mean {colour}" d="M{mean:.1f} {floor}v-{_TALL}"/>')
    floor = 64 + len(whens) * (_TALL + 18)
    for value in _ticks(low, high):
        parts.append(f'<text x="{x(value):.1f}" y="{floor}" text-anchor="middle">{value:g}</text>')
    parts.append(f'<text x="{left + _WIDE / 2}" y="{floor + 22}" text-anchor="middle">L2 distance</text>')
    return parts


def _outline(edges: Sequence[float], hill: Sequence[float], top: float, x: Any, floor: float) -> str:
    """The steps of a histogram as a path that begins and ends on the floor."""
    points = [f"M{x(edges[0]):.1f} {floor}"]
    for edge, height, end in zip(edges, hill, edges[1:], strict=False):
        y = floor - height / top * _TALL
        points.append(f"L{x(edge):.1f} {y:.1f}L{x(end):.1f} {y:.1f}")
    return "".join([*points, f"L{x(edges[-1]):.1f} {floor}Z"])


def _ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high, at most about `most`.

    >>> _ticks(0.3, 9.7)
    [2, 4, 6, 8]
    """
    raw = max(high - low, 1e-9) / most
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(scale * unit for unit in (1, 2, 5, 10) if scale * unit >= raw)
    values = [round(step * place, 10) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [int(value) if value.is_integer() else value for value in map(float, values)]
