"""Weights of a learned metric, and their application: standardisation, a few small layers, a probability.

Needs NumPy alone. Weights are stored as safetensors, a format that holds numbers and nothing executable.

A score is explained by the Shapley values of its log odds. The baseline is the mean training example. Its
features are replaced by the caption's own one after another, in many orders, and the share of a feature is
its mean step. The shares add up to the difference exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core import limits
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.metrics.base import FloatArray
from captious.vectors.bert import read_safetensors

Floats = NDArray[np.float32]

#: Key of our metadata.
_META = "captious"


@dataclass(frozen=True)
class Network:
    """Names, bounds and standardisation of features, and layers of (weights, bias) with ReLU in between.

    The last layer has two outputs, machine and human, of which softmax makes a probability, or one, of which
    a sigmoid does.
    """

    name: str
    features: tuple[str, ...]
    means: Floats
    scales: Floats
    layers: tuple[tuple[Floats, Floats], ...]
    #: Origin of the weights, for people.
    made: Mapping[str, Any]
    #: Smallest and largest value of each feature. Values beyond are cut; None means no bounds.
    bounds: Floats | None = None

    @property
    def label(self) -> str:
        return self.name

    @cached_property
    def digest(self) -> str:
        arrays = [
            self.means,
            self.scales,
            *(array for layer in self.layers for array in layer),
            *([] if self.bounds is None else [self.bounds]),
        ]
        return digest.together(digest.of_lines(self.features), digest.of_arrays(*arrays))

    def standardised(self, table: FloatArray) -> FloatArray:
        """Return features cut to their bounds and standardised, 0 (the mean) where undefined."""
        within = table if self.bounds is None else np.clip(table, *self.bounds.astype(np.float64))
        values = (within - self.means) / self.scales
        return np.where(np.isfinite(values), values, 0.0)

    def logits(self, standardised: FloatArray) -> FloatArray:
        """Return log odds from standardised features."""
        values = standardised
        for number, (weights, bias) in enumerate(self.layers):
            # Computed row by row, so that the score of a caption does not depend on the others.
            values = np.einsum("ij,jk->ik", values, weights.astype(np.float64)) + bias
            if number < len(self.layers) - 1:
                values = np.maximum(values, 0.0)
        result: FloatArray = values[:, 1] - values[:, 0] if values.shape[1] == 2 else values[:, 0]
        return result

    def score(self, table: FloatArray) -> FloatArray:
        """Return the probability that a caption is good, from raw features."""
        return sigmoid(self.logits(self.standardised(table)))


def sigmoid(values: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(−x)), without overflow."""
    small = np.exp(-np.abs(values))
    result: FloatArray = np.where(values >= 0, 1.0, small) / (1.0 + small)
    return result


def pack(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> bytes:
    """Write a safetensors file of 32-bit floats with our metadata."""
    header: dict[str, Any] = {"__metadata__": {_META: json.dumps(meta, sort_keys=True)}}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def unpack(data: bytes, source: str) -> tuple[dict[str, Floats], dict[str, Any]]:
    """Read arrays and metadata of such a file, and refuse any other file."""
    arrays = read_safetensors(np.frombuffer(data, np.uint8), source)
    try:
        size = int.from_bytes(data[:8], "little")
        meta = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][_META])
        if not isinstance(meta, dict):
            raise TypeError("its description is no object")
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(
            f"{source} has no description by captious ({error!r}); pass a file that 'captious train' wrote"
        ) from error
    return arrays, meta


def to_bytes(network: Network) -> bytes:
    """Write a network to a file."""
    arrays: dict[str, NDArray[Any]] = {"means": network.means, "scales": network.scales}
    if network.bounds is not None:
        arrays["bounds"] = network.bounds
    for number, (weights, bias) in enumerate(network.layers):
        arrays[f"layer.{number}.weight"], arrays[f"layer.{number}.bias"] = weights, bias
    return pack(
        arrays, {"name": network.name, "features": list(network.features), "made": dict(network.made)}
    )


def read(path: Path) -> Network:
    """Read a network that ``captious train`` wrote."""
    try:
        if path.stat().st_size > limits.CONTENT.value():
            raise limits.CONTENT.exceeded(str(path))
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read the weights {path}: {error.strerror or error}; 'captious train' writes such files"
        ) from error
    arrays, meta = unpack(data, str(path))
    try:
        layers: list[tuple[Floats, Floats]] = []
        while f"layer.{len(layers)}.weight" in arrays:
            layers.append((arrays[f"layer.{len(layers)}.weight"], arrays[f"layer.{len(layers)}.bias"]))
        network = Network(
            str(meta["name"]),
            tuple(map(str, meta["features"])),
            arrays["means"],
            arrays["scales"],
            tuple(layers),
            dict(meta.get("made", {})),
            arrays.get("bounds"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is no learned metric ({error!r} is missing or wrong); "
            "pass a file that 'captious train' wrote"
        ) from error
    _check(network, path)
    return network


def _check(network: Network, path: Path) -> None:
    """Refuse sizes that do not fit each other, and values that are not finite."""
    width = len(network.features)
    wrong = network.means.shape != (width,) or network.scales.shape != (width,) or not network.layers
    if network.bounds is not None:
        wrong = (
            wrong or network.bounds.shape != (2, width) or not (network.bounds[0] <= network.bounds[1]).all()
        )
    for weights, bias in network.layers:
        wrong = wrong or weights.ndim != 2 or weights.shape[0] != width or bias.shape != weights.shape[1:]
        width = weights.shape[1] if weights.ndim == 2 else -1
    arrays = [network.means, network.scales, *(array for layer in network.layers for array in layer)]
    if (
        wrong
        or width not in (1, 2)
        or not all(np.isfinite(array).all() for array in arrays)
        or not (network.scales > 0).all()
    ):
        raise InputError(
            f"{path} is a damaged learned metric: its layers do not fit its {len(network.features)} "
            "features; train it again"
        )


def spread(values: FloatArray) -> tuple[Floats, Floats]:
    """Return means and standard deviations of columns with gaps; 1 for a column that does not vary."""
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(values), values, np.nan)
        means = np.nan_to_num(np.nanmean(finite, axis=0))
        scales = np.nan_to_num(np.nanstd(finite, axis=0))
    return means.astype(np.float32), np.where(scales > math.ulp(1.0), scales, 1.0).astype(np.float32)


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
