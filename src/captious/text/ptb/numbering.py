"""Number the words of captions: plain captions in compiled loops over their bytes, all others with the lexer.

About 95% of captions hold only ASCII words, spaces, commas, hyphens within words, possessives and periods.
Their tokens follow from a few rules, so they never reach the lexer. A caption is plain if (otherwise some
rule of the grammar could match):

- it has only letters, white space, single digits that stand alone, and the marks below;
- it has no word that the lexer divides (``cannot``);
- white space (or the end) follows every comma and period;
- no abbreviation and no single letter precedes a period;
- every hyphen is between two letters;
- every apostrophe belongs to an ``'s`` that follows a letter and precedes white space, a comma or the end.

Words are numbered in the order in which they appear, whichever way their caption took. Tests compare both
ways on generated text.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from captious.core.container import StoredTexts
from captious.core.ragged import IntArray, offsets_of, stretches
from captious.core.threads import for_each, jobs
from captious.kernels import inner, kernel
from captious.kernels.types import Int16x2, Int32, Int64, Out, UInt8, UInt8x2, UInt64
from captious.text.ptb.lexer import NEXT_LINE, tokenize
from captious.text.ptb.lexer_rules import SPLIT_WORDS, WORDS_WITH_PERIOD
from captious.text.vocabulary import SEPARATOR, WordTable, number_text

#: Kinds of bytes.
_LETTER, _SPACE, _SPECIAL, _OTHER = 0, 1, 2, 3
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: Longer than any abbreviation: letters before a period that are compared.
_REACH = 8
#: Approximate number of bytes that are numbered before the table of words is enlarged.
_STRETCH = 1 << 16
#: Bytes of captions below which threads cost more than they save.
_FEW = 1 << 21
#: White space, line ends included, for the rules that look at the next line.
_BLANK = (
    " \t\r\n\u000b\u000c\u0085\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u3000"
)


@inner
def _is_split(data: UInt8, at: int, end: int, words: UInt8x2) -> bool:
    """Whether a word that the lexer divides starts at ``at``."""
    for w in range(words.shape[0]):
        k = 0
        while k < words.shape[1] and words[w, k] != 0 and at + k < end and data[at + k] | 32 == words[w, k]:
            k += 1
        if k == words.shape[1] or words[w, k] == 0:
            return True
    return False


@inner
def _is_short(data: UInt8, low: int, at: int, kinds: UInt8, codes: UInt64) -> bool:
    """Whether the letters before ``at`` are a word that keeps its period. ``codes`` is sorted."""
    code = np.uint64(0)
    for back in range(_REACH):
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
def count_words(
    data: UInt8,
    offsets: Int64,
    keep_punctuation: bool,
    kinds: UInt8,
    codes: UInt64,
    split_words: UInt8x2,
    counts: Out[Int64],
) -> None:
    """Count the words of each plain caption. Other captions get −1."""
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
                # All words that are divided have a double letter in third place.
                if (
                    at >= low + 3
                    and byte | 32 == data[at - 1] | 32
                    and _is_split(data, at - 3, high, split_words)
                ):
                    plain = False
            elif kind == _SPACE:
                inside = False
            elif kind == _SPECIAL:
                after_space = at == low or kinds[data[at - 1]] == _SPACE
                before_space = at + 1 == high or kinds[data[at + 1]] == _SPACE
                after_letter = at > low and kinds[data[at - 1]] == _LETTER
                if byte == 44:  # comma
                    plain = before_space
                    inside = False
                    words += keep_punctuation
                elif byte == 46:  # period
                    plain = before_space and not _is_short(data, low, at, kinds, codes)
                    # Periods with spaces between them can be an ellipsis.
                    plain = plain and not (keep_punctuation and after_space)
                    inside = False
                    words += keep_punctuation
                elif byte == 45:  # hyphen
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
def number_words(
    data: UInt8,
    offsets: Int64,
    counts: Int64,
    lexed: UInt8,
    lexed_offsets: Int64,
    folds: Int16x2,
    stored: Out[UInt8],
    places: Out[Int32],
    ends: Out[Int64],
    heads: Out[UInt64],
    known: int,
    starts: Int64,
    tokens: Out[Int32],
) -> int:
    """Write the numbers of the words of caption i to ``tokens[starts[i]:]``. Return the size of the table.

    Captions with a negative count are not plain: their words are in ``lexed``, each followed by a line feed.
    """
    for i in range(offsets.shape[0] - 1):
        at, end = offsets[i], offsets[i + 1]
        if counts[i] >= 0:
            known = number_text(
                data, at, end, folds[0], stored, places, ends, heads, known, tokens, starts[i]
            )
        else:
            at, end = lexed_offsets[i], lexed_offsets[i + 1]
            known = number_text(
                lexed, at, end, folds[1], stored, places, ends, heads, known, tokens, starts[i]
            )
    return known


@lru_cache(maxsize=1)
def _rules() -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint8]]:
    """Return the kinds of bytes, the codes of abbreviations, and the words that are divided."""
    kinds = np.full(256, _OTHER, np.uint8)
    for kind, members in ((_LETTER, _LETTERS), (_SPACE, b" \t\n"), (_SPECIAL, b".,-'0123456789")):
        kinds[np.frombuffer(members, np.uint8)] = kind
    if any(word[2] != word[3] for word in SPLIT_WORDS):
        raise AssertionError("every word that is divided needs a double letter in third place")
    longest = max(map(len, SPLIT_WORDS))
    divided = np.array([list(word.encode().ljust(longest, b"\0")) for word in SPLIT_WORDS], np.uint8)
    abbreviations = [word for word in WORDS_WITH_PERIOD if len(word) < _REACH and word.isalpha()]
    codes = sorted(int.from_bytes(word.encode("ascii"), "big") for word in abbreviations)
    return kinds, np.array(codes, np.uint64), divided


@lru_cache(maxsize=2)
def _folds(keep_punctuation: bool) -> NDArray[np.int16]:
    """Return the two tables for `number_text`: that of plain captions and that of the lexer's words."""
    folds = np.stack([np.full(256, SEPARATOR, np.int16), np.arange(256, dtype=np.int16)])
    for byte in b"-0123456789" + _LETTERS:
        folds[0, byte] = ord(chr(byte).lower())
    for byte in b"',." if keep_punctuation else b"'":
        folds[0, byte] = -byte
    folds[1, ord("\n")] = SEPARATOR
    return folds


def count_plain(data: NDArray[np.uint8], offsets: IntArray, keep_punctuation: bool = False) -> IntArray:
    """Count the words of each plain caption, −1 for others.

    Caption i is ``data[offsets[i]:offsets[i + 1]]``.
    """
    counts = np.zeros(len(offsets) - 1, np.int64)

    def count(part: tuple[int, int]) -> None:
        first, last = part
        count_words(data, offsets[first : last + 1], keep_punctuation, *_rules(), counts[first:last])

    parts = list(stretches(offsets, len(data) // jobs() + 1))
    for_each(count, parts, 1 if len(data) < _FEW else None)
    return counts


def number(
    data: NDArray[np.uint8],
    offsets: IntArray,
    table: WordTable,
    *,
    keep_punctuation: bool = False,
    as_lines: bool = False,
) -> tuple[NDArray[np.int32], IntArray]:
    """Number the words of captions and add new words to the table.

    Returns the numbers of all words and the word count of each caption. With ``as_lines``, a few rules
    look at the beginning of the next caption.
    """
    plain_counts = count_plain(data, offsets, keep_punctuation)
    which = np.flatnonzero(plain_counts < 0)
    lexed, lexed_counts, lexed_sizes = _lex(StoredTexts(data, offsets), which, keep_punctuation, as_lines)
    counts, sizes = plain_counts.copy(), np.zeros(len(plain_counts), np.int64)
    counts[which], sizes[which] = lexed_counts, lexed_sizes
    starts, lexed_offsets = offsets_of(counts), offsets_of(sizes)
    room = offsets_of(np.where(plain_counts < 0, sizes, np.diff(offsets)))
    tokens = np.zeros(int(starts[-1]), np.int32)
    folds = _folds(keep_punctuation)
    for first, last in stretches(room, _STRETCH):
        table.reserve(int(room[last] - room[first]), int(starts[last] - starts[first]))
        with np.errstate(over="ignore"):
            table.count = number_words(
                data, offsets[first : last + 1], plain_counts[first:last], lexed,
                lexed_offsets[first : last + 1], folds,
                table.stored, table.places, table.ends, table.heads, table.count, starts[first:last], tokens,
            )  # fmt: skip
    return tokens, counts


def _lex(
    captions: StoredTexts, which: IntArray, keep_punctuation: bool, as_lines: bool
) -> tuple[NDArray[np.uint8], IntArray, IntArray]:
    """Tokenize some captions with the lexer.

    Returns their words as bytes, each followed by a line feed, and the number of words and of bytes of
    each caption.
    """
    words_of: dict[tuple[str, str], tuple[bytes, int]] = {}
    results = []
    for i in which.tolist():
        key = captions[i], _following(captions, i) if as_lines else NEXT_LINE
        if key not in words_of:
            words = tokenize(key[0], keep_punctuation, following=key[1])
            joined = "".join([word + "\n" for word in words])
            words_of[key] = joined.encode("utf-8", "surrogatepass"), len(words)
        results.append(words_of[key])
    return (
        np.frombuffer(b"".join([words for words, _ in results]), np.uint8),
        np.array([count for _, count in results], np.int64),
        np.array([len(words) for words, _ in results], np.int64),
    )


def _following(captions: StoredTexts, index: int) -> str:
    """Return the text after a line that the rules can see: up to the end of the next line that is not
    blank."""
    end = index + 1
    while end < len(captions) and not captions[end].strip(_BLANK):
        end += 1
    lines = [line.replace("\n", " ") for line in captions[index + 1 : end + 1]]
    return "\n".join(["", *lines, *([""] if end + 1 < len(captions) else [])])
