"""Caption generation: variations of existing captions, and a small captioner."""

from __future__ import annotations

from captious.generate.caption_writing import caption_likelihoods, generate_captions
from captious.generate.synonym_switch import synonym_sets, synonym_switch, train_vectors

__all__ = ["caption_likelihoods", "generate_captions", "synonym_sets", "synonym_switch", "train_vectors"]
