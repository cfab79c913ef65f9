"""Training examples of a captioner: images, and captions in units.

The order of batches depends only on the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.generate.captioner.captioners import Views
from captious.generate.captioner.image_features import ImageFeatures
from captious.generate.captioner.subword_units import END, Units
from captious.results.references import References

#: Share of captions that are not truncated (Sharif 2020).
WHOLE = 0.99


@dataclass(eq=False)
class CaptionerExamples:
    """Images with captions in units.

    Caption i belongs to image ``image_of[i]`` and has ``lengths[i]`` units, end included.
    """

    ids: tuple[str, ...]
    views: Views
    units: NDArray[np.int64]
    lengths: IntArray
    image_of: IntArray
    #: Captions ``first[j]:first[j + 1]`` are those of image j.
    first: IntArray

    def __len__(self) -> int:
        return len(self.units)

    def batch(self, rows: IntArray) -> tuple[IntArray, Tensor]:
        """Return images and captions of some rows, truncated to the longest caption."""
        return self.image_of[rows], torch.from_numpy(self.units[rows, : int(self.lengths[rows].max())])

    def order(self, seed: int, epoch: int, size: int) -> list[IntArray]:
        """Return the batches of an epoch: captions of similar length together, in random order."""
        rng = np.random.default_rng([seed, epoch])
        rows = rng.permutation(len(self))
        pieces = [rows[at : at + 50 * size] for at in range(0, len(rows), 50 * size)]
        rows = np.concatenate([piece[np.argsort(self.lengths[piece], kind="stable")] for piece in pieces])
        batches = [rows[at : at + size] for at in range(0, len(rows), size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def image_order(self, seed: int, epoch: int, size: int) -> list[IntArray]:
        """Return the image batches of an epoch."""
        rows = np.random.default_rng([seed, epoch, 1]).permutation(len(self.ids))
        return [rows[at : at + size] for at in range(0, len(rows) - size + 1, size)] or [rows]


def batches(
    examples: CaptionerExamples, seed: int, size: int, start: int, steps: int, *, images: bool
) -> Iterator[tuple[int, IntArray]]:
    """Yield steps ``start`` to ``steps`` with their batches, epoch after epoch."""
    order = examples.image_order if images else examples.order
    steps_per_epoch = len(order(seed, 0, size))
    epoch_batches: list[IntArray] = []
    for step in range(start, steps):
        if step % steps_per_epoch == 0 or not epoch_batches:
            epoch_batches = order(seed, step // steps_per_epoch, size)
        yield step, epoch_batches[step % steps_per_epoch]


def longest_caption(units: Units, sentences: Sequence[str]) -> int:
    """Return the length in units at which 99% of the captions are complete."""
    lengths = [len(row) for row in units.encode(sentences)]
    return max(1, int(np.quantile(lengths, WHOLE)))


def lessons(
    images: ImageFeatures,
    references: References,
    ids: Sequence[str],
    units: Units,
    longest: int,
    where: str = "the images",
) -> CaptionerExamples:
    """Build the examples of images from their references."""
    row_of = {image: i for i, image in enumerate(references.captions.ids)}
    missing_ids = [image for image in ids if image not in row_of]
    if missing_ids:
        raise InputError(
            f"{len(missing_ids):,} images have no references, such as {missing_ids[0]}; add references or "
            "remove the images"
        )
    captions = references.captions.take_images(np.array([row_of[image] for image in ids], np.int64))
    rows = [row[:longest] for row in units.encode(captions.sentences)]
    table = np.full((len(rows), longest + 1), END, np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    lengths = np.array([len(row) + 1 for row in rows], np.int64)
    return CaptionerExamples(
        tuple(ids), Views(images.take(ids, where)), table, lengths, captions.image_of, captions.image_offsets
    )
