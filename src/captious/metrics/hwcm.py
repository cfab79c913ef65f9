"""HWCM: head-word chains of dependency trees (Liu & Gildea 2005)."""

from __future__ import annotations

from collections import Counter

import numpy as np

from captious.corpus import Captions, Corpus
from captious.language import Sentence, parser_name, parses_of
from captious.metrics.base import FloatArray, Metric, as_statistics

MAX_N = 4

Chains = Counter[tuple[str, ...]]


def head_word_chains(sentences: list[Sentence], n: int) -> Chains:
    """Counts of chains of n words, each the head of the one before it."""
    chains: Chains = Counter()
    for sentence in sentences:
        words = [form.lower() for form in sentence.forms]
        for start in range(len(words)):
            chain, place = [words[start]], start
            while len(chain) < n and sentence.heads[place] > 0:
                place = sentence.heads[place] - 1
                chain.append(words[place])
            if len(chain) == n:
                chains[tuple(chain)] += 1
    return chains


def chains_of(captions: Captions, n: int) -> list[Chains]:
    """The chains of every caption; equal captions share one object."""

    def make() -> list[Chains]:
        first, inverse = captions.unique
        parses = parses_of(captions)
        distinct = [head_word_chains(parses[i], n) for i in first.tolist()]
        return [distinct[i] for i in inverse.tolist()]

    return captions.cached(("head-word chains", n), make)


def overlap(ours: Chains, theirs: Chains) -> float:
    """The share of our chains that the other caption has too; 0 where we have none."""
    total = sum(ours.values())
    if total == 0:
        return 0.0
    return sum(min(count, theirs[chain]) for chain, count in ours.items() if chain in theirs) / total


class HWCM(Metric):
    """Precision of head-word chains of n words, maximum over references."""

    options = ()

    def __init__(self, n: int = 2) -> None:
        if not 1 <= n <= MAX_N:
            raise ValueError(f"head-word chains have 1 to {MAX_N} words here, not {n}")
        self.n = n
        self.name = f"HWCM-{n}"
        self.summary = f"precision of head-word chains of {n} words, maximum over references (Liu & Gildea 2005)"
        # A shallow tree has no long chain, and nothing to be right about.
        self.perfect_is_maximum = n == 1  # type: ignore[misc]

    def statistics(self, corpus: Corpus) -> FloatArray:
        ours, theirs = chains_of(corpus.candidates, self.n), chains_of(corpus.references, self.n)
        bounds, (_, reference) = corpus.pair_offsets.tolist(), corpus.pairs
        partners = reference.tolist()
        values = np.array(
            [
                max((overlap(ours[i], theirs[r]) for r in partners[bounds[i] : bounds[i + 1]]), default=np.nan)
                for i in range(len(ours))
            ]
        )
        return as_statistics(values)

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {"n": str(self.n), "refs": "max", "parser": parser_name()}
