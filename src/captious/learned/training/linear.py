"""Fit a monotone linear model: logistic regression in which a better feature never lowers the score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from captious.learned.network import Network, sigmoid, spread
from captious.measures.base import FloatArray


def fit(
    name: str,
    features: Sequence[str],
    rises: Sequence[int],
    table: FloatArray,
    targets: FloatArray,
    *,
    weights: FloatArray | None = None,
    l2: float = 1e-3,
    made: dict[str, Any] | None = None,
) -> Network:
    """The weights that minimise cross-entropy with targets from 0 to 1, none of them of the wrong sign.

    A feature that rises (1) gets no negative weight and one that falls (−1) no positive one; one that says nothing by itself (0)
    may have any.
    """
    from scipy.optimize import minimize

    means, scales = spread(table)
    empty = Network(name, tuple(features), means, scales, (), {})
    inputs = empty.standardised(table)
    share = np.ones(len(inputs)) if weights is None else weights
    share = share / share.sum()

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = inputs @ parameters[:-1] + parameters[-1]
        value = share @ (np.logaddexp(0.0, logits) - targets * logits) + l2 * parameters[:-1] @ parameters[:-1]
        slope = share * (sigmoid(logits) - targets)
        return float(value), np.append(inputs.T @ slope + 2 * l2 * parameters[:-1], slope.sum())

    bounds = [{1: (0.0, None), -1: (None, 0.0), 0: (None, None)}[sign] for sign in rises]
    found = minimize(loss, np.zeros(len(rises) + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)], options={"maxiter": 2000})
    layer = (found.x[:-1, None].astype(np.float32), found.x[-1:].astype(np.float32))
    return Network(name, tuple(features), means, scales, (layer,), made or {})
