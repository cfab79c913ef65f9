"""Composition: nominal compounds by length, prepositional phrases by depth of embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.corpus import IntArray
from captious.diversity.corpus.flat import FloatArray
from captious.diversity.corpus.trees import TreeBank, Trees
from captious.kernels import kernel

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Phrases:
    """Phrases found in a tree bank: the caption of each, its size (words of a compound, depth of a prepositional
    phrase) and a 64-bit number that is equal for phrases of the same words."""

    caption: IntArray
    size: IntArray
    key: NDArray[np.uint64]


@dataclass(frozen=True)
class Composition:
    """Compounds and prepositional phrases of one system."""

    #: Number of phrases of each size; place k is size k.
    compound_lengths: FloatArray
    pp_depths: FloatArray
    #: Phrases per caption.
    compound_ratio: float
    preposition_ratio: float
    #: Different compounds of two words, and different prepositional phrases without another one inside.
    compound_types_2: float
    pp_types_1: float

    def ratios(self) -> dict[str, float]:
        """The single numbers."""
        keys = ("compound_ratio", "preposition_ratio", "compound_types_2", "pp_types_1")
        return {key: float(getattr(self, key)) for key in keys}


def average(parts: list[Composition]) -> Composition:
    """The mean of several corpora."""
    numbers = {key: float(np.mean([part.ratios()[key] for part in parts])) for key in parts[0].ratios()}
    return Composition(
        compound_lengths=_mean([part.compound_lengths for part in parts]),
        pp_depths=_mean([part.pp_depths for part in parts]),
        **numbers,
    )


def _mean(counts: list[FloatArray]) -> FloatArray:
    size = max(map(len, counts))
    return np.asarray(np.mean([np.pad(c, (0, size - len(c))) for c in counts], axis=0))


def composition(compounds: Phrases, prepositions: Phrases, weights: IntArray) -> Composition:
    """The phrases of the captions that ``weights`` says how often to count."""
    captions = weights.sum()
    lengths, two = _counts(compounds, weights, 2)
    depths, one = _counts(prepositions, weights, 1)
    return Composition(
        compound_lengths=lengths,
        pp_depths=depths,
        compound_ratio=float(lengths.sum() / captions) if captions else float("nan"),
        preposition_ratio=float(depths.sum() / captions) if captions else float("nan"),
        compound_types_2=two,
        pp_types_1=one,
    )


def _counts(phrases: Phrases, weights: IntArray, size: int) -> tuple[FloatArray, int]:
    """Weighted counts by size, and the number of different phrases of one size."""
    weight = weights[phrases.caption]
    counts = np.bincount(phrases.size, weights=weight, minlength=size + 1).astype(np.float64)
    return counts, len(np.unique(phrases.key[(weight > 0) & (phrases.size == size)]))


def join(a: Phrases, b: Phrases, captions: int) -> Phrases:
    """The phrases of both; those of the second are of captions that come after the ``captions`` of the first."""
    return Phrases(
        np.concatenate([a.caption, b.caption + captions]),
        np.concatenate([a.size, b.size]),
        np.concatenate([a.key, b.key]),
    )


def find_compounds(bank: TreeBank, trees: Trees | None = None) -> Phrases:
    """Nominal compounds: the longest runs of two and more nouns (tags that start with NN) inside a sentence.

    ``trees``: only these of the bank's.
    """
    trees = bank.trees if trees is None else trees
    noun = bank.mask(bank.tags, lambda tag: tag.startswith("NN"))[trees.tags]
    starts = noun.copy()
    starts[1:] &= ~noun[:-1]
    starts[trees.sentences[:-1]] = noun[trees.sentences[:-1]]
    first = np.flatnonzero(starts)
    # A run ends where the next token is no noun, or starts a new run (in the next sentence).
    stops = noun.copy()
    stops[:-1] &= ~noun[1:] | starts[1:]
    end = np.flatnonzero(stops) + 1
    long = end - first >= 2
    first, end = first[long], end[long]
    return Phrases(trees.caption_of[first], end - first, phrase_keys(trees, first, end))


def find_prepositions(bank: TreeBank, trees: Trees | None = None) -> Phrases:
    """Prepositional phrases: one for each preposition, its size the number of prepositions from it to the end of its
    phrase, itself included. "on top of a pan on a table" has size 3, where the pan is on the table.

    Prepositions are tokens tagged IN, and "to" where it marks a noun (the Penn tag TO does not tell it from the
    infinitive's). In Universal Dependencies the noun is the head and the preposition hangs from it (``case``), so the
    phrase runs from the preposition to the last word under that noun. Any other IN (a subordinating conjunction, a
    preposition without its noun) has the phrase of its own subtree; one that the parser took for a particle ("down a
    street") has the phrase that follows it.
    """
    trees = bank.trees if trees is None else trees
    case = bank.mask(bank.relations, lambda name: name == "case")[trees.relations]
    tag_in = bank.mask(bank.tags, lambda tag: tag == "IN")[trees.tags]
    tag_to = bank.mask(bank.tags, lambda tag: tag == "TO")[trees.tags]
    preposition = tag_in | (tag_to & case)
    right = last_descendants(trees)
    place = np.flatnonzero(preposition)
    governor = trees.heads[place]
    owner = np.where(case[place] & (governor > place), governor, place)
    end = right[owner] + 1
    # Regained ones, from right to left, since one may stand before another: the phrase that the next word opens.
    ends = np.zeros(len(preposition) + 1, dtype=np.int64)
    ends[place] = end
    for p in np.flatnonzero(trees.regained)[::-1].tolist():
        following = int(trees.heads[p + 1])
        ends[p] = ends[p + 1] if preposition[p + 1] else right[max(following, p + 1)] + 1
    end = ends[place]
    before = np.concatenate([[0], np.cumsum(preposition)])
    return Phrases(trees.caption_of[place], before[end] - before[place], phrase_keys(trees, place, end))


@kernel
def _last(heads, out):  # type: ignore[no-untyped-def]
    """The last place under each token, by walking up from each."""
    for i in range(heads.shape[0]):
        out[i] = i
    for i in range(heads.shape[0]):
        at = i
        # As tokens are visited from left to right, a later visit always reaches further.
        while heads[at] != at:
            at = heads[at]
            if out[at] < i:
                out[at] = i


def last_descendants(trees: Trees) -> IntArray:
    """The last place of each token's subtree."""
    out = np.empty(len(trees.heads), dtype=np.int64)
    _last.pick(4 * len(out))(trees.heads, out)
    return out


@kernel
def _keys(words, first, end, multiplier, half, out):  # type: ignore[no-untyped-def]
    for i in range(first.shape[0]):
        value = multiplier
        for j in range(first[i], end[i]):
            value = (value ^ words[j]) * multiplier
            value = value ^ (value >> half)
        out[i] = value


def phrase_keys(trees: Trees, first: IntArray, end: IntArray) -> NDArray[np.uint64]:
    """A number for the words of each phrase; different phrases share one with a probability of about 10⁻⁸ in a million."""
    out = np.empty(len(first), dtype=np.uint64)
    with np.errstate(over="ignore"):
        _keys.pick(4 * float((end - first).sum()))(
            trees.words.astype(np.uint64) + np.uint64(1), first, end, np.uint64(0x9E3779B97F4A7C15), np.uint64(32), out
        )
    return out
