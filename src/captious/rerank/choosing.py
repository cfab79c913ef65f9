"""From scores of candidates to one caption for each image: whatever the scores are, they are chosen from here.

A criterion gives every candidate a number; the highest wins, and of equals the one that the model put first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.ragged import IntArray
from captious.rerank.models.base import Floats
from captious.rerank.nbest import NBest


class Criterion(ABC):
    """What captions are chosen by."""

    #: What tables call it.
    name: str

    @abstractmethod
    def values(self, nbest: NBest) -> Floats:
        """A finite number for each candidate; more is better."""


class Likelihood(Criterion):
    """log P(s|I): what the model itself prefers."""

    name = "baseline"

    def values(self, nbest: NBest) -> Floats:
        return nbest.log_p()


@dataclass(frozen=True, eq=False)
class Reranked:
    """The choice from n-best lists, with the scores of all candidates."""

    nbest: NBest
    values: Floats
    #: For each image the chosen candidate, as its place among all candidates.
    chosen: IntArray

    @property
    def captions(self) -> dict[str, str]:
        """The chosen caption of each image."""
        return {image: self.nbest.texts[i] for image, i in zip(self.nbest.ids, self.chosen.tolist())}

    @property
    def changed(self) -> int:
        """Images whose caption is not the one that the model puts first."""
        if self.nbest.logprobs is None:
            first = self.nbest.offsets[:-1]
        else:
            first = best(Grid.of(self.nbest.offsets), self.nbest.logprobs)
        return sum(self.nbest.texts[a] != self.nbest.texts[b] for a, b in zip(first.tolist(), self.chosen.tolist()))

    def results(self) -> list[dict[str, Any]]:
        """As COCO's results: rows of ``image_id`` and ``caption``."""
        return [{"image_id": as_given(image), "caption": caption} for image, caption in self.captions.items()]

    def candidates(self) -> list[dict[str, Any]]:
        """All candidates with their scores, one row per image, as n-best lists have them."""
        nbest, rows = self.nbest, []
        for j, image in enumerate(nbest.ids):
            part = slice(int(nbest.offsets[j]), int(nbest.offsets[j + 1]))
            row: dict[str, Any] = {"image_id": as_given(image), "captions": list(nbest.texts[part])}
            if nbest.logprobs is not None:
                row["logprobs"] = nbest.logprobs[part].tolist()
            rows.append({**row, "scores": self.values[part].tolist(), "chosen": int(self.chosen[j]) - part.start})
        return rows


def as_given(image: str) -> str | int:
    """COCO's ids are whole numbers."""
    return int(image) if image.isascii() and image.isdecimal() and str(int(image)) == image and len(image) < 19 else image


def rerank(nbest: NBest, criterion: Criterion) -> Reranked:
    """Choose a caption for each image by a criterion."""
    values = np.asarray(criterion.values(nbest), np.float64)
    if len(values) != len(nbest.texts):
        raise InputError(f"{criterion.name} has {len(values):,} scores for {len(nbest.texts):,} candidates")
    if not np.isfinite(values).all():
        first = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{criterion.name} gives no finite score to {nbest.texts[first]!r} (image {nbest.ids[int(nbest.image_of[first])]})")
    return Reranked(nbest, values, best(Grid.of(nbest.offsets), values))


@dataclass(frozen=True, eq=False)
class Grid:
    """Candidates as a rectangle, images × the longest list; ``place`` is where each cell's candidate is, ``empty`` has none."""

    place: IntArray
    empty: NDArray[np.bool_]

    @classmethod
    def of(cls, offsets: IntArray) -> Grid:
        """The rectangle of n-best lists."""
        counts = np.diff(offsets)
        columns = np.arange(int(counts.max(initial=1)))
        empty = columns >= counts[:, None]
        return cls(np.where(empty, offsets[:-1, None], offsets[:-1, None] + columns), empty)

    def fill(self, values: Floats) -> Floats:
        """Values of candidates as a rectangle; −∞ where there is none."""
        found: Floats = np.where(self.empty, -np.inf, values[self.place])
        return found


def best(grid: Grid, values: Floats) -> IntArray:
    """The candidate with the highest value of each image; the first of equals."""
    chosen: IntArray = grid.place[np.arange(len(grid.place)), grid.fill(values).argmax(axis=1)]
    return chosen
