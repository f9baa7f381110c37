"""A config that trains in a moment, and how it is written."""

from __future__ import annotations

import json

LANGUAGES = ("en", "ru", "zh")
TINY = {
    "data": {"folder": "text", "languages": list(LANGUAGES)},
    "tokenizer": {"vocabulary": 600, "alphabet": 300},
    "model": {
        "architecture": "electra",
        "embedding_size": 16,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    },
    "training": {
        "steps": 12,
        "batch_size": 8,
        "max_length": 32,
        "warmup": 3,
        "learning_rate": 1e-3,
        "checkpoint_every": 4,
        "evaluate_every": 6,
    },
    "evaluation": {"corpus": "held-out.tsv"},
}


def as_toml(sections: dict[str, dict[str, object]]) -> str:
    # For strings, numbers, booleans and lists of them, JSON is TOML.
    return "\n".join(
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for name, keys in sections.items()
    )
