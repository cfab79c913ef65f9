"""Count in how many human captions of COCO and nocaps each piece of the encoder's vocabulary occurs.

    python -m tools.make_pieces ../shared/data

Writes src/captious/vectors/pieces.txt.gz: the number of captions, then a piece and its count per line.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from pathlib import Path

from captious.core.cache import atomic_write
from captious.io import read
from captious.vectors.sentence_vectors import PIECES_FILE, SentenceEncoder

#: Pieces of a single caption say nothing: they weigh as much as one that was never seen.
FEWEST = 2


def main() -> None:
    data = Path(sys.argv[1])
    texts: list[str] = []
    for name in ("coco/references.jsonl.gz", "nocaps/val.jsonl.gz"):
        texts += [caption for group in read(data / name, "references").captions for caption in group]
    encoder = SentenceEncoder()
    counts: Counter[int] = Counter()
    for ids in encoder.token_numbers(texts):
        counts.update(set(ids.tolist()))
    kept = sorted((encoder.piece(number), count) for number, count in counts.items() if count >= FEWEST)
    content = "\n".join([str(len(texts)), *(f"{piece}\t{count}" for piece, count in kept)]) + "\n"
    with atomic_write(PIECES_FILE) as temporary:
        temporary.write_bytes(gzip.compress(content.encode(), 9, mtime=0))
    print(f"{len(texts):,} captions, {len(kept):,} pieces, {PIECES_FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
