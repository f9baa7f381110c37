"""JSON Lines: an object a line, its keys the languages.

Three shapes: `{"en": …, "ru": …}`; `{"translation": {"en": …, "ru": …}}`, as Hugging Face datasets
have it; and `{"source": …, "target": …}`, where two languages are asked for. Other keys are ignored
and counted; an absent key or a null is an empty cell; a key twice is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers, sniffers
from interlingua.readers.corpus_builder import DOUBTFUL, CorpusBuilder, language_of, languages_by_role
from interlingua.readers.documents import Document
from interlingua.readers.json_values import load_json, text_of
from interlingua.readers.xquad import is_squad


@sniffers.register("jsonl")
def is_jsonl(document: Document, languages: Sequence[str] | None) -> bool:
    """Whether the first line is a JSON object, whole or longer than the head, that is no SQuAD file."""
    line = document.first_line.lstrip()
    return line.startswith("{") and line[1:].lstrip().startswith('"') and not is_squad(document)


@readers.register("jsonl", needs="file")
def jsonl(document: Document, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """JSON Lines: an object of languages a line, plain or under "translation"."""
    gathering = CorpusBuilder(document.short, file=document.name)
    return gather_objects(_objects(document, gathering), gathering, languages=languages)


def gather_objects(
    objects: Iterable[tuple[int, Mapping[str, Any]]],
    gathering: CorpusBuilder,
    *,
    languages: Sequence[str] | None,
) -> ParallelCorpus:
    """The corpus of numbered objects whose keys are languages."""
    seen: dict[str, str | None] = {}
    for line, item in objects:
        inner = item.get("translation")
        cells = inner if isinstance(inner, Mapping) else item
        twice = _beside(item, inner, languages) if cells is inner else []
        if twice:
            raise InputError(
                "another text of a language beside the translation",
                file=gathering.file,
                line=line,
                value=f"{twice[0]}: {item[twice[0]]}",
                remedy="Keep one of the two.",
            )
        roles = languages_by_role(list(cells), languages)
        for key in cells:
            if key not in seen:
                seen[key] = roles.get(key) or language_of(key, languages)
                if seen[key] is None:
                    gathering.skip("columns that are no language", f"{gathering.name}:{line} {key}")
        row: dict[str, str] = {}
        for key, value in cells.items():
            code = seen[key]
            if code is None or (languages is not None and code not in languages):
                continue
            if code in row:
                raise InputError(
                    f"two keys are the same language ({code})",
                    file=gathering.file,
                    line=line,
                    value=key,
                    remedy="Keep one of the two.",
                )
            row[code] = _text(value, key, gathering, line)
        gathering.add(row, line=line)
    return gathering.corpus(languages, seen=seen)


def _beside(item: Mapping[str, Any], inner: Mapping[str, Any], languages: Sequence[str] | None) -> list[str]:
    """The keys beside `translation` with another text of a language in it; `id` and `no` are numbers there."""
    own = {language_of(key, languages): text for key, text in inner.items()}
    return [
        key
        for key, text in item.items()
        if isinstance(text, str)
        and key.lower() not in DOUBTFUL
        and (code := language_of(key, languages)) is not None
        and own.get(code, text) != text
    ]


def _text(value: Any, key: str, gathering: CorpusBuilder, line: int) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and key.lower() in DOUBTFUL:
        return str(value)  # Judged with the other values of its column: a number is no Indonesian.
    what = f"the value of {key!r}"
    return text_of(value, what, file=gathering.file, line=line, remedy="Give a string or null.")


def _objects(document: Document, gathering: CorpusBuilder) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, text in document.lines():
        if not text.strip():
            gathering.skip("blank lines", f"{document.short}:{line}")
            continue
        item = json_on_line(document, line, text)
        if not isinstance(item, dict):
            raise InputError(
                "not a JSON object", file=document.name, line=line, value=text, remedy='Give {"en": …, "ru": …}.'
            )
        yield line, item


def json_on_line(document: Document, line: int, text: str) -> Any:
    """What a line says, whatever it is of: examples of tasks are read by it, too."""
    return load_json(text, file=document.name, line=line, remedy="Give one JSON object a line.")
