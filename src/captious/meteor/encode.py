"""Captions as numbers of METEOR's words, and what METEOR knows of each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, offsets_of
from captious.meteor.alignment import Ints, Words
from captious.meteor.normalise import Normaliser
from captious.meteor.resources import Resources
from captious.text.stemmer import stem

#: What the COCO tools put between captions; they drop it from candidates, and it divides a reference in two.
SEPARATOR = "|||"

#: Bits of a synset signature: one less than a signed 64-bit number can hold.
_BITS = 62


class Encoded(NamedTuple):
    """Lines of words, one after the other."""

    tokens: NDArray[np.int32]
    offsets: Ints
    vocabulary: list[str]


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


def encode_captions(
    candidates: Captions, references: Captions, normaliser: Normaliser
) -> tuple[Encoded, Ints, tuple[Ints, Ints]]:
    """The distinct captions as lines; the line of each candidate, and the lines (from, to) of each reference.

    Nine captions of ten hold nothing that METEOR's tokenisation would change, so their words are taken over as numbers.
    """
    names = candidates.vocabulary.words
    plain = np.fromiter((_is_plain(word) for word in names), np.bool_, len(names))
    extra: dict[str, int] = {}
    blocks: list[NDArray[np.int32]] = []
    counts: list[int] = []
    found: list[tuple[Ints, Ints]] = []
    for captions, is_reference in ((candidates, False), (references, True)):
        firsts, inverse = captions.unique
        starts, ends = captions.token_offsets[firsts], captions.token_offsets[firsts + 1]
        odd = np.concatenate([[0], np.cumsum(~plain[captions.tokens])])
        needs_work = (odd[ends] > odd[starts]).tolist()
        lines = np.full(len(firsts) + 1, len(counts), np.int64)
        for i, (start, end, work) in enumerate(zip(starts.tolist(), ends.tolist(), needs_work)):
            if work:
                text = " ".join([names[t] for t in captions.tokens[start:end]])
                for part in text.split(SEPARATOR) if is_reference else [text.replace(SEPARATOR, "")]:
                    words = normaliser.words(part)
                    blocks.append(np.array([extra.setdefault(word, len(names) + len(extra)) for word in words], np.int32))
                    counts.append(len(words))
            else:
                blocks.append(captions.tokens[start:end])
                counts.append(end - start)
            lines[i + 1] = len(counts)
        found.append((lines[:-1][inverse], lines[1:][inverse]))
    tokens = np.concatenate(blocks) if blocks else np.zeros(0, np.int32)
    # Numbers without gaps: words that only other captions use need not be looked up.
    used, numbers = np.unique(tokens, return_inverse=True)
    known = [*names, *extra]
    encoded = Encoded(numbers.astype(np.int32), offsets_of(counts), [known[i] for i in used.tolist()])
    return encoded, found[0][0], found[1]


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalnum() and word == word.lower()


def describe(vocabulary: list[str], resources: Resources) -> tuple[Words, NDArray[np.int32]]:
    """What METEOR knows of each word, and its number in the paraphrase table (0: not there)."""
    n = len(vocabulary)
    sets = [sorted(resources.synonyms.synsets(word)) for word in vocabulary]
    words = Words(
        key=_keys(vocabulary),
        stem=_keys([stem(word) for word in vocabulary]),
        function=np.fromiter((word in resources.function_words for word in vocabulary), np.bool_, n),
        signature=np.fromiter(map(_signature, sets), np.int64, n),
        synset_offsets=offsets_of([len(synsets) for synsets in sets]),
        synsets=np.array([synset for synsets in sets for synset in synsets], np.int64),
    )
    numbers = np.fromiter((resources.paraphrase_words.get(word, 0) for word in vocabulary), np.int32, n)
    return words, numbers


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


def _signature(synsets: list[int]) -> int:
    bits = 0
    for synset in synsets:
        bits |= 1 << (synset % _BITS)
    return bits
