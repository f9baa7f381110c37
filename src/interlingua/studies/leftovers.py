"""What an audit or a study's measures left out, counted and in words: nothing is dropped in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.counting import counted
from interlingua.measures import measures
from interlingua.studies.dictionaries import NAME
from interlingua.studies.languagepairs import Asked
from interlingua.studies.measuring import Language, MeasurePlan
from interlingua.studies.record import Record


def left_out(texts: ParallelCorpus, skips: Iterable[Skip], spaces: Iterable[Sequence[Language]]) -> list[str]:
    """All that was left out or handled specially, counted, in words."""
    notes = [str(skip) for skip in (*texts.skipped, *skips)]
    for language in (language for space in spaces for language in space):
        if language.words is not None and language.words.lost:
            what = f"words of {language.code} that the tokenizer turns into nothing"
            notes.append(counted(language.words.lost, what))
        if language.words is not None and (sinks := len(language.words) - len(language.usable)):
            notes.append(counted(sinks, f"words of {language.code} that are attention sinks, in no measure of words"))
        if language.lone_sinks:
            what = f"texts of {language.code} with nothing but an attention sink, as with one token alone: such a long "
            what += "vector moves the centre of centred measures (remove such rows from the corpus)"
            notes.append(counted(language.lone_sinks, what))
        if language.cut:
            what = f"texts of {language.code} cut in the layer output, as the model's folder says"
            notes.append(counted(language.cut, what))
        if language.sentences.windowed:
            what = f"texts of {language.code} longer than the model's limit, read in windows"
            notes.append(counted(language.sentences.windowed, what))
    return notes


def unmeasured(plan: MeasurePlan, made: Sequence[Record], asked: Asked) -> list[str]:
    """What had to be left out, counted: pairs of languages, numbers that are undefined, entries of dictionaries."""
    notes = [counted(asked.apart, "pairs of languages that share no row")] if asked.apart else []
    if asked.cut and asked.fewest is not None and asked.rows is not None:
        fewest = "–".join(asked.fewest)
        what = f"rows left out of pairs, so that all are compared over {asked.rows:,}: {fewest} shares no more"
        notes.append(counted(asked.cut, what))
    pairs = set(asked.pairs)
    if pairs - asked.mapped and any(measures[name].fits for name in plan.measures):
        what = "pairs without a fitted map: --maps all fits one for every pair"
        notes.append(counted(len(pairs - asked.mapped), what))
    reasons = {"words": "too few repeated word links", "names": "no names in both"}
    for name in plan.measures:
        if measures[name].needs in reasons:
            have = {(record.source, record.target) for record in made if record.measure == name}
            wanted = asked.mapped if measures[name].fits else pairs
            if wanted - have:
                notes.append(counted(len(wanted - have), f"pairs without {name}: {reasons[measures[name].needs]}"))
    undefined = Counter(f"{each.measure} {what}" for each in made for what in each.details.get("undefined", ()))
    notes += [f"{count} undefined: {what}" for what, count in undefined.items()]
    dropped = {(r.source, str(r.target)): r.details["dropped"] for r in made if r.measure == NAME}
    notes += [
        counted(
            count,
            f"entries of the {source}–{target} dictionary: a test word that is trained on, or one that the tokenizer "
            "turns into nothing",
        )
        for (source, target), count in dropped.items()
        if count
    ]
    return notes
