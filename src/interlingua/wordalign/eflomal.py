"""Links by eflomal (Östling & Tiedemann 2016), where the extra `eflomal` is installed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from interlingua.errors import InterlinguaError, MissingExtra
from interlingua.wordalign.links import Links

Rows = Sequence[Sequence[str]]
LONGEST = 1023
"""eflomal passes over sentences of more words without a word."""
_SAMPLERS = 3  # eflomal's own default


@dataclass(frozen=True)
class EflomalLinks:
    """The links of both directions, both as (row, source word, target word), and the rows too long for eflomal."""

    forward: Links
    backward: Links
    too_long: tuple[int, ...]


def eflomal_links(source: Rows, target: Rows) -> EflomalLinks:
    """Links of rows that translate each other, by eflomal's HMM with fertilities and its own defaults.

    Rows with an empty side, or with more than 1,023 words on one, have no links. eflomal compares words in lower case,
    and draws its samples anew each time: two runs differ a little.
    """
    try:
        import eflomal
    except ImportError as error:
        raise MissingExtra("eflomal", "aligning with eflomal") from error
    pairs = list(zip(source, target, strict=True))
    too_long = tuple(row for row, (ours, theirs) in enumerate(pairs) if max(len(ours), len(theirs)) > LONGEST)
    kept = [row for row, pair in enumerate(pairs) if min(map(len, pair)) and max(map(len, pair)) <= LONGEST]
    if not kept:
        none = Links.of([], [], [])
        return EflomalLinks(none, none, too_long)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("forward", "backward")]
        eflomal.Aligner(n_samplers=_SAMPLERS).align(
            [" ".join(source[row]) + "\n" for row in kept],
            [" ".join(target[row]) + "\n" for row in kept],
            links_filename_fwd=str(files[0]),
            links_filename_rev=str(files[1]),
        )
        forward, backward = (_read(file, kept) for file in files)
    return EflomalLinks(forward, backward, too_long)


def _read(file: Path, rows: list[int]) -> Links:
    """The links eflomal wrote, its row k being row `rows[k]` of ours."""
    lines = file.read_text("utf-8").split("\n")[:-1] if file.is_file() else []
    if len(lines) != len(rows):
        raise InterlinguaError(f"eflomal wrote {len(lines)} lines for {len(rows)} pairs; run it alone to see why.")
    counts = [line.count("-") for line in lines]
    numbers = np.array(" ".join(lines).replace("-", " ").split(), np.int64).reshape(-1, 2)
    return Links.of(np.repeat(np.array(rows, np.int64), counts), numbers[:, 0], numbers[:, 1])
