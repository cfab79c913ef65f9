"""Captions as a captioner learns them: images, units, and batches in an order that the seed alone decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from captious.errors import InputError
from captious.generate.captioner.images import Images
from captious.generate.captioner.models import Views
from captious.generate.captioner.units import END, Units
from captious.ragged import IntArray
from captious.references import References

#: Captions of which this share is kept whole; longer ones are cut (Sharif 2020).
WHOLE = 0.99


@dataclass(eq=False)
class Lessons:
    """Images with their captions in units: caption i is of image ``image_of[i]`` and has ``lengths[i]`` units with its end."""

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
        """Images and captions of some rows, no longer than the longest of them."""
        return self.image_of[rows], torch.from_numpy(self.units[rows, : int(self.lengths[rows].max())])

    def order(self, seed: int, epoch: int, size: int) -> list[IntArray]:
        """The batches of an epoch: captions of like length together, batches in any order."""
        rng = np.random.default_rng([seed, epoch])
        rows = rng.permutation(len(self))
        pieces = [rows[at : at + 50 * size] for at in range(0, len(rows), 50 * size)]
        rows = np.concatenate([piece[np.argsort(self.lengths[piece], kind="stable")] for piece in pieces])
        batches = [rows[at : at + size] for at in range(0, len(rows), size)]
        return [batches[i] for i in rng.permutation(len(batches))]

    def image_order(self, seed: int, epoch: int, size: int) -> list[IntArray]:
        """The batches of an epoch of images."""
        rows = np.random.default_rng([seed, epoch, 1]).permutation(len(self.ids))
        return [rows[at : at + size] for at in range(0, len(rows) - size + 1, size)] or [rows]


def batches(lessons: Lessons, seed: int, size: int, start: int, steps: int, *, images: bool) -> Iterator[tuple[int, IntArray]]:
    """Steps ``start`` to ``steps`` with their batches, epoch after epoch."""
    order = lessons.image_order if images else lessons.order
    each = len(order(seed, 0, size))
    listed: list[IntArray] = []
    for step in range(start, steps):
        if step % each == 0 or not listed:
            listed = order(seed, step // each, size)
        yield step, listed[step % each]


def longest_caption(units: Units, sentences: Sequence[str]) -> int:
    """So many units that nearly all captions are whole."""
    lengths = [len(row) for row in units.encode(sentences)]
    return max(1, int(np.quantile(lengths, WHOLE)))


def lessons(images: Images, references: References, ids: Sequence[str], units: Units, longest: int, where: str = "the images") -> Lessons:
    """Images of these ids with their references."""
    known = {image: i for i, image in enumerate(references.captions.ids)}
    lost = [image for image in ids if image not in known]
    if lost:
        raise InputError(f"{len(lost):,} images have no references, such as {lost[0]}")
    taken = references.captions.take_images(np.array([known[image] for image in ids], np.int64))
    rows = [row[:longest] for row in units.encode(taken.sentences)]
    table = np.full((len(rows), longest + 1), END, np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    lengths = np.array([len(row) + 1 for row in rows], np.int64)
    return Lessons(tuple(ids), Views(images.take(ids, where)), table, lengths, taken.image_of, taken.image_offsets)
