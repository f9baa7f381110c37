"""The shell of the pages runs: each block from top to bottom, beside the small files it names."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import stage
from interlingua.cli.app import app
from interlingua.readers import embedded_data
from interlingua.studies.config.recipe import read_config
from interlingua.studies.config.study_file import read_tables
from test_docs import PAGES, Block, blocks, by_name, own_registries  # noqa: F401

SHELL, HEAVY, NOT_RUN = ("bash",), "<!-- takes minutes -->", re.compile(r"<!-- not run: (.+) -->")
REASONS = {  # Why a block may be left out, and what it must then have in every command of ours.
    "it serves until it is stopped": r"^interlingua explore\b",
    "it needs GPUs": r"^torchrun\b|--device cuda|--gpus \d",
    "it needs a cluster": r"\bsbatch\b|--executor ray --address",
    "it sets up this machine": r"^\./run\b",
    "it takes hours": r"^interlingua geometry xlm-roberta-base\b",  # a smaller one is in the page's Python
    "it needs eflomal": r"--method eflomal",
    "it needs the hub": r"--corpus hf:",
    "it takes minutes and changes .venv": r"mutmut",
}
PART = ('name = "mine"\nlanguages = ["ru"]', '[encoders.english]\nmodel = "embedded"')  # what a part of a study lacks
COPIES = {"docs/cli.md"}  # Examples of `--help`, which the guides' commands are variants of; test_docs.py parses them.


def shell(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language in SHELL and by_name(page) not in COPIES]


def run_here(page: Path, *, heavy: bool) -> list[Block]:
    return [b for b in shell(page) if not NOT_RUN.fullmatch(b.remark) and (b.remark == HEAVY) == heavy]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def pipelines(line: str) -> Iterator[tuple[list[str], str]]:
    """The commands of a line, each with what comes after it: a bar, an arrow and its file, or nothing."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ""]:
        if word in ("|", ">", ""):
            yield words, word
            words = []
        else:
            words.append(word)


def execute(line: str) -> None:
    """One line of shell: our own commands in this process, others as they are."""
    given, arrow = b"", ""
    for words, after in pipelines(line):
        if arrow == ">":
            Path(words[0]).write_bytes(given)
        elif words and words[0] == "interlingua":
            done = CliRunner().invoke(app, words[1:], input=given)
            assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception!r}"
            given = done.stdout_bytes
        elif words:
            given = subprocess.run(words, input=given, capture_output=True, check=True).stdout
        arrow = after


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stage.deep_model(tmp_path_factory.mktemp("stage") / "model")


@pytest.fixture
def on_stage(tmp_path, model, monkeypatch, request) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(embedded_data, "_FOLDER", stage.short_sampler(tmp_path / "sampler"))
    monkeypatch.setenv("TERM", "dumb")
    page = request.getfixturevalue("page")
    stage.set_up(tmp_path, model, page.name)
    for block in blocks(page):
        if match := re.fullmatch(r"<!-- file: ([\w.]+) -->", block.remark):
            (tmp_path / match[1]).write_text(block.text, "utf-8")


@pytest.mark.usefixtures("on_stage", "own_registries")
@pytest.mark.parametrize("page", [page for page in PAGES if run_here(page, heavy=False)], ids=by_name)
def test_commands_of_a_page_run_from_top_to_bottom(page):
    for block in run_here(page, heavy=False):
        for line in lines(block.text):
            execute(line)


@pytest.mark.heavy
@pytest.mark.usefixtures("on_stage", "own_registries")
@pytest.mark.parametrize("page", [page for page in PAGES if run_here(page, heavy=True)], ids=by_name)
def test_commands_that_take_minutes_run(page):
    for block in run_here(page, heavy=True):
        for line in lines(block.text):
            execute(line)


@pytest.mark.parametrize("page", [page for page in PAGES if shell(page)], ids=by_name)
def test_a_block_is_left_out_only_for_a_reason_that_is_true_of_it(page):
    for block in shell(page):
        if match := NOT_RUN.fullmatch(block.remark):
            assert match[1] in REASONS, f"{by_name(page)}:{block.line}: no such reason: {match[1]}"
            ours = [line for line in lines(block.text) if re.search(r"\binterlingua (?!\[)|\./run|\.venv/bin/", line)]
            assert ours, f"{by_name(page)}:{block.line}"
            assert all(re.search(REASONS[match[1]], line) for line in ours), f"{by_name(page)}:{block.line}"


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_blocks_are_of_kinds_that_are_checked(page, tmp_path):
    for block in blocks(page):
        place = f"{by_name(page)}:{block.line}"
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            whole = [PART[0], block.text, PART[1]] if block.remark == "<!-- a part of a study -->" else [block.text]
            (tmp_path / "page.toml").write_text("\n".join(whole), "utf-8")
            if "tokenizer" in tomllib.loads(block.text):
                assert read_config(tmp_path / "page.toml").training.steps, place
            else:
                _, problems, _ = read_tables(tmp_path / "page.toml")
                assert not problems.found, place
        else:
            assert block.language.split()[0] in {"python", "bash", "text", "{toctree}", "{include}"}, place
