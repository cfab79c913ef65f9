"""LSA diversity (Wang & Chan 2019): how evenly the singular values of a set's word counts are spread."""

from __future__ import annotations

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray
from captious.metrics.sets.chained_products import set_products
from captious.metrics.sets.set_measure import MeanMeasure
from captious.metrics.sets.spectrum import spectral_diversity


class LSA(MeanMeasure):
    """−log_m(σ₁ / Σσ) for the singular values of the matrix of word counts (all words, including stop words).

    The squares of the singular values are the eigenvalues of the scalar products of the captions' counts.
    """

    name = "LSA"
    summary = "spread of the singular values of word counts (Wang & Chan 2019)"

    def per_image(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        table = captions.ngrams(1)
        counts = table.count.astype(np.float64)
        return spectral_diversity(
            captions,
            lambda images, m: set_products(
                table.number, counts, table.offsets, captions.image_offsets[images], m
            ),
        )[0]
