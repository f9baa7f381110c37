"""Keys of steps: the same for what gives the same result, another for anything else; files by content."""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from interlingua.engine.digests import Digests
from interlingua.engine.serialization import File, build
from interlingua.engine.step import ObjectCache, Resources, Step, StepContext, resolve, settings_class
from interlingua.errors import InputError


@dataclass(frozen=True)
class Given:
    x: float = 1.0
    y: tuple[str, ...] = ("é",)
    z: Mapping[str, float | None] = field(default_factory=lambda: {"p": None, "q": 0.5})
    data: File | None = None


@dataclass(frozen=True)
class Other(Given):
    w: str | None = None


BASE = Step("m:f", Given())


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, run="m:g"),
        replace(BASE, code=2),
        replace(BASE, settings=Given(x=2)),
        replace(BASE, settings=Other()),
        replace(BASE, settings=Given(y=("é", "é"))),
        replace(BASE, settings=Given(z={"p": 0.0, "q": 0.5})),
        replace(BASE, settings=Given(data=File("a.txt", "00"))),
        replace(BASE, needs={"base": Step("m:h", Given())}),
        replace(BASE, load=(File("mine.py", "00"),)),
    ],
)
def test_all_that_makes_a_result_is_in_the_key(other: Step) -> None:
    assert other.key != BASE.key


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, label="seen"),
        replace(BASE, like="this"),
        replace(BASE, turn=(1, 2)),
        replace(BASE, resources=Resources(cpus=8, gpus=1)),
        replace(BASE, settings=Given(x=1)),
        replace(BASE, settings=Given(z={"q": 0.5, "p": None})),
    ],
)
def test_what_does_not_make_a_result_is_not_in_the_key(other: Step) -> None:
    assert other.key == BASE.key


def test_a_need_is_known_by_its_role_and_its_own_needs() -> None:
    deep = [Step("m:h", Given(), needs={"base": Step("m:i", Given(x=x))}) for x in (0, 1)]
    keys = {Step("m:f", Given(), needs={role: need}).key for role in ("base", "text") for need in deep}
    assert len(keys) == 4


def test_the_function_gets_the_settings_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("text")
    given = Given(2, ("a", "b"), {"p": 3}, Digests().file(tmp_path / "data"))
    step = Step("m:f", given, load=(File("mine.py", "00"),))
    arguments, files = step.arguments()
    assert build(Given, json.loads(json.dumps(arguments))) == given
    assert set(files) == {given.data, *step.load}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, Path("x"), b"x", {1: 2}, object(), "text"])
def test_a_setting_that_is_not_what_its_field_says_has_no_key(bad: Any) -> None:
    with pytest.raises(InputError, match=r"Given\.x|mapping"):
        _ = Step("m:f", Given(x=bad)).key


def annotated(settings: Given, context: StepContext) -> None: ...
def not_annotated(settings, context: StepContext) -> None: ...
def no_dataclass(settings: dict[str, int], context: StepContext) -> None: ...
def unknown_name(settings: Nowhere, context: StepContext) -> None: ...  # type: ignore[name-defined] # noqa: F821


def test_the_dataclass_of_a_function_is_that_of_its_annotation() -> None:
    assert settings_class(annotated) is Given
    for function in (not_annotated, no_dataclass, unknown_name):
        with pytest.raises(InputError, match="no dataclass as their annotation"):
            settings_class(function)


def test_the_cache_holds_the_two_used_last_and_makes_room_before_it_makes() -> None:
    cache, alive = ObjectCache(2), []

    class Large:
        def __init__(self) -> None:
            alive.append(weakref.ref(self))
            assert sum(one() is not None for one in alive) <= 2

    for name in "abacab":
        cache.get(name, Large)
    assert len(alive) == 4  # a, b, c, and b again: a was used meanwhile
    assert cache.get("a", Large) is cache.get("a", Large)
    cache.clear()
    assert all(one() is None for one in alive)


def test_kinds_of_objects_do_not_push_each_other_out() -> None:
    cache = ObjectCache(2)
    kept = [cache.get(name, object) for name in "ab"]
    alone: list[weakref.ref[Any]] = []

    class Single:
        def __init__(self) -> None:
            assert all(one() is None for one in alone), "the one before goes first"
            alone.append(weakref.ref(self))

    for name in "abc":
        cache.get(name, Single, kind="single", most=1)
    assert [cache.get(name, object) for name in "ab"] == kept
    assert len(alone) == 3


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
        return Step("m:f", Given(data=Digests().file(place))).key

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
    with pytest.raises(InputError, match=rf"itself: .*{problem}.*\. Repair or remove"):
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
