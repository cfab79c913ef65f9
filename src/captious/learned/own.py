"""Features of a caption and its references that are no metrics by themselves, or variants of metrics.

They look at one caption and its references alone: what else is scored in the same run does not change them. Those about the
references only (how far they agree) say what a good caption could reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from captious.corpus import Corpus
from captious.learned.order import naturalness
from captious.learned.tools import Tools
from captious.measures.base import FloatArray
from captious.metrics.alignment import Agreement, Alignment, Reader, agreement, alignment, shared_recall
from captious.metrics.encoded import sentence_vectors
from captious.metrics.over_references import combined, pair_cosines, reference_means, with_means
from captious.metrics.phrases import soft_matches
from captious.metrics.spice import ratio, tuple_counts
from captious.metrics.wembsim import mean_vectors
from captious.metrics.wmd import WMD

Compute = Callable[[Tools, Corpus], FloatArray]


@dataclass(frozen=True)
class OwnFeature:
    """One number per caption; ``rises`` is 1 where more is better, −1 where less is, 0 where it says nothing by itself."""

    uses: frozenset[str]
    values: Compute
    rises: int = 1


def _vectors(tools: Tools, corpus: Corpus, kind: str) -> tuple[np.ndarray, np.ndarray]:
    if kind == "sentence":
        return sentence_vectors(corpus.candidates, tools.encoder), sentence_vectors(corpus.references, tools.encoder)
    stop = kind == "word"
    return mean_vectors(corpus.candidates, tools.vectors, stop), mean_vectors(corpus.references, tools.vectors, stop)


def _cosine(kind: str, how: str) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        ours, theirs = _vectors(tools, corpus, kind)
        if how in ("mean", "centroid"):
            return with_means(corpus, ours, theirs, unit=how == "centroid")
        return combined(corpus, pair_cosines(corpus, ours, theirs), how)

    return values


def _cosine_agreement(kind: str) -> Compute:
    """The mean cosine of two different references of an image."""

    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        theirs = _vectors(tools, corpus, kind)[1]
        means = reference_means(corpus, theirs)
        count = corpus.references.per_image.astype(np.float64)
        known = np.bincount(corpus.references.image_of, np.einsum("ij,ij->i", theirs, theirs), minlength=len(count))
        pairs = count * (count - 1)
        total = count**2 * np.einsum("ij,ij->i", means, means) - known
        per_image = np.divide(total, pairs, out=np.full(len(count), np.nan), where=pairs > 0)
        found: FloatArray = per_image[corpus.images[corpus.candidates.image_of]]
        return found

    return values


def _aligned(reader: Callable[[Tools], Reader], take: Callable[[Alignment], FloatArray], by_pair: bool) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        found = take(alignment(corpus, reader(tools)))
        return combined(corpus, found if by_pair else found[corpus.pairs[0]], "mean" if by_pair else "max")

    return values


def _shared(reader: Callable[[Tools], Reader]) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        return combined(corpus, shared_recall(corpus, reader(tools))[corpus.pairs[0]], "max")

    return values


def _aligned_references(reader: Callable[[Tools], Reader], take: Callable[[Agreement], FloatArray]) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        return take(agreement(corpus.references, reader(tools)))[corpus.images[corpus.candidates.image_of]]

    return values


def _tuples(place: int) -> Compute:
    return lambda tools, corpus: soft_matches(corpus, tools.scenes(corpus), tools.encoder)[:, place]


def _spice(part: str) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        hits, candidate, reference = tuple_counts(corpus, tools.scenes(corpus))[:, 0].T
        precision, recall = ratio(hits, candidate), ratio(hits, reference)
        return {"precision": precision, "recall": recall, "f": ratio(2 * precision * recall, precision + recall)}[part]

    return values


def _wmd(tools: Tools, corpus: Corpus) -> FloatArray:
    return WMD(tools.vectors).statistics(corpus, None)[:, 0]


def _length(sign: int) -> Compute:
    """How much longer (or shorter) than the mean reference a caption is, as a logarithm; 0 for the other side."""

    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        references = corpus.references
        total = np.bincount(references.image_of, references.lengths, minlength=references.n_images)
        mean = total / np.maximum(references.per_image, 1)
        image = corpus.images[corpus.candidates.image_of]
        found: FloatArray = np.maximum(sign * (np.log1p(corpus.candidates.lengths) - np.log1p(mean[image])), 0.0)
        return found

    return values


def _all() -> dict[str, OwnFeature]:
    encoder, words, scenes = frozenset({"encoder"}), frozenset({"words"}), frozenset({"scenes"})
    found: dict[str, OwnFeature] = {}
    for kind, uses in (("sentence", encoder), ("word", words), ("all-words", words)):
        for how in ("mean", "max", "min", "centroid"):
            found[f"{kind}-{how}"] = OwnFeature(uses, _cosine(kind, how))
        found[f"{kind}-agreement"] = OwnFeature(uses, _cosine_agreement(kind), 0)
    readers: dict[str, tuple[Callable[[Tools], Reader], frozenset[str]]] = {
        "token": (lambda tools: tools.tokens(), encoder),
        "soft-word": (lambda tools: tools.words(), words),
    }
    for kind, (reader, uses) in readers.items():
        # Beside the best match in any reference, nearness to each of them says how ordinary a caption is, not how good.
        found[f"{kind}-precision"] = OwnFeature(uses, _aligned(reader, lambda a: a.precision, True), 0)
        found[f"{kind}-recall"] = OwnFeature(uses, _aligned(reader, lambda a: a.recall, True))
        found[f"{kind}-precision-idf"] = OwnFeature(uses, _aligned(reader, lambda a: a.weighted_precision, True), 0)
        found[f"{kind}-recall-idf"] = OwnFeature(uses, _aligned(reader, lambda a: a.weighted_recall, True))
        found[f"{kind}-union"] = OwnFeature(uses, _aligned(reader, lambda a: a.union_precision, False))
        found[f"{kind}-union-idf"] = OwnFeature(uses, _aligned(reader, lambda a: a.weighted_union_precision, False))
        found[f"{kind}-worst"] = OwnFeature(uses, _aligned(reader, lambda a: a.worst, False), -1)
        found[f"{kind}-shared-recall"] = OwnFeature(uses, _shared(reader))
        found[f"{kind}-agreement-recall"] = OwnFeature(uses, _aligned_references(reader, lambda a: a.recall), 0)
        found[f"{kind}-agreement-recall-idf"] = OwnFeature(uses, _aligned_references(reader, lambda a: a.weighted_recall), 0)
        found[f"{kind}-agreement-union"] = OwnFeature(uses, _aligned_references(reader, lambda a: a.union_precision), 0)
        found[f"{kind}-agreement-union-idf"] = OwnFeature(uses, _aligned_references(reader, lambda a: a.weighted_union_precision), 0)
    found["tuple-precision"] = OwnFeature(encoder | scenes, _tuples(0))
    found["tuple-recall"] = OwnFeature(encoder | scenes, _tuples(1))
    found["spice-precision"] = OwnFeature(scenes, _spice("precision"))
    found["spice-recall"] = OwnFeature(scenes, _spice("recall"))
    found["spice-f"] = OwnFeature(scenes, _spice("f"))
    found["word-mover"] = OwnFeature(words, _wmd)
    found["word-order"] = OwnFeature(scenes, lambda tools, corpus: naturalness(corpus.candidates, tools.spice.parser))
    found["shorter"] = OwnFeature(frozenset(), _length(-1), -1)
    # More words may say more, or say what is not there.
    found["longer"] = OwnFeature(frozenset(), _length(1), 0)
    return found


#: By name.
OWN: dict[str, OwnFeature] = _all()
