"""Figures of robustness: curves of transformed captions, and accuracy on distraction tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.figures import style
from captious.robustness import DistractionAccuracy, RobustnessCurve

_PURPOSE = "drawing figures of robustness"


def write(
    curves: Sequence[RobustnessCurve], accuracies: Sequence[DistractionAccuracy], folder: str | Path
) -> list[Path]:
    """Draw and save a figure for each transformation, and one for the tasks."""
    style.pyplot(_PURPOSE)  # a missing extra is reported before anything is written
    written: list[Path] = []
    for name in dict.fromkeys(item.transformation for item in curves):
        of_transformation = [item for item in curves if item.transformation == name]
        written += style.save(transformation(of_transformation), folder, style.file_name("robustness", name))
    if accuracies:
        written += style.save(tasks(accuracies), folder, style.file_name("robustness", "distractions"))
    return written


def transformation(curves: Sequence[RobustnessCurve]) -> Any:
    """Plot the normalised score against the strength. The legend shows the area under each curve."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots()
        ordered = sorted(curves, key=lambda item: -item.area)
        for item, look in zip(ordered, style.looks(len(ordered))):
            label = f"{style.shorten(item.metric)} ({item.area:.2f})"
            axes.plot(item.strengths, item.values, markersize=5, label=label, **look.of_line())
        axes.set_xlabel("strength of the transformation (%)")
        axes.set_ylabel("score (human caption = 1)")
        axes.set_title(curves[0].transformation)
        style.legend_beside(axes, title="metric (area)")
    return figure


def tasks(accuracies: Sequence[DistractionAccuracy]) -> Any:
    """Plot the accuracy of every metric on every task."""
    with style.drawing(_PURPOSE) as plt:
        names = list(accuracies[0].tasks)
        ordered = sorted(accuracies, key=lambda item: -item.average)
        values = np.array([[100 * item.tasks[name].value for name in names] for item in ordered])
        figure, axes = plt.subplots(figsize=(2.6 + 0.7 * len(names), 1.8 + 0.32 * len(ordered)))
        image = axes.imshow(values, vmin=50, vmax=100, cmap="Blues", aspect="auto")
        axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
        axes.set_yticks(range(len(ordered)), [style.shorten(item.metric) for item in ordered])
        axes.grid(False)
        style.write_cells(axes, values, form=".1f", dark=85)
        axes.set_title("accuracy on distraction tasks (%)")
        figure.colorbar(image, ax=axes, shrink=0.8)
    return figure
