"""One code for a language, whatever convention it came in.

`eng`, `eng_Latn`, `en-US` and `EN` are all `en`; `zho_Hans`, `cmn` and `zh-CN` are `zh`;
`zho_Hant` and `zh-TW` are `zh-Hant`. The tables are CLDR's and ISO's, through `langcodes`.
"""

from __future__ import annotations

import functools
import re

from interlingua.errors import InputError

_REMEDY = "Use an ISO 639 or BCP 47 code, such as 'en', 'rus', 'zho_Hans' or 'pt-BR'."


@functools.cache
def canonical(code: str) -> str:
    """The shortest standard code: macro-language, likely script and likely region removed.

    >>> [canonical(c) for c in ("eng_Latn", "cmn", "zho_Hant", "arb_Arab", "pt-BR", "por-PT")]
    ['en', 'zh', 'zh-Hant', 'ar', 'pt', 'pt-PT']
    """
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


def is_language(code: str) -> bool:
    """Whether a string is a valid language code in any convention.

    >>> is_language("xquad"), is_language("vie")
    (False, True)
    """
    try:
        canonical(code)
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
