"""Examples a second of layer integrated gradients: ours against Captum's, same model, inputs, baseline and run.

    python -m benchmarks.attribution --device cuda [--json]
    python -m benchmarks.attribution --layers 4 --width 128 --examples 16            # minutes on one core

The shape is multilingual BERT's (12 × 768, 119,547 pieces, random weights, a head of three labels), inputs are pairs
as long as XNLI's (about 40 tokens, from 8 to 128), 50 Gauss–Legendre steps. Captum is used in two ways: an example at
a time with its 50 steps in one batch, as in its tutorials, and `--together` examples padded to the longest with
`internal_batch_size`, the most one gets from it by options; both in float32 and under bfloat16 autocast. Ours is run
at 50 steps and with its default, which takes more steps only where the completeness gap is above 1 %; on a GPU also in
bfloat16 at 16 steps and no more, whose gap is that of Captum's 50 under autocast: both are rounding's. The gap is
|sum - (F(x) - F(x'))| / max(sum of sizes, |F(x) - F(x')|) with F in float32 for all. Where Captum can't be imported a
loop that does what it does takes its place, and the output says so. Every way runs once before it is timed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from benchmarks.sides import Side, now, version
from interlingua.attribution.embedding_forward import EmbeddingForward
from interlingua.attribution.inputs import AttributionInput, Attributions, Baseline, of_texts
from interlingua.attribution.integrated_gradients import IntegratedGradients, ends, gauss_legendre
from interlingua.encoder.inputs import Inputs

PAD, FIRST, LAST = 0, 101, 102
FEW = 16  # Gauss–Legendre points whose gap in bfloat16 is that of 50: it is rounding's


class Model(torch.nn.Module):
    """A BERT body and a head on its first token; `base_model` has the table."""

    def __init__(self, args: argparse.Namespace) -> None:
        from transformers import BertConfig, BertModel

        super().__init__()
        config = BertConfig(
            vocab_size=119_547,
            hidden_size=args.width,
            num_hidden_layers=args.layers,
            num_attention_heads=max(args.width // 64, 1),
            intermediate_size=4 * args.width,
            max_position_embeddings=512,
            initializer_range=args.spread,
        )
        self.base_model = BertModel(config, add_pooling_layer=False)
        self.head = torch.nn.Sequential(
            torch.nn.Linear(args.width, args.width), torch.nn.Tanh(), torch.nn.Linear(args.width, 3)
        )

    def forward(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        given = {name: batch[name] for name in ("input_ids", "attention_mask") if name in batch}
        scores: torch.Tensor = self.head(self.base_model(**given).last_hidden_state[:, 0])
        return scores


def inputs_of(examples: int) -> Inputs:
    """Pairs of random pieces as long as XNLI's: [CLS] premise [SEP] hypothesis [SEP]."""
    draw = np.random.default_rng(0)
    sizes = draw.lognormal([3.1, 2.4], [0.55, 0.45], (examples, 2)).astype(int).clip(2, 62)
    lengths = sizes.sum(axis=1) + 3
    starts = np.concatenate([[0], np.cumsum(lengths)])
    ids = draw.integers(1000, 119_000, starts[-1]).astype(np.int32)
    ids[starts[:-1]], ids[starts[1:] - 1], ids[starts[:-1] + sizes[:, 0] + 1] = FIRST, LAST, LAST
    zero = np.zeros(examples, np.int64)
    return Inputs(ids, starts, None, np.arange(examples), PAD, zero, examples, units=zero + 1)


def nothing_like(ids: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.isin(ids, torch.tensor([FIRST, LAST], device=ids.device)), ids, PAD)


def by_captum(case: AttributionInput, rows: np.ndarray, *, steps: int, at_once: int | None, loop: bool) -> np.ndarray:
    """The attributions of some rows in one call, flat; `at_once` is Captum's internal batch size."""
    model = case.through.model
    batch = case.inputs.batch(rows, case.through.device)
    ids, mask = batch["input_ids"], batch.get("attention_mask")
    label = torch.as_tensor(case.targets.label[rows], device=ids.device)

    def forward(given: torch.Tensor, seen: torch.Tensor | None) -> torch.Tensor:
        return model({"input_ids": given} | ({} if seen is None else {"attention_mask": seen}))

    if loop:
        found = looped(case, forward, ids, mask, label, steps)
    else:
        from captum.attr import LayerIntegratedGradients

        found = LayerIntegratedGradients(forward, case.through.table).attribute(
            ids,
            baselines=nothing_like(ids),
            additional_forward_args=(mask,),
            target=label,
            n_steps=steps,
            method="gausslegendre",
            internal_batch_size=at_once,
        )
    sums = found.sum(dim=-1).detach().double().cpu().numpy()
    return np.concatenate([line[:size] for line, size in zip(sums, case.inputs.lengths[rows], strict=True)])


def looped(
    case: AttributionInput, forward: Any, ids: torch.Tensor, mask: Any, label: torch.Tensor, steps: int
) -> torch.Tensor:
    """What Captum's layer integrated gradients do: both ends looked up, all steps of all examples in one batch, one
    gradient by the layer's output, and a weighted sum over steps that keeps every dimension."""
    table = case.through.table
    alphas, weights = (torch.as_tensor(part, dtype=torch.float32, device=ids.device) for part in gauss_legendre(steps))
    with torch.no_grad():
        there, base = table(ids), table(nothing_like(ids))
    points = torch.cat([base + alpha * (there - base) for alpha in alphas]).requires_grad_()
    handle = table.register_forward_hook(lambda *_: points)
    many = (ids.repeat(steps, 1), None if mask is None else mask.repeat(steps, 1))
    scores = forward(*many)[torch.arange(len(points), device=ids.device), label.repeat(steps)]
    handle.remove()
    (gradient,) = torch.autograd.grad(scores.unbind(), points)
    scaled = gradient.reshape(steps, -1) * weights[:, None]
    return scaled.reshape(steps, *there.shape).sum(dim=0) * (there - base)


def all_by_captum(
    case: AttributionInput, args: argparse.Namespace, *, together: int, half: bool, loop: bool
) -> np.ndarray:
    order = np.argsort(case.inputs.lengths, kind="stable") if together > 1 else np.arange(len(case.inputs))
    parts: dict[int, np.ndarray] = {}
    cast = torch.autocast(case.through.device.type, torch.bfloat16) if half else nullcontext()
    with cast:
        for begin in range(0, len(order), together):
            rows = order[begin : begin + together]
            flat = by_captum(
                case, rows, steps=args.steps, at_once=args.internal if together > 1 and not loop else None, loop=loop
            )
            ends_at = np.cumsum(case.inputs.lengths[rows])
            parts |= dict(zip(rows.tolist(), np.split(flat, ends_at[:-1]), strict=True))
    return np.concatenate([parts[row] for row in range(len(order))])


def timed(work: Callable[[], Any], device: torch.device, *, warm: bool) -> tuple[float, Any]:
    for final in (False, True) if warm else (True,):
        if device.type == "cuda" and not final:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()  # So that every way has the memory to itself.
        begin = now(device)
        found = work()
        taken = now(device) - begin
        if final:
            return taken, found
    raise AssertionError


def has_captum() -> bool:
    try:
        import captum.attr  # noqa: F401
    except ImportError:
        return False
    return True


def run(args: argparse.Namespace) -> dict[str, Any]:
    torch.manual_seed(0)
    torch.set_float32_matmul_precision(args.float32)
    device = torch.device(args.device)
    model = Model(args).eval().to(device)
    inputs, loop = inputs_of(args.examples), not has_captum()
    few = inputs.take(np.arange(min(args.peer_examples or args.examples, args.examples)))
    peer = "what Captum does, in a loop of our own (Captum is not here)" if loop else "Captum"
    through = {"fp32": EmbeddingForward(model, budget=args.budget)}
    if device.type == "cuda":
        through["bf16"] = EmbeddingForward(model, precision="bf16", budget=args.budget)
    baseline = Baseline("padding", through["fp32"].embed(torch.tensor(PAD, device=device)), (FIRST, LAST))

    def case(kind: str, given: Inputs) -> AttributionInput:
        return AttributionInput(through[kind], given, of_texts(np.arange(len(given)) % 3), baseline)

    results: list[dict[str, Any]] = []
    wanted: Attributions = IntegratedGradients(steps=args.steps, tolerance=None)(case("fp32", few))
    both = ends(case("fp32", few))

    def note(name: str, seconds: float, values: np.ndarray, examples: int, steps: float) -> None:
        flat = values[: len(wanted.values)]
        found = Attributions(flat, wanted.starts, *both, wanted.steps)
        results.append(
            {
                "way": name,
                "examples_per_second": examples / seconds,
                "steps": steps,
                "gap_median": float(np.median(found.gap)),
                "gap_95": float(np.quantile(found.gap, 0.95)),
                "correlation": float(np.corrcoef(flat, wanted.values)[0, 1]),
            }
        )
        print(json.dumps(results[-1]), file=sys.stderr, flush=True)

    warm = device.type == "cuda"
    for together, half in ((1, False), (args.together, False), *(((1, True), (args.together, True)) if warm else ())):
        seconds, values = timed(
            lambda t=together, h=half: all_by_captum(case("fp32", few), args, together=t, half=h, loop=loop),
            device,
            warm=warm,
        )
        name = f"{peer}, {'bf16 autocast' if half else 'fp32'}, {together} at a time"
        note(name, seconds, values, len(few), args.steps)
    for kind in through:
        ways = [IntegratedGradients(steps=args.steps, tolerance=None), IntegratedGradients()]
        if kind == "bf16":
            ways.insert(1, IntegratedGradients(steps=FEW, tolerance=None))
        for way in ways:
            seconds, found = timed(lambda k=kind, w=way: w(case(k, inputs)), device, warm=warm)
            about = f"{way.steps} steps" if way.tolerance is None else "steps as needed"
            note(f"ours, {kind}, {about}", seconds, found.values, len(inputs), float(found.steps.mean()))
    slowest, best = (max(entry["examples_per_second"] for entry in results if test(entry)) for test in (_first, _peer))
    for entry in results:
        entry["against one at a time"] = entry["examples_per_second"] / slowest
        entry["against its best"] = entry["examples_per_second"] / best
    return {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "torch": torch.__version__,
        "captum": not loop,
        "tokens_mean": float(inputs.lengths.mean()),
        "settings": {name: value for name, value in vars(args).items() if name != "json"},
        "results": results,
    }


def _first(entry: dict[str, Any]) -> bool:
    return not entry["way"].startswith("ours") and "fp32, 1 at" in entry["way"]


def _peer(entry: dict[str, Any]) -> bool:
    return not entry["way"].startswith("ours")


def sides(found: dict[str, Any]) -> list[Side]:
    """Each of our ways against Captum as its tutorials use it, and against the fastest way to use it."""
    peers = [entry for entry in found["results"] if _peer(entry)]
    first, best = next(filter(_first, peers)), max(peers, key=lambda entry: entry["examples_per_second"])
    key, number = "examples_per_second", version("captum") if found["captum"] else ""
    return [
        Side(f"integrated gradients, {ours['way']}", "examples/s", ours[key], peer["way"], peer[key], number)
        for ours in found["results"]
        if not _peer(ours)
        for peer in ([first] if first is best else [first, best])
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--examples", type=int, default=512)
    parser.add_argument("--peer-examples", type=int, help="How many of them Captum is given; all by default.")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--together", type=int, default=32, help="Examples a call to Captum in its second way.")
    parser.add_argument("--internal", type=int, default=400, help="Captum's internal_batch_size there, in points.")
    parser.add_argument("--budget", type=int, help="Our tokens at once; by default what the memory allows.")
    parser.add_argument("--spread", type=float, default=0.05, help="Of the random weights; larger is less linear.")
    parser.add_argument("--float32", default="highest", help="torch.set_float32_matmul_precision, for all ways.")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = run(args)
    if args.json:
        print(json.dumps(found))
        return
    print(f"{found['device']}, torch {found['torch']}, {found['tokens_mean']:.0f} tokens an example")
    for entry in found["results"]:
        print(
            f"{entry['way']:<75} {entry['examples_per_second']:8.2f} examples/s  {entry['against one at a time']:6.2f}×"
            f"  {entry['against its best']:6.2f}× its best  gap {entry['gap_median']:.1e} (95 %: {entry['gap_95']:.1e})"
            f"  {entry['steps']:5.1f} steps  r {entry['correlation']:.5f}"
        )


if __name__ == "__main__":
    main()
