"""Kernels of :mod:`captious.metrics.captions.token_alignment`: best matches of tokens and their means.

Means are in single precision, where the order of addition shows in the last digit. It is that of NumPy's
sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from captious.kernels import inner, kernel
from captious.kernels.types import Float32, Float64, Float64x2, Int64, Int64x2, Out

_LEAST = np.float32(1e-6)
_ONE = np.float32(1.0)

#: NumPy adds eight partial sums in runs of at most this length. Longer ranges are added run by run.
_RUN = 128


@inner
def added(values: Float32 | Float64, low: int, high: int) -> np.floating[Any]:
    """Return the sum of ``values[low:high]`` (at least one value), in the order of NumPy's ``sum``."""
    total = values[low]
    if high - low < 8:
        for i in range(low + 1, high):
            total += values[i]
        return total
    for start in range(low, high, _RUN):
        end = min(start + _RUN, high)
        part = values[start]
        whole = start
        if end - start >= 8:
            r0, r1, r2, r3 = values[start], values[start + 1], values[start + 2], values[start + 3]
            r4, r5, r6, r7 = values[start + 4], values[start + 5], values[start + 6], values[start + 7]
            whole = start + 8
            while whole + 8 <= end:
                r0 += values[whole]
                r1 += values[whole + 1]
                r2 += values[whole + 2]
                r3 += values[whole + 3]
                r4 += values[whole + 4]
                r5 += values[whole + 5]
                r6 += values[whole + 6]
                r7 += values[whole + 7]
                whole += 8
            part = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
        else:
            whole = start + 1
        for i in range(whole, end):
            part += values[i]
        total = part if start == low else total + part
    return total


@inner
def joined(values: Float32, low: int, high: int) -> np.float32:
    """Return the sum of ``values[low:high]`` (at least one value), in the order of NumPy's ``add.reduceat``.

    It adds the first value to the sum of the others.
    """
    return values[low] + added(values, low + 1, high) if high - low > 1 else values[low]


@kernel
def maxima(
    products: Float32,
    items: Int64x2,
    first_a: Int64,
    tokens_a: Int64,
    first_b: Int64,
    tokens_b: Int64,
    near_at: Int64,
    back_at: Int64,
    near: Out[Float32],
    back: Out[Float32],
) -> None:
    """Find the best match of each token of one side in each caption of the other side, and vice versa.

    An item is a piece of an image's products: the image, its first and last row, and where they start in
    ``products``. ``near`` has a row for each caption of b in an image. ``back``, the matches in the other
    direction, starts at the least value and has a row for each caption of a.
    """
    for k in range(items.shape[0]):
        image, low, high, start = items[k, 0], items[k, 1], items[k, 2], items[k, 3]
        a0, a1 = tokens_a[first_a[image]], tokens_a[first_a[image + 1]]
        b0, b1 = tokens_b[first_b[image]], tokens_b[first_b[image + 1]]
        for c in range(first_a[image], first_a[image + 1]):
            row = back_at[image] + (c - first_a[image]) * (b1 - b0) - b0
            for t in range(max(low, tokens_a[c]), min(high, tokens_a[c + 1])):
                here = start + (t - low) * (b1 - b0) - b0
                for r in range(first_b[image], first_b[image + 1]):
                    best = products[here + tokens_b[r]]
                    for j in range(tokens_b[r], tokens_b[r + 1]):
                        value = products[here + j]
                        best = max(best, value)
                        back[row + j] = max(back[row + j], value)
                    near[near_at[image] + (r - first_b[image]) * (a1 - a0) + t - a0] = best


@kernel
def pair_means(
    first_a: Int64,
    tokens_a: Int64,
    weights_a: Float32,
    pairs: Int64,
    first_b: Int64,
    tokens_b: Int64,
    weights_b: Float32,
    places: Int64,
    near_at: Int64,
    back_at: Int64,
    near: Float32,
    back: Float32,
    room: Out[Float32],
    by_pair: Out[Float64x2],
    by_caption: Out[Float64x2],
    captions: Int64,
) -> None:
    """Average the best matches of each pair of captions, plain and weighted, in both directions.

    Each caption is also averaged against all captions of the other side at once. ``pairs`` holds the first
    pair of each caption of a, ``places`` the index of each caption of b within its image. ``room`` is scratch
    space of one number per token.
    """
    for image in range(first_a.shape[0] - 1):
        ours, theirs = first_a[image], first_b[image]
        a0, b0 = tokens_a[ours], tokens_b[theirs]
        n, m = tokens_a[first_a[image + 1]] - a0, tokens_b[first_b[image + 1]] - b0
        if m == 0:
            continue
        for c in range(ours, first_a[image + 1]):
            low, high = tokens_a[c], tokens_a[c + 1]
            total = max(joined(weights_a, low, high), _LEAST)
            for r in range(theirs, first_b[image + 1]):
                pair = pairs[c] + places[r]
                row = near_at[image] + (r - theirs) * n - a0
                by_pair[0, pair] = joined(near, row + low, row + high) / (high - low)
                for t in range(low, high):
                    room[t - low] = near[row + t] * weights_a[t]
                by_pair[2, pair] = joined(room, 0, high - low) / total
                start, end = tokens_b[r], tokens_b[r + 1]
                row = back_at[image] + (c - ours) * m - b0
                by_pair[1, pair] = joined(back, row + start, row + end) / (end - start)
                for t in range(start, end):
                    room[t - start] = back[row + t] * weights_b[t]
                by_pair[3, pair] = joined(room, 0, end - start) / max(joined(weights_b, start, end), _LEAST)
            for t in range(low, high):
                best = near[near_at[image] + t - a0]
                for r in range(1, first_b[image + 1] - theirs):
                    best = max(best, near[near_at[image] + r * n + t - a0])
                room[t - low] = best
            caption = captions[c]
            by_caption[0, caption] = joined(room, 0, high - low) / (high - low)
            worst = (_ONE - room[0]) * weights_a[low]
            for t in range(low, high):
                worst = max(worst, (_ONE - room[t - low]) * weights_a[t])
                room[t - low] *= weights_a[t]
            by_caption[1, caption] = joined(room, 0, high - low) / total
            by_caption[2, caption] = worst


@kernel
def mutual_means(
    first: Int64,
    tokens: Int64,
    weights: Float32,
    near_at: Int64,
    near: Float32,
    others: Out[Float32],
    best: Out[Float32],
    row: Out[Float32],
    plain: Out[Float64],
    weighted: Out[Float32],
    images: Int64,
    out: Out[Float64x2],
) -> None:
    """Average the best matches of each image's captions in its other captions: in each of them, and in any.

    Images with one caption are skipped. The remaining arrays are scratch space: ``others`` and ``best`` of
    one number per token, ``row``, ``plain`` and ``weighted`` of one per caption.
    """
    for image in range(first.shape[0] - 1):
        ours = first[image]
        count = first[image + 1] - ours
        if count < 2:
            continue
        t0, n = tokens[ours], tokens[first[image + 1]] - tokens[ours]
        for c in range(count):
            for t in range(tokens[ours + c], tokens[ours + c + 1]):
                nearest = near[near_at[image] + (1 if c == 0 else 0) * n + t - t0]
                for r in range(count):
                    row[r] = near[near_at[image] + r * n + t - t0]
                    if r != c:
                        nearest = max(nearest, row[r])
                row[c] = 0.0
                others[t - t0] = added(row, 0, count) / np.float32(count - 1)
                best[t - t0] = nearest
        for place in range(2):
            values = others if place == 0 else best
            for c in range(count):
                low, high = tokens[ours + c] - t0, tokens[ours + c + 1] - t0
                plain[c] = joined(values, low, high) / (high - low)
                total = max(joined(weights, low + t0, high + t0), _LEAST)
                for t in range(low, high):
                    values[t] *= weights[t + t0]
                weighted[c] = joined(values, low, high) / total
            out[2 * place, images[image]] = added(plain, 0, count) / count
            out[2 * place + 1, images[image]] = added(weighted, 0, count) / np.float32(count)
