"""How a diversity measure correlates with diversity as people judge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from captious.errors import InputError, some
from captious.scores import Score


class JudgementCorrelation(NamedTuple):
    """Correlations of a measure with human scores of the same sets."""

    measure: str
    #: Over all sets of all systems.
    pearson: float
    spearman: float
    #: Mean over images of the rank correlation across systems.
    per_image_spearman: float
    #: Sets compared, and images that entered the mean.
    sets: int
    images: int

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description; an undefined correlation becomes null."""
        return {key: None if value != value else value for key, value in self._asdict().items()}


def correlate_judgements(
    scores: Mapping[str, Score | Mapping[str, float]],
    human: Mapping[str, Mapping[str, float]],
    *,
    measure: str | None = None,
) -> JudgementCorrelation:
    """Compare system → score (or image → value) with system → image → human score.

    The mean per-image Spearman takes images judged for at least three systems, and leaves out those on which either
    side gives all systems the same: a rank correlation is undefined there. A measure where less is more diverse
    (mBLEU) correlates negatively.
    """
    unknown = [system for system in human if system not in scores]
    if unknown:
        raise InputError(f"human scores for systems that were not measured: {some(unknown)} (measured: {some(scores)})")
    by_image: dict[str, list[tuple[float, float]]] = {}
    for system, judged in human.items():
        given = scores[system]
        values = given.per_image if isinstance(given, Score) else given
        missing = [image for image in judged if str(image) not in values]
        if missing:
            raise InputError(f"human scores of {system} for images that were not measured: {some(missing)}")
        for image, value in judged.items():
            by_image.setdefault(str(image), []).append((float(values[str(image)]), float(value)))
    pairs = np.array([pair for listed in by_image.values() for pair in listed]).reshape(-1, 2)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    if len(pairs) < 3:
        raise InputError(f"{len(pairs)} human scores are too few to correlate with; at least 3 are needed")
    each = [_spearman(np.array(listed)) for listed in by_image.values() if len(listed) >= 3]
    defined = [value for value in each if not np.isnan(value)]
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
    # Constant up to rounding: undefined.
    if np.any(spread <= 1e-12 * np.maximum(1.0, np.abs(pairs).max(axis=0))):
        return float("nan")
    return float((centred[:, 0] @ centred[:, 1]) / spread.prod())


def _spearman(pairs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    from scipy.stats import rankdata

    return _pearson(np.stack([rankdata(pairs[:, 0]), rankdata(pairs[:, 1])], axis=1))
