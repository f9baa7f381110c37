"""From what the user typed to a reader: which file or files are meant, and which format they are in."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.paths import regular, usable_path
from interlingua.readers import readers, sniffers
from interlingua.readers.corpus_builder import language_of, too_few_languages
from interlingua.readers.documents import Document, open_document
from interlingua.readers.file_names import FileSet, find_file_sets, parse
from interlingua.readers.table import header_cells
from interlingua.readers.xquad import is_squad


@dataclass(frozen=True)
class Request:
    """What the user asked for beside the path: canonical languages, a format, an encoding, a column of each file."""

    languages: tuple[str, ...] | None
    format: str | None
    encoding: str | None
    column: int | str | None = None


_ACCEPTED = (
    "Accepted: TSV or CSV with a header of languages, a two-column name.xx-yy.tsv, TMX, JSON Lines, files "
    "name.xx and name.yy, FLORES-200, NTREX, Moses and LASER bitexts, XQuAD; each plain, gz, bz2, xz or zst."
)


def read(given: str, request: Request, *, stdin: BinaryIO | None) -> ParallelCorpus:
    """The corpus that the user's word stands for."""
    if request.format is not None and readers[request.format].needs not in ("file", "folder"):
        known = ", ".join(entry.name for entry in readers if entry.needs in ("file", "folder"))
        raise InputError("not a format of corpus files", value=request.format, remedy=f"Known: {known}.")
    if request.column is not None and (given in ("-", "sampler") or given.startswith("hf:")):
        raise _no_column(request.column, given)
    if given == "sampler" or given.startswith("hf:"):
        reader = "sampler" if given == "sampler" else "hf"
        return cast(
            ParallelCorpus,
            readers[reader].call(given.removeprefix("hf:"), languages=request.languages),
        )
    if given == "-":
        document = Document(stdin or sys.stdin.buffer, name="stdin", encoding=request.encoding)
        return _read_document(document, request)
    if "," in given and not os.path.lexists(given):
        return _read_set(_listed(given, request.languages), request)
    path = usable_path(given)
    if path.is_dir():
        return _read_folder(path, request)
    if path.is_file() or path.is_fifo():
        return _read_file(path, request)
    if named := _named_sets(path):
        return _read_set(_only(named, path), request)
    raise missing_file(path)


def corpus_files(
    given: str, languages: Sequence[str] = (), *, folder: Path | None = None
) -> tuple[str, tuple[Path, ...]]:
    """What names a corpus beside its files, and those files: of these languages, where their names show them.

    Paths start from `folder`. The name "." is that of a whole folder, names between commas are the files themselves; a
    corpus that is no file has its name alone.
    """
    if given == "sampler" or given.startswith("hf:"):
        return given, ()

    def place(name: str) -> Path:
        return (folder or Path()) / usable_path(name, home=folder is not None)

    if "," in given and not os.path.lexists(place(given)):
        paths = tuple(place(part.strip()) for part in given.split(",") if part.strip())
        for each in paths:
            if not each.is_file():
                raise missing_file(each)
        return ",".join(each.name for each in paths), paths
    path = place(given)
    if path.is_file():
        beside = [each for each in find_file_sets(path.parent, _files(path.parent)) if each.kind != "bitexts"]
        own = [each for each in beside if any(path in paths for paths in each.members.values())]
        others = [file for file in _members(own, languages) if file != path]
        return path.name, (path, *others)
    if path.is_dir():
        names = _files(path)
        found = _members(find_file_sets(path, names), languages)
        return ".", found or tuple(path / name for name in names if not name.startswith("."))
    if named := _named_sets(path):
        return path.name, _members(named, languages)
    raise missing_file(path)


def _members(sets: Iterable[FileSet], languages: Sequence[str]) -> tuple[Path, ...]:
    """The files of sets, those of other languages left out where any are named."""
    members = [member for each in sets for member in each.members.items()]
    return tuple(path for codes, paths in members if not languages or set(codes) & set(languages) for path in paths)


def _named_sets(path: Path) -> list[FileSet]:
    """The sets of files that a path names where no file is: by the label, or what all names begin with."""
    if not path.parent.is_dir():
        return []
    sets = find_file_sets(path.parent, _files(path.parent))
    named = [each for each in sets if each.label == path.name] or [
        each for each in sets if path.name and each.label.startswith(f"{path.name}.")
    ]
    return named or [part for each in sets if (part := _with_prefix(each, f"{path.name.removesuffix('.*')}."))]


def _no_column(column: int | str, file: str) -> InputError:
    return InputError(
        "a column is named, and this is not one file per language",
        file=file,
        value=column,
        remedy="Leave --column out; a table with a header of languages names its columns itself.",
    )


def _with_prefix(files: FileSet, prefix: str) -> FileSet | None:
    """The bitexts of a set whose files begin with a prefix (`tatoeba.tur-eng`), or None where there are none."""
    members = {
        languages: tuple(path for path in paths if path.name.startswith(prefix))
        for languages, paths in files.members.items()
    }
    members = {languages: paths for languages, paths in members.items() if paths}
    return replace(files, members=members) if members and files.kind != "files" else None


def missing_file(path: Path) -> InputError:
    """The error for a path where no file is: what is in its place, or else the nearest name beside it."""
    if path.is_dir():
        return InputError("a folder where a file was expected", file=path, remedy="Give a file in it.")
    try:
        regular(path)
    except InputError as error:
        return error
    if os.path.lexists(path):
        return InputError("a link that leads nowhere", file=path, remedy="Give the file itself.")
    folder = path.parent
    if not folder.is_dir():
        return InputError("no such file", value=str(path), remedy=f"There is no folder {folder} either.")
    near = difflib.get_close_matches(path.name, [entry.name for entry in folder.iterdir()], n=1, cutoff=0.5)
    remedy = f"Did you mean {folder / near[0]}?" if near else f"Nothing in {folder} has a similar name."
    return InputError("no such file", value=str(path), remedy=remedy)


def _read_file(path: Path, request: Request) -> ParallelCorpus:
    if request.format is not None and readers[request.format].needs == "folder":
        return _read_set(_siblings(path, request.encoding), request)
    with open_document(path, encoding=request.encoding) as document:
        reader = request.format or _recognised(document, request.languages)
        if reader is not None and request.column is not None:
            raise _no_column(request.column, document.name)
        if reader is not None:
            return cast(ParallelCorpus, readers[reader].call(document, languages=request.languages))
        document.check_head()
    return _read_set(_siblings(path, request.encoding), replace(request, format=None))


def _read_document(document: Document, request: Request) -> ParallelCorpus:
    if request.format is not None and readers[request.format].needs == "folder":
        raise InputError(
            "needs several files", file=document.name, value=request.format, remedy="Give a folder or files."
        )
    reader = request.format or _recognised(document, request.languages)
    if reader is None:
        document.check_head()
        raise _unrecognised(document)
    return cast(ParallelCorpus, readers[reader].call(document, languages=request.languages))


def _recognised(document: Document, asked: tuple[str, ...] | None) -> str | None:
    """The first reader whose sniffer takes the document for its own."""
    return next((entry.name for entry in sniffers if entry.call(document, asked)), None)


def _siblings(path: Path, encoding: str | None) -> FileSet:
    """The set of files that a file belongs to."""
    sets = find_file_sets(path.parent, _files(path.parent))
    for each in sets:
        for languages, paths in each.members.items():
            if path in paths:
                pair_only = each.kind == "moses"  # corpus.en-ru.en asks for its own pair, not for all of OPUS.
                members = {languages: paths} if pair_only else each.members
                return FileSet(each.kind, each.label, each.folder, members)
    with open_document(path, encoding=encoding) as document:
        raise _unrecognised(document)


def _unrecognised(document: Document) -> InputError:
    cells = header_cells(document.first_line)
    found = [code for cell in cells if (code := language_of(cell))]
    if len(cells) > 1 and (found or "\t" in document.first_line):
        return too_few_languages(found, cells, document.name, 1)
    return InputError(
        "not recognised as a parallel corpus; it begins with",
        file=document.name,
        value=document.first_line,
        remedy=_ACCEPTED,
    )


def _read_folder(folder: Path, request: Request) -> ParallelCorpus:
    if request.format is not None and readers[request.format].needs == "file" and request.format != "bitext":
        raise InputError(
            "a folder where a file was expected", file=folder, remedy=f"Give one {request.format} file in it."
        )
    names = _files(folder)
    sets = find_file_sets(folder, names)
    if request.format is not None and request.format in {each.kind for each in sets}:
        sets = [each for each in sets if each.kind == request.format]
    if sets:
        return _read_set(_only(sets, folder), request)
    taken = [name for name in names if not name.startswith(".") and _taken(folder / name, request)]
    if len(taken) == 1:
        return _read_file(folder / taken[0], request)
    if taken:
        raise InputError(
            "several corpora in one folder", file=folder, value=_shown(taken), remedy="Give the path of one of them."
        )
    inner = sorted(entry for entry in folder.iterdir() if entry.is_dir() and find_file_sets(entry, _files(entry)))
    raise InputError(
        "no recognisable corpus in the folder",
        file=folder,
        value=_shown(names) or "nothing",
        remedy=f"There is one in {' and in '.join(map(str, inner[:3]))}: give that folder." if inner else _ACCEPTED,
    )


def _taken(path: Path, request: Request) -> bool:
    try:
        with open_document(path, encoding=request.encoding) as document:
            return _recognised(document, request.languages) is not None
    except InputError:  # A picture or an empty file beside the corpus is no corpus.
        return False


def _read_set(files: FileSet, request: Request) -> ParallelCorpus:
    format = request.format or files.kind
    if {format, files.kind} == {"files", "moses"}:  # Both are pairs of files to a user; their names tell them apart.
        format = files.kind
    if request.format is None and files.kind == "files":
        wanted = (paths for (code,), paths in files.members.items() if code in (request.languages or files.languages))
        first = next(wanted, next(iter(files.members.values())))[0]
        with open_document(first, encoding=request.encoding) as document:
            format = "xquad" if is_squad(document) else "files"
    reader = readers["bitexts" if format == "bitext" else format]
    if reader.needs != "folder":
        raise InputError("reads one file, not several", file=files.file, value=reader.name, remedy="Give one file.")
    options: dict[str, Any] = {"languages": request.languages, "encoding": request.encoding}
    if request.column is not None:
        if reader.name != "files":
            raise _no_column(request.column, files.file)
        options["column"] = request.column
    return cast(ParallelCorpus, reader.call(files, **options))


def _only(sets: list[FileSet], path: Path) -> FileSet:
    """The one set there is; where there are several, the user says which."""
    if len(sets) > 1:
        labels = ", ".join(each.label for each in sets)
        raise InputError(
            "several corpora in one folder", file=path, value=labels, remedy=f"Give one of them, such as {sets[0].file}"
        )
    return sets[0]


def _listed(given: str, asked: tuple[str, ...] | None) -> FileSet:
    """The files of a comma list: bitexts, or one language each, by their names, else in the order asked for."""
    paths = [usable_path(part.strip()) for part in given.split(",") if part.strip()]
    if not paths:
        raise InputError("no file is named", value=given, remedy="Give files with a comma between them.")
    for path in paths:
        if path.is_dir():
            raise InputError("a folder where a file was expected", file=path, remedy="List files only.")
        if not path.is_file():
            raise missing_file(path)
    names = [parse(path.name) for path in paths]
    label = ",".join(path.name for path in paths)
    if all(name.pair and not name.side for name in names):
        bitexts: dict[tuple[str, ...], tuple[Path, ...]] = {}
        for name, path in zip(names, paths, strict=True):
            bitexts[name.pair or ()] = (*bitexts.get(name.pair or (), ()), path)
        return FileSet("bitexts", label, paths[0].parent, bitexts)
    sides: list[str | None] = [name.side for name in names]
    if all(name.pair and name.side for name in names) and len(paths) > 2:
        return FileSet("moses", label, paths[0].parent, _moses_pairs(paths))
    if None in sides:
        if asked is None or len(asked) != len(paths):
            nameless = paths[sides.index(None)]
            raise InputError(
                "its name contains no language",
                file=nameless,
                remedy="Give the languages, one per file, in the same order.",
            )
        sides = list(asked)
    members: dict[tuple[str, ...], tuple[Path, ...]] = {}
    for side, path in zip(sides, paths, strict=True):
        members[(side or "",)] = (*members.get((side or "",), ()), path)
    return FileSet("files", label, paths[0].parent, members)


def _moses_pairs(paths: list[Path]) -> dict[tuple[str, ...], tuple[Path, ...]]:
    """Both sides of each bitext among files such as `a.en-ru.en`; a side without its other one is an error."""
    sides: dict[str, list[Path]] = {}
    for path in paths:
        name = parse(path.name)
        assert name.pair is not None
        sides.setdefault(f"{path.parent} {name.label} {name.pair}", []).append(path)
    members: dict[tuple[str, ...], tuple[Path, ...]] = {}
    for pair in sides.values():
        languages = tuple(parse(path.name).side or "" for path in pair)
        if len(pair) != 2 or languages[0] == languages[1]:
            raise InputError(
                "one side of a bitext without the other", file=pair[0], remedy="Give both files of each bitext, once."
            )
        members[languages] = (*members.get(languages, ()), *pair)
    return members


def _files(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.is_file())


def _shown(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
