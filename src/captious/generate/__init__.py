"""Making captions without a model: variations of given ones."""

from __future__ import annotations

from captious.generate.synonyms import synonym_switch
from captious.generate.train import train_vectors

__all__ = ["synonym_switch", "train_vectors"]
