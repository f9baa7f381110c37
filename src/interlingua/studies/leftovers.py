"""What an audit left out, counted and in words: nothing is dropped in silence."""

from __future__ import annotations

from interlingua.corpus import ParallelCorpus, Skip
from interlingua.measures import measures
from interlingua.studies.measuring import Language, Plan
from interlingua.studies.record import Record


def left_out(texts: ParallelCorpus, skips: list[Skip], spaces: list[list[Language]]) -> list[str]:
    """All that was left out or handled specially, counted, in words."""
    notes = [str(skip) for skip in (*texts.skipped, *skips)]
    for language in (language for space in spaces for language in space):
        if language.words is not None and language.words.lost:
            notes.append(f"{language.words.lost} words of {language.code} that the tokenizer turns into nothing")
        if language.sentences.windowed:
            notes.append(
                f"{language.sentences.windowed} texts of {language.code} longer than the model's limit, read in windows"
            )
    return notes


def unmeasured(texts: ParallelCorpus, plan: Plan, made: list[Record], *, two: bool, maps: str) -> list[str]:
    """Pairs of languages that had to be left out, wholly or by a measure, counted."""
    count = len(texts.languages)
    apart = 0 if two else count * (count - 1) // 2 - len(texts.pairs())
    notes = [f"{apart} pairs of languages that share no row"] if apart else []
    pairs = {(record.source, record.target) for record in made if record.target is not None}
    mapped = {pair for pair in pairs if two or maps == "all" or pair[0] == texts.languages[0]}
    if pairs - mapped and any(measures[name].fits for name in plan.measures):
        notes.append(f"{len(pairs - mapped)} pairs without a fitted map: --maps all fits one for every pair")
    reasons = {"words": "too few repeated word links", "names": "no names in both"}
    for name in plan.measures:
        if measures[name].needs in reasons:
            have = {(record.source, record.target) for record in made if record.measure == name}
            asked = mapped if measures[name].fits else pairs
            if asked - have:
                notes.append(f"{len(asked - have)} pairs without {name}: {reasons[measures[name].needs]}")
    return notes
