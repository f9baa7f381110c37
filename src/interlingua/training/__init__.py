"""Training: the one loop, its checkpoints, and text as a stream of tokens.

Everything that trains is a weighted sum of objectives. A batch is a pure function of (seed, step), so a run
that is killed and resumed is the run that was not.
"""
