"""Word order: how well the words of a caption follow each other, by a model of neighbouring words.

The model ignores the references. A function word ("the", "on") counts as itself, any other word by its part
of speech. The counts are of neighbouring pairs in human captions of COCO and nocaps (``python -m
tools.make_order``).
"""

from __future__ import annotations

import gzip
import math
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.corpus import Captions
from captious.kernels import kernel
from captious.kernels.types import Float64, Int64, Out
from captious.metrics.base import FloatArray
from captious.parser import ParsedBatch, Parser, Sentence
from captious.parser.choice import batch_of
from captious.text.stopwords import ENGLISH

FILE = Path(__file__).parent / "weights" / "order.txt.gz"
#: Marks of the start and the end of a sentence.
EDGE = "#"
#: Logarithm of the probability of a pair that never occurs.
LOWEST = math.log(1e-6)
#: 90 % of human captions have a higher mean log probability per word. Values above it are cut.
USUAL = -2.5


def kinds(sentence: Sentence) -> list[str]:
    """Return the kinds of the words of a sentence, with marks at both ends."""
    return [
        EDGE,
        *(
            form.lower() if form.lower() in ENGLISH else tag
            for form, tag in zip(sentence.forms, sentence.tags)
        ),
        EDGE,
    ]


class Order(NamedTuple):
    """Counts of neighbouring kinds of words."""

    pairs: Counter[tuple[str, str]]
    before: Counter[str]
    after: Counter[str]
    #: Number of different kinds seen after a kind.
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
        return cls(
            pairs,
            before,
            after,
            variety,
            digest.of_lines(f"{a} {b} {n}" for (a, b), n in sorted(pairs.items())),
        )

    def log_probability(self, first: str, second: str) -> float:
        """Return the probability of a kind after another: Witten and Bell's mixture of pairs and kinds."""
        total, kinds_seen = self.before[first], self.variety[first]
        single = self.after[second] / max(sum(self.after.values()), 1)
        if not total:
            return max(math.log(single), LOWEST) if single else LOWEST
        value = (self.pairs[first, second] + kinds_seen * single) / (total + kinds_seen)
        return max(math.log(value), LOWEST) if value else LOWEST


@lru_cache(maxsize=1)
def load() -> Order:
    """Return the built-in counts."""
    rows = (line.split(" ") for line in gzip.decompress(FILE.read_bytes()).decode().split("\n") if line)
    return Order.of(Counter({(first, second): int(count) for first, second, count in rows}))


@kernel
def _means(
    pairs: Int64, offsets: Int64, sentence_of: Int64, captions: Int64, chances: Float64, out: Out[Float64]
) -> None:
    """Average the chances of the pairs of each caption from left to right. Empty captions are skipped."""
    for c in range(captions.shape[0] - 1):
        total, count = 0.0, 0
        for k in range(captions[c], captions[c + 1]):
            s = sentence_of[k]
            for j in range(offsets[s], offsets[s + 1]):
                total += chances[pairs[j]]
            count += offsets[s + 1] - offsets[s]
        if count > 0:
            out[c] = total / count


def _kinds_of(batch: ParsedBatch) -> tuple[list[str], NDArray[np.int64]]:
    """Return the kinds of words in parses (ends of sentences first), and the number of each word's kind."""
    listed = [name.lower() for name in batch.word_names]
    numbered = {
        kind: number
        for number, kind in enumerate(
            dict.fromkeys([EDGE, *batch.tag_names, *(name for name in listed if name in ENGLISH)])
        )
    }
    by_word = np.array([numbered[name] if name in ENGLISH else -1 for name in listed], np.int64)
    by_tag = np.array([numbered[tag] for tag in batch.tag_names], np.int64)
    numbers = by_word[batch.words]
    return list(numbered), np.where(numbers >= 0, numbers, by_tag[batch.tags])


def naturalness(captions: Captions, parser: Parser) -> FloatArray:
    """Return the mean log probability of neighbouring words, cut at the usual one (lowest if empty)."""

    def make() -> FloatArray:
        model = load()
        batch = batch_of(captions, parser)
        names, numbers = _kinds_of(batch)
        # With both ends, a sentence of n words has n + 1 pairs.
        offsets = batch.offsets + np.arange(len(batch.offsets), dtype=np.int64)
        before, after = np.zeros((2, int(offsets[-1])), np.int64)
        place = np.arange(len(numbers), dtype=np.int64) + np.repeat(
            np.arange(len(offsets) - 1, dtype=np.int64), np.diff(batch.offsets)
        )
        before[place + 1], after[place] = numbers, numbers
        codes, pairs = np.unique(before * len(names) + after, return_inverse=True)
        chances = np.array(
            [
                model.log_probability(names[code // len(names)], names[code % len(names)])
                for code in codes.tolist()
            ]
        )
        values = np.full(len(batch.caption_offsets) - 1, LOWEST)
        _means(pairs, offsets, batch.sentence_of, batch.caption_offsets, chances, values)
        result: FloatArray = np.minimum(values, USUAL)[captions.unique[1]]
        return result

    return captions.cached(("naturalness", parser.label, parser.digest), make)
