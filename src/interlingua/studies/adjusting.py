"""From a model and linked text to an adjusted checkpoint, and what it did to distances and retrieval."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from interlingua import languages as codes
from interlingua.analyses.adjustment_effect import with_changes, without_items
from interlingua.analyses.aligned_bitext import LinkedText, linked_text
from interlingua.analyses.training_inputs import (
    Material,
    Pairs,
    PairSettings,
    drawn_pairs,
    loop_settings,
    recorded,
    stages,
)
from interlingua.corpus import Pair, clean
from interlingua.encoder import Encoder
from interlingua.encoder.loading import default_precision
from interlingua.engine.atomic_files import cannot_write, write_text
from interlingua.errors import InputError
from interlingua.measures.retrieval import retrieval
from interlingua.paths import read_json
from interlingua.readers.embedded import sampler
from interlingua.score import Score
from interlingua.studies.run_folder import STATE, check_folder, told_by
from interlingua.training.checkpoints import load_whole, save_whole
from interlingua.training.forward import checked_layer, is_trained
from interlingua.training.loop import Monitor
from interlingua.training.monitors import WordDistances
from interlingua.training.pair_batches import PairBatches
from interlingua.training.phases import Freeze, Lora, Part, Phase, Schedule
from interlingua.training.processes import first_process_first, is_first_process
from interlingua.training.regime import ADJUST, Place, Stage, train_stages, trainable
from interlingua.wordalign.links import PairFilters

__all__ = ["AdjustSettings", "AdjustedModel", "LinkedText", "Origin", "adjust", "linked_text"]

Progress = Callable[[str, int, int], None]
_ABOUT, _LEAST = "adjustment.json", 10
_SAMPLER_LEAST = 100  # With fewer rows the change of a share is known to no better than ten points.


@dataclass(frozen=True)
class AdjustSettings:
    """How a model is adjusted; the defaults are those of papers/001's code.

    `rows` are drawn by the seed, for training and, others, `held_out` for measuring (None: 1,000, a tenth at most).
    `steps` take the place of the schedule's epochs. `layer`, `target`, `reduction` are those of the objective
    `adjustment`; `anchor`, `contrastive` and `drift` the weights of the others (0: without). `reference` is how the
    original vectors are kept. `tidy` filters the word pairs. `precision` None: bf16 on a GPU, fp32 elsewhere; `graph`
    None: recorded steps where a GPU can.
    """

    rows: int = 30_000
    held_out: int | None = None
    batch: int = 32
    schedule: Schedule = ADJUST
    steps: int | None = None
    layer: int = -1
    how: str = "mean"
    specials: bool = True
    target: str = "joint"
    reduction: str = "mean"
    adjustment: float = 1.0
    anchor: float = 1.0
    contrastive: float = 0.0
    temperature: float = 0.1
    drift: float = 0.0
    tidy: PairFilters = field(default_factory=PairFilters)
    freeze: Freeze = field(default_factory=Freeze)
    lora: Lora | None = None
    precision: str | None = None
    reference: str = "fp16"
    graph: bool | None = None
    checkpoint_every: int = 200
    monitor_every: int | None = None
    seed: int = 0

    def on(self, device: torch.device) -> AdjustSettings:
        """The settings with what the device decides decided."""
        precision = self.precision or default_precision(device)
        return replace(self, precision=precision, graph=recorded(device, precision, self.graph))

    @property
    def pairs(self) -> PairSettings:
        """Those of the settings that say how linked text is read and pulled together."""
        return PairSettings(
            self.rows,
            self.held_out,
            self.layer,
            self.how,
            self.specials,
            self.target,
            self.reduction,
            self.tidy,
            self.reference,
        )


@dataclass(frozen=True)
class Origin:
    """A model by its name, and what may be done to load it."""

    name: str
    trust_remote_code: bool = False
    allow_pickle: bool = False


class Text(Protocol):
    """Linked text that can be read: `LinkedText`, which is, and `LinkedFiles`."""

    @property
    def digest(self) -> str: ...

    @property
    def staying(self) -> str: ...

    def read(self, kept: Path, *, progress: Progress | None) -> LinkedText: ...


@dataclass(frozen=True)
class AdjustedModel:
    """An adjusted model: its folder, and what is known of it (the content of `adjustment.json`)."""

    folder: Path
    summary: Mapping[str, Any]


def adjust(
    model: str | Origin,
    texts: Mapping[str, Text],
    settings: AdjustSettings | None = None,
    *,
    out: Path,
    device: torch.device,
    tensorboard: Path | None = None,
    progress: Progress | None = None,
    stop_after: float | None = None,
) -> AdjustedModel:
    """Adjust a model on linked text, one a language, and write it to the folder `out`.

    With several languages all are adjusted at once. State is kept in `out` under `.training` until the model is whole,
    so a killed run goes on where it was; a finished run is not run again. `adjustment.json` has the distances of
    related and unrelated words and retrieval, on rows that were not trained on, before and after; and retrieval on the
    embedded sampler, where it has both languages: a text of another kind than the one that was trained on.
    """
    settings = (settings or AdjustSettings()).on(device)
    origin = Origin(model) if isinstance(model, str) else model
    whole, tokenizer, digest = load_whole(
        origin.name, trust_remote_code=origin.trust_remote_code, allow_pickle=origin.allow_pickle
    )
    _check(whole, settings)
    try:
        with first_process_first(device):
            digest = _digest(digest, texts, settings)
            done = _opened(out, digest)
            if done is not None:
                return AdjustedModel(out, done)
            read = {
                code: text.read(out / STATE / f"links-{text.digest}.npz", progress=progress)
                for code, text in texts.items()
            }
            data = {code: _pairs(whole, tokenizer, text, settings) for code, text in read.items()}
            others = {code: _sampler(texts[code].staying, code, text) for code, text in read.items()}
        whole.to(device)
        kept = out / STATE / "before.json"
        before = _kept_measures(kept, data) or _measures(whole, tokenizer, data, others, settings)
        if is_first_process():
            # Only now: input that cannot be used leaves no run behind.
            write_text(out / STATE / "run.json", json.dumps({"kind": "adjust", "digest": digest}))
            write_text(kept, json.dumps(before))
        stage = _stage(whole, data, settings, out, device, progress)
        place = Place(out / STATE)
        train_stages(
            whole,
            [stage],
            device=device,
            place=place,
            tensorboard=tensorboard,
            progress=progress,
            stop_after=stop_after,
        )
        state = place.checkpoint(0, stage).state()
        staying = {code: text.staying for code, text in texts.items()}
        summary = _summary(whole, origin.name, data, staying, settings, stage, state, before)
        if is_first_process():
            if state.get("finished"):
                after = _measures(whole, tokenizer, data, others, settings)
                summary["after"] = without_items(with_changes(before, after, summary["layer"]))
            _finish(whole, tokenizer, summary, out, place.journal(0, stage))
    except OSError as error:
        raise cannot_write(out, error) from error
    return AdjustedModel(out, summary)


def _check(model: Any, settings: AdjustSettings) -> None:
    """Refuse what this model cannot do, before any text is read."""
    layer = checked_layer(model, settings.layer)
    with trainable(model, settings.freeze, settings.lora, seed=settings.seed):
        if not is_trained(model, layer):
            raise InputError(
                f"nothing is trained that layer {layer} hangs on",
                value=settings.freeze.blocks,
                remedy="Freeze fewer blocks, or adjust a higher layer.",
            )


def _pairs(model: Any, tokenizer: Any, text: LinkedText, settings: AdjustSettings) -> Pairs:
    """The text of a language: what is trained on, and what is held out."""
    if (found := len(text.usable)) < _LEAST:
        raise InputError(
            "too few sentence pairs to train on and to measure", value=found, remedy=f"Give {_LEAST} or more."
        )
    encoder = Encoder.of(model.base_model, tokenizer, name="in training")
    return drawn_pairs(text, encoder, settings.pairs, seed=settings.seed)


def _stage(
    model: Any,
    data: Mapping[str, Pairs],
    settings: AdjustSettings,
    out: Path,
    device: torch.device,
    progress: Progress | None,
) -> Stage:
    material = Material(
        None,
        None,
        tuple(data),
        data.__getitem__,
        settings.pairs,
        settings.seed,
        str(settings.precision),
        temperature=settings.temperature,
        folder=out / STATE / "reference",
    )
    weights = {
        "adjustment": settings.adjustment,
        "anchor": settings.anchor,
        "contrastive": settings.contrastive,
        "drift": settings.drift,
    }
    parts = tuple(Part(name, weight, settings.batch) for name, weight in weights.items() if weight)
    schedule = settings.schedule
    if settings.steps is not None:
        schedule = replace(schedule, epochs=settings.steps / PairBatches(material.text, settings.batch).steps)
    monitors: dict[str, Callable[[int], Monitor]] = {}
    if (every := settings.monitor_every) is not None:
        first = next(iter(data.values()))
        monitors["adjust"] = lambda _: WordDistances(first.held, settings.layer).monitor(every)
    like = loop_settings(
        device, str(settings.precision), graph=settings.graph, checkpoint_every=settings.checkpoint_every
    )
    phase = Phase("adjust", parts, schedule, settings.freeze, settings.lora)
    (stage,) = stages(model, [phase], material, like=like, monitors=monitors, progress=progress)
    return stage


def _kept_measures(kept: Path, data: Mapping[str, Pairs]) -> dict[str, Any]:
    """What was measured before a run was stopped; nothing where that is damaged: the original is still at hand."""
    try:
        found = told_by(kept) if kept.is_file() else {}
        whole = all(found[code]["distances"] and found[code]["retrieval"] for code in data)
    except (InputError, KeyError, TypeError, RecursionError):
        return {}
    return found if whole else {}


def _sampler(staying: str, code: str, given: LinkedText) -> Pair | None:
    """The embedded sampler in both languages, without rows of the bitext; None where it lacks one, or has too few."""
    corpus = sampler("sampler", languages=None)
    if staying == code or not {staying, code} <= set(corpus.languages):
        return None
    seen = {clean(text) for texts in given.texts for text in texts}
    both = corpus.select([staying, code])
    pair = both.pair(staying, code)
    texts = zip(pair.source_texts, pair.target_texts, strict=True)
    fresh = np.flatnonzero([not seen & set(row) for row in texts])
    return both.take(fresh).pair(staying, code) if len(fresh) >= _SAMPLER_LEAST else None


def _measures(
    model: Any,
    tokenizer: Any,
    data: Mapping[str, Pairs],
    others: Mapping[str, Pair | None],
    settings: AdjustSettings,
) -> dict[str, Any]:
    """Distances at the adjusted layer and retrieval at every layer, a language each, on the rows held out.

    Under `sampler` retrieval on the embedded sampler, where it has the language: what is learnt from one kind of text
    may be lost on another.
    """
    encoder = Encoder.of(model.base_model.eval(), tokenizer, name="in training", precision=str(settings.precision))
    found: dict[str, Any] = {}
    for code, each in data.items():
        distances = WordDistances(each.held, settings.layer, precision=str(settings.precision), seed=settings.seed)(
            model
        )
        found[code] = {
            "distances": {name: _plain(score) for name, score in distances.items()},
            "digest": _texts_digest(each.held_texts),
            "retrieval": _retrieval(encoder, *each.held_texts),
        }
        if (other := others[code]) is not None:
            found[code]["sampler"] = {
                "languages": [other.source, other.target],
                "rows": len(other.rows),
                "digest": _texts_digest((other.source_texts, other.target_texts)),
                "retrieval": _retrieval(encoder, other.source_texts, other.target_texts),
            }
    return found


def _texts_digest(sides: Sequence[Sequence[str]]) -> str:
    """What tells the sentences that were measured from others: runs are compared only over the same."""
    return hashlib.blake2b(json.dumps([list(side) for side in sides]).encode(), digest_size=16).hexdigest()


def _retrieval(encoder: Encoder, source: Sequence[str], target: Sequence[str]) -> dict[str, Any]:
    """P@1 of both directions at every layer, with what each sentence added."""
    sides = [encoder.encode(list(texts)) for texts in (source, target)]
    by_layer = {}
    for layer in encoder.layers:
        vectors = [torch.from_numpy(np.array(side[layer], np.float32)) for side in sides]
        scores = retrieval(vectors[0], vectors[1], ks=(1,), similarities=("cosine",))
        by_layer[str(layer)] = {name: {**_plain(score), **_items(name, score)} for name, score in scores.items()}
    return by_layer


def _plain(score: Score) -> dict[str, Any]:
    bounds = {"value": score.value, "n": score.n, "null": score.null, "low": score.low, "high": score.high}
    return {**bounds, **({"details": dict(score.details)} if score.details else {})}


def _items(name: str, score: Score) -> dict[str, Any]:
    """Which sentences were found, so that before and after can be compared by sentence."""
    return {"items": score.items.tolist()} if name.startswith("p@1") and score.items is not None else {}


def _summary(
    whole: Any,
    model: str,
    data: Mapping[str, Pairs],
    staying: Mapping[str, str],
    settings: AdjustSettings,
    stage: Stage,
    state: Mapping[str, Any],
    before: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "model": model,
        "settings": asdict(settings),
        "layer": checked_layer(whole, settings.layer),
        "languages": {
            code: {
                "staying": staying[code],
                "rows": len(each.trained),
                "pairs": len(each.trained.pair_row),
                "held_out": len(each.held_texts[0]),
                "left_out": dict(each.trained.left_out),
                "links_dropped": each.dropped,
                "notes": list(each.given.notes),
            }
            for code, each in data.items()
        },
        "names": {
            code: codes.name(code) if codes.is_language(code) else "the other language"
            for code in (*data, *staying.values())
        },
        "steps": int(state.get("step", 0)),
        "of_steps": stage.settings.steps,
        "finished": bool(state.get("finished")),
        "metrics": state.get("metrics", []),
        "before": without_items(before),
    }


def _finish(model: Any, tokenizer: Any, summary: dict[str, Any], out: Path, journal: Path) -> None:
    """Write the folder; once the model is whole its state is removed. An unfinished run leaves its state alone."""
    kept = read_json(out / STATE / "run.json")
    if not summary["finished"]:
        return
    save_whole(model.eval(), tokenizer, out)
    if journal.is_file():
        shutil.copyfile(journal, out / "steps.jsonl")
    # Last, and at once: a folder with this file is whole.
    write_text(out / _ABOUT, json.dumps({**kept, **summary}, ensure_ascii=False, indent=1))
    shutil.rmtree(out / STATE, ignore_errors=True)


def _opened(out: Path, digest: str) -> dict[str, Any] | None:
    """The summary of a finished run, None for one to begin or go on; another run's folder is refused."""
    check_folder(
        out,
        kind="adjust",
        same={"digest": digest},
        about=(_ABOUT, f"{STATE}/run.json"),
        differing="model, text or settings differ",
    )
    if not (out / _ABOUT).is_file():
        return None
    shutil.rmtree(out / STATE, ignore_errors=True)
    return {key: value for key, value in told_by(out / _ABOUT).items() if key not in ("digest", "kind")}


def _digest(model: str, texts: Mapping[str, Text], settings: AdjustSettings) -> str:
    state = hashlib.blake2b(f"{model} {settings!r}".encode(), digest_size=16)
    for code, text in texts.items():
        state.update(f"{code} {text.digest} ".encode())
    return state.hexdigest()
