"""Composition: nominal compounds by length, prepositional phrases by depth of embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, runs
from captious.corpus import Corpus
from captious.kernels import kernel
from captious.kernels.types import Int64, Out
from captious.metrics.base import FloatArray, Sequences, Texts
from captious.metrics.corpus.caption_trees import Parsed, TreeBank, Trees
from captious.metrics.corpus.corpus_measure import TreeMeasure, hash_runs, sums_by_image
from captious.parser.choice import Parser


@dataclass(frozen=True)
class TreePhrases:
    """Phrases found in a tree bank.

    Each has its caption, its size (words of a compound, depth of a prepositional phrase) and a 64-bit key
    that is equal for phrases of the same words.
    """

    caption: IntArray
    size: IntArray
    key: NDArray[np.uint64]


@dataclass(frozen=True)
class Composition:
    """Compounds and prepositional phrases of a system by size: index k is the number of those of size k."""

    compound_lengths: FloatArray
    pp_depths: FloatArray


def average(parts: list[Composition]) -> Composition:
    """Return the mean of several corpora."""
    return Composition(
        _mean([part.compound_lengths for part in parts]), _mean([part.pp_depths for part in parts])
    )


def _mean(counts: list[FloatArray]) -> FloatArray:
    size = max(map(len, counts))
    return np.asarray(np.mean([np.pad(c, (0, size - len(c))) for c in counts], axis=0))


def composition(parsed: Parsed) -> Composition:
    """Count the phrases of captions."""
    weights = parsed.weights
    return Composition(
        _by_size(find_compounds(parsed.bank), weights, 2),
        _by_size(find_prepositions(parsed.bank), weights, 1),
    )


def _by_size(phrases: TreePhrases, weights: IntArray, least: int) -> FloatArray:
    return np.bincount(phrases.size, weights=weights[phrases.caption], minlength=least + 1).astype(np.float64)


def find_compounds(bank: TreeBank) -> TreePhrases:
    """Find nominal compounds: maximal runs of two or more nouns (tags that start with NN) in a sentence."""
    return bank.memo.get("compounds", lambda: _find_compounds(bank))


def _find_compounds(bank: TreeBank) -> TreePhrases:
    trees = bank.trees
    noun = bank.mask(bank.tags, lambda tag: tag.startswith("NN"))[trees.tags]
    starts = noun.copy()
    starts[1:] &= ~noun[:-1]
    at = trees.sentences[:-1][np.diff(trees.sentences) > 0]
    starts[at] = noun[at]
    first = np.flatnonzero(starts)
    # A run ends where the next token is no noun, or starts a new run (in the next sentence).
    stops = noun.copy()
    stops[:-1] &= ~noun[1:] | starts[1:]
    end = np.flatnonzero(stops) + 1
    long = end - first >= 2
    first, end = first[long], end[long]
    return TreePhrases(trees.caption_of[first], end - first, phrase_keys(bank, first, end))


def find_prepositions(bank: TreeBank) -> TreePhrases:
    """Find prepositional phrases, one for each preposition.

    The size of a phrase is the number of prepositions from its own to its end, itself included. "on top of a
    pan on a table" has size 3 if the pan is on the table.

    Prepositions are tokens tagged IN, and "to" where it marks a noun (the Penn tag TO does not distinguish it
    from the infinitive's). In Universal Dependencies the noun is the head and the preposition depends on it
    (``case``), so the phrase extends from the preposition to the last word under that noun. Any other IN (a
    subordinating conjunction, a preposition without its noun) has the phrase of its own subtree. One that the
    parser tagged as a particle ("down a street") has the phrase that follows it.
    """
    return bank.memo.get("prepositions", lambda: _find_prepositions(bank))


def _find_prepositions(bank: TreeBank) -> TreePhrases:
    trees = bank.trees
    case = bank.mask(bank.relations, lambda name: name == "case")[trees.relations]
    tag_in = bank.mask(bank.tags, lambda tag: tag == "IN")[trees.tags]
    tag_to = bank.mask(bank.tags, lambda tag: tag == "TO")[trees.tags]
    preposition = tag_in | (tag_to & case)
    right = last_descendants(trees)
    place = np.flatnonzero(preposition)
    governor = trees.heads[place]
    owner = np.where(case[place] & (governor > place), governor, place)
    end = right[owner] + 1
    # Repaired prepositions, from right to left, since one may precede another. Theirs is the phrase that the
    # next word opens.
    ends = np.zeros(len(preposition) + 1, dtype=np.int64)
    ends[place] = end
    for p in np.flatnonzero(trees.regained)[::-1].tolist():
        following = int(trees.heads[p + 1])
        ends[p] = ends[p + 1] if preposition[p + 1] else right[max(following, p + 1)] + 1
    end = ends[place]
    before = np.concatenate([[0], np.cumsum(preposition)])
    return TreePhrases(trees.caption_of[place], before[end] - before[place], phrase_keys(bank, place, end))


@kernel
def _last(heads: Int64, out: Out[Int64]) -> None:
    """Find the last position under each token, by walking up from each."""
    for i in range(heads.shape[0]):
        out[i] = i
    for i in range(heads.shape[0]):
        at = i
        # Tokens are visited from left to right, so a later visit always reaches further.
        while heads[at] != at:
            at = heads[at]
            if out[at] < i:
                out[at] = i


def last_descendants(trees: Trees) -> IntArray:
    """Return the last position of each token's subtree."""
    out = np.empty(len(trees.heads), dtype=np.int64)
    _last(trees.heads, out)
    return out


def phrase_keys(bank: TreeBank, first: IntArray, end: IntArray) -> NDArray[np.uint64]:
    """Return a key for the words of each phrase."""
    words = bank.trees.words
    return hash_runs(bank.word_keys[words], first, end, np.ones(len(words), dtype=np.bool_))


_KINDS = {"compound": find_compounds, "preposition": find_prepositions}
_CALLED = {"compound": "nominal compounds", "preposition": "prepositions"}


class PhrasesPerCaption(TreeMeasure):
    """Number of compounds, or prepositions, per caption."""

    format = ".2f"

    def __init__(self, name: str, kind: str, parser: Parser | str | None = None) -> None:
        super().__init__(parser)
        self.name, self.key, self.kind = name, f"{kind}_ratio", kind
        self.summary = f"{_CALLED[kind]} per caption"

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        bank, rows = self.parsed(captions)
        per_tree = np.bincount(_KINDS[self.kind](bank).caption, minlength=len(bank))
        return sums_by_image(captions, per_tree[rows], np.ones(len(captions)))


class PhraseTypes(TreeMeasure):
    """Number of different two-noun compounds, or of prepositional phrases without another one inside."""

    format = ",.0f"

    def __init__(self, name: str, kind: str, parser: Parser | str | None = None) -> None:
        super().__init__(parser)
        self.name, self.kind = name, kind
        self.key = {"compound": "compound_types_2", "preposition": "pp_types_1"}[kind]
        self.summary = {
            "compound": "different compounds of two nouns",
            "preposition": "different prepositional phrases without another inside",
        }[kind]

    def statistics(self, corpus: Corpus, state: None) -> Sequences:
        captions = corpus.candidates
        bank, rows = self.parsed(captions)
        phrases = _KINDS[self.kind](bank)
        wanted = np.flatnonzero(phrases.size == (2 if self.kind == "compound" else 1))
        # In the order of their trees, so that the phrases of a tree are a run.
        wanted = wanted[np.argsort(phrases.caption[wanted], kind="stable")]
        starts = np.searchsorted(phrases.caption[wanted], np.arange(len(bank) + 1))
        keys, numbers = np.unique(phrases.key[wanted], return_inverse=True)
        places, offsets = runs(starts.astype(np.int64), rows)
        return Sequences(numbers[places].astype(np.int32), offsets, keys).grouped(captions.image_offsets)

    def value(self, sums: Texts) -> FloatArray:
        return np.asarray((sums.counts() > 0).sum(axis=-1), dtype=np.float64)
