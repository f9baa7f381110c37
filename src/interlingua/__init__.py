"""interlingua shows, explains and improves how a multilingual language model carries meaning across languages.

Importing this package loads neither torch nor transformers: names below are fetched on first use.

>>> import interlingua
>>> corpus = interlingua.read_corpus("sampler")
>>> len(corpus), corpus.languages[:3]
(600, ('en', 'es', 'ru'))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # What `__getattr__` fetches, for checkers and editors.
    from interlingua.analyses.synthesis import Synthetic as Synthetic
    from interlingua.analyses.synthesis import spellings as spellings
    from interlingua.analyses.word_alignment import Alignment as Alignment
    from interlingua.commands.adjust import AdjustedModel as AdjustedModel
    from interlingua.commands.adjust import adjust as adjust
    from interlingua.commands.align import align as align
    from interlingua.commands.audit import Audit as Audit
    from interlingua.commands.audit import audit as audit
    from interlingua.commands.explain import Explanation as Explanation
    from interlingua.commands.explain import explain as explain
    from interlingua.commands.explain import explain_rows as explain_rows
    from interlingua.commands.explain import explain_texts as explain_texts
    from interlingua.commands.geometry import GeometryFound as GeometryFound
    from interlingua.commands.geometry import geometry as geometry
    from interlingua.commands.pretrain import PretrainingResult as PretrainingResult
    from interlingua.commands.pretrain import pretrain as pretrain
    from interlingua.commands.report import open_records as open_records
    from interlingua.commands.report import report_on as report_on
    from interlingua.commands.study import study as study
    from interlingua.commands.synth import synth as synth
    from interlingua.commands.transfer import Transfer as Transfer
    from interlingua.commands.transfer import transfer as transfer
    from interlingua.corpus import ParallelCorpus as ParallelCorpus
    from interlingua.encoder import Encoder as Encoder
    from interlingua.encoder import Representations as Representations
    from interlingua.errors import InputError as InputError
    from interlingua.errors import InterlinguaError as InterlinguaError
    from interlingua.metric import Metric as Metric
    from interlingua.readers import read_corpus as read_corpus
    from interlingua.record import Record as Record
    from interlingua.record import RecordTable as RecordTable
    from interlingua.report.report import Report as Report
    from interlingua.score import Score as Score

__version__ = "0.1.0"

_HOMES = {
    "audit": "interlingua.commands.audit",
    "Audit": "interlingua.commands.audit",
    "adjust": "interlingua.commands.adjust",
    "AdjustedModel": "interlingua.commands.adjust",
    "align": "interlingua.commands.align",
    "Alignment": "interlingua.analyses.word_alignment",
    "transfer": "interlingua.commands.transfer",
    "Transfer": "interlingua.commands.transfer",
    "synth": "interlingua.commands.synth",
    "Synthetic": "interlingua.analyses.synthesis",
    "spellings": "interlingua.analyses.synthesis",
    "study": "interlingua.commands.study",
    "explain": "interlingua.commands.explain",
    "explain_rows": "interlingua.commands.explain",
    "explain_texts": "interlingua.commands.explain",
    "Explanation": "interlingua.commands.explain",
    "geometry": "interlingua.commands.geometry",
    "GeometryFound": "interlingua.commands.geometry",
    "open_records": "interlingua.commands.report",
    "report_on": "interlingua.commands.report",
    "Report": "interlingua.report.report",
    "pretrain": "interlingua.commands.pretrain",
    "PretrainingResult": "interlingua.commands.pretrain",
    "read_corpus": "interlingua.readers",
    "ParallelCorpus": "interlingua.corpus",
    "Encoder": "interlingua.encoder",
    "Representations": "interlingua.encoder",
    "Score": "interlingua.score",
    "Metric": "interlingua.metric",
    "Record": "interlingua.record",
    "RecordTable": "interlingua.record",
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
