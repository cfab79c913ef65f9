"""Scene graphs from tuples, in arrays.

Tuples are added one by one; a synonym of a word in the graph joins it. `Meanings` has the synsets of words
and phrases.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from captious.core.ragged import IntArray, offsets_of, runs
from captious.core.threads import side_by_side
from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int32x2, Int64, Out
from captious.scene.sentence_tuples import Numbers, TupleTable
from captious.text.synonyms import Synonyms


class Meanings(NamedTuple):
    """Synsets of texts: text t has ``synsets[offsets[t]:offsets[t + 1]]``, in ascending order."""

    synsets: Int32
    offsets: Int64
    #: A bit set for each text. Two texts without a common bit share no synset.
    bits: Int64

    @classmethod
    def of(cls, synsets: Numbers, offsets: IntArray) -> Meanings:
        """Add the bits that belong to the synsets."""
        # Arrays of a prepared file are mapped, and may be of another type.
        synsets = np.require(synsets, np.int32, ["C", "A"])
        offsets = np.require(offsets, np.int64, ["C", "A"])
        bits = np.zeros(len(offsets) - 1, np.int64)
        np.bitwise_or.at(
            bits,
            np.repeat(np.arange(len(bits)), np.diff(offsets)),
            np.int64(1) << (synsets.astype(np.int64) * 40503 >> 6 & 63),
        )
        return cls(synsets, offsets, bits)

    def take(self, texts: IntArray) -> Meanings:
        """Select texts."""
        places, offsets = runs(self.offsets, texts)
        return Meanings(self.synsets[places], offsets, self.bits[texts])

    def __add__(self, more: object) -> Meanings:
        """Append the texts of another table."""
        if not isinstance(more, Meanings):
            return NotImplemented
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return Meanings(
            np.concatenate([self.synsets, more.synsets]), offsets, np.concatenate([self.bits, more.bits])
        )


def look_up(texts: Sequence[str], synonyms: Synonyms) -> Meanings:
    """Look up the synsets of texts. Phrases are written with underscores in the dictionary."""
    offsets, synsets = synonyms.synsets_of([text.replace(" ", "_") for text in texts])
    return Meanings.of(synsets, offsets)


@inner
def count_shared(meanings: Meanings, one: int, other: int) -> int:
    """Count the synsets that two texts share."""
    if not meanings.bits[one] & meanings.bits[other]:
        return 0
    count = 0
    i, end = meanings.offsets[one], meanings.offsets[one + 1]
    k, last = meanings.offsets[other], meanings.offsets[other + 1]
    while i < end and k < last:
        a, b = meanings.synsets[i], meanings.synsets[k]
        if a == b:
            count += 1
        if a <= b:
            i += 1
        if b <= a:
            k += 1
    return count


@inner
def share_synset(meanings: Meanings, one: int, other: int) -> bool:
    """Tell whether two texts share a synset."""
    return count_shared(meanings, one, other) > 0


#: Graphs per task of a thread.
_BLOCK = 2048


class GraphArrays(NamedTuple):
    """Scene graphs, one after the other.

    Each graph has its concepts in the order objects, attributes of each object, relations. Concept c has the
    words ``concepts[concept_offsets[c]:concept_offsets[c + 1]]``, in the order in which they joined it.
    """

    concepts: Int32
    concept_offsets: Int64
    #: Numbers of objects, attributes and relations of each graph.
    sizes: Int32x2
    #: The object of each attribute, counted in its graph.
    owners: Int32
    #: Subject and object of each relation.
    ends: Int32x2


class _Space(NamedTuple):
    """Scratch memory for one graph. Concepts are numbered in the order of creation; chains end with −1."""

    #: The object of each text, −1 for none.
    place: Int32
    # For each concept: first and last word, number of synsets, and the next concept of the same object or
    # pair.
    head: Int32
    tail: Int32
    synsets: Int32
    following: Int32
    # For each word in a chain: the text and the next word.
    text: Int32
    next_word: Int32
    # For each object: its concept, first and last attribute, first pair.
    object: Int32
    attribute: Int32
    last_attribute: Int32
    pair: Int32
    # For each pair of objects: its ends, first and last relation, the next pair of the same subject.
    subject: Int32
    target: Int32
    relation: Int32
    last_relation: Int32
    next_pair: Int32
    # Numbers of concepts, words, objects and pairs.
    state: Int32


_CONCEPTS, _WORDS, _OBJECTS, _PAIRS = range(4)


def merge_tuples(
    tuples: TupleTable, sentences: IntArray, offsets: IntArray, meanings: Meanings
) -> GraphArrays:
    """Build a graph for each group of sentences; group g is ``sentences[offsets[g]:offsets[g + 1]]``."""
    places, starts = runs(tuples.offsets, sentences)
    rows = tuples.rows[places]
    bounds = starts[offsets]
    groups = len(offsets) - 1
    largest = int(np.diff(bounds).max(initial=0))

    def run(bound: tuple[int, int]) -> GraphArrays:
        return _build_block(rows, bounds[bound[0] : bound[1] + 1], meanings, largest)

    # At least one block, even if it is empty.
    blocks = list(itertools.pairwise([*range(0, max(groups, 1), _BLOCK), groups]))
    parts = list(side_by_side(run, blocks))
    columns = [
        np.concatenate(arrays)
        for arrays in zip(*(part._replace(concept_offsets=np.diff(part.concept_offsets)) for part in parts))
    ]
    concepts, lengths, sizes, owners, ends = columns
    return GraphArrays(concepts, offsets_of(lengths), sizes, owners, ends)


def _build_block(rows: Numbers, bounds: IntArray, meanings: Meanings, largest: int) -> GraphArrays:
    groups, total = len(bounds) - 1, int(bounds[-1] - bounds[0])
    lengths = {"place": len(meanings.offsets) - 1, "state": 4}
    space = _Space(*(np.full(lengths.get(name, 3 * largest + 1), -1, np.int32) for name in _Space._fields))
    graphs = GraphArrays(
        np.empty(3 * total, np.int32),
        np.zeros(3 * total + 1, np.int64),
        np.zeros((groups, 3), np.int32),
        np.empty(total, np.int32),
        np.empty((total, 2), np.int32),
    )
    used = np.zeros(4, np.int64)
    _build(rows, bounds, meanings, space, graphs, used)
    words, concepts, attributes, relations = used.tolist()
    return GraphArrays(
        graphs.concepts[:words],
        graphs.concept_offsets[: concepts + 1],
        graphs.sizes,
        graphs.owners[:attributes],
        graphs.ends[:relations],
    )


@kernel
def _build(
    rows: Int32x2,
    bounds: Int64,
    meanings: Meanings,
    space: Out[_Space],
    graphs: Out[GraphArrays],
    used: Out[Int64],
) -> None:
    state = space.state
    for g in range(bounds.shape[0] - 1):
        state[:] = 0
        for i in range(bounds[g], bounds[g + 1]):
            subject = _object(space, meanings, rows[i, 0])
            if rows[i, 2] >= 0:
                target = _object(space, meanings, rows[i, 2])
                pair = _pair(space, subject, target)
                _join(space, meanings, space.relation, space.last_relation, pair, rows[i, 1])
            elif rows[i, 1] >= 0:
                _join(space, meanings, space.attribute, space.last_attribute, subject, rows[i, 1])
        _write(space, graphs, used, g)
        for i in range(state[_WORDS]):
            space.place[space.text[i]] = -1


@inner
def _concept(space: Out[_Space], meanings: Meanings, text: int) -> int:
    """Create a concept of one word."""
    concept = space.state[_CONCEPTS]
    word = space.state[_WORDS]
    space.text[word] = text
    space.next_word[word] = -1
    space.head[concept] = word
    space.tail[concept] = word
    space.synsets[concept] = meanings.offsets[text + 1] - meanings.offsets[text]
    space.following[concept] = -1
    space.state[_CONCEPTS] += 1
    space.state[_WORDS] += 1
    return concept


@inner
def _shared(space: Out[_Space], meanings: Meanings, concept: int, text: int) -> int:
    """Count the synsets of a text that a concept has, too."""
    word = space.head[concept]
    if space.next_word[word] < 0:
        return count_shared(meanings, text, space.text[word])
    count = 0
    for i in range(meanings.offsets[text], meanings.offsets[text + 1]):
        synset = meanings.synsets[i]
        word = space.head[concept]
        is_shared = False
        while word >= 0 and not is_shared:
            own = space.text[word]
            for k in range(meanings.offsets[own], meanings.offsets[own + 1]):
                if meanings.synsets[k] == synset:
                    is_shared = True
                    break
            word = space.next_word[word]
        if is_shared:
            count += 1
    return count


@inner
def _absorb(space: Out[_Space], meanings: Meanings, concept: int, text: int, common: int) -> None:
    """Add a word to a concept, which has `common` of its synsets already."""
    word = space.state[_WORDS]
    space.text[word] = text
    space.next_word[word] = -1
    space.next_word[space.tail[concept]] = word
    space.tail[concept] = word
    space.synsets[concept] += meanings.offsets[text + 1] - meanings.offsets[text] - common
    space.state[_WORDS] += 1


@inner
def _object(space: Out[_Space], meanings: Meanings, text: int) -> int:
    """Return the object of a word: its own, the most similar one, or a new one.

    Of equally similar objects, the last takes the word.
    """
    if space.place[text] >= 0:
        return space.place[text]
    size = meanings.offsets[text + 1] - meanings.offsets[text]
    best = 0.0
    common = 0
    place = -1
    if size:
        for i in range(space.state[_OBJECTS]):
            concept = space.object[i]
            count = _shared(space, meanings, concept, text)
            if count:
                similarity = count / (size + space.synsets[concept] - count)
                if similarity >= best:
                    best = similarity
                    place = i
                    common = count
    if place < 0:
        place = space.state[_OBJECTS]
        space.object[place] = _concept(space, meanings, text)
        space.attribute[place] = -1
        space.pair[place] = -1
        space.state[_OBJECTS] += 1
    else:
        _absorb(space, meanings, space.object[place], text, common)
    space.place[text] = place
    return place


@inner
def _pair(space: Out[_Space], subject: int, target: int) -> int:
    """Return the number of a pair of objects, a new one if need be."""
    pair = space.pair[subject]
    while pair >= 0:
        if space.target[pair] == target:
            return pair
        pair = space.next_pair[pair]
    pair = space.state[_PAIRS]
    space.subject[pair] = subject
    space.target[pair] = target
    space.relation[pair] = -1
    space.next_pair[pair] = space.pair[subject]
    space.pair[subject] = pair
    space.state[_PAIRS] += 1
    return pair


@inner
def _join(
    space: Out[_Space], meanings: Meanings, firsts: Out[Int32], lasts: Out[Int32], owner: int, text: int
) -> None:
    """Add an attribute or a relation to a chain of concepts: to the first synonym, or at the end."""
    near = -1
    concept = firsts[owner]
    while concept >= 0:
        word = space.head[concept]
        while word >= 0:
            if space.text[word] == text:
                return
            if near < 0 and share_synset(meanings, space.text[word], text):
                near = concept
            word = space.next_word[word]
        concept = space.following[concept]
    if near >= 0:
        _absorb(space, meanings, near, text, 0)
        return
    new = _concept(space, meanings, text)
    if firsts[owner] < 0:
        firsts[owner] = new
    else:
        space.following[lasts[owner]] = new
    lasts[owner] = new


@inner
def _copy(space: Out[_Space], graphs: Out[GraphArrays], used: Out[Int64], concept: int) -> None:
    word = space.head[concept]
    while word >= 0:
        graphs.concepts[used[0]] = space.text[word]
        used[0] += 1
        word = space.next_word[word]
    used[1] += 1
    graphs.concept_offsets[used[1]] = used[0]


@inner
def _write(space: Out[_Space], graphs: Out[GraphArrays], used: Out[Int64], g: int) -> None:
    objects = space.state[_OBJECTS]
    before = used[2]
    for i in range(objects):
        _copy(space, graphs, used, space.object[i])
    for i in range(objects):
        concept = space.attribute[i]
        while concept >= 0:
            _copy(space, graphs, used, concept)
            graphs.owners[used[2]] = i
            used[2] += 1
            concept = space.following[concept]
    graphs.sizes[g, 0] = objects
    graphs.sizes[g, 1] = used[2] - before
    before = used[3]
    for pair in range(space.state[_PAIRS]):
        concept = space.relation[pair]
        while concept >= 0:
            _copy(space, graphs, used, concept)
            graphs.ends[used[3], 0] = space.subject[pair]
            graphs.ends[used[3], 1] = space.target[pair]
            used[3] += 1
            concept = space.following[concept]
    graphs.sizes[g, 2] = used[3] - before
