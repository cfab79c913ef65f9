"""Repetition in a text: n-grams (Rep-n, Welleck et al. 2020) and whole sentences (Rep-S)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure, Need
from captious.metrics.captions.text_measure import TextMeasure

_WORD = re.compile(r"\w+")


class RepeatedNgrams(Measure):
    """Share of a caption's n-grams that it has said before, mean over captions.

    A caption of fewer than n words repeats none.
    """

    higher_is_better = False
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False

    def __init__(self, n: int = 4) -> None:
        self.n = n
        self.name = f"Rep-{n}"
        self.summary = f"share of a caption's {n}-grams that it has said before (Welleck et al. 2020)"
        self.fixed: Mapping[str, str] = {"n": str(n)}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        ngrams = corpus.candidates.ngrams(self.n)
        distinct, totals = np.diff(ngrams.offsets), ngrams.totals
        repeated = np.divide(totals - distinct, totals, out=np.zeros(len(totals)), where=totals > 0)
        return np.stack([repeated, np.ones(len(totals))], axis=1)


class RepeatedSentences(TextMeasure):
    """Sentences that a text has said before, over all sentences of the corpus.

    Case and punctuation do not count.
    """

    name = "Rep-S"
    summary = "share of sentences that their text has said before"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        said = [" ".join(_WORD.findall(sentence.lower())) for sentence in sentences]
        said = [sentence for sentence in said if sentence]
        return len(said) - len(set(said)), len(said)
