"""How common the pieces of text are that sentence encoders read: document frequencies in captions, for weights.

The table was counted in the human captions of COCO and nocaps (``python -m tools.make_pieces``), so that the weight of a word
does not depend on what else is scored.
"""

from __future__ import annotations

import gzip
import math
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious import digest

FILE = Path(__file__).with_name("pieces.txt.gz")


class Pieces(NamedTuple):
    """Captions that have a piece, of so many captions."""

    captions: int
    counts: dict[str, int]
    digest: str
    label: str = "coco+nocaps"

    def weight(self, piece: str) -> float:
        """log((captions + 1) / (captions with the piece + 1))."""
        return math.log((self.captions + 1) / (self.counts.get(piece, 0) + 1))

    def weights(self, vocabulary: dict[str, int]) -> NDArray[np.float32]:
        """The weight of every number of an encoder's vocabulary."""
        found = np.full(max(vocabulary.values(), default=-1) + 1, math.log(self.captions + 1), np.float32)
        for piece, number in vocabulary.items():
            found[number] = self.weight(piece)
        return found


@lru_cache(maxsize=1)
def load() -> Pieces:
    """The table that ships."""
    lines = gzip.decompress(FILE.read_bytes()).decode().split("\n")
    rows = (line.split("\t") for line in lines[1:] if line)
    return Pieces(int(lines[0]), {piece: int(count) for piece, count in rows}, digest.of_lines(lines))
