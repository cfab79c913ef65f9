"""The same fast path on bytes: the words of many captions are counted and numbered in loops, without a Python text for any of them.

The rules under which a caption is plain are those of :mod:`captious.text.ptb.plain`. Captions that are not go to the lexer, and their words
join the others where they belong, so that words are numbered in the order in which they appear.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel
from captious.ragged import IntArray, offsets_of, stretches
from captious.text.ptb.grammar import SPLIT_WORDS, words_with_period
from captious.text.ptb.plain import REACH, code_of
from captious.text.words import HALF, MULTIPLIER, WordTable, place_of
from captious.threads import jobs, side_by_side, threads_for

_LETTER, _SPACE, _SPECIAL, _OTHER = 0, 1, 2, 3
#: About how many bytes of captions are numbered before there is room made for new words again.
_STRETCH = 1 << 16


@kernel
def _is_split(data, at, end, words):  # type: ignore[no-untyped-def]
    """Whether one of the words that are divided stands at ``at``."""
    for w in range(words.shape[0]):
        k = 0
        while k < words.shape[1] and words[w, k] != 0 and at + k < end and data[at + k] | 32 == words[w, k]:
            k += 1
        if k == words.shape[1] or words[w, k] == 0:
            return True
    return False


@kernel
def _is_short(data, low, at, kinds, codes, zero):  # type: ignore[no-untyped-def]
    """Whether the letters before ``at`` are a word that keeps its period. ``zero`` is typed, which keeps the arithmetic unsigned."""
    code = zero
    for back in range(REACH):
        place = at - 1 - back
        if place < low or kinds[data[place]] != _LETTER:
            break
        code |= np.uint64(data[place] | 32) << np.uint64(8 * back)
    a, b = 0, codes.shape[0]
    while a < b:
        middle = (a + b) // 2
        if codes[middle] < code:
            a = middle + 1
        else:
            b = middle
    return a < codes.shape[0] and codes[a] == code


@kernel
def count_words(data, offsets, kinds, codes, split_words, zero, counts):  # type: ignore[no-untyped-def]
    """The number of words of each caption that is plain; −1 for those that are not."""
    for i in range(offsets.shape[0] - 1):
        low, high = offsets[i], offsets[i + 1]
        words = 0
        inside = False
        at = low
        while at < high:
            byte = data[at]
            kind = kinds[byte]
            plain = True
            if kind == _LETTER:
                if not inside:
                    words += 1
                    inside = True
                # Each of the words that are divided has its third letter twice.
                if at >= low + 3 and byte | 32 == data[at - 1] | 32 and _is_split(data, at - 3, high, split_words):
                    plain = False
            elif kind == _SPACE:
                inside = False
            elif kind == _SPECIAL:
                after_space = at == low or kinds[data[at - 1]] == _SPACE
                before_space = at + 1 == high or kinds[data[at + 1]] == _SPACE
                after_letter = at > low and kinds[data[at - 1]] == _LETTER
                if byte == 44:
                    plain = before_space
                    inside = False
                elif byte == 46:
                    plain = before_space and not _is_short(data, low, at, kinds, codes, zero)
                    inside = False
                elif byte == 45:
                    plain = after_letter and at + 1 < high and kinds[data[at + 1]] == _LETTER
                elif byte == 39:
                    plain = after_letter and at + 1 < high and data[at + 1] == 115
                    plain = plain and (at + 2 == high or kinds[data[at + 2]] == _SPACE or data[at + 2] == 44)
                    words += 1
                else:
                    plain = after_space and before_space
                    words += 1
                    inside = True
            else:
                plain = False
            if not plain:
                words = -1
                break
            at += 1
        counts[i] = words


@kernel
def _number(stored, size, multiplier, half, places, ends, state):  # type: ignore[no-untyped-def]
    """The number of the word of ``size`` bytes behind those that are known; it is one of them from now on."""
    used = ends[state[0]]
    place = place_of(stored, used, size, multiplier, half, places, ends)
    if places[place] == 0:
        state[0] += 1
        places[place] = state[0]
        ends[state[0]] = used + size
    return places[place] - 1


@kernel
def number_words(data, offsets, counts, others, multiplier, half, stored, places, ends, state, tokens):  # type: ignore[no-untyped-def]
    """The numbers of all words of captions; new words are added to the table.

    ``others`` has the words of captions that are not plain, each with a line feed behind it. ``state`` has how many words are known, and how
    far ``tokens`` and ``others`` are.
    """
    at_token, at_other = state[1], state[2]
    for i in range(offsets.shape[0] - 1):
        used = ends[state[0]]
        size = 0
        if counts[i] < 0:
            for _ in range(-counts[i] - 1):
                while others[at_other] != 10:
                    stored[used + size] = others[at_other]
                    size += 1
                    at_other += 1
                at_other += 1
                tokens[at_token] = _number(stored, size, multiplier, half, places, ends, state)
                at_token += 1
                used = ends[state[0]]
                size = 0
            continue
        for at in range(offsets[i], offsets[i + 1] + 1):
            byte = data[at] if at < offsets[i + 1] else np.uint8(32)
            if 97 <= byte <= 122 or byte == 45 or 48 <= byte <= 57:
                stored[used + size] = byte
                size += 1
            elif 65 <= byte <= 90:
                stored[used + size] = byte + 32
                size += 1
            else:
                if size > 0:
                    tokens[at_token] = _number(stored, size, multiplier, half, places, ends, state)
                    at_token += 1
                    used = ends[state[0]]
                    size = 0
                if byte == 39:
                    stored[used] = byte
                    size = 1
    state[1], state[2] = at_token, at_other


@lru_cache(maxsize=1)
def _rules() -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint8]]:
    """Kinds of bytes, abbreviations as numbers, and the words that are divided."""
    kinds = np.full(256, _OTHER, np.uint8)
    for kind, members in ((_LETTER, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), (_SPACE, b" \t\n"), (_SPECIAL, b".,-'0123456789")):
        kinds[np.frombuffer(members, np.uint8)] = kind
    if any(word[2] != word[3] for word in SPLIT_WORDS):
        raise AssertionError("a word that is divided does not have its third letter twice")
    divided = np.array([list(word.encode().ljust(max(map(len, SPLIT_WORDS)), b"\0")) for word in SPLIT_WORDS], np.uint8)
    codes = np.array(sorted(code_of(word) for word in words_with_period() if len(word) < REACH and word.isalpha()), np.uint64)
    return kinds, codes, divided


def count_plain(data: NDArray[np.uint8], offsets: IntArray) -> IntArray:
    """The number of words of each caption that is plain, −1 for others; caption i is ``data[offsets[i]:offsets[i + 1]]``."""
    counts = np.zeros(len(offsets) - 1, np.int64)
    run = count_words.pick(len(data) * 3)

    def count(part: tuple[int, int]) -> None:
        first, last = part
        run(data, offsets[first : last + 1], *_rules(), np.uint64(0), counts[first:last])

    parts = list(stretches(offsets, len(data) // jobs() + 1))
    deque(side_by_side(count, parts, threads_for(len(data) // 5)), maxlen=0)
    return counts


def number(data: NDArray[np.uint8], offsets: IntArray, table: WordTable) -> tuple[NDArray[np.int32], IntArray]:
    """The words of captions by their numbers in a table, which takes those that are new, and the number of words of each caption."""
    counts = count_plain(data, offsets)
    others, other_counts, other_sizes = _lexed(data, offsets, np.flatnonzero(counts < 0))
    # A caption that is not plain has, below zero, one more than its number of words.
    counts[counts < 0] = -1 - other_counts
    words = np.where(counts < 0, -1 - counts, counts)
    tokens = np.zeros(int(words.sum()), np.int32)
    sizes = np.where(counts < 0, 0, np.diff(offsets))
    sizes[counts < 0] = other_sizes
    word_ends, size_ends = offsets_of(words), offsets_of(sizes)
    state = np.array([table.count, 0, 0], np.int64)
    run = number_words.pick(len(data) * 3)
    for first, last in stretches(size_ends, _STRETCH):
        table.reserve(int(size_ends[last] - size_ends[first]), int(word_ends[last] - word_ends[first]))
        with np.errstate(over="ignore"):
            run(data, offsets[first : last + 1], counts[first:last], others, MULTIPLIER, HALF, table.stored, table.places, table.ends, state, tokens)
        table.count = int(state[0])
    return tokens, words


def _lexed(data: NDArray[np.uint8], offsets: IntArray, which: IntArray) -> tuple[NDArray[np.uint8], IntArray, IntArray]:
    """The words of some captions by the lexer, each with a line feed behind it; how many words each caption has, and how many bytes."""
    from captious.text.ptb import tokenize

    known: dict[bytes, tuple[bytes, int]] = {}
    found = []
    for i in which.tolist():
        raw = data[offsets[i] : offsets[i + 1]].tobytes()
        if raw not in known:
            words = tokenize(raw.decode("utf-8", "surrogatepass"))
            known[raw] = "".join([word + "\n" for word in words]).encode("utf-8", "surrogatepass"), len(words)
        found.append(known[raw])
    joined = b"".join([words for words, _ in found])
    return np.frombuffer(joined, np.uint8), np.array([n for _, n in found], np.int64), np.array([len(w) for w, _ in found], np.int64)
