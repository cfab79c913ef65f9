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
from captious.figures.diversity_plots import rank_curve
from captious.figures.diversity_plots import word_frequencies as draw_word_frequencies

FloatArray = NDArray[np.float64]
_PURPOSE = "drawing figures of diversity"

#: Minimum number of systems for the figure of correlations. Over fewer, almost any value can be chance.
LEAST_SYSTEMS = 8


def figures(result: CorpusDiversity) -> dict[str, Callable[[], Any]]:
    """Return the drawing functions by name, for the figures this result has data for."""
    drawings: dict[str, Callable[[], Any]] = {
        "type_token_curves": lambda: type_token_curves(result),
        "coverage_by_decile": lambda: coverage_by_decile(result),
        "word_frequencies": lambda: word_frequencies(result),
    }
    if result.parsed:
        drawings["local_recall"] = lambda: local_recall(result)
        drawings["compound_lengths"] = lambda: compound_lengths(result)
        drawings["pp_depths"] = lambda: pp_depths(result)
    if result.correlations is not None and len(result.systems) >= LEAST_SYSTEMS:
        drawings["correlations"] = lambda: correlations(result)
    return drawings


def write(result: CorpusDiversity, folder: str | Path) -> list[Path]:
    """Draw and save every figure."""
    style.pyplot(_PURPOSE)  # a missing extra is reported before anything is written
    return [
        path
        for name, draw in figures(result).items()
        for path in style.save(draw(), folder, style.file_name("corpus", name))
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
    style.legend_beside(
        axes,
        handles=[handles[i] for i in by_height],
        labels=[labels[i] for i in by_height],
        handlelength=2.6,
    )


def _line(axes: Any, x: Any, y: Any, label: str, look: style.SystemLook, **settings: Any) -> None:
    """Draw the line of a system. That of people is thicker, with larger markers."""
    human = look is style.HUMAN_LOOK
    settings = {"linewidth": 2.2 if human else 1.6, "markersize": 10 if human else 6, **settings}
    axes.plot(x, y, label=label, **look.of_line(), **settings)


def _label(report: CorpusReport) -> str:
    return style.shorten(report.name, 32)


def type_token_curves(result: CorpusDiversity) -> Any:
    """Plot types against tokens."""
    curves = [(r, look, r.curve) for r, look in _rows(result) if r.curve is not None and len(r.curve.tokens)]
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(8.4, 4.6))
        end = max(int(curve.tokens[-1]) for _, _, curve in curves)
        for report, look, curve in curves:
            every = max(1, len(curve.tokens) // 8)
            _line(axes, curve.tokens, curve.types, _label(report), look, markersize=6, markevery=every)
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


def word_frequencies(result: CorpusDiversity) -> Any:
    """Plot the share of all words by rank of the word. People have one description of each image."""
    rows = _rows(result)
    curves = [
        rank_curve(_label(report), report.word_counts, human=report is result.humans)
        for report, _ in rows
        if report.word_counts is not None
    ]
    return draw_word_frequencies(curves, looks={_label(report): look for report, look in rows})


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
            _line(axes, at, 100 * share, _label(report), look)
            heights.append(float(np.nansum(share)))
        # Each tenth on its own: the curve is not cumulative.
        axes.set_xticks(at, [f"{10 * k - 10}–{10 * k}" for k in range(1, 11)], fontsize=9)
        axes.set_ylim(0, 102)
        axes.set_xlabel("learnable words by their frequency in the references (%), from frequent to rare")
        axes.set_ylabel("words of this tenth used (%)")
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
            share = result.recall_by_class(report)
            if share is None:
                continue
            label = _label(report) if report.local_recall is not None else "humans (one against the rest)"
            _line(axes, at[: len(share)], 100 * share, label, look)
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
    return _dots(
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
    return _dots(
        rows, 1, 5, result, "prepositions in the phrase (depth of embedding)", "phrases per 1,000 captions",
        "Prepositional phrases",
    )  # fmt: skip


def _dots(
    rows: list[tuple[CorpusReport, style.SystemLook, FloatArray]],
    low: int,
    high: int,
    result: CorpusDiversity,
    x: str,
    y: str,
    title: str,
) -> Any:
    """Plot one dot per size and system on a logarithmic scale, because each size is about ten times rarer.

    A logarithmic scale has no 0: systems without any are hollow dots in a row below the axis.
    """
    with style.drawing(_PURPOSE) as plt:
        figure, axes = plt.subplots(figsize=(8.8, 4.6))
        sizes = np.arange(low, high + 1)
        frequencies = []
        for report, _, counts in rows:
            padded = np.pad(counts, (0, max(0, high + 2 - len(counts))))
            shown = padded[low : high + 1].copy()
            shown[-1] += padded[high + 1 :].sum()
            frequencies.append(1000 * shown / report.values["captions"])
        bottom = _below([float(value) for row in frequencies for value in row])
        zero = bottom / 2
        step = 0.6 / len(rows)
        for k, ((report, look, _), per_thousand) in enumerate(zip(rows, frequencies)):
            positions = sizes - 0.3 + (k + 0.5) * step
            is_zero = per_thousand == 0
            size = 11 if report is result.humans else 7
            axes.plot(
                positions[~is_zero], per_thousand[~is_zero], markersize=size, label=_label(report),
                **look.of_points(),
            )  # fmt: skip
            axes.plot(
                positions[is_zero], np.full(int(is_zero.sum()), zero), markersize=size,
                markerfacecolor="white", **look.of_points(),
            )  # fmt: skip
        axes.set_yscale("log")
        top = max([float(value) for row in frequencies for value in row] + [10 * bottom])
        axes.set_ylim(bottom / 3, 2 * top)
        decades = [10.0**e for e in range(round(math.log10(bottom)), math.ceil(math.log10(2 * top)))]
        axes.set_yticks([zero, *decades], ["none", *(f"{value:,g}" for value in decades)])
        axes.minorticks_off()
        axes.axhline(bottom / math.sqrt(2), color=style.GREY, linewidth=0.8)
        for between in (sizes[:-1] + sizes[1:]) / 2:
            axes.axvline(between, color="#E3E3E3", linewidth=0.8)
        axes.set_xlim(sizes[0] - 0.5, sizes[-1] + 0.5)
        axes.set_xticks(sizes, [*(str(s) for s in sizes[:-1]), f"{sizes[-1]} or more"])
        axes.grid(axis="x", visible=False)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_title(title)
        style.legend_beside(axes)
    return figure


def _below(values: Sequence[float]) -> float:
    """Return the power of ten below the smallest positive value, where a logarithmic axis starts."""
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
        style.write_cells(axes, np.where(hidden, np.nan, matrix), form=".2f", dark=0.6)
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
