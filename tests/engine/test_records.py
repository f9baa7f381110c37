"""Records of steps: written once, gathered in the graph's order, read again; broken ones are told by line."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from interlingua.engine.executors import Options
from interlingua.engine.graph import Graph
from interlingua.engine.records import PACKED, Records
from interlingua.engine.runner import run
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from interlingua.errors import InputError
from interlingua.record import Record
from record_store import record_lines
from steps_for_tests import Settings


def record(variant: str, value: float = 0.5) -> Record:
    return Record(measure="cka", metric=variant, model="model", source="en", value=value, n=10, target="es", layer=2,
                  digests={"corpus": "é"}, seed=0)  # fmt: skip


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_no_record(value: float) -> None:
    with pytest.raises(InputError, match=r"cka debiased of en–es at layer 2 is not a number"):
        record("debiased", value)


def test_a_record_survives_json() -> None:
    made = replace(record("debiased"), details={"edges": [0.0, 0.5]}, versions={"numpy": "2"})
    assert Record.from_dict(json.loads(made.to_json())) == made


def test_what_a_step_writes_is_read_back_with_its_key_and_its_arrays(tmp_path: Path) -> None:
    hits, shares = np.array([0.0, 1.0, 1.0]), np.array([0.5, 1.0, 0.25])
    Records.write(tmp_path, "key", [(record("a"), None), (record("b"), hits), (record("c"), shares)])
    records = Records(Record, tmp_path)
    found = records.read()
    places = [None, "key.npz#hits3/0", "key.npz#values3/0"]
    assert found == [replace(record(name), step="key", items=at) for name, at in zip("abc", places, strict=True)]
    np.testing.assert_array_equal(records.items(found[1]), hits)
    np.testing.assert_array_equal(records.items(found[2]), shares)
    with pytest.raises(InputError, match="no per-item values: 'key'"):
        records.items(found[0])


def test_a_step_writes_its_records_once(tmp_path: Path) -> None:
    Records.write(tmp_path, "key", [(record("a"), None)])
    with pytest.raises(FileExistsError):
        Records.write(tmp_path, "key", [(record("b"), None)])
    assert [each.metric for each in Records(Record, tmp_path).read()] == ["a"]


def test_a_step_without_records_leaves_no_trace(tmp_path: Path) -> None:
    Records.write(tmp_path, "key", [])
    assert list(tmp_path.iterdir()) == []
    assert Records(Record, tmp_path).read() == []


def test_a_line_that_is_no_record_is_told_by_its_number(tmp_path: Path) -> None:
    Records.write(tmp_path, "key", [(record("a"), None), (record("b"), None)])
    file = tmp_path / "records.jsonl"
    file.write_bytes(gzip.decompress((tmp_path / PACKED).read_bytes()))
    (tmp_path / PACKED).unlink()
    for broken in (b"half", b"{}", b"[]"):
        file.write_bytes(file.read_bytes().splitlines(keepends=True)[0] + broken)
        with pytest.raises(InputError, match=r"records\.jsonl:2: not a record"):
            Records(Record, tmp_path).read()


@pytest.mark.parametrize("data", [None, b"", b"half", b"{}"])
def test_arrays_that_are_gone_or_damaged_are_told_and_made_anew_by_the_next_run(
    tmp_path: Path, data: bytes | None
) -> None:
    workspace, graph = Workspace(tmp_path / "run"), Graph([Step("steps_for_tests:measures", Settings(value=1))])
    run(graph, workspace, executor="inline")
    records = Records(Record, workspace.folder)
    first = records.read()[0]
    file = workspace.folder / "items" / str(first.items).partition("#")[0]
    file.unlink()
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(InputError, match="per-item values cannot be read"):
        records.items(first)
    assert run(graph, workspace, executor="inline").done == 0
    assert records.items(first).tolist() == [1, 2, 3]


def test_records_are_the_same_bytes_in_whatever_order_and_way_the_steps_ran(tmp_path: Path) -> None:
    steps = [Step("steps_for_tests:measures", Settings(value=number)) for number in range(4)]
    workspaces = [Workspace(tmp_path / name) for name in ("inline", "local", "reversed")]
    run(Graph(steps), workspaces[0], executor="inline")
    run(Graph(steps), workspaces[1], executor="local", options=Options(cpus=2))
    for one in reversed(steps):
        run(Graph([one]), workspaces[2], executor="inline")
    run(Graph(steps), workspaces[2], executor="inline")
    first, *others = (record_lines(each.folder) for each in workspaces)
    assert others == [first, first]
    assert [json.loads(line)["value"] for line in first.splitlines()] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_records_of_steps_that_are_no_part_of_the_graph_any_more_are_left_out(tmp_path: Path) -> None:
    steps = [Step("steps_for_tests:measures", Settings(value=number)) for number in range(2)]
    workspace = Workspace(tmp_path)
    run(Graph(steps), workspace, executor="inline")
    assert run(Graph(steps[1:]), workspace, executor="inline").records == 2
    assert {each.step for each in Records(Record, tmp_path).read()} == {steps[1].key}
    assert [path.name for path in (tmp_path / "items").iterdir()] == [f"{steps[1].key}.npz"]


def test_values_are_kept_by_their_shape_and_read_to_the_bit(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    arrays = [draw.integers(0, 2, size).astype(float) for size in (1, 7, 8, 9, 600, 600)]
    arrays += [draw.random(size).astype(np.float32) for size in (3, 600)]
    Records.write(tmp_path, "key", [(record("a"), each) for each in arrays])
    records = Records(Record, tmp_path)
    for row, wanted in zip(records.read(), arrays, strict=True):
        np.testing.assert_array_equal(records.items(row), wanted)


def test_a_run_of_version_0_1_is_read(tmp_path: Path) -> None:
    hits = np.array([0, 1, 1], np.uint8)
    made = replace(record("a"), step="key", items="key.npz#0")
    (tmp_path / "records.jsonl").write_text(made.to_json() + "\n", "utf-8")
    (tmp_path / "items").mkdir()
    np.savez_compressed(tmp_path / "items" / "key.npz", **{"0": hits})
    records = Records(Record, tmp_path)
    assert records.read() == [made]
    np.testing.assert_array_equal(records.items(made), hits)
