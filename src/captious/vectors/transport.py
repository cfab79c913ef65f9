"""Exact optimal transport between bags of words: a network simplex.

The masses are whole numbers (counts scaled to a common total), so no mass is lost to rounding: the value is exact up to the rounding of sums of
distances.

The words of both sides are the nodes of one tree, whose edges carry all that is moved. Each step brings one edge in that lowers the total, and takes
out one that it empties, until no edge does. Trees are kept such that mass could flow from every node to the root ("strongly feasible", Cunningham
1976), so that steps in which nothing moves cannot go round in circles.
"""

from __future__ import annotations

import numpy as np

from captious.kernels import kernel

#: Relative to the largest distance: a smaller gain is rounding.
_TOLERANCE = 1e-14


@kernel
def greedy(cost, n, m, supply, demand, rows, columns, sent, low):  # type: ignore[no-untyped-def]
    """A first plan: each row to the columns that are nearest for it, of those that are not full; a column counts as nearer the farther it is from
    all other rows. Returns how many entries it has; each fills a row or a column, so they form no circle. Uses up supply and demand."""
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


@kernel
def hang(node, above, parent, child, following, preceding):  # type: ignore[no-untyped-def]
    """Make a node a child of another."""
    parent[node] = above
    first = child[above]
    following[node], preceding[node] = first, -1
    if first >= 0:
        preceding[first] = node
    child[above] = node


@kernel
def measure(top, cost, n, parent, child, following, depth, potential):  # type: ignore[no-untyped-def]
    """Depth and potential of a node and of all below it, from its parent's."""
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


@kernel
def plant(cost, n, count, rows, columns, sent, parent, child, following, preceding, depth, potential, flow):  # type: ignore[no-untyped-def]
    """The tree of a plan. Parts that nothing connects hang from the root, by edges that lead there and stay empty."""
    nodes = parent.shape[0]
    root = nodes - 1
    # The entries of each node, in a chain: entry e stands there as 2e for its row and as 2e + 1 for its column.
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


@kernel
def exchange(i, column, cost, n, parent, child, following, preceding, depth, potential, flow):  # type: ignore[no-untyped-def]
    """Bring in the edge from row i to a column's node, and take out the edge of the circle that it empties first. Returns what is moved round."""
    root = parent.shape[0] - 1
    moved, leaving, below = np.int64(2**62), -1, i
    # The circle leads over the edge, up from the column and down to the row. On both ways edges that are passed against their direction empty. Of
    # several that are empty at the same time, the last on the way round, seen from the top, has to leave.
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
    # What hangs below the edge that leaves now hangs from the new one, which turns the edges between the two round.
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


@kernel
def listed(n, m, parent, flow, ends, places, amounts):  # type: ignore[no-untyped-def]
    """What the edges of a tree carry, in the order of rows and columns; ``ends`` is room for a number per row."""
    for i in range(n + 1):
        ends[i] = 0
    for x in range(n + m):
        if flow[x] > 0:
            ends[(x if x < n else parent[x]) + 1] += 1
    for i in range(n):
        ends[i + 1] += ends[i]
    used = ends[n]
    # Columns come in their order; then, into its place, the one that a row hangs from.
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


@kernel
def plan(cost, n, m, supply, demand, places, amounts):  # type: ignore[no-untyped-def]
    """The cheapest way to move ``supply[:n]`` to ``demand[:m]`` (equal totals above 0; both are used up): how many entries it has. ``places`` (row · m +
    column, ascending) and ``amounts`` have room for n + m of them."""
    nodes = n + m + 1
    rows, columns, sent = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    parent, child, following, preceding = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
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
        # One row after another: the edge with the largest gain.
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
            if exchange(i, n + best, cost, n, parent, child, following, preceding, depth, potential, flow) > 0:
                idle = 0
            elif idle > 20 * nodes:
                # Only rounding can do that.
                least *= 10.0
                idle = 0
        i = i + 1 if i + 1 < n else 0
    return listed(n, m, parent, flow, columns, places, amounts)


@kernel
def transport(cost, n, m, supply, demand):  # type: ignore[no-untyped-def]
    """Least total cost of moving ``supply[:n]`` to ``demand[:m]`` (equal totals above 0; both are used up)."""
    places, amounts = np.empty(n + m, np.int64), np.empty(n + m, np.int64)
    total = 0.0
    # In the order of rows and columns, whatever the tree looks like.
    for k in range(plan(cost, n, m, supply, demand, places, amounts)):
        total += amounts[k] * cost[places[k] // m, places[k] % m]
    return total
