"""From a TOML file and plain text a language to a masked LM in an ordinary Hugging Face folder.

Pure masked language modelling on unaligned text: the evaluation reads parallel sentences, the training never does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.encoder.fused_layers import fused_activations, joined_projections
from interlingua.encoder.model_init import attention, init_masked_lm, save_folder, wrap_tokenizer
from interlingua.encoder.model_loading import check_precision
from interlingua.engine.atomic_files import write_text
from interlingua.errors import InputError
from interlingua.languages import canonical
from interlingua.measures.retrieval import retrieval
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.readers import read_corpus
from interlingua.score import Score
from interlingua.stats import paired_t_test
from interlingua.stats.chance import chance_p
from interlingua.training.checkpoints import Checkpoint, load_whole, put_weights, weights_of
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.processes import first_process_first, process_count
from interlingua.training.text import TokenStream, token_id, token_stream
from interlingua.training.tokenizer import SPECIAL, add_special_tokens, empty_wordpiece, train_wordpiece

__all__ = ["PretrainSettings", "PretrainedModel", "check_machine", "evaluate", "held_out_corpus", "pretrain"]

Progress = Callable[[str, int, int], None]
Floats = NDArray[np.float64]
ABOUT = "training.json"
_HELD_BATCHES, _HELD_SEQUENCES = 16, 128


def wrong_setting(problem: str, section: str, key: str, *, value: object = None, remedy: str) -> InputError:
    """The error for a setting, where no file says at which line it stands."""
    return InputError(f"[{section}] {key}: {problem}", value=value, remedy=remedy)


@dataclass(frozen=True)
class PretrainSettings:
    """A recipe with its files: the text of each language, what the tokenizer and the weights begin with, and training.

    `tokenizer_file` has a vocabulary to cut, `start_from` is the folder of another run; None: there is none. `wrong`
    makes the error for a key of a section of the recipe.
    """

    text: Mapping[str, Path]
    loop: LoopSettings
    batch_size: int = 512
    max_length: int = 128
    long_length: int = 0
    long_every: int = 0
    mask: float | tuple[float, float] = 0.15
    evaluate_every: int = 1000
    save: str = "fp16"
    smoothing: float = 0.7
    lines: int | None = None
    tidy: bool = False
    held_out: float = 0.0
    vocabulary: int = 24000
    alphabet: int = 6000
    tokenizer_file: Path | None = None
    start_from: Path | None = None
    architecture: str = "bert"
    sizes: Mapping[str, Any] = field(default_factory=dict)
    pivot: str = "en"
    wrong: Callable[..., InputError] = field(default=wrong_setting, compare=False)

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence that is trained on."""
        return max(self.max_length, self.long_length)


@dataclass(frozen=True)
class PretrainedModel:
    """A model as far as it is trained, its tokenizer, and what was measured on the way."""

    model: Any
    tokenizer: Tokenizer
    summary: dict[str, Any]
    settings: PretrainSettings

    @property
    def finished(self) -> bool:
        return bool(self.summary["finished"])

    def save(self, folder: Path) -> None:
        """Write an ordinary Hugging Face folder, with `training.json` for what was measured."""
        folder.mkdir(parents=True, exist_ok=True)
        save_folder(self.model, self.tokenizer, folder, length=self.settings.longest, dtype=self.settings.save)
        text = json.dumps({"kind": "pretrain", **self.summary}, ensure_ascii=False, indent=1)
        write_text(folder / ABOUT, text)


def held_out_corpus(name: str | Path, trained: Mapping[str, Any]) -> ParallelCorpus | None:
    """The sentences that progress is measured on, of the trained languages; None where those are fewer than two."""
    if len(trained) < 2:
        return None
    corpus = read_corpus(name)
    shared = [code for code in corpus.languages if code in trained]
    return corpus.select(shared) if len(shared) > 1 else None


def check_machine(settings: PretrainSettings, device: torch.device) -> None:
    """Refuse a number format that the device does not have, and processes that cannot share a batch."""
    try:
        check_precision(device, settings.loop.precision)
    except InputError as error:
        raise settings.wrong(
            error.problem, "training", "precision", value="bf16", remedy='Use precision = "fp32", or a GPU.'
        ) from error
    part, processes = settings.batch_size // settings.loop.accumulate, process_count()
    if part % processes:
        raise settings.wrong(
            f"{part} sequences at once cannot be shared by {processes} processes",
            "training",
            "batch_size",
            value=settings.batch_size,
            remedy="Make batch_size a multiple of accumulate times the number of processes.",
        )


def pretrain(
    settings: PretrainSettings,
    corpus: ParallelCorpus | None,
    *,
    state: Path,
    device: torch.device,
    progress: Progress | None = None,
    stop_after: float | None = None,
) -> PretrainedModel:
    """Train from the newest checkpoint in the folder `state` on, which keeps tokenizer and tokens, too.

    `stop_after` seconds of training end it early; a later call goes on.
    """
    check_machine(settings, device)
    with first_process_first(device):
        tokenizer = _tokenizer(settings, state)
        model = _model(settings, tokenizer)
        stream = token_stream(
            tokenizer,
            settings.text,
            length=settings.max_length,
            folder=state,
            tidied=settings.tidy,
            limit=settings.lines,
            progress=progress,
        )
        trained, held = _parted(settings, stream)
    checkpoint = Checkpoint(state / "checkpoint")
    plain = unigram_losses(tokenizer, settings, trained, held)
    with (
        attention(model, masked=False),
        joined_projections(model, unmasked=True),
        fused_activations(model, device=device),
    ):
        metrics = train(
            model,
            [Term(1.0, _objective(settings, trained, tokenizer))],
            settings.loop,
            device=device,
            checkpoint=checkpoint,
            monitors=[
                Monitor(
                    settings.evaluate_every,
                    lambda now: (
                        held_out_loss(now, tokenizer, settings, held, plain)
                        | evaluate(now, tokenizer, settings, corpus)
                    ),
                )
            ],
            progress=progress,
            stop_after=stop_after,
        )
    summary = _summary(settings, model, stream, steps=checkpoint.finished_steps(), metrics=metrics)
    return PretrainedModel(model, tokenizer, summary, settings)


def _objective(settings: PretrainSettings, stream: TokenStream, tokenizer: Tokenizer) -> MaskedLanguageModelling:
    loop = settings.loop
    return MaskedLanguageModelling(
        stream,
        SpecialTokens(
            token_id(tokenizer, "[CLS]"), token_id(tokenizer, "[MASK]"), tokenizer.get_vocab_size(), len(SPECIAL)
        ),
        batch_size=settings.batch_size // loop.accumulate,
        length=settings.max_length,
        share=settings.mask,
        batches=loop.steps * loop.accumulate,
        smoothing=settings.smoothing,
        seed=loop.seed,
        long_length=settings.long_length,
        long_every=settings.long_every,
    )


def _parted(settings: PretrainSettings, stream: TokenStream) -> tuple[TokenStream, TokenStream | None]:
    """The text to train on, and the text kept from it, if any."""
    for code, size in zip(stream.languages, stream.sizes(), strict=True):
        if settings.long_every and size * (1 - settings.held_out) <= settings.long_length:
            raise settings.wrong(
                f"more than the text of {code} has, {size:,} tokens",
                "training",
                "long_length",
                value=settings.long_length,
                remedy="Give shorter sequences, or more text.",
            )
    if not settings.held_out:
        return stream, None
    trained, held = stream.parted(settings.held_out, length=settings.max_length)
    for part, remedy in ((trained, "Hold less out."), (held, "Hold more out, or nothing.")):
        if (np.diff(part.begin) == 0).any():
            code = part.languages[int(np.argmin(np.diff(part.begin)))]
            raise settings.wrong(
                f"no sequence of {code} is left", "data", "held_out", value=settings.held_out, remedy=remedy
            )
    return trained, held


def held_out_loss(
    model: Any, tokenizer: Tokenizer, settings: PretrainSettings, held: TokenStream | None, plain: Floats | None = None
) -> dict[str, float]:
    """The mean loss over a few batches of the text kept from training, always the same ones.

    With `plain`, the losses of word frequencies alone on these batches (`unigram_losses`), also their mean, and the
    p-value of a paired t-test of the two over batches.
    """
    if held is None:
        return {}
    objective, device = _held_objective(settings, held, tokenizer), next(model.parameters()).device
    undo = objective.prepare(model)
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=settings.loop.precision == "bf16"):
        losses = [
            objective.loss(model, objective.batch(number, rank=0, world=1, device=device)).item()
            for number in range(_HELD_BATCHES)
        ]
    undo()
    found = {"held_out_loss": float(np.mean(losses))}
    if plain is not None:
        found |= {"unigram_loss": float(plain.mean()), "unigram_p": paired_t_test(np.array(losses), plain)}
    return found


def unigram_losses(
    tokenizer: Tokenizer, settings: PretrainSettings, trained: TokenStream, held: TokenStream | None
) -> Floats | None:
    """The loss of a model that knows word frequencies alone, on each batch of `held_out_loss`; None without held text.

    -mean log p(token) over the masked tokens, p the relative frequencies in the training text, each language with the
    weight it is drawn with, one added to each count.
    """
    if held is None:
        return None
    objective, size = _held_objective(settings, held, tokenizer), tokenizer.get_vocab_size()
    share = np.zeros(size)
    for number, weight in enumerate(_objective(settings, trained, tokenizer).weights()):
        starts = trained.starts[trained.begin[number] : trained.begin[number + 1]]
        ids = np.asarray(trained.ids[trained.edges[number] : starts.max() + settings.max_length - 1], np.int64)
        counts = np.bincount(ids, minlength=size) + 1.0
        counts[: len(SPECIAL)] = 0.0  # Never masked, never to be predicted.
        share += weight * counts / counts.sum()
    costs = -np.log(np.where(share > 0, share, 1.0))
    found = []
    for number in range(_HELD_BATCHES):
        labels = objective.batch(number, rank=0, world=1, device=torch.device("cpu"))["labels"].numpy()
        found.append(costs[labels[labels >= 0]].mean())
    return np.array(found)


def _held_objective(settings: PretrainSettings, held: TokenStream, tokenizer: Tokenizer) -> MaskedLanguageModelling:
    objective, mask = _objective(settings, held, tokenizer), settings.mask
    # One share at every evaluation, so that losses compare: where it changes, the last.
    share = mask[-1] if isinstance(mask, tuple) else mask
    return replace(objective, batch_size=_HELD_SEQUENCES, share=share, seed=settings.loop.seed + 1, long_every=0)


def _summary(
    settings: PretrainSettings,
    model: torch.nn.Module,
    stream: TokenStream,
    *,
    steps: int,
    metrics: list[dict[str, Any]],
) -> dict[str, Any]:
    loop = settings.loop
    return {
        "architecture": settings.architecture,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "vocabulary": int(model.get_input_embeddings().weight.shape[0]),  # type: ignore[operator]
        "languages": list(stream.languages),
        "lines_of_text": {code: dict(counts) for code, counts in stream.lines.items()},
        "tokens_of_text": dict(zip(stream.languages, stream.sizes().tolist(), strict=True)),
        "steps": steps,
        "finished": steps == loop.steps,
        "seed": loop.seed,
        "tokens_seen": steps * settings.batch_size * settings.max_length,
        "metrics": metrics,
    }


def evaluate(
    model: Any, tokenizer: Tokenizer, settings: PretrainSettings, corpus: ParallelCorpus | None
) -> dict[str, float]:
    """P@1 of the pivot against every other trained language, both directions, at the layer where it is best.

    `…_chance` is what chance finds, 1 / candidates, and `…_p` the p-value of the clearest of all pairs, directions and
    layers, corrected for their number (`stats.chance`).
    """
    if corpus is None:
        return {}
    pivot = canonical(settings.pivot)
    body, precision = model.base_model, settings.loop.precision
    encoder = Encoder.of(
        body, wrap_tokenizer(tokenizer, length=settings.longest), name="in training", precision=precision
    )
    others = [code for code in corpus.languages if code in settings.text and code != pivot]
    if pivot not in corpus.languages or not others:
        return {}
    codes = [pivot, *others]
    with attention(model, masked=True):
        vectors = {code: encoder.encode(corpus.column(code)) for code in codes}
    found: dict[str, float] = {}
    for variant in ("raw", "centred"):
        scores = [
            [score for other in others for score in _scores(corpus, vectors, pivot, other, layer, variant)]
            for layer in encoder.layers
        ]
        by_layer = [float(np.mean([score.value for score in its])) for its in scores]
        best = int(np.argmax(by_layer))
        every = [(score.value, score.n, score.null or 0.0) for its in scores for score in its]
        chance = float(np.mean([score.null for score in scores[best]]))
        found |= {variant: by_layer[best], f"{variant}_layer": best}
        found |= {f"{variant}_chance": chance, f"{variant}_p": chance_p(every)}
    return found


def _scores(
    corpus: ParallelCorpus, vectors: Mapping[str, Any], pivot: str, other: str, layer: int, variant: str
) -> list[Score]:
    """P@1 of a pair at a layer, in both directions."""
    rows = corpus.pair(pivot, other).rows
    ours, theirs = (
        torch.from_numpy(np.array(vectors[code][layer][np.searchsorted(corpus.rows_of(code), rows)], np.float32))
        for code in (pivot, other)
    )
    scores = retrieval(ours, theirs, ks=(1,), similarities=("cosine",), centre=(variant == "centred",))
    name = f"p@1/cosine/{variant}"
    return [scores[name], scores[f"{name}/backward"]]


def _model(settings: PretrainSettings, tokenizer: Tokenizer) -> Any:
    kind, sizes = settings.architecture, dict(settings.sizes)
    try:
        model = init_masked_lm(kind, sizes, tokenizer, length=settings.longest, seed=settings.loop.seed)
    except InputError as error:
        key = str(error.value) if str(error.value) in sizes else "architecture"
        raise settings.wrong(error.problem, "model", key, value=error.value, remedy=error.remedy) from error
    if settings.start_from is not None:
        _put_weights_of_start(model, settings, settings.start_from)
    return model


def _put_weights_of_start(model: torch.nn.Module, settings: PretrainSettings, folder: Path) -> None:
    """Give the model the weights of the run it starts from, which must be of its shape."""
    source, _, _ = load_whole(str(folder))
    weights = source.state_dict()
    for name, tensor in weights_of(model).items():
        if name not in weights or weights[name].shape != tensor.shape:
            theirs = "is missing" if name not in weights else f"has shape {tuple(weights[name].shape)}"
            raise settings.wrong(
                f"its model is another: {name} {theirs} and should have {tuple(tensor.shape)}",
                "training",
                "start_from",
                value=str(folder),
                remedy="Repeat the [model] section that it was trained with.",
            )
    put_weights(model, weights)


def _tokenizer(settings: PretrainSettings, state: Path) -> Tokenizer:
    kept = state / "tokenizer.json"
    if kept.is_file():
        with suppress(Exception):  # The library raises plain ones; a damaged one is made anew, from the same text.
            return Tokenizer.from_file(str(kept))
    if settings.start_from is not None:
        tokenizer = _read_tokenizer(settings, settings.start_from / "tokenizer.json", "training", "start_from")
    elif settings.tokenizer_file is not None:
        # Of the first entries of its vocabulary.
        vocabulary = _read_tokenizer(settings, settings.tokenizer_file, "tokenizer", "file").get_vocab()
        first = {piece: number for piece, number in vocabulary.items() if number < settings.vocabulary}
        tokenizer = add_special_tokens(empty_wordpiece(first))
    else:
        tokenizer = train_wordpiece(
            settings.text,
            vocabulary=settings.vocabulary,
            alphabet=settings.alphabet,
            tidied=settings.tidy,
            lines=settings.lines,
        )
    write_text(kept, tokenizer.to_str())
    return tokenizer


def _read_tokenizer(settings: PretrainSettings, place: Path, section: str, key: str) -> Tokenizer:
    """The tokenizer in a file that a key of the config names; its vocabulary begins with our special tokens."""
    try:
        tokenizer = Tokenizer.from_file(str(place))
    except Exception as error:  # The library raises plain exceptions.
        raise settings.wrong(
            f"not a tokenizer ({error})", section, key, value=str(place), remedy="Give a tokenizer.json."
        ) from error
    if [tokenizer.token_to_id(name) for name in SPECIAL] != list(range(len(SPECIAL))):
        raise settings.wrong(
            f"its vocabulary does not begin with {' '.join(SPECIAL)}",
            section,
            key,
            value=str(place),
            remedy="Give one that interlingua pretrain made.",
        )
    return tokenizer
