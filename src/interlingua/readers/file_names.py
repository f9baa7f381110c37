"""File names to languages: which files belong together, and which language each is in.

A name is cut at its dots, after the suffixes of compression. `corpus.en-ru.en` is one side of a
bitext (Moses, OPUS, LASER); `software.en-ru.tsv` is a whole one; `name.xx`, `xx.txt`,
`eng_Latn.devtest` (FLORES-200) and `newstest2019-ref.rus.txt` (NTREX) are one language of many. A
pair is two codes in small letters, so that `fra-CA` stays Canadian French.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from interlingua import languages as codes

# Suffixes that say nothing about the language; some are also codes of small languages (`txt` is Citak).
_TABLES = frozenset(("tsv", "csv", "jsonl", "tmx"))
_TAILS = _TABLES | {"txt", "json", "xml", "tok", "bpe", "snt", "sgm", "ids", "clean", "lower", "true"}
_TAILS |= {"dev", "devtest", "test", "train", "valid"}
_PAIR = re.compile(r"([a-z]{2,3}(?:_[A-Za-z]+)?)-([a-z]{2,3}(?:_[A-Za-z]+)?)")


@dataclass(frozen=True)
class FileNameParts:
    """What a file name says: the label with `*` for each language, the pair, the side."""

    label: str
    pair: tuple[str, str] | None = None
    side: str | None = None

    @property
    def one_language(self) -> bool:
        """Whether the file holds one language by its name; `my.tsv` is no Burmese text but a table."""
        return self.side is not None and self.label.rpartition(".")[2] not in _TABLES


@dataclass(frozen=True)
class FileSet:
    """Files that belong together: `members` maps the languages of each bitext (or the one) to its files."""

    kind: str
    label: str
    folder: Path
    members: Mapping[tuple[str, ...], tuple[Path, ...]]
    left_out: tuple[Path, ...] = ()

    @property
    def file(self) -> str:
        return str(self.folder / self.label)

    @property
    def languages(self) -> tuple[str, ...]:
        """All languages of the set, English first: it is the hub of most, and folder order means nothing."""
        known = {code for member in self.members for code in member}
        return tuple(sorted(known, key=lambda code: (code != "en", code)))


def parse(filename: str) -> FileNameParts:
    """What a file name says about languages.

    >>> parse("tatoeba.rus-eng.rus")
    FileNameParts(label='tatoeba.*-*.*', pair=('ru', 'en'), side='ru')
    >>> parse("newstest2019-ref.fra-CA.txt.gz")
    FileNameParts(label='newstest2019-*.*.txt', pair=None, side='fr-CA')
    """
    parts = re.sub(r"(\.(gz|bz2|xz|zst))+$", "", filename).split(".")
    last = len(parts) - 1
    while last > 0 and parts[last] in _TAILS:
        last -= 1
    parts[0] = re.sub(r"-(src|ref)$", "-*", parts[0])  # NTREX: one English source, references in the others
    pair = _pair(parts[last])
    if pair:
        parts[last] = "*-*"
        return FileNameParts(".".join(parts), pair=pair)
    if re.split("[-_]", parts[last])[0] in _TAILS or not codes.is_language(parts[last]):
        return FileNameParts(".".join(parts))
    side = codes.canonical(parts[last])
    pair = _pair(parts[last - 1]) if last else None
    if pair and side in pair:
        parts[last - 1], parts[last] = "*-*", "*"
        return FileNameParts(".".join(parts), pair=pair, side=side)
    parts[last] = "*"
    return FileNameParts(".".join(parts), side=side)


def find_file_sets(folder: Path, names: Iterable[str]) -> list[FileSet]:
    """The sets of files that make a corpus, in the order of their labels; hidden files are none."""
    found: dict[tuple[str, str], dict[tuple[str, ...], list[Path]]] = {}
    sides: dict[tuple[str, str], dict[str, Path]] = {}
    for filename in sorted(name for name in names if not name.startswith(".")):
        name, path = parse(filename), folder / filename
        if name.pair and name.side:
            sides.setdefault((name.label, _pair_part(filename)), {})[name.side] = path
        elif name.pair and not re.search(r"\.ids(\.(gz|bz2|xz|zst))?$", filename):  # OPUS: where its lines are from
            found.setdefault(("bitexts", name.label), {}).setdefault(name.pair, []).append(path)
        elif name.one_language and name.side:
            found.setdefault(("files", name.label), {}).setdefault((name.side,), []).append(path)
    for (label, _), by_side in sides.items():
        if len(by_side) == 2:
            languages = tuple(by_side)
            # Two pairs may be one after their codes are made standard (kzj and dtp): their rows are joined.
            found.setdefault(("moses", label), {}).setdefault(languages, []).extend(by_side.values())
    return [
        _file_set(kind, label, folder, members)
        for (kind, label), members in sorted(found.items())
        if kind != "files" or len(members) > 1
    ]


def _file_set(kind: str, label: str, folder: Path, members: Mapping[tuple[str, ...], list[Path]]) -> FileSet:
    """The set, where a language's plain file goes before that of its main region, which is left out.

    NTREX has eng and eng-US, por and por-BR.
    """
    chosen = {languages: tuple(paths) for languages, paths in members.items()}
    left_out: list[Path] = []
    for languages, paths in chosen.items():
        plain = [
            path
            for path in paths
            if any(
                re.fullmatch("[A-Za-z]{2,3}", part)
                and codes.is_language(part)
                and (codes.canonical(part),) == languages
                for part in path.name.split(".")
            )
        ]
        if kind == "files" and len(plain) == 1 < len(paths):
            chosen[languages] = tuple(plain)
            left_out += [path for path in paths if path not in plain]
    return FileSet(kind, label, folder, chosen, tuple(left_out))


def _pair(part: str) -> tuple[str, str] | None:
    match = _PAIR.fullmatch(part)
    if not match or not all(codes.is_language(code) and code not in _TAILS for code in match.groups()):
        return None
    source, target = (codes.canonical(code) for code in match.groups())
    return None if source == target else (source, target)


def _pair_part(filename: str) -> str:
    return next(part for part in filename.split(".") if _pair(part))
