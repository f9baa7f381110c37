"""`interlingua align`: one line out for every line in, bad lines told, and the same from Python."""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import interlingua
from interlingua.cli import app
from interlingua.errors import InputError

SPANISH = {"the": "el", "dog": "perro", "cat": "gato", "eats": "come", "sees": "ve", "red": "rojo", "fish": "pez"}
SPANISH |= {f"noun{k}": f"nombre{k}" for k in range(13)}


def sentences(count: int = 60, seed: int = 0) -> list[tuple[str, str]]:
    """Word for word in a made-up order, so that the links are known."""
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        words = draw.permutation(list(SPANISH))[: draw.integers(2, 6)].tolist()
        rows.append((" ".join(words), " ".join(SPANISH[word] for word in words)))
    return rows


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.split("\n")[:-1]


Run = Callable[..., Printed]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(*arguments: str | Path, stdin: bytes | None = None) -> Printed:
        monkeypatch.setattr(sys, "argv", ["interlingua", "align", *map(str, arguments)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            app.main()
        printed = capsys.readouterr()
        return Printed(int(end.value.code or 0), printed.out, printed.err)

    return command


@pytest.fixture
def bitext(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text("".join(f"{a} ||| {b}\n" for a, b in sentences()), "utf-8")
    return path


def diagonal(text: str) -> str:
    return " ".join(f"{k}-{k}" for k in range(len(text.split())))


def test_one_line_of_links_for_every_pair_and_what_training_did_on_stderr(run: Run, bitext: Path) -> None:
    done = run(bitext, "--device", "cpu")
    assert done.code == 0
    assert done.lines == [diagonal(source) for source, _ in sentences()]
    for direction in ("forward", "backward"):
        told = re.findall(rf"{direction}, pass (\d): log-likelihood (-[\d.]+), .*tension ([\d.]+)", done.err)
        assert [number for number, _, _ in told] == ["1", "2", "3", "4", "5"]
        assert float(told[-1][1]) > float(told[0][1])


BAD = {3: "", 5: "no bar", 8: "a ||| b ||| c", 9: "||| b", 12: "a |||"}


@pytest.fixture
def spoilt(tmp_path: Path) -> Path:
    lines = [f"{a} ||| {b}" for a, b in sentences()]
    for line, text in BAD.items():
        lines[line - 1] = text
    lines[13] = "\udcff ||| x"
    path = tmp_path / "spoilt.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8", "surrogateescape")
    return path


def test_bad_lines_are_counted_with_their_numbers_and_their_line_of_links_is_empty(run: Run, spoilt: Path) -> None:
    done = run(spoilt)
    assert done.code == 0
    bad = {*BAD, 14}
    expected = ["" if k in bad else diagonal(source) for k, (source, _) in enumerate(sentences(), 1)]
    assert done.lines == expected
    for reason, lines in {
        "blank line": "3", "no separator": "5", "more than one separator": "8", "empty source": "9",
        "empty target": "12", "undecodable bytes": "14",
    }.items():  # fmt: skip
        assert f"1 line left out: {reason} ({spoilt}:{lines})\n" in done.err


def test_bad_lines_can_be_fatal_and_then_nothing_is_written(run: Run, spoilt: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    asked = ("--out", tmp_path / "links", "--scores", tmp_path / "scores", "--write-tokens", tmp_path / "tokens")
    done = run(spoilt, "--bad-lines", "fail", "--save", tmp_path / "model", *asked)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {spoilt}:3: blank line. Remove the line, or write both sides.\n"
    assert sorted(tmp_path.iterdir()) == before


def test_the_same_bytes_come_from_stdin_gzip_two_columns_and_two_files(run: Run, bitext: Path, tmp_path: Path) -> None:
    expected = run(bitext).out
    text = bitext.read_bytes()
    assert run("-", stdin=text).out == expected
    (tmp_path / "x.gz").write_bytes(gzip.compress(text))
    assert run(tmp_path / "x.gz").out == expected
    (tmp_path / "x.tsv").write_bytes(text.replace(b" ||| ", b"\t"))
    assert run(tmp_path / "x.tsv").out == expected
    for side in (0, 1):
        (tmp_path / f"x.{side}").write_text("".join(pair[side] + "\n" for pair in sentences()), "utf-8")
    assert run(tmp_path / "x.0", tmp_path / "x.1").out == expected


def test_files_of_unequal_length_fail_unless_skipping_is_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("".join(f"{a}\n" for a, _ in sentences()), "utf-8")
    (tmp_path / "x.es").write_text("".join(f"{b}\n" for _, b in sentences()[:-2]), "utf-8")
    done = run(tmp_path / "x.en", tmp_path / "x.es")
    assert (done.code, done.out) == (2, "")
    problem = f"error: {tmp_path / 'x.en'}:59: no partner: {tmp_path / 'x.es'} has 58 lines. The two files"
    assert problem in done.err
    done = run(tmp_path / "x.en", tmp_path / "x.es", "--bad-lines", "skip")
    assert done.lines == [diagonal(a) for a, _ in sentences()[:-2]] + ["", ""]
    assert f"2 lines left out: no partner ({tmp_path / 'x.en'}:59, 60)" in done.err


def test_raw_text_is_cut_into_words_and_what_was_cut_can_be_read(run: Run, tmp_path: Path) -> None:
    raw = [(f"{a.capitalize()}, {a}!", f"¡{b.capitalize()}, {b}!") for a, b in sentences()]
    (tmp_path / "raw.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in raw), "utf-8")
    done = run(tmp_path / "raw.tsv", "--write-tokens", tmp_path / "cut.txt")
    cut = (tmp_path / "cut.txt").read_text("utf-8").splitlines()
    assert cut[0] == " ||| ".join(re.sub(r"([¡,!])", r" \1 ", side).strip().replace("  ", " ") for side in raw[0])
    # Its indices are those of the text that was cut, and that text gives the same links.
    assert run(tmp_path / "cut.txt").out == done.out
    words = [[side.split() for side in line.split(" ||| ")] for line in cut]
    for (source, target), line in zip(words, done.lines, strict=True):
        pairs = {(source[int(s)], target[int(t)]) for s, t in (link.split("-") for link in line.split())}
        assert {(",", ","), ("!", "!")} <= pairs


def test_a_script_without_segmenter_is_cut_into_characters_with_a_note(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ja.tsv").write_text("pen\tペン\n" * 3, "utf-8")
    done = run(tmp_path / "ja.tsv", "--write-tokens", tmp_path / "cut.txt")
    assert (tmp_path / "cut.txt").read_text("utf-8").splitlines()[0] == "pen ||| ペ ン"
    assert re.search(r"note: 3 rows of .*ja\.tsv have a script without spaces .* cut into characters", done.err)


def test_a_line_of_invisible_characters_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("tea\tté\n\u200b\tté\n", "utf-8")
    done = run(tmp_path / "x.tsv")
    assert len(done.lines) == 2
    assert "1 line left out: no words" in done.err


def test_symmetrisations_nest_and_one_direction_can_be_had(run: Run, bitext: Path) -> None:
    def links(how: str) -> set[tuple[int, str]]:
        lines = run(bitext, "--symmetrize", how, "--iterations", "1").lines
        return {(number, link) for number, line in enumerate(lines) for link in line.split()}

    found = {
        how: links(how) for how in ("intersect", "union", "grow-diag", "grow-diag-final-and", "forward", "backward")
    }
    assert found["intersect"] == found["forward"] & found["backward"]
    assert found["union"] == found["forward"] | found["backward"]
    assert found["intersect"] <= found["grow-diag"] <= found["grow-diag-final-and"] <= found["union"]


def test_a_kept_model_gives_new_text_the_links_it_gave_and_scores_shuffled_pairs_lower(
    run: Run, bitext: Path, tmp_path: Path
) -> None:
    first = run(bitext, "--save", tmp_path / "model")
    again = run(bitext, "--aligner", tmp_path / "model", "--scores", tmp_path / "right")
    assert again.out == first.out
    assert "pass 1" not in again.err
    new = sentences(40, seed=9)
    shuffled = [(a, new[(k + 7) % len(new)][1]) for k, (a, _) in enumerate(new)]
    scores = []
    for name, rows in (("new", new), ("shuffled", shuffled)):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{a} ||| {b}\n" for a, b in rows), "utf-8")
        assert run(path, "--aligner", tmp_path / "model", "--scores", tmp_path / name).code == 0
        scores.append(np.array([line.split("\t") for line in (tmp_path / name).read_text().splitlines()], float))
    assert (scores[0][:, 0] > scores[1][:, 0]).mean() > 0.9
    assert scores[0][:, 1].mean() > scores[1][:, 1].mean() + 0.2


def test_scores_tell_real_translations_from_shuffled_ones(tmp_path: Path) -> None:
    pair = interlingua.read_corpus("sampler").pair("en", "es")
    rows = list(zip(pair.source_texts, pair.target_texts, strict=True))
    known, new = rows[:400], rows[400:]
    shuffled = [(source, new[(k + 100) % len(new)][1]) for k, (source, _) in enumerate(new)]
    interlingua.align(known, save=tmp_path / "model", device="cpu")
    right, wrong = (
        interlingua.align(some, aligner=tmp_path / "model", device="cpu").scores for some in (new, shuffled)
    )
    assert (right.likelihood > wrong.likelihood).mean() > 0.95
    assert (right.linked > wrong.linked).mean() > 0.8


def test_a_place_that_holds_something_is_not_saved_to(run: Run, bitext: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    done = run(bitext, "--save", tmp_path / "model")
    assert (done.code, done.out) == (2, "")
    assert "there is something already" in done.err
    done = run(bitext, "--aligner", tmp_path / "model")
    assert done.code == 2
    assert "no saved aligner here" in done.err


def test_a_run_that_breaks_off_leaves_no_part_of_a_model(bitext: Path, tmp_path: Path) -> None:
    def broken(direction: str, passed: object) -> None:
        if direction == "backward":
            assert list((tmp_path / "kept").iterdir())  # The first direction is on the disk already.
            raise RuntimeError

    (tmp_path / "kept").mkdir()
    with pytest.raises(RuntimeError):
        interlingua.align(bitext, save=tmp_path / "kept" / "aligner", watch=broken, device="cpu")
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_steps_of_fast_align_can_be_asked_for(run: Run, bitext: Path) -> None:
    by_name = run(bitext, "--tension-rule", "fast_align")
    assert by_name.code == 0
    assert len(by_name.lines) == len(run(bitext).lines)
    wrong = run(bitext, "--tension-rule", "fastalign")
    assert wrong.code == 2
    assert "unknown value of --tension-rule" in wrong.err
    assert "Known: fast_align, part" in wrong.err


def test_text_beside_the_bitext_is_trained_on_and_not_printed(run: Run, bitext: Path, tmp_path: Path) -> None:
    lone = tmp_path / "lone.txt"
    lone.write_text("fish red ||| pez rojo\n", "utf-8")
    alone, helped = run(lone), run(lone, "--also", bitext)
    assert helped.lines == ["0-0 1-1"]
    assert len(alone.lines) == 1


def test_links_from_elsewhere_are_converted_symmetrised_and_judged(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "x.txt"
    text.write_text("a b c ||| u v w\nd ||| x\n", "utf-8")
    (tmp_path / "f").write_text("1-1 2-2\n1-1\n")
    (tmp_path / "b").write_text("1-1 3-3\n\n")
    (tmp_path / "gold").write_text("0-0 1p1 2-2\n0-0\n")
    assert run(text, "--links", tmp_path / "f", "--base", "1").lines == ["1-1 2-2", "1-1"]
    both = ("--links", tmp_path / "f", "--links", tmp_path / "b", "--base", "1")
    assert run(text, *both).lines == ["1-1", ""]
    done = run(text, *both, "--symmetrize", "union", "--gold", tmp_path / "gold", "--gold-base", "0")
    assert done.lines == ["1-1 2-2 3-3", "1-1"]
    # A = 4, S = 3, A∩S = 3, A∩P = 4.
    shown = dict(re.findall(r"^ *(\w+)  ([\d.]+)  \[", done.err, flags=re.M))
    assert {name: float(value) for name, value in shown.items()} == {"AER": 0, "precision": 1, "recall": 1, "f1": 1}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("0-0\n9-0\n", r"l:2: a link past the words of its row \(1 and 1\): '9-0'\. The first word is 0"),
        ("0-0\nx\n", r"l:2: not a link: 'x'"),
        ("0-0\n", r"l:1: ends here, and the bitext has 2 lines"),
        ("0-0\n0-0\n0-0\n", r"l:3: speaks of a row past the 2 of the bitext"),
    ],
)
def test_bad_files_of_links_are_named_by_line(run: Run, tmp_path: Path, lines: str, told: str) -> None:
    text = tmp_path / "x.txt"
    text.write_text("a ||| u\nd ||| x\n", "utf-8")
    (tmp_path / "l").write_text(lines)
    done = run(text, "--links", tmp_path / "l", "--bad-lines", "fail")
    assert (done.code, done.out) == (2, "")
    assert re.search(told, done.err)
    done = run(text, "--links", tmp_path / "l", "--bad-lines", "skip")
    assert done.code == 0
    assert len(done.lines) == 2
    assert done.lines[0] == "0-0"
    assert "1 line left out: " in done.err


def test_gold_with_bad_lines_is_judged_on_the_others(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "x.txt"
    text.write_text("a ||| u\nd ||| x\nbroken\n", "utf-8")
    (tmp_path / "l").write_text("0-0\n0-0\n\n")
    (tmp_path / "gold").write_text("0-0\n7-7\n0-0\n")
    done = run(text, "--links", tmp_path / "l", "--gold", tmp_path / "gold", "--gold-base", "0")
    assert re.search(r"AER  0\.000 .* 1 row", done.err)
    assert f"1 line left out: a link past the words of its row ({tmp_path / 'gold'}:2)" in done.err
    assert f"1 line left out: no separator ({text}:3)" in done.err


def test_gold_that_leaves_the_first_word_open_must_be_told(run: Run, bitext: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("0-0\n" * 60)
    done = run(bitext, "--gold", tmp_path / "gold")
    assert (done.code, done.out) == (2, "")
    assert "--gold-base. 0 occurs in it, so give 0." in done.err
    assert "pass 1" not in done.err  # Told before anything is trained.


def test_one_object_has_links_passes_skipped_lines_and_quality(run: Run, spoilt: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("".join(f"{diagonal(a)}\n" for a, _ in sentences()))
    found = json.loads(run(spoilt, "--json", "--gold", tmp_path / "gold", "--gold-base", "0", "--base", "1").out)
    assert len(found["links"]) == 60
    assert found["links"][0].split()[:2] == ["1-1", "2-2"]
    assert found["links"][2] == ""
    assert [one["number"] for one in found["iterations"]["backward"]] == [1, 2, 3, 4, 5]
    assert {one["reason"]: one["lines"] for one in found["skipped"]}["empty source"] == [9]
    judged = found["quality"]["aer"]
    assert 0 < judged.pop("null") < 1
    assert judged == {"value": 0.0, "low": 0.0, "high": 0.0, "rows": 54}


def test_python_gives_what_the_command_prints(run: Run, bitext: Path, tmp_path: Path) -> None:
    options = ("--iterations", "2", "--p0", "0.2", "--tension", "6", "--fixed-tension", "--no-variational")
    printed = json.loads(run(bitext, *options, "--symmetrize", "union", "--json").out)
    found = interlingua.align(
        bitext, symmetrize="union", iterations=2, p0=0.2, tension=6.0, fixed_tension=True, variational=False
    )
    assert found.to_dict() == printed
    assert {one.tension for passes in found.iterations.values() for one in passes} == {6.0}
    from_pairs = interlingua.align(
        sentences(), symmetrize="union", iterations=2, p0=0.2, tension=6.0, fixed_tension=True, variational=False
    )
    assert list(from_pairs.lines()) == list(found.lines())
    file = tmp_path / "links"
    assert run(bitext, *options, "--symmetrize", "union", "--out", file).out == ""
    assert file.read_text("utf-8").splitlines() == list(found.lines())


def test_the_neural_aligner_runs_on_any_model_folder(run: Run, spoilt: Path, bert_folder: Path) -> None:
    asked = (spoilt, "--method", "neural", "--model", bert_folder, "--device", "cpu")
    done = run(*asked, "--layer", "1", "--neural", "itermax", "--unit", "token")
    assert done.code == 0
    assert len(done.lines) == 60
    assert [k for k, line in enumerate(done.lines, 1) if not line] == sorted({*BAD, 14})
    assert "layer 1 (0 is the embedding output), itermax of tokens" in done.err
    found = interlingua.align(
        spoilt, method="neural", model=str(bert_folder), device="cpu", neural="itermax", layer=1, unit="token"
    )
    assert list(found.lines()) == done.lines
    assert math.isnan(found.scores.likelihood[0])
    assert run(*asked, "--layer", "99").code == 2
    assert run(*asked, "--symmetrize", "union").code == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--method", "diagnoal"], "unknown value of --method: 'diagnoal'. Did you mean 'diagonal'?"),
        (["--symmetrize", "intersection"], "unknown value of --symmetrize: 'intersection'. Did you mean 'intersect'?"),
        (["--tokenize", "word"], "Did you mean 'words'?"),
        (["--bad-lines", "ignore"], "unknown value of --bad-lines: 'ignore'"),
        (["--base", "2"], "the first word is 0 or 1: 2"),
        (["--iterations", "0"], "--iterations must be at least 1: 0"),
        (["--p0", "1"], "--p0 must be at least 0 and below 1: 1.0"),
        (["--alpha", "-1"], "--alpha must be above 0: -1.0"),
        (["--tension", "99"], "--tension must be at least 0.1 and at most 14: 99.0"),
        (["--method", "neural", "--save", "m"], "--save has nothing to do here"),
        (["--method", "neural", "--also", "m"], "--also has nothing to do here"),
        (["--method", "eflomal", "--aligner", "m"], "--aligner has nothing to do here"),
        (["--links", "a", "--links", "b", "--links", "c"], "more than two files of links"),
        (["--method", "neural", "--links", "a"], "--method has nothing to do here"),
        (["--links", "nowhere"], "no such file: 'nowhere'"),
        (["--gold", "nowhere"], "no such file: 'nowhere'"),
        (["--aligner", "nowhere"], "nowhere: no saved aligner here"),
        (["--format", "csv"], "unknown format of a bitext: 'csv'"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_trained(
    run: Run, bitext: Path, options: list[str], told: str
) -> None:
    done = run(bitext, *options)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1


def test_a_bitext_of_bad_lines_alone_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("a ||| \n||| b\n")
    done = run(tmp_path / "x.txt")
    assert (done.code, done.out) == (2, "")
    assert "no line can be used" in done.err
    with pytest.raises(InputError, match="no line can be used"):
        interlingua.align([("", "b")])


def test_a_shell_gets_links_through_a_pipe(bitext: Path) -> None:
    path = {"PYTHONPATH": str(Path(app.__file__).parents[2]), "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-m", "interlingua", "align", "-"],
        input=bitext.read_bytes(),
        capture_output=True,
        check=True,
        env=path,
    )
    assert done.stdout.decode().splitlines() == [diagonal(source) for source, _ in sentences()]


def test_a_few_foreign_words_need_no_segmenter_and_a_language_does(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from interlingua import words

    monkeypatch.setattr(words, "_installed", lambda package: False)
    monkeypatch.setattr(words, "_segmenter", lambda script: pytest.fail("asked for a segmenter"))
    text = tmp_path / "text.tsv"
    plain = "the dog\tпёс\nthe cat\tкот\n" * 60
    text.write_text(f"{plain}中文 is it\tэто 中文\n", "utf-8")
    done = run(text)
    assert len(done.lines) == 121
    assert "1 row" in done.err
    text.write_text(plain + "中文\tпёс\n" * 3, "utf-8")
    done = run(text)
    assert done.code == 2
    assert "interlingua[segment]" in done.err


def test_a_page_of_the_links_is_written_and_what_was_written_is_said_last(
    run: Run, bitext: Path, tmp_path: Path
) -> None:
    done = run(bitext, "--out", tmp_path / "links", "--report", tmp_path / "page.html")
    assert done.code == 0, done.err
    count = len((tmp_path / "links").read_text("utf-8").splitlines())
    *_, written, page = done.err.splitlines()
    assert written.startswith(f"Written to {tmp_path / 'links'}: {count} lines, ")
    assert page == f"Page: {tmp_path / 'page.html'}"
    html = (tmp_path / "page.html").read_text("utf-8")
    assert f"How well are the words of {bitext.name} linked?" in html
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
