"""Diversity of a whole corpus of captions, after van Miltenburg, Elliott & Vossen (2018)."""

from __future__ import annotations

from captious.diversity_analysis.corpus.analysis import corpus_diversity
from captious.diversity_analysis.corpus.corpus_result import CorpusDiversity, CorpusReport

__all__ = ["CorpusDiversity", "CorpusReport", "corpus_diversity"]
