"""Parsed captions as flat arrays: each distinct text is parsed once, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from captious.diversity.corpus.tags import repair
from captious.language.parse_types import Parse
from captious.ragged import IntArray, offsets_of, runs
from captious.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from captious.language import ParsedBatch

#: Texts in, parses out, in the same order: as sentences, or as flat arrays.
Parser = Callable[[Sequence[str]], "Sequence[Parse] | ParsedBatch"]


@dataclass(frozen=True)
class Trees:
    """The tokens of parsed captions, one after another.

    ``heads`` are places in these same arrays (a root is its own head); caption i is ``offsets[i]:offsets[i + 1]`` and
    may hold several sentences, ``sentences`` has the places where they start and the end of the last.
    """

    words: NDArray[np.int32]
    tags: NDArray[np.int32]
    relations: NDArray[np.int32]
    heads: IntArray
    sentences: IntArray
    offsets: IntArray
    #: Words that the parser took for particles or adverbs and that are prepositions (see `tags.repair`).
    regained: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def caption_of(self) -> IntArray:
        """The caption of each token."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))


def flatten(parses: Sequence[Parse], words: Vocabulary, tags: Vocabulary, relations: Vocabulary) -> Trees:
    """Parses as flat arrays, words and labels numbered by the given vocabularies."""
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
    """The same from the parser's own arrays, where equal sentences stand once."""
    numbers = words.encode(list(map(str.lower, batch.forms)))
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


def join(a: Trees, b: Trees) -> Trees:
    """The captions of one, then those of the other."""
    shift = len(a.words)
    return Trees(
        words=np.concatenate([a.words, b.words]),
        tags=np.concatenate([a.tags, b.tags]),
        relations=np.concatenate([a.relations, b.relations]),
        heads=np.concatenate([a.heads, b.heads + shift]),
        sentences=np.concatenate([a.sentences, b.sentences[1:] + shift]),
        offsets=np.concatenate([a.offsets, b.offsets[1:] + shift]),
        regained=np.concatenate([a.regained, b.regained]),
    )


class TreeBank:
    """All parsed captions of a run. The texts are kept only as keys; what measures read are the arrays."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._rows: dict[str, int] = {}
        self.words = Vocabulary()
        self.tags = Vocabulary()
        self.relations = Vocabulary()
        self.trees = flatten([], self.words, self.tags, self.relations)
        #: The trees of the texts that came last, for measures that keep what they found in the others.
        self.latest = self.trees

    def rows(self, texts: Sequence[str]) -> IntArray:
        """The row of each text; those not seen before are parsed."""
        new: dict[str, int] = {}
        known = self._rows
        for text in texts:
            if text not in known and text not in new:
                new[text] = len(known) + len(new)
        if new:
            made = self._parser(list(new))
            labels = self.words, self.tags, self.relations
            parsed = flatten(made, *labels) if isinstance(made, Sequence) else from_batch(made, *labels)
            if len(parsed) != len(new):
                raise ValueError("the parser must return one parse per text")
            tags, regained = repair(parsed.words, parsed.tags, parsed.sentences, self.words, self.tags)
            self.latest = replace(parsed, tags=tags, regained=regained)
            self.trees = join(self.trees, self.latest)
            known.update(new)
        return np.fromiter((known[text] for text in texts), dtype=np.int64, count=len(texts))

    def weights(self, rows: IntArray) -> IntArray:
        """How often each row of the bank occurs among the given ones."""
        return np.bincount(rows, minlength=len(self.trees))

    def mask(self, labels: Vocabulary, keep: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Which numbers of a vocabulary carry a label that is to be kept."""
        return np.fromiter(map(keep, labels.words), dtype=np.bool_, count=len(labels))
