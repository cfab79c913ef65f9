"""The recurrent layers, step by step: one matrix product and one fused elementwise pass per step.

The elementwise pass exists twice, as a Numba kernel and as NumPy array operations. Both do the same operations in
the same order in single precision, so they agree to the last bit; small inputs use NumPy unless the kernel is at hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

Floats = NDArray[np.float32]

# tanh as a quotient of polynomials (its continued fraction, cut off), right to about 1e-4: plain arithmetic, which
# compilers turn into vector instructions, and far finer than the weights' own precision.
_LIMIT = np.float32(4.97)
_P0, _P1, _P2 = np.float32(135135.0), np.float32(17325.0), np.float32(378.0)
_Q1, _Q2, _Q3 = np.float32(62370.0), np.float32(3150.0), np.float32(28.0)
_HALF = np.float32(0.5)

ENOUGH = 4096  # elements of a step (sentences x width) from which compiling pays


@kernel
def squash(x):  # type: ignore[no-untyped-def]
    """tanh of one number."""
    x = min(max(x, -_LIMIT), _LIMIT)
    y = x * x
    # np.divide, not /: Numba would check each divisor for zero, and could not vectorise the loop.
    return np.divide(x * (_P0 + y * (_P1 + y * (_P2 + y))), _P0 + y * (_Q1 + y * (_Q2 + y * _Q3)))


def squash_array(x: Floats) -> Floats:
    """tanh of an array, as `squash` computes it."""
    x = np.clip(x, -_LIMIT, _LIMIT)
    y = x * x
    result: Floats = x * (_P0 + y * (_P1 + y * (_P2 + y))) / (_P0 + y * (_Q1 + y * (_Q2 + y * _Q3)))
    return result


@kernel
def cell(gates, inputs, side, rows, state, out, t, column):  # type: ignore[no-untyped-def]
    """One LSTM step: `gates` (n, 4h) holds the products, `inputs[rows, side]` what is added to them.

    The order of the gates is input, forget, candidate, output; the weights of the three sigmoid gates are halved
    beforehand, since sigmoid(2x) = (tanh(x) + 1) / 2. `state` (n, h) is updated; the result goes to
    `out[t, :, column:column + h]`. Whole arrays and offsets, not slices, so that Numba knows they are contiguous.
    """
    n, width = state.shape
    for i in range(n):
        gate = gates[i]
        added = inputs[rows[i], side]
        memory = state[i]
        result = out[t, i][column : column + width]
        for j in range(4 * width):
            gate[j] = squash(gate[j] + added[j])
        for j in range(width):
            kept = (gate[width + j] * _HALF + _HALF) * memory[j]
            memory[j] = kept + (gate[j] * _HALF + _HALF) * gate[2 * width + j]
        for j in range(width):
            result[j] = (gate[3 * width + j] * _HALF + _HALF) * squash(memory[j])


def cell_arrays(
    gates: Floats, inputs: Floats, side: int, rows: NDArray[np.int64], state: Floats, out: Floats, t: int, column: int
) -> None:
    """The same as `cell`, in array operations."""
    width = state.shape[1]
    gates[:] = squash_array(gates + inputs[rows, side])
    sigmoid = gates * _HALF + _HALF
    kept = sigmoid[:, width : 2 * width] * state
    state[:] = kept + sigmoid[:, :width] * gates[:, 2 * width : 3 * width]
    out[t, :, column : column + width] = sigmoid[:, 3 * width :] * squash_array(state)


def stepping(gates: Floats, inputs: Floats, side: int, rows: NDArray[np.int64], state: Floats, out: Floats) -> Callable[..., None]:
    """The form of an LSTM step that suits the amount of work: `cell` for arrays like these, or `cell_arrays`."""
    arguments = (gates, inputs, side, rows, state, out, 0, 0)
    if state.size < ENOUGH:
        return cell.compiled.kept(*arguments) or cell_arrays
    return cell.compiled.form(*arguments)
