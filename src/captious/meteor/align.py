"""Alignment of lines: the best set of :mod:`matches <captious.meteor.matches>`, its statistics and its score.

The parameters are METEOR's for English.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.progress import track
from captious.core.ragged import offsets_of
from captious.core.threads import jobs, side_by_side
from captious.kernels import inner, kernel
from captious.kernels.types import Float64x2, Int32, Int32x2, Int32x3, Int64, Int64x2, Int64x3, Out
from captious.meteor.alignment_search import BEAM, COLUMNS, SHORT, search, search_merged
from captious.meteor.encoding_words import EncodedLines, encode_texts, tables_of
from captious.meteor.matches import (
    KINDS,
    MOST_TRIED,
    PARAPHRASE,
    Index,
    Ints,
    Lines,
    PhraseRelations,
    Small,
    WordRelations,
    gather,
    mark,
    room_for,
    turn_round,
)
from captious.meteor.meteor_tables import Resources

#: Tuned for ranking translations of English (WMT data), and used unchanged for captions.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.20, 0.60, 0.75
MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
#: Columns of the statistics: length, reference length, function words of either; for each of four modules
#: content words matched in either, function words matched in either; chunks, words matched in either.
STATISTICS = 23


def summable(statistics: NDArray[np.float64] | NDArray[np.int32]) -> NDArray[np.float64]:
    """Append a column: the chunks that count in sums of statistics.

    A caption whose words all match in one chunk has no fragmentation, so its chunk is left out of sums.
    """
    s = np.asarray(statistics, np.float64)
    complete = (s[..., 21] == s[..., 0]) & (s[..., 22] == s[..., 1]) & (s[..., 20] == 1)
    return np.concatenate([s, np.where(complete, 0.0, s[..., 20])[..., None]], axis=-1)


@inner
def ingredients(rows: Int32x2, at: int, parts: Out[Float64x2]) -> None:
    """Compute the parts of a score: the mean of precision and recall, and the fragmentation.

    Operations are those of :func:`score_sums`, in the same order, so that rounding is the same.
    """
    parts[at, 0] = 0.0
    parts[at, 1] = 0.0
    if rows[at, 21] == 0:
        return
    matched1, matched2 = 0.0, 0.0
    for m in range(4):
        weight = MODULE_WEIGHTS[m]
        matched1 += weight * (rows[at, 4 + 4 * m] * DELTA + rows[at, 6 + 4 * m] * (1.0 - DELTA))
        matched2 += weight * (rows[at, 5 + 4 * m] * DELTA + rows[at, 7 + 4 * m] * (1.0 - DELTA))
    precision = matched1 / ((rows[at, 0] - rows[at, 2]) * DELTA + rows[at, 2] * (1.0 - DELTA))
    recall = matched2 / ((rows[at, 1] - rows[at, 3]) * DELTA + rows[at, 3] * (1.0 - DELTA))
    parts[at, 0] = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
    if not (rows[at, 21] == rows[at, 0] and rows[at, 22] == rows[at, 1] and rows[at, 20] == 1):
        parts[at, 1] = rows[at, 20] / ((rows[at, 21] + rows[at, 22]) / 2.0)


def combined(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores from their :func:`ingredients`."""
    values: NDArray[np.float64] = parts[:, 0] * (1.0 - GAMMA * parts[:, 1].copy() ** BETA)
    return np.where(values < 0, 0.0, values)


def score(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of statistics along the last axis."""
    return score_sums(summable(statistics))


def score_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of sums of :func:`summable` statistics along the last axis."""
    s = sums
    modules = s[..., 4:20].reshape(*s.shape[:-1], 4, 4)
    matched1 = np.zeros(s.shape[:-1])
    matched2 = np.zeros(s.shape[:-1])
    # The reference's order of operations, so that rounding is the same.
    for m, weight in enumerate(MODULE_WEIGHTS):
        matched1 = matched1 + weight * (modules[..., m, 0] * DELTA + modules[..., m, 2] * (1.0 - DELTA))
        matched2 = matched2 + weight * (modules[..., m, 1] * DELTA + modules[..., m, 3] * (1.0 - DELTA))
    length1 = (s[..., 0] - s[..., 2]) * DELTA + s[..., 2] * (1.0 - DELTA)
    length2 = (s[..., 1] - s[..., 3]) * DELTA + s[..., 3] * (1.0 - DELTA)
    words1, words2, chunks = s[..., 21], s[..., 22], s[..., 23]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = matched1 / length1
        recall = matched2 / length2
        f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        fragmentation = chunks / ((words1 + words2) / 2.0)
        values = f_mean * (1.0 - GAMMA * fragmentation**BETA)
    result: NDArray[np.float64] = np.where(np.isnan(values) | (values < 0), 0.0, values)
    return result


#: Portions of work per thread. More portions balance the threads better.
_PORTIONS = 8
#: Pairs below which threads cost more than they save. Dense captions are scored a video at a time.
_FEW_PAIRS = 200


@inner
def count(
    ours: Lines,
    theirs: Lines,
    words: WordRelations,
    line1: int,
    line2: int,
    matches: Int32x2,
    chosen: Int32,
    rows: Out[Int32x2],
    at: int,
) -> None:
    """Write the statistics of an alignment to a row."""
    a, a_end = ours.offsets[line1], ours.offsets[line1 + 1]
    b, b_end = theirs.offsets[line2], theirs.offsets[line2 + 1]
    for c in range(rows.shape[1]):
        rows[at, c] = 0
    rows[at, 0] = a_end - a
    rows[at, 1] = b_end - b
    for i in range(a, a_end):
        rows[at, 2] += words.function[ours.tokens[i]]
    for j in range(b, b_end):
        rows[at, 3] += words.function[theirs.tokens[j]]
    end = -1
    j = 0
    while j < b_end - b:
        m = chosen[j]
        if m < 0:
            if end != -1:
                rows[at, 20] += 1
                end = -1
            j += 1
        else:
            first = 4 + 4 * matches[m, 3]
            for k in range(a + matches[m, 0], a + matches[m, 0] + matches[m, 1]):
                rows[at, first + (2 if words.function[ours.tokens[k]] else 0)] += 1
            for k in range(b + j, b + j + matches[m, 2]):
                rows[at, first + (3 if words.function[theirs.tokens[k]] else 1)] += 1
            rows[at, 21] += matches[m, 1]
            rows[at, 22] += matches[m, 2]
            if end != -1 and end != matches[m, 0]:
                rows[at, 20] += 1
            end = matches[m, 0] + matches[m, 1]
            j += matches[m, 2]
    if end != -1:
        rows[at, 20] += 1


@inner
def are_identical(ours: Lines, theirs: Lines, words: WordRelations, line1: int, line2: int) -> bool:
    """Tell whether two lines have the same words, as METEOR compares them."""
    a, b = ours.offsets[line1], theirs.offsets[line2]
    length = ours.offsets[line1 + 1] - a
    same: bool = theirs.offsets[line2 + 1] - b == length
    i = 0
    while same and i < length:
        same = words.key[ours.tokens[a + i]] == words.key[theirs.tokens[b + i]]
        i += 1
    return same


@inner
def write(matches: Int32x2, chosen: Int32, length2: int, links: Out[Int32x2], at: int) -> None:
    """Write the matches of an alignment from a row on."""
    j = 0
    while j < length2:
        m = chosen[j]
        if m < 0:
            j += 1
            continue
        links[at, 0] = j
        links[at, 1] = matches[m, 2]
        links[at, 2] = matches[m, 0]
        links[at, 3] = matches[m, 1]
        links[at, 4] = matches[m, 3]
        at += 1
        j += matches[m, 2]


class Scratch(NamedTuple):
    """Scratch memory of :func:`align`. Allocating arrays inside a kernel costs more."""

    wanted: Int32
    lists: Index
    hits: Int32x2
    filled: Int32
    keys: Int32x2
    uses: Int32
    used: Int32
    cover: Int32x2
    matches: Int32x2
    bounds: Int64
    fixed: Int32
    chosen: Int32
    paths: Int64x2
    steps: Int64x2
    starting: Int64
    later: Int64
    beam: Int64x2
    state: Int64x3
    taken: Int64x2
    children: Int64
    history: Int32x3
    seen: Int32
    seen_at: Int32


def scratch(
    ours: Lines, theirs: Lines, words: WordRelations, phrases: PhraseRelations, first: Ints, second: Ints
) -> Scratch:
    """Allocate scratch memory for these pairs of lines."""
    longest1, longest2 = (
        int(np.diff(side.offsets)[lines].max(initial=0)) for side, lines in ((ours, first), (theirs, second))
    )
    n_keys = len(words.function) + len(phrases.their_lengths)
    n_lists, n_lines = KINDS * n_keys, len(theirs.offsets)

    def small(*shape: int) -> Small:
        return np.empty(shape, np.int32)

    def large(*shape: int) -> Ints:
        return np.empty(shape, np.int64)

    longest = max(longest1, longest2)
    most_lists = PARAPHRASE + 2 * int(phrases.their_lengths.max(initial=0))
    # Memory that is never written to costs nothing.
    return Scratch(
        wanted=np.zeros(n_keys, np.int32),
        lists=Index(np.zeros(n_lists, np.int32), small(n_lists), small(4096, 3)),
        hits=small(4096, 4),
        filled=small(n_lists),
        keys=small(most_lists, 2),
        uses=np.zeros(n_lists, np.int32),
        used=small(n_lists),
        cover=small(2, longest),
        matches=small(MOST_TRIED * longest2, 5),
        bounds=large(longest2 + 1),
        fixed=small(longest2),
        chosen=small(longest2),
        paths=large(2 * BEAM, COLUMNS),
        steps=large(SHORT, BEAM),
        starting=large(SHORT + 1),
        later=large(SHORT + 1),
        beam=large(BEAM, 4),
        state=large(2, BEAM, 5),
        taken=large(2 * BEAM, longest1 // 32 + 1),
        children=large(2 * BEAM),
        history=small(longest2, BEAM, 2),
        seen=np.full(n_lines, -1, np.int32),
        seen_at=small(n_lines),
    )


@kernel
def align(
    ours: Lines,
    theirs: Lines,
    words: WordRelations,
    phrases: PhraseRelations,
    first: Int64,
    second: Int64,
    rows: Out[Int32x2],
    parts: Out[Float64x2],
    links: Out[Int32x2],
    starts: Int64,
    room: Out[Scratch],
) -> None:
    """Fill the statistics and the parts of the score of each pair of lines ``first[p]`` and ``second[p]``.

    Pairs with the same line 1 follow each other. If `starts` has a row for each pair, the matches of the pair
    are written to `links` from that row on: start and length in line 2, start and length in line 1, module.
    """
    n_words = len(words.function)
    index, hits = room.lists, room.hits
    stop, lists = 0, 0
    for pair in range(len(first)):
        line1, line2 = first[pair], second[pair]
        length1 = ours.offsets[line1 + 1] - ours.offsets[line1]
        length2 = theirs.offsets[line2 + 1] - theirs.offsets[line2]
        if pair == stop:
            while stop < len(first) and first[stop] == line1:
                mark(theirs, phrases, n_words, second[stop], room.wanted, pair + 1)
                stop += 1
            most = room_for(ours, words, phrases, line1)
            if most > len(hits):
                index = Index(index.counts, index.starts, np.empty((most + most // 2, 3), np.int32))
                hits = np.empty((most + most // 2, 4), np.int32)
            lists = turn_round(ours, words, phrases, line1, room.wanted, pair + 1, index, hits, room.filled)
        # Equal pairs are aligned once.
        earlier = room.seen_at[line2] if room.seen[line2] == line1 and len(starts) == 0 else -1
        if earlier >= 0:
            for c in range(rows.shape[1]):
                rows[pair, c] = rows[earlier, c]
            parts[pair, 0] = parts[earlier, 0]
            parts[pair, 1] = parts[earlier, 1]
        else:
            room.seen[line2] = line1
            room.seen_at[line2] = pair
            identical = are_identical(ours, theirs, words, line1, line2)
            gather(
                theirs,
                phrases,
                n_words,
                line2,
                length1,
                identical,
                index,
                room.keys,
                room.uses,
                room.used,
                room.cover,
                room.matches,
                room.bounds,
                room.fixed,
            )
            is_short = length1 <= SHORT and length2 <= SHORT
            if not (
                is_short
                and search_merged(
                    room.matches,
                    room.bounds,
                    room.fixed,
                    length2,
                    room.paths,
                    room.starting,
                    room.later,
                    room.steps,
                    room.chosen,
                )
            ):
                search(
                    room.matches,
                    room.bounds,
                    room.fixed,
                    length1,
                    length2,
                    room.beam,
                    room.state,
                    room.taken,
                    room.children,
                    room.history,
                    room.chosen,
                )
            count(ours, theirs, words, line1, line2, room.matches, room.chosen, rows, pair)
            ingredients(rows, pair, parts)
            if len(starts) > 0:
                write(room.matches, room.chosen, length2, links, starts[pair])
        if pair + 1 == stop:
            for k in range(lists):
                index.counts[room.filled[k]] = 0


def statistics(
    hypotheses: Sequence[str], references: Sequence[str], data_dir: str | Path | None = None
) -> NDArray[np.float64]:
    """Return the 23 statistics of each hypothesis with the reference at the same place."""
    if len(hypotheses) != len(references):
        raise InputError(
            f"{len(hypotheses):,} hypotheses but {len(references):,} references; pass one reference for each"
        )
    resources = Resources.open(data_dir)
    number = {text: i for i, text in enumerate(dict.fromkeys([*hypotheses, *references]))}
    first = np.fromiter((number[text] for text in hypotheses), np.int64, len(hypotheses))
    second = np.fromiter((number[text] for text in references), np.int64, len(references))
    rows, _ = pair_statistics(encode_texts(list(number), resources), first, second, resources)
    return rows.astype(np.float64)


def links(encoded: EncodedLines, first: Ints, second: Ints, resources: Resources) -> list[Small]:
    """Return the matches of each pair of lines.

    Columns are start and length in the reference, start and length in the hypothesis, module.
    """
    # Each word of the reference starts at most one match.
    starts = offsets_of(np.diff(encoded.theirs.offsets)[second])
    matches = np.full((int(starts[-1]), 5), -1, np.int32)
    pair_statistics(encoded, first, second, resources, matches, starts)
    return [own[own[:, 0] >= 0] for own in np.split(matches, starts[1:-1])] if len(first) else []


def pair_statistics(
    encoded: EncodedLines,
    first: Ints,
    second: Ints,
    resources: Resources,
    matches: Small | None = None,
    starts: Ints | None = None,
) -> tuple[Small, NDArray[np.float64]]:
    """Return the statistics and the parts of the scores of pairs of lines ``first[p]``, ``second[p]``.

    Their matches are written to ``matches``, from the row ``starts[p]`` on, if these are given.
    """
    matches = np.zeros((0, 5), np.int32) if matches is None else matches
    starts = np.zeros(0, np.int64) if starts is None else starts
    words, phrases = tables_of(encoded, resources)
    # The kernel wants the pairs of a hypothesis together.
    order = np.argsort(first, kind="stable") if np.any(first[1:] < first[:-1]) else None
    if order is not None:
        first, second = first[order], second[order]
        starts = starts[:-1][order] if len(starts) else starts
    length1, length2 = np.diff(encoded.ours.offsets)[first], np.diff(encoded.theirs.offsets)[second]
    work = np.cumsum((np.minimum(6 * length1, MOST_TRIED) + 60.0) * (length2 + 4.0))
    few = len(first) < _FEW_PAIRS
    threads = 1 if few else jobs()
    portions = min(1 if few else _PORTIONS * threads, len(first))
    bounds = (
        [*np.searchsorted(work, work[-1] * np.arange(portions) / portions).tolist(), len(first)]
        if portions
        else [0]
    )
    rows, parts = np.empty((len(first), STATISTICS), np.int32), np.empty((len(first), 2))

    def run(portion: int) -> None:
        part = slice(bounds[portion], bounds[portion + 1])
        pairs = encoded.ours, encoded.theirs, words, phrases, first[part], second[part]
        align(*pairs, rows[part], parts[part], matches, starts[part], scratch(*pairs))

    # Kernels run without the interpreter's lock.
    for _ in track(side_by_side(run, range(portions), threads), "METEOR: aligning", total=portions):
        pass
    if order is None:
        return rows, parts
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return rows[back], parts[back]
