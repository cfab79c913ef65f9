"""From caption texts to METEOR's statistics lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.meteor.alignment import MAX_MATCHES, Ints, Lines, Words, align
from captious.meteor.normalise import Normaliser
from captious.meteor.paraphrases import Paraphrases, open_index
from captious.meteor.phrases import restrict
from captious.meteor.score import STATISTICS
from captious.text import meteor_data
from captious.text.stemmer import stem
from captious.text.synonyms import Synonyms

#: Bits of a synset signature; one less than what a signed 64-bit number can hold.
_BITS = 62


class Resources:
    """METEOR's word lists and tables, read once."""

    def __init__(self, data: meteor_data.MeteorData) -> None:
        self.normaliser = Normaliser(data.lines("nonbreaking/english.prefixes"))
        self.function_words = frozenset(data.lines("function/english.words"))
        self.synonyms = Synonyms.load(data.jar.parent)
        self.paraphrases: Paraphrases = open_index(data.paraphrases)
        self.paraphrase_words = self.paraphrases.number_of()


@lru_cache(maxsize=2)
def _resources(data: meteor_data.MeteorData) -> Resources:
    return Resources(data)


def statistics(
    hypotheses: Sequence[str], references: Sequence[str], data_dir: str | Path | None = None
) -> NDArray[np.float64]:
    """The statistics line (23 numbers) of each hypothesis with the reference at the same place."""
    if len(hypotheses) != len(references):
        raise InputError(f"{len(hypotheses):,} hypotheses but {len(references):,} references")
    texts = list(dict.fromkeys([*hypotheses, *references]))
    number = {text: i for i, text in enumerate(texts)}
    first = np.fromiter((number[text] for text in hypotheses), np.int64, len(hypotheses))
    second = np.fromiter((number[text] for text in references), np.int64, len(references))
    return pair_statistics(texts, first, second, data_dir)


def pair_statistics(
    texts: Sequence[str], first: Ints, second: Ints, data_dir: str | Path | None = None
) -> NDArray[np.float64]:
    """The statistics lines of pairs (hypothesis ``texts[first[p]]``, reference ``texts[second[p]]``)."""
    resources = _resources(meteor_data.find(data_dir))
    lines, vocabulary = _encode(texts, resources)
    words, numbers = _describe(vocabulary, resources)
    spans, phrases = restrict(resources.paraphrases, numbers[lines.tokens], lines.offsets)
    lines = lines._replace(spans=spans)
    lengths = np.diff(lines.offsets)
    # Equal pairs are aligned once.
    pairs, inverse = np.unique(first * len(texts) + second, return_inverse=True)
    first, second = pairs // max(len(texts), 1), pairs % max(len(texts), 1)
    rows = np.zeros((len(pairs), STATISTICS))
    work = float(np.sum((4.0 * lengths[first] + 40.0) * (lengths[second] + 4.0)))
    stopped = align.pick(work)(lines, words, phrases, first, second, rows)
    if stopped >= 0:
        a, b = lengths[first[stopped]], lengths[second[stopped]]
        raise InputError(
            f"METEOR cannot align a caption of {a:,} words with one of {b:,}: they have more than {MAX_MATCHES:,} matching"
            f" pairs of words; shorten the caption that begins with {texts[int(first[stopped])][:60]!r}"
        )
    result: NDArray[np.float64] = rows[inverse]
    return result


def _encode(texts: Sequence[str], resources: Resources) -> tuple[Lines, list[str]]:
    """Captions as word numbers, and the words."""
    number: dict[str, int] = {}
    flat: list[int] = []
    counts = np.zeros(len(texts) + 1, np.int64)
    for i, text in enumerate(texts, 1):
        words = resources.normaliser.words(text)
        counts[i] = len(words)
        for word in words:
            flat.append(number.setdefault(word, len(number)))
    return Lines(np.array(flat, np.int32), np.cumsum(counts), np.empty((0, 0), np.int32)), list(number)


def _describe(vocabulary: list[str], resources: Resources) -> tuple[Words, NDArray[np.int32]]:
    """What METEOR knows of each word, and its number in the paraphrase table (0: not there)."""
    n = len(vocabulary)
    sets = [sorted(resources.synonyms.synsets(word)) for word in vocabulary]
    words = Words(
        key=_keys(vocabulary),
        stem=_keys([stem(word) for word in vocabulary]),
        function=np.fromiter((word in resources.function_words for word in vocabulary), np.bool_, n),
        signature=np.fromiter((_signature(synsets) for synsets in sets), np.int64, n),
        synset_offsets=np.concatenate([[0], np.cumsum([len(synsets) for synsets in sets])]).astype(np.int64),
        synsets=np.array([synset for synsets in sets for synset in synsets], np.int64),
    )
    numbers = np.fromiter((resources.paraphrase_words.get(word, 0) for word in vocabulary), np.int32, n)
    return words, numbers


def _keys(words: list[str]) -> NDArray[np.int32]:
    """Numbers by which words are compared: the reference compares hashes, so two words with one hash are the same."""
    hashes = np.fromiter(map(_java_hash, words), np.int64, len(words))
    return np.unique(hashes, return_inverse=True)[1].astype(np.int32)


def _java_hash(word: str) -> int:
    value = 0
    if word.isascii():
        for code in word.encode():
            value = value * 31 + code
    else:
        for code in memoryview(word.encode("utf-16-le", "surrogatepass")).cast("H"):
            value = value * 31 + code
    return value & 0xFFFFFFFF


def _signature(synsets: list[int]) -> int:
    bits = 0
    for synset in synsets:
        bits |= 1 << (synset % _BITS)
    return bits
