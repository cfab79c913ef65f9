"""Self-CIDEr (Wang & Chan 2019): LSA diversity with CIDEr between the captions of a set as the kernel."""

from __future__ import annotations

import warnings

import numpy as np

from captious.corpus import Corpus
from captious.diversity.sets.base import MeanMeasure
from captious.diversity.sets.caption_kernels import CaptionKernel, make_kernel
from captious.diversity.sets.spectrum import NEGATIVE, spectral_diversity
from captious.io import CaptionWarning
from captious.metrics.base import FloatArray
from captious.metrics.document_frequency import DocumentFrequencies


class SelfCider(MeanMeasure):
    """−log_m(√λ₁ / Σ√λ) for the eigenvalues λ of the matrix of CIDEr between all captions of a set."""

    name = "Self-CIDEr"
    summary = "spread of the eigenvalues of CIDEr between the captions (Wang & Chan 2019)"

    def __init__(self, kernel: CaptionKernel | None = None, df: DocumentFrequencies | None = None) -> None:
        self.kernel = kernel if kernel is not None else make_kernel("cider", df)

    def per_image(self, corpus: Corpus) -> FloatArray:
        diversity, negative = spectral_diversity(
            corpus.candidates, lambda images, m: self.kernel.matrices(corpus, images, m)
        )
        self._report(corpus, negative)
        return diversity

    def _report(self, corpus: Corpus, negative: FloatArray) -> None:
        bad = np.flatnonzero(negative < -NEGATIVE)
        if len(bad):
            worst = int(negative.argmin())
            warnings.warn(
                CaptionWarning(
                    f"{corpus.name}: the kernel {self.kernel.name} is not positive definite on {len(bad):,} of "
                    f"{len(corpus):,} images (the worst is image {corpus.ids[worst]}, with an eigenvalue of "
                    f"{negative[worst]:.2g} of the largest); negative eigenvalues are counted as 0"
                ),
                stacklevel=3,
            )

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {**super().signature_fields(corpus), **self.kernel.signature_fields(corpus)}
