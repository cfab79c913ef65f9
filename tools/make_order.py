"""Count which kinds of words stand beside each other in human captions of COCO and nocaps.

    python -m tools.make_order ../shared/data

Reads analyses (parses/captions.jsonl.gz) and writes src/captious/learned/weights/order.txt.gz: two kinds and their count per line.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sys
from collections import Counter
from pathlib import Path

from captious.core.writing import atomic_write
from captious.metrics.learned.word_order import FILE, kinds
from captious.parser import Sentence

FEWEST = 2


def main() -> None:
    pairs: Counter[tuple[str, str]] = Counter()
    captions = 0
    with gzip.open(Path(sys.argv[1]) / "parses" / "captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["source"] not in ("coco", "nocaps"):
                continue
            captions += 1
            for given in row["sentences"]:
                own = kinds(Sentence(given["form"], given["tag"], [], [], []))
                pairs.update(itertools.pairwise(own))
    kept = sorted((a, b, n) for (a, b), n in pairs.items() if n >= FEWEST)
    FILE.parent.mkdir(exist_ok=True)
    with atomic_write(FILE) as temporary:
        temporary.write_bytes(
            gzip.compress("".join(f"{a} {b} {n}\n" for a, b, n in kept).encode(), 9, mtime=0)
        )
    print(f"{captions:,} captions, {len(kept):,} pairs, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
