"""Codes of every convention come to one, and what is no code is refused."""

import pytest

from interlingua.errors import InputError
from interlingua.languages import canonical, is_language, name

CONVENTIONS = {
    "en": ["en", "eng", "EN", "en-US", "en_US", "eng_Latn", " en "],
    "ru": ["ru", "rus", "rus_Cyrl", "ru-RU"],
    "zh": ["zh", "zho", "chi", "cmn", "zh-CN", "zho_Hans", "zh-Hans", "zho-CN"],
    "zh-Hant": ["zh-TW", "zho_Hant", "zh-Hant-TW", "zho-TW"],
    "ar": ["ar", "ara", "arb", "arb_Arab"],
    "ar-Latn": ["arb_Latn"],
    "fa": ["fa", "fas", "per", "pes", "pes_Arab"],
    "de": ["de", "deu", "ger", "de-DE"],
    "lv": ["lv", "lav", "lvs", "lvs_Latn"],
    "ms": ["ms", "msa", "zsm", "zsm_Latn"],
    "sr": ["sr", "srp", "srp_Cyrl", "srp-Cyrl"],
    "sr-Latn": ["srp-Latn", "sr_Latn"],
    "pt": ["pt", "por", "pt-BR", "por_Latn"],
    "pt-PT": ["pt-PT", "por-PT"],
    "en-GB": ["en-GB", "eng-GB"],
    "fr-CA": ["fr-CA", "fra-CA"],
    "nb": ["nb", "nob", "nob_Latn"],
    "yue": ["yue", "yue_Hant"],
    "he": ["he", "heb", "iw"],
    "id": ["id", "ind", "in", "ind_Latn"],
}


@pytest.mark.parametrize("code", CONVENTIONS)
def test_every_convention_comes_to_one_code(code):
    assert {given: canonical(given) for given in CONVENTIONS[code]} == dict.fromkeys(CONVENTIONS[code], code)


@pytest.mark.parametrize("code", CONVENTIONS)
def test_a_standard_code_stands_for_itself(code):
    assert canonical(canonical(code)) == code


@pytest.mark.parametrize("given", ["", "e", "english!", "en ru", "12", "en-", "-en", "en..ru", "тат"])
def test_what_is_shaped_like_no_code_is_refused(given):
    with pytest.raises(InputError, match="not a language code"):
        canonical(given)
    assert not is_language(given)


@pytest.mark.parametrize("given", ["xx", "zz", "und", "notes", "xquad", "en-Abcd"])
def test_what_is_no_language_is_refused(given):
    with pytest.raises(InputError, match="unknown language"):
        canonical(given)
    assert not is_language(given)


def test_names_are_english_and_a_code_without_one_names_itself():
    assert [name(code) for code in ("en", "vi", "zh-Hant", "be")] == [
        "English",
        "Vietnamese",
        "Chinese (Traditional)",
        "Belarusian",
    ]
    assert name("dtp") in {"dtp", "Kadazan Dusun", "Central Dusun"}
