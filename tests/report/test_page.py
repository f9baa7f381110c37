import base64
import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from rich.console import Console

from interlingua.report.figures import cluster_order, distance_histograms, layer_curves
from interlingua.report.files import report_files
from interlingua.report.page import build_page, script_json
from interlingua.report.readings import Reading, gather
from interlingua.report.scatter import marker_styles, sentence_map
from interlingua.report.tables import records_table, to_csv
from interlingua.report.terminal import render

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}<!--\u202e\u2028"


class Parsed(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.ids, self.links, self.scripts = [], [], set(), {}, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self.ids.add(given.get("id"))
        if "download" in given:
            self.links[given["download"]] = given["href"]

    def handle_data(self, data):
        if self.lasttag == "script" and self.tags[-1][0] == "script":
            self.scripts.append(data)
        else:
            self.texts.append(data)

    def data(self):
        return json.loads(next(text for text in self.scripts if text.startswith("{")))


@pytest.fixture(scope="module")
def html(records, run, points):
    return build_page(records, run, points)


def test_page_is_one_small_file_that_asks_for_nothing(html):
    assert len(html.encode()) < 2_500_000
    for tag, attrs in Parsed(html).tags:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith(("#", "data:")), tag


def test_policy_names_the_hash_of_each_script_that_runs(html):
    parsed = Parsed(html)
    policy = next(
        attrs["content"] for tag, attrs in parsed.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    running = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(running) == 2
    for script in running:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'")


def test_every_section_is_there_and_no_not_a_number(html):
    parsed = Parsed(html)
    assert {"answer", "layers", "pairs", "map", "distances", "tokenizer", "tables", "made"} <= parsed.ids
    assert not re.search(r"\b(nan|NaN|None|Infinity)\b", " ".join(parsed.texts))


def test_no_raw_variant_name_is_shown(html):
    shown = " ".join(Parsed(html).texts)
    for name in ("p@1", "auc/", "average-cosine", "/backward", "fertility/"):
        assert name not in shown


def test_hostile_texts_are_shown_and_never_markup(make):
    make_records, make_run, make_points = make
    codes = ["en", "ru", "ar"]
    records = [{**record, "model": HOSTILE} for record in make_records(codes, range(2))]
    run = {
        **make_run(codes),
        "model": HOSTILE,
        "corpus": HOSTILE,
        "names": dict.fromkeys(codes, HOSTILE),
        "skipped": [HOSTILE],
    }
    points = make_points(codes, 3)
    points["points"][0]["text"] = HOSTILE
    page = build_page(records, run, points)
    parsed = Parsed(page)
    assert sum(tag == "script" for tag, _ in parsed.tags) == 3
    assert not any(tag == "img" or "onerror" in attrs for tag, attrs in parsed.tags)
    assert "<script>alert(1)</script>" in "".join(parsed.texts)
    assert "\u202e" not in page
    assert parsed.data()["map"]["series"][0]["text"][0] == HOSTILE.replace("\u202e", "[U+202E]")


def test_script_json_reads_back_as_the_same_data():
    data = {"text": HOSTILE, "more": ["]]>", "नमस्ते", "&amp;"]}
    assert json.loads(script_json(data)) == data
    assert not set("<>&\u2028") & set(script_json(data))


@pytest.mark.parametrize(
    ("measure", "section"),
    [("separation", "distances"), ("tokenization", "tokenizer")],
)
def test_sections_without_records_vanish(records, run, measure, section):
    parsed = Parsed(build_page([record for record in records if record["measure"] != measure], run))
    assert section not in parsed.ids
    assert "map" not in parsed.ids


def test_one_pair_has_no_heat_map_and_one_layer_no_curve(make):
    make_records, make_run, _ = make
    parsed = Parsed(build_page(make_records(["en", "ru"], [3]), make_run(["en", "ru"])))
    assert not {"layers", "pairs", "map"} & parsed.ids
    assert {"answer", "distances", "tokenizer", "tables", "made"} <= parsed.ids


def test_no_records_still_make_a_page():
    parsed = Parsed(build_page([], {}))
    assert {"answer", "made"} <= parsed.ids
    assert not {"layers", "pairs", "map", "distances", "tokenizer", "tables"} & parsed.ids


def test_records_can_be_downloaded_from_a_small_page(make):
    make_records, make_run, _ = make
    records = make_records(["en", "ru", "hi"], range(3))
    link = Parsed(build_page(records, make_run(["en", "ru", "hi"]))).links["records.csv.gz"]
    assert gzip.decompress(base64.b64decode(link.split(",", 1)[1])).decode() == to_csv(records_table(records))


def test_many_layers_and_points_stay_within_the_size(make, languages):
    make_records, make_run, make_points = make
    page = build_page(make_records(languages, range(0, 25)), make_run(languages), make_points(languages, 400))
    assert len(page.encode()) < 2_500_000
    assert len(Parsed(page).data()["map"]["series"]) == len(languages)


def test_curve_is_the_mean_over_pairs_with_its_null(records):
    line = layer_curves(gather(records))[0]["lines"][0]
    values = [r["value"] for r in records if r["layer"] == 2 and r["variant"].startswith("p@1/cosine/centred")]
    assert line["value"][2] == pytest.approx(sum(values) / len(values), abs=1e-4)
    assert line["null"][2] == pytest.approx(1 / 600, abs=1e-4)


def test_measure_of_a_user_gets_a_curve_of_its_own(records):
    mine = [{**r, "measure": "mine", "variant": "top"} for r in records if r["variant"] == "debiased"]
    assert [figure["title"] for figure in layer_curves(gather(mine))] == ["mine"]


def test_clustering_puts_two_planted_families_side_by_side():
    families = {"a1": "a", "b1": "b", "a2": "a", "b2": "b", "a3": "a", "b3": "b"}
    readings = {
        (x, y): Reading(0.9 if families[x] == families[y] else 0.1 + 0.01 * i)
        for i, (x, y) in enumerate((x, y) for x in families for y in families if x < y)
    }
    order = [families[code] for code in cluster_order(readings)]
    assert order in (["a"] * 3 + ["b"] * 3, ["b"] * 3 + ["a"] * 3)


def test_marks_of_seventeen_languages_all_differ(points):
    texts = {point["language"]: point["text"] for point in points["points"]}
    styles = marker_styles(texts)
    assert len(set(styles.values())) == len(texts) == 17
    assert styles["ru"][1] == styles["uk"][1] != styles["hi"][1]


def test_map_is_thinned_by_whole_rows(make, languages, run):
    _, _, make_points = make
    drawn = sentence_map(make_points(languages, 400), run)
    assert sum(len(series["x"]) for series in drawn["series"]) <= 2500
    assert len({tuple(series["row"]) for series in drawn["series"]}) == 1


def test_histograms_keep_their_counts(records):
    entry = distance_histograms(gather(records))["entries"][0]
    record = next(
        r
        for r in records
        if r["measure"] == "separation" and all(r[key] == entry[key] for key in ("source", "target", "layer"))
    )
    assert entry["related"] == record["details"]["related"]
    assert (entry["start"], entry["end"]) == (0, 1)


def test_terminal_names_each_language_and_reads_no_markup(records, run):
    out = io.StringIO()
    names = {**run["names"], "en": "[red]English[/red]"}
    render(records, {**run, "names": names, "model": "[bold]m"}, Console(file=out, width=120, color_system=None))
    text = out.getvalue()
    assert all(name in text for name in names.values())
    assert "[bold]m" in text


def test_terminal_of_no_records_says_so():
    out = io.StringIO()
    render([], {}, Console(file=out, width=80, color_system=None))
    assert "No alignment" in out.getvalue()


def test_report_files_hold_page_and_each_table_in_three_formats(records, run, points):
    names = set(report_files(records, run, points))
    assert {"report.html", "answer.md", "tables/records.csv"} <= names
    stems = {name.rsplit(".", 1)[0] for name in names if name.endswith(".tex")}
    assert {f"{stem}{end}" for stem in stems for end in (".csv", ".md", ".tex")} <= names
    assert {"tables/languages", "tables/tokenizer", "tables/pairs-retrieval", "tables/pairs-cka"} <= stems


def test_report_does_not_import_torch():
    code = "import sys, interlingua.report.files, interlingua.report.terminal; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium here")
def test_browser_draws_every_figure_and_runs_no_hostile_text(make, tmp_path):
    make_records, make_run, make_points = make
    codes = ["en", "ru", "ar"]
    points = make_points(codes, 3)
    points["points"][0]["text"] = HOSTILE
    run = {**make_run(codes), "names": {"en": HOSTILE, "ru": "<b onclick=alert(3)>", "ar": "Arabic"}}
    (tmp_path / "page.html").write_text(build_page(make_records(codes, range(3)), run, points), encoding="utf-8")
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--enable-logging=stderr",
    )
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [
        "chromium",
        *options,
        profile,
        "--virtual-time-budget=5000",
        "--dump-dom",
        (tmp_path / "page.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    parsed = Parsed(done.stdout)
    plots = [attrs for tag, attrs in parsed.tags if "js-plotly-plot" in (attrs.get("class") or "")]
    assert (
        len(plots) == len([1 for _, attrs in parsed.tags if (attrs.get("class") or "").split(" ")[0] == "plot"]) == 12
    )
    assert not any(tag == "img" or "onclick" in attrs or "onerror" in attrs for tag, attrs in parsed.tags)
    assert "CONSOLE" not in done.stderr
