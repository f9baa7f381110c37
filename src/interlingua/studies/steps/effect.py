"""An encoder, original or adjusted, to retrieval and distances of words, by which an adjustment is judged."""

from __future__ import annotations

from interlingua.analyses.adjustment_effect import measure_effect, sampler_rows
from interlingua.engine.step import StepContext
from interlingua.errors import InputError
from interlingua.record import Made, Record, versions
from interlingua.studies.step_settings import EffectStep
from interlingua.studies.steps.step_io import (
    LinkedBitexts,
    encoder_over,
    read_encoder,
    read_made,
    use_device,
    write_records,
)

_LEAST = 10  # sentence pairs


def run(settings: EffectStep, context: StepContext) -> None:
    """Measure one encoder in one state on every bitext; it is not kept for later steps, which train in that room."""
    use_device(context)
    made = context.inputs.get("adjusted")
    loaded = read_encoder(settings.encoder, context) if made is None else read_made(made, context)
    encoder = encoder_over(loaded.model, loaded, settings.encoder.name, settings.precision)
    linked = LinkedBitexts.of(encoder, settings.bitexts, settings.linked_rows, context)
    found: Made = []
    for number, (code, files) in enumerate(linked.files.items()):
        context.progress("measuring", number, len(linked.files))
        text = linked.text(code)
        if (usable := len(text.usable)) < _LEAST:
            raise InputError(
                "too few sentence pairs to train on and to measure", value=usable, remedy=f"Give {_LEAST} or more."
            )
        shared = Record(
            measure="retrieval",
            model=settings.encoder.name,
            source=files.staying,
            target=code,
            seed=settings.seed,
            state=settings.state,
            bitexts=settings.trained_on or None,
            corpus=files.files[0].name,
            digests={"model": loaded.digest, f"bitext {code}": files.digest},
            versions=versions(),
        )
        other = sampler_rows(files.staying, code, text)
        found += measure_effect(encoder, linked(code, settings.seed), other, shared, precision=settings.precision)
    write_records(context, found, model=settings.encoder.name)
