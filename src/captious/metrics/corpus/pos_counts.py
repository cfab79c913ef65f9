"""Parts of speech: the share of each, and the distance from human captions."""

from __future__ import annotations

import numpy as np

from captious.core.digests import keys_of
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Need, Sequences, Texts
from captious.metrics.corpus.caption_trees import Parsed, TreeBank
from captious.metrics.corpus.corpus_measure import TreeMeasure

_GROUPS = {
    "NN": "noun",
    "VB": "verb",
    "JJ": "adjective",
    "RB": "adverb",
    "PR": "pronoun",
    "WP": "pronoun",
    "DT": "determiner",
    "PD": "determiner",
    "WD": "determiner",
    "IN": "preposition",
    "TO": "to",
    "CC": "conjunction",
    "CD": "number",
    "RP": "particle",
    "EX": "existential",
    "MD": "modal",
}


def group(tag: str) -> str:
    """Return the part of speech of a Penn tag."""
    return _GROUPS.get(tag[:2], "other")


def is_content(tag: str) -> bool:
    """Return whether a tag is a noun, verb, adjective or adverb."""
    return tag[:2] in ("NN", "VB", "JJ", "RB")


def tag_counts(parsed: Parsed) -> FloatArray:
    """Count the tags of the bank in the captions."""
    trees = parsed.bank.trees
    per_token = np.repeat(parsed.weights, np.diff(trees.offsets))
    return np.bincount(trees.tags, weights=per_token, minlength=len(parsed.bank.tags)).astype(np.float64)


def shares(bank: TreeBank, counts: FloatArray) -> dict[str, float]:
    """Return the share of each part of speech among all tokens, largest first."""
    summed: dict[str, float] = {}
    for tag, count in zip(bank.tags.words, counts.tolist()):
        if count:
            summed[group(tag)] = summed.get(group(tag), 0.0) + count
    total = sum(summed.values())
    return {name: summed[name] / total for name in sorted(summed, key=lambda name: (-summed[name], name))}


def jensen_shannon_distance(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the square root of the Jensen–Shannon divergence, in bits, of counts of shape (…, k).

    0 means alike, 1 nothing in common, NaN that one of the counts is empty.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        p, q = p / p.sum(axis=-1, keepdims=True), q / q.sum(axis=-1, keepdims=True)
        middle = (p + q) / 2
        distance: FloatArray = np.sqrt(np.maximum(0.0, (_divergence(p, middle) + _divergence(q, middle)) / 2))
    return distance


def _divergence(p: FloatArray, q: FloatArray) -> FloatArray:
    ratio = np.divide(p, q, out=np.ones(np.broadcast_shapes(p.shape, q.shape)), where=~(p == 0))
    total: FloatArray = (p * np.log2(ratio)).sum(axis=-1)
    return total


class PosDistance(TreeMeasure):
    """Distance of the tags of the captions from those of the references."""

    name, key, format = "POS-JSD", "pos_distance", ".3f"
    summary = "Jensen–Shannon distance of the tag distribution to that of the references"
    higher_is_better = False
    bounds = (0.0, 1.0)
    needs: frozenset[Need] = frozenset({"references"})

    def prepare(self, references: Captions) -> dict[str, float]:
        trees = self.parsed(references)
        return dict(zip(trees.bank.tags.words, tag_counts(trees).tolist()))

    def statistics(self, corpus: Corpus, state: dict[str, float]) -> Sequences:
        captions = corpus.candidates
        trees = self.parsed(captions)
        own = trees.bank.tags.words
        names = list(dict.fromkeys([*own, *state]))
        places, offsets = trees.tokens()
        human_counts = np.array([state.get(name, 0.0) for name in names], dtype=np.float64)
        items = trees.bank.trees.tags[places]
        return Sequences(items, offsets, keys_of(names), human_counts).grouped(captions.image_offsets)

    def value(self, sums: Texts) -> FloatArray:
        assert sums.table.known is not None
        return jensen_shannon_distance(sums.counts(), sums.table.known)
