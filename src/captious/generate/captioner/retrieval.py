"""Retrieval reward: how well a caption fits its image and no other (Luo et al. 2018; Wang & Chan 2019).

A small network embeds images and captions in one space, trained so that a caption is nearest to its own image
in the batch. The reward of a sampled caption is minus its contrastive loss among the images of the batch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from captious.generate.captioner.batches import CaptionerExamples, batches
from captious.generate.captioner.captioners import ended_before, without_gradients

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
    told: Callable[[str], None] | None = None,
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
        if told is not None:
            told(f"matcher: contrastive loss {float(loss.detach()):.3f} after {steps:,} steps")
    matcher.eval()
    return matcher
