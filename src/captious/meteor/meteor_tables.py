"""METEOR's own tokenization, word lists and tables, opened once per folder.

Tokenization comes after that of the COCO pipeline and follows the tokenizer of the Moses translation system:
punctuation stands alone, English contractions are split before the apostrophe, hyphenated words fall apart,
and a dot stays with the word where it marks an abbreviation. The order of the steps is part of the metric. So
is the fact that each replaces from left to right without looking again at the characters it has just used
(``a,,b`` becomes ``a , ,b``).

The paraphrase table lists 5.27 million pairs (phrase, paraphrase) as text. Its index (:class:`Paraphrases`)
has one row of word numbers for every distinct phrase. The rows are sorted, so that all phrases beginning with
given words are neighbours and a caption's phrases are found by narrowing a range of rows word by word. The
paraphrases of a phrase are row numbers, in the order of the table, because that order decides ties in the
alignment.

The index is built once for each table and stored in the cache folder. Its name has the table's checksum, and
the file has the checksums of all its parts. A damaged, foreign or outdated file is built again.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import container
from captious.core import digests as digest
from captious.core.cache import PARAPHRASES, cache_directory, derived
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.meteor.paraphrase_index import build
from captious.text import meteor_data
from captious.text.synonyms import LISTS, Synonyms, is_shipped, shipped_lists

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


class Paraphrases(NamedTuple):
    """The opened index. Word number 0 means "no such word" and pads short rows."""

    words: NDArray[np.uint8]
    """The words, each followed by a line feed; the first has number 1."""
    first: NDArray[np.uint32]
    """``first[w]:first[w + 1]`` are the rows whose first word is ``w``."""
    phrases: NDArray[np.uint16]
    """Word numbers of each phrase, one row per phrase, rows in ascending order."""
    offsets: NDArray[np.uint32]
    """``targets[offsets[p]:offsets[p + 1]]`` are the paraphrases of phrase ``p``."""
    targets: NDArray[np.uint32]
    source_offsets: NDArray[np.uint32]
    """``sources[source_offsets[p]:source_offsets[p + 1]]``: phrases that ``p`` paraphrases, ascending."""
    sources: NDArray[np.uint32]
    stems: NDArray[np.uint32]
    """The hash of each word's stem."""

    def number_of(self) -> dict[str, int]:
        """Return the number of each word."""
        listed = self.words.tobytes().decode("utf-8").split("\n")
        return {word: number for number, word in enumerate(listed[:-1], 1)}


def open_index(table: Path) -> Paraphrases:
    """Open the index of a paraphrase table; build it if the cache has no sound one."""
    return _open_index(table, cache_directory())


def checksum_of(table: Path) -> tuple[int, int]:
    """Return the checksum and the length of a table's content, which are at the end of its gzip file."""
    try:
        with table.open("rb") as stream:
            stream.seek(-8, os.SEEK_END)
            checksum, length = struct.unpack("<II", stream.read(8))
    except OSError as error:
        raise InputError(f"cannot read the paraphrase table {table}: {error}") from error
    return checksum, length


@lru_cache(maxsize=4)
def _open_index(table: Path, _folder: Path | None) -> Paraphrases:
    checksum, length = checksum_of(table)
    built = cache(lambda: build(table, length))
    return derived(
        PARAPHRASES,
        f"{checksum:08x}-{length:x}",
        "METEOR's paraphrase index (100 MB)",
        _load,
        lambda path: container.write_kept(path, PARAPHRASES, built()),
    )


def _load(path: Path) -> Paraphrases | None:
    """Map the file, or return None if it is missing or damaged. The check takes 0.1 s."""
    arrays = container.open_kept(path, PARAPHRASES, _is_sound)
    return None if arrays is None else Paraphrases(**arrays)


_TYPES = {"words": "u1", "phrases": "u2"}


def _is_sound(arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Tell whether all numbers in an index are in range, which kernels do not check."""
    if set(arrays) != set(Paraphrases._fields) or any(
        array.dtype != _TYPES.get(name, "u4") for name, array in arrays.items()
    ):
        return False
    index = Paraphrases(**arrays)
    if (
        index.phrases.ndim != 2
        or index.phrases.shape[1] < 1
        or any(array.ndim != 1 for name, array in arrays.items() if name != "phrases")
    ):
        return False
    words, rows = int(np.count_nonzero(index.words == ord("\n"))), len(index.phrases)
    return (
        len(index.stems) == words + 1
        and index.phrases.max(initial=0) <= words
        and _divides(index.first, words + 1, rows)
        and all(
            _divides(offsets, rows, len(values)) and values.max(initial=0) < max(rows, 1)
            for offsets, values in ((index.offsets, index.targets), (index.source_offsets, index.sources))
        )
    )


def _divides(offsets: NDArray[np.uint32], parts: int, length: int) -> bool:
    """Tell whether offsets divide a length into this number of parts."""
    return len(offsets) == parts + 1 and offsets[-1] == length and bool(np.all(offsets[:-1] <= offsets[1:]))


class MeteorTables:
    """Name and digest of METEOR's data, which is not opened."""

    label = "meteor-1.5"

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self._data = data

    @property
    def digest(self) -> str:
        """Digest of the content of all tables."""
        return _digest(self._data)


class Resources:
    """Word lists, synonyms and paraphrases of METEOR."""

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self.normaliser = Normaliser(list(data.lines(_PREFIXES)))
        self.function_words = frozenset(data.lines(_FUNCTION_WORDS))
        self.synonyms = Synonyms.load(data.jar.parent)
        self.paraphrases: Paraphrases = open_index(data.paraphrases)
        #: Digests of the tables. Prepared files store numbers that are valid for these tables only.
        self.phrases_digest = "-".join(map(str, (PARAPHRASES.version, *checksum_of(data.paraphrases))))
        self.words_digest = digest.together(
            self.synonyms.digest, digest.of_lines(sorted(self.function_words)), self.phrases_digest
        )

    @cached_property
    def paraphrase_words(self) -> dict[str, int]:
        """Number of each word in the paraphrase table."""
        return self.paraphrases.number_of()

    @classmethod
    def open(cls, data_dir: str | Path | None = None) -> Resources:
        """Open the data in a folder, or that of the installed package."""
        return _open(meteor_data.find(data_dir))


_PREFIXES, _FUNCTION_WORDS = "nonbreaking/english.prefixes", "function/english.words"


@lru_cache(maxsize=4)
def _digest(data: meteor_data.MeteorData) -> str:
    """Return the digest of all tables. Archives store checksums of the large ones, so these are not read."""
    lists = [
        shipped_lists()[name]["digest"] if is_shipped(data, name) else data.digest(name)
        for name in (_PREFIXES, _FUNCTION_WORDS, *LISTS)
    ]
    return digest.together(*lists, *map(str, checksum_of(data.paraphrases)))


@lru_cache(maxsize=2)
def _open(data: meteor_data.MeteorData) -> Resources:
    return Resources(data)
