from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import models
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.objectives.task import TaskObjective
from interlingua.readers.examples import Examples
from interlingua.tasks import tasks
from interlingua.tasks.qa import Qa
from interlingua.tasks.saved_models import FineTuned, load, save
from interlingua.training.loop import LoopSettings, Monitor, Term, train
from interlingua.training.task import TaskModel
from toys import toy

CPU = torch.device("cpu")
TRAINED = [entry.name for entry in tasks if entry.needs == "head"]


def made(name: str, encoder: Encoder, **settings: object) -> tuple[FineTuned, Examples, TaskObjective]:
    task = tasks[name].call(**settings)
    examples = toy(name)
    labels = task.labels(examples)
    model = TaskModel.of(encoder, task, labels, seed=0)
    inputs = task.inputs(examples, encoder, labels=labels, training=True)
    return FineTuned(task, labels, model, encoder), examples, TaskObjective(task, inputs, batch_size=7)


def predicted(tuned: FineTuned, examples: Examples, **options: object):
    inputs = tuned.task.inputs(examples, tuned.encoder, labels=tuned.labels, training=False)
    return tuned.task.predict(tuned.model, inputs, labels=tuned.labels, **options)


@pytest.mark.parametrize("name", TRAINED)
def test_a_tiny_model_learns_twenty_examples_by_heart(name, encoder):
    tuned, examples, objective = made(name, encoder)

    def loss() -> float:
        batch = objective.inputs.batch(np.arange(len(objective.inputs)), CPU)
        with torch.no_grad():
            return float(tuned.task.loss(tuned.model(batch), batch)) / objective.inputs.units.sum()

    before = loss()
    train(tuned.model, [Term(1.0, objective)], LoopSettings(120, 3e-3, warmup=10, weight_decay=0.0), device=CPU)
    assert loss() < 0.1 * before
    scores = tuned.task.judge(predicted(tuned, examples), examples)
    assert scores[tuned.task.metric].value == 1.0


@pytest.mark.gpu
@pytest.mark.parametrize("name", TRAINED)
def test_recorded_steps_of_fine_tuning_are_those_that_are_not(name, still_folder):
    losses = []
    for graph in (False, True):
        tuned, _, objective = made(name, Encoder.load(str(still_folder), device="cuda", precision="fp32"))
        settings = LoopSettings(40, 1e-3, weight_decay=0.0, precision="bf16", graph=graph)
        monitor = Monitor(10, lambda _: {})
        metrics = train(tuned.model, [Term(1.0, objective)], settings, device=torch.device("cuda"), monitors=[monitor])
        losses.append([entry["loss"] for entry in metrics])
    assert losses[1] == pytest.approx(losses[0], rel=0.05, abs=5e-3)


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("architecture", ["bert", "distilbert", "xlm-roberta", "electra", "deberta-v2"])
def test_loss_and_gradients_are_those_of_the_architectures_own_model(name, architecture, tmp_path):
    tuned, _, objective = made(name, _encoder(architecture, tmp_path))
    tuned.model.eval()
    assert save(tuned, tmp_path / "tuned")
    import transformers

    kind = {"sequence": "SequenceClassification", "token": "TokenClassification", "span": "QuestionAnswering"}
    plain = getattr(transformers, f"AutoModelFor{kind[tuned.task.kind]}").from_pretrained(tmp_path / "tuned").eval()
    # The library takes padding for a place where an answer may be, and we do not.
    lengths = objective.inputs.lengths
    rows = np.flatnonzero(lengths == np.bincount(lengths).argmax()) if tuned.task.kind == "span" else np.arange(9)
    batch = objective.inputs.batch(rows, CPU)
    batch["scale"] = torch.tensor(1 / objective.inputs.units[rows].sum())
    names = {"labels": "labels", "start": "start_positions", "end": "end_positions"}
    given = {names.get(key, key): value for key, value in batch.items() if key not in ("summary", "scale")}
    if architecture == "distilbert":
        given.pop("token_type_ids", None)
    expected = plain(**given).loss
    found = objective.loss(tuned.model, batch)
    assert found.item() == pytest.approx(expected.item(), abs=1e-6)
    found.backward()
    expected.backward()
    prefix = plain.base_model_prefix
    theirs = dict(plain.named_parameters())
    ours = {f"{prefix}.{key}": weight for key, weight in tuned.model.base_model.named_parameters()}
    rest = [key for key in theirs if key not in ours]
    ours |= dict(zip(rest, tuned.model.head.parameters(), strict=True))
    assert set(ours) == set(theirs)
    for key, weight in ours.items():
        assert (weight.grad is None) == (theirs[key].grad is None), key
        if weight.grad is not None:
            torch.testing.assert_close(weight.grad, theirs[key].grad, atol=1e-6, rtol=1e-4, msg=key)


def _encoder(architecture: str, folder: Path) -> Encoder:
    place = folder / architecture
    if architecture == "electra":
        from transformers import ElectraConfig, ElectraModel

        torch.manual_seed(0)
        tokenizer = models.wordpiece()
        config = ElectraConfig(
            vocab_size=tokenizer.get_vocab_size(), embedding_size=16, max_position_embeddings=128, **models._SMALL
        )
        models._save(ElectraModel(config), tokenizer, place, **models._BERT_NAMES)
    else:
        models.ARCHITECTURES[architecture](place)
    return Encoder.load(str(place), device="cpu", precision="fp32")


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("architecture", ["bert", "modernbert", "qwen2", "llama"])
def test_what_is_saved_and_loaded_says_the_same(name, architecture, tmp_path):
    tuned, examples, _ = made(name, _encoder(architecture, tmp_path))
    before = predicted(tuned, examples)
    save(tuned, tmp_path / "tuned")
    save(tuned, tmp_path / "tuned")  # Over the one before.
    again = load(tmp_path / "tuned", device="cpu")
    assert (again.task, again.labels) == (tuned.task, tuned.labels)
    after = predicted(again, examples)
    for field in ("choice", "spans"):
        if hasattr(before, field):
            assert np.array_equal(getattr(before, field), getattr(after, field))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_a_head_on_the_mean_reads_every_token_alike_and_no_padding(encoder, tmp_path):
    tuned, examples, objective = made("nli", encoder, pooling="mean")
    tuned.model.eval()
    head = tuned.model.head
    inputs = objective.inputs
    whole = inputs.batch(np.arange(len(inputs)), CPU)
    assert "attention_mask" in whole
    with torch.no_grad():
        together = tuned.model(whole)
        for row in range(len(inputs)):
            batch = inputs.batch(np.array([row]), CPU)
            hidden = tuned.model.base_model(input_ids=batch["input_ids"], token_type_ids=batch.get("token_type_ids"))
            vector = torch.tanh(head.dense(hidden.last_hidden_state[0].mean(dim=0)))
            assert torch.allclose(together[row], head.out(vector), atol=1e-5)
    assert not save(tuned, tmp_path / "mean")  # No model of the library reads the mean.
    again = load(tmp_path / "mean")
    assert again.task == tuned.task
    assert np.allclose(predicted(tuned, examples).scores, predicted(again, examples).scores, atol=1e-6)


def test_an_unknown_pooling_is_refused():
    with pytest.raises(InputError, match="unknown pooling: 'middle'"):
        tasks["nli"].call(pooling="middle")


def test_a_fine_tuned_folder_is_an_encoder(encoder, tmp_path):
    tuned, _, _ = made("nli", encoder)
    save(tuned, tmp_path / "tuned")
    vectors = Encoder.load(str(tmp_path / "tuned"), device="cpu").encode(["Empires rise."])
    np.testing.assert_allclose(vectors[-1], encoder.encode(["Empires rise."])[-1], atol=1e-6)


def test_half_an_encoder_decoder_is_refused(tmp_path):
    with pytest.raises(InputError, match="half of an encoder-decoder"):
        made("ner", _encoder("t5", tmp_path))


def test_a_folder_without_its_task_or_with_another_head_is_refused(encoder, tmp_path):
    tuned, _, _ = made("nli", encoder)
    save(tuned, tmp_path / "tuned")
    about = json.loads((tmp_path / "tuned/task.json").read_text("utf-8"))
    (tmp_path / "tuned/task.json").write_text(json.dumps(about | {"labels": ["a", "b"]}), "utf-8")
    with pytest.raises(InputError, match="head cannot be loaded"):
        load(tmp_path / "tuned", device="cpu")
    (tmp_path / "tuned/task.json").unlink()
    config = json.loads((tmp_path / "tuned/config.json").read_text("utf-8"))
    (tmp_path / "tuned/config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}), "utf-8")
    with pytest.raises(InputError, match=r"no task\.json"):
        load(tmp_path / "tuned", device="cpu")


DAMAGED = {
    **{f"labels {value!r:.30}": {"labels": value} for value in (
        ["a", "a", "b"], [1, 2, 3], [["a"], ["b"], ["c"]], ["\ud800", "b", "c"], "abc", {"a": 1, "b": 2, "c": 3}, None,
        [str(number) for number in range(200_000)])},
    **{f"length {value!r:.30}": {"settings": {"length": value}} for value in (0, -1, True, 1e9, 10**400, "128", [128])},
    **{f"task {value!r}": {"task": value} for value in (None, "../x", "ner", [], {})},
}  # fmt: skip


@pytest.mark.reliability("damaged files of a run")
@pytest.mark.parametrize("case", DAMAGED)
def test_a_description_of_a_task_that_no_run_writes_is_refused(encoder, tmp_path, case):
    tuned, _, _ = made("nli", encoder)
    save(tuned, tmp_path / "tuned")
    about = json.loads((tmp_path / "tuned/task.json").read_text("utf-8"))
    (tmp_path / "tuned/task.json").write_text(json.dumps(about | DAMAGED[case]), "utf-8")
    with pytest.raises(InputError):
        load(tmp_path / "tuned", device="cpu")


@pytest.mark.reliability("damaged files of a run")
def test_a_head_of_undefined_weights_or_a_description_of_holes_is_refused(encoder, tmp_path):
    tuned, _, _ = made("nli", encoder)
    save(tuned, tmp_path / "tuned")
    file = tmp_path / "tuned/head.safetensors"
    save_file({name: torch.full_like(weight, torch.nan) for name, weight in load_file(file).items()}, file)
    with pytest.raises(InputError, match="infinite or undefined"):
        load(tmp_path / "tuned", device="cpu")
    with (tmp_path / "tuned/task.json").open("r+b") as description:
        description.truncate(1 << 40)
    with pytest.raises(InputError, match="more than 256 MB"):
        load(tmp_path / "tuned", device="cpu")


def test_the_pre_trained_pooler_goes_into_the_head_and_a_made_up_one_does_not(still_folder, tmp_path):
    from transformers import AutoTokenizer, BertModel

    body = BertModel.from_pretrained(still_folder)
    body.save_pretrained(tmp_path / "pooled")
    AutoTokenizer.from_pretrained(still_folder).save_pretrained(tmp_path / "pooled")
    tuned, _, _ = made("nli", Encoder.load(str(tmp_path / "pooled"), device="cpu"))
    assert torch.equal(tuned.model.head.dense.weight, body.pooler.dense.weight)
    heads = [made("nli", Encoder.load(str(still_folder), device="cpu"))[0].model.head for _ in range(2)]
    assert torch.equal(heads[0].dense.weight, heads[1].dense.weight)
    assert not torch.equal(heads[0].dense.weight, body.pooler.dense.weight)


@pytest.mark.parametrize("pool", [1, 2, 50])
def test_every_input_is_seen_once_an_epoch(encoder, pool):
    _, _, objective = made("ner", encoder)
    objective.pool = pool
    steps = objective.steps_per_epoch
    orders = []
    for epoch in range(3):
        rows = [objective._epoch(epoch)[place] for place in range(steps)]
        assert sorted(np.concatenate(rows)) == list(range(len(objective.inputs)))
        orders.append(np.concatenate(rows).tolist())
    assert orders[0] != orders[1] != orders[2]


def test_batches_of_like_lengths_are_padded_less(encoder):
    _, _, objective = made("qa", encoder)

    def padded(pool: int) -> int:
        objective.pool, objective._plan = pool, (-1, [])
        return sum(len(rows) * int(objective.inputs.lengths[rows].max()) for rows in objective._epoch(0))

    assert padded(50) < padded(1)


def test_a_batch_depends_on_seed_and_step_alone(encoder):
    _, _, objective = made("nli", encoder)
    twin = copy.deepcopy(objective)
    late = [objective.batch(step, rank=0, world=1, device=CPU) for step in (5, 0, 4, 9)]
    for step, batch in zip((5, 0, 4, 9), late, strict=True):
        other = twin.batch(step, rank=0, world=1, device=CPU)
        assert all(torch.equal(batch[key], other[key]) for key in batch)


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("fixed", [False, True])
def test_the_mean_over_processes_is_the_loss_of_one(name, fixed, encoder):
    tuned, _, objective = made(name, encoder)
    tuned.model.eval()
    alone = [objective.loss(tuned.model, objective.batch(s, rank=0, world=1, device=CPU)).item() for s in range(4)]
    objective.fixed = fixed
    for world in (1, 2, 8):  # Eight: more processes than the last batch has examples.
        for step, expected in enumerate(alone):
            batches = [objective.batch(step, rank=rank, world=world, device=CPU) for rank in range(world)]
            found = np.mean([objective.loss(tuned.model, batch).item() for batch in batches])
            assert found == pytest.approx(expected, abs=1e-5)
            if fixed:
                assert len({tuple(batch["input_ids"].shape) for batch in batches}) == 1


@pytest.mark.parametrize("name", TRAINED)
def test_predictions_do_not_depend_on_the_budget(name, encoder):
    tuned, examples, _ = made(name, encoder)
    seen: list[tuple[int, int]] = []
    one = predicted(tuned, examples, budget=1)
    many = predicted(tuned, examples, budget=100_000, progress=lambda done, total: seen.append((done, total)))
    for field in ("choice", "spans"):
        if hasattr(one, field):
            assert np.array_equal(getattr(one, field), getattr(many, field))
    assert seen[-1][0] == seen[-1][1]
    assert tuned.model.training  # As it was.


def test_windows_without_the_answer_are_dropped_or_taught_the_first_token(encoder):
    examples = toy("qa")
    kept, dropped = (Qa(unanswered=way).inputs(examples, encoder, training=True) for way in ("cls", "drop"))
    lost = next(skip for skip in kept.skipped if "do not hold the answer" in skip.reason)
    assert lost.count > 0
    assert len(kept) == len(dropped) + lost.count
    assert ((kept.row_labels["start"] == 0) & (kept.row_labels["end"] == 0)).sum() == lost.count
    assert (dropped.row_labels["start"] > 0).all()
