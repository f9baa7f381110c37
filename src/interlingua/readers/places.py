"""Names of countries and territories in any set of languages, from CLDR through `babel`: strictly parallel names."""

from __future__ import annotations

from collections.abc import Sequence

from interlingua.corpus import ParallelCorpus


def place_names(languages: Sequence[str]) -> ParallelCorpus | None:
    """CLDR's names of the world's territories, a row a territory; languages that CLDR does not name are left out.

    None where it names fewer than two of them.

    >>> corpus = place_names(["en", "be"])
    >>> dict(zip(corpus.column("en"), corpus.column("be")))["Poland"]
    'Польшча'
    """
    from babel import Locale, UnknownLocaleError

    columns: dict[str, list[str | None]] = {}
    codes = sorted(code for code in Locale("en").territories if len(code) == 2 and code.isalpha())
    for language in languages:
        try:
            territories = Locale.parse(language, sep="-").territories
        except (UnknownLocaleError, ValueError):
            continue
        columns[language] = [territories.get(code) for code in codes]
    return ParallelCorpus.of(columns, name="CLDR territories") if len(columns) > 1 else None
