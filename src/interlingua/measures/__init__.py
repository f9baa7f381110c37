"""Measures: pure functions of arrays that return `Scores`, one file each.

A measure says what it `needs`:

| needs       | called as                      | which is                                                   |
|-------------|--------------------------------|------------------------------------------------------------|
| `sentences` | `f(source, target, seed=…)`    | (n, d) tensors, row i of one the translation of row i      |
| `words`     | `f(source, target, seed=…)`    | (n, d) tensors of linked contextual words                  |
| `space`     | `f(vectors, seed=…)`           | one (n, d) tensor of one language's words                  |
| `splits`    | `f(source, target)`            | two `Splits`: how a tokenizer cut each side's parallel text|
| `names`     | `f(source, target)`            | two lists of strings, row i of one the name of row i       |

New measure: one file here with `@measures.register("name", needs=…)`.
"""

from interlingua.registry import Registry

NEEDS = ("sentences", "words", "space", "splits", "names")

measures = Registry("measure", "interlingua.measures")
