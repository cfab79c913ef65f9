"""Captions as numbers: a corpus of candidates and references, its vocabulary and its document frequencies."""

from __future__ import annotations

from captious.corpus.corpus import Captions, Corpus, places

__all__ = ["Captions", "Corpus", "places"]
