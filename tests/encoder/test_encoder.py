"""Every architecture against a plain, one-sentence-at-a-time reference; windows, units, poolings, cache, memory."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import interlingua
import models
from interlingua.encoder import Cache, Encoder, PoolingRequest
from interlingua.encoder.pooling import attention_sinks
from interlingua.errors import InputError
from interlingua.measures.retrieval import ranks

LINES = models.LINES


@pytest.fixture(scope="module")
def bert(bert_folder: Path) -> Encoder:
    return Encoder.load(str(bert_folder))


@functools.cache
def reference(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    return AutoTokenizer.from_pretrained(folder), model.get_encoder() if model.config.is_encoder_decoder else model


def hidden_states(folder: Path, text: str) -> tuple[list[np.ndarray], np.ndarray, list[tuple[int, int]]]:
    """All layers of one text, its special-token mask and character offsets, by plain transformers."""
    tokenizer, model = reference(folder)
    given = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True, return_offsets_mapping=True)
    with torch.no_grad():
        states = model(
            input_ids=given["input_ids"], attention_mask=given["attention_mask"], output_hidden_states=True
        ).hidden_states
    special = given["special_tokens_mask"][0].bool().numpy()
    return (
        [state[0].numpy() for state in states],
        special,
        [tuple(pair) for pair in given["offset_mapping"][0].tolist()],
    )


@pytest.mark.parametrize("architecture", models.ARCHITECTURES)
def test_sentences_and_words_of_every_layer_equal_a_plain_loop(architecture: str, tmp_path: Path) -> None:
    folder = models.ARCHITECTURES[architecture](tmp_path / architecture)
    encoder = Encoder.load(str(folder))
    sentences, words, tokens = encoder.encode_views(
        LINES, [PoolingRequest(), PoolingRequest("word"), PoolingRequest("token")]
    )
    assert len(sentences) == len(LINES)
    for row, text in enumerate(LINES):
        states, special, offsets = hidden_states(folder, text)
        assert len(states) == len(encoder.layers)
        mine = np.flatnonzero(words.row == row)
        for layer, state in enumerate(states):
            np.testing.assert_allclose(sentences[layer][row], state[~special].mean(0), atol=2e-5)
            np.testing.assert_allclose(tokens[layer][tokens.row == row], state[~special], atol=2e-5)
            for item in mine:
                start, end = words.spans[item]
                inside = [
                    place
                    for place, (a, b) in enumerate(offsets)
                    if not special[place] and a < end and b > start and text[max(a, start) : min(b, end)].strip()
                ]
                np.testing.assert_allclose(words[layer][item], state[inside].mean(0), atol=2e-5)


@pytest.mark.reliability("records depend on how they are made")
@pytest.mark.parametrize("architecture", models.UNUSUAL)
def test_sentences_of_unusual_architectures_equal_one_text_at_a_time(architecture: str, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = models.UNUSUAL[architecture](tmp_path)
    encoder = Encoder.load(str(folder), budget=90)
    texts = [*LINES, "tap", "the \u2603 tap"]
    made = encoder.encode(texts)
    assert made.windowed == 0
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    body = model.get_encoder() if architecture in ("byt5", "nllb") else model
    for number, text in enumerate(texts):
        given = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        own = ~given.pop("special_tokens_mask")[0].bool()
        own |= given.input_ids[0] == tokenizer.unk_token_id
        with torch.inference_mode():
            states = body(**given, output_hidden_states=True).hidden_states
        for layer, each in enumerate(states):
            np.testing.assert_allclose(made[layer][number], each[0][own].mean(0), rtol=1e-4, atol=1e-5)


def test_words_of_a_tokenizer_of_bytes_are_their_bytes(tmp_path: Path) -> None:
    encoder = Encoder.load(str(models.byt5(tmp_path)))
    text = "Ёж ел кашу, the ½ cup \N{GRINNING FACE} ok"
    made = encoder.tokeniser([text], spans=True, words=True)
    assert made.words is not None
    places = zip(made.words.first, made.words.last, strict=True)
    spelled = [bytes((made.ids[a:b] - 3).tolist()).decode() for a, b in places]
    assert spelled == [text[a:b] for a, b in made.words.spans]
    assert spelled[:3] == ["Ёж", "ел", "кашу"]


@pytest.mark.parametrize(("language", "mark"), [("en", "eng_Latn"), ("rus", "rus_Cyrl"), ("ar", "arb_Arab"),
                                                ("zh-TW", "zho_Hant"), ("zh", "zho_Hans"), ("sw", None)])  # fmt: skip
def test_a_text_is_marked_by_its_own_language(language: str, mark: str | None, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    encoder = Encoder.load(str(models.nllb(tmp_path)))
    reader = encoder.reading(language)
    assert reader.tokeniser.mark == mark
    wanted = AutoTokenizer.from_pretrained(tmp_path, src_lang=mark or "eng_Latn")(LINES[2]).input_ids
    ids = reader.tokeniser([LINES[2]], spans=False, words=False).ids.tolist()
    assert [*reader.tokeniser.prefix, *ids, *reader.tokeniser.suffix] == wanted
    assert encoder.tokeniser.prefix == encoder.reading("en").tokeniser.prefix
    cache = Cache(tmp_path / "cache")
    own, english = (each.encode([LINES[2]], cache=cache) for each in (reader, encoder.reading("en")))
    assert bool(np.allclose(own[-1], english[-1])) == (mark in (None, "eng_Latn"))


def test_words_are_the_words_of_the_text(bert: Encoder) -> None:
    words = bert.encode(["Don't feed the monkeys, please!", "किताब मेज़ पर है।"], unit="word")
    texts = ["Don't feed the monkeys, please!", "किताब मेज़ पर है।"]
    found = [texts[row][a:b] for row, (a, b) in zip(words.row, words.spans, strict=True)]
    assert found == ["Don't", "feed", "the", "monkeys", "please", "किताब", "मेज़", "पर", "है"]


@pytest.mark.parametrize(
    ("pooling", "place"), [("first", lambda n: 1), ("last", lambda n: n - 2), ("cls", lambda n: 0)]
)
def test_poolings_pick_the_token_they_name(bert_folder: Path, bert: Encoder, pooling: str, place) -> None:  # type: ignore[no-untyped-def]
    vectors = bert.encode(LINES, pooling=pooling)
    for row, text in enumerate(LINES):
        states, _, _ = hidden_states(bert_folder, text)
        for layer, state in enumerate(states):
            np.testing.assert_allclose(vectors[layer][row], state[place(len(state))], atol=1e-5)


def test_special_tokens_count_only_when_asked_for(bert_folder: Path, bert: Encoder) -> None:
    vectors = bert.encode(LINES[:3], special_tokens=True)
    for row, text in enumerate(LINES[:3]):
        states, _, _ = hidden_states(bert_folder, text)
        np.testing.assert_allclose(vectors[-1][row], states[-1].mean(0), atol=1e-5)


def test_order_and_batching_do_not_change_a_text(bert_folder: Path) -> None:
    """Texts of many lengths in one call, tiny and huge budgets: the same vectors as one at a time."""
    texts = [" ".join(LINES[0].split() * n) for n in (1, 5, 2, 9, 1, 3)] + LINES
    one = Encoder.load(str(bert_folder), budget=130)
    many = Encoder.load(str(bert_folder), budget=100_000)
    alone = np.stack([one.encode([text])[2][0] for text in texts])
    np.testing.assert_allclose(one.encode(texts)[2], alone, atol=1e-5)
    np.testing.assert_allclose(many.encode(texts)[2], alone, atol=1e-5)


def test_over_long_text_is_windowed_and_every_token_counted(bert: Encoder) -> None:
    long = " ".join(f"word{n % 7} river" for n in range(200))
    result = bert.encode_views([LINES[0], long], [PoolingRequest(), PoolingRequest("token"), PoolingRequest("word")])
    sentences, tokens, words = result
    assert sentences.windowed == 1
    count = len(bert.tokeniser([long], spans=False, words=False).ids)
    assert count > bert.room
    assert (tokens.row == 1).sum() == count
    assert (words.row == 1).sum() == 400
    for layer in bert.layers:
        np.testing.assert_allclose(sentences[layer][1], tokens[layer][tokens.row == 1].mean(0), atol=1e-5)
        assert np.isfinite(tokens[layer]).all()


def test_embedding_layer_of_a_windowed_text_without_positions_is_exact(tmp_path: Path) -> None:
    """T5 has no absolute positions: at layer 0 a token's vector cannot depend on its window."""
    folder = models.t5(tmp_path / "t5")
    whole, cut = Encoder.load(str(folder)), Encoder.load(str(folder))
    whole.__dict__["room"] = 4096
    text = " ".join(LINES[0].split() * 300)
    assert len(cut.tokeniser([text], spans=False, words=False).ids) > cut.room
    np.testing.assert_allclose(cut.encode([text])[0], whole.encode([text])[0], atol=2e-5)


def test_cache_returns_the_same_vectors_and_computes_once(bert: Encoder, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    views = [PoolingRequest(), PoolingRequest("word", "first", only=(1, 4)), PoolingRequest("sentence", layers=(0, -1))]
    calls: list[tuple[int, int]] = []
    first = bert.encode_views(LINES, views, cache=cache)
    forward = bert._loaded.model.forward
    bert._loaded.model.forward = lambda *_, **__: pytest.fail("computed again")  # type: ignore[method-assign]
    try:
        again = bert.encode_views(LINES, views, cache=cache, progress=lambda done, total: calls.append((done, total)))
    finally:
        bert._loaded.model.forward = forward  # type: ignore[method-assign]
    assert calls == [(len(LINES), len(LINES))]
    memory = bert.encode_views(LINES, views)
    for ours, theirs, plain in zip(first, again, memory, strict=True):
        assert isinstance(theirs.vectors[0], np.memmap)
        assert ours.layers == theirs.layers == plain.layers
        np.testing.assert_array_equal(ours.row, plain.row)
        np.testing.assert_array_equal(ours.spans, plain.spans)
        for layer in ours.layers:
            np.testing.assert_array_equal(ours[layer], theirs[layer])
            np.testing.assert_array_equal(ours[layer], plain[layer])
    assert set(again[1].row) == {1, 4}
    assert again[2].layers == (0, 3)


def test_cache_key_depends_on_what_changes_the_numbers(bert_folder: Path, tmp_path: Path, bert: Encoder) -> None:
    other = Encoder.load(str(models.bert(tmp_path / "other", seed=5)))
    keys = {
        bert.encode(LINES, cache=Cache(tmp_path / "c")).key,
        bert.encode(LINES[::-1], cache=Cache(tmp_path / "c")).key,
        bert.encode(LINES, pooling="first", cache=Cache(tmp_path / "c")).key,
        bert.encode(LINES, unit="word", cache=Cache(tmp_path / "c")).key,
        other.encode(LINES, cache=Cache(tmp_path / "c")).key,
    }
    assert len(keys) == 5
    assert Encoder.load(str(bert_folder)).encode(LINES, cache=Cache(tmp_path / "c")).key in keys


def test_an_interrupted_pass_leaves_no_entry(bert: Encoder, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bert.encode(LINES, cache=Cache(tmp_path), progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_in_the_cache_is_removed_and_what_a_living_one_writes_is_not(
    bert: Encoder, tmp_path: Path
) -> None:
    begin = (
        "import sys, time, numpy, pathlib; from interlingua.encoder import Cache;"
        "kept = Cache(pathlib.Path(sys.argv[1])).writer('a' * 40, [0], 4, numpy.dtype('float32'));"
        "print('begun', flush=True); time.sleep(600)"
    )
    line = [sys.executable, "-c", begin, str(tmp_path)]
    with (
        subprocess.Popen(line, stdout=subprocess.PIPE) as killed,
        subprocess.Popen(line, stdout=subprocess.PIPE) as living,
    ):
        try:
            for process in (killed, living):
                assert process.stdout is not None
                assert process.stdout.readline() == b"begun\n"
            every = set(tmp_path.iterdir())
            assert len(every) == 2
            killed.kill()
            killed.wait()
            entry = tmp_path / bert.encode(LINES, cache=Cache(tmp_path)).key
            left = set(tmp_path.iterdir()) - {entry}
            assert len(left) == 1
            assert left < every
        finally:
            killed.kill()
            living.kill()
    bert.encode(LINES[:2], cache=Cache(tmp_path))
    assert [place for place in tmp_path.iterdir() if place.name.startswith(".")] == []


def test_what_another_machine_left_in_the_cache_is_removed_after_a_day_of_silence(
    bert: Encoder, tmp_path: Path
) -> None:
    key, foreign = "0123456789ab", ".docker-settings"
    names = {f".{key}-fresh000": 23, f".{key}-old00000": 25, f".{key}-0a1b2c3d-old00000": 25, foreign: 25}
    for name, hours in names.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "layer-000.npy").touch()
        for place in (tmp_path / name / "layer-000.npy", tmp_path / name):
            os.utime(place, (time.time() - 3600 * hours,) * 2)
    bert.encode(LINES, cache=Cache(tmp_path))
    left = {place.name for place in tmp_path.iterdir() if place.name.startswith(".")}
    assert left == {f".{key}-fresh000", foreign}  # Not ours: a user may name any folder as the cache.


def test_chunks_do_not_show(bert: Encoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = bert.encode_views(LINES, [PoolingRequest(), PoolingRequest("word")])
    monkeypatch.setitem(__import__("interlingua.encoder.forward_pass", fromlist=["x"])._CHUNK_TEXTS, "cpu", 3)
    parts = bert.encode_views(LINES, [PoolingRequest(), PoolingRequest("word")], cache=Cache(tmp_path))
    for ours, theirs in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(ours.row, theirs.row)
        for layer in bert.layers:
            np.testing.assert_allclose(ours[layer], theirs[layer], atol=1e-6)


def repeated(seed: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Texts of many lengths, one of them longer than a window and each there three times, and a span of each."""
    lines = [*LINES, " ".join(LINES * 4), *(line.split()[0] for line in LINES if line.split())]
    lines = list(dict.fromkeys(lines))
    draw = np.random.default_rng(seed)
    texts = [lines[number] for number in draw.permutation(np.repeat(np.arange(len(lines)), 3))]
    return texts, [(0, len(text) // int(draw.integers(1, 3))) for text in texts]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 8192])
def test_a_text_that_occurs_again_has_the_same_vectors_to_the_bit(
    bert_folder: Path, bert: Encoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chunk: int, kept: bool
) -> None:
    texts, spans = repeated(0)
    only = tuple(range(3, len(texts), 2))
    views = [
        PoolingRequest(),
        PoolingRequest("word", only=only),
        PoolingRequest("token", pooling="first"),
        PoolingRequest("span", spans=tuple(spans)),
    ]
    monkeypatch.setattr("interlingua.encoder.forward_pass._CHUNK_TEXTS", {"cpu": chunk, "cuda": chunk})
    # A budget this small puts equal texts into batches of different width.
    encoder = Encoder.load(str(bert_folder), budget=96)
    made = encoder.encode_views(texts, views, cache=Cache(tmp_path / "cache") if kept else None)
    for view, found in zip(views, made, strict=True):
        first: dict[object, Any] = {}
        rows = range(len(texts)) if view.only is None else view.only
        assert sorted(set(found.row.tolist())) == list(rows)
        for row in rows:
            own = np.flatnonzero(found.row == row)
            (alone,) = bert.encode_views(
                [texts[row]], [PoolingRequest(view.unit, view.pooling, spans=view.spans and (spans[row],))]
            )
            assert found.spans[own].tolist() == alone.spans.tolist()
            vectors = np.stack([found[layer][own] for layer in found.layers])
            np.testing.assert_allclose(vectors, np.stack([alone[layer] for layer in alone.layers]), atol=2e-5)
            key = (texts[row], spans[row]) if view.unit == "span" else texts[row]
            np.testing.assert_array_equal(vectors, first.setdefault(key, vectors))
        assert len(first) < len(rows)
    windowed = sum(bert.encode([text]).windowed for text in texts)
    assert windowed == 3
    assert {found.windowed for found in made} == {windowed}


def test_the_model_reads_a_text_once_however_often_it_occurs(bert: Encoder) -> None:
    texts, _ = repeated(1)
    seen: list[int] = []
    hook = bert.model.register_forward_pre_hook(
        lambda _, __, given: seen.append(len(given["input_ids"])), with_kwargs=True
    )
    try:
        once = bert.encode(list(dict.fromkeys(texts)))
        distinct, seen[:] = sum(seen), []
        often = bert.encode(texts)
    finally:
        hook.remove()
    assert sum(seen) == distinct
    places = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    # The same windows in the same batches: the very vectors of the texts without their repeats.
    np.testing.assert_array_equal(often[-1], once[-1][[places[text] for text in texts]])


def test_a_row_whose_translation_occurs_twice_is_no_hit_whatever_batches_they_fall_into() -> None:
    texts = list(interlingua.read_corpus("sampler", languages=["en", "es"]).pair("en", "es").source_texts[:100])
    encoder = Encoder.load(device="cpu", budget=256)
    vectors = torch.from_numpy(np.array(encoder.encode(texts * 2, layers=[-1])[-1], np.float32))
    forward, backward = ranks(vectors, vectors)
    assert min(forward.min(), backward.min()) > 1


def test_a_tokenizer_file_with_truncation_loses_no_text(tmp_path: Path) -> None:
    folder = models.bert(tmp_path / "bert")
    file = folder / "tokenizer.json"
    written = json.loads(file.read_text())
    written["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    written["padding"] = {
        "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
    }  # fmt: skip
    file.write_text(json.dumps(written))
    encoder = Encoder.load(str(folder))
    lengths = encoder.tokeniser(LINES, spans=False, words=False).lengths
    assert lengths.max() > 8
    assert len(set(lengths)) > 1


@pytest.mark.parametrize(
    ("stated", "pooling"),
    [
        ({"pooling_mode_max_tokens": True}, "mean"),
        ({"pooling_mode": "weightedmean"}, "weighted"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "lasttoken"}, "last"),
        ({"pooling_mode_cls_token": True}, "cls"),
    ],
)
def test_layers_are_pooled_as_a_sentence_transformers_folder_says_where_they_can_be(
    tmp_path: Path, stated: dict[str, object], pooling: str
) -> None:
    folder = models.bert(tmp_path / "model")
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    listed = [{"idx": n, "path": path, "type": f"sentence_transformers.models.{kind}"} for n, (path, kind) in
              enumerate(modules)]  # fmt: skip
    (folder / "modules.json").write_text(json.dumps(listed))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(stated))
    encoder = Encoder.load(str(folder))
    assert encoder.pooling == pooling
    assert encoder.encode(LINES).layers == encoder.layers
    if pooling != "mean":  # What comes after the last layer is a length of 1 and special tokens, of which cls is one.
        whole = encoder.output(LINES)[-1]
        ours = encoder.encode(LINES, pooling=pooling)[-1]
        same = np.allclose(whole, ours / np.linalg.norm(ours, axis=1, keepdims=True), atol=1e-5)
        assert same == (pooling == "cls" or not encoder.tokeniser.suffix)


def test_weights_that_the_model_has_no_place_for_are_noted_and_heads_are_not(tmp_path: Path) -> None:
    folder = models.bert(tmp_path / "model")
    stored = load_file(folder / "model.safetensors")
    harmless = {
        "bert.embeddings.position_ids": torch.arange(128),
        "bert.encoder.layer.0.attention.bias": torch.ones(8, 8),
        "bert.pooler.extra.weight": torch.ones(2),
        "classifier.weight": torch.ones(2),
    }
    save_file(stored | harmless, folder / "model.safetensors", metadata={"format": "pt"})
    assert Encoder.load(str(folder)).notes == ()
    gate = "encoder.layer.0.attention.self.gate.weight"
    save_file(stored | harmless | {f"bert.{gate}": torch.ones(2)}, folder / "model.safetensors", {"format": "pt"})
    assert Encoder.load(str(folder)).notes == (f"weights that the model has no place for: 1, such as {gate}",)


@pytest.mark.parametrize("architecture", models.ARCHITECTURES)
def test_no_architecture_is_told_to_leave_weights_unused(architecture: str, tmp_path: Path) -> None:
    assert Encoder.load(str(models.ARCHITECTURES[architecture](tmp_path / "model"))).notes == ()


def test_blocks_that_the_config_makes_no_room_for_are_refused_and_a_cut_is_not(tmp_path: Path) -> None:
    folder = models.xlm_roberta(tmp_path / "model")
    assert Encoder.load(str(folder), blocks=1).notes == ()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 1}))
    with pytest.raises(
        InputError, match=r"the weights have blocks that config\.json makes no room for: 'encoder\.layer\.1, enc"
    ):
        Encoder.load(str(folder))


def test_a_tokenizer_without_offsets_gives_words_all_the_same(bert: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Marian's own tokenizer keeps no offsets: words are then found by the spelling of the pieces."""
    fast = bert.encode(["the kitchen tap , the monkeys"], unit="word")

    class Slow:
        is_fast = False
        unk_token_id, pad_token_id, eos_token_id = 1, 0, None
        all_special_tokens = bert.tokenizer.all_special_tokens

        def __call__(self, text, **options):  # type: ignore[no-untyped-def]
            return bert.tokenizer(text, **options)

        def convert_ids_to_tokens(self, ids):  # type: ignore[no-untyped-def]
            return bert.tokenizer.convert_ids_to_tokens(ids)

    monkeypatch.setattr(bert.tokeniser, "_tokenizer", Slow())
    slow = bert.encode(["the kitchen tap , the monkeys"], unit="word")
    np.testing.assert_array_equal(fast.spans, slow.spans)
    np.testing.assert_allclose(fast[-1], slow[-1], atol=1e-6)


def sinks_by_loop(states: np.ndarray) -> list[bool]:
    """Which tokens (token, dim) are over 5 times as long as the median of the others; of an even number the lower."""
    lengths = [float(np.linalg.norm(state)) for state in states]
    found = []
    for place, length in enumerate(lengths):
        others = sorted(lengths[:place] + lengths[place + 1 :])
        found.append(bool(others) and length > 5 * others[(len(others) - 1) // 2])
    return found


@pytest.mark.reliability("attention sinks")
def test_sinks_are_found_wherever_they_stand_and_whatever_the_padding(record_property: Any) -> None:
    draw = np.random.default_rng(0)
    held = 0
    for case in range(200):
        sizes = draw.integers(1, 9, 4)
        states = draw.normal(size=(4, 9, 6)).astype(np.float32)
        states *= np.where(draw.random((4, 9, 1)) < 0.3, 10.0 ** draw.integers(0, 4), 1.0).astype(np.float32)
        inside = torch.arange(9) < torch.from_numpy(sizes)[:, None]
        found = attention_sinks(torch.from_numpy(states), inside)
        wanted = [[*sinks_by_loop(row[:n]), *[False] * (9 - n)] for row, n in zip(states, sizes, strict=True)]
        held += found.tolist() == wanted
        assert found.tolist() == wanted, case
    record_property("tried", 200)
    record_property("held", held)


def with_sinks(folder: Path, make: Any) -> Path:
    """A decoder in which two frequent tokens are sinks at every layer but the last, which is normalised."""
    made = make(folder)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(made)
    ids = AutoTokenizer.from_pretrained(made)("Tt", add_special_tokens=False).input_ids
    with torch.no_grad():
        model.get_input_embeddings().weight[ids] *= 300
    model.save_pretrained(made)
    return Path(made)


@pytest.mark.reliability("attention sinks")
@pytest.mark.parametrize("architecture", ["qwen2", "llama", "gemma3"])
def test_a_decoders_means_leave_sinks_out_by_default_and_the_others_are_kept_by_name(
    architecture: str, tmp_path: Path
) -> None:
    folder = with_sinks(tmp_path, models.ARCHITECTURES[architecture])
    encoder = Encoder.load(str(folder), budget=64)
    assert (encoder.pooling, encoder.mean) == ("sinkless", "sinkless")
    texts = [*models.LINES, "T", "Tt", "t T t T t T"]
    default, plain, weighted = (encoder.encode(texts, pooling=name) for name in (None, "mean", "weighted"))
    left_out = 0
    before = len(encoder.tokeniser.prefix)
    for number, text in enumerate(texts):
        states, _, _ = hidden_states(folder, text)
        for layer, each in enumerate(states):
            sinks = np.array(sinks_by_loop(each))[before:]
            tokens = each[before:]
            left_out += int(sinks.sum())
            kept = tokens if sinks.all() else tokens[~sinks]
            np.testing.assert_allclose(default[layer][number], kept.mean(0), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(plain[layer][number], tokens.mean(0), rtol=1e-4, atol=1e-4)
            by_place = np.arange(1, len(tokens) + 1)
            wanted = by_place @ tokens / by_place.sum()
            np.testing.assert_allclose(weighted[layer][number], wanted, rtol=1e-4, atol=1e-4)
    assert left_out > 5


@pytest.mark.reliability("attention sinks")
def test_sinks_are_left_out_of_a_text_of_several_windows(tmp_path: Path) -> None:
    folder = with_sinks(tmp_path, models.qwen)
    encoder = Encoder.load(str(folder))
    text = " ".join(models.LINES * 2)
    tokens = encoder.encode([text], unit="token")
    made, plain, weighted = (encoder.encode([text], pooling=name) for name in (None, "mean", "weighted"))
    assert made.windowed == 1
    sinks = np.linalg.norm(tokens[0], axis=1) > 100 * np.median(np.linalg.norm(tokens[0], axis=1))
    assert 0 < sinks.sum() < len(sinks) / 4
    by_place = np.arange(1, len(sinks) + 1)
    for layer in (0, 1, 2):
        np.testing.assert_allclose(made[layer][0], tokens[layer][~sinks].mean(0), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(plain[layer][0], tokens[layer].mean(0), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(weighted[layer][0], by_place @ tokens[layer] / by_place.sum(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("architecture", models.ARCHITECTURES)
def test_a_model_that_reads_from_left_to_right_is_known_by_what_it_does(architecture: str, tmp_path: Path) -> None:
    encoder = Encoder.load(str(models.ARCHITECTURES[architecture](tmp_path)))
    assert encoder.causal == (architecture in ("qwen2", "llama", "gemma3"))
    assert encoder.pooling == ("sinkless" if encoder.causal else "mean")


@pytest.fixture(scope="module")
def two_sided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.marian_of_two_sides(tmp_path_factory.mktemp("marian"))


@pytest.mark.reliability("records depend on other measures")
def test_what_else_is_asked_changes_no_token_where_the_tokenizer_keeps_no_offsets(two_sided: Path) -> None:
    encoder = Encoder.load(str(two_sided))
    assert not encoder.tokenizer.is_fast
    texts = [*models.LINES, "the tap, ☃☃ again!", "  two  spaces ½", "☃"]
    bare = encoder.tokeniser(texts, spans=False, words=False)
    for spans, words in [(True, False), (False, True), (True, True)]:
        made = encoder.tokeniser(texts, spans=spans, words=words)
        np.testing.assert_array_equal(made.ids, bare.ids)
        assert made.ids.tolist() == [i for t in texts for i in encoder.tokenizer(t, add_special_tokens=False).input_ids]
    (alone,), both = (
        encoder.encode_views(texts, [PoolingRequest()]),
        encoder.encode_views(texts, [PoolingRequest(), PoolingRequest("word")]),
    )
    for layer in encoder.layers:
        np.testing.assert_array_equal(alone[layer], both[0][layer])
    words = both[1]
    assert [texts[0][a:b] for a, b in words.spans[words.row == 0]] == [
        "The",
        "kitchen",
        "tap",
        "is",
        "leaking",
        "again",
    ]


@pytest.mark.reliability("target language of a translation model")
def test_the_language_that_is_translated_into_is_cut_as_the_target(two_sided: Path) -> None:
    encoder = Encoder.load(str(two_sided))
    own = encoder.tokenizer
    text = "Кухонный кран снова течёт."
    for code, wanted in [
        ("rus", own(text_target=text).input_ids),
        ("en", own(text).input_ids),
        ("es", own(text).input_ids),
    ]:
        made = encoder.reading(code).tokeniser([text], spans=True, words=True)
        assert [*made.ids.tolist(), own.eos_token_id] == wanted
    assert own(text_target=text).input_ids != own(text).input_ids
    there, here = encoder.reading("ru"), encoder.reading("en")
    assert np.abs(there.encode([text])[-1] - here.encode([text])[-1]).max() > 1e-4


def test_splits_count_pieces_and_unknowns(bert: Encoder) -> None:
    splits = bert.split(["the kitchen tap", "☃ the"])
    assert splits.rows == 2
    assert splits.unknown.sum() == 1
    assert len(splits.pieces) == 4
    assert splits.pieces.sum() == (splits.token_row == 0).sum() + 1


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (PoolingRequest("paragraph"), "unknown unit"),
        (PoolingRequest("word", "cls"), "unknown pooling of words"),
        (PoolingRequest("sentence", "median"), "unknown pooling of sentences"),
        (PoolingRequest("word", special_tokens=True), "special tokens count only"),
        (PoolingRequest(only=(3, 1)), "ascending order"),
    ],
)
def test_a_view_that_makes_no_sense_is_refused(bert: Encoder, view: PoolingRequest, words: str) -> None:
    with pytest.raises(InputError, match=words):
        bert.encode_views(LINES, [view])


def test_a_layer_that_is_not_there_names_those_that_are(bert: Encoder) -> None:
    with pytest.raises(InputError, match=r"no such layer: 9\. There are 0 \(the embedding output\) to 3"):
        bert.encode(LINES)[9]


def test_a_decoder_without_a_first_special_token_has_no_cls(tmp_path: Path) -> None:
    encoder = Encoder.load(str(models.qwen(tmp_path / "qwen")))
    with pytest.raises(InputError, match="has no 'cls'"):
        encoder.encode(LINES, pooling="cls")


@pytest.mark.parametrize("damage", ["layer-002.npy", "items.npy", "about.json"])
def test_a_damaged_cache_entry_is_made_anew(bert: Encoder, tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path)
    first = bert.encode(LINES, cache=cache)
    expected = np.array(first[2])
    for harm in (lambda file: file.write_bytes(file.read_bytes()[:40]), lambda file: file.unlink()):
        harm(tmp_path / first.key / damage)
        np.testing.assert_array_equal(bert.encode(LINES, cache=cache)[2], expected)
        assert (tmp_path / first.key / damage).is_file()
    assert cache.notes == [f"damaged representations in the cache, made anew: {tmp_path / first.key}"] * 2


@pytest.mark.parametrize("text", ["[]", "null", "{}", '"\\ud800"', '{"layers": 3}', '{"layers": [0], "unit": "word"}'])
def test_a_cache_entry_that_describes_itself_as_nothing_known_is_made_anew(
    bert: Encoder, tmp_path: Path, text: str
) -> None:
    cache = Cache(tmp_path)
    first = bert.encode(LINES, cache=cache)
    expected = np.array(first[2])
    (tmp_path / first.key / "about.json").write_text(text)
    again = bert.encode(LINES, cache=cache)
    assert (again.layers, again.unit) == (first.layers, first.unit)
    np.testing.assert_array_equal(again[2], expected)
    assert len(cache.notes) == 1


def test_short_texts_keep_to_the_budget_with_their_special_tokens(
    bert: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    forward = bert._loaded.model.forward
    monkeypatch.setattr(bert, "_budget", 64)
    monkeypatch.setattr(
        bert._loaded.model, "forward", lambda **given: (seen.append(given["input_ids"].numel()), forward(**given))[1]
    )
    texts = ["the" + " " * number for number in range(100)]  # One token each, and no two are equal.
    bert.encode(texts)
    assert max(seen) <= 64
    assert sum(seen) == 300


def test_a_model_in_memory_is_not_cached(bert: Encoder, tmp_path: Path) -> None:
    other = Encoder.of(bert._loaded.model, bert._loaded.tokenizer, name="x")
    with pytest.raises(InputError, match="no digest to cache under"):
        other.encode(LINES, cache=Cache(tmp_path))
    np.testing.assert_array_equal(other.encode(LINES)[1], bert.encode(LINES)[1])


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="tells what is resident on Linux alone")
def test_a_copy_of_a_mapped_layer_leaves_nothing_of_the_file_resident(bert: Encoder, tmp_path: Path) -> None:
    def resident() -> int:
        lines = iter(Path("/proc/self/smaps").read_text().splitlines())
        found = (next(rest for rest in lines if rest.startswith("Rss:")) for line in lines if str(tmp_path) in line)
        return sum(int(line.split()[1]) for line in found)

    made = bert.encode(LINES, cache=Cache(tmp_path))
    for layer in made.layers:
        assert made[layer].sum() != 0
    assert resident() > 0
    every, some = made.copied(1), made.copied(1, np.array([2, 0]))
    for layer in made.layers:
        made.copied(layer)
    assert resident() == 0
    np.testing.assert_array_equal(every, made[1])
    np.testing.assert_array_equal(some, made[1][[2, 0]])
    assert every.dtype == np.float32


def test_layers_of_unequal_width_are_refused(tmp_path: Path) -> None:
    """OPT-350m maps its last layer back to the width of its embeddings."""
    from transformers import OPTConfig, OPTModel, PreTrainedTokenizerFast

    tokenizer = models.byte_level(bos=False)
    config = OPTConfig(vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=2, ffn_dim=64,
                       num_attention_heads=4, max_position_embeddings=128, word_embed_proj_dim=16)  # fmt: skip
    OPTModel(config).save_pretrained(tmp_path)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>").save_pretrained(tmp_path)
    with pytest.raises(InputError, match="layer 0 has 32 numbers, layer 2 has 16"):
        Encoder.load(str(tmp_path)).encode(LINES)


@pytest.mark.reliability("records depend on how they are made")
def test_a_tokenizer_that_cuts_at_random_is_refused(tmp_path: Path) -> None:
    folder = models.marian_of_two_sides(tmp_path)
    config = folder / "tokenizer_config.json"
    stated = json.loads(config.read_text())
    for sampling in (False, True):
        kwargs = {"enable_sampling": sampling, "nbest_size": -1, "alpha": 0.1}
        config.write_text(json.dumps({**stated, "sp_model_kwargs": kwargs}))
        if sampling:
            with pytest.raises(InputError, match=r"at random.*enable_sampling"):
                Encoder.load(str(folder))
        else:
            first, second = (Encoder.load(str(folder)).tokeniser(LINES, spans=False, words=False) for _ in range(2))
            assert first.ids.tolist() == second.ids.tolist()
