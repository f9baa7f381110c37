"""TSV, CSV, bitexts, JSON Lines and TMX: columns, gaps, and what is refused."""

import io

import pytest

from interlingua.errors import InputError
from interlingua.readers import read_corpus


def read(text, **options):
    return read_corpus("-", stdin=io.BytesIO(text.encode()), **options)


def skips(corpus):
    return {skip.reason: (skip.count, skip.where) for skip in corpus.skipped}


def tmx(body, header='<header srclang="ru"/>', prolog=""):
    return f"<?xml version='1.0'?>{prolog}\n<tmx version='1.4'>{header}<body>\n{body}</body></tmx>"


def unit(**segments):
    inner = "".join(f"<tuv xml:lang='{code}'><seg>{text}</seg></tuv>" for code, text in segments.items())
    return f"<tu>{inner}</tu>\n"


def test_columns_that_are_no_language_are_ignored_and_counted():
    corpus = read("code\teng\tnotes\tspa_Latn\ttag\n1\tTea.\tx\tTé.\tN\n")
    assert corpus.languages == ("en", "es")
    assert skips(corpus) == {"columns that are no language": (3, ("stdin:1 code", "stdin:1 notes", "stdin:1 tag"))}


def test_a_column_word_is_a_language_when_asked_for():
    assert read("tag\tar\nx\ty\n", languages=["tag", "ar"]).languages == ("tag", "ar")


@pytest.mark.parametrize("column", ["id", "no", "ID"])
def test_a_column_of_identifiers_is_no_language(column):
    corpus = read(f"{column},en,ru\ns-1,Tea.,Чай.\ns-2,Salt.,Соль.\n")
    assert corpus.languages == ("en", "ru")
    assert skips(corpus)["columns that are no language"][0] == 1


@pytest.mark.parametrize("values", [("Teh.", "Garam."), ("a1", "a1"), ("jam 5", "jam 6"), ("9" * 41, "8" * 41)])
def test_a_column_of_text_called_id_is_indonesian(values):
    assert read(f"id,en,ru\n{values[0]},Tea.,Чай.\n{values[1]},Salt.,Соль.\n").languages == ("id", "en", "ru")


def test_identifiers_are_indonesian_when_asked_for():
    assert read("id,en\n1,Tea.\n2,Salt.\n", languages=["en", "id"]).pair("id", "en").source_texts == ("1", "2")


def test_short_rows_and_blank_lines_are_counted_with_their_places():
    corpus = read("en\tru\tes\nTea.\tЧай.\n\nSalt.\tСоль.\t\nOne.\nTea.\tЧай.\t\n")
    assert corpus.texts == {"en": ("Tea.", "Salt."), "ru": ("Чай.", "Соль."), "es": (None, None)}
    assert skips(corpus) == {
        "blank lines": (1, ("stdin:3",)),
        "empty cells": (5, ("es stdin:2", "es stdin:4", "ru stdin:5")),
        "rows with fewer than two languages": (1, ("stdin:5",)),
        "duplicate rows": (1, ("stdin:6",)),
    }


def test_places_of_quoted_records_are_the_lines_they_begin_on():
    corpus = read('en,ru\n"a\nb",x\n"c",\n')
    assert corpus.column("en") == ("a b",)
    assert skips(corpus)["empty cells"] == (1, ("ru stdin:4",))


def test_a_lone_quote_in_tsv_is_text():
    assert read('en\tru\n"Tea\t"Чай\n').pair("en", "ru").source_texts == ('"Tea',)


def test_languages_are_chosen_and_ordered_as_asked():
    assert read("en\tru\tes\na\tb\tc\n", languages=["spa", "en"]).texts == {"es": ("c",), "en": ("a",)}


@pytest.mark.parametrize(
    "text", ["source\ttarget\na\tb\n", "tgt,src\nb,a\n", '{"source": "a", "target": "b"}', "a\tb\n"]
)
def test_source_and_target_take_the_two_languages_asked_for(text):
    assert read(text, languages=["ru", "en"]).texts == {"ru": ("a",), "en": ("b",)}


def test_a_translation_memory_may_stand_on_one_line():
    body = "".join(unit(en=f"a{n}", ru=f"b{n}") for n in range(3))
    assert read(tmx(body.replace("\n", ""))).texts == read(tmx(body)).texts
    assert read(tmx(body)).column("ru") == ("b0", "b1", "b2")


def test_json_lines_fill_absent_keys_and_nulls_and_ignore_the_rest():
    corpus = read('{"en": "a", "ru": "b", "id": 7}\n{"en": "c", "es": "d", "ru": null, "id": 8, "score": 0.5}\n')
    assert corpus.texts == {"en": ("a", "c"), "ru": ("b", None), "es": (None, "d")}
    assert skips(corpus) == {
        "columns that are no language": (2, ("stdin:2 score", "stdin id")),
        "empty cells": (2, ("es stdin:1", "ru stdin:2")),
    }


def test_tmx_puts_the_source_first_keeps_inline_text_and_counts_what_it_skips():
    body = unit(en="a <hi>b</hi> c", ru="&lt;д&gt;") + "<tu><tuv lang='EN-US'><seg>e</seg></tuv>"
    body += "<tuv lang='ru'><seg>ж</seg></tuv><tuv lang='ru'><seg>з</seg></tuv><tuv lang='q9'><seg>?</seg></tuv></tu>"
    corpus = read(tmx(body, prolog="<!DOCTYPE tmx SYSTEM 'tmx14.dtd'>"))
    assert list(corpus.texts.items()) == [("ru", ("<д>", "ж")), ("en", ("a b c", "e"))]
    assert skips(corpus) == {
        "second segments in a language": (1, ("stdin:4 ru",)),
        "segments in an unknown language": (1, ("stdin:4 q9",)),
    }


def test_tmx_is_read_in_the_encoding_it_declares():
    text = tmx(unit(en="tea", ru="чай")).replace("version='1.0'", "version='1.0' encoding='windows-1251'", 1)
    corpus = read_corpus("-", stdin=io.BytesIO(text.encode("cp1251")))
    assert corpus.column("ru") == ("чай",)


def test_a_bitext_takes_its_languages_from_its_name_even_if_its_first_row_spells_codes(tmp_path):
    path = tmp_path / "talk.en-es.tsv"
    path.write_text("no\tso\nTea.\tTé.\n")
    assert read_corpus(path).texts == {"en": ("no", "Tea."), "es": ("so", "Té.")}
    path.write_text("es\ten\nTé.\tTea.\n")
    assert read_corpus(path).texts == {"es": ("Té.",), "en": ("Tea.",)}


def declared(encoding):
    return tmx(unit(en="tea", ru="чай")).replace("version='1.0'", f"version='1.0' encoding='{encoding}'", 1)


BOMB = "<!DOCTYPE tmx [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]>"
REFUSED = {
    "too many cells": ("en\tru\na\tb\nc\td\te\n", {}, "stdin:3: 3 cells where the header has 2"),
    "too many cells in a bitext": ("a\tb\nc\td\te\n", {"languages": ["en", "ru"]}, "stdin:2: 3 cells in a bitext"),
    "a language twice": ("en\teng\tru\na\tb\tc\n", {}, "stdin:1: 'en' and 'eng' are the same language"),
    "one language": ("en\tfoobar\na\tb\n", {}, r"stdin:1: fewer than two languages \(en\).*'en, foobar'"),
    "identifiers and one language": ("id\ten\n1\tb\n", {}, r"fewer than two languages \(en\)"),
    "no language": ("foo\tbarbar\na\tb\n", {}, r"fewer than two languages \(none\)"),
    "an absent language": ("en\tru\na\tb\n", {"languages": ["en", "vi"]}, r"has no vi\. It has: en, ru"),
    "an absent key": ('{"en": "a", "ru": "b"}\n', {"languages": ["en", "vi"]}, r"has no vi\. It has: en, ru"),
    "an absent variant": (tmx(unit(en="a", ru="b")), {"languages": ["vi", "en"]}, r"has no vi\. It has: en, ru"),
    "only a header": ("en\tru\n", {}, "the corpus is empty"),
    "an open quote": ('en,ru\na,b\n"c,d\n', {}, "stdin:3: broken quoting"),
    "a cell without an end": (f'en,ru\na,b\n"{"c,d" * 60_000}', {}, "stdin:3: a cell of more than 131,072 letters"),
    "a key twice": ('{"en": "a", "ru": "b"}\n{"en": "a", "ru": "b", "en": "c"}\n', {}, "stdin:2: a key twice .*: 'en'"),
    "an inner key twice": ('{"translation": {"en": "a", "ru": "b", "ru": "c"}}\n', {}, "stdin:1: a key twice .*: 'ru'"),
    "declared UTF-16": (declared("utf-16"), {}, r"stdin: not utf-16 \(.*\)\. Give the file's encoding"),
    "declared ASCII": (declared("ascii"), {}, "stdin:[0-9]+: a byte that is not ascii: '0xd1'"),
    "declared IDNA": (declared("idna"), {}, "stdin: unknown encoding: 'idna'.*--encoding outranks"),
    **{
        f"declared {codec}": (declared(codec), {}, f"stdin: unknown encoding: '{codec}'")
        for codec in ("utf-7", "U7", "punycode", "unicode_escape", "unicode-escape", "raw_unicode_escape")
    },
    "an encoding with a zero": ("en\tru\na\tb\n", {"encoding": "utf\0"}, "unknown encoding"),
    "two texts of a language": (
        '{"en": "c", "translation": {"eng": "a", "ru": "b"}}\n',
        {},
        "stdin:1: another text of a language beside the translation: 'en: c'",
    ),
    "declared nothing": (declared("undefined"), {}, "stdin: unknown encoding: 'undefined'"),
    "UTF-16 without a mark": ("en\tru\na\tb\n", {"encoding": "utf-16"}, r"stdin: not utf-16 \("),
    "prose": ("It is raining.\n", {}, "not recognised as a parallel corpus; it begins with: 'It is raining.'"),
    "broken JSON": ('{"en": "a", "ru": "b"}\n{"en": \n', {}, "stdin:2: not JSON"),
    "a JSON list": ('{"en": "a", "ru": "b"}\n[1]\n', {}, r"stdin:2: not a JSON object: '\[1\]'"),
    "a number for a text": ('{"en": 1, "ru": "b"}\n', {}, "stdin:1: the value of 'en' is no text: 1"),
    "an escaped zero": ('{"en": "a\\u0000", "ru": "b"}\n', {}, "stdin:1: the value of 'en' holds a zero character"),
    "half a surrogate": ('{"en": "\\ud800", "ru": "b"}\n', {}, "stdin:1: .*surrogate"),
    "two keys of a language": ('{"en": "a", "eng": "b"}\n', {}, "stdin:1: two keys are the same language"),
    "one key": ('{"en": "a", "text": "b"}\n', {}, r"fewer than two languages \(en\).*'en, text'"),
    "cut XML": (tmx(unit(en="a", ru="b"))[:-20], {}, "stdin:3: broken XML"),
    "a variant without language": (tmx("<tu><tuv><seg>a</seg></tuv></tu>"), {}, "stdin:3: a tuv without xml:lang"),
    "a seg in a seg": (tmx(unit(en="a <seg>b</seg>", ru="b")), {}, "stdin:3: a seg within a seg"),
    "two segs": (tmx(unit(en="a</seg><seg>b", ru="b")), {}, "stdin:3: a second seg in a tuv"),
    "a unit in a unit": (tmx(f"<tu>{unit(en='a', ru='b')}</tu>"), {}, "stdin:3: a tu within a tu"),
    "an entity bomb": (tmx(unit(en="&b;", ru="b"), prolog=BOMB), {}, "stdin:1: an entity .* is refused: 'a'"),
    "an external entity": (
        tmx(unit(en="&x;", ru="b"), prolog="<!DOCTYPE tmx [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"),
        {},
        "is refused: 'x'",
    ),
    "an undefined entity": (tmx(unit(en="&x;", ru="b"), prolog="<!DOCTYPE tmx SYSTEM 'x.dtd'>"), {}, "is refused: 'x'"),
    "no language wanted": ("en\tru\na\tb\n", {"languages": []}, "no language is asked for"),
    "a code of no language": ("en\tru\na\tb\n", {"languages": ["english!"]}, "not a language code"),
    "an unknown format": ("en\tru\na\tb\n", {"format": "tvs"}, "unknown reader: 'tvs'. Did you mean 'tsv'"),
    "a format of no corpus": ("en\tru\na\tb\n", {"format": "muse"}, "not a format of corpus files: 'muse'"),
    "a format of several files": ("en\tru\na\tb\n", {"format": "moses"}, "needs several files"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_with_its_place_and_reason(case):
    text, options, problem = REFUSED[case]
    with pytest.raises(InputError, match=problem):
        read(text, **options)
