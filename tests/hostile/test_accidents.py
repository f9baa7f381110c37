"""Commands that are killed, or whose disk is full, at a chosen change to files: the rerun ends as if undisturbed.

Nothing here knows what files a command writes: it is run once undisturbed, its changes are counted, and the accident
comes at some of them. What it left is compared as a whole: the same names, and the same bytes of results.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import stage
import tiny
from hostile.forked import Commands, Ended
from hostile.mutations import damaged_documents, json_bytes
from interlingua.commands.study import plan_study
from interlingua.encoder import Encoder
from interlingua.tasks import tasks
from interlingua.tasks.saved_models import FineTuned, save
from interlingua.training.task import TaskModel
from worlds import World, make_world

STUDY = """
name = "world"
languages = ["ru"]
seeds = 1
[encoders.bert]
model = "model"
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 1
"""
GRID = """
name = "grid"
languages = ["ru"]
seeds = 3
regimes = ["original", "adjusted"]
[encoders.bert]
model = "model"
[bitexts]
files = "bitext.{source}-{language}.tsv"
links = "links"
[adjust]
max_pairs = 60
held_out = 20
distances = true
[tasks.ner]
train = "ner-train-{source}.tsv"
tests = "ner-test-{language}.tsv"
epochs = 1
[measures.space]
measures = ["retrieval", "cka"]
corpus = "parallel.tsv"
models = ["encoder", "adjusted", "ner/original"]
"""
CPU = ("--device", "cpu")
COMMANDS = ("align", "synth", "audit", "adjust", "pretrain", "transfer", "explain", "geometry", "report")
QUICK = ("align", "synth", "report")
RESULTS = (".safetensors", ".iob2", ".npz", ".jsonl.gz", "links", ".tsv", "tokenizer.json")


@dataclass
class Scene:
    """Everything that commands need, and what each leaves when nothing happens to it."""

    folder: Path
    world: World
    commands: Commands
    undisturbed: dict[str, tuple[dict[str, bytes], int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def command(self, name: str, out: Path) -> list[str]:
        """A command that writes `out` and perhaps something beside it, with little to do."""
        world = self.world
        ner = ["--train", world["ner-train-en.tsv"], "--test", f"ru={world['ner-test-ru.tsv']}", "--epochs", "1"]
        nli = [f"--test={code}={world[f'nli-test-{code}.tsv']}" for code in ("en", "ru")]
        of = {
            "align": ["align", world["bitext.en-ru.tsv"], "--format", "tsv", "--iterations", "2", "--save", str(out),
                      "--out", str(out.with_name("links"))],
            "synth": ["synth", "--rows", "40", "--languages", "en,ru", "--out", str(out)],
            "audit": ["audit", world["model"], "--corpus", world["parallel.tsv"], "--cache", "none", "--out", str(out)],
            "adjust": ["adjust", world["model"], "--bitext", world["bitext.en-ru.tsv"], "--steps", "6",
                       "--out", str(out)],
            "pretrain": ["pretrain", world["pretrain.toml"], "--out", str(out)],
            "transfer": ["transfer", world["model"], "--task", "ner", *ner, "--seeds", "1", "--permutations", "20",
                         "--save-models", "--out", str(out)],
            "explain": ["explain", world["tuned"], *nli, "--rows", "12", "--out", str(out)],
            "geometry": ["geometry", world["model"], "--languages", "en,ru", "--rows", "60", "--epochs", "1",
                         "--max-points", "40", "--out", str(out)],
            "report": ["report", str(self.finished), "--out", str(out.with_suffix(".html"))],
            "study": ["study", "run", world["study.toml"], "--cpus", "1", "--out", str(out)],
            "grid": ["study", "run", world["grid.toml"], "--executor", "inline", "--out", str(out)],
        }  # fmt: skip
        return [*of[name], *(() if name in ("align", "synth", "report", "study", "grid") else CPU)]

    @property
    def finished(self) -> Path:
        """The folder of an audit, to be reported on."""
        return self.folder / "finished"

    def before(self, name: str) -> tuple[dict[str, bytes], int]:
        """What a command leaves undisturbed, and in how many changes."""
        if name == "report" and not self.finished.is_dir():
            assert self.commands.run(self.command("audit", self.finished), below=self.folder).code == 0
        if name not in self.undisturbed:
            place = self.folder / "undisturbed" / name
            place.mkdir(parents=True)
            ended = self.commands.run(self.command(name, place / "out"), below=place)
            assert ended.code == 0, ended.err
            self.undisturbed[name] = left(place), ended.changes
            self.seconds[name] = ended.seconds
        return self.undisturbed[name]


def left(place: Path) -> dict[str, bytes]:
    """All that is in a folder by its path there; the bytes of results alone, since pages and settings tell of time.

    Digests of files are kept once the files are some seconds old.
    """
    files = {str(path.relative_to(place)): path for path in place.rglob("*") if path.name != "digests.json"}
    return {name: path.read_bytes() if name.endswith(RESULTS) else b"" for name, path in sorted(files.items())}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("accidents")
    world = make_world(folder / "world")
    (world.folder / "study.toml").write_text(STUDY, "utf-8")
    (world.folder / "grid.toml").write_text(GRID, "utf-8")
    encoder, task = Encoder.load(world["model"], device="cpu", precision="fp32"), tasks["nli"].call()
    labels = task.labels(task.read(world["nli-test-en.tsv"], "en"))
    save(FineTuned(task, labels, TaskModel.of(encoder, task, labels, seed=0), encoder), world.folder / "tuned")
    (world.folder / "text").mkdir()
    for code in ("en", "ru"):
        (world.folder / "text" / f"{code}.txt").write_text("\n".join(stage.texts(code)), "utf-8")
    training = {
        "steps": 6,
        "batch_size": 8,
        "max_length": 32,
        "warmup": 3,
        "learning_rate": 1e-3,
        "checkpoint_every": 2,
    }
    config = {**tiny.TINY, "data": {"folder": "text", "languages": ["en", "ru"]}, "training": training}
    (world.folder / "pretrain.toml").write_text(
        tiny.as_toml({key: value for key, value in config.items() if key != "evaluation"}), "utf-8"
    )
    commands = Commands(folder)
    yield Scene(folder, world, commands)
    commands.end()


def attempts(scene: Scene, name: str, tmp_path: Path, accident: str, moments: int) -> Iterator[tuple[str, Ended, Path]]:
    """The command with its accident at some changes, and where a file has some size; each in a new folder."""
    undisturbed, changes = scene.before(name)
    draw = random.Random(name)
    sizes = sorted({len(data) for data in undisturbed.values() if len(data) > 300})
    chosen = [{"at": at} for at in sorted(draw.sample(range(1, changes + 1), min(moments, changes)))]
    # Just before the largest files are whole: a write that is cut short.
    chosen += [{"size": size - size // 3} for size in draw.sample(sizes, min(len(sizes), max(moments // 3, 1)))]
    for number, when in enumerate(chosen):
        place = tmp_path / str(number)
        place.mkdir()
        yield (
            f"{name} {accident} {when}",
            scene.commands.run(scene.command(name, place / "out"), below=place, accident=accident, **when),
            place,
        )
        shutil.rmtree(place)


def check_rerun(scene: Scene, name: str, place: Path, label: str) -> None:
    """The same command again ends well, with what an undisturbed one leaves, and nothing besides."""
    again = scene.commands.run(scene.command(name, place / "out"), below=place)
    assert again.code == 0, f"{label}: {again.err}"
    found, expected = left(place), scene.before(name)[0]
    if name == "grid":  # Models that a killed study had no time to remove stay until interlingua study gc.
        found, expected = ({key: of[key] for key in of if "/heavy" not in key} for of in (found, expected))
    assert found.keys() == expected.keys(), label
    assert [file for file in expected if found[file] != expected[file]] == [], label


Property = Callable[[str, object], None]


def count(record: Property, tried: int) -> None:
    """Say how many attempts a test made, all of which held: the first that does not ends it."""
    record("tried", tried)
    record("held", tried)


def finished_steps(place: Path) -> dict[str, int]:
    """The finished steps of a run by key, each with what tells its folder from one that was made anew."""
    return {path.name: path.stat().st_ino for path in place.glob("out/.interlingua/steps/*")}


def killed(scene: Scene, name: str, tmp_path: Path, record: Property, moments: int) -> None:
    """Kill a command, at a change to files and at any time in turns, and sometimes its rerun, too; then let it end."""
    _, changes = scene.before(name)
    draw = random.Random(name)
    for number in range(moments):
        place = tmp_path / str(number)
        place.mkdir()
        label = f"{name} killed"
        for turn in range(1 + draw.randrange(2)):
            at_file = (number + turn) % 2 == 0
            when = {"at": draw.randrange(1, changes + 1)} if at_file else {}
            later = {} if at_file else {"after": draw.uniform(0.05, 1.0) * scene.seconds[name]}
            label += f" {when or later}"
            ended = scene.commands.run(
                scene.command(name, place / "out"), below=place, accident="kill" if at_file else "", **when, **later
            )
            assert ended.code in (-signal.SIGKILL, 0), f"{label}: {ended.err}"
        done = finished_steps(place)
        check_rerun(scene, name, place, label)
        assert done.items() <= finished_steps(place).items(), f"{label}: a finished step was run again"
        shutil.rmtree(place)
    count(record, moments)


def test_the_grid_that_is_killed_has_at_least_thirty_steps(scene: Scene) -> None:
    assert len(plan_study(scene.world["grid.toml"], out=scene.folder / "planned").graph) >= 30


def filled(scene: Scene, name: str, tmp_path: Path, record: Property, moments: int) -> None:
    tried = 0
    for label, ended, place in attempts(scene, name, tmp_path, "full", moments):
        tried += 1
        if ended.code == 0:  # A lock or a cache that can't be written is no error, and no larger file came.
            assert left(place).keys() == scene.before(name)[0].keys(), label
            continue
        assert ended.code == 1, f"{label}: {ended.err}"
        assert "Traceback" not in ended.err, f"{label}: {ended.err}"
        said = [line for line in ended.err.splitlines() if line.startswith("error: ")]
        assert len(said) == 1, f"{label}: {ended.err}"
        assert said == [ended.last], label
        assert str(place) in said[0], label
        check_rerun(scene, name, place, label)
    count(record, tried)


@pytest.mark.reliability("killed")
@pytest.mark.parametrize("name", [*QUICK, "audit", "transfer", "grid"])
def test_a_command_that_is_killed_ends_the_next_time_as_if_it_were_not(
    scene: Scene, tmp_path: Path, name: str, record_property: Property
) -> None:
    killed(scene, name, tmp_path, record_property, 2)


@pytest.mark.heavy
@pytest.mark.reliability("killed")
@pytest.mark.parametrize("name", [*(name for name in COMMANDS if name not in QUICK), "grid"])
def test_a_run_killed_at_twenty_random_moments_ends_with_the_same_bytes_and_runs_nothing_twice(
    scene: Scene, tmp_path: Path, name: str, record_property: Property
) -> None:
    killed(scene, name, tmp_path, record_property, 20)


@pytest.mark.reliability("full disk at a write")
@pytest.mark.parametrize("name", QUICK)
def test_a_full_disk_is_one_line_and_exit_code_1(
    scene: Scene, tmp_path: Path, name: str, record_property: Property
) -> None:
    filled(scene, name, tmp_path, record_property, 2)


@pytest.mark.heavy
@pytest.mark.reliability("full disk at a write")
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in QUICK])
def test_a_run_on_a_full_disk_is_one_line_and_goes_on_when_there_is_room(
    scene: Scene, tmp_path: Path, name: str, record_property: Property
) -> None:
    filled(scene, name, tmp_path, record_property, 12)


@pytest.mark.heavy
@pytest.mark.reliability("a folder that is only read")
@pytest.mark.parametrize("name", [*COMMANDS, "study"])
def test_a_folder_that_cannot_be_written_is_named_and_left_as_it_is(scene: Scene, tmp_path: Path, name: str) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may become another user")
    scene.before("audit" if name == "study" else name)
    place = tmp_path / "only-read"
    place.mkdir(mode=0o555)
    for folder in (tmp_path, *tmp_path.parents, *scene.folder.parents, *scene.folder.rglob("*"), scene.folder):
        with contextlib.suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | (0o755 if folder.is_dir() else 0o644))
    place.chmod(0o555)
    ended = scene.commands.run(scene.command(name, place / "out"), below=place, user=65534)
    assert ended.code in (1, 2), ended.err
    assert "Traceback" not in ended.err
    assert ended.last.startswith("error: ")
    assert str(place) in ended.last
    assert list(place.iterdir()) == []


def race(scene: Scene, name: str, place: Path) -> None:
    """While a command waits in the middle of its work, the same one is told so and changes nothing; the first ends."""
    undisturbed, changes = scene.before(name)
    place.mkdir()
    other = Commands(scene.folder)
    with ThreadPoolExecutor(1) as pool:
        try:
            first = pool.submit(
                other.run, scene.command(name, place / "out"), below=place, accident="wait", at=changes // 2
            )
            waiting = Path(f"{place}.waiting")
            until = time.monotonic() + 60
            while not waiting.exists() and not first.done():
                assert time.monotonic() < until
                time.sleep(0.02)
            assert waiting.exists(), first.result().err
            before = left(place)
            second = scene.commands.run(scene.command(name, place / "out"), below=place)
            assert second.code == 2, second.err
            assert "another run is at work in this folder (process " in second.last
            assert left(place) == before
        finally:
            Path(f"{place}.go").touch()
        ended = first.result()
    other.end()
    assert ended.code == 0, ended.err
    assert left(place) == undisturbed


@pytest.mark.reliability("two processes in one folder")
def test_of_two_processes_in_one_folder_the_second_says_who_is_there(scene: Scene, tmp_path: Path) -> None:
    race(scene, "audit", tmp_path / "race")


@pytest.mark.heavy
@pytest.mark.reliability("two processes in one folder")
@pytest.mark.parametrize("name", ["adjust", "pretrain", "transfer", "explain", "geometry"])
def test_a_second_process_in_a_folder_says_who_is_there_and_changes_nothing(
    scene: Scene, tmp_path: Path, name: str
) -> None:
    race(scene, name, tmp_path / "race")


def damaged(path: Path, draw: random.Random) -> list[tuple[str, bytes | None]]:
    """What may stand where a file of a run stood: nothing, half of it, another value at a place of its JSON."""
    data = path.read_bytes()
    found: list[tuple[str, bytes | None]] = [
        ("a folder", None),
        ("empty", b""),
        ("cut", data[: max(len(data) - 1 - draw.randrange(max(len(data) // 2, 1)), 0)]),
        ("zeros", bytes(len(data))),
        ("not UTF-8", b"\xff\xfe" + data[:100]),
        ("nested", b'{"a":' * 3000),
        ("5,001 digits", b'{"step": ' + b"9" * 5001 + b"}\n"),
        *((text, text.encode()) for text in ("null", "[]", "{}", '"text"', "[[1]]\n")),
    ]
    lines = data.splitlines()
    if path.suffix in (".json", ".jsonl") and lines:
        place = draw.randrange(len(lines)) if path.suffix == ".jsonl" else 0
        document = json.loads(lines[place] if path.suffix == ".jsonl" else data)
        nodes = list(damaged_documents(document))
        for label, changed in draw.sample(nodes, min(6, len(nodes))):
            written = json_bytes(changed)
            whole = b"\n".join([*lines[:place], written, *lines[place + 1 :], b""])
            found.append((label, whole if path.suffix == ".jsonl" else written))
    return found


def damages(scene: Scene, name: str, place: Path) -> Iterator[tuple[str, Path, bytes | None]]:
    """A label, a file of a run (one that is finished, two that were killed), and what stands in its place."""
    changes = scene.before(name)[1]
    draw = random.Random(name)
    for state, at in (("finished", 0), ("stopped", changes * 2 // 3), ("begun", changes // 3)):
        folder = place / state
        folder.mkdir()
        scene.commands.run(scene.command(name, folder / "out"), below=folder, accident="kill" if at else "", at=at)
        for file in sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file()):
            for label, content in damaged(folder / file, draw):
                yield f"{state}/{file}: {label}", Path(state) / file, content


def check_damaged(scene: Scene, name: str, place: Path, record: Property, *, most: int | None) -> None:
    """The same command over a damaged run ends well, or in one line of error; `most` damages are drawn."""
    every = list(damages(scene, name, place))
    chosen = every if most is None else random.Random(name).sample(every, min(most, len(every)))
    broken = []
    for label, file, content in chosen:
        copy = place / "copy"
        shutil.copytree(place / file.parts[0], copy, symlinks=True)
        changed = copy.joinpath(*file.parts[1:])
        changed.unlink()
        if content is None:
            changed.mkdir()
        else:
            changed.write_bytes(content)
        ended = scene.commands.run(scene.command(name, copy / "out"), below=copy)
        plain = ended.code == 0 or (ended.code in (1, 2) and ended.last.startswith("error: "))
        if not plain or "Traceback" in ended.err:
            broken.append(f"{label}: {ended.code} {ended.err[-800:]}")
        shutil.rmtree(copy)
    record("tried", len(chosen))
    record("held", len(chosen) - len(broken))
    assert not broken, f"{len(broken)} of {len(chosen)}:\n" + "\n".join(broken[:20])


@pytest.mark.reliability("damaged files of a run")
@pytest.mark.parametrize("name", QUICK)
def test_some_damaged_files_of_a_run_are_made_anew_or_named(scene, tmp_path, name, record_property) -> None:
    check_damaged(scene, name, tmp_path, record_property, most=4)


@pytest.mark.heavy
@pytest.mark.reliability("damaged files of a run")
@pytest.mark.parametrize("name", [*COMMANDS, "study"])
def test_damaged_files_of_a_run_are_made_anew_or_named(scene, tmp_path, name, record_property) -> None:
    check_damaged(scene, name, tmp_path, record_property, most=60)
