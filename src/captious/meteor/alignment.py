"""Aligning two lines of words: all possible matches, then a beam search for the best set of them.

"Line 1" is the hypothesis and "line 2" the reference, as in the METEOR papers. Everything works on integer arrays, and
every kernel runs both compiled and as plain Python. Ties and truncations are resolved as the reference implementation
does; they decide which of several equally long alignments is counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.kernels import kernel

Ints = NDArray[np.int64]

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

#: Paths kept at each position.
BEAM = 40

#: Pairs of captions with more words times words than this are matched by looking words up, not by comparing all of them.
LONG = 100_000

#: At a word with more matches than this, only the nearest ones are tried: a word that stands everywhere in two long captions would
#: otherwise be tried against all of them, and time would grow with the square of the length.
MOST_TRIED = 256
#: Lines of at most so many words fit into the bits of a number.
SHORT = 62

#: More matches than this between two captions mean that both have thousands of words, most of them the same.
MAX_MATCHES = 20_000_000


class Lines(NamedTuple):
    """Captions one after the other, with what each token is compared by: gathered once, read for every pair."""

    tokens: NDArray[np.int32]
    offsets: Ints
    keys: NDArray[np.int32]
    stems: NDArray[np.int32]
    signatures: Ints
    bits: Ints
    """A word is no synonym of another if its bit is not in the other's signature."""
    spans: NDArray[np.int32]
    span_offsets: Ints
    """``spans[span_offsets[t]:span_offsets[t + 1]]``: numbers of the phrases that begin at token ``t``, short to long."""


class Words(NamedTuple):
    """What METEOR knows about each word of the vocabulary."""

    key: NDArray[np.int32]
    stem: NDArray[np.int32]
    function: NDArray[np.bool_]
    bits: Ints
    """A word is no synonym of another if its bit is not among those of the other's synonyms."""
    synonym_offsets: Ints
    synonyms: NDArray[np.int32]
    """``synonyms[synonym_offsets[w]:synonym_offsets[w + 1]]``: words that share a synset with word ``w``, ascending."""


class Phrases(NamedTuple):
    """Phrases that occur in the captions and have paraphrases there."""

    lengths: NDArray[np.int32]
    offsets: Ints
    targets: NDArray[np.int32]
    width: int
    """At least as many words as the longest phrase has."""


def gathered_lines(tokens: NDArray[np.int32], offsets: Ints, words: Words, spans: tuple[NDArray[np.int32], Ints]) -> Lines:
    """The lines with what is known of their words, and their phrases."""
    signatures = np.zeros(len(words.key), np.int64)
    word = np.repeat(np.arange(len(words.key)), np.diff(words.synonym_offsets))
    np.bitwise_or.at(signatures, word, words.bits[words.synonyms])
    return Lines(tokens, offsets, words.key[tokens], words.stem[tokens], signatures[tokens], words.bits[tokens], *spans)


@kernel
def contains(values: NDArray[np.int32], low: int, high: int, value: int) -> bool:
    """Whether the ascending ``values[low:high]`` have the value."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        elif values[middle] > value:
            high = middle
        else:
            return True
    return False


@kernel
def add(found: NDArray[np.int32], n: int, start2: int, length2: int, start1: int, length1: int, module: int) -> int:
    """Write a match if there is room for it; count it in any case."""
    if n < len(found):
        found[n, 0] = start2
        found[n, 1] = length2
        found[n, 2] = start1
        found[n, 3] = length1
        found[n, 4] = module
    return n + 1


@kernel
def sort_by(values: NDArray[np.int32], order: NDArray[np.int32], spare: NDArray[np.int32]) -> None:
    """Put 0, 1, 2, … into ``order`` by their values, equal ones ascending (a merge sort, which Numba compiles quickly)."""
    n = len(values)
    for i in range(n):
        order[i] = i
    step = 1
    while step < n:
        for low in range(0, n, 2 * step):
            middle, high = min(low + step, n), min(low + 2 * step, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or values[order[i]] <= values[order[j]]):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for k in range(n):
            order[k] = spare[k]
        step *= 2


@kernel
def first_of(values: NDArray[np.int32], order: NDArray[np.int32], value: int) -> int:
    """Where in the order the places with a value begin."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if values[order[middle]] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def look_up(lines: Lines, words: Words, line1: int, line2: int, module: int, found: NDArray[np.int32], n: int) -> int:
    """The matches of one module between two long lines, in the order in which comparing all words would find them."""
    a, a_end = lines.offsets[line1], lines.offsets[line1 + 1]
    b, b_end = lines.offsets[line2], lines.offsets[line2 + 1]
    values = lines.keys[a:a_end] if module == EXACT else lines.stems[a:a_end] if module == STEM else lines.tokens[a:a_end]
    order, spare = np.empty(a_end - a, np.int32), np.empty(a_end - a, np.int32)
    sort_by(values, order, spare)
    hits = np.empty(a_end - a, np.bool_)
    hits[:] = False
    for j in range(b, b_end):
        if n > MAX_MATCHES:
            return n
        if module != SYNONYM:
            wanted = lines.keys[j] if module == EXACT else lines.stems[j]
            place = first_of(values, order, wanted)
            while place < len(order) and values[order[place]] == wanted:
                i = order[place]
                if module == EXACT or lines.keys[a + i] != lines.keys[j]:
                    n = add(found, n, j - b, 1, i, 1, module)
                place += 1
            continue
        low, high, several = a_end - a, 0, 0
        for s in range(words.synonym_offsets[lines.tokens[j]], words.synonym_offsets[lines.tokens[j] + 1]):
            wanted = words.synonyms[s]
            place = first_of(values, order, wanted)
            while place < len(order) and values[order[place]] == wanted:
                i = order[place]
                if lines.keys[a + i] != lines.keys[j]:
                    spare[several] = i
                    several += 1
                place += 1
        # Synonyms come one after the other; places must ascend over all of them.
        if several > 64:
            for k in range(several):
                hits[spare[k]] = True
                low, high = min(low, spare[k]), max(high, spare[k])
            for i in range(low, high + 1):
                if hits[i]:
                    n = add(found, n, j - b, 1, i, 1, module)
                    hits[i] = False
            continue
        for k in range(1, several):
            value, at = spare[k], k
            while at > 0 and spare[at - 1] > value:
                spare[at] = spare[at - 1]
                at -= 1
            spare[at] = value
        for k in range(several):
            n = add(found, n, j - b, 1, spare[k], 1, module)
    return n


@kernel
def is_synonym(lines: Lines, words: Words, i: int, j: int) -> bool:
    """Whether the word at one place is listed as a synonym of that at another."""
    if lines.bits[i] & lines.signatures[j] == 0:
        return False
    token = lines.tokens[j]
    listed: bool = contains(words.synonyms, words.synonym_offsets[token], words.synonym_offsets[token + 1], lines.tokens[i])
    return listed


@kernel
def compare(lines: Lines, a: int, a_end: int, b: int, b_end: int, masks: Ints) -> None:
    """For each word of a short line 2 the words of a short line 1 that the modules may match, as bits."""
    for j in range(b_end - b):
        key, stem, signature = lines.keys[b + j], lines.stems[b + j], lines.signatures[b + j]
        exact, same_stem, related = 0, 0, 0
        for i in range(a_end - a):
            exact |= int(lines.keys[a + i] == key) << i
            same_stem |= int(lines.stems[a + i] == stem) << i
            related |= int(lines.bits[a + i] & signature != 0) << i
        masks[EXACT, j] = exact
        masks[STEM, j] = same_stem & ~exact
        masks[SYNONYM, j] = related & ~exact


@kernel
def collect(
    lines: Lines, words: Words, phrases: Phrases, line1: int, line2: int, mark: NDArray[np.int32], serial: int,
    chain: NDArray[np.int32], masks: Ints, found: NDArray[np.int32],
) -> int:  # fmt: skip
    """All matches between two lines, module by module; how many there are (more than ``found`` has room for: come again).

    ``mark`` has four rows with one cell for each phrase: the first two receive ``serial`` for the phrases of either line,
    the others the first place there; ``chain`` leads from each place to the next one of the same phrase.
    ``masks`` is room for three rows of ``SHORT`` numbers.
    """
    a, a_end = lines.offsets[line1], lines.offsets[line1 + 1]
    b, b_end = lines.offsets[line2], lines.offsets[line2 + 1]
    identical = a_end - a == b_end - b
    for j in range(b, b_end):
        if not identical:
            break
        identical = lines.keys[a + j - b] == lines.keys[j]
    n = 0
    for module in range(PARAPHRASE):
        if identical and module > EXACT:
            return n
        if (a_end - a) * (b_end - b) > LONG:
            n = look_up(lines, words, line1, line2, module, found, n)
            continue
        if a_end - a <= SHORT and b_end - b <= SHORT:
            if module == EXACT:
                compare(lines, a, a_end, b, b_end, masks)
            for j in range(b_end - b):
                mask = int(masks[module, j])
                i = 0
                while mask != 0:
                    if mask & 1 and (module != SYNONYM or is_synonym(lines, words, a + i, b + j)):
                        n = add(found, n, j, 1, i, 1, module)
                    mask >>= 1
                    i += 1
            continue
        for j in range(b, b_end):
            key, stem = lines.keys[j], lines.stems[j]
            for i in range(a, a_end):
                if module == EXACT:
                    same = lines.keys[i] == key
                elif module == STEM:
                    same = lines.stems[i] == stem and lines.keys[i] != key
                else:
                    same = lines.keys[i] != key and is_synonym(lines, words, i, j)
                if same:
                    n = add(found, n, j - b, 1, i - a, 1, module)

    for side in range(2):
        first = a if side == 0 else b
        # From the end, so that each phrase leads to its places in ascending order.
        for t in range((a_end if side == 0 else b_end) - 1, first - 1, -1):
            for s in range(lines.span_offsets[t], lines.span_offsets[t + 1]):
                phrase = lines.spans[s]
                chain[side, t - first, phrases.lengths[phrase] - 1] = mark[2 + side, phrase] if mark[side, phrase] == serial else -1
                mark[side, phrase] = serial
                mark[2 + side, phrase] = t - first
    # Paraphrases of line 2's phrases in line 1, then the other way round; a pair listed both ways is matched twice.
    for side in range(2):
        here, here_end = (b, b_end) if side == 0 else (a, a_end)
        for t in range(here, here_end):
            for s in range(lines.span_offsets[t], lines.span_offsets[t + 1]):
                phrase = lines.spans[s]
                own = phrases.lengths[phrase]
                for place in range(phrases.offsets[phrase], phrases.offsets[phrase + 1]):
                    target = phrases.targets[place]
                    if mark[side, target] != serial:
                        continue
                    length = phrases.lengths[target]
                    u = mark[2 + side, target]
                    while u >= 0:
                        j, length2 = (t - here, own) if side == 0 else (u, length)
                        i, length1 = (u, length) if side == 0 else (t - here, own)
                        n = add(found, n, j, length2, i, length1, PARAPHRASE)
                        u = chain[side, u, length - 1]
    return n


@kernel
def group(
    found: NDArray[np.int32], n: int, length1: int, length2: int, cover: Ints, bounds: Ints, order: Ints, fixed: Ints
) -> None:
    """Group matches by their start in line 2, in the order found, and fix those that compete with no other.

    The matches at position j are ``order[bounds[j]:bounds[j + 1]]``; ``fixed[j]`` is the one that is certain, or -1. Where there are
    more than ``MOST_TRIED``, those remain that are nearest to the place in line 1 that corresponds to j.
    """
    for i in range(length1):
        cover[0, i] = 0
    for j in range(length2):
        cover[1, j] = 0
        bounds[j + 1] = 0
        fixed[j] = 0  # for now: how many of the position's matches have been placed
    for m in range(n):
        bounds[found[m, 0] + 1] += 1
        for k in range(found[m, 1]):
            cover[1, found[m, 0] + k] += 1
        for k in range(found[m, 3]):
            cover[0, found[m, 2] + k] += 1
    for j in range(length2):
        bounds[j + 1] += bounds[j]
    for m in range(n):
        order[bounds[found[m, 0]] + fixed[found[m, 0]]] = m
        fixed[found[m, 0]] += 1
    for j in range(length2):
        fixed[j] = -1
        if bounds[j + 1] - bounds[j] == 1:
            m = order[bounds[j]]
            alone = True
            for k in range(found[m, 1]):
                alone = alone and cover[1, j + k] == 1
            for k in range(found[m, 3]):
                alone = alone and cover[0, found[m, 2] + k] == 1
            if alone:
                fixed[j] = m
    kept = 0
    low = 0
    for j in range(length2):
        high = bounds[j + 1]
        if high - low <= MOST_TRIED:
            if kept < low:
                for place in range(low, high):
                    order[kept + place - low] = order[place]
            kept += high - low
        else:
            centre = j * length1 // length2
            # The greatest distance within which there are not too many.
            near, far = -1, length1
            while far - near > 1:
                middle = (near + far) // 2
                within = 0
                for place in range(low, high):
                    within += abs(found[order[place], 2] - centre) <= middle
                if within > MOST_TRIED:
                    far = middle
                else:
                    near = middle
            for place in range(low, high):
                if abs(found[order[place], 2] - centre) <= near:
                    order[kept] = order[place]
                    kept += 1
        low = high
        bounds[j + 1] = kept


@kernel
def offer(beam: Ints, size: int, rank: int, distance: int, parent: int, match: int) -> int:
    """Insert a path behind those that are as good, unless the beam is full of better ones; the beam's new size."""
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


@kernel
def search(
    found: NDArray[np.int32], bounds: Ints, order: Ints, fixed: Ints, length1: int, length2: int,
    beam: Ints, state: Ints, used: Ints, children: Ints, history: NDArray[np.int32], chosen: Ints,
) -> None:  # fmt: skip
    """Beam search over line 2 from left to right; ``chosen[j]`` becomes the match that starts at j, or negative.

    Paths are ranked by weighted words matched (more is better), then chunks, then distance. The weight of a word is 1 if
    matched exactly and a half otherwise, and each sum is truncated to an integer, so that one-word stem, synonym and
    paraphrase matches weigh nothing.

    Columns of ``beam``: rank, distance, parent, match (-1: the position is skipped; -2: it lies inside an earlier match);
    of ``state``: rank, distance, next free position of line 2, end of the open chunk in line 1 (-1: none), and the row of
    ``used`` that marks the path's words of line 1, 32 in a number. ``state`` has two generations of paths, which take turns; a row of
    ``used`` goes from a path to its only child, and is copied where there are several. ``history`` keeps parent and match.
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
                    m = order[place]
                    start, stop = found[m, 2], found[m, 2] + found[m, 3]
                    i = start
                    marked = used[state[old, p, 4]]
                    while i < stop and not (marked[i >> 5] >> (i & 31)) & 1:
                        i += 1
                    if i < stop:
                        continue
                    half = 1 if found[m, 4] == EXACT else 2
                    rank -= word * int(found[m, 1] // half + found[m, 3] // half)
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
                state[new, q, 2] = j + found[m, 1]
                state[new, q, 3] = found[m, 2] + found[m, 3]
                for i in range(found[m, 2], found[m, 2] + found[m, 3]):
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


@kernel
def search_short(
    found: NDArray[np.int32], bounds: Ints, order: Ints, fixed: Ints, length1: int, length2: int,
    beam: Ints, state: Ints, history: NDArray[np.int32], chosen: Ints,
) -> None:  # fmt: skip
    """The same as :func:`search` for lines of at most ``SHORT`` words, which nearly all captions are.

    Words of line 1 that a path has used are bits of one number, and so are rank and distance: columns of ``beam`` are rank and
    distance, parent and match; of ``state`` rank and distance, next free position of line 2, end of the open chunk in line 1, bits.
    """
    chunk = 1 << 40  # above any distance
    word = 1 << 48  # above any number of chunks
    state[0, 0, 0] = 0
    state[0, 0, 1] = 0
    state[0, 0, 2] = -1
    state[0, 0, 3] = 0
    paths = 1
    for j in range(length2):
        old, new = j % 2, 1 - j % 2
        certain = fixed[j] >= 0
        first, last = bounds[j], bounds[j + 1]
        size = 0
        for p in range(paths):
            key, end, bits = int(state[old, p, 0]), int(state[old, p, 2]), int(state[old, p, 3])
            inside = state[old, p, 1] > j
            distance = 0
            for place in range(last if inside else first, last + 1):
                rank = key
                m = -2
                if place < last:
                    m = order[place]
                    start, length = int(found[m, 2]), int(found[m, 3])
                    if bits & (((1 << length) - 1) << start):
                        continue
                    half = 1 if found[m, 4] == EXACT else 2
                    # The reference charges the distance of a match to the path that does without it.
                    rank += distance - word * (int(found[m, 1]) // half + length // half)
                    if end != -1 and end != start:
                        rank += chunk
                    distance += abs(j - start)
                    if certain:
                        rank += abs(j - start)
                elif certain and not inside:
                    continue
                else:
                    rank += distance
                    if not inside:
                        m = -1
                        if end != -1:
                            rank += chunk
                if size == BEAM:
                    if beam[size - 1, 0] <= rank:
                        continue
                    size -= 1
                at = size
                while at > 0 and beam[at - 1, 0] > rank:
                    beam[at, 0] = beam[at - 1, 0]
                    beam[at, 1] = beam[at - 1, 1]
                    beam[at, 2] = beam[at - 1, 2]
                    at -= 1
                beam[at, 0] = rank
                beam[at, 1] = p
                beam[at, 2] = m
                size += 1
        for q in range(size):
            p, m = beam[q, 1], beam[q, 2]
            history[j, q, 0] = p
            history[j, q, 1] = m
            state[new, q, 0] = beam[q, 0]
            if m >= 0:
                start, length = int(found[m, 2]), int(found[m, 3])
                state[new, q, 1] = j + found[m, 1]
                state[new, q, 2] = start + length
                state[new, q, 3] = state[old, p, 3] | (((1 << length) - 1) << start)
            elif m == -1:
                state[new, q, 1] = j + 1
                state[new, q, 2] = -1
                state[new, q, 3] = state[old, p, 3]
            else:
                state[new, q, 1] = state[old, p, 1]
                state[new, q, 2] = state[old, p, 2]
                state[new, q, 3] = state[old, p, 3]
        paths = size

    last = length2 % 2
    best = 0
    for p in range(paths):
        if state[last, p, 2] != -1:
            state[last, p, 0] += chunk
        if state[last, p, 0] < state[last, best, 0]:
            best = p
    for j in range(length2 - 1, -1, -1):
        chosen[j] = history[j, best, 1]
        best = history[j, best, 0]


@kernel
def count(
    lines: Lines, words: Words, line1: int, line2: int, found: NDArray[np.int32], chosen: Ints, row: NDArray[np.float64]
) -> None:
    """The statistics line of an alignment."""
    a, a_end = lines.offsets[line1], lines.offsets[line1 + 1]
    b, b_end = lines.offsets[line2], lines.offsets[line2 + 1]
    for c in range(len(row)):
        row[c] = 0
    row[0] = a_end - a
    row[1] = b_end - b
    for i in range(a, a_end):
        if words.function[lines.tokens[i]]:
            row[2] += 1
    for j in range(b, b_end):
        if words.function[lines.tokens[j]]:
            row[3] += 1
    end = -1
    j = 0
    while j < b_end - b:
        m = chosen[j]
        if m < 0:
            if end != -1:
                row[20] += 1
                end = -1
            j += 1
        else:
            first = 4 + 4 * found[m, 4]
            for k in range(a + found[m, 2], a + found[m, 2] + found[m, 3]):
                row[first + (2 if words.function[lines.tokens[k]] else 0)] += 1
            for k in range(b + j, b + j + found[m, 1]):
                row[first + (3 if words.function[lines.tokens[k]] else 1)] += 1
            row[21] += found[m, 3]
            row[22] += found[m, 1]
            if end != -1 and end != found[m, 2]:
                row[20] += 1
            end = found[m, 2] + found[m, 3]
            j += found[m, 1]
    if end != -1:
        row[20] += 1


@kernel
def align(
    lines: Lines, words: Words, phrases: Phrases, first: Ints, second: Ints, statistics: NDArray[np.float64]
) -> int:
    """Fill the statistics of each pair (line ``first[p]``, line ``second[p]``).

    Returns -1, or the number of the pair that has more than ``MAX_MATCHES`` matches, where it stops.
    """
    longest = 0
    for line in range(len(lines.offsets) - 1):
        longest = max(longest, lines.offsets[line + 1] - lines.offsets[line])
    found = np.empty((4096, 5), np.int32)
    order = np.empty(4096, np.int64)
    bounds = np.zeros(longest + 1, np.int64)
    fixed = np.zeros(longest, np.int64)
    chosen = np.zeros(longest, np.int64)
    mark = np.zeros((4, len(phrases.lengths)), np.int32)
    chain = np.zeros((2, longest, phrases.width), np.int32)
    masks = np.zeros((PARAPHRASE, SHORT), np.int64)
    beam = np.zeros((BEAM, 4), np.int64)
    state = np.zeros((2, BEAM, 5), np.int64)
    used = np.zeros((2 * BEAM, longest // 32 + 1), np.int64)
    children = np.zeros(2 * BEAM, np.int64)
    history = np.zeros((longest, BEAM, 2), np.int32)
    cover = np.zeros((2, longest), np.int64)
    for pair in range(len(first)):
        line1, line2 = first[pair], second[pair]
        length1 = lines.offsets[line1 + 1] - lines.offsets[line1]
        length2 = lines.offsets[line2 + 1] - lines.offsets[line2]
        n = collect(lines, words, phrases, line1, line2, mark, 2 * pair + 1, chain, masks, found)
        if n > MAX_MATCHES:
            return pair
        if n > len(found):
            found = np.empty((n + n // 2, 5), np.int32)
            order = np.empty(n + n // 2, np.int64)
            # Another serial: with the same one, places of the first time would look like those of this time, and chains would never end.
            n = collect(lines, words, phrases, line1, line2, mark, 2 * pair + 2, chain, masks, found)
        group(found, n, length1, length2, cover, bounds, order, fixed)
        if length1 <= SHORT and length2 <= SHORT:
            search_short(found, bounds, order, fixed, length1, length2, beam, state, history, chosen)
        else:
            search(found, bounds, order, fixed, length1, length2, beam, state, used, children, history, chosen)
        count(lines, words, line1, line2, found, chosen, statistics[pair])
    return -1
