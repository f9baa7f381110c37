"""XQuAD: SQuAD JSON, one file per language (`xquad.xx.json`), parallel question for question.

Rows are questions, joined by their id; the format name `xquad-contexts` takes the paragraphs
instead, each once, joined by the id of its first question. Ids that differ are an error, not a
skip: files that disagree are not translations of one another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError
from interlingua.readers import readers
from interlingua.readers.documents import Document, open_document
from interlingua.readers.file_names import FileSet
from interlingua.readers.json_values import load_json, question_id, text_of
from interlingua.readers.parallel_files import one_file_each


def is_squad(document: Document) -> bool:
    """Whether the head is a JSON object with the `data` and `paragraphs` of SQuAD.

    No registered sniffer: one file has one language only, so it is known by its set of files.
    """
    head = document.head[:4096]
    return bool(re.match(r'\s*\{\s*"(data|version)"\s*:', head)) and '"paragraphs"' in document.head


@readers.register("xquad", needs="folder")
def xquad(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """XQuAD in a folder (xquad.xx.json): questions joined by id."""
    return _joined(found, languages, encoding, contexts=False)


@readers.register("xquad-contexts", needs="folder")
def xquad_contexts(found: FileSet, *, languages: Sequence[str] | None, encoding: str | None) -> ParallelCorpus:
    """XQuAD in a folder: paragraphs, each once, joined by the id of their first question."""
    return _joined(found, languages, encoding, contexts=True)


def _joined(found: FileSet, languages: Sequence[str] | None, encoding: str | None, *, contexts: bool) -> ParallelCorpus:
    paths = one_file_each(found, languages)
    texts = {code: _texts(path, encoding, contexts=contexts) for code, path in paths.items()}
    first, *others = paths
    ids = list(texts[first])
    for code in others:
        odd = next((key for key in texts[first] if key not in texts[code]), None)
        file, other = paths[code], paths[first]
        if odd is None:
            odd = next((key for key in texts[code] if key not in texts[first]), None)
            file, other = other, file
        if odd is not None:
            raise InputError(
                f"has no question with an id that {other.name} has",
                file=file,
                value=odd,
                remedy="Give files of one release, or only the languages that agree.",
            )
    columns = {code: [texts[code][key] for key in ids] for code in paths}
    return ParallelCorpus.of(columns, name=found.label, places=[f"{found.label}#{key}" for key in ids])


def _texts(path: Path, encoding: str | None, *, contexts: bool) -> dict[str, str]:
    """Questions, or contexts, by id, in the order of the file."""
    with open_document(path, encoding=encoding) as document:
        text = document.text()
    texts: dict[str, str] = {}
    try:
        for article in load_json(text, file=str(path), remedy="Give a file in the format of SQuAD.")["data"]:
            for paragraph in article["paragraphs"]:
                asked = paragraph["qas"][:1] if contexts else paragraph["qas"]
                for item in asked:
                    key = question_id(item["id"], file=str(path))
                    if key in texts:
                        raise InputError("an id twice", file=path, value=key, remedy="Give each question one id.")
                    what = "context" if contexts else "question"
                    said = (paragraph if contexts else item)[what]
                    texts[key] = text_of(said, f"the {what} of {key!r}", file=str(path))
    except (KeyError, TypeError) as error:
        raise InputError(
            f"not in the format of SQuAD ({type(error).__name__}: {error})",
            file=path,
            remedy="Give data, paragraphs, qas, id and question.",
        ) from error
    return texts
