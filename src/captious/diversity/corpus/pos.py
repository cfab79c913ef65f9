"""Parts of speech: which share each has, and how far that is from people."""

from __future__ import annotations

import numpy as np

from captious.corpus import IntArray
from captious.diversity.corpus.flat import FloatArray
from captious.diversity.corpus.trees import TreeBank

_GROUPS = {
    "NN": "noun", "VB": "verb", "JJ": "adjective", "RB": "adverb", "PR": "pronoun", "WP": "pronoun", "DT": "determiner",
    "PD": "determiner", "WD": "determiner", "IN": "preposition", "TO": "to", "CC": "conjunction", "CD": "number",
    "RP": "particle", "EX": "existential", "MD": "modal",
}  # fmt: skip


def group(tag: str) -> str:
    """The part of speech of a Penn tag."""
    return _GROUPS.get(tag[:2], "other")


def is_content(tag: str) -> bool:
    """Nouns, verbs, adjectives and adverbs."""
    return tag[:2] in ("NN", "VB", "JJ", "RB")


def tag_counts(bank: TreeBank, weights: IntArray) -> FloatArray:
    """How often each tag occurs in the captions that ``weights`` says how often to count."""
    trees = bank.trees
    per_token = np.repeat(weights, np.diff(trees.offsets))
    return np.bincount(trees.tags, weights=per_token, minlength=len(bank.tags)).astype(np.float64)


def shares(bank: TreeBank, counts: FloatArray) -> dict[str, float]:
    """Share of each part of speech among all tokens, largest first."""
    summed: dict[str, float] = {}
    for tag, count in zip(bank.tags.words, counts.tolist()):
        if count:
            summed[group(tag)] = summed.get(group(tag), 0.0) + count
    total = sum(summed.values())
    return {name: summed[name] / total for name in sorted(summed, key=lambda name: (-summed[name], name))}


def jensen_shannon_distance(p: FloatArray, q: FloatArray) -> float:
    """Square root of the Jensen–Shannon divergence in bits of two lists of counts (0 = alike, 1 = nothing in common)."""
    size = max(len(p), len(q))
    p, q = (np.pad(x, (0, size - len(x))) for x in (p, q))
    if not p.sum() or not q.sum():
        return float("nan")
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    return float(np.sqrt(max(0.0, (_divergence(p, middle) + _divergence(q, middle)) / 2)))


def _divergence(p: FloatArray, q: FloatArray) -> float:
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())
