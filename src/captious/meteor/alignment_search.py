"""The search for the best alignment among the possible matches of two lines.

The reference implementation's beam search keeps 40 paths at each position. It is exact but slow. Short lines
are searched by merging paths with the same future first: two paths at the same position that have used the
same of the words that can still be matched, and whose open chunks continue with the same matches. The worse
one never overtakes the better one, so the better one is enough. Few paths remain where a beam holds dozens.

The result of the beam search may differ where it drops a step of the best path. Each merged path therefore
counts the paths that it represents: the best path is certain if at each step no more than 40 paths can
precede it. Otherwise (a few of a hundred pairs of captions) the caller runs the beam search.
"""

from __future__ import annotations

from captious.kernels import inner
from captious.kernels.types import Int32, Int32x2, Int32x3, Int64, Int64x2, Int64x3, Out
from captious.meteor.matches import EXACT

#: Paths that the reference implementation keeps at each position.
BEAM = 40

#: Longest line, in words, whose words fit into the bits of a number.
SHORT = 62

#: Rank and distance in one number: a chunk outweighs any distance, and a word any number of chunks.
CHUNK = 1 << 40
WORD = 1 << 48

#: End of an open chunk that none of the next matches continues.
_ELSEWHERE = 63
#: Greatest count of paths.
_MANY = 1 << 20
#: Columns of a path: rank, times 2, plus 0 if it has just closed a chunk, else 1; used words; next position
#: of line 2, times 64, plus the end of the open chunk in line 1 (0: none; else counted from 1); number of
#: paths that it represents with as many words, and with fewer; whether the reference implementation certainly
#: has it; parent, times 2^32, plus match.
RANK, USED, PLACE, ALIKE, FEWER, SAFE, FROM = range(7)
COLUMNS = 7


@inner(inline="always")
def stand_for(paths: Out[Int64x2], at: int, rank: int, alike: int, fewer: int) -> None:
    """Let a path represent others, which have this rank or a worse one."""
    if rank >> 49 == paths[at, RANK] >> 49:
        paths[at, ALIKE] = min(paths[at, ALIKE] + alike, _MANY)
        paths[at, FEWER] = min(paths[at, FEWER] + fewer, _MANY)
    else:
        paths[at, FEWER] = min(paths[at, FEWER] + alike + fewer, _MANY)


@inner(inline="always")
def insert(
    paths: Out[Int64x2], begin: int, size: int, rank: int, used: int, place: int, parent: int, came: int
) -> int:
    """Insert a path after those that are as good, or let the one with the same future represent it.

    Return the new number of paths, or -1 if there is no room. The paths of the generation start at row
    `begin`.
    """
    at = begin + size
    for q in range(begin, begin + size):
        if paths[q, USED] == used and paths[q, PLACE] == place:
            at = q
            break
    other, alike, fewer = 0, 0, 0
    if at < begin + size:
        other, alike, fewer = paths[at, RANK], paths[at, ALIKE], paths[at, FEWER]
        if other <= rank:
            stand_for(paths, at, rank, paths[parent, ALIKE], paths[parent, FEWER])
            return size
    elif size == BEAM:
        return -1
    else:
        size += 1
    while at > begin and paths[at - 1, RANK] > rank:
        for c in range(COLUMNS):
            paths[at, c] = paths[at - 1, c]
        at -= 1
    paths[at, RANK] = rank
    paths[at, USED] = used
    paths[at, PLACE] = place
    paths[at, ALIKE] = paths[parent, ALIKE]
    paths[at, FEWER] = paths[parent, FEWER]
    paths[at, SAFE] = paths[parent, SAFE]
    paths[at, FROM] = came
    if alike > 0:
        stand_for(paths, at, other, alike, fewer)
    return size


@inner(inline="always")
def look_ahead(
    matches: Int32x2, bounds: Int64, length2: int, starting: Out[Int64], later: Out[Int64]
) -> bool:
    """Fill the starts in line 1 of each position's matches, and the words of line 1 still usable, as bits.

    Return whether all matches have one word in line 2.
    """
    starting[length2] = 0
    later[length2] = 0
    single = True
    for j in range(length2 - 1, -1, -1):
        starts, words = 0, int(later[j + 1])
        for m in range(bounds[j], bounds[j + 1]):
            start, length = int(matches[m, 0]), int(matches[m, 1])
            starts |= 1 << start
            words |= ((1 << length) - 1) << start
            single = single and matches[m, 2] == 1
        starting[j] = starts
        later[j] = words
    return single


@inner(inline="always")
def expand(
    matches: Int32x2,
    first: int,
    last: int,
    certain: bool,
    j: int,
    following: int,
    paths: Out[Int64x2],
    parent: int,
    begin: int,
    size: int,
    starting: Int64,
    later: int,
) -> int:
    """Add the continuations of a path at position j to the generation that starts at row `begin`.

    Return the new number of paths, or -1 if there is no room. Positions before `following` have no matches.
    """
    rank, used, place = int(paths[parent, RANK]) >> 1, int(paths[parent, USED]), int(paths[parent, PLACE])
    inside = place >> 6 > j
    end = (place & 63) - 1
    distance = 0
    for m in range(last if inside else first, last + 1):
        if m < last:
            start, length, length2 = int(matches[m, 0]), int(matches[m, 1]), int(matches[m, 2])
            mask = ((1 << length) - 1) << start
            if used & mask:
                continue
            half = 0 if matches[m, 3] == EXACT else 1
            # The reference charges the distance of a match to the path that does without it.
            reached = rank + distance - WORD * ((length2 >> half) + (length >> half))
            if end != -1 and end != start:
                reached += CHUNK
            distance += abs(j - start)
            if certain:
                reached += abs(j - start)
            if following > j + 1:
                # The chunk ends here. Of paths that are equal from then on, those come first that were better
                # before.
                child, stands = 2 * (reached + CHUNK), following << 6
            else:
                free, stop = j + length2, start + length + 1
                if not (starting[free] >> (stop - 1)) & 1:
                    stop = _ELSEWHERE
                child, stands = 2 * reached + 1, (free << 6) | stop
            taken, match = used | mask, m
        elif inside:
            child, stands, taken, match = 2 * rank + 1, place, used, -2
        elif certain:
            continue
        else:
            child, stands, taken, match = (
                2 * (rank + distance + (CHUNK if end != -1 else 0)) + 1,
                following << 6,
                used,
                -1,
            )
        size = insert(paths, begin, size, child, taken & later, stands, parent, (parent << 32) + match)
        if size < 0:
            break
    return size


@inner(inline="always")
def are_safe(paths: Out[Int64x2], begin: int, size: int) -> bool:
    """Mark the paths that the reference implementation may have dropped; return whether any other is left."""
    above = 0
    safe = False
    q = begin
    while q < begin + size:
        # Paths with as many words, in any order, after all that paths with more words represent.
        stop, alike, fewer = q, 0, 0
        while stop < begin + size and paths[stop, RANK] >> 49 == paths[q, RANK] >> 49:
            alike += paths[stop, ALIKE]
            fewer += paths[stop, FEWER]
            stop += 1
        for p in range(q, stop):
            if above + alike > BEAM:
                paths[p, SAFE] = 0
            safe = safe or paths[p, SAFE] != 0
        above += alike + fewer
        q = stop
    return safe


@inner
def search_merged(
    matches: Int32x2,
    bounds: Int64,
    fixed: Int32,
    length2: int,
    paths: Out[Int64x2],
    starting: Out[Int64],
    later: Out[Int64],
    history: Out[Int64x2],
    chosen: Out[Int32],
) -> bool:
    """Search lines of at most ``SHORT`` words; return whether the beam search certainly has the same result.

    ``chosen[j]`` becomes the match that starts at j, or -1 if the position is skipped, or -2 if it lies
    inside an earlier match. Paths are ranked as in :func:`search`. ``paths`` has room for two
    generations, which alternate; ``starting`` and ``later`` have a number for each position and one more.
    """
    single = look_ahead(matches, bounds, length2, starting, later)
    for c in range(COLUMNS):
        paths[0, c] = 0
    paths[0, ALIKE] = 1
    paths[0, SAFE] = 1
    old, size = 0, 1
    j = 0
    # If no match has several words in line 2, positions without matches only end chunks.
    while single and j < length2 and starting[j] == 0:
        chosen[j] = -1
        j += 1
    while j < length2:
        following = j + 1
        while single and following < length2 and starting[following] == 0:
            chosen[following] = -1
            following += 1
        new = BEAM - old
        before, size = size, 0
        for p in range(old, old + before):
            size = expand(
                matches,
                bounds[j],
                bounds[j + 1],
                fixed[j] >= 0,
                j,
                following,
                paths,
                p,
                new,
                size,
                starting,
                later[j + 1],
            )
            if size < 0:
                return False
        if not are_safe(paths, new, size):
            return False
        for q in range(size):
            history[j, q] = paths[new + q, FROM]
        old = new
        j = following

    best = old
    for p in range(old, old + size):
        if paths[p, PLACE] & 63:
            paths[p, RANK] += 2 * CHUNK
        if paths[p, RANK] >> 1 < paths[best, RANK] >> 1:
            best = p
    if paths[best, SAFE] == 0:
        return False
    for j in range(length2 - 1, -1, -1):
        if not single or starting[j] != 0:
            came = history[j, best % BEAM] + 2
            chosen[j] = (came & 0xFFFFFFFF) - 2
            best = came >> 32
    return True


@inner
def offer(beam: Out[Int64x2], size: int, rank: int, distance: int, parent: int, match: int) -> int:
    """Insert a path after those that are as good, unless the beam is full of better ones.

    Return the beam's size.
    """
    if size == BEAM:
        if beam[size - 1, 0] < rank or (beam[size - 1, 0] == rank and beam[size - 1, 1] <= distance):
            return size
        size -= 1
    at = size
    while at > 0 and (beam[at - 1, 0] > rank or (beam[at - 1, 0] == rank and beam[at - 1, 1] > distance)):
        for c in range(4):
            beam[at, c] = beam[at - 1, c]
        at -= 1
    beam[at, 0] = rank
    beam[at, 1] = distance
    beam[at, 2] = parent
    beam[at, 3] = match
    return size + 1


@inner
def search(
    matches: Int32x2,
    bounds: Int64,
    fixed: Int32,
    length1: int,
    length2: int,
    beam: Out[Int64x2],
    state: Out[Int64x3],
    used: Out[Int64x2],
    children: Out[Int64],
    history: Out[Int32x3],
    chosen: Out[Int32],
) -> None:
    """Search line 2 from left to right; ``chosen[j]`` becomes the match that starts at j, or negative.

    Paths are ranked by weighted words matched (more is better), then chunks, then distance. The weight of a
    word is 1 if matched exactly and a half otherwise, and each sum is truncated to an integer, so that
    one-word stem, synonym and paraphrase matches weigh nothing.

    Columns of ``beam``: rank, distance, parent, match (-1: the position is skipped; -2: it lies inside an
    earlier match); of ``state``: rank, distance, next free position of line 2, end of the open chunk in line
    1 (-1: none), and the row of ``used`` that marks the path's words of line 1, 32 in a number. ``state`` has
    two generations of paths, which alternate. A row of ``used`` goes from a path to its only child, and is
    copied if there are several. ``history`` stores parent and match.
    """
    word = 1 << 32  # rank = chunks - word * words matched: one comparison for both
    for c in range(5):
        state[0, 0, c] = 0
    state[0, 0, 3] = -1
    for i in range((length1 >> 5) + 1):
        used[0, i] = 0
    paths = 1
    for j in range(length2):
        old, new = j % 2, 1 - j % 2
        certain = fixed[j] >= 0
        size = 0
        for p in range(paths):
            distance = state[old, p, 1]
            end = state[old, p, 3]
            inside = state[old, p, 2] > j
            for place in range(bounds[j + 1] if inside else bounds[j], bounds[j + 1] + 1):
                rank = state[old, p, 0]
                charged = distance
                m = -2
                if place < bounds[j + 1]:
                    m = place
                    start, stop = matches[m, 0], matches[m, 0] + matches[m, 1]
                    i = start
                    marked = used[state[old, p, 4]]
                    while i < stop and not (marked[i >> 5] >> (i & 31)) & 1:
                        i += 1
                    if i < stop:
                        continue
                    half = 1 if matches[m, 3] == EXACT else 2
                    rank -= word * int(matches[m, 2] // half + matches[m, 1] // half)
                    if end != -1 and end != start:
                        rank += 1
                    # The reference charges the distance of a match to the path that does without it.
                    distance += abs(j - start)
                    if certain:
                        charged = distance
                elif certain and not inside:
                    continue
                elif not inside:
                    m = -1
                    if end != -1:
                        rank += 1
                size = offer(beam, size, rank, charged, p, m)
        for row in range(2 * BEAM):
            children[row] = 0
        for q in range(size):
            children[state[old, beam[q, 2], 4]] += 1
        free = 0
        for q in range(size):
            row = state[old, beam[q, 2], 4]
            if children[row] == 1:
                state[new, q, 4] = row
                continue
            children[row] -= 1
            while children[free] != 0:
                free += 1
            children[free] = 1
            state[new, q, 4] = free
            for i in range((length1 >> 5) + 1):
                used[free, i] = used[row, i]
        for q in range(size):
            p, m = beam[q, 2], beam[q, 3]
            history[j, q, 0] = p
            history[j, q, 1] = m
            state[new, q, 0] = beam[q, 0]
            state[new, q, 1] = beam[q, 1]
            state[new, q, 2] = state[old, p, 2]
            state[new, q, 3] = state[old, p, 3]
            if m >= 0:
                state[new, q, 2] = j + matches[m, 2]
                state[new, q, 3] = matches[m, 0] + matches[m, 1]
                for i in range(matches[m, 0], matches[m, 0] + matches[m, 1]):
                    used[state[new, q, 4], i >> 5] |= 1 << (i & 31)
            elif m == -1:
                state[new, q, 2] = j + 1
                state[new, q, 3] = -1
        paths = size

    last = length2 % 2
    best = 0
    for p in range(paths):
        if state[last, p, 3] != -1:
            state[last, p, 0] += 1
        if state[last, p, 0] < state[last, best, 0] or (
            state[last, p, 0] == state[last, best, 0] and state[last, p, 1] < state[last, best, 1]
        ):
            best = p
    for j in range(length2 - 1, -1, -1):
        chosen[j] = history[j, best, 1]
        best = history[j, best, 0]
