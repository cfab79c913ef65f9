"""Train the fluency detector on human captions and the same captions with errors.

python -m captious.training.fluency_recipe AUDIO_CAPTIONS… --images IMAGE_CAPTIONS… --without JUDGED…

Captions are JSON lines (``caption``, or a list ``captions`` or ``references``). Captions that occur in a file
of ``--without`` are never used.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import require
from captious.core.ragged import offsets_of
from captious.core.writing import atomic_write
from captious.text.fluency import BUCKETS, FILE, buckets_of, words_of
from captious.training.fluency_examples import CORRUPTIONS, TaggedCaption, corrupt, join_events, tag_captions

SEED = 1
#: Passes over audio captions, whose language the detector is mostly used on.
AUDIO_PASSES = 3
#: Share of human captions in a pass that are joined with another one.
JOINED = 0.15
#: Words of two joined captions.
LONGEST_JOINED = 30
#: Penalty on squared weights, relative to the mean loss.
PENALTY = 3e-6
#: Captions held out to measure the detector.
HELD_OUT = 0.1


class FluencyExamples(NamedTuple):
    """Captions, the name of the error of each ("" without one), and weights."""

    captions: list[str]
    errors: list[str]
    weights: list[float]


def captions_in(value: Any) -> Iterator[str]:
    """Yield the captions in a row of JSON, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and key in ("caption", "raw"):
                yield item
            elif isinstance(item, dict | list):
                yield from captions_in(item)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield item
            elif isinstance(item, dict | list):
                yield from captions_in(item)


def read_captions(paths: Iterable[Path]) -> list[str]:
    """Return the distinct captions of files of JSON lines."""
    captions: dict[str, None] = {}
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open() as file:
            for line in file:
                captions.update(dict.fromkeys(captions_in(json.loads(line))))
    return list(captions)


def examples_of(tagged: Sequence[TaggedCaption], passes: int, weight: float, seed: int) -> FluencyExamples:
    """Return human captions, each once as it is or joined with another, and as often with an error."""
    random = np.random.default_rng(seed)
    captions: list[str] = []
    errors: list[str] = []
    for number in range(passes):
        for caption in tagged:
            other = tagged[int(random.integers(len(tagged)))]
            is_joined = number > 0 and random.random() < JOINED
            is_joined = is_joined and len(caption.words) + len(other.words) < LONGEST_JOINED
            words = join_events(caption, other, random) if is_joined else caption.words
            captions.append(" ".join(words))
            errors.append("")
            if (result := corrupt(caption, random)) is not None:
                errors.append(result[0])
                captions.append(" ".join(result[1]))
    return FluencyExamples(captions, errors, [weight] * len(captions))


def area_under_curve(scores: Sequence[float] | np.ndarray[Any, Any], positive: Sequence[bool]) -> float:
    """Return the share of pairs in which the positive example has the higher score; ties count half."""
    values, is_positive = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.bincount(inverse, ranks) / counts)[inverse]
    positives = int(is_positive.sum())
    negatives = len(values) - positives
    return float((ranks[is_positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def fit(examples: FluencyExamples, penalty: float = PENALTY) -> tuple[np.ndarray[Any, Any], float]:
    """Return weights and bias of the logistic regression."""
    sparse = require("scipy.sparse", "train", "training the fluency detector")
    optimize = require("scipy.optimize", "train", "training the fluency detector")
    rows = [buckets_of(caption) for caption in examples.captions]
    table = sparse.csr_matrix(
        (np.ones(sum(map(len, rows))), np.concatenate(rows), offsets_of([len(row) for row in rows])),
        shape=(len(rows), BUCKETS),
    )
    targets = np.array([bool(error) for error in examples.errors], dtype=np.float64)
    share = np.array(examples.weights)
    share /= share.sum()

    def loss(parameters: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        weights = parameters[:-1]
        logits = table @ weights + parameters[-1]
        value = share @ (np.logaddexp(0.0, logits) - targets * logits) + penalty * weights @ weights
        slope = share * (1.0 / (1.0 + np.exp(-np.clip(logits, -60, 60))) - targets)
        return float(value), np.append(table.T @ slope + 2 * penalty * weights, slope.sum())

    result = optimize.minimize(
        loss, np.zeros(BUCKETS + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300}
    )
    return result.x[:-1], float(result.x[-1])


def save(weights: np.ndarray[Any, Any], bias: float, path: Path) -> None:
    """Write the weights as whole numbers of 8 bits."""
    scale = float(np.abs(weights).max()) / 127
    codes = np.rint(weights / scale).astype(np.int8)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, codes=codes, scale=np.float64(scale), bias=np.float64(bias))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the training."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("audio", nargs="+", type=Path)
    parser.add_argument("--images", nargs="*", type=Path, default=[])
    parser.add_argument("--most-images", type=int, default=50_000)
    parser.add_argument("--without", nargs="*", type=Path, default=[])
    parser.add_argument("--penalty", type=float, default=PENALTY)
    parser.add_argument("--output", type=Path, default=FILE)
    chosen = parser.parse_args(arguments)
    without = {tuple(words_of(caption)) for caption in read_captions(chosen.without)}
    random = np.random.default_rng(SEED)
    parts = []
    for paths, most in ((chosen.audio, None), (chosen.images, chosen.most_images)):
        texts = [text for text in read_captions(paths) if tuple(words_of(text)) not in without]
        order = random.permutation(len(texts))[:most]
        parts.append(tag_captions([texts[k] for k in order]))
    audio, images = parts
    held = [tagged[: int(HELD_OUT * len(tagged))] for tagged in parts]
    rest = [tagged[int(HELD_OUT * len(tagged)) :] for tagged in parts]
    print(f"{len(audio):,} audio captions and {len(images):,} image captions; {len(without):,} left out")
    train = [examples_of(rest[0], AUDIO_PASSES, 1.0, 2)]
    if rest[1]:
        train.append(examples_of(rest[1], 1, 1.0, 3))
    examples = FluencyExamples(*(list(chain.from_iterable(field)) for field in zip(*train)))
    weights, bias = fit(examples, chosen.penalty)
    save(weights, bias, chosen.output)
    for name, tagged in zip(("audio", "image"), held):
        if tagged:
            report(name, examples_of(tagged, 2, 1.0, 4), weights, bias)


def report(name: str, examples: FluencyExamples, weights: np.ndarray[Any, Any], bias: float) -> None:
    """Print the area under the curve for all errors and for each."""
    logits = np.array([bias + weights[buckets_of(caption)].sum() for caption in examples.captions])
    errors = np.array(examples.errors, dtype=object)
    print(f"{name}: held out, all errors {area_under_curve(logits, errors != ''):.4f}")
    for kind in CORRUPTIONS:
        here = (errors == "") | (errors == kind)
        if (errors == kind).any():
            print(f"  {kind}: {area_under_curve(logits[here], errors[here] == kind):.4f}")


if __name__ == "__main__":
    main()
