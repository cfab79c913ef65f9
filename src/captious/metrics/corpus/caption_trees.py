"""Parsed captions as flat arrays: each distinct text is parsed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.digests import keys_of
from captious.core.memo import Memo, cached_property
from captious.core.ragged import IntArray, offsets_of, runs
from captious.corpus import Captions
from captious.metrics.corpus.tag_repair import repair
from captious.parser.choice import Parser, batch_of
from captious.parser.fast_parser import ParsedBatch
from captious.parser.parsed_sentences import Parse
from captious.text import tokenizers
from captious.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Trees:
    """Tokens of parsed captions, one after another.

    ``heads`` are positions in these same arrays (a root is its own head). Caption i is ``offsets[i]:offsets[i
    + 1]`` and may hold several sentences. ``sentences`` has their first positions, and the end of the last.
    """

    words: NDArray[np.int32]
    tags: NDArray[np.int32]
    relations: NDArray[np.int32]
    heads: IntArray
    sentences: IntArray
    offsets: IntArray
    #: Words that the parser tagged as particles or adverbs and that are prepositions (see ``tag_repair``).
    regained: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def caption_of(self) -> IntArray:
        """Caption of each token."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))


def flatten(parses: Sequence[Parse], words: Vocabulary, tags: Vocabulary, relations: Vocabulary) -> Trees:
    """Convert parses to flat arrays. Words and labels are numbered by the vocabularies."""
    forms: list[str] = []
    labels: list[str] = []
    arcs: list[str] = []
    heads: list[int] = []
    lengths: list[int] = []
    per_caption: list[int] = []
    for parse in parses:
        before = len(forms)
        for sentence in parse:
            forms += sentence.forms
            labels += sentence.tags
            arcs += sentence.relations
            heads += sentence.heads
            lengths.append(len(sentence.forms))
        per_caption.append(len(forms) - before)
    sentences = offsets_of(lengths)
    start = np.repeat(sentences[:-1], lengths)
    within = np.array(heads, dtype=np.int64)
    return Trees(
        words=words.encode(list(map(str.lower, forms))),
        tags=tags.encode(labels),
        relations=relations.encode(arcs),
        heads=np.where(within > 0, start + within - 1, np.arange(len(within), dtype=np.int64)),
        sentences=sentences,
        offsets=offsets_of(per_caption),
        regained=np.zeros(len(within), dtype=np.bool_),
    )


def from_batch(batch: ParsedBatch, words: Vocabulary, tags: Vocabulary, relations: Vocabulary) -> Trees:
    """Convert the parser's own arrays, in which equal sentences occur once."""
    numbers = words.encode(list(map(str.lower, batch.word_names)))[batch.words]
    place, sentences = runs(batch.offsets, batch.sentence_of)
    within = batch.heads[place]
    start = np.repeat(sentences[:-1], np.diff(sentences))
    return Trees(
        words=numbers[place],
        tags=tags.encode(batch.tag_names)[batch.tags[place]],
        relations=relations.encode(batch.relation_names)[batch.relations[place]],
        heads=np.where(within > 0, start + within - 1, np.arange(len(within), dtype=np.int64)),
        sentences=sentences,
        offsets=sentences[batch.caption_offsets],
        regained=np.zeros(len(within), dtype=np.bool_),
    )


class TreeBank:
    """Trees of distinct captions, with names for the numbers in them. Immutable."""

    def __init__(self, parses: Sequence[Parse] | ParsedBatch) -> None:
        self.words = Vocabulary()
        self.tags = Vocabulary()
        self.relations = Vocabulary()
        labels = self.words, self.tags, self.relations
        trees = flatten(parses, *labels) if isinstance(parses, Sequence) else from_batch(parses, *labels)
        tags, regained = repair(trees.words, trees.tags, trees.sentences, self.words, self.tags)
        self.trees = replace(trees, tags=tags, regained=regained)
        for names in labels:
            names.freeze()
        #: Cache of results that measures derive from the trees.
        self.memo = Memo()

    def __len__(self) -> int:
        return len(self.trees)

    def mask(self, labels: Vocabulary, keep: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return which numbers of a vocabulary have a label that passes ``keep``."""
        return np.fromiter(map(keep, labels.words), dtype=np.bool_, count=len(labels))

    @cached_property
    def word_keys(self) -> NDArray[np.uint64]:
        """Return a key for each word, equal in all tables."""
        return keys_of(self.words.words)


class Parsed(NamedTuple):
    """Captions with their trees: caption i has tree ``rows[i]`` of the bank of distinct captions."""

    bank: TreeBank
    rows: IntArray

    @property
    def weights(self) -> IntArray:
        """Return how often each tree occurs among the captions."""
        return np.bincount(self.rows, minlength=len(self.bank))

    def tokens(self) -> tuple[IntArray, IntArray]:
        """Return the bank positions of all tokens of the captions, and the offsets of the captions."""
        return runs(self.bank.trees.offsets, self.rows)


def parsed(captions: Captions, parser: Parser, *, jobs: int | None = None) -> Parsed:
    """Return the trees of captions, of PTB tokens without punctuation.

    Each distinct caption is parsed once. Trees are cached with the captions. A selection of captions
    (:meth:`Captions.take`) uses the trees of all if they were parsed before.
    """
    key, encoding = ("tree bank", parser.label, parser.digest), captions.encoding
    if captions.rows is None:
        return encoding.memo.get(key, lambda: _parse(captions, parser, jobs))
    if key not in encoding.memo:
        return captions.cached(key, lambda: _parse(captions, parser, jobs))
    bank, rows = encoding.memo.get(key, lambda: _parse(captions, parser, jobs))
    return Parsed(bank, rows[captions.rows])


def _parse(captions: Captions, parser: Parser, jobs: int | None) -> Parsed:
    if captions.tokenizer == "ptb":
        # SPICE shares these parses.
        return _checked(Parsed(TreeBank(batch_of(captions, parser, jobs=jobs)), captions.unique[1]))
    texts = captions.texts
    numbers: dict[str, int] = {}
    rows = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    words, counts = tokenizers.get("ptb")(list(numbers))
    batch = parser.parse_batch([words[a:b] for a, b in pairwise(offsets_of(counts).tolist())], jobs=jobs)
    return _checked(Parsed(TreeBank(batch), rows))


def _checked(parsed: Parsed) -> Parsed:
    if len(parsed.bank) != int(parsed.rows.max(initial=-1)) + 1:
        raise ValueError("the parser must return one parse per caption")
    return parsed
