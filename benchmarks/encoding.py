"""All-layer encoding against sentence-transformers (one layer) and against a plain loop in corpus order.

    python -m benchmarks.encoding                      # small BERT shape on the CPU, a few minutes
    python -m benchmarks.encoding --shape mbert --device cuda --tokenizer DIR --text FILE   # on a GPU
    python -m benchmarks.encoding --memory             # peak memory for 200,000 sentences

Same model, same texts, same run; ours returns every layer pooled and stored on disk, the peers one layer.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.sides import Side, now, version
from interlingua.encoder import Cache, Encoder

SHAPES = {
    "small": {"hidden_size": 256, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 1024},
    "mbert": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
}


def texts_of_mixed_lengths(count: int, source: Path | None, seed: int = 0) -> list[str]:
    """Lines of 3 to 120 words, log-normal lengths as in ordinary text, cut from real text where it is given."""
    draw = np.random.default_rng(seed)
    if source is None:
        from interlingua.readers import read_corpus

        sampler = read_corpus("sampler")
        words = " ".join(text for code in ("en", "es", "ru", "tr") for text in sampler.column(code)).split()
    else:
        words = source.read_text("utf-8").split()
    found: dict[str, None] = {}  # No text twice: ours would read it once, and peers each time.
    while len(found) < count:
        lengths = np.clip(np.exp(draw.normal(2.7, 0.7, count)), 3, 120).astype(int)
        starts = draw.integers(0, len(words) - 120, count)
        found |= dict.fromkeys(" ".join(words[s : s + n]) for s, n in zip(starts, lengths, strict=True))
    return list(found)[:count]


def make_model(folder: Path, shape: str, tokenizer: Path | None) -> Path:
    """A BERT of this shape with random weights, with the given tokenizer or one trained on the sampler."""
    from transformers import AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    if tokenizer is not None:
        pieces = AutoTokenizer.from_pretrained(tokenizer)
    else:
        pieces = PreTrainedTokenizerFast(
            tokenizer_object=_wordpiece(), unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
        )
    pieces.model_max_length = 512
    pieces.save_pretrained(folder)
    BertModel(BertConfig(vocab_size=len(pieces), pad_token_id=0, **SHAPES[shape])).save_pretrained(folder)
    return folder


def _wordpiece() -> object:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    from interlingua.readers import read_corpus

    sampler = read_corpus("sampler")
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    lines = [text for code in sampler.languages for text in sampler.column(code)]
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=8000, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def ours(folder: Path, texts: Sequence[str], device: str) -> Callable[[], object]:
    encoder = Encoder.load(str(folder), device=device)

    def run() -> object:
        with tempfile.TemporaryDirectory() as place:
            result = encoder.encode(texts, cache=Cache(Path(place)))
            return np.array(result[-1][:8])

    return run


def sentence_transformers(folder: Path, texts: Sequence[str], device: str, batch: int) -> Callable[[], object]:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(str(folder), max_seq_length=512)
    width = transformer.get_embedding_dimension()
    model = SentenceTransformer(modules=[transformer, Pooling(width, pooling_mode="mean")], device=device)
    return lambda: model.encode(list(texts), batch_size=batch, show_progress_bar=False)


def plain_loop(folder: Path, texts: Sequence[str], device: str, batch: int = 32) -> Callable[[], object]:
    """What a research script does: corpus order, padded batches of 32, all hidden states, mean over the mask."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).to(device).eval()

    @torch.no_grad()
    def run() -> object:
        layers = []
        for begin in range(0, len(texts), batch):
            given = tokenizer(
                list(texts[begin : begin + batch]), padding=True, truncation=True, max_length=512, return_tensors="pt"
            ).to(device)
            states = torch.stack(model(**given, output_hidden_states=True).hidden_states)
            mask = given["attention_mask"][None, :, :, None]
            layers.append(((states * mask).sum(2) / mask.sum(2)).float().cpu())
        return torch.cat(layers, dim=1)

    return run


def timed(run: Callable[[], object], repeats: int, device: str) -> float:
    """The best of several runs, in seconds, after one warm-up."""
    run()
    best = float("inf")
    for _ in range(repeats):
        began = now(device)
        run()
        best = min(best, now(device) - began)
    return best


def compare(args: argparse.Namespace) -> list[dict[str, object]]:
    texts = texts_of_mixed_lengths(args.count, args.text)
    with tempfile.TemporaryDirectory() as place:
        folder = make_model(Path(place) / "model", args.shape, args.tokenizer)
        encoder = Encoder.load(str(folder), device="cpu", precision="fp32")
        tokens = len(encoder.tokeniser(texts, spans=False, words=False).ids)
        del encoder
        runs = {"interlingua, every layer": ours(folder, texts, args.device)}
        for batch in args.batches:
            name = f"sentence-transformers, one layer, batch {batch}"
            runs[name] = sentence_transformers(folder, texts, args.device, batch)
        if args.loop:
            runs["plain loop in corpus order, batch 32"] = plain_loop(folder, texts, args.device)
        seconds = {}
        for name, run in runs.items():
            seconds[name] = timed(run, args.repeats, args.device)
            print(f"{name}: {tokens / seconds[name]:,.0f} tokens/s", file=sys.stderr, flush=True)
    first = seconds["interlingua, every layer"]
    return [
        {
            "run": name,
            "seconds": round(time_, 3),
            "tokens_per_second": round(tokens / time_),
            "ratio": round(time_ / first, 2),
        }
        for name, time_ in seconds.items()
    ]


def memory(count: int) -> dict[str, object]:
    """Peak resident memory of a fresh process that encodes `count` sentences with the small shape."""
    code = "from benchmarks.encoding import _memory_run; _memory_run()"
    out = subprocess.run(
        [sys.executable, "-c", code, str(count)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    found: dict[str, object] = json.loads(out.stdout.splitlines()[-1])
    return found


def _memory_run() -> None:
    count = int(sys.argv[-1])
    texts = texts_of_mixed_lengths(count, None)
    with tempfile.TemporaryDirectory() as place:
        folder = make_model(Path(place) / "model", "small", None)
        encoder = Encoder.load(str(folder), device="cpu")
        began = time.perf_counter()
        result = encoder.encode(texts, cache=Cache(Path(place) / "cache"))
        print(
            json.dumps(
                {
                    "sentences": count,
                    "layers": len(result.layers),
                    "seconds": round(time.perf_counter() - began, 1),
                    "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
                }
            )
        )


def sides(found: dict[str, Any]) -> list[Side]:
    first, *rest = found["result"]
    names = {"sentence-transformers": version("sentence-transformers"), "plain": version("transformers")}
    return [
        Side(
            "encoding, ours with every layer",
            "tokens/s",
            first["tokens_per_second"],
            peer["run"],
            peer["tokens_per_second"],
            next(number for name, number in names.items() if peer["run"].startswith(name)),
        )
        for peer in rest
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="small")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--batches", type=int, nargs="+", default=[32])
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--no-loop", dest="loop", action="store_false")
    parser.add_argument("--memory", action="store_true", help="measure peak memory instead")
    parser.add_argument("--json", action="store_true", help="what is printed is JSON in any case")
    args = parser.parse_args()
    if args.memory:
        result: object = memory(200_000 if args.count == 2000 else args.count)
    else:
        result = compare(args)
    machine = torch.cuda.get_device_name() if args.device.startswith("cuda") else platform.processor() or "CPU"
    print(
        json.dumps(
            {"machine": machine, "threads": torch.get_num_threads(), "torch": torch.__version__, "result": result},
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
