"""Kernels of the parser's network: LSTM steps, and decoding of scores to trees, relations and tags."""

from __future__ import annotations

import numpy as np

from captious.kernels import inner, kernel
from captious.kernels.types import Float32, Float32x2, Float32x3, Int64, Int64x2, Int64x3, Out

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
    copied: int,
) -> None:
    """Compute one LSTM step from products in `gates` (n or more, 4h) and further inputs `inputs[rows, side]`.

    The order of the gates is input, forget, candidate, output. The weights of the three sigmoid gates are
    halved beforehand, since sigmoid(2x) = (tanh(x) + 1) / 2. `state` (n, h) is updated. Results go to
    `out[start:, column:]`, and the first `copied` of them also to `again[then:, place:]` for the next step.
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
        if i < copied:
            copy = again[then + i][place : place + width]
            for j in range(width):
                copy[j] = result[j]


_NEVER = np.float32(-1e30)


@inner
def best_tree(scores: Float32x2, heads: Out[Int64], chart: Out[Float32x3], places: Out[Int64x3]) -> None:
    """Find the best projective tree of one sentence.

    `scores[d, h]` is the score of word d + 1 under head h (0 = root). Exactly one word depends on the root.
    The chart is over words only. It has complete and open spans whose head is the right end (0) or the left
    end (1), by (left, right). The arrays named `back` are indexed by (right, left), so that sums read
    contiguous memory. `places` has the split of each span.
    """
    n = scores.shape[0]
    complete0, complete1, complete0_back = chart[0], chart[1], chart[2]
    complete1_back, open0_back, open1 = chart[3], chart[4], chart[5]
    for i in range(n):
        complete0[i, i] = 0.0
        complete1[i, i] = 0.0
        complete0_back[i, i] = 0.0
        complete1_back[i, i] = 0.0
    for span in range(1, n):
        for left in range(n - span):
            right = left + span
            best = _NEVER
            where = left
            for k in range(left, right):
                value = complete1[left, k] + complete0_back[right, k + 1]
                if value > best:
                    best = value
                    where = k
            open0_back[right, left] = best + scores[left, right + 1]
            open1[left, right] = best + scores[right, left + 1]
            places[2, left, right] = where
            best = _NEVER
            where = left
            for k in range(left, right):
                value = complete0[left, k] + open0_back[right, k]
                if value > best:
                    best = value
                    where = k
            complete0[left, right] = best
            complete0_back[right, left] = best
            places[0, left, right] = where
            best = _NEVER
            where = right
            for k in range(left + 1, right + 1):
                value = open1[left, k] + complete1_back[right, k]
                if value > best:
                    best = value
                    where = k
            complete1[left, right] = best
            complete1_back[right, left] = best
            places[1, left, right] = where
    best = _NEVER
    root = 0
    for r in range(n):
        value = complete0[0, r] + complete1[r, n - 1] + scores[r, 0]
        if value > best:
            best = value
            root = r
    heads[root] = 0
    # Backtrack with a stack of (left, right, direction, whether complete).
    stack = np.empty((4 * n + 8, 4), np.int64)
    top = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, root, 0, 1
    stack[1, 0], stack[1, 1], stack[1, 2], stack[1, 3] = root, n - 1, 1, 1
    top = 2
    while top > 0:
        top -= 1
        left, right, side, done = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if left == right:
            continue
        if done == 1:
            k = places[side, left, right]
            if side == 0:
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = left, k, 0, 1
                stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = k, right, 0, 0
            else:
                stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = left, k, 1, 0
                stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = k, right, 1, 1
        else:
            if side == 0:
                heads[left] = right + 1
            else:
                heads[right] = left + 1
            k = places[2, left, right]
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = left, k, 1, 1
            stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = k + 1, right, 0, 1
        top += 2


@kernel(wide=True)
def best_trees(scores: Float32x3, distance: Float32, heads: Out[Int64x2]) -> None:
    """Find the trees of sentences of one length.

    The shapes are scores (n, length, length + 1), distance (2D + 1,) and heads (n, length).
    """
    sentences, n, _ = scores.shape
    far = distance.shape[0] // 2
    chart = np.zeros((6, n, n), np.float32)
    places = np.zeros((3, n, n), np.int64)
    sums = np.empty((n, n + 1), np.float32)
    for s in range(sentences):
        for d in range(n):
            sums[d, 0] = scores[s, d, 0]
            for h in range(n):
                away = min(max(h - d, -far), far)
                sums[d, h + 1] = scores[s, d, h + 1] + distance[away + far]
        best_tree(sums, heads[s], chart, places)


@kernel(wide=True)
def rectify(
    outputs: Float32x2,
    bias: Float32,
    rows: Int64,
    places: Int64,
    dependent: Out[Float32x2],
    keys: Out[Float32x2],
) -> None:
    """Compute arc vectors of words from the network's first columns: max(x, x / 10), x with the bias added.

    Word w is row `rows[w]` of `outputs`. Its vector as a dependent goes to `dependent[w]`, as a head to
    `keys[places[w]]`.
    """
    width = dependent.shape[1]
    tenth = np.float32(0.1)
    own, others = bias[:width], bias[width : 2 * width]
    for w in range(rows.shape[0]):
        word, governor = outputs[rows[w]][:width], outputs[rows[w]][width : 2 * width]
        row, key = dependent[w], keys[places[w]]
        for j in range(width):
            value = word[j] + own[j]
            row[j] = max(value, value * tenth)
        for j in range(width):
            value = governor[j] + others[j]
            key[j] = max(value, value * tenth)


@kernel(wide=True)
def meet(
    outputs: Float32x2,
    first: int,
    bias: Float32,
    root: Float32,
    rows: Int64,
    heads: Int64,
    out: Out[Float32x2],
) -> None:
    """Compute the relation vectors of arcs: relu(dependent + head).

    Word w is row `rows[w]` of `outputs`, its head row `heads[w]`, −1 for the root. The columns from `first`
    on are those of dependents, followed by those of heads; the bias is added to both. Slices avoid a sign
    check for every column.
    """
    width = root.shape[0]
    zero = np.float32(0.0)
    after = first + width
    own, others = bias[first:after], bias[after : after + width]
    for w in range(rows.shape[0]):
        word, result = outputs[rows[w]][first:after], out[w]
        if heads[w] < 0:
            for j in range(width):
                result[j] = max(word[j] + own[j] + root[j], zero)
        else:
            governor = outputs[heads[w]][after : after + width]
            for j in range(width):
                result[j] = max(word[j] + own[j] + (governor[j] + others[j]), zero)


@kernel(wide=True)
def best_columns(scores: Float32x2, rows: Int64, first: int, bias: Float32, out: Out[Int64]) -> None:
    """Find the first column with the highest score + bias in each row, counted from the column `first`."""
    added = bias[first:]
    for w in range(rows.shape[0]):
        row = scores[rows[w]][first:]
        best = row[0] + added[0]
        where = 0
        for j in range(1, row.shape[0]):
            value = row[j] + added[j]
            if value > best:
                best = value
                where = j
        out[w] = where
