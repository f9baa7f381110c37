"""What the steps of a study read: models by commit, texts, bitexts and recipes by content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from interlingua.analyses.transfer import TransferSettings
from interlingua.encoder.loading import asked_commit, cached_commit, find_folder
from interlingua.engine.digests import Digests
from interlingua.engine.records import cannot_write, write_text
from interlingua.engine.step import Resources, Step
from interlingua.engine.workspace import Home
from interlingua.paths import read_json
from interlingua.studies.analysis_settings import pair_settings
from interlingua.studies.compile.custom_regimes import plain_phases
from interlingua.studies.config.plugins import Name
from interlingua.studies.config.recipe import read_config
from interlingua.studies.config.schema import AdjustTable, ResourceTable
from interlingua.studies.study import MADE, Study, expanded, linking_encoder, model_place
from interlingua.training.regime import Phase


@dataclass
class Revisions:
    """Commits by name and revision: what the hub's cache on this machine has, else what a run of the study found out.

    `kept` is the study's file of those; `ask` lets the hub be asked for what neither has.
    """

    kept: Path | None = None
    ask: bool = False
    _told: dict[str, str] = field(default_factory=dict)
    _new: bool = False

    def __post_init__(self) -> None:
        if self.kept is not None and self.kept.is_file():
            try:
                self._told = {str(name): str(commit) for name, commit in read_json(self.kept).items()}
            except (ValueError, AttributeError):
                self._told = {}  # Asked again.

    def commit(self, name: str, revision: str | None) -> str | None:
        """The commit that a hub name stands for; None where it is not known here."""
        if (found := cached_commit(name, revision)) is not None:
            return found
        asked = name if revision is None else f"{name}@{revision}"
        if asked not in self._told and self.ask and (found := asked_commit(name, revision)) is not None:
            self._told[asked] = found
            self._new = True
        return self._told.get(asked)

    def keep(self, home: Home) -> None:
        """Write what the hub said into the study's folder."""
        if self.kept is not None and self._new:
            try:
                home.make()
            except OSError as error:
                raise cannot_write(home.folder, error) from error
            write_text(self.kept, json.dumps(self._told, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
            self._new = False


CODE: Mapping[str, str] = {}
"""Raised for a kind where its function's results change; a kind that is not here is at its first."""
ON_GPU = ("pretrain", "adjust", "finetune", "predict", "distances", "encode", "attribute", "geometry")
_GIB = 1 << 30
Found = dict[str, Step]
"""Steps by the role that they have for another."""


@dataclass
class Ingredients:
    """The parts of a study's steps: files by content, hub models by commit; `notes` say where that is unknown."""

    study: Study
    digests: Digests = field(default_factory=Digests)
    revisions: Revisions = field(default_factory=Revisions)
    notes: list[str] = field(default_factory=list)

    def step(
        self,
        kind: str,
        settings: Mapping[str, Any],
        needs: Found,
        *,
        label: str,
        like: str = "",
        uses: Iterable[Name] = (),
    ) -> Step:
        """A step; `uses` are the registered things it names, which a file of the study may have brought."""
        return Step(
            kind,
            f"interlingua.studies.steps.{kind}:run",
            settings,
            needs,
            self._resources(kind),
            CODE.get(kind, "1"),
            label,
            like,
            tuple(self.digests.file(file) for file in self.study.plugins.used(uses)),
        )

    def _resources(self, kind: str) -> Resources:
        given = self.study.table.resources.get(kind, ResourceTable())
        usual = float(given.processes) if kind in ON_GPU else 0.0
        gpus = usual if given.gpus is None else given.gpus
        return Resources(given.cpus, gpus, int(given.memory * _GIB), given.processes)

    def files(self, given: Sequence[str], needs: Found) -> list[Any]:
        """Files as settings: by content, or as `@NAME/rest` of a step that makes them, which is then needed."""
        found: list[Any] = []
        for file in given:
            if file.startswith(MADE):
                name = file[len(MADE) :].partition("/")[0]
                needs[f"{MADE}{name}"] = self.synth(name)
                found.append(file)
            else:
                found.append(self.corpus(file))
        return found

    def corpus(self, name: str) -> Any:
        return name if name == "sampler" or name.startswith("hf:") else self.digests.file(self.study.place(name))

    def synth(self, name: str) -> Step:
        return self.step("synth", self.synthetic(name), {}, label=f"synth {name}")

    def synthetic(self, name: str) -> dict[str, Any]:
        """The settings that name a set of parallel tagged sentences."""
        table = self.study.table.synth[name]
        settings = asdict(table)
        for key in ("contexts", "names"):
            given = [settings[key]] if isinstance(settings[key], str) else settings[key]
            settings[key] = [each if each == "embedded" else self.corpus(each) for each in given]
        settings["languages"] = table.languages or once(self.study.table.source, *self.study.languages)
        return settings

    def model(self, name: str, needs: Found) -> dict[str, Any]:
        """The settings that name an encoder; one that is pretrained here is needed."""
        table, home = self.study.table.encoders[name], self.study.file.parent
        allowed: dict[str, Any] = {"trust_remote_code": table.trust_remote_code, "allow_pickle": table.allow_pickle}
        if table.blocks is not None:
            allowed["blocks"] = table.blocks
        if table.recipe is not None:
            needs["encoder"] = self._pretrained(name)
            return {"name": name, "model": None, **allowed}
        model: Any = str(table.model)
        if model == "embedded":
            model = self.digests.file(find_folder(model))
        elif (folder := model_place(home, model)).is_dir():
            model = self.digests.file(folder)
        else:
            commit = self.revisions.commit(model, table.revision)
            allowed["revision"] = commit or table.revision
            told = f"{model} is known by its name alone: it is not in the hub's cache here"
            if commit is None and told not in self.notes:
                self.notes.append(told)
        return {"name": name, "model": model, **allowed}

    def _pretrained(self, name: str) -> Step:
        table = self.study.table.encoders[name]
        path = self.study.file.parent / str(table.recipe)
        recipe = read_config(path)
        folder = path.parent / recipe.data.folder if table.text is None else self.study.place(table.text)
        # By language: a text that this model does not read must not change it.
        read = {code: [self.digests.file(text) for text in sorted(folder.glob(f"{code}.txt*"))[:1]]
                for code in recipe.data.languages}  # fmt: skip
        pieces = recipe.tokenizer.file
        settings = {
            "recipe": self.digests.file(path),
            "text": read,
            "pieces": None if pieces is None else self.digests.file(path.parent / pieces),
        }
        return self.step("pretrain", settings, {}, label=f"pretrain {path.stem}", like=path.stem)

    def bitext(self, code: str, needs: Found) -> dict[str, Any]:
        """The settings that name a language's bitext; its links are needed."""
        table, source = self.study.table.bitexts, self.study.table.source
        assert table is not None
        about: dict[str, Any] = {
            "language": code,
            "source": source,
            "aligner": table.aligner or "diagonal",
            "english": table.pivot_side,
        }
        if table.corpus is not None:
            about |= {"corpus": self.corpus(table.corpus), "files": [], "links": None}
        else:
            links = {} if table.links is None else expanded(table.links, (code,), source)
            files = [self.digests.file(self.study.place(file)) for file in self.study.bitext(code)]
            given = [self.digests.file(self.study.place(file)) for file in links.get(code, ())]
            about |= {"corpus": None, "files": files, "links": given[0] if given else None}
        own: Found = {}
        linking = linking_encoder(table, self.study.table.encoders)
        if linking is not None and about["links"] is None:
            about["encoder"] = self.model(linking, own)
        needs[f"align {code}"] = self.step("align", about, own, label=f"align {source}-{code}", like=code)
        return about

    def settings(self, **own: Any) -> TransferSettings:
        """The settings of a step: those given, and nothing that it does not hang on."""
        table = self.study.table
        return TransferSettings(source=table.source, precision=table.precision, compile=table.compile, **own)

    @property
    def adjusting(self) -> dict[str, Any]:
        table: AdjustTable = self.study.table.adjust
        return {
            "adjust_epochs": table.epochs,
            "adjust_learning_rate": table.learning_rate,
            "adjust_batch": table.batch_size,
            "pairs": pair_settings(table),
        }

    def adjusted(self, encoder: str, spoken: Sequence[str], seed: int, own: Sequence[Phase] | None = None) -> Step:
        """The step that adjusts an encoder: as papers/001 does, or by the phases of a regime of the study's own."""
        needs: Found = {}
        settings = {
            "encoder": self.model(encoder, needs),
            "bitexts": [self.bitext(code, needs) for code in spoken],
            "settings": asdict(self.settings(**self.adjusting)),
            "seed": seed,
        }
        if own is not None:
            settings["phases"] = plain_phases(own)
        label = f"adjust {encoder} {'+'.join(spoken)} seed {seed}"
        return self.step("adjust", settings, needs, label=label, like=encoder, uses=objectives_in(own or ()))


def objectives_in(phases: Sequence[Phase]) -> list[Name]:
    """The objectives that phases name."""
    return [("objective", part.objective) for phase in phases for part in phase.parts]


def once(*codes: str) -> list[str]:
    """Each once, in order.

    >>> once("en", "ru", "en")
    ['en', 'ru']
    """
    return list(dict.fromkeys(codes))
