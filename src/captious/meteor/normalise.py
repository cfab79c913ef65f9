"""METEOR's own tokenization, which comes after that of the COCO pipeline.

It follows the tokenizer of the Moses translation system: punctuation stands alone, English contractions are
split before the apostrophe, hyphenated words fall apart, and a dot stays with the word where it marks an
abbreviation. The order of the steps is part of the metric, and so is the fact that each replaces from left to
right without looking again at the characters it has just used (``a,,b`` becomes ``a , ,b``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from captious.core import digests as digest

_LETTERS = "A-Za-zŠŽšžŸÀ-ÖØ-öø-žЀ-ӿԀ-ԧꙀ-ꙮ꙾-ꚗᴀ-ᵿ"
_WORD = "0-9" + _LETTERS
# Java's white space is ASCII only. Other spaces are separated at first and removed at the end.
_SPACE = " \t\n\x0b\f\r"

#: Placeholder for a dot inside a run of dots while single dots are handled (a code point that is no
#: character).
_DOT = "\uffff"

_OTHER = re.compile(f"([^{_WORD}{_SPACE}.'`,\\-‘’])")
_DOTS = re.compile(r"\.{2,}")
#: Expressions and their replacements, which keep the text on both sides.
_BETWEEN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile("([^0-9]),([^0-9])"), r"\1 , \2"),
    (re.compile("([0-9]),([^0-9])"), r"\1 , \2"),
    (re.compile("([^0-9]),([0-9])"), r"\1 , \2"),
)
_SINGLE_QUOTE = re.compile("[`‘’]")
_DOUBLE_QUOTE = re.compile("[“”]|''")
_HYPHEN = re.compile(f"([{_WORD}.])-([{_WORD}])")
_APOSTROPHE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(f"([^{_LETTERS}])'([^{_LETTERS}])"), r"\1 ' \2"),
    (re.compile(f"([^{_LETTERS}0-9])'([{_LETTERS}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTERS}])'([^{_LETTERS}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTERS}])'([{_LETTERS}])"), r"\1 '\2"),
    (re.compile("([0-9])'(s)"), r"\1 '\2"),
)
_HAS_LETTER = re.compile(f"[{_LETTERS}]")
_SPLIT = re.compile("[ \t\n\r\f]+")
_CONTROL = "".join(map(chr, range(33)))
_WHITE = re.compile("[ \u2000-\u200a\u202f\u205f\u3000\xa0]+")


def _spaced(text: str) -> str:
    """Insert spaces wherever a word begins or ends, except at single dots."""
    text = _OTHER.sub(r" \1 ", text)
    text = _DOTS.sub(lambda run: f" {_DOT * len(run[0])} ", text)
    for pattern, replacement in _BETWEEN:
        text = pattern.sub(replacement, text)
    text = _DOUBLE_QUOTE.sub(' " ', _SINGLE_QUOTE.sub("'", text))
    text = _HYPHEN.sub(r"\1 \2", text.replace("–", "-").replace("--", "-"))
    for pattern, replacement in _APOSTROPHE:
        text = pattern.sub(replacement, text)
    return text


class Normaliser:
    """METEOR's tokenizer: splits a line into words in lower case."""

    def __init__(self, prefixes: Iterable[str]) -> None:
        """Read a list of non-breaking prefixes: abbreviations that keep their dot."""
        prefixes = list(prefixes)
        #: Digest of the prefixes, which decide how captions are split.
        self.digest = digest.of_lines(prefixes)
        self._always: set[str] = set()
        self._before_number: set[str] = set()
        for line in prefixes:
            fields = line.split()
            if fields and not fields[0].startswith("#"):
                numeric = fields[1:2] == ["#NUMERIC_ONLY#"]
                (self._before_number if numeric else self._always).add(fields[0])

    def words(self, line: str) -> list[str]:
        """Return the words of a line."""
        if line.isascii() and line.replace(" ", "").isalnum():
            # No rule applies. This holds for nine captions of ten.
            return line.lower().split()
        return self._finished(_spaced(f" {line} "))

    def words_of(self, lines: Sequence[str]) -> list[list[str]]:
        """Return the words of each line.

        Lines are joined, because no rule looks across the spaces at their ends.
        """
        if any("\n" in line for line in lines) or not lines:
            return [self.words(line) for line in lines]
        return [
            self._finished(line) for line in _spaced("\n".join(f" {line} " for line in lines)).split("\n")
        ]

    def _finished(self, line: str) -> list[str]:
        """Return the words of a line in which spaces have been inserted."""
        tokens = [token for token in _SPLIT.split(line) if token]
        if "." in line:
            tokens = [self._final_dot(*both) for both in zip(tokens, [*tokens[1:], ""])]
        text = " ".join(tokens).replace(_DOT, ".")
        if not text.isascii():
            text = _WHITE.sub(" ", text)
        return [word for word in text.strip(_CONTROL).lower().split(" ") if word]

    def _final_dot(self, token: str, following: str) -> str:
        """Return the token with its last dot dropped, kept or split off."""
        if len(token) < 2 or not token.endswith("."):
            return token
        word = token[:-1]
        if "." in word and _HAS_LETTER.search(word):
            return word.replace(".", "")
        if word in self._always or "a" <= following[:1] <= "z":
            return token
        if word in self._before_number and "0" <= following[:1] <= "9":
            return token
        return f"{word} ."
