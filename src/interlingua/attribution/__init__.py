"""Attributions: how much each token of an input matters to what a model says of it, one way a file.

A way is a frozen dataclass whose fields are its settings, registered under its name and called with a `Case` (a model
as a function of word embeddings, inputs, targets, a baseline); it gives `Attributions`. What it `needs`:

| needs       | what the model must have                                          |
|-------------|-------------------------------------------------------------------|
| `gradients` | a forward pass that can be differentiated by its word embeddings  |
| `scores`    | a forward pass                                                    |
| `attention` | attention weights that `transformers` can return                  |

New way: one file here with `@attributions.register("name", needs=…)`; contract tests and `interlingua explain` pick
it up.
"""

from interlingua.registry import Registry

NEEDS = ("gradients", "scores", "attention")

attributions = Registry("attribution", "interlingua.attribution")
