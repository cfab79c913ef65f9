"""Classes of words, the input of the parser's model.

The grammar of the reference parser sees a word only through the scores of its tags, so words with equal
scores are equivalent: *skateboard*, *rusted* and *sliced* are all unknown lower-case words ending in d. Words
that never occurred in training captions have a class, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

SHORT = 3  # letters; the last letter of an unknown word counts only in longer words


def spelling(word: str) -> str:
    """Return the spelling pattern of a word: what the reference parser uses of unknown words."""
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
    """Classes of words by word and by `spelling`. Other spellings have the class `other`."""

    words: Mapping[str, int]
    spellings: Mapping[str, int]
    other: int

    @property
    def size(self) -> int:
        """Number of classes."""
        return 1 + max(itertools.chain(self.words.values(), self.spellings.values(), [self.other]))

    def of(self, word: str) -> int:
        """Return the class of a word."""
        number = self.words.get(word)
        if number is None:
            kind = spelling(word)
            # A last letter without a class of its own takes the class of q, which stands for unseen letters.
            number = self.spellings.get(kind, self.spellings.get(kind[:-1] + "q", self.other))
        return number
