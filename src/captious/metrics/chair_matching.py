"""Phrases found in captions: a table of phrases as a tree in arrays, and one walk over the words of all captions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of

Bools = NDArray[np.bool_]

#: Of a node where no phrase ends, and of one whose phrase names nothing.
_NO_PHRASE, _NOTHING = -2, -1


class Rules(NamedTuple):
    """Phrases and what keeps them from counting, in arrays. Base forms are numbered from 1; 0 is any word that matters nowhere."""

    #: By base form: the node of the phrase that begins with it, −1 where none does.
    first: IntArray
    #: Where the edges of each node start: the base form that comes next, and the node it leads to.
    edges: IntArray
    edge_base: IntArray
    edge_to: IntArray
    #: What the phrase that ends at a node names.
    kinds: IntArray
    #: By base form: not to count directly before another object, and only to count where no noun can follow.
    modifier: Bools
    adjective: Bools
    #: By base form, where the list of those starts beside which it does not count.
    beside: IntArray
    others: IntArray


class Found(NamedTuple):
    """Phrases that captions have: those of caption i are ``offsets[i]:offsets[i + 1]``, each the words from ``start`` to ``end`` of all captions
    in a row, and what it names."""

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
) -> Rules:
    """Phrases of base forms, with what each names, as a tree; ``numbers`` are those of the base forms, from 1."""
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
    return Rules(
        first, offsets_of([len(node) for node in nodes]), _whole(base for node in nodes for base in node),
        _whole(to for node in nodes for to in node.values()), _whole(kinds), _marked(size, numbers, modifiers), _marked(size, numbers, adjectives),
        offsets_of([len(own) for own in lists]), _whole(other for own in lists for other in own),
    )  # fmt: skip


def _whole(numbers: Iterable[int]) -> IntArray:
    return np.array(list(numbers), dtype=np.int64)


def _marked(size: int, numbers: Mapping[str, int], words: Iterable[str]) -> Bools:
    marks = np.zeros(size, np.bool_)
    marks[[numbers[word] for word in words]] = True
    return marks


def code(base: int, is_base: bool, ends: bool) -> int:
    """What the walk knows of a word: its base form, whether it is that form, and whether no noun follows where it does."""
    return base << 2 | is_base << 1 | ends


@kernel
def _walk(tokens, offsets, codes, first, edges, edge_base, edge_to, kinds, modifier, adjective, beside, others, present, counts, start, end, kind):  # type: ignore[no-untyped-def]
    """Find the phrases of each caption from left to right, the longest first. ``present`` (zeros) holds the last caption that had a base form."""
    found = 0
    for c in range(offsets.shape[0] - 1):
        low, high = offsets[c], offsets[c + 1]
        for i in range(low, high):
            present[codes[tokens[i]] >> 2] = c + 1
        begin = found
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
                if adjective[base] and (codes[tokens[i]] & 2) != 0 and stop < high and (codes[tokens[stop]] & 1) == 0:
                    counted = False
            if counted:
                start[found], end[found], kind[found] = i, stop, named
                found += 1
            i = stop
        # A modifier directly before another object is not one itself.
        kept = begin
        for k in range(begin, found):
            single = end[k] - start[k] == 1 and modifier[codes[tokens[start[k]]] >> 2]
            if not (single and k + 1 < found and start[k + 1] == end[k]):
                start[kept], end[kept], kind[kept] = start[k], end[k], kind[k]
                kept += 1
        found = kept
        counts[c] = found - begin
    return found


def find(tokens: NDArray[np.int32], offsets: IntArray, codes: NDArray[np.int32], rules: Rules) -> Found:
    """The phrases of captions; ``codes`` has the :func:`code` of each word by its number."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    # At most every word is one.
    start, end, kind = (np.empty(len(tokens), np.int64) for _ in range(3))
    present = np.zeros(len(rules.first), np.int64)
    found = int(_walk.pick(10 * len(tokens))(tokens, offsets, codes, *rules, present, counts, start, end, kind))
    return Found(offsets_of(counts), start[:found].copy(), end[:found].copy(), kind[:found].copy())


def within(keys: IntArray, among: IntArray) -> Bools:
    """Which of some keys are among others, which are sorted."""
    if not len(among):
        return np.zeros(len(keys), np.bool_)
    known: Bools = among[np.minimum(np.searchsorted(among, keys), len(among) - 1)] == keys
    return known


def spans(found: Found, words: Sequence[str]) -> list[str]:
    """The text of each phrase; ``words`` are those of all captions in a row."""
    return [" ".join(words[a:b]) for a, b in zip(found.start.tolist(), found.end.tolist())]
