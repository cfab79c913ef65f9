"""Figures of re-ranking: a heat map of λ and α, and curves of template captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.figures import style
from captious.rerank.templates import TemplatePoint
from captious.rerank.tuning import Tuned

_PURPOSE = "drawing figures of re-ranking"


def heat_map(tuned: Tuned) -> Any:
    """Plot the objective for each λ and α (or each λ, with one language model). The best point is framed."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(6.4, 4.8) if len(tuned.alphas) > 1 else (6.4, 4.0))
        best = tuned.best()
        i, j = tuned.lambdas.index(best.lam), tuned.alphas.index(best.alpha)
        if len(tuned.alphas) == 1:
            axes.plot(tuned.lambdas, tuned.objective[:, 0], color=style.BLUE, marker="o")
            axes.plot(
                [best.lam],
                [tuned.objective[i, 0]],
                marker="s",
                markersize=13,
                fillstyle="none",
                color=style.VERMILION,
            )
            axes.set_xlabel("λ")
            axes.set_ylabel("geometric mean")
        else:
            image = axes.imshow(tuned.objective.T, origin="lower", cmap="viridis", aspect="auto")
            axes.add_patch(
                plt.Rectangle((i - 0.5, j - 0.5), 1, 1, fill=False, edgecolor=style.VERMILION, linewidth=2.5)
            )
            axes.set_xticks(range(len(tuned.lambdas)), [f"{value:g}" for value in tuned.lambdas])
            axes.set_yticks(range(len(tuned.alphas)), [f"{value:g}" for value in tuned.alphas])
            axes.set_xlabel("λ, weight of the language model")
            axes.set_ylabel("α, weight of the first model in it")
            axes.grid(False)
            figure.colorbar(image, ax=axes, label="geometric mean")
        axes.set_title(
            f"best: λ = {best.lam:g}"
            + (f", α = {best.alpha:g}" if len(tuned.alphas) > 1 else "")
            + f" ({tuned.images:,} images)"
        )
    return figure


def write_heat_map(tuned: Tuned, folder: str | Path) -> list[Path]:
    """Draw and save the heat map."""
    return style.save(heat_map(tuned), folder, "rerank_grid")


def curves(points: Sequence[TemplatePoint], systems: Mapping[str, TemplatePoint] | None = None) -> Any:
    """Plot each metric against the mean length of captions.

    Each vocabulary of templates is a curve, each system a marker.
    """
    with style.drawing(_PURPOSE) as plt:
        metrics = list(points[0].values)
        figure, grid = plt.subplots(1, len(metrics), figsize=(5.2 * len(metrics), 4.4), squeeze=False)
        sizes = list(dict.fromkeys(point.vocabulary for point in points))
        looks = style.looks(len(sizes) + len(systems or {}))
        for axes, metric in zip(grid[0], metrics):
            for size, look in zip(sizes, looks):
                of_size = sorted((p for p in points if p.vocabulary == size), key=lambda p: p.length)
                label = f"{size} most frequent classes"
                axes.plot(
                    [p.length for p in of_size],
                    [p.values[metric] for p in of_size],
                    markersize=5,
                    label=label,
                    **look.of_line(),
                )
            for (name, point), look in zip((systems or {}).items(), looks[len(sizes) :]):
                axes.plot(
                    [point.length],
                    [point.values[metric]],
                    color=look.colour,
                    marker="*",
                    markersize=14,
                    linestyle="none",
                    label=style.shorten(name),
                )
            axes.set_xlabel("mean number of words")
            axes.set_ylabel(style.shorten(metric))
        style.legend_beside(grid[0][-1])
    return figure


def write_curves(
    points: Sequence[TemplatePoint],
    systems: Mapping[str, TemplatePoint] | None,
    folder: str | Path,
) -> list[Path]:
    """Draw and save the curves."""
    return style.save(curves(points, systems), folder, "rerank_templates")
