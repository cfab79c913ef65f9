"""Scores of sentence pairs by any metric, as the programs for dense captions use them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure

#: Candidate and reference.
SentencePair = tuple[str, str]


def _corpus(pairs: Sequence[SentencePair], tokenizer: str) -> Corpus:
    return Corpus.build(
        [str(k) for k in range(len(pairs))],
        [[candidate] for candidate, _ in pairs],
        [[reference] for _, reference in pairs],
        tokenizer=tokenizer,
    )


def depends_on_corpus(measure: Measure) -> bool:
    """Whether a pair's score depends on the other references, as with CIDEr without a table."""
    return any(option.name == "df" for option in measure.options) and "df" not in measure.resources()


def pair_rows(measure: Measure, groups: Sequence[Sequence[SentencePair]], tokenizer: str) -> list[FloatArray]:
    """Return the statistics of the pairs of each group. Each group is a corpus of its own."""
    if depends_on_corpus(measure):
        return [_rows(measure, group, tokenizer) if group else np.zeros((0, 2)) for group in groups]
    # The score of a pair is the same in any corpus, so equal pairs are scored once.
    distinct = {pair: k for k, pair in enumerate(dict.fromkeys(pair for group in groups for pair in group))}
    if not distinct:
        return [np.zeros((0, 2)) for _ in groups]
    rows = _rows(measure, list(distinct), tokenizer)
    return [rows[[distinct[pair] for pair in group]] for group in groups]


def _rows(measure: Measure, pairs: Sequence[SentencePair], tokenizer: str) -> FloatArray:
    # CIDEr refuses a corpus of one pair, where every weight is log(1) = 0. Doubling keeps these weights.
    corpus = _corpus([*pairs, *pairs] if len(pairs) == 1 else pairs, tokenizer)
    rows: FloatArray = np.asarray(measure.statistics(corpus, measure.prepare(corpus.references)))
    return rows[: len(pairs)]
