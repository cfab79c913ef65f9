"""The public face: load, score, compare."""

from __future__ import annotations

from typing import Any

from captious.comparison import Comparison, Comparisons, compare, compare_scores
from captious.corpus import Corpus
from captious.measures.making import make_measures
from captious.measures.registry import Wanted
from captious.references import References, Source, load, load_systems
from captious.scores import Scores

__all__ = [
    "Comparison", "Comparisons", "compare", "compare_scores", "load", "load_scores", "load_systems", "prepare", "score",
]  # fmt: skip

load_scores = Scores.load


def prepare(references: Source, metrics: Wanted = "coco", *, tokenizer: str | None = None, **options: Any) -> References:
    """References made ready for measures: read and encoded, with n-gram tables, document frequencies, scene graphs and
    whatever else the measures derive from them. Take them wherever references are taken; ``save`` keeps them in a file.
    """
    return References.read(references, tokenizer).prepare(make_measures(metrics, options))


def score(corpus: Corpus, metrics: Wanted = "coco", **options: Any) -> Scores:
    """Score the candidates of a corpus.

    ``metrics`` are names ("CIDEr-D"), groups ("coco", "all") or measures themselves. Options go to the measures that take
    them: ``df`` (document frequencies for CIDEr, a path or a table), and those listed by ``captious metrics``.
    """
    return Scores.of(corpus, make_measures(metrics, options))
