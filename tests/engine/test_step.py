"""Keys of steps: the same for what gives the same result, another for anything else; files by content."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.engine.digests import Digests
from interlingua.engine.step import File, Resources, Step, resolve
from interlingua.errors import InputError

BASE = Step("a", "m:f", {"x": 1, "y": [1, "é"], "z": {"p": None, "q": 0.5}}, code="1")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, kind="b"),
        replace(BASE, function="m:g"),
        replace(BASE, code="2"),
        replace(BASE, settings={**BASE.settings, "x": 2}),
        replace(BASE, settings={**BASE.settings, "w": None}),
        replace(BASE, settings={**BASE.settings, "y": ["é", 1]}),
        replace(BASE, needs={"model": Step("c", "m:h")}),
    ],
)
def test_all_that_makes_a_result_is_in_the_key(other: Step) -> None:
    assert other.key != BASE.key


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, label="seen"),
        replace(BASE, like="this"),
        replace(BASE, resources=Resources(cpus=8, gpus=1)),
        replace(BASE, settings={name: BASE.settings[name] for name in "zyx"}),
        replace(BASE, settings={**BASE.settings, "y": (1, "é")}),
    ],
)
def test_what_does_not_make_a_result_is_not_in_the_key(other: Step) -> None:
    assert other.key == BASE.key


def test_a_need_is_known_by_its_role_and_its_own_needs() -> None:
    deep = [Step("c", "m:h", needs={"model": Step("d", "m:i", {"seed": seed})}) for seed in (0, 1)]
    keys = {Step("a", "m:f", needs={role: need}).key for role in ("model", "text") for need in deep}
    assert len(keys) == 4


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_any_json_is_a_setting_and_reaches_the_function_unchanged(settings: dict[str, Any]) -> None:
    step = Step("a", "m:f", settings)
    assert step.arguments() == (settings, ())
    assert step.key == Step("a", "m:f", dict(reversed(settings.items()))).key


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, Path("x"), b"x", {1: 2}, object()])
def test_what_is_no_json_is_refused(bad: Any) -> None:
    with pytest.raises(InputError):
        _ = Step("a", "m:f", {"x": [bad]}).key


@pytest.mark.parametrize("bad", [{"cpus": 0}, {"gpus": -1}, {"gpus": 1.5}, {"memory": -1}, {"processes": 0}])
def test_impossible_resources_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Resources(**bad)


@pytest.mark.parametrize("name", ["no_such_module:run", "os:no_such_name", "os", "os.path:sep"])
def test_a_function_that_is_none_is_an_input_error(name: str) -> None:
    with pytest.raises(InputError):
        resolve(name)


def test_a_file_is_known_by_name_and_content_not_by_place(tmp_path: Path) -> None:
    def key(folder: str, name: str, text: str) -> str:
        place = tmp_path / folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
        return Step("a", "m:f", {"data": Digests().file(place)}).key

    assert key("one", "x.en-ru.tsv", "text") == key("two", "x.en-ru.tsv", "text")
    assert len({key("one", *what) for what in (("x", "text"), ("x", "texts"), ("y", "text"))}) == 3


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    (tmp_path / "file").write_bytes(data)
    assert Digests().file(tmp_path / "file").digest == blake2b(data, digest_size=16).hexdigest()


def test_links_that_lead_back_to_where_they_lie_add_nothing_to_a_folder(tmp_path):
    folder, other = tmp_path / "data", tmp_path / "other"
    for place in (folder, other):
        (place / "inner").mkdir(parents=True)
        (place / "inner" / "file").write_text(place.name)
    (folder / "there").symlink_to(other)
    once = Digests().file(folder).digest
    for number in range(30):  # Each in each, they would be more than can ever be walked.
        (folder / f"own{number}").symlink_to(".")
        (folder / "inner" / f"up{number}").symlink_to("..")
        (other / f"back{number}").symlink_to(folder)
    assert Digests().file(folder).digest == once
    (other / "inner" / "file").write_text("new")
    assert Digests().file(folder).digest != once


@pytest.mark.parametrize(
    ("target", "problem"), [("itself", "Too many levels of symbolic links"), ("gone", "to nothing")]
)
def test_a_link_that_leads_nowhere_is_told_by_its_own_name(tmp_path, target, problem):
    (tmp_path / "itself").symlink_to(target)
    with pytest.raises(InputError, match=rf"itself: .*{problem}.*\. Mend or remove"):
        Digests().file(tmp_path)


def test_a_folder_changes_with_any_file_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "inner" / "weights").write_text("1")
    seen = [Digests().file(folder).digest]
    (folder / ".hidden").write_text("not content")
    assert Digests().file(folder).digest == seen[0]
    (folder / "inner" / "weights").write_text("2")
    seen.append(Digests().file(folder).digest)
    os.rename(folder / "config.json", folder / "other.json")
    seen.append(Digests().file(folder).digest)
    assert len(set(seen)) == 3


def test_a_kept_digest_is_used_until_size_or_time_change(tmp_path: Path) -> None:
    place, kept = tmp_path / "file", tmp_path / "kept" / "digests.json"
    place.write_text("old")
    old = time.time_ns() - 10_000_000_000
    os.utime(place, ns=(old, old))
    digests = Digests(kept)
    first = digests.file(place)
    digests.keep()
    place.write_text("new")
    os.utime(place, ns=(old, old))  # Nobody can tell, unless the file is read again.
    assert Digests(kept).file(place).digest == first.digest
    os.utime(place, ns=(old, old + 1))
    assert Digests(kept).file(place).digest == blake2b(b"new", digest_size=16).hexdigest()


def test_the_digest_of_a_file_just_written_is_not_kept(tmp_path: Path) -> None:
    place, kept = tmp_path / "file", tmp_path / "digests.json"
    place.write_text("old")
    digests = Digests(kept)
    digests.file(place)
    digests.keep()
    assert not kept.exists()


def test_a_spoilt_cache_of_digests_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "digests.json").write_text("{half")
    (tmp_path / "file").write_text("x")
    assert isinstance(Digests(tmp_path / "digests.json").file(tmp_path / "file"), File)
