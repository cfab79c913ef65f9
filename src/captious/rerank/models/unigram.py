"""Unigrams: every word has a probability of its own, whatever came before it (Wang et al. 2020, §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.ragged import IntArray
from captious.rerank.models.base import BEGIN, UNKNOWN, Floats, Vocabulary, WordModel


class Unigram(WordModel):
    """Shares of words and ends among all tokens. What is not known counts at least once, so that nothing is impossible."""

    kind = "unigram"

    def __init__(self, vocabulary: Vocabulary, counts: Floats, tokenizer: str = "ptb", made: Mapping[str, Any] | None = None) -> None:
        counts = np.asarray(counts, np.float64)
        if counts.shape != (len(vocabulary),) or not np.isfinite(counts).all() or (np.delete(counts, BEGIN) <= 0).any():
            raise InputError("a unigram model has a positive count for each of its words")
        self.vocabulary, self.counts, self.tokenizer, self.made = vocabulary, counts, tokenizer, dict(made or {})
        weights = counts.copy()
        weights[BEGIN] = 0.0
        with np.errstate(divide="ignore"):
            self.log = np.log(weights / weights.sum())

    @classmethod
    def learn(cls, captions: Sequence[Sequence[str]], least: int = 1, tokenizer: str = "ptb") -> Unigram:
        """Count the tokens of captions; words that occur less than ``least`` times are not known."""
        vocabulary = Vocabulary.learn(captions, least)
        numbers, _ = vocabulary.encode(captions)
        counts = np.bincount(numbers, minlength=len(vocabulary)).astype(np.float64)
        counts[UNKNOWN] = max(counts[UNKNOWN], 1.0)
        return cls(vocabulary, counts, tokenizer)

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        found: Floats = self.log[numbers]
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept of it."""
        return {"counts": self.counts}
