"""WEmbSim (Sharif et al. 2020): cosine of mean word vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.errors import InputError
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import COMBINE as COMBINE_OPTION
from captious.measures.options import VECTORS, Option
from captious.measures.resources import Resource
from captious.metrics.word_tables import content_words, vocabulary_vectors, warn_of_unknown
from captious.vectors import WordVectors, get

COMBINE: dict[str, np.ufunc] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


def mean_vectors(captions: Captions, vectors: WordVectors, stop_words: bool) -> NDArray[np.float32]:
    """The mean vector of each caption's words, scaled to length one; zeros where no word has a vector.

    ``stop_words`` says whether stop words are left out. Means over words and sums have one direction, so sums do.
    """

    def make() -> NDArray[np.float32]:
        table, found = vocabulary_vectors(captions.encoding, vectors)
        use = found & content_words(captions.encoding) if stop_words else found
        # Distinct captions only: systems repeat themselves.
        first, inverse = captions.unique
        keep = use[captions.tokens]
        sums = _segment_sums(table, captions.tokens, keep, captions.token_offsets, first)
        norms = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        sums /= np.maximum(norms, np.float32(1e-12))[:, None]
        return sums[inverse]

    return captions.cached(("mean vectors", vectors, stop_words), make)


def _segment_sums(
    table: NDArray[np.float32],
    tokens: NDArray[np.int32],
    keep: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Sum of the kept tokens' rows for each of the chosen captions, as one sparse matrix product."""
    from scipy.sparse import csr_matrix

    kept = np.concatenate([[0], np.cumsum(keep)])
    lengths = kept[offsets[chosen + 1]] - kept[offsets[chosen]]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = tokens[keep]
    place = np.repeat(kept[offsets[chosen]] - starts[:-1], lengths) + np.arange(starts[-1])
    matrix = csr_matrix(
        (np.ones(len(place), np.float32), columns[place], starts), shape=(len(chosen), len(table))
    )
    sums: NDArray[np.float32] = matrix @ table
    return sums


class WEmbSim(Measure):
    """Cosine of mean word vectors of the candidate and each reference, combined over references."""

    name = "WEmbSim"
    summary = "cosine of mean word vectors without stop words, mean over references (Sharif et al. 2020)"
    bounds = (-1.0, 1.0)
    options: ClassVar[tuple[Option, ...]] = (VECTORS, COMBINE_OPTION)
    fixed: Mapping[str, str] = {"stop": "nltk"}
    # A mean over different references is below 1 for any caption.
    perfect_is_maximum = False
    _stop_words = True
    _combine = "mean"

    def __init__(self, vectors: Any = None, combine: str | None = None) -> None:
        self.vectors = get(vectors)
        self.combine = combine or self._combine
        if self.combine not in COMBINE:
            raise InputError(f"references are combined by mean, max or min, not '{self.combine}'")

    def pair_values(self, corpus: Corpus) -> FloatArray:
        """The similarity of each pair of candidate and reference; 0 where either has no known word."""
        ours = mean_vectors(corpus.candidates, self.vectors, self._stop_words)
        theirs = mean_vectors(corpus.references, self.vectors, self._stop_words)
        candidate, reference = corpus.pairs
        values = np.empty(len(candidate))
        step = 65_536
        for start in range(0, len(candidate), step):
            part = slice(start, start + step)
            values[part] = np.einsum("ij,ij->i", ours[candidate[part]], theirs[reference[part]], dtype=np.float32)
        return np.clip(values, -1.0, 1.0)

    def resources(self) -> dict[str, Resource]:
        return {"vectors": self.vectors}

    def prepare(self, references: Captions) -> None:
        mean_vectors(references, self.vectors, self._stop_words)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        warn_of_unknown(corpus, self.vectors, self.name)
        values = np.full(len(corpus.candidates), np.nan)
        counts = np.diff(corpus.pair_offsets)
        has = counts > 0
        if has.any():
            values[has] = COMBINE[self.combine].reduceat(self.pair_values(corpus), corpus.pair_offsets[:-1][has])
            if self.combine == "mean":
                values[has] /= counts[has]
        return as_statistics(values)
