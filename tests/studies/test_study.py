from __future__ import annotations

from dataclasses import replace

import pytest

from interlingua.commands.study import check_study, plan_study
from interlingua.engine import machine
from interlingua.errors import InputError
from interlingua.measures import measures
from interlingua.studies.config.fields import ConfigErrors
from interlingua.studies.config.study_file import merge_tables
from interlingua.studies.study import expand_template
from interlingua.studies.validation import read_study

RIGHT = """
name = "small"
languages = ["es", "rus"]
seeds = [3, 1]

[encoders.one]
model = "embedded"

[bitexts]
corpus = "sampler"

[synth.names]
rows = 20

[tasks.ner]
train = "@names/{source}.train.iob2"
tests = "@names/{language}.test.iob2"
"""


def write(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text, "utf-8")
    return path


def told(tmp_path, text, **options):
    """(line, message) of all that is wrong."""
    with pytest.raises(ConfigErrors) as error:
        read_study(write(tmp_path, text), **options)
    return {(problem.line, str(problem)) for problem in error.value.problems}


def test_a_right_file_is_read_with_one_code_for_a_language(tmp_path):
    study = read_study(write(tmp_path, RIGHT))
    assert study.languages == ("es", "ru")
    assert study.seeds == (3, 1)
    assert study.tests("ner", "en") == {"es": ("@names/es.test.iob2",), "ru": ("@names/ru.test.iob2",)}


WRONG = {
    # what is written, in place of what, where it is told, and what is told of it
    "key": ('name = "small"\nlangs = 1', 'name = "small"', 3, "unknown key: 'langs'"),
    "deep key": ("rows = 20\nrow = 3", "rows = 20", 14, "Did you mean 'rows'?"),
    "type": ('seeds = "5"', "seeds = [3, 1]", 4, "seeds should be a whole number or a list"),
    "one seed": ("seeds = 20240101", "seeds = [3, 1]", 4, "or one seed as seeds = [20240101]."),
    "truth": ("rows = true", "rows = 20", 13, "rows should be a whole number"),
    "language": ('languages = ["es",\n "xx-qqq"]', 'languages = ["es", "rus"]', 4, "xx-qqq"),
    "language twice": ('languages = ["ru", "rus"]', 'languages = ["es", "rus"]', 3, "a language twice"),
    "encoder": ('model = "./nowhere"', 'model = "embedded"', 7, "no such model folder"),
    "both": ('model = "embedded"\nrecipe = "x.toml"', 'model = "embedded"', 6, "a model, or a recipe"),
    "encoder of nobody": ('model = "~nosuchuser/x"', 'model = "embedded"', 7, "no such user: '~nosuchuser/x'"),
    "long name": (f'corpus = "{"x" * 300}"', 'corpus = "sampler"', 10, "a name that is too long for a file"),
    "zero byte": ('corpus = "a\\u0000b"', 'corpus = "sampler"', 10, "no name of a file"),
    "corpus": ('corpus = "nowhere.tsv"', 'corpus = "sampler"', 10, "no such file"),
    "aligner": ('corpus = "sampler"\naligner = "diagonl"', 'corpus = "sampler"', 11, "Did you mean 'diagonal'?"),
    "links of a corpus": (
        'corpus = "sampler"\nlinks = "{language}.links"',
        'corpus = "sampler"',
        11,
        "a corpus is linked",
    ),
    "linking encoder": ('corpus = "sampler"\nencoder = "one"', 'corpus = "sampler"', 11, "no encoder links here"),
    "task": ("[tasks.nerr]", "[tasks.ner]", 15, "Did you mean 'ner'?"),
    "regime": ('seeds = [3, 1]\nregimes = ["original", "adjsted"]', "seeds = [3, 1]", 5, "Did you mean 'adjusted'?"),
    "seeds": ("seeds = [1, 1]", "seeds = [3, 1]", 4, "none twice"),
    "made": ("@nams/{source}.train.iob2", "@names/{source}.train.iob2", 16, "Did you mean 'names'?"),
    "field": ("{source}.tr{lang}ain", "{source}.train", 16, "Did you mean 'language'?"),
    "number": ("rows = 0", "rows = 20", 13, "rows must be at least 1"),
    "precision": ('seeds = [3, 1]\nprecision = "fp64"', "seeds = [3, 1]", 5, "unknown value of precision"),
    "file": ('train = "gone.tsv"', 'train = "@names/{source}.train.iob2"', 16, "no such file: 'gone.tsv'"),
    "pooling": (
        'pooling = "mean"\ntrain = "@names/{source}.train.iob2"',
        'train = "@names/{source}.train.iob2"',
        16,
        "no vector of a text is read for: 'ner'",
    ),
    "missing": ("", 'train = "@names/{source}.train.iob2"\n', 15, "[tasks.ner] lacks train"),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_thing_that_is_wrong_is_told_with_its_line(tmp_path, case):
    new, old, line, message = WRONG[case]
    assert old in RIGHT
    found = told(tmp_path, RIGHT.replace(old, new, 1))
    assert any(place == line and message in text for place, text in found), found


MORE = {
    "measure": ('[measures.m]\nmeasures = ["retreival"]\n', "Did you mean 'retrieval'?"),
    "measure's corpus": ('[measures.m]\nmeasures = ["cka"]\nlanguages = ["es", "sw"]\n', "unknown language"),
    "state": ('[measures.m]\nmeasures = ["cka"]\nmodels = ["ner/adjusted"]\n', "unknown regime of ner"),
    "regime of state": ('[measures.m]\nmeasures = ["cka"]\nmodels = ["ner"]\n', "Write ner/original"),
    "encoder of state": (
        '[encoders.two]\nmodel = "embedded"\n[tasks.nli]\ntrain = "study.toml"\ntests = "study.toml"\n'
        'encoders = ["one"]\n[measures.m]\nmeasures = ["cka"]\nencoders = ["two"]\nmodels = ["nli/original"]\n',
        "none of these encoders is trained for it: 'nli'",
    ),
    "against": ('[measures.m]\nmeasures = ["cka"]\nagainst = [["one", "two"]]\n', "unknown encoder: 'two'"),
    "spellings": ('[measures.m]\nmeasures = ["cka"]\nspellings = "."\n', "spelling, which is not named: 'spellings'"),
    **{
        key: (
            f'[measures.m]\nmeasures = ["cka"]\nagainst = [["one", "one"]]\n{key} = {value}\n',
            f"compares all their languages: '{key}'",
        )
        for key, value in {"pairs": '"all"', "maps": '"pivot"', "models": '["encoder"]', "encoders": '["one"]'}.items()
    },
    "one space": ('[measures.m]\nmeasures = ["retrieval"]\nagainst = [["one", "one"]]\n', "two models have two"),
    "attribution": ('[explanations.e]\ntasks = ["ner"]\nattribution = "integrted"\n', "Did you mean 'integrated'?"),
    "space": ('[explanations.e]\ntasks = ["ner"]\nspace = "embedings"\n', "Did you mean 'embeddings'?"),
    "explained": ('[explanations.e]\ntasks = ["nli"]\n', "unknown task of the study"),
    "seed": ('[explanations.e]\ntasks = ["ner"]\nseeds = [2]\n', "unknown seed of the study"),
    "kind": ("[resources.finetun]\ngpus = 1\n", "Did you mean 'finetune'?"),
    "target": ('[adjust]\nsource_side = "jont"\n', "unknown value of source_side: 'jont'"),
    "recipe": ('[encoders.two]\nrecipe = "gone.toml"\n', "no such config file"),
    "mixed": ('[tasks.xsr]\ntask = "retrieval"\ntests = "sampler"\ntrain = "x"\n', "nothing is trained"),
}


@pytest.mark.parametrize("case", MORE)
def test_what_is_wrong_in_other_tables_is_told_at_their_end(tmp_path, case):
    table, message = MORE[case]
    found = told(tmp_path, RIGHT + "\n" + table)
    first = len(RIGHT.splitlines()) + 2
    assert any(line is not None and line >= first and message in text for line, text in found), found


def test_all_that_is_wrong_in_a_recipe_is_told_with_its_lines(tmp_path):
    (tmp_path / "bad.toml").write_text(
        '[data]\nfolder = "mono"\nlanguages = ["en"]\n[training]\nsteps = "x"\nbatch = 0.5\n'
    )
    found = told(tmp_path, RIGHT + '\n[encoders.two]\nrecipe = "bad.toml"\n')
    assert {text.partition("bad.toml:")[2][:1] for _, text in found if "bad.toml:" in text} == {"5", "6"}, found
    assert all(line == len(RIGHT.splitlines()) + 3 for line, text in found if "bad.toml:" in text)


@pytest.mark.parametrize(
    "said",
    [
        "gpus = -1",
        "gpus = 1.5",
        "gpus = nan",
        "gpus = inf",
        "cpus = 0",
        "processes = -2",
        "memory = -0.5",
        "memory = inf",
        "memory = -inf",
    ],
)
def test_a_bad_resource_is_told_once_at_its_own_line(tmp_path, said):
    text = f"{RIGHT}\n[resources.finetune]\n# what a step takes\n{said}\n[resources.synth]\ncpus = 2\n"
    ((line, message),) = told(tmp_path, text)
    key, _, value = said.partition(" = ")
    assert text.splitlines()[line - 1] == said
    assert value in message
    assert key in message.lower()


def test_a_wrong_value_makes_nothing_else_wrong(tmp_path):
    assert len(told(tmp_path, RIGHT.replace("rows = 20", "rows = true"))) == 1


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_lines(tmp_path):
    text = RIGHT.replace('"es"', '"q1"').replace("rows = 20", "rows = -1\ncolour = 1").replace("@names", "@other")
    with pytest.raises(ConfigErrors) as error:
        read_study(write(tmp_path, text))
    lines = [problem.line for problem in error.value.problems]
    assert lines == sorted(lines)
    assert len(lines) >= 5
    assert str(error.value).startswith(f"{len(lines)} things are wrong")
    assert all(f"study.toml:{line}: " in str(error.value) for line in lines)


def test_a_regime_that_needs_a_bitext_has_one_for_every_language(tmp_path):
    text = RIGHT.replace("seeds = [3, 1]", 'regimes = ["original", "adjusted"]')
    assert any("needs bitexts" in line for _, line in told(tmp_path, text.replace('[bitexts]\ncorpus = "sampler"', "")))
    (tmp_path / "es.tsv").write_text("a\tb\n", "utf-8")
    found = told(tmp_path, text.replace('corpus = "sampler"', 'files.es = "es.tsv"'))
    assert [line for _, line in found if "no bitext for ru" in line]


def test_bad_toml_and_no_file_are_told(tmp_path):
    with pytest.raises(InputError, match=r"study.toml:2: not valid TOML"):
        read_study(write(tmp_path, 'name = "x"\nlanguages = ]\n'))
    with pytest.raises(InputError, match="no such study file"):
        read_study(tmp_path / "none.toml")


SIZED = (
    RIGHT
    + """
[sizes.tiny]
languages = ["es"]
[sizes.tiny.tasks.ner]
epochs = 1
[sizes.big.synth.names]
rows = 40
[sizes.wrong.tasks.ner]
epochs = -1
"""
)


def test_a_size_changes_what_it_names_and_keeps_the_rest(tmp_path):
    path = write(tmp_path, SIZED)
    tiny, big = read_study(path, size="tiny"), read_study(path, size="big")
    assert tiny.languages == ("es",)
    assert tiny.table.tasks["ner"].epochs == 1
    assert tiny.table.tasks["ner"].train == "@names/{source}.train.iob2"
    assert big.table.synth["names"].rows == 40
    assert big.table.tasks["ner"].epochs is None
    assert (tiny.name, big.name) == ("small-tiny", "small-big")


def test_what_is_wrong_in_a_size_has_the_lines_of_the_size(tmp_path):
    found = told(tmp_path, SIZED, size="wrong")
    assert {line for line, _ in found} == {SIZED.splitlines().index("epochs = -1") + 1}


def test_a_size_is_asked_for_or_named_and_known(tmp_path):
    path = write(tmp_path, SIZED)
    with pytest.raises(InputError, match="--size: tiny, big, wrong"):
        read_study(path)
    with pytest.raises(InputError, match="Did you mean 'tiny'"):
        read_study(path, size="tinny")
    assert read_study(write(tmp_path, 'size = "tiny"' + SIZED)).size == "tiny"


def test_every_size_is_checked(tmp_path):
    with pytest.raises(ConfigErrors) as error:
        check_study(write(tmp_path, SIZED))
    assert len(error.value.problems) == 1
    right = SIZED[: SIZED.index("[sizes.wrong")]
    assert list(check_study(write(tmp_path, right))) == ["tiny", "big"]


def test_merging_changes_neither_side():
    base, over = {"a": {"b": 1}}, {"a": {"c": 2}}
    assert merge_tables(base, over) == {"a": {"b": 1, "c": 2}}
    assert (base, over) == ({"a": {"b": 1}}, {"a": {"c": 2}})


def test_names_of_tests_are_templates_too():
    found = expand_template(
        {"{language}:mlqa": "m.{language}", "{language}+{source}": ("{language}", "{source}")}, ["vi"], "en"
    )
    assert found == {"vi:mlqa": ("m.vi",), "vi+en": ("vi", "en")}


def test_braces_that_are_no_field_reach_nothing():
    assert expand_template("{language.__class__}", ["ru"], "en") == {"ru": ("{language.__class__}",)}


def test_a_measure_written_anew_is_measured_anew(tmp_path, monkeypatch):
    path = write(tmp_path, RIGHT + '[measures.m]\nmeasures = ["cka", "isotropy"]\n')

    def keys():
        return {step.label: step.key for step in plan_study(path, out=tmp_path / "out").graph}

    before = keys()
    entry = measures["cka"]
    monkeypatch.setitem(measures._entries, "cka", replace(entry, call=measures["isotropy"].call))
    changed = {label for label, key in keys().items() if before[label] != key}
    assert changed == {"measure cka one"}


def test_the_grid_has_every_seed_and_shares_what_is_made_once(tmp_path):
    planned = plan_study(write(tmp_path, RIGHT), out=tmp_path / "out")
    kinds = [step.kind for step in planned.graph]
    assert {kind: kinds.count(kind) for kind in kinds} == {"synth": 1, "finetune": 2, "predict": 2}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("said", "gpus"),
    [("cpus = 2", 1), ("memory = 4", 1), ("processes = 2", 2), ("cpus = 2\ngpus = 0", 0), ("gpus = 0.25", 0.25)],
)
def test_a_kind_that_computes_on_a_gpu_keeps_it_where_its_table_says_other_things(tmp_path, said, gpus):
    path = write(tmp_path, f"{RIGHT}\n[resources.finetune]\n{said}\n[resources.synth]\ncpus = 2\n")
    found = {step.kind: step.resources.gpus for step in plan_study(path, out=tmp_path / "out").graph}
    assert found == {"synth": 0, "finetune": gpus, "predict": 1}


def test_a_state_of_a_task_is_measured_of_the_encoders_that_the_task_has(tmp_path):
    text = RIGHT.replace(
        "[tasks.ner]", '[encoders.two]\nmodel = "embedded"\nblocks = 1\n\n[tasks.ner]\nencoders = ["one"]'
    )
    table = '[measures.m]\nmeasures = ["cka"]\nmodels = ["encoder", "ner/original"]\n'
    labels = [step.label for step in plan_study(write(tmp_path, text + table), out=tmp_path / "out").graph]
    assert [label for label in labels if label.startswith("finetune two")] == []
    assert [label for label in labels if label.startswith("measure")] == [
        "measure cka one", "measure cka one ner/original seed 3", "measure cka one ner/original seed 1",
        "measure cka two",
    ]  # fmt: skip


def test_a_plan_counts_the_gpus_of_this_machine(tmp_path, monkeypatch):
    planned = plan_study(write(tmp_path, RIGHT), out=tmp_path / "out")
    planned.workspace.make()
    tunes = [step for step in planned.graph if step.kind == "finetune"]
    planned.workspace.keep_times(
        [{"key": step.key, "kind": "finetune", "like": step.like, "seconds": 100} for step in tunes]
    )
    walls = {}
    for gpus in (1, 2):
        monkeypatch.setattr(machine, "visible_gpus", lambda gpus=gpus: tuple(map(str, range(gpus))))
        monkeypatch.setattr(machine, "cpu_count", lambda: 64)
        walls[gpus] = planned.plan().wall
    assert walls == {1: 200, 2: 100}
