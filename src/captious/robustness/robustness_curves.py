"""Metric scores as captions get worse (Cui et al. 2018, section 3.4): curves, and the area under them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.agreement.coefficients import FloatArray
from captious.agreement.resampling import resample_counts
from captious.agreement.study import score_captions
from captious.core.errors import InputError, did_you_mean
from captious.core.progress import track
from captious.io.caption_files import CaptionWarning
from captious.metrics.registry import make_measures
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.significance import RESAMPLES, SEED, percentile_interval
from captious.robustness.transformations import Neighbours, permute_words, random_words

TRANSFORMATIONS = ("random caption", "word permutation", "random word")
#: Strengths in percent: 0, 10, …, 100.
STRENGTHS = tuple(range(0, 101, 10))
#: Recommended minimum number of captions.
LEAST_CAPTIONS = 2000


@dataclass(frozen=True)
class RobustnessCurve:
    """Mean score of transformed captions, relative to the untransformed caption (1)."""

    metric: str
    transformation: str
    strengths: tuple[int, ...]
    values: list[float]
    #: Area under the curve (lower is more robust), with its interval over images.
    area: float
    interval: tuple[float, float]
    captions: int
    signature: str

    def tidy_rows(self) -> list[ResultRow]:
        """Return area and points of the curve as rows for CSV. The metric is the system under test."""
        name = f"{self.transformation}: area"
        area = ResultRow(self.metric, name, self.area, self.captions, self.signature, self.interval)
        points = [
            area._replace(metric=f"{self.transformation}: score at {strength} %", value=value, interval=None)
            for strength, value in zip(self.strengths, self.values)
        ]
        return [area, *points]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "metric": self.metric,
            "transformation": self.transformation,
            "strengths": list(self.strengths),
            "values": [numbers.number(v) for v in self.values],
            "area": numbers.number(self.area),
            "interval": [numbers.number(v) for v in self.interval],
            "captions": self.captions,
            "signature": self.signature,
        }


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
    """Score captions that are transformed more and more, and return the curves of the scores.

    One random caption per image is transformed at every strength and scored with the image's other captions
    as references.

    Parameters
    ----------
    captions
        Image id → captions. Images with fewer than two captions are skipped.
    metrics
        Metric names, groups or objects.
    transformations
        Names from `captious.robustness.TRANSFORMATIONS`.
    strengths
        Strengths in percent. 0 is always included.
    images
        Maximum number of images, drawn at random. None for all.
    features
        One vector per image, to find its nearest images. By default images are compared by their captions.
    options
        Options of the metrics.
    resamples, seed
        Number of bootstrap resamples of images, and the random seed of the transformations.

    Returns
    -------
    list of RobustnessCurve
        One curve per metric and transformation.

    Examples
    --------
    >>> captions = {"1": ["a man runs", "the man is running"], "2": ["a woman sings", "one woman singing"]}
    >>> [curve] = robustness_curves(captions, "BLEU-1", ["word permutation"], resamples=20)
    >>> curve.metric
    'BLEU-1'
    """
    for transformation in transformations:
        if transformation not in TRANSFORMATIONS:
            raise InputError(
                f"unknown transformation '{transformation}'{did_you_mean(transformation, TRANSFORMATIONS)} "
                f"(choose from: {', '.join(TRANSFORMATIONS)})"
            )
    steps = tuple(sorted({0, *strengths}))
    if len(steps) < 2:
        raise InputError("robustness curves need at least one strength above 0")
    chosen = _choose(captions, images, seed)
    data = _Material.of({image: captions[image] for image in chosen}, features, seed)
    groups: list[list[str]] = [[] for _ in chosen]
    for t, transformation in enumerate(transformations):
        generators = [np.random.default_rng([seed, t, strength]) for strength in steps]
        for k in track(range(len(chosen)), transformation):
            groups[k] += [
                " ".join(data.transformed(transformation, k, s, g)) for s, g in zip(steps, generators)
            ]
    scored = score_captions(
        groups, data.references, make_measures(metrics, dict(options or {})), "transformed captions", chosen
    )
    curves = []
    nearest_by = "features" if features is not None else "captions"
    for item in scored:
        table = item.values.reshape(len(chosen), len(transformations), len(steps))
        for t, transformation in enumerate(transformations):
            fields = [
                f"transformation:{transformation}",
                f"captions:{len(chosen)}",
                f"strengths:{steps[0]}-{steps[-1]}/{len(steps)}",
                f"seed:{seed}",
            ]
            if transformation == "random caption":
                fields.append(f"nearest:{nearest_by}")
            curves.append(
                _curve(
                    item.metric,
                    transformation,
                    steps,
                    table[:, t],
                    resamples,
                    "|".join([item.signature, *fields]),
                )
            )
    return curves


def _choose(captions: Mapping[str, Sequence[str]], images: int | None, seed: int) -> list[str]:
    usable = [image for image, texts in captions.items() if len(texts) > 1]
    if len(usable) < 2:
        raise InputError(
            "robustness curves need at least two images with two or more captions each: "
            "one to transform, the others as references"
        )
    if images is not None and len(usable) > images:
        indices = np.random.default_rng(seed).choice(len(usable), size=images, replace=False)
        usable = [usable[k] for k in np.sort(indices).tolist()]
    if len(usable) < LEAST_CAPTIONS:
        warnings.warn(
            CaptionWarning(
                f"curves from {len(usable):,} captions are imprecise; use {LEAST_CAPTIONS:,} or more"
            ),
            stacklevel=3,
        )
    return usable


@dataclass(frozen=True)
class _Material:
    """Input of the transformations.

    ``words`` are the tokenised captions per image, ``taken`` the index of the caption to transform,
    ``references`` the other captions of the image.
    """

    words: list[list[list[str]]]
    taken: list[int]
    references: list[list[str]]
    vocabulary: list[str]
    neighbours: Neighbours

    @classmethod
    def of(
        cls,
        captions: Mapping[str, Sequence[str]],
        features: Mapping[str, NDArray[np.float64]] | None,
        seed: int,
    ) -> _Material:
        from captious.text.ptb import tokenize

        generator = np.random.default_rng(seed)
        words = [[tokenize(text) for text in texts] for texts in captions.values()]
        taken = [int(generator.integers(0, len(texts))) for texts in captions.values()]
        references = [
            [t for k, t in enumerate(texts) if k != own] for texts, own in zip(captions.values(), taken)
        ]
        vocabulary = sorted({word for texts in words for text in texts for word in text})
        if features is None:
            neighbours = Neighbours.by_captions(words)
        else:
            missing_id = next((image for image in captions if image not in features), None)
            if missing_id is not None:
                raise InputError(
                    f"the features have no vector for image {missing_id}; add it to the file of features"
                )
            neighbours = Neighbours(np.stack([features[image] for image in captions]).astype(np.float64))
        return cls(words, taken, references, vocabulary, neighbours)

    def transformed(self, name: str, k: int, strength: int, generator: np.random.Generator) -> list[str]:
        own = self.words[k][self.taken[k]]
        if strength == 0:
            return own
        if name == "word permutation":
            return permute_words(own, strength, generator)
        if name == "random word":
            return random_words(own, strength, self.vocabulary, generator)
        other = self.words[self.neighbours.draw(k, strength, generator)]
        return other[int(generator.integers(0, len(other)))]


def _curve(
    metric: str,
    transformation: str,
    strengths: tuple[int, ...],
    scores: FloatArray,
    resamples: int,
    signature: str,
) -> RobustnessCurve:
    # Captions for which the metric is undefined at some strength are skipped at all strengths.
    rows = scores[np.all(np.isfinite(scores), axis=1)]
    if not len(rows) or rows[:, 0].mean() == 0:
        nan = float("nan")
        return RobustnessCurve(
            metric, transformation, strengths, [nan] * len(strengths), nan, (nan, nan), len(rows), signature
        )
    values = rows.mean(axis=0) / rows[:, 0].mean()
    areas = []
    for counts in resample_counts(len(rows), resamples, SEED):
        means = counts.astype(np.float64) @ rows
        with np.errstate(invalid="ignore", divide="ignore"):
            areas.append(_area(strengths, means / means[:, :1]))
    return RobustnessCurve(
        metric,
        transformation,
        strengths,
        values.tolist(),
        float(_area(strengths, values[None])[0]),
        percentile_interval(np.concatenate(areas)),
        len(rows),
        signature,
    )


def _area(steps: Sequence[int], values: FloatArray) -> FloatArray:
    """Return the area under curves (trapezoids), relative to a curve that is constantly 1."""
    at = np.array(steps, dtype=np.float64)
    widths = np.diff(at) / (at[-1] - at[0])
    area: FloatArray = (values[:, 1:] + values[:, :-1]) @ widths / 2
    return area
