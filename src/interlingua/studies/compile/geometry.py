"""The steps of a study's geometry tables: names compared, a look before, a fine-tuning a language and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from interlingua.analyses.entity_geometry import LookSettings
from interlingua.analyses.transfer_matrix import Watch
from interlingua.engine.step import Step
from interlingua.studies.analysis_settings import look_settings, watch
from interlingua.studies.compile.study_inputs import Found, Ingredients
from interlingua.studies.config.schema import GeometryTable
from interlingua.studies.geometry import GeometrySettings
from interlingua.studies.pairwise import PairwiseSettings

BEFORE = "before"
"""The part of a block that is no fine-tuning: the look at the model as it came."""


@dataclass
class Geometries:
    """The steps of geometry tables, over encoders, languages of training and seeds."""

    parts: Ingredients

    def steps(self, name: str, table: GeometryTable) -> list[Step]:
        """How names are spelled, once for all encoders; then what each encoder takes, its steps one after another."""
        data = self.parts.synthetic(table.synth)
        about = {"called": table.synth, "synth": data, "seed": table.seed}
        found = [self.parts.step("spelling", about, {}, label=f"spelling {table.synth}")]
        for encoder in self.parts.study.encoders(table.encoders):
            found += self._of_encoder(name, table, encoder, data)
        return found

    def _of_encoder(self, name: str, table: GeometryTable, encoder: str, data: Mapping[str, Any]) -> list[Step]:
        study, needs = self.parts.study, Found()
        shared = {"called": name, "encoder": self.parts.model(encoder, needs), "synth": data}
        source = table.source or study.table.source
        asked = {*(table.sources or data["languages"]), source}
        sources = [code for code in data["languages"] if code in asked]
        training = self._training(table, encoder, sources)
        label = f"geometry {name} {encoder}"
        uses = [("flattening", table.map)]
        looks = {"source": source, "about": table.entity, "about_rows": table.entity_rows, "looks": _looks(table)}
        found = [self.parts.step("geometry", {**shared, "part": BEFORE, **looks}, needs,
                                 label=f"{label} {BEFORE}", like=f"{encoder} {BEFORE}", uses=uses)]  # fmt: skip
        for place, seed in enumerate(study.seeds):
            for code in sources:
                # A fine-tuning without a second look must not hang on how one looks.
                again = code == source and place == 0
                own = {**shared, "part": code, "seed": seed, "training": training}
                own |= looks if again else {"looks": None}
                found.append(
                    self.parts.step(
                        "geometry",
                        own,
                        needs,
                        label=f"{label} {code} seed {seed}",
                        like=encoder,
                        uses=uses if again else (),
                    )
                )
        return found

    def _training(self, table: GeometryTable, encoder: str, sources: Sequence[str]) -> dict[str, Any]:
        """How fine-tunings are run; an encoder's own batch and rate take the place of the table's, as with tasks."""
        own = self.parts.study.table.encoders[encoder]
        return {
            "train_on": list(sources),
            "epochs": table.epochs,
            "learning_rate": own.learning_rate or table.learning_rate,
            "batch": own.batch_size or table.batch_size,
            "watch": asdict(watch(table)),
            "precision": self.parts.study.table.precision,
        }


def _looks(table: GeometryTable) -> dict[str, Any]:
    looks = look_settings(table, seed=table.seed)
    return {
        "flattening": looks.flattening,
        "perplexity": looks.perplexity,
        "map_layers": list(looks.map_layers),
        "points": looks.points,
        "seed": looks.seed,
    }


def geometry_settings(given: Mapping[str, Any]) -> GeometrySettings:
    """The settings of a step as they were before they became plain data; a part without a look has those of none."""
    training = dict(given.get("training") or {})
    if training:
        training |= {"train_on": tuple(training["train_on"]), "watch": Watch(**training["watch"])}
        training["seeds"] = (given["seed"],)
    found = GeometrySettings(training=PairwiseSettings(**training))
    if given["looks"] is None:
        return found
    looks = LookSettings(**{**given["looks"], "map_layers": tuple(given["looks"]["map_layers"])})
    return replace(found, source=given["source"], about=given["about"], about_rows=given["about_rows"], looks=looks)
