"""What a command prints, where it can't be printed: few letters, a full disk, a closed pipe, no output at all."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlingua.cli import app
from interlingua.cli.options import print_json


def command(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line of a shell in which `$I` is the command."""
    ours = f"{sys.executable} -m interlingua"
    env = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[2]), "I": ours, **environment}
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False, env=env)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_whole_whatever_letters_the_output_has(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"text": "шум – 水 \U0001f600", "surrogate": "\udcff", "plain": 1.5}
    for given in (told, {"plain": "a"}, {"text": "水"}):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        print_json(given)
        stream.flush()
        assert json.loads(stream.buffer.getvalue().decode(encoding)) == given  # type: ignore[attr-defined]


def test_what_is_no_json_is_found_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(ValueError, match="JSON"):
        print_json({"first": "x" * 100_000, "last": float("nan")})
    assert stream.getvalue() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("given", ["list", "list --json", "--help", "--version"])
def test_a_full_output_is_one_line_and_a_failure(given: str) -> None:
    done = command(f"$I {given} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "error: the output cannot be written (No space left on device). Send it to another place.\n"
    )


@pytest.mark.parametrize("given", ["list", "list --json"])
def test_a_closed_pipe_ends_a_command_without_a_word(given: str) -> None:
    assert command(f"$I {given} | true").stderr == b""


def test_an_output_that_is_closed_is_nobody_listening() -> None:
    assert command("$I list --json >&-").returncode == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_name_that_the_output_cannot_spell_is_printed_somehow(encoding: str, tmp_path: Path) -> None:
    out = tmp_path / "выход"
    done = command(f"$I synth --languages en,ru --out {out}", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr.decode()
    assert b"files in" in done.stdout
