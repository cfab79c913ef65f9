"""Figures of agreement with people: metrics with their intervals, curves, and how metrics relate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.figures import style
from captious.human.agreement import HumanAgreement
from captious.human.curves import AgreementCurve
from captious.human.relations import MetricCorrelations

_PURPOSE = "drawing figures of agreement"


def write(
    found: Sequence[HumanAgreement], curves: Sequence[AgreementCurve], correlations: Sequence[MetricCorrelations], folder: str | Path
) -> list[Path]:
    """Draw and save a figure for each set, curve and matrix."""
    style.pyplot(_PURPOSE)  # a missing extra is reported before anything is written
    written: list[Path] = []
    for name in dict.fromkeys(item.judgements for item in found):
        mine = [item for item in found if item.judgements == name]
        first = [item for item in mine if (item.part, item.coefficient) == (mine[0].part, mine[0].coefficient)]
        written += style.save(intervals(first), folder, f"agreement_{_file(name)}")
    for item in curves:
        if item.points:
            written += style.save(curve(item), folder, f"agreement_{_file(item.judgements)}_by_{_file(item.axis)}")
    for matrix in correlations:
        written += style.save(heat_map(matrix), folder, f"metrics_{_file(matrix.over)}")
    return written


def _file(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") or "set"


def intervals(found: Sequence[HumanAgreement]) -> Any:
    """Metrics from best to worst, each with its interval."""
    with style.drawing(_PURPOSE) as plt:
        ordered = sorted(found, key=lambda item: (item.value == item.value, item.value))
        figure, axes = plt.subplots(figsize=(6.4, 1.2 + 0.3 * len(ordered)))
        for place, item in enumerate(ordered):
            if item.interval is not None:
                axes.plot([100 * bound for bound in item.interval], [place, place], color=style.GREY, linewidth=2)
            axes.plot(100 * item.value, place, marker="o", color=style.BLUE)
        axes.set_yticks(range(len(ordered)), [style.shorten(item.metric) for item in ordered])
        one = ordered[0]
        part = f", {one.part}" if one.part else ""
        axes.set_title(style.shorten(f"{one.judgements}{part}"))
        axes.set_xlabel(f"agreement with people ({one.coefficient} × 100)")
    return figure


def curve(found: AgreementCurve) -> Any:
    """One line for each metric, with a band for its interval."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots()
        names = list(dict.fromkeys(item.metric for point in found.points for item in point.found))
        for name, look in zip(names, style.looks(len(names))):
            points = [(point.at, item) for point in found.points for item in point.found if item.metric == name]
            at = [place for place, _ in points]
            axes.plot(at, [100 * item.value for _, item in points], color=look.colour, marker=look.marker, linestyle=look.line, label=style.shorten(name))
            if all(item.interval is not None for _, item in points) and len(names) <= 4:
                low, high = ([100 * item.interval[k] for _, item in points if item.interval] for k in (0, 1))
                axes.fill_between(at, low, high, color=look.colour, alpha=0.15, linewidth=0)
        axes.set_xlabel(found.axis)
        axes.set_ylabel(f"{found.points[0].found[0].coefficient} × 100")
        axes.set_title(style.shorten(f"{found.judgements} by {found.axis}"))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def heat_map(found: MetricCorrelations) -> Any:
    """Correlations between metrics; like metrics stand side by side."""
    with style.drawing(_PURPOSE) as plt:
        number = len(found.metrics)
        figure, axes = plt.subplots(figsize=(2.4 + 0.45 * number, 1.8 + 0.45 * number))
        image = axes.imshow(found.matrix, vmin=-1, vmax=1, cmap="RdBu_r")
        names = [style.shorten(name, 24) for name in found.metrics]
        axes.set_xticks(range(number), names, rotation=90)
        axes.set_yticks(range(number), names)
        axes.grid(False)
        if number <= 20:
            for i in range(number):
                for j in range(number):
                    strong = abs(found.matrix[i, j]) > 0.6
                    axes.text(j, i, f"{found.matrix[i, j]:.2f}", ha="center", va="center", fontsize=7, color="white" if strong else "black")
        axes.set_title(style.shorten(f"{found.rows:,} {found.over}"))
        figure.colorbar(image, ax=axes, label=found.coefficient, ticks=np.linspace(-1, 1, 5), shrink=0.8)
    return figure
