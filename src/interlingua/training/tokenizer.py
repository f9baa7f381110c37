"""A WordPiece tokenizer trained on text a language, as multilingual BERT has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from interlingua.errors import InputError
from interlingua.training.text import lines_of

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_INSIDE = "##"
_LONGEST_WORD = 512  # Characters; longer ones are unknown. Thai puts no spaces between words, a clause may have 200.


def train_wordpiece(
    files: Mapping[str, Path],
    *,
    vocabulary: int,
    alphabet: int = 6000,
    tidied: bool = False,
    lines: int | None = None,
) -> Tokenizer:
    """A cased WordPiece tokenizer of at most `vocabulary` entries, the same for the same text.

    Han characters stand alone and nothing is lower-cased, as in mBERT; accents are kept, and Arabic vowel
    signs and the tatweel are dropped, since most text is written without. `alphabet` is the number of
    characters that are kept, the most frequent first. `tidied` and the limit `lines` are those of `lines_of`.
    """
    if vocabulary <= len(SPECIAL):
        raise InputError("too small a vocabulary", value=vocabulary, remedy="Give a few thousand entries.")
    seen: Counter[str] = Counter()

    def text(*, count: bool) -> Iterable[str]:
        for path in files.values():
            for line in lines_of(path, tidied=tidied, limit=lines):
                if count:
                    seen.update(line)
                yield line

    # The trainer numbers characters inside words, and breaks ties between characters, in an order that differs
    # from run to run, and its merges depend on those numbers. So a first pass without merges finds the
    # characters, we order them, and the second gets them in that order.
    first = _trained(text(count=True), vocabulary=0, letters=None, inside=[])
    letters = _letters(seen, first.normalizer, alphabet)
    inside = sorted(piece for piece in first.get_vocab() if piece[len(_INSIDE) :] in letters and _is_inside(piece))
    second = _trained(text(count=False), vocabulary=vocabulary, letters=letters, inside=inside)
    return add_special_tokens(empty_wordpiece(second.get_vocab()))


def _trained(text: Iterable[str], *, vocabulary: int, letters: list[str] | None, inside: list[str]) -> Tokenizer:
    tokenizer = empty_wordpiece()
    limits: dict[str, Any] = {} if letters is None else {"initial_alphabet": letters, "limit_alphabet": len(letters)}
    trainer = trainers.WordPieceTrainer(  # type: ignore[no-untyped-call]
        vocab_size=vocabulary,
        # Special tokens are numbered first, in the order given; our own tokenizer is made of the vocabulary alone.
        special_tokens=[*SPECIAL, *inside],
        show_progress=False,
        **limits,
    )
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def _letters(seen: Mapping[str, int], normalizer: Any, limit: int) -> list[str]:
    """The most frequent characters as the normaliser leaves them, ties by code point."""
    counts: Counter[str] = Counter()
    for character, count in seen.items():
        for kept in normalizer.normalize_str(character):
            if not kept.isspace():
                counts[kept] += count
    return sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:limit])


def _is_inside(piece: str) -> bool:
    return piece.startswith(_INSIDE) and len(piece) == len(_INSIDE) + 1


def empty_wordpiece(vocabulary: Mapping[str, int] | None = None) -> Tokenizer:
    """A WordPiece tokenizer with this vocabulary, and our normaliser."""
    model = models.WordPiece(dict(vocabulary or {}), unk_token="[UNK]", max_input_chars_per_word=_LONGEST_WORD)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            # Harakat, superscript alef and tatweel.
            normalizers.Replace(_regex("[\u064b-\u0652\u0670\u0640]"), ""),
            normalizers.BertNormalizer(lowercase=False, strip_accents=False, handle_chinese_chars=True),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def add_special_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer with its special tokens known as such, and [CLS] and [SEP] put round a text."""
    tokenizer.add_special_tokens(list(SPECIAL))
    ids = {name: tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]")}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ids.items())
    )
    return tokenizer


def _regex(pattern: str) -> object:
    from tokenizers import Regex

    return Regex(pattern)
