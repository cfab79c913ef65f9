"""Results as tidy rows, with the same columns for every command, and as pandas data frames.

``docs/reference/output.md`` describes the columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from captious.core.errors import CaptiousError

if TYPE_CHECKING:
    from captious.results.scores import Score

#: Columns of every result as CSV, and of ``Comparisons.to_frame``.
COLUMNS = (
    "system",
    "metric",
    "other_system",
    "value",
    "low",
    "high",
    "p",
    "p_corrected",
    "n",
    "signature",
)

#: Format of measures that are fractions, which ``--percent`` multiplies by 100.
FRACTION = ".4f"


class NumberStyle(NamedTuple):
    """Scale and rounding of scores in CSV and JSON. The default is the exact number."""

    percent: bool = False
    digits: int | None = None

    def number(self, value: float | None, form: str = FRACTION) -> float | None:
        """Return a score of a measure with this format, or None if it is undefined or infinite.

        Fractions are measures with four digits (BLEU) or with a percent sign (Hapax) in tables.
        """
        if value is None or not math.isfinite(value):
            return None
        if self.percent and (form.lstrip("+") == FRACTION or form.endswith("%")):
            # 15 digits: 100 * 0.07 is 7, not 7.000000000000001.
            value = float(f"{100 * value:.15g}")
        return value if self.digits is None else round(value, self.digits)


#: Exact numbers.
EXACT = NumberStyle()


class ResultRow(NamedTuple):
    """One number of a result."""

    system: str
    metric: str
    value: float
    #: Number of images (or judgements, captions) that the value summarises.
    n: int
    signature: str
    #: Bounds of the confidence interval, if there is one.
    interval: tuple[float, float] | None = None
    #: The second system of a comparison: ``value`` is ``system`` minus ``other_system``.
    other_system: str | None = None
    p: float | None = None
    p_corrected: float | None = None
    #: Format of the measure.
    format: str = FRACTION


def tidy(rows: Iterable[ResultRow], numbers: NumberStyle = EXACT) -> list[list[Any]]:
    """Return rows of cells in the order of :data:`COLUMNS`. Undefined numbers are None."""
    return [
        [
            row.system,
            row.metric,
            row.other_system,
            numbers.number(row.value, row.format),
            *(numbers.number(bound, row.format) for bound in row.interval or (None, None)),
            EXACT.number(row.p),
            EXACT.number(row.p_corrected),
            row.n,
            row.signature,
        ]
        for row in rows
    ]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise CaptiousError(
            "to_frame needs the package 'pandas'; install it with: pip install pandas"
        ) from None
    return pandas


def frame_of_metrics(scores: Mapping[str, Score]) -> Any:
    """Return a frame with one row per metric."""
    rows = [
        {
            "metric": name, "value": score.value, "higher_is_better": score.measure.higher_is_better,
            "images": len(score.ids), "captions": len(score.statistics), "signature": str(score.signature),
        }
        for name, score in scores.items()
    ]  # fmt: skip
    return _pandas().DataFrame(rows).set_index("metric") if rows else _pandas().DataFrame()


def frame_of_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Return a frame of rows under column names."""
    return _pandas().DataFrame(rows, columns=list(columns))


def frame_of_images(system: str, scores: Sequence[Score]) -> Any:
    """Return a frame with one row per image and one column per metric."""
    frame = _pandas().DataFrame(
        {score.name: _pandas().Series(score.per_image, dtype=float) for score in scores}
    )
    frame.index.name = "image_id"
    if system:
        frame.attrs["system"] = system
    return frame
