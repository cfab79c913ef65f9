"""METEOR 1.5 (Denkowski & Lavie 2014) for English, equal to the reference implementation, without Java."""

from __future__ import annotations

from captious.meteor.align import pair_statistics, score, statistics

__all__ = ["pair_statistics", "score", "statistics"]
