"""Effect of a second sentence on metrics: a true one, and a wrong one, on images of the Karpathy test split.

    python -m benchmarks.second_sentences [--images 2000]

A short description is one person's caption. The true one adds another person's caption of the image, the wrong
one a caption of another image. The references are the three other captions. Intervals are 95 %, by bootstrap over
images.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import captious
from benchmarks.captions import public_data, read_jsonl

METRICS = (
    *("ParaSPICE", "ParaSPICE-P", "ParaSPICE-R", "ParaScore-lite", "ParaScore-lite-P", "ParaScore-lite-R"),
    *("CAPTURE", "FactRecall", "FactPrecision", "SPICE", "CaptiousScore-lite", "ALOHa", "CIDEr-R", "CIDEr-D"),
)
DRAWS = 2000


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    rng = np.random.default_rng(1)
    means = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(DRAWS)]
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high


def sentence(text: str) -> str:
    return text.strip().rstrip(".") + "."


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--images", type=int, default=2000)
    options = arguments.parse_args()
    rows = [
        row
        for row in read_jsonl(public_data() / "karpathy_test/references.jsonl.gz")
        if len(row["captions"]) >= 5
    ]
    rng = np.random.default_rng(5)
    rows = [rows[i] for i in rng.permutation(len(rows))[: options.images].tolist()]
    references = {str(row["image_id"]): row["captions"][2:5] for row in rows}
    short = {str(row["image_id"]): sentence(row["captions"][0]) for row in rows}
    sides = {
        "short": short,
        "true": {
            str(row["image_id"]): f"{short[str(row['image_id'])]} {sentence(row['captions'][1])}"
            for row in rows
        },
        "wrong": {
            str(row["image_id"]): f"{short[str(row['image_id'])]} {sentence(rows[k - 1]['captions'][1])}"
            for k, row in enumerate(rows)
        },
    }
    values = {}
    for name, side in sides.items():
        scores = captious.score(references, side, METRICS)
        values[name] = {metric: np.array(list(scores[metric].per_image.values())) for metric in METRICS}
    print("| | short | true | wrong | true − short | true above wrong |\n|---|---:|---:|---:|---:|---:|")
    for metric in METRICS:
        a, b, c = (values[name][metric] for name in sides)
        known = ~(np.isnan(a) | np.isnan(b) | np.isnan(c))
        a, b, c = a[known], b[known], c[known]
        above = 100 * ((b > c) + 0.5 * (b == c))
        cells = [f"{x.mean():.3f}".replace("0.", ".", 1) for x in (a, b, c)]
        low, high = interval(b - a)
        first, last = interval(above)
        cells.append(f"{(b - a).mean():+.3f} [{low:.3f}, {high:.3f}]")
        cells.append(f"{above.mean():.1f} % [{first:.1f}, {last:.1f}]")
        print(f"| {metric} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
