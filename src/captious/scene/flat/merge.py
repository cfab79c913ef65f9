"""Scene graphs from tuples, as :class:`captious.scene.graph.SceneGraph` builds them, in arrays."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of, runs
from captious.scene.flat.codes import Numbers
from captious.scene.flat.meanings import Meanings, meet, shared
from captious.scene.flat.sentences import FlatTuples
from captious.threads import side_by_side

#: Graphs that a thread takes at a time.
_BLOCK = 2048


class FlatGraphs(NamedTuple):
    """Graphs as :mod:`captious.scene.packed` keeps them: concepts in the order objects, attributes of each object, relations."""

    concepts: Numbers
    concept_offsets: IntArray
    sizes: Numbers
    owners: Numbers
    ends: Numbers


class _Space(NamedTuple):
    """Where one graph is built. Concepts are numbered as they come; chains end with −1."""

    #: The object that a text belongs to, −1 for none.
    place: Numbers
    # Of each concept: its first and last word, how many synsets it has, and the next concept of the same object or pair.
    head: Numbers
    tail: Numbers
    synsets: Numbers
    following: Numbers
    # Of each word in a chain: the text and the next word.
    text: Numbers
    next_word: Numbers
    # Of each object: its concept, first and last attribute, first pair.
    object: Numbers
    attribute: Numbers
    last_attribute: Numbers
    pair: Numbers
    # Of each pair of objects: its ends, first and last relation, the next pair of the same subject.
    subject: Numbers
    target: Numbers
    relation: Numbers
    last_relation: Numbers
    next_pair: Numbers
    # How many concepts, words, objects and pairs there are.
    state: Numbers


_CONCEPTS, _WORDS, _OBJECTS, _PAIRS = range(4)


def flat_graphs(tuples: FlatTuples, sentences: IntArray, offsets: IntArray, meanings: Meanings, jobs: int | None = None) -> FlatGraphs:
    """A graph for each group of sentences, group g being ``sentences[offsets[g]:offsets[g + 1]]``."""
    chosen, starts = runs(tuples.offsets, sentences)
    rows = tuples.rows[chosen]
    bounds = starts[offsets]
    groups = len(offsets) - 1
    largest = int(np.diff(bounds).max(initial=0))

    def run(bound: tuple[int, int]) -> FlatGraphs:
        return _built(rows, bounds[bound[0] : bound[1] + 1], meanings, largest)

    # At least one block, even of nothing.
    blocks = list(itertools.pairwise([*range(0, max(groups, 1), _BLOCK), groups]))
    parts = list(side_by_side(run, blocks, jobs))
    joined = [np.concatenate(columns) for columns in zip(*(part._replace(concept_offsets=np.diff(part.concept_offsets)) for part in parts))]
    concepts, lengths, sizes, owners, ends = joined
    return FlatGraphs(concepts, offsets_of(lengths), sizes, owners, ends)


def _built(rows: Numbers, bounds: IntArray, meanings: Meanings, largest: int) -> FlatGraphs:
    groups, total = len(bounds) - 1, int(bounds[-1] - bounds[0])
    columns = {"place": len(meanings.offsets) - 1, "state": 4}
    space = _Space(*(np.full(columns.get(name, 3 * largest + 1), -1, np.int32) for name in _Space._fields))
    made = FlatGraphs(
        np.empty(3 * total, np.int32), np.zeros(3 * total + 1, np.int64), np.zeros((groups, 3), np.int32), np.empty(total, np.int32), np.empty((total, 2), np.int32)
    )
    used = np.zeros(4, np.int64)
    _build.pick(total * 100)(rows, bounds, meanings, space, made, used)
    words, concepts, attributes, relations = used.tolist()
    return FlatGraphs(made.concepts[:words], made.concept_offsets[: concepts + 1], made.sizes, made.owners[:attributes], made.ends[:relations])


@kernel
def _build(rows, bounds, meanings, space, made, used):  # type: ignore[no-untyped-def]
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
        _write(space, made, used, g)
        for i in range(state[_WORDS]):
            space.place[space.text[i]] = -1


@kernel
def _concept(space, meanings, text):  # type: ignore[no-untyped-def]
    """A new concept of one word."""
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


@kernel
def _shared(space, meanings, concept, text):  # type: ignore[no-untyped-def]
    """How many synsets of a text a concept has."""
    word = space.head[concept]
    if space.next_word[word] < 0:
        return shared(meanings, text, space.text[word])
    count = 0
    for i in range(meanings.offsets[text], meanings.offsets[text + 1]):
        synset = meanings.synsets[i]
        word = space.head[concept]
        found = False
        while word >= 0 and not found:
            own = space.text[word]
            for k in range(meanings.offsets[own], meanings.offsets[own + 1]):
                if meanings.synsets[k] == synset:
                    found = True
                    break
            word = space.next_word[word]
        if found:
            count += 1
    return count


@kernel
def _absorb(space, meanings, concept, text, common):  # type: ignore[no-untyped-def]
    """Take over a word and its synsets, of which ``common`` are there already."""
    word = space.state[_WORDS]
    space.text[word] = text
    space.next_word[word] = -1
    space.next_word[space.tail[concept]] = word
    space.tail[concept] = word
    space.synsets[concept] += meanings.offsets[text + 1] - meanings.offsets[text] - common
    space.state[_WORDS] += 1


@kernel
def _object(space, meanings, text):  # type: ignore[no-untyped-def]
    """The object of a word: known, or the most similar one, or new."""
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


@kernel
def _pair(space, subject, target):  # type: ignore[no-untyped-def]
    """The number of a pair of objects."""
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


@kernel
def _join(space, meanings, firsts, lasts, owner, text):  # type: ignore[no-untyped-def]
    """Add an attribute or a relation to a chain of concepts: where it is already, to the first synonym, or at the end."""
    near = -1
    concept = firsts[owner]
    while concept >= 0:
        word = space.head[concept]
        while word >= 0:
            if space.text[word] == text:
                return
            if near < 0 and meet(meanings, space.text[word], text):
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


@kernel
def _copy(space, made, used, concept):  # type: ignore[no-untyped-def]
    word = space.head[concept]
    while word >= 0:
        made.concepts[used[0]] = space.text[word]
        used[0] += 1
        word = space.next_word[word]
    used[1] += 1
    made.concept_offsets[used[1]] = used[0]


@kernel
def _write(space, made, used, g):  # type: ignore[no-untyped-def]
    objects = space.state[_OBJECTS]
    before = used[2]
    for i in range(objects):
        _copy(space, made, used, space.object[i])
    for i in range(objects):
        concept = space.attribute[i]
        while concept >= 0:
            _copy(space, made, used, concept)
            made.owners[used[2]] = i
            used[2] += 1
            concept = space.following[concept]
    made.sizes[g, 0] = objects
    made.sizes[g, 1] = used[2] - before
    before = used[3]
    for pair in range(space.state[_PAIRS]):
        concept = space.relation[pair]
        while concept >= 0:
            _copy(space, made, used, concept)
            made.ends[used[3], 0] = space.subject[pair]
            made.ends[used[3], 1] = space.target[pair]
            used[3] += 1
            concept = space.following[concept]
    made.sizes[g, 2] = used[3] - before
