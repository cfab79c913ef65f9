"""Overlap of events in time, and the assignment of predictions to reference events in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.io.event_files import Event

FloatArray = NDArray[np.float64]

#: Added to the union by densevid_eval and SODA, so that it is never 0.
_EPSILON = 1e-8


def overlaps(references: Sequence[Event], predictions: Sequence[Event]) -> FloatArray:
    """Return intersection over union in time, one row per reference and one column per prediction.

    The union is the smaller one of the hull and the sum of the two lengths, as in densevid_eval and SODA.
    """
    a, b = ([np.array([getattr(e, side) for e in events]) for side in ("start", "end")]
            for events in (references, predictions))  # fmt: skip
    (start, end), (other_start, other_end) = (x[:, None] for x in a), (x[None, :] for x in b)
    shared = np.maximum(0.0, np.minimum(end, other_end) - np.maximum(start, other_start))
    hull = np.maximum(end, other_end) - np.minimum(start, other_start)
    union = np.minimum(hull, (other_end - other_start) + end - start)
    ratio: FloatArray = shared / (union + _EPSILON)
    return ratio


class Assignment(NamedTuple):
    """Largest sum of a matrix over pairs whose rows and columns both rise, and these pairs."""

    total: float
    pairs: list[tuple[int, int]]


def assign(scores: FloatArray) -> Assignment:
    """Return the best assignment in order of time. Pairs without a positive score are left out."""
    rows, columns = scores.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        for j in range(columns):
            best[i + 1, j + 1] = max(best[i, j + 1], best[i + 1, j], best[i, j] + scores[i, j])
    pairs = []
    i, j = rows, columns
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return Assignment(float(best[-1, -1]), pairs[::-1])


def assign_as_published(scores: FloatArray) -> Assignment:
    """Return the total and the pairs of SODA's program.

    The total is the best one. The pairs differ from those of the best assignment where the last row adds
    nothing: the program takes the last match inside each row, whether or not the best total uses it. The
    first row and column always match if nothing better does, even without overlap.
    """
    rows, columns = scores.shape
    best = np.zeros(scores.shape)
    is_match = np.zeros(scores.shape, dtype=np.bool_)
    for i in range(rows):
        for j in range(columns):
            above = best[i - 1, j] if i else -1.0
            left = best[i, j - 1] if j else -1.0
            match = (best[i - 1, j - 1] if i and j else 0.0) + scores[i, j]
            best[i, j] = max(above, left, match)
            is_match[i, j] = match > max(above, left)
    pairs = []
    i, j = rows - 1, columns - 1
    while i >= 0 and j >= 0:
        matches = np.flatnonzero(is_match[i, : j + 1])
        if len(matches):
            pairs.append((i, int(matches[-1])))
            j = int(matches[-1]) - 1
        i -= 1
    return Assignment(float(best[-1, -1]), pairs[::-1])
