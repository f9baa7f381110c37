from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from interlingua.errors import InputError
from interlingua.objectives.adjustment import Adjustment
from interlingua.objectives.anchor import Anchor
from interlingua.objectives.contrastive import Contrastive
from interlingua.objectives.drift import Drift
from interlingua.training.forward import share_within_sum
from interlingua.training.loop import LoopSettings, Term, train
from interlingua.training.pair_batches import PairBatches, PairPass, bitext, concatenate_bitexts
from interlingua.training.phases import Freeze, Lora
from interlingua.training.reference import reference
from interlingua.training.trainable import freeze_weights, with_adapters
from toys import sentences

CPU = torch.device("cpu")


def word_vectors(model, tokenizer, sentence, layer):
    """Vectors of a sentence's words by a loop: one text at a time, special tokens under -1 and -2."""
    encoded = tokenizer(sentence.text, return_offsets_mapping=True, return_tensors="pt")
    offsets = encoded.pop("offset_mapping")[0].tolist()
    hidden = model.base_model(**encoded, output_hidden_states=True).hidden_states[layer][0]
    found = {-1: hidden[0], -2: hidden[-1]}
    for number, (start, end) in enumerate(sentence.spans):
        inside = [k for k, (a, b) in enumerate(offsets) if a < end and b > start and b > a]
        total = torch.zeros(hidden.shape[1])
        for k in inside:
            total = total + hidden[k]
        found[number] = total / len(inside)
    return found


def loop_terms(toy, model, original, tokenizer, rows, *, target, layer):
    """Both sums of Eq. 1 by loops, and how many summands each has."""
    pull, hold, pairs, words = torch.zeros(()), torch.zeros(()), 0, 0
    for row in rows:
        ours = word_vectors(model, tokenizer, toy.source[row], layer)
        theirs = word_vectors(model, tokenizer, toy.target[row], layer)
        with torch.no_grad():
            before = word_vectors(original, tokenizer, toy.source[row], layer)
        linked = [(s, t) for r, s, t in zip(toy.links.row, toy.links.source, toy.links.target, strict=True) if r == row]
        for s, t in [*linked, (-1, -1), (-2, -2)]:
            english = ours[s] if target == "joint" else before[s]
            pull = pull + ((english - theirs[t]) ** 2).sum()
            pairs += 1
        for s, vector in ours.items():
            hold = hold + ((vector - before[s]) ** 2).sum()
            words += 1
    return pull, hold, pairs, words


def shaken(model, seed=1):
    """The model moved away from its beginning, so that the anchor has something to hold."""
    moved = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in moved.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator), alpha=0.02)
    return moved


@pytest.mark.parametrize("layer", [-1, 2, 0])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("target", ["joint", "frozen"])
def test_loss_gradient_and_step_of_eq_1_are_those_of_a_loop_over_words(toy, tmp_path, target, reduction, layer):
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "toy")
    original, model = toy.model.eval(), shaken(toy.model)
    plain = copy.deepcopy(model).eval()
    pairs = PairPass(PairBatches(toy.data, 5, seed=3))
    kept = reference(original, toy.data, layer=layer)
    adjustment = Adjustment(pairs, layer, target, reduction, kept)
    anchor = Anchor(pairs, kept, layer, reduction)
    rows = pairs.batches.rows(0)
    pull, hold, count, words = loop_terms(toy, plain, original, tokenizer, rows, target=target, layer=layer)
    dim = model.config.hidden_size
    parts = (pull / (count * dim), hold / (words * dim)) if reduction == "mean" else (pull, hold)
    expected = parts[0] + 0.5 * parts[1]
    undo = [adjustment.prepare(model), anchor.prepare(model)]
    batch = pairs.batch(0, rank=0, world=1, device=CPU)
    found = adjustment.loss(model, batch) + 0.5 * anchor.loss(model, batch)
    scale = max(expected.item(), 1.0)
    assert found.item() == pytest.approx(expected.item(), abs=1e-6 * scale)
    found.backward()
    expected.backward()
    for (name, ours), theirs in zip(model.named_parameters(), plain.parameters(), strict=True):
        mine = torch.zeros_like(ours) if ours.grad is None else ours.grad
        other = torch.zeros_like(ours) if theirs.grad is None else theirs.grad
        torch.testing.assert_close(mine, other, atol=1e-6 * scale, rtol=1e-5, msg=name)
    for take_back in undo:
        take_back()
    model.zero_grad()
    settings = LoopSettings(1, 1e-3, weight_decay=0.0, clip=None, eps=1e-3)
    train(model, [Term(1.0, adjustment), Term(0.5, anchor)], settings, device=CPU)
    optimizer = torch.optim.Adam(plain.parameters(), lr=1e-3, betas=settings.betas, eps=1e-3)
    optimizer.step()
    for (name, ours), theirs in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0, msg=name)


@pytest.mark.parametrize(("kind", "error"), [("fp32", 1e-6), ("fp16", 2e-3), ("bf16", 2e-2)])
def test_the_kept_reference_is_what_the_frozen_model_gives(toy, tmp_path, kind, error):
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "toy")
    toy.model.eval()
    for folder in (None, tmp_path / "kept", tmp_path / "kept"):  # In memory, written, read.
        kept = reference(toy.model, toy.data, layer=2, kind=kind, folder=folder)
        place = 0
        for row in range(len(toy.data)):
            with torch.no_grad():
                words = word_vectors(toy.model, tokenizer, toy.source[row], 2)
            for name in sorted(words):  # -2 stands before -1: items are sorted by number.
                torch.testing.assert_close(kept.rows(torch.tensor(place)), words[name], atol=error, rtol=error)
                place += 1
        assert place == toy.data.source_items
    assert len(list((tmp_path / "kept").iterdir())) == 1
    reference(shaken(toy.model), toy.data, layer=2, kind=kind, folder=tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2  # Of other weights, another.


def test_terms_share_one_pass_a_step_and_give_what_they_give_alone(toy):
    kept = reference(toy.model, toy.data, layer=3)
    model = shaken(toy.model).train()

    def gradients(terms):
        model.zero_grad()
        undo = [term.objective.prepare(model) for term in terms]  # The trial of a layer is done here.
        calls = []
        hook = model.base_model.embeddings.register_forward_pre_hook(lambda *_: calls.append(1))
        with share_within_sum():
            loss = sum(
                t.weight * t.objective.loss(model, t.objective.batch(0, rank=0, world=1, device=CPU)) for t in terms
            )
        loss.backward()
        hook.remove()
        for take_back in undo:
            take_back()
        return len(calls), [None if w.grad is None else w.grad.clone() for w in model.parameters()]

    def terms(one, two, three):
        return [Term(1.0, Adjustment(one)), Term(0.5, Anchor(two, kept)), Term(0.1, Contrastive(three, 1))]

    shared = PairPass(PairBatches(toy.data, 4))
    passes, together = gradients(terms(shared, shared, shared))
    assert passes == 1
    passes, apart = gradients(terms(*(PairPass(PairBatches(toy.data, 4)) for _ in range(3))))
    assert passes == 3
    for ours, theirs in zip(together, apart, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-4)


def test_outside_a_sum_nothing_is_remembered(toy):
    objective = Adjustment(PairPass(PairBatches(toy.data, 4)))
    objective.prepare(toy.model.eval())
    batch = objective.batch(0, rank=0, world=1, device=CPU)
    before = objective.loss(toy.model, batch).item()
    with torch.no_grad():
        toy.model.base_model.embeddings.word_embeddings.weight.mul_(3.0)
    assert objective.loss(toy.model, batch).item() != before


@pytest.mark.parametrize("objective", ["adjustment", "anchor", "sum"])
def test_the_mean_over_processes_is_the_loss_of_one(toy, objective):
    pairs = PairPass(PairBatches(toy.data, 6))
    kept = reference(toy.model, toy.data, layer=-1)
    model = shaken(toy.model).eval()
    made = {
        "adjustment": Adjustment(pairs),
        "anchor": Anchor(pairs, kept),
        "sum": Adjustment(pairs, reduction="sum"),
    }
    chosen = made[objective]
    chosen.prepare(model)
    one = chosen.loss(model, chosen.batch(0, rank=0, world=1, device=CPU)).item()
    two = [chosen.loss(model, chosen.batch(0, rank=rank, world=2, device=CPU)).item() for rank in (0, 1)]
    assert np.mean(two) == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_contrastive_words_are_a_loop_over_pairs_and_negatives(toy, tmp_path, temperature):
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "toy")
    objective = Contrastive(PairPass(PairBatches(toy.data, 3)), 2, temperature=temperature)
    toy.model.eval()
    objective.prepare(toy.model)
    found = objective.loss(toy.model, objective.batch(0, rank=0, world=1, device=CPU))
    ours, theirs = [], []
    for row in objective.pairs.batches.rows(0):
        left = word_vectors(toy.model, tokenizer, toy.source[row], 2)
        right = word_vectors(toy.model, tokenizer, toy.target[row], 2)
        here = toy.links.row == row
        for s, t in zip(toy.links.source[here], toy.links.target[here], strict=True):
            ours.append(left[int(s)] / left[int(s)].norm())
            theirs.append(right[int(t)] / right[int(t)].norm())
    assert found.item() == pytest.approx(info_nce(ours, theirs, temperature), abs=1e-5)


def test_contrastive_sentences_are_a_loop_over_rows(toy, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "toy")
    objective = Contrastive(PairPass(PairBatches(toy.data, 4)), -1, "sentence", 0.2)
    toy.model.eval()
    objective.prepare(toy.model)
    found = objective.loss(toy.model, objective.batch(0, rank=0, world=1, device=CPU))
    sides = []
    for side in (toy.source, toy.target):
        means = []
        for row in objective.pairs.batches.rows(0):
            hidden = toy.model.base_model(**tokenizer(side[row].text, return_tensors="pt")).last_hidden_state[0]
            mean = hidden[1:-1].mean(dim=0)
            means.append(mean / mean.norm())
        sides.append(means)
    assert found.item() == pytest.approx(info_nce(*sides, 0.2), abs=1e-5)


def info_nce(ours, theirs, temperature):
    total = 0.0
    for left, right in ((ours, theirs), (theirs, ours)):
        for i, u in enumerate(left):
            scores = np.array([(u @ v).item() / temperature for v in right])
            total -= scores[i] - np.log(np.exp(scores).sum())
    return total / (2 * len(ours))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_drift_alone_brings_weights_back_along_a_closed_form(toy, precision):
    original = {name: weight.detach().clone() for name, weight in toy.model.base_model.named_parameters()}
    drift = Drift.of(toy.model)
    model = shaken(toy.model)
    before = {name: weight.detach().clone() for name, weight in model.base_model.named_parameters()}
    drift.prepare(model)
    expected = sum(((before[name] - original[name]) ** 2).sum().item() for name in original)
    assert drift.loss(model, {}).item() == pytest.approx(expected, rel=1e-5)
    drift.loss(model, {}).backward()
    for name, weight in model.base_model.named_parameters():
        torch.testing.assert_close(weight.grad, 2 * (before[name] - original[name]), atol=1e-7, rtol=1e-5)
    model.zero_grad()
    # Adam's first step is the rate times the sign, wherever the gradient is not tiny beside eps.
    train(
        model,
        [Term(1.0, drift)],
        LoopSettings(1, 1e-3, weight_decay=0.0, clip=None, eps=1e-12, precision=precision),
        device=CPU,
    )
    for name, weight in model.base_model.named_parameters():
        moved = before[name] - 1e-3 * torch.sign(before[name] - original[name])
        torch.testing.assert_close(weight.detach(), moved, atol=1e-6, rtol=0)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_drift_of_adapters_is_that_of_the_plain_model_they_are_merged_into(toy, precision):
    pytest.importorskip("peft")
    drift = Drift.of(toy.model)
    model, body = toy.model, toy.model.base_model
    plain = {name: weight.detach().clone() for name, weight in body.named_parameters()}
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():  # As a phase before this one would have left it: the drift is from the original.
        body.encoder.layer[1].output.dense.weight.add_(0.01)
    with freeze_weights(model, Freeze(True, 1)), with_adapters(model, Lora(rank=2, alpha=6.0)):
        made = [(name, weight) for name, weight in body.named_parameters() if "lora_" in name]
        with torch.no_grad():
            for _, weight in made:
                weight.copy_(0.1 * torch.randn(weight.shape, generator=draw))
        drift.prepare(model)
        loss = drift.loss(model, {})
        loss.backward()
        gradients = {name: weight.grad.clone() for name, weight in made}
        matrices = {name: weight.detach().clone() for name, weight in made}
        model.zero_grad()
        settings = LoopSettings(1, 1e-3, weight_decay=0.0, clip=None, eps=1e-12, precision=precision)
        held = copy.deepcopy(model.state_dict())
        train(model, [Term(1.0, drift)], settings, device=CPU)
        # Adam's first step is the rate times the sign; the drift of bfloat16 copies would have other signs.
        for name, weight in made:
            clear = gradients[name].abs() > 1e-6
            stepped = matrices[name] - 1e-3 * torch.sign(gradients[name])
            torch.testing.assert_close(weight.detach()[clear], stepped[clear], atol=1e-6, rtol=0)
        model.load_state_dict(held)
    merged = {name: weight.detach() for name, weight in body.named_parameters()}
    changes = {name: merged[name] - before for name, before in plain.items()}
    moved = {name for name, change in changes.items() if change.abs().max() > 0}
    assert moved == {name for name in plain if name.startswith(("encoder.layer.1.", "encoder.layer.2.")) and
                     plain[name].ndim == 2}  # fmt: skip
    assert loss.item() == pytest.approx(sum(float(change.square().sum()) for change in changes.values()), rel=1e-4)
    for name in matrices:
        at, kind = name.removesuffix(".default.weight").rsplit(".", 1)
        a, b = (matrices[f"{at}.lora_{side}.default.weight"] for side in "AB")
        change = 2 * changes[f"{at}.weight"]  # d‖D‖²/dD
        expected = 3 * (b.T @ change if kind == "lora_A" else change @ a.T)  # D = (6 / 2) B A + what was before.
        torch.testing.assert_close(gradients[name], expected, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("freeze", [Freeze(True, -1), Freeze(True, 3)])
def test_drift_where_nothing_of_the_body_is_trained_is_refused_before_the_first_step(toy, freeze):
    drift = Drift.of(toy.model)
    with (
        freeze_weights(toy.model, freeze),
        pytest.raises(InputError, match=r"none is trained\. Freeze fewer blocks, or leave drift out"),
    ):
        train(toy.model, [Term(1.0, drift)], LoopSettings(1, 1e-3), device=CPU)


def test_every_row_comes_once_an_epoch_and_sorting_saves_padding(toy):
    data = toy.data
    for pooled in (1, 2, 16):
        batches = PairBatches(data, 4, seed=5, pooled=pooled)
        drawn = np.concatenate([batches.rows(step) for step in range(batches.steps)])
        assert set(drawn.tolist()) == set(range(len(data)))
        assert len(drawn) == batches.steps * 4
        again = PairBatches(data, 4, seed=5, pooled=pooled)
        later = np.concatenate([batches.rows(step + batches.steps) for step in range(batches.steps)])
        assert (np.concatenate([again.rows(step) for step in range(batches.steps)]) == drawn).all()
        assert (later != drawn).any()

    def padded(pooled):
        batches = PairBatches(data, 4, pooled=pooled)
        return sum(
            batches.batch(step, rank=0, world=1, device=CPU)["input_ids"].numel() for step in range(batches.steps)
        )

    assert padded(16) < padded(1)


def test_with_replacement_rows_are_drawn_anew_and_uniformly(toy):
    batches = PairBatches(toy.data, 64, replacement=True)
    counts = np.bincount(np.concatenate([batches.rows(step) for step in range(100)]), minlength=len(toy.data))
    p = 1 / len(toy.data)
    assert (np.abs(counts - 6400 * p) < 5 * np.sqrt(6400 * p * (1 - p))).all()
    assert (batches.rows(7) == PairBatches(toy.data, 64, replacement=True).rows(7)).all()


def test_languages_joined_give_the_losses_of_each_by_itself(toy):
    source, target, links = sentences(7, seed=9)
    other = bitext(toy.encoder.tokeniser, source, target, links, room=toy.encoder.room)
    whole = concatenate_bitexts([toy.data, other])
    assert len(whole) == len(toy.data) + len(other)
    for part, first in ((toy.data, 0), (other, len(toy.data))):
        rows = np.arange(len(part))
        ours, theirs = part.batch(rows, device=CPU), whole.batch(rows + first, device=CPU)
        for name in ("input_ids", "pool", "left", "right", "pair_weight", "word_weight", "anchor_weight"):
            assert torch.equal(ours[name], theirs[name]), name


def test_what_cannot_be_used_is_counted_and_bad_choices_are_refused(toy):
    from interlingua.wordalign.links import Links
    from interlingua.words import Sentence

    words = ["tap"] * 200
    source = [*toy.source[:2], Sentence.of(words), Sentence.of(["tap"])]
    target = [*toy.target[:2], Sentence.of(words), Sentence.of(["pat"])]
    kept = toy.links.row < 2
    links = Links.of(toy.links.row[kept], toy.links.source[kept], toy.links.target[kept])
    made = bitext(toy.encoder.tokeniser, source, target, links, room=toy.encoder.room)
    assert len(made) == 2
    assert dict(made.left_out)["rows too long for the model"] == 1
    assert dict(made.left_out)["rows without a pair of linked words"] == 1
    pairs = PairPass(PairBatches(made, 2))
    with pytest.raises(InputError, match=r"unknown reduction: 'median'\. Known: mean, sum"):
        Adjustment(pairs, reduction="median")
    with pytest.raises(InputError, match="a frozen target has no vectors"):
        Adjustment(pairs, target="frozen")
    with pytest.raises(InputError, match=r"no such layer: 9\. There are 0 \(the embedding output\) to 3"):
        Adjustment(pairs, 9).prepare(toy.model)
    with pytest.raises(InputError, match="the reference is of layer 1"):
        Anchor(pairs, reference(toy.model, made, layer=1)).prepare(toy.model)
