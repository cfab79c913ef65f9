"""A search among possible matches that merges paths with the same future, for short lines.

Two paths have the same future if they are at the same position, have used the same of the words that can
still be matched, and their open chunks continue with the same matches. The worse one never overtakes the
better one, so the better one is enough. Few paths remain where a beam holds dozens.

The reference implementation keeps 40 paths at each position, so its result may differ where it drops a step
of the best path. Each path therefore counts the paths that it represents: the best path is certain if at each
step no more than 40 paths can precede it. Otherwise (a few of a hundred pairs of captions) the caller runs
the beam search.
"""

from __future__ import annotations

from captious.kernels import inner
from captious.kernels.types import Int32, Int32x2, Int64, Int64x2, Out
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
    inside an earlier match. Paths are ranked as in :func:`captious.meteor.beam.search`. ``paths`` has room
    for two generations, which alternate; ``starting`` and ``later`` have a number for each position and one
    more.
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
