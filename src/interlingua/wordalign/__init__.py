"""Words that translate each other, from parallel text alone."""

from interlingua.wordalign.linking import link_words
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import DiagonalModel, Settings
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.pharaoh import read_pharaoh, write_pharaoh
from interlingua.wordalign.symmetrise import symmetrise
from interlingua.wordalign.training import train, train_both

__all__ = [
    "DiagonalModel",
    "Links",
    "Sentences",
    "Settings",
    "link_words",
    "read_pharaoh",
    "symmetrise",
    "train",
    "train_both",
    "write_pharaoh",
]
