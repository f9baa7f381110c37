from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` has it ignored, which all children would inherit.
os.environ["HF_HUB_OFFLINE"] = "1"  # Read when huggingface_hub is imported: no test reaches for a hub.
# The same examples on every run, so that a change is judged by what it changed; `HYPOTHESIS=random` looks for new ones.
# No deadline, and large examples are as good as small ones: how quick this machine is just now is no property.
RANDOM = os.environ.get("HYPOTHESIS") == "random"
settings.register_profile(
    "ours",
    derandomize=not RANDOM,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ours")
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Every test draws the same numbers whichever tests ran before it in its process, fixtures included."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """A test marked `reliability("what")` is one attempt at what it names, or as many as its `tried` and `held` say."""
    mark = item.get_closest_marker("reliability")
    if mark and call.when == "call":
        counted = dict(item.user_properties)
        tried = counted.get("tried", 1)
        held = counted.get("held", tried if call.excinfo is None else 0)
        item.user_properties.append(("reliability", [mark.args[0], tried, held]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of `./run reliability`: what, tried, held; kept in docs/reliability.md."""
    counts: dict[str, list[int]] = {}
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "reliability":
                what, tried, held = value
                row = counts.setdefault(what, [0, 0])
                row[0] += tried
                row[1] += held
    if counts and os.environ.get("RELIABILITY_TABLE"):
        rows = [f"| {what} | {tried:,} | {held:,} |" for what, (tried, held) in sorted(counts.items())]
        rows += ["| **all** | {:,} | {:,} |".format(*map(sum, zip(*counts.values(), strict=True)))]
        ran = sum(len(terminalreporter.getreports(end)) for end in ("passed", "failed"))
        selected = terminalreporter._session.testscollected  # 0 where other processes collected them.
        share = f"{ran:,} of {selected:,} tests" if selected else f"{ran:,} tests"
        about = f"Last run: {share}, `-m '{terminalreporter.config.option.markexpr}'`."
        table = "\n".join([about, "", "| what | tried | held |", "|---|---|---|", *rows])
        terminalreporter.write_line(table)
        page = Path(os.environ["RELIABILITY_TABLE"])
        text = page.read_text(encoding="utf-8").partition("Last run: ")[0].partition("| what |")[0]
        page.write_text(text + table + "\n", encoding="utf-8")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="../shared is not here"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return SHARED


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("INTERLINGUA_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import models

    return models.bert(tmp_path_factory.mktemp("models") / "bert")
