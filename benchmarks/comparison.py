"""Comparing nine systems by eight metrics on 12,454 images: all pairs at once, beside one pair tested metric by metric.

    python -m benchmarks.comparison

The statistics are made up, of the shape that the metrics give; the tests do not look at what they mean.
"""

from __future__ import annotations

import time

import numpy as np

import captious
from captious.metrics import registry
from captious.results import significance
from captious.results.scores import Score, Scores

METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE")
IMAGES, SYSTEMS = 12_454, 9


def made_up() -> list[Scores]:
    """Systems with rows of numbers; BLEU-1 to BLEU-4 share theirs, as they do when captions are scored."""
    rng = np.random.default_rng(0)
    ids, offsets = tuple(map(str, range(IMAGES))), np.arange(IMAGES + 1)
    measures = {name: registry.create(name) for name in METRICS}
    closest = rng.integers(8, 14, (IMAGES, 1))
    systems = []
    for k in range(SYSTEMS):
        totals = np.maximum(rng.integers(8, 14, (IMAGES, 1)) - np.arange(4), 0)
        matches = rng.binomial(totals, [0.6 + 0.003 * k, 0.4, 0.25, 0.15])
        bleu = np.concatenate([matches, totals, totals[:, :1], closest], axis=1).astype(np.float64)
        rows = {name: bleu for name in METRICS if name.startswith("BLEU")}
        rows["METEOR"] = rng.integers(0, 10, (IMAGES, 24)).astype(np.float64)
        for name, width in (("ROUGE-L", 2), ("CIDEr-D", 2), ("SPICE", 7)):
            rows[name] = rng.random((IMAGES, width)) + 0.002 * k
            rows[name][:, 1] = 1.0
        systems.append(
            Scores(f"s{k}", [Score(measures[name], rows[name], ids, offsets, name) for name in METRICS])
        )
    return systems


def main() -> None:
    systems = made_up()
    start = time.perf_counter()
    found = captious.compare(*systems)
    together = time.perf_counter() - start
    pairs = len(found) // len(METRICS)
    start = time.perf_counter()
    for name in METRICS:
        a, b = systems[0][name], systems[1][name]
        rows = a.image_statistics, b.image_statistics, a.measure.value
        significance.paired_bootstrap(*rows)
        significance.randomisation(*rows)
    one = time.perf_counter() - start
    print(
        f"{SYSTEMS} systems, {len(METRICS)} metrics, {IMAGES:,} images: all {pairs} pairs at once {together:.1f} s"
    )
    print(
        f"one pair, metric by metric: {one:.1f} s; all pairs that way would take {pairs * one / together:.0f} times as long as at once"
    )


if __name__ == "__main__":
    main()
