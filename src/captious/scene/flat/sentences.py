"""The tuples of all sentences of a parsed batch, as numbers of phrases."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import is_often, kernel
from captious.language.parser import ParsedBatch
from captious.ragged import IntArray, offsets_of, runs
from captious.scene.flat.codes import Coded, Numbers, coded
from captious.scene.flat.collapse import collapse
from captious.scene.flat.repairs import repair
from captious.scene.flat.rules import LISTS, NAMED, WRITTEN, read
from captious.scene.flat.space import (
    FULL,
    HEAD,
    LEMMA,
    MIDDLE,
    ONE_END,
    OTHER_END,
    PARTS,
    PHRASE,
    PHRASES,
    POOL,
    RELATION,
    RULE,
    STATE,
    TAG,
    TUPLES,
    WORD,
    space,
)
from captious.scene.rules import Tuple, tuples
from captious.text.vocabulary import Vocabulary
from captious.threads import side_by_side

#: Sentences longer than this are read one by one from objects; parsers cut them before.
LONGEST = 120
#: Sentences that a thread takes at a time.
_BLOCK = 4096
#: Words of captions from which compiled code pays.
ENOUGH = 5_000


def worth_compiling(words: int) -> bool:
    """Whether captions of so many words are for compiled kernels. A few hundred captions take no longer as objects than compiled
    code takes to load, and nobody waits for the compiler on their account."""
    return is_often() or words >= ENOUGH


class FlatTuples(NamedTuple):
    """Tuples of sentences: sentence s states ``rows[offsets[s]:offsets[s + 1]]``, rows of three numbers of ``texts``, −1 for
    places that a tuple does not have. Repeated ones stay repeated."""

    texts: list[str]
    rows: Numbers
    offsets: IntArray

    def of(self, sentence: int) -> list[Tuple]:
        """The tuples of one sentence."""
        found = self.rows[self.offsets[sentence] : self.offsets[sentence + 1]].tolist()
        return [tuple(self.texts[number] for number in row if number >= 0) for row in found]


def flat_tuples(batch: ParsedBatch, jobs: int | None = None) -> FlatTuples:
    """What :func:`captious.scene.rules.tuples` reads from each distinct sentence of a batch."""
    codes = coded(batch)
    sentences = len(batch.offsets) - 1
    lengths = np.diff(batch.offsets)
    usual = _usable(batch, lengths)
    bounds = [*range(0, sentences, _BLOCK), sentences]
    room = int(lengths[usual].max()) if usual.any() else 0

    def run(bound: tuple[int, int]) -> _Block:
        return _read_block(codes, usual, *bound, space(room))

    blocks = list(side_by_side(run, list(itertools.pairwise(bounds)), jobs))
    counts = np.concatenate([block.counts for block in blocks]) if blocks else np.zeros(0, np.int64)
    rows = np.concatenate([block.rows for block in blocks]) if blocks else np.zeros((0, 3), np.int32)
    _name_phrases(rows, blocks, codes.texts)
    unread = np.flatnonzero(counts < 0).tolist()
    made = FlatTuples(codes.texts.words, rows, offsets_of(np.maximum(counts, 0)))
    return _named(_with_others(made, batch, unread, codes.texts) if unread else made)


def _named(made: FlatTuples) -> FlatTuples:
    """The same with those texts alone that are in tuples."""
    used = np.zeros(len(made.texts) + 1, np.bool_)
    used[made.rows] = True
    # The last is what the places are that a tuple does not have.
    used[-1] = False
    numbers = np.cumsum(used, dtype=np.int32) - 1
    numbers[-1] = -1
    return FlatTuples([made.texts[i] for i in np.flatnonzero(used).tolist()], numbers[made.rows], made.offsets)


def _usable(batch: ParsedBatch, lengths: IntArray) -> NDArray[np.bool_]:
    """Sentences of usual length with all heads inside them."""
    wrong = (batch.heads < 0) | (batch.heads > np.repeat(lengths, lengths))
    usable = lengths <= LONGEST
    usable[np.repeat(np.arange(len(lengths)), lengths)[wrong]] = False
    return usable


class _Block(NamedTuple):
    """What was read from some sentences: how many tuples each has (−1: it must be read otherwise), the tuples, and phrases of
    several words, which tuples name by −2 and less."""

    counts: IntArray
    rows: Numbers
    starts: IntArray
    pool: Numbers


@kernel
def _read(first, last, usual, offsets, words, lemmas, tags, heads, relations, bits, kinds, three, nested, flat, have, space, counts, rows, phrases, pool, used):  # type: ignore[no-untyped-def]
    """Read sentences as long as there is room for their tuples; returns the first that was not read.

    ``used`` counts the rows, the phrases and the numbers in the pool.
    """
    state = space[STATE]
    places = np.zeros(LISTS + 1, np.int64)
    for s in range(first, last):
        n = offsets[s + 1] - offsets[s]
        counts[s] = -1
        if not usual[s]:
            continue
        space[TAG, 0] = 0
        space[WORD, 0] = 0
        space[HEAD, 0] = -1
        space[RELATION, 0] = 0
        for i in range(n):
            at = offsets[s] + i
            space[WORD, i + 1] = words[at]
            space[LEMMA, i + 1] = lemmas[at]
            space[TAG, i + 1] = tags[at]
            space[HEAD, i + 1] = heads[at]
            space[RELATION, i + 1] = relations[at]
        state[FULL] = 0
        collapse(n, space, bits, three, nested, flat)
        if state[FULL]:
            continue
        repair(n, space, bits)
        if state[FULL]:
            continue
        read(n, space, bits, kinds, have)
        if state[FULL]:
            continue
        if used[0] + state[TUPLES] > rows.shape[0] or used[1] + state[PHRASES] > phrases.shape[0] or used[2] + state[PARTS] > pool.shape[0]:
            return s
        # The lists follow one another.
        places[:] = 0
        for i in range(state[TUPLES]):
            places[space[RULE, i] + 1] += 1
        for k in range(LISTS):
            places[k + 1] += places[k]
        for i in range(state[TUPLES]):
            at = used[0] + places[space[RULE, i]]
            places[space[RULE, i]] += 1
            rows[at, 0] = space[ONE_END, i]
            middle = space[MIDDLE, i]
            rows[at, 1] = middle if middle >= -1 else middle - used[1]
            rows[at, 2] = space[OTHER_END, i]
        for i in range(state[PHRASES]):
            phrases[used[1] + i] = used[2] + space[PHRASE, i]
        for i in range(state[PARTS]):
            pool[used[2] + i] = space[POOL, i]
        counts[s] = state[TUPLES]
        used[0] += state[TUPLES]
        used[1] += state[PHRASES]
        used[2] += state[PARTS]
    return last


def _read_block(codes: Coded, usual: Any, first: int, last: int, space: Numbers) -> _Block:
    offsets = codes.offsets[first : last + 1]
    usual = usual[first:last]
    size = last - first
    words = int(offsets[-1] - offsets[0]) if size else 0
    counts = np.zeros(size, np.int64)
    rows = np.empty((words + 64, 3), np.int32)
    phrases, pool = np.empty(words // 4 + 64, np.int64), np.empty(words + 256, np.int32)
    used = np.zeros(3, np.int64)
    form = _read.pick(words * 100)
    at = 0
    while at < size:
        at = form(
            at, size, usual, offsets, codes.words, codes.lemmas, codes.tags, codes.heads, codes.relations, codes.bits, codes.kinds, codes.three, codes.nested,
            codes.flat, codes.have, space, counts, rows, phrases, pool, used,
        )  # fmt: skip
        if at < size:
            rows, phrases, pool = _larger(rows), _larger(phrases), _larger(pool)
    return _Block(counts, rows[: used[0]], np.append(phrases[: used[1]], used[2]), pool[: used[2]])


def _larger(array: Any) -> Any:
    grown = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


# Phrases -------------------------------------------------------------------------------------------------------------


@kernel
def _distinct(starts, pool, slots, numbers, firsts):  # type: ignore[no-untyped-def]
    """Number equal phrases alike, by open addressing; ``firsts`` is the first of each. Returns how many there are."""
    mask = slots.shape[0] - 1
    known = 0
    for p in range(starts.shape[0] - 1):
        low, high = starts[p], starts[p + 1]
        place = high - low
        for i in range(low, high):
            place = (place * 1000003 + pool[i] + 2) & 0x7FFFFFFFFFF
        place = (place ^ (place >> 15)) & mask
        while True:
            if slots[place] < 0:
                slots[place] = known
                firsts[known] = p
                numbers[p] = known
                known += 1
                break
            other = starts[firsts[slots[place]]]
            length = starts[firsts[slots[place]] + 1] - other
            same = length == high - low
            for i in range(high - low if same else 0):
                if pool[other + i] != pool[low + i]:
                    same = False
                    break
            if same:
                numbers[p] = slots[place]
                break
            place = (place + 1) & mask
    return known


def _name_phrases(rows: Numbers, blocks: Sequence[_Block], texts: Vocabulary) -> None:
    """Write the numbers of the phrases' texts into the tuples: a phrase may read like a single word."""
    if not len(rows):
        return
    pool = np.concatenate([block.pool for block in blocks])
    starts = np.concatenate([*(block.starts[:-1] + before for block, before in zip(blocks, offsets_of([len(block.pool) for block in blocks]))), [len(pool)]])
    phrases = len(starts) - 1
    if not phrases:
        return
    # Blocks count their phrases from 0.
    before = np.repeat(offsets_of([len(block.starts) - 1 for block in blocks])[:-1], [len(block.rows) for block in blocks])
    numbers, firsts = np.empty(phrases, np.int64), np.empty(phrases, np.int64)
    slots = np.full(1 << int(4 * phrases - 1).bit_length(), -1, np.int64)
    known = int(_distinct.pick(phrases * 10)(starts, pool, slots, numbers, firsts))
    words = texts.words
    bounds = zip(starts[firsts[:known]].tolist(), starts[firsts[:known] + 1].tolist())
    flat = pool.tolist() if phrases < 4 * known else pool
    named = texts.encode([_text([int(part) for part in flat[a:b]], words) for a, b in bounds])
    chosen = rows[:, 1] < -1
    rows[chosen, 1] = named[numbers[before[chosen] - 2 - rows[chosen, 1]]]


def _text(phrase: list[int], words: Sequence[str]) -> str:
    kind, *rest = phrase
    if kind == WRITTEN:
        return " ".join(words[part] for part in rest)
    if kind == NAMED:
        return _preposition(rest, words)
    name = words[rest[0]]
    if rest[1] >= 0:
        name = f"{name} {words[rest[1]]}"
    if len(rest) > 2:
        name = f"{name} {_preposition(rest[2:], words)}"
    return name.removeprefix("be ")


def _preposition(parts: Iterable[int], words: Sequence[str]) -> str:
    name = "_".join(words[part] for part in parts)
    return "and" if name == "as_well_as" else name.replace("_", " ")


# Sentences out of the ordinary ---------------------------------------------------------------------------------------


def _with_others(made: FlatTuples, batch: ParsedBatch, unread: list[int], texts: Vocabulary) -> FlatTuples:
    """The same with sentences that have to be read from objects."""
    counts = np.diff(made.offsets)
    read = {}
    for s in unread:
        stated = tuples(batch.sentence(s))
        table = np.full((len(stated), 3), -1, np.int32)
        for row, item in zip(table, stated):
            row[: len(item)] = texts.encode(item)
        read[s] = table
        counts[s] = len(stated)
    offsets = offsets_of(counts)
    rows = np.empty((int(offsets[-1]), 3), np.int32)
    rest = np.setdiff1d(np.arange(len(counts)), unread)
    rows[runs(offsets, rest)[0]] = made.rows
    for s, table in read.items():
        rows[offsets[s] : offsets[s + 1]] = table
    return FlatTuples(texts.words, rows, offsets)
