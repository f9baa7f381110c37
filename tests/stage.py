"""The stage for the commands of the docs: every file and folder that they name, small, in one folder."""

from __future__ import annotations

import csv
import json
import lzma
import re
import shutil
from pathlib import Path

import torch

import interlingua
import models
import toys
from interlingua.encoder import Encoder
from interlingua.readers import embedded_data as embedded
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel

ASSETS = Path(interlingua.__file__).parent / "assets"
ROWS = 40
MODELS = ("my-model", "my-encoder", "xlm-roberta-base", "before", "after", "adjusted")
CONFIG = """
[data]
folder = "mono"
languages = ["en", "ru"]
[tokenizer]
vocabulary = 500
[model]
hidden_size = 16
num_hidden_layers = 2
num_attention_heads = 2
intermediate_size = 32
[training]
steps = 2
batch_size = 4
max_length = 16
"""


def texts(code: str) -> list[str]:
    return (embedded._FOLDER / f"sampler.{code}").read_text("utf-8").splitlines()[:ROWS]


def short_sampler(folder: Path) -> Path:
    """The embedded corpus with its first rows of a few languages alone."""
    folder.mkdir()
    for code in ("en", "es", "ru", "hi"):
        (folder / f"sampler.{code}").write_text("".join(f"{text}\n" for text in texts(code)), "utf-8")
    return folder


def deep_model(folder: Path) -> Path:
    """Eight blocks, as some commands name the sixth or the eighth; byte-level, to spell every language."""
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    tokenizer = models.byte_level()
    sizes = {"hidden_size": 16, "num_hidden_layers": 8, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=512, pad_token_id=1, type_vocab_size=1, **sizes
    )
    BertForMaskedLM(config).save_pretrained(folder)
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return folder


def set_up(folder: Path, model: Path, page: str) -> None:
    """Everything that the commands of a page name."""
    for name in MODELS:
        if not (page == "howto-adjust.md" and name == "adjusted"):  # There the page's own command makes it.
            (folder / name).symlink_to(model)
    corpora(folder, bare=page == "howto-align.md")
    examples(folder)
    if page == "howto-explain.md":
        heads(folder, model)
    if page == "howto-synth.md":
        contexts(folder)
    if page == "howto-pretrain.md":
        (folder / "my-encoder").unlink()
        (folder / "config.toml").write_text(CONFIG, "utf-8")
        (folder / "mono").mkdir()
        for code in ("en", "ru"):
            (folder / "mono" / f"{code}.txt").write_text("\n".join(texts(code)), "utf-8")
    if page in ("howto-study.md", "study-file.md"):
        (folder / "studies").symlink_to(Path(__file__).resolve().parents[1] / "studies")
    if page == "howto-report.md":
        runs(folder, model)


def corpora(folder: Path, *, bare: bool) -> None:
    rows = list(zip(*(texts(code) for code in ("en", "ru", "hi")), strict=True))
    table = "en\tru\thi\n" + "".join("\t".join(row) + "\n" for row in rows)
    pairs = "".join(f"{row[0]}\t{row[1]}\n" for row in rows)
    (folder / "talks.tsv").write_text(pairs if bare else table, "utf-8")
    (folder / "talks.tsv.xz").write_bytes(lzma.compress(table.encode()))
    for name in ("more.tsv", "new.tsv", "talks.en-ru.tsv"):
        (folder / name).write_text(pairs, "utf-8")
    (folder / "talks.en-hi.tsv").write_text("".join(f"{row[0]}\t{row[2]}\n" for row in rows), "utf-8")
    (folder / "test.txt").write_text("".join(f"{row[0]} ||| {row[1]}\n" for row in rows[:10]), "utf-8")
    (folder / "test.gold").write_text("1-1 2p2\n" * 10, "utf-8")
    for place in ("flores", "flores200/devtest"):
        (folder / place).mkdir(parents=True)
        for number, code in enumerate(("eng_Latn", "rus_Cyrl", "hin_Deva")):
            (folder / place / f"{code}.devtest").write_text("".join(f"{row[number]}\n" for row in rows), "utf-8")
    (folder / "tatoeba").mkdir()
    for number, code in enumerate(("en", "ru")):
        (folder / "tatoeba" / f"tatoeba.en-ru.{code}").write_text("".join(f"{row[number]}\n" for row in rows), "utf-8")


def examples(folder: Path) -> None:
    """Labelled files of every task, the same rows in every language."""
    for code in ("en", "es", "de", "hi", "ru"):
        for name, task in (("xnli", "nli"), ("test", "nli"), ("pawsx", "paraphrase")):
            names = {"different": 0, "paraphrase": 1}
            lines = [f"{e.first}\t{e.second}\t{names.get(e.label, e.label)}" for e in toys.toy(task).items]
            (folder / f"{name}-{code}.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        tagged = ["".join(f"{w}\t{t}\n" for w, t in zip(e.words, e.tags, strict=True)) for e in toys.toy("ner").items]
        for name in (f"panx-{code}.tsv", f"panx-{code}-test.tsv", f"ner-{code}.tsv", f"ner-{code}-test.tsv"):
            (folder / name).write_text("\n".join(tagged), "utf-8")
        paragraphs = [
            {
                "context": e.context,
                "qas": [{"id": e.id, "question": e.question, "answers": [vars_of(a) for a in e.answers]}],
            }
            for e in toys.toy("qa").items
        ]
        (folder / f"xquad.{code}.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), "utf-8")
    shutil.copy(folder / "xnli-en.tsv", folder / "mnli.tsv")
    shutil.copy(folder / "xquad.en.json", folder / "squad.json")


def vars_of(answer: toys.Answer) -> dict[str, object]:
    return {"text": answer.text, "answer_start": answer.start}


def heads(folder: Path, model: Path) -> None:
    """Models with heads of random weights, as `transfer --save-models` leaves them."""
    encoder = Encoder.load(str(model), device="cpu", precision="fp32")
    for place, name in (("nli/models/original-seed0", "nli"), ("paws-en", "paraphrase"), ("paws-es", "paraphrase")):
        task = tasks[name].call()
        labels = task.labels(toys.toy(name))
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        save(FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=1), encoder), folder / place)


def contexts(folder: Path) -> None:
    """A folder of our own form, and one of SyntheticNER's, both from the embedded set."""
    shutil.copytree(ASSETS / "synthetic", folder / "my-data")
    (folder / "SyntheticNER").mkdir()
    whole, entity = r"(.*)", r".*\[(.*)\].*"
    for ours, theirs, kept in (
        ("LOC.nominative.contexts", "LOC_NOM_1984sents", whole),
        ("LOC.locative.names", "LOC_NOM_names", entity),
        ("ORG.contexts", "ORG_1095sents", whole),
        ("ORG.names", "ORG_names", whole),
    ):
        head, *rows = (ASSETS / "synthetic" / f"{ours}.tsv").read_text("utf-8").splitlines()
        with (folder / "SyntheticNER" / f"{theirs}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerow(head.split("\t"))
            csv.writer(file).writerows([re.sub(kept, r"\1", cell) for cell in row.split("\t")] for row in rows)


def runs(folder: Path, model: Path) -> None:
    """Finished runs, as small as they can be."""
    for name in ("interlingua-audit", "audit", "before", "after", "mbert", "xlmr", "mmbert"):
        (folder / name).unlink(missing_ok=True)
        interlingua.audit("my-model", languages=["en", "es"], measures=["retrieval"], out=folder / name, device="cpu")
    tests = {"es": "xnli-es.tsv"}
    interlingua.transfer(
        "my-model", "nli", tests, train="mnli.tsv", seeds=1, epochs=1, out=folder / "nli", device="cpu"
    )
    heads(folder, model)
    data = {"en": "test-en.tsv", "es": "test-es.tsv"}
    interlingua.explain("nli/models/original-seed0", data, rows=2, out=folder / "why", device="cpu")
