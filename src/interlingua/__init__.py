"""interlingua shows, explains and improves how a multilingual language model carries meaning across languages.

Importing this package loads neither torch nor transformers: names below are fetched on first use.

>>> import interlingua
>>> corpus = interlingua.read_corpus("sampler")
>>> len(corpus), corpus.languages[:3]
(600, ('en', 'es', 'ru'))
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "audit": "interlingua.api",
    "Audit": "interlingua.api",
    "adjust": "interlingua.api_adjust",
    "Adjusted": "interlingua.api_adjust",
    "AdjustSettings": "interlingua.studies.adjusting",
    "align": "interlingua.api",
    "Alignment": "interlingua.api",
    "transfer": "interlingua.api_transfer",
    "Transfer": "interlingua.api_transfer",
    "TransferSettings": "interlingua.studies.scenarios",
    "PairSettings": "interlingua.studies.stages",
    "synth": "interlingua.api_synth",
    "Synthetic": "interlingua.api_synth",
    "spellings": "interlingua.api_synth",
    "study": "interlingua.api_study",
    "explain": "interlingua.api_explain",
    "explain_rows": "interlingua.api_explain",
    "explain_texts": "interlingua.api_explain",
    "Explanation": "interlingua.api_explain",
    "ExplainSettings": "interlingua.studies.explaining",
    "geometry": "interlingua.api_geometry",
    "GeometryFound": "interlingua.api_geometry",
    "GeometrySettings": "interlingua.studies.geometry",
    "LookSettings": "interlingua.studies.looking",
    "PairwiseSettings": "interlingua.studies.pairwise",
    "Watch": "interlingua.studies.watching",
    "report_on": "interlingua.api_report",
    "Report": "interlingua.api_report",
    "pretrain": "interlingua.api",
    "Pretrained": "interlingua.api",
    "read_corpus": "interlingua.readers",
    "ParallelCorpus": "interlingua.corpus",
    "Encoder": "interlingua.encoder",
    "Representations": "interlingua.encoder",
    "Score": "interlingua.score",
    "Record": "interlingua.studies.record",
    "Store": "interlingua.studies.store",
    "InputError": "interlingua.errors",
    "InterlinguaError": "interlingua.errors",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'interlingua' has no attribute {name!r}; it has: {', '.join(sorted(_HOMES))}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
