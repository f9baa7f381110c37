import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from interlingua import words
from interlingua.synthetic.slot_filling import SLOT, cut, fill, suit_preposition
from interlingua.synthetic.tables import SlotName

INVISIBLE = regex.compile(r"[\s\p{Cc}\p{Cf}\p{Cs}]")
text = st.text("abñбыşI 19'’-.,!?«»“()\u200b:—", max_size=14)
name = (
    st.text("abñбыşI 19'’-.,", min_size=1, max_size=10)
    .map(str.strip)
    .filter(lambda given: INVISIBLE.sub("", given) != "")
)


@settings(max_examples=300, deadline=None)
@given(text, text, text, text, name, st.integers(1, 3))
@example("l'", "'nın evi", "", "'da", "O'Neil-Smith", 2)
@example("", "", "", "", "a", 1)
def test_tags_cover_exactly_the_entity_and_words_cover_the_sentence(before, after, lead, tail, entity, slots):
    context = cut(before + SLOT.join(["", *(["x"] * (slots - 1)), after]))
    filled = fill(context, SlotName(entity, lead, tail), "LOC")
    assert len(filled.words) == len(filled.tags)
    # Every visible sign is in exactly one word, in order.
    assert "".join(filled.words) == INVISIBLE.sub("", filled.text)
    found = [[]]
    for word, tag in zip(filled.words, filled.tags, strict=True):
        if tag.startswith("B-"):
            found.append([word])
        elif tag.startswith("I-"):
            found[-1].append(word)
    assert ["".join(words) for words in found[1:]] == [INVISIBLE.sub("", entity)] * slots


def test_what_clings_to_a_name_is_a_word_of_its_own_and_not_tagged():
    for context, expected in {
        "Bu [???]'da oldu.": ["Bu/O", "Rio/B-LOC", "'da/O", "oldu/O", "./O"],
        "La costa d’[???], bonica": ["La/O", "costa/O", "d’/O", "Rio/B-LOC", ",/O", "bonica/O"],
        "«[???]»!": ["«/O", "Rio/B-LOC", "»/O", "!/O"],
        "the [???]-based firm": ["the/O", "Rio/B-LOC", "-based/O", "firm/O"],
        "([???]) is [???]’s.": ["(/O", "Rio/B-LOC", ")/O", "is/O", "Rio/B-LOC", "’s/O", "./O"],
        "o[???]da": ["o/O", "Rio/B-LOC", "da/O"],
    }.items():
        filled = fill(cut(context), SlotName("Rio"), "LOC")
        assert [f"{word}/{tag}" for word, tag in zip(filled.words, filled.tags, strict=True)] == expected


def test_words_of_a_language_with_spaces_need_no_segmenter(monkeypatch):
    monkeypatch.setattr(words, "_segmenter", lambda script: pytest.fail(f"looked for words in {script}"))
    filled = fill(cut("[???] (熊貓, ไทย) is black."), SlotName("Rio"), "LOC", "en")
    assert filled.words == ("Rio", "(", "熊", "貓", ",", "ไ", "ท", "ย", ")", "is", "black", ".")
    assert filled.tags == ("B-LOC", *["O"] * 11)


def test_a_preposition_of_the_name_is_outside_it_and_begins_a_sentence_with_a_capital():
    filled = fill(cut("[???] it rains."), SlotName.of("in the [Bahamas]"), "LOC")
    assert filled.text == "In the Bahamas it rains."
    assert filled.tags == ("O", "O", "B-LOC", "O", "O", "O")
    assert fill(cut("«[???]», he said."), SlotName.of("in [Rome]"), "LOC").text == "«In Rome», he said."
    assert fill(cut("Rain [???]."), SlotName.of("in [Rome]"), "LOC").text == "Rain in Rome."


def test_a_name_is_never_given_a_capital():
    assert fill(cut("[???] grows."), SlotName("iPhone"), "ORG").text == "iPhone grows."


def test_belarusian_and_ukrainian_prepositions_follow_the_word_before():
    place = SlotName.of("у [Мінску]")
    assert fill(cut("Ён жыве [???]."), place, "LOC", "be").text == "Ён жыве ў Мінску."
    assert fill(cut("Ён жыў [???]."), place, "LOC", "be").text == "Ён жыў у Мінску."
    assert fill(cut("[???] холадна."), SlotName.of("ў [Мінску]"), "LOC", "be").text == "У Мінску холадна."
    assert fill(cut("Живе [???]."), SlotName.of("у [Києві]"), "LOC", "uk").text == "Живе в Києві."
    assert fill(cut("Брат живе, [???]."), SlotName.of("в [Києві]"), "LOC", "uk").text == "Брат живе, у Києві."
    assert suit_preposition("на ", before="жыве ", name="Кубе", language="be") == "на "
    assert suit_preposition("у ", before="живе ", name="Мінску", language="ru") == "у "
