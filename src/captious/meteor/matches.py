"""All possible matches of two lines of words: by form, stem, synonym and paraphrase.

"Line 1" is the hypothesis and "line 2" the reference, as in the METEOR papers. Everything works on integer arrays, and
every kernel runs both compiled and as plain Python. Ties and truncations are resolved as the reference implementation
does; they decide which of several equally long alignments is counted.

A caption is compared with several references, so line 1 is turned round once: for each word and phrase of its references, the list of
places in line 1 that it matches. What a reference matches is then read off word by word.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

Scalar = TypeVar("Scalar", bound=np.generic)
Ints = NDArray[np.int64]
Small = NDArray[np.int32]

MODULES = ("exact", "stem", "synonym", "paraphrase")
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

#: At a word with more matches than this, only the nearest ones are tried: a word that stands everywhere in two long captions would
#: otherwise be tried against all of them, and time would grow with the square of the length.
MOST_TRIED = 256

#: A word's matches and a phrase's are listed under four times its number and what they match by. Phrases come behind words, and have
#: one list for line 2's phrases with paraphrases in line 1, and one for the other way round.
KINDS = 4
THERE, BACK = 0, 1


class Lines(NamedTuple):
    """Captions one after the other."""

    tokens: Small
    offsets: Ints
    spans: Small
    """Numbers of the phrases that begin at token ``t``, short to long: ``spans[span_offsets[t]:span_offsets[t + 1]]``."""
    span_offsets: Small


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """A view that cannot be written to. Machine code is made apart for arrays that can be, and those of a prepared file cannot."""
    view: NDArray[Scalar] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def lines(tokens: Small, offsets: Ints, spans: Small, span_offsets: Small) -> Lines:
    return Lines(frozen(tokens), frozen(offsets), frozen(spans), frozen(span_offsets))


class Words(NamedTuple):
    """What METEOR knows about each word of the vocabulary."""

    key: NDArray[np.uint32]
    """Words with one key are the same to METEOR."""
    function: NDArray[np.bool_]
    related_offsets: Ints
    related: Small
    """``related[related_offsets[w]:related_offsets[w + 1]]``: the lists that word ``w`` of line 1 goes to."""


class Phrases(NamedTuple):
    """Phrases that occur in the captions and have paraphrases there."""

    lengths: Small
    """Words of each phrase of lines 1."""
    offsets: Ints
    related: Small
    """``related[offsets[p]:offsets[p + 1]]``: the lists that phrase ``p`` of line 1 goes to."""
    ranks: Small
    """At which place the one is listed among the paraphrases of the other."""
    numbers: Small
    """For each phrase of lines 2 its number among those that have lists, or -1."""
    their_lengths: Small
    """Words of each phrase that has lists."""


class Index(NamedTuple):
    """Line 1 turned round: list ``l`` is ``entries[starts[l]:starts[l] + counts[l]]``, in the order of the line."""

    counts: Small
    starts: Small
    entries: Small
    """Columns: start and length in line 1, rank."""


@kernel
def mark(theirs: Lines, phrases: Phrases, words: int, line: int, wanted: Small, serial: int) -> None:
    """Note the words and phrases of a line 2."""
    for t in range(theirs.offsets[line], theirs.offsets[line + 1]):
        wanted[theirs.tokens[t]] = serial
        for s in range(theirs.span_offsets[t], theirs.span_offsets[t + 1]):
            number = phrases.numbers[theirs.spans[s]]
            if number >= 0:
                wanted[words + number] = serial


@kernel
def room_for(ours: Lines, words: Words, phrases: Phrases, line: int) -> int:
    """At most so many entries has the index of a line."""
    room = 0
    for t in range(ours.offsets[line], ours.offsets[line + 1]):
        room += words.related_offsets[ours.tokens[t] + 1] - words.related_offsets[ours.tokens[t]]
        for s in range(ours.span_offsets[t], ours.span_offsets[t + 1]):
            room += phrases.offsets[ours.spans[s] + 1] - phrases.offsets[ours.spans[s]]
    return room


@kernel
def turn_round(
    ours: Lines, words: Words, phrases: Phrases, line: int, wanted: Small, serial: int, index: Index, hits: Small, filled: Small
) -> int:
    """Fill the index with the lists that are wanted; how many there are, their numbers in ``filled``. Their counts must be 0 before."""
    begin = ours.offsets[line]
    n = 0
    lists = 0
    for t in range(begin, ours.offsets[line + 1]):
        for k in range(words.related_offsets[ours.tokens[t]], words.related_offsets[ours.tokens[t] + 1]):
            key = words.related[k]
            if wanted[key >> 2] == serial:
                if index.counts[key] == 0:
                    filled[lists] = key
                    lists += 1
                index.counts[key] += 1
                hits[n, 0] = key
                hits[n, 1] = t - begin
                hits[n, 2] = 1
                hits[n, 3] = 0
                n += 1
        for s in range(ours.span_offsets[t], ours.span_offsets[t + 1]):
            phrase = ours.spans[s]
            for k in range(phrases.offsets[phrase], phrases.offsets[phrase + 1]):
                key = phrases.related[k]
                if wanted[key >> 2] == serial:
                    if index.counts[key] == 0:
                        filled[lists] = key
                        lists += 1
                    index.counts[key] += 1
                    hits[n, 0] = key
                    hits[n, 1] = t - begin
                    hits[n, 2] = phrases.lengths[phrase]
                    hits[n, 3] = phrases.ranks[k]
                    n += 1
    at = 0
    for k in range(lists):
        key = filled[k]
        index.starts[key] = at
        at += index.counts[key]
        index.counts[key] = 0
    for k in range(n):
        key = hits[k, 0]
        at = index.starts[key] + index.counts[key]
        index.counts[key] += 1
        for c in range(3):
            index.entries[at, c] = hits[k, c + 1]
    return lists


@kernel
def below(index: Index, key: int, place: int) -> int:
    """How many entries of a list start before a place."""
    low, high = 0, index.counts[key]
    while low < high:
        middle = (low + high) // 2
        if index.entries[index.starts[key] + middle, 0] < place:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def reach(index: Index, keys: Small, lists: int, centre: int, length1: int) -> int:
    """The greatest distance from a place of line 1 within which these lists have not more than ``MOST_TRIED`` entries."""
    near, far = -1, length1
    while far - near > 1:
        middle = (near + far) // 2
        within = 0
        for k in range(lists):
            within += below(index, keys[k, 0], centre + middle + 1) - below(index, keys[k, 0], centre - middle)
        if within > MOST_TRIED:
            far = middle
        else:
            near = middle
    return near


@kernel
def comes_before(kind: int, start: int, length: int, rank: int, other_start: int, other_length: int, other_rank: int) -> bool:
    """Paraphrases of one phrase of line 2 come in the order of the table; phrases of line 1 with paraphrases in line 2 as they stand."""
    if kind == THERE:
        return rank < other_rank or (rank == other_rank and start < other_start)
    if start != other_start:
        return start < other_start
    return length < other_length or (length == other_length and rank < other_rank)


@kernel
def gather(
    theirs: Lines, phrases: Phrases, words: int, line2: int, length1: int, identical: bool, index: Index, keys: Small, uses: Small, used: Small,
    cover: Small, found: Small, bounds: Ints, fixed: Small,
) -> None:  # fmt: skip
    """The matches of a line 2 with the line of the index, by their start in line 2, in the order of the reference implementation, and
    those that compete with no other.

    The matches at position j are ``found[bounds[j]:bounds[j + 1]]`` (start and length in line 1, length in line 2, module; the last
    column is room for ranks); ``fixed[j]`` is the one that is certain, or -1. Where there are more than ``MOST_TRIED``, those remain that
    are nearest to the place in line 1 that corresponds to j. ``uses`` must be 0 before, and is so again.
    """
    begin = theirs.offsets[line2]
    length2 = theirs.offsets[line2 + 1] - begin
    for i in range(length1):
        cover[0, i] = 0
    for j in range(length2):
        cover[1, j] = 0
    n = 0
    n_used = 0
    for j in range(length2):
        bounds[j] = n
        t = begin + j
        # The lists that this position has: their number, and the length of what they match here.
        lists = 0
        total = 0
        for kind in range(1 if identical else PARAPHRASE):
            key = KINDS * theirs.tokens[t] + kind
            if index.counts[key] > 0:
                keys[lists, 0] = key
                keys[lists, 1] = 1
                lists += 1
        of_words = lists
        if not identical:
            for side in range(2):
                for s in range(theirs.span_offsets[t], theirs.span_offsets[t + 1]):
                    number = phrases.numbers[theirs.spans[s]]
                    if number >= 0 and index.counts[KINDS * (words + number) + side] > 0:
                        keys[lists, 0] = KINDS * (words + number) + side
                        keys[lists, 1] = phrases.their_lengths[number]
                        lists += 1
        for k in range(lists):
            key = keys[k, 0]
            total += index.counts[key]
            if uses[key] == 0:
                used[n_used] = key
                n_used += 1
            uses[key] += 1
            for c in range(keys[k, 1]):
                cover[1, j + c] += index.counts[key]
        fixed[j] = total
        near = length1
        centre = 0
        if total > MOST_TRIED:
            centre = j * length1 // length2
            near = reach(index, keys, lists, centre, length1)
        sorted_from = n
        for k in range(lists):
            key = keys[k, 0]
            low, high = index.starts[key], index.starts[key] + index.counts[key]
            if total > MOST_TRIED:
                low, high = low + below(index, key, centre - near), low + below(index, key, centre + near + 1)
            kind = key & (KINDS - 1)
            module = kind if k < of_words else PARAPHRASE
            if k <= of_words or kind == THERE or keys[k - 1, 0] & (KINDS - 1) == THERE:
                sorted_from = n
            for e in range(low, high):
                start, length, rank = index.entries[e, 0], index.entries[e, 1], index.entries[e, 2]
                at = n
                if module == PARAPHRASE:
                    while at > sorted_from and comes_before(kind, start, length, rank, found[at - 1, 0], found[at - 1, 1], found[at - 1, 4]):
                        for c in range(5):
                            found[at, c] = found[at - 1, c]
                        at -= 1
                found[at, 0] = start
                found[at, 1] = length
                found[at, 2] = keys[k, 1]
                found[at, 3] = module
                found[at, 4] = rank
                n += 1
    bounds[length2] = n
    for k in range(n_used):
        key = used[k]
        for e in range(index.starts[key], index.starts[key] + index.counts[key]):
            for i in range(index.entries[e, 0], index.entries[e, 0] + index.entries[e, 1]):
                cover[0, i] += uses[key]
        uses[key] = 0
    for j in range(length2):
        alone = fixed[j] == 1
        if alone:
            m = bounds[j]
            for k in range(found[m, 2]):
                alone = alone and cover[1, j + k] == 1
            for i in range(found[m, 0], found[m, 0] + found[m, 1]):
                alone = alone and cover[0, i] == 1
        fixed[j] = bounds[j] if alone else -1
