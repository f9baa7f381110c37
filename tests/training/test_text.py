from __future__ import annotations

import lzma

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from interlingua.errors import InputError
from interlingua.objectives.mlm import MaskedLanguageModelling, SpecialTokens
from interlingua.training.text import lines_of, token_stream
from interlingua.training.tokenizer import SPECIAL, train_wordpiece

LENGTH = 16


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Lines of every length up to several sequences, numbered so that no two tokens of a language are alike."""
    folder = tmp_path_factory.mktemp("text")
    draw = np.random.default_rng(0)
    found = {}
    for code, letter in (("en", "a"), ("ru", "б")):
        at, lines = 0, []
        for size in [*draw.permutation(70), 3, 1, 2]:
            lines.append(" ".join(f"{letter}{n}" for n in range(at, at + int(size))))
            at += int(size)
        found[code] = folder / f"{code}.txt"
        found[code].write_text("\n".join(lines) + "\n", "utf-8")
    return found


@pytest.fixture(scope="module")
def tokenizer(files):
    """A token a word, so that the text can be read back."""
    from interlingua.training.tokenizer import add_special_tokens, empty_wordpiece

    words = [word for path in files.values() for line in lines_of(path) for word in line.split()]
    return add_special_tokens(empty_wordpiece({word: n for n, word in enumerate([*SPECIAL, *words])}))


@pytest.fixture
def stream(tokenizer, files, tmp_path):
    return token_stream(tokenizer, files, length=LENGTH, folder=tmp_path)


def test_the_stream_is_the_text_with_a_separator_after_each_line(stream, tokenizer, files):
    assert stream.ids.dtype == np.uint16
    assert stream.languages == ("en", "ru")
    for number, path in enumerate(files.values()):
        ids = stream.ids[stream.edges[number] : stream.edges[number + 1]]
        words = " ".join(tokenizer.id_to_token(int(i)) for i in ids).replace("[SEP]", "\n").split("\n")
        assert [line.strip() for line in words if line.strip()] == list(lines_of(path))


def test_every_token_of_every_line_is_in_some_sequence_and_no_sequence_leaves_its_language(stream):
    for number in range(2):
        starts = stream.starts[stream.begin[number] : stream.begin[number + 1]]
        covered = {place for start in starts for place in range(start, start + LENGTH - 1)}
        assert covered == set(range(stream.edges[number], stream.edges[number + 1]))


def test_a_sequence_may_begin_at_every_line_that_leaves_room(stream):
    for number in range(2):
        low, high = stream.edges[number : number + 2]
        opening = {low, *(np.flatnonzero(stream.ids[low:high] == 3) + 1 + low)}
        starts = set(stream.starts[stream.begin[number] : stream.begin[number + 1]].tolist())
        assert {place for place in opening if place <= high - (LENGTH - 1)} <= starts


def test_a_drawn_batch_never_mixes_languages(stream, tokenizer):
    special = SpecialTokens(2, 4, tokenizer.get_vocab_size(), len(SPECIAL))
    mlm = MaskedLanguageModelling(stream, special, batch_size=500, length=LENGTH)
    batch = mlm.batch(0, rank=0, world=1, device=torch.device("cpu"))
    text = batch["input_ids"].scatter(1, batch["positions"], batch["labels"].clamp(min=0))
    first_of_ru = int(stream.ids[stream.edges[1]])
    for row in text:
        ordinary = row[row >= len(SPECIAL)]
        assert (ordinary < first_of_ru).all() or (ordinary >= first_of_ru).all()


def test_the_stream_is_made_once_and_made_anew_when_a_file_changes(tokenizer, files, tmp_path):
    copies = {code: tmp_path / path.name for code, path in files.items()}
    for code, path in copies.items():
        path.write_bytes(files[code].read_bytes())
    told = []

    def tell(*stage):
        told.append(stage)

    first = token_stream(tokenizer, copies, length=LENGTH, folder=tmp_path / "kept", progress=tell)
    assert len(told) == 2
    again = token_stream(tokenizer, copies, length=LENGTH, folder=tmp_path / "kept", progress=tell)
    assert len(told) == 2
    assert np.array_equal(first.ids, again.ids)
    assert np.array_equal(first.starts, again.starts)
    # The same size, other text.
    copies["en"].write_bytes(copies["en"].read_bytes().replace(b"a1 ", b"a2 "))
    changed = token_stream(tokenizer, copies, length=LENGTH, folder=tmp_path / "kept", progress=tell)
    assert len(told) == 4
    assert not np.array_equal(first.ids, changed.ids)


def test_processes_make_the_same_stream(tokenizer, files, tmp_path, monkeypatch):
    from interlingua.training import text

    plain = token_stream(tokenizer, files, length=LENGTH, folder=tmp_path / "a")
    monkeypatch.setattr(text, "_WORTH_PROCESSES", 0)
    monkeypatch.setattr(text.os, "cpu_count", lambda: 2)
    many = token_stream(tokenizer, files, length=LENGTH, folder=tmp_path / "b")
    for name in ("ids", "starts", "begin", "edges"):
        assert np.array_equal(getattr(plain, name), getattr(many, name))


def test_compressed_text_is_the_same_text(files, tmp_path):
    packed = tmp_path / "en.txt.xz"
    packed.write_bytes(lzma.compress(files["en"].read_bytes()))
    assert list(lines_of(packed)) == list(lines_of(files["en"]))


def test_too_little_text_is_refused_and_leaves_nothing(tokenizer, files, tmp_path):
    short = tmp_path / "en.txt"
    short.write_text("a1 a2 a3\n", "utf-8")
    with pytest.raises(InputError, match=r"en\.txt: too little text in en\. Give more than 16 tokens"):
        token_stream(tokenizer, {"en": short}, length=LENGTH, folder=tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize("alphabet", [6000, 40])
def test_the_same_text_trains_the_same_tokenizer_in_another_process(texts, alphabet):
    import subprocess
    import sys

    files = {code: texts / "text" / f"{code}.txt" for code in ("en", "ru", "zh")}
    code = (
        "import sys; from pathlib import Path; from interlingua.training.tokenizer import train_wordpiece as t\n"
        "print(t({p.stem: p for p in map(Path, sys.argv[2:])}, vocabulary=900, alphabet=int(sys.argv[1])).to_str())"
    )
    import interlingua

    done = subprocess.run(
        [sys.executable, "-c", code, str(alphabet), *map(str, files.values())],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(next(iter(interlingua.__path__)) + "/.."), "PATH": "/usr/bin"},
    )
    ours = train_wordpiece(files, vocabulary=900, alphabet=alphabet)
    assert Tokenizer.from_str(done.stdout).get_vocab() == ours.get_vocab()
    letters = {piece.removeprefix("##") for piece in ours.get_vocab() if len(piece.removeprefix("##")) == 1}
    assert len(letters) <= alphabet


def test_the_tokenizer_begins_with_its_special_tokens_and_frames_a_text(texts):
    tokenizer = train_wordpiece({"en": texts / "text" / "en.txt"}, vocabulary=300)
    assert [tokenizer.token_to_id(name) for name in SPECIAL] == [0, 1, 2, 3, 4]
    assert tokenizer.get_vocab_size() <= 300
    line = next(lines_of(texts / "text" / "en.txt"))
    encoding = tokenizer.encode(line)
    assert (encoding.tokens[0], encoding.tokens[-1]) == ("[CLS]", "[SEP]")
    assert "[UNK]" not in encoding.tokens
    assert tokenizer.decode(encoding.ids).replace(" ", "") == line.replace(" ", "")
