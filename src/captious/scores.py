"""Scores: everything that follows from a metric's statistics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious import significance
from captious.corpus import Corpus
from captious.measures.base import FloatArray, Measure
from captious.ragged import offsets_of
from captious.signature import Signature, sign
from captious.statistics import Rows


class Score:
    """What one measure says of one system."""

    def __init__(
        self,
        measure: Measure,
        statistics: Rows,
        ids: tuple[str, ...],
        image_offsets: NDArray[np.int64],
        signature: str,
    ) -> None:
        self.measure = measure
        self.name: str = measure.name
        #: One row of sufficient statistics per caption, or per image (see :mod:`captious.statistics`).
        self.statistics: Any = statistics
        self.ids = ids
        self._image_offsets = image_offsets
        #: How the number was made; numbers with different signatures are not comparable.
        self.signature = Signature(signature)

    @classmethod
    def of(cls, measure: Measure, corpus: Corpus, state: Any = None) -> Score:
        """Score the candidates of a corpus; ``state`` is what the measure prepared, if it was prepared before."""
        measure.check(corpus)
        prepared = state if state is not None else measure.prepare(corpus.references)
        statistics = measure.statistics(corpus, prepared)
        if measure.rows != "caption":
            return cls.of_images(measure, statistics, corpus.ids, sign(measure, corpus))
        return cls(measure, statistics, corpus.ids, corpus.candidates.image_offsets, sign(measure, corpus))

    @classmethod
    def of_images(cls, measure: Measure, statistics: Rows, ids: tuple[str, ...], signature: str) -> Score:
        """A score whose statistics have one row per image (diversity of a set, say)."""
        return cls(measure, statistics, ids, offsets_of([1] * len(ids)), signature)

    @property
    def metric(self) -> Measure:
        """The measure, by the name it had when all measures were metrics."""
        return self.measure

    def __repr__(self) -> str:
        return f"Score({self.signature!r}, value={self.value:.6g})"

    @cached_property
    def image_statistics(self) -> Any:
        """One row per image: the mean over its captions, so that every image weighs the same."""
        counts = np.diff(self._image_offsets)
        if np.all(counts == 1):
            return self.statistics
        means = np.add.reduceat(self.statistics, self._image_offsets[:-1], axis=0) / counts[:, None]
        return means

    @cached_property
    def value(self) -> float:
        """The score of the whole corpus."""
        return float(self.measure.value(self.image_statistics.sum(axis=0)))

    @cached_property
    def per_caption(self) -> FloatArray:
        """The score of each caption, in the order of the captions."""
        return self.measure.per_row(self.statistics)

    @cached_property
    def per_image(self) -> dict[str, float]:
        """Image id → score (the mean over captions where there are several); nothing where an image has none by itself."""
        return self._by_image(np.add) if self.measure.rows != "corpus" else {}

    @cached_property
    def best_per_image(self) -> dict[str, float]:
        """Image id → score of the image's best caption."""
        return self._by_image(np.maximum if self.measure.higher_is_better else np.minimum)

    def _by_image(self, combine: np.ufunc) -> dict[str, float]:
        values = combine.reduceat(self.per_caption, self._image_offsets[:-1])
        if combine is np.add:
            values = values / np.diff(self._image_offsets)
        return dict(zip(self.ids, values.tolist()))

    @cached_property
    def best_captions(self) -> NDArray[np.int64]:
        """Index of the best caption of each image (the first among equals)."""
        sign = -1.0 if self.measure.higher_is_better else 1.0
        image = np.repeat(np.arange(len(self.ids)), np.diff(self._image_offsets))
        order = np.lexsort((np.arange(len(image)), np.nan_to_num(sign * self.per_caption, nan=np.inf), image))
        best: NDArray[np.int64] = order[self._image_offsets[:-1]].astype(np.int64)
        return best

    @cached_property
    def oracle(self) -> float:
        """The corpus score when each image is represented by its best caption; not a number where captions have none."""
        if self.measure.rows == "corpus":
            return float("nan")
        return float(self.measure.value(self.statistics[self.best_captions].sum(axis=0)))

    @property
    def several(self) -> bool:
        """Whether some image has more than one caption."""
        return len(self.statistics) != len(self.ids)

    def interval(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> tuple[float, float]:
        """Percentile bootstrap confidence interval over images."""
        return significance.interval(self.image_statistics, self.measure.value, level, resamples, seed)

    def interval_signature(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> str:
        """The signature of a number with error bars."""
        return f"{self.signature}|ci:{100 * level:g}%|bootstrap:{resamples}|seed:{seed}"

    def to_json(self, *, per_image: bool = False, ci: bool = False) -> dict[str, Any]:
        """A JSON-ready description; not-a-number becomes null."""
        out: dict[str, Any] = {
            "metric": self.name,
            "value": json_number(self.value),
            "higher_is_better": self.measure.higher_is_better,
            "images": len(self.ids),
            "captions": len(self.statistics),
            "signature": self.interval_signature() if ci else self.signature,
        }
        if ci:
            out["interval"] = [json_number(bound) for bound in self.interval()]
        if self.several:
            out["oracle"] = json_number(self.oracle)
        if per_image:
            out["per_image"] = {image: json_number(value) for image, value in self.per_image.items()}
        return out


class Scores(Mapping[str, Score]):
    """The scores of one system, by metric name in any case."""

    def __init__(self, system: str, scores: list[Score]) -> None:
        self.system = system
        self._scores = {score.name: score for score in scores}
        self._fold = {name.casefold(): name for name in self._scores}

    def __getitem__(self, name: str) -> Score:
        return self._scores[self._fold.get(name.casefold(), name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.casefold() in self._fold

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={score.value:.4f}" for name, score in self.items())
        return f"Scores({self.system!r}: {values})"

    def to_json(self, *, per_image: bool = False, ci: bool = False) -> dict[str, Any]:
        """A JSON-ready description of all scores."""
        return {
            "system": self.system,
            "scores": {name: score.to_json(per_image=per_image, ci=ci) for name, score in self.items()},
        }


def json_number(value: float) -> float | None:
    """JSON has no not-a-number: it becomes null."""
    return value if math.isfinite(value) else None
