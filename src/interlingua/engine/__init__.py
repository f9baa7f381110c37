"""Steps, graphs, folders, locks and processes: what runs a study. No word of this field is in it."""
