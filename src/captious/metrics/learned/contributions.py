"""Contribution of each feature to a learned score: Shapley values of the log odds.

The baseline is the mean training example. Features are replaced by the caption's own one after another, in
many orders, and the share of a feature is its mean step. The shares add up to the difference exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.metrics.base import FloatArray
from captious.metrics.learned.composite_network import Network, sigmoid

#: Number of random orders, each used forwards and backwards.
ORDERS = 64


@dataclass(frozen=True)
class Contributions:
    """Score of a caption and of the mean example, and each feature's value and share of the log odds."""

    score: float
    start: float
    features: tuple[str, ...]
    values: FloatArray
    shares: FloatArray

    def ordered(self) -> list[tuple[str, float, float]]:
        """Return (feature, value, share), the largest share first."""
        order = np.argsort(-np.abs(self.shares), kind="stable")
        return [(self.features[i], float(self.values[i]), float(self.shares[i])) for i in order.tolist()]


def draw(network: Network, orders: int = ORDERS, seed: int = 1) -> list[NDArray[np.int64]]:
    """Return the orders in which features are replaced, equal for all captions.

    A linear network needs only one.
    """
    generator = np.random.default_rng(seed)
    return [
        generator.permutation(len(network.features)) for _ in range(orders if len(network.layers) > 1 else 1)
    ]


def explain(network: Network, values: FloatArray, *, orders: int = ORDERS, seed: int = 1) -> Contributions:
    """Explain the score of one caption by its raw features."""
    own = network.standardised(values[None])[0]
    count = len(own)
    shares = np.zeros(count)
    both = [order for one in draw(network, orders, seed) for order in (one, one[::-1])]
    for order in both:
        steps = np.zeros((count + 1, count))
        for place, feature in enumerate(order.tolist()):
            steps[place + 1 :, feature] = own[feature]
        shares[order] += np.diff(network.logits(steps)) / len(both)
    start, end = network.logits(np.stack([np.zeros(count), own]))
    return Contributions(
        float(sigmoid(np.array([end]))[0]),
        float(sigmoid(np.array([start]))[0]),
        network.features,
        values,
        shares,
    )
