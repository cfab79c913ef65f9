"""Language models of captions: log P of each word given the previous ones, and of the end.

A caption is its tokens plus an end token: log P(s) = Σ log P(s_i | s_<i) + log P(end | s). A captioner's log
P(s|I) covers the same tokens, so the two can be subtracted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray, offsets_of
from captious.corpus import Captions

Floats = NDArray[np.float64]

#: Indices of the special words: end, beginning (never predicted) and unknown.
END, BEGIN, UNKNOWN = 0, 1, 2
SPECIAL = ("</s>", "<s>", "<unk>")

#: Shares of unknown tokens above which a language model is rejected, or a warning is shown.
REFUSED, DOUBTFUL = 0.5, 0.05


@dataclass(frozen=True)
class WordScores:
    """log P of each token of captions, ends included.

    Caption i has ``values[offsets[i]:offsets[i + 1]]``.
    """

    values: Floats
    offsets: IntArray
    #: Mask of unknown tokens.
    unknown: NDArray[np.bool_]

    def totals(self) -> Floats:
        """Return log P of each caption."""
        # reduceat needs non-empty runs: every caption has an end.
        sums: Floats = (
            np.add.reduceat(self.values, self.offsets[:-1]) if len(self.offsets) > 1 else np.zeros(0)
        )
        return sums

    def of(self, caption: int) -> Floats:
        """Return log P of the tokens of one caption, end included."""
        return self.values[self.offsets[caption] : self.offsets[caption + 1]]

    @property
    def perplexity(self) -> float:
        """Perplexity over all tokens, ends included."""
        return float(np.exp(-self.values.mean()))

    @property
    def unknown_share(self) -> float:
        """Share of unknown tokens, ends excluded."""
        words = len(self.values) - (len(self.offsets) - 1)
        return float(self.unknown.sum() / words) if words else 0.0


class ModelVocabulary:
    """Words by index, starting with the three of :data:`SPECIAL`."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = [*SPECIAL, *words]
        self._number = {word: i for i, word in enumerate(self.words)}
        if len(self._number) != len(self.words):
            raise InputError("the vocabulary of a language model has duplicate words")

    @classmethod
    def learn(cls, captions: Iterable[Sequence[str]], least: int = 1) -> ModelVocabulary:
        """Collect the words that occur at least ``least`` times, the most frequent first."""
        counts: Counter[str] = Counter()
        for tokens in captions:
            counts.update(tokens)
        for special in SPECIAL:
            counts.pop(special, None)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        frequent = [word for word, count in ranked if count >= least]
        if not frequent:
            raise InputError(
                f"no word occurs {least} times in these captions; give more captions, or a lower --least"
            )
        return cls(frequent)

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, captions: Sequence[Sequence[str]]) -> tuple[NDArray[np.int64], IntArray]:
        """Concatenate the word indices of captions with their ends, and return the captions' offsets."""
        get = self._number.get
        flat: list[int] = []
        for tokens in captions:
            # Special words in the text of a caption count as unknown.
            flat += [number if (number := get(token, UNKNOWN)) > UNKNOWN else UNKNOWN for token in tokens]
            flat.append(END)
        return np.array(flat, np.int64), offsets_of([len(tokens) + 1 for tokens in captions])


class LanguageModel(ABC):
    """Base class of language models."""

    kind: str
    #: Name of the tokenizer.
    tokenizer: str
    #: Training details for display: sizes, perplexity on held-out captions.
    provenance: Mapping[str, Any]
    #: Whether tokens are words of a captious tokenizer. Subword models read the text instead.
    of_words: bool = True
    #: Display name in tables.
    name: str = ""

    @abstractmethod
    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        """Return log P of every token of tokenised captions."""

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Tokenise captions for this model."""
        return tokens_of(texts, self.tokenizer)

    def log_p(self, captions: Sequence[Sequence[str]]) -> Floats:
        """Return log P of captions. Equal captions are scored once."""
        distinct, inverse = _distinct(captions)
        return self.score(distinct).totals()[inverse]


class WordModel(LanguageModel):
    """Language model with a vocabulary of words."""

    vocabulary: ModelVocabulary

    @abstractmethod
    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        """Return log P of every token of encoded captions (ends included)."""

    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        numbers, offsets = self.vocabulary.encode(captions)
        return WordScores(self.score_numbers(numbers, offsets), offsets, numbers == UNKNOWN)


def tokens_of(texts: Sequence[str], tokenizer: str) -> list[list[str]]:
    """Tokenise captions."""
    return [
        sentence.split(" ") if sentence else []
        for sentence in Captions.of([list(texts)], tokenizer).sentences
    ]


def _distinct(captions: Sequence[Sequence[str]]) -> tuple[list[list[str]], IntArray]:
    seen: dict[tuple[str, ...], int] = {}
    inverse = np.fromiter(
        (seen.setdefault(tuple(tokens), len(seen)) for tokens in captions), np.int64, len(captions)
    )
    return [list(tokens) for tokens in seen], inverse
