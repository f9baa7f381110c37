"""`Encoder`: tokenizer and model, whatever the architecture; text in, `Representations` out.

The only room that knows `transformers`. Layer 0 is the embedding output, layer k the output of
block k; a model of B blocks has layers 0 … B.
"""

from interlingua.encoder.encoder import Encoder
from interlingua.encoder.pooling import PoolingRequest
from interlingua.encoder.representations import Cache, Representations

__all__ = ["Cache", "Encoder", "PoolingRequest", "Representations"]
