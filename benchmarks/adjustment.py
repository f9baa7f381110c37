"""Steps a second of cross-lingual adjustment: our loop against a straightforward one, same model, same data, same run.

    python -m benchmarks.adjustment --tokenizer DIR --device cuda [--bitext x.en-ru.tsv.xz] [--fine-tuning] [--json]

The shape is multilingual BERT's (12 × 768, 119,547 pieces, random weights), batches of 32 sentence pairs. The
straightforward loop is what the code of papers/001 does: a trainable pass for each language, a third, frozen pass of
the original model at every step, and the vectors of words made one by one in Python, on the device or on the host; the
ratio is to the faster of the two. It is run in bf16 autocast, too. Its batches are in random order, as there; ours are
sorted by length, 16 at a time, which saves padding and is part of what is compared. The vectors of the original model,
which our loop needs once, are computed before its clock starts; the time they take is printed. Both loops give the
same loss on the same rows, which is checked first, in float32. `--fine-tuning` runs `benchmarks.fine_tuning` after it.
"""

from __future__ import annotations

import argparse
import copy
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import fine_tuning
from benchmarks.fine_tuning import RATE
from benchmarks.sides import Side, now, version
from interlingua.encoder import Encoder
from interlingua.encoder.fused_layers import joined_projections
from interlingua.objectives.adjustment import Adjustment
from interlingua.objectives.anchor import Anchor
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.pair_batches import PairBatches, PairPass, TokenizedBitext, bitext
from interlingua.training.reference import reference
from interlingua.wordalign.links import Links
from interlingua.words import Sentence


def rows_of(args: argparse.Namespace, tokenizer: Any) -> tuple[list[Sentence], list[Sentence], Links]:
    """Sentence pairs and links: of a file's first rows, or of random words with lengths like those of Wikipedia."""
    draw = np.random.default_rng(0)
    if args.bitext is not None:
        opened = lzma.open if args.bitext.suffix == ".xz" else open
        with opened(args.bitext, "rt", encoding="utf-8") as file:
            pairs = [line.rstrip("\n").split("\t")[:2] for line, _ in zip(file, range(args.rows), strict=False)]
        sides = [[Sentence.of(pair[side].split()[:64]) for pair in pairs if len(pair) == 2] for side in (0, 1)]
    else:
        words = np.array([piece for piece in tokenizer.get_vocab() if piece.isalpha() and len(piece) > 2])
        lengths = np.clip(draw.lognormal(3.0, 0.45, (args.rows, 2)).astype(int), 3, 64)
        # A third of the words are two in one, so that there are words of several sub-tokens.
        sides = [
            [
                Sentence.of(
                    [a + b if k % 3 == 0 else a for k, (a, b) in enumerate(draw.choice(words, (n, 2)).tolist())]
                )
                for n in lengths[:, side]
            ]
            for side in (0, 1)
        ]
    found = [
        (row, place, place)
        for row, pair in enumerate(zip(*sides, strict=True))
        for place in range(min(len(side.spans) for side in pair))
        if draw.random() < 0.7
    ]
    return sides[0], sides[1], Links.of(*zip(*found, strict=True))


def new_model(args: argparse.Namespace, tokenizer: Any) -> Any:
    from transformers import BertModel

    torch.manual_seed(0)
    return BertModel(fine_tuning.config_of(args, tokenizer), add_pooling_layer=False).to(args.device)


class Straightforward:
    """The adjustment as one writes it first."""

    def __init__(self, model: Any, data: TokenizedBitext, *, on_host: bool, mixed: bool) -> None:
        self.model, self.frozen, self.data = model, copy.deepcopy(model).eval(), data
        self.on_host, self.mixed = on_host, mixed
        self.device = next(model.parameters()).device
        # Looking things up is no part of the comparison.
        self.items = np.searchsorted(data.item_text, np.arange(2 * len(data) + 1)).tolist()
        self.pairs = np.searchsorted(data.pair_row, np.arange(len(data) + 1)).tolist()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=5e-5, betas=(0.9, 0.98), eps=1e-9)

    def vectors(self, model: Any, texts: list[int]) -> tuple[torch.Tensor, dict[int, int]]:
        """The vectors of all items of some texts, one after another, and where each item's is."""
        lengths = [int(self.data.lengths[text]) for text in texts]
        ids = torch.full((len(texts), max(lengths)), self.data.pad)
        mask = torch.zeros_like(ids)
        for place, text in enumerate(texts):
            begin = int(self.data.starts[text])
            ids[place, : lengths[place]] = torch.from_numpy(
                self.data.ids[begin : begin + lengths[place]].astype(np.int64)
            )
            mask[place, : lengths[place]] = 1
        hidden = model(input_ids=ids.to(self.device), attention_mask=mask.to(self.device)).last_hidden_state.float()
        if self.on_host:
            hidden = hidden.cpu()
        where: dict[int, int] = {}
        owned = [range(self.items[text], self.items[text + 1]) for text in texts]
        found = torch.zeros(sum(map(len, owned)), hidden.shape[-1], device=hidden.device)
        for place, items in enumerate(owned):
            for item in items:
                first, last = int(self.data.item_starts[item]), int(self.data.item_starts[item + 1])
                positions = self.data.position[first:last]
                found[len(where)] = hidden[place, int(positions[0]) : int(positions[-1]) + 1].mean(dim=0)
                where[item] = len(where)
        return found, where

    def loss(self, rows: np.ndarray) -> torch.Tensor:
        sources, targets = rows.tolist(), (rows + len(self.data)).tolist()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            ours, place = self.vectors(self.model, sources)
            theirs, far = self.vectors(self.model, targets)
            with torch.no_grad():
                before, _ = self.vectors(self.frozen, sources)
        left, right = [], []
        for row in rows.tolist():
            for pair in range(self.pairs[row], self.pairs[row + 1]):
                left.append(ours[place[int(self.data.left[pair])]])
                right.append(theirs[far[int(self.data.right[pair])]])
        pull = torch.nn.functional.mse_loss(torch.stack(left), torch.stack(right))
        return pull + torch.nn.functional.mse_loss(ours, before)

    def step(self, rows: np.ndarray) -> torch.Tensor:
        loss = self.loss(rows)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


def timed(call: Callable[[int], object], steps: int, device: torch.device, *, seconds: float) -> float:
    """Steps a second over so many steps, or over so many seconds where that is sooner; one step does not count."""
    call(0)
    began, done = now(device), 0
    while done < steps and now(device) - began < seconds:  # One wait in hundreds of launches: it costs them nothing.
        done += 1
        call(done)
    return done / (now(device) - began)


def ours(args: argparse.Namespace, model: Any, data: TokenizedBitext, *, graph: bool) -> tuple[float, float]:
    """Steps a second of the loop in the last third of its steps, and the seconds that the reference took before."""
    pairs = PairPass(PairBatches(data, args.batch))
    on_gpu = args.device.type == "cuda"
    began = now(args.device)
    kept = reference(model, data, kind="bf16", precision="bf16" if on_gpu else "fp32")
    took = now(args.device) - began
    terms = [Term(1.0, Adjustment(pairs)), Term(1.0, Anchor(pairs, kept))]
    settings = LoopSettings(
        3 * args.steps,
        5e-5,
        warmup=args.steps // 5,
        floor=1.0,
        weight_decay=0.0,
        betas=(0.9, 0.98),
        eps=1e-9,
        clip=None,
        precision="bf16" if on_gpu else "fp32",
        graph=graph,
    )
    with joined_projections(model):
        look = fine_tuning.Profile("adjustment", args.steps) if args.profile and graph else None
        clock = fine_tuning.Moments(args.device, look)
        train(model, terms, settings, device=args.device, monitors=[Monitor(args.steps, clock)])
    return clock.rate(args.steps), took


def operations(data: TokenizedBitext, model: Any, batch: int) -> float:
    """Matrix operations of a mean step, forward and backward, padding not counted: two for each weight and token."""
    inner = sum(weight.numel() for weight in model.encoder.parameters() if weight.ndim == 2)
    config, lengths = model.config, data.lengths.astype(np.float64)
    attention = 4 * config.num_hidden_layers * config.hidden_size * float((lengths**2).mean())
    return 3 * 2 * batch * (2 * inner * float(lengths.mean()) + attention)


def check(args: argparse.Namespace, model: Any, data: TokenizedBitext) -> float:
    """The greatest difference of the two losses over a few batches, as a share of the loss; without dropout."""
    moved = copy.deepcopy(model).eval()
    with torch.no_grad():
        for weight in moved.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.01)
    plain = Straightforward(moved, data, on_host=False, mixed=False)
    plain.frozen = copy.deepcopy(model).eval()
    pairs = PairPass(PairBatches(data, min(args.batch, 8)))
    kept = reference(model, data)
    terms = [Adjustment(pairs), Anchor(pairs, kept)]
    for term in terms:
        term.prepare(moved)
    worst = 0.0
    for step in range(3):
        batch = pairs.batch(step, rank=0, world=1, device=args.device)
        with torch.no_grad():
            found = sum(float(term.loss(moved, batch)) for term in terms)
            expected = float(plain.loss(pairs.batches.rows(step)))
        worst = max(worst, abs(found - expected) / expected)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    fine_tuning.options(parser)
    parser.add_argument("--bitext", type=Path, help="TSV, source and target; random words without it")
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--reference-steps", type=int, default=20)
    parser.add_argument("--reference-seconds", type=float, default=12.0, help="at most this long for each")
    parser.add_argument("--fine-tuning", action="store_true", help="benchmarks.fine_tuning, too")
    args = parser.parse_args()
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(args.tokenizer)
    model = new_model(args, tokenizer)
    encoder = Encoder.of(model, tokenizer, name="random")
    data = bitext(encoder.tokeniser, *rows_of(args, tokenizer), room=encoder.room)
    found: dict[str, float] = {"rows": len(data), "tokens_a_text": float(data.lengths.mean())}
    found["difference"] = check(args, model, data)
    rows = PairBatches(data, args.batch, pooled=1)
    for name, on_host in (("device", False), ("host", True)):
        on_gpu = args.device.type == "cuda"
        plain = Straightforward(copy.deepcopy(model).train(), data, on_host=on_host, mixed=on_gpu)
        call = lambda step, plain=plain: plain.step(rows.rows(step))  # noqa: E731
        found[f"straightforward_{name}"] = timed(
            call, args.reference_steps, args.device, seconds=args.reference_seconds
        )
        del plain
    found["ours"], found["reference_seconds"] = ours(args, copy.deepcopy(model), data, graph=False)
    if args.device.type == "cuda":
        found["ours_graph"], _ = ours(args, copy.deepcopy(model), data, graph=True)
    best = max(found["ours"], found.get("ours_graph", 0.0))
    found["ratio"] = best / max(found["straightforward_device"], found["straightforward_host"])
    found["share"] = best * operations(data, model, args.batch) / RATE
    if not args.json:
        print("\n".join(shown(found)), flush=True)
    if args.fine_tuning:
        del model, encoder
        tuned = fine_tuning.measured(args, tokenizer)
        found |= tuned
        if not args.json:
            print("\n".join(fine_tuning.shown(tuned)))
    if args.json:
        print(json.dumps(found))


def sides(found: dict[str, float]) -> list[Side]:
    best = max(found["ours"], found.get("ours_graph", 0.0))
    return [
        Side(
            "adjustment", "steps/s", best, f"a straightforward loop, words on the {where}", found[key], version("torch")
        )
        for where, key in (("device", "straightforward_device"), ("host", "straightforward_host"))
    ] + (fine_tuning.sides(found) if "fixed_ours" in found else [])


def shown(found: dict[str, float]) -> list[str]:
    rates = ("straightforward_device", "straightforward_host", "ours", "ours_graph")
    return [
        f"{found['rows']:.0f} rows, {found['tokens_a_text']:.1f} tokens a text; losses differ by "
        f"{found['difference']:.1e}",
        *(f"{name:24} {found[name]:8.2f} steps/s" for name in rates if name in found),
        f"the vectors of the original model took {found['reference_seconds']:.1f} s, once",
        f"ratio {found['ratio']:.1f}; {100 * found['share']:.1f} % of {RATE / 1e12:.0f} TFLOP/s",
    ]


if __name__ == "__main__":
    main()
