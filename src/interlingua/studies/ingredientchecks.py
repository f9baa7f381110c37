"""What a study is made of, checked: languages and seeds, encoders, bitexts, how models are adjusted, machines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from interlingua.encoder.loading import PRECISIONS
from interlingua.errors import InputError
from interlingua.studies.aligning import METHODS
from interlingua.studies.exams import spoken_in
from interlingua.studies.linkedtexts import SIDES
from interlingua.studies.ownregimes import check_regime
from interlingua.studies.recipe import read_config
from interlingua.studies.scenarios import MAPS, REGIMES
from interlingua.studies.stages import PairSettings
from interlingua.studies.step import Resources
from interlingua.studies.study import expanded, linking_encoder, model_place
from interlingua.studies.tables import EncoderTable, ResourceTable
from interlingua.studies.tomlplaces import Path as Place
from interlingua.studies.valuechecks import Checks

KINDS: tuple[str, ...] = ("synth", "pretrain", "align", "adjust", "finetune", "predict", "distances")
KINDS += ("encode", "measure", "attribute", "spelling", "geometry")
"""The kinds of steps, for which [resources.KIND] may say what they take."""
_MOST_SEEDS = 10_000
_HUB = re.compile(r"[\w.-]+(/[\w.-]+)?")


def check_whole(checks: Checks) -> None:
    """What holds for the whole file: its name, languages, seeds, regimes and precision."""
    table = checks.study.table
    if not table.languages:
        checks.wrong(("languages",), "no language is named", remedy='Give languages = ["es", "ru"].')
    if not table.encoders:
        checks.wrong(("encoders",), "no encoder is named", remedy="Add [encoders.NAME] with a model.")
    if isinstance(table.seeds, int) and table.seeds > _MOST_SEEDS:
        checks.wrong(("seeds",), f"more than {_MOST_SEEDS} seeds", value=table.seeds,
                     remedy=f"Give their number, or one seed as seeds = [{table.seeds}].")  # fmt: skip
    elif not (seeds := checks.study.seeds) or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        checks.wrong(("seeds",), "seeds are 0 or more, none twice, at least one", value=table.seeds, remedy="Give 5.")
    if not re.fullmatch(r"[\w.-]+", table.name):
        checks.wrong(("name",), "a name is letters, digits, - and _", value=table.name, remedy="Mend that line.")
    checks.all_known(("regimes",), "regime", table.regimes, (*REGIMES, *table.regime))
    for name, regime in table.regime.items():
        checks.tried(("regime", name), {}, partial(check_regime, name, regime))
    if table.precision is not None:
        checks.known(("precision",), "precision", table.precision, PRECISIONS)
    checks.numbers((), {"permutations": table.permutations})
    if table.published is not None and not (checks.study.file.parent / table.published).is_file():
        checks.wrong(("published",), "no such file", value=table.published, remedy="It starts from the study's file.")


def check_encoder(checks: Checks, path: Place, table: EncoderTable) -> None:
    """One encoder: a model that may be there, or a recipe whose text is."""
    checks.some((*path, "languages"), table.languages)
    checks.numbers(path, asdict(table))
    if (table.model is None) == (table.recipe is None):
        checks.wrong(
            path, "an encoder is a model, or a recipe", remedy='Give model = "embedded", or recipe = "x.toml".'
        )
        return
    home = checks.study.file.parent
    try:
        local = table.recipe is not None or table.model == "embedded" or model_place(home, str(table.model)).is_dir()
    except InputError as error:
        checks.problems.take((*path, "model"), error)
        return
    if table.revision is not None and local:
        checks.wrong((*path, "revision"), "a revision is of a hub name", value=table.revision, remedy="Leave it out.")
    if table.recipe is not None:
        _recipe(checks, path, table, home / table.recipe)
    elif not local:
        name = str(table.model)
        if name.startswith((".", "/", "~")) or not _HUB.fullmatch(name):
            checks.wrong((*path, "model"), "no such model folder", value=name, remedy="Give a folder, or a hub name.")


def _recipe(checks: Checks, path: Place, table: EncoderTable, file: Path) -> None:
    try:
        recipe = read_config(file)
    except InputError as error:
        checks.problems.take((*path, "recipe"), error)
        return
    folder = file.parent / recipe.data.folder if table.text is None else checks.study.place(table.text)
    for code in recipe.data.languages:
        if not any(folder.glob(f"{code}.txt*")):
            where = (*path, "recipe" if table.text is None else "text")
            checks.wrong(where, f"no text of {code}", value=str(table.text or recipe.data.folder),
                        remedy=f"Put {code}.txt there, plain or compressed.")  # fmt: skip


def check_bitexts(checks: Checks) -> None:
    """Where bitexts come from and how they are linked; files that are not there."""
    table = checks.study.table
    given, path, before = table.bitexts, ("bitexts",), len(checks.problems.found)
    if given is None:
        return
    if (given.files is None) == (given.corpus is None):
        checks.wrong(path, "bitexts are files, or a corpus", remedy='Give files = "x.en-{language}.tsv".')
        return
    checks.known((*path, "aligner"), "aligner", given.aligner or "diagonal", METHODS)
    checks.tried(path, asdict(given), partial(linking_encoder, given, table.encoders))
    if given.english is not None:
        checks.known((*path, "english"), "side", given.english, SIDES)
        if given.corpus is not None:
            checks.wrong(
                (*path, "english"), "a corpus knows its languages", value=given.english, remedy="Leave it out."
            )
    if given.corpus is not None:
        checks.corpus((*path, "corpus"), given.corpus, _foreign(checks))
        return
    checks.templates((*path, "files"), given.files)
    checks.templates((*path, "links"), given.links)
    for name in given.files if isinstance(given.files, Mapping) else ():
        if name != "{language}":
            checks.tried((*path, "files", name), {}, partial(spoken_in, name))
            if len(checks.problems.found) > before:
                return
    # Only languages that a regime needs one for must have one: `_needed`.
    texts = [code for code in _foreign(checks) if checks.study.bitext(code)]
    links = {} if given.links is None else expanded(given.links, tuple(texts), table.source)
    for code in texts:
        checks.exist((*path, "files"), checks.study.bitext(code))
        checks.exist((*path, "links"), links.get(code, ()))
    if given.aligner is not None and texts and all(links.get(code) for code in texts):
        checks.wrong((*path, "aligner"), "nothing is left to link: every bitext has links", value=given.aligner,
                     remedy="Leave out the aligner, or the links.")  # fmt: skip


def _foreign(checks: Checks) -> list[str]:
    return [code for code in checks.study.languages if code != checks.study.table.source]


def check_adjust(checks: Checks) -> None:
    """How models are adjusted: what the settings themselves refuse is told at its line."""
    table = checks.study.table
    given, path = asdict(table.adjust), ("adjust",)
    checks.numbers(path, given)
    pairs = {key: given[key] for key in ("rows", "held_out", "layer", "target")}
    if given["rows"] > 0:
        checks.tried(path, given, lambda: PairSettings(**pairs))
    checks.known((*path, "map_on"), "kind of map", table.adjust.map_on, MAPS)


def check_synth(checks: Checks) -> None:
    """Synthetic sets: their sizes, and the folders of contexts and names."""
    for name, given in checks.study.table.synth.items():
        checks.numbers(("synth", name), asdict(given))
        for key in ("contexts", "names"):
            said: str | tuple[str, ...] = getattr(given, key)
            folders = (said,) if isinstance(said, str) else said
            checks.exist(("synth", name, key), [each for each in folders if each != "embedded"], folders=True)


def check_resources(checks: Checks, kind: str, table: ResourceTable) -> None:
    """What steps of a kind take of a machine: what `Resources` refuses is told at its line."""
    path = ("resources", kind)
    checks.known(path, "kind of steps", kind, KINDS)
    for key, value in asdict(table).items():
        if value is not None:
            checks.tried((*path, key), {}, partial(Resources, **{key: value}))
