"""Steps a second of fine-tuning for NLI: our loop against a plain Hugging Face `Trainer`, same data, same run.

    python -m benchmarks.fine_tuning --tokenizer DIR --device cuda [--json]

The shape is multilingual BERT's (12 × 768, 119,547 pieces, random weights). `fixed`: every batch is 32 × 128 without
padding. `natural`: pairs as long as XNLI's (about 40 tokens), batches of 32; the `Trainer` draws them at random, or by
length (`group_by_length`). Both run in bf16 with fused AdamW, clipping at 1 and the rate falling linearly; the
`Trainer` is given tensors, no mask where nothing is padded, no logging, and no look at every loss
(`logging_nan_inf_filter`), which is the best one gets from it by options. Steps are timed after as many that are not
(ours: twice as many, since every shape of a batch is recorded once). `--profile` prints where a step's time goes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.sides import Side, now, version
from interlingua.encoder import Encoder
from interlingua.encoder.fused_layers import joined_projections
from interlingua.encoder.inputs import Inputs
from interlingua.objectives.task import TaskObjective
from interlingua.readers.examples import Examples, TextPair
from interlingua.tasks.text_pairs import NLI_LABELS, Nli
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.task import TaskModel

_TRAINERS = {
    "fixed_trainer": "Hugging Face Trainer",
    "fixed_trainer_compile": "Hugging Face Trainer, torch_compile",
    "natural_trainer": "Hugging Face Trainer",
    "natural_trainer_grouped": "Hugging Face Trainer, group_by_length",
}
RATE = 790e12
"""The bf16 matrix rate measured on an H200, in operations a second."""


def config_of(args: argparse.Namespace, tokenizer: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=args.width,
        num_hidden_layers=args.layers,
        num_attention_heads=max(args.width // 64, 1),
        intermediate_size=4 * args.width,
        max_position_embeddings=512,
        hidden_dropout_prob=args.dropout,
        attention_probs_dropout_prob=args.dropout,
        num_labels=len(NLI_LABELS),
    )


def inputs_of(args: argparse.Namespace, encoder: Encoder, *, natural: bool) -> Inputs:
    """Pairs of random words as the task makes them: cut to 128 tokens, or as long as XNLI's."""
    draw = np.random.default_rng(0)
    words = np.array([piece for piece in encoder.tokenizer.get_vocab() if piece.isalpha() and len(piece) > 2])
    lengths = draw.lognormal([3.1, 2.4], [0.55, 0.45], (args.examples, 2)).astype(int).clip(2)
    sides = [
        [" ".join(draw.choice(words, n if natural else 128)) for n in lengths[:, side].tolist()] for side in (0, 1)
    ]
    labels = draw.choice(NLI_LABELS, args.examples).tolist()
    pairs = tuple(TextPair(*item) for item in zip(*sides, labels, strict=True))
    return Nli().inputs(Examples(pairs, "en", "random"), encoder, training=True)


class Profile:
    """A monitor's measure that shows which kernels ran between its second call and its third."""

    def __init__(self, title: str, steps: int) -> None:
        self._title, self._steps, self._calls = title, steps, 0
        self._profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])

    def __call__(self, _: torch.nn.Module) -> dict[str, float]:
        self._calls += 1
        if self._calls == 2:
            self._profiler.start()
        elif self._calls == 3:
            self._profiler.stop()
            found = [event for event in self._profiler.key_averages() if event.self_device_time_total > 0]
            found.sort(key=lambda event: -event.self_device_time_total)
            total = sum(event.self_device_time_total for event in found) / 1e3 / self._steps
            count = sum(event.count for event in found) / self._steps
            print(f"{self._title}: {total:.3f} ms of kernels and {count:.0f} of them a step", flush=True)
            for event in found[:22]:
                each = event.self_device_time_total / 1e3 / self._steps
                print(f"  {each:7.3f} ms {event.count / self._steps:6.1f} ×  {event.key[:100]}")
        return {}


class Moments:
    """When the loop had done each third of its steps; another monitor may look in between."""

    def __init__(self, device: torch.device, look: Callable[[torch.nn.Module], dict[str, float]] | None = None) -> None:
        self._device, self._look = device, look
        self._ended: list[float] = []
        self._went_on: list[float] = []

    def __call__(self, model: torch.nn.Module) -> dict[str, float]:
        self._ended.append(now(self._device))
        told = self._look(model) if self._look else {}
        self._went_on.append(now(self._device))
        return told

    def rate(self, steps: int) -> float:
        """Steps a second in the last third."""
        return steps / (self._ended[-1] - self._went_on[-2])


def ours(args: argparse.Namespace, config: Any, tokenizer: Any, data: Inputs, **how: bool) -> float:
    """Steps a second of our loop in the last third of its steps."""
    from transformers import BertModel

    torch.manual_seed(0)
    body = BertModel(config, add_pooling_layer=False).to(args.device)
    task = Nli()
    model = TaskModel.of(Encoder.of(body, tokenizer, name="random"), task, NLI_LABELS, seed=0)
    objective = TaskObjective(task, data, args.batch)
    settings = LoopSettings(
        3 * args.steps,
        5e-5,
        weight_decay=0.0,
        betas=(0.9, 0.999),
        eps=1e-8,
        clip=1.0,
        precision="bf16" if args.device.type == "cuda" else "fp32",
        **how,
    )
    clock = Moments(args.device, Profile(f"fine-tuning {how}", args.steps) if args.profile else None)
    with joined_projections(model):
        monitors = [Monitor(args.steps, clock)]
        train(model, [Term(1.0, objective)], settings, device=args.device, monitors=monitors)
    return clock.rate(args.steps)


def theirs(args: argparse.Namespace, config: Any, tokenizer: Any, data: Inputs, *, compile: bool, group: bool) -> float:
    """Steps a second of a `Trainer`."""
    from transformers import (
        BertForSequenceClassification,
        DataCollatorWithPadding,
        Trainer,
        TrainerCallback,
        TrainingArguments,
        default_data_collator,
    )

    class Clock(TrainerCallback):
        began = ended = 0.0

        def on_step_end(self, _: Any, state: Any, control: Any, **__: Any) -> None:
            if state.global_step in (args.steps, 2 * args.steps):
                self.began, self.ended = self.ended, now(args.device)

    even = len(set(data.lengths.tolist())) == 1
    torch.manual_seed(0)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            BertForSequenceClassification(config),
            TrainingArguments(
                folder,
                per_device_train_batch_size=args.batch,
                max_steps=2 * args.steps,
                learning_rate=5e-5,
                lr_scheduler_type="linear",
                weight_decay=0.0,
                max_grad_norm=1.0,
                optim="adamw_torch_fused" if args.device.type == "cuda" else "adamw_torch",
                bf16=args.device.type == "cuda",
                use_cpu=args.device.type == "cpu",
                torch_compile=compile,
                train_sampling_strategy="group_by_length" if group else "random",
                logging_strategy="no",
                logging_nan_inf_filter=False,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=rows_of(data, padded=not even),
            data_collator=default_data_collator if even else DataCollatorWithPadding(tokenizer),
            callbacks=[clock],
        )
        trainer.train()
    return args.steps / (clock.ended - clock.began)


def rows_of(data: Inputs, *, padded: bool) -> list[dict[str, Any]]:
    """What our inputs hold, as a `Trainer` takes it: a dictionary of tensors an example."""
    rows = []
    for row in range(len(data)):
        there = slice(int(data.starts[row]), int(data.starts[row + 1]))
        ids = torch.from_numpy(data.ids[there].astype(np.int64))
        types = {} if data.types is None else {"token_type_ids": torch.from_numpy(data.types[there].astype(np.int64))}
        label = torch.tensor(int(data.row_labels["labels"][row]))
        mask = {"attention_mask": torch.ones_like(ids)} if padded else {}
        rows.append({"input_ids": ids, "labels": label, **types, **mask})
    return rows


def operations(args: argparse.Namespace, data: Inputs) -> float:
    """Matrix operations of a mean step, forward and backward, padding not counted: two for each weight and token."""
    inner = 12 * args.layers * args.width**2
    lengths = data.lengths.astype(np.float64)
    attention = 4 * args.layers * args.width * float((lengths**2).mean())
    return 3 * args.batch * (2 * inner * float(lengths.mean()) + attention)


class Told(dict[str, float]):
    """Figures that are told as they come, so that a run that is stopped has not been in vain."""

    def __setitem__(self, name: str, value: float) -> None:
        print(f"{name} {value:.4g}", file=sys.stderr, flush=True)
        super().__setitem__(name, value)


def measured(args: argparse.Namespace, tokenizer: Any) -> dict[str, float]:
    """Steps a second of every way, and what follows from them."""
    from transformers import BertModel

    config = config_of(args, tokenizer)
    # Only its tokenizer and the number of positions matter here.
    small = {**config.to_dict(), "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    encoder = Encoder.of(BertModel(type(config)(**small), add_pooling_layer=False), tokenizer, name="small")
    on_gpu = args.device.type == "cuda"
    found: dict[str, float] = Told()
    for kind in ("fixed", "natural"):
        data = inputs_of(args, encoder, natural=kind == "natural")
        found[f"{kind}_tokens"] = float(data.lengths.mean())
        found[f"{kind}_ours"] = ours(args, config, tokenizer, data, graph=on_gpu)
        found[f"{kind}_trainer"] = theirs(args, config, tokenizer, data, compile=False, group=False)
        if kind == "natural":
            found["natural_trainer_grouped"] = theirs(args, config, tokenizer, data, compile=False, group=True)
        elif args.compile:
            # Compiling takes most of a minute; with lengths that differ it would be done again and again.
            found["fixed_trainer_compile"] = theirs(args, config, tokenizer, data, compile=True, group=False)
            found["fixed_ours_compile"] = ours(args, config, tokenizer, data, compile=True, graph=on_gpu)
        rates = {name: value for name, value in found.items() if name.startswith(kind) and not name.endswith("tokens")}
        best = max(value for name, value in rates.items() if "ours" in name)
        found[f"{kind}_ratio"] = best / max(value for name, value in rates.items() if "trainer" in name)
        found[f"{kind}_share"] = best * operations(args, data) / RATE
    return found


def shown(found: dict[str, float]) -> list[str]:
    lines = []
    for kind in ("fixed", "natural"):
        lines.append(f"fine-tuning, {kind}, {found[f'{kind}_tokens']:.1f} tokens an input")
        names = [name for name in found if name.startswith(kind) and ("ours" in name or "trainer" in name)]
        lines += [f"{name:24} {found[name]:8.2f} steps/s" for name in names]
        lines.append(f"ratio {found[f'{kind}_ratio']:.2f}; {100 * found[f'{kind}_share']:.1f} % of 790 TFLOP/s")
    return lines


def sides(found: dict[str, float]) -> list[Side]:
    made = []
    for kind in ("fixed", "natural"):
        best = max(found[name] for name in found if name.startswith(f"{kind}_ours"))
        made += [
            Side(f"fine-tuning, {kind} lengths", "steps/s", best, name, found[key], version("transformers"))
            for key, name in _TRAINERS.items()
            if key.startswith(kind) and key in found
        ]
    return made


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tokenizer", required=True, help="folder of a tokenizer")
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--steps", type=int, default=150, help="steps that are timed, after as many that are not")
    parser.add_argument("--examples", type=int, default=6400, help="pairs to fine-tune on")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("--profile", action="store_true", help="print where a step's time goes; rates are then lower")
    parser.add_argument("--json", action="store_true")


def main() -> None:
    from transformers import AutoTokenizer

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options(parser)
    args = parser.parse_args()
    found = measured(args, AutoTokenizer.from_pretrained(args.tokenizer))
    print(json.dumps(found) if args.json else "\n".join(shown(found)))


if __name__ == "__main__":
    main()
