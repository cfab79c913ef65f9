"""Words as numbers: what the model sees of a word.

A word has `WIDTH` features: itself (lowercased, digits folded), its suffixes, its prefixes and its shape.
Each feature is a row of one embedding table; the word's vector is their sum, so it is a property of the word
alone and is computed once for each distinct word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

UNKNOWN = 0  # the row of "some other word"; it also replaces known words at random in training
ABSENT = 1  # the row of an affix nobody has seen: stays zero
FIRST_FREE = 2

_DIGIT = re.compile(r"[0-9]")
SUFFIXES = (1, 2, 3, 4)
PREFIXES = (1, 2, 3)
WIDTH = 1 + len(SUFFIXES) + len(PREFIXES) + 1


def normal_form(word: str) -> str:
    """The key of a word in the tables: lower case, every digit a 0."""
    return _DIGIT.sub("0", word.lower())


def shape(word: str) -> str:
    """A coarse class of the way a word is written."""
    if not word:
        return "empty"
    kind = "a" if word.isalpha() else "d" if any(c.isdigit() for c in word) else "x" if any(c.isalpha() for c in word) else "p"
    if word.islower() or word == word.lower():
        case = "l"
    elif word.isupper() and len(word) > 1:
        case = "U"
    elif word[0].isupper():
        case = "T"
    else:
        case = "m"
    return kind + case + ("-" if "-" in word else "") + ("s" if len(word) < 3 else "")


def features(word: str) -> list[str]:
    """The names of a word's features; the first is the word itself."""
    key = normal_form(word)
    names = ["w" + key]
    for n in SUFFIXES:
        names.append("s" + (key[-n:] if len(key) > n else "^" + key))
    for n in PREFIXES:
        names.append("p" + (key[:n] if len(key) > n else key + "$"))
    names.append("c" + shape(word))
    return names


def build_table(words: Iterable[str], word_minimum: int = 2, affix_minimum: int = 4) -> dict[str, int]:
    """Rows for the features seen often enough; `words` is the running text."""
    counts: Counter[str] = Counter()
    for word, times in Counter(words).items():
        for name in features(word):
            counts[name] += times
    kept = sorted(
        name for name, times in counts.items() if times >= (word_minimum if name[0] == "w" else affix_minimum)
    )
    return {name: row for row, name in enumerate(kept, start=FIRST_FREE)}


def encode(word: str, table: Mapping[str, int]) -> list[int]:
    """The rows of a word's features."""
    names = features(word)
    rows = [table.get(names[0], UNKNOWN)]
    rows.extend(table.get(name, ABSENT) for name in names[1:])
    return rows
