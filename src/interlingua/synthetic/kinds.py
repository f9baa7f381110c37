"""Which kinds of contexts and names go together, in which languages: chosen, and what was not chosen reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.synthetic.files import Sheet, missing_languages, read_sheets
from interlingua.synthetic.tables import SkippedRows, SlotKind

Sources = Sequence[str | Path]
Pairs = dict[SlotKind, tuple[Sheet, Sheet]]
"""The contexts and the names of each kind."""


def first_sheet_per_kind(
    sources: Sources, what: str, languages: Sequence[str] | None, left_out: list[SkippedRows], notes: list[str]
) -> dict[SlotKind, Sheet]:
    """The sheets of several sources by kind: that of the first source that has it, the others noted."""
    found: dict[SlotKind, Sheet] = {}
    for source in sources:
        sheets, told = read_sheets(source, what, languages)
        left_out += told
        here: dict[SlotKind, Sheet] = {}
        for sheet in sheets:
            if sheet.kind in here:
                raise InputError(
                    f"two files of {what} for {sheet.kind.label}",
                    file=sheet.file,
                    value=Path(here[sheet.kind].file).name,
                    remedy="Keep one of the two in the folder.",
                )
            here[sheet.kind] = sheet
            if sheet.kind in found:
                first, other = (Path(*Path(each.file).parts[-2:]) for each in (found[sheet.kind], sheet))
                notes.append(f"{what} for {sheet.kind.label} are those of {first}, not {other}")
            found.setdefault(sheet.kind, sheet)
    if not found:
        raise InputError(f"no {what} are given", remedy="Name a folder, or 'embedded'.")
    return found


def pair_sheets(contexts: dict[SlotKind, Sheet], names: dict[SlotKind, Sheet], notes: list[str]) -> Pairs:
    """Contexts with the names of their kind; kinds that have only one of them are noted, no kind at all is an error."""
    for one, other, what in ((contexts, names, "names"), (names, contexts, "contexts")):
        notes += [
            f"{kind.label} ({Path(sheet.file).name}) has no {what}" for kind, sheet in one.items() if kind not in other
        ]
    pairs = {kind: (sheet, names[kind]) for kind, sheet in sorted(contexts.items()) if kind in names}
    if not pairs:
        raise InputError(
            "contexts and names have no kind in common",
            value=", ".join(kind.label for kind in contexts),
            remedy=f"Names are there for: {', '.join(kind.label for kind in names)}.",
        )
    return pairs


def selected(types: Sequence[str] | None, pairs: Pairs) -> tuple[dict[str, float], Pairs]:
    """The weight of each type asked for, and the kinds that are meant: TYPE, TYPE.CASE or TYPE.GENDER, with =WEIGHT."""
    if types is None:
        return {kind.type: 1.0 for kind in pairs}, pairs
    weights: dict[str, float] = {}
    chosen: Pairs = {}
    for given in types:
        label, sign, weight = given.partition("=")
        type, *parts = label.strip().split(".")
        fitting = [kind for kind in pairs if kind.type == type and set(parts) <= {kind.case, kind.gender}]
        if not fitting:
            raise unknown(
                "type (with contexts and names)", label, sorted({k.type for k in pairs} | {k.label for k in pairs})
            )
        weights[type] = _weight(weight if sign else "1", given)
        chosen |= {kind: pairs[kind] for kind in fitting}
    if not chosen:
        raise InputError("no type is asked for", remedy="Leave --types out for all of them.")
    return weights, chosen


def _weight(text: str, given: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise InputError("a type's weight must be a positive number", value=given, remedy="Write PER=4, or PER.")
    return weight


def in_every_type(pairs: Pairs) -> tuple[str, ...]:
    """The languages in which every type has a kind with contexts and names, in the order of the first file."""
    by_type: dict[str, set[str]] = {}
    for kind, (one, other) in pairs.items():
        by_type.setdefault(kind.type, set()).update(set(one.languages) & set(other.languages))
    common = set.intersection(*by_type.values())
    first = next(iter(pairs.values()))[0]
    ordered = tuple(code for code in first.languages if code in common) + tuple(sorted(common - set(first.languages)))
    if not ordered:
        raise InputError(
            "no language has contexts and names of every type", file=first.file, line=1, remedy="Name fewer --types."
        )
    return ordered


def sheets_with_languages(pairs: Pairs, languages: Sequence[str], notes: list[str]) -> list[tuple[Sheet, Sheet]]:
    """The kinds that have all languages; a type that has no such kind is an error, the other kinds are noted."""
    usable: list[tuple[Sheet, Sheet]] = []
    lacking: dict[str, list[InputError]] = {}
    for kind, sheets in pairs.items():
        errors = [error for sheet in sheets if (error := missing_languages(sheet, languages)) is not None]
        if errors:
            lacking.setdefault(kind.type, []).append(errors[0])
            notes.append(f"left out: {errors[0].problem} ({Path(str(errors[0].file)).name})")
        else:
            usable.append(sheets)
    for type, errors in lacking.items():
        if type not in {one.kind.type for one, _ in usable}:
            raise errors[0]
    return usable
