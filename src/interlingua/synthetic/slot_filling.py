"""Where a name goes in a context, and the letters that join them."""

from __future__ import annotations

from dataclasses import dataclass

import regex

from interlingua.synthetic.tables import Context, SlotName
from interlingua.words import token_spans

_VOWELS = {"be": "аеёіоуыэюя", "uk": "аеєиіїоуюя"}
_FORMS = {"be": ("у", "ў"), "uk": ("у", "в")}
_HEAVY = ("в", "ф", "льв", "св", "тв", "хв")
"""Beginnings before which Ukrainian has у whatever stands before it."""


def suit_preposition(lead: str, *, before: str, name: str, language: str) -> str:
    """The lead with its preposition spelled as the word before it asks; any other lead as it is.

    Belarusian (rules of 2008): ў after a vowel, у after a consonant, a sign or nothing. Ukrainian (orthography of
    2019): у before в, ф, льв, св, тв, хв; else в before a vowel and after one, у otherwise.

    >>> [suit_preposition("у ", before=before, name="Мінску", language="be") for before in ("жыве ", "ён, ", "")]
    ['ў ', 'у ', 'у ']
    >>> [suit_preposition("у ", before="живе ", name=name, language="uk") for name in ("Києві", "Відні", "Одесі")]
    ['в ', 'у ', 'в ']
    """
    word = lead.strip().lower()
    if word not in _FORMS.get(language, ()):
        return lead
    full, short = _FORMS[language]
    vowels = _VOWELS[language]
    first = name.lower()
    after_vowel = before.rstrip()[-1:].lower() in tuple(vowels)
    if language == "uk" and first.startswith(_HEAVY):
        chosen = full
    elif language == "uk" and first[:1] in tuple(vowels):
        chosen = short
    else:
        chosen = short if after_vowel else full
    return lead.lower().replace(word, chosen)


SLOT = "[???]"

# What clings to an entity: `'s`, `'da`, `-jeva` or bare letters after it, `d'`, `l'`, `anti-` before it. The entity's
# edge cuts the word, and the part outside is one token with its apostrophe or hyphen.
_AFTER = regex.compile(r"['’ʼ\-‑]?[\p{L}\p{M}\p{N}]+", flags=regex.VERSION1)
_BEFORE = regex.compile(r"[\p{L}\p{M}\p{N}]+['’ʼ\-‑]?$", flags=regex.VERSION1)
_LETTER = regex.compile(r"[\p{L}\p{N}]", flags=regex.VERSION1)
_WITHOUT_SPACES = ("zh", "yue", "ja", "th")


@dataclass(frozen=True, slots=True)
class FilledSentence:
    """A sentence, its words, and an IOB2 tag for each."""

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]


def cut(text: str, slot: str = SLOT) -> Context:
    """The context of a text with slots, its outer white space removed.

    >>> cut(" [???]'s mayor spoke. ").pieces
    ('', "'s mayor spoke.")
    """
    return Context(tuple(text.strip().split(slot)))


def fill(context: Context, name: SlotName, type: str, language: str = "") -> FilledSentence:
    """The sentence with the name in every slot; the words of the entity, and no other, are tagged.

    Words are those of `words.token_spans`, except that the edges of the entity are edges of words. What clings to it
    is a word of its own, tagged O: `Ankara'da` is `Ankara` and `'da`, `l'Havana` is `l'` and `Havana`. (PAN-X tags
    `Ankara'da` as one word; here the tag must cover the name and nothing else, in every language.) A
    preposition that comes with the name and begins the sentence gets a capital, and is spelled as the word before it
    asks where the language has such a rule (`euphony`). Chinese and Thai inside a language with spaces are cut into
    characters, so that the words are the same whether or not a segmenter is installed.

    >>> fill(cut("[???] kış uzundur."), SlotName.of("[Ankara]'da"), "LOC").words
    ('Ankara', "'da", 'kış', 'uzundur', '.')
    >>> filled = fill(cut("Neu, [???]’s, d’[???]!"), SlotName("New York"), "LOC")
    >>> list(zip(filled.words, filled.tags))[2:6]
    [('New', 'B-LOC'), ('York', 'I-LOC'), ('’s', 'O'), (',', 'O')]
    """
    last = len(context.pieces) - 1
    text: list[str] = []
    words: list[str] = []
    tags: list[str] = []
    segmented = not language or language.partition("-")[0] in _WITHOUT_SPACES
    entity = [name.text[start:end] for start, end in token_spans(name.text, segmented=segmented)]
    for place, piece in enumerate(context.pieces):
        before = "".join(text) + (name.tail if place else "") + piece
        lead = suit_preposition(name.lead, before=before, name=name.text, language=language) if place < last else ""
        if place == 0 and lead and _LETTER.search(piece) is None:
            lead = lead[0].upper() + lead[1:]
        outside = (name.tail if place else "") + piece + lead
        around = outside_words(outside, after=place > 0, before=place < last, segmented=segmented)
        text.append(outside)
        words += around
        tags += ["O"] * len(around)
        if place < last:
            text.append(name.text)
            words += entity
            tags += [f"{'I' if number else 'B'}-{type}" for number in range(len(entity))]
    return FilledSentence("".join(text), tuple(words), tuple(tags))


def outside_words(text: str, *, after: bool, before: bool, segmented: bool = True) -> list[str]:
    """The words of a text that stands right after an entity, right before one, or both.

    >>> outside_words("'nın en büyük l'", after=True, before=True)
    ["'nın", 'en', 'büyük', "l'"]
    """
    head = _AFTER.match(text) if after else None
    begin = head.end() if head else 0
    tail = _BEFORE.search(text, begin) if before else None
    end = tail.start() if tail else len(text)
    middle = text[begin:end]
    words = [middle[start:stop] for start, stop in token_spans(middle, segmented=segmented)]
    return [*([head.group()] if head else []), *words, *([tail.group()] if tail else [])]
