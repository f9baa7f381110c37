"""Prepositions whose spelling depends on the word before: Belarusian у and ў, Ukrainian у and в."""

from __future__ import annotations

_VOWELS = {"be": "аеёіоуыэюя", "uk": "аеєиіїоуюя"}
_FORMS = {"be": ("у", "ў"), "uk": ("у", "в")}
_HEAVY = ("в", "ф", "льв", "св", "тв", "хв")
"""Beginnings before which Ukrainian has у whatever stands before it."""


def suited(lead: str, *, before: str, name: str, language: str) -> str:
    """The lead with its preposition spelled as the word before it asks; any other lead as it is.

    Belarusian (rules of 2008): ў after a vowel, у after a consonant, a sign or nothing. Ukrainian (orthography of
    2019): у before в, ф, льв, св, тв, хв; else в before a vowel and after one, у otherwise.

    >>> [suited("у ", before=before, name="Мінску", language="be") for before in ("жыве ", "ён, ", "")]
    ['ў ', 'у ', 'у ']
    >>> [suited("у ", before="живе ", name=name, language="uk") for name in ("Києві", "Відні", "Одесі")]
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
