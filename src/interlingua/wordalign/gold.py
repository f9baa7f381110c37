"""Link files of any convention: Pharaoh with sure and possible links, XL-WA, NAACL; bad lines are told, with number.

| format    | a line                                                        | first word is       |
|-----------|---------------------------------------------------------------|---------------------|
| `pharaoh` | `0-0 1-2 3p4`: `-` sure, `p` or `?` possible; a line a row    | 0 or 1: must be said |
| `xl-wa`   | source, tab, target, tab, `0-0 1-2`; a line a row             | 0                   |
| `naacl`   | `row source target [S or P [confidence]]`; a line a link      | 1, and so is the first row |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.wordalign.links import Links

FORMATS = ("pharaoh", "xl-wa", "naacl")
_LINK = re.compile(r"(\d{1,9})([-p?])(\d{1,9})")
_NAACL = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP])(?:\s+[\d.eE+-]+)?)?\s*")
_ONE_EACH = "Give one line of links for every line of the bitext."
_BASES = {"xl-wa": 0, "naacl": 1}

Lines = Iterable[tuple[int, str]]
Lengths = Sequence[tuple[int, int]]
Found = tuple[int, list[tuple[int, int, bool]]]  # a row and its links (source, target, sure), 0-based


@dataclass(frozen=True)
class Gold:
    """What a link file says: sure links, possible ones (the sure among them), and which rows it speaks of.

    `marked[r]` says whether row r has a line that could be used; `bad` are the lines that could not, in order, and
    `unequal` says that the file has other lines than the bitext.
    """

    sure: Links
    possible: Links
    marked: NDArray[np.bool_]
    bad: tuple[InputError, ...] = ()
    unequal: InputError | None = None


def read_gold(
    lines: Lines,
    *,
    file: str,
    lengths: Lengths,
    base: int | None = None,
    format: str | None = None,
    fail: bool = True,
) -> Gold:
    """The links of a file's numbered lines, 0-based; the format is told by the first lines where it is not given.

    `lengths` are the numbers of words (source, target) of each row; (-1, -1) is a row that was itself left out, and
    what the file says of it is passed over. A line that is no list of links, a link past the words, and a number
    of lines that is not that of the rows are errors with file and line; without `fail` they are collected
    and those rows are not marked. `base` is the number of the first word, which Pharaoh's form alone leaves open.

    >>> gold = read_gold([(1, "1-1 2p1"), (2, "9-1")], file="gold", lengths=[(2, 1), (2, 1)], base=1, fail=False)
    >>> gold.sure.source.tolist(), gold.possible.source.tolist(), gold.marked.tolist()
    ([0], [0, 1], [True, False])
    >>> print(gold.bad[0])
    gold:2: a link past the words of its row (2 and 1): '9-1'. The first word is 1 (--base, --gold-base); is that right?
    """
    numbered = iter(lines)
    head = list(islice(numbered, 100))
    chosen = format or _told([text for _, text in head])
    if chosen not in FORMATS:
        raise InputError("unknown format of links", value=chosen, remedy=f"Known: {', '.join(FORMATS)}.")
    first = _first_word(chosen, base, head, file)
    bad: list[InputError] = []
    marked = np.zeros(len(lengths), bool)
    spoilt: set[int] = set()
    columns: list[list[int]] = [[], [], [], []]
    for row, found in _parsed(chain(head, numbered), chosen, first, lengths, file, bad, spoilt):
        marked[row] = True
        for source, target, sure in found:
            for column, value in zip(columns, (row, source, target, sure), strict=True):
                column.append(value)
    if fail and bad:
        raise bad[0]
    marked[list(spoilt)] = False
    table = np.array(columns, np.int64).reshape(4, -1)
    table = table[:, marked[table[0]]]
    unequal = next((error for error in bad if error.remedy == _ONE_EACH), None)
    return Gold(Links.of(*table[:3, table[3] > 0]), Links.of(*table[:3]), marked, tuple(bad), unequal)


def _told(texts: list[str]) -> str:
    texts = [text for text in texts if text.strip()]
    tables = sum(1 for text in texts if text.count("\t") == 2 and _LINK.search(text.rpartition("\t")[2]))
    triples = sum(1 for text in texts if _NAACL.fullmatch(text))
    return "xl-wa" if 2 * tables > len(texts) else "naacl" if 2 * triples > len(texts) else "pharaoh"


def _first_word(format: str, base: int | None, head: list[tuple[int, str]], file: str) -> int:
    fixed = _BASES.get(format)
    if base not in (None, 0, 1):
        raise InputError("the first word is 0 or 1", value=base, remedy="Give 0 or 1.")
    if fixed is not None:
        if base not in (None, fixed):
            raise InputError(
                f"{format} counts words from {fixed}", file=file, value=base, remedy="Leave the option out."
            )
        return fixed
    if base is None:
        zero = any("0" in match.group(1, 3) for _, text in head for match in _LINK.finditer(text))
        hint = "0 occurs in it, so give 0." if zero else "No 0 occurs in its first lines, which speaks for 1."
        raise InputError(
            "links in this form may count words from 0 or from 1",
            file=file,
            remedy=f"Say which with --gold-base. {hint}",
        )
    return base


def _parsed(
    lines: Lines,
    format: str,
    base: int,
    lengths: Lengths,
    file: str,
    bad: list[InputError],
    spoilt: set[int],
) -> Iterator[Found]:
    """The usable lines; the others go to `bad`, and their rows to `spoilt`."""
    number = 0
    for number, text in lines:
        row, found, problem = (_naacl if format == "naacl" else _row)(number, text, base)
        if row >= len(lengths):
            if format == "naacl" or row == len(lengths):  # Of a file too long, the first line too many tells it all.
                bad.append(_too_many(file, number, len(lengths)))
            continue
        if row >= 0 and lengths[row][0] < 0:
            continue
        if problem is None:
            n, m = lengths[row]
            past = next(((s, t) for s, t, _ in found if not (0 <= s < n and 0 <= t < m)), None)
            if past is None:
                yield row, found
                continue
            problem = InputError(
                f"a link past the words of its row ({n} and {m})",
                value=f"{past[0] + base}-{past[1] + base}",
                remedy=f"The first word is {base} (--base, --gold-base); is that right?",
            )
        bad.append(InputError(problem.problem, file=file, line=number, value=problem.value, remedy=problem.remedy))
        if row >= 0:
            spoilt.add(row)
    if format != "naacl" and number < len(lengths):
        bad.append(
            InputError(
                f"ends here, and the bitext has {len(lengths)} lines",
                file=file,
                line=number,
                remedy=_ONE_EACH,
            )
        )


def _row(number: int, text: str, base: int) -> tuple[int, list[tuple[int, int, bool]], InputError | None]:
    """A line of Pharaoh or XL-WA: its row, its links, and what is wrong with it."""
    found = []
    for token in text.rpartition("\t")[2].split():
        match = _LINK.fullmatch(token)
        if match is None:
            return number - 1, [], InputError("not a link", value=token, remedy="Write links as 0-0, or 0p0.")
        found.append((int(match[1]) - base, int(match[3]) - base, match[2] == "-"))
    return number - 1, found, None


def _naacl(number: int, text: str, base: int) -> tuple[int, list[tuple[int, int, bool]], InputError | None]:
    """A line of NAACL's form: one link. Word 0 is the empty word: such a line says that a word has no link."""
    match = _NAACL.fullmatch(text)
    if match is None:
        problem = InputError("not 'row source target [S|P]'", value=text, remedy="Write four fields, such as 1 2 3 S.")
        return -1, [], problem
    row, source, target = (int(match[group]) - base for group in (1, 2, 3))
    if row < 0:
        return -1, [], InputError("rows count from 1", value=text, remedy="Number the first sentence 1.")
    return row, [] if min(source, target) == -1 else [(source, target, match[4] != "P")], None


def _too_many(file: str, line: int, rows: int) -> InputError:
    return InputError(
        f"speaks of a row past the {rows} of the bitext",
        file=file,
        line=line,
        remedy=_ONE_EACH,
    )
