"""Features of a caption and its references that are not metrics, or variants of metrics.

They depend on one caption and its references alone, not on other captions of the run. Features of the
references only (their agreement) show what a good caption could reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from captious.corpus import Corpus
from captious.metrics.base import FloatArray, ratio
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.metrics.captions.encoded_captions import mapped_sentence_vectors, sentence_vectors
from captious.metrics.captions.fluency_penalty import error_probabilities
from captious.metrics.captions.over_references import combined, pair_cosines, reference_means, with_means
from captious.metrics.captions.soft_spice import soft_matches
from captious.metrics.captions.spice import tuple_counts
from captious.metrics.captions.token_alignment import (
    Agreement,
    Reader,
    TokenAlignment,
    agreement,
    alignment,
    shared_recall,
)
from captious.metrics.captions.wembsim import mean_vectors
from captious.metrics.captions.wmd import WMD
from captious.metrics.learned.feature_tools import Tools
from captious.metrics.learned.word_order import naturalness

Compute = Callable[[Tools, Corpus], FloatArray]


@dataclass(frozen=True)
class OwnFeature:
    """One number per caption. ``rises`` is 1 if more is better, −1 if less is, 0 if neither."""

    uses: frozenset[str]
    values: Compute
    rises: int = 1


def _vectors(tools: Tools, corpus: Corpus, kind: str) -> tuple[np.ndarray, np.ndarray]:
    if kind == "sentence":
        return sentence_vectors(corpus.candidates, tools.encoder), sentence_vectors(
            corpus.references, tools.encoder
        )
    if kind == "mapped-sentence":
        return mapped_sentence_vectors(corpus.candidates, tools.encoder), mapped_sentence_vectors(
            corpus.references, tools.encoder
        )
    if kind in ("caption", "mapped-caption"):
        table = tools.captions if kind == "caption" else tools.mapped_captions
        return distilled_vectors(corpus.candidates, table), distilled_vectors(corpus.references, table)
    stop = kind == "word"
    return mean_vectors(corpus.candidates, tools.vectors, stop), mean_vectors(
        corpus.references, tools.vectors, stop
    )


def _cosine(kind: str, how: str) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        ours, theirs = _vectors(tools, corpus, kind)
        if how in ("mean", "centroid"):
            return with_means(corpus, ours, theirs, unit=how == "centroid")
        return combined(corpus, pair_cosines(corpus, ours, theirs), how)

    return values


def _cosine_agreement(kind: str) -> Compute:
    """Return the mean cosine of two different references of an image."""

    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        theirs = _vectors(tools, corpus, kind)[1]
        means = reference_means(corpus, theirs)
        count = corpus.references.per_image.astype(np.float64)
        own = np.bincount(
            corpus.references.image_of, np.einsum("ij,ij->i", theirs, theirs), minlength=len(count)
        )
        pairs = count * (count - 1)
        total = count**2 * np.einsum("ij,ij->i", means, means) - own
        per_image = np.divide(total, pairs, out=np.full(len(count), np.nan), where=pairs > 0)
        values: FloatArray = per_image[corpus.images[corpus.candidates.image_of]]
        return values

    return values


def _aligned(
    reader: Callable[[Tools], Reader], take: Callable[[TokenAlignment], FloatArray], by_pair: bool
) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        taken = take(alignment(corpus, reader(tools)))
        return combined(corpus, taken if by_pair else taken[corpus.pairs[0]], "mean" if by_pair else "max")

    return values


def _shared(reader: Callable[[Tools], Reader]) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        return combined(corpus, shared_recall(corpus, reader(tools))[corpus.pairs[0]], "max")

    return values


def _aligned_references(
    reader: Callable[[Tools], Reader], take: Callable[[Agreement], FloatArray]
) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        return take(agreement(corpus.references, reader(tools)))[corpus.images[corpus.candidates.image_of]]

    return values


def _tuples(place: int, is_mapped: bool = False) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        own_map = tools.own_map if is_mapped else None
        return soft_matches(corpus, tools.scenes(corpus), tools.encoder, own_map)[:, place]

    return values


def _spice(part: str) -> Compute:
    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        hits, candidate, reference = tuple_counts(corpus, tools.scenes(corpus))[:, 0].T
        precision, recall = ratio(hits, candidate), ratio(hits, reference)
        return {
            "precision": precision,
            "recall": recall,
            "f": ratio(2 * precision * recall, precision + recall),
        }[part]

    return values


def _wmd(tools: Tools, corpus: Corpus) -> FloatArray:
    return WMD(tools.vectors).statistics(corpus, None)[:, 0]


def _length(sign: int) -> Compute:
    """Return how much longer (or shorter) than the mean reference a caption is, as a logarithm."""

    def values(tools: Tools, corpus: Corpus) -> FloatArray:
        references = corpus.references
        total = np.bincount(references.image_of, references.lengths, minlength=references.n_images)
        mean = total / np.maximum(references.per_image, 1)
        image = corpus.images[corpus.candidates.image_of]
        logarithm: FloatArray = np.maximum(
            sign * (np.log1p(corpus.candidates.lengths) - np.log1p(mean[image])), 0.0
        )
        return logarithm

    return values


def _all() -> dict[str, OwnFeature]:
    encoder, words, scenes = frozenset({"encoder"}), frozenset({"words"}), frozenset({"scenes"})
    captions, mapped = frozenset({"captions"}), encoder | {"map"}
    features: dict[str, OwnFeature] = {}
    for kind, uses in (
        ("sentence", encoder),
        ("mapped-sentence", mapped),
        ("word", words),
        ("all-words", words),
        ("caption", captions),
        ("mapped-caption", frozenset({"mapped captions"})),
    ):
        for how in ("mean", "max", "min", "centroid"):
            features[f"{kind}-{how}"] = OwnFeature(uses, _cosine(kind, how))
        features[f"{kind}-agreement"] = OwnFeature(uses, _cosine_agreement(kind), 0)
    readers: dict[str, tuple[Callable[[Tools], Reader], frozenset[str]]] = {
        "token": (lambda tools: tools.tokens(), encoder),
        "mapped-token": (lambda tools: tools.mapped_tokens(), mapped),
        "soft-word": (lambda tools: tools.words(), words),
        "caption-word": (lambda tools: tools.caption_words(), captions),
    }
    for kind, (reader, uses) in readers.items():
        # Next to the best match in any reference, similarity to each of them shows how ordinary a caption is,
        # not how good.
        features[f"{kind}-precision"] = OwnFeature(uses, _aligned(reader, lambda a: a.precision, True), 0)
        features[f"{kind}-recall"] = OwnFeature(uses, _aligned(reader, lambda a: a.recall, True))
        features[f"{kind}-precision-idf"] = OwnFeature(
            uses, _aligned(reader, lambda a: a.weighted_precision, True), 0
        )
        features[f"{kind}-recall-idf"] = OwnFeature(uses, _aligned(reader, lambda a: a.weighted_recall, True))
        features[f"{kind}-union"] = OwnFeature(uses, _aligned(reader, lambda a: a.union_precision, False))
        features[f"{kind}-union-idf"] = OwnFeature(
            uses, _aligned(reader, lambda a: a.weighted_union_precision, False)
        )
        features[f"{kind}-worst"] = OwnFeature(uses, _aligned(reader, lambda a: a.worst, False), -1)
        features[f"{kind}-shared-recall"] = OwnFeature(uses, _shared(reader))
        among = uses | {f"{kind.replace('-', ' ')} agreement"} if kind.endswith("token") else uses
        features[f"{kind}-agreement-recall"] = OwnFeature(
            among, _aligned_references(reader, lambda a: a.recall), 0
        )
        features[f"{kind}-agreement-recall-idf"] = OwnFeature(
            among, _aligned_references(reader, lambda a: a.weighted_recall), 0
        )
        features[f"{kind}-agreement-union"] = OwnFeature(
            among, _aligned_references(reader, lambda a: a.union_precision), 0
        )
        features[f"{kind}-agreement-union-idf"] = OwnFeature(
            among, _aligned_references(reader, lambda a: a.weighted_union_precision), 0
        )
    phrases = encoder | scenes | {"phrases"}
    features["tuple-precision"] = OwnFeature(phrases, _tuples(0))
    features["tuple-recall"] = OwnFeature(phrases, _tuples(1))
    features["mapped-tuple-precision"] = OwnFeature(phrases | {"map"}, _tuples(0, is_mapped=True))
    features["mapped-tuple-recall"] = OwnFeature(phrases | {"map"}, _tuples(1, is_mapped=True))
    features["spice-precision"] = OwnFeature(scenes, _spice("precision"))
    features["spice-recall"] = OwnFeature(scenes, _spice("recall"))
    features["spice-f"] = OwnFeature(scenes, _spice("f"))
    features["word-mover"] = OwnFeature(words, _wmd)
    features["word-order"] = OwnFeature(
        scenes, lambda tools, corpus: naturalness(corpus.candidates, tools.spice.parser)
    )
    features["fluency"] = OwnFeature(
        frozenset(), lambda tools, corpus: 1.0 - error_probabilities(corpus.candidates)
    )
    features["shorter"] = OwnFeature(frozenset(), _length(-1), -1)
    # More words may add content, or content that is not in the image.
    features["longer"] = OwnFeature(frozenset(), _length(1), 0)
    return features


#: Features by name.
OWN: dict[str, OwnFeature] = _all()
