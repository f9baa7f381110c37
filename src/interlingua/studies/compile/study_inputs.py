"""What the steps of a study read: models by commit, texts, bitexts and recipes by content, defaults by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from interlingua.analyses.transfer import TransferSettings, phases_of, task_named
from interlingua.encoder.model_loading import find_folder
from interlingua.engine.digests import Digests
from interlingua.engine.serialization import File
from interlingua.engine.step import Resources, Step
from interlingua.readers.format_detection import corpus_files
from interlingua.studies.analysis_settings import adjust_phase, diagonal_settings, neural_settings, pair_settings
from interlingua.studies.compile.model_revisions import Revisions
from interlingua.studies.config.recipe import START_FILES, read_config
from interlingua.studies.config.schema import AdjustTable, ResourceTable
from interlingua.studies.plugins import Name
from interlingua.studies.step_settings import (
    KINDS,
    AdjustStep,
    AlignStep,
    Data,
    EffectStep,
    LinkedRows,
    PretrainStep,
    StepSettings,
    StudyBitext,
    StudyCorpus,
    StudyEncoder,
    StudyTask,
    SynthStep,
)
from interlingua.studies.study import MADE, TWO_DIRECTIONS, Study, expand_template, linking_encoder, model_place
from interlingua.tasks.saved_models import described
from interlingua.training.phases import Phase

_GIB = 1 << 30
_KIND = {settings: kind for kind, settings in KINDS.items()}
Needs = dict[str, Step]
"""Steps by the role that they have for another."""


@dataclass
class StudyInputs:
    """The parts of a study's steps: files by content, hub models by commit; `notes` say where that is unknown.

    `on_gpu`: whether the machine that runs the steps has GPUs, which decides a precision that nobody named.
    """

    study: Study
    digests: Digests = field(default_factory=Digests)
    revisions: Revisions = field(default_factory=Revisions)
    on_gpu: bool = False
    notes: list[str] = field(default_factory=list)

    def step(
        self, settings: StepSettings, needs: Needs, *, label: str, like: str = "", uses: Iterable[Name] = ()
    ) -> Step:
        """A step; `uses` are the registered things it names, which a file of the study may have brought."""
        kind = _KIND[type(settings)]
        return Step(
            f"interlingua.studies.steps.{kind}:run",
            settings,
            needs,
            settings.CODE,
            self._resources(kind),
            label,
            like,
            tuple(self.digests.file(file) for file in self.study.plugins.used(uses)),
        )

    def _resources(self, kind: str) -> Resources:
        given = self.study.table.resources.get(kind, ResourceTable())
        usual = float(given.processes) if KINDS[kind].ON_GPU else 0.0
        gpus = usual if given.gpus is None else given.gpus
        return Resources(given.cpus, gpus, int(given.memory * _GIB), given.processes)

    def precision(self, kind: str) -> str:
        """In what precision steps of a kind compute: as the study says, else bf16 on a GPU and fp32 on a CPU."""
        return self.study.table.precision or ("bf16" if self.on_gpu and self._resources(kind).gpus else "fp32")

    def task(self, kind: str, *, source: str, length: int | None = None, pooling: str | None = None) -> StudyTask:
        """A task with all its settings: those that are given, and its own where they are left out."""
        task = task_named(kind, length=length, pooling=pooling, source=source)
        return StudyTask(kind=kind, settings=asdict(task))

    def files(self, given: Sequence[str], needs: Needs) -> tuple[Data, ...]:
        """Files as settings: by content, or as `@NAME/rest` of a step that makes them, which is then needed."""
        found: list[Data] = []
        for file in given:
            if file.startswith(MADE):
                name = file[len(MADE) :].partition("/")[0]
                needs[f"{MADE}{name}"] = self.synth(name)
                found.append(file)
            else:
                found.append(self.corpus(file))
        return tuple(found)

    def files_by_name(self, files: Mapping[str, Sequence[str]], needs: Needs) -> dict[str, tuple[Data, ...]]:
        """Files as settings, by the name of what they are for."""
        return {name: self.files(given, needs) for name, given in files.items()}

    def file(self, template: str, source: str, needs: Needs) -> Data:
        """The file of a template for the language of training."""
        return self.files(expand_template(template, (source,), source)[source], needs)[0]

    def corpus(self, name: str) -> Data:
        return name if name == "sampler" or name.startswith("hf:") else self.digests.file(self.study.place(name))

    def parallel(
        self,
        name: str,
        languages: Sequence[str] = (),
        *,
        format: str | None = None,
        encoding: str | None = None,
        column: int | str | None = None,
    ) -> StudyCorpus:
        """A parallel corpus as settings: its files by content, those of the languages where their names show them."""
        told, files = corpus_files(name, languages, folder=self.study.data)
        own = tuple(self.digests.file(file) for file in files)
        return StudyCorpus(name=told, files=own, format=format, encoding=encoding, column=column)

    def synth(self, name: str) -> Step:
        return self.step(self.synthetic(name), {}, label=f"synth {name}", like=name)

    def synthetic(self, name: str) -> SynthStep:
        """The settings that name a set of parallel tagged sentences."""
        table, spoken = self.study.table.synth[name], self.study.languages
        contexts, names = (
            tuple(
                each if each == "embedded" else self.corpus(each)
                for each in ((given,) if isinstance(given, str) else given)
            )
            for given in (table.contexts, table.names)
        )
        return SynthStep(
            contexts=contexts,
            names=names,
            types=table.types,
            languages=table.languages or (deduplicate_codes(self.study.table.source, *spoken) if spoken else ()),
            rows=table.rows,
            test_share=table.test_share,
            slots=table.slots,
            bad_rows=table.bad_rows,
            entity=table.entity,
            seed=table.seed,
        )

    def model(self, name: str, needs: Needs) -> StudyEncoder:
        """The settings that name an encoder; one that is pretrained here is needed."""
        table, home = self.study.table.encoders[name], self.study.file.parent
        revision = None
        model: File | str | None
        if table.recipe is not None:
            needs["encoder"] = self.pretrained(name)
            model = None
        elif table.model == "embedded":
            model = self.digests.file(find_folder(table.model))
        elif (folder := model_place(home, str(table.model))).is_dir():
            model = self.digests.file(folder)
        else:
            model = str(table.model)
            commit = self.revisions.commit(model, table.revision)
            revision = commit or table.revision
            told = f"{model} is known by its name alone: it is not in the hub's cache here"
            if commit is None and told not in self.notes:
                self.notes.append(told)
        return StudyEncoder(
            name=name,
            model=model,
            revision=revision,
            blocks=table.blocks,
            trust_remote_code=table.trust_remote_code,
            allow_pickle=table.allow_pickle,
        )

    def fine_tuned(self, name: str) -> tuple[File, str]:
        """The folder of a model that was fine-tuned before, and the kind of its task."""
        folder = model_place(self.study.file.parent, self.study.table.models[name].folder)
        return self.digests.file(folder), described(folder)[0].name

    def pretrained(self, name: str) -> Step:
        """The step that makes an encoder by its recipe."""
        table = self.study.table.encoders[name]
        path = self.study.file.parent / str(table.recipe)
        recipe, home = read_config(path), path.parent
        folder = home / recipe.data.folder if table.text is None else self.study.place(table.text)
        tokenizer, start, held_out = recipe.tokenizer_file(home), recipe.start_folder(home), recipe.held_out(home)
        settings = PretrainStep(
            recipe=replace(self.digests.file(path), digest=recipe.digest),
            # By language: a text that this model does not read must not change it.
            text={code: self.digests.file(file) for code, file in recipe.text_files(folder).items()},
            tokenizer=None if tokenizer is None else self.digests.file(tokenizer),
            # Not the folder: what it is called makes no difference.
            start_from=() if start is None else tuple(self.digests.file(start / name) for name in START_FILES),
            held_out=self.digests.file(held_out) if isinstance(held_out, Path) else held_out,
        )
        return self.step(settings, {}, label=f"pretrain {path.stem}", like=path.stem)

    def bitext(self, code: str, needs: Needs) -> StudyBitext:
        """The settings that name a language's bitext; its links are needed."""
        table, source = self.study.table.bitexts, self.study.table.source
        assert table is not None
        links = {} if table.links is None else expand_template(table.links, (code,), source)
        given = [self.digests.file(self.study.place(file)) for file in links.get(code, ())]
        cut = table.corpus is not None
        linking = linking_encoder(table, self.study.table.encoders) if cut or not given else None
        own: Needs = {}
        about = StudyBitext(
            language=code,
            source=source,
            files=() if cut else tuple(self.digests.file(self.study.place(file)) for file in self.study.bitext(code)),
            corpus=None if table.corpus is None else self.corpus(table.corpus),
            links=None if cut or not given else given[0],
            aligner=table.aligner or "diagonal",
            encoder=None if linking is None else self.model(linking, own),
            english=table.pivot_side,
            tokenize=table.tokenize if isinstance(table.tokenize, str) else table.tokenize.get(code, "auto"),
        )
        label = f"align {source}-{code}"
        by = "" if about.links is not None else about.aligner
        settings = AlignStep(
            bitext=about,
            symmetrize=table.symmetrize or "intersect" if by in TWO_DIRECTIONS else None,
            diagonal=asdict(diagonal_settings(table)) if by == "diagonal" else None,
            neural=asdict(neural_settings(table)) if by == "neural" else None,
            precision=None if linking is None else self.precision("align"),
        )
        needs[f"align {code}"] = self.step(settings, own, label=label, like=code)
        return about

    def settings(self, **own: Any) -> TransferSettings:
        """What phases are made of: what the study says of adjusting, and what is given of a task."""
        table: AdjustTable = self.study.table.adjust
        return TransferSettings(
            source=self.study.table.source,
            adjust_epochs=table.epochs,
            adjust_learning_rate=table.learning_rate,
            adjust_batch=table.batch_size,
            adjusting=adjust_phase(table),
            alpha=table.alpha,
            pairs=pair_settings(table, table.pair_filters),
            **own,
        )

    @property
    def linked_rows(self) -> LinkedRows:
        table: AdjustTable = self.study.table.adjust
        pairs = {**vars(pair_settings(table)), "tidy": table.pair_filters}
        return LinkedRows(**{entry.name: pairs[entry.name] for entry in fields(LinkedRows)})

    @property
    def adjust_phases(self) -> tuple[Phase, ...]:
        """The phases of adjusting alone, with what the study says of them."""
        return phases_of("adjusted", self.settings(), task="retrieval", headless=True)

    def adjusted(self, encoder: str, spoken: Sequence[str], seed: int, phases: Sequence[Phase]) -> Step:
        """The step that adjusts an encoder on the bitexts of some languages by phases."""
        needs: Needs = {}
        settings = AdjustStep(
            encoder=self.model(encoder, needs),
            source=self.study.table.source,
            bitexts=tuple(self.bitext(code, needs) for code in spoken),
            linked_rows=self.linked_rows,
            phases=tuple(phases),
            monitor_every=self.study.table.adjust.monitor_every,
            precision=self.precision("adjust"),
            seed=seed,
            compile=self.study.table.adjust.compile,
            checkpoint_every=self.study.table.adjust.checkpoint_every,
        )
        label = f"adjust {encoder} {'+'.join(spoken)} seed {seed}"
        return self.step(settings, needs, label=label, like=encoder, uses=objectives_in(phases))

    def effects(self) -> list[Step]:
        """The steps that measure encoders before and after their adjustment, where the study asks for it."""
        table: AdjustTable = self.study.table.adjust
        found: list[Step] = []
        for encoder in self.study.encoders(table.encoders) if table.effect else ():
            codes = self.study.speaks(encoder, self.study.linkable())
            for spoken in [tuple(codes)] if table.joint_adjustment else [(code,) for code in codes]:
                for seed in self.study.seeds:
                    adjusted = self.adjusted(encoder, spoken, seed, self.adjust_phases)
                    found += [self._effect(encoder, spoken, seed, made) for made in (None, adjusted)]
        return found

    def _effect(self, encoder: str, spoken: tuple[str, ...], seed: int, adjusted: Step | None) -> Step:
        needs: Needs = {} if adjusted is None else {"adjusted": adjusted}
        state = "original" if adjusted is None else "adjusted"
        settings = EffectStep(
            encoder=self.model(encoder, needs),
            state=state,
            trained_on=() if adjusted is None else spoken,
            bitexts=tuple(self.bitext(code, needs) for code in spoken),
            linked_rows=self.linked_rows,
            precision=self.precision("effect"),
            seed=seed,
        )
        label = f"effect {encoder} {state} {'+'.join(spoken)} seed {seed}"
        return self.step(settings, needs, label=label, like=encoder)


def objectives_in(phases: Iterable[Phase]) -> list[Name]:
    """The objectives that phases name."""
    return [("objective", part.objective) for phase in phases for part in phase.parts]


def deduplicate_codes(*codes: str) -> tuple[str, ...]:
    """Each once, in order.

    >>> deduplicate_codes("en", "ru", "en")
    ('en', 'ru')
    """
    return tuple(dict.fromkeys(codes))
