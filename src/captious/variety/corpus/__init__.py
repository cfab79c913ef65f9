"""Diversity of a whole corpus of captions, after van Miltenburg, Elliott & Vossen (2018) and beyond."""

from __future__ import annotations

from captious.variety.corpus.analysis import corpus_diversity
from captious.variety.corpus.result import CorpusDiversity, Report

__all__ = ["CorpusDiversity", "Report", "corpus_diversity"]
