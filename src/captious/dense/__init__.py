"""Dense captions: events of videos with times, by the protocols of densevid_eval and SODA."""

from __future__ import annotations

from captious.dense.dense_scores import score_dense, score_dense_systems

__all__ = ["score_dense", "score_dense_systems"]
