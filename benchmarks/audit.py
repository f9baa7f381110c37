"""What each measure of an audit costs: processor seconds a pair of languages, every layer, one thread.

    python -m benchmarks.audit                            # embedded encoder and corpus, 6 languages, 15 pairs
    python -m benchmarks.audit --json > before.json       # on the old source
    python -m benchmarks.audit --before before.json       # on the new: both, and their ratio

What a language is asked for once (its Gram matrices, its words) is counted with the first pair that needs it, so
more languages cost less a pair. Encoding is not counted. `word links` is what comes before the measures of words.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from interlingua.analyses.space_measures import (
    MeasurePlan,
    encode_space,
    measure_language,
    measure_pair,
)
from interlingua.commands.audit import DEFAULT_MEASURES
from interlingua.encoder import Cache, Encoder
from interlingua.measures import measures
from interlingua.readers import read_corpus
from interlingua.readers.embedded_data import place_names

LINKS = "word links"


@measures.register(LINKS, needs="words")
def nothing(source: torch.Tensor, target: torch.Tensor) -> dict[str, Any]:
    """No score: what is left is the time to link words and to fetch their vectors."""
    return {}


def measure(model: str, corpus: str, languages: list[str] | None, cache: Path) -> dict[str, float]:
    """Processor seconds of each measure, by pair (by language for measures of one space)."""
    texts = read_corpus(corpus, languages=languages)
    names = place_names(texts.languages)
    encoder = Encoder.load(model, device="cpu")
    languages = encode_space(encoder, texts, texts.languages, MeasurePlan(), cache=Cache(cache)).languages
    seconds: dict[str, float] = {}
    for name in (LINKS, *DEFAULT_MEASURES):
        plan = MeasurePlan((name,))
        # Linked anew: links are kept with a language.
        own = {code: replace(language, _linked={}) for code, language in languages.items()}
        if measures[name].needs == "space":
            work = [partial(measure_language, language, texts, plan) for language in own.values()]
        else:
            work = [partial(measure_pair, own[a], own[b], texts, names, plan) for a, b in texts.pairs()]
        began = time.process_time()
        for each in work:
            each()
        seconds[name] = (time.process_time() - began) / len(work)
        print(f"{name}: {seconds[name]:.3f} s", file=sys.stderr, flush=True)
    # A plan with one measure of words links them, too.
    return {
        name: spent - seconds[LINKS] if name != LINKS and measures[name].needs == "words" else spent
        for name, spent in seconds.items()
    }


def table(after: dict[str, float], before: dict[str, float] | None) -> str:
    head = ["measure", "seconds a pair"] if before is None else ["measure", "before", "after", "ratio"]
    lines = [head, ["---"] * len(head)]
    pairwise = [name for name in after if measures[name].needs != "space"]
    for name in [*after, "all a pair"]:
        now = sum(after[key] for key in pairwise) if name not in after else after[name]
        cells = [f"{now:.3f}"]
        if before is not None:
            then = sum(before[key] for key in pairwise) if name not in before else before[name]
            cells = [f"{then:.3f}", f"{now:.3f}", f"{then / now:.1f}"]
        lines.append([name + (" (a language)" if name in after and name not in pairwise else ""), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--corpus", default="sampler")
    parser.add_argument("--languages", default="en,es,ru,hi,zh,tr", help="codes, comma-separated, or 'all'")
    parser.add_argument("--before", type=Path, help="what --json printed on another version")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    chosen = None if args.languages == "all" else args.languages.split(",")
    torch.set_num_threads(1)
    with threadpool_limits(1), tempfile.TemporaryDirectory() as place:
        seconds = measure(args.model, args.corpus, chosen, Path(place))
    if args.json:
        print(json.dumps({"torch": torch.__version__, "machine": platform.processor(), "seconds": seconds}, indent=1))
    else:
        print(table(seconds, json.loads(args.before.read_text("utf-8"))["seconds"] if args.before else None))


if __name__ == "__main__":
    main()
