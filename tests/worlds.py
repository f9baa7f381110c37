"""A small world of two languages for transfer: a model, files of every task, and a bitext with its links.

The words of the second language are those of the first turned round and written in Cyrillic letters, as texts in ru
are; each has a token of its own, so that the model knows nothing of who translates whom.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from interlingua.commands.study import PlannedStudy
from interlingua.engine.runner import RunSummary
from toys import WORDS

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TAGS = ("O", "B-PER", "B-LOC")
_CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхижклмнопярстувщыйз")


@dataclass(frozen=True)
class World:
    folder: Path

    def __getitem__(self, name: str) -> str:
        return str(self.folder / name)


def turned(words: list[str]) -> list[str]:
    return [word[::-1].translate(_CYRILLIC) for word in words]


def make_world(folder: Path, *, rows: int = 160, dropout: float = 0.0) -> World:
    _model(folder / "model", dropout)
    draw = np.random.default_rng(0)
    texts = [draw.choice(WORDS, int(draw.integers(3, 7)), replace=False).tolist() for _ in range(rows)]
    _write(folder / "bitext.en-ru.tsv", [f"{' '.join(text)}\t{' '.join(turned(text))}" for text in texts])
    _write(folder / "links", [" ".join(f"{place}-{place}" for place in range(len(text))) for text in texts])
    for name, code, chosen in (
        ("train", "en", texts[:96]),
        ("test", "en", texts[96:136]),
        ("test", "ru", texts[96:136]),
    ):
        spoken = [turned(text) if code == "ru" else text for text in chosen]
        tags = [[TAGS[WORDS.index(word) % 3] for word in text] for text in chosen]
        _write(
            folder / f"ner-{name}-{code}.tsv",
            ["".join(f"{w}\t{t}\n" for w, t in zip(*pair, strict=True)) for pair in zip(spoken, tags, strict=True)],
        )
        labels = [["entailment", "neutral", "contradiction"][WORDS.index(text[0]) % 3] for text in chosen]
        lines = [
            f"{' '.join(text[:2])}\t{' '.join(text[2:])}\t{label}" for text, label in zip(spoken, labels, strict=True)
        ]
        _write(folder / f"nli-{name}-{code}.tsv", lines)
        (folder / f"qa-{name}-{code}.json").write_text(json.dumps(_squad(spoken)), "utf-8")
    parallel = ["en\tru", *(f"{' '.join(text)}\t{' '.join(turned(text))}" for text in texts[96:126])]
    _write(folder / "parallel.tsv", parallel)
    return World(folder)


def _squad(texts: list[list[str]]) -> dict[str, object]:
    """Which word comes after the one that is asked about."""
    asked = []
    for number, text in enumerate(texts):
        at = number % (len(text) - 1)
        answers = [{"text": text[at + 1], "answer_start": len(" ".join(text[: at + 1])) + 1}]
        asked.append(
            {"context": " ".join(text), "qas": [{"id": f"q{number}", "question": text[at], "answers": answers}]}
        )
    return {"data": [{"paragraphs": asked}]}


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _model(folder: Path, dropout: float) -> None:
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    words = [*SPECIAL, *WORDS, *turned(list(WORDS))]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {f"{name[1:-1].lower()}_token": name for name in SPECIAL}
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(
        vocab_size=len(words),
        max_position_embeddings=32,
        pad_token_id=0,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
        **sizes,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)


def run_here(planned: PlannedStudy) -> RunSummary:
    """Every step of a study in this process, in the graph's order, models and vectors kept."""
    summary = planned.run(executor="inline", keep=True)
    assert not summary.failed, summary.failed
    return summary
