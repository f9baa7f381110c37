"""Words that translate each other, from parallel text alone."""

from interlingua.wordalign.diagonal import Links, link_words

__all__ = ["Links", "link_words"]
