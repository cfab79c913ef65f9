"""Exact optimal transport between small bags of words.

The masses are whole numbers (counts scaled to a common total), so augmenting paths end after finitely many steps and
no mass is lost to rounding: the value is exact up to the rounding of sums of distances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.errors import MissingExtraError
from captious.kernels import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@kernel
def transport(cost, n, m, supply, demand, flow, u, v, distance, before_column, before_row, state):  # type: ignore[no-untyped-def]
    """Least total cost of moving ``supply[:n]`` to ``demand[:m]`` (equal totals; both are used up).

    Shortest augmenting paths with potentials, as for assignment problems, except that a node can be used by several
    partners. ``flow`` (n, m) receives the plan; u, v, distance, before_column, before_row and state are working space of
    at least max(n, m) elements.
    """
    # Potentials from the cheapest ways, and as much as possible sent along them.
    for j in range(m):
        v[j] = cost[0, j]
        for i in range(1, n):
            v[j] = min(v[j], cost[i, j])
    for i in range(n):
        u[i] = cost[i, 0] - v[0]
        for j in range(1, m):
            u[i] = min(u[i], cost[i, j] - v[j])
        for j in range(m):
            flow[i, j] = 0
            if supply[i] > 0 and demand[j] > 0 and cost[i, j] - v[j] <= u[i]:
                sent = min(supply[i], demand[j])
                flow[i, j] = sent
                supply[i] -= sent
                demand[j] -= sent
    for source in range(n):
        while supply[source] > 0:
            # state of a column: 0 open, 1 settled; before_row[i] >= 0: row i was reached through that column.
            for j in range(m):
                distance[j] = cost[source, j] - u[source] - v[j]
                before_column[j] = source
                state[j] = 0
            for i in range(n):
                before_row[i] = -1
            while True:
                end = -1
                for j in range(m):
                    if state[j] == 0 and (end < 0 or distance[j] < distance[end]):
                        end = j
                if demand[end] > 0:
                    break
                state[end] = 1
                for i in range(n):
                    if flow[i, end] > 0 and before_row[i] < 0 and i != source:
                        before_row[i] = end
                        for j in range(m):
                            if state[j] == 0:
                                through = distance[end] + cost[i, j] - u[i] - v[j]
                                if through < distance[j]:
                                    distance[j] = through
                                    before_column[j] = i
            far = distance[end]
            u[source] += far
            for i in range(n):
                if before_row[i] >= 0:
                    u[i] += far - distance[before_row[i]]
            for j in range(m):
                if state[j] == 1:
                    v[j] -= far - distance[j]
            # The path back, once for the most that it carries and once to send it.
            sent = min(supply[source], demand[end])
            j = end
            while before_column[j] != source:
                i = before_column[j]
                j = before_row[i]
                sent = min(sent, flow[i, j])
            supply[source] -= sent
            demand[end] -= sent
            j = end
            while True:
                i = before_column[j]
                flow[i, j] += sent
                if i == source:
                    break
                j = before_row[i]
                flow[i, j] -= sent
    total = 0.0
    for i in range(n):
        for j in range(m):
            if flow[i, j] > 0:
                total += flow[i, j] * cost[i, j]
    return total


def transport_large(cost: Floats, supply: Integers, demand: Integers) -> float:
    """The same for problems with very many words: POT's network simplex."""
    try:
        import ot
    except ImportError as error:
        raise MissingExtraError("POT", "wmd", "word mover's distance between captions of hundreds of words") from error
    total = int(supply.sum())
    value = ot.emd2(supply / total, demand / total, np.ascontiguousarray(cost), numItermax=10_000_000)
    return float(value) * total
