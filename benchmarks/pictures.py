"""Every kind of page, from real runs, as pictures to look at: light and dark, desktop and phone, and on paper.

    python -m benchmarks.pictures FOLDER --data CORPORA [--only audit,explorer]

Makes small runs of the embedded encoder under FOLDER/runs (some twenty minutes of one core the first time; finished
ones are only told again), their pages, and PNG files under FOLDER/pictures, one for each page, theme and width, and a
PDF of the audit. CORPORA is a folder with xnli, panx, xquad and parallel in it. Needs playwright and a chromium. Fails
where a page wrote an error to the console, asked for something outside, or is wider than the screen.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

LANGUAGES = ("es", "ru", "hi", "ar", "zh")
SMALL = ("--train-rows", "400", "--test-rows", "60", "--seeds", "2", "--epochs", "1", "--learning-rate", "2e-4")
ADJUSTED = ("--max-pairs", "200", "--adjust-learning-rate", "3e-4", "--regimes", "original,adjusted")
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
STUDY = """
name = "pictures"
source = "en"
languages = ["hi", "ar"]
regimes = ["original", "adjusted"]
seeds = 2

[encoders.embedded]
model = "embedded"
learning_rate = 2e-4

[bitexts]
files = "parallel/tatoeba.en-{language}.tsv.xz"

[adjust]
max_pairs = 200
learning_rate = 3e-4
distances = true

[tasks.nli]
train = "xnli/dev-{source}.tsv.xz"
tests = "xnli/test-{language}.tsv.xz"
train_rows = 200
test_rows = 50
epochs = 1

[measures.space]
measures = ["retrieval", "cka"]
corpus = "sampler"
rows = 100
models = ["encoder", "adjusted", "nli/original"]

[explanations.words]
tasks = ["nli"]
rows = 24
"""


def runs(home: Path, data: Path) -> dict[str, list[str]]:
    """The command of every run, by name, in an order in which each finds what it needs."""

    def tests(kind: str, ending: str) -> list[str]:
        return [part for code in LANGUAGES for part in ("--test", f"{code}={data / kind}{code}{ending}")]

    def bitexts(*codes: str) -> list[str]:
        return [part for code in codes for part in ("--bitext", f"{code}={data}/parallel/tatoeba.en-{code}.tsv.xz")]

    def transfer(task: str, train: str, *more: str) -> list[str]:
        return ["transfer", "embedded", "--task", task, "--train", str(data / train), "--save-models", *SMALL, *more]

    nli = [*bitexts("ar", "hi"), *ADJUSTED, "--joint-adjustment", "--distances"]
    rows = [part for code in ("en", *LANGUAGES) for part in ("--test", f"{code}={data}/xnli/test-{code}.tsv.xz")]
    return {
        "audit": ["audit"],
        "nli": transfer("nli", "xnli/dev-en.tsv.xz", *tests("xnli/test-", ".tsv.xz"), *nli),
        "ner": transfer("ner", "panx/train-en.tsv.xz", *tests("panx/dev-", ".tsv.xz")),
        "qa": transfer("qa", "squad/train-v1.1-subset.json", *tests("xquad/xquad.", ".json"), "--max-length", "192"),
        "adjust": [
            *("adjust", "embedded", *bitexts("ar", "hi", "es"), "--max-pairs", "600", "--learning-rate", "3e-4"),
            *("--held-out", "60", "--monitor-every", "15"),
        ],
        "audit-after": ["audit", str(home / "adjust")],
        "explain": ["explain", f"en={model_of(home / 'nli')}", *rows, "--rows", "40"],
        "geometry": ["geometry", "--small"],
        "study": ["study", "run", str(home / "study.toml"), "--data-root", str(data)],
    }


def model_of(run: Path) -> Path:
    """The first model that a run of `transfer --save-models` kept."""
    return next(iter(sorted((run / "models").glob("**/task.json"))), run / "models" / "task.json").parent


def made(home: Path, data: Path, wanted: list[str]) -> None:
    (home / "study.toml").write_text(STUDY, "utf-8")
    for name in runs(home, data):
        if wanted and name not in wanted:
            continue
        # Asked for again: what an earlier run kept is there only now.
        command = [*runs(home, data)[name], "--out", str(home / name)]
        done = subprocess.run([sys.executable, "-m", "interlingua", *command], stdout=subprocess.DEVNULL, check=False)
        print(name, "made" if done.returncode == 0 else f"failed: {done.returncode}", flush=True)


PAIRS = {
    "nli": (
        "en",
        "ar",
        "The kitchen was cold.",
        "كان المطبخ باردا.",
        "It was warm inside.",
        "كان الجو دافئا في الداخل.",
    ),
    "ner": ("en", "hi", "Angela Merkel lives in Berlin.", "एंजेला मर्केल बर्लिन में रहती हैं।", "", ""),
    "qa": (
        *("en", "zh", "Where does Anna live?", "安娜住在哪里？"),
        *("Anna was born in Rome and lives in Berlin with her sister.", "安娜出生在罗马，现在和姐姐住在柏林。"),
    ),
}
FIELDS = ("source_language", "target_language", "source", "target", "source_second", "target_second")


def views(home: Path) -> dict[str, tuple[list[str], str]]:
    """Of the explorer: what it is started with, and the fragment of its address, by name."""
    heads = [part for name in PAIRS for part in ("--head", f"{name}={model_of(home / name)}")]
    found = {
        f"explorer-{name}": (
            heads,
            "&".join(f"{field}={quote(text)}" for field, text in zip(FIELDS, texts, strict=True)) + f"&head={name}",
        )
        for name, texts in PAIRS.items()
    }
    return {**found, "explorer-against": (["--against", str(home / "adjust")], "")}


def page_files(home: Path, wanted: list[str]) -> dict[str, Path]:
    """The pages of the runs that are there, and of several side by side."""
    parts_of = {name: (name,) for name in runs(home, home)} | {
        "two-audits": ("audit", "audit-after"),
        "all-kinds": ("audit", "nli", "explain"),
        "two-transfers": ("ner", "qa"),
    }
    return {
        name: reported(home, name, parts)
        for name, parts in parts_of.items()
        if (not wanted or name in wanted) and all((home / part).is_dir() for part in parts)
    }


def reported(home: Path, name: str, parts: tuple[str, ...]) -> Path:
    """The page of some runs."""
    path = home / f"{name}.html"
    command = ["report", *(str(home / part) for part in parts), "--out", str(path)]
    subprocess.run([sys.executable, "-m", "interlingua", *command], stdout=subprocess.DEVNULL, check=True)
    return path


def shots(browser: Browser, name: str, address: str, into: Path, ready: Any) -> list[str]:
    """Pictures of one address in every theme and width; what is wrong with it, in words."""
    wrong: list[str] = []
    for theme in THEMES:
        for kind, (width, height) in WIDTHS.items():
            context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": height})
            tab = context.new_page()
            told = _heard(tab)
            tab.goto(address)
            ready(tab)
            tab.screenshot(path=into / f"{name}-{theme}-{kind}.png", full_page=True)
            if (wide := tab.evaluate("document.documentElement.scrollWidth")) > width:
                told.append(f"{wide} pixels wide")
            wrong += [f"{name} {theme} {kind}: {each}" for each in told]
            if name == "audit" and (theme, kind) == ("dark", "desktop"):
                tab.pdf(path=into / "audit.pdf")
            context.close()
    return wrong


def _heard(tab: Page) -> list[str]:
    """What a page will say to its console, and what it will ask for outside."""
    told: list[str] = []
    inside = ("file:", "data:", "blob:", "http://127.0.0.1:")
    # A head that finds no name in both sentences says so by an answer 400, which the browser reports by itself.
    tab.on("console", lambda message: None if "status of 400" in message.text else told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.on("request", lambda asked: None if asked.url.startswith(inside) else told.append(asked.url))
    return told


def drawn(tab: Page) -> None:
    """Wait for every figure of a report."""
    tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.wait_for_selector("html[data-ready=all]", state="attached", timeout=120_000)


def answered(tab: Page) -> None:
    """Wait for the explorer's answers."""
    tab.wait_for_selector("#pairs .ribbon", state="attached", timeout=60_000)
    tab.wait_for_selector(".near tbody tr", timeout=60_000)
    if tab.locator("#heads").is_visible():
        tab.wait_for_selector("#head_said:not(:empty)", timeout=60_000)
    tab.wait_for_load_state("networkidle")


def explored(browser: Browser, home: Path, into: Path, wanted: list[str]) -> list[str]:
    """Pictures of the explorer, one server for each set of options."""
    wrong = []
    for name, (options, fragment) in views(home).items():
        if wanted and name not in wanted and "explorer" not in wanted:
            continue
        command = ["explore", "--no-browser", "--json", "--port", "0", "--languages", "en,es,ru,hi,ar,zh", *options]
        server = subprocess.Popen([sys.executable, "-m", "interlingua", *command], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            wrong += shots(browser, name, f"{address}#{fragment}", into, answered)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="a folder of corpora; without it only runs that are there are shown")
    parser.add_argument("--only", default="", help="names of runs or views, comma-separated")
    asked = parser.parse_args()
    wanted = [name for name in asked.only.split(",") if name]
    home, into = asked.folder / "runs", asked.folder / "pictures"
    for folder in (home, into):
        folder.mkdir(parents=True, exist_ok=True)
    if asked.data is not None:
        made(home, asked.data.resolve(), wanted)
    wrong = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, path in page_files(home, wanted).items():
            wrong += shots(browser, name, path.resolve().as_uri(), into, drawn)
        wrong += explored(browser, home, into, wanted)
        browser.close()
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
