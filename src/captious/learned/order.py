"""Whether the words of a caption stand in an order that captions have: a model of neighbouring words, of any reference apart.

A word counts as itself where it is a function word ("the", "on") and by its part of speech where it is not. The counts are of neighbouring pairs in
human captions of COCO and nocaps (``python -m tools.make_order``).
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

from captious import digest
from captious.corpus import Captions
from captious.kernels import kernel
from captious.language import ParsedBatch, Parser, Sentence
from captious.language.parsers import batch_of
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


@kernel
def _means(pairs, offsets, sentence_of, captions, chances, out):  # type: ignore[no-untyped-def]
    """The mean of the chances of the pairs of each caption's sentences, added from left to right; captions of nothing stay as they are."""
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
    """The kinds of words that parses have, the ends of sentences first, and the number of each word's kind."""
    listed = [name.lower() for name in batch.word_names]
    known = {kind: number for number, kind in enumerate(dict.fromkeys([EDGE, *batch.tag_names, *(name for name in listed if name in ENGLISH)]))}
    by_word = np.array([known[name] if name in ENGLISH else -1 for name in listed], np.int64)
    by_tag = np.array([known[tag] for tag in batch.tag_names], np.int64)
    numbers = by_word[batch.words]
    return list(known), np.where(numbers >= 0, numbers, by_tag[batch.tags])


def naturalness(captions: Captions, parser: Parser) -> FloatArray:
    """The mean log probability of a caption's neighbouring words, up to the usual; the lowest for a caption of nothing."""

    def make() -> FloatArray:
        model = load()
        batch = batch_of(captions, parser)
        names, numbers = _kinds_of(batch)
        # With both ends, a sentence of n words has n + 1 pairs.
        offsets = batch.offsets + np.arange(len(batch.offsets), dtype=np.int64)
        before, after = np.zeros((2, int(offsets[-1])), np.int64)
        place = np.arange(len(numbers), dtype=np.int64) + np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(batch.offsets))
        before[place + 1], after[place] = numbers, numbers
        codes, pairs = np.unique(before * len(names) + after, return_inverse=True)
        chances = np.array([model.log_probability(names[code // len(names)], names[code % len(names)]) for code in codes.tolist()])
        values = np.full(len(batch.caption_offsets) - 1, LOWEST)
        _means.pick(5 * len(pairs))(pairs, offsets, batch.sentence_of, batch.caption_offsets, chances, values)
        result: FloatArray = np.minimum(values, USUAL)[captions.unique[1]]
        return result

    return captions.cached(("naturalness", parser.label, parser.digest), make)
