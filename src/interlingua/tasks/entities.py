"""Entities in IOB2 tags, as seqeval finds them: in its default, forgiving way, and strictly."""

from __future__ import annotations

from collections.abc import Sequence

Entity = tuple[str, int, int]


def entities(tags: Sequence[str], *, strict: bool = False) -> set[Entity]:
    """The entities of a sentence: (type, first word, last word), as seqeval 1.2 finds them in IOB2 tags.

    By default an I- that continues nothing begins an entity, as in the CoNLL evaluation script; `strict` (seqeval's
    `mode="strict", scheme=IOB2`) has an entity begin with B- alone, so such an I- belongs to none.

    >>> sorted(entities(["B-PER", "I-PER", "I-LOC", "O", "I-LOC"]))
    [('LOC', 2, 2), ('LOC', 4, 4), ('PER', 0, 1)]
    >>> sorted(entities(["B-PER", "I-PER", "I-LOC", "O", "I-LOC"], strict=True))
    [('PER', 0, 1)]
    """
    found: set[Entity] = set()
    kind, begin = "", -1
    for place, tag in enumerate([*tags, "O"]):
        goes_on = tag[:1] == "I" and begin >= 0 and tag[2:] == kind
        if goes_on:
            continue
        if begin >= 0:
            found.add((kind, begin, place - 1))
        opens = tag[:1] == "B" or (tag[:1] == "I" and not strict)
        kind, begin = (tag[2:], place) if opens else ("", -1)
    return found
