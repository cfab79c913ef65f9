"""The English stemmer of the early Snowball releases (Porter2, 2002), which METEOR 1.5 uses.

Today's Snowball, and with it PyStemmer's ``english``, has changed since: it keeps *organic* apart from
*organ*, strips *-ist* in *biologist*, does not undouble *added*, and so on. A METEOR that follows it
differs from the reference where a caption has such a word, so the rules as first published live here, and
do not move when PyStemmer is updated.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWEL = "[aeiouy]"
_OTHER = "[^aeiouy]"

#: Irregular and invariant words.
_SPECIAL = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
    **{word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")},
}  # fmt: skip

#: Words whose stem only lacks the plural ending.
_AFTER_PLURAL = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed")
)

#: R1 starts after the first consonant that follows a vowel. Some prefixes would otherwise yield too short a
#: stem.
_REGION = re.compile(f"{_OTHER}*{_VOWEL}+{_OTHER}")
_REGION1_PREFIXES = ("gener", "commun", "arsen")

_PLURAL_S = re.compile(f"{_VOWEL}.+s$", re.DOTALL)  # a vowel, but not only the letter just before the s
_HAS_VOWEL = re.compile(_VOWEL)
_SHORT_SYLLABLE = re.compile(f"(?:{_OTHER}{_VOWEL}[^aeiouywxY]|^{_VOWEL}{_OTHER})$")
_CONSONANT_Y = re.compile(f".{_OTHER}[yY]$", re.DOTALL)
_LONG_Y = re.compile("(^|[aeiouy])y")

_STEP2 = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize",
    "ization": "ize",
    "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al",
    "fulness": "ful",
    "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble",
    "ogi": "og",
    "fulli": "ful", "lessli": "less", "li": "",
}  # fmt: skip
_STEP3 = {
    "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ful": "",
    "ness": "", "ative": "",
}  # fmt: skip
_STEP4 = dict.fromkeys(
    ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti",
    "ous", "ive",
     "ize", "ion"),
    "",
)  # fmt: skip
_STEP1B = dict.fromkeys(("eed", "eedly", "ed", "edly", "ing", "ingly"), "")


def _longest(endings: dict[str, str]) -> re.Pattern[str]:
    """Return a pattern that matches the longest of these endings of a word."""
    return re.compile("(?:" + "|".join(sorted(endings, key=len, reverse=True)) + ")$")


_FIND1B, _FIND2, _FIND3, _FIND4 = map(_longest, (_STEP1B, _STEP2, _STEP3, _STEP4))


def _plural(word: str) -> str:
    """Apply steps 0 and 1a: possessives and plurals."""
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            word = word[: -len(ending)]
            break
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")):
        return word
    if _PLURAL_S.search(word):
        return word[:-1]
    return word


def _participle(word: str, r1: int) -> str:
    """Apply step 1b: *-ed*, *-ing* and their adverbs, then repairs of the rest."""
    match = _FIND1B.search(word)
    if not match:
        return word
    start = match.start()
    if match[0].startswith("eed"):
        return word[:start] + "ee" if start >= r1 else word
    if not _HAS_VOWEL.search(word, 0, start):
        return word
    word = word[:start]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-2:] in ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"):
        return word[:-1]
    if r1 >= len(word) and _SHORT_SYLLABLE.search(word):
        return word + "e"
    return word


def _derivations(word: str, r1: int, r2: int) -> str:
    """Apply steps 2, 3 and 4: derivational endings, longest first."""
    match = _FIND2.search(word)
    if match and match.start() >= r1:
        ending, before = match[0], word[: match.start()]
        if not (ending == "ogi" and not before.endswith("l")) and not (
            ending == "li" and before[-1:] not in ("c", "d", "e", "g", "h", "k", "m", "n", "r", "t")
        ):
            word = before + _STEP2[ending]
    match = _FIND3.search(word)
    if match and match.start() >= r1 and not (match[0] == "ative" and match.start() < r2):
        word = word[: match.start()] + _STEP3[match[0]]
    match = _FIND4.search(word)
    if match and match.start() >= r2 and not (match[0] == "ion" and word[match.start() - 1] not in "st"):
        word = word[: match.start()]
    return word


# 190 bytes a word: 1.6 MB in a process that lives long.
@lru_cache(maxsize=1 << 13)
def stem(word: str) -> str:
    """Return the stem of a lower-case word, as in METEOR 1.5."""
    if word in _SPECIAL:
        return _SPECIAL[word]
    if len(word) <= 2:
        return word
    if word.startswith("'"):
        word = word[1:]
    if "y" in word:
        # A y at the start or after a vowel is a consonant, written Y until the end.
        word = _LONG_Y.sub(r"\1Y", word)
    r1 = next((len(prefix) for prefix in _REGION1_PREFIXES if word.startswith(prefix)), -1)
    if r1 < 0:
        match = _REGION.match(word)
        r1 = match.end() if match else len(word)
    match = _REGION.match(word, r1)
    r2 = match.end() if match else len(word)

    word = _plural(word)
    if word not in _AFTER_PLURAL:
        word = _participle(word, r1)
        if _CONSONANT_Y.search(word):
            word = word[:-1] + "i"
        word = _derivations(word, r1, r2)
        if word.endswith("e"):
            if len(word) > r2 or (len(word) > r1 and not _SHORT_SYLLABLE.search(word[:-1])):
                word = word[:-1]
        elif word.endswith("ll") and len(word) > r2:
            word = word[:-1]
    return word.replace("Y", "y")


def java_hash(word: str) -> int:
    """Return the hash of a Java string as an unsigned 32-bit number."""
    value = 0
    for unit in (
        word.encode() if word.isascii() else memoryview(word.encode("utf-16-le", "surrogatepass")).cast("H")
    ):
        value = value * 31 + unit
    return value & 0xFFFFFFFF
