"""`Record`: one measured number with all that made it. The schema is written in docs/records.md."""

from __future__ import annotations

import importlib.metadata
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from interlingua import __version__
from interlingua.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Items: TypeAlias = "NDArray[np.floating[Any]]"
"""The values of a score item by item."""
Made: TypeAlias = "list[tuple[Record, Items | None]]"
"""Records on their way to a folder, each with its per-item values."""

SCHEMA = 1
_NUMBER, _TEXT, _MAPPING = (int, float), str, Mapping
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("measure", "variant", "model", "source", "unit", "corpus", "step"), _TEXT),
    **dict.fromkeys(("target", "target_model", "pooling", "best", "items"), (_TEXT, type(None))),
    **dict.fromkeys(("null", "low", "high"), (*_NUMBER, type(None))),
    **dict.fromkeys(("layer", "seed"), (int, type(None))),
    **dict.fromkeys(("digests", "details", "versions"), _MAPPING),
    "value": _NUMBER,
    "n": int,
    "part": list,
}


@dataclass(frozen=True)
class Record:
    """One measured number with all that made it.

    `layer` None: the measure has no layer. `target` None: the measure is of one language. `target_model`
    differs from `model` only where two models are compared. `items` names the per-item values in the
    store (`file#number`), None where the score kept none. Two runs with the same inputs give
    the same records to the byte; times are therefore kept in run.json, not here.
    """

    measure: str
    variant: str
    model: str
    source: str
    value: float
    n: int
    target: str | None = None
    target_model: str | None = None
    layer: int | None = None
    unit: str = "sentence"
    pooling: str | None = None
    null: float | None = None
    low: float | None = None
    high: float | None = None
    best: str | None = None
    seed: int | None = None
    corpus: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    items: str | None = None
    step: str = ""
    part: tuple[int, int] = (1, 1)
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise InputError(
                f"{self.measure} {self.variant} of {self.source}–{self.target} at layer {self.layer} is not a number",
                value=self.value,
                remedy="The vectors are degenerate (constant or infinite); try --precision fp32.",
            )

    def to_dict(self) -> dict[str, Any]:
        # `asdict` copies every number of every list and takes ten times as long.
        own = {name: dict(getattr(self, name)) for name in ("digests", "details", "versions")}
        return {**vars(self), **own, "part": list(self.part)}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Record:
        """The record a dictionary describes; an unknown schema or a missing key is an error."""
        if given.get("schema") != SCHEMA:
            raise InputError(
                "a record of another schema", value=given.get("schema"), remedy=f"This version reads schema {SCHEMA}."
            )
        try:
            for name, kind in _KINDS.items():
                if name in given and not isinstance(given[name], kind):
                    raise TypeError(f"{name} is {given[name]!r:.40}")
            number, count = given["part"]
            if not 1 <= int(number) <= int(count):
                raise TypeError(f"part is {given['part']!r:.40}")
            return cls(**{**given, "part": (int(number), int(count))})
        except (TypeError, KeyError, ValueError, OverflowError) as error:
            raise InputError(f"not a record ({error})", remedy="See docs/records.md for the schema.") from error


@cache
def versions() -> dict[str, str]:
    """The versions of what computes: interlingua, torch, transformers, numpy."""
    found = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "numpy")}
    return {"interlingua": __version__, **found}
