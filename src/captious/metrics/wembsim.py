"""WEmbSim (Sharif et al. 2020): cosine of mean word vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import COMBINE, VECTORS, Option
from captious.measures.resources import Resource
from captious.metrics.over_references import check_combine, combined, pair_cosines, with_means
from captious.metrics.word_tables import content_words, vocabulary_vectors, warn_of_unknown
from captious.ragged import IntArray, offsets_of
from captious.vectors import WordVectors, get

#: Captions whose vectors are made at a time: few enough to stay near the processor.
_PORTION = 1 << 11


def mean_vectors(captions: Captions, vectors: WordVectors, stop_words: bool) -> NDArray[np.float32]:
    """The mean vector of each caption's words, scaled to length one; zeros where no word has a vector.

    ``stop_words`` says whether stop words are left out. Means over words and sums have one direction, so sums do.
    """

    def make() -> NDArray[np.float32]:
        table, found = vocabulary_vectors(captions.encoding, vectors)
        use = found & content_words(captions.encoding) if stop_words else found
        # Distinct captions only where systems repeat themselves a lot; else it takes longer to spread their vectors than to make some twice.
        first, inverse = captions.unique
        repeated = 2 * len(first) < len(captions)
        chosen = first if repeated else np.arange(len(captions), dtype=np.int64)
        keep = use[captions.tokens]
        kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
        columns, starts, ends = captions.tokens[keep], kept[captions.token_offsets[chosen]], kept[captions.token_offsets[chosen + 1]]
        units = np.empty((len(chosen), table.shape[1]), np.float32)
        for low in range(0, len(chosen), _PORTION):
            part = slice(low, low + _PORTION)
            sums = _sums(table, columns, starts[part], ends[part])
            norms = np.sqrt(np.einsum("ij,ij->i", sums, sums))
            np.divide(sums, np.maximum(norms, np.float32(1e-12))[:, None], out=units[part])
        return units[inverse] if repeated else units

    return captions.cached(("mean vectors", vectors, stop_words), make)


def _sums(table: NDArray[np.float32], columns: NDArray[np.int32], starts: IntArray, ends: IntArray) -> NDArray[np.float32]:
    """Sums of rows of a table, those that the columns from each start to its end name, as one sparse matrix product."""
    from scipy.sparse import csr_matrix

    offsets = offsets_of(ends - starts)
    place = np.repeat(starts - offsets[:-1], ends - starts) + np.arange(offsets[-1])
    matrix = csr_matrix((np.ones(len(place), np.float32), columns[place], offsets), shape=(len(starts), len(table)))
    sums: NDArray[np.float32] = matrix @ table
    return sums


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
        # A caption without a known word has zeros for a vector, and 0 for a cosine.
        return as_statistics(combined(corpus, pair_cosines(corpus, ours, theirs), self.combine))
