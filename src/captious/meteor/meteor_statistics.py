"""METEOR's statistics of pairs of captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.progress import track
from captious.core.ragged import offsets_of
from captious.core.threads import jobs, side_by_side
from captious.meteor.align import align, scratch
from captious.meteor.encoding_words import EncodedLines, encode_texts, tables_of
from captious.meteor.matches import MOST_TRIED, Ints, Small
from captious.meteor.meteor_tables import Resources
from captious.meteor.parameters import STATISTICS

#: Portions of work per thread. More portions balance the threads better.
_PORTIONS = 8


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


def pair_statistics(
    encoded: EncodedLines, first: Ints, second: Ints, resources: Resources
) -> tuple[Small, NDArray[np.float64]]:
    """Return the statistics and the parts of the scores of pairs of lines ``first[p]``, ``second[p]``."""
    return _align_pairs(encoded, first, second, resources, np.zeros((0, 5), np.int32), np.zeros(0, np.int64))


def links(encoded: EncodedLines, first: Ints, second: Ints, resources: Resources) -> list[Small]:
    """Return the matches of each pair of lines.

    Columns are start and length in the reference, start and length in the hypothesis, module.
    """
    # Each word of the reference starts at most one match.
    starts = offsets_of(np.diff(encoded.theirs.offsets)[second])
    matches = np.full((int(starts[-1]), 5), -1, np.int32)
    _align_pairs(encoded, first, second, resources, matches, starts)
    return [own[own[:, 0] >= 0] for own in np.split(matches, starts[1:-1])] if len(first) else []


def _align_pairs(
    encoded: EncodedLines, first: Ints, second: Ints, resources: Resources, matches: Small, starts: Ints
) -> tuple[Small, NDArray[np.float64]]:
    """Align pairs, and write their matches if `starts` has a row for each."""
    words, phrases = tables_of(encoded, resources)
    # The kernel wants the pairs of a hypothesis together.
    order = np.argsort(first, kind="stable") if np.any(first[1:] < first[:-1]) else None
    if order is not None:
        first, second = first[order], second[order]
        starts = starts[:-1][order] if len(starts) else starts
    length1, length2 = np.diff(encoded.ours.offsets)[first], np.diff(encoded.theirs.offsets)[second]
    work = np.cumsum((np.minimum(6 * length1, MOST_TRIED) + 60.0) * (length2 + 4.0))
    threads = jobs()
    portions = min(_PORTIONS * threads, len(first))
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
