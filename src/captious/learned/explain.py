"""How much each feature moved a learned score: Shapley values of the log odds.

The start is the mean training example. Features are exchanged for the caption's own one after the other, in many orders, and a feature's
share is the mean step that it makes. The shares add up to the difference exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.learned.network import Network, sigmoid
from captious.measures.base import FloatArray

#: Orders that are drawn; each is taken forwards and backwards.
ORDERS = 64


@dataclass(frozen=True)
class Explanation:
    """The score of a caption, that of the mean example, and each feature's value and share of the log odds between them."""

    score: float
    start: float
    features: tuple[str, ...]
    values: FloatArray
    shares: FloatArray

    def ordered(self) -> list[tuple[str, float, float]]:
        """(feature, value, share), the largest share first."""
        order = np.argsort(-np.abs(self.shares), kind="stable")
        return [(self.features[i], float(self.values[i]), float(self.shares[i])) for i in order.tolist()]


def draw(network: Network, orders: int = ORDERS, seed: int = 1) -> list[NDArray[np.int64]]:
    """The orders in which features are exchanged, each to be taken both ways; the same for every caption. One does where the network is linear."""
    generator = np.random.default_rng(seed)
    return [generator.permutation(len(network.features)) for _ in range(orders if len(network.layers) > 1 else 1)]


def explain(network: Network, values: FloatArray, *, orders: int = ORDERS, seed: int = 1) -> Explanation:
    """Explain the score of one caption by its features, as they are."""
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
    return Explanation(float(sigmoid(np.array([end]))[0]), float(sigmoid(np.array([start]))[0]), network.features, values, shares)
