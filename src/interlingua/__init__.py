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
    "audit": "interlingua.commands.audit",
    "Audit": "interlingua.commands.audit",
    "adjust": "interlingua.commands.adjust",
    "Adjusted": "interlingua.commands.adjust",
    "AdjustSettings": "interlingua.studies.adjusting",
    "align": "interlingua.analyses.word_alignment",
    "Alignment": "interlingua.analyses.word_alignment",
    "transfer": "interlingua.commands.transfer",
    "Transfer": "interlingua.commands.transfer",
    "TransferSettings": "interlingua.analyses.transfer",
    "PairSettings": "interlingua.analyses.training_inputs",
    "synth": "interlingua.commands.synth",
    "Synthetic": "interlingua.commands.synth",
    "spellings": "interlingua.commands.synth",
    "study": "interlingua.commands.study",
    "explain": "interlingua.commands.explain",
    "explain_rows": "interlingua.commands.explain",
    "explain_texts": "interlingua.commands.explain",
    "Explanation": "interlingua.commands.explain",
    "ExplainSettings": "interlingua.analyses.explanation",
    "geometry": "interlingua.commands.geometry",
    "GeometryFound": "interlingua.commands.geometry",
    "GeometrySettings": "interlingua.studies.geometry",
    "LookSettings": "interlingua.analyses.entity_geometry",
    "PairwiseSettings": "interlingua.studies.pairwise",
    "Watch": "interlingua.analyses.transfer_matrix",
    "report_on": "interlingua.commands.report",
    "Report": "interlingua.commands.report",
    "pretrain": "interlingua.commands.pretrain",
    "Pretrained": "interlingua.commands.pretrain",
    "read_corpus": "interlingua.readers",
    "ParallelCorpus": "interlingua.corpus",
    "Encoder": "interlingua.encoder",
    "Representations": "interlingua.encoder",
    "Score": "interlingua.score",
    "Metric": "interlingua.metric",
    "Record": "interlingua.record",
    "RecordTable": "interlingua.record",
    "Store": "interlingua.engine.run_store",
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
