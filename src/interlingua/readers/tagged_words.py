"""Tagged words: files as CoNLL, PAN-X (WikiAnn), WikiNEuRal and MultiCoNER have them, one word per line.

Sentences are separated by blank lines, columns by tabs, or by white space where the file has no tab. Which column holds
the words and which the tags is said by a first line of names, detected from their content (`_detect_columns`) or given
by `columns`; a file whose columns cannot be distinguished is refused. PAN-X's own files say `en:word`: the language is
cut off where every word of the file has it. Tags become IOB2, and the note says so: IOB1 and IO (no entity begins with
B-), BIOES, BILOU and BMES. In a file of IOB2 an I- tag that follows no tag of its type is kept, as seqeval accepts it,
and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from interlingua import languages as codes
from interlingua.errors import InputError
from interlingua.readers.corpus_builder import looks_like_identifiers
from interlingua.readers.documents import Document, open_document
from interlingua.readers.examples import Examples, Skips, TaggedWords, collect_examples

_TAG = re.compile(r"O|[BIESLUM]-\S+")
_IOB2 = {"B": "B", "S": "B", "U": "B", "I": "I", "E": "I", "L": "I", "M": "I"}
"""The tag in IOB2: S(ingle) and U(nit) entities begin, E(nd), L(ast) and M(iddle) continue."""
_COMMENT = re.compile(r"# ?(?:id|sent_id|text|newdoc|newpar|global\.columns)\b")
_WORD_NAMES = frozenset(("word", "words", "token", "tokens", "form", "text"))
_TAG_NAMES = frozenset(
    ("tag", "tags", "ner", "nertag", "ner_tag", "ner_tags", "label", "labels", "entity", "iob", "bio", "ne")
)
_PREFIX = re.compile(r"([A-Za-z]{2,3}(?:-[A-Za-z-]+)?):")
_CHUNK = re.compile("[BI]-(ADJP|ADVP|CONJP|INTJ|LST|NP|PNP|PP|PRT|SBAR|UCP|VP|NAC|NX|QP|WHNP|WHPP|AP|NC|VC|PC)")
"""Types of phrases in CoNLL-2000 and CoNLL-2003, whose chunk tags are IOB tags, too."""
_PART_OF_SPEECH = re.compile(
    "ADJ|ADP|ADV|AUX|CCONJ|CONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|CC|CD|DT|EX|FW|IN|JJ[RS]?|LS|"
    r"MD|NNP?S?|PDT|POS|PRP\$?|RB[RS]?|RP|TO|UH|VB[DGNPZ]?|WDT|WP\$?|WRB|-[LR]RB-|HYPH|NFP|ADD|AFX|``|''|[].,:;()$#\"_-]"
)
"""Universal and Penn Treebank tags."""
_REMEDY = (
    "Keep two columns, the word and its tag (cut -f2,3), or name the columns in Python: columns=('index', 'word', "
    "'tag')."
)
_SENTENCE_NAMES = frozenset(
    ("sentence", "sentence_id", "sentence_#", "sentence_number", "sent", "sent_id", "sentence_idx")
)
_MAX_WORDS = 1000
"""Words of a file without a blank line from which on it is no single sentence."""
_Row = tuple[int, list[str]]


def read_tagged(path: str | Path, *, language: str, columns: Sequence[str] | None = None) -> Examples[TaggedWords]:
    """The tagged sentences of an IOB2 file.

    `columns` names every column of the file in order, among them `word` and `tag`; where one is called `sentence`, its
    values separate the sentences; other names are ignored.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "dev.tsv").write_text("0\\tAda\\tB-PER\\n1\\twrote\\tO\\n\\n", encoding="utf-8")
    ...     read_tagged(Path(folder, "dev.tsv"), language="en")[0].words
    ('Ada', 'wrote')
    """
    code = codes.canonical(language)
    with open_document(Path(path)) as document:
        skips = Skips(document.short)
        sentences, header = _sentences(document, skips)
        names = columns if columns is not None else header
        word, tag = _places(sentences, names, document.name)
        sentences = _cut_by_name(sentences, names, document.name)
        for line, cells in (row for rows in sentences for row in rows):
            if not _TAG.fullmatch(cells[tag]):
                remedy = "Give IOB2 tags: O, B-TYPE or I-TYPE; for numbers, the names they stand for."
                raise InputError("unknown tag", file=document.name, line=line, value=cells[tag], remedy=remedy)
            if not cells[word]:
                raise InputError(
                    "a tag without a word", file=document.name, line=line, value=cells[tag], remedy="Write the word."
                )
        prefix = _prefix([cells[word] for rows in sentences for _, cells in rows], code, document.name)
        tags = _in_iob2([[(line, cells[tag]) for line, cells in rows] for rows in sentences], skips)
        items = [
            TaggedWords(tuple(cells[word][len(prefix) :] for _, cells in rows), own, rows[0][0])
            for rows, own in zip(sentences, tags, strict=True)
        ]
        return collect_examples(items, language=code, name=document.short, file=document.name, skips=skips)


def _in_iob2(sentences: list[list[tuple[int, str]]], skips: Skips) -> list[tuple[str, ...]]:
    """The tags of each sentence in IOB2, whichever scheme the file has; what was changed is counted."""
    found: list[tuple[str, ...]] = []
    odd: list[tuple[int, int, int]] = []  # Entities that begin with I-: sentence, place, line.
    begun = False
    for rows in sentences:
        own = [given if given == "O" else f"{_IOB2[given[0]]}{given[1:]}" for _, given in rows]
        for (line, given), tag in zip(rows, own, strict=True):
            if given != tag:
                skips.add("tags of BIOES or BILOU, read as IOB2", line)
        for place, (before, tag) in enumerate(pairwise(["O", *own])):
            if tag[0] == "I" and before[2:] != tag[2:]:
                odd.append((len(found), place, rows[place][0]))
            begun = begun or (tag[0] == "B" and before[2:] != tag[2:])
        found.append(tuple(own))
    for sentence, place, line in odd:
        if begun:  # The file is in IOB2, so that these are its own mistakes.
            skips.add("I- tags that continue no entity, read as its beginning", line)
        else:
            skips.add("beginnings of entities in IOB1 or IO, read as IOB2", line)
            own = list(found[sentence])
            own[place] = f"B{own[place][1:]}"
            found[sentence] = tuple(own)
    return found


def _sentences(document: Document, skips: Skips) -> tuple[list[list[_Row]], list[str] | None]:
    """The rows of each sentence, all with as many cells as the first, and the names of columns in a first line.

    Comments and document marks are counted. "#" may be a word, too: a line that begins with it is a comment where it
    has no tag, or where it has other columns than the first line that does not begin with it.
    """
    if document.first_line.lstrip().startswith(("{", "[{")):
        raise InputError(
            "JSON, where each line should be a word and its tag",
            file=document.name,
            line=1,
            value=document.first_line,
            remedy="Write the words and tags of a sentence one per line, with a tab between, and a blank line after.",
        )
    given = [(line, text) for line, text in document.lines()]
    plain = next((text for _, text in given if text.strip() and text[0] != "#" and "-DOCSTART-" not in text), "")
    tabs = "\t" in (plain or next((text for _, text in given if text.strip()), ""))

    def cut(text: str) -> list[str]:
        return [cell.strip() for cell in text.split("\t")] if tabs else text.split()

    sentences: list[list[_Row]] = [[]]
    header: list[str] | None = None
    width = len(cut(plain))
    for line, text in given:
        if not text.strip():
            if sentences[-1]:
                sentences.append([])
            continue
        cells = cut(text)
        if text.startswith("#") and _is_comment(text, cells, width):
            skips.add("comments", line)
            continue
        if "-DOCSTART-" in cells[:2]:
            skips.add("document marks", line)
            continue
        width = width or len(cells)
        if len(cells) != width or width < 2:
            raise InputError(
                f"{len(cells)} columns where {max(width, 2)} were expected",
                file=document.name,
                line=line,
                value=text,
                remedy="Give a word, a tab and its tag; a blank line between sentences.",
            )
        if header is None and len(sentences) == 1 and not sentences[0] and (header := _names(cells)):
            skips.add("lines of names of columns", line)
            continue
        sentences[-1].append((line, cells))
    return [sentence for sentence in sentences if sentence], header


def _cut_by_name(sentences: list[list[_Row]], columns: Sequence[str] | None, file: str) -> list[list[_Row]]:
    """The sentences, cut where a column `sentence` has another value; in some files only the first word has one."""
    if columns is not None and "sentence" in columns:
        place, found = list(columns).index("sentence"), list[list[_Row]]()
        for rows in sentences:
            before = ""
            for number, row in enumerate(rows):
                if number == 0 or row[1][place] not in ("", before):
                    found.append([])
                before = row[1][place] or before
                found[-1].append(row)
        return found
    if len(sentences) == 1 and len(sentences[0]) > _MAX_WORDS:
        raise InputError(
            f"no blank line in {len(sentences[0]):,} words",
            file=file,
            line=sentences[0][-1][0],
            remedy="Put a blank line after each sentence, or name the column of sentences: "
            "columns=('sentence', 'word', 'tag').",
        )
    return sentences


def _is_comment(text: str, cells: Sequence[str], width: int) -> bool:
    tagged = any(map(_TAG.fullmatch, cells[1:]))
    return not tagged or (width > 0 and len(cells) != width) or _COMMENT.match(text) is not None


def _names(cells: Sequence[str]) -> list[str] | None:
    """The cells of a first line that names the columns, as `columns` would; None where it is a word and its tag."""
    roles = {"word": _WORD_NAMES, "tag": _TAG_NAMES, "sentence": _SENTENCE_NAMES}
    names = [next((role for role, known in roles.items() if _plain(cell) in known), "") for cell in cells]
    if names.count("word") != 1 or names.count("tag") != 1 or _TAG.fullmatch(cells[names.index("tag")]):
        return None
    return names


def _plain(cell: str) -> str:
    return re.sub(r"[\s-]+", "_", cell.strip("\"' ").lower())


def _places(sentences: list[list[_Row]], columns: Sequence[str] | None, file: str) -> tuple[int, int]:
    """Where the word and the tag stand in a row, as `columns` says or as the content shows."""
    if columns is not None:
        names = [columns] if isinstance(columns, str) else list(columns)
        if names.count("word") != 1 or names.count("tag") != 1:
            raise InputError(
                "columns must name one word and one tag",
                value=", ".join(map(str, names)),
                remedy="Name every column in order, such as columns=('index', 'word', 'tag').",
            )
        width = len(sentences[0][0][1]) if sentences else len(names)
        if width != len(names):
            raise InputError(
                f"{width} columns where {len(names)} are named", file=file, remedy="Name every column of the file."
            )
        return names.index("word"), names.index("tag")
    return _detect_columns(sentences, file) if sentences else (0, 1)


def _detect_columns(sentences: list[list[_Row]], file: str) -> tuple[int, int]:
    """Where the word and the tag stand, by what the columns hold.

    The tag is the one column of IOB2 tags that are not those of phrases. The word is the first other column that holds
    neither tags, numbers, identifiers, parts of speech nor one value per sentence: CoNLL's files, and CoNLL-U's, have
    lemmas and all else after the word. Where the tag is not last, no such order is known, and two candidates are one
    too many.
    """
    table = list(zip(*(cells for rows in sentences for _, cells in rows), strict=True))
    shares = [sum(_TAG.fullmatch(cell) is not None for cell in column) / len(column) for column in table]
    # A column with a misspelt tag is still one of tags: the tag is reported, and not another column read in its place.
    tags = [place for place, share in enumerate(shares) if share >= 0.5] or [len(table) - 1]
    entities = [place for place in tags if not any(map(_CHUNK.fullmatch, table[place]))] or tags
    if len(entities) > 1:
        raise _undecided("hold tags", entities, file, sentences)
    tag = entities[0]
    others = [place for place in range(len(table)) if place not in tags]
    words = [place for place in others if not _beside_words(table[place], place, sentences)]
    if not words and len(others) == 1 and not _counts_up(others[0], sentences):
        words = others
    words = [place for place in words if not any(_is_lower_case_of(table[place], table[other]) for other in words)]
    # A column of lemmas has fewer values than its words, one of classes or of another tag set far fewer.
    richer = [place for place in words[1:] if len(set(table[place])) > 1.05 * len(set(table[words[0]]))]
    spelt_out = [place for place in words[1:] if _is_lemma_of(table[words[0]], table[place])]
    if not words or richer or spelt_out or (len(words) > 1 and tag != len(table) - 1):
        raise _undecided("may hold the words", words or others, file, sentences)
    return words[0], tag


def _is_lower_case_of(column: Sequence[str], other: Sequence[str]) -> bool:
    return column != other and all(cell == word.lower() for cell, word in zip(column, other, strict=True))


def _is_lemma_of(column: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a column mostly holds the other's words, with fewer capitals: lemmas that stand before their words."""
    same = sum(cell.lower() == word.lower() for cell, word in zip(column, other, strict=True))
    capitals, wanted = (sum(cell != cell.lower() for cell in cells) for cells in (column, other))
    return 2 * same >= len(column) and capitals < wanted


def _beside_words(column: Sequence[str], place: int, sentences: list[list[_Row]]) -> bool:
    """Whether a column can be something else than words: numbers, identifiers, parts of speech, a sentence's value."""
    if all(_is_number(cell) for cell in column) or all(map(_PART_OF_SPEECH.fullmatch, column)):
        return True
    own = [[cells[place] for _, cells in rows] for rows in sentences]
    if len(column) > 1 and (looks_like_identifiers(column) or _numbered(own)):
        return True
    return any(len(rows) > 1 for rows in sentences) and all(
        len({cells[place] for _, cells in rows}) == 1 for rows in sentences
    )


def _numbered(sentences: list[list[str]]) -> bool:
    """Whether the words of every sentence have names such as t1, t2: unlike in each, and the same from one to another.

    >>> _numbered([["t1", "t2"], ["t1", "t2", "t3"]]), _numbered([["A4", "B2"], ["C3", "A4"]])
    (True, False)
    """
    longest = max(sentences, key=len, default=[])
    return len(longest) > 1 and looks_like_identifiers(longest) and all(own == longest[: len(own)] for own in sentences)


def _is_number(cell: str) -> bool:
    """Whether a cell has digits, and nothing beside them but signs: 12, 0:3, [4,7), 98 %."""
    return any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell))


def _counts_up(place: int, sentences: list[list[_Row]]) -> bool:
    """Whether a column numbers the rows, in each sentence or through the file."""
    column = [cells[place] for rows in sentences for _, cells in rows]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < 19 for cell in column) or len(column) < 2:
        return False
    steps = [int(cell) - int(before) for before, cell in pairwise(column)]
    starts = set(accumulate(map(len, sentences), initial=-1))
    return all(step == 1 or number in starts for number, step in enumerate(steps))


def _undecided(what: str, places: Iterable[int], file: str, sentences: list[list[_Row]]) -> InputError:
    line, cells = sentences[0][0]
    shown = " and ".join(str(place + 1) for place in places)
    return InputError(
        f"columns {shown} {what}, and the content does not show which"
        if " and " in shown
        else f"column {shown} does not hold words, as far as its content shows",
        file=file,
        line=line,
        value="\t".join(cells),
        remedy=_REMEDY,
    )


def _prefix(words: Sequence[str], language: str, file: str) -> str:
    """`xx:` where every word begins with it and it names the language asked for, else nothing.

    Where every word begins with the name of a language, and one of them is another language, it is an error.
    """
    found = Counter(match[1] if (match := _PREFIX.match(word)) else "" for word in words)
    if not found or not all(map(codes.is_language, found)):
        return ""
    others = [given for given in found if codes.canonical(given) != language]
    if others:
        raise InputError(
            f"the words are marked as {others[0]}:, and the language asked for is {language}",
            file=file,
            value=next(word for word in words if word.startswith(f"{others[0]}:")),
            remedy="Name that language, or give a file of one language.",
        )
    return f"{next(iter(found))}:" if len(found) == 1 else ""
