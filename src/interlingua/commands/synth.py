"""`synth()`: contexts and names to parallel tagged sentences in one call, and how alike the names are spelled."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from interlingua import languages as codes
from interlingua.analyses.synthesis import Spellings, Synthetic, spellings
from interlingua.commands.command import command
from interlingua.commands.command_study import CompiledCommand, FinishedCommand, one_cell, ran
from interlingua.engine.digests import Digests
from interlingua.engine.step import Step
from interlingua.engine.workspace import Workspace
from interlingua.record import Estimate
from interlingua.report.kit.chart import HeatMap
from interlingua.report.kit.svg import HALF, draw, resolve
from interlingua.studies.compile.study_inputs import StudyInputs
from interlingua.studies.config.fields import Place
from interlingua.studies.config.schema import StudyTable, SynthCommand, SynthTable
from interlingua.studies.step_settings import SynthStep
from interlingua.studies.steps.synth import COUNTS, synthetic_of
from interlingua.synthetic.files import sheet_folder

__all__ = ["Synthetic", "spellings", "synth"]

_FILES = re.compile(r"[\w-]+\.(train|test|about)\.iob2|counts\.json|spelling\.(csv|svg)")
NAME = "ner"
"""What the set is called in the study."""
Source = str | Path


def compile_synth(given: SynthCommand) -> CompiledCommand:
    """The command as a study that makes one set; that there are such sentences is found by drawing them."""
    contexts, names = (_folders(getattr(given, what), what) for what in ("contexts", "names"))
    table = SynthTable(
        contexts=contexts,
        names=names,
        types=tuple(given.types or ()),
        languages=tuple(dict.fromkeys(codes.canonical(code) for code in given.languages or ())),
        **{name: getattr(given, name) for name in ("rows", "test_share", "slots", "bad_rows", "entity", "seed")},
    )
    options: dict[Place, str] = {("synth", NAME, key): f"--{key.replace('_', '-')}" for key in vars(table)}
    study = one_cell(StudyTable(name="synth", synth={NAME: table}), options)
    out = None if given.out is None else Path(given.out)
    digests = Digests(None if out is None else Workspace(out).digests)
    settings = StudyInputs(study, digests).synthetic(NAME)
    made = synthetic_of(settings)
    if given.entity is not None:
        made.with_entity(given.entity)
    # Another set may take the place of this one: the folder is for any.
    return CompiledCommand(kind="synth", study=study, identity={}, out=out, device="cpu", digests=digests)


@command(SynthCommand)
def synth(given: SynthCommand) -> Synthetic:
    """With `out`, the folder gets all files; what an earlier call wrote there goes. Without it the sentences are in
    memory alone.

    >>> made = synth(languages=["en", "tr"], types=["LOC.locative"], rows=10)
    >>> row, sentence = next(made.sentences("tr", "test"))
    >>> len(sentence.words) == len(sentence.tags), made.counts()["rows"]
    (True, {'train': 8, 'test': 2})
    """
    compiled = compile_synth(given)
    if compiled.out is None:
        return _sentences(StudyInputs(compiled.study, compiled.digests or Digests()).synthetic(NAME))
    with ran(compiled) as finished:
        [step] = finished.steps("synth")
        assert isinstance(step.settings, SynthStep)
        made = _sentences(step.settings)
        if finished.is_first:
            _show(made, finished, step)
    return replace(made, folder=Path(str(given.out)))


def _sentences(settings: SynthStep) -> Synthetic:
    made = synthetic_of(settings)
    return made if settings.entity is None else made.with_entity(settings.entity)[0]


def _show(made: Synthetic, finished: FinishedCommand, step: Step) -> None:
    """Give the files visible names, `counts.json` last; files of an earlier set are removed."""
    workspace, place = finished.planned.workspace, finished.place(step)
    found = spellings(made.names, made.languages, seed=made.seed) if len(made.languages) > 1 else None
    files = [file.name for file in place.iterdir() if _FILES.fullmatch(file.name)]
    for name in sorted(files, key=lambda name: (name == COUNTS, name)):
        finished.export(step, name, name)
    if found is not None:
        finished.write("spelling.csv", spelling_csv(found))
        finished.write("spelling.svg", spelling_svg(found))
        files += ["spelling.csv", "spelling.svg"]
    for entry in finished.folder.iterdir():
        if _FILES.fullmatch(entry.name) and entry.name not in files:
            entry.unlink()
    for key in workspace.done() - {step.key}:
        workspace.drop(workspace.step(key))


def spelling_csv(found: Spellings) -> str:
    """The distances as CSV: a row for each type and pair of languages."""
    rows = found.rows()
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(
        {key: f"{cell:.4f}" if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows
    )
    return text.getvalue()


def spelling_svg(found: Spellings) -> str:
    """The matrices as heat maps: TNLD on the left, edit distance without transliteration on the right."""
    titles = {"tnld": "TNLD", "nld": "without transliteration"}
    drawings, top = [], 0
    for kind in found.scores:
        row = [_heat_map(found, kind, variant, title) for variant, title in titles.items()]
        drawings += [svg.replace("<svg ", f'<svg x="{at * HALF}" y="{top}" ', 1) for at, svg in enumerate(row)]
        top += max(int(svg.partition(' height="')[2].partition('"')[0]) for svg in row) + 20
    size = f'width="{len(titles) * HALF}" height="{top}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(drawings)}</svg>\n'


def _heat_map(found: Spellings, kind: str, variant: str, title: str) -> str:
    codes = tuple(found.languages)
    cells = tuple(tuple(Estimate(value=value) for value in line) for line in found.matrix(kind, variant))
    scale = f"{kind}: {title}"
    chart = HeatMap(name=variant, title=scale, note="", rows=codes, columns=codes, cells=cells, scale=scale,
                    display="number", low=0.0, high=1.0)  # fmt: skip
    return resolve(draw(chart, width=HALF))


def _folders(given: Source | Sequence[Source], what: str) -> tuple[str, ...]:
    """Folders of contexts or names, which must be there."""
    found = [str(each) for each in ([given] if isinstance(given, str | Path) else given)]
    for folder in found:
        sheet_folder(folder, what)
    return tuple(found)
