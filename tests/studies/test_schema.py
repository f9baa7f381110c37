"""Each setting is declared once: keys, options, parameters and documentation are made of the declaration."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

import interlingua
from interlingua.analyses.aligned_bitext import SIDES
from interlingua.analyses.explanation import CHOICES, LEAST_HEADS
from interlingua.analyses.transfer import MAPS
from interlingua.analyses.word_alignment import BAD_LINES, CUTS, METHODS
from interlingua.attribution.consistency import SOLVERS
from interlingua.attribution.inputs import BASELINES, SCALES
from interlingua.attribution.integrated_gradients import RULES
from interlingua.attribution.shared_spaces import SPACES
from interlingua.attribution.units import UNITS
from interlingua.cli.app import app
from interlingua.encoder.model_loading import PRECISIONS
from interlingua.objectives.adjustment import REDUCTIONS
from interlingua.studies.config import schema
from interlingua.studies.config.fields import Setting, check, rules, settings_of
from interlingua.synthetic.files import SLOTS
from interlingua.training.reference import KINDS
from interlingua.training.word_pairs import HOWS
from interlingua.transport import WEIGHTINGS
from interlingua.wordalign import neural
from interlingua.wordalign.diagonal import TENSIONS
from interlingua.wordalign.symmetrize import SYMMETRISATIONS

ROOT = Path(__file__).resolve().parents[2]
GROUPS = [
    group
    for group in vars(schema).values()
    if isinstance(group, type) and dataclasses.is_dataclass(group) and group.__module__ == schema.__name__
]
ADDED = """
import importlib.util, inspect, json, sys, types
from pathlib import Path

spec = importlib.util.find_spec("interlingua.studies.config.schema")
source, before = Path(spec.origin).read_text("utf-8"), "class ExampleReading:"
assert source.count(before) == 1
old = "    max_length: Annotated[int | None, _MAX_LENGTH] = None\\n"
added = '    patience: Annotated[int | None, Setting(help="Epochs without a gain.", least=1)] = None\\n'
head, tail = source.split(before)
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
import interlingua.studies.config
interlingua.studies.config.schema = module
exec(compile(head + before + tail.replace(old, old + added, 1), spec.origin, "exec"), vars(module))

from interlingua.studies.config.study_file import read_tables
file = Path(sys.argv[1])
right, problems, _ = read_tables(file)
file.write_text(file.read_text("utf-8").replace("= 3", "= 0"), "utf-8")
_, wrong, _ = read_tables(file)
import typer
from interlingua.cli.app import app
options = [opt for param in typer.main.get_command(app).commands["transfer"].params for opt in param.opts]
import interlingua
parameter = inspect.signature(interlingua.transfer).parameters["patience"]
spec = importlib.util.spec_from_file_location("generator", sys.argv[2])
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)
print(json.dumps({
    "key": right.tasks["ner"].patience, "problems": [str(each) for each in problems.found + wrong.found],
    "option": "--patience" in options, "parameter": [str(parameter.kind), parameter.default],
    "help": "patience: Epochs without a gain." in interlingua.transfer.__doc__,
    "row": "| `patience` | Epochs without a gain. It must be at least 1." in generator.rows("TaskTable"),
    "page": "`--patience`" in generator.command_line(),
}))
"""


def test_a_new_field_is_a_key_an_option_a_parameter_and_a_row(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "x"\nlanguages = ["ru"]\n[encoders.a]\nmodel = "embedded"\n[tasks.ner]\npatience = 3\n', "utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-c", ADDED, str(file), str(ROOT / "docs" / "generate_settings.py")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("problems") == [f"{file}:6: patience must be at least 1: 0. Give another number."]
    assert found.pop("parameter") == ["KEYWORD_ONLY", None]
    assert found.pop("key") == 3
    assert all(found.values()), found


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_defaults_are_right_and_old_names_are_no_names(group):
    fields = settings_of(group)
    given = {field.name: field.default for field in fields if not field.required}
    assert not [problem for field in fields if field.name in given for problem in field.check(given[field.name])]
    now = {field.name for field in fields}
    old = [name for field in fields for name in field.setting.formerly if name not in now]
    assert len(old) == len(set(old)), f"an old name stands for two: {old}"
    for field in fields:
        assert field.setting.help[0].isupper() or ":" in field.setting.help or field.setting.help[0] in "'12"
        assert field.setting.help.endswith((".", ":")), field.name
        assert field.default is not None or field.setting.left_out or field.setting.where, f"what is no {field.name}?"
        assert field.shape in ("scalar", "names", "numbers", "files", "switch")


def test_every_command_is_made_of_settings():
    root: Any = typer.main.get_command(app)
    for name, group in (
        ("audit", schema.AuditCommand), ("adjust", schema.AdjustCommand), ("transfer", schema.TransferCommand),
        ("geometry", schema.GeometryCommand), ("synth", schema.SynthCommand), ("align", schema.AlignCommand),
        ("pretrain", schema.PretrainCommand),
    ):  # fmt: skip
        options = {opt for param in root.commands[name].params for opt in param.opts}
        fields = settings_of(group)
        expected = {each.name if each.setting.argument else each.flag for each in fields if not each.setting.where}
        assert expected <= options | {param.name for param in root.commands[name].params}
        signature = inspect.signature(getattr(interlingua, name))
        assert list(signature.parameters) == [field.name for field in fields]
        assert [p.default for p in signature.parameters.values() if p.default is not p.empty] == [
            field.default for field in fields if not field.required
        ]


def choices_of(group: type, name: str) -> set[str]:
    (field,) = (field for field in settings_of(group) if field.name == name)
    return set(field.setting.known)


@pytest.mark.parametrize(
    ("group", "name", "known"),
    [
        (schema.ComputeSettings, "precision", PRECISIONS),
        (schema.LinkSettings, "aligner", METHODS),
        (schema.LinkSettings, "pivot_side", SIDES),
        (schema.PairReading, "reduction", REDUCTIONS),
        (schema.PairReading, "word_pooling", HOWS),
        (schema.PairReading, "reference_dtype", KINDS),
        (schema.AdjustTable, "map_on", MAPS),
        (schema.AttributionSettings, "baseline", BASELINES),
        (schema.AttributionSettings, "scale", SCALES),
        (schema.AttributionSettings, "rule", RULES),
        (schema.AttributionSettings, "space", SPACES),
        (schema.AttributionSettings, "target", CHOICES),
        (schema.AttributionSettings, "solver", SOLVERS),
        (schema.AttributionSettings, "weighting", WEIGHTINGS),
        (schema.ExplainTable, "unit", UNITS),
        (schema.SynthCommand, "slots", SLOTS),
        (schema.AlignCommand, "symmetrize", SYMMETRISATIONS),
        (schema.AlignCommand, "neural", neural.METHODS),
        (schema.AlignCommand, "unit", neural.UNITS),
        (schema.AlignCommand, "tokenize", CUTS),
        (schema.AlignCommand, "bad_lines", BAD_LINES),
    ],
)
def test_choices_are_those_of_the_function_that_takes_them(group, name, known):
    """They are written down twice, so that reading a file imports no torch."""
    assert choices_of(group, name) == set(known)


def test_limits_are_those_of_the_function_that_takes_them():
    (tension,) = (field.setting for field in settings_of(schema.AlignCommand) if field.name == "tension")
    assert (tension.least, tension.most) == TENSIONS
    for heads in (LEAST_HEADS - 1, LEAST_HEADS):
        assert bool(list(rules(schema.ExplainChecks(random_heads=heads)))) == (heads < LEAST_HEADS)


def test_rules_are_told_where_each_value_is_right_by_itself():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Wrong(schema.MonitoringSettings):
        pass

    (one,) = check(Wrong(monitor_every=7, change_window=0))
    assert "at least 1" in one.says
    (two,) = check(Wrong(monitor_every=7))
    assert "does not divide" in two.says


def test_a_registry_is_looked_up_when_a_value_is_checked():
    setting = Setting(help="", choices="interlingua.measures:measures")
    assert "cka" in setting.known
    assert "Did you mean 'retrieval'?" in str(setting.unknown("retreival"))


def test_reading_the_tables_of_a_study_imports_no_torch(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from interlingua.studies.config.toml_file import ProblemList, build, read_toml\n"
        "from interlingua.studies.config.schema import StudyTable\n"
        f"given, lines = read_toml(Path({str(ROOT / 'studies' / 'geometry.toml')!r}), called='study file')\n"
        "given.pop('sizes')\nproblems = ProblemList('x', lines)\nbuild(StudyTable, given, (), problems)\n"
        "print('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.heavy
def test_a_type_checker_sees_the_parameters_of_a_command(tmp_path):
    file = tmp_path / "called.py"
    file.write_text(
        "import interlingua\n"
        "reveal_type(interlingua.synth())\n"
        'interlingua.adjust("m", "b.tsv", out="o", rate=3)\n'
        'interlingua.adjust("m", "b.tsv", out="o", learning_rate="x")\n',
        "utf-8",
    )
    options = ("--strict", "--config-file", "/dev/null", "--ignore-missing-imports", "--follow-imports=silent")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(tmp_path), str(file)],
        capture_output=True, text=True, check=False, env={"MYPYPATH": str(ROOT / "src"), "PATH": "/usr/bin"},
    )  # fmt: skip
    lines = [line.partition(".py:")[2] for line in done.stdout.splitlines() if "note: defined" not in line]
    assert any(line.startswith("2: note") and "Synthetic" in line for line in lines), done.stdout
    assert any(line.startswith("3: error") and '"rate"' in line for line in lines), done.stdout
    assert any(line.startswith("4: error") and '"learning_rate"' in line for line in lines), done.stdout
