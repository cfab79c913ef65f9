"""Self-CIDEr (Wang & Chan 2019): LSA diversity with CIDEr between the captions of a set as the kernel."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from captious.core.errors import InputError
from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.io import CaptionWarning
from captious.metrics.base import FloatArray, Resource
from captious.metrics.options import DF, KERNEL, Option
from captious.metrics.sets.lsa import NEGATIVE, spectral_diversity
from captious.metrics.sets.set_measure import MeanMeasure
from captious.metrics.sets.similarity_kernels import CiderKernel, FunctionKernel, KernelChoice, make_kernel


class SelfCider(MeanMeasure):
    """−log_m(√λ₁ / Σ√λ) for the eigenvalues λ of the matrix of CIDEr between all captions of a set."""

    name = "Self-CIDEr"
    summary = "spread of the eigenvalues of CIDEr between the captions (Wang & Chan 2019)"

    options: ClassVar[tuple[Option, ...]] = (KERNEL, DF)

    def __init__(self, kernel: KernelChoice | None = None, df: DocumentFrequencies | None = None) -> None:
        self.kernel = make_kernel(kernel if kernel is not None else "cider", df)

    def resources(self) -> dict[str, Resource]:
        return self.kernel.resources()

    def parameters(self) -> dict[str, str]:
        return self.kernel.parameters()

    def uses_references(self) -> bool:
        return not isinstance(self.kernel, FunctionKernel) and "df" not in self.resources()

    def data_fields(self, corpus: Corpus) -> dict[str, str]:
        if not isinstance(self.kernel, CiderKernel) or self.kernel.df is not None:
            return {}
        # Counts of the captions themselves would be different weights for every system.
        return {"df": "references" if corpus.has_references else f"candidates@{corpus.candidates.digest}"}

    def check(self, corpus: Corpus | None = None) -> None:
        super().check(corpus)
        if not isinstance(self.kernel, CiderKernel) or self.kernel.df is not None or corpus is None:
            return
        if (corpus.references if corpus.has_references else corpus.candidates).n_images < 2:
            raise InputError(
                f"{self.name} weighs n-grams by the number of images that have them, and there is only "
                f"{len(corpus)} image; "
                "pass document frequencies from a larger corpus (--df FILE, df=…), "
                "which 'captious df build REFS -o FILE' writes"
            )
        if not corpus.has_references:
            warnings.warn(
                CaptionWarning(
                    f"{corpus.name}: without references, {self.name} weighs n-grams by the captions "
                    "themselves; its values are comparable only with values computed the same way. "
                    "Pass references, or document frequencies (df=…)"
                ),
                stacklevel=4,
            )

    def prepare(self, references: Captions) -> Any:
        return self.kernel.prepare(references)

    def per_image(self, corpus: Corpus, state: Any) -> FloatArray:
        captions = corpus.candidates
        diversity, negative = spectral_diversity(
            captions, lambda images, m: self.kernel.matrices(captions, images, m, state)
        )
        self._report(corpus, negative)
        return diversity

    def _report(self, corpus: Corpus, negative: FloatArray) -> None:
        bad = np.flatnonzero(negative < -NEGATIVE)
        if len(bad):
            worst = int(negative.argmin())
            warnings.warn(
                CaptionWarning(
                    f"{corpus.name}: the kernel {self.kernel.name} is not positive definite on "
                    f"{len(bad):,} of "
                    f"{len(corpus):,} images (the worst is image {corpus.ids[worst]}, with an eigenvalue of "
                    f"{negative[worst]:.2g} of the largest); negative eigenvalues are counted as 0"
                ),
                stacklevel=3,
            )
