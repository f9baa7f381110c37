"""Folders, pairs, FLORES, NTREX, LASER, XQuAD, dictionaries, datasets: which files, which languages."""

import json
import sys

import pytest

from interlingua.errors import InputError, MissingExtra
from interlingua.readers import documents, read_corpus
from interlingua.readers.file_names import parse
from interlingua.readers.word_lists import find_dictionaries, read_dictionary


def put(folder, files):
    for name, text in files.items():
        folder.joinpath(name).write_text(text, encoding="utf-8")


def squad(**questions):
    items = [{"id": key, "question": text, "answers": []} for key, text in questions.items()]
    return json.dumps(
        {"data": [{"title": "t", "paragraphs": [{"context": f"About {items[0]['question']}", "qas": items}]}]}
    )


LAYOUTS = {
    "name.xx": ("talk.en", "talk.ru"),
    "xx.txt": ("en.txt", "ru.txt"),
    "name.xx.txt": ("talk.en.txt", "talk.ru.txt"),
    "FLORES-200": ("eng_Latn.devtest", "rus_Cyrl.devtest"),
    "NTREX": ("newstest2019-src.eng.txt", "newstest2019-ref.rus.txt"),
    "Moses": ("talk.en-ru.en", "talk.en-ru.ru"),
    "LASER": ("tatoeba.rus-eng.eng", "tatoeba.rus-eng.rus"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_a_prefix_a_member_and_a_list_give_the_same_rows(tmp_path, layout):
    english, russian = LAYOUTS[layout]
    put(tmp_path, {english: "So, no\nSalt.\n", russian: "Так нет\nСоль.\n", "README.md": "About.\n", ".hidden.en": "x"})
    ways = [tmp_path, tmp_path / english, tmp_path / parse(english).label, f"{tmp_path / english},{tmp_path / russian}"]
    for way in ways:
        assert read_corpus(way).texts == {"en": ("So, no", "Salt."), "ru": ("Так нет", "Соль.")}, way


@pytest.mark.parametrize(
    ("name", "pair", "side"),
    [
        ("software.en-ru.tsv.xz", ("en", "ru"), None),
        ("newstest2019-ref.zho-TW.txt", None, "zh-Hant"),
        ("zho_Hant.dev.gz", None, "zh-Hant"),
        ("talk.pt_BR-en.en", ("pt", "en"), "en"),
        ("dev-ru.tsv", None, None),
        ("README.txt", None, None),
        ("en-ru.0-5000.txt", None, None),
    ],
)
def test_names_tell_their_languages(name, pair, side):
    found = parse(name)
    assert (found.pair, found.side) == (pair, side)


def test_bitexts_of_several_pairs_become_one_corpus_with_uncounted_gaps(tmp_path):
    put(
        tmp_path,
        {"t.rus-eng.rus": "а\nб\n", "t.rus-eng.eng": "a\nb\n", "t.spa-eng.spa": "c\n", "t.spa-eng.eng": "c!\n"},
    )
    corpus = read_corpus(tmp_path)
    assert corpus.texts == {"en": ("a", "b", "c!"), "es": (None, None, "c"), "ru": ("а", "б", None)}
    assert corpus.pairs() == [("en", "es"), ("en", "ru")]
    assert corpus.skipped == ()


def test_two_column_bitexts_in_a_folder_are_merged(tmp_path):
    put(tmp_path, {"t.en-ru.tsv": "a\tа\nb\tб\n", "t.en-es.tsv": "c\tç\nd\t\n"})
    assert read_corpus(tmp_path).texts == {
        "en": ("c", "a", "b"),
        "es": ("ç", None, None),
        "ru": (None, "а", "б"),
    }
    assert [str(skip) for skip in read_corpus(tmp_path).skipped] == [
        "1 empty cell (es t.en-es.tsv:2)",
        "1 row with fewer than two languages (t.en-es.tsv:2)",
    ]


@pytest.mark.parametrize("names", [("t.{}-eng.{}", "t.{}-eng.eng"), ("t.{}", "t.eng")])
def test_only_the_files_of_the_languages_asked_for_are_opened(tmp_path, monkeypatch, names):
    for code in ("rus", "spa", "deu"):
        put(tmp_path, {name.format(code, code): "a\n" for name in names})
    seen = []
    init = documents.Document.__init__

    def spy(self, raw, **options):
        seen.append(options["path"].name)
        init(self, raw, **options)

    monkeypatch.setattr(documents.Document, "__init__", spy)
    read_corpus(tmp_path, languages=["en", "ru"])
    assert set(seen) == {name.format("rus", "rus") for name in names}


@pytest.mark.parametrize("names", [("talk.en", "talk.ru"), ("talk.en-ru.en", "talk.en-ru.ru")])
@pytest.mark.parametrize("format", ["moses", "files"])
def test_moses_means_both_ways_of_naming_a_pair_of_files(tmp_path, names, format):
    put(tmp_path, dict.fromkeys(names, "a\n"))
    assert read_corpus(tmp_path, format=format).texts == {"en": ("a",), "ru": ("a",)}


@pytest.mark.reliability("published layouts of corpora")
def test_the_published_folder_of_ntrex_is_read(tmp_path):
    codes = ("src.eng", "ref.eng-US", "ref.eng-GB", "ref.por", "ref.por-BR", "ref.zho-CN", "ref.zho-TW", "ref.rus")
    put(tmp_path, {f"newstest2019-{code}.txt": f"{code}\n" for code in codes} | {"LANGUAGES.tsv": "a\tb\tc\n"})
    corpus = read_corpus(tmp_path)
    assert corpus.column("en") == ("src.eng",)
    assert corpus.column("pt") == ("ref.por",)
    assert set(corpus.languages) == {"en", "en-GB", "pt", "zh", "zh-Hant", "ru"}
    assert [skip.count for skip in corpus.skipped] == [2]


@pytest.mark.reliability("published layouts of corpora")
@pytest.mark.parametrize("prefix", ["tatoeba.tur-eng", "tatoeba.tur-eng.*"])
def test_a_prefix_names_one_bitext_of_many(tmp_path, prefix):
    put(tmp_path, {f"tatoeba.{a}-eng.{b}": f"{a} {b}\n" for a in ("tur", "rus") for b in (a, "eng")})
    assert read_corpus(tmp_path / prefix).texts == {"en": ("tur eng",), "tr": ("tur tur",)}


@pytest.mark.reliability("TMX inline codes")
@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("<bpt i='1'>&lt;b></bpt>Tea<ept i='1'>&lt;/b></ept> is <ph>%s</ph>hot<it pos='end'>}</it>.", "Tea is hot."),
        ("<ut>{\\b </ut>Tea <hi>is <mrk>hot</mrk></hi>.", "Tea is hot."),
        ("Tea <x:ph xmlns:x='u'>%s</x:ph>is <PH>%d</PH><BPT i='1'>{</BPT>hot.", "Tea is hot."),
        ("Tea <ph>{a <sub>tooltip</sub> b}</ph>is <hi><bpt i='1'>x<hi>y</hi></bpt>hot</hi>.", "Tea is hot."),
    ],
)
def test_native_codes_are_no_text_and_marks_are(tmp_path, segment, text):
    variants = "".join(f"<tuv xml:lang='{code}'><seg>{segment}</seg></tuv>" for code in ("en", "ru"))
    put(tmp_path, {"x.tmx": f"<tmx><header srclang='en'/><body><tu>{variants}</tu></body></tmx>"})
    assert read_corpus(tmp_path / "x.tmx").column("ru") == (text,)


def test_xquad_joins_questions_by_id_whatever_their_order(tmp_path):
    put(tmp_path, {"xquad.en.json": squad(a="Who?", b="Why?"), "xquad.ru.json": squad(b="Почему?", a="Кто?")})
    assert read_corpus(tmp_path).texts == {"en": ("Who?", "Why?"), "ru": ("Кто?", "Почему?")}


def test_xquad_contexts_stand_once_a_paragraph(tmp_path):
    put(tmp_path, {"xquad.en.json": squad(a="Who?", b="Why?"), "xquad.ru.json": squad(a="Кто?", b="Почему?")})
    assert read_corpus(tmp_path, format="xquad-contexts").texts == {"en": ("About Who?",), "ru": ("About Кто?",)}


@pytest.mark.parametrize("lacking", ["en", "ru"])
def test_xquad_files_that_disagree_are_an_error_with_file_and_id(tmp_path, lacking):
    other = {"en": "ru", "ru": "en"}[lacking]
    put(tmp_path, {f"xquad.{lacking}.json": squad(a="?"), f"xquad.{other}.json": squad(a="?", b="!")})
    with pytest.raises(InputError, match=rf"xquad\.{lacking}\.json: has no question .* xquad\.{other}\.json has: 'b'"):
        read_corpus(tmp_path)


def test_a_list_of_files_may_be_longer_than_a_name(tmp_path):
    put(tmp_path, {f"{'a' * 150}.en": "a\n", f"{'a' * 150}.ru": "b\n"})
    listed = ",".join(str(path) for path in sorted(tmp_path.iterdir()))
    assert read_corpus(listed).texts == {"en": ("a",), "ru": ("b",)}


@pytest.mark.parametrize("name", ["a\0b", "a\0.en,b\0.ru"])
def test_a_zero_byte_in_a_name_is_told(name):
    with pytest.raises(InputError, match=r"no name of a file \(embedded null"):
        read_corpus(name)


def test_xquad_ids_may_be_numbers(tmp_path):
    data = squad(**{"1": "Who?", "2": "Why?"})
    put(tmp_path, {"xquad.en.json": data.replace('"1"', "1").replace('"2"', "2"), "xquad.ru.json": data})
    assert read_corpus(tmp_path, format="xquad").texts["en"] == ("Who?", "Why?")
    put(tmp_path, {"xquad.en.json": data.replace('"1"', "1").replace('"2"', "1")})
    with pytest.raises(InputError, match=r"xquad\.en\.json: an id twice: '1'"):
        read_corpus(tmp_path, format="xquad")


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('"Who?"', "null", r"the question of 'a' is no text: 'null'\. Give a string"),
        ('"Who?"', "7", r"the question of 'a' is no text: 7\."),
        ('"Who?"', r'"\ud83d"', r"the question of 'a' holds half a surrogate pair\. Write the character"),
        ('"a"', "null", r"the id of a question is no text: 'null'\. Give a string or a number"),
        ('"Who?"', r'"W\u0000"', r"the question of 'a' holds a zero character\. Take it out"),
        ('"a"', r'"\udc00"', r"the id of a question holds half a surrogate pair"),
        ('"Who?"', "9" * 5000, r"not JSON \("),
        ('"Who?"', "[" * 100_000, r"not (JSON|in the format of SQuAD) \("),
    ],
)
def test_a_question_that_is_no_text_is_told_by_file_and_id(tmp_path, before, after, problem):
    put(tmp_path, {"xquad.en.json": squad(a="Who?"), "xquad.ru.json": squad(a="Who?").replace(before, after)})
    with pytest.raises(InputError, match=rf"xquad\.ru\.json:?\d*: {problem}"):
        read_corpus(tmp_path, format="xquad")


def test_a_folder_with_one_recognisable_file_is_that_file(tmp_path):
    put(tmp_path, {"my.tsv": "en\tru\na\tb\n", "README.md": "About.\n", "empty.txt": ""})
    assert read_corpus(tmp_path).texts == {"en": ("a",), "ru": ("b",)}


def test_a_list_takes_the_languages_asked_for_where_names_tell_none(tmp_path):
    put(tmp_path, {"left.txt": "a\n", "right.txt": "b\n"})
    given = f"{tmp_path / 'left.txt'},{tmp_path / 'right.txt'}"
    assert read_corpus(given, languages=["ru", "en"]).texts == {"ru": ("a",), "en": ("b",)}
    with pytest.raises(InputError, match=r"left\.txt: its name contains no language"):
        read_corpus(given)


PAIR = {"talk.en": "a\nb\n", "talk.ru": "c\nd\n"}
REFUSED = {
    "unequal counts": ({"talk.en": "a\nb\n", "talk.ru": "c\n"}, "", {}, r"talk\.en has 2, talk\.ru has 1"),
    "a missing file": (PAIR, "talk.rv", {}, r"no such file: .*Did you mean .*talk\.ru\?"),
    "a missing folder": ({}, "nowhere/talk.en", {}, "There is no folder .*nowhere either"),
    "a missing file in a list": (PAIR, "talk.en,talk.rx", {}, "no such file"),
    "a file alone": ({"talk.en": "a\n"}, "talk.en", {}, "not recognised as a parallel corpus"),
    "an absent language": (PAIR, "", {"languages": ["en", "vi"]}, r"has no vi\. It has: en, ru"),
    "a pair without a bitext": (
        {f"t.{pair}-en.{code}": "a\n" for pair in ("ru", "es") for code in (pair, "en")},
        "",
        {"languages": ["ru", "es"]},
        "no bitext of ru, es",
    ),
    "a language twice": (
        {**PAIR, "talk.rus": "e\nf\n"},
        "",
        {},
        r"talk\.ru and talk\.rus are both in the same language",
    ),
    "two corpora": ({**PAIR, "more.en": "a\n", "more.ru": "b\n"}, "", {}, r"several corpora .*'more\.\*, talk\.\*'"),
    "two tables": (
        {"a.tsv": "en\tru\na\tb\n", "b.tsv": "en\tru\na\tb\n"},
        "",
        {},
        r"several corpora .*'a\.tsv, b\.tsv'",
    ),
    "nothing of use": ({"README.md": "Hello.\n"}, "", {}, r"no recognisable corpus.*'README\.md'. Accepted: TSV"),
    "an empty folder": ({}, "", {}, "no recognisable corpus in the folder: 'nothing'"),
    "a folder for a file": (PAIR, "", {"format": "tmx"}, "a folder where a file was expected"),
    "no text at all": ({"talk.en": "\n\n", "talk.ru": "\n\n"}, "", {}, "the corpus is empty"),
    "an empty file": ({"talk.en": "", "talk.ru": "a\n"}, "", {}, r"talk\.en: the file is empty"),
    "JSON that is no SQuAD": (
        {"x.en.json": '{"data": [{"paragraphs": 1}]}', "x.ru.json": "{}"},
        "",
        {},
        "not in the format of SQuAD",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_sets_are_refused_with_the_reason(tmp_path, monkeypatch, case):
    files, path, options, problem = REFUSED[case]
    put(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=problem):
        read_corpus(path if "," in path else tmp_path / path, **options)


def test_dictionaries_are_found_by_pair_and_split(tmp_path):
    put(
        tmp_path, {"en-ru.0-5000.txt": "a b\n", "en-ru.5000-6500.txt": "a b\n", "rus-eng.txt": "a b\n", "notes.txt": ""}
    )
    found = find_dictionaries(tmp_path)
    assert {pair: sorted(splits) for pair, splits in found.items()} == {
        ("en", "ru"): ["test", "train"],
        ("ru", "en"): ["full"],
    }
    with pytest.raises(InputError, match="no dictionary in the folder"):
        find_dictionaries(tmp_path.joinpath("empty").mkdir() or tmp_path / "empty")


@pytest.mark.parametrize("line", ["tea", "tea чай чаёк", "a\tb\tc", "\ttea"])
def test_a_line_that_is_no_pair_of_words_is_an_error_with_its_number(tmp_path, line):
    put(tmp_path, {"en-ru.txt": f"salt соль\n\n{line}\n"})
    with pytest.raises(InputError, match=r"en-ru\.txt:3: not a word and its translation"):
        read_dictionary(tmp_path / "en-ru.txt")


def test_the_sampler_is_strictly_parallel_and_english_first():
    corpus = read_corpus("sampler")
    assert corpus.languages[:3] == ("en", "es", "ru")
    assert all(len(corpus.column(code)) == len(corpus) for code in corpus.languages)
    assert corpus.skipped == ()
    assert read_corpus("sampler", languages=["vi", "en"]).languages == ("vi", "en")


def test_a_dataset_is_read_by_name_and_needs_its_split_named(tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rows = {split: f'{{"sentence_eng_Latn": "{split}", "ru": "b"}}\n' for split in ("train", "test")}
    put(tmp_path, {f"{split}.jsonl": row for split, row in rows.items()})
    with pytest.raises(InputError, match="several splits"):
        read_corpus(f"hf:{tmp_path}")
    assert read_corpus(f"hf:{tmp_path}::test").texts == {"en": ("test",), "ru": ("b",)}
    with pytest.raises(InputError, match="the dataset cannot be read"):
        read_corpus(f"hf:{tmp_path}::none")


def test_missing_datasets_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"interlingua\[datasets\]"):
        read_corpus("hf:some/name")
