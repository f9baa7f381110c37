"""Words that translate each other, from parallel text alone."""

from interlingua.wordalign.align import link_words
from interlingua.wordalign.links import Links, write_pharaoh
from interlingua.wordalign.model import AlignerSettings, Applied, DiagonalModel, combined
from interlingua.wordalign.quality import read_gold
from interlingua.wordalign.symmetrize import symmetrise
from interlingua.wordalign.training import align_both, train, train_both
from interlingua.wordalign.vocabulary import Sentences

__all__ = [
    "AlignerSettings",
    "Applied",
    "DiagonalModel",
    "Links",
    "Sentences",
    "align_both",
    "combined",
    "link_words",
    "read_gold",
    "symmetrise",
    "train",
    "train_both",
    "write_pharaoh",
]
