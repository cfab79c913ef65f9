"""Robustness results as text tables."""

from __future__ import annotations

from collections.abc import Sequence

from captious.agreement.result_tables import TextTable, with_interval
from captious.robustness.pairwise_accuracy import DistractionAccuracy
from captious.robustness.robustness_curves import RobustnessCurve


def areas(curves: Sequence[RobustnessCurve]) -> TextTable:
    """Build a table of the areas under the curves (lower is more robust)."""
    columns = list(dict.fromkeys(item.transformation for item in curves))
    cells = {(item.metric, item.transformation): item for item in curves}
    rows = [
        [metric, *(_area(cells[metric, name]) for name in columns)]
        for metric in dict.fromkeys(item.metric for item in curves)
    ]
    title = f"Area under the curve of {curves[0].captions:,} transformed captions (lower is more robust)"
    return TextTable(title, ["metric", *columns], rows)


def _area(item: RobustnessCurve) -> str:
    if item.area != item.area:
        return "–"
    return f"{item.area:.3f} [{item.interval[0]:.3f}, {item.interval[1]:.3f}]"


def points(curves: Sequence[RobustnessCurve]) -> list[TextTable]:
    """Build the tables of the curves, one per transformation."""
    tables = []
    for name in dict.fromkeys(item.transformation for item in curves):
        group = [item for item in curves if item.transformation == name]
        rows = [[item.metric, *(f"{v:.3f}" if v == v else "–" for v in item.values)] for item in group]
        tables.append(
            TextTable(
                f"{name}: score at each strength (%), human caption = 1",
                ["metric", *map(str, group[0].strengths)],
                rows,
            )
        )
    return tables


def accuracies(results: Sequence[DistractionAccuracy]) -> TextTable:
    """Build a table of the accuracy of every metric on every task, with intervals."""
    names = list(results[0].tasks)
    rows = []
    for item in results:
        average = f"{100 * item.average:.3f} [{100 * item.interval[0]:.1f}, {100 * item.interval[1]:.1f}]"
        rows.append([item.metric, *(with_interval(item.tasks[name]) for name in names), average])
    first = results[0].tasks
    return TextTable(
        "Distraction tasks: correct caption preferred (%, equal scores half)",
        ["metric", *(f"{name} ({first[name].rows:,})" for name in names), "average"],
        rows,
    )
