"""Measures of descriptions by vision-language models: all in one fresh process, and each by itself.

    python -m benchmarks.descriptions [--images 5000] [--words 50] [--times 3] [--encoder]

Descriptions have 50 words and five references of 12 (:class:`benchmarks.captions.LongTexts`). The measures of
one process share the parse. ``--encoder`` adds the measures that need the sentence encoder.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.captions import LongTexts, write_coco
from benchmarks.timing import Run, captious_score, in_turn, quickest

#: Words of a reference, about the mean of COCO.
REFERENCE_WORDS = 12
METRICS = ("ALOHa", "CAPTURE", "FactRecall", "FactPrecision", "CIDEr-R", "ParaSPICE", "ParaScore-lite")
ENCODER = ("SentenceSim", "ParaScore")
#: Seconds that 5,000 descriptions may take, without and with the encoder.
BARS = (60, 360)


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--images", type=int, default=5000)
    arguments.add_argument("--words", type=int, default=50)
    arguments.add_argument("--times", type=int, default=3)
    arguments.add_argument("--encoder", action="store_true")
    options = arguments.parse_args()
    rows = LongTexts().rows(options.images, options.words, REFERENCE_WORDS)
    with tempfile.TemporaryDirectory() as folder:
        references, results = write_coco(
            Path(folder),
            {str(i): texts for i, (_, texts) in enumerate(rows)},
            {str(i): text for i, (text, _) in enumerate(rows)},
        )
        metrics = METRICS + (ENCODER if options.encoder else ())
        commands = {name: captious_score(references, results, name) for name in metrics}
        commands["all in one process"] = captious_score(references, results, ",".join(metrics))
        Run(commands["all in one process"])  # fills captious's cache
        runs = {name: quickest(own) for name, own in in_turn(options.times, commands).items()}
    print(f"{options.images:,} descriptions of {options.words} words, five references of {REFERENCE_WORDS}\n")
    print("| | wall clock | processor |\n|---|---:|---:|")
    for name, run in runs.items():
        print(f"| {name} | {run.wall:.1f} s | {run.processor:.1f} s |")
    if (options.images, options.words) == (5000, 50):
        print(f"\nbar for all: {BARS[options.encoder]} s")


if __name__ == "__main__":
    main()
