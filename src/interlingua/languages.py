"""One code for a language, whatever convention it came in.

`eng`, `eng_Latn`, `en-US` and `EN` are all `en`; `zho_Hans`, `cmn` and `zh-CN` are `zh`;
`zho_Hant` and `zh-TW` are `zh-Hant`. The tables are CLDR's and ISO's, through `langcodes`. Names of languages, in
English, in the language itself and in the larger languages, are accepted where a user names a language.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from interlingua.errors import InputError

_REMEDY = "Use an ISO 639 or BCP 47 code, such as 'en', 'rus', 'zho_Hans' or 'pt-BR', or the language's name."
_NAMES = Path(__file__).parent / "assets" / "language_names.tsv"
"""A code and its names a line, from CLDR: in the language itself and in the larger languages."""
_SCRIPTS = {"simplified": "Hans", "traditional": "Hant", "cyrillic": "Cyrl", "latin": "Latn", "arabic": "Arab"}


def canonical(code: str) -> str:
    """The shortest standard code: macro-language, likely script and likely region removed. A name gives its code.

    >>> [canonical(c) for c in ("eng_Latn", "cmn", "zho_Hant", "arb_Arab", "pt-BR", "por-PT", "English", "Русский")]
    ['en', 'zh', 'zh-Hant', 'ar', 'pt', 'pt-PT', 'en', 'ru']
    """
    if not isinstance(code, str):
        raise InputError("not a language code", value=code, remedy=_REMEDY)
    try:
        return _standard(code)
    except InputError:
        named = code_of_name(code)
        if named is None:
            raise
        return named


def several(given: str | Iterable[str]) -> tuple[str, ...]:
    """The codes of languages in a list or with commas between, each once.

    >>> several("en, Russian,rus"), several(["en", "ru"])
    (('en', 'ru'), ('en', 'ru'))
    """
    if not isinstance(given, Iterable):
        raise InputError("not a list of languages", value=given, remedy=_REMEDY)
    parts = [part for each in given.split(",") if (part := each.strip())] if isinstance(given, str) else given
    return tuple(dict.fromkeys(map(canonical, parts)))


@functools.cache
def code_of_name(name: str) -> str | None:
    """The code of the language that has this name, or None.

    >>> [code_of_name(name) for name in ("Russian", "हिन्दी", "Chinese (Traditional)", "Norwegian Bokmål", "tea", "en")]
    ['ru', 'hi', 'zh-Hant', 'nb', None, None]
    """
    plain = " ".join(name.split()).casefold()
    if not 2 <= len(plain) <= 60:
        return None
    if found := _names().get(plain):
        return found
    inside = re.fullmatch(r"(.+?)\s*\((.+)\)", plain)
    if inside is None or inside[1] not in _names():
        return None
    language, detail = _names()[inside[1]], inside[2]
    if detail in _SCRIPTS:
        return _standard(f"{language}-{_SCRIPTS[detail]}")
    territory = _territories().get(detail)
    return None if territory is None else _standard(f"{language}-{territory}")


@functools.cache
def _names() -> dict[str, str]:
    from babel import Locale

    names = {}
    for key, name in Locale("en").languages.items():
        if is_language(key) and len(name) > 3:
            names[name.casefold()] = _standard(key)
    for line in _NAMES.read_text("utf-8").split("\n"):
        code, *own = line.split("\t")
        for name in own:
            names.setdefault(name, code)
    return names


@functools.cache
def _territories() -> dict[str, str]:
    from babel import Locale

    return {name.casefold(): code for code, name in Locale("en").territories.items() if len(code) == 2}


@functools.cache
def _standard(code: str) -> str:
    text = code.strip()
    if len(text) > 64 or not re.fullmatch(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*", text):
        raise InputError("not a language code", value=code, remedy=_REMEDY)
    import langcodes

    try:
        language = langcodes.Language.get(langcodes.standardize_tag(text, macro=True))
        valid = language.is_valid()
    except langcodes.tag_parser.LanguageTagError:
        valid = False
    if not valid or language.language is None or language.language == "und":
        raise InputError("unknown language", value=code, remedy=_REMEDY)
    full = language.maximize()

    def likely(**parts: str | None) -> langcodes.Language:
        return langcodes.Language.make(language=language.language, **parts).maximize()

    region = None if likely(script=full.script).territory == full.territory else full.territory
    region = None if language.territory is None else region
    script = None if likely(territory=region).script == full.script else full.script
    return "-".join(part for part in (language.language, script, region) if part)


@functools.cache
def script(code: str) -> str:
    """The script a language is mostly written in, as ISO 15924 has it.

    >>> script("be"), script("tr"), script("sr-Latn")
    ('Cyrl', 'Latn', 'Latn')
    """
    import langcodes

    return str(langcodes.Language.get(canonical(code)).maximize().script)


def has_known_script(code: str) -> bool:
    """Whether CLDR knows how a language is mostly written; of others it says what it says of the unknown: `Latn-US`.

    >>> has_known_script("ru"), has_known_script("orv")
    (True, False)
    """
    import langcodes

    given = langcodes.Language.get(canonical(code))
    full = given.maximize()
    return given.script is not None or (full.script, full.territory) != ("Latn", "US") or full.language == "en"


def is_language(code: str) -> bool:
    """Whether a string is a valid language code in any convention; a name such as `polish` is no code.

    >>> is_language("xquad"), is_language("vie"), is_language("polish")
    (False, True, False)
    """
    try:
        _standard(code)
    except InputError:
        return False
    return True


def name(code: str) -> str:
    """The English name of a language, or the code where CLDR has none.

    >>> name("be"), name("zh-Hant")
    ('Belarusian', 'Chinese (Traditional)')
    """
    from babel import Locale, UnknownLocaleError

    try:
        shown = Locale.parse(code, sep="-").get_display_name("en")
    except (UnknownLocaleError, ValueError):
        shown = Locale("en").languages.get(code)
    return shown or code
