"""Number of syllables of English words, by their vowels."""

from __future__ import annotations

import re

_VOWELS = re.compile(r"[aeiouy]+")
#: Adjacent vowels that are two syllables: "area", "various", "video", "create", "player", "skiing".
_APART = re.compile(
    r"ea(?=s?$)|rea(?=t(?:e|i))|i[ao](?!u)|iou|iu|ie[tnr]|eo|eum|ue[lnt]|[^gq]ual|ua[lt]|ii|yi|[aeo]y[aeiou]|[eo]ing|ism$"
)
#: Pairs of the rule before that are one syllable: "special", "station", "delicious", "people", "region".
_TOGETHER = re.compile(r"[cstgxn]io|[cst]ia|[cst]ien|gia|geo|eop|riage|[lv]ier$")
#: A silent e at the end ("gate", "placed"), or before an ending or the second part ("likely", "sidewalk").
_SILENT = re.compile(
    r"[^aeiouy]e$|(?<![sxzcg])(?<![cs]h)es$|[^td]ed$"
    r"|e(?=ly$|ments?$|ful|ness|less|ball|board|where|thing|what|walk|ground|one$|body$|times$)"
)
#: Ends in which the e is spoken: "table", "vegetables".
_SPOKEN = re.compile(r"[^aeiouylr]les?$")


def syllables(word: str) -> int:
    """Return the number of syllables of a word, at least 1.

    Examples
    --------
    >>> [syllables(word) for word in ("dog", "table", "placed", "video", "oranges")]
    [1, 2, 1, 3, 3]
    """
    low = word.lower()
    count = len(_VOWELS.findall(low)) + len(_APART.findall(low)) - len(_TOGETHER.findall(low))
    if _SILENT.search(low) and not _SPOKEN.search(low):
        count -= 1
    return max(count, 1)
