"""Selection of one caption per image from the scores of its candidates.

A criterion scores every candidate. The highest score wins; ties go to the candidate that the model ranked
first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.rerank.language_models.language_model import Floats
from captious.rerank.nbest import NBest


class Criterion(ABC):
    """Base class of re-ranking criteria."""

    #: Display name in tables.
    name: str

    @abstractmethod
    def values(self, nbest: NBest) -> Floats:
        """Return a finite score for each candidate. Higher is better."""


class Likelihood(Criterion):
    """log P(s|I), the model's own ranking."""

    name = "baseline"

    def values(self, nbest: NBest) -> Floats:
        return nbest.log_p()


@dataclass(frozen=True, eq=False)
class Reranked:
    """Selection from n-best lists, with the scores of all candidates."""

    nbest: NBest
    values: Floats
    #: Index of the selected candidate of each image, among all candidates.
    chosen: IntArray

    @property
    def captions(self) -> dict[str, str]:
        """The selected caption of each image."""
        return {image: self.nbest.texts[i] for image, i in zip(self.nbest.ids, self.chosen.tolist())}

    @property
    def changed(self) -> int:
        """Number of images whose selected caption is not the model's first choice."""
        if self.nbest.logprobs is None:
            first = self.nbest.offsets[:-1]
        else:
            first = best(Grid.of(self.nbest.offsets), self.nbest.logprobs)
        return sum(
            self.nbest.texts[a] != self.nbest.texts[b] for a, b in zip(first.tolist(), self.chosen.tolist())
        )

    def results(self) -> list[dict[str, Any]]:
        """Return rows in COCO's results format: ``image_id`` and ``caption``."""
        return [{"image_id": as_given(image), "caption": caption} for image, caption in self.captions.items()]

    def candidates(self) -> list[dict[str, Any]]:
        """Return all candidates with their scores, one row per image, in the format of n-best lists."""
        nbest, rows = self.nbest, []
        for j, image in enumerate(nbest.ids):
            part = slice(int(nbest.offsets[j]), int(nbest.offsets[j + 1]))
            row: dict[str, Any] = {"image_id": as_given(image), "captions": list(nbest.texts[part])}
            if nbest.logprobs is not None:
                row["logprobs"] = nbest.logprobs[part].tolist()
            rows.append(
                {**row, "scores": self.values[part].tolist(), "chosen": int(self.chosen[j]) - part.start}
            )
        return rows


def as_given(image: str) -> str | int:
    """Return an id as an integer where it is one, as in COCO's files."""
    return (
        int(image)
        if image.isascii() and image.isdecimal() and str(int(image)) == image and len(image) < 19
        else image
    )


def rerank(nbest: NBest, criterion: Criterion) -> Reranked:
    """Select a caption for each image.

    Parameters
    ----------
    nbest
        Candidates, from `read_nbest`.
    criterion
        `MutualInformation`, `Consensus`, `Likelihood`, or scores from `read_given`.

    Returns
    -------
    Reranked
        The selection. ``captions`` maps image ids to captions.
    """
    values = np.asarray(criterion.values(nbest), np.float64)
    if len(values) != len(nbest.texts):
        raise InputError(f"{criterion.name} has {len(values):,} scores for {len(nbest.texts):,} candidates")
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            f"{criterion.name} gives no finite score to {nbest.texts[first]!r} "
            f"(image {nbest.ids[int(nbest.image_of[first])]})"
        )
    return Reranked(nbest, values, best(Grid.of(nbest.offsets), values))


@dataclass(frozen=True, eq=False)
class Grid:
    """Candidates as a rectangle (images × longest list).

    ``place`` is the index of each cell's candidate, ``empty`` marks cells without one.
    """

    place: IntArray
    empty: NDArray[np.bool_]

    @classmethod
    def of(cls, offsets: IntArray) -> Grid:
        """Build the rectangle of n-best lists."""
        counts = np.diff(offsets)
        columns = np.arange(int(counts.max(initial=1)))
        empty = columns >= counts[:, None]
        return cls(np.where(empty, offsets[:-1, None], offsets[:-1, None] + columns), empty)

    def fill(self, values: Floats) -> Floats:
        """Arrange values of candidates as a rectangle, with −∞ in empty cells."""
        filled: Floats = np.where(self.empty, -np.inf, values[self.place])
        return filled


def best(grid: Grid, values: Floats) -> IntArray:
    """Return the index of each image's candidate with the highest value. Ties go to the first."""
    chosen: IntArray = grid.place[np.arange(len(grid.place)), grid.fill(values).argmax(axis=1)]
    return chosen
