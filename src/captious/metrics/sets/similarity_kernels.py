"""Similarities between captions, the kernels of Self-CIDEr."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from captious.core.errors import InputError, did_you_mean
from captious.core.ragged import IntArray
from captious.corpus import Captions
from captious.corpus.frequencies import DocumentFrequencies, ReferenceFrequencies
from captious.metrics import registry
from captious.metrics.base import FloatArray, Measure, Resource
from captious.metrics.captions.cider import (
    MAX_N,
    SIGMA,
    frequencies_of,
    ngram_weights,
    pair_similarities,
    vector_norms,
)
from captious.metrics.sets.chained_products import set_products
from captious.metrics.sets.selection import of_pairs

#: Function of two lists of sentences that returns one similarity per pair.
SentenceSimilarity = Callable[[Sequence[str], Sequence[str]], Any]


class CaptionKernel(ABC):
    """Similarity of captions. It should be positive definite; Self-CIDEr warns where it is not."""

    name: str
    #: Whether the order of the two captions does not matter, so that each pair is computed once.
    symmetric: bool = False

    def prepare(self, references: Captions) -> Any:
        """Return the state that the kernel derives from the references, or ``None``."""
        return None

    @abstractmethod
    def similarities(self, captions: Captions, first: IntArray, second: IntArray, state: Any) -> FloatArray:
        """Return the similarity of caption ``first[p]`` with ``second[p]`` of ``captions``."""

    def matrices(self, captions: Captions, images: IntArray, m: int, state: Any) -> FloatArray:
        """Return the kernel matrices of the sets of ``images``, which have m captions each.

        An asymmetric similarity is averaged over both directions.
        """
        rows, columns = (
            np.tril_indices(m) if self.symmetric else (place.ravel() for place in np.indices((m, m)))
        )
        starts = captions.image_offsets[images][:, None]
        first, second = (starts + rows).ravel(), (starts + columns).ravel()
        values = self.similarities(captions, first, second, state).reshape(len(images), -1)
        matrices = np.empty((len(images), m, m))
        matrices[:, rows, columns] = values
        if self.symmetric:
            matrices[:, columns, rows] = values
            return matrices
        return symmetric_part(matrices)

    def parameters(self) -> dict[str, str]:
        """Return the settings for signatures."""
        return {"kernel": self.name}

    def resources(self) -> dict[str, Resource]:
        """Return the resources for signatures."""
        return {}


class CiderKernel(CaptionKernel):
    """Mean over n = 1…4 of tf-idf cosines: CIDEr of one caption against one other, between 0 and 1."""

    name = "CIDEr"
    symmetric = True
    clip = False

    def __init__(self, df: DocumentFrequencies | None = None) -> None:
        self.df = df

    def prepare(self, references: Captions) -> DocumentFrequencies | None:
        """Return the given table, or the counts of the references, or None without references."""
        if self.df is None:
            return frequencies_of(references) if len(references) else None
        self.df.check_tokenizer(references.tokenizer)
        return self.df

    def similarities(
        self, captions: Captions, first: IntArray, second: IntArray, state: DocumentFrequencies | None
    ) -> FloatArray:
        frequencies = state if state is not None else own_frequencies(captions)
        total = np.zeros(len(first))
        for n in range(1, MAX_N + 1):
            total += pair_similarities(captions, captions, first, second, frequencies, n, clip=self.clip)
        return total * self.length_penalty(captions, first, second) / MAX_N

    def matrices(
        self, captions: Captions, images: IntArray, m: int, state: DocumentFrequencies | None
    ) -> FloatArray:
        # Equals the similarities of pairs, but skips pairs that share no n-gram.
        frequencies = state if state is not None else own_frequencies(captions)
        starts = captions.image_offsets[images]
        members = starts[:, None] + np.arange(m)
        total = np.zeros((len(images), m, m))
        for n in range(1, MAX_N + 1):
            table, weights = captions.ngrams(n), ngram_weights(captions, frequencies, n)
            norms = vector_norms(captions, frequencies, n)[members]
            scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
            products = set_products(table.number, weights, table.offsets, starts, m, clip=self.clip)
            products *= scale[:, :, None]
            products *= scale[:, None, :]
            total += products
        first, second = np.broadcast_arrays(members[:, :, None], members[:, None, :])
        total *= self.length_penalty(captions, first, second) / MAX_N
        return symmetric_part(total) if self.clip else total

    def length_penalty(self, captions: Captions, first: IntArray, second: IntArray) -> FloatArray | float:
        """Return a factor for each pair."""
        return 1.0

    def parameters(self) -> dict[str, str]:
        return {"kernel": self.name, "n": str(MAX_N)}

    def resources(self) -> dict[str, Resource]:
        return {} if self.df is None else {"df": self.df}


class CiderDKernel(CiderKernel):
    """CIDEr-D of one caption against one other (over 10): clipped counts and a Gaussian penalty on length."""

    name = "CIDEr-D"
    symmetric = False
    clip = True

    def length_penalty(self, captions: Captions, first: IntArray, second: IntArray) -> FloatArray | float:
        # The COCO tools measure length in bigrams, so empty captions and single words are equally long.
        longer = np.maximum(captions.lengths - 1, 0)
        difference = (longer[first] - longer[second]).astype(np.float64)
        penalty: FloatArray = np.exp(-(difference**2) / (2 * SIGMA**2))
        return penalty


class MetricKernel(CaptionKernel):
    """Kernel of any metric: the score of one caption with the other as its only reference."""

    def __init__(self, metric: Measure) -> None:
        if not metric.higher_is_better:
            raise InputError(f"{metric.name} is a distance; a kernel needs a metric of which more is better")
        self.metric = metric
        self.name = metric.name

    def prepare(self, references: Captions) -> Any:
        return self.metric.prepare(references)

    def similarities(self, captions: Captions, first: IntArray, second: IntArray, state: Any) -> FloatArray:
        pairs = of_pairs(captions, first, second, name=self.name)
        return self.metric.per_row(self.metric.statistics(pairs, state))

    def parameters(self) -> dict[str, str]:
        return {"kernel": self.name, **self.metric.parameters()}

    def resources(self) -> dict[str, Resource]:
        return self.metric.resources()


class FunctionKernel(CaptionKernel):
    """Kernel of a function of two lists of tokenized sentences."""

    def __init__(self, function: SentenceSimilarity) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def similarities(self, captions: Captions, first: IntArray, second: IntArray, state: None) -> FloatArray:
        sentences = captions.sentences
        values = np.asarray(
            self.function([sentences[i] for i in first.tolist()], [sentences[i] for i in second.tolist()]),
            dtype=np.float64,
        )
        if values.shape != first.shape or not np.isfinite(values).all():
            raise InputError(
                f"the kernel '{self.name}' got {len(first):,} pairs and returned an array of shape "
                f"{values.shape}{'' if np.isfinite(values).all() else ' with values that are not finite'}; "
                "it must return one finite number for each pair of sentences"
            )
        return values


def own_frequencies(captions: Captions) -> ReferenceFrequencies:
    """Return counts over the measured captions, for corpora without references."""
    return captions.cached("own frequencies", lambda: ReferenceFrequencies(captions, "candidates"))


def symmetric_part(matrices: FloatArray) -> FloatArray:
    """Return the mean of a matrix and its transpose."""
    half: FloatArray = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    return half


#: A kernel, its name ("cider", "cider-d", or a metric's), a metric, or a function of two lists of sentences.
KernelChoice = str | Measure | CaptionKernel | SentenceSimilarity


def make_kernel(wanted: KernelChoice, df: DocumentFrequencies | None = None) -> CaptionKernel:
    """Return a kernel from its name ("cider", "cider-d", or any metric's), a metric, or a function."""
    if isinstance(wanted, CaptionKernel):
        return wanted
    if isinstance(wanted, Measure):
        return MetricKernel(wanted)
    if not isinstance(wanted, str):
        return FunctionKernel(wanted)
    if wanted.casefold() in ("cider", "cider-d"):
        return CiderKernel(df) if wanted.casefold() == "cider" else CiderDKernel(df)
    by_fold = {name.casefold(): name for name in registry.names()}
    if wanted.casefold() not in by_fold:
        hint = did_you_mean(wanted, ["cider", "cider-d", *registry.names()])
        raise InputError(
            f"unknown kernel '{wanted}'{hint} (known: cider, cider-d and the name of any metric)"
        )
    return MetricKernel(registry.create(by_fold[wanted.casefold()], {"df": df}))
