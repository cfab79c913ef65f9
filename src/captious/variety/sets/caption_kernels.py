"""Similarities between captions that Self-CIDEr, and what goes by its recipe, can be made from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from captious.corpus import Captions
from captious.errors import InputError, did_you_mean
from captious.frequencies import DocumentFrequencies, ReferenceFrequencies
from captious.measures import registry
from captious.measures.base import FloatArray, Measure
from captious.measures.resources import Resource
from captious.metrics.cider import MAX_N, SIGMA, frequencies_of, pair_similarities, weighted_ngrams
from captious.ragged import IntArray
from captious.variety.sets.products import set_products
from captious.variety.sets.selection import of_pairs

#: Similarities of the first sentences with the second ones, one number per pair.
SentenceSimilarity = Callable[[Sequence[str], Sequence[str]], Any]


class CaptionKernel(ABC):
    """A similarity of captions. It should be positive definite; Self-CIDEr reports where it is not."""

    name: str
    #: Whether the order of the two captions does not matter, so that each pair is computed once.
    symmetric: bool = False

    def prepare(self, references: Captions) -> Any:
        """What the kernel needs to know of the references; ``None`` where there are none."""
        return None

    @abstractmethod
    def similarities(self, captions: Captions, first: IntArray, second: IntArray, state: Any) -> FloatArray:
        """Similarity of caption ``first[p]`` with ``second[p]`` of ``captions``."""

    def matrices(self, captions: Captions, images: IntArray, m: int, state: Any) -> FloatArray:
        """Kernel matrices of the sets of images that have m captions each.

        An asymmetric similarity is made symmetric by the mean of both directions.
        """
        rows, columns = np.tril_indices(m) if self.symmetric else (place.ravel() for place in np.indices((m, m)))
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
        """For signatures: what makes two numbers comparable."""
        return {"kernel": self.name}

    def resources(self) -> dict[str, Resource]:
        """For signatures: what the similarity depends on."""
        return {}


class CiderKernel(CaptionKernel):
    """Mean over n = 1…4 of tf-idf cosines: CIDEr of one caption against one other, between 0 and 1."""

    name = "CIDEr"
    symmetric = True
    clip = False

    def __init__(self, df: DocumentFrequencies | None = None) -> None:
        self.df = df

    def prepare(self, references: Captions) -> DocumentFrequencies | None:
        """The table given, or the counts of the references; nothing where there are none."""
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

    def matrices(self, captions: Captions, images: IntArray, m: int, state: DocumentFrequencies | None) -> FloatArray:
        # The same numbers as from pairs, without looking at pairs that share no n-gram.
        frequencies = state if state is not None else own_frequencies(captions)
        starts = captions.image_offsets[images]
        members = starts[:, None] + np.arange(m)
        total = np.zeros((len(images), m, m))
        for n in range(1, MAX_N + 1):
            vectors = weighted_ngrams(captions, frequencies, n)
            norms = vectors.norm[members]
            scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
            products = set_products(vectors.number, vectors.weight, vectors.offsets, starts, m, clip=self.clip)
            products *= scale[:, :, None]
            products *= scale[:, None, :]
            total += products
        first, second = np.broadcast_arrays(members[:, :, None], members[:, None, :])
        total *= self.length_penalty(captions, first, second) / MAX_N
        return symmetric_part(total) if self.clip else total

    def length_penalty(self, captions: Captions, first: IntArray, second: IntArray) -> FloatArray | float:
        """A factor per pair."""
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
        # Length in bigrams, as the reference implementation has it: no word is as long as one.
        longer = np.maximum(captions.lengths - 1, 0)
        difference = (longer[first] - longer[second]).astype(np.float64)
        penalty: FloatArray = np.exp(-(difference**2) / (2 * SIGMA**2))
        return penalty


class MetricKernel(CaptionKernel):
    """Any metric: the score of one caption with the other as its only reference."""

    def __init__(self, metric: Measure) -> None:
        if not metric.higher_is_better:
            raise InputError(f"{metric.name} measures how far captions are apart; a kernel measures how near they are")
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
    """A function of two lists of tokenized sentences."""

    def __init__(self, function: SentenceSimilarity) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def similarities(self, captions: Captions, first: IntArray, second: IntArray, state: None) -> FloatArray:
        sentences = captions.sentences
        found = np.asarray(
            self.function([sentences[i] for i in first.tolist()], [sentences[i] for i in second.tolist()]),
            dtype=np.float64,
        )
        if found.shape != first.shape or not np.isfinite(found).all():
            raise InputError(
                f"the kernel '{self.name}' was asked for {len(first):,} similarities and returned an array of shape "
                f"{found.shape}{'' if np.isfinite(found).all() else ' with values that are not finite'}; "
                "it must return one finite number for each pair of sentences"
            )
        return found


def own_frequencies(captions: Captions) -> ReferenceFrequencies:
    """Counts over the captions that are being measured, where there are no references."""
    return captions.cached("own frequencies", lambda: ReferenceFrequencies(captions, "candidates"))


def symmetric_part(matrices: FloatArray) -> FloatArray:
    """The mean of a matrix and its transpose."""
    half: FloatArray = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    return half


#: A kernel, its name ("cider", "cider-d", or any metric's), a metric, or a function of two lists of sentences.
KernelChoice = str | Measure | CaptionKernel | SentenceSimilarity


def make_kernel(
    wanted: KernelChoice, df: DocumentFrequencies | None = None
) -> CaptionKernel:
    """A kernel from its name ("cider", "cider-d", or any metric's), a metric, or a function."""
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
        raise InputError(f"unknown kernel '{wanted}'{hint} (known: cider, cider-d and the name of any metric)")
    return MetricKernel(registry.create(by_fold[wanted.casefold()], {"df": df}))
