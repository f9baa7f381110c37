"""Studies: what is measured, step by step, and the store of records it leaves."""
