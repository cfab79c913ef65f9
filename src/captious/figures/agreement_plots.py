"""Figures of agreement with people: metrics with intervals, curves, and correlations between metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.agreement.agreement_curves import AgreementCurve
from captious.agreement.agreement_scores import HumanAgreement
from captious.agreement.metric_relations import MetricCorrelations
from captious.figures import style

_PURPOSE = "drawing figures of agreement"


def write(
    agreements: Sequence[HumanAgreement],
    curves: Sequence[AgreementCurve],
    correlations: Sequence[MetricCorrelations],
    folder: str | Path,
) -> list[Path]:
    """Draw and save a figure for each set, curve and matrix."""
    style.pyplot(_PURPOSE)  # a missing extra is reported before anything is written
    written: list[Path] = []
    for name in dict.fromkeys(item.judgements for item in agreements):
        of_set = [item for item in agreements if item.judgements == name]
        first = [
            item
            for item in of_set
            if (item.part, item.coefficient) == (of_set[0].part, of_set[0].coefficient)
        ]
        written += style.save(intervals(first), folder, style.file_name("agreement", name))
    for item in curves:
        if item.points:
            name = style.file_name("agreement", item.judgements, f"by {item.axis}")
            written += style.save(curve(item), folder, name)
    for matrix in correlations:
        name = style.file_name("agreement", "correlations", f"over {matrix.over}")
        written += style.save(heat_map(matrix), folder, name)
    return written


def intervals(agreements: Sequence[HumanAgreement]) -> Any:
    """Plot metrics from best to worst, each with its interval."""
    with style.drawing(_PURPOSE) as plt:
        ordered = sorted(agreements, key=lambda item: (item.value == item.value, item.value))
        figure, axes = plt.subplots(figsize=(6.4, 1.2 + 0.3 * len(ordered)))
        for row, item in enumerate(ordered):
            if item.interval is not None:
                axes.plot([100 * bound for bound in item.interval], [row, row], color=style.GREY, linewidth=2)
            axes.plot(100 * item.value, row, marker="o", color=style.BLUE)
        axes.set_yticks(range(len(ordered)), [style.shorten(item.metric) for item in ordered])
        best = ordered[0]
        part = f", {best.part}" if best.part else ""
        axes.set_title(style.shorten(f"{best.judgements}{part}"))
        axes.set_xlabel(f"agreement with people ({best.coefficient} × 100)")
    return figure


def curve(agreement_curve: AgreementCurve) -> Any:
    """Plot one line per metric, with a band for its interval."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots()
        names = list(
            dict.fromkeys(item.metric for point in agreement_curve.points for item in point.agreements)
        )
        for name, look in zip(names, style.looks(len(names))):
            points = [
                (point.at, item)
                for point in agreement_curve.points
                for item in point.agreements
                if item.metric == name
            ]
            x = [position for position, _ in points]
            axes.plot(
                x,
                [100 * item.value for _, item in points],
                label=style.shorten(name),
                **look.of_line(),
            )
            if all(item.interval is not None for _, item in points) and len(names) <= 4:
                low, high = ([100 * item.interval[k] for _, item in points if item.interval] for k in (0, 1))
                axes.fill_between(x, low, high, color=look.colour, alpha=0.15, linewidth=0)
        axes.set_xlabel(agreement_curve.axis)
        axes.set_ylabel(f"{agreement_curve.points[0].agreements[0].coefficient} × 100")
        axes.set_title(style.shorten(f"{agreement_curve.judgements} by {agreement_curve.axis}"))
        style.legend_beside(axes)
    return figure


def heat_map(correlations: MetricCorrelations) -> Any:
    """Plot the correlations between metrics as a heat map."""
    with style.drawing(_PURPOSE) as plt:
        number = len(correlations.metrics)
        figure, axes = plt.subplots(figsize=(2.4 + 0.45 * number, 1.8 + 0.45 * number))
        image = axes.imshow(correlations.matrix, vmin=-1, vmax=1, cmap="RdBu_r")
        names = [style.shorten(name, 24) for name in correlations.metrics]
        axes.set_xticks(range(number), names, rotation=90)
        axes.set_yticks(range(number), names)
        axes.grid(False)
        if number <= 20:
            style.write_cells(axes, correlations.matrix, form=".2f", dark=0.6, fontsize=7)
        axes.set_title(style.shorten(f"{correlations.rows:,} {correlations.over}"))
        figure.colorbar(
            image, ax=axes, label=correlations.coefficient, ticks=np.linspace(-1, 1, 5), shrink=0.8
        )
    return figure
