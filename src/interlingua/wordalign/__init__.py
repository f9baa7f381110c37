"""Words that translate each other, from parallel text alone."""

from interlingua.wordalign.applied import Applied, combined
from interlingua.wordalign.gold import read_gold
from interlingua.wordalign.linking import link_words
from interlingua.wordalign.links import Links
from interlingua.wordalign.model import DiagonalModel, Settings
from interlingua.wordalign.numbering import Sentences
from interlingua.wordalign.pharaoh import write_pharaoh
from interlingua.wordalign.symmetrise import symmetrise
from interlingua.wordalign.training import align_both, train, train_both

__all__ = [
    "Applied",
    "DiagonalModel",
    "Links",
    "Sentences",
    "Settings",
    "align_both",
    "combined",
    "link_words",
    "read_gold",
    "symmetrise",
    "train",
    "train_both",
    "write_pharaoh",
]
