"""Assignment of rows to columns, one to one, with the largest sum (the Hungarian method)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def assign(gains: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the column of each row, −1 where there are more rows than columns.

    Rows are added one by one by the shortest augmenting path, so time is cubic.

    Examples
    --------
    >>> assign(np.array([[0.9, 0.8], [0.9, 0.1]])).tolist()
    [1, 0]
    """
    rows, columns = gains.shape
    if rows > columns:
        by_column = assign(gains.T)
        chosen = np.full(rows, -1, np.int64)
        chosen[by_column] = np.arange(columns)
        return chosen
    costs = -np.asarray(gains, np.float64)
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    owner = np.full(columns, -1, np.int64)
    for row in range(rows):
        distance = np.full(columns, np.inf)
        before = np.full(columns, -1, np.int64)
        is_done = np.zeros(columns, np.bool_)
        current, column, shortest = row, -1, 0.0
        while True:
            reach = shortest + costs[current] - row_price[current] - column_price
            is_shorter = ~is_done & (reach < distance)
            distance[is_shorter], before[is_shorter] = reach[is_shorter], column
            column = int(np.where(is_done, np.inf, distance).argmin())
            shortest = float(distance[column])
            is_done[column] = True
            if owner[column] < 0:
                break
            current = int(owner[column])
        row_price[row] += shortest
        reached = is_done & (owner >= 0)
        row_price[owner[reached]] += shortest - distance[reached]
        column_price[is_done] += distance[is_done] - shortest
        while column >= 0:
            previous = int(before[column])
            owner[column] = row if previous < 0 else owner[previous]
            column = previous
    chosen = np.full(rows, -1, np.int64)
    chosen[owner[owner >= 0]] = np.flatnonzero(owner >= 0)
    return chosen
