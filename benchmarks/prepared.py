"""CaptiousScore on new captions with prepared references, in a fresh process.

    python -m benchmarks.prepared --work FOLDER [--images 5000] [--times 3]

The references are prepared once and stay in the folder. Wall-clock and processor time of the whole command
are shown, and those of the encoder alone on the same captions, since only the ratio means much on a busy
machine.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.captions import coco, write_coco
from benchmarks.timing import Run, Seconds, captious_score, in_turn, python, quickest, timed

METRIC = "CaptiousScore"


def encoder_seconds(images: int) -> Seconds:
    """Time the encoder on the captions of one system."""
    from captious.vectors.sentence_vectors import SentenceEncoder

    encoder = SentenceEncoder()
    texts = list(coco(images=images)[1].values())
    encoder.encode(texts[:100])  # loads kernels
    return timed(lambda: encoder.encode_tokens(texts))[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--work", type=Path, required=True)
    arguments.add_argument("--images", type=int, default=5000)
    arguments.add_argument("--times", type=int, default=3)
    arguments.add_argument("--encoder", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.encoder:
        print(json.dumps(encoder_seconds(options.images)))
        return
    options.work.mkdir(parents=True, exist_ok=True)
    references, results = write_coco(options.work, *coco(images=options.images))
    prepared = options.work / f"{METRIC}-{options.images}.prepared"
    if not prepared.exists():
        run = Run(python("captious", "prepare", str(references), "-m", METRIC, "-o", str(prepared)))
        print(f"prepare: {run.wall:.0f} s, {prepared.stat().st_size / 1e6:.0f} MB", flush=True)
    whole = quickest(in_turn(options.times, {"score": captious_score(prepared, results, METRIC)})["score"])
    alone = Run(
        python(
            "benchmarks.prepared",
            "--encoder",
            "--images",
            str(options.images),
            "--work",
            str(options.work),
        )
    )
    encoder = Seconds(*alone.json)
    print(f"score, {options.images:,} captions: {whole.wall:.1f} s wall, {whole.processor:.1f} s processor")
    print(f"their tokens by the encoder alone: {encoder}")
    print(f"ratio of processor times: {whole.processor / encoder.processor:.2f}")


if __name__ == "__main__":
    main()
