import base64
import gzip
import hashlib
import io
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from rich.console import Console

from interlingua.report.audit import build_page
from interlingua.report.audit_files import report_files
from interlingua.report.figures import MEAN, cluster_order, distance_histograms, layer_curves
from interlingua.report.page import Page, render_page
from interlingua.report.readings import Reading, gather
from interlingua.report.runs import Run
from interlingua.report.scatter import marker_styles, sentence_map
from interlingua.report.sections import Choice, Figure, Section, label
from interlingua.report.tables import Table, records_table, to_csv
from interlingua.report.terminal import render
from pages import page_data

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


@pytest.fixture(scope="module")
def html(records, run, points):
    return build_page(records, run, points)


def test_page_is_one_small_file_that_asks_for_nothing(html):
    assert len(html.encode()) < 6_000_000
    for tag, attrs in Parsed(html).tags:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith(("#", "data:")), tag


def test_policy_names_the_hash_of_each_script_that_runs(html):
    parsed = Parsed(html)
    policy = next(
        attrs["content"] for tag, attrs in parsed.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    running = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(running) == 3
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
    assert sum(tag == "script" for tag, _ in parsed.tags) == 4
    assert not any(tag == "img" or "onerror" in attrs for tag, attrs in parsed.tags)
    assert "<script>alert(1)</script>" in "".join(parsed.texts)
    assert "\u202e" not in page
    drawn = next(figure for figure in page_data(page)["figures"] if figure["name"] == "map")["traces"][0]
    assert "<" not in drawn["text"][0]
    assert "<" not in drawn["name"]


def test_a_label_can_neither_be_markup_nor_a_variable_nor_turn_what_follows():
    shown = label(f"%{{x}} {HOSTILE}", most=500)
    assert "<" not in shown
    assert "%{" not in shown
    assert "\u202e" not in shown
    assert shown[0] == "\u2068"
    assert shown[-1] == "\u2069"
    assert len(label("a" * 10_000)) < 70


def test_every_record_that_a_mark_or_a_cell_names_is_in_the_page_with_its_numbers(html, records):
    data = page_data(html)
    rows = [dict(zip(data["records"]["keys"], row, strict=True)) for row in data["records"]["rows"]]
    known = {(r["measure"], r["variant"], r["source"], r["target"], r["layer"]): r["value"] for r in records}
    for row in rows:
        assert known[row["measure"], row["variant"], row["source"], row["target"], row["layer"]] == row["value"]
    heat = next(figure for figure in data["figures"] if figure["name"] == "heat-retrieval")["traces"][0]
    for i, line in enumerate(heat["records"]):
        for j, place in enumerate(line):
            assert (place is None) == (i == j)
            if place is not None:
                assert rows[place]["value"] == pytest.approx(heat["z"][i][j], abs=1e-4)
    named = {int(n) for _, attrs in Parsed(html).tags if "data-r" in attrs for n in attrs["data-r"].split()}
    assert named
    assert max(named) < len(rows)


def test_two_figures_or_sections_of_one_name_are_refused():
    figure = Figure("f", "F", "", ())
    with pytest.raises(ValueError, match="figures"):
        render_page(Page("x", "", "", [Section("a", "A", figures=(figure, figure))]))
    with pytest.raises(ValueError, match="sections"):
        render_page(Page("x", "", "", [Section("a", "A"), Section("a", "A")]))
    with pytest.raises(ValueError, match="begin"):
        Choice("c", "C", (("a", "A"),), "b")


def test_a_table_whose_records_are_not_its_size_is_refused():
    with pytest.raises(ValueError, match="rows"):
        Table("t", "T", "", ("a",), (("x",), ("y",)), ((None,),))


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
    assert len(page.encode()) < 6_000_000
    drawn = next(figure for figure in page_data(page)["figures"] if figure["name"] == "map")
    assert len(drawn["traces"]) == len(languages)


def curves(records, run):
    own = Run(run, records)
    return layer_curves({"": (own, own.readings())})


def test_curve_is_the_mean_over_pairs_with_its_null(records, run):
    _, figures = curves(records, run)
    traces = [trace for trace in figures[0].traces if MEAN in trace.get("when", {}).get("line", [MEAN])]
    line = next(trace for trace in traces if trace["mode"] == "lines+markers")
    wanted = [r for r in records if r["layer"] == 2 and r["variant"].startswith("p@1/cosine/raw")]
    assert line["y"][2] == pytest.approx(sum(r["value"] for r in wanted) / len(wanted), abs=1e-4)
    assert {id(records[place]) for place in line["records"][2]} == {id(r) for r in wanted}
    null = next(trace for trace in traces if trace["name"] == "without relation")
    assert null["y"][2] == pytest.approx(1 / 600, abs=1e-4)


def test_a_chosen_language_has_the_curve_of_its_own_pairs(records, run):
    (menu,), figures = curves(records, run)
    assert {"mean", "sw", "en\tru"} <= {value for value, _ in menu.options}
    line = next(t for t in figures[0].traces if t.get("when") == {"line": "sw"} and t["mode"] == "lines+markers")
    for place in line["records"][3]:
        assert "sw" in (records[place]["source"], records[place]["target"])


def test_two_runs_share_figures_and_differ_in_colour(records, run):
    one, two = Run(run, records, key="a", name="A"), Run(run, records, first=len(records), key="b", name="B")
    _, figures = layer_curves({each.key: (each, each.readings()) for each in (one, two)})
    main = [t for t in figures[0].traces if t.get("when") == {"line": MEAN} and t["mode"] == "lines+markers"]
    assert len({trace["line"]["color"] for trace in main}) == 2
    assert len(main) == 4


def test_measure_of_a_user_gets_a_curve_of_its_own(records, run):
    mine = [{**r, "measure": "mine", "variant": "top"} for r in records if r["variant"] == "debiased"]
    assert [figure.title for figure in curves(mine, run)[1]] == ["mine"]


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


def test_map_is_thinned_by_whole_rows(make, languages, run, monkeypatch):
    _, _, make_points = make
    monkeypatch.setattr("interlingua.report.scatter.MAP_POINTS", 2500)
    drawn = sentence_map(Run(run, more={"points": make_points(languages, 400)}))
    assert sum(len(trace["x"]) for trace in drawn.traces) <= 2500
    assert len({tuple(trace["groups"]) for trace in drawn.traces}) == 1


def test_histograms_keep_their_shares(records, run):
    choices, figure = distance_histograms(Run(run), gather(records))
    related = figure.traces[0]
    source, target = related["when"]["pair"].split("\t")
    layer = int(related["when"]["layer"])
    record = next(
        r
        for r in records
        if r["measure"] == "separation" and (r["source"], r["target"], r["layer"]) == (source, target, layer)
    )
    counts = record["details"]["related"]
    assert related["y"] == pytest.approx([count / sum(counts) for count in counts], abs=1e-4)
    assert related["x0"] == pytest.approx(0.5 / 40)
    assert {choice.name for choice in choices} == {"pair", "layer"}


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
    assert {"tables/languages", "tables/tokenizer", "tables/pairs-retrieval-raw", "tables/pairs-cka"} <= stems


def test_report_does_not_import_torch():
    code = "import sys, interlingua.report.audit_files, interlingua.report.terminal; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (("63.43 ±0.21*", "–"), True),
        (("63.43 [61.9, 64.9]**", "0.812 [0.790, 0.834]"), True),
        (("+0.100*", "−0.020"), True),
        (("44\N{NO-BREAK SPACE}% at layer 6", "9\N{NO-BREAK SPACE}%"), True),
        ((0.5, None), True),
        (("12 monkeys", 0.5), False),
        (("–", "–"), False),
        ((None, None), False),
    ],
)
def test_columns_of_numbers_stand_right_with_their_signs_and_marks(cells, right):
    assert Table("t", "T", "", ("a",), tuple((cell,) for cell in cells)).numeric() == [right]
