"""Steps, graphs, folders, locks and processes: what runs steps. No word of the field is in it."""
