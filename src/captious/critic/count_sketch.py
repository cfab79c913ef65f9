"""Compact bilinear pooling (Gao et al. 2016): a low-dimensional sketch of the outer product of two vectors.

A count sketch adds every component of a vector, with a random sign, to a random position. The circular
convolution of two sketches is a count sketch of the outer product (Pham & Pagh 2013): element (i, j) goes to
the sum of both positions, with the product of both signs. The convolution is computed by Fourier transforms.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class CountSketch(nn.Module):  # type: ignore[misc]
    """Count sketch from ``width`` to ``size`` dimensions.

    Positions and signs are drawn once and stored with the weights.
    """

    def __init__(self, width: int, size: int, generator: torch.Generator) -> None:
        super().__init__()
        self.size = size
        self.place: Tensor
        self.sign: Tensor
        self.register_buffer("place", torch.randint(0, size, (width,), generator=generator))
        self.register_buffer("sign", torch.randint(0, 2, (width,), generator=generator).float() * 2 - 1)

    def forward(self, vectors: Tensor) -> Tensor:
        """Sketch each row."""
        return vectors.new_zeros(len(vectors), self.size).index_add(1, self.place, vectors * self.sign)


class CompactBilinear(nn.Module):  # type: ignore[misc]
    """Sketch of the outer product of two vectors."""

    def __init__(self, first: int, second: int, size: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.size = size
        self.first = CountSketch(first, size, generator)
        self.second = CountSketch(second, size, generator)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Pool rows of both sides into rows of ``size`` numbers."""
        product = torch.fft.rfft(self.first(first)) * torch.fft.rfft(self.second(second))
        return torch.fft.irfft(product, n=self.size)

    def form(self, weight: Tensor) -> Tensor:
        """Return the matrix M with ``firstᵀ M second = weight · forward(first, second)``.

        A linear classifier of the sketch is a bilinear form, which is faster to apply to many pairs.
        """
        places = (self.first.place[:, None] + self.second.place[None, :]) % self.size
        return weight[places] * (self.first.sign[:, None] * self.second.sign[None, :])
