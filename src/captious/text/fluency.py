"""Fluency of a caption by a detector of five errors that captioning systems make.

The errors are a dangling end ("a man speaks and a"), a repeated event ("a bell rings and a bell rings"), a
repeated adverb, a missing conjunction and a missing verb. The detector is a logistic regression over words,
shapes of words and repeated clauses, fitted to human captions that were corrupted in these ways (``python -m
captious.training.fluency_recipe``). It reads the caption alone. A description of several sentences is judged
by its worst sentence.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests
from captious.text.sentences import split_sentences
from captious.text.stemmer import stem
from captious.text.stopwords import ENGLISH

FILE = Path(__file__).with_name("fluency.npz")
#: Rows of weights. Features are hashed into them.
BUCKETS = 1 << 17
#: Probability of an error at which a caption counts as not fluent (Zhou et al. 2022 use the same).
THRESHOLD = 0.9
#: Longer sentences and descriptions are cut, so that hostile text takes little time.
MAX_WORDS = 200
MAX_SENTENCES = 50
MAX_LETTERS = 20_000

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|,")
_CONNECTIVES = frozenset(
    ("and", "as", "while", "then", "followed", "with", "before", "after", "when", "during", "but", "or", "by",
     "alongside", "accompanied", "until")
)  # fmt: skip
_ARTICLES = frozenset(("a", "an", "the", "some", "another"))
_ENDS = ("ing", "ed", "ly", "s")
#: End of a sentence before another one. Captions without it are not split.
_INNER_END = re.compile(r"[.!?…][\"'”’)\]]{0,4}\s|\n")
Integers = NDArray[np.int64]


def words_of(caption: str) -> list[str]:
    """Return the lowercase words and the commas of a caption."""
    words = [match.group().lower() for match in _WORD.finditer(caption[: 20 * MAX_WORDS])][:MAX_WORDS]
    while words and words[-1] == ",":
        words.pop()
    return words


def sentences_of(caption: str) -> list[str]:
    """Return the sentences of a description that have words. A caption of one sentence is left as it is."""
    text = caption[:MAX_LETTERS].strip()
    if _INNER_END.search(text) is None:
        return [caption]
    sentences = [one for one in split_sentences(text) if words_of(one)][:MAX_SENTENCES]
    return sentences if len(sentences) > 1 else [caption]


def _shape(word: str) -> str:
    """Return a function word itself, and the ending of any other word."""
    if word in ENGLISH or word in _CONNECTIVES or word == ",":
        return word
    return next((f"-{end}" for end in _ENDS if len(word) > len(end) + 2 and word.endswith(end)), "-")


def _clauses(words: Sequence[str]) -> list[list[str]]:
    """Return the content stems of the stretches between connectives."""
    clauses: list[list[str]] = [[]]
    for word in words:
        if word in _CONNECTIVES or word == ",":
            clauses.append([])
        elif word not in ENGLISH:
            clauses[-1].append(stem(word))
    return [clause for clause in clauses if clause]


def _repeats(words: Sequence[str]) -> Iterator[str]:
    """Yield features of repeated words and clauses."""
    content = [(place, stem(word)) for place, word in enumerate(words) if word not in ENGLISH and word != ","]
    first: dict[str, int] = {}
    repeated = 0
    for place, one in content:
        if one in first:
            repeated += 1
            gap = place - first[one]
            same = words[place] == words[first[one]]
            yield f"again {_shape(words[place])} {same} {min(gap, 8)}"
            yield f"again after {words[place - 1]}"
            yield f"again {one}"
            if words[place].endswith("ly"):
                yield "adverb again"
        first[one] = place
    yield f"repeated {min(repeated, 5)}"
    yield f"share {round(10 * repeated / max(len(content), 1))}"
    stems = [one for _, one in content]
    seen: set[tuple[str, str]] = set()
    for pair in pairwise(stems):
        if pair in seen:
            yield "pair again"
        seen.add(pair)
    clauses = _clauses(words)
    for k, later in enumerate(clauses):
        for distance, earlier in enumerate(reversed(clauses[:k])):
            shared = len(set(later) & set(earlier))
            if shared:
                part = "all" if shared == len(set(later)) else "some"
                whole = "all" if shared == len(set(earlier)) else "some"
                yield f"clause {part} {whole} {min(shared, 3)}"
                yield f"clause {part} {whole} {min(shared, 3)} {min(distance, 2)}"
    for one, other in pairwise(words):
        if one == other:
            yield f"twice {_shape(one)}"
    for k in range(2, len(words)):
        if words[k] == words[k - 2]:
            yield f"both sides {words[k - 1]}"


def features(caption: str) -> list[str]:
    """Return the features of a caption as texts; a feature may occur several times."""
    words = words_of(caption)
    found: list[str] = [f"length {min(len(words), 30) // 2}"]
    edged = ["<", *words, ">"]
    shapes = ["<", *map(_shape, words), ">"]
    for size in (1, 2, 3):
        found += [f"w {' '.join(edged[k : k + size])}" for k in range(len(edged) - size + 1)]
    for size in (2, 3, 4):
        found += [f"s {' '.join(shapes[k : k + size])}" for k in range(len(shapes) - size + 1)]
    found.append(f"end {' '.join(shapes[-4:-1])}")
    found.append(f"last {words[-1] if words else ''}")
    connectives = sum(word in _CONNECTIVES for word in words)
    found.append(f"connectives {min(connectives, 6)}")
    found.append(f"words per clause {min(len(words) // (connectives + 1), 15)}")
    verbs = sum(shape in ("-ing", "-s", "-ed", "is", "are") for shape in shapes)
    found.append(f"verbs {min(verbs, 6)} {min(connectives, 4)}")
    found.append(f"articles {min(sum(word in _ARTICLES for word in words), 6)}")
    found += _repeats(words)
    return found


def buckets_of(caption: str) -> Integers:
    """Return the distinct rows of weights that the features of a caption select."""
    rows = {zlib.crc32(one.encode("utf-8", "surrogatepass")) % BUCKETS for one in features(caption)}
    return np.array(sorted(rows), dtype=np.int64)


class FluencyModel(NamedTuple):
    """Weights of the features."""

    weights: NDArray[np.float32]
    bias: float
    digest: str
    label: str = "fluency"

    def error_probability(self, captions: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability that each caption has an error. An empty caption has one.

        Of n sentences, the worst one counts. The probability that it is sound is multiplied by n²: the more
        sentences, the likelier a false alarm, and long descriptions have long sentences.
        """
        one_by_one = {caption: self._description(caption) for caption in dict.fromkeys(captions)}
        return np.array([one_by_one[caption] for caption in captions], dtype=np.float64)

    def _description(self, caption: str) -> float:
        sentences = sentences_of(caption)
        worst = max(map(self._single, sentences))
        return worst if len(sentences) == 1 else max(0.0, 1.0 - len(sentences) ** 2 * (1.0 - worst))

    def _single(self, caption: str) -> float:
        if not words_of(caption):
            return 1.0
        logit = self.bias + float(self.weights[buckets_of(caption)].sum(dtype=np.float64))
        return float(1.0 / (1.0 + np.exp(-np.clip(logit, -60.0, 60.0))))


@lru_cache(maxsize=1)
def load() -> FluencyModel:
    """Return the detector that ships."""
    with np.load(FILE) as data:
        codes, scale, bias = data["codes"], float(data["scale"]), float(data["bias"])
    return FluencyModel(codes.astype(np.float32) * np.float32(scale), bias, digests.of_arrays(codes))
