"""All possible matches of two lines of words: by form, stem, synonym and paraphrase.

"Line 1" is the hypothesis and "line 2" the reference, as in the METEOR papers. Everything works on integer
arrays, and every kernel runs both compiled and as plain Python. Ties and truncations are resolved as the
reference implementation does; they decide which of several equally long alignments is counted.

A caption is compared with several references, so line 1 is indexed once: for each word and phrase of its
references, the list of places in line 1 that it matches. The matches of a reference are then read from the
index word by word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import inner
from captious.kernels.types import Bool, Int32, Int32x2, Int64, Out, UInt32

Ints = NDArray[np.int64]
Small = NDArray[np.int32]

MODULES = ("exact", "stem", "synonym", "paraphrase")
EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

#: Most matches tried at one word, the nearest ones. Otherwise time would grow with the square of the length
#: for a word that is everywhere in two long captions.
MOST_TRIED = 256

#: Matches of a word or phrase are in list ``KINDS * number + kind``. Phrases are numbered after words. They
#: have one list for phrases of line 2 with paraphrases in line 1, and one for the other direction.
KINDS = 4
THERE, BACK = 0, 1


class Lines(NamedTuple):
    """Captions, one after the other."""

    tokens: Int32
    offsets: Int64
    spans: Int32
    """``spans[span_offsets[t]:span_offsets[t + 1]]``: phrases that begin at token ``t``, short to long."""
    span_offsets: Int32


class WordRelations(NamedTuple):
    """Words of the vocabulary, and the lists that words of line 1 are entered in."""

    key: UInt32
    """METEOR compares words by their keys."""
    function: Bool
    related_offsets: Int64
    related: Int32
    """``related[related_offsets[w]:related_offsets[w + 1]]``: the lists that word ``w`` is entered in."""


class PhraseRelations(NamedTuple):
    """Phrases of the captions that have paraphrases there."""

    lengths: Int32
    """Number of words of each phrase of lines 1."""
    offsets: Int64
    related: Int32
    """``related[offsets[p]:offsets[p + 1]]``: the lists that phrase ``p`` of line 1 is entered in."""
    ranks: Int32
    """Place of the one among the paraphrases of the other."""
    numbers: Int32
    """For each phrase of lines 2 its number among those that have lists, or -1."""
    their_lengths: Int32
    """Number of words of each phrase that has lists."""


class Index(NamedTuple):
    """Index of a line 1: list ``l`` is ``entries[starts[l]:starts[l] + counts[l]]``, in line order."""

    counts: Int32
    starts: Int32
    entries: Int32x2
    """Columns: start and length in line 1, rank."""


@inner
def mark(
    theirs: Lines, phrases: PhraseRelations, words: int, line: int, wanted: Out[Int32], serial: int
) -> None:
    """Mark the words and phrases of a line 2 with a serial number."""
    for t in range(theirs.offsets[line], theirs.offsets[line + 1]):
        wanted[theirs.tokens[t]] = serial
        for s in range(theirs.span_offsets[t], theirs.span_offsets[t + 1]):
            number = phrases.numbers[theirs.spans[s]]
            if number >= 0:
                wanted[words + number] = serial


@inner
def room_for(ours: Lines, words: WordRelations, phrases: PhraseRelations, line: int) -> int:
    """Return an upper bound on the entries in the index of a line."""
    room = 0
    for t in range(ours.offsets[line], ours.offsets[line + 1]):
        room += words.related_offsets[ours.tokens[t] + 1] - words.related_offsets[ours.tokens[t]]
        for s in range(ours.span_offsets[t], ours.span_offsets[t + 1]):
            room += phrases.offsets[ours.spans[s] + 1] - phrases.offsets[ours.spans[s]]
    return room


@inner
def turn_round(
    ours: Lines,
    words: WordRelations,
    phrases: PhraseRelations,
    line: int,
    wanted: Int32,
    serial: int,
    index: Out[Index],
    hits: Out[Int32x2],
    filled: Out[Int32],
) -> int:
    """Fill the lists of the index that are wanted; return how many there are.

    Their numbers go to `filled`. Their counts must be 0 before.
    """
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


@inner
def below(index: Out[Index], key: int, place: int) -> int:
    """Count the entries of a list that start before a place."""
    low, high = 0, index.counts[key]
    while low < high:
        middle = (low + high) // 2
        if index.entries[index.starts[key] + middle, 0] < place:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def reach(index: Out[Index], keys: Int32x2, lists: int, centre: int, length1: int) -> int:
    """Return the greatest distance from a place within which lists have at most ``MOST_TRIED`` entries."""
    near, far = -1, length1
    while far - near > 1:
        middle = (near + far) // 2
        within = 0
        for k in range(lists):
            within += below(index, keys[k, 0], centre + middle + 1) - below(
                index, keys[k, 0], centre - middle
            )
        if within > MOST_TRIED:
            far = middle
        else:
            near = middle
    return near


@inner
def comes_before(
    kind: int, start: int, length: int, rank: int, other_start: int, other_length: int, other_rank: int
) -> bool:
    """Tell whether a paraphrase match comes before another one.

    Paraphrases of a phrase of line 2 have the order of the table; phrases of line 1 with paraphrases in line
    2, that of the line.
    """
    if kind == THERE:
        return rank < other_rank or (rank == other_rank and start < other_start)
    if start != other_start:
        return start < other_start
    return length < other_length or (length == other_length and rank < other_rank)


@inner
def gather(
    theirs: Lines,
    phrases: PhraseRelations,
    words: int,
    line2: int,
    length1: int,
    identical: bool,
    index: Out[Index],
    keys: Out[Int32x2],
    uses: Out[Int32],
    used: Out[Int32],
    cover: Out[Int32x2],
    matches: Out[Int32x2],
    bounds: Out[Int64],
    fixed: Out[Int32],
) -> None:
    """Gather the matches of a line 2 with the indexed line, in the order of the reference implementation.

    The matches at position j are ``matches[bounds[j]:bounds[j + 1]]``: start and length in line 1, length in
    line 2, module, and a column for ranks. ``fixed[j]`` is the match that competes with no other, or -1. Of
    more than ``MOST_TRIED`` matches, those nearest to the corresponding place in line 1 remain. ``uses`` must
    be 0 before, and is 0 afterwards.
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
        # The lists of this position, and the number of words of line 2 that each matches.
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
                    while at > sorted_from and comes_before(
                        kind, start, length, rank, matches[at - 1, 0], matches[at - 1, 1], matches[at - 1, 4]
                    ):
                        for c in range(5):
                            matches[at, c] = matches[at - 1, c]
                        at -= 1
                matches[at, 0] = start
                matches[at, 1] = length
                matches[at, 2] = keys[k, 1]
                matches[at, 3] = module
                matches[at, 4] = rank
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
            for k in range(matches[m, 2]):
                alone = alone and cover[1, j + k] == 1
            for i in range(matches[m, 0], matches[m, 0] + matches[m, 1]):
                alone = alone and cover[0, i] == 1
        fixed[j] = bounds[j] if alone else -1
