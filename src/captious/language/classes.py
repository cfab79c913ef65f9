"""Words as classes: the reference parser's grammar sees a word only through the scores that its lexicon gives the word's tags.

So words with equal scores are one word to it, and to us: *skateboard*, *rusted* and *sliced* are all "a word I do not know,
in lower case, ending in d". A class is what the model sees of a word; no caption has to have had the word in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

SHORT = 3  # letters up to which the last letter of an unknown word says nothing


def spelling(word: str) -> str:
    """How a word is written, as far as the reference parser looks at words it does not know."""
    letters = [c for c in word if c.isalpha()]
    digits = any(c.isdigit() for c in word)
    if letters:
        upper, lower = word[:1].isupper(), any(c.islower() for c in letters)
        case = ("u" if lower else "U") if upper else "l" if lower else "x"
    elif digits:
        case = "9" if all(c.isdigit() for c in word) else "8"
    else:
        case = ""
    kind = case + ("-" if "-" in word else "") + ("0" if digits else "")
    return kind + word[-1].lower() if len(word) > SHORT and not digits else kind


@dataclass
class WordClasses:
    """The classes of words, by name and by `spelling`; `other` is the class of a spelling nobody has thought of."""

    words: Mapping[str, int]
    spellings: Mapping[str, int]
    other: int

    @property
    def size(self) -> int:
        return 1 + max(itertools.chain(self.words.values(), self.spellings.values(), [self.other]))

    def of(self, word: str) -> int:
        found = self.words.get(word)
        if found is None:
            kind = spelling(word)
            # A last letter without a class of its own has that of the letters nobody has seen.
            found = self.spellings.get(kind, self.spellings.get(kind[:-1] + "q", self.other))
        return found
