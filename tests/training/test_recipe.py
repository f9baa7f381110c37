from __future__ import annotations

import re
from pathlib import Path

import pytest

from interlingua.commands.pretrain import pretrain
from interlingua.encoder import model_loading
from interlingua.encoder.model_init import init_masked_lm
from interlingua.errors import InputError
from interlingua.readers import read_corpus
from interlingua.studies.config.recipe import read_config
from interlingua.training.tokenizer import SPECIAL, add_special_tokens, empty_wordpiece

RECIPES = sorted((Path(__file__).resolve().parents[2] / "recipes").glob("*.toml"))
CASES: dict[str, tuple[dict[str, dict[str, object]], str]] = {
    "section": ({"trainig": {"x": 1}}, r"trainig\]: unknown key: 'trainig'\. Did you mean 'training'\?"),
    "key": ({"training": {"stesp": 1}}, r"stesp: unknown key in \[training\]: 'stesp'\. Did you mean 'steps'\?"),
    "architecture": ({"model": {"architecture": "brt"}}, r"architecture: unknown architecture: 'brt'\. Did you mean"),
    "size": ({"model": {"hiden_size": 3}}, r"hiden_size: unknown size of electra: 'hiden_size'\. Did you mean"),
    "misfit": ({"model": {"num_attention_heads": 5}}, r"architecture: sizes that do not fit .*Correct \[model\]"),
    "size of a wrong type": ({"model": {"hidden_size": "big"}}, r"architecture: sizes that do not fit"),
    "string": ({"training": {"steps": "many"}}, r"steps: steps should be a whole number: 'many'"),
    "truth": ({"training": {"steps": True}}, r"steps: steps should be a whole number: True"),
    "an old name": ({"training": {"batch": 8}}, r"batch: batch is now called batch_size: 'batch'\. Write batch_size ="),
    "fraction": ({"training": {"batch_size": 1.5}}, r"batch_size: batch_size should be a whole number: 1\.5"),
    "word": ({"training": {"compile": "yes"}}, r"compile: compile should be true or false: 'yes'"),
    "list": ({"data": {"languages": "en"}}, r"languages: languages should be a list of strings: 'en'"),
    "numbers": ({"data": {"languages": [1]}}, r"languages: an element of languages should be a string: 1"),
    "no language": ({"data": {"languages": []}}, r"languages: languages names no language: ''\. Name at least one"),
    "no code": ({"data": {"languages": ["en", "x1!"]}}, r"languages: not a language code: 'x1!'"),
    "twice": ({"data": {"languages": ["en", "eng"]}}, r"languages: a language twice: 'eng'"),
    "no text": ({"data": {"languages": ["en", "de"]}}, r"languages: no text for de in .*Put a file de\.txt there"),
    "no folder": ({"data": {"folder": "nowhere"}}, r"languages: no text for en in .*nowhere"),
    "steps": ({"training": {"steps": 0}}, r"steps: steps must be at least 1 and at most 1,000,000,000: 0\."),
    "mask": ({"training": {"mask": 1.0}}, r"mask: mask must be above 0 and below 1: 1\.0\."),
    "shares": ({"training": {"mask": [0.3, 0.0]}}, r"mask: mask must be above 0 and below 1: 0\.0\."),
    "three shares": ({"training": {"mask": [0.4, 0.3, 0.2]}}, r"mask: mask is one share, or two: \[0\.4, 0\.3, 0\.2\]"),
    "length": ({"training": {"max_length": 7}}, r"max_length: max_length must be at least 8 and at most 65,536: 7\."),
    "rate": ({"training": {"learning_rate": 0}}, r"learning_rate: learning_rate must be above 0: 0\.0\."),
    "parts": ({"training": {"accumulate": 3}}, r"accumulate: a batch of 8 cannot be cut into 3 equal parts: 3\."),
    "precision": (
        {"training": {"precision": "fp8"}},
        r"precision: unknown value of precision: 'fp8'\..*bf16, fp32",
    ),
    "saved": ({"training": {"save": "int8"}}, r"save: unknown value of save: 'int8'\. .*Known: bf16, fp16, fp32, fp8"),
    "optimiser": (
        {"training": {"optimizer": "muno"}},
        r"optimizer: unknown value of optimizer: 'muno'\. Did you",
    ),
    "share": ({"data": {"held_out": 1.0}}, r"held_out: held_out must be at least 0 and below 1: 1\.0\."),
    "lines": ({"data": {"lines": 0}}, r"lines: lines must be at least 1: 0\."),
    "tidy": ({"data": {"tidy": 1}}, r"tidy: tidy should be true or false: 1"),
    "nothing held": ({"data": {"held_out": 1e-4}}, r"held_out: no sequence of en is left: 0\.0001\. Hold more out"),
    "nothing left": ({"data": {"held_out": 0.999}}, r"held_out: no sequence of en is left: 0\.999\. Hold less out"),
    "tokenizer": ({"tokenizer": {"file": "none.json"}}, r"file: no such tokenizer file: .*none\.json"),
    "no tokenizer": ({"tokenizer": {"file": "held-out.tsv"}}, r"file: not a tokenizer \("),
    "corpus": ({"evaluation": {"corpus": "nothing.tsv"}}, r"nothing\.tsv"),
    "pivot": ({"evaluation": {"pivot": "q"}}, r"pivot: not a language code: 'q'"),
}


@pytest.mark.parametrize("case", CASES)
def test_an_error_in_the_config_names_its_line_its_value_and_the_remedy(case, write_config, tmp_path):
    changes, expected = CASES[case]
    config = write_config(**changes)
    with pytest.raises(InputError) as error:
        pretrain(config, out=tmp_path / "out", device="cpu")
    shown = str(error.value)
    # The line number is replaced by what stands on that line, which the pattern begins with.
    if place := re.match(rf"{re.escape(str(config))}:(\d+): ", shown):
        line = config.read_text("utf-8").splitlines()[int(place[1]) - 1]
        shown = f"{line.split('=')[0].strip()}: {shown[place.end() :]}"
    assert re.search(expected, shown), shown
    assert "\n" not in shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[data\n", r"c\.toml:1: not valid TOML \(.*\)\. Correct that line"),
        ("data = 3\n", r"c\.toml:1: data should be a table: 3"),
        ("[training]\nsteps = 1\n", r"c\.toml: lacks data\. Add data"),
        ("[data]\nfolder = 'x'\n\n[training]\nsteps = 1\n", r"c\.toml:1: \[data\] lacks languages\. Add languages = "),
        ("[data]\nfolder = 'x'\nlanguages = ['en']\n[training]\n", r"c\.toml:4: \[training\] lacks steps"),
        (
            "[data]\nfolder = 'x'\nlanguages = ['en']\n[training]\nsteps = 1\nlearning_rate = inf\n",
            r"c\.toml:6: learning_rate should be a finite number: inf",
        ),
    ],
)
def test_a_config_that_is_no_config_is_refused(text, expected, tmp_path):
    (tmp_path / "c.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=expected):
        read_config(tmp_path / "c.toml")


def test_a_config_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no such config file: .*c\.toml"):
        read_config(tmp_path / "c.toml")
    with pytest.raises(InputError, match="no such config file"):
        read_config(tmp_path)
    (tmp_path / "c.toml").write_bytes(b"[data]\nfolder = '\xff'\n")
    with pytest.raises(InputError, match=r"c\.toml:2: a byte that is not UTF-8"):
        read_config(tmp_path / "c.toml")


def test_two_files_for_a_language_are_refused(write_config, tmp_path, texts):
    (tmp_path / "two").mkdir()
    for name in ("en.txt", "en.txt.gz"):
        (tmp_path / "two" / name).write_bytes(b"x")
    config = write_config(data={"folder": "two", "languages": ["en"]})
    with pytest.raises(InputError, match=r"two files for en in .*\(en\.txt, en\.txt\.gz\)"):
        pretrain(config, out=tmp_path / "out", device="cpu")


def test_a_batch_that_processes_cannot_share_is_refused(write_config, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(InputError, match=r"8 sequences at once cannot be shared by 3 processes: 8\. Make batch"):
        pretrain(write_config(), out=tmp_path / "out", device="cpu")


def test_bf16_is_refused_on_a_cpu_without_it(write_config, tmp_path, monkeypatch):
    monkeypatch.setattr(model_loading, "_has_bf16_instructions", lambda: False)
    config = write_config(training={"precision": "bf16"})
    with pytest.raises(InputError, match=r"toml:\d+: this CPU has no bf16 instructions.*Use precision = \"fp32\""):
        pretrain(config, out=tmp_path / "out", device="cpu")


def test_a_tokenizer_file_is_cut_to_the_vocabulary(write_config, tmp_path):
    add_special_tokens(empty_wordpiece({piece: n for n, piece in enumerate([*SPECIAL, *"abcdefghij"])})).save(
        str(tmp_path / "t.json")
    )
    config = write_config(tokenizer={"file": "t.json", "vocabulary": 12}, training={"steps": 1})
    assert pretrain(config, out=tmp_path / "out", device="cpu").training["vocabulary"] == 12
    add_special_tokens(empty_wordpiece({piece: n for n, piece in enumerate(["a", *SPECIAL])})).save(
        str(tmp_path / "t.json")
    )
    with pytest.raises(InputError, match=r"its vocabulary does not begin with \[PAD\] \[UNK\]"):
        pretrain(config, out=tmp_path / "other", device="cpu")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_read_and_its_model_can_be_made(recipe):
    import torch

    config = read_config(recipe)
    size = config.tokenizer.vocabulary
    pieces = {piece: n for n, piece in enumerate([*SPECIAL, *(f"p{n}" for n in range(size - len(SPECIAL)))])}
    sizes = {key: value for key, value in config.model.items() if key != "architecture"}
    with torch.device("meta"):
        model = init_masked_lm(
            config.model["architecture"],
            sizes,
            add_special_tokens(empty_wordpiece(pieces)),
            length=config.training.max_length,
            seed=0,
        )
    assert model.get_input_embeddings().weight.shape[0] == size
    if not recipe.stem.startswith("tiny-"):
        assert config.training.save == "fp8"
        size = sum(weight.numel() * (1 if weight.ndim > 1 else 4) for weight in model.parameters())
        assert size <= 24e6  # What the package may hold.


def test_recipes_of_relatives_have_the_size_of_the_embedded_one():
    by_name = {path.stem: read_config(path) for path in RECIPES}
    for name in ("mono-en", "mono-es", "mono-ru", "bilingual-en-ru"):
        assert by_name[name].model == by_name["embedded"].model
        assert by_name[name].tokenizer == by_name["embedded"].tokenizer
        assert f"tiny-{name}" in by_name
    assert set(read_corpus("sampler").languages) <= set(by_name["embedded"].data.languages)
