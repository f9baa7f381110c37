"""What the pages say is true: code runs, commands parse, links lead somewhere, generated pages are current."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer

import interlingua
import models
import stage
from interlingua.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FILE = re.compile(r"<!-- file: ([\w.]+) -->")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # of its first line of code
    remark: str  # what stands on the line before it


def blocks(page: Path) -> Iterator[Block]:
    before, begin, language, code = "", 0, "", []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if begin and line.strip() == "```":
            yield Block(language, "\n".join(code) + "\n", begin, before)
            begin, code, before = 0, [], ""
        elif begin:
            code.append(line)
        elif line.startswith("```"):
            begin, language = number + 1, line[3:].strip()
        elif line.strip():
            before = line.strip()


def runnable(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language == "python"]


def by_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def slugs(page: Path) -> set[str]:
    """Anchors as GitHub makes them of headings."""
    prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", prose, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Byte-level: it can spell every language of the sampler.
    return models.modernbert(tmp_path_factory.mktemp("docs") / "my-model")


@pytest.fixture
def own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page registers is forgotten after it: other tests count the entries."""
    from interlingua.attribution import attributions
    from interlingua.measures import measures
    from interlingua.objectives import objectives
    from interlingua.projection import projections
    from interlingua.readers import readers, sniffers
    from interlingua.tasks import tasks

    for registry in (measures, readers, sniffers, objectives, tasks, attributions, projections):
        list(registry)
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))


@pytest.mark.usefixtures("own_registries")
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=by_name)
def test_code_of_a_page_runs_from_top_to_bottom(page, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-model").symlink_to(model)
    if page.name == "howto-explain.md":  # It begins with a fine-tuned folder and examples.
        stage.examples(tmp_path)
        stage.heads(tmp_path, model)
    names: dict[str, object] = {"__name__": "page"}
    for block in runnable(page):
        place = f"{by_name(page)}:{block.line}"
        if match := FILE.fullmatch(block.remark):
            (tmp_path / match[1]).write_text(block.text, encoding="utf-8")
        elif block.text.lstrip().startswith(">>>"):
            examples = doctest.DocTestParser().get_doctest(block.text, names, place, place, block.line - 1)
            report: list[str] = []
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
            runner.run(examples, out=report.append, clear_globs=False)
            names.update(examples.globs)
            assert not report, "".join(report)
        else:
            exec(compile("\n" * (block.line - 1) + block.text, place, "exec"), names)


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each call of `interlingua` in a piece of shell."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if set(word) <= set("();<>|&"):
                if (words and Path(words[0]).name == "interlingua") or words[:2] == ["./run", "audit"]:
                    yield words[1:]
                words = []
            else:
                words.append(word)


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_commands_of_a_page_parse(page):
    root = typer.main.get_command(app)
    for block in blocks(page):
        if block.language not in ("bash", "sh", "shell", "console"):
            continue
        for name, *arguments in filter(None, commands(block.text)):
            where = f"{by_name(page)}:{block.line}: interlingua {name}"
            if name.startswith("-"):
                assert name in {"-h", "--help", *(opt for param in root.params for opt in param.opts)}, where
                continue
            assert name in root.commands, where
            command, rest = root.commands[name], arguments
            if hasattr(command, "commands"):  # A group: what is in it parses the rest.
                assert arguments, where
                assert arguments[0] in command.commands, where
                command, rest = command.commands[arguments[0]], arguments[1:]
            if not {"-h", "--help"} & set(rest):
                command.make_context(where, rest)  # Raises on an unknown option or a bad value.


def test_a_misspelt_option_would_be_found():
    command = typer.main.get_command(app).commands["audit"]
    [arguments] = commands("cat x.tsv | interlingua audit m --langauges en,ru > out.txt")
    with pytest.raises(Exception, match="--langauges"):
        command.make_context("audit", arguments[1:])


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_links_inside_the_project_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", prose):
        target = link[0] or link[1]
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists(), f"{by_name(page)} links to {target}"
        assert ROOT in [found, *found.parents], f"{by_name(page)} links out of the project: {target}"
        if anchor:
            assert anchor in slugs(found), f"{by_name(page)} links to {target}, which has no such heading"


def generated() -> dict[Path, str]:
    spec = importlib.util.spec_from_file_location("generate_settings", ROOT / "docs" / "generate_settings.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    return generator.pages()


def test_what_pages_say_of_settings_is_current():
    found = generated()
    assert {"cli.md", "study-file.md", "howto-pretrain.md", "howto-explain.md"} <= {path.name for path in found}
    for path, text in found.items():
        assert path.read_text("utf-8") == text, "run: python docs/generate_settings.py"
    assert all(len(line) <= 100 for line in (ROOT / "docs" / "cli.md").read_text("utf-8").splitlines())


def test_page_of_the_command_line_has_every_spelling_of_every_option():
    current = (ROOT / "docs" / "cli.md").read_text("utf-8")
    waiting = [("", typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        waiting += [(f"{name} {inner}".strip(), each) for inner, each in getattr(command, "commands", {}).items()]
        if not name or hasattr(command, "commands"):
            continue
        section = current.split(f"# interlingua {name}\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
        spelled = [each for param in command.params for each in (*param.opts, *param.secondary_opts)]
        for each in spelled:
            assert not each.startswith("-") or f"`{each}`" in section, f"{name} has {each}"


def test_the_site_builds_without_a_warning_opens_offline_and_has_every_public_name(tmp_path):
    site = tmp_path / "site"
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", tmp_path / "trees"]
    done = subprocess.run([*build, ROOT / "docs", site], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"([^\"]+)\"", page.read_text("utf-8"))
        outside = [place for place in loaded if re.match(r"(?:[a-z]+:)?//", place)]
        assert not outside, f"{page.name} asks another host for {outside}"
    for sheet in (site / "_static").rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text("utf-8")), sheet.name
    shown = {line.split()[0] for line in inventory(site / "objects.inv")}
    assert [name for name in interlingua.__all__ if name != "__version__" and f"interlingua.{name}" not in shown] == []
    method = (site / "method.html").read_text("utf-8")
    assert method.count("<math") > 100, "formulas are not drawn"
    assert not re.search(r"<mfrac[^>]*>\s*<mn>\d\d", method), "one half is drawn as twelve over something"


def inventory(file: Path) -> list[str]:
    """The lines of Sphinx's list of things described: a name, and where it is."""
    head, _, packed = file.read_bytes().partition(b"zlib.\n")
    assert head.startswith(b"# Sphinx inventory version 2")
    return zlib.decompress(packed).decode().splitlines()


def test_every_page_of_the_docs_is_in_a_table_of_contents():
    named = set()
    for page in (ROOT / "docs").rglob("*.md"):
        for block in blocks(page):
            if block.language == "{toctree}":
                listed = [line for line in block.text.splitlines() if line and not line.startswith(":")]
                names = [re.sub(r".*<(.*)>", r"\1", line) for line in listed]
                named |= {(page.parent / name).relative_to(ROOT / "docs").as_posix() for name in names}
    pages = {
        page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        for page in (ROOT / "docs").rglob("*")
        if page.suffix in (".md", ".rst")
    }
    assert pages - named == {"index"}


def test_every_command_has_its_guide():
    root = typer.main.get_command(app)
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in root.commands:
        row = re.search(rf"^\|.*\| `interlingua {name}` \| \[.*\]\((docs/[\w-]+\.md)\) \|$", readme, flags=re.M)
        assert row, f"README.md has no row for {name}"
        assert f"interlingua {name}" in (ROOT / row[1]).read_text("utf-8"), f"{row[1]} never calls {name}"


def test_every_measure_has_its_section_in_the_method():
    from interlingua.measures import measures

    headings = " ".join(re.findall(r"^## (.+)$", (ROOT / "docs" / "method.md").read_text("utf-8"), flags=re.M))
    ours = [entry.name for entry in measures if entry.call.__module__.startswith("interlingua.measures.")]
    assert len(ours) > 8
    assert [name for name in ours if f"`{name}`" not in headings] == []


def test_every_objective_task_and_regime_is_in_the_method():
    from interlingua.objectives import objectives
    from interlingua.tasks import tasks
    from interlingua.training.regime import NAMES

    page = (ROOT / "docs" / "method.md").read_text("utf-8")
    headings = " ".join(re.findall(r"^### (.+)$", page, flags=re.M))
    assert [entry.name for entry in (*objectives, *tasks) if f"`{entry.name}`" not in headings] == []
    assert [name for name in NAMES if f"| `{name}` |" not in page] == []


def test_every_key_of_a_record_is_documented():
    from dataclasses import fields

    from interlingua.record import Record

    page = (ROOT / "docs" / "records.md").read_text("utf-8")
    assert [field.name for field in fields(Record) if f"`{field.name}`" not in page] == []


def test_changelog_and_citation_know_the_version():
    version = interlingua.__version__
    assert re.search(rf"^## \[{re.escape(version)}\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.M)
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text("utf-8"), flags=re.M)


def test_the_map_of_modules_is_current_and_the_readme_names_every_room() -> None:
    spec = importlib.util.spec_from_file_location("generate_map", ROOT / "docs" / "generate_map.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert (ROOT / "docs" / "map.md").read_text("utf-8") == generator.page(), "run: python docs/generate_map.py"


def test_the_readme_names_every_package() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    packages = {path.parent.name for path in (ROOT / "src" / "interlingua").glob("*/__init__.py")}
    assert {name for name in packages if f"{name}/" not in readme} == set()
