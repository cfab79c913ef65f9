"""Monotone linear models, in which a better feature never lowers the score: fitted, or with fixed weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import require
from captious.metrics.base import FloatArray
from captious.metrics.learned.composite_network import Network, sigmoid, spread

#: Beyond the range of all features.
_FAR = 1e6


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
    """Fit the weights that minimise cross-entropy with targets from 0 to 1, under constraints on their signs.

    A rising feature (1) gets no negative weight, a falling one (−1) no positive weight; others (0) are
    unconstrained.
    """
    optimize = require("scipy.optimize", "train", "fitting a linear model")
    means, scales = spread(table)
    empty = Network(name, tuple(features), means, scales, (), {})
    inputs = empty.standardised(table)
    share = np.ones(len(inputs)) if weights is None else weights
    share = share / share.sum()

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = inputs @ parameters[:-1] + parameters[-1]
        value = (
            share @ (np.logaddexp(0.0, logits) - targets * logits) + l2 * parameters[:-1] @ parameters[:-1]
        )
        slope = share * (sigmoid(logits) - targets)
        return float(value), np.append(inputs.T @ slope + 2 * l2 * parameters[:-1], slope.sum())

    bounds = [{1: (0.0, None), -1: (None, 0.0), 0: (None, None)}[sign] for sign in rises]
    result = optimize.minimize(
        loss,
        np.zeros(len(rises) + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[*bounds, (None, None)],
        options={"maxiter": 2000},
    )
    layer = (result.x[:-1, None].astype(np.float32), result.x[-1:].astype(np.float32))
    return Network(name, tuple(features), means, scales, (layer,), made or {})


class Part(NamedTuple):
    """The weight of a feature per standard deviation, and its bounds as percentiles of human captions."""

    weight: float
    low: float | None = None
    high: float | None = None


def weigh(
    name: str,
    parts: Mapping[str, Part],
    table: FloatArray,
    people: FloatArray,
    targets: FloatArray,
    weights: FloatArray,
    *,
    made: dict[str, Any] | None = None,
) -> Network:
    """Turn a weighted sum of standardised features into a probability by fitting its scale and offset.

    Targets are from 0 to 1.

    ``people`` are the rows of human captions, which define the percentiles; ``weights`` are those of rows in
    the fit.
    """
    # Features without bounds are not clipped, not even beyond the range of the examples.
    bounds = np.repeat([[-_FAR], [_FAR]], len(parts), axis=1)
    for place, part in enumerate(parts.values()):
        for side, percentile in enumerate((part.low, part.high)):
            if percentile is not None:
                bounds[side, place] = np.nanpercentile(people[:, place], percentile)
    part_weights = np.array([part.weight for part in parts.values()])
    # The mean of clipped values, so that it stands for an unremarkable caption.
    means, scales = spread(np.clip(table, *bounds))[0], spread(table)[1]
    bare = Network(name, tuple(parts), means, scales, (), {}, bounds.astype(np.float32))
    sums = bare.standardised(table) @ part_weights
    fitted = fit(name, ["sum"], [1], sums[:, None], targets, weights=weights, l2=0.0)
    slope = float(fitted.layers[0][0][0, 0]) / float(fitted.scales[0])
    offset = float(fitted.layers[0][1][0]) - slope * float(fitted.means[0])
    layer = ((slope * part_weights)[:, None].astype(np.float32), np.array([offset], np.float32))
    return Network(name, tuple(parts), means, scales, (layer,), made or {}, bare.bounds)
