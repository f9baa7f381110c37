"""From a TOML file and plain text a language to a masked LM in an ordinary Hugging Face folder.

Pure masked language modelling on unaligned text: the evaluation reads parallel sentences, the training never does.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from tokenizers import Tokenizer

from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.encoder.fused_layers import fused_activations, joined_projections
from interlingua.encoder.model_init import attention, face, masked_lm, save_folder
from interlingua.engine.atomic_files import cannot_write, write_text
from interlingua.errors import InputError, system_error
from interlingua.languages import canonical
from interlingua.measures.retrieval import retrieval
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.paths import read_json
from interlingua.readers import read_corpus
from interlingua.score import Score
from interlingua.stats import paired_t
from interlingua.stats.chance import chance_p
from interlingua.studies.config.recipe import Config
from interlingua.studies.config.schema import PretrainTable
from interlingua.studies.run_folder import STATE, check_folder, told_by
from interlingua.training.checkpoints import Checkpoint, load_whole, put_weights, weights_of
from interlingua.training.loop import Monitor, Settings, Term, train
from interlingua.training.processes import first_process_first, is_first_process, process_count
from interlingua.training.text import TokenStream, file_digest, token_id, token_stream
from interlingua.training.tokenizer import SPECIAL, empty_wordpiece, finished, train_wordpiece

__all__ = ["evaluate", "held_out", "pretrain"]

Progress = Callable[[str, int, int], None]
Floats = NDArray[np.float64]
_HELD_BATCHES, _HELD_SEQUENCES = 16, 128
_START_FILES = ("training.json", "tokenizer.json", "config.json", "model.safetensors")
_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst")


def held_out(config: Config, home: Path) -> ParallelCorpus | None:
    """The sentences that progress is measured on, of the trained languages; None where those are fewer than two."""
    trained = {canonical(code) for code in config.data.languages}
    if len(trained) < 2:
        return None
    name = config.evaluation.corpus
    corpus = read_corpus(home / name if (home / name).exists() else name)
    shared = [code for code in corpus.languages if code in trained]
    return corpus.select(shared) if len(shared) > 1 else None


def pretrain(
    config: Config,
    corpus: ParallelCorpus | None,
    *,
    home: Path,
    out: Path,
    device: torch.device,
    progress: Progress | None = None,
    stop_after: float | None = None,
) -> dict[str, Any]:
    """Train and write the model folder `out`; what was measured on the way.

    `home` is the folder that the config's paths start from. State is kept in `out` under `.training` until the
    model is whole, so a killed run goes on where it was; a finished run is not run again.
    """
    _check_processes(config)
    files = _files(config, home)
    with _disk(out):
        with first_process_first(device):
            done = _open(out, _digest(config, files, home))
            if done is not None:
                return done
            state = out / STATE
            tokenizer = _tokenizer(config, files, home, state)
            model = _model(config, tokenizer, home)
            stream = token_stream(
                tokenizer,
                files,
                length=config.training.max_length,
                folder=state,
                tidied=config.data.tidy,
                limit=config.data.lines,
                progress=progress,
            )
            trained, held = _parted(config, stream)
        checkpoint = Checkpoint(state / "checkpoint")
        plain = unigram_losses(tokenizer, config, trained, held)
        with (
            attention(model, masked=False),
            joined_projections(model, unmasked=True),
            fused_activations(model, device=device),
        ):
            metrics = train(
                model,
                [Term(1.0, _objective(config, trained, tokenizer))],
                _settings(config.training),
                device=device,
                checkpoint=checkpoint,
                monitors=[
                    Monitor(
                        config.training.evaluate_every,
                        lambda now: (
                            held_out_loss(now, tokenizer, config, held, plain)
                            | evaluate(now, tokenizer, config, corpus)
                        ),
                    )
                ],
                progress=progress,
                stop_after=stop_after,
            )
        # The first process removes the state when the model is whole, so the others must not look for it.
        steps = checkpoint.finished_steps() if is_first_process() else config.training.steps
        summary = _summary(config, model, stream, steps=steps, metrics=metrics)
        if is_first_process():
            _finish(model, tokenizer, summary, config, out)
    return summary


def _objective(config: Config, stream: TokenStream, tokenizer: Tokenizer) -> MaskedLanguageModelling:
    recipe = config.training
    return MaskedLanguageModelling(
        stream,
        SpecialTokens(
            token_id(tokenizer, "[CLS]"), token_id(tokenizer, "[MASK]"), tokenizer.get_vocab_size(), len(SPECIAL)
        ),
        batch_size=recipe.batch_size // recipe.accumulate,
        length=recipe.max_length,
        share=recipe.mask,
        batches=recipe.steps * recipe.accumulate,
        smoothing=config.data.smoothing,
        seed=recipe.seed,
    )


def _parted(config: Config, stream: TokenStream) -> tuple[TokenStream, TokenStream | None]:
    """The text to train on, and the text kept from it, if any."""
    if not config.data.held_out:
        return stream, None
    trained, held = stream.parted(config.data.held_out, length=config.training.max_length)
    for part, remedy in ((trained, "Hold less out."), (held, "Hold more out, or nothing.")):
        if (np.diff(part.begin) == 0).any():
            code = part.languages[int(np.argmin(np.diff(part.begin)))]
            raise config.source.wrong(
                f"no sequence of {code} is left", "data", "held_out", value=config.data.held_out, remedy=remedy
            )
    return trained, held


def held_out_loss(
    model: Any, tokenizer: Tokenizer, config: Config, held: TokenStream | None, plain: Floats | None = None
) -> dict[str, float]:
    """The mean loss over a few batches of the text kept from training, always the same ones.

    With `plain`, the losses of word frequencies alone on these batches (`unigram_losses`), also their mean, and the
    p-value of a paired t-test of the two over batches.
    """
    if held is None:
        return {}
    objective, device = _held_objective(config, held, tokenizer), next(model.parameters()).device
    undo = objective.prepare(model)
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=config.training.precision == "bf16"):
        losses = [
            objective.loss(model, objective.batch(number, rank=0, world=1, device=device)).item()
            for number in range(_HELD_BATCHES)
        ]
    undo()
    found = {"held_out_loss": float(np.mean(losses))}
    if plain is not None:
        found |= {"unigram_loss": float(plain.mean()), "unigram_p": paired_t(np.array(losses), plain)}
    return found


def unigram_losses(
    tokenizer: Tokenizer, config: Config, trained: TokenStream, held: TokenStream | None
) -> Floats | None:
    """The loss of a model that knows word frequencies alone, on each batch of `held_out_loss`; None without held text.

    -mean log p(token) over the masked tokens, p the relative frequencies in the training text, each language with the
    weight it is drawn with, one added to each count.
    """
    if held is None:
        return None
    objective, size = _held_objective(config, held, tokenizer), tokenizer.get_vocab_size()
    share = np.zeros(size)
    for number, weight in enumerate(_objective(config, trained, tokenizer).weights()):
        starts = trained.starts[trained.begin[number] : trained.begin[number + 1]]
        ids = np.asarray(trained.ids[trained.edges[number] : starts.max() + config.training.max_length - 1], np.int64)
        counts = np.bincount(ids, minlength=size) + 1.0
        counts[: len(SPECIAL)] = 0.0  # Never masked, never to be predicted.
        share += weight * counts / counts.sum()
    costs = -np.log(np.where(share > 0, share, 1.0))
    found = []
    for number in range(_HELD_BATCHES):
        labels = objective.batch(number, rank=0, world=1, device=torch.device("cpu"))["labels"].numpy()
        found.append(costs[labels[labels >= 0]].mean())
    return np.array(found)


def _held_objective(config: Config, held: TokenStream, tokenizer: Tokenizer) -> MaskedLanguageModelling:
    objective, mask = _objective(config, held, tokenizer), config.training.mask
    # One share at every evaluation, so that losses compare: where it changes, the last.
    share = mask[-1] if isinstance(mask, tuple) else mask
    return replace(objective, batch_size=_HELD_SEQUENCES, share=share, seed=config.training.seed + 1)


def _settings(recipe: PretrainTable) -> Settings:
    return Settings(
        steps=recipe.steps,
        learning_rate=recipe.learning_rate,
        warmup=recipe.warmup,
        decay=recipe.decay,
        floor=recipe.floor,
        weight_decay=recipe.weight_decay,
        accumulate=recipe.accumulate,
        precision=recipe.precision,
        compile=recipe.compile,
        optimizer=recipe.optimizer,
        seed=recipe.seed,
        checkpoint_every=recipe.checkpoint_every,
    )


def _summary(
    config: Config, model: torch.nn.Module, stream: TokenStream, *, steps: int, metrics: list[dict[str, Any]]
) -> dict[str, Any]:
    recipe = config.training
    return {
        "architecture": _architecture(config),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "vocabulary": int(model.get_input_embeddings().weight.shape[0]),  # type: ignore[operator]
        "languages": list(stream.languages),
        "lines_of_text": {code: dict(counts) for code, counts in stream.lines.items()},
        "tokens_of_text": dict(zip(stream.languages, stream.sizes().tolist(), strict=True)),
        "steps": steps,
        "finished": steps == recipe.steps,
        "seed": recipe.seed,
        "tokens_seen": steps * recipe.batch_size * recipe.max_length,
        "metrics": metrics,
    }


def evaluate(model: Any, tokenizer: Tokenizer, config: Config, corpus: ParallelCorpus | None) -> dict[str, float]:
    """P@1 of the pivot against every other trained language, both directions, at the layer where it is best.

    `…_chance` is what chance finds, 1 / candidates, and `…_p` the p-value of the clearest of all pairs, directions and
    layers, corrected for their number (`stats.chance`).
    """
    if corpus is None:
        return {}
    recipe, pivot = config.training, canonical(config.evaluation.pivot)
    trained = {canonical(code) for code in config.data.languages}
    encoder = Encoder.of(
        model.base_model, face(tokenizer, length=recipe.max_length), name="in training", precision=recipe.precision
    )
    others = [code for code in corpus.languages if code in trained and code != pivot]
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


def _finish(model: Any, tokenizer: Tokenizer, summary: Mapping[str, Any], config: Config, out: Path) -> None:
    """Write the folder; once the model is whole the training state is removed."""
    kept = read_json(out / STATE / "run.json")
    save_folder(model, tokenizer, out, length=config.training.max_length, dtype=config.training.save)
    # Last, and at once: a folder whose training.json says finished is whole.
    write_text(out / "training.json", json.dumps({**kept, **summary}, ensure_ascii=False, indent=1))
    if summary["finished"]:
        shutil.rmtree(out / STATE, ignore_errors=True)


def _open(out: Path, digest: str) -> dict[str, Any] | None:
    """The summary of a run that is finished, None for one to begin or go on; another run's folder is refused."""
    about, finished_about = out / STATE / "run.json", out / "training.json"
    check_folder(
        out,
        kind="pretrain",
        same={"digest": digest},
        about=(f"{STATE}/run.json", "training.json"),
        differing="config or its text differs",
    )
    if finished_about.is_file() and (summary := told_by(finished_about)).get("finished"):
        if is_first_process():
            shutil.rmtree(out / STATE, ignore_errors=True)
        return {key: value for key, value in summary.items() if key not in ("digest", "kind")}
    if not about.is_file():
        write_text(about, json.dumps({"kind": "pretrain", "digest": digest}))
    return None


@contextmanager
def _disk(out: Path) -> Iterator[None]:
    """A full or forbidden disk is a clear error; a rerun goes on from the newest whole state."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        found = system_error(error)
        if found is None:
            raise
        raise cannot_write(out, found) from error


def _check_processes(config: Config) -> None:
    recipe, processes = config.training, process_count()
    part = recipe.batch_size // recipe.accumulate
    if part % processes:
        raise config.source.wrong(
            f"{part} sequences at once cannot be shared by {processes} processes",
            "training",
            "batch_size",
            value=recipe.batch_size,
            remedy="Make batch_size a multiple of accumulate times the number of processes.",
        )


def _architecture(config: Config) -> str:
    return str(config.model.get("architecture", "bert"))


def _model(config: Config, tokenizer: Tokenizer, home: Path) -> Any:
    recipe = config.training
    sizes = {key: value for key, value in config.model.items() if key != "architecture"}
    try:
        model = masked_lm(_architecture(config), sizes, tokenizer, length=recipe.max_length, seed=recipe.seed)
    except InputError as error:
        key = str(error.value) if str(error.value) in sizes else "architecture"
        raise config.source.wrong(error.problem, "model", key, value=error.value, remedy=error.remedy) from error
    if recipe.start_from is not None:
        _put_weights_of_start(model, config, _start(config, home))
    return model


def _put_weights_of_start(model: torch.nn.Module, config: Config, folder: Path) -> None:
    """Give the model the weights of the run it starts from, which must be of its shape."""
    source, _, _ = load_whole(str(folder))
    weights = source.state_dict()
    for name, tensor in weights_of(model).items():
        if name not in weights or weights[name].shape != tensor.shape:
            theirs = "is missing" if name not in weights else f"has shape {tuple(weights[name].shape)}"
            raise config.source.wrong(
                f"its model is another: {name} {theirs} and should have {tuple(tensor.shape)}",
                "training",
                "start_from",
                value=config.training.start_from,
                remedy="Repeat the [model] section that it was trained with.",
            )
    put_weights(model, weights)


def _start(config: Config, home: Path) -> Path:
    """The folder that the config starts from; its batches must not be drawn again."""
    folder = home / str(config.training.start_from)

    def wrong(problem: str, key: str, remedy: str, value: object) -> InputError:
        return config.source.wrong(problem, "training", key, value=value, remedy=remedy)

    for name in _START_FILES:
        if not (folder / name).is_file():
            raise wrong(f"that folder has no {name}", "start_from", "Give one that pretrain made.", str(folder))
    if told_by(folder / "training.json").get("seed") == config.training.seed:
        raise wrong(
            "the run it starts from has the same seed, so the same batches would be drawn again",
            "seed" if ("training", "seed") in config.source.lines else "start_from",
            "Give [training] another seed.",
            config.training.seed,
        )
    return folder


def _files(config: Config, home: Path) -> dict[str, Path]:
    """The text file of each language, by its one code."""
    folder = home / config.data.folder
    found: dict[str, Path] = {}
    for code in config.data.languages:
        matches = [path for suffix in _SUFFIXES if (path := folder / f"{code}.txt{suffix}").is_file()]
        if len(matches) != 1:
            names = ", ".join(path.name for path in matches)
            raise config.source.wrong(
                f"two files for {code} in {folder} ({names})" if matches else f"no text for {code} in {folder}",
                "data",
                "languages",
                value=code,
                remedy="Keep one of them." if matches else f"Put a file {code}.txt there, plain or compressed.",
            )
        found[canonical(code)] = matches[0]
    return found


def _digest(config: Config, files: Mapping[str, Path], home: Path) -> str:
    digests = {code: file_digest(path) for code, path in files.items()}
    if config.tokenizer.file is not None:
        digests["tokenizer"] = file_digest(_tokenizer_file(config, home))
    if config.training.start_from is not None:
        folder = _start(config, home)
        digests |= {name: file_digest(folder / name) for name in _START_FILES}
    return config.digest(digests)


def _tokenizer_file(config: Config, home: Path) -> Path:
    place = home / str(config.tokenizer.file)
    if not place.is_file():
        raise config.source.wrong(
            "no such tokenizer file", "tokenizer", "file", value=str(place), remedy="Give a tokenizer.json."
        )
    return place


def _tokenizer(config: Config, files: Mapping[str, Path], home: Path, state: Path) -> Tokenizer:
    kept = state / "tokenizer.json"
    if kept.is_file():
        with suppress(Exception):  # The library raises plain ones; a damaged one is made anew, from the same text.
            return Tokenizer.from_file(str(kept))
    pieces = config.tokenizer
    if config.training.start_from is not None:
        tokenizer = _read_tokenizer(config, _start(config, home) / "tokenizer.json", "training", "start_from")
    elif pieces.file is not None:
        tokenizer = _cut(config, _tokenizer_file(config, home))
    else:
        tokenizer = train_wordpiece(
            files,
            vocabulary=pieces.vocabulary,
            alphabet=pieces.alphabet,
            tidied=config.data.tidy,
            lines=config.data.lines,
        )
    write_text(kept, tokenizer.to_str())
    return tokenizer


def _cut(config: Config, place: Path) -> Tokenizer:
    """A tokenizer of the first entries of another one's vocabulary."""
    vocabulary = _read_tokenizer(config, place, "tokenizer", "file").get_vocab()
    return finished(
        empty_wordpiece({piece: number for piece, number in vocabulary.items() if number < config.tokenizer.vocabulary})
    )


def _read_tokenizer(config: Config, place: Path, section: str, key: str) -> Tokenizer:
    """The tokenizer in a file that a key of the config names; its vocabulary begins with our special tokens."""
    try:
        tokenizer = Tokenizer.from_file(str(place))
    except Exception as error:  # The library raises plain exceptions.
        raise config.source.wrong(
            f"not a tokenizer ({error})", section, key, value=str(place), remedy="Give a tokenizer.json."
        ) from error
    if [tokenizer.token_to_id(name) for name in SPECIAL] != list(range(len(SPECIAL))):
        raise config.source.wrong(
            f"its vocabulary does not begin with {' '.join(SPECIAL)}",
            section,
            key,
            value=str(place),
            remedy="Give one that interlingua pretrain made.",
        )
    return tokenizer
