"""Linked text: sentence pairs and their word links, given as they are or read from files and aligned when needed."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from interlingua.analyses.word_alignment import AlignerChoice, Alignment, BitextSide, ReadingRules, align, read_rows
from interlingua.corpus import ParallelCorpus
from interlingua.engine.atomic_files import write_atomically, write_text
from interlingua.errors import InputError
from interlingua.objectives.adjustment import check_option_value
from interlingua.paths import json_value
from interlingua.readers.file_names import parse
from interlingua.readers.format_detection import missing_file
from interlingua.readers.scripts import checked, foreign_rows
from interlingua.readers.sentence_pairs import open_bitext
from interlingua.wordalign.links import Links, write_pharaoh
from interlingua.words import Sentence, field_spans, token_spans

__all__ = ["AlignerChoice", "LinkedFiles", "LinkedText", "check_aligner", "linked_text", "linking_of"]

Progress = Callable[[str, int, int], None]
SIDES = ("source", "target")


@dataclass(frozen=True)
class LinkedText:
    """Sentence pairs and their word links; the source is the language that stays (English).

    `notes` say what was left out on the way here.
    """

    source: Sequence[Sentence]
    target: Sequence[Sentence]
    links: Links
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, alignment: Alignment, *, english: str = "source") -> LinkedText:
        """What aligning found; `english` says which side stays."""
        check_option_value("side", english, SIDES)
        rows, links = alignment.rows, alignment.links
        notes = (*(str(left) for left in alignment.left_out), *alignment.notes)
        if english == "source":
            return cls(rows.source, rows.target, links, notes)
        return cls(rows.target, rows.source, links.turned(), notes)

    def take(self, rows: Sequence[int]) -> LinkedText:
        """Some rows, in this order."""
        place = np.full(len(self.source), -1)
        place[np.asarray(rows, np.int64)] = np.arange(len(rows))
        moved = place[self.links.row]
        kept = moved >= 0
        links = Links.of(moved[kept], self.links.source[kept], self.links.target[kept])
        return LinkedText([self.source[row] for row in rows], [self.target[row] for row in rows], links, self.notes)

    @cached_property
    def usable(self) -> list[int]:
        """The rows with words on both sides; lines that could not be read are empty."""
        sides = [
            side.filled() if isinstance(side, BitextSide) else [bool(sentence.spans) for sentence in side]
            for side in (self.source, self.target)
        ]
        return [row for row, both in enumerate(zip(*sides, strict=True)) if all(both)]

    @cached_property
    def digest(self) -> str:
        """A hash of texts and links."""
        state = hashlib.blake2b(digest_size=16)
        for array in (self.links.row, self.links.source, self.links.target):
            state.update(np.ascontiguousarray(array).data)
        for texts in self.texts:
            for text in texts:
                state.update(b"\x1f" + text.encode())
        return state.hexdigest()

    @property
    def texts(self) -> list[Sequence[str]]:
        """The texts of both sides, without cutting them into words, which takes longer than all else here."""
        return [
            side.texts if isinstance(side, BitextSide) else [sentence.text for sentence in side]
            for side in (self.source, self.target)
        ]

    def write(self, folder: Path, language: str) -> LinkedFiles:
        """The usable rows as files, named by their digest and language: text, and links that fit how it is cut.

        Files that are there already have the same content, and are left alone.
        """
        text = self.take(self.usable)
        name = f"{text.digest}.en-{language}"
        file, links = folder / f"{name}.tsv", folder / f"{name}.links"
        cut, rows = _cut_of(text), list(zip(*text.texts, strict=True))
        if any(set("\t\n\r") & set(side) for row in rows for side in row):
            raise InputError("a text with a tab or a line break", value=language, remedy="Put a space in its place.")
        if not file.is_file():
            write_text(file, "".join(f"{ours}\t{theirs}\n" for ours, theirs in rows))
        if not links.is_file():
            write_text(links, "".join(f"{line}\n" for line in write_pharaoh(text.links, len(rows))))
        return LinkedFiles((file,), links, "source", tokenize=cut)


def _cut_of(text: LinkedText) -> str:
    """How a text was cut into words: in one of the ways in which its file can be cut again."""
    sentences = [*text.source, *text.target]
    for cut, spans in (("words", token_spans), ("space", field_spans)):
        if all(sentence.spans == spans(sentence.text) for sentence in sentences):
            return cut
    raise InputError(
        "text whose words are neither those of interlingua nor separated by spaces",
        remedy="Make it by LinkedText.of(interlingua.align(pairs)).",
    )


def linking_of(
    aligner: str | None, model: str, *, device: str | None = None, aligner_model: str | None = None
) -> AlignerChoice:
    """How words are linked where no file says so; no aligner said is `diagonal`, no model of its own is `model`."""
    linking = AlignerChoice(aligner or "diagonal", aligner_model or model, device)
    if aligner_model is not None and linking.method != "neural":
        raise InputError(
            "--aligner-model has nothing to do here", value=aligner_model, remedy="It is for --aligner neural."
        )
    return linking


def check_aligner(aligner: str | None, texts: Iterable[LinkedFiles | LinkedText]) -> None:
    """Refuse an aligner that was asked for where it has nothing to link: every text has links, or there is no text."""
    if aligner is None or any(isinstance(text, LinkedFiles) and text.links is None for text in texts):
        return
    raise InputError(
        "--aligner has nothing to do here",
        value=aligner,
        remedy="It links bitexts that have no links: leave it out, or leave out --links.",
    )


@dataclass(frozen=True)
class LinkedFiles:
    """A bitext in a file or in two, with a file of links or the way to make them; read when `read` is called.

    `english` is the side that stays; None: the one that is in `source` by the files' names (`x.ru-en.tsv` has English
    second), else the first. `tokenize` is how text is cut into words, as `interlingua.align` has it.
    """

    files: tuple[Path, ...]
    links: Path | None = None
    english: str | None = None
    linking: AlignerChoice = field(default_factory=AlignerChoice)
    source: str = "en"
    tokenize: str = "auto"

    def __post_init__(self) -> None:
        if len(self.files) not in (1, 2):
            raise InputError("a bitext is one file, or two", value=str(len(self.files)), remedy="Give one or two.")
        for path in (*self.files, *([] if self.links is None else [self.links])):
            if not path.is_file():
                raise missing_file(path)
        if self.english is not None:
            check_option_value("side", self.english, SIDES)

    @property
    def stays(self) -> str:
        """The side that stays, source or target."""
        first, second = self._named
        return self.english or ("target" if second == self.source != first else "source")

    @cached_property
    def _named(self) -> tuple[str | None, str | None]:
        """The languages of both sides, by a first line that names them, or by the names of the files."""
        names = [parse(path.name) for path in self.files]
        if len(names) == 2:
            return names[0].side, names[1].side
        with open_bitext(self.files[0]) as bitext:
            return bitext.languages or names[0].pair or (None, None)

    @property
    def language(self) -> str | None:
        """The language that is adjusted, by the file's first line or its name, where they say so."""
        return self._named[1 if self.stays == "source" else 0]

    @property
    def staying(self) -> str:
        """The language that stays, by the file's first line or its name; where they do not say so, `source`."""
        return self._named[0 if self.stays == "source" else 1] or self.source

    @cached_property
    def digest(self) -> str:
        """A hash of the files' content and of how they are linked."""
        cut = "" if self.tokenize == "auto" else f" {self.tokenize}"
        about = f"{self.stays} {self.linking.named} {self.links is not None}{cut}"
        state = hashlib.blake2b(about.encode(), digest_size=16)
        for path in (*self.files, *([] if self.links is None else [self.links])):
            state.update(hashlib.blake2b(path.read_bytes()).digest())
        return state.hexdigest()

    def read(self, kept: Path, *, progress: Progress | None = None) -> LinkedText:
        """The text with its links; they are kept in a file, and taken from there the next time."""
        source, target = self.files[0], self.files[1] if len(self.files) == 2 else None
        if (before := _kept_links(kept)) is not None:
            links, about = before
            rows = read_rows(source, target, ReadingRules(cut=about["cut"]))
            again = Alignment(links, rows, left_out=rows.left_out, notes=tuple(about["notes"]))
            return self._checked(LinkedText.of(again, english=self.stays))
        made = align(
            source,
            target,
            linking=self.linking,
            links=() if self.links is None else (self.links,),
            reading=ReadingRules(cut=self.tokenize),
            progress=progress,
        )
        kept.parent.mkdir(parents=True, exist_ok=True)
        left = {str(each) for each in made.rows.left_out}  # Found again when the text is read again.
        notes = [*(str(each) for each in made.left_out if str(each) not in left), *made.notes]
        arrays = {name: getattr(made.links, name) for name in ("row", "source", "target")}
        arrays["about"] = np.array(json.dumps({"cut": made.rows.source.cut, "notes": notes}))
        write_atomically(kept, lambda file: np.savez(file, **arrays))
        return self._checked(LinkedText.of(made, english=self.stays))

    def _checked(self, text: LinkedText) -> LinkedText:
        """The text; an error where the side that stays is in another script, a note where the other side is."""
        name = ", ".join(path.name for path in self.files)
        ours, theirs = text.texts
        checked(ParallelCorpus({self.staying: tuple(ours)}, name))
        foreign = None if self.language is None else foreign_rows(self.language, theirs)
        return text if foreign is None else replace(text, notes=(*text.notes, str(foreign)))


def _kept_links(kept: Path) -> tuple[Links, dict[str, Any]] | None:
    """The links of a file and what was noted; None where there is none, or it is damaged: they are made anew."""
    try:
        with np.load(kept) as found:
            about = json_value(str(found["about"]))
            return Links(found["row"], found["source"], found["target"]), {
                "cut": str(about["cut"]),
                "notes": [str(note) for note in about["notes"]],
            }
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error):
        return None


def linked_text(
    source: str | Path, target: str | Path | None = None, *, links: str | Path | None = None, english: str = "source"
) -> LinkedText:
    """A bitext from files with its links: those of a Pharaoh file, or the statistical aligner's."""
    return LinkedText.of(align(source, target, links=() if links is None else (links,)), english=english)
