"""Comparison of nine systems by eight metrics: all pairs at once, beside one pair metric by metric.

    python -m benchmarks.comparison [--images 12454] [--systems 9]

The statistics are random numbers in the shape of the metrics' statistics.
"""

from __future__ import annotations

import argparse

import numpy as np

import captious
from benchmarks.timing import timed
from captious.metrics import registry
from captious.results.scores import Score, Scores

METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE")


def random_scores(images: int, systems: int) -> list[Scores]:
    """Draw scores of systems. BLEU-1 to BLEU-4 share their rows, as they do when captions are scored."""
    rng = np.random.default_rng(0)
    ids, offsets = tuple(map(str, range(images))), np.arange(images + 1)
    measures = {name: registry.create(name) for name in METRICS}
    closest = rng.integers(8, 14, (images, 1))
    scores = []
    for k in range(systems):
        totals = np.maximum(rng.integers(8, 14, (images, 1)) - np.arange(4), 0)
        matches = rng.binomial(totals, [0.6 + 0.003 * k, 0.4, 0.25, 0.15])
        bleu = np.concatenate([matches, totals, totals[:, :1], closest], axis=1).astype(np.float64)
        rows = {name: bleu for name in METRICS if name.startswith("BLEU")}
        rows["METEOR"] = rng.integers(0, 10, (images, 24)).astype(np.float64)
        for name, width in (("ROUGE-L", 2), ("CIDEr-D", 2), ("SPICE", 7)):
            rows[name] = rng.random((images, width)) + 0.002 * k
            rows[name][:, 1] = 1.0
        scores.append(
            Scores(f"s{k}", [Score(measures[name], rows[name], ids, offsets, name) for name in METRICS])
        )
    return scores


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int, default=12_454)
    arguments.add_argument("--systems", type=int, default=9)
    options = arguments.parse_args()
    systems = random_scores(options.images, options.systems)
    comparisons, together = timed(lambda: captious.compare(*systems))
    pairs = len(comparisons) // len(METRICS)

    def compare_one_pair() -> None:
        for name in METRICS:
            captious.compare(*systems[:2], metrics=[name])

    _, one = timed(compare_one_pair)
    ratio = pairs * one.wall / together.wall
    print(f"{len(systems)} systems, {len(METRICS)} metrics, {options.images:,} images")
    print(f"  all {pairs} pairs at once: {together.wall:.1f} s")
    print(f"  one pair, metric by metric: {one.wall:.1f} s, {ratio:.0f} times as long per pair")


if __name__ == "__main__":
    main()
