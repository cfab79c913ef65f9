"""Novelty: captions that are not among the captions that systems were trained on."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.errors import InputError, MissingInputError
from captious.core.memo import Memo, cached_property
from captious.corpus import Captions, Corpus
from captious.io import read
from captious.metrics.base import FloatArray, Measure, Resource, contained
from captious.metrics.corpus.corpus_measure import CorpusMeasure, hash_runs, sums_by_image, word_keys
from captious.metrics.options import TRAIN, Option

Hashes = NDArray[np.uint64]


class TrainingCaptions:
    """Training captions as texts, tokenized like the captions they are compared with."""

    label = "training"

    def __init__(self, texts: Collection[str]) -> None:
        if not texts:
            raise InputError("there are no training captions")
        self.texts = list(texts)
        self._memo = Memo()

    @classmethod
    def read(cls, source: Any) -> TrainingCaptions:
        """Create training captions from a list of texts, or from any source of :func:`captious.io.read`."""
        if isinstance(source, TrainingCaptions):
            return source
        if isinstance(source, list | tuple | set | frozenset) and all(
            isinstance(text, str) for text in source
        ):
            return cls(sorted(source) if isinstance(source, set | frozenset) else list(source))
        path = Path(source) if isinstance(source, str) else source
        return cls([text for group in read(path, "references").captions for text in group])

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def digest(self) -> str:
        """Digest of the distinct captions in any order."""
        return digest.of_lines(sorted(set(self.texts)))

    def captions(self, tokenizer: str) -> Captions:
        """Return the captions, tokenized once."""
        return self._memo.get(("captions", tokenizer), lambda: Captions.of([self.texts], tokenizer))

    def sentences(self, tokenizer: str) -> frozenset[str]:
        """Return the captions as tokens joined by spaces."""
        return self._memo.get(tokenizer, lambda: frozenset(self.captions(tokenizer).sentences))


class NoveltyMeasure(Measure):
    """Base of measures that compare captions with the training captions."""

    options: ClassVar[tuple[Option, ...]] = (TRAIN,)

    def __init__(self, train: TrainingCaptions | Collection[str] | str | Path | Any = None) -> None:
        self.train = TrainingCaptions.read(train) if train is not None else None

    def required(self) -> TrainingCaptions:
        """Return the training captions, or raise an error that says how to pass them."""
        if self.train is None:
            raise MissingInputError(
                f"{self.name} compares captions with the training captions: pass them "
                "(--training FILE, train=…)"
            )
        return self.train

    def check(self, corpus: Corpus | None = None) -> None:
        self.required()
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {} if self.train is None else {"train": self.train}


def caption_hashes(captions: Captions) -> Hashes:
    """Return one number per caption, equal for captions of the same words.

    Punctuation does not count: "a dog." and "a dog" are the same description.
    """
    tokens, offsets = captions.tokens, captions.token_offsets
    return hash_runs(word_keys(captions)[tokens], offsets[:-1], offsets[1:], is_word(captions)[tokens])


def is_word(captions: Captions) -> NDArray[np.bool_]:
    """Return which words of the vocabulary are not punctuation."""
    return captions.encoding.per_word(
        "is word",
        lambda words: np.fromiter((any(map(str.isalnum, word)) for word in words), np.bool_, len(words)),
    )


class NovelShare(NoveltyMeasure, CorpusMeasure):
    """Share of captions that are not among the training captions, without regard to punctuation."""

    name, key, format = "%Novel", "novel", ".1%"
    summary = "captions that are not among the training captions"
    bounds = (0.0, 1.0)

    def prepare(self, references: Captions) -> Hashes:
        return np.unique(caption_hashes(self.required().captions(references.tokenizer)))

    def statistics(self, corpus: Corpus, state: Hashes) -> FloatArray:
        captions = corpus.candidates
        return sums_by_image(captions, ~contained(caption_hashes(captions), state), np.ones(len(captions)))
