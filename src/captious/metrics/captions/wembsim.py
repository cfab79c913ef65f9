"""WEmbSim (Sharif et al. 2020) and MOWE (Sharif et al. 2019): cosines of mean word vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import runs, sums_of_rows
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.over_references import check_combine, combined, pair_cosines, with_means
from captious.metrics.captions.vocabulary_vectors import content_words, vocabulary_vectors, warn_of_unknown
from captious.metrics.options import COMBINE, VECTORS, Option
from captious.vectors import WordVectors, get

#: Captions processed at a time, few enough for the processor's cache.
_PORTION = 1 << 11


def mean_vectors(captions: Captions, vectors: WordVectors, stop_words: bool) -> NDArray[np.float32]:
    """Return the mean vector of each caption's words, scaled to length one, or zeros if no word has a vector.

    ``stop_words`` says whether stop words are left out. Sums are used, which have the direction of means.
    """

    def make() -> NDArray[np.float32]:
        table, has_vector = vocabulary_vectors(captions.encoding, vectors)
        use = has_vector & content_words(captions.encoding) if stop_words else has_vector
        # Distinct captions are used only if many repeat. Otherwise copying their vectors takes longer than
        # computing some twice.
        first, inverse = captions.unique
        repeated = 2 * len(first) < len(captions)
        chosen = first if repeated else np.arange(len(captions), dtype=np.int64)
        keep = use[captions.tokens]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
        places, offsets = runs(before[captions.token_offsets], chosen)
        words = captions.tokens[keep][places]
        units = np.empty((len(chosen), table.shape[1]), np.float32)
        for low in range(0, len(chosen), _PORTION):
            part = slice(low, low + _PORTION)
            sums = sums_of_rows(table, words, offsets[low : low + _PORTION + 1])
            norms = np.sqrt(np.einsum("ij,ij->i", sums, sums))
            np.divide(sums, np.maximum(norms, np.float32(1e-12))[:, None], out=units[part])
        return units[inverse] if repeated else units

    return captions.cached(("mean vectors", vectors, stop_words), make)


class WEmbSim(Measure):
    """Cosine of mean word vectors of the candidate and each reference, combined over references."""

    name = "WEmbSim"
    summary = "cosine of mean word vectors without stop words, mean over references (Sharif et al. 2020)"
    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (VECTORS, COMBINE)
    fixed: Mapping[str, str] = {"stop": "nltk"}
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False
    _stop_words = True
    _combine = "mean"

    def __init__(self, vectors: Any = None, combine: str | None = None) -> None:
        self.vectors = get(vectors)
        self.combine = check_combine(combine or self._combine)

    def resources(self) -> dict[str, Resource]:
        return {"vectors": self.vectors}

    def prepare(self, references: Captions) -> None:
        mean_vectors(references, self.vectors, self._stop_words)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        warn_of_unknown(corpus, self.vectors, self.name)
        ours = mean_vectors(corpus.candidates, self.vectors, self._stop_words)
        theirs = mean_vectors(corpus.references, self.vectors, self._stop_words)
        if self.combine == "centroid":
            return as_statistics(with_means(corpus, ours, theirs, unit=True))
        # A caption without known words has a zero vector, and cosines of 0.
        return as_statistics(combined(corpus, pair_cosines(corpus, ours, theirs), self.combine))


class MOWE(WEmbSim):
    """Cosine of mean word vectors of all words, stop words included, with the nearest reference."""

    name = "MOWE"
    summary = "cosine of mean word vectors of all words, maximum over references (Sharif et al. 2019)"
    perfect_is_maximum = True
    fixed: Mapping[str, str] = {"stop": "none"}
    _stop_words = False
    _combine = "max"
