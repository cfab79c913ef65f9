"""The search among possible matches without a beam: paths that have the same future are one.

Two paths go on alike if they stand at the same place, have used the same of those words that can still be matched, and their open
chunks go on with the same matches. Whatever the one becomes, the other does too, and stays behind if it is behind now. So the
first of them is enough, and few remain where a beam holds dozens.

The reference implementation keeps 40 paths. What is found here is its result only if none of the steps there was among those that it
dropped. So with each path go the numbers of paths it stands for: the best path was kept for certain if at each step no more than 40 can
have stood before it. Where this cannot be said, in a few of a hundred pairs of captions, the beam is searched.
"""

from __future__ import annotations

from functools import partial

from captious.kernels import kernel
from captious.meteor.matches import EXACT, Ints, Small

#: Calls cost more than what these functions do.
inlined = partial(kernel, inline="always")

#: Paths that the reference implementation keeps at each position.
BEAM = 40

#: Lines of at most so many words fit into the bits of a number.
SHORT = 62

#: Rank and distance in one number: a chunk is above any distance, and a word above any number of chunks.
CHUNK = 1 << 40
WORD = 1 << 48

#: An open chunk that none of the next matches continues.
_ELSEWHERE = 63
#: Paths are counted up to here.
_MANY = 1 << 20
#: Columns of a path: rank, times 2, and 0 if it has just closed a chunk; used words; next position of line 2, times 64, and the end of the open
#: chunk in line 1 (0: none; else counted from 1); how many paths it stands for that have as many words, and how many that have fewer; whether the
#: reference implementation has it for certain; parent, times 2^32, and match.
RANK, USED, PLACE, ALIKE, FEWER, SAFE, FROM = range(7)
COLUMNS = 7


@inlined
def stand_for(paths: Ints, at: int, rank: int, alike: int, fewer: int) -> None:
    """Let a path stand for others, which have this rank or a worse one."""
    if rank >> 49 == paths[at, RANK] >> 49:
        paths[at, ALIKE] = min(paths[at, ALIKE] + alike, _MANY)
        paths[at, FEWER] = min(paths[at, FEWER] + fewer, _MANY)
    else:
        paths[at, FEWER] = min(paths[at, FEWER] + alike + fewer, _MANY)


@inlined
def insert(paths: Ints, begin: int, size: int, rank: int, used: int, place: int, parent: int, came: int) -> int:
    """Insert a path behind those that are as good, or let the one that has the same future stand for it; the new number of paths, or
    -1 if there is no room. The generation's paths begin at a row."""
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


@inlined
def look_ahead(found: Small, bounds: Ints, length2: int, starting: Ints, later: Ints) -> bool:
    """Where the matches of each position start in line 1, and the words of line 1 that it and those behind it can use, as bits; whether all
    matches have one word in line 2."""
    starting[length2] = 0
    later[length2] = 0
    single = True
    for j in range(length2 - 1, -1, -1):
        starts, words = 0, int(later[j + 1])
        for m in range(bounds[j], bounds[j + 1]):
            start, length = int(found[m, 0]), int(found[m, 1])
            starts |= 1 << start
            words |= ((1 << length) - 1) << start
            single = single and found[m, 2] == 1
        starting[j] = starts
        later[j] = words
    return single


@inlined
def expand(
    found: Small, first: int, last: int, certain: bool, j: int, following: int, paths: Ints, parent: int, begin: int, size: int, starting: Ints, later: int
) -> int:
    """Add what can become of a path at position j to the generation that begins at a row; the new number of paths, or -1 if there is no
    room. Positions before ``following`` have no matches."""
    rank, used, place = int(paths[parent, RANK]) >> 1, int(paths[parent, USED]), int(paths[parent, PLACE])
    inside = place >> 6 > j
    end = (place & 63) - 1
    distance = 0
    for m in range(last if inside else first, last + 1):
        if m < last:
            start, length, length2 = int(found[m, 0]), int(found[m, 1]), int(found[m, 2])
            mask = ((1 << length) - 1) << start
            if used & mask:
                continue
            half = 0 if found[m, 3] == EXACT else 1
            # The reference charges the distance of a match to the path that does without it.
            reached = rank + distance - WORD * ((length2 >> half) + (length >> half))
            if end != -1 and end != start:
                reached += CHUNK
            distance += abs(j - start)
            if certain:
                reached += abs(j - start)
            if following > j + 1:
                # The chunk ends here. Of paths that are equal from then on, those come first that were better before.
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
            child, stands, taken, match = 2 * (rank + distance + (CHUNK if end != -1 else 0)) + 1, following << 6, used, -1
        size = insert(paths, begin, size, child, taken & later, stands, parent, (parent << 32) + match)
        if size < 0:
            break
    return size


@inlined
def are_safe(paths: Ints, begin: int, size: int) -> bool:
    """Note which paths the reference implementation may have dropped; whether there is one that it has."""
    above = 0
    safe = False
    q = begin
    while q < begin + size:
        # Paths of as many words, in whatever order, and all those that stand for paths with more.
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


@kernel
def search_merged(
    found: Small, bounds: Ints, fixed: Small, length2: int, paths: Ints, starting: Ints, later: Ints, history: Ints, chosen: Small
) -> bool:
    """The search for lines of at most ``SHORT`` words; ``chosen[j]`` becomes the match that starts at j, or negative (-1: the position is
    skipped; -2: it lies inside an earlier match). Whether that is certainly the result of a beam.

    Ranks are as in :func:`captious.meteor.beam.search_short`. ``paths`` has room for two generations, which take turns;
    ``starting`` and ``later`` for a number for each position and one more.
    """
    single = look_ahead(found, bounds, length2, starting, later)
    for c in range(COLUMNS):
        paths[0, c] = 0
    paths[0, ALIKE] = 1
    paths[0, SAFE] = 1
    old, size = 0, 1
    j = 0
    # Where no match has several words in line 2, nothing happens at positions without any but that chunks end.
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
            size = expand(found, bounds[j], bounds[j + 1], fixed[j] >= 0, j, following, paths, p, new, size, starting, later[j + 1])
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
