"""A model and linked text to an adjusted model, which serves every task (papers/001 Eq. 1)."""

from __future__ import annotations

import json
from collections.abc import Callable

from interlingua.analyses.training_inputs import check_trained
from interlingua.engine.atomic_files import write_text
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import AdjustStep
from interlingua.studies.steps.step_io import MODEL, LinkedBitexts, load_model, train_phases, use_device, write_notes
from interlingua.training.checkpoints import save_whole
from interlingua.training.forward import checked_layer
from interlingua.training.journal import Monitor
from interlingua.training.monitors import WordDistances

TEXTS = "texts.json"
"""What was trained on, by language; in the state of a step that was stopped, too."""


def run(settings: AdjustStep, context: StepContext) -> None:
    """Adjust one model with one seed on the bitexts of some languages; its head comes along as it is."""
    use_device(context)
    model, encoder = load_model(settings.encoder, context)
    layer = settings.linked_rows.layer
    check_trained(model, layer, settings.phases, seed=settings.seed)
    linked = LinkedBitexts.of(encoder, settings.bitexts, settings.linked_rows, context)
    told = {"layer": checked_layer(model, layer), "languages": _texts(linked, settings.seed)}
    if context.group.is_first:
        write_text(context.state / TEXTS, json.dumps(told, ensure_ascii=False))
    train_phases(
        model,
        settings.phases,
        linked,
        context,
        seed=settings.seed,
        precision=settings.precision,
        compile=settings.compile,
        checkpoint_every=settings.checkpoint_every,
        references=context.state / "reference",
        monitors=_monitors(settings, linked),
    )
    if context.group.is_first:
        write_text(context.out / TEXTS, json.dumps(told, ensure_ascii=False))
        save_whole(model, encoder.tokenizer, context.out / MODEL)
    write_notes(context, linked.notes)


def _texts(linked: LinkedBitexts, seed: int) -> dict[str, dict[str, object]]:
    """What is trained on of each bitext and what is not, counted."""
    return {
        code: {
            "staying": files.staying,
            "rows": len((pairs := linked(code, seed)).trained),
            "pairs": len(pairs.trained.pair_row),
            "held_out": len(pairs.aside),
            "left_out": dict(pairs.trained.left_out),
            "links_dropped": pairs.dropped,
            "notes": list(pairs.given.notes),
        }
        for code, files in linked.files.items()
    }


def _monitors(settings: AdjustStep, linked: LinkedBitexts) -> dict[str, Callable[[int], Monitor]] | None:
    """What is measured while it is trained, by phase: distances of the first language, where they are asked for."""
    if (every := settings.monitor_every) is None:
        return None
    words = WordDistances(linked(next(iter(linked.files)), settings.seed).held, settings.linked_rows.layer)
    return {phase.name: lambda _: words.monitor(every) for phase in settings.phases}
