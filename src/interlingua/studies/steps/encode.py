"""A model and a parallel corpus to representations at every layer, kept for the measures that read them."""

from __future__ import annotations

import json
import os

from interlingua.encoder import Cache
from interlingua.engine.atomic_files import write_text
from interlingua.engine.step import StepContext
from interlingua.studies.step_settings import EncodeStep
from interlingua.studies.steps.step_io import ABOUT, SPACE, VECTORS, load_body, make_space, write_notes


def run(settings: EncodeStep, context: StepContext) -> None:
    """Encode every language of the corpus that the model knows, once; what the cache has is not encoded.

    Without a cache vectors are the step's own, and those of languages that are done survive a kill.
    """
    own = context.state / VECTORS.name
    cache = Cache(own if context.cache is None else context.cache)
    context.progress("loading the model", 0, 1)
    encoder = load_body(settings.encoder, context, precision=settings.precision, prompt=settings.prompt)
    space = context.objects.get(context.key, lambda: make_space(settings, context, encoder, cache), kind=SPACE)
    about = {
        "model": settings.encoder.name,
        "rows": len(space.corpus),
        "layers": list(encoder.layers),
        "output": encoder.output_layer,
        "prompt": encoder.prompt,
        "dim": encoder.dim,
        "pooling": settings.pooling or encoder.pooling,
        "digest": encoder.digest,
    }
    write_text(context.out / ABOUT, json.dumps(about, ensure_ascii=False))
    write_notes(context, space.notes)
    if own.is_dir():
        (context.out / VECTORS.parent).mkdir()
        os.rename(own, context.out / VECTORS)
