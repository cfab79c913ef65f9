"""METEOR 1.5 (Denkowski & Lavie 2014) for English, in step with the reference implementation and without Java."""

from __future__ import annotations

from captious.meteor.score import score
from captious.meteor.statistics import pair_statistics, statistics

__all__ = ["pair_statistics", "score", "statistics"]
