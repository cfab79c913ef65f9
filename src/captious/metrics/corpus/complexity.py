"""Syntactic complexity after Yngve and Frazier, on phrases derived from dependency trees.

Both scores are defined on constituents, and the parser returns dependencies. The constituents here are the
flattest that a dependency tree implies: every word that governs others heads one phrase, whose parts are, in
order, the phrases (or bare words) of its dependents and the word itself. A phrase is a clause if its head has
a subject. There are no unary nodes and no intermediate projections, so scores are lower than on treebank
constituents. They compare captions with captions, not with published figures.

Yngve (1960): the branches of a node are numbered from the right, from 0. A word's score is the sum of the
numbers on its path from the root, its depth in a left-branching sense. Frazier (1985): a word's score is the
number of phrases that open at it (the chain of leftmost branches that ends in it), where a clause counts 1.5.
She proposes the largest sum over three adjacent words as the score of a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from captious.core.ragged import IntArray
from captious.corpus import Corpus
from captious.kernels import kernel
from captious.kernels.types import Bool, Float64, Int64, Out
from captious.metrics.base import FloatArray
from captious.metrics.corpus.caption_trees import TreeBank
from captious.metrics.corpus.corpus_measure import TreeMeasure, sums_by_image
from captious.parser.choice import Parser

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})


@kernel
def _scores(
    heads: Int64,
    subject: Bool,
    yngve: Out[Float64],
    frazier: Out[Float64],
    branches: Out[Int64],
    right: Out[Int64],
    opens: Out[Int64],
    clause: Out[Int64],
) -> None:
    """Compute Yngve's and Frazier's score of each word. The last four arrays are scratch space (zeros).

    From right to left, ``right[h]`` counts the dependents of h visited so far: for a dependent those to its
    right, for h itself, when it is visited, those on its right side.
    """
    n = heads.shape[0]
    for k in range(n):
        i = n - 1 - k
        yngve[i] = right[i]
        h = heads[i]
        if h != i:
            branches[i] = right[h]
            if h > i:
                branches[i] += 1
            right[h] += 1
            if subject[i]:
                clause[h] = 1
    for i in range(n):
        opens[i] = i
    for k in range(n):
        # First word of every phrase: from right to left, the last visit to an ancestor comes from its first
        # word.
        i = n - 1 - k
        at = i
        depth = branches[i]
        while heads[at] != at:
            at = heads[at]
            depth += branches[at]
            if opens[at] > i:
                opens[at] = i
        yngve[i] += depth
    for i in range(n):
        if right[i] > 0:
            frazier[opens[i]] += 1.0
            if clause[i] == 1:
                frazier[opens[i]] += 0.5


@dataclass(frozen=True)
class Complexity:
    """Complexity of each caption of a tree bank, NaN for captions without words."""

    #: Mean over the words of a caption.
    yngve: FloatArray
    frazier: FloatArray
    #: Frazier's own summary: the largest sum over three adjacent words.
    frazier_peak: FloatArray


def word_scores(bank: TreeBank) -> tuple[FloatArray, FloatArray]:
    """Return Yngve's and Frazier's score of every token."""
    trees = bank.trees
    subject = bank.mask(bank.relations, _SUBJECTS.__contains__)[trees.relations]
    n = len(trees.heads)
    yngve, frazier = np.zeros(n), np.zeros(n)
    branches, right, opens, clause = (np.zeros(n, dtype=np.int64) for _ in range(4))
    _scores(trees.heads, subject, yngve, frazier, branches, right, opens, clause)
    return yngve, frazier


def complexity(bank: TreeBank) -> Complexity:
    """Return the complexity of every caption of the bank."""
    return bank.memo.get("complexity", lambda: _complexity(bank))


def _complexity(bank: TreeBank) -> Complexity:
    trees = bank.trees
    yngve, frazier = word_scores(bank)
    lengths = np.diff(trees.offsets)
    # Sums over three adjacent words of one sentence. A shorter sentence is summed as a whole.
    sentence_end = np.repeat(trees.sentences[1:], np.diff(trees.sentences))
    before = np.concatenate([[0.0], np.cumsum(frazier)])
    stop = np.minimum(np.arange(len(frazier), dtype=np.int64) + 3, sentence_end)
    three = before[stop] - before[:-1]
    return Complexity(
        _mean(yngve, trees.offsets), _mean(frazier, trees.offsets), _largest(three, trees.offsets, lengths)
    )


def _mean(values: FloatArray, offsets: IntArray) -> FloatArray:
    before = np.concatenate([[0.0], np.cumsum(values)])
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = (before[offsets[1:]] - before[offsets[:-1]]) / np.diff(offsets)
    return means


def _largest(values: FloatArray, offsets: IntArray, lengths: IntArray) -> FloatArray:
    out = np.full(len(lengths), np.nan)
    some = lengths > 0
    if some.any():
        out[some] = np.maximum.reduceat(values, offsets[:-1][some])
    return out


_SUMMARIES = {
    "yngve": "mean Yngve depth of the words, on phrases derived from dependencies",
    "frazier": "mean Frazier score of the words, on phrases derived from dependencies",
    "frazier_peak": "largest Frazier score of three adjacent words, mean over captions",
}


class MeanComplexity(TreeMeasure):
    """One of the three scores, as the mean over the captions with words."""

    format = ".2f"

    def __init__(self, name: str, key: str, parser: Parser | str | None = None) -> None:
        super().__init__(parser)
        self.name, self.key, self.summary = name, key, _SUMMARIES[key]

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        captions = corpus.candidates
        bank, rows = self.parsed(captions)
        values: FloatArray = getattr(complexity(bank), self.key)[rows]
        defined = ~np.isnan(values)
        return sums_by_image(captions, np.where(defined, values, 0.0), defined)
