"""Unigram language model: every word has a fixed probability, whatever precedes it (Wang et al. 2020, §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.rerank.language_models.language_model import BEGIN, UNKNOWN, Floats, ModelVocabulary, WordModel


class Unigram(WordModel):
    """Relative frequencies of words and ends. Unknown words count at least once: P(s) is never 0."""

    kind = "unigram"

    def __init__(
        self,
        vocabulary: ModelVocabulary,
        counts: Floats,
        tokenizer: str = "ptb",
        made: Mapping[str, Any] | None = None,
    ) -> None:
        counts = np.asarray(counts, np.float64)
        if (
            counts.shape != (len(vocabulary),)
            or not np.isfinite(counts).all()
            or (np.delete(counts, BEGIN) <= 0).any()
        ):
            raise InputError(
                "a unigram model needs a positive count for each of its words; the file is damaged"
            )
        self.vocabulary, self.counts, self.tokenizer, self.made = (
            vocabulary,
            counts,
            tokenizer,
            dict(made or {}),
        )
        weights = counts.copy()
        weights[BEGIN] = 0.0
        with np.errstate(divide="ignore"):
            self.log = np.log(weights / weights.sum())

    @classmethod
    def learn(cls, captions: Sequence[Sequence[str]], least: int = 1, tokenizer: str = "ptb") -> Unigram:
        """Count the tokens of captions. Words that occur fewer than ``least`` times are unknown."""
        vocabulary = ModelVocabulary.learn(captions, least)
        numbers, _ = vocabulary.encode(captions)
        counts = np.bincount(numbers, minlength=len(vocabulary)).astype(np.float64)
        counts[UNKNOWN] = max(counts[UNKNOWN], 1.0)
        return cls(vocabulary, counts, tokenizer)

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        log_p: Floats = self.log[numbers]
        return log_p

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        return {"counts": self.counts}
