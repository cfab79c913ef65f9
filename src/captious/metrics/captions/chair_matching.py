"""Phrases found in captions: a tree of phrases in arrays, and one walk over the words of all captions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, offsets_of
from captious.kernels import kernel
from captious.kernels.types import Bool, Int32, Int64, Out

Bools = NDArray[np.bool_]

#: Marks of a node where no phrase ends, and of one whose phrase names nothing.
_NO_PHRASE, _NOTHING = -2, -1


class PhraseRules(NamedTuple):
    """Phrases and conditions on them, in arrays.

    Base forms are numbered from 1. 0 is any word that no rule mentions.
    """

    #: By base form: the node of the phrases that begin with it, or −1.
    first: IntArray
    #: Offsets of the edges of each node: the next base form, and the node it leads to.
    edges: IntArray
    edge_base: IntArray
    edge_to: IntArray
    #: Class named by the phrase that ends at a node.
    kinds: IntArray
    #: By base form: whether it does not count directly before another object, and whether it counts only
    #: where no noun can follow.
    modifier: Bools
    adjective: Bools
    #: By base form: offsets of the list of base forms beside which it does not count.
    beside: IntArray
    others: IntArray


class FoundPhrases(NamedTuple):
    """Phrases found in captions: those of caption i are ``offsets[i]:offsets[i + 1]``.

    Each consists of the words ``start`` to ``end`` in the sequence of all captions, and has a class.
    """

    offsets: IntArray
    start: IntArray
    end: IntArray
    kind: IntArray


def rules_of(
    phrases: Mapping[tuple[str, ...], int | None],
    numbers: Mapping[str, int],
    *,
    modifiers: Collection[str],
    adjectives: Collection[str],
    not_beside: Mapping[str, Iterable[str]],
) -> PhraseRules:
    """Build the tree of phrases and their classes. ``numbers`` are those of the base forms, from 1."""
    size = max(numbers.values(), default=0) + 1
    first = np.full(size, -1, np.int64)
    nodes: list[dict[int, int]] = []
    kinds: list[int] = []
    for phrase, kind in phrases.items():
        node = -1
        for word in phrase:
            number = numbers[word]
            following = int(first[number]) if node < 0 else nodes[node].get(number, -1)
            if following < 0:
                following = len(nodes)
                nodes.append({})
                kinds.append(_NO_PHRASE)
                if node < 0:
                    first[number] = following
                else:
                    nodes[node][number] = following
            node = following
        if node >= 0:
            kinds[node] = _NOTHING if kind is None else kind
    lists: list[list[int]] = [[] for _ in range(size)]
    for word, others in not_beside.items():
        lists[numbers[word]] = sorted(numbers[other] for other in others)
    return PhraseRules(
        first,
        offsets_of([len(node) for node in nodes]),
        _whole(base for node in nodes for base in node),
        _whole(to for node in nodes for to in node.values()),
        _whole(kinds),
        _marked(size, numbers, modifiers),
        _marked(size, numbers, adjectives),
        offsets_of([len(own) for own in lists]),
        _whole(other for own in lists for other in own),
    )


def _whole(numbers: Iterable[int]) -> IntArray:
    return np.array(list(numbers), dtype=np.int64)


def _marked(size: int, numbers: Mapping[str, int], words: Iterable[str]) -> Bools:
    marks = np.zeros(size, np.bool_)
    marks[[numbers[word] for word in words]] = True
    return marks


def code(base: int, is_base: bool, ends: bool) -> int:
    """Encode a word: its base form, whether it is that form, and whether it shows that no noun follows."""
    return base << 2 | is_base << 1 | ends


@kernel
def _walk(
    tokens: Int32,
    offsets: Int64,
    codes: Int32,
    first: Int64,
    edges: Int64,
    edge_base: Int64,
    edge_to: Int64,
    kinds: Int64,
    modifier: Bool,
    adjective: Bool,
    beside: Int64,
    others: Int64,
    present: Out[Int64],
    counts: Out[Int64],
    start: Out[Int64],
    end: Out[Int64],
    kind: Out[Int64],
) -> int:
    """Find the phrases of each caption from left to right, the longest first.

    ``present`` (zeros at first) holds the last caption in which a base form occurs.
    """
    count = 0
    for c in range(offsets.shape[0] - 1):
        low, high = offsets[c], offsets[c + 1]
        for i in range(low, high):
            present[codes[tokens[i]] >> 2] = c + 1
        begin = count
        i = low
        while i < high:
            base = codes[tokens[i]] >> 2
            node = first[base]
            stop, named = i + 1, _NOTHING
            at = i
            while node >= 0:
                at += 1
                if kinds[node] != _NO_PHRASE:
                    stop, named = at, kinds[node]
                following = -1
                if at < high:
                    wanted = codes[tokens[at]] >> 2
                    for e in range(edges[node], edges[node + 1]):
                        if edge_base[e] == wanted:
                            following = edge_to[e]
                node = following
            counted = named >= 0
            if counted and stop - i == 1:
                for e in range(beside[base], beside[base + 1]):
                    if present[others[e]] == c + 1:
                        counted = False
                if (
                    adjective[base]
                    and (codes[tokens[i]] & 2) != 0
                    and stop < high
                    and (codes[tokens[stop]] & 1) == 0
                ):
                    counted = False
            if counted:
                start[count], end[count], kind[count] = i, stop, named
                count += 1
            i = stop
        # A modifier directly before another object is not an object itself.
        last = begin
        for k in range(begin, count):
            single = end[k] - start[k] == 1 and modifier[codes[tokens[start[k]]] >> 2]
            if not (single and k + 1 < count and start[k + 1] == end[k]):
                start[last], end[last], kind[last] = start[k], end[k], kind[k]
                last += 1
        count = last
        counts[c] = count - begin
    return count


def find(
    tokens: NDArray[np.int32], offsets: IntArray, codes: NDArray[np.int32], rules: PhraseRules
) -> FoundPhrases:
    """Return the phrases of captions. ``codes`` has the :func:`code` of each word by its number."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    # Room for one phrase per word, the largest possible number.
    start, end, kind = (np.empty(len(tokens), np.int64) for _ in range(3))
    present = np.zeros(len(rules.first), np.int64)
    total = int(_walk(tokens, offsets, codes, *rules, present, counts, start, end, kind))
    return FoundPhrases(offsets_of(counts), start[:total].copy(), end[:total].copy(), kind[:total].copy())


def spans(phrases: FoundPhrases, words: Sequence[str]) -> list[str]:
    """Return the text of each phrase. ``words`` are those of all captions in sequence."""
    return [" ".join(words[a:b]) for a, b in zip(phrases.start.tolist(), phrases.end.tolist())]
