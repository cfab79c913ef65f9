"""Whether the words of a caption stand in an order that captions have: a model of neighbouring words, of any reference apart.

A word counts as itself where it is a function word ("the", "on") and by its part of speech where it is not. The counts are of neighbouring pairs in
human captions of COCO and nocaps (``python -m tools.make_order``).
"""

from __future__ import annotations

import gzip
import itertools
import math
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from captious import digest
from captious.corpus import Captions
from captious.language import Parser, Sentence, parses_of
from captious.measures.base import FloatArray
from captious.text.stopwords import ENGLISH

FILE = Path(__file__).parent / "weights" / "order.txt.gz"
#: What stands before the first word and after the last.
EDGE = "#"
#: The logarithm of the probability of a pair that is not to be expected at all.
LOWEST = math.log(1e-6)
#: Nine of ten of people's captions are more natural than this (mean log probability per word); above it nothing is gained.
USUAL = -2.5


def kinds(sentence: Sentence) -> list[str]:
    """The words of a sentence as the model sees them, with both ends."""
    return [EDGE, *(form.lower() if form.lower() in ENGLISH else tag for form, tag in zip(sentence.forms, sentence.tags)), EDGE]


class Order(NamedTuple):
    """Counts of neighbouring kinds of words."""

    pairs: Counter[tuple[str, str]]
    before: Counter[str]
    after: Counter[str]
    #: Different kinds that were seen after a kind.
    variety: Counter[str]
    digest: str
    label: str = "coco+nocaps"

    @classmethod
    def of(cls, pairs: Counter[tuple[str, str]]) -> Order:
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        variety: Counter[str] = Counter()
        for (first, second), count in pairs.items():
            before[first] += count
            after[second] += count
            variety[first] += 1
        return cls(pairs, before, after, variety, digest.of_lines(f"{a} {b} {n}" for (a, b), n in sorted(pairs.items())))

    def log_probability(self, first: str, second: str) -> float:
        """Of a kind of word after another: Witten and Bell's mixture of pairs and single kinds."""
        total, kinds_seen = self.before[first], self.variety[first]
        single = self.after[second] / max(sum(self.after.values()), 1)
        if not total:
            return max(math.log(single), LOWEST) if single else LOWEST
        value = (self.pairs[first, second] + kinds_seen * single) / (total + kinds_seen)
        return max(math.log(value), LOWEST) if value else LOWEST


@lru_cache(maxsize=1)
def load() -> Order:
    """The counts that ship."""
    rows = (line.split(" ") for line in gzip.decompress(FILE.read_bytes()).decode().split("\n") if line)
    return Order.of(Counter({(first, second): int(count) for first, second, count in rows}))


def naturalness(captions: Captions, parser: Parser) -> FloatArray:
    """The mean log probability of a caption's neighbouring words, up to the usual; the lowest for a caption of nothing."""

    def make() -> FloatArray:
        model = load()
        known: dict[tuple[str, str], float] = {}

        def chance(pair: tuple[str, str]) -> float:
            if pair not in known:
                known[pair] = model.log_probability(*pair)
            return known[pair]

        first, inverse = captions.unique
        parses = parses_of(captions, parser)
        values = []
        for i in first.tolist():
            found = [chance(pair) for sentence in parses[i] for own in [kinds(sentence)] for pair in itertools.pairwise(own)]
            values.append(sum(found) / len(found) if found else LOWEST)
        result: FloatArray = np.minimum(np.array(values), USUAL)[inverse]
        return result

    return captions.cached(("naturalness", parser.label, parser.digest), make)
