"""Decoding against all projective trees of short sentences, and both forms of kernels against NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from captious.parser import network_kernels as cells
from captious.parser.network_kernels import best_columns, best_trees, cell, meet, rectify, squash
from tests.forms import both_forms, form_of


def projective_trees(n: int) -> Iterator[tuple[int, ...]]:
    """Every projective tree over n words with one word under the root, by trying all heads."""
    for heads in itertools.product(range(n + 1), repeat=n):
        if heads.count(0) != 1 or any(head == d for d, head in enumerate(heads, start=1)):
            continue
        if not all(_reaches_root(d, heads) for d in range(1, n + 1)):
            continue
        spans = [(min(d, h), max(d, h)) for d, h in enumerate(heads, start=1) if h]
        root = heads.index(0) + 1
        crossing = any(a < c < b < d for (a, b), (c, d) in itertools.permutations(spans, 2))
        if not crossing and not any(a < root < b for a, b in spans):
            yield heads


def _reaches_root(word: int, heads: tuple[int, ...]) -> bool:
    for _ in heads:
        word = heads[word - 1]
        if word == 0:
            return True
    return False


@both_forms
def test_the_best_tree_is_found(form: str) -> None:
    rng = np.random.default_rng(3)
    run = form_of(best_trees, form)
    for n in (1, 2, 3, 4, 5):
        scores = rng.normal(size=(6, n, n + 1)).astype(np.float32)
        heads = np.empty((6, n), np.int64)
        run(scores, np.zeros(3, np.float32), heads)
        for s in range(6):
            best = max(
                projective_trees(n),
                key=lambda tree, s=s: sum(scores[s, d, h] for d, h in enumerate(tree)),  # type: ignore[misc]
            )
            assert tuple(heads[s]) == best


def test_distance_counts() -> None:
    heads = np.empty((1, 3), np.int64)
    scores = np.zeros((1, 3, 4), np.float32)
    scores[0, :, 0] = [5, 0, 0]
    # Heads one to the left have the highest score.
    best_trees(scores, np.array([0, 0.5, 0, 0, 0], np.float32), heads)
    assert heads.tolist() == [[0, 1, 2]]
    # Heads two to the left, or one to the right; without a preference of its own, the second word takes the first.
    tied = scores.copy()
    tied[0, 1, 1] = 0.1
    best_trees(tied, np.array([0.5, 0, 0, 0, 0], np.float32), heads)
    assert heads.tolist() == [[0, 1, 1]]
    best_trees(scores[:, ::-1].copy(), np.array([0, 0, 0, 0.5, 0], np.float32), heads)
    assert heads.tolist() == [[2, 3, 0]]


@both_forms
def test_what_the_network_says_of_words_is_read_off_its_columns(form: str) -> None:
    """Bits equal those of array operations for the requested rows. Other rows do not change."""
    rng = np.random.default_rng(4)
    arc, label, tags = 3, 4, 5
    outputs = rng.normal(size=(30, 2 * (arc + label) + tags)).astype(np.float32)
    bias = rng.normal(size=outputs.shape[1]).astype(np.float32)
    rows = rng.permutation(30)[:20]
    sums = outputs + bias
    dependent, keys = np.empty((20, arc), np.float32), np.full((25, arc), 7, np.float32)
    places = rng.permutation(25)[:20]
    form_of(rectify, form)(outputs, bias, rows, places, dependent, keys)
    leaky = np.maximum(sums, sums * np.float32(0.1))[rows]
    assert (dependent == leaky[:, :arc]).all() and (keys[places] == leaky[:, arc : 2 * arc]).all()
    assert (np.delete(keys, places, 0) == 7).all()

    heads = rng.integers(-1, 30, size=20)
    heads[3] = -1
    root = rng.normal(size=label).astype(np.float32)
    met = np.full((22, label), 7, np.float32)
    form_of(meet, form)(outputs, 2 * arc, bias, root, rows, heads, met)
    own, others = sums[:, 2 * arc : 2 * arc + label], sums[:, 2 * arc + label : 2 * (arc + label)]
    theirs = np.where((heads < 0)[:, None], root, others[heads])
    assert (met[:20] == np.maximum(own[rows] + theirs, 0)).all() and (met[20:] == 7).all()

    best = np.empty(20, np.int64)
    form_of(best_columns, form)(outputs, rows, 2 * (arc + label), bias, best)
    assert (best == sums[rows, 2 * (arc + label) :].argmax(1)).all()
    form_of(best_columns, form)(
        np.zeros((1, 4), np.float32), np.zeros(1, np.int64), 1, np.zeros(4, np.float32), best
    )
    assert best[0] == 0


def squash_array(x: np.ndarray) -> np.ndarray:
    """Return an approximation of tanh in array operations, in the order of `squash`."""
    x = np.clip(x, -cells._LIMIT, cells._LIMIT)
    y = x * x
    result: np.ndarray = (
        x
        * (cells._P0 + y * (cells._P1 + y * (cells._P2 + y)))
        / (cells._P0 + y * (cells._Q1 + y * (cells._Q2 + y * cells._Q3)))
    )
    return result


def cell_arrays(
    gates: np.ndarray,
    inputs: np.ndarray,
    side: int,
    rows: np.ndarray,
    state: np.ndarray,
    out: np.ndarray,
    start: int,
    column: int,
    again: np.ndarray,
    then: int,
    place: int,
    kept: int,
) -> None:
    """Compute `cell` in array operations."""
    n, width = state.shape
    gates = squash_array(gates[:n] + inputs[rows, side])
    half = np.float32(0.5)
    sigmoid = gates * half + half
    left = sigmoid[:, width : 2 * width] * state
    state[:] = left + sigmoid[:, :width] * gates[:, 2 * width : 3 * width]
    result = sigmoid[:, 3 * width :] * squash_array(state)
    out[start : start + n, column : column + width] = result
    again[then : then + kept, place : place + width] = result[:kept]


def test_cells_agree_to_the_last_bit() -> None:
    """Array operations and both forms of the kernel round alike."""
    rng = np.random.default_rng(5)
    n, width = 9, 16
    gates = (3 * rng.normal(size=(n + 2, 4 * width))).astype(np.float32)
    inputs = rng.normal(size=(20, 2, 4 * width)).astype(np.float32)
    rows = rng.integers(0, 20, size=n)
    results = []
    for run in (cell_arrays, form_of(cell, "built"), cell.plain):
        state = np.linspace(-2, 2, n * width, dtype=np.float32).reshape(n, width)
        out, again = np.zeros((n + 5, 2 * width), np.float32), np.zeros((n + 1, width + 5), np.float32)
        run(gates.copy(), inputs, 1, rows, state, out, 2, width, again, 1, 5, n - 3)
        written = out[2 : 2 + n, width:]
        assert written.all() and np.count_nonzero(out) == written.size
        assert (again[1 : n - 2, 5:] == written[: n - 3]).all() and np.count_nonzero(again) == (n - 3) * width
        results.append((state, out))
    for state, out in results[1:]:
        assert (state == results[0][0]).all()
        assert (out == results[0][1]).all()


def test_squash_is_tanh() -> None:
    x = np.linspace(-9, 9, 2001, dtype=np.float32)
    assert np.abs(squash_array(x) - np.tanh(x)).max() < 2e-4
    assert squash(np.float32(0.5)) == squash_array(np.array([0.5], np.float32))[0]
