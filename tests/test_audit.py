"""The whole audit: against an independent computation, run again, killed, in two models, with a user's measure."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import independent
import models
from interlingua.analyses import space_measures
from interlingua.cli import app
from interlingua.commands import audit
from interlingua.commands.command_study import study_file
from interlingua.commands.report import report_on
from interlingua.corpus import ParallelCorpus
from interlingua.encoder import Encoder
from interlingua.encoder.forward_pass import ForwardPass
from interlingua.engine.records import Records
from interlingua.errors import InputError
from interlingua.languages import name as language_name
from interlingua.measures import measures
from interlingua.measures.isotropy import isotropy
from interlingua.measures.separation import derangement
from interlingua.readers import read_corpus
from interlingua.record import Record
from interlingua.studies.config.schema import AuditCommand
from interlingua.wordalign import align_words
from interlingua.words import word_spans
from record_store import record_lines

LANGUAGES = ["en", "es", "ru", "hi"]
ROWS = 120
KEYS = {"measure", "metric", "model", "source", "value", "n", "ci_low", "ci_high", "unit", "seed", "corpus", "digests",
        "step", "part", "versions", "schema"}  # fmt: skip


def spread_bert(folder: Path, *, width: int = 32, layers: int = 3, seed: int = 0) -> Path:
    """A model that spells every script, with weights large enough that no two sentences are nearly the same."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    tokenizer = models.byte_level()
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * width, max_position_embeddings=512, pad_token_id=1, initializer_range=0.3,
    )  # fmt: skip
    return models._save(BertModel(config), tokenizer, folder, **models._BYTE_NAMES)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Matrices here are tiny: on a busy machine threads that wait for each other cost more than they do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spread_bert(tmp_path_factory.mktemp("audit") / "bert")


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 rows of the embedded corpus as a user's file, with a few gaps."""
    whole = read_corpus("sampler", languages=LANGUAGES)
    rows = [[whole.texts[code][row] or "" for code in LANGUAGES] for row in range(ROWS)]
    rows[5][1] = rows[9][3] = rows[40][0] = ""
    path = tmp_path_factory.mktemp("corpus") / "corpus.tsv"
    path.write_text("\n".join(["\t".join(LANGUAGES), *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def finished(model: Path, corpus_file: Path, tmp_path_factory: pytest.TempPathFactory) -> audit.Audit:
    """A whole run with a folder, never to be changed."""
    place = tmp_path_factory.mktemp("finished")
    return audit.audit(str(model), corpus_file, out=place / "out", cache=place / "cache")


Command = Callable[..., tuple[str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line in this process; what it wrote on stdout and on stderr."""

    def run(*arguments: object) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["interlingua", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            app.main()
        shown = capsys.readouterr()
        assert not end.value.code, shown.err
        return shown.out, shown.err

    return run


def test_representations_that_were_damaged_in_the_cache_are_told(
    model: Path, corpus_file: Path, tmp_path: Path, command: Command
) -> None:
    given = ("audit", model, "--corpus", corpus_file, "--measures", "tokenization", "--json", "--cache", tmp_path)
    whole, quiet = command(*given)
    broken = sorted(tmp_path.iterdir())[0]
    (broken / "about.json").write_text("[]")
    again, told = command(*given)
    assert json.loads(again)["records"] == json.loads(whole)["records"]
    assert f"note: damaged representations in the cache, made anew: {broken.name}\n" in told
    assert "damaged" not in quiet


def test_an_audit_equals_an_independent_computation(model: Path, corpus_file: Path, command: Command) -> None:
    out, _ = command("audit", model, "--corpus", corpus_file, "--maps", "all", "--json", "--cache", "none")
    corpus = read_corpus(corpus_file)
    assert compare(read(out), model, corpus) == 6


@pytest.mark.shared
def test_an_audit_of_tatoeba_equals_an_independent_computation(
    model: Path, shared_data: Path, command: Command
) -> None:
    languages = "en,ru,es,hi,vi"
    given = ("--corpus", shared_data / "tatoeba", "--languages", languages, "--rows", 240)
    out, _ = command("audit", model, *given, "--json", "--cache", "none")
    corpus = read_corpus(shared_data / "tatoeba", languages=languages.split(",")).sample(240, seed=0)
    # Each of Tatoeba's bitexts has its own English side: only pairs with English share rows.
    assert compare(read(out), model, corpus) == 4


def compare(records: Iterable[Record], folder: Path, corpus: ParallelCorpus) -> int:
    """Compares every layer and pair, retrieval in both directions, to 1e-5 and returns the number of pairs."""
    plain = independent.PlainModel(folder)
    pairs = corpus.pairs()
    found = {(r.measure, r.key, r.source, r.target, r.layer): r.value for r in records}
    worded = 0
    for source, target in pairs:
        pair = corpus.pair(source, target)
        left, right = (plain.sentences(texts) for texts in compared_texts(corpus, source, target))
        expected: dict[tuple[str, str, str, str, int], independent.Expected] = {}
        for layer, (x, y) in enumerate(zip(left, right, strict=True)):
            for measure, here, there, scores in (
                ("retrieval", source, target, independent.retrieval(x, y)),
                ("retrieval", target, source, independent.retrieval(y, x)),
                ("cka", source, target, independent.cka(x, y)),
                ("procrustes", source, target, independent.procrustes(x, y, seed=0)),
            ):
                expected |= {(measure, variant, here, there, layer): value for variant, value in scores.items()}
        words = word_scores(plain, pair.source_texts, pair.target_texts, pair.rows)
        assert bool(words) == any(key[:1] + key[2:4] == ("separation", source, target) for key in found)
        worded += bool(words)
        expected |= {
            (measure, variant, source, target, layer): value for (measure, variant, layer), value in words.items()
        }
        assert {key[-1] for key in expected} == {0, 1, 2, 3}
        for key, (value, slack) in expected.items():
            assert found[key] == pytest.approx(value, abs=1e-5 + slack), key
        # Ties that rounding decides must be rare, or the comparison would say little.
        assert max(slack for _, slack in expected.values()) < 0.05
    assert worded > len(pairs) / 2
    return len(pairs)


def compared_texts(corpus: ParallelCorpus, source: str, target: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Both sides of a pair, cut to as many candidates as the pair with the fewest rows has; drawn by the seed 0."""
    pair, fewest = corpus.pair(source, target), fewest_rows(corpus)
    cut = fewest < len(pair.rows)
    kept = np.sort(np.random.default_rng(0).choice(len(pair.rows), fewest, replace=False)) if cut else range(fewest)
    ours, theirs = (tuple(texts[place] for place in kept) for texts in (pair.source_texts, pair.target_texts))
    return ours, theirs


def fewest_rows(corpus: ParallelCorpus) -> int:
    return min(len(corpus.pair(*pair).rows) for pair in corpus.pairs())


def word_scores(
    plain: independent.PlainModel, ours: tuple[str, ...], theirs: tuple[str, ...], rows: np.ndarray
) -> dict[tuple[str, str, int], independent.Expected]:
    left, right = ([word_spans(text) for text in side] for side in (ours, theirs))
    words = [
        [[text[a:b].casefold() for a, b in spans] for text, spans in zip(side, found, strict=True)]
        for side, found in ((ours, left), (theirs, right))
    ]
    links = align_words(*words)
    table = list(zip(links.row.tolist(), links.source.tolist(), links.target.tolist(), strict=True))
    kept = [table[k] for k in independent.recurring([(words[0][r][s], words[1][r][t]) for r, s, t in table])]
    groups = rows[[r for r, _, _ in kept]]
    if len(kept) < 20 or len(set(groups.tolist())) < 10:
        return {}
    x = plain.words(ours, [(r, left[r][s]) for r, s, _ in kept])
    y = plain.words(theirs, [(r, right[r][t]) for r, _, t in kept])
    partner = derangement(len(kept), groups=groups, seed=[0, 0])
    return {
        ("separation", variant, layer): value
        for layer in range(len(x))
        for variant, value in independent.separation(x[layer], y[layer], partner).items()
    }


def test_json_is_one_object_of_whole_records_and_nothing_else_on_stdout(
    model: Path, corpus_file: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out, err = command(
        "audit", model, "--corpus", corpus_file, "--json", "--measures", "retrieval,tokenization,isotropy"
    )
    found = json.loads(out)
    assert set(found) == {"run", "report", "records"}
    assert found["report"]["answer"]["kind"] == "level"
    assert out.count("\n") == 1
    assert all(set(record) >= KEYS - {"ci_low", "ci_high"} for record in found["records"])
    assert set.union(*map(set, found["records"])) == KEYS | {
        "null_value", "higher_is_better", "options", "target", "layer", "pooling", "details", "block"
    }  # fmt: skip
    assert [Record.from_dict(each).to_dict() for each in found["records"]] == found["records"]
    told = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert all(re.fullmatch(r"[a-z ]+: \d+/\d+", line) for line in told)
    assert {line.split(":")[0] for line in told} == {"steps", "loading the model", "encoding", "measuring"}
    assert [line[6:] for line in err.splitlines() if line not in told] == found["run"]["skipped"]
    assert {record["measure"] for record in found["records"]} == {"retrieval", "tokenization", "isotropy"}
    assert list(tmp_path.iterdir()) == []


def test_every_measure_is_there_for_every_pair_and_layer_and_maps_from_the_first_language(
    finished: audit.Audit,
) -> None:
    assert {record.measure for record in finished.records} == set(audit.DEFAULT_MEASURES)
    for measure in ("retrieval", "procrustes", "procrustes-words", "cka", "separation"):
        places = {(r.source, r.target, r.layer) for r in finished.records if r.measure == measure}
        if measure.startswith("procrustes"):
            assert {source for source, _, _ in places} == {LANGUAGES[0]}
            assert len(places) == 3 * 4
        elif measure == "retrieval":  # Each direction is a record of its own.
            assert len(places) == 2 * 6 * 4
        else:
            assert len(places) == 6 * 4
    assert "3 pairs without a fitted map: --maps all fits one for every pair" in finished.run["skipped"]
    assert {(r.source, r.layer) for r in finished.records if r.measure == "isotropy"} == {
        (code, layer) for code in LANGUAGES for layer in range(4)
    }
    assert len({(r.source, r.target) for r in finished.records if r.measure == "spelling"}) == 6


def test_the_intervals_of_a_languages_words_treat_sentences_as_drawn(
    finished: audit.Audit, model: Path, corpus_file: Path
) -> None:
    corpus = read_corpus(corpus_file)
    found = Encoder.load(str(model)).encode(corpus.column(LANGUAGES[0]), unit="word")
    for layer in range(4):
        expected = isotropy(torch.from_numpy(found.copied(layer)), groups=found.row)
        for variant, score in expected.items():
            mine = finished.records.where(measure="isotropy", layer=layer, source=LANGUAGES[0])
            (record,) = (each for each in mine if each.key == variant)
            assert (record.ci_low, record.ci_high) == pytest.approx((score.low, score.high), abs=1e-5)


def test_a_second_run_does_no_work_and_changes_no_byte(
    finished: audit.Audit, model: Path, corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert finished.folder is not None
    out = tmp_path / "out"
    shutil.copytree(finished.folder, out)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    monkeypatch.setattr(ForwardPass, "_forward", lambda *_: pytest.fail("encoded again"))
    monkeypatch.setattr(space_measures, "_call", lambda *_, **__: pytest.fail("measured again"))
    again = audit.audit(str(model), corpus_file, out=out, cache=finished.folder.parent / "cache")
    assert again.records == finished.records
    after = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    # The page and the settings say when they were made; everything else is the same to the byte.
    assert {p.name for p in before if before[p] != after[p]} <= {"report.html", "run.json"}
    assert before.keys() == after.keys()


def test_a_run_killed_again_and_again_ends_with_the_bytes_of_one_that_was_not(
    finished: audit.Audit, model: Path, corpus_file: Path, tmp_path: Path
) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    given = ["audit", str(model), "--corpus", str(corpus_file), "--out", str(out), "--cache", str(cache)]
    environment = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[2])}
    for moment in (r"encoding: [1-9]", r"measuring: [1-9]", r"measuring: [5-9]"):
        process = subprocess.Popen(
            [sys.executable, "-m", "interlingua", *given], env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        with process:
            reached = any(re.match(moment, line) for line in process.stderr)
            process.send_signal(signal.SIGKILL)
        assert reached
        assert process.returncode == -signal.SIGKILL
        assert not (out / "report.html").exists()
        with pytest.raises(InputError, match="this run of interlingua audit is not finished"):
            report_on(out)
    audit.audit(str(model), corpus_file, out=out, cache=cache)
    assert finished.folder is not None
    assert record_lines(out) == record_lines(finished.folder)
    assert [entry.name for entry in out.rglob("*") if entry.name.startswith(".")] == [".interlingua"]
    assert not list((out / ".interlingua" / "work").iterdir())


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_does_not_show(
    threads: int, finished: audit.Audit, model: Path, corpus_file: Path
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        chosen = ["retrieval", "procrustes", "cka", "separation", "isotropy"]
        found = audit.audit(str(model), corpus_file, measures=chosen, cache="none")
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    expected = {place(record): record.value for record in finished.records if record.measure in chosen}
    assert {place(record): record.value for record in found.records} == expected


def place(record: Record) -> tuple[Any, ...]:
    return record.measure, record.key, record.source, record.target, record.layer


def read(told: str) -> list[Record]:
    """The records of what `--json` printed."""
    return [Record.from_dict(each) for each in json.loads(told)["records"]]


def test_another_seed_draws_other_splits_and_leaves_what_is_not_drawn(
    finished: audit.Audit, model: Path, corpus_file: Path
) -> None:
    assert finished.folder is not None
    chosen = ["retrieval", "procrustes"]
    other = audit.audit(str(model), corpus_file, measures=chosen, seed=1, cache=finished.folder.parent / "cache")
    values = {place(record): record.value for record in finished.records}
    differ = {place(record) for record in other.records if record.value != values[place(record)]}
    # Rows are drawn where a pair has more than the pair with the fewest, and nowhere else.
    corpus = read_corpus(corpus_file)
    pairs = {frozenset(pair): len(corpus.pair(*pair).rows) for pair in corpus.pairs()}
    drawn = {pair for pair, rows in pairs.items() if rows > fewest_rows(corpus)}
    assert set() < drawn < pairs.keys()
    retrieved = {frozenset((source, target)) for measure, _, source, target, _ in differ if measure == "retrieval"}
    assert set() < retrieved <= drawn
    mapped = {frozenset((source, target)) for measure, _, source, target, _ in differ if measure == "procrustes"}
    assert mapped == {pair for pair in pairs if LANGUAGES[0] in pair}
    assert all(record.seed == 1 for record in other.records)


def test_pivot_compares_with_the_first_language_only(model: Path, corpus_file: Path) -> None:
    found = audit.audit(
        str(model), corpus_file, languages=["ru", "en", "es"], measures=["cka"], pairs="pivot", cache="none"
    )
    assert {(record.source, record.target) for record in found.records} == {("ru", "en"), ("ru", "es")}


def test_two_models_of_different_width_are_compared_in_every_pair_of_languages(
    model: Path, corpus_file: Path, tmp_path: Path, command: Command
) -> None:
    other = spread_bert(tmp_path / "wide", width=48, layers=2, seed=3)
    given = ("--corpus", corpus_file, "--languages", "en,es,ru", "--json", "--cache", "none")
    records = read(command("audit", model, "--against", other, *given)[0])
    for measure in ("cka", "procrustes"):
        mine = [record for record in records if record.measure == measure]
        assert {(r.source, r.target) for r in mine} == {(a, b) for a in LANGUAGES[:3] for b in LANGUAGES[:3]}
        assert {r.layer for r in mine} == {0, 1, 2}
    assert {(r.model, r.against) for r in records} == {(str(model), str(other))}
    corpus = read_corpus(corpus_file, languages=LANGUAGES[:3])
    ours, theirs = compared_texts(corpus, "en", "ru")
    left = independent.PlainModel(model).sentences(ours)
    right = independent.PlainModel(other).sentences(theirs)
    found = {place(record): record.value for record in records}
    for layer in range(3):
        for variant, value in independent.cka(left[layer], right[layer]).items():
            assert found["cka", variant, "en", "ru", layer] == pytest.approx(value.value, abs=1e-5)


MINE = '''
import torch
from interlingua.measures import measures
from interlingua.metric import Metric
from interlingua.score import Score


@measures.register("gap", needs="sentences", metrics=[Metric(name="l2", title="Distance", higher_is_better=False)])
def gap(source, target):
    """The distance of the two means."""
    return {"l2": Score(float(torch.linalg.vector_norm(source.mean(0) - target.mean(0))), n=len(source))}
'''


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    """A user's file; what it registers is forgotten afterwards."""
    before = {entry.name: entry for entry in measures}
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    yield path
    measures._entries.clear()
    measures._entries.update(before)


def test_a_measure_from_a_file_is_measured_and_listed(
    mine: Path, model: Path, corpus_file: Path, command: Command
) -> None:
    given = ("--corpus", corpus_file, "--languages", "en,es", "--cache", "none", "--json")
    records = read(command("audit", model, "--plugin", mine, "--measures", "gap", *given)[0])
    pair = read_corpus(corpus_file).pair("en", "es")
    plain = independent.PlainModel(model)
    left, right = plain.sentences(pair.source_texts), plain.sentences(pair.target_texts)
    for record in records:
        apart = np.linalg.norm(left[record.layer].mean(0) - right[record.layer].mean(0))
        assert record.value == pytest.approx(apart, abs=1e-5)
    assert [(r.measure, r.key, r.layer) for r in records] == [("gap", "l2", layer) for layer in range(4)]
    assert re.search(r"gap\s+The distance of the two means\.", command("list", "--plugin", mine)[0])


def test_list_as_json_names_every_measure_and_reader(command: Command) -> None:
    found = json.loads(command("list", "--json")[0])
    assert {entry["name"] for entry in found["measures"]} >= set(audit.DEFAULT_MEASURES)
    assert {entry["name"] for entry in found["readers"]} >= {"tsv", "csv", "tmx", "jsonl", "moses", "xquad", "sampler"}
    assert all(entry["summary"].endswith(".") for kind in found.values() for entry in kind)


def test_stored_items_average_to_their_record(finished: audit.Audit) -> None:
    assert finished.folder is not None
    store = Records(Record, finished.folder)
    with_items = [record for record in store.read() if record.items is not None]
    assert {record.measure for record in with_items} >= {"retrieval", "procrustes", "separation", "spelling"}
    for record in with_items[::7]:
        items = store.items(record)
        assert len(items) == record.n
        assert float(items.mean(dtype=np.float64)) == pytest.approx(record.value, abs=1e-6, rel=1e-6)


STUDIED = ("--measures", "retrieval,procrustes,separation,isotropy", "--languages", "en,es,ru", "--cache", "none")


@pytest.mark.parametrize("against", [False, True])
def test_an_audit_saved_as_a_study_has_the_same_records_to_the_byte(
    against: bool, model: Path, corpus_file: Path, command: Command, tmp_path: Path
) -> None:
    other = ("--against", spread_bert(tmp_path / "other", width=48, layers=2, seed=3), *STUDIED[2:])
    given = ("audit", model, "--corpus", corpus_file, *(other if against else STUDIED))
    command(*given, "--out", tmp_path / "out")
    command(*given, "--save-study", tmp_path / "files" / "audit.toml")
    run = ("study", "run", tmp_path / "files" / "audit.toml", "--executor", "inline", "--out", tmp_path / "study")
    command(*run)
    assert record_lines(tmp_path / "study") == record_lines(tmp_path / "out")
    assert (tmp_path / "study" / "notes.txt").read_bytes() == (tmp_path / "out" / "notes.txt").read_bytes()


def test_a_plan_says_what_is_done_and_what_another_measure_adds(
    finished: audit.Audit, model: Path, corpus_file: Path, tmp_path: Path, command: Command
) -> None:
    assert finished.folder is not None
    shutil.copytree(finished.folder, tmp_path / "out")
    given = ("audit", model, "--corpus", corpus_file, "--out", tmp_path / "out", "--plan", "--json")
    whole = json.loads(command(*given)[0])
    kinds = [step["kind"] for step in whole["steps"]]
    assert kinds == ["encode", *["measure"] * len(audit.DEFAULT_MEASURES), "map"]
    assert {step["state"] for step in whole["steps"]} == {"done"}
    muse = tmp_path / "muse"
    muse.mkdir()
    muse.joinpath("en-es.txt").write_text("".join(f"word{n}\tpalabra{n}\n" for n in range(40)), "utf-8")
    more = json.loads(command(*given, "--dictionary", muse)[0])
    needed = {step["label"].split(str(model))[0].strip() for step in more["steps"] if step["state"] != "done"}
    assert "measure procrustes-dictionary" in needed


def test_what_comes_by_standard_input_is_in_no_study_file(
    model: Path, corpus_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with corpus_file.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
        compiled = audit.compile_audit(AuditCommand(str(model), "-"))
        with pytest.raises(InputError, match="comes from standard input or a pipe"):
            study_file(compiled, tmp_path / "x.toml")


def test_a_corpus_in_memory_is_measured_as_its_file_is(model: Path, corpus_file: Path) -> None:
    chosen: Any = {"measures": ["cka", "separation"], "cache": "none"}
    of_file = audit.audit(str(model), corpus_file, **chosen)
    corpus = read_corpus(corpus_file)
    of_corpus = audit.audit(str(model), corpus, **chosen)
    values = [{place(record): record.value for record in found.records} for found in (of_file, of_corpus)]
    assert values[0] == values[1]
    assert of_file.run["skipped"] == of_corpus.run["skipped"]
    columns = {code: list(column) for code, column in corpus.texts.items()}
    of_columns = audit.audit(str(model), columns, **chosen)
    assert {place(record): record.value for record in of_columns.records} == values[0]
    assert {record.corpus for record in of_columns.records} == {"corpus in memory"}


@pytest.mark.parametrize(
    "named", ["{folder}/text", "{folder}", "{folder}/text.en", "{folder}/text.en,{folder}/text.es"]
)
def test_a_corpus_of_several_files_is_read_as_it_is_named(
    named: str, model: Path, corpus_file: Path, tmp_path: Path
) -> None:
    corpus = read_corpus(corpus_file, languages=["en", "es"])
    folder = tmp_path / "texts"
    folder.mkdir()
    for code in corpus.languages:
        lines = [text or "" for text in corpus.texts[code]]
        (folder / f"text.{code}").write_text("\n".join(lines) + "\n", "utf-8")
    given: Any = {"measures": ["cka"], "cache": "none", "out": tmp_path / "out"}
    found = audit.audit(str(model), named.format(folder=folder), **given)
    plain = audit.audit(str(model), corpus, measures=["cka"], cache="none")
    assert {place(r): r.value for r in found.records} == {place(r): r.value for r in plain.records}
    lines = (folder / "text.es").read_text("utf-8").splitlines()
    (folder / "text.es").write_text("\n".join(["Otra.", *lines[1:]]) + "\n", "utf-8")
    with pytest.raises(InputError, match="its corpus differs"):  # A file beside the one that is named counts, too.
        audit.audit(str(model), named.format(folder=folder), **given)


def test_the_map_is_of_the_layer_that_the_page_calls_best(finished: audit.Audit) -> None:
    assert finished.points is not None
    assert finished.points["layer"] == finished.best_layer == space_measures.best_layer(finished.records)


def test_what_was_skipped_is_told(finished: audit.Audit) -> None:
    assert any(note.startswith("3 empty cells") for note in finished.run["skipped"])


def test_a_run_says_which_steps_are_its_own(finished: audit.Audit) -> None:
    assert finished.folder is not None
    about = json.loads((finished.folder / "run.json").read_text("utf-8"))
    assert {record.step for record in finished.records} < set(about["steps"])


def test_a_run_folder_has_its_page_tables_and_map(finished: audit.Audit) -> None:
    assert finished.folder is not None
    page = (finished.folder / "report.html").read_text("utf-8")
    assert all(language_name(code) in page for code in LANGUAGES)
    assert {path.suffix for path in (finished.folder / "tables").iterdir()} == {".csv", ".md", ".tex"}
    points = json.loads((finished.folder / "map.json").read_text("utf-8"))
    assert len(points["points"]) == 4 * ROWS - 3
    assert json.loads((finished.folder / "run.json").read_text("utf-8")) == json.loads(json.dumps(finished.run))


def test_a_person_is_told_in_words(model: Path, corpus_file: Path, command: Command, tmp_path: Path) -> None:
    out, _ = command(
        "audit", model, "--corpus", corpus_file, "--languages", "en,es,ru", "--out", tmp_path / "run", "--cache", "none"
    )
    assert "Russian" in out
    assert f"{tmp_path / 'run'}/report.html" in out.replace("\n", "")


def test_word_measures_of_a_set_of_bitexts_have_rows_of_each(tmp_path: Path) -> None:
    """Two bitexts with English rows of their own: the words of both are kept, not those of a few rows of all."""
    from interlingua.analyses.space_measures import MeasurePlan, _word_rows

    texts = {
        "en": [f"english {n}" for n in range(600)],
        "es": [f"uno {n}" if n < 300 else None for n in range(600)],
        "ru": [f"один {n}" if n >= 300 else None for n in range(600)],
    }
    corpus = ParallelCorpus.of(texts)
    plan = MeasurePlan(("separation",), word_rows=100)
    english = _word_rows(corpus, "en", plan)
    for other in ("es", "ru"):
        rows = _word_rows(corpus, other, plan)
        assert len(rows) == 100
        assert set(rows) <= set(english)
    assert len(english) == 200


@pytest.mark.parametrize(
    "options",
    [
        {"spellings": "names.tsv", "measures": ["cka"]},
        {"against": "embedded", "pairs": "pivot"},
        {"against": "embedded", "maps": "all"},
        {"against": "embedded", "spellings": "names.tsv"},
    ],
)
def test_an_option_that_nothing_would_read_is_refused_by_name(options: dict[str, Any]) -> None:
    unread = next(name for name in ("pairs", "maps", "spellings") if name in options)
    with pytest.raises(InputError, match=f"--{unread} has nothing to do here|{unread} does not apply with against"):
        audit.audit(languages=["en", "ru"], **options)


def test_an_option_that_nothing_would_read_ends_with_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["interlingua", "audit", "--against", "embedded", "--pairs", "all"])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == 2
    assert "--pairs does not apply with --against" in capsys.readouterr().err
