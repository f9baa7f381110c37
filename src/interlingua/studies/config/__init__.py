"""The tables of a study file, read from TOML with their lines."""
