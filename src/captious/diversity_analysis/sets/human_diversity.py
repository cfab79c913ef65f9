"""Correlation of diversity measures with human judgements of diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import InputError, some
from captious.metrics.statistics import mid_ranks
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.scores import Score


class JudgementCorrelation(NamedTuple):
    """Correlations of a measure with human scores of the same sets."""

    measure: str
    #: Over all sets of all systems.
    pearson: float
    spearman: float
    #: Mean over images of the rank correlation across systems.
    per_image_spearman: float
    #: Number of sets, and of images in the per-image mean.
    sets: int
    images: int

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description. Undefined correlations become null."""
        return {
            key: numbers.number(value) if isinstance(value, float) else value
            for key, value in self._asdict().items()
        }


def correlate_judgements(
    scores: Mapping[str, Score | Mapping[str, float]],
    human: Mapping[str, Mapping[str, float]],
    *,
    measure: str | None = None,
) -> JudgementCorrelation:
    """Correlate a diversity measure with human scores.

    Parameters
    ----------
    scores
        System → score, or system → image → value.
    human
        System → image → human score.
    measure
        Display name of the measure.

    Returns
    -------
    JudgementCorrelation
        The per-image Spearman averages over images with at least three judged systems, without images on
        which either side is constant. Measures for which lower is more diverse (mBLEU) correlate negatively.
    """
    unmeasured = [system for system in human if system not in scores]
    if unmeasured:
        raise InputError(
            f"human scores have systems that were not measured: {some(unmeasured)} (measured: {some(scores)})"
        )
    by_image: dict[str, list[tuple[float, float]]] = {}
    for system, judged in human.items():
        score = scores[system]
        values = score.per_image if isinstance(score, Score) else score
        missing_ids = [image for image in judged if str(image) not in values]
        if missing_ids:
            raise InputError(
                f"human scores of {system} for images that were not measured: {some(missing_ids)}"
            )
        for image, value in judged.items():
            by_image.setdefault(str(image), []).append((float(values[str(image)]), float(value)))
    pairs = np.array([pair for listed in by_image.values() for pair in listed]).reshape(-1, 2)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    if len(pairs) < 3:
        raise InputError(f"{len(pairs)} human scores are too few for a correlation; at least 3 are needed")
    per_image = [_spearman(np.array(listed)) for listed in by_image.values() if len(listed) >= 3]
    defined = [value for value in per_image if not np.isnan(value)]
    first = next(iter(scores.values()))
    return JudgementCorrelation(
        measure or (first.name if isinstance(first, Score) else "measure"),
        _pearson(pairs),
        _spearman(pairs),
        float(np.mean(defined)) if defined else float("nan"),
        len(pairs),
        len(defined),
    )


def _pearson(pairs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    centred = pairs - pairs.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    # Undefined for values that are constant up to rounding.
    if np.any(spread <= 1e-12 * np.maximum(1.0, np.abs(pairs).max(axis=0))):
        return float("nan")
    return float((centred[:, 0] @ centred[:, 1]) / spread.prod())


def _spearman(pairs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return (
        float("nan")
        if np.isnan(pairs).any()
        else _pearson(np.stack([mid_ranks(column) for column in pairs.T], axis=1))
    )
