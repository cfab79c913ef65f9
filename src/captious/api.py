"""The public face: load, score, compare."""

from __future__ import annotations

from typing import Any

from captious.comparison import Comparison, Comparisons, compare, compare_scores
from captious.corpus import Corpus
from captious.measures.making import make_measures
from captious.measures.registry import Wanted
from captious.references import load, load_systems
from captious.scores import Scores

__all__ = ["Comparison", "Comparisons", "compare", "compare_scores", "load", "load_scores", "load_systems", "score"]

load_scores = Scores.load


def score(corpus: Corpus, metrics: Wanted = "coco", **options: Any) -> Scores:
    """Score the candidates of a corpus.

    ``metrics`` are names ("CIDEr-D"), groups ("coco", "all") or measures themselves. Options go to the measures that take
    them: ``df`` (document frequencies for CIDEr, a path or a table), and those listed by ``captious metrics``.
    """
    return Scores.of(corpus, make_measures(metrics, options))
