"""Selection of one caption per image: the highest score wins, ties go to the candidate ranked first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray
from captious.rerank.language_models.language_model import Floats
from captious.rerank.nbest import NBest


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
