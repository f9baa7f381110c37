"""Which of an audit's numbers are drawn, by layer and language by language, each with its title, axis and words."""

from __future__ import annotations

PANELS: tuple[tuple[str, tuple[str, ...], str, str, str], ...] = (
    (
        "retrieval",
        ("p@1/cosine/raw", "p@1/cosine/centred"),
        "Translation retrieval",
        "share found",
        "Share of sentences whose nearest neighbour in the other language is their translation.",
    ),
    (
        "cka",
        ("debiased",),
        "Similarity of the spaces",
        "CKA",
        "Debiased linear CKA: 1 when two languages’ spaces are the same up to rotation and scale, 0 without relation.",
    ),
    (
        "procrustes",
        ("p@1/mapped", "p@1/identity"),
        "Orthogonal map, sentences",
        "share found",
        "Retrieval of held-out translations after a rotation fitted on other sentences, and without one; by default "
        "for pairs with the first language.",
    ),
    (
        "procrustes-words",
        ("p@1/mapped", "p@1/identity"),
        "Orthogonal map, words",
        "share found",
        "The same for words in context, linked by a word aligner.",
    ),
    (
        "procrustes-dictionary",
        ("p@1/mapped", "p@1/identity"),
        "Orthogonal map, dictionary words",
        "share found",
        "The same for words alone, without context, among all words of the other side of a dictionary.",
    ),
    (
        "separation",
        ("auc/cosine", "auc/l2"),
        "Related against unrelated words",
        "AUC",
        "AUC: how probably a word lies closer to its translation than to an unrelated word; 0.5 is a coin toss.",
    ),
    (
        "isotropy",
        ("average-cosine",),
        "Crowding of the space",
        "mean cosine",
        "Mean cosine of two unrelated words of one language: near 1, all vectors point the same way.",
    ),
    (
        "isotropy",
        ("isoscore",),
        "Evenness of the space",
        "IsoScore",
        "IsoScore: 1 when all directions are used alike. Dotted: what perfectly even data of this size reads.",
    ),
)

MAPS = (
    (
        "retrieval",
        "p@1/cosine/raw",
        "Retrieval, as is",
        "Share of the row’s sentences that find their translation in the column’s language.",
    ),
    ("cka", "debiased", "CKA, debiased", "How alike the two languages’ spaces are, whatever their rotation."),
    (
        "spelling",
        "tnld",
        "Spelling of names (TNLD)",
        "Edit distance of romanised names, 0 alike to 1 nothing in common.",
    ),
    (
        "tokenization",
        "overlap",
        "Shared vocabulary",
        "Share of token types that the tokenizer uses for both languages.",
    ),
)
