"""Tokens per second of masked-LM training: our loop against a plain compiled one, same shape, same run.

    python -m benchmarks.pretraining --device cuda

The shape is BERT 6 × 256 with 24,000 pieces and batches of 512 × 128. The plain loop is what one writes first:
`torch.compile(model)`, autocast to bfloat16, fused AdamW, clipping, and the masked positions picked before the head.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from benchmarks.sides import Side, version
from interlingua.encoder.fused_layers import fused_activations, joined_projections
from interlingua.encoder.model_init import attention, init_masked_lm
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.text import TokenStream
from interlingua.training.tokenizer import SPECIAL, add_special_tokens, empty_wordpiece

VOCABULARY = 24_000


def text(languages: int = 20, tokens: int = 200_000) -> TokenStream:
    """Random tokens, Zipf-distributed like words, in lines of about 20."""
    draw = np.random.default_rng(0)
    ranks = np.arange(1, VOCABULARY - len(SPECIAL) + 1)
    shares = 1 / ranks
    ids = draw.choice(ranks + len(SPECIAL) - 1, languages * tokens, p=shares / shares.sum()).astype(np.uint16)
    ids[19::20] = SPECIAL.index("[SEP]")
    edges = np.arange(languages + 1) * tokens
    starts = np.concatenate([np.arange(low, low + tokens - 128, 20) for low in edges[:-1]])
    begin = np.arange(languages + 1) * (len(starts) // languages)
    return TokenStream(ids, starts, begin, edges, tuple(f"l{number}" for number in range(languages)))


def pieces() -> Tokenizer:
    """A tokenizer of the right size; nothing is ever tokenised with it."""
    return add_special_tokens(empty_wordpiece({**{n: i for i, n in enumerate([*SPECIAL])}, **_words()}))


def _words() -> dict[str, int]:
    return {f"w{number}": number for number in range(len(SPECIAL), VOCABULARY)}


def model(args: argparse.Namespace) -> Any:
    sizes = {
        "hidden_size": args.width,
        "num_hidden_layers": args.layers,
        "num_attention_heads": args.width // 64,
        "intermediate_size": 4 * args.width,
        "hidden_dropout_prob": args.dropout,
        "attention_probs_dropout_prob": 0.0,
    }
    return init_masked_lm("bert", sizes, pieces(), length=args.length, seed=0).to(args.device)


def objective(args: argparse.Namespace) -> MaskedLanguageModelling:
    special = SpecialTokens(SPECIAL.index("[CLS]"), SPECIAL.index("[MASK]"), VOCABULARY, len(SPECIAL))
    return MaskedLanguageModelling(text(), special, batch_size=args.batch, length=args.length)


def ours(args: argparse.Namespace) -> float:
    """Seconds a step of `interlingua pretrain`, after the first third."""
    moments: list[float] = []
    first, last = args.steps // 3, args.steps

    def look(_: torch.nn.Module) -> dict[str, float]:
        wait(args.device)
        moments.append(time.perf_counter())
        return {}

    net = model(args)
    settings = LoopSettings(last, 1e-3, warmup=10, precision="bf16", compile=True, optimizer=args.optimizer)
    monitors = [Monitor(first, look)]
    device = torch.device(args.device)
    with attention(net, masked=False), joined_projections(net, unmasked=True), fused_activations(net, device=device):
        train(net, [Term(1.0, objective(args))], settings, device=device, monitors=monitors)
    return float((moments[2] - moments[0]) / (2 * first))


def plain(args: argparse.Namespace) -> float:
    """Seconds a step of a plain loop."""
    net, data, device = model(args), objective(args), torch.device(args.device)
    net.train()
    data.prepare(net)
    data._rowwise = None  # The loss of PyTorch itself.
    compiled = torch.compile(lambda batch: data.loss(net, batch))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01, fused=device.type == "cuda")
    first, began = args.steps // 3, 0.0
    for step in range(args.steps):
        if step == first:
            wait(args.device)
            began = time.perf_counter()
        with torch.autocast(device.type, torch.bfloat16):
            loss = compiled(data.batch(step, rank=0, world=1, device=device))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    wait(args.device)
    return float((time.perf_counter() - began) / (args.steps - first))


def wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def sides(found: dict[str, Any]) -> list[Side]:
    (_, ours), (peer, theirs) = found["tokens_per_second"].items()
    return [Side("pretraining", "tokens/s", ours, f"a loop with {peer}", theirs, version("torch"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    seconds = {"interlingua": ours(args), "plain torch.compile": plain(args)}
    tokens = args.batch * args.length
    rates = {name: tokens / each for name, each in seconds.items()}
    if args.json:
        print(json.dumps({"device": args.device, "tokens_per_second": rates, "torch": torch.__version__}))
        return
    for name, rate in rates.items():
        print(f"{name:<22}{rate / 1e6:8.2f} M tokens/s {1e3 * tokens / rate:8.2f} ms a step")
    print(f"ratio {rates['interlingua'] / rates['plain torch.compile']:.2f} · torch {torch.__version__}")


if __name__ == "__main__":
    main()
