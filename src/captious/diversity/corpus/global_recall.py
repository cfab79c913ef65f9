"""Global recall: how much of the vocabulary that could be learned is ever used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.corpus import IntArray
from captious.diversity.corpus.flat import FloatArray

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Target:
    """The vocabulary of the references, and the part of it that occurs in the training captions.

    All arrays have one place per word of the shared vocabulary.
    """

    validation: IntArray
    training: IntArray | None
    is_word: Mask

    @property
    def learnable(self) -> Mask:
        """Types of the references that the training captions have (all of them, when there are none)."""
        mask: Mask = self.validation > 0
        if self.training is not None:
            mask &= self.training > 0
        return mask

    @property
    def limit(self) -> float:
        """The share of the references' types that can be learned at all."""
        types = int((self.validation > 0).sum())
        return float(self.learnable.sum() / types) if types else float("nan")


@dataclass(frozen=True)
class GlobalRecall:
    """What one system recalls of the learnable vocabulary."""

    learnable: float
    recalled: float
    coverage: float
    #: Share of each tenth of the references' types, the most frequent first, that is recalled.
    deciles: FloatArray


def global_recall(produced: Mask, target: Target) -> GlobalRecall:
    """``produced``: which words of the shared vocabulary the system uses."""
    learnable = target.learnable
    recalled = learnable & produced
    n = int(learnable.sum())
    return GlobalRecall(
        learnable=n,
        recalled=int(recalled.sum()),
        coverage=float(recalled.sum() / n) if n else float("nan"),
        deciles=_deciles(recalled, target.validation),
    )


def _deciles(recalled: Mask, validation: IntArray, parts: int = 10) -> FloatArray:
    """The types of the references from the most frequent on, in ten runs of equal length (the last may be shorter)."""
    ranked = by_frequency(validation > 0, validation)
    size = -(-len(ranked) // parts)
    runs = [recalled[ranked[k * size : (k + 1) * size]] for k in range(parts)]
    return np.array([run.mean() if len(run) else float("nan") for run in runs])


def omitted(produced: Mask, target: Target, *, by: str = "validation") -> IntArray:
    """Learnable words that were not produced, the most frequent first; marks of punctuation are no words here."""
    missing = target.learnable & ~produced & target.is_word
    counts = target.validation if by == "validation" or target.training is None else target.training
    return by_frequency(missing, counts)


def by_frequency(mask: Mask, counts: IntArray) -> IntArray:
    """Places of the mask, the most frequent first, equal ones in order of their numbers."""
    places = np.flatnonzero(mask)
    order: IntArray = places[np.argsort(-counts[places], kind="stable")]
    return order


def average(parts: list[GlobalRecall]) -> GlobalRecall:
    """The mean of several corpora."""
    return GlobalRecall(
        learnable=float(np.mean([part.learnable for part in parts])),
        recalled=float(np.mean([part.recalled for part in parts])),
        coverage=float(np.mean([part.coverage for part in parts])),
        deciles=np.mean([part.deciles for part in parts], axis=0),
    )
