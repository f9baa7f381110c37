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
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

LANGUAGES = ("es", "ru", "hi", "ar", "zh")
SMALL = ("--train-rows", "500", "--test-rows", "100", "--seeds", "2", "--epochs", "1", "--learning-rate", "2e-4")
ADJUSTED = ("--sentences", "200", "--adjust-rate", "3e-4", "--regime", "original,adjusted")
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
THEMES = ("light", "dark")
STUDY = """
name = "pictures"
source = "en"
languages = ["es", "hi", "ar"]
regimes = ["original", "adjusted"]
seeds = 2

[encoders.embedded]
model = "embedded"
learning_rate = 2e-4

[bitexts]
files = "parallel/tatoeba.en-{language}.tsv.xz"

[adjust]
rows = 600
learning_rate = 3e-4
distances = true

[tasks.nli]
train = "xnli/dev-{source}.tsv.xz"
tests = "xnli/test-{language}.tsv.xz"
train_rows = 400
test_rows = 100
epochs = 1

[measures.space]
names = ["retrieval", "cka"]
corpus = "sampler"
rows = 100
of = ["encoder", "adjusted", "nli/original"]

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
        return ["transfer", "embedded", "--task", task, "--train", str(data / train), "--keep", *SMALL, *more]

    nli = [*bitexts(*LANGUAGES), *ADJUSTED, "--together", "--distances"]
    rows = [part for code in ("en", *LANGUAGES) for part in ("--data", f"{code}={data}/xnli/test-{code}.tsv.xz")]
    return {
        "audit": ["audit"],
        "nli": transfer("nli", "xnli/dev-en.tsv.xz", *tests("xnli/test-", ".tsv.xz"), *nli),
        "ner": transfer("ner", "panx/train-en.tsv.xz", *tests("panx/dev-", ".tsv.xz")),
        "qa": transfer("qa", "squad/train-v1.1-subset.json", *tests("xquad/xquad.", ".json"), "--length", "192"),
        "adjust": [
            *("adjust", "embedded", *bitexts("ar", "hi", "es"), "--sentences", "600", "--rate", "3e-4"),
            *("--held-out", "60", "--monitor-every", "15"),
        ],
        "audit-after": ["audit", str(home / "adjust")],
        "explain": ["explain", f"en={model_of(home / 'nli')}", *rows, "--rows", "40"],
        "geometry": ["geometry", "--small"],
        "study": ["study", "run", str(home / "study.toml"), "--data", str(data)],
    }


def model_of(run: Path) -> Path:
    """The first model that a run of `transfer --keep` kept."""
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
