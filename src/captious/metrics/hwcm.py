"""HWCM: head-word chains of dependency trees (Liu & Gildea 2005)."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np

from captious.corpus import Captions, Corpus
from captious.language import Parser, Sentence, parses_of
from captious.language.parsers import get as get_parser
from captious.measures.base import FloatArray, Measure, as_statistics
from captious.measures.options import PARSER, Option
from captious.measures.resources import Resource

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


def chains_of(captions: Captions, n: int, parser: Parser) -> list[Chains]:
    """The chains of every caption; equal captions share one object."""

    def make() -> list[Chains]:
        first, inverse = captions.unique
        parses = parses_of(captions, parser)
        distinct = [head_word_chains(parses[i], n) for i in first.tolist()]
        return [distinct[i] for i in inverse.tolist()]

    return captions.cached(("head-word chains", n, parser.label, parser.digest), make)


def overlap(ours: Chains, theirs: Chains) -> float:
    """The share of our chains that the other caption has too; 0 where we have none."""
    total = sum(ours.values())
    if total == 0:
        return 0.0
    return sum(min(count, theirs[chain]) for chain, count in ours.items() if chain in theirs) / total


class HWCM(Measure):
    """Precision of head-word chains of n words, maximum over references."""

    options: ClassVar[tuple[Option, ...]] = (PARSER,)

    def __init__(self, n: int = 2, parser: Parser | str | None = None) -> None:
        if not 1 <= n <= MAX_N:
            raise ValueError(f"head-word chains have 1 to {MAX_N} words here, not {n}")
        self.n = n
        self.parser = get_parser(parser)
        self.fixed = {"n": str(n), "best": "max"}
        self.name = f"HWCM-{n}"
        self.summary = f"precision of head-word chains of {n} words, maximum over references (Liu & Gildea 2005)"
        # A shallow tree has no long chain, and nothing to be right about.
        self.perfect_is_maximum = n == 1

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser}

    def prepare(self, references: Captions) -> None:
        chains_of(references, self.n, self.parser)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        ours, theirs = (chains_of(side, self.n, self.parser) for side in (corpus.candidates, corpus.references))
        bounds, (_, reference) = corpus.pair_offsets.tolist(), corpus.pairs
        partners = reference.tolist()
        values = np.array(
            [
                max((overlap(ours[i], theirs[r]) for r in partners[bounds[i] : bounds[i + 1]]), default=np.nan)
                for i in range(len(ours))
            ]
        )
        return as_statistics(values)
