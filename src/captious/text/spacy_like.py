"""Tokens in the manner of spaCy's English rules, lowercased, punctuation kept (``--tokenizer spacy-like``).

Papers on the diversity of captions tokenize with spaCy. Text is split at white space. From each chunk,
opening and closing punctuation is removed, contractions are split ("don't" and "dont" are two words),
abbreviations and emoticons stay whole, and the rest is split at hyphens and similar marks between letters.
Unlike in spaCy, runs of white space are not tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain, pairwise, product

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import offsets_of

#: Suffixes are searched in the last characters only, so that a hostile chunk takes linear time.
_WINDOW = 12
#: Longest web address. The test for an address is repeated for each mark that is removed, so without a
#: limit a hostile chunk would take quadratic time.
_LONGEST_ADDRESS = 2_000

_PUNCTUATION = "…,:;!?¿؟¡()\\[\\]{}<>_#*&。？！，、；：～·।،۔؛٪"
_QUOTES = "'\"”“`‘´’‚„»«「」『』（）〔〕【】《》〈〉⟦⟧"
_CURRENCY = r"(?:US|C|A)?\$|[£€¥฿₠-₿﷼]"
_UNITS = (
    "km[²³]?|dm[²³]?|cm[²³]?|mm[²³]?|m[²³]?|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h|kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB"
    "|gb|GB|tb|TB|T|G|M|K|%"
)
_HYPHENS = r"-{1,3}|[–—~]|——"


def _unicode_classes() -> dict[str, str]:
    """Return the characters of Unicode's categories as ranges for a set of a pattern.

    Read from a file, so that tokens depend neither on the version of Python nor on that of a package.
    """
    text = resources.files("captious.text").joinpath("unicode_classes.txt").read_text(encoding="ascii")
    return {
        name: "".join("-".join(chr(int(code, 16)) for code in part.split("-")) for part in ranges)
        for name, *ranges in map(str.split, text.splitlines())
    }


_CLASSES = _unicode_classes()
_L, _LL, _LO, _LU, _N, _SO = (_CLASSES[name] for name in ("L", "Ll", "Lo", "Lu", "N", "So"))

_PREFIX = re.compile(rf"\.\.+|''|{_CURRENCY}|[§%=—–{_PUNCTUATION}{_QUOTES}{_SO}]|\+(?![0-9])")
_SUFFIX = re.compile(
    rf"(?:\.\.+|''|['’][sS]|[—–{_PUNCTUATION}{_QUOTES}{_SO}]"
    rf"|(?<=[0-9])(?:\+|{_CURRENCY}|{_UNITS})"
    rf"|(?:(?<=[0-9{_LL}{_LO}%²\-+{_PUNCTUATION}{_QUOTES}])|(?<=°[FCK])|(?<=[{_LU}{_LO}]{{2}}))\.)$"
)
_INFIX = re.compile(
    rf"\.\.+|…|[{_SO}]"
    rf"|(?<=[0-9])[+\-*^](?=[0-9-])"
    rf"|(?<=[{_LL}{_LO}{_QUOTES}])\.(?=[{_LU}{_LO}{_QUOTES}])"
    rf"|(?<=[{_L}]),(?=[{_L}])"
    rf"|(?<=[{_L}0-9])(?:{_HYPHENS}|[:<>=/])(?=[{_L}])"
)
_URL = re.compile(
    rf"(?:(?i:https?|ftp)://|(?i:www)\.)\S*[{_L}{_N}/]"
    rf"|[{_L}{_N}-]+(?:\.[{_L}{_N}-]+)*\.(?i:com|org|net|edu|gov|co\.uk|de)(?:/\S*[{_L}{_N}/])?"
)
_EMOTICON = re.compile(
    r"[:;=8xX]['’]?[-o^]?[)(\]\[DPpOo3/\\|*}{@]{1,3}|[(\[][-o^]?['’]?[:;=]|<3|\^_+\^|-_+-|[oO0]_+[oO0]"
)


def _list(words: str) -> list[str]:
    return words.split()


#: Chunks that stay whole.
_WHOLE = _list(
    "'s 's 're 'd 'll 'em 'cause 'cos 'coz 'cuz 'bout 'nuff ma'am o'clock doin' goin' havin' lovin' nothin' "
    "nuthin' ol' "
    "somethin' and/or w/o co. a.m. p.m. e.g. i.e. v.s. vs. mt. ak. ala. apr. ariz. ark. aug. calif. colo. "
    "conn. dec. del. "
    "feb. fla. ga. ia. id. ill. ind. jan. jul. jun. kan. kans. ky. la. mar. mass. mich. minn. miss. n.c. "
    "n.d. n.h. n.j. "
    "n.m. n.y. neb. nebr. nev. nov. oct. okla. ore. pa. s.c. sep. sept. tenn. va. wash. wis. adm. bros. "
    "corp. d.c. dr. gen. "
    "gov. inc. jr. ltd. md. messrs. mo. mont. mr. mrs. ms. ph.d. prof. rep. rev. sen. st."
)
#: Those of them that are abbreviations only with a capital: "miss." at the end of a sentence is a word and
#: a full stop.
_CAPITAL = frozenset(_WHOLE[_WHOLE.index("mt.") :])

#: Chunks that look like a contraction without apostrophe, and are words.
_WORDS = frozenset(_list("ill its hell shell shed were well whore"))


def tokenize_flat(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return all tokens of all captions and the number of tokens of each."""
    if len(_known) > _REMEMBERED:
        _known.clear()
    chunks = [text.split() for text in texts]
    tokens = list(map(_known.__getitem__, chain.from_iterable(chunks)))
    before = offsets_of(np.fromiter(map(len, tokens), np.int64, len(tokens)))
    counts: NDArray[np.int64] = np.diff(before[offsets_of(list(map(len, chunks)))])
    return list(chain.from_iterable(tokens)), counts


class _Chunks(dict[str, list[str]]):
    """Cache of the tokens of chunks. Captions repeat the same few chunks."""

    def __missing__(self, chunk: str) -> list[str]:
        tokens = [token.lower() for token in split_chunk(chunk)]
        if len(chunk) <= _LONGEST_KEPT:
            self[chunk] = tokens
        return tokens


#: Captions come in portions, which have the same chunks; a long run brings new ones without end, and some
#: without words between.
_REMEMBERED, _LONGEST_KEPT = 1 << 16, 40
_known = _Chunks()


def split_chunk(chunk: str) -> list[str]:
    """Return the tokens of a chunk (text without white space), in their own case."""
    if chunk.isalpha() and chunk not in _specials():
        return [chunk]
    start, end = 0, len(chunk)
    opening: list[str] = []
    closing: list[str] = []
    while start < end and (middle := _kept(chunk, start, end)) is None:
        prefix = _PREFIX.match(chunk, start, end)
        if prefix:
            opening.append(prefix.group())
            start = prefix.end()
            if start < end and _special(chunk, start, end):
                continue
        tail = chunk[max(start, end - _WINDOW) : end]
        suffix = _SUFFIX.search(tail)
        if suffix and suffix.group():
            closing.append(suffix.group())
            end -= len(suffix.group())
        if not prefix and not suffix:
            middle = list(_pieces(chunk[start:end]))
            break
    else:
        middle = _kept(chunk, start, end) if start < end else []
    return opening + (middle or []) + closing[::-1]


def _kept(chunk: str, start: int, end: int) -> list[str] | None:
    """Return the parts of a special chunk or a whole web address, or None if the chunk must be split."""
    special = _special(chunk, start, end)
    if special:
        return special
    if end - start <= _LONGEST_ADDRESS and _URL.fullmatch(chunk, start, end):
        return [chunk[start:end]]
    return None


def _special(chunk: str, start: int, end: int) -> list[str] | None:
    if end - start > _WINDOW:
        return None
    text = chunk[start:end]
    pieces = _specials().get(text.replace("’", "'"))
    if pieces is not None:
        # The parts as written, with their own kind of apostrophe.
        bounds = np.cumsum([0, *map(len, pieces)]).tolist()
        return [text[a:b] for a, b in pairwise(bounds)]
    return [text] if end - start > 1 and _EMOTICON.fullmatch(text) else None


def _pieces(text: str) -> Iterator[str]:
    at = 0
    for match in _INFIX.finditer(text):
        # A mark at the start is not an infix.
        if match.start() == 0:
            continue
        if match.start() > at:
            yield text[at : match.start()]
        yield match.group()
        at = match.end()
    if at < len(text):
        yield text[at:]


@lru_cache(maxsize=1)
def _specials() -> dict[str, list[str]]:
    """Return contractions, times and abbreviations with their parts. Apostrophes are straight."""
    specials: dict[str, list[str]] = {}

    def add(parts: Sequence[str], bare: bool = True) -> None:
        """Add lower and title case. ``bare`` adds the form without apostrophes ("dont")."""
        for written in (
            {tuple(parts), tuple(part.replace("'", "") for part in parts)} if bare else {tuple(parts)}
        ):
            for cased in (written, (written[0].title(), *written[1:])):
                if "".join(cased).lower() not in _WORDS or "'" in "".join(written):
                    specials["".join(cased)] = list(cased)

    for ending in ("'m",):
        add(["i", ending])
        add(["i", ending, "a"])
    for pronoun, endings in product(
        _list("i you he she it we they"), (["'ll"], ["'d"], ["'ll", "'ve"], ["'d", "'ve"])
    ):
        add([pronoun, *endings])
    for pronoun, ending in [
        *product(_list("i you we they"), ["'ve"]), *product(_list("you we they"), ["'re"]),
        *product(_list("he she it"), ["'s"]),
    ]:  # fmt: skip
        add([pronoun, ending])
    singular, plural = ("that", "this"), ("these", "those")
    for word in ("who", "what", "when", "where", "why", "how", "there", *singular, *plural):
        for endings in (["'ll"], ["'d"], ["'ll", "'ve"], ["'d", "'ve"]):
            add([word, *endings])
        if word not in plural:
            add([word, "'s"])
        if word not in singular:
            add([word, "'re"])
            add([word, "'ve"])
    for verb in _list("ca could do does did had may might must need ought sha should wo would"):
        add([verb, "n't"])
        add([verb, "n't", "'ve"])
    for verb in _list("could might must should would"):
        add([verb, "'ve"])
    for verb in _list("ai are is was were have has dare"):
        add([verb, "n't"])
    for hour, half in product(range(1, 13), ("a.m.", "am", "p.m.", "pm")):
        specials[f"{hour}{half}"] = [str(hour), half]
    for parts in (["y'", "all"], ["not", "'ve"]):
        add(parts)
    for parts in (
        ["can", "not"],
        ["gon", "na"],
        ["got", "ta"],
        ["let", "'s"],
        ["c'm", "on"],
        ["how", "'d", "'y"],
    ):
        add(parts, bare=False)
    for word in _WHOLE:
        cased = {word.capitalize(), word.upper()} if "." in word[:-1] else {word.capitalize()}
        for form in cased if word in _CAPITAL else cased | {word}:
            specials[form] = [form]
    specials["'Cause"], specials["'S"], specials["Ph.D."] = ["'Cause"], ["'S"], ["Ph.D."]
    for letter in "abcdefghijklmnopqrstuvwxyz":
        specials[f"{letter}."] = [f"{letter}."]
    return specials
