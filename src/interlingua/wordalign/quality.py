"""Gold links (sure and possible), and how links compare with them: AER, precision, recall, with intervals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from interlingua.errors import InputError
from interlingua.score import Score, Scores
from interlingua.wordalign.links import Links

FORMATS = ("pharaoh", "xl-wa", "naacl")
_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")
_NAACL = re.compile(r"\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP])(?:\s+[0-9.eE+-]+)?)?\s*")
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
    """The links of a file's numbered lines, 0-based; the format is detected from the first lines where it is not given.

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


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class LinkCounts:
    """What AER is made of, by row: links found, sure gold links, and how many of the found are sure or possible.

    Kept by row so that any interval or test between two aligners can be made from them. `shuffled` is how many links
    in all would be sure and possible if each row had the links of another row, on average over all ways to deal them.
    """

    found: Ints
    sure: Ints
    in_sure: Ints
    in_possible: Ints
    shuffled: tuple[float, float] | None = None

    def table(self) -> Ints:
        """The four counts as (row, 4)."""
        return np.stack([self.found, self.sure, self.in_sure, self.in_possible], axis=1)


def count_links(found: Links, gold: Gold) -> LinkCounts:
    """Counts for the rows that gold speaks of, in their order; other rows are left out."""
    rows = len(gold.marked)
    wide = 1 + int(max(words.max(initial=0) for part in (found, gold.possible) for words in (part.source, part.target)))

    def keys(links: Links) -> Ints:
        return (links.row * wide + links.source) * wide + links.target

    def by_row(links: Links, kept: NDArray[np.bool_] | None = None) -> Ints:
        return np.bincount(links.row if kept is None else links.row[kept], minlength=rows)[gold.marked]

    def shuffled(links: Links) -> float:
        """Links of one place in a sentence, ours times gold's, over the rows."""
        places = []
        for part in (found, links):
            inside = np.isin(part.row, np.arange(rows)[gold.marked])
            places.append(np.unique(part.source[inside] * wide + part.target[inside], return_counts=True))
        (at, ours), (there, theirs) = places
        _, one, other = np.intersect1d(at, there, assume_unique=True, return_indices=True)
        return float((ours[one] * theirs[other]).sum()) / max(int(np.arange(rows)[gold.marked].size), 1)

    ours = keys(found)
    return LinkCounts(
        by_row(found),
        by_row(gold.sure),
        by_row(found, np.isin(ours, keys(gold.sure))),
        by_row(found, np.isin(ours, keys(gold.possible))),
        (shuffled(gold.sure), shuffled(gold.possible)),
    )


def quality(counts: LinkCounts, *, seed: int = 0, times: int = 1000) -> Scores:
    """`aer` in [0, 1], 0 is best; `precision`, `recall` and `f1` in [0, 1], 1 is best.

    With A the links found, S the sure and P the possible gold links, S within P (Och & Ney 2003, section 4):

        precision = |A ∩ P| / |A|,  recall = |A ∩ S| / |S|,  AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|),

    summed over all rows before dividing; F1 is the harmonic mean of precision and recall. A ratio of nothing to
    nothing is 0 (1 - AER of no links and no gold is 1). The interval holds 95 % of `times` bootstrap draws of rows. The
    null is that of links dealt to other rows, as places in the sentence: what following the diagonal alone is worth.

    >>> counts = LinkCounts(np.array([3]), np.array([2]), np.array([2]), np.array([3]))
    >>> {name: round(score.value, 3) for name, score in quality(counts).items()}
    {'aer': 0.0, 'precision': 1.0, 'recall': 1.0, 'f1': 1.0}
    """
    table = counts.table()
    if not len(table):
        raise InputError("gold speaks of no row that was aligned", remedy="Give gold links of this bitext.")
    draw = np.random.default_rng(seed)
    weights = draw.multinomial(len(table), np.full(len(table), 1 / len(table)), size=times)
    values, draws = _ratios(table.sum(axis=0)[None]), _ratios(weights @ table)
    nulls: dict[str, Floats] = {}
    if counts.shuffled is not None:
        found, sure = table[:, 0].sum(), table[:, 1].sum()
        nulls = _ratios(np.array([[found, sure, *counts.shuffled]]))
    scores: Scores = {}
    for name, value in values.items():
        null = float(nulls[name][0]) if nulls else None
        low, high = np.quantile(draws[name], (0.025, 0.975))
        scores[name] = Score(float(value[0]), n=len(table), null=null, low=float(low), high=float(high))
    return scores


def _ratios(sums: NDArray[Any]) -> dict[str, Floats]:
    found, sure, in_sure, in_possible = (sums[:, column].astype(np.float64) for column in range(4))
    precision, recall = _share(in_possible, found), _share(in_sure, sure)
    both = found + sure
    return {
        "aer": np.where(both > 0, 1 - _share(in_sure + in_possible, both), 0.0),
        "precision": precision,
        "recall": recall,
        "f1": _share(2 * precision * recall, precision + recall),
    }


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return share


@dataclass(frozen=True)
class PairScores:
    """How well the two sides of each row fit: `likelihood` (nats a word, at most 0) and `linked` (share, in [0, 1]).

    A row left out has NaN in both.
    """

    likelihood: Floats
    linked: Floats


def score_pairs(
    lengths: Sequence[tuple[int, int]] | Ints,
    links: Links,
    forward: NDArray[np.floating[Any]] | None = None,
    backward: NDArray[np.floating[Any]] | None = None,
) -> PairScores:
    """A score of each pair, high where the sides translate each other: to sort a bitext by, and to cut its tail.

    `likelihood` is (log p(target | source) / m + log p(source | target) / n) / 2 with `forward` and `backward` the
    log-likelihoods of the rows under the two directions, n and m the numbers of words: the mean log-probability of
    a word given the other side, so that long pairs are not punished for their length. `linked` is the share of
    the words of both sides that have a link. Without a model (links from elsewhere) `likelihood` is NaN.

    A pair that was trained on fits better than one that was not; a name seen once is explained by whatever stood
    beside it. Judge new text by a model trained on other text, or compare only pairs trained on together.

    >>> links = Links.of([0, 0], [0, 1], [0, 1])
    >>> scores = score_pairs([(2, 2), (2, 3)], links, np.log([0.25, 0.001]), np.log([0.25, 0.0001]))
    >>> scores.likelihood.round(2).tolist(), scores.linked.tolist()
    ([-0.69, -3.45], [1.0, 0.0])
    """
    n, m = np.asarray(lengths, np.int64).reshape(-1, 2).T
    absent = (n <= 0) | (m <= 0)
    n, m = np.where(absent, 1, n), np.where(absent, 1, m)
    linked = np.concatenate([np.zeros(0, np.int64), *_linked_words(links, m)])
    likelihood = np.full(len(n), np.nan) if forward is None or backward is None else (forward / m + backward / n) / 2
    return PairScores(np.where(absent, np.nan, likelihood), np.where(absent, np.nan, linked / (n + m)))


def _linked_words(links: Links, target_lengths: Ints) -> Iterator[Ints]:
    """How many words of each row have a link, some rows at a time."""
    for first in range(0, len(target_lengths), _ROWS_AT_ONCE):
        lengths = target_lengths[first : first + _ROWS_AT_ONCE]
        begin, end = np.searchsorted(links.row, (first, first + len(lengths)))
        row, source, target = (column[begin:end] for column in (links.row, links.source, links.target))
        row = row - first
        # Links are sorted by row and source word: a word that is linked again is next to where it was.
        new = np.ones(len(row), bool)
        new[1:] = (np.diff(row) != 0) | (np.diff(source) != 0)
        starts = np.cumsum(lengths) - lengths
        reached = np.zeros(int(lengths.sum()), bool)
        reached[starts[row] + target] = True
        of_target = np.add.reduceat(reached, starts, dtype=np.int64)  # No row is empty here.
        yield np.bincount(row[new], minlength=len(lengths)) + of_target
