"""Exact optimal transport between bags of words by a network simplex.

The masses are integers (counts scaled to a common total), so the value is exact up to the rounding of sums of
distances.

The words of both sides are the nodes of one tree, whose edges carry the flow. Each step adds an edge that
lowers the total cost and removes an edge that it empties, until no edge lowers it. Trees are kept strongly
feasible (Cunningham 1976: mass could flow from every node to the root), so steps without flow cannot cycle.
"""

from __future__ import annotations

import numpy as np

from captious.kernels import inner
from captious.kernels.types import Float64, Float64x2, Int64, Out

#: Smallest gain relative to the largest distance; smaller ones are rounding errors.
_TOLERANCE = 1e-14


@inner
def greedy(
    cost: Float64x2,
    n: int,
    m: int,
    supply: Out[Int64],
    demand: Out[Int64],
    rows: Out[Int64],
    columns: Out[Int64],
    sent: Out[Int64],
    low: Out[Float64],
) -> int:
    """Write a first plan and return its number of entries. Supply and demand are used up.

    Each row goes to the columns with free demand that are nearest relative to the column's nearest row. Every
    entry exhausts a row or a column, so the entries form no cycle.
    """
    for j in range(m):
        low[j] = cost[0, j]
        for i in range(1, n):
            low[j] = min(low[j], cost[i, j])
    count = 0
    for i in range(n):
        while supply[i] > 0:
            best = -1
            for j in range(m):
                if demand[j] > 0 and (best < 0 or cost[i, j] - low[j] < cost[i, best] - low[best]):
                    best = j
            moved = min(supply[i], demand[best])
            supply[i] -= moved
            demand[best] -= moved
            rows[count], columns[count], sent[count] = i, best, moved
            count += 1
    return count


@inner
def hang(
    node: int, above: int, parent: Out[Int64], child: Out[Int64], following: Out[Int64], preceding: Out[Int64]
) -> None:
    """Make a node a child of another."""
    parent[node] = above
    first = child[above]
    following[node], preceding[node] = first, -1
    if first >= 0:
        preceding[first] = node
    child[above] = node


@inner
def measure(
    top: int,
    cost: Float64x2,
    n: int,
    parent: Int64,
    child: Int64,
    following: Int64,
    depth: Out[Int64],
    potential: Out[Float64],
) -> None:
    """Compute depth and potential of a node and its descendants from those of its parent."""
    root = parent.shape[0] - 1
    x = top
    while True:
        above = parent[x]
        depth[x] = depth[above] + 1
        if above == root:
            potential[x] = 0.0
        elif x < n:
            potential[x] = potential[above] - cost[x, above - n]
        else:
            potential[x] = potential[above] + cost[above, x - n]
        if child[x] >= 0:
            x = child[x]
            continue
        while x != top and following[x] < 0:
            x = parent[x]
        if x == top:
            return
        x = following[x]


@inner
def plant(
    cost: Float64x2,
    n: int,
    count: int,
    rows: Int64,
    columns: Int64,
    sent: Int64,
    parent: Out[Int64],
    child: Out[Int64],
    following: Out[Int64],
    preceding: Out[Int64],
    depth: Out[Int64],
    potential: Out[Float64],
    flow: Out[Int64],
) -> None:
    """Build the tree of a plan. Unconnected parts are children of the root, by edges without flow."""
    nodes = parent.shape[0]
    root = nodes - 1
    # The entries of each node as a linked list. Entry e is 2e in the list of its row and 2e + 1 in that of
    # its column.
    last = np.full(nodes, -1, np.int64)
    before = np.empty(2 * count, np.int64)
    for e in range(count):
        before[2 * e], before[2 * e + 1] = last[rows[e]], last[n + columns[e]]
        last[rows[e]], last[n + columns[e]] = 2 * e, 2 * e + 1
    for x in range(nodes):
        parent[x], child[x], following[x], preceding[x], flow[x] = -1, -1, -1, -1, 0
    depth[root], potential[root] = 0, 0.0
    stack = np.empty(nodes, np.int64)
    for start in range(root):
        if parent[start] >= 0:
            continue
        hang(start, root, parent, child, following, preceding)
        stack[0] = start
        size = 1
        while size > 0:
            size -= 1
            x = stack[size]
            k = last[x]
            while k >= 0:
                e = k // 2
                other = n + columns[e] if k % 2 == 0 else rows[e]
                if other != parent[x]:
                    hang(other, x, parent, child, following, preceding)
                    flow[other] = sent[e]
                    stack[size] = other
                    size += 1
                k = before[k]
        measure(start, cost, n, parent, child, following, depth, potential)


@inner
def exchange(
    i: int,
    column: int,
    cost: Float64x2,
    n: int,
    parent: Out[Int64],
    child: Out[Int64],
    following: Out[Int64],
    preceding: Out[Int64],
    depth: Out[Int64],
    potential: Out[Float64],
    flow: Out[Int64],
) -> int:
    """Add an edge from row i to a column's node, remove the edge that it empties, return the moved mass."""
    root = parent.shape[0] - 1
    moved, leaving, below = np.int64(2**62), -1, i
    # The cycle leads over the new edge, up from the column and down to the row. Edges passed against their
    # direction lose mass. If several empty at once, the last one of the cycle, starting at its top, has to
    # leave.
    u, v = i, column
    while u != v:
        if depth[u] >= depth[v]:
            if (u < n or parent[u] == root) and flow[u] < moved:
                moved, leaving, below = flow[u], u, i
            u = parent[u]
        else:
            v = parent[v]
    top = u
    v = column
    while v != top:
        if not (v < n or parent[v] == root) and flow[v] <= moved:
            moved, leaving, below = flow[v], v, column
        v = parent[v]
    if moved > 0:
        u = i
        while u != top:
            flow[u] += -moved if u < n or parent[u] == root else moved
            u = parent[u]
        v = column
        while v != top:
            flow[v] += moved if v < n or parent[v] == root else -moved
            v = parent[v]
    # The subtree below the leaving edge moves to the new edge, which reverses the edges between the two.
    above = column if below == i else i
    x, carried = below, moved
    while True:
        old, own = parent[x], flow[x]
        if preceding[x] >= 0:
            following[preceding[x]] = following[x]
        else:
            child[old] = following[x]
        if following[x] >= 0:
            preceding[following[x]] = preceding[x]
        hang(x, above, parent, child, following, preceding)
        flow[x] = carried
        if x == leaving:
            break
        above, carried, x = x, own, old
    measure(below, cost, n, parent, child, following, depth, potential)
    return moved


@inner
def listed(
    n: int, m: int, parent: Int64, flow: Int64, ends: Out[Int64], places: Out[Int64], amounts: Out[Int64]
) -> int:
    """List the flow of a tree's edges in the order of rows and columns.

    ``ends`` is scratch space, n + 1 numbers.
    """
    for i in range(n + 1):
        ends[i] = 0
    for x in range(n + m):
        if flow[x] > 0:
            ends[(x if x < n else parent[x]) + 1] += 1
    for i in range(n):
        ends[i + 1] += ends[i]
    used = ends[n]
    # Entries of columns are in order. Then the entry of each row's own parent is inserted.
    for x in range(n, n + m):
        if flow[x] > 0:
            k = ends[parent[x]]
            places[k], amounts[k] = parent[x] * m + x - n, flow[x]
            ends[parent[x]] += 1
    for x in range(n):
        if flow[x] > 0:
            k, place = ends[x], x * m + parent[x] - n
            while k > 0 and places[k - 1] > place:
                places[k], amounts[k] = places[k - 1], amounts[k - 1]
                k -= 1
            places[k], amounts[k] = place, flow[x]
            ends[x] += 1
    return used


@inner
def plan(
    cost: Float64x2,
    n: int,
    m: int,
    supply: Out[Int64],
    demand: Out[Int64],
    places: Out[Int64],
    amounts: Out[Int64],
) -> int:
    """Write the cheapest plan to move ``supply[:n]`` to ``demand[:m]`` and return its number of entries.

    The totals have to be equal and above 0; both arrays are used up. ``places`` (row · m + column, ascending)
    and ``amounts`` need room for n + m entries.
    """
    nodes = n + m + 1
    rows, columns, sent = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    parent, child = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    following, preceding = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    depth, flow, potential = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes)
    count = greedy(cost, n, m, supply, demand, rows, columns, sent, potential)
    plant(cost, n, count, rows, columns, sent, parent, child, following, preceding, depth, potential, flow)
    largest = 0.0
    for i in range(n):
        for j in range(m):
            largest = max(largest, cost[i, j])
    least = -_TOLERANCE * largest
    i, since, idle = 0, 0, 0
    while since < n:
        # The edge of this row with the largest gain.
        gain, best = least, -1
        here = potential[i]
        for j in range(m):
            reduced = cost[i, j] + here - potential[n + j]
            if reduced < gain:
                gain, best = reduced, j
        since += 1
        if best >= 0:
            since = 0
            idle += 1
            if (
                exchange(i, n + best, cost, n, parent, child, following, preceding, depth, potential, flow)
                > 0
            ):
                idle = 0
            elif idle > 20 * nodes:
                # Only rounding errors can cause so many steps without flow.
                least *= 10.0
                idle = 0
        i = i + 1 if i + 1 < n else 0
    return listed(n, m, parent, flow, columns, places, amounts)


@inner
def transport(cost: Float64x2, n: int, m: int, supply: Out[Int64], demand: Out[Int64]) -> float:
    """Return the least cost of moving ``supply[:n]`` to ``demand[:m]`` (equal totals > 0; both used up)."""
    places, amounts = np.empty(n + m, np.int64), np.empty(n + m, np.int64)
    total = 0.0
    # Summed in the order of rows and columns, so that the result does not depend on the tree.
    for k in range(plan(cost, n, m, supply, demand, places, amounts)):
        total += amounts[k] * cost[places[k] // m, places[k] % m]
    return total
