"""The fast path: captions made of plain words are split without the lexer, many at a time.

Nineteen captions in twenty hold only ASCII words, spaces, commas, hyphens inside words, possessives and periods. For
those the lexer's answer is known beforehand, and a few passes over all captions as one byte string find them. The
rules under which a caption counts as plain (each holds because no rule of the grammar can match otherwise there):

- letters, digits standing alone as one-digit words, spaces and tabs; no word that the lexer splits (``cannot``);
- a comma or a period is followed by white space, so it ends a word and cannot glue two words together;
- before a period there is no abbreviation and no single letter;
- a hyphen stands between two letters;
- an apostrophe is that of ``'s`` after a letter and before white space or a comma.

Everything else goes to the lexer. A test compares the two paths on generated text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.text.ptb.grammar import SPLIT_WORDS

# Kinds of bytes. Everything from _SPECIAL on is looked at.
_LETTER, _SPACE, _NEWLINE, _SPECIAL, _OTHER = 0, 1, 2, 3, 4

# Longer than any abbreviation: enough of the letters before a period to recognise one.
REACH = 8


def _kinds() -> bytes:
    table = bytearray([_OTHER] * 256)
    for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz":
        table[byte] = _LETTER
    for byte in b" \t":
        table[byte] = _SPACE
    table[ord("\n")] = _NEWLINE
    for byte in b".,-'0123456789":
        table[byte] = _SPECIAL
    return bytes(table)


def _lowering(blank: bytes) -> bytes:
    table = bytearray(range(256))
    for byte in range(ord("A"), ord("Z") + 1):
        table[byte] = byte + 32
    for byte in blank:
        table[byte] = ord(" ")
    return bytes(table)


_KIND = _kinds()
_LOWER_WORDS = _lowering(blank=b".,\t")
_LOWER_ALL = _lowering(blank=b"\t")


class PlainPath:
    """Finds and splits plain captions; ``abbreviations`` are the words that keep their period."""

    def __init__(self, abbreviations: Sequence[str]) -> None:
        codes = [code_of(word) for word in abbreviations if len(word) < REACH and word.isalpha()]
        self._abbreviations: NDArray[np.uint64] = np.array(sorted(codes), dtype=np.uint64)

    def split(self, lines: str, keep_punctuation: bool = False) -> tuple[list[str], NDArray[np.int64], NDArray[np.bool_]]:
        """Lowercase tokens of all plain captions, number of tokens per caption, and which captions are plain.

        ``lines`` has a line feed before, between and after the captions.
        """
        raw = lines.encode("ascii", "replace")
        kind = np.frombuffer(raw.translate(_KIND), dtype=np.uint8)
        ends = np.flatnonzero(kind == _NEWLINE)[1:]
        lower = raw.translate(_LOWER_ALL if keep_punctuation else _LOWER_WORDS)
        lowered = bytearray(lower)
        units = np.frombuffer(lowered, dtype=np.uint8)

        unsafe = self._unsafe(np.frombuffer(raw, dtype=np.uint8), units, kind, keep_punctuation)
        plain = np.ones(len(ends), dtype=np.bool_)
        plain[np.searchsorted(ends, np.concatenate([unsafe, _split_words(lower)]))] = False

        starts = np.append(0, ends[:-1]) + 1
        for start, end in zip(starts[~plain].tolist(), ends[~plain].tolist()):
            units[start:end] = 32
        spaced = bytes(lowered).replace(b"'", b" '")
        if keep_punctuation:
            spaced = spaced.replace(b",", b" , ").replace(b".", b" . ")
        return spaced.decode("ascii").split(), _words_per_line(np.frombuffer(spaced, dtype=np.uint8)), plain

    def _unsafe(
        self, raw: NDArray[np.uint8], units: NDArray[np.uint8], kind: NDArray[np.uint8], keep_punctuation: bool
    ) -> NDArray[np.int64]:
        """Positions that make their caption unfit for the fast path."""
        at = np.flatnonzero(kind >= _SPECIAL)
        special = raw[at]
        before, after = kind[at - 1], kind[at + 1]
        white_after = (after == _SPACE) | (after == _NEWLINE)
        white_before = (before == _SPACE) | (before == _NEWLINE)

        period = special == ord(".")
        safe = (period | (special == ord(","))) & white_after
        if keep_punctuation:
            safe &= ~(period & white_before)  # periods with spaces between them may be an ellipsis
        safe |= (special == ord("-")) & (before == _LETTER) & (after == _LETTER)
        safe |= (special >= ord("0")) & (special <= ord("9")) & white_before & white_after

        maybe = np.flatnonzero((special == ord("'")) & (before == _LETTER) & (raw[at + 1] == ord("s")))
        if len(maybe):
            beyond = at[maybe] + 2
            following = raw[beyond]
            safe[maybe] = (kind[beyond] == _SPACE) | (kind[beyond] == _NEWLINE) | (following == ord(","))

        periods = np.flatnonzero(period & safe)
        if len(periods):
            safe[periods] = ~np.isin(_codes_before(units, kind, at[periods]), self._abbreviations)
        unsafe: NDArray[np.int64] = at[~safe]
        return unsafe


def _words_per_line(units: NDArray[np.uint8]) -> NDArray[np.int64]:
    blank = units <= 32
    first_letters = np.flatnonzero(blank[:-1] & ~blank[1:]) + 1
    ends = np.flatnonzero(units == ord("\n"))[1:]
    return np.diff(np.searchsorted(first_letters, ends), prepend=0)


def _codes_before(
    units: NDArray[np.uint8], kind: NDArray[np.uint8], at: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The letters directly before each position, as numbers that are equal for equal words."""
    codes = np.zeros(len(at), dtype=np.uint64)
    inside = np.ones(len(at), dtype=np.bool_)
    for back in range(1, REACH + 1):
        place = np.maximum(at - back, 0)
        inside &= kind[place] == _LETTER
        codes |= np.where(inside, units[place], 0).astype(np.uint64) << np.uint64(8 * (back - 1))
    return codes


def code_of(word: str) -> int:
    """A word of less than ``REACH`` letters as a number."""
    return sum(ord(letter) << (8 * place) for place, letter in enumerate(reversed(word)))


def _split_words(lowered: bytes) -> NDArray[np.int64]:
    found: list[int] = []
    for word in SPLIT_WORDS:
        needle = word.encode()
        at = lowered.find(needle)
        while at >= 0:
            found.append(at)
            at = lowered.find(needle, at + 1)
    return np.array(found, dtype=np.int64)
