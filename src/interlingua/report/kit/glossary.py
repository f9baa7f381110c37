"""The words of pages and terminals that need explaining, one sentence each; docs/concepts.md prints the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

GLOSSARY = {
    "80 % power": "A difference of this size would be found significant in 4 of 5 studies like this one.",
    "95 % interval": "The range of values that are compatible with the data: of 100 such intervals, about 95 hold the "
    "true value. It covers the sampling of sentences, words or examples, or of seeds where that is stated.",
    "adjustment": "A short training on a parallel corpus that moves the vectors of translated words closer together.",
    "anchor": "The part of an adjustment that keeps the vectors of one language, usually English, where they were.",
    "anisotropy": "Vectors crowd in one direction of the space, so that even unrelated ones have a high cosine.",
    "attribution": "How much each word of an input contributed to a prediction, positive for it, negative against it.",
    "AUC": "The probability that a pair of translated words is closer than a pair of unrelated words; 0.5 is chance.",
    "best layer": "The layer with the highest mean score; layers whose mean lies in its interval are tied with it.",
    "bitext": "Sentences of two languages, each with its translation; also called a parallel corpus.",
    "candidates": "The sentences among which the translation is searched; with more candidates, retrieval is harder.",
    "centred": "Said of vectors from which the mean vector of their language was subtracted.",
    "chance level": "The score that a model without any relation between the languages would get.",
    "CKA": "Centred kernel alignment: how similar the distances within one language are to those within the other; 1 "
    "is equal. The debiased form is 0 for unrelated vectors.",
    "consistency": "How much of the attribution in one language falls on similar words of the translation, by earth "
    "mover’s similarity; compare it with random attributions.",
    "CSLS": "A similarity that lowers the score of sentences that are close to everything (hubs).",
    "digest": "A short fingerprint of a file or model: equal digests mean equal content.",
    "earth mover’s similarity": "One minus the least cost of moving one distribution of weights onto another.",
    "embedding output": "The vectors before the first block of a model, called layer 0 here.",
    "F1": "The harmonic mean of precision and recall; of entities, both the span and the type must be right.",
    "faithfulness": "Whether removing the words with the highest attribution changes the prediction more than removing "
    "random words.",
    "fertility": "The number of tokenizer pieces per word; 1 is best.",
    "Holm correction": "An adjustment of p-values for several comparisons made together, so that the chance of any "
    "false positive stays at 5 %.",
    "hubness": "Some sentences are the nearest neighbour of very many others.",
    "IsoScore": "How evenly vectors use all directions of their space, from 0 to 1.",
    "Mantel’s ρ": "A rank correlation between pairs of languages, tested by permuting languages.",
    "MRR": "Mean reciprocal rank: the mean of 1 / rank of the translation; it also rewards near misses.",
    "null value": "The score of the same measure without a relation, for example with shuffled pairs.",
    "P@1": "Precision at 1: the share of sentences whose nearest neighbour in the other language is their translation.",
    "percentage points": "The difference of two percentages: between 40 % and 45 % it is 5 points.",
    "permutation test": "A p-value from the share of random reassignments that give a difference at least as large.",
    "pooling": "How the vectors of a sentence’s tokens become one vector, for example their mean.",
    "projection": "A map of vectors in two dimensions, for the eye: PCA, t-SNE or UMAP.",
    "purity": "The share of an item’s nearest neighbours that have the same label or language.",
    "random attributions": "The same attribution weights, assigned to random words: the reference for consistency.",
    "regime": "How a model is trained: original (for the task alone), adjusted (by an adjustment, then for the task) "
    "or continual (the adjustment goes on while it is trained for the task).",
    "rotation": "An orthogonal map (Procrustes) fitted on part of the sentences that turns one language’s vectors onto "
    "another’s; it is scored on the other part.",
    "seed": "The number that fixes all random draws of a training run; several seeds show how much a score varies.",
    "shuffled pairs": "Sentences paired at random with those of the other language: a reference without a relation.",
    "Spearman’s ρ": "A rank correlation from −1 to 1; correlation does not imply causation.",
    "study step": "A piece of a study with a key made from its settings and files; steps with equal keys run once.",
    "tied": "Not distinguishable from the best: the value lies within the interval of the best one.",
    "TNLD": "Typed normalised Levenshtein distance: how differently two languages spell the same names, from 0 to 1.",
    "untrained head": "The head of a model with its weights shuffled, on the same body: a reference for attributions "
    "where nothing was learnt.",
    "word links": "Which words of a sentence and its translation translate each other; 0-0 1-2 links the first word "
    "to the first and the second to the third.",
    "word separation": "Whether translated words are closer to each other than unrelated words, measured by AUC.",
    "zero-shot transfer": "A model is trained for a task in one language and tested in another, without training data "
    "in the other language.",
}  # fmt: skip
"""One sentence per term. A term that is not here is not used in a page, a help text or an error without explanation."""


@cache
def _pattern() -> re.Pattern[str]:
    terms = sorted(GLOSSARY, key=len, reverse=True)  # The longest first: `chance level`, not `level`.
    any_space = "[ \N{NO-BREAK SPACE}]"
    alternatives = "|".join(re.escape(term).replace(r"\ ", any_space) for term in terms)
    return re.compile(rf"(?<![\w@/-])({alternatives})s?(?![\w@/-])", re.IGNORECASE)


@cache
def _by_lower_case() -> dict[str, str]:
    return {term.lower(): term for term in GLOSSARY}


def find_terms(text: str) -> Iterator[tuple[str, int, int]]:
    """The terms in a text, each as the glossary spells it and from where to where it stands.

    >>> list(find_terms("P@1 at the best layer"))
    [('P@1', 0, 3), ('best layer', 11, 21)]
    """
    for match in _pattern().finditer(text):
        yield _by_lower_case()[match[1].lower().replace("\N{NO-BREAK SPACE}", " ")], match.start(), match.end()
