"""From a study to its steps: tasks, measures and explanations over encoders, languages, regimes and seeds."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

from interlingua.engine.digests import Digests
from interlingua.engine.step import Step
from interlingua.measures import measures
from interlingua.studies.analysis_settings import explain_values
from interlingua.studies.compile.geometry import Geometries
from interlingua.studies.compile.study_inputs import Found, Ingredients, Revisions, once
from interlingua.studies.compile.tasks import Transfers
from interlingua.studies.config.schema import ExplainTable, MeasureTable
from interlingua.studies.study import Study, expanded


def steps_of(
    study: Study, digests: Digests | None = None, revisions: Revisions | None = None
) -> tuple[list[Step], list[str]]:
    """All steps whose results are wanted, in the order of the file, and what cannot be tested, in words.

    What they need is reached through them.
    """
    parts = Ingredients(study, digests or Digests(), revisions or Revisions())
    transfers = Transfers(parts)
    grid = _Grid(parts, transfers)
    found: list[Step] = []
    for task, table in study.table.tasks.items():
        for encoder in study.encoders(table.encoders):
            for source in study.sources(task):
                found += transfers.transfer(task, encoder, source)
    for name, measure in study.table.measures.items():
        found += grid.measured(name, measure)
    for name, explain in study.table.explanations.items():
        found += grid.explained(name, explain)
    for name, looked in study.table.geometry.items():
        found += Geometries(parts).steps(name, looked)
    return found, [*transfers.notes, *parts.notes]


def unused_keys(table: MeasureTable, said: Collection[str]) -> dict[str, str]:
    """The keys of a table of measures that it says and no step would read, with why.

    >>> unused_keys(MeasureTable(measures=("cka",), dictionary="muse"), ["measures", "dictionary"])
    {'dictionary': 'words of a dictionary are mapped beside procrustes, which is not named'}
    """
    found = {}
    if "dictionary" in said and "procrustes" not in table.measures:
        found["dictionary"] = "words of a dictionary are mapped beside procrustes, which is not named"
    if "spellings" in said and not any(entry.needs == "names" for entry in measures if entry.name in table.measures):
        found["spellings"] = "parallel names are for spelling, which is not named"
    if table.against:
        ignored = [key for key in ("models", "encoders", "pairs") if key in said]
        found |= dict.fromkeys(ignored, "against says which encoders are compared, and compares all their languages")
    return found


@dataclass(frozen=True)
class _Side:
    """A model that is measured: what it is called, its settings, what they need, and the step that encodes."""

    called: str
    settings: dict[str, Any]
    needs: Found
    encode: Step


@dataclass
class _Grid:
    parts: Ingredients
    transfers: Transfers

    def _states(self, table: MeasureTable) -> list[tuple[str, str, dict[str, Any], Found]]:
        """Every model that is measured: encoder, what it is called, its settings and needs."""
        found = []
        for encoder in self.parts.study.encoders(table.encoders):
            for state in table.models:
                if state == "encoder":
                    needs: Found = {}
                    found.append((encoder, encoder, self.parts.model(encoder, needs), needs))
                    continue
                task, of_task, _ = state.partition("/")
                if of_task and encoder not in self.parts.study.trained(task, table.encoders):
                    continue
                for seed in self.parts.study.seeds:
                    states = self._state(encoder, state, seed)
                    found += [(encoder, f"{name} seed {seed}", model, needs) for name, model, needs in states]
        return found

    def _state(self, encoder: str, state: str, seed: int) -> list[tuple[str, dict[str, Any], Found]]:
        """The models of a state, one a bitext where each language has its own."""
        if state == "adjusted":
            needs: Found = {}
            model = self.parts.model(encoder, needs)
            foreign = [code for code in self.parts.study.languages if code != self.parts.study.table.source]
            groups = (
                [tuple(foreign)] if self.parts.study.table.adjust.joint_adjustment else [(code,) for code in foreign]
            )
            made = {group: self.parts.adjusted(encoder, group, seed) for group in groups}
            return [
                (f"{encoder} adjusted {'+'.join(g)}", model, needs | {"adjusted": step}) for g, step in made.items()
            ]
        task, _, regime = state.partition("/")
        found = []
        sources = self.parts.study.sources(task)
        for source in sources:
            trained = f" {source}" if len(sources) > 1 else ""
            for scenario, role, step, model, needs in self.transfers.models(task, encoder, regime, seed, source):
                has = needs if step is None else needs | {role: step}
                found.append((f"{encoder} {state}{trained} {'+'.join(scenario.spoken)}".strip(), model, has))
        return found

    def measured(self, name: str, table: MeasureTable) -> list[Step]:
        """One step of encoding for each model, and one for each measure of it; two models together where asked."""
        corpus = {
            "corpus": self.parts.corpus(table.corpus),
            "languages": list(table.languages or once(self.parts.study.table.source, *self.parts.study.languages)),
            "rows": table.rows,
            "pooling": table.pooling,
            "seed": table.seed,
            "precision": self.parts.study.table.precision,
        }
        measure = {
            "called": name,
            "pairs": table.pairs,
            "spellings": None if table.spellings is None else self.parts.corpus(table.spellings),
            "dictionary": None if table.dictionary is None else self.parts.corpus(table.dictionary),
        }
        found: list[Step] = []
        for sides in self._sides(table, corpus):
            called = "–".join(side.called for side in sides)
            found += [self._measure(each, called, corpus | measure, sides) for each in table.measures]
        return found

    def _sides(self, table: MeasureTable, corpus: Mapping[str, Any]) -> list[tuple[_Side, ...]]:
        """What is measured together: one model, or two where encoders are compared."""
        if table.against:
            return [tuple(self._side(name, corpus, table) for name in pair) for pair in table.against]
        return [
            (self._side(encoder, corpus, table, called=called, model=model, needs=needs),)
            for encoder, called, model, needs in self._states(table)
        ]

    def _side(
        self,
        encoder: str,
        corpus: Mapping[str, Any],
        table: MeasureTable,
        *,
        called: str | None = None,
        model: dict[str, Any] | None = None,
        needs: Found | None = None,
    ) -> _Side:
        if model is None or needs is None:
            needs = {}
            model = self.parts.model(encoder, needs)
        named = model | {"name": called or encoder}
        spoken = list(self.parts.study.speaks(encoder, corpus["languages"]))
        settings = {**corpus, "encoder": named, "spoken": spoken, "names": sorted(table.measures)}
        label = f"encode {called or encoder} {table.corpus}"
        uses = [("measure", name) for name in table.measures]
        step = self.parts.step("encode", settings, needs, label=label, like=encoder, uses=uses)
        return _Side(called or encoder, {"encoder": named, "spoken": spoken}, needs, step)

    def _measure(self, name: str, called: str, settings: Mapping[str, Any], sides: Sequence[_Side]) -> Step:
        own = {key: value for key, value in settings.items() if key not in ("spellings", "dictionary")}
        if measures[name].needs == "names":
            own["spellings"] = settings["spellings"]
        if name == "procrustes":
            own["dictionary"] = settings["dictionary"]
        # A measure that is written anew is measured anew; what else it calls is told by CODE. One that a file of the
        # study brought is known by that file.
        brought = ("measure", name) in self.parts.study.plugins.names
        written = "" if brought else inspect.getsource(measures[name].call)
        source = blake2b(written.encode(), digest_size=8).hexdigest()
        own |= {"measure": name, "written": source, "sides": [side.settings for side in sides]}
        needs: Found = {}
        for place, side in enumerate(sides):
            # A measure reads vectors, and of the model what it is called, how it cuts words and its digest.
            needs |= {f"{place} {role}": step for role, step in (side.needs | {"encode": side.encode}).items()}
        uses = [("measure", name)]
        return self.parts.step("measure", own, needs, label=f"measure {name} {called}", like=name, uses=uses)

    def explained(self, name: str, table: ExplainTable) -> list[Step]:
        found = []
        own = explain_values(table)
        for task in table.tasks:
            for encoder in self.parts.study.encoders(table.encoders or self.parts.study.table.tasks[task].encoders):
                for source in self.parts.study.sources(task):
                    for regime in table.regimes:
                        for seed in table.seeds or self.parts.study.seeds:
                            explain = partial(self._attributed, name, table, own, task=task, encoder=encoder)
                            found += explain(source=source, regime=regime, seed=seed)
        return found

    def _attributed(
        self, name: str, table: ExplainTable, own: Mapping[str, Any], *, task: str, encoder: str, source: str,
        regime: str, seed: int
    ) -> list[Step]:  # fmt: skip
        """One step for each model: the language of training beside each other language it is asked in."""
        study, found = self.parts.study, []
        asked = study.speaks(
            encoder, once(source, *(table.languages or study.table.tasks[task].languages or study.languages))
        )
        for scenario, role, step, model, needs in self.transfers.models(task, encoder, regime, seed, source):
            if step is None:
                continue
            has: Found = needs | {role: step}
            languages = [code for code in asked if not scenario.spoken or code in (source, *scenario.spoken)]
            data = table.tests if table.tests is not None else study.table.tasks[task].tests
            given = {code: files for code, files in expanded(data, languages, source).items() if code in languages}
            settings = {
                "encoder": model,
                "called": name,
                "task": task,
                "source": source,
                "regime": regime,
                "spoken": list(scenario.spoken),
                "data": {code: self.parts.files(files, has)[0] for code, files in given.items()},
                "rows": table.rows,
                "dictionaries": self._by_language(table.dictionaries, languages, source),
                "vectors": self._by_language(table.vectors, languages, source),
                "settings": {**own, "seed": seed},
            }
            label = f"attribute {encoder} {task} {source} {regime} {'+'.join(scenario.spoken)}".strip()
            uses = [("task", study.kind(task)), ("attribution", table.attribution)]
            like = f"{encoder} {task}"
            found.append(
                self.parts.step("attribute", settings, has, label=f"{label} seed {seed}", like=like, uses=uses)
            )
        return found

    def _by_language(self, files: Any, languages: Sequence[str], source: str) -> dict[str, Any]:
        if files is None:
            return {}
        others = [code for code in languages if code != source]
        return {code: self.parts.corpus(found[0]) for code, found in expanded(files, others, source).items()}
