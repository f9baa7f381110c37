"""`synth()`: contexts and names to parallel tagged sentences in one call, and how alike the names are spelled."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from interlingua.analyses.synthesis import Rules, Spellings, Synthetic, spellings, synthesise
from interlingua.commands.command import command
from interlingua.engine.atomic_files import cannot_write, hidden_name, swap_in
from interlingua.errors import InputError
from interlingua.report.heatmap import Panel, heat_map_svg
from interlingua.studies.config.schema import SynthCommand
from interlingua.studies.run_folder import check_kind

__all__ = ["Synthetic", "spellings", "synth"]

_OURS = re.compile(r"[\w-]+\.(train|test|about)\.iob2|counts\.json|spelling\.(csv|svg)")
Source = str | Path


@command(SynthCommand)
def synth(given: SynthCommand) -> Synthetic:
    """With `out`, the folder gets all files or none; without it the sentences are in memory alone.

    >>> made = synth(languages=["en", "tr"], types=["LOC.locative"], rows=10)
    >>> row, sentence = next(made.sentences("tr", "test"))
    >>> len(sentence.words) == len(sentence.tags), made.counts()["rows"]
    (True, {'train': 8, 'test': 2})
    """
    out, about, rows, seed = given.out, given.entity, given.rows, given.seed
    folder = None if out is None else Path(out).resolve()  # `.` has no name to write beside.
    if folder is not None:
        _free(folder)
    made = synthesise(
        _listed(given.contexts),
        _listed(given.names),
        languages=given.languages,
        types=given.types,
        rows=rows,
        seed=seed,
        rules=Rules(given.test_share, given.slots, given.bad_rows),
    )
    subject = None
    if about is not None:
        wanted = max(1, rows // 10)
        subject = made.about(about, wanted)
        short = len({row.kind.type for row in subject.rows}) * wanted - len(subject)
        if short:
            made = replace(made, notes=(*made.notes, f"about {about}: {short} sentences fewer, for want of contexts"))
    if folder is None:
        return made
    texts: dict[str, Iterable[str]] = {}
    for code in made.languages:
        for part, sample in (*made.parts.items(), *([("about", subject)] if subject is not None else [])):
            texts[f"{code}.{part}.iob2"] = sample.iob2(code)
    texts["counts.json"] = [json.dumps(made.counts(), ensure_ascii=False, indent=1), "\n"]
    if len(made.languages) > 1:
        found = spellings(made.names, made.languages, seed=seed)
        texts |= {"spelling.csv": [spelling_csv(found)], "spelling.svg": [spelling_svg(found)]}
    _write(folder, texts)
    return replace(made, folder=Path(str(out)))


def spelling_csv(found: Spellings) -> str:
    """The distances as CSV: a row for each type and pair of languages."""
    rows = found.rows()
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(
        {key: f"{cell:.4f}" if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows
    )
    return text.getvalue()


def spelling_svg(found: Spellings) -> str:
    """The matrices as heat maps: TNLD on the left, edit distance without transliteration on the right."""
    titles = {"tnld": "TNLD", "nld": "without transliteration"}
    return heat_map_svg(
        [
            Panel(f"{type}: {titles[variant]}", found.languages, found.matrix(type, variant))
            for type in found.scores
            for variant in titles
        ]
    )


def _listed(given: Source | Sequence[Source]) -> list[Source]:
    return [given] if isinstance(given, str | Path) else list(given)


def _free(folder: Path) -> None:
    """Refuse a folder that holds anything which is not an earlier output of ours."""
    check_kind(folder, "synth")
    if folder.is_dir():
        foreign = sorted(entry.name for entry in folder.iterdir() if not _OURS.fullmatch(entry.name))
        if foreign:
            raise InputError(
                "the folder holds files that are not ours", file=folder, value=foreign[0], remedy="Name another --out."
            )


def _write(folder: Path, texts: dict[str, Iterable[str]]) -> None:
    """Write all files into a new folder beside, then put it in place: no reader sees half of them."""
    beside = hidden_name(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        for name, lines in texts.items():
            with (beside / name).open("w", encoding="utf-8", newline="") as file:
                file.writelines(lines)
        swap_in(beside, folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
