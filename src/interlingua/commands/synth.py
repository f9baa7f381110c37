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
from interlingua.argument_types import check_argument_types
from interlingua.engine.atomic_files import cannot_write, hidden_name, swap_in
from interlingua.errors import InputError
from interlingua.report.heatmap import Panel, heat_map_svg
from interlingua.studies.run_folder import check_kind

__all__ = ["Rules", "Spellings", "Synthetic", "spellings", "synth"]

_OURS = re.compile(r"[\w-]+\.(train|test|about)\.iob2|counts\.json|spelling\.(csv|svg)")
Source = str | Path


@check_argument_types
def synth(
    contexts: Source | Sequence[Source] = "embedded",
    names: Source | Sequence[Source] = "embedded",
    *,
    languages: Sequence[str] | None = None,
    types: Sequence[str] | None = None,
    rows: int = 500,
    seed: int = 0,
    rules: Rules | None = None,
    about: str | None = None,
    out: Source | None = None,
) -> Synthetic:
    """Strictly parallel NER: contexts × names, split so that no test context or name is seen in training.

    `contexts` and `names` are folders (SyntheticNER's files or ours), or `embedded`; of several, a kind comes from
    the first that has it. `types` are entity types or kinds of them, with weights (`["PER=2", "LOC.locative"]`).
    `rows` is the number of sentences in each language, training and test together. `about` is a name to be put
    into test contexts of every type, a tenth of `rows` each (papers/003 Fig. 1). With `out`, a folder gets
    `xx.train.iob2` and `xx.test.iob2` for each language, `counts.json`, `spelling.csv` and `spelling.svg`: all or none.

    >>> made = synth(languages=["en", "tr"], types=["LOC.locative"], rows=10)
    >>> row, sentence = next(made.sentences("tr", "test"))
    >>> len(sentence.words) == len(sentence.tags), made.counts()["rows"]
    (True, {'train': 8, 'test': 2})
    """
    folder = None if out is None else Path(out).resolve()  # `.` has no name to write beside.
    if folder is not None:
        _free(folder)
    made = synthesise(
        _listed(contexts), _listed(names), languages=languages, types=types, rows=rows, seed=seed, rules=rules
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
