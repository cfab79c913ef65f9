"""Plots of measures of set diversity beside each other, and beside people's scores (Wang & Chan 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.figures import style
from captious.figures.diversity_plots import Looks

FloatArray = NDArray[np.float64]
_PURPOSE = "drawing figures of diversity"


def bars(values: Mapping[str, float], people: str | None, title: str, label: str, *, looks: Looks) -> Any:
    """Plot one value per system as bars, the highest first (F-measure: Figure 5)."""
    names = sorted(values, key=lambda name: -values[name])
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(7.2, 1.2 + 0.42 * len(names)))
        colours = [_look(name, people, looks).colour for name in names]
        axes.barh(range(len(names)), [values[name] for name in names], color=colours)
        axes.set_yticks(range(len(names)), [style.shorten(name, 40) for name in names])
        axes.invert_yaxis()
        axes.set_xlabel(label)
        axes.set_title(title)
        axes.grid(axis="y", visible=False)
    return figure


def relations(
    x: Mapping[str, float],
    others: Mapping[str, Mapping[str, float]],
    people: str | None,
    label: str,
    *,
    looks: Looks,
) -> Any:
    """Plot measures against one other, a panel for each, a marker for each system (Figures 2 and 10)."""
    with style.drawing(_PURPOSE) as plt:
        figure, grid = plt.subplots(1, len(others), figsize=(4.4 * len(others), 4.2), squeeze=False)
        for axes, (name, values) in zip(grid[0], others.items()):
            for system, value in values.items():
                look = _look(system, people, looks)
                axes.plot(
                    [x[system]], [value], markersize=13 if system == people else 8,
                    label=style.shorten(system, 40), **look.of_points(),
                )  # fmt: skip
            axes.set_xlabel(label)
            axes.set_ylabel(name)
        style.legend_beside(grid[0][-1])
    return figure


def ranking(measures: Mapping[str, Mapping[str, float]], people: str | None, *, looks: Looks) -> Any:
    """Plot the rank of every system by each measure, joined by lines (Figure 11)."""
    names = list(next(iter(measures.values())))
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(1.8 + 1.5 * len(measures), 1.4 + 0.42 * len(names)))
        for system in names:
            look = _look(system, people, looks)
            ranks = [
                1 + sum(value > values[system] for value in values.values()) for values in measures.values()
            ]
            axes.plot(
                range(len(measures)), ranks, color=look.colour, marker=look.marker,
                label=style.shorten(system, 40),
            )  # fmt: skip
        axes.set_xticks(range(len(measures)), list(measures))
        axes.set_yticks(range(1, len(names) + 1))
        axes.invert_yaxis()
        axes.set_ylabel("rank (1: most diverse)")
        axes.set_title("Ranking of systems by measures")
        style.legend_beside(axes)
    return figure


def human_scores(
    panels: Mapping[str, Sequence[tuple[str, FloatArray, FloatArray]]], people: str | None, *, looks: Looks
) -> Any:
    """Plot measures of sets against people's scores of the same sets, with a fitted line (Figure 7).

    A panel has the values and scores of each system.
    """
    with style.drawing(_PURPOSE) as plt:
        figure, grid = plt.subplots(1, len(panels), figsize=(4.4 * len(panels), 4.2), squeeze=False)
        for axes, (measure, systems) in zip(grid[0], panels.items()):
            for system, values, scores in systems:
                look = _look(system, people, looks)
                axes.plot(
                    values, scores, markersize=5, alpha=0.6, label=style.shorten(system, 40),
                    **look.of_points(),
                )  # fmt: skip
            x, y = (np.concatenate([row[k] for row in systems]).astype(np.float64) for k in (1, 2))
            defined = np.isfinite(x) & np.isfinite(y)
            if defined.sum() > 1 and np.ptp(x[defined]) > 0:
                slope, start = np.polyfit(x[defined], y[defined], 1)
                ends = np.array([x[defined].min(), x[defined].max()])
                axes.plot(ends, start + slope * ends, color="#C1272D", marker="", linewidth=2)
            axes.set_xlabel(measure)
            axes.set_ylabel("score by people")
        style.legend_beside(grid[0][-1])
    return figure


def _look(system: str, people: str | None, looks: Looks) -> style.SystemLook:
    return style.HUMAN_LOOK if system == people or looks is None else looks[system]
