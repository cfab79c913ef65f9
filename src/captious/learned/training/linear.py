"""Monotone linear models, in which a better feature never lowers the score: fitted, or with weights that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from captious.learned.network import Network, sigmoid, spread
from captious.measures.base import FloatArray

#: Farther than any feature goes.
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


class Part(NamedTuple):
    """How a feature counts: its weight per standard deviation, and from where up (``low``) or up to where (``high``), as percentiles of
    what people's captions reach."""

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
    """A sum of standardised features with given weights, made a probability: its scale and offset are fitted to targets from 0 to 1.

    ``people`` are the rows of people's captions, of which the bounds are percentiles; ``weights`` those of the rows in the fit.
    """
    # What no bound is set for counts as far as it goes: beyond the examples, too.
    bounds = np.repeat([[-_FAR], [_FAR]], len(parts), axis=1)
    for place, part in enumerate(parts.values()):
        for side, percentile in enumerate((part.low, part.high)):
            if percentile is not None:
                bounds[side, place] = np.nanpercentile(people[:, place], percentile)
    given = np.array([part.weight for part in parts.values()])
    # The mean is that of what counts, so that it stands for a caption with nothing to remark.
    means, scales = spread(np.clip(table, *bounds))[0], spread(table)[1]
    bare = Network(name, tuple(parts), means, scales, (), {}, bounds.astype(np.float32))
    sums = bare.standardised(table) @ given
    fitted = fit(name, ["sum"], [1], sums[:, None], targets, weights=weights, l2=0.0)
    slope = float(fitted.layers[0][0][0, 0]) / float(fitted.scales[0])
    offset = float(fitted.layers[0][1][0]) - slope * float(fitted.means[0])
    layer = ((slope * given)[:, None].astype(np.float32), np.array([offset], np.float32))
    return Network(name, tuple(parts), means, scales, (layer,), made or {}, bare.bounds)
