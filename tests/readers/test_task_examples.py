"""Readers of labelled examples: every published shape of a file, and every way it can be wrong, with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlingua.errors import InputError
from interlingua.readers.squad import join_by_question_id, read_questions
from interlingua.readers.tagged_words import read_tagged
from interlingua.tasks import tasks


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


NLI = {
    "plain.tsv": "It rains.\tIt is wet.\tentailment\nIt rains.\tIt is dry.\tcontradiction\n",
    "numbers.tsv": "It rains.\tIt is wet.\t0\nIt rains.\tIt is dry.\t2\n",
    "xnli.tsv": "language\tgold_label\tsentence1\tsentence2\tpairID\n"
    "en\tentailment\tIt rains.\tIt is wet.\t1\nfr\tneutral\tIl pleut.\tC'est lundi.\t2\n"
    "en\tcontradiction\tIt rains.\tIt is dry.\t3\n",
    "translated.tsv": "premise\thypo\tlabel\nIt rains.\tIt is wet.\tentailment\nIt rains.\tIt is dry.\tcontradictory\n",
    "mnli.jsonl": '{"gold_label": "entailment", "sentence1": "It rains.", "sentence2": "It is wet.", "genre": "x"}\n'
    '{"gold_label": "-", "sentence1": "It rains.", "sentence2": "Maybe."}\n'
    '{"gold_label": "contradiction", "sentence1": "It rains.", "sentence2": "It is dry."}\n',
    "hub.jsonl": '{"premise": "It rains.", "hypothesis": "It is wet.", "label": 0}\n\n'
    '{"premise": "It rains.", "hypothesis": "It is dry.", "label": 2}\n',
}


@pytest.mark.parametrize("name", NLI)
def test_every_shape_of_nli_file_gives_the_same_pairs(name, tmp_path):
    examples = tasks["nli"].call().read(written(tmp_path, name, NLI[name]), "en")
    assert [(item.first, item.second, item.label) for item in examples] == [
        ("It rains.", "It is wet.", "entailment"),
        ("It rains.", "It is dry.", "contradiction"),
    ]
    skips = {
        "xnli.tsv": "pairs in other languages",
        "mnli.jsonl": "pairs without a gold label",
        "hub.jsonl": "blank lines",
    }
    assert [skip.reason for skip in examples.skipped] == ([skips[name]] if name in skips else [])


def test_paws_x_with_its_header_reads_like_one_without(tmp_path):
    task = tasks["paraphrase"].call()
    bare = task.read(written(tmp_path, "a.tsv", "A b.\tB a.\t1\nA b.\tA c.\t0\n"), "en")
    full = task.read(
        written(tmp_path, "b.tsv", "id\tsentence1\tsentence2\tlabel\n1\tA b.\tB a.\t1\n2\tA b.\tA c.\t0\n"), "en"
    )
    assert bare.digest == full.digest
    assert [item.label for item in bare] == ["paraphrase", "different"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\tb\tneutral\na\tb\tmaybe\n", r"x\.tsv:2: unknown label: 'maybe'"),
        ("a\tb\tneutral\na\tneutral\n", r"x\.tsv:2: 2 columns where 3"),
        ("a\tb\tneutral\na\tb\tc\tneutral\n", r"x\.tsv:2: 4 columns where 3"),
        ("\n\n", r"x\.tsv: no example"),
        ("", r"x\.tsv: the file is empty"),
        ('{"premise": "a"}\n', r"x\.tsv:1: not a labelled pair"),
        ('{"premise": "a", "hypothesis": ["b"], "label": 1}\n', r"x\.tsv:1: the second is no text"),
        ('{"premise": "a", "hypothesis": "b", "label": 1}\n{"premise\n', r"x\.tsv:2: not JSON"),
    ],
)
def test_bad_pairs_are_told_with_their_line(text, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        tasks["nli"].call().read(written(tmp_path, "x.tsv", text), "en")


def test_pairs_with_an_empty_side_are_counted(tmp_path):
    examples = tasks["nli"].call().read(written(tmp_path, "x.tsv", "a\tb\tneutral\n \tb\tneutral\n"), "en")
    assert [str(skip) for skip in examples.skipped] == ["1 pair with an empty side (x.tsv:2)"]


@pytest.mark.parametrize(
    "text",
    [
        "Ada\tB-PER\nLovelace\tI-PER\nwrote\tO\n\n\nParis\tB-LOC\n",
        "en:Ada\tB-PER\nen:Lovelace\tI-PER\nen:wrote\tO\n\nen:Paris\tB-LOC\n\n",
        "-DOCSTART- -X- -X- O\n\nAda NNP B-NP B-PER\nLovelace NNP I-NP I-PER\nwrote VBD B-VP O\n\nParis NNP I-NP B-LOC",
    ],
)
def test_every_shape_of_iob_file_gives_the_same_sentences(text, tmp_path):
    examples = read_tagged(written(tmp_path, "x.iob", text), language="en")
    assert [(item.words, item.tags) for item in examples] == [
        (("Ada", "Lovelace", "wrote"), ("B-PER", "I-PER", "O")),
        (("Paris",), ("B-LOC",)),
    ]


ADA = [(("Ada", "Lovelace", "wrote"), ("B-PER", "I-PER", "O")), (("Paris",), ("B-LOC",))]
COLUMNS = {
    "WikiNEuRal": "0\tAda\tB-PER\n1\tLovelace\tI-PER\n2\twrote\tO\n\n0\tParis\tB-LOC\n",
    "index from 1": "1 Ada B-PER\n2 Lovelace I-PER\n3 wrote O\n\n1 Paris B-LOC\n",
    "index through the file": "7 Ada B-PER\n8 Lovelace I-PER\n9 wrote O\n\n10 Paris B-LOC\n",
    "tag first": "B-PER\tAda\nI-PER\tLovelace\nO\twrote\n\nB-LOC\tParis\n",
    "tag before part of speech": "B-PER Ada NNP\nI-PER Lovelace NNP\nO wrote VBD\n\nB-LOC Paris NNP\n",
    "index last": "Ada B-PER 0\nLovelace I-PER 1\nwrote O 2\n\nParis B-LOC 0\n",
    "sentence number first": "s1\tAda\tB-PER\ns1\tLovelace\tI-PER\ns1\twrote\tO\n\ns2\tParis\tB-LOC\n",
    "word numbers first": "w1-1\tAda\tB-PER\nw1-2\tLovelace\tI-PER\nw1-3\twrote\tO\n\nw2-1\tParis\tB-LOC\n",
    "offsets": "0 3 Ada B-PER\n4 12 Lovelace I-PER\n13 18 wrote O\n\n0 5 Paris B-LOC\n",
    "CoNLL-2003": "Ada NNP B-NP B-PER\nLovelace NNP I-NP I-PER\nwrote VBD B-VP O\n\nParis NNP B-NP B-LOC\n",
    "CoNLL-2003, chunk last": "Ada NNP B-PER B-NP\nLovelace NNP I-PER I-NP\nwrote VBD O B-VP\n\nParis NNP B-LOC B-NP\n",
    "CoNLL-2003, German": "Ada Ada NE B-NC B-PER\nLovelace Lovelace NE I-NC I-PER\n"
    "wrote write VV B-VC O\n\nParis Paris NE B-NC B-LOC\n",
    "MultiCoNER": "# id 1 domain=en\nAda _ _ B-PER\nLovelace _ _ I-PER\nwrote _ _ O\n\n# id 2\nParis _ _ B-LOC\n",
    "a comment with a tab": "# id 1\tdomain=en\nAda _ _ B-PER\nLovelace _ _ I-PER\nwrote _ _ O\n\n"
    "# id 2\tdomain=en\nParis _ _ B-LOC\n",
    "GermEval's comments": "#\thttp://a.de\n1\tAda\tB-PER\n2\tLovelace\tI-PER\n3\twrote\tO\n\n"
    "#\thttp://b.de\n1\tParis\tB-LOC\n",
    "a comment that ends like a tag": "# text = Vitamin O\nAda B-PER\nLovelace I-PER\nwrote O\n\nParis B-LOC\n",
    "names of columns": "index\tword\ttag\n0\tAda\tB-PER\n1\tLovelace\tI-PER\n2\twrote\tO\n\n0\tParis\tB-LOC\n",
    "names of columns, tag first": "NER tag\tToken\n\nB-PER\tAda\nI-PER\tLovelace\nO\twrote\n\nB-LOC\tParis\n",
    "a column of sentences": "Sentence #\tWord\tPOS\tTag\nSentence: 1\tAda\tNNP\tB-PER\n\tLovelace\tNNP\tI-PER\n"
    "\twrote\tVBD\tO\nSentence: 2\tParis\tNNP\tB-LOC\n",
    "words numbered in each sentence": "t1\tAda\tB-PER\nt2\tLovelace\tI-PER\nt3\twrote\tO\n\nt1\tParis\tB-LOC\n",
    "offsets in brackets": "[0,3)\tAda\tB-PER\n[4,12)\tLovelace\tI-PER\n[13,18)\twrote\tO\n\n[0,5)\tParis\tB-LOC\n",
    "small letters first": "ada\tAda\tB-PER\nlovelace\tLovelace\tI-PER\nwrote\twrote\tO\n\nparis\tParis\tB-LOC\n",
    "IO": "Ada\tI-PER\nLovelace\tI-PER\nwrote\tO\n\nParis\tI-LOC\n",
    "BIOES": "Ada\tB-PER\nLovelace\tE-PER\nwrote\tO\n\nParis\tS-LOC\n",
    "BILOU": "Ada\tB-PER\nLovelace\tL-PER\nwrote\tO\n\nParis\tU-LOC\n",
    "synth": "Ada\tPER:1:2\tB-PER\nLovelace\tPER:1:2\tI-PER\nwrote\tPER:1:2\tO\n\nParis\tLOC:1:2\tB-LOC\n",
}


@pytest.mark.reliability("columns of tagged words")
@pytest.mark.parametrize("name", COLUMNS)
def test_the_order_of_columns_is_detected_by_their_content(name, tmp_path):
    examples = read_tagged(written(tmp_path, "x.iob", COLUMNS[name]), language="en")
    assert [(item.words, item.tags) for item in examples] == ADA


UNDECIDABLE = {
    "nested entities": "1 Ada B-PER O\n2 Lovelace I-PER O\n3 wrote O O\n",
    "no words": "0\tB-PER\n1\tI-PER\n2\tO\n\n0\tB-LOC\n",
    "parts of speech in place of words": "0\tNNP\tB-PER\n1\tNNP\tI-PER\n2\tVBD\tO\n",
    "tag first and two columns of words": "B-PER Ada ada\nI-PER Lovelace lovelace\nO wrote write\n",
    "parts of speech of another set": "".join(
        f"{'NE' if n % 2 else 'VVFIN'} word{'abcdefghij'[n]} O\n" for n in range(9)
    ),
    "lemmas before words": "ada Ada B-PER\nlovelace Lovelace I-PER\nwrite wrote O\n\nparis Paris B-LOC\n",
    "GermEval's two levels": "1\tAda\tB-PER\tO\n2\tLovelace\tI-PER\tO\n3\twrote\tO\tO\n",
    "tags only": "O\tO\nO\tO\n",
}


@pytest.mark.reliability("columns of tagged words")
@pytest.mark.parametrize("name", UNDECIDABLE)
def test_columns_that_cannot_be_told_apart_are_refused_or_named(name, tmp_path):
    with pytest.raises(InputError, match=r"x\.iob:1: columns? .*columns="):
        read_tagged(written(tmp_path, "x.iob", UNDECIDABLE[name]), language="en")


def test_columns_may_be_named(tmp_path):
    path = written(tmp_path, "x.iob", UNDECIDABLE["nested entities"])
    for names, tags in ((("n", "word", "tag", "inner"), ADA[0][1]), (("n", "word", "outer", "tag"), ("O", "O", "O"))):
        assert read_tagged(path, language="en", columns=names)[0].tags == tags
    assert tasks["ner"].call(columns=("n", "word", "tag", "inner")).read(path, "en")[0].words == ADA[0][0]
    for names in (("word", "tag"), ("word", "word", "tag", "x"), ("word", "a", "b", "c"), "word"):
        with pytest.raises(InputError, match="columns"):
            read_tagged(path, language="en", columns=names)


def test_a_misspelt_tag_is_reported_and_no_other_column_is_taken(tmp_path):
    text = COLUMNS["CoNLL-2003"].replace("I-PER", "PER")
    with pytest.raises(InputError, match=r"x\.iob:2: unknown tag: 'PER'"):
        read_tagged(written(tmp_path, "x.iob", text), language="en")


def test_a_colon_stays_where_not_every_word_has_the_language_before_it(tmp_path):
    examples = read_tagged(written(tmp_path, "x.iob", "en:Ada\tO\nwrote\tO\n"), language="en")
    assert examples[0].words == ("en:Ada", "wrote")


def test_an_i_tag_that_continues_nothing_is_kept_and_counted(tmp_path):
    text = "a\tI-PER\nb\tB-LOC\nc\tI-PER\nd\tI-PER\n\ne\tI-PER\n"
    examples = read_tagged(written(tmp_path, "x.iob", text), language="en")
    assert examples[0].tags == ("I-PER", "B-LOC", "I-PER", "I-PER")
    assert [(skip.count, skip.where) for skip in examples.skipped] == [(3, ("x.iob:1", "x.iob:3", "x.iob:6"))]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\tO\nb\tPER\n", r"x\.iob:2: unknown tag: 'PER'"),
        ("a\tO\nb\tX-PER\n", r"x\.iob:2: unknown tag: 'X-PER'"),
        ("a\t0\nb\t1\n", r"x\.iob:1: unknown tag: '0'.*for numbers, the names"),
        ("word,tag\na,O\n", r"x\.iob:1: 1 columns where 2"),
        ('{"tokens": ["a"], "ner_tags": ["O"]}\n', r"x\.iob:1: JSON, where"),
        ("fr:a\tO\nfr:b\tO\n", r"x\.iob: the words are marked as fr:, and the language asked for is en"),
        ("en:a\tO\n\nfr:b\tO\n", r"x\.iob: the words are marked as fr:"),
        ("word\tO\n" * 1001, r"x\.iob:1001: no blank line in 1,001 words.*'sentence'"),
        ("a\tO\nb\n", r"x\.iob:2: 1 columns where 2"),
        ("a\tO\nb\tx\tO\n", r"x\.iob:2: 3 columns where 2"),
        ("a\nb\n", r"x\.iob:1: 1 columns where 2"),
        ("\n", r"x\.iob: no example"),
    ],
)
def test_bad_tags_are_told_with_their_line(text, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        read_tagged(written(tmp_path, "x.iob", text), language="en")


def squad(*questions: tuple[str, str, str, int], context: str = "Tea is hot.") -> dict:
    qas = [
        {"id": key, "question": asked, "answers": [{"text": answer, "answer_start": start}]}
        for key, asked, answer, start in questions
    ]
    return {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": context, "qas": qas}]}]}


def test_a_misplaced_answer_is_counted_or_an_error_with_its_line(tmp_path):
    data = squad(("a", "What?", "Tea", 0), ("b", "How?", "hot", 1), ("c", "Why?", "hot", -4))
    path = written(tmp_path, "x.json", json.dumps(data, indent=1))
    line = 1 + json.dumps(data, indent=1).split('"b"')[0].count("\n")
    examples = read_questions(path, language="en")
    assert [item.answers[0].start for item in examples] == [0, -1, -1]
    assert examples.skipped[0].count == 2
    assert examples.skipped[0].where[0] == f"x.json:{line}"
    with pytest.raises(InputError, match=rf"x\.json:{line}: the answer does not stand"):
        read_questions(path, language="en", strict=True)


def test_of_a_tydi_file_the_language_asked_for_is_read(tmp_path):
    data = squad(("russian-1-0", "What?", "Tea", 0), ("finnish-2-0", "How?", "hot", 7))
    examples = read_questions(written(tmp_path, "x.json", json.dumps(data)), language="ru")
    assert [item.id for item in examples] == ["russian-1-0"]
    assert examples.skipped[0].count == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"data": [\n}', r"x\.json:2: not JSON"),
        ('{"rows": []}', r"x\.json:1: not in the format of SQuAD"),
        ('{"data": []}', r"x\.json: no example"),
        (json.dumps(squad(("a", "?", "Tea", 0), ("a", "?", "Tea", 0))), r"x\.json:1: an id twice: 'a'"),
        (json.dumps(squad(("a", None, "Tea", 0))), r"x\.json:1: the question of 'a' is no text: 'null'"),
        (json.dumps(squad(("a", "\udc00", "Tea", 0))), r"x\.json:1: the question of 'a' holds half a surrogate pair"),
        (json.dumps(squad(("a", "?", "Tea", 0), context=None)), r"x\.json:1: the context of 'a' is no text: 'null'"),
        (json.dumps(squad((1, "?", "Tea", 0), ("1", "?", "Tea", 0))), r"x\.json:1: an id twice: '1'"),
        (json.dumps(squad(("a", "?", "Tea", 0))).replace('"text"', '"words"'), r"x\.json:1: not a question of SQuAD"),
    ],
)
def test_bad_questions_are_told_with_their_line(text, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        read_questions(written(tmp_path, "x.json", text), language="en")


def test_questions_on_paragraphs_in_another_language_are_joined_by_id(tmp_path):
    english = read_questions(
        written(tmp_path, "en.json", json.dumps(squad(("a", "What?", "Tea", 0), ("b", "How?", "hot", 7)))),
        language="en",
    )
    spanish = read_questions(
        written(
            tmp_path,
            "es.json",
            json.dumps(
                squad(("b", "¿Cómo?", "caliente", 14), ("a", "¿Qué?", "té", 3), context="El té es muy caliente.")
            ),
        ),
        language="es",
    )
    one, other = join_by_question_id(english, spanish), join_by_question_id(spanish, english)
    assert [(item.id, item.question, item.answers[0].text) for item in one] == [
        ("b", "How?", "caliente"),
        ("a", "What?", "té"),
    ]
    assert (one.language, other.language) == ("es", "en")
    assert other[0].question == "¿Qué?"
    lonely = read_questions(written(tmp_path, "c.json", json.dumps(squad(("a", "What?", "Tea", 0)))), language="en")
    with pytest.raises(InputError, match=r"ids that c\.json does not have, of 1 question: 'b'"):
        join_by_question_id(lonely, spanish)


@pytest.mark.reliability("input that could be misread")
def test_identifiers_are_no_texts_of_a_pair(tmp_path):
    for row in ("{0}\tIt rains.\tneutral\n", "s-{0}\tIt rains.\tneutral\n", "It rains.\t{0}\tneutral\n"):
        path = written(tmp_path, "x.tsv", "".join(row.format(n) for n in range(20)))
        with pytest.raises(InputError, match=r"x\.tsv:1: the (first|second) texts are numbers or identifiers"):
            tasks["nli"].call().read(path, "en")
    path = written(tmp_path, "x.tsv", "1984\tIt rains.\tneutral\n" * 20)
    assert len(tasks["nli"].call().read(path, "en")) == 20


@pytest.mark.reliability("input that could be misread")
def test_examples_in_another_script_than_their_language_are_noted(tmp_path):
    pairs = written(tmp_path, "x.tsv", "Идёт дождь.\tМокро.\tneutral\n" * 20)
    words = written(tmp_path, "x.iob", "Ада\tB-PER\nпишет\tO\n\n" * 20)
    questions = written(
        tmp_path, "x.json", json.dumps(squad(*((str(n), "?", "Чай", 0) for n in range(20)), context="Чай."))
    )
    nli = tasks["nli"].call()
    for examples in (
        nli.read(pairs, "es"),
        read_tagged(words, language="es"),
        read_questions(questions, language="es"),
    ):
        assert [str(skip) for skip in examples.skipped] == [
            "20 texts without a letter in the script of es (Latn), kept"
        ]
    assert read_tagged(words, language="ru").skipped == ()
