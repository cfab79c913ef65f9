"""All possible matches of two lines of words: by form, stem, synonym and paraphrase.

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

#: Pairs of captions with more words times words than this are matched by looking words up, not by comparing all of them.
LONG = 100_000

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
