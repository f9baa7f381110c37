"""The neural aligner against plain loops over one pair at a time."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import models
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.wordalign import neural
from interlingua.wordalign.links import Links
from interlingua.wordalign.neural import METHODS, NeuralSettings, link_batch, neural_links
from interlingua.words import Sentence, token_spans

SOURCE = [
    "The kitchen tap is leaking again.",
    "Tea!",
    "",
    "Empires rise slowly and collapse quickly; in 1960 this was nothing but fields.",
    "Don't feed the monkeys, please!",
    "El grifo",
]
TARGET = [
    "El grifo de la cocina vuelve a gotear.",
    "Кухонный кран снова течёт.",
    "рядом",
    "Vòi nước trong bếp lại bị rò rỉ. صنبور المطبخ",
    "रसोई का नल फिर से टपक रहा है।",
    "tap",
]


@pytest.fixture(scope="module")
def encoder(bert_folder: Path) -> Encoder:
    return Encoder.load(str(bert_folder), device="cpu")


def sentences(texts: list[str]) -> list[Sentence]:
    return [Sentence(text, token_spans(text)) for text in texts]


def loop_mutual(table: list[list[float]]) -> set[tuple[int, int]]:
    """Cells that are the first largest of their row and of their column."""
    found = set()
    for i, row in enumerate(table):
        j = row.index(max(row))
        column = [other[j] for other in table]
        if column.index(max(column)) == i:
            found.add((i, j))
    return found


def loop_itermax(table: list[list[float]], alpha: float, rounds: int) -> set[tuple[int, int]]:
    """Algorithm 1 of Jalili Sabet et al. (2020), cell by cell."""
    n, m = len(table), len(table[0])
    linked = loop_mutual(table)
    if min(n, m) <= 2:
        return linked
    for _ in range(rounds - 1):
        left, right = set(range(n)) - {i for i, _ in linked}, set(range(m)) - {j for _, j in linked}
        if not left or not right:
            break
        similar = [[(cell + 1) / 2 for cell in row] for row in table]
        for i in range(n):
            for j in range(m):
                free = (i in left) + (j in right)
                similar[i][j] *= {0: 0.0, 1: alpha, 2: 1.0}[free]
        linked |= {(i, j) for i, j in loop_mutual(similar) if i in left or j in right}
    return linked


def loop_softmax(table: list[list[float]], threshold: float) -> set[tuple[int, int]]:
    n, m = len(table), len(table[0])
    found = set()
    for i in range(n):
        for j in range(m):
            forward = 1 / sum(math.exp(min(table[i][k] - table[i][j], 700)) for k in range(m))
            backward = 1 / sum(math.exp(min(table[k][j] - table[i][j], 700)) for k in range(n))
            if forward > threshold and backward > threshold:
                found.add((i, j))
    return found


def loop_cells(dots: torch.Tensor, cosines: torch.Tensor, settings: NeuralSettings) -> set[tuple[int, int]]:
    if settings.method == "softmax":
        found = loop_softmax(dots.tolist(), settings.threshold)
    elif settings.method == "itermax":
        found = loop_itermax(cosines.tolist(), settings.alpha, settings.rounds)
    else:
        found = loop_mutual(cosines.tolist())
    return {(i, j) for i, j in found if settings.least is None or cosines[i, j] >= settings.least}


def loop_units(encoder: Encoder, sentence: Sentence, settings: NeuralSettings) -> tuple[torch.Tensor, list[int]]:
    """Vectors of a sentence's units and their words, the sentence read alone by the plain model."""
    tokens = encoder.tokeniser([sentence.text], spans=True, words=False)
    ids = [*encoder.tokeniser.prefix, *tokens.ids.tolist(), *encoder.tokeniser.suffix]
    with torch.no_grad():
        states = encoder._loaded.model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    states = states[settings.layer][0][len(encoder.tokeniser.prefix) :]
    vectors, words = [], []
    for word, (start, end) in enumerate(sentence.spans):
        inside = [k for k, (a, b) in enumerate(tokens.spans.tolist()) if a < end and b > start]
        if settings.unit == "token":
            vectors += [states[k] for k in inside]
            words += [word] * len(inside)
        elif inside:
            vectors.append(states[inside].mean(dim=0))
            words.append(word)
    return torch.stack(vectors), words


def loop_links(encoder: Encoder, source: list[Sentence], target: list[Sentence], settings: NeuralSettings) -> Links:
    rows = [row for row in range(len(source)) if source[row].spans and target[row].spans]
    sides = [{row: loop_units(encoder, side[row], settings) for row in rows} for side in (source, target)]
    means = [torch.cat([vectors for vectors, _ in side.values()]).mean(dim=0) * settings.centre for side in sides]
    cells = []
    for row in rows:
        (x, ours), (y, theirs) = sides[0][row], sides[1][row]
        x, y = x - means[0], y - means[1]
        cosines = torch.nn.functional.normalize(x, dim=1) @ torch.nn.functional.normalize(y, dim=1).T
        cells += [(row, ours[i], theirs[j]) for i, j in loop_cells(x @ y.T, cosines, settings)]
    return Links.of(*np.array(cells, np.int64).reshape(-1, 3).T)


def assert_same(found: Links, expected: Links) -> None:
    for name in ("row", "source", "target"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("unit", ["token", "word"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("centre", [False, True])
def test_links_equal_a_loop_over_pairs(encoder: Encoder, method: str, unit: str, centre: bool) -> None:
    settings = NeuralSettings(method, 2, unit, centre, threshold=0.05)
    source, target = sentences(SOURCE), sentences(TARGET)
    expected = loop_links(encoder, source, target, settings)
    assert len(expected) > 5
    assert_same(neural_links(encoder, source, target, settings).links, expected)


@pytest.mark.parametrize("name", ["modernbert", "t5", "qwen2"])
def test_any_architecture_gives_what_its_loop_gives(tmp_path: Path, name: str) -> None:
    encoder = Encoder.load(str(models.ARCHITECTURES[name](tmp_path / name)), device="cpu")
    settings = NeuralSettings("argmax", 1, "token", False)
    source, target = sentences(SOURCE), sentences(TARGET)
    assert_same(neural_links(encoder, source, target, settings).links, loop_links(encoder, source, target, settings))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_padding_and_batching_change_no_link(method: str, rounds: int) -> None:
    draw = torch.Generator().manual_seed(1)
    settings = NeuralSettings(method, 0, rounds=rounds, alpha=0.7, threshold=0.1, least=-0.2)
    sizes = [(1, 1), (1, 7), (2, 5), (3, 3), (9, 4), (12, 12), (5, 11)]
    sides = [[torch.randn(size[k], 6, generator=draw) for size in sizes] for k in (0, 1)]
    padded = [torch.nn.utils.rnn.pad_sequence(side, batch_first=True, padding_value=9.0) for side in sides]
    masks = [torch.arange(part.shape[1]) < torch.tensor([[len(v)] for v in side])
             for part, side in zip(padded, sides, strict=True)]  # fmt: skip
    linked = link_batch(padded[0], padded[1], masks[0], masks[1], settings)
    for number, (x, y) in enumerate(zip(*sides, strict=True)):
        cosines = torch.nn.functional.normalize(x, dim=1) @ torch.nn.functional.normalize(y, dim=1).T
        expected = loop_cells(x @ y.T, cosines, settings)
        assert {tuple(cell) for cell in linked[number].nonzero().tolist()} == expected


def test_how_text_is_cut_up_changes_nothing(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = sentences(SOURCE * 5), sentences(TARGET * 5)
    settings = NeuralSettings("itermax", 3, "token", True)
    whole = neural_links(encoder, source, target, settings).links
    monkeypatch.setattr(neural, "_CHUNK_BYTES", 12_000)
    monkeypatch.setattr(neural, "_BATCH_CELLS", {"cpu": 2_000})
    told: list[tuple[int, int]] = []
    assert_same(neural_links(encoder, source, target, settings, progress=lambda *done: told.append(done)).links, whole)
    assert len(told) > 3
    assert told[-1] == (len(source), len(source))


def test_identical_sentences_link_every_word_to_itself(encoder: Encoder) -> None:
    words = sentences([text for text in SOURCE + TARGET if text])
    for method in ("argmax", "itermax"):
        found = neural_links(encoder, words, words, NeuralSettings(method, 1, "word", False)).links
        assert np.array_equal(found.source, found.target)
        assert len(found) == sum(len(sentence.spans) for sentence in words)


def test_a_least_cosine_drops_links_below_it_and_no_other(encoder: Encoder) -> None:
    source, target = sentences(SOURCE), sentences(TARGET)

    def cells(least: float | None) -> set[tuple[int, ...]]:
        found = neural_links(encoder, source, target, NeuralSettings("argmax", 2, least=least)).links
        return set(zip(found.row.tolist(), found.source.tolist(), found.target.tolist(), strict=True))

    assert cells(-1.1) == cells(None)
    assert cells(1.1) == set()
    kept = []  # the cosines hang on the tokenizer, whose training breaks ties at random: so a ladder, not one step
    for least in np.linspace(-0.95, 0.95, 20).tolist():
        expected = loop_links(encoder, source, target, NeuralSettings("argmax", 2, least=least))
        kept.append(set(zip(expected.row.tolist(), expected.source.tolist(), expected.target.tolist(), strict=True)))
        assert cells(least) == kept[-1]
    assert all(few <= many <= cells(None) for many, few in itertools.pairwise(kept))
    assert any(set() < some < cells(None) for some in kept)


def test_words_the_tokenizer_drops_are_counted_and_shift_nothing(encoder: Encoder) -> None:
    source, target = [Sentence.of(["kitchen", "\u0007", "tap"])], [Sentence.of(["kitchen", "tap"])]
    found = neural_links(encoder, source, target, NeuralSettings("argmax", 0, "word", False))
    assert found.lost == (1, 0)
    cells = set(zip(found.links.source.tolist(), found.links.target.tolist(), strict=True))
    assert cells == {(0, 0), (2, 1)}


def test_nothing_to_align_gives_no_links(encoder: Encoder) -> None:
    assert len(neural_links(encoder, sentences(["", "a"]), sentences(["b", ""])).links) == 0


def test_the_layer_is_two_thirds_up_and_wrong_names_are_told(encoder: Encoder) -> None:
    assert NeuralSettings().checked(encoder).layer == 2  # of three blocks
    assert NeuralSettings(layer=-1).checked(encoder).layer == 3
    with pytest.raises(InputError, match=r"no such layer: 9.*0 \(the embedding output\) to 3"):
        neural_links(encoder, [], [], NeuralSettings(layer=9))
    with pytest.raises(InputError, match="Did you mean 'itermax'"):
        neural_links(encoder, [], [], NeuralSettings("iterma"))
    with pytest.raises(InputError, match="unknown unit"):
        neural_links(encoder, [], [], NeuralSettings(unit="sentence"))
    with pytest.raises(InputError, match="1 source and 0 target"):
        neural_links(encoder, sentences(["a"]), [])


@pytest.mark.gpu
def test_the_gpu_finds_the_same_links(bert_folder: Path) -> None:
    source, target = sentences(SOURCE * 20), sentences(TARGET * 20)
    found = [
        neural_links(Encoder.load(str(bert_folder), device=device, precision="fp32"), source, target).links
        for device in ("cpu", "cuda")
    ]
    cells = [set(zip(one.row.tolist(), one.source.tolist(), one.target.tolist(), strict=True)) for one in found]
    assert len(cells[0] & cells[1]) > 0.98 * len(cells[0] | cells[1])
