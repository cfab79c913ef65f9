"""Words of a system and of people: used share of the learnable vocabulary, over-used and omitted words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, offsets_of
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Need, Resource, Sequences, Texts, ratio
from captious.metrics.corpus.corpus_measure import CorpusMeasure, word_keys
from captious.metrics.corpus.novel_captions import TrainingCaptions, is_word
from captious.metrics.options import TRAIN, Option

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Target:
    """Vocabulary of the references, and the part of it that occurs in the training captions.

    All arrays have one element per word of the references' vocabulary.
    """

    validation: IntArray
    training: IntArray | None
    is_word: Mask

    @classmethod
    def of(cls, references: Captions, train: TrainingCaptions | None) -> Target:
        """Count how often people, and the training captions, use each word."""
        words = references.vocabulary
        counts = np.bincount(references.tokens, minlength=len(words))
        if train is None:
            return cls(counts, None, is_word(references))
        captions = train.captions(references.tokenizer)
        place = words.find(captions.vocabulary.words)
        is_shared = place >= 0
        training = np.zeros(len(words), dtype=np.int64)
        training[place[is_shared]] = np.bincount(captions.tokens, minlength=len(place))[is_shared]
        return cls(counts, training, is_word(references))

    @property
    def learnable(self) -> Mask:
        """Types of the references that the training captions have (all of them without training captions)."""
        mask: Mask = self.validation > 0
        if self.training is not None:
            mask &= self.training > 0
        return mask

    @property
    def limit(self) -> float:
        """Share of the references' types that can be learned."""
        types = int((self.validation > 0).sum())
        return float(self.learnable.sum() / types) if types else float("nan")


@dataclass(frozen=True)
class GlobalRecall:
    """Part of the learnable vocabulary that a system recalls."""

    learnable: float
    recalled: float
    coverage: float
    #: Recalled share of each tenth of the learnable types, the most frequent first: the text of the study.
    deciles: FloatArray
    #: The same for each tenth of all types of the references: the code of the study.
    deciles_of_references: FloatArray


def global_recall(produced: Mask, target: Target) -> GlobalRecall:
    """Compute recall. ``produced`` marks the words of the references' vocabulary that the system uses."""
    learnable = target.learnable
    recalled = learnable & produced
    n = int(learnable.sum())
    return GlobalRecall(
        learnable=n,
        recalled=int(recalled.sum()),
        coverage=float(recalled.sum() / n) if n else float("nan"),
        deciles=_deciles(recalled, learnable, target.validation),
        deciles_of_references=_deciles(recalled, target.validation > 0, target.validation),
    )


def _deciles(recalled: Mask, types: Mask, validation: IntArray) -> FloatArray:
    """Divide types, the most frequent in the references first, into ten runs (the last may be shorter)."""
    ranked = by_frequency(types, validation)
    size = -(-len(ranked) // 10)
    runs = [recalled[ranked[k * size : (k + 1) * size]] for k in range(10)]
    return np.array([run.mean() if len(run) else float("nan") for run in runs])


def omitted(produced: Mask, target: Target, *, by: str = "validation") -> IntArray:
    """Return learnable words that were not produced, the most frequent first, without punctuation marks."""
    missing = target.learnable & ~produced & target.is_word
    counts = target.validation if by == "validation" or target.training is None else target.training
    return by_frequency(missing, counts)


def by_frequency(mask: Mask, counts: IntArray) -> IntArray:
    """Return the indices in the mask, the most frequent first, equal ones in the order of their numbers."""
    places = np.flatnonzero(mask)
    order: IntArray = places[np.argsort(-counts[places], kind="stable")]
    return order


def average(parts: list[GlobalRecall]) -> GlobalRecall:
    """Return the mean of several corpora."""
    return GlobalRecall(
        learnable=float(np.mean([part.learnable for part in parts])),
        recalled=float(np.mean([part.recalled for part in parts])),
        coverage=float(np.mean([part.coverage for part in parts])),
        deciles=np.mean([part.deciles for part in parts], axis=0),
        deciles_of_references=np.mean([part.deciles_of_references for part in parts], axis=0),
    )


class Coverage(CorpusMeasure):
    """Share of the learnable words of the references that the captions use."""

    name, key, format = "Cov", "coverage", ".3f"
    summary = "share of the learnable words of the references that are used"
    bounds = (0.0, 1.0)
    needs: frozenset[Need] = frozenset({"references"})
    options: ClassVar[tuple[Option, ...]] = (TRAIN,)

    def __init__(self, train: TrainingCaptions | str | Path | Any = None) -> None:
        self.train = TrainingCaptions.read(train) if train is not None else None

    def resources(self) -> dict[str, Resource]:
        return {} if self.train is None else {"train": self.train}

    def parameters(self) -> dict[str, str]:
        # Without training captions, all words of the references count as learnable.
        return {"learnable": "references"} if self.train is None else super().parameters()

    def prepare(self, references: Captions) -> IntArray:
        """Return the index of each learnable word among the learnable ones, −1 for the others."""
        learnable = Target.of(references, self.train).learnable
        return np.where(learnable, np.cumsum(learnable) - 1, -1)

    def statistics(self, corpus: Corpus, state: IntArray) -> Sequences:
        captions = corpus.candidates
        tokens = captions.tokens
        # Words that the references lack have higher numbers than theirs.
        place = (
            np.where(tokens < len(state), state[np.minimum(tokens, len(state) - 1)], -1)
            if len(state)
            else tokens * 0 - 1
        )
        is_learnable = place >= 0
        image = np.repeat(captions.image_of, captions.lengths)[is_learnable]
        offsets = offsets_of(np.bincount(image, minlength=captions.n_images))
        keys = word_keys(corpus.references)[: len(state)][state >= 0]
        return Sequences(place[is_learnable].astype(np.int32), offsets, keys)

    def value(self, sums: Texts) -> FloatArray:
        used = (sums.counts() > 0).sum(axis=-1)
        return ratio(used, np.full(np.shape(used), len(sums.table.keys)), np.nan)


@dataclass(frozen=True)
class Usage:
    """Frequencies of every word of the shared vocabulary in two corpora."""

    system: IntArray
    humans: IntArray
    #: Relative frequency of the system divided by that of people; infinite for words that people never use.
    ratio: FloatArray
    #: Log-likelihood (G²) of the two frequencies, positive for over-used words, negative for under-used ones.
    log_likelihood: FloatArray

    def most(self, limit: int, *, over: bool) -> IntArray:
        """Return the words with the strongest over-use (or under-use), strongest first."""
        sign = -1.0 if over else 1.0
        order = np.argsort(sign * self.log_likelihood, kind="stable")[:limit]
        strongest: IntArray = order[sign * self.log_likelihood[order] < 0]
        return strongest


def usage(system: IntArray, humans: IntArray) -> Usage:
    """Compare the word counts of a system with those of the references."""
    a, b = system.astype(np.float64), humans.astype(np.float64)
    total_a, total_b = a.sum(), b.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (a / total_a) / (b / total_b)
        share = (a + b) / (total_a + total_b)
        g2 = 2.0 * (_part(a, total_a * share) + _part(b, total_b * share))
        sign = np.sign(a / total_a - b / total_b)
    return Usage(system, humans, ratio, np.nan_to_num(sign) * np.maximum(g2, 0.0))


def _part(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return observed × log(observed / expected), 0 where nothing was observed."""
    out = np.zeros_like(observed)
    np.log(np.divide(observed, expected, out=out, where=observed > 0), out=out, where=observed > 0)
    return out * observed
