"""Contexts × names: strictly parallel NER in any set of languages (papers/003 §3.1).

A context is a sentence with a slot, a name is what goes there; both are rows that mean the same in every language, so
that every context with every name is a tagged sentence in each of them. Nothing here touches a file.
"""
