"""Document frequencies of word pieces, the tokens of sentence encoders, for weights.

They were counted in the human captions of COCO and nocaps (``python -m tools.make_pieces``), so that weights
do not depend on the captions being scored.
"""

from __future__ import annotations

import gzip
import math
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest

FILE = Path(__file__).with_name("pieces.txt.gz")


class Pieces(NamedTuple):
    """Number of captions, and the number of captions with each piece."""

    captions: int
    counts: dict[str, int]
    digest: str
    label: str = "coco+nocaps"

    def weight(self, piece: str) -> float:
        """Return log((captions + 1) / (captions with the piece + 1))."""
        return math.log((self.captions + 1) / (self.counts.get(piece, 0) + 1))

    def weights(self, vocabulary: dict[str, int]) -> NDArray[np.float32]:
        """Return the weights of an encoder's vocabulary by number."""
        weights = np.full(max(vocabulary.values(), default=-1) + 1, math.log(self.captions + 1), np.float32)
        for piece, number in vocabulary.items():
            weights[number] = self.weight(piece)
        return weights


@lru_cache(maxsize=1)
def load() -> Pieces:
    """Load the shipped table."""
    lines = gzip.decompress(FILE.read_bytes()).decode().split("\n")
    rows = (line.split("\t") for line in lines[1:] if line)
    return Pieces(int(lines[0]), {piece: int(count) for piece, count in rows}, digest.of_lines(lines))
