"""What a language model of captions is: log P of each word given those before it, and of the end.

A caption is its tokens, as the metrics cut it, and an end sign: log P(s) = Σ log P(s_i | s_<i) + log P(end | s). A captioner's
log P(s|I) is the sum over the same caption and its end, so the two can be subtracted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions
from captious.errors import InputError
from captious.ragged import IntArray, offsets_of

Floats = NDArray[np.float64]

#: Words of every vocabulary by number: the end, the beginning (which is never predicted), and what is not known.
END, BEGIN, UNKNOWN = 0, 1, 2
SPECIAL = ("</s>", "<s>", "<unk>")

#: A language model that does not know this share of the tokens is refused; above the other one there is a warning.
REFUSED, DOUBTFUL = 0.5, 0.05


@dataclass(frozen=True)
class WordScores:
    """log P of each token of captions, their ends among them: caption i has ``values[offsets[i]:offsets[i + 1]]``."""

    values: Floats
    offsets: IntArray
    #: Which tokens the model does not know.
    unknown: NDArray[np.bool_]

    def totals(self) -> Floats:
        """log P of each caption."""
        # Every caption has an end, so that no run is empty.
        sums: Floats = np.add.reduceat(self.values, self.offsets[:-1]) if len(self.offsets) > 1 else np.zeros(0)
        return sums

    def of(self, caption: int) -> Floats:
        """log P of the tokens of one caption, its end last."""
        return self.values[self.offsets[caption] : self.offsets[caption + 1]]

    @property
    def perplexity(self) -> float:
        """e to the mean of −log P over all tokens, ends among them."""
        return float(np.exp(-self.values.mean()))

    @property
    def unknown_share(self) -> float:
        """The share of tokens (ends do not count) that the model does not know."""
        words = len(self.values) - (len(self.offsets) - 1)
        return float(self.unknown.sum() / words) if words else 0.0


class Vocabulary:
    """Words by number, which starts with the three of :data:`SPECIAL`."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = [*SPECIAL, *words]
        self._number = {word: i for i, word in enumerate(self.words)}
        if len(self._number) != len(self.words):
            raise InputError("a word is there twice in the vocabulary of a language model")

    @classmethod
    def learn(cls, captions: Iterable[Sequence[str]], least: int = 1) -> Vocabulary:
        """The words that occur ``least`` times, the commonest first."""
        counts: Counter[str] = Counter()
        for tokens in captions:
            counts.update(tokens)
        for special in SPECIAL:
            counts.pop(special, None)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        kept = [word for word, count in ranked if count >= least]
        if not kept:
            raise InputError(f"no word occurs {least} times in these captions; give more captions, or a lower --least")
        return cls(kept)

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, captions: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], IntArray]:
        """Captions as numbers with their ends, one after the other, and where each starts."""
        get = self._number.get
        flat: list[int] = []
        for tokens in captions:
            # A caption that spells a sign of ours has a word that is not known.
            flat += [number if (number := get(token, UNKNOWN)) > UNKNOWN else UNKNOWN for token in tokens]
            flat.append(END)
        return np.array(flat, np.int64), offsets_of([len(tokens) + 1 for tokens in captions])


class LanguageModel(ABC):
    """Base of language models."""

    kind: str
    #: How captions are cut into tokens.
    tokenizer: str
    #: How it was made, for people: sizes, perplexity on held-out captions.
    made: Mapping[str, Any]
    #: Whether tokens are words of our tokenizers. A model with pieces of its own reads the text instead.
    of_words: bool = True
    #: What it is called in tables.
    name: str = ""

    @abstractmethod
    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        """log P of every token of captions, which are lists of tokens."""

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Captions as tokens of this model."""
        return tokens_of(texts, self.tokenizer)

    def log_p(self, captions: Sequence[Sequence[str]]) -> Floats:
        """log P of captions; those that say the same are scored once."""
        distinct, inverse = _distinct(captions)
        return self.score(distinct).totals()[inverse]


class WordModel(LanguageModel):
    """A model with a vocabulary of words."""

    vocabulary: Vocabulary

    @abstractmethod
    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        """log P of every token of captions as numbers (with their ends)."""

    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        numbers, offsets = self.vocabulary.encode(captions)
        return WordScores(self.score_numbers(numbers, offsets), offsets, numbers == UNKNOWN)


def tokens_of(texts: Sequence[str], tokenizer: str) -> list[list[str]]:
    """Captions as lists of tokens."""
    return [sentence.split(" ") if sentence else [] for sentence in Captions.of([list(texts)], tokenizer).sentences]


def _distinct(captions: Sequence[Sequence[str]]) -> tuple[list[list[str]], IntArray]:
    seen: dict[tuple[str, ...], int] = {}
    inverse = np.fromiter((seen.setdefault(tuple(tokens), len(seen)) for tokens in captions), np.int64, len(captions))
    return [list(tokens) for tokens in seen], inverse
