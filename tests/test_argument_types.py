"""The functions that Python users call: whatever is given for whichever argument, what is wrong is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interlingua
from interlingua.encoder import Encoder
from interlingua.errors import InputError

WRONG: tuple[Any, ...] = (
    5, -1, 0.5, True, "zz9x", "", [], {}, object(), b"x", float("nan"), [1], ["zz9x"], {"a": 1}, (None,), 10**5000,
    "a\0b", "\ud800", Encoder, {"en": 5}, np.zeros(3), [[]], 1j,
)  # fmt: skip
EN, RU = ["a b", "c d", "e f", "g h"], ["а б", "в г", "д е", "ж з"]


class Loaded(Exception):
    """All arguments were accepted, and a model would be loaded now."""


def calls(folder: Path) -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Each function with arguments that are right, and that write below the folder alone."""
    (folder / "b.en-ru.tsv").write_text("".join(f"a{n} b\tб{n} а\n" for n in range(40)), "utf-8")
    (folder / "nli.tsv").write_text("a\tb\tneutral\nc\td\tentailment\n" * 10, "utf-8")
    nli, out = str(folder / "nli.tsv"), folder / "out"
    return {
        "audit": (interlingua.audit, {"corpus": {"en": EN, "ru": RU}, "measures": ["retrieval"]}),
        "align": (interlingua.align, {"bitext": list(zip(EN, RU, strict=True))}),
        "adjust": (interlingua.adjust, {"model": "none", "bitexts": str(folder / "b.en-ru.tsv"), "out": out}),
        "transfer": (interlingua.transfer, {"model": "embedded", "task": "nli", "tests": {"en": nli}, "train": nli,
                                            "out": out}),
        "synth": (interlingua.synth, {"languages": ["en", "ru"], "rows": 2}),
        "explain": (interlingua.explain, {"models": "none", "tests": {"en": nli}, "out": out}),
        "explain_rows": (interlingua.explain_rows, {"model": "none", "tests": {"en": nli}, "rows": [1]}),
        "explain_texts": (interlingua.explain_texts, {"model": "none", "first": "a", "second": "b"}),
        "geometry": (interlingua.geometry, {"small": True, "languages": ["en", "ru"], "out": out}),
        "pretrain": (interlingua.pretrain, {"config": str(folder / "none.toml"), "out": out}),
        "study": (interlingua.study, {"file": str(folder / "none.toml")}),
        "read_corpus": (interlingua.read_corpus, {"path": {"en": EN, "ru": RU}}),
    }  # fmt: skip


@pytest.mark.reliability("arguments of Python functions")
@pytest.mark.parametrize(
    "name", ["audit", "align", "adjust", "transfer", "synth", "explain", "explain_rows", "explain_texts", "geometry",
             "pretrain", "study", "read_corpus"],
)  # fmt: skip
def test_any_value_of_any_argument_is_accepted_or_named(name, tmp_path, monkeypatch, record_property):
    def loaded(*_: object, **__: object) -> None:
        raise Loaded

    monkeypatch.setattr(Encoder, "load", loaded)
    monkeypatch.chdir(tmp_path)
    function, right = calls(tmp_path)[name]
    broken, tried = [], 0
    for argument in inspect.signature(function).parameters:
        for value in WRONG:
            if argument == "model" and isinstance(value, str) and name == "adjust":
                continue  # It would ask the hub.
            tried += 1
            try:
                function(**{**right, argument: value})
            except (InputError, Loaded):
                continue
            except BaseException as error:
                broken.append(f"{argument} = {value!r:.30}: {type(error).__name__}: {error!s:.100}")
    record_property("tried", tried)
    record_property("held", tried - len(broken))
    assert not broken, f"{len(broken)} of {tried}:\n" + "\n".join(broken[:40])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"model": Encoder}, "audit: model is of the wrong type.*Give a text"),
        ({"rows": "4"}, "audit: rows is of the wrong type: '4'. Give a whole number or None"),
        ({"rows": True}, "audit: rows is of the wrong type: True"),
        ({"seed": 0.5}, "audit: seed is of the wrong type: 0.5"),
        ({"languages": ["en", 5]}, r"audit: languages\[1\] is of the wrong type: 5. Give a text"),
        ({"corpus": {"en": EN, "ru": None}}, "not columns of texts: 'ru'"),
        ({"corpus": {"en": EN, "ru": RU}, "column": 1}, "a column is named of a corpus in memory"),
    ],
)
def test_the_argument_its_place_and_what_is_accepted_are_named(given, problem):
    with pytest.raises(InputError, match=problem):
        interlingua.audit(**given)


def test_every_setting_is_checked(tmp_path):
    with pytest.raises(InputError, match=r"adjust: seed is of the wrong type: '0'. Give a whole number"):
        interlingua.adjust("none", str(tmp_path), out=tmp_path / "o", seed="0")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"adjust: seed must be at least 0 .*: -1"):
        interlingua.adjust("none", str(tmp_path), out=tmp_path / "o", seed=-1)


def test_an_old_name_of_a_setting_is_an_error_that_names_the_new_one(tmp_path):
    with pytest.raises(InputError, match=r"adjust: rate is now called learning_rate. Write learning_rate="):
        interlingua.adjust("none", str(tmp_path), out=tmp_path / "o", rate=1e-3)  # type: ignore[call-arg]


def test_numbers_of_numpy_and_lists_for_tuples_are_accepted():
    corpus = interlingua.read_corpus({"en": EN, "ru": RU}, languages=("en", "ru"))
    assert len(interlingua.synth(languages=("en", "ru"), rows=np.int64(2)).languages) == 2
    assert corpus.languages == ("en", "ru")


def test_an_argument_that_is_not_there_is_a_type_error_of_the_function():
    with pytest.raises(TypeError, match=r"^audit\(\) got an unexpected keyword argument 'layer'"):
        interlingua.audit(layer=3)  # type: ignore[call-arg]
