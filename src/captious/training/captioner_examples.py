"""Training examples of a captioner, and the retrieval reward (Luo et al. 2018; Wang & Chan 2019).

Examples are images with captions in units. The order of batches depends only on the seed.

For the retrieval reward, a small network embeds images and captions in one space, trained so that a caption
is nearest to its own image in the batch. The reward of a sampled caption is minus its contrastive loss among
the images of the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.generate.captioner.captioners import Views, ended_before, without_gradients
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


MARGIN = 0.2


class Matcher(nn.Module):  # type: ignore[misc]
    """Network for the cosine similarity of captions and images."""

    def __init__(self, units: int, width: int, hidden: int = 192) -> None:
        super().__init__()
        self.embed = nn.Embedding(units, hidden)
        self.read = nn.GRU(hidden, hidden, batch_first=True)
        self.image = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden))

    def captions(self, units: Tensor) -> Tensor:
        """Return unit vectors of captions."""
        counted = ended_before(units).logical_not().unsqueeze(2)
        states = self.read(self.embed(units))[0].masked_fill(~counted, -1e4)
        return functional.normalize(states.max(1).values, dim=1)

    def images(self, vectors: Tensor) -> Tensor:
        """Return unit vectors of images."""
        return functional.normalize(self.image(vectors), dim=1)

    def loss(self, vectors: Tensor, units: Tensor) -> Tensor:
        """Return the symmetric contrastive loss of captions, each with its image."""
        cosines = self.captions(units) @ self.images(vectors).T / 0.07
        right = torch.arange(len(cosines))
        return (functional.cross_entropy(cosines, right) + functional.cross_entropy(cosines.T, right)) / 2

    @without_gradients
    def reward(self, vectors: Tensor, units: Tensor, owner: Tensor) -> Tensor:
        """Return minus the contrastive loss of each caption of image ``owner``.

        Negatives are the most similar other image and the most similar caption of another image in the batch.
        """
        cosines = self.captions(units) @ self.images(vectors).T
        own = cosines.gather(1, owner[:, None]).squeeze(1)
        hardest_image = cosines.scatter(1, owner[:, None], -torch.inf).max(1).values
        hardest_caption = (
            cosines.masked_fill(owner[:, None] == torch.arange(len(vectors))[None], -torch.inf)
            .max(0)
            .values[owner]
        )
        return -(torch.relu(MARGIN + hardest_image - own) + torch.relu(MARGIN + hardest_caption - own))


def train_matcher(
    examples: CaptionerExamples,
    units: int,
    *,
    steps: int = 600,
    size: int = 128,
    rate: float = 2e-3,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Matcher:
    """Train a matcher on images and their captions."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        matcher = Matcher(units, examples.views.images.width)
        optimizer = torch.optim.Adam(matcher.parameters(), rate)
        loss = torch.zeros(())
        for step, rows in batches(examples, seed + 1, size, 0, steps, images=True):
            # One caption per image, a different one every epoch.
            picked = examples.first[rows] + step % (examples.first[rows + 1] - examples.first[rows])
            _, captions = examples.batch(picked)
            loss = matcher.loss(examples.views.vector[torch.from_numpy(rows)], captions)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if progress is not None:
            progress(f"matcher: contrastive loss {float(loss.detach()):.3f} after {steps:,} steps")
    matcher.eval()
    return matcher
