"""Figures of corpus diversity: type-token curves, recall, composition, and correlations between measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.diversity_analysis.corpus.corpus_result import CorpusDiversity, CorpusReport
from captious.figures import style

FloatArray = NDArray[np.float64]
_PURPOSE = "drawing figures of diversity"


def figures(result: CorpusDiversity) -> dict[str, Callable[[], Any]]:
    """Return the drawing functions by name, for the figures this result has data for."""
    drawings: dict[str, Callable[[], Any]] = {
        "type_token_curves": lambda: type_token_curves(result),
        "coverage_by_decile": lambda: coverage_by_decile(result),
    }
    if result.parsed:
        drawings["local_recall"] = lambda: local_recall(result)
        drawings["compound_lengths"] = lambda: compound_lengths(result)
        drawings["pp_depths"] = lambda: pp_depths(result)
    if result.correlations is not None:
        drawings["correlations"] = lambda: correlations(result)
    return drawings


def write(result: CorpusDiversity, folder: str | Path) -> list[Path]:
    """Draw and save every figure."""
    style.pyplot(_PURPOSE)  # a missing extra is reported before anything is written
    return [
        path
        for name, draw in figures(result).items()
        for path in style.save(draw(), folder, f"corpus_{name}")
    ]


def _rows(result: CorpusDiversity) -> list[tuple[CorpusReport, style.SystemLook]]:
    """Return systems and people with their looks. People come last, so they are drawn on top."""
    looks = style.looks(len(result.systems))
    for i in range(len(style.COLOURS), len(looks)):
        # Repeated colours get different line styles.
        looks[i] = looks[i]._replace(line=style.LINES[(i + 2 * (i // len(style.COLOURS))) % len(style.LINES)])
    pairs = list(zip(result.systems, looks))
    return [*pairs, (result.humans, style.HUMAN_LOOK)]


def _legend(axes: Any, order: Sequence[float]) -> None:
    """Draw the legend beside the figure, in the order of the lines from top to bottom."""
    handles, labels = axes.get_legend_handles_labels()
    by_height = sorted(range(len(handles)), key=lambda i: -order[i])
    axes.legend(
        [handles[i] for i in by_height], [labels[i] for i in by_height],
        loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0.0, handlelength=2.6,
    )  # fmt: skip


def _label(report: CorpusReport) -> str:
    return style.shorten(report.name, 32)


def type_token_curves(result: CorpusDiversity) -> Any:
    """Plot types against tokens."""
    curves = [(r, look, r.curve) for r, look in _rows(result) if r.curve is not None and len(r.curve.tokens)]
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(8.4, 4.6))
        end = max(int(curve.tokens[-1]) for _, _, curve in curves)
        for report, look, curve in curves:
            axes.plot(
                curve.tokens,
                curve.types,
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                markersize=6,
                markevery=max(1, len(curve.tokens) // 8),
                label=_label(report),
                linewidth=2.2 if report is result.humans else 1.6,
            )
        axes.set_xlim(0, end)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(_thousands)
        axes.yaxis.set_major_formatter(_thousands)
        axes.set_xlabel("tokens")
        axes.set_ylabel("types")
        axes.set_title("New words as captions are read")
        _legend(axes, [float(curve.types[-1]) for _, _, curve in curves])
    return figure


def _thousands(value: float, _: int) -> str:
    return f"{value:,.0f}"


def coverage_by_decile(result: CorpusDiversity) -> Any:
    """Plot the recall of each tenth of the references' vocabulary, the most frequent words first."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(8.4, 4.6))
        at = np.arange(1, 11)
        heights = []
        for report, look in _rows(result):
            if report.global_recall is None:
                continue
            share = report.global_recall.deciles
            axes.plot(
                at,
                100 * share,
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                label=_label(report),
                linewidth=2.2 if report is result.humans else 1.6,
                markersize=10 if report is result.humans else 6,
            )
            heights.append(float(np.nansum(share)))
        axes.set_xticks(at, [f"{10 * k}" for k in range(1, 11)])
        axes.set_ylim(0, 102)
        axes.set_xlabel("words of the references by frequency: top … percent")
        axes.set_ylabel("words used (%)")
        axes.set_title("How far down the vocabulary a system reaches")
        _legend(axes, heights)
    return figure


def local_recall(result: CorpusDiversity) -> Any:
    """Plot recall by importance: the number of people who used the word for the image."""
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(8.4, 4.6))
        at = np.arange(1, result.n + 1)
        heights = []
        for report, look in _rows(result):
            if report.local_recall is not None:
                share = report.local_recall.mean[: result.n]
                x = at
                label = _label(report)
            elif report.leave_one_out:
                share = np.array(report.leave_one_out["mean"], dtype=np.float64)
                x = at[: len(share)]
                label = "humans (one against the rest)"
            else:
                continue
            axes.plot(
                x,
                100 * share,
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                label=label,
                linewidth=2.2 if report is result.humans else 1.6,
                markersize=10 if report is result.humans else 6,
            )
            heights.append(float(share[min(result.n, len(share), max(1, result.n - 1)) - 1]))
        axes.set_xticks(at)
        axes.set_ylim(0, 100)
        axes.set_xlabel("importance class: how many people use the word for the image")
        axes.set_ylabel("words that the caption has (%)")
        axes.set_title("Local recall")
        _legend(axes, heights)
    return figure


def compound_lengths(result: CorpusDiversity) -> Any:
    """Plot compounds per 1,000 captions by length."""
    rows = [
        (r, look, r.composition.compound_lengths) for r, look in _rows(result) if r.composition is not None
    ]
    return _bars(
        rows,
        2,
        4,
        result,
        "compounds by number of nouns",
        "compounds per 1,000 captions",
        "Nominal compounds",
    )


def pp_depths(result: CorpusDiversity) -> Any:
    """Plot prepositional phrases per 1,000 captions by depth."""
    rows = [(r, look, r.composition.pp_depths) for r, look in _rows(result) if r.composition is not None]
    return _bars(
        rows, 1, 5, result, "prepositions in the phrase (depth of embedding)", "phrases per 1,000 captions",
        "Prepositional phrases",
    )  # fmt: skip


def _bars(
    rows: list[tuple[CorpusReport, style.SystemLook, FloatArray]],
    low: int,
    high: int,
    result: CorpusDiversity,
    x: str,
    y: str,
    title: str,
) -> Any:
    """Plot one group of bars per size and one bar per system, on a logarithmic scale.

    Each size is about ten times rarer than the one before.
    """
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(8.8, 4.6))
        sizes = np.arange(low, high + 1)
        width = 0.84 / len(rows)
        heights = []
        for report, _, counts in rows:
            padded = np.pad(counts, (0, max(0, high + 2 - len(counts))))
            heights_shown = padded[low : high + 1].copy()
            heights_shown[-1] += padded[high + 1 :].sum()
            heights.append(1000 * heights_shown / report.values["captions"])
        bottom = _below([float(value) for row in heights for value in row])
        for k, ((report, look, _), per_thousand) in enumerate(zip(rows, heights)):
            positions = sizes - 0.42 + (k + 0.5) * width
            hatch = "////" if k >= len(style.COLOURS) and report is not result.humans else None
            axes.bar(
                positions, np.maximum(per_thousand - bottom, 0), width=0.92 * width, color=look.colour,
                hatch=hatch, edgecolor="white", linewidth=0.0, label=_label(report), bottom=bottom,
            )  # fmt: skip
            for position in positions[per_thousand == 0]:
                # A logarithmic scale has no 0: label empty bars.
                axes.annotate(
                    "0",
                    (position, bottom),
                    (0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8,
                    color=look.colour,
                )
        axes.set_yscale("log")
        axes.set_ylim(bottom=bottom)
        axes.set_xticks(sizes, [*(str(s) for s in sizes[:-1]), f"{sizes[-1]} or more"])
        axes.grid(axis="x", visible=False)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_title(title)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0.0)
    return figure


def _below(values: Sequence[float]) -> float:
    """Return the power of ten below the smallest positive value, where logarithmic bars start."""
    smallest = min((value for value in values if value > 0), default=1.0)
    return float(10.0 ** (math.ceil(math.log10(smallest)) - 1))


def correlations(result: CorpusDiversity) -> Any:
    """Plot Spearman's correlation between measures over the systems."""
    assert result.correlations is not None
    names, matrix = result.correlations
    with style.drawing(_PURPOSE) as plt:
        side = 1.6 + 0.46 * len(names)
        figure, axes = plt.subplots(figsize=(side + 0.9, side))
        hidden = np.triu(np.ones_like(matrix, dtype=np.bool_), k=1)
        image = axes.imshow(np.ma.masked_array(matrix, hidden), cmap="RdBu_r", vmin=-1, vmax=1)
        for i in range(len(names)):
            for j in range(i + 1):
                is_strong = abs(matrix[i, j]) > 0.6
                text = f"{matrix[i, j]:.2f}".replace("0.", ".").replace("-", "−")
                axes.text(
                    j, i, text, ha="center", va="center", fontsize=8, color="white" if is_strong else "black"
                )
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), names)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        bar = figure.colorbar(image, ax=axes, shrink=0.7, pad=0.02)
        bar.set_label("Spearman's rank correlation")
        bar.outline.set_visible(False)
        axes.set_title(f"How the measures rank the {len(result.systems)} systems")
    return figure
