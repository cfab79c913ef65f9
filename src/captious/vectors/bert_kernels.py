"""Kernels of the sentence encoder."""

from __future__ import annotations

import numpy as np

from captious.kernels import kernel
from captious.kernels.types import Float32, Float32x2, Int64, Out

#: Reassociation lets the compiler vectorise sums.
RELAXED = {"reassoc": True, "contract": True, "nsz": True, "arcp": True, "nnan": True}

#: erf(z) ≈ z·P(z²)/Q(z²) on [-4, 4], a minimax fit with an error of 5.4e-8 in exact arithmetic and 4.2e-7 in
#: single precision. Beyond 4, erf is ±1 within that error.
P = (1.12837868, 0.213946423, 0.0524337127, 0.0042931205, 0.000155537906, -1.99031543e-06, 1.92170029e-08)
Q = (1.0, 0.522932738, 0.120800346, 0.0155512407, 0.00109805244)


@kernel(fastmath=RELAXED)
def softmax(scores: Out[Float32x2]) -> None:
    """Turn each row into weights that sum to one, in place.

    exp(x) is computed as the 32nd power of a polynomial in x/32, which vectorises (relative error below
    4e-6). Exponents are cut off at -32, where weights are negligible.
    """
    low, part, one = np.float32(-32.0), np.float32(1 / 32), np.float32(1.0)
    c2, c3, c4 = np.float32(1 / 2), np.float32(1 / 6), np.float32(1 / 24)
    c5, c6, c7 = np.float32(1 / 120), np.float32(1 / 720), np.float32(1 / 5040)
    for t in range(scores.shape[0]):
        highest = scores[t, 0]
        for j in range(1, scores.shape[1]):
            highest = max(highest, scores[t, j])
        total = np.float32(0.0)
        for j in range(scores.shape[1]):
            x = max(scores[t, j] - highest, low) * part
            y = one + x * (one + x * (c2 + x * (c3 + x * (c4 + x * (c5 + x * (c6 + x * c7))))))
            y *= y
            y *= y
            y *= y
            y *= y
            y *= y
            scores[t, j] = y
            total += y
        for j in range(scores.shape[1]):
            scores[t, j] /= total


@kernel(fastmath=RELAXED)
def gelu(values: Out[Float32x2], bias: Float32) -> None:
    """x ↦ x·Φ(x) in place, after adding the bias. Φ uses a rational approximation of erf."""
    half, root = np.float32(0.5), np.float32(0.7071067811865476)
    one, four = np.float32(1.0), np.float32(4.0)
    p0, p1, p2, p3 = np.float32(P[0]), np.float32(P[1]), np.float32(P[2]), np.float32(P[3])
    p4, p5, p6 = np.float32(P[4]), np.float32(P[5]), np.float32(P[6])
    q1, q2, q3, q4 = np.float32(Q[1]), np.float32(Q[2]), np.float32(Q[3]), np.float32(Q[4])
    for t in range(values.shape[0]):
        for c in range(values.shape[1]):
            x = values[t, c] + bias[c]
            z = min(max(x * root, -four), four)
            w = z * z
            top = z * (p0 + w * (p1 + w * (p2 + w * (p3 + w * (p4 + w * (p5 + w * p6))))))
            bottom = one + w * (q1 + w * (q2 + w * (q3 + w * q4)))
            values[t, c] = half * x * (one + top / bottom)


@kernel(fastmath=RELAXED)
def add_and_normalise(
    states: Out[Float32x2], update: Float32x2, bias: Float32, scale: Float32, shift: Float32, epsilon: float
) -> None:
    """states ← layer norm of (states + update + bias), in place, row by row."""
    width = states.shape[1]
    for t in range(states.shape[0]):
        total = np.float32(0.0)
        for c in range(width):
            x = states[t, c] + update[t, c] + bias[c]
            states[t, c] = x
            total += x
        mean = total / np.float32(width)
        square = np.float32(0.0)
        for c in range(width):
            x = states[t, c] - mean
            square += x * x
        factor = np.float32(1.0 / np.sqrt(square / width + epsilon))
        for c in range(width):
            states[t, c] = (states[t, c] - mean) * factor * scale[c] + shift[c]


@kernel(fastmath=RELAXED)
def pool(states: Float32x2, offsets: Int64, mean: bool, out: Out[Float32x2]) -> None:
    """Write the mean (or first) row of every sequence, scaled to unit length."""
    width = states.shape[1]
    for s in range(offsets.shape[0] - 1):
        start, stop = offsets[s], offsets[s + 1]
        if not mean:
            stop = min(stop, start + 1)
        for c in range(width):
            out[s, c] = np.float32(0.0)
        for t in range(start, stop):
            for c in range(width):
                out[s, c] += states[t, c]
        square = np.float32(0.0)
        for c in range(width):
            square += out[s, c] * out[s, c]
        factor = np.float32(1.0 / max(np.sqrt(square), 1e-12))
        for c in range(width):
            out[s, c] *= factor


@kernel(fastmath=RELAXED)
def scale_rows(states: Out[Float32x2]) -> None:
    """Scale every row to unit length, in place."""
    for t in range(states.shape[0]):
        square = np.float32(0.0)
        for c in range(states.shape[1]):
            square += states[t, c] * states[t, c]
        factor = np.float32(1.0 / max(np.sqrt(square), 1e-12))
        for c in range(states.shape[1]):
            states[t, c] *= factor
