"""Elementwise part of an LSTM step, after the matrix product."""

from __future__ import annotations

import numpy as np

from captious.kernels import inner, kernel
from captious.kernels.types import Float32x2, Float32x3, Int64, Out

# tanh as a quotient of polynomials (its truncated continued fraction), with an error of about 1e-4. Compilers
# vectorise it, and the error is far below the precision of the weights.
_LIMIT = np.float32(4.97)
_P0, _P1, _P2 = np.float32(135135.0), np.float32(17325.0), np.float32(378.0)
_Q1, _Q2, _Q3 = np.float32(62370.0), np.float32(3150.0), np.float32(28.0)
_HALF = np.float32(0.5)


@inner
def squash(x: np.float32) -> np.float32:
    """Return tanh(x)."""
    x = min(max(x, -_LIMIT), _LIMIT)
    y = x * x
    # np.divide, not /: the check for zero divisors would prevent vectorisation.
    return np.divide(x * (_P0 + y * (_P1 + y * (_P2 + y))), _P0 + y * (_Q1 + y * (_Q2 + y * _Q3)))


@kernel(wide=True)
def cell(
    gates: Out[Float32x2],
    inputs: Float32x3,
    side: int,
    rows: Int64,
    state: Out[Float32x2],
    out: Out[Float32x2],
    start: int,
    column: int,
    again: Out[Float32x2],
    then: int,
    place: int,
    kept: int,
) -> None:
    """Compute one LSTM step from products in `gates` (n or more, 4h) and further inputs `inputs[rows, side]`.

    The order of the gates is input, forget, candidate, output. The weights of the three sigmoid gates are
    halved beforehand, since sigmoid(2x) = (tanh(x) + 1) / 2. `state` (n, h) is updated. Results go to
    `out[start:, column:]`, and the first `kept` of them also to `again[then:, place:]` for the next step.
    Arguments are whole arrays with offsets because kernels need contiguous arrays.
    """
    n, width = state.shape
    for i in range(n):
        gate = gates[i]
        added = inputs[rows[i], side]
        memory = state[i]
        result = out[start + i][column : column + width]
        for j in range(4 * width):
            gate[j] = squash(gate[j] + added[j])
        for j in range(width):
            left = (gate[width + j] * _HALF + _HALF) * memory[j]
            memory[j] = left + (gate[j] * _HALF + _HALF) * gate[2 * width + j]
        for j in range(width):
            result[j] = (gate[3 * width + j] * _HALF + _HALF) * squash(memory[j])
        if i < kept:
            copy = again[then + i][place : place + width]
            for j in range(width):
                copy[j] = result[j]
