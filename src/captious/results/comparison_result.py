"""Results of paired tests: one comparison per metric and pair of systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.core import notebook_html
from captious.core.errors import some
from captious.results.result_rows import COLUMNS, EXACT, NumberStyle, ResultRow, frame_of_rows, tidy
from captious.results.scores import Scores, json_number

#: Chance of at least one false positive over all comparisons of one call.
ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """Comparison of two systems by one metric, on the same images."""

    metric: str
    a: float
    b: float
    #: B − A, with its confidence interval, which is not corrected for the number of comparisons.
    difference: float
    interval: tuple[float, float]
    #: Two-sided p-values of the paired bootstrap and of approximate randomisation.
    p_bootstrap: float
    p_randomisation: float
    higher_is_better: bool
    signature: str
    system_a: str = "A"
    system_b: str = "B"
    #: The p-value of approximate randomisation, corrected by Holm's method over all comparisons of the call.
    p_corrected: float = float("nan")
    #: Number of comparisons that the correction covers.
    family: int = 1
    alpha: float = ALPHA
    #: Format of values in tables.
    format: str = ".4f"
    images: int = 0

    @property
    def better(self) -> str:
        """System with the better value, significant or not: "A", "B" or "neither"."""
        if self.difference == 0 or np.isnan(self.difference):
            return "neither"
        return "B" if (self.difference > 0) == self.higher_is_better else "A"

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is at most α."""
        return self.p_corrected <= self.alpha

    @property
    def ahead(self) -> str | None:
        """Name of the better system if the difference is significant, else None."""
        if not self.significant:
            return None
        return {"A": self.system_a, "B": self.system_b}.get(self.better)

    def _repr_html_(self) -> str:
        return notebook_html.comparisons([self])

    def tidy_row(self) -> ResultRow:
        """Return the difference B − A as a row for CSV: B is the system, A the other system."""
        return ResultRow(
            self.system_b,
            self.metric,
            self.difference,
            self.images,
            self.signature,
            self.interval,
            self.system_a,
            self.p_randomisation,
            self.p_corrected,
            self.format,
        )

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "metric": self.metric,
            "system_a": self.system_a,
            "system_b": self.system_b,
            "a": numbers.number(self.a, self.format),
            "b": numbers.number(self.b, self.format),
            "difference": numbers.number(self.difference, self.format),
            "interval": [numbers.number(bound, self.format) for bound in self.interval],
            "p_bootstrap": json_number(self.p_bootstrap),
            "p_randomisation": json_number(self.p_randomisation),
            "p_corrected": json_number(self.p_corrected),
            "better": self.better,
            "ahead": self.ahead,
            "signature": self.signature,
        }


class Comparisons(list[Comparison]):
    """All comparisons of one call, by metric, for all pairs of systems (or all systems with the baseline)."""

    def __init__(
        self,
        rows: Iterable[Comparison],
        systems: Sequence[Scores],
        names: Sequence[str],
        alpha: float,
        p_floor: float = float("nan"),
    ) -> None:
        super().__init__(rows)
        #: The scores that were compared, and the distinct names of the systems.
        self.scores = list(systems)
        self.systems = list(names)
        self.alpha = alpha
        #: Smallest p-value that the number of trials allows, before correction.
        self.p_floor = p_floor

    @property
    def metrics(self) -> list[str]:
        """Metrics that all systems have."""
        return list(dict.fromkeys(row.metric for row in self))

    @property
    def family(self) -> int:
        """Number of comparisons that Holm's correction covers: all pairs and metrics with a p-value."""
        return self[0].family if self else 0

    def beaten(self, metric: str, system: str) -> list[str]:
        """Return the systems that ``system`` is significantly ahead of."""
        rows = [row for row in self if row.metric == metric and row.ahead == system]
        return [row.system_b if row.ahead == row.system_a else row.system_a for row in rows]

    def pair(self, metric: str, a: str, b: str) -> tuple[float, bool] | None:
        """Return the difference A − B by a metric and whether it is significant, or None if not compared."""
        for row in self:
            if row.metric == metric and {row.system_a, row.system_b} == {a, b}:
                return (row.difference if row.system_b == a else -row.difference), row.significant
        return None

    def __repr__(self) -> str:
        ahead = sum(row.ahead is not None for row in self)
        return (
            f"Comparisons({some(self.systems, 10)}; {some(self.metrics, 10)}: "
            f"{ahead} of {len(self)} differences are significant)"
        )

    def _repr_html_(self) -> str:
        return notebook_html.comparisons(self)

    def tidy_rows(self) -> list[ResultRow]:
        """Return the value of each system, then the difference of each pair, as rows for CSV."""
        values = [
            row
            for name, scores in zip(self.systems, self.scores)
            for metric in self.metrics
            for row in scores[metric].tidy_rows(name)[:1]
        ]
        return [*values, *(row.tidy_row() for row in self)]

    def to_frame(self) -> Any:
        """Return a data frame (needs pandas) with a row per metric and pair of systems.

        The columns are those of the CSV output: ``value`` is ``system`` minus ``other_system``.
        """
        return frame_of_rows(COLUMNS, tidy(row.tidy_row() for row in self))

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description. With two systems, ``a`` and ``b`` are their names."""
        return {
            "systems": self.systems,
            **(dict(zip("ab", self.systems)) if len(self.systems) == 2 else {}),
            "alpha": self.alpha,
            "correction": "holm",
            "family": self.family,
            "p_floor": json_number(self.p_floor),
            "metrics": [row.to_json(numbers) for row in self],
        }
