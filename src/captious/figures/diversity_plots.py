"""Plots of set diversity: accuracy against diversity, effect of m, word frequencies, latent space, map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.figures import style

FloatArray = NDArray[np.float64]
_PURPOSE = "drawing figures of diversity"


class PlanePoint(NamedTuple):
    """A system on the plane of accuracy and diversity, with optional confidence intervals."""

    name: str
    accuracy: float
    diversity: float
    accuracy_interval: tuple[float, float] | None = None
    diversity_interval: tuple[float, float] | None = None
    human: bool = False


#: Look of each system (:func:`captious.figures.style.looks_of`), by default from the order of systems.
Looks = Mapping[str, style.SystemLook] | None


def _look_of(names: Sequence[str], humans: Sequence[bool], looks: Looks) -> list[style.SystemLook]:
    if looks is None:
        looks = style.looks_of([name for name, human in zip(names, humans) if not human])
    return [style.HUMAN_LOOK if human else looks[name] for name, human in zip(names, humans)]


def plane(
    points: Sequence[PlanePoint],
    *,
    accuracy: str = "CIDEr-D",
    diversity: str = "Self-CIDEr",
    beta_squared: float | None = 5.0,
    looks: Looks = None,
) -> Any:
    """Plot diversity against accuracy: one point per system, people as a star, and curves of equal F."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots()
        point_looks = _look_of([p.name for p in points], [p.human for p in points], looks)
        for point, look in zip(points, point_looks):
            axes.errorbar(
                point.accuracy,
                point.diversity,
                xerr=_error(point.accuracy, point.accuracy_interval),
                yerr=_error(point.diversity, point.diversity_interval),
                fmt=look.marker,
                color=look.colour,
                markersize=15 if point.human else 9,
                markeredgecolor="white",
                markeredgewidth=0.8,
                elinewidth=1.4,
                capsize=2.5,
                zorder=3,
                clip_on=False,
                label=style.shorten(point.name, 40),
            )
        _limits(axes, points)
        if beta_squared:
            _equal_f(axes, beta_squared, points)
        axes.set_xlabel(f"accuracy ({accuracy})")
        axes.set_ylabel(f"diversity ({diversity})")
        axes.set_title("Accuracy and diversity")
        style.legend_beside(axes)
    return figure


def _error(value: float, interval: tuple[float, float] | None) -> list[list[float]] | None:
    if interval is None:
        return None
    return [[max(0.0, value - interval[0])], [max(0.0, interval[1] - value)]]


def _limits(axes: Any, points: Sequence[PlanePoint]) -> None:
    """Start both axes at 0, because distances to "no diversity" matter, and leave a margin at the top."""
    right = max([p.accuracy_interval[1] if p.accuracy_interval else p.accuracy for p in points], default=1.0)
    top = max([p.diversity_interval[1] if p.diversity_interval else p.diversity for p in points], default=1.0)
    axes.set_xlim(0, max(right * 1.12, 0.1))
    axes.set_ylim(0, min(1.02, max(top * 1.12, 0.1)))


def _equal_f(axes: Any, beta_squared: float, points: Sequence[PlanePoint]) -> None:
    """Draw curves of equal F-measure, labelled far from the systems and from each other."""
    (_, right), (_, top) = axes.get_xlim(), axes.get_ylim()
    x, y = np.meshgrid(np.linspace(1e-6, right, 200), np.linspace(1e-6, top, 200))
    f = (1 + beta_squared) * x * y / (beta_squared * y + x)
    contours = axes.contour(x, y, f, levels=5, colors="#B5B5B5", linewidths=0.8, linestyles=":", zorder=1)
    scale = np.array([right, top])
    occupied = [np.array(position) / scale for point in points for position in _extent(point)]
    label_positions = []
    for lines in contours.allsegs:
        positions = (
            np.concatenate([np.asarray(line) for line in lines]) / scale if len(lines) else np.zeros((0, 2))
        )
        positions = positions[((positions > 0.08) & (positions < 0.92)).all(axis=1)]
        if len(positions):
            distance = (
                np.min([np.linalg.norm(positions - other, axis=1) for other in occupied], axis=0)
                if occupied
                else np.ones(len(positions))
            )
            best = positions[int(np.argmax(distance))]
            occupied.append(best)
            label_positions.append(tuple(best * scale))
    if label_positions:
        axes.clabel(
            contours,
            fmt=lambda level: f"F = {level:.2g}",
            fontsize=8,
            colors=style.GREY,
            manual=label_positions,
        )


def _extent(point: PlanePoint) -> list[tuple[float, float]]:
    """Return a point and the ends of its error bars."""
    points = [(point.accuracy, point.diversity)]
    points += [(end, point.diversity) for end in point.accuracy_interval or ()]
    return points + [(point.accuracy, end) for end in point.diversity_interval or ()]


class PlotCurve(NamedTuple):
    """A line of the effect of m, or of word frequencies."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    human: bool = False
    #: Confidence interval of each value, if there are any.
    intervals: Sequence[tuple[float, float]] = ()


def effect_of_m(
    curves: Sequence[PlotCurve],
    *,
    diversity: str = "Self-CIDEr",
    looks: Looks = None,
) -> Any:
    """Plot the diversity of the m most accurate captions per image against m."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots()
        _lines(axes, curves, looks, markers=True)
        ticks = sorted({int(m) for curve in curves for m in curve.x})
        axes.set_xticks(ticks if len(ticks) <= 15 else ticks[:: math.ceil(len(ticks) / 15)])
        axes.set_xlabel("m: the m most accurate captions of each image")
        axes.set_ylabel(f"diversity ({diversity})")
        values = [value for curve in curves for value in curve.y]
        values += [bound for curve in curves for bounds in curve.intervals for bound in bounds]
        low, high = min(values, default=0.0), max(values, default=1.0)
        margin = max(0.5 * (high - low), 0.02)
        axes.set_ylim(max(0.0, low - margin), min(1.02, high + margin))
        axes.set_title("Diversity of the best captions")
        style.legend_beside(axes)
    return figure


def word_frequencies(curves: Sequence[PlotCurve], *, looks: Looks = None) -> Any:
    """Plot the share of all words by rank, both on logarithmic scales."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots()
        _lines(axes, curves, looks, markers=False)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        axes.set_xlabel("rank of the word")
        axes.set_ylabel("share of all words")
        axes.set_title("Word frequencies")
        style.legend_beside(axes)
    return figure


def _lines(axes: Any, curves: Sequence[PlotCurve], looks: Looks, *, markers: bool) -> None:
    for curve, look in zip(curves, _look_of([c.name for c in curves], [c.human for c in curves], looks)):
        axes.plot(
            curve.x, curve.y,
            markeredgecolor="white", markeredgewidth=0.7, markersize=13 if curve.human else 8,
            label=style.shorten(curve.name, 40), **look.of_line() | ({} if markers else {"marker": ""}),
        )  # fmt: skip
        if curve.intervals:
            errors = [
                [abs(value - bounds[k]) for value, bounds in zip(curve.y, curve.intervals)] for k in (0, 1)
            ]
            axes.errorbar(
                curve.x, curve.y, errors, color=look.colour, linestyle="", capsize=4, elinewidth=1.4, zorder=3
            )


def radar(
    coordinates: FloatArray,
    captions: Sequence[str],
    *,
    axes_names: Sequence[str] | None = None,
    title: str = "Captions in the latent space",
) -> Any:
    """Draw one radar chart per caption: its coordinates on the axes of the latent space.

    All charts share one scale. The dashed ring is 0, so points inside it are negative. At most 20 captions
    are drawn.
    """
    n_shown = min(len(captions), 20)
    k = coordinates.shape[1]
    with style.drawing(_PURPOSE) as plt:
        columns = max(1, min(5, n_shown))
        rows = max(1, math.ceil(n_shown / columns))
        figure, grid = plt.subplots(
            rows,
            columns,
            figsize=(2.7 * columns, 3.0 * rows + 0.9),
            subplot_kw={"projection": "polar"},
            squeeze=False,
        )
        # Leave room for the numbers around each chart.
        figure.get_layout_engine().set(wspace=0.1, hspace=0.08)
        radius = float(np.abs(coordinates).max(initial=0.0)) or 1.0
        for number, axes in enumerate(grid.ravel()):
            if number >= n_shown:
                axes.set_visible(False)
                continue
            _one_radar(axes, coordinates[number], radius, k)
            axes.set_title(
                _wrapped(f"{number + 1}. {captions[number]}"),
                fontsize=9,
                fontweight="normal",
                loc="center",
                pad=14,
            )
        figure.suptitle(f"{title}\n", x=0.01, ha="left", fontsize=13, fontweight="bold")
        figure.supxlabel(_radar_key(k, axes_names, 34 * columns), fontsize=9, color=style.GREY)
    return figure


def _radar_key(k: int, axes_names: Sequence[str] | None, width: int) -> str:
    """Return the key of the charts: the words of each axis, and the meaning of the rings."""
    if axes_names is not None:
        lines = [""]
        for i, name in enumerate(axes_names[:k]):
            item = f"axis {i + 1}: {style.shorten(name, 60)}"
            if lines[-1] and len(lines[-1]) + len(item) > width:
                lines.append("")
            lines[-1] += ("     " if lines[-1] else "") + item
        lines.append("Words with the largest weights on each axis, the strongest axis first.")
    else:
        lines = [f"Axes 1 to {k}: directions in which the captions differ most, the strongest first."]
    return "\n".join([*lines, "Dashed ring: 0. Inside it, a caption points away from the axis."])


def _one_radar(axes: Any, values: FloatArray, radius: float, k: int) -> None:
    angles = np.linspace(0, 2 * np.pi, max(k, 3), endpoint=False)
    padded = np.concatenate([values, np.zeros(len(angles) - k)])
    closed, around = np.append(padded, padded[:1]), np.append(angles, angles[:1])
    axes.set_theta_offset(np.pi / 2)
    axes.set_theta_direction(-1)
    axes.plot(around, closed, color=style.BLUE, linewidth=1.6)
    axes.fill(around, closed, color=style.BLUE, alpha=0.22)
    ring = np.linspace(0, 2 * np.pi, 100)
    axes.plot(ring, np.zeros_like(ring), color=style.GREY, linewidth=0.9, linestyle="--")
    axes.set_ylim(-1.05 * radius, 1.05 * radius)
    axes.set_yticks([])
    axes.set_xticks(angles[:k] if k >= 3 else angles)
    axes.set_xticklabels([str(i + 1) if i < k else "" for i in range(len(angles))], fontsize=9)
    axes.tick_params(axis="x", pad=-2)
    axes.spines["polar"].set_color("#CFCFCF")


def _wrapped(text: str, width: int = 27, lines: int = 3) -> str:
    import textwrap

    wrapped = textwrap.wrap(style.shorten(text, 300), width) or [""]
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], style.shorten(wrapped[lines - 1] + " …", width)]
    return "\n".join(wrapped)


class MapGroup(NamedTuple):
    """Captions on the map: those of one image by one system."""

    image: str
    system: str
    points: FloatArray
    human: bool = False
    texts: Sequence[str] = ()


#: Maximum number of captions of an image in the key of the map.
LISTED = 24


def mds_map(groups: Sequence[MapGroup], *, similarity: str = "CIDEr", looks: Looks = None) -> Any:
    """Plot captions as numbered points, similar ones close together, with a key of the captions below.

    Colours are systems, markers are images.
    """
    images = list(dict.fromkeys(group.image for group in groups))
    systems = list(dict.fromkeys(group.system for group in groups))
    people = {group.system for group in groups if group.human}
    listed = {i: min(LISTED, sum(len(g.texts) for g in groups if g.image == i)) for i in images}
    lines = max(listed.values(), default=0)
    with style.drawing(_PURPOSE) as plt:
        from matplotlib.lines import Line2D

        key_height = 0.165 * lines + 0.35 if lines else 0.01
        figure, (axes, key) = plt.subplots(
            2,
            1,
            figsize=(max(7.4, 3.4 * len(images)), 5.2 + key_height),
            height_ratios=[5.2, key_height],
        )
        key.axis("off")
        colour = {
            name: look.colour
            for name, look in zip(systems, _look_of(systems, [name in people for name in systems], looks))
        }
        marker = dict(zip(images, cycle(style.MARKERS)))
        numbers = dict.fromkeys(images, 0)
        for group in groups:
            axes.scatter(
                group.points[:, 0], group.points[:, 1], c=colour[group.system], marker=marker[group.image],
                s=70, alpha=0.8, edgecolors="white", linewidths=0.7,
                zorder=4 if group.human else 3,
            )  # fmt: skip
            for point, text in zip(group.points, group.texts):
                numbers[group.image] += 1
                if numbers[group.image] <= LISTED:
                    number = numbers[group.image]
                    axes.annotate(
                        str(number), point, (5, 4), textcoords="offset points", fontsize=7, zorder=5
                    )
                    _key_line(key, images, group.image, number, lines, text, colour[group.system])
        for image in images if lines else ():
            _key_line(key, images, image, 0, lines, f"image {image}", "black")
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.06)
        axes.set_xticklabels([])
        axes.set_yticklabels([])
        axes.tick_params(length=0)
        axes.set_xlabel("similar captions are close together; the axes have no unit", fontsize=9)
        axes.set_title(f"Map of captions (distances from {similarity})")
        handles = [
            Line2D(
                [], [], color=colour[s], marker="s", markersize=9, linestyle="", label=style.shorten(s, 24)
            )
            for s in systems
        ]
        handles += [
            Line2D(
                [],
                [],
                color=style.GREY,
                marker=marker[i],
                linestyle="",
                label=f"image {style.shorten(i, 24)}",
            )
            for i in images
        ]
        style.legend_beside(axes, handles=handles)
    return figure


def _key_line(
    key: Any, images: Sequence[str], image: str, number: int, lines: int, text: str, colour: str
) -> None:
    """Write a caption into the key: one column per image, its name in line 0."""
    label = style.shorten(f"{number}  {text}" if number else text, 52)
    weight = "normal" if number else "bold"
    key.text(
        images.index(image) / len(images), 1 - (number + 0.5) / (lines + 1.5), label,
        fontsize=7.5, color=colour, fontweight=weight, va="center", transform=key.transAxes,
    )  # fmt: skip


def frequency_curve(name: str, tokens: NDArray[np.int32], *, human: bool = False) -> PlotCurve:
    """Return the share of all words by rank of the word."""
    return rank_curve(name, np.sort(np.unique(tokens, return_counts=True)[1])[::-1], human=human)


def rank_curve(name: str, counts: NDArray[np.int64], *, human: bool = False) -> PlotCurve:
    """Return the share of all words by rank, from occurrences in falling order."""
    total = max(int(counts.sum()), 1)
    return PlotCurve(name, np.arange(1, len(counts) + 1).tolist(), (counts / total).tolist(), human)
