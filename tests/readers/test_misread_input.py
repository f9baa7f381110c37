"""What a user takes for a corpus and a reader could take for something else: served, or refused with a remedy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from interlingua.analyses.aligned_bitext import LinkedFiles
from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.readers.inmemory import text_pairs
from interlingua.readers.sentence_pairs import HEADER, open_bitext

EN = [f"Sentence number {n} is here." for n in range(30)]
RU = [f"Предложение {n} здесь." for n in range(30)]
HI = [f"वाक्य {n} यहाँ है।" for n in range(30)]
NUMBERS = [str(n) for n in range(30)]
LABELS = ["neutral"] * 30


def table(*columns: Sequence[str], header: Sequence[str] = (), separator: str = "\t") -> str:
    rows = [header, *zip(*columns, strict=True)] if header else zip(*columns, strict=True)
    return "".join(separator.join(row) + "\n" for row in rows)


SERVED = {
    "names in English": ({"a.tsv": table(EN, RU, header=("English", "Russian"))}, "a.tsv", {}),
    "names and --languages": (
        {"a.tsv": table(EN, RU, header=("English", "Russian"))}, "a.tsv", {"languages": ["en", "ru"]}),
    "own names": ({"a.tsv": table(EN, RU, header=("english", "Русский"))}, "a.tsv", {}),
    "names in Russian": ({"a.tsv": table(EN, RU, header=("Английский", "Русский"))}, "a.tsv", {}),
    "a sheet": ({"a.csv": "\ufeff" + table([f'"{text}"' for text in EN], RU, header=('"English"', "Russian"),
                 separator=";").replace("\n", "\r\n")}, "a.csv", {}),
    "a sheet and names asked for": ({"a.csv": table(EN, RU, header=("English", "Russian"), separator=";")}, "a.csv",
                                    {"languages": "English,Russian"}),
    "long codes": ({"a.tsv": table(EN, RU, header=("sentence_eng_Latn", "sentence_rus_Cyrl"))}, "a.tsv", {}),
    "words beside the code": ({"a.tsv": table(EN, RU, header=("text_en", "Russian text"))}, "a.tsv", {}),
    "source and target by the file's name": (
        {"a.en-ru.tsv": table(EN, RU, header=("source", "target"))}, "a.en-ru.tsv", {}),
    "target and source": ({"a.en-ru.tsv": table(RU, EN, header=("target", "source"))}, "a.en-ru.tsv", {}),
    "source and target asked for": (
        {"a.tsv": table(EN, RU, header=("src", "tgt"))}, "a.tsv", {"languages": ["en", "ru"]}),
    "a header of a named bitext": ({"a.en-ru.tsv": table(EN, RU, header=("English", "Russian"))}, "a.en-ru.tsv", {}),
    "a folder with a header": ({"a.en-ru.tsv": table(EN, RU, header=("Inglés", "Ruso"))}, ".", {}),
    "one bitext in a list": ({"a.en-ru.tsv": table(EN, RU)}, "a.en-ru.tsv,a.en-ru.tsv", {}),
    "columns, one named": ({"a-en.tsv": table(EN, LABELS), "a-ru.tsv": table(RU, LABELS)}, "a-en.tsv,a-ru.tsv",
                           {"languages": ["en", "ru"], "column": 1}),
    "columns with names, one named": (
        {"x.en": table(NUMBERS, EN, LABELS, header=("id", "sentence1", "label")),
         "x.ru": table(NUMBERS, RU, LABELS, header=("id", "sentence1", "label"))}, "x", {"column": "sentence1"}),
    "columns with names, one by number": (
        {"x.en": table(NUMBERS, EN, LABELS, header=("id", "sentence1", "label")),
         "x.ru": table(NUMBERS, RU, LABELS, header=("id", "sentence1", "label"))}, "x", {"column": 2}),
    "WikiMatrix": ({"WikiMatrix.en-ru.tsv": table([f"1.0{n}" for n in NUMBERS], EN, RU)}, "WikiMatrix.en-ru.tsv", {}),
    "Tatoeba's pairs": ({"Pairs.en-ru.tsv": table(NUMBERS, EN, NUMBERS, RU)}, "Pairs.en-ru.tsv", {}),
    "OPUS": ({"B.en-ru.en": table(EN), "B.en-ru.ru": table(RU), "B.en-ru.ids": "1\n", "B.en-ru.scores": "1\n",
              "README": "x", "LICENSE": "x"}, ".", {}),
    "FLORES-200": ({"eng_Latn.dev": table(EN), "rus_Cyrl.dev": table(RU), "metadata_dev.tsv": "URL\tx\n"}, ".", {}),
    "NTREX": ({"newstest2019-src.eng.txt": table(EN), "newstest2019-ref.rus.txt": table(RU), "LANGUAGES.tsv": "a\tb\n",
               "newstest2019-src.eng-US.txt": table(EN), "DOCUMENT_IDS.tsv": "a\n", "README.md": "x"}, ".", {}),
    "Moses by a prefix": ({"tatoeba.rus-eng.rus": table(RU), "tatoeba.rus-eng.eng": table(EN)}, "tatoeba.rus-eng", {}),
    "line separators that end no line": ({"x.en": table([text.replace(" ", "\u2028") for text in EN]),
                                          "x.ru": table([text.replace(" ", "\x85") for text in RU])}, "x", {}),
}  # fmt: skip


def given_in(folder: Path, files: dict[str, str], name: str) -> str:
    for file, text in files.items():
        (folder / file).write_text(text, "utf-8")
    return ",".join(str(folder / part) for part in name.split(","))


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize("label", SERVED)
def test_every_way_to_bring_two_languages_gives_the_same_rows(label, tmp_path):
    files, name, options = SERVED[label]
    corpus = read_corpus(given_in(tmp_path, files, name), **options)
    assert sorted(corpus.languages) == ["en", "ru"]
    assert corpus.column("en") == tuple(EN)
    assert corpus.column("ru") == tuple(RU)


def test_bitexts_in_a_list_are_merged_as_those_of_a_folder_are(tmp_path):
    listed = given_in(tmp_path, {"a.en-ru.tsv": table(EN, RU), "b.en-hi.tsv": table(EN, HI)}, "a.en-ru.tsv,b.en-hi.tsv")
    corpus = read_corpus(listed, languages=["en", "ru", "hi"])
    assert len(corpus) == 60
    assert corpus.pair("en", "hi").target_texts == tuple(HI)
    moses = {f"a.en-{code}.{side}": table(text) for code, texts in (("ru", RU), ("hi", HI))
             for side, text in (("en", EN), (code, texts))}  # fmt: skip
    assert len(read_corpus(given_in(tmp_path, moses, ",".join(moses)))) == 60


ES = [f"La frase número {n} está aquí." for n in range(30)]
HEADERS = {
    "of columns": ("text", "translation"), "of the pair": ("sentence1", "sentence2"),
    "premise": ("premise", "hypothesis"),
    "in words": ("Source text", "Target text"), "of one language": ("English", "translation"),
    "in German": ("Text", "Übersetzung"), "in Spanish": ("texto", "traducción"), "in Russian": ("Текст", "Перевод"),
    "in Chinese": ("原文", "译文"), "a comment": ("# en", "ru"), "other signs": ("source_text", "target-text"),
    "of the other language": ("original", "Russian"), "numbered": ("lang1", "lang2"),
    "columns": ("column_1", "Column 2"),
    "sides": ("Sentence A", "Sentence B"), "of a translator": ("src", "mt"), "of pandas": ("0", "1"),
    "of a program": ("left_side", "right"), "of pandas, unnamed": ("Unnamed: 0", "Unnamed: 1"),
}  # fmt: skip


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize("label", HEADERS)
def test_a_first_row_of_names_of_columns_is_no_pair(label, tmp_path):
    for file, options in (("a.en-ru.tsv", {}), ("a.tsv", {"languages": ["en", "ru"]})):
        corpus = read_corpus(given_in(tmp_path, {file: table(EN, RU, header=HEADERS[label])}, file), **options)
        assert (corpus.column("en"), corpus.column("ru")) == (tuple(EN), tuple(RU))
    turned = table(RU, EN, header=("Russian", "English"))
    assert read_corpus(given_in(tmp_path, {"a.en-ru.tsv": turned}, "a.en-ru.tsv")).column("en") == tuple(EN)


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize("names", [("text", "text"), ("en", "ru"), ("English", "Russian"), ("eng_Latn", "Русский")])
def test_a_first_line_of_names_in_every_file_is_no_sentence(names, tmp_path):
    for stem in ("x", "y.en-ru"):
        files = {f"{stem}.{code}": f"{name}\n{table(texts)}"
                 for code, name, texts in zip(("en", "ru"), names, (EN, RU), strict=True)}  # fmt: skip
        corpus = read_corpus(given_in(tmp_path, files, stem))
        assert (corpus.column("en"), corpus.column("ru")) == (tuple(EN), tuple(RU))
        assert [str(skip) for skip in corpus.skipped] == [f"2 lines of names of columns ({stem}.en:1, {stem}.ru:1)"]
    files = {"z.en": f"Tea\n{table(EN)}", "z.ru": f"Чай\n{table(RU)}"}
    assert read_corpus(given_in(tmp_path, files, "z")).column("en")[0] == "Tea"


@pytest.mark.reliability("input that could be misread")
def test_cells_that_a_spreadsheet_has_quoted_lose_its_quotation_marks(tmp_path):
    said = [f'{text} "Yes," he said.' for text in EN]
    quoted = ['"' + text.replace('"', '""') + '"' for text in said]
    for file, header in (("a.tsv", ("en", "ru")), ("a.en-ru.tsv", ())):
        corpus = read_corpus(given_in(tmp_path, {file: table(quoted, RU, header=header)}, file))
        assert (corpus.column("en"), corpus.column("ru")) == (tuple(said), tuple(RU))
        whole = table([f'"{text}"' for text in EN], [f'"{text}"' for text in RU], header=header)
        assert read_corpus(given_in(tmp_path, {file: whole}, file)).column("en") == tuple(EN)
        speech = table([f'"{text}"' for text in EN], RU, header=header)
        assert read_corpus(given_in(tmp_path, {file: speech}, file)).column("en")[0] == f'"{EN[0]}"'


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize("separator", [",", ";", "|", " ||| "])
def test_a_column_of_files_with_another_separator_may_be_named(separator, tmp_path):
    files = {f"x.{code}": table(NUMBERS, texts, separator=separator) for code, texts in (("en", EN), ("ru", RU))}
    with pytest.raises(InputError, match=r":1: 2 columns per line with .* between them.*--column 1"):
        read_corpus(given_in(tmp_path, files, "x"))
    assert read_corpus(given_in(tmp_path, files, "x"), column=2).column("ru") == tuple(RU)


def test_signs_that_are_of_the_text_are_no_separators(tmp_path):
    texts = [f"One, two; three | {n}, and so on." if n % 3 == 1 else f"No, {n}; tea" for n in range(30)]
    files = {"x.en": table(texts), "x.es": table(ES)}
    assert read_corpus(given_in(tmp_path, files, "x")).column("en") == tuple(texts)
    tabs = {"y.en": table([text.replace(" ", "\t", 1) if n < 9 else text for n, text in enumerate(EN)]),
            "y.ru": table(RU)}  # fmt: skip
    corpus = read_corpus(given_in(tmp_path, tabs, "y"))
    assert [(skip.reason, skip.count) for skip in corpus.skipped] == [("lines with a tab inside, read as a space", 9)]
    assert corpus.column("en") == tuple(EN)


COLUMNS = r":1: \d columns per line, .* --column 1"
REFUSED = {
    "XNLI": ({"x-en.tsv": table(EN, EN, LABELS), "x-ru.tsv": table(RU, RU, LABELS)}, "x-en.tsv,x-ru.tsv",
             {"languages": ["en", "ru"]}, COLUMNS + ".*transfer"),
    "numbers before sentences": ({"x.en": table(NUMBERS, EN), "x.ru": table(NUMBERS, RU)}, "x", {}, COLUMNS),
    "columns in one file of two": ({"x.en": table(EN), "x.ru": table(RU, RU)}, "x", {}, COLUMNS),
    "words with tags": ({"x.en": "Ada\tB-PER\n" * 30, "x.ru": "Ада\tB-PER\n" * 30}, "x", {}, COLUMNS),
    "columns in Moses files": ({"x.en-ru.en": table(EN, EN), "x.en-ru.ru": table(RU)}, "x.en-ru", {}, COLUMNS),
    "no such column": ({"x.en": table(EN, EN), "x.ru": table(RU, RU)}, "x", {"column": 3}, "no such column among 2: 3"),
    "no column of this name": ({"x.en": table(EN, EN), "x.ru": table(RU, RU)}, "x", {"column": "a"}, "no such column"),
    "column 0": ({"x.en": table(EN, EN), "x.ru": table(RU, RU)}, "x", {"column": 0}, "Columns count from 1"),
    "a column of a table": ({"a.tsv": table(EN, RU, header=("en", "ru"))}, "a.tsv", {"column": 1}, "--column out"),
    "JSON Lines as prose": ({f"x.{code}": "".join(json.dumps({"text": text}) + "\n" for text in texts)
                             for code, texts in (("en", EN), ("ru", RU))}, "x", {}, "JSON or XML"),
    "a cut SQuAD file as prose": ({"x.en.json": '{"versi', "x.ru.json": "{}"}, ".", {}, "JSON or XML"),
    "columns after a long head": (
        {"x.en": table(["word " * 5000] * 20) + table(EN, LABELS), "x.ru": table(["слово " * 5000] * 20) + table(RU)},
        "x", {}, r"x\.en:21: 2 columns per line"),
    "rows of many widths": ({"x.en": "".join(text + "\ta" * (1 + n % 3) + "\n" for n, text in enumerate(EN)),
                             "x.ru": table(RU)}, "x", {}, COLUMNS),
    "quoted CSV": ({"x.en": table([f'"{text}, so"' for text in EN], LABELS, separator=","), "x.ru": table(RU)}, "x", {},
                   "2 columns per line with a comma"),
    "words with tags and spaces": ({"x.en": "Ada B-PER\nwrote O\n\n" * 9, "x.ru": "Ада B-PER\nпишет O\n\n" * 9}, "x",
                                   {}, "words with tags"),
    "subtitles": ({"x.en": "".join(f"{n}\n00:00:{n},000 --> 00:00:{n},500\n{text}\n\n" for n, text in zip(
        range(10, 40), EN, strict=True)), "x.ru": table(RU)}, "x", {}, "subtitles"),
    "a bitext without a tab": ({"a.en-ru.tsv": table(EN, RU, separator=" | ")}, "a.en-ru.tsv", {},
                               ":1: no line has two"),
    "UTF-8 as cp1251": ({"a.tsv": table(EN, RU, header=("en", "ru"))}, "a.tsv", {"encoding": "cp1251"},
                        "30 of 30 rows of ru are UTF-8 that was read"),
    "UTF-8 as latin-1": ({"x.en": table(EN), "x.es": table(ES)}, "x", {"encoding": "latin-1"}, "rows of es are UTF-8"),
    "UTF-8 written down as cp1252": ({"a.tsv": table(EN, [text.encode().decode("cp1252", "replace") for text in ES],
                                      header=("en", "es"))}, "a.tsv", {}, "rows of es are UTF-8"),
    "lost letters": ({"a.tsv": table(EN, [f"?????? {n} ??" for n in NUMBERS], header=("en", "ru"))}, "a.tsv", {},
                     "30 of 30 rows of ru have no letter"),
    "lost characters": ({"a.tsv": table(EN, [f"Пре\ufffdложение {n}" for n in NUMBERS], header=("en", "ru"))}, "a.tsv",
                        {}, "sign of lost characters"),
    "numbers as texts": ({"a.tsv": table(EN, NUMBERS, header=("en", "es"))}, "a.tsv", {}, "rows of es have no letter"),
    "English twice": ({"a.tsv": table(EN, EN, header=("en", "es"))}, "a.tsv", {}, "30 of 30 rows have the same text"),
    "one file twice": ({"x.en": table(EN), "x.fr": table(EN)}, "x", {}, "the same text in en and fr"),
    "SGML as prose": ({f"x.{code}.sgm": "".join(f"<seg>{text}</seg>\n" for text in texts)
                       for code, texts in (("en", EN), ("ru", RU))}, ".", {}, "JSON or XML"),
    "swapped columns": ({"a.tsv": table(RU, EN, header=("en", "ru"))}, "a.tsv", {}, "30 of 30 rows of en .*swapped"),
    "sides that the name swaps": ({"a.ru-en.tsv": table(EN, RU)}, "a.ru-en.tsv", {}, "30 of 30 rows of ru .*swapped"),
    "files swapped": ({"a.txt": table(EN), "b.txt": table(RU)}, "a.txt,b.txt", {"languages": ["ru", "en"]}, "swapped"),
    "English as Russian": ({"a.tsv": table(EN, EN, header=("en", "ru"))}, "a.tsv", {}, "such as ru-Latn"),
    "fastText labels": ({f"x.{code}": "".join(f"__label__{n % 3} {text}\n" for n, text in enumerate(texts))
                         for code, texts in (("en", EN), ("ru", RU))}, "x", {}, "30 of 30 rows begin with the same"),
    "a label after two spaces": ({"x.en": table(EN, LABELS, separator="  "), "x.ru": table(RU, LABELS, separator="  ")},
                                 "x", {}, "30 of 30 rows end with the same word in en and ru, one of 1"),
    "labels for translations": ({"a.tsv": table(EN, ["neutral", "entailment", "other"] * 10, header=("en", "es"))},
                                "a.tsv", {}, "30 rows of es have 3 different texts, those of en 30"),
    "one text for all": ({"x.en": table(EN), "x.ru": table([RU[0]] * 30)}, "x", {},
                         "rows of ru have 1 different text,"),
    "pieces of BPE": ({"x.en": table([text.replace("en", "en@@ ") for text in EN]), "x.ru": table(RU)}, "x", {},
                      "30 of 30 rows of en are cut into pieces"),
    "pieces of SentencePiece": ({"x.en": table(EN), "x.ru": table(["▁" + text.replace(" ", " ▁") for text in RU])}, "x",
                                {}, "30 of 30 rows of ru are cut into pieces"),
    "a mark of a language": ({"x.en": table([f">>ru<< {text}" for text in EN]), "x.ru": table(RU)}, "x", {},
                             "30 of 30 rows of en begin with a mark, >>ru<<"),
    "marks of sentences": ({"x.en": table(EN), "x.ru": table([f"{text} </s>" for text in RU])}, "x", {},
                           "30 of 30 rows of ru end with a mark, </s>"),
    "labels in a table": ({"a.tsv": table([f"{text} {'yes' if n % 2 else 'no'}" for n, text in enumerate(EN)],
                                          [f"{text} {'yes' if n % 2 else 'no'}" for n, text in enumerate(RU)],
                                          header=("en", "ru"))}, "a.tsv", {}, "end with the same word .* one of 2"),
    "numbers with a space": ({"x.en": table(NUMBERS, EN, separator=" "), "x.ru": table(RU)}, "x", {},
                             "30 of 30 rows of en begin with a number"),
    "a numbered list": ({"x.en": table(EN), "x.ru": table([f"{n}." for n in NUMBERS], RU, separator=" ")}, "x", {},
                        "30 of 30 rows of ru begin with a number"),
    "a folder of folders": ({"README": "x"}, ".", {}, "no recognisable corpus"),
}  # fmt: skip


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize("label", REFUSED)
def test_what_is_no_text_in_its_language_is_refused(label, tmp_path):
    files, name, options, problem = REFUSED[label]
    with pytest.raises(InputError, match=problem):
        read_corpus(given_in(tmp_path, files, name), **options)


def test_words_that_sentences_share_are_no_labels():
    names = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus")
    english = [f"{name} {verb}." for name in names for verb in ("runs", "sat", "ate")]
    spanish = [f"{name} {verb}." for name in names for verb in ("corre", "se sentó", "comió")]
    assert len(read_corpus({"en": english, "es": spanish})) == 21  # Seven names are too many for labels of 21 rows.
    years = [1900 + n % 5 for n in range(40)]
    fairs = {"en": [f"{year} was the year of fair {n}." for n, year in enumerate(years)],
             "ru": [f"В {year} году была ярмарка {n}." for n, year in enumerate(years)]}  # fmt: skip
    assert len(read_corpus(fairs)) == 40


def test_escapes_of_web_pages_and_a_name_of_a_column_in_one_file_of_two_are_noted(tmp_path):
    escaped = {"en": [f"{text} &quot;Yes,&quot; {n}" for n, text in enumerate(EN)], "ru": RU}
    notes = [str(skip) for skip in read_corpus(escaped).skipped]
    assert notes == ["30 texts of en with characters written as &quot; or the like, kept"]
    for first in ("english", "sentence", "en"):
        files = {"x.en": f"{first}\n{table(EN)}", "x.ru": table([*RU, "Лишнее."])}
        (note,) = read_corpus(given_in(tmp_path, files, "x")).skipped
        assert "do the lines correspond?" in str(note)
        assert note.where == ("x.en:1",)


def test_words_of_sentences_are_no_names_of_columns_and_translations_may_repeat(tmp_path):
    for first in ("So\tno", "Windows\tWindows", "OK\tДа", "1\t1", "iPhone\tiPhone"):
        path = tmp_path / ("x.en-es.tsv" if first.startswith("So") else "x.en-ru.tsv")
        path.write_text(f"{first}\n{table(EN, ES if first.startswith('So') else RU)}", "utf-8")
        assert len(read_corpus(path)) == 31
    answers = {"en": [f"{word}, {n}." for n in range(15) for word in ("Yes", "Sure")],
               "es": [f"Sí, {n}." for n in range(15) for _ in range(2)]}  # fmt: skip
    assert len(read_corpus(answers)) == 30


def test_other_scripts_are_noted_and_a_code_that_names_the_script_is_enough(tmp_path):
    mixed = read_corpus({"en": EN, "ru": [*EN[:18], *RU[18:]]})
    assert [str(skip) for skip in mixed.skipped] == ["18 texts without a letter in the script of ru (Cyrl), kept"]
    assert len(mixed) == 30
    assert not read_corpus({"en": EN, "ru-Latn": RU[:9] + EN[9:]}).skipped
    assert len(read_corpus({"en": EN, "sr": [text.upper() for text in EN]})) == 30  # Written in two scripts.


def in_memory() -> dict[str, object]:
    pandas = pytest.importorskip("pandas")
    rows = list(zip(EN, RU, strict=True))
    return {
        "columns": {"en": EN, "ru": RU},
        "columns by name": {"English": EN, "Russian": tuple(RU), "id": NUMBERS},
        "rows": [{"en": a, "ru": b} for a, b in rows],
        "translations": [{"translation": {"en": a, "ru": b}} for a, b in rows],
        "DataFrame": pandas.DataFrame(rows, columns=["en", "ru"]),
        "DataFrame with gaps": pandas.DataFrame([*rows, ("x", float("nan")), (None, "ю")], columns=["English", "ru"]),
        "DataFrame of strings": pandas.DataFrame([*rows, ("x", None)], columns=["en", "ru"]).astype("string"),
    }


@pytest.mark.reliability("corpora in memory")
def test_tables_in_memory_are_read_like_files():
    for label, given in in_memory().items():
        corpus = read_corpus(given)
        assert (corpus.column("en"), corpus.column("ru")) == (tuple(EN), tuple(RU)), label
    pairs = read_corpus(zip(EN, RU, strict=True), languages=["English", "rus"])
    assert pairs.digest == read_corpus({"en": EN, "ru": RU}).digest
    assert read_corpus(pairs) is pairs


@pytest.mark.reliability("corpora in memory")
@pytest.mark.parametrize(
    ("given", "languages"),
    [
        (None, None), (5, None), (b"en", None), ([], None), ({}, None), ({"en": "ab", "ru": "cd"}, None),
        ({"en": [1], "ru": [2]}, None), ({"en": ["a"], "ru": []}, None), ({1: ["a"], 2: ["b"]}, None),
        ([("a", "b")], None), ([("a", "b", "c")], ["en", "ru"]), (["ab", "cd"], ["en", "ru"]), ([{1: "a"}], None),
        ([("a", 1)], ["en", "ru"]), ([None], ["en", "ru"]), (object(), None), ({"en": ["\ud800"], "ru": ["b"]}, None),
        ({"en": {"x": "a"}, "ru": {"x": "b"}}, None), ({"en": {"a"}, "ru": {"b"}}, None), ({("a", "b")}, ["en", "ru"]),
        ({"en": ["a"], "English": ["b"], "ru": ["c"]}, None), ([("a", "b")], 5), ([("a", "b")], [5, 6]),
    ],
)  # fmt: skip
def test_what_is_no_corpus_in_memory_is_an_input_error(given, languages):
    with pytest.raises(InputError):
        read_corpus(given, languages=languages)


@pytest.mark.reliability("input that could be misread")
@pytest.mark.parametrize(
    "text", [table(EN, RU, header=("English", "Russian")), table(EN, RU, header=("en", "ru")),
             table(EN, RU, header=("source", "target")), table(EN, RU, header=("English", "ru"), separator=" ||| ")],
)  # fmt: skip
def test_a_first_line_of_languages_is_never_aligned(text, tmp_path):
    path = tmp_path / "talk.txt"
    path.write_text(text, "utf-8")
    with open_bitext(path) as bitext:
        first, *pairs = bitext.pairs
    assert (first.line, first.problem, first.source) == (1, HEADER, "")
    assert [pair.source for pair in pairs] == EN
    named = LinkedFiles((path,))
    assert (named.staying, named.language) in (("en", "ru"), ("en", None))


def test_words_that_are_codes_are_sentences_where_the_languages_are_others(tmp_path):
    path = tmp_path / "x.en-es.tsv"
    path.write_text("So\tno\nTea\tTé\n", "utf-8")
    assert len(read_corpus(path)) == 2
    with open_bitext(path) as bitext:
        assert [pair.problem for pair in bitext.pairs] == ["", ""]


def test_swapped_sides_of_a_bitext_are_refused_before_they_are_adjusted_on(tmp_path):
    path = tmp_path / "x.en-ru.tsv"
    path.write_text(table(RU, EN), "utf-8")
    with pytest.raises(InputError, match="30 of 30 rows of en"):
        LinkedFiles((path,)).read(tmp_path / "links.npz")


@pytest.mark.reliability("corpora in memory")
def test_pairs_to_align_are_pairs_of_texts_and_tables_have_two_columns():
    pairs = list(zip(EN, RU, strict=True))
    assert list(text_pairs({"English": EN, "Russian": RU})) == list(text_pairs(iter(pairs))) == pairs
    pandas = pytest.importorskip("pandas")
    assert list(text_pairs(pandas.DataFrame(pairs, columns=["a", "b"]))) == pairs
    for given in (
        ["ab", "cd"],
        [("a", 1)],
        [("a", "b", "c")],
        {"a": EN},
        {"a": EN, "b": RU, "c": HI},
        5,
        [{"a": 1}],
        {("a", "b")},
        {"a": set(EN), "b": set(RU)},
    ):
        with pytest.raises(InputError):
            list(text_pairs(given))
