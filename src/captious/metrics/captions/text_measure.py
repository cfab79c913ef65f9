"""Base of measures that look at a text alone: no references, no parser."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure, Need
from captious.text.sentences import split_sentences


class TextMeasure(Measure):
    """Base of measures that count something in the sentences of each caption."""

    higher_is_better = False
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        texts = corpus.candidates.texts
        counted = {text: self.count(text, split_sentences(text)) for text in dict.fromkeys(texts)}
        rows = np.array([counted[text] for text in texts], np.float64)
        return rows.reshape(len(texts), -1)

    @abstractmethod
    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        """Return the statistics of a text: what was counted, and of how many."""
