"""Scores as pandas data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from captious.core.errors import CaptiousError

if TYPE_CHECKING:
    from captious.results.scores import Score


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise CaptiousError(
            "to_frame needs the package 'pandas'; install it with: pip install pandas"
        ) from None
    return pandas


def of_metrics(scores: Mapping[str, Score]) -> Any:
    """Return a frame with one row per metric."""
    rows = [
        {
            "metric": name, "value": score.value, "higher_is_better": score.measure.higher_is_better,
            "images": len(score.ids), "captions": len(score.statistics), "signature": str(score.signature),
        }
        for name, score in scores.items()
    ]  # fmt: skip
    return _pandas().DataFrame(rows).set_index("metric") if rows else _pandas().DataFrame()


def of_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Return a frame of rows under column names."""
    return _pandas().DataFrame(rows, columns=list(columns))


def of_images(system: str, scores: Sequence[Score]) -> Any:
    """Return a frame with one row per image and one column per metric."""
    frame = _pandas().DataFrame(
        {score.name: _pandas().Series(score.per_image, dtype=float) for score in scores}
    )
    frame.index.name = "image_id"
    if system:
        frame.attrs["system"] = system
    return frame
