"""Every kind of page, from small real runs, as pictures to look at: light and dark, 1,280 and 390 pixels wide.

    python -m benchmarks.screenshots OUT [--only audit,transfer] [--first-screen]

Makes runs of the embedded encoder on the embedded texts under OUT/runs (about half an hour of one core the first time;
finished ones are only printed again), their pages by `interlingua report`, and PNG files under OUT/pictures: the whole
page with every section open, or the first screen alone. A run that fails is named and the others go on. Needs
playwright and a chromium. The exit code is 1 where a run failed, or where a page wrote an error to the console, asked
for something outside, or is wider than the screen.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

import interlingua

WIDTHS = (1280, 390)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
STUDY = """
name = "adjustment"
source = "en"
languages = ["ru", "tr"]
regimes = ["original", "adjusted"]
seeds = 2

[encoders.embedded]
model = "embedded"
[bitexts]
corpus = "sampler"
[adjust]
max_pairs = 200
held_out = 60
learning_rate = 3e-4
distances = true
[synth.names]
rows = 150
[tasks.ner]
train = "@names/{source}.train.iob2"
tests = "@names/{language}.test.iob2"
epochs = 3
batch_size = 8
learning_rate = 3e-4
test_rows = 60
[measures.space]
measures = ["retrieval", "cka"]
corpus = "sampler"
rows = 100
models = ["encoder", "adjusted", "ner/original"]
"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A run, or a report of several: its command line, and where the page is that it leaves."""

    arguments: tuple[str, ...]
    page: str = "report.html"
    needs: tuple[str, ...] = ()
    has_folder: bool = True


@dataclass
class Gallery:
    """The folder of runs and pictures, and what went wrong."""

    out: Path
    failures: list[str] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        return self.out / "runs"

    @property
    def texts(self) -> Path:
        return self.out / "texts"

    def samples(self) -> dict[str, Sample]:
        """Every kind of run by name, in an order in which each finds what it needs."""
        names = [f"{code}={self.texts}/names/{code}.test.iob2" for code in ("en", "ru", "tr")]
        tests = [part for name in names for part in ("--test", name)]
        bitexts = [part for code in ("ru", "tr") for part in ("--bitext", f"{code}={self.texts}/talks.en-{code}.tsv")]
        training = ("--seeds", "2", "--epochs", "4", "--batch-size", "8", "--learning-rate", "3e-4", "--save-models")
        adjusting = ("--max-pairs", "300", "--adjust-learning-rate", "3e-4", "--regimes", "original,adjusted")
        model = self._fine_tuned(self.runs / "transfer")
        texts = ("--text", "Anna Smith lives in Minsk.", "--text", "Анна Смит живёт в Минске.", "--languages", "en,ru")
        train = ("--task", "ner", "--train", f"{self.texts}/names/en.train.iob2")
        return {
            "audit": Sample(arguments=("audit",)),
            "audit-five": Sample(arguments=("audit", "--languages", "en,es,ru,hi,ar", "--rows", "200")),
            "adjust": Sample(
                arguments=("adjust", "embedded", *bitexts, "--held-out", "100", "--learning-rate", "3e-4"),
            ),
            "audit-adjusted": Sample(arguments=("audit", str(self.runs / "adjust")), needs=("adjust",)),
            "transfer": Sample(
                arguments=("transfer", "embedded", *train, *tests, *bitexts, *training, *adjusting, "--distances")
            ),
            "explain": Sample(
                arguments=("explain", f"en={model}", *tests, "--rows", "30", "--random-heads", "3"), needs=("transfer",)
            ),
            "explain-text": Sample(arguments=("explain", f"en={model}", *texts), needs=("transfer",)),
            "explain-row": Sample(
                arguments=("explain", f"en={model}", *tests[:4], "--row", "en:1"), needs=("transfer",)
            ),
            "geometry": Sample(arguments=("geometry", "--small", "--rows", "300")),
            "study": Sample(arguments=("study", "run", str(self.out / "study.toml"))),
            "align": Sample(
                arguments=("align", f"{self.texts}/talks.en-ru.tsv", "--report", str(self.out / "pages/align.html")),
                has_folder=False,
            ),
            "comparison": Sample(
                arguments=("report", str(self.runs / "audit"), str(self.runs / "audit-adjusted")),
                needs=("audit", "audit-adjusted"),
                has_folder=False,
            ),
            "comparison-other-texts": Sample(
                arguments=("report", str(self.runs / "audit"), str(self.runs / "audit-five")),
                needs=("audit", "audit-five"),
                has_folder=False,
            ),
        }

    def _fine_tuned(self, run: Path) -> Path:
        """The first model that `transfer --save-models` saved, without adjustment where there is one."""
        saved = sorted((run / "models").glob("**/task.json"), key=lambda path: ("original" not in str(path), str(path)))
        return saved[0].parent if saved else run / "models"

    def prepare(self) -> None:
        """Write the texts that the runs read: parallel names, bitexts, a study file."""
        for folder in (self.runs, self.texts, self.out / "pages", self.out / "pictures"):
            folder.mkdir(parents=True, exist_ok=True)
        (self.out / "study.toml").write_text(STUDY, "utf-8")
        if not (self.texts / "names").is_dir():
            interlingua.synth(languages=["en", "ru", "tr"], rows=300, out=str(self.texts / "names"))
        corpus = interlingua.read_corpus("sampler", languages=["en", "ru", "tr"])
        english = corpus.column("en")
        for code in ("ru", "tr"):
            pairs = zip(english, corpus.column(code), strict=True)
            lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
            (self.texts / f"talks.en-{code}.tsv").write_text(lines, "utf-8")

    def run(self, name: str) -> None:
        """Make a run, and its page; one that fails is noted."""
        sample = self.samples()[name]
        missing = [need for need in sample.needs if not (self.runs / need).is_dir()]
        if missing:
            self.failures.append(f"{name}: needs {', '.join(missing)}")
            return
        page = self.out / "pages" / f"{name}.html"
        arguments = list(sample.arguments)
        if sample.has_folder:
            arguments += ["--out", str(self.runs / name)]
        elif arguments[0] == "report":
            arguments += ["--out", str(page)]
        printed = _interlingua(arguments, self.out / "pages" / f"{name}.txt")
        if printed.returncode:
            self.failures.append(f"{name}: {_last_line(printed.stderr)}")
        elif sample.has_folder:
            made = self.runs / name / sample.page
            if not made.is_file():
                self.failures.append(f"{name}: no {sample.page} in {made.parent}")
            else:
                shutil.copyfile(made, page)
        print(name, "failed" if printed.returncode else "done", flush=True)

    def pages(self, wanted: Sequence[str]) -> Mapping[str, Path]:
        """The pages that are there."""
        paths = {path.stem: path for path in sorted((self.out / "pages").glob("*.html"))}
        return {name: path for name, path in paths.items() if not wanted or name in wanted}

    def photograph(self, browser: Browser, name: str, page: Path, *, whole: bool) -> Iterator[str]:
        """Pictures of a page in every theme and width; gives what is wrong with it."""
        for theme in THEMES:
            for width in WIDTHS:
                context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900})
                tab = context.new_page()
                problems: list[str] = []
                tab.on("console", lambda message, to=problems: to.append(message.text))
                tab.on("pageerror", lambda error, to=problems: to.append(str(error)))
                tab.on("request", lambda request, to=problems: to.extend(_outside(request.url)))
                tab.goto(page.resolve().as_uri())
                tab.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
                if whole:
                    tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # Opens sections, draws charts.
                tab.wait_for_timeout(300)
                part = "page" if whole else "first"
                tab.screenshot(path=self.out / "pictures" / f"{name}-{theme}-{width}-{part}.png", full_page=whole)
                wide = tab.evaluate("document.documentElement.scrollWidth")
                problems += [f"{wide} pixels wide"] if wide > width else []
                yield from (f"{name} {theme} {width}: {problem}" for problem in problems)
                context.close()


def _outside(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:", "blob:")) else [f"asked for {url}"]


def _interlingua(arguments: Sequence[str], printed: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line; what it prints in 80 columns is kept beside the page."""
    command = [sys.executable, "-m", "interlingua", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    printed.write_text(done.stdout + done.stderr, "utf-8")
    return done


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="names of runs, comma-separated")
    parser.add_argument("--first-screen", action="store_true", help="only what is seen without scrolling")
    parser.add_argument("--no-runs", action="store_true", help="only pictures of the pages that are there")
    given = parser.parse_args()
    wanted = [name for name in given.only.split(",") if name]
    gallery = Gallery(out=given.out.resolve())
    gallery.prepare()
    if not given.no_runs:
        for name in gallery.samples():
            if not wanted or name in wanted:
                gallery.run(name)
    problems = list(gallery.failures)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, page in gallery.pages(wanted).items():
            problems += gallery.photograph(browser, name, page, whole=not given.first_screen)
        browser.close()
    print("\n".join(problems) or "no problem")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
