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
from captious.text.words import HALF, MULTIPLIER, WordTable, number_text
from captious.threads import jobs, side_by_side

_LETTER, _SPACE, _SPECIAL, _OTHER = 0, 1, 2, 3
#: About how many bytes of captions are numbered before there is room made for new words again.
_STRETCH = 1 << 16
#: Below so many bytes of captions, starting threads takes longer than they save.
_FEW = 1 << 21


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
def number_words(data, offsets, counts, others, other_offsets, folds, multiplier, half, zero, stored, places, ends, heads, known, starts, tokens):  # type: ignore[no-untyped-def]
    """The numbers of the words of captions, from ``tokens[starts[i]]`` on; words that are not in the table are added to the ``known`` ones.

    Captions with a count below zero are not plain: their words are in ``others``, each with a line feed behind it.
    """
    for i in range(offsets.shape[0] - 1):
        if counts[i] >= 0:
            known = number_text(
                data, offsets[i], offsets[i + 1], folds[0], multiplier, half, zero, stored, places, ends, heads, known, tokens, starts[i]
            )
        else:
            known = number_text(
                others, other_offsets[i], other_offsets[i + 1], folds[1], multiplier, half, zero, stored, places, ends, heads, known, tokens, starts[i]
            )
    return known


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
    deque(side_by_side(count, parts, 1 if len(data) < _FEW else None), maxlen=0)
    return counts


def number(data: NDArray[np.uint8], offsets: IntArray, table: WordTable) -> tuple[NDArray[np.int32], IntArray]:
    """The words of captions by their numbers in a table, which takes those that are new, and the number of words of each caption."""
    counts = count_plain(data, offsets)
    which = np.flatnonzero(counts < 0)
    others, other_counts, other_sizes = _lexed(data, offsets, which)
    words, sizes = counts.copy(), np.zeros(len(counts), np.int64)
    words[which], sizes[which] = other_counts, other_sizes
    starts, other_offsets = offsets_of(words), offsets_of(sizes)
    room = offsets_of(np.where(counts < 0, sizes, np.diff(offsets)))
    tokens = np.zeros(int(starts[-1]), np.int32)
    run = number_words.pick(len(data) * 3)
    for first, last in stretches(room, _STRETCH):
        table.reserve(int(room[last] - room[first]), int(starts[last] - starts[first]))
        with np.errstate(over="ignore"):
            table.count = int(run(
                data, offsets[first : last + 1], counts[first:last], others, other_offsets[first : last + 1], _folds(), MULTIPLIER, HALF, np.uint64(0),
                table.stored, table.places, table.ends, table.heads, table.count, starts[first:last], tokens,
            ))  # fmt: skip
    return tokens, words


@lru_cache(maxsize=1)
def _folds() -> NDArray[np.int16]:
    """What stands for each byte within words, −1 for those between words: of plain captions, and of words of the lexer."""
    folds = np.stack([np.full(256, -1, np.int16), np.arange(256, dtype=np.int16)])
    for byte in b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz":
        folds[0, byte] = ord(chr(byte).lower())
    folds[1, ord("\n")] = -1
    return folds


def _lexed(data: NDArray[np.uint8], offsets: IntArray, which: IntArray) -> tuple[NDArray[np.uint8], IntArray, IntArray]:
    """The words of some captions by the lexer, each with a line feed behind it; how many words each caption has, and how many bytes."""
    from captious.text.ptb import tokenize_many

    raw = [data[offsets[i] : offsets[i + 1]].tobytes() for i in which.tolist()]
    different = list(dict.fromkeys(raw))
    known = {}
    for text, words in zip(different, tokenize_many([text.decode("utf-8", "surrogatepass") for text in different])):
        known[text] = "".join([word + "\n" for word in words]).encode("utf-8", "surrogatepass"), len(words)
    found = [known[text] for text in raw]
    joined = b"".join([words for words, _ in found])
    return np.frombuffer(joined, np.uint8), np.array([n for _, n in found], np.int64), np.array([len(w) for w, _ in found], np.int64)
