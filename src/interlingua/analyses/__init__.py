"""Objects in, records out: what is measured of a model, and what a regime trains."""
