"""How fast metrics fall as captions get worse (Cui et al. 2018, section 3.4): curves, and the area under them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError, did_you_mean
from captious.human.kendall import FloatArray
from captious.human.resampling import percentile_interval, resample_counts
from captious.human.scoring import json_number, make, score_captions
from captious.io.captions import CaptionWarning
from captious.progress import track
from captious.robustness.transformations import Neighbours, permute_words, random_words
from captious.significance import RESAMPLES, SEED

TRANSFORMATIONS = ("random caption", "word permutation", "random word")
#: 0, 10, … 100 per cent.
STRENGTHS = tuple(range(0, 101, 10))
#: Captions that curves should be made of.
LEAST_CAPTIONS = 2000


@dataclass(frozen=True)
class RobustnessCurve:
    """The mean score of transformed captions, relative to the human caption (1)."""

    metric: str
    transformation: str
    strengths: tuple[int, ...]
    values: list[float]
    #: The area under the curve; lower is more robust. With its interval over images.
    area: float
    interval: tuple[float, float]
    captions: int
    signature: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "metric": self.metric, "transformation": self.transformation, "strengths": list(self.strengths),
            "values": [json_number(v) for v in self.values], "area": json_number(self.area),
            "interval": [json_number(v) for v in self.interval], "captions": self.captions, "signature": self.signature,
        }  # fmt: skip


def robustness_curves(
    captions: Mapping[str, Sequence[str]],
    metrics: Any = "coco",
    transformations: Sequence[str] = TRANSFORMATIONS,
    *,
    strengths: Sequence[int] = STRENGTHS,
    images: int | None = LEAST_CAPTIONS,
    features: Mapping[str, NDArray[np.float64]] | None = None,
    options: Mapping[str, Any] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> list[RobustnessCurve]:
    """Take one caption of each image, drawn at random, transform it at every strength, and score it with the image's other
    captions as references.

    ``images`` limits how many images are used, drawn at random. The nearest images are found by their captions, or by
    ``features``, one vector for each image.
    """
    for name in transformations:
        if name not in TRANSFORMATIONS:
            raise InputError(f"unknown transformation '{name}'{did_you_mean(name, TRANSFORMATIONS)} (known: {', '.join(TRANSFORMATIONS)})")
    steps = tuple(sorted({0, *strengths}))
    if len(steps) < 2:
        raise InputError("a curve needs at least one strength above 0")
    chosen = _choose(captions, images, seed)
    data = _Material.of({image: captions[image] for image in chosen}, features, seed)
    groups: list[list[str]] = [[] for _ in chosen]
    for number, name in enumerate(transformations):
        generators = [np.random.default_rng([seed, number, strength]) for strength in steps]
        for k in track(range(len(chosen)), name):
            groups[k] += [" ".join(data.transformed(name, k, s, g)) for s, g in zip(steps, generators)]
    found = score_captions(groups, data.references, make(metrics, options), "transformed captions")
    curves = []
    how = "features" if features is not None else "captions"
    for item in found:
        table = item.values.reshape(len(chosen), len(transformations), len(steps))
        for number, name in enumerate(transformations):
            fields = [f"transformation:{name}", f"captions:{len(chosen)}", f"strengths:{steps[0]}-{steps[-1]}/{len(steps)}", f"seed:{seed}"]
            if name == "random caption":
                fields.append(f"nearest:{how}")
            curves.append(_curve(item.metric, name, steps, table[:, number], resamples, "|".join([item.signature, *fields])))
    return curves


def _choose(captions: Mapping[str, Sequence[str]], images: int | None, seed: int) -> list[str]:
    usable = [image for image, texts in captions.items() if len(texts) > 1]
    if len(usable) < 2:
        raise InputError("robustness needs at least two images with two or more captions each: one to transform, others as references")
    if images is not None and len(usable) > images:
        places = np.random.default_rng(seed).choice(len(usable), size=images, replace=False)
        usable = [usable[k] for k in np.sort(places).tolist()]
    if len(usable) < LEAST_CAPTIONS:
        warnings.warn(
            CaptionWarning(f"curves of {len(usable):,} captions are rough; {LEAST_CAPTIONS:,} or more are better"), stacklevel=3
        )
    return usable


@dataclass(frozen=True)
class _Material:
    """What transformations need: the captions as words, which of each image's is taken, the words there are, and who is near."""

    words: list[list[list[str]]]
    taken: list[int]
    references: list[list[str]]
    vocabulary: list[str]
    neighbours: Neighbours

    @classmethod
    def of(cls, captions: Mapping[str, Sequence[str]], features: Mapping[str, NDArray[np.float64]] | None, seed: int) -> _Material:
        from captious.text.ptb import tokenize

        generator = np.random.default_rng(seed)
        words = [[tokenize(text) for text in texts] for texts in captions.values()]
        taken = [int(generator.integers(0, len(texts))) for texts in captions.values()]
        references = [[t for k, t in enumerate(texts) if k != mine] for texts, mine in zip(captions.values(), taken)]
        vocabulary = sorted({word for texts in words for text in texts for word in text})
        if features is None:
            neighbours = Neighbours.by_captions(words)
        else:
            missing = next((image for image in captions if image not in features), None)
            if missing is not None:
                raise InputError(f"there are no features of image {missing}")
            neighbours = Neighbours(np.stack([features[image] for image in captions]).astype(np.float64))
        return cls(words, taken, references, vocabulary, neighbours)

    def transformed(self, name: str, k: int, strength: int, generator: np.random.Generator) -> list[str]:
        mine = self.words[k][self.taken[k]]
        if strength == 0:
            return mine
        if name == "word permutation":
            return permute_words(mine, strength, generator)
        if name == "random word":
            return random_words(mine, strength, self.vocabulary, generator)
        other = self.words[self.neighbours.draw(k, strength, generator)]
        return other[int(generator.integers(0, len(other)))]


def _curve(
    metric: str, name: str, steps: tuple[int, ...], scores: FloatArray, resamples: int, signature: str
) -> RobustnessCurve:
    # A caption for which the metric is undefined at some strength counts at none.
    rows = scores[np.all(np.isfinite(scores), axis=1)]
    if not len(rows) or rows[:, 0].mean() == 0:
        nan = float("nan")
        return RobustnessCurve(metric, name, steps, [nan] * len(steps), nan, (nan, nan), len(rows), signature)
    values = rows.mean(axis=0) / rows[:, 0].mean()
    drawn = []
    for counts in resample_counts(len(rows), resamples, SEED):
        means = counts.astype(np.float64) @ rows
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn.append(_area(steps, means / means[:, :1]))
    return RobustnessCurve(
        metric, name, steps, values.tolist(), float(_area(steps, values[None])[0]), percentile_interval(np.concatenate(drawn)),
        len(rows), signature,
    )  # fmt: skip


def _area(steps: Sequence[int], values: FloatArray) -> FloatArray:
    """The area under curves, as a share of that of a curve that never falls below 1 (trapezoids)."""
    at = np.array(steps, dtype=np.float64)
    widths = np.diff(at) / (at[-1] - at[0])
    area: FloatArray = (values[:, 1:] + values[:, :-1]) @ widths / 2
    return area
