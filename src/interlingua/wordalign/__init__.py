"""Words that translate each other, from parallel text alone."""

from interlingua.wordalign.align import align_words
from interlingua.wordalign.links import Links, write_pharaoh
from interlingua.wordalign.model import AlignerSettings, DiagonalModel, DirectedAlignment, combine_directions
from interlingua.wordalign.quality import read_gold
from interlingua.wordalign.symmetrize import symmetrize
from interlingua.wordalign.training import align_both, train, train_both
from interlingua.wordalign.vocabulary import Sentences

__all__ = [
    "AlignerSettings",
    "DiagonalModel",
    "DirectedAlignment",
    "Links",
    "Sentences",
    "align_both",
    "align_words",
    "combine_directions",
    "read_gold",
    "symmetrize",
    "train",
    "train_both",
    "write_pharaoh",
]
