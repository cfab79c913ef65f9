"""Captions as numbers of METEOR's words, and what METEOR knows of each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions
from captious.memo import Arrays, Product
from captious.meteor.alignment import Ints, Words
from captious.meteor.normalise import Normaliser
from captious.meteor.resources import Resources
from captious.ragged import offsets_of, runs
from captious.text.stemmer import stem

#: What the COCO tools put between captions; they drop it from candidates, and it divides a reference in two.
SEPARATOR = "|||"


class Encoded(NamedTuple):
    """Lines of words, one after the other."""

    tokens: NDArray[np.int32]
    offsets: Ints
    vocabulary: list[str]

    def words(self, line: int) -> list[str]:
        """The words of a line."""
        return [self.vocabulary[t] for t in self.tokens[self.offsets[line] : self.offsets[line + 1]].tolist()]


def encode_texts(texts: Sequence[str], normaliser: Normaliser) -> Encoded:
    """Each text as one line."""
    number: dict[str, int] = {}
    flat: list[int] = []
    counts: list[int] = []
    for text in texts:
        words = normaliser.words(text)
        counts.append(len(words))
        flat.extend([number.setdefault(word, len(number)) for word in words])
    return Encoded(np.array(flat, np.int32), offsets_of(counts), list(number))


class Side(NamedTuple):
    """The distinct captions of one side as lines, and which lines (from, to) each caption has.

    Words keep the numbers of the captions' vocabulary; words that METEOR's own tokenization makes come behind them.
    """

    tokens: NDArray[np.int32]
    lengths: Ints
    begin: Ints
    end: Ints
    #: The words that are not in the captions' vocabulary, and how many words that has.
    extra: list[str]
    known: int

    def only(self, captions: Ints) -> Side:
        """The same with the lines of some captions alone; the others have none."""
        counts = (self.end - self.begin)[captions]
        lines = np.unique(np.arange(counts.sum()) + np.repeat(self.begin[captions] - (np.cumsum(counts) - counts), counts))
        picked, _ = runs(offsets_of(self.lengths), lines)
        begin, end = np.zeros_like(self.begin), np.zeros_like(self.end)
        # The lines of a caption follow each other, so they still do.
        begin[captions] = np.searchsorted(lines, self.begin[captions])
        end[captions] = begin[captions] + counts
        return Side(self.tokens[picked], self.lengths[lines], begin, end, self.extra, self.known)


def _pack_side(side: Side) -> Arrays:
    extra = np.frombuffer("\n".join(side.extra).encode("utf-8", "surrogatepass"), np.uint8)
    arrays: dict[str, NDArray[Any]] = {"tokens": side.tokens, "lengths": side.lengths, "begin": side.begin, "end": side.end, "extra": extra}
    return {**arrays, "known": np.array([side.known, len(side.extra)], np.int64)}


def _unpack_side(arrays: Arrays) -> Side:
    known, count = (int(value) for value in arrays["known"])
    extra = arrays["extra"].tobytes().decode("utf-8", "surrogatepass").split("\n") if count else []
    tokens, lengths, begin, end = (np.asarray(arrays[name]) for name in ("tokens", "lengths", "begin", "end"))
    return Side(tokens, lengths, begin, end, extra, known)


SIDE = Product("METEOR lines", _pack_side, _unpack_side)


def encode_references(references: Captions, normaliser: Normaliser) -> Side:
    """The references as lines, kept with them. A reference with a separator in it is several lines."""
    return references.product(SIDE, (normaliser.digest,), lambda: _encode_side(references, normaliser, True))


def _encode_side(captions: Captions, normaliser: Normaliser, is_reference: bool) -> Side:
    """Nine captions of ten hold nothing that METEOR's tokenization would change, so their words are taken over as numbers."""
    plain = captions.encoding.per_word("METEOR plain", _are_plain)
    names, known = captions.encoding.words, len(captions.vocabulary)
    extra: dict[str, int] = {}
    firsts, inverse = captions.unique
    starts, ends = captions.token_offsets[firsts], captions.token_offsets[firsts + 1]
    odd = np.concatenate([[0], np.cumsum(~plain[captions.tokens])])
    parts = np.ones(len(firsts), np.int64)
    rewritten: dict[int, list[list[int]]] = {}
    for i in np.flatnonzero(odd[ends] > odd[starts]).tolist():
        text = " ".join(names[captions.tokens[starts[i] : ends[i]]].tolist())
        split = text.split(SEPARATOR) if is_reference else [text.replace(SEPARATOR, "")]
        rewritten[i] = [[extra.setdefault(word, known + len(extra)) for word in normaliser.words(part)] for part in split]
        parts[i] = len(split)
    bounds = offsets_of(parts)
    # Where each line comes from: the captions' own tokens, or behind them those of the rewritten ones.
    length = np.repeat(ends - starts, parts)
    source = np.repeat(starts, parts)
    pool = [captions.tokens]
    end = len(captions.tokens)
    for i, several in rewritten.items():
        for k, line in enumerate(several, bounds[i]):
            length[k], source[k] = len(line), end
            pool.append(np.array(line, np.int32))
            end += len(line)
    into = offsets_of(length)
    picked = np.arange(into[-1]) + np.repeat(source - into[:-1], length)
    tokens = np.concatenate(pool)[picked].astype(np.int32, copy=False)
    return Side(tokens, length, bounds[:-1][inverse], bounds[1:][inverse], list(extra), known)


def encode_captions(
    candidates: Captions, references: Captions, normaliser: Normaliser, wanted: Ints | None = None
) -> tuple[Encoded, Ints, tuple[Ints, Ints]]:
    """The distinct captions as lines; the line of each candidate, and the lines (from, to) of each reference (of those that
    are ``wanted``, where a batch needs but a few)."""
    ours, theirs = _encode_side(candidates, normaliser, False), encode_references(references, normaliser)
    if wanted is not None:
        theirs = theirs.only(wanted)
    # One side's words are numbered over the other's, so the larger vocabulary has all of them.
    known = max(ours.known, theirs.known)
    names = (candidates if ours.known == known else references).encoding.words
    extra: dict[str, int] = {}
    flat = []
    for side in (ours, theirs):
        numbers = np.array([known + extra.setdefault(word, len(extra)) for word in side.extra], np.int32)
        own = side.tokens >= side.known
        moved = np.array(side.tokens)
        moved[own] = numbers[side.tokens[own] - side.known]
        flat.append(moved)
    tokens = np.concatenate(flat)
    # Numbers without gaps: words that only other captions use need not be looked up.
    used = np.zeros(known + len(extra), np.bool_)
    used[tokens] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    within = np.flatnonzero(used[:known])
    beyond = np.flatnonzero(used[known:]).tolist()
    listed = list(extra)
    vocabulary = [*names[within].tolist(), *(listed[i] for i in beyond)]
    offsets = offsets_of(np.concatenate([ours.lengths, theirs.lengths]))
    before = len(ours.lengths)
    return Encoded(number[tokens].astype(np.int32), offsets, vocabulary), ours.begin, (before + theirs.begin, before + theirs.end)


def _are_plain(words: list[str]) -> NDArray[np.bool_]:
    return np.fromiter(map(_is_plain, words), np.bool_, len(words))


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalnum() and word == word.lower()


def describe(vocabulary: list[str], resources: Resources) -> tuple[Words, NDArray[np.int32]]:
    """What METEOR knows of each word, and its number in the paraphrase table (0: not there)."""
    n = len(vocabulary)
    offsets, synonyms = _synonyms([resources.synonyms.synsets(word) for word in vocabulary])
    words = Words(
        key=_keys(vocabulary),
        stem=_keys([stem(word) for word in vocabulary]),
        function=np.fromiter((word in resources.function_words for word in vocabulary), np.bool_, n),
        synonym_offsets=offsets,
        synonyms=synonyms,
    )
    numbers = np.fromiter((resources.paraphrase_words.get(word, 0) for word in vocabulary), np.int32, n)
    return words, numbers


def _synonyms(sets: list[frozenset[int]]) -> tuple[Ints, NDArray[np.int32]]:
    """For each word the other words whose synset set meets its own, ascending: offsets and words."""
    n = len(sets)
    word = np.repeat(np.arange(n), [len(synsets) for synsets in sets])
    synset = np.fromiter((synset for synsets in sets for synset in synsets), np.int64, len(word))
    order = np.argsort(synset, kind="stable")
    word, synset = word[order], synset[order]
    # Every word of a synset with every other word of the same synset; most synsets have but one of the words.
    first = np.searchsorted(synset, synset, side="left")
    count = np.searchsorted(synset, synset, side="right") - first
    shared = count > 1
    first, count, owner = first[shared], count[shared], word[shared]
    partner = word[np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)]
    owner = np.repeat(owner, count)
    a, b = np.divmod(np.unique((owner * n + partner)[owner != partner]), max(n, 1))
    return offsets_of(np.bincount(a, minlength=n)), b.astype(np.int32)


def _keys(words: list[str]) -> NDArray[np.int32]:
    """Numbers by which words are compared: the reference compares hashes, so two words with one hash are the same."""
    hashes = np.fromiter(map(java_hash, words), np.int64, len(words))
    return np.unique(hashes, return_inverse=True)[1].astype(np.int32)


def java_hash(word: str) -> int:
    """The hash of a Java string, as an unsigned number of 32 bits."""
    value = 0
    for unit in word.encode() if word.isascii() else memoryview(word.encode("utf-16-le", "surrogatepass")).cast("H"):
        value = value * 31 + unit
    return value & 0xFFFFFFFF

