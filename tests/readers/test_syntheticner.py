"""SyntheticNER's CSV files: kinds from file names, genders from columns and slots, prepositions apart from names."""

import pytest

import interlingua
from interlingua.errors import InputError
from interlingua.synthetic import files
from interlingua.synthetic.files import mark_oblique_name, read_sheets, read_syntheticner
from interlingua.synthetic.tables import SlotKind, SlotName

PEOPLE = ",en,ru,gender\n0,Ada King,Ада Кинг,f\n1,Karl Weber,Карл Вебер,m\n2,Olga Volkova,Ольга Волкова,f\n"


def file(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def test_genders_are_kinds_of_their_own(tmp_path):
    found, told = read_syntheticner(file(tmp_path, "PER_names.csv", PEOPLE))
    assert {(sheet.kind, tuple(line for line, _ in sheet.rows)) for sheet in found} == {
        (SlotKind("PER", gender="female"), (2, 4)),
        (SlotKind("PER", gender="male"), (3,)),
    }
    assert all(sheet.languages == ("en", "ru") for sheet in found)
    assert told == []


def test_slots_say_the_gender_and_rows_whose_languages_disagree_are_told(tmp_path):
    text = 'en,ru\n[male] sang.,[male] пел.\n"[female], she sang.",[female] пела.\n[female] ran.,[male] бежал.\n'
    found = {sheet.kind.gender: sheet for sheet in read_syntheticner(file(tmp_path, "PER_sents_TEN.csv", text))[0]}
    table, left = files.contexts(found["male"], ["en", "ru"])
    assert table.lines == (2,)
    assert table.cells["ru"][0].pieces == ("", " пел.")
    assert [(each.reason, each.lines) for each in left] == [("contexts without a slot", (4,))]
    assert files.contexts(found["female"], ["en"])[0].cells["en"][0].pieces == ("", ", she sang.")


def test_lines_count_quoted_line_breaks_and_a_byte_order_mark_is_no_text(tmp_path):
    text = '\ufeffen,ru\n"[???]\nis big.",[???] велик.\n[???] sleeps.,Спит.\n'
    (sheet,), _ = read_syntheticner(file(tmp_path, "LOC_NOM_2sents.csv", text))
    assert [line for line, _ in sheet.rows] == [2, 4]
    table, left = files.contexts(sheet, ["en", "ru"])
    assert table.cells["en"][0].pieces == ("", " is big.")
    assert left[0].lines == (4,)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("in the Bahamas", "en", SlotName("Bahamas", "in the ")),
        ("The Hague", "en", SlotName("The Hague")),
        ("we Włoszech", "pl", SlotName("Włoszech", "we ")),
        ("Na Kubie", "pl", SlotName("Kubie", "na ")),
        ("ў Нью-Ёрку", "be", SlotName("Нью-Ёрку", "ў ")),
        ("Kore Cumhuriyeti'nde", "tr", SlotName("Kore Cumhuriyeti", "", "'nde")),
        ("Irakta", "tr", SlotName("Irakta")),
        ("в", "ru", SlotName("в")),
        ("v Ústí nad Labem", "cs", SlotName("Ústí nad Labem", "v ")),
    ],
)
def test_what_comes_with_an_oblique_name_is_apart_from_it(text, language, expected):
    assert SlotName.of(mark_oblique_name(text, language)) == expected


def test_disambiguation_is_cut_off_and_told(tmp_path):
    (sheet,), told = read_syntheticner(
        file(tmp_path, "LOC_NOM_names.csv", "en,pl\nKaluga,Kaługa (miasto)\nOslo,Oslo\n")
    )
    assert [row["pl"] for _, row in sheet.rows] == ["Kaługa", "Oslo"]
    assert told[0].lines == (2,)


BAD = {
    "a stray column": ("LOC_NOM_names.csv", "en,ru,note\nOslo,Осло,x\n", r"names\.csv:1: column 3 .* 'note'"),
    "a gender where there is none": ("ORG_names.csv", "en,gender\nUN,m\n", r"ORG_names\.csv:1: column 2 .* 'gender'"),
    "a stray cell": ("LOC_NOM_names.csv", "en,ru\nOslo,Осло\nBonn,Бонн,x\n", r"names\.csv:3: 3 cells .* has 2: 'x'"),
    "a missing cell": ("LOC_NOM_names.csv", "en,ru\nOslo\n", r"names\.csv:2: 1 cells where the header has 2"),
    "no gender": ("PER_names.csv", "en,ru,gender\nA,Б,x\n", r"PER_names\.csv:2: a person without a gender: 'x'"),
    "no column of genders": ("PER_names.csv", "en,ru\nA,Б\n", r"PER_names\.csv:2: a person without a gender"),
    "broken quoting": ("LOC_NOM_names.csv", 'en,ru\n"Oslo,Осло\n', r"LOC_NOM_names\.csv:2: broken quoting"),
    "bytes that are no text": ("LOC_NOM_names.csv", None, r"LOC_NOM_names\.csv"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_broken_file_is_named_with_its_line(case, tmp_path):
    name, text, message = BAD[case]
    (tmp_path / name).write_bytes(b"en,ru\nOslo,\xff\xfe\n" if text is None else text.encode())
    with pytest.raises(InputError, match=message):
        read_syntheticner(tmp_path / name)


def test_a_name_missing_in_a_language_asked_for_is_named_and_elsewhere_no_matter(tmp_path):
    file(tmp_path, "ORG_names.csv", "en,ru,tr\nUN,ООН,\nEU,ЕС,AB\nAU,АС,AfB\nIMF,МВФ,IMF\n")
    file(
        tmp_path,
        "ORG_3sents.csv",
        "en,ru,tr\n[???] a,[???] а,[???] a\n[???] b,[???] б,[???] b\n[???] c,[???] в,[???] c\n",
    )
    assert interlingua.synth(tmp_path, tmp_path, languages=["en", "ru"], rows=4, bad_rows="fail").left_out == ()
    with pytest.raises(InputError, match=r"ORG_names\.csv:2: names missing in a language \(tr\)"):
        interlingua.synth(tmp_path, tmp_path, languages=["en", "tr"], rows=4, bad_rows="fail")


def test_a_folder_without_such_files_says_which_are_meant(tmp_path):
    file(tmp_path, "notes.txt", "x")
    with pytest.raises(InputError, match=r"no file of names in the folder.*SyntheticNER"):
        read_sheets(tmp_path, "names", None)
