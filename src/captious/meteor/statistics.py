"""From caption texts to METEOR's statistics lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.meteor.alignment import align
from captious.meteor.encode import Encoded, encode_texts, lines_of
from captious.meteor.matches import MAX_MATCHES, Ints
from captious.meteor.resources import Resources
from captious.meteor.score import STATISTICS
from captious.progress import track
from captious.threads import side_by_side

#: Pairs that one thread aligns between two steps of the progress bar.
_BLOCK = 8_000


def statistics(
    hypotheses: Sequence[str], references: Sequence[str], data_dir: str | Path | None = None
) -> NDArray[np.float64]:
    """The statistics line (23 numbers) of each hypothesis with the reference at the same place."""
    if len(hypotheses) != len(references):
        raise InputError(f"{len(hypotheses):,} hypotheses but {len(references):,} references")
    resources = Resources.open(data_dir)
    number = {text: i for i, text in enumerate(dict.fromkeys([*hypotheses, *references]))}
    first = np.fromiter((number[text] for text in hypotheses), np.int64, len(hypotheses))
    second = np.fromiter((number[text] for text in references), np.int64, len(references))
    return pair_statistics(encode_texts(list(number), resources.normaliser), first, second, resources)


def pair_statistics(encoded: Encoded, first: Ints, second: Ints, resources: Resources) -> NDArray[np.float64]:
    """The statistics lines of pairs (hypothesis: line ``first[p]``, reference: line ``second[p]``)."""
    lines, words, phrases = lines_of(encoded, first, second, resources)
    lengths = np.diff(encoded.offsets)
    # Equal pairs are aligned once.
    pairs, inverse = np.unique(first * len(lengths) + second, return_inverse=True)
    first, second = np.divmod(pairs, max(len(lengths), 1))
    rows = np.zeros((len(pairs), STATISTICS))
    # Each cell of a pair costs several simple steps: 300 pairs of captions take longer in plain Python than Numba to load.
    kernel = align.pick(float(np.sum((6.0 * lengths[first] + 60.0) * (lengths[second] + 4.0))))
    starts = range(0, len(pairs), _BLOCK)

    def run(start: int) -> int:
        block = slice(start, start + _BLOCK)
        stopped = int(kernel(lines, words, phrases, first[block], second[block], rows[block]))
        return stopped if stopped < 0 else start + stopped

    # Compiled code runs without the interpreter's lock.
    aligned = side_by_side(run, starts, asked=1 if kernel is align.plain else None)
    for refused in track(aligned, "METEOR: aligning", total=len(starts)):
        if refused >= 0:
            a, b = first[refused], second[refused]
            beginning = " ".join(encoded.vocabulary[t] for t in encoded.tokens[encoded.offsets[a] :][:8])
            raise InputError(
                f"METEOR cannot align a caption of {lengths[a]:,} words with a reference of {lengths[b]:,}: more than "
                f"{MAX_MATCHES:,} of their words and phrases match; shorten the caption that begins with '{beginning}'"
            )
    result: NDArray[np.float64] = rows[inverse]
    return result
