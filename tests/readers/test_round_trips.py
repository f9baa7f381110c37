"""What is written in a format is read back, whatever the text."""

import csv
import io
import json
from xml.sax.saxutils import escape

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlingua.corpus import ParallelCorpus
from interlingua.readers import read_corpus

FIRST = ("One, two.", "Раз, два.")  # so that no file is empty
quick = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def rows(excluded: str, *categories: str) -> st.SearchStrategy[list[tuple[str, str]]]:
    text = st.text(st.characters(exclude_categories=["Cs", *categories], exclude_characters=excluded), max_size=12)
    return st.lists(st.tuples(text, text), max_size=6).map(lambda found: [FIRST, *found])


def expected(written: list[tuple[str, str]]) -> dict[str, tuple[str | None, ...]]:
    english, russian = zip(*written, strict=True)
    return dict(ParallelCorpus.of({"en": english, "ru": russian}).texts)


def stdin(data: str) -> dict[str, tuple[str | None, ...]]:
    return dict(read_corpus("-", stdin=io.BytesIO(data.encode())).texts)


@quick
@given(rows("\0\t\n\r"))
def test_tsv_gives_back_any_text_without_quoting(written):
    data = "en\tru\n" + "".join(f"{english}\t{russian}\n" for english, russian in written)
    assert stdin(data) == expected(written)


@quick
@given(rows("\0"), st.sampled_from(",;\t"))
def test_quoted_tables_give_back_separators_quotes_and_line_breaks(written, delimiter):
    sheet = io.StringIO()
    writer = csv.writer(sheet, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("en", "ru"), *written])
    assert stdin(sheet.getvalue()) == expected(written)


@quick
@given(rows("\0"), st.booleans(), st.booleans())
def test_json_lines_give_back_any_text_escaped_or_not_nested_or_not(written, escaped, nested):
    objects = [{"en": english, "ru": russian} for english, russian in written]
    lines = [json.dumps({"translation": item} if nested else item, ensure_ascii=escaped) for item in objects]
    data = "\n".join(lines).replace("\0", "\\u0000")
    assert stdin(data) == expected(written)


@quick
@given(rows("\0\n\r"))
def test_file_pairs_give_back_any_line(tmp_path, written):
    for place, code in enumerate(("en", "ru")):
        text = "".join(f"{row[place]}\n" for row in written)
        (tmp_path / f"talk.en-ru.{code}").write_bytes(text.encode())
    assert dict(read_corpus(tmp_path).texts) == expected(written)


@quick
@given(rows("\ufffe\uffff", "Cc", "Cn"))
def test_tmx_gives_back_any_text(written):
    units = (
        f'<tu><tuv xml:lang="en-US"><seg>{escape(english)}</seg></tuv>'
        f'<tuv xml:lang="rus"><seg>{escape(russian)}</seg></tuv></tu>\n'
        for english, russian in written
    )
    data = f'<?xml version="1.0"?><tmx version="1.4"><header srclang="en"/><body>{"".join(units)}</body></tmx>'
    assert stdin(data) == expected(written)
