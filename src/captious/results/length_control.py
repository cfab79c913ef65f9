"""Scores at equal length: how much of a difference between systems the length of their captions explains."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.metrics.base import FloatArray
from captious.results import significance
from captious.results.scores import Scores, json_number
from captious.results.significance import Bootstrap, percentile_interval

#: Captions of an image are matched if their lengths differ by at most this share of the longer one.
MATCHED = 0.1


@dataclass(frozen=True)
class LengthControl:
    """Difference of two systems by one metric, and what remains of it at equal length."""

    metric: str
    system_a: str
    system_b: str
    #: Mean words of the captions.
    words_a: float
    words_b: float
    #: B − A in the mean over images, with its interval.
    difference: float
    interval: tuple[float, float]
    #: The difference at equal length, by regression on log length within systems, with its interval.
    adjusted: float
    adjusted_interval: tuple[float, float]
    #: Share of the difference that length explains. NaN if the interval of the difference includes 0.
    explained: float
    #: The difference on images where both captions are about equally long, its interval, and their number.
    matched: float
    matched_interval: tuple[float, float]
    matched_images: int
    images: int
    #: Format of values in tables.
    format: str = ".4f"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description. NaN becomes null."""
        fields = {key: value for key, value in asdict(self).items() if key != "format"}
        return {
            key: json_number(value)
            if isinstance(value, float)
            else [json_number(bound) for bound in value]
            if isinstance(value, tuple)
            else value
            for key, value in fields.items()
        }


def length_control(
    systems: Sequence[Scores], metrics: Iterable[str] | None = None, *, bootstrap: Bootstrap | None = None
) -> list[LengthControl]:
    """Compare systems at equal length of their captions.

    Two ways: a regression of scores on log length within each system (one slope for all systems of the call),
    and the images on which both captions are about equally long (within 10 %).

    Parameters
    ----------
    systems
        Scores of at least two systems on the same images, with captions.
    metrics
        Names of metrics (default: those that all systems have).
    bootstrap
        Settings of the intervals, which resample images.

    Returns
    -------
    list of LengthControl
        One per metric and pair of systems.

    Examples
    --------
    >>> from captious import score_systems
    >>> from captious.data import demo_path
    >>> systems = score_systems(demo_path("references"), [demo_path("good"), demo_path("poor")], "ROUGE-L")
    >>> [row] = length_control(systems)
    >>> row.difference < 0 and row.adjusted < 0
    True
    """
    if len(systems) < 2:
        raise InputError("length control compares systems; give at least two (--length-control)")
    settings = bootstrap or Bootstrap()
    names = list(metrics) if metrics is not None else [n for n in systems[0] if all(n in s for s in systems)]
    ids = systems[0].captions.ids if systems[0].captions is not None else ()
    words = [_log_words(system, ids) for system in systems]
    rows = []
    for name in names:
        values = [_values(system, name, ids) for system in systems]
        if any(one is None for one in values):
            continue
        table = _PerImageSums(words, [one for one in values if one is not None], settings)
        for a, b in itertools.combinations(range(len(systems)), 2):
            rows.append(table.compared(systems, name, a, b))
    if not rows:
        raise InputError(
            "length control needs a metric with a value for each image, which none of the metrics has "
            "(such as SPICE, METEOR, CAPTURE, ALOHa)"
        )
    return rows


def _log_words(system: Scores, ids: Sequence[str]) -> FloatArray:
    """Return the mean log length of the captions of each image."""
    captions, lengths = system.captions, system.lengths
    if captions is None or lengths is None:
        raise InputError(
            f"the captions of {system.system} are not available; score them again, or save scores with texts"
        )
    if tuple(captions.ids) != tuple(ids):
        raise InputError(f"{system.system} has other images than the first system; use --subset")
    logs = np.log1p(lengths.per_caption.astype(np.float64))
    counts = np.diff(captions.image_offsets)
    owners = np.repeat(np.arange(len(counts)), counts)
    return np.bincount(owners, logs, len(counts)) / np.maximum(counts, 1)


def _values(system: Scores, name: str, ids: Sequence[str]) -> FloatArray | None:
    """Return the value of each image, None if the metric has none."""
    score = system[name]
    if tuple(score.ids) != tuple(ids) or not isinstance(score.statistics, np.ndarray):
        return None
    per_image = score.per_image
    return np.array([per_image[image] for image in ids], np.float64)


class _PerImageSums:
    """Sums over images from which differences follow, for all images and for resamples."""

    def __init__(self, words: list[FloatArray], values: list[FloatArray], settings: Bootstrap) -> None:
        self.words, self.values, self.settings = words, values, settings
        # An image counts if all systems have a value.
        self.counted = np.logical_and.reduce([np.isfinite(one) for one in values])

    def compared(self, systems: Sequence[Scores], name: str, a: int, b: int) -> LengthControl:
        x, y = np.stack(self.words), np.where(self.counted, np.stack(self.values), 0.0)
        apart = y[b] - y[a]
        lengths = np.expm1(x[[a, b]])
        close = np.abs(lengths[0] - lengths[1]) <= MATCHED * lengths.max(axis=0)
        is_matched = self.counted & close
        columns = [
            *(np.where(self.counted, column, 0.0) for column in (*x, *y, *(x * x), *(x * y))),
            self.counted.astype(np.float64),
            np.where(is_matched, apart, 0.0),
            is_matched.astype(np.float64),
        ]
        statistics = np.stack(columns, axis=1)
        how = self.settings
        drawn = _differences(significance.bootstrap_sums(statistics, how.resamples, how.seed), len(x), a, b)
        raw, adjusted, matched = _differences(statistics.sum(axis=0)[None], len(x), a, b)[:, 0].tolist()
        intervals = [percentile_interval(one, how.level) for one in drawn]
        low, high = intervals[0]
        both = [system.lengths.mean if system.lengths is not None else np.nan for system in systems]
        return LengthControl(
            name,
            systems[a].system,
            systems[b].system,
            both[a],
            both[b],
            raw,
            intervals[0],
            adjusted,
            intervals[1],
            1 - adjusted / raw if low > 0 or high < 0 else float("nan"),
            matched,
            intervals[2],
            int(is_matched.sum()),
            int(self.counted.sum()),
            systems[a][name].measure.format,
        )


def _differences(sums: FloatArray, n: int, a: int, b: int) -> NDArray[np.float64]:
    """Return raw, adjusted and matched differences, one column per row of sums."""
    x, y, xx, xy = (sums[:, k * n : (k + 1) * n] for k in range(4))
    count, matched, matches = sums[:, 4 * n], sums[:, 4 * n + 1], sums[:, 4 * n + 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (xx - x * x / count[:, None]).sum(axis=1)
        together = (xy - x * y / count[:, None]).sum(axis=1)
        # Systems whose captions are all equally long say nothing about length.
        slope = np.where(spread > 1e-12, together / spread, 0.0)
        raw = (y[:, b] - y[:, a]) / count
        adjusted = raw - slope * (x[:, b] - x[:, a]) / count
        return np.stack([raw, adjusted, matched / matches])
