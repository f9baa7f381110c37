"""Data files that anyone may have written: each is read, or refused, within bounds of time and memory.

A sample is a small whole file, or a few that belong together. It is damaged in its bytes, in its structure (every cell
of a table, every node of a JSON text, every value of a TOML file × a table of nasty values), written in every codec,
compressed, and cut at every byte. What is read must give account of every row of the file: kept, or counted as skipped.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import random
import re
import string
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hostile.bounded import SECONDS, Outcome, run_bounded
from hostile.mutations import CODECS, NASTY, damaged_bytes, damaged_documents, json_bytes
from interlingua import languages as codes
from interlingua.corpus import ParallelCorpus
from interlingua.readers import read_corpus
from interlingua.readers.documents import open_document
from interlingua.readers.examples import Examples
from interlingua.readers.sentence_pairs import open_bitext
from interlingua.readers.squad import read_questions
from interlingua.readers.tagged_words import read_tagged
from interlingua.readers.word_lists import read_dictionary, read_vectors
from interlingua.studies.config.recipe import read_config
from interlingua.studies.validation import read_study
from interlingua.synthetic.files import read_slotted, read_syntheticner
from interlingua.tasks import tasks
from interlingua.training.text import lines_of
from interlingua.wordalign.quality import read_gold

ROWS = [("The tap leaks.", "Кран течёт."), ("It's late", "Уже поздно"), ('She said "no".', "Она сказала «нет»."),
        ("Ten, or 10; done", "Десять, или 10; всё")]  # fmt: skip
SQUAD = {"version": "1.1", "data": [{"title": "T", "paragraphs": [
    {"context": "Ada wrote the first program in 1843.", "qas": [
        {"id": "q1", "question": "Who wrote it?", "answers": [{"text": "Ada", "answer_start": 0}]},
        {"id": "q2", "question": "When?", "answers": [{"text": "1843", "answer_start": 31}]}]}]}]}  # fmt: skip
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en" segtype="sentence"/><body>
<tu tuid="1"><tuv xml:lang="en-US"><seg>The <bpt i="1">&lt;b&gt;</bpt>tap<ept i="1">&lt;/b&gt;</ept> leaks.</seg></tuv>
<tuv xml:lang="ru"><seg>Кран <hi>течёт</hi>.</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>It's late &amp; dark</seg></tuv><tuv xml:lang="RU"><seg>Уже поздно</seg></tuv></tu>
</body></tmx>
"""
IOB = "Ada NNP B-NP B-PER\nLovelace NNP I-NP I-PER\nwrote VBD B-VP O\n\nParis NNP B-NP B-LOC\nsleeps VBZ B-VP O\n"
STUDY = Path(__file__).resolve().parents[2] / "studies" / "adjustment.toml"
RECIPE = Path(__file__).resolve().parents[2] / "recipes" / "tiny-bilingual-en-ru.toml"


def table(rows: list[tuple[str, ...]], separator: str = "\t", header: tuple[str, ...] = ("en", "ru")) -> str:
    return "".join(separator.join(row) + "\n" for row in [header, *rows])


def quoted(separator: str) -> str:
    sheet = io.StringIO()
    csv.writer(sheet, delimiter=separator).writerows([("en", "ru"), *ROWS])
    return sheet.getvalue()


def csv_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def lines(text: str) -> list[str]:
    """The lines that have text, cut at LF, CRLF and CR, and at nothing else."""
    return [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]


def all_lines(text: str) -> int:
    """The number of lines, blank ones too; no last one is made by the end of the last."""
    return len(re.split(r"\r\n|\r|\n", re.sub(r"(\r\n|\r|\n)\Z", "", text)))


@dataclass(frozen=True)
class Sample:
    """Files by name, what reads them, and how many rows there are by an independent count of the first file's text."""

    files: dict[str, str]
    read: Callable[[Path], object]
    rows: Callable[[str], int] | None = None
    structured: bool = False
    """Whether the format itself says where a file ends: then no cut one may be accepted."""


def corpus_of(name: str, **options: Any) -> Callable[[Path], object]:
    return lambda folder: read_corpus(folder / name if name else folder, **options)


def pairs_of(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        with open_bitext(folder / name) as bitext:
            return [(pair.source, pair.target, pair.problem) for pair in bitext.pairs]

    return read


def links_of(folder: Path, base: int | None = 0) -> object:
    with open_document(folder / "gold.links") as document:
        return read_gold(document.lines(), file=document.name, lengths=[(3, 3), (2, 2), (4, 4)], base=base)


def labelled(text: str) -> int:
    """The rows of a table of labelled pairs, which may have lost its header."""
    return len(lines(text)) - (bool(lines(text)) and "label" in lines(text)[0].split("\t"))


def objects(text: str) -> int:
    return len(lines(text))


SAMPLES: dict[str, Sample] = {
    "tsv": Sample({"a.tsv": table(ROWS)}, corpus_of("a.tsv"), lambda text: len(lines(text)) - 1),
    "csv": Sample({"a.csv": quoted(",")}, corpus_of("a.csv")),
    "csv with semicolons": Sample({"a.csv": quoted(";")}, corpus_of("a.csv")),
    "bitext": Sample({"a.en-ru.tsv": table(ROWS[1:], header=ROWS[0])}, corpus_of("a.en-ru.tsv"),
                     lambda text: len(lines(text))),
    "json lines": Sample({"a.jsonl": "".join(json.dumps({"en": a, "ru": b}) + "\n" for a, b in ROWS)},
                         corpus_of("a.jsonl"), objects, structured=True),
    "translations": Sample({"a.jsonl": "".join(json.dumps({"id": n, "translation": {"en": a, "ru": b}}) + "\n"
                                               for n, (a, b) in enumerate(ROWS))}, corpus_of("a.jsonl"), objects, True),
    "tmx": Sample({"a.tmx": TMX}, corpus_of("a.tmx"), structured=True),
    "files": Sample({f"a.{code}": "".join(row[n] + "\n" for row in ROWS) for n, code in enumerate(("en", "ru"))},
                    corpus_of("a"), all_lines),
    "moses": Sample({f"a.en-ru.{code}": "".join(row[n] + "\n" for row in ROWS) for n, code in enumerate(("en", "ru"))},
                    corpus_of("a.en-ru"),
                    all_lines),
    "xquad": Sample({f"xquad.{code}.json": json.dumps(SQUAD) for code in ("en", "ru")}, corpus_of(""), structured=True),
    "squad": Sample({"a.json": json.dumps(SQUAD, indent=1)}, lambda folder: read_questions(folder / "a.json",
                    language="en"), structured=True),
    "nli": Sample({"a.tsv": table([("It rains.", "It is wet.", "entailment"), ("A", "B", "neutral")], header=(
                   "premise", "hypo", "label"))}, lambda folder: tasks["nli"].call().read(folder / "a.tsv", "en"),
                  labelled),
    "nli without header": Sample({"a.tsv": "It rains.\tIt is wet.\t0\nA\tB\t1\n"},
                                 lambda folder: tasks["nli"].call().read(folder / "a.tsv", "en"),
                                 lambda text: len(lines(text))),
    "nli json": Sample({"a.jsonl": '{"gold_label": "entailment", "sentence1": "It rains.", "sentence2": "It is wet."}\n'
                                   '{"gold_label": "neutral", "sentence1": "A", "sentence2": "B"}\n'},
                       lambda folder: tasks["nli"].call().read(folder / "a.jsonl", "en"), objects, True),
    "paws": Sample({"a.tsv": "id\tsentence1\tsentence2\tlabel\n1\tA b.\tB a.\t1\n2\tA b.\tA c.\t0\n"},
                   lambda folder: tasks["paraphrase"].call().read(folder / "a.tsv", "en"),
                   labelled),
    "iob": Sample({"a.iob": IOB}, lambda folder: read_tagged(folder / "a.iob", language="en"),
                  lambda text: len(lines(text))),
    "iob, index first": Sample({"a.tsv": "0\tAda\tB-PER\n1\twrote\tO\n\n0\tParis\tB-LOC\n1\tsleeps\tO\n"},
                               lambda folder: read_tagged(folder / "a.tsv", language="en"),
                               lambda text: len(lines(text))),
    "iob, comments": Sample({"a.tsv": "# id 1\tdomain=en\nAda _ _ B-PER\nwrote _ _ O\n\n# id 2\tdomain=en\nParis _ _ "
                             "B-LOC\n"}, lambda folder: read_tagged(folder / "a.tsv", language="en")),
    "iob, names of columns": Sample({"a.tsv": "Sentence #\tWord\tTag\nSentence: 1\tAda\tB-PER\n\twrote\tO\n"
                                     "Sentence: 2\tParis\tB-LOC\n"},
                                    lambda folder: read_tagged(folder / "a.tsv", language="en")),
    "bioes": Sample({"a.tsv": "Ada\tB-PER\nLovelace\tE-PER\nwrote\tO\n\nParis\tS-LOC\n"},
                    lambda folder: read_tagged(folder / "a.tsv", language="en"), lambda text: len(lines(text))),
    "files, a column": Sample({f"x.{code}": "".join(f"{n},{csv_cell(row[side])}\n" for n, row in enumerate(ROWS))
                               for side, code in enumerate(("en", "ru"))}, corpus_of("x", column=2)),
    "bitext, numbers": Sample({"a.en-ru.tsv": "".join(f"1.{n}\t{a}\t{b}\n" for n, (a, b) in enumerate(ROWS))},
                              corpus_of("a.en-ru.tsv")),
    "tsv, quoted": Sample({"a.tsv": "en\tru\n" + "".join(f'"{a} ""x"""\t{b}\n' for a, b in ROWS)}, corpus_of("a.tsv")),
    "source and target": Sample({"a.jsonl": "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in ROWS)},
                                corpus_of("a.jsonl", languages=["en", "ru"]), objects, structured=True),
    "xquad, contexts": Sample({f"xquad.{code}.json": json.dumps(SQUAD) for code in ("en", "ru")},
                              corpus_of("", format="xquad-contexts"), structured=True),
    "NTREX": Sample({"newstest2019-src.eng.txt": "The tap.\nIt is.\n", "newstest2019-ref.rus.txt": "Кран.\nДа.\n"},
                    corpus_of("")),
    "links with words": Sample({"gold.links": "a b c\td e f\t0-0 1-1\na b\tc d\t0-1\na b c d\ta b c d\t3-3\n"},
                               lambda folder: links_of(folder, base=None)),
    "links by rows": Sample({"gold.links": "1 1 1 S\n1 2 2 P\n2 1 1\n"}, lambda folder: links_of(folder, base=None)),
    "pipes": Sample({"a.txt": "".join(f"{a} ||| {b}\n" for a, b in ROWS)}, pairs_of("a.txt"),
                    all_lines),
    "columns to align": Sample({"a.tsv": table(ROWS[1:], header=ROWS[0])}, pairs_of("a.tsv"),
                               all_lines),
    "links": Sample({"gold.links": "0-0 1-1 2p2\n0-1\n3-3 0-0\n"}, links_of),
    "dictionary": Sample({"en-ru.txt": "tea чай\nnew york\tнью-йорк\ncat кот\n"},
                         lambda folder: read_dictionary(folder / "en-ru.txt")),
    "word vectors": Sample({"a.vec": "3 2\ntea 0.5 -1\ncup 1e-3 0.25\nnew york 2 3\n"},
                           lambda folder: read_vectors(folder / "a.vec")),
    "contexts": Sample({"LOC.locative.contexts.tsv": "en\tru\nI live [???].\tЯ живу [???].\nIn [???].\tВ [???].\n"},
                       lambda folder: read_slotted(folder / "LOC.locative.contexts.tsv")),
    "names": Sample({"PER.male.names.tsv": "en\ttr\nin [Canada]\t[Kanada]'da\n[Paris]\t[Paris]\n"},
                    lambda folder: read_slotted(folder / "PER.male.names.tsv")),
    "SyntheticNER": Sample({"PER_NOM_names.csv": ",en,ru,gender\n0,Ada (poet),Ада,f\n1,Bob,Боб,m\n"},
                           lambda folder: read_syntheticner(folder / "PER_NOM_names.csv")),
    "plain text": Sample({"en.txt": "".join(f"{a}\n" for a, _ in ROWS)},
                         lambda folder: list(lines_of(folder / "en.txt")), lambda text: len(lines(text))),
    "recipe": Sample({"a.toml": RECIPE.read_text("utf-8")}, lambda folder: read_config(folder / "a.toml")),
    "study": Sample({"a.toml": STUDY.read_text("utf-8").replace('"published/', f'"{STUDY.parent}/published/')},
                    lambda folder: read_study(folder / "a.toml", size="tiny")),
}  # fmt: skip


def accounted(result: object) -> int | None:
    """The rows that a result gives account of: kept, or skipped and counted."""
    if isinstance(result, ParallelCorpus):
        return len(result) + sum(skip.count for skip in result.skipped if re.search("rows", skip.reason))
    if isinstance(result, Examples):
        words = [len(item.words) if hasattr(item, "words") else 1 for item in result]
        kinds = "comments|marks" if hasattr(result[0], "words") else "pairs"
        return sum(words) + sum(skip.count for skip in result.skipped if re.search(kinds, skip.reason))
    return len(result) if isinstance(result, list) else None


def cells(text: str) -> Iterator[tuple[str, str]]:
    """Every cell of every line × every nasty value; every line twice, left out, or with a cell too many or too few."""
    rows = text.split("\n")
    for number, row in enumerate(rows[:-1]):
        parts = re.split(r"([\t,;]|\|\|\|)", row)
        for place in range(0, len(parts), 2):
            for value in NASTY:
                shown = value if isinstance(value, str) else json.dumps(value) if value != 10**400 else "9" * 400
                changed = [*parts[:place], shown, *parts[place + 1 :]]
                yield (
                    f"cell {number}.{place // 2} = {shown[:20]!r}",
                    "\n".join([*rows[:number], "".join(changed), *rows[number + 1 :]]),
                )
        for what, changed_rows in (
            ("twice", [row, row]), ("left out", []), ("a cell more", [row + "".join(parts[1:2] or ["\t"]) + "x"]),
            ("a cell less", ["".join(parts[:-2])]), ("spaces", [row + " " * 120_000 + "x"]),
            ("40,000 columns", ["\t".join([row] * 20_000)]), ("blank", ["", row]),
        ):  # fmt: skip
            yield f"line {number} {what}", "\n".join([*rows[:number], *changed_rows, *rows[number + 1 :]])


TOML_VALUES = (
    '""', "0", "-1", "9" * 400, "1" + "0" * 5000, "nan", "inf", "-inf", "true", "[]", "[[]]", "{}",
    "[" * 400 + "]" * 400, "1979-05-27", "07:32:00",
    '"\\u0000"', '"../../../etc/passwd"', '"/dev/zero"', '["en", "en"]',
    '["zz9"]',
    '"' + "a" * 5000 + '"', "0.5", "1e999", "{a = {a = {a = []}}}", "[1, 'a', nan]", '"\\ud800"', "'en'", '["en"]',
)  # fmt: skip


def settings(text: str) -> Iterator[tuple[str, str]]:
    """Every `key = value` of a TOML text × every nasty value; every line twice, left out, or another key."""
    rows = text.split("\n")
    for number, row in enumerate(rows):
        key, sign, _ = row.partition(" = ")
        if sign and not row.startswith((" ", "#")):
            for value in TOML_VALUES:
                yield (
                    f"line {number}: {key} = {value[:30]}",
                    "\n".join([*rows[:number], f"{key} = {value}", *rows[number + 1 :]]),
                )
        for what, changed in (("twice", [row, row]), ("left out", []), ("another key", [f"x{row}"])):
            yield f"line {number} {what}", "\n".join([*rows[:number], *changed, *rows[number + 1 :]])


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
Input = tuple[str, str, bytes]


def inputs(name: str, draw: random.Random, count: int | None) -> Iterator[tuple[str, Input]]:
    """(sample, file, content) for one sample, `count` of each kind; None: all, and 1,500 damaged in their bytes."""
    for file, text in SAMPLES[name].files.items():
        data = text.encode()

        def some(found: list[Any]) -> list[Any]:
            return found if count is None or len(found) <= count else draw.sample(found, count)

        for label, changed in some(list(changed_structures(file, text))):
            yield f"{file} {label}", (name, file, changed)
        for label, changed in (*encoded(text), *spaced(name, text)):
            yield f"{file} {label}", (name, file, changed)
        for number, changed in enumerate(damaged_bytes(data, count or 1500, draw.randrange(10**9))):
            yield f"{file} damaged {number}", (name, file, changed)
        for end in some(list(range(len(data)))):
            yield f"{file} cut at {end}", (name, file, data[:end])
        for suffix, compress in COMPRESSED.items():
            packed = compress(data)
            for end in some(list(range(4, len(packed)))):
                yield f"{file} as {suffix} cut at {end}", (name, file, packed[:end])
            for number, changed in enumerate(damaged_bytes(packed, (count or 300) // 3, draw.randrange(10**9))):
                yield f"{file} as {suffix} damaged {number}", (name, file, changed)


def changed_structures(file: str, text: str) -> Iterator[tuple[str, bytes]]:
    """Every part that the format itself has, in place of which something nasty stands."""
    if not file.endswith((".json", ".jsonl")):
        for label, changed in (settings if file.endswith(".toml") else cells)(text):
            yield label, changed.encode("utf-8", "surrogatepass")
        return
    for number, row in enumerate(text.split("\n") if file.endswith("l") else [text]):
        for label, document in damaged_documents(json.loads(row)) if row else ():
            yield f"{number} {label}", text.encode().replace(row.encode(), json_bytes(document), 1)


def encoded(text: str) -> Iterator[tuple[str, bytes]]:
    """The text in every codec, in one that is declared (in XML), and in none of its own."""
    for codec in CODECS:
        for declared in (True, False):
            said = text.replace("UTF-8", codec) if declared else text
            yield f"said to be {codec}", said.encode()
            with contextlib.suppress(UnicodeError):
                yield f"in {codec}", said.encode(codec)


def spaced(name: str, text: str) -> Iterator[tuple[str, bytes]]:
    """The text with other ends of lines, and with signs that some take for ends of lines."""
    for end in ("\r", "\r\n"):
        yield f"with {end!r}", text.replace("\n", end).encode()
    for sign in ("\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\x00", "\ufeff"):
        yield (
            f"with {sign!r}",
            (text.replace("#", f"#{sign}") if name == "recipe" else text.replace(" ", sign)).encode(),
        )


def read_input(folder: Path, given: Input) -> object:
    name, file, content = given
    sample = SAMPLES[name]
    for other, text in sample.files.items():
        (folder / other).write_bytes(content if other == file else text.encode())
    try:
        return sample.read(folder)
    finally:
        for path in folder.iterdir():
            path.unlink()


def wrong(given: Input, result: object) -> str:
    """What is wrong with a result: a cut file was taken for a whole one, or rows are missing from the account."""
    name, file, content = given
    sample = SAMPLES[name]
    original = sample.files[file].encode()
    for compress in COMPRESSED.values():
        packed = compress(original)
        if len(content) < len(packed) and packed.startswith(content):
            return "a cut compressed file was accepted"
    at_line = file.endswith("l") and original[len(content) :].startswith(b"\n")
    cut = original.startswith(content) and len(content) < len(original.rstrip())
    if sample.structured and cut and not at_line and not content.endswith(b"\n"):
        return "a cut file was accepted"
    if sample.rows is None:
        return ""
    try:
        text = content.decode()
    except UnicodeError:
        return ""
    first = next(iter(lines(text)), "")
    counted = accounted(result)
    if (
        text.startswith("\ufeff")
        or ('"' in first and file.endswith("tsv"))
        or counted is None
        or file != next(iter(sample.files))
    ):
        return ""
    expected = sample.rows(text)
    return "" if counted == expected else f"{counted} rows accounted for, of {expected}"


def fuzz(names: list[str], folder: Path, count: int | None, seed: int) -> list[Outcome]:
    folder.mkdir(exist_ok=True)
    draw = random.Random(seed)
    stream = ((f"{name}: {label}", given) for name in names for label, given in inputs(name, draw, count))
    return run_bounded(lambda given: read_input(folder, given), stream, check=wrong)


def report(outcomes: list[Outcome], record_property: Callable[[str, object], None]) -> None:
    record_property("tried", len(outcomes))
    record_property("held", sum(outcome.held for outcome in outcomes))
    broken = [f"{outcome.label}: {outcome.why}" for outcome in outcomes if not outcome.held]
    assert not broken, f"{len(broken)} of {len(outcomes)}:\n" + "\n".join(broken[:60])


def test_the_samples_are_read_whole(tmp_path):
    for name, sample in SAMPLES.items():
        file, text = next(iter(sample.files.items()))
        result = read_input(tmp_path, (name, file, text.encode()))
        assert wrong((name, file, text.encode()), result) == ""


@pytest.mark.reliability("damaged data files")
def test_damaged_files_are_read_or_refused(tmp_path, record_property):
    report(fuzz(list(SAMPLES), tmp_path / "files", 20, 0), record_property)


@pytest.mark.heavy
@pytest.mark.reliability("damaged data files")
@pytest.mark.parametrize("name", SAMPLES)
def test_every_damaged_node_is_read_or_refused(name, tmp_path, record_property):
    report(fuzz([name], tmp_path / "files", None, 1), record_property)


def nli_rows(text: str) -> str:
    return f"premise\thypothesis\tlabel\n{text}\tIt is wet.\tneutral\n"


def squad_of(questions: int, context: str, key: Callable[[int], str] = "q{}".format) -> bytes:
    asked = [{"id": key(n), "question": "?", "answers": [{"text": "a", "answer_start": 0}]} for n in range(questions)]
    return json.dumps({"data": [{"paragraphs": [{"context": context, "qas": asked}]}]}).encode()


def packed_lines(line: bytes, count: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(line) for _ in range(count)) + packer.flush()


CODES = [code for code in dict.fromkeys(
    codes.canonical("".join(each)) for each in product(string.ascii_lowercase, repeat=3) if codes.is_language("".join(
        each))) if code != "en"]  # fmt: skip
WIDE = [f"note {n}" for n in range(40_000)]
LARGE: dict[str, tuple[str, Callable[[], tuple[str, bytes]]]] = {
    "a header of 40,000 columns": ("tsv", lambda: ("a.tsv", table(ROWS, header=("en", "ru", *WIDE)).encode())),
    "a CSV header of 40,000 columns": ("csv", lambda: ("a.csv", table(ROWS, ",", header=("en", "ru", *WIDE)).encode())),
    "a header of source, target and 40,000 columns": (
        "tsv", lambda: ("a.tsv", table(ROWS, header=("source", "target", *WIDE)).encode())),
    "40,000 columns of text": ("bitext", lambda: ("a.en-ru.tsv", "\t".join(WIDE).encode())),
    "a column twice at the end of 40,000": (
        "tsv", lambda: ("a.tsv", table(ROWS, header=("en", "ru", *WIDE, "eng")).encode())),
    "60,000 keys": ("json lines", lambda: ("a.jsonl", json.dumps({"en": "a", "ru": "б", **dict.fromkeys(WIDE, "")}
                    ).encode())),
    "one key twice among 60,000": ("json lines", lambda: ("a.jsonl", b'{"en": "a", "ru": "b", ' + ", ".join(
        f'"k{n}": 1' for n in range(60_000)).encode() + b', "k9": 2}')),
    "one key 60,000 times": ("json lines", lambda: ("a.jsonl", b"{" + b", ".join([b'"en": 1'] * 60_000) + b"}")),
    "60,000 objects, each with keys of its own": ("json lines", lambda: ("a.jsonl", "".join(
        f'{{"en": "a{n}", "ru": "b", "k{n}": 1}}\n' for n in range(60_000)).encode())),
    "20,000 escaped ids": ("squad", lambda: ("a.json", squad_of(20_000, "abc", "é{}".format))),
    "20,000 ids with escaped slashes": ("squad", lambda: ("a.json", squad_of(20_000, "a" * 100_000, "a/{}".format
                                        ).replace(b"/", b"\\/"))),
    "one long context": ("squad", lambda: ("a.json", squad_of(20_000, "a " * 1_000_000))),
    "a context of brackets": ("squad", lambda: ("a.json", squad_of(10, '"id": "' * 300_000))),
    "a context of backslashes": ("squad", lambda: ("a.json", squad_of(10, '"id":"' + "\\" * 1_000_000))),
    "a number of 5,000 digits": ("squad", lambda: ("a.json", squad_of(1, "a").replace(b": 0", b": 1" + b"0" * 5000))),
    "nested 100,000 deep": ("squad", lambda: ("a.json", b'{"data": ' + b"[" * 100_000)),
    "nested in a line": ("json lines", lambda: ("a.jsonl", b'{"en": ' + b'{"a": ' * 100_000)),
    "nested TMX": ("tmx", lambda: ("a.tmx", TMX.replace("течёт", "<hi>" * 100_000).encode())),
    "nested TMX, whole": ("tmx", lambda: ("a.tmx", TMX.replace("течёт", "<hi>" * 50_000 + "</hi>" * 50_000).encode())),
    "a TMX attribute of 5 MB": ("tmx", lambda: ("a.tmx", TMX.replace("sentence", "s" * 5_000_000).encode())),
    "a language of 2,000 subtags": ("tsv", lambda: ("a.tsv", table(ROWS, header=("en" + "-a" * 2000, "ru")).encode())),
    "a language of 2,000 subtags in TMX": ("tmx", lambda: ("a.tmx", TMX.replace("en-US", "en" + "-a" * 2000).encode())),
    "a language of 200,000 letters": ("tsv", lambda: ("a.tsv", table(ROWS, header=("e" * 200_000, "ru")).encode())),
    "120,000 spaces in SyntheticNER": ("SyntheticNER", lambda: (
        "PER_NOM_names.csv", b",en,ru,gender\n0,A" + b" " * 120_000 + b"b,B,f\n")),
    "120,000 brackets in SyntheticNER": ("SyntheticNER", lambda: (
        "PER_NOM_names.csv", b",en,ru,gender\n0,A" + b"(" * 120_000 + b",B,f\n")),
    "120,000 apostrophes in SyntheticNER": ("SyntheticNER", lambda: (
        "LOC_LOC_names.csv", b",en,tr\n0,A,B" + b"a'" * 60_000 + b"\n")),
    **{f"120,000 spaces in {name}": (name, lambda name=name: (next(iter(SAMPLES[name].files)), next(iter(
        SAMPLES[name].files.values())).replace(" ", " " * 120_000).encode())) for name in SAMPLES if name not in (
        "recipe", "study")},
    **{f"120,000 tabs in {name}": (name, lambda name=name: (next(iter(SAMPLES[name].files)), next(iter(
        SAMPLES[name].files.values())).replace(" ", "\t" * 120_000).encode())) for name in SAMPLES if name not in (
        "recipe", "study")},
    **{f"a line of 100 MB in a small gz as {name}": (name, lambda name=name: (next(iter(SAMPLES[name].files)),
        packed_lines(b"tea " * 250_000, 100))) for name in ("tsv", "csv", "bitext", "json lines", "tmx", "nli", "iob",
        "squad", "pipes", "dictionary", "word vectors", "plain text", "links", "contexts")},
    "2 GB of lines in a small gz": ("plain text", lambda: ("en.txt", gzip.compress(b"tea and a cup\n" * 70_000) * 999)),
    "2 GB of lines in a small bz2": ("plain text", lambda: ("en.txt", bz2.compress(b"tea and a cup\n" * 70_000) * 999)),
    "2 GB of spaces in a small xz": ("tsv", lambda: ("a.tsv", lzma.compress(b" " * 10**8) * 20)),
    "40,000 units of one language": ("tmx", lambda: ("a.tmx", TMX.replace("<body>", "<body>" + '<tu><tuv xml:lang="en">'
        "<seg>a</seg></tuv></tu>" * 0 + '<tu><tuv xml:lang="en"><seg>a</seg></tuv></tu>' * 40_000).encode())),
    "a tag of 1 MB": ("iob", lambda: ("a.iob", f"Ada B-{'P' * 10**6}\nwrote O\n".encode())),
    "40,000 languages in TMX": ("tmx", lambda: ("a.tmx", TMX.replace("<body>", "<body>" + "".join(
        f'<tu><tuv xml:lang="x{n}"><seg>a</seg></tuv></tu>' for n in range(40_000))).encode())),
    "8,000 languages in TMX": ("tmx", lambda: ("a.tmx", TMX.replace("<body>", "<body>" + "".join(
        f'<tu><tuv xml:lang="en"><seg>a{n}</seg></tuv><tuv xml:lang="{code}"><seg>b</seg></tuv></tu>'
        for n, code in enumerate(CODES))).encode())),
    "8,000 languages in JSON Lines": ("json lines", lambda: ("a.jsonl", "".join(
        f'{{"en": "a{n}", "{code}": "b"}}\n' for n, code in enumerate(CODES)).encode())),
    "8,000 languages in a header": ("tsv", lambda: ("a.tsv", ("\t".join(CODES) + "\n" + "a\tb\n" * 10_000).encode())),
    "5,000 units in 500 languages": ("tmx", lambda: ("a.tmx", TMX.replace("<body>", "<body>" + "".join(
        f'<tu><tuv xml:lang="en"><seg>a{n}</seg></tuv><tuv xml:lang="{CODES[n % 500]}"><seg>b</seg></tuv></tu>'
        for n in range(5000))).encode())),
    "vectors of a width of 10^17": ("word vectors", lambda: ("a.vec", b"1 " + b"9" * 17 + b"\ntea 1 2\n")),
    "a vector of 2,000,000 numbers": ("word vectors", lambda: ("a.vec", b"tea" + b" 1" * 2_000_000 + b"\n")),
    "a vector header with a superscript": ("word vectors", lambda: ("a.vec", "1 ²\ntea 1 2\n".encode())),
}  # fmt: skip


OFTEN = [label for label in LARGE if not re.search("tabs in|gz as (?!tsv|json lines|squad|word vectors)", label)]


def large(labels: list[str], folder: Path) -> list[Outcome]:
    folder.mkdir()

    def call(label: str) -> object:
        name, make = LARGE[label]
        file, content = make()
        return read_input(folder, (name, file, content)) and None

    # What it takes to write the file is counted, too, and other work on the machine.
    return run_bounded(call, [(label, label) for label in labels], seconds=3 * SECONDS)


@pytest.mark.reliability("small files that take long")
def test_large_and_repetitive_files_are_read_or_refused_in_time(tmp_path, record_property):
    report(large(OFTEN, tmp_path / "files"), record_property)


@pytest.mark.heavy
@pytest.mark.reliability("small files that take long")
def test_more_large_files_are_read_or_refused_in_time(tmp_path, record_property):
    report(large([label for label in LARGE if label not in OFTEN], tmp_path / "files"), record_property)
